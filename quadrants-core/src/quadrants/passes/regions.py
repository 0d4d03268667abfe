"""What a module's functions do to the arrays that they are given, and which of them must not raise.

Takes a module; changes nothing.
"""

from __future__ import annotations

from quadrants.ir import Function, Module, Op, Region, Value
from quadrants.passes.structure import CALLS, LOOPS
from quadrants.passes.subscripts import Writes
from quadrants.passes.written import TARGETS
from quadrants.types import ArrayType


def silent_functions(module: Module) -> set[str]:
    """The functions that are called as `nothrow`, and what those call."""
    found: set[str] = set()
    work = [
        str(op.attrs["callee"])
        for function in module.functions.values()
        for op in function.body.walk()
        if op.name in CALLS and op.attrs.get("nothrow")
    ]
    while work:
        name = work.pop()
        if name not in found:
            found.add(name)
            work += [str(op.attrs["callee"]) for op in module.functions[name].body.walk() if op.name in CALLS]
    return found


def called_in_loops(module: Module) -> set[str]:
    """The functions that a loop calls, and what those call."""
    calls: dict[str, set[str]] = {}
    work: list[str] = []
    for name, function in module.functions.items():
        calls[name] = set()
        _calls(function.body, calls[name], work, False)
    found: set[str] = set()
    while work:
        name = work.pop()
        if name not in found:
            found.add(name)
            work += calls.get(name, ())
    return found


def _calls(region: Region, calls: set[str], looped: list[str], inside: bool) -> None:
    for op in region.ops:
        if op.name in CALLS:
            calls.add(str(op.attrs["callee"]))
            if inside:
                looped.append(str(op.attrs["callee"]))
        for nested in op.regions:
            _calls(nested, calls, looped, inside or op.name in LOOPS)


def writes_of(module: Module) -> Writes:
    """Whether a function may write to the array that is its parameter of a number."""
    known: dict[str, frozenset[int]] = {}

    def written(name: str) -> frozenset[int]:
        if name not in known:
            function = module.functions[name]
            known[name] = frozenset(range(len(function.params)))  # of a function that calls itself: all
            known[name] = _written(function, written_by_index)
        return known[name]

    def written_by_index(name: str, index: int) -> bool:
        return index in written(name)

    return written_by_index


def _written(function: Function, writes: Writes) -> frozenset[int]:
    """The parameters whose memory a function may write to."""
    roots: dict[Value, frozenset[int]] = {
        param: frozenset({index}) for index, param in enumerate(function.params) if isinstance(param.type, ArrayType)
    }
    everything = frozenset().union(*roots.values()) if roots else frozenset()
    found: set[int] = set()
    _walk(function.body, roots, everything, found, writes)
    return frozenset(found)


def _walk(
    region: Region, roots: dict[Value, frozenset[int]], everything: frozenset[int], found: set[int], writes: Writes
) -> None:
    for op in region.ops:
        if op.name in TARGETS:
            found |= roots.get(op.operands[TARGETS[op.name]], everything)
        elif op.name in CALLS:
            first = 1 if op.name == "fork" else 0  # a fork gives lo and hi in place of turns, grain and work
            for index, operand in enumerate(op.operands):
                if isinstance(operand.type, ArrayType) and writes(str(op.attrs["callee"]), index - first):
                    found |= roots.get(operand, everything)
        for nested in op.regions:
            _walk(nested, roots, everything, found, writes)
        for result in op.results:
            if isinstance(result.type, ArrayType):
                roots[result] = _origin(op, roots, everything)


def _origin(op: Op, roots: dict[Value, frozenset[int]], everything: frozenset[int]) -> frozenset[int]:
    """The parameters that an array may be a part of."""
    if op.name == "alloc":
        return frozenset()
    if op.name == "view":
        return roots.get(op.operands[0], everything)
    if op.name == "call":
        parts = [roots.get(operand, everything) for operand in op.operands if isinstance(operand.type, ArrayType)]
        return frozenset().union(*parts) if parts else frozenset()
    return everything
