"""What calls of the library cost: the facts behind what `explain()` says of `a.sum()` and `np.sort(a)`.

Takes a module after all passes; gives, for each call that a function of the user's makes, the loops and the allocations of the
library's functions that it reaches. They are told at the user's line: the library's own lines help nobody.
"""

from __future__ import annotations

from collections.abc import Iterator

from quadrants._frozen import frozen
from quadrants.diagnostics import SourceLocation
from quadrants.ir import Function, Module, Op
from quadrants.passes.context import location_of
from quadrants.passes.survey import Loop, Vectors, hot_ops, is_innermost, loop_of
from quadrants.types import LanesType
from quadrants.types.names import type_text


@frozen
class LibraryCall:
    """One call of the library.

    Args:
        name: of its function.
        location: where the user calls it.
        loops: the innermost loops, as LLVM gets them.
        lanes: how many of the loops run in SIMD lanes already.
        allocations: the types of the arrays that are made, each once.
    """

    name: str
    location: SourceLocation
    loops: tuple[Loop, ...]
    lanes: int
    allocations: tuple[str, ...]


def library_calls(module: Module, vectors: Vectors) -> list[LibraryCall]:
    """The calls of the library in the user's functions, each place once."""
    found: dict[tuple[str, SourceLocation], LibraryCall] = {}
    for function in module.functions.values():
        if function.scope.internal:
            continue
        for op in hot_ops(function.body):
            callee = module.functions.get(str(op.attrs["callee"])) if op.name == "call" else None
            if callee is None or not callee.scope.internal:
                continue
            location = location_of(function, op)
            call = _call(module, callee, location, vectors)
            if call.loops or call.lanes or call.allocations:
                found.setdefault((call.name, location), call)
    return list(found.values())


def _call(module: Module, callee: Function, location: SourceLocation, vectors: Vectors) -> LibraryCall:
    loops: list[Loop] = []
    lanes = 0
    allocations: dict[str, None] = {}
    for function in _reached(module, callee):
        for op in hot_ops(function.body):
            if op.name == "for" and is_innermost(op):
                loops.append(loop_of(function, op, vectors))
            elif op.name == "for" and _in_lanes(op):
                lanes += 1
            elif op.name == "alloc" and not op.attr("stack"):
                allocations[type_text(op.result.type)] = None
    name = callee.name.rpartition(".")[0].rstrip("_")
    return LibraryCall(name, location, tuple(loops), lanes, tuple(allocations))


def _reached(module: Module, first: Function) -> Iterator[Function]:
    """The library's functions that a call of one of them reaches."""
    seen, pending = {first.name}, [first]
    while pending:
        function = pending.pop()
        yield function
        for op in hot_ops(function.body):
            name = str(op.attrs["callee"]) if op.name == "call" else ""
            if name and name not in seen and module.functions[name].scope.internal:
                seen.add(name)
                pending.append(module.functions[name])


def _in_lanes(loop: Op) -> bool:
    """Whether the turns of a loop run in lanes; those of loops inside are counted by themselves."""
    return any(isinstance(value.type, LanesType) for op in loop.regions[0].ops for value in (*op.operands, *op.results))
