"""QIR made ready for the shared lowering: elementary functions as code, names that PTX takes, and no op that no device runs.

Takes a module of the device level, in place, whose entry is a kernel; raises CompileError with the place of what a CUDA
device does not run. Functions get numbers for names, so that whatever Python calls them is a symbol.
"""

from __future__ import annotations

import math

from quadrants import diagnostics
from quadrants.diagnostics import CompileError
from quadrants.ir import Function, Module
from quadrants.ir.core import Op
from quadrants.lower import softmath
from quadrants.lower.elementary import INTRINSICS
from quadrants.types import ArrayType, Scalar
from quadrants_cuda.lower.prints import location_of, refuse
from quadrants_cuda.lower.table import EMITTERS, HEAP, UNSUPPORTED
from quadrants_cuda.target import MOST_STATIC

#: What PTX has instructions for.
_NATIVE = frozenset(f"math.{name}" for name in INTRINSICS)
#: Elementary functions of at most so many ops are inlined.
_SMALL = 120
_RECURSION = "use a loop, or the CPU backend"


def legalise(module: Module) -> None:
    """Prepare a module."""
    _check_interface(module.functions[module.entry])
    for function in module.functions.values():
        for op in function.body.walk():
            _check(function, op)
    nbytes = shared_bytes(module)
    if nbytes > MOST_STATIC:
        what = f"a kernel with {nbytes} bytes of shared arrays of constant size (at most {MOST_STATIC})"
        hint = "make the array dynamic: shape 0, and the bytes as the fourth number of the launch"
        raise refuse(module.functions[module.entry], None, what, hint)
    own = set(module.functions)
    softmath.expand(module, lambda name, type: name in _NATIVE, doubles=True)
    for name, function in module.functions.items():
        if name not in own:
            function.attrs["fp"] = "strict"  # its products and sums are fused where it says so, and nowhere else
            small = sum(1 for _ in function.body.walk()) <= _SMALL
            function.attrs["inline"] = "always" if small else "never"
    module.functions[module.entry].attrs["inline"] = "always"
    _check_recursion(module)
    _number(module)


def _check_interface(kernel: Function) -> None:
    if kernel.result_types:
        raise refuse(kernel, None, "a kernel that returns a value", "write the result into an array")
    for value in kernel.params:
        fine = isinstance(value.type, ArrayType) and value.type.space == "global"
        if not fine and (not isinstance(value.type, Scalar) or value.type.is_complex):
            raise refuse(kernel, None, f"a kernel that takes {value.type}", "give it numbers and arrays")


def _check(function: Function, op: Op) -> None:
    if op.name in softmath.WRITERS:
        return
    if op.name == "alloc" and not op.attr("stack"):
        raise refuse(function, op, f"an array that is made while the kernel runs ({HEAP[0]})", HEAP[1])
    if op.name not in EMITTERS:
        reason, hint = UNSUPPORTED.get(op.name, ("there is no code for it", "report this"))
        raise refuse(function, op, f"{op.name} ({reason})", hint)
    if op.name == "return" and any(getattr(value.type, "space", "") == "local" for value in op.operands):
        what = "a function that gives back an array of its own"
        raise refuse(function, op, what, "make the array in the caller")


def _check_recursion(module: Module) -> None:
    """The stack of a thread is small, and nothing watches it."""
    for name, function in module.functions.items():
        path = _cycle(module, name, [name])
        if path:
            titles = " -> ".join(module.functions[each].scope.qualname for each in path)
            raise CompileError(
                diagnostics.Code.RECURSION_ON_TARGET,
                f"recursion cannot run on a CUDA device: {titles}",
                location_of(function, None),
                hint=_RECURSION,
            )


def _cycle(module: Module, start: str, path: list[str], seen: set[str] | None = None) -> list[str]:
    """The calls from a function back to it."""
    seen = set() if seen is None else seen
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
    total = 0
    for function in module.functions.values():
        for op in function.body.walk():
            if op.name == "shared.array":
                type, shape = op.attrs["type"], op.attrs["shape"]
                assert isinstance(type, ArrayType) and isinstance(shape, tuple)
                nbytes = type.dtype.itemsize * math.prod(int(size) for size in shape if isinstance(size, int))
                total += -(-nbytes // 16) * 16
    return total
