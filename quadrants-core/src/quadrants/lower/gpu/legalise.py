"""QIR made ready for the shared lowering: elementary functions as code, names that are symbols, and no op that no device runs.

Takes a module of the device level, in place, whose entry is a kernel; raises CompileError with the place of what a device does
not run. Functions get numbers for names, so that whatever Python calls them is a symbol.
"""

from __future__ import annotations

from collections.abc import Mapping

from quadrants.diagnostics import Code, CompileError
from quadrants.ir import Function, Module
from quadrants.ir.core import Op
from quadrants.lower import softmath
from quadrants.lower.elementary import INTRINSICS
from quadrants.lower.emit import Emitter
from quadrants.lower.gpu.refusals import HEAP, UNSUPPORTED, location_of, refuse
from quadrants.lower.gpu.threads import array_bytes
from quadrants.types import ArrayType, Scalar

#: What all of these devices have instructions for.
_NATIVE = frozenset(f"math.{name}" for name in INTRINSICS)
#: Elementary functions of at most so many ops are inlined.
_SMALL = 120


def legalise(module: Module, emitters: Mapping[str, Emitter], title: str) -> None:
    """Prepare a module."""
    _check_interface(module.functions[module.entry], title)
    for function in module.functions.values():
        for op in function.body.walk():
            _check(function, op, emitters, title)
    own = set(module.functions)
    softmath.expand(module, lambda name, type: name in _NATIVE, doubles=True)
    for name, function in module.functions.items():
        if name not in own:
            function.attrs["fp"] = "strict"  # its products and sums are fused where it says so, and nowhere else
            small = sum(1 for _ in function.body.walk()) <= _SMALL
            function.attrs["inline"] = "always" if small else "never"
    module.functions[module.entry].attrs["inline"] = "always"
    for name in module.functions:
        _check_recursion(module, name, title)
    _number(module)


def _check_interface(kernel: Function, title: str) -> None:
    if kernel.result_types:
        raise refuse(title, kernel, None, "a kernel that returns a value", "write the result into an array")
    for value in kernel.params:
        fine = isinstance(value.type, ArrayType) and value.type.space == "global"
        if not fine and (not isinstance(value.type, Scalar) or value.type.is_complex):
            raise refuse(title, kernel, None, f"a kernel that takes {value.type}", "give it numbers and arrays")


def _check(function: Function, op: Op, emitters: Mapping[str, Emitter], title: str) -> None:
    if op.name in softmath.WRITERS:
        return
    if op.name == "alloc" and not op.attr("stack"):
        raise refuse(title, function, op, f"an array that is made while the kernel runs ({HEAP[0]})", HEAP[1])
    if op.name not in emitters:
        reason, hint = UNSUPPORTED.get(op.name, ("there is no code for it", "use another backend"))
        raise refuse(title, function, op, f"{op.name} ({reason})", hint)
    if op.name == "return" and any(getattr(value.type, "space", "") == "local" for value in op.operands):
        raise refuse(title, function, op, "a function that gives back an array of its own", "make it in the caller")


def _check_recursion(module: Module, name: str, title: str) -> None:
    """The stack of a thread is small, and nothing watches it."""
    path = _cycle(module, name, [name], set())
    if path:
        titles = " -> ".join(module.functions[each].scope.qualname for each in path)
        raise CompileError(
            Code.RECURSION_ON_TARGET,
            f"recursion cannot run on {title}: {titles}",
            location_of(module.functions[name], None),
            hint="use a loop, or the CPU backend",
        )


def _cycle(module: Module, start: str, path: list[str], seen: set[str]) -> list[str]:
    """The calls from a function back to it."""
    for op in module.functions[path[-1]].body.walk():
        if op.name != "call":
            continue
        callee = str(op.attrs["callee"])
        if callee == start:
            return [*path, start]
        if callee not in seen:
            seen.add(callee)
            found = _cycle(module, start, [*path, callee], seen)
            if found:
                return found
    return []


def _number(module: Module) -> None:
    """Names that are symbols everywhere."""
    names = {name: f"f{position}" for position, name in enumerate(module.functions)}
    for function in module.functions.values():
        function.name = names[function.name]
        for op in function.body.walk():
            if op.name == "call":
                op.attrs = {**op.attrs, "callee": names[str(op.attrs["callee"])]}
    module.entry = names[module.entry]
    renamed = {names[name]: function for name, function in module.functions.items()}
    module.functions.clear()
    module.functions.update(renamed)


def shared_bytes(module: Module) -> int:
    """The static memory of a block."""
    ops = (op for function in module.functions.values() for op in function.body.walk())
    return sum(array_bytes(op) for op in ops if op.name == "shared.array")
