"""Launches in the interpreter of device code: `debug=True`, and what a device cannot do by itself.

Takes the module of a kernel, leaf values and the shape; runs it on the NumPy arrays in place. What the interpreter finds is
raised as the exception of the program or as a `DeviceError`, with the block and the thread in its text and the kernel's line
in the traceback.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from quadrants.api.devicearrays import DeviceArray
from quadrants.backend.contract import Capabilities, LaunchShape
from quadrants.diagnostics import Code, DeviceError, SourceLocation
from quadrants.host import traceback
from quadrants.host.raising import resolve_class
from quadrants.ir import Function, Module, Op
from quadrants.ir.memcheck import Race, Uninitialised
from quadrants.ir.simt import Divergence, run_grid
from quadrants.ir.threads import Geometry
from quadrants.ir.values import Raised

_PROBLEMS = {
    Divergence: (Code.DIVERGENT_BARRIER, "all threads of the block have to reach the barrier: move it out of the branch or loop"),
    Race: (Code.DATA_RACE, "put a barrier between the accesses, or use an atomic operation"),
    Uninitialised: (Code.UNINITIALISED_READ, "write the element before, and put a barrier between if another thread does"),
}  # fmt: skip


def needs_interpreter(module: Module, capabilities: Capabilities) -> bool:
    """Whether the kernel has a barrier of the whole grid, and the device runs on the host without one of its own."""
    if not capabilities.host_memory or not capabilities.grid_sync:
        return False
    return any(op.name == "grid.barrier" for function in module.functions.values() for op in function.body.walk())


def run(module: Module, leaves: Sequence[Any], shape: LaunchShape, host_memory: bool) -> None:
    """Launch. Arrays on a device are worked on in place where the device's memory is the host's, else as a copy."""
    hosts = [(leaf, _host_view(leaf, host_memory)) for leaf in leaves if isinstance(leaf, DeviceArray)]
    views = {id(leaf): view for leaf, view in hosts}
    leaves = [views.get(id(leaf), leaf) for leaf in leaves]
    try:
        _run(module, leaves, shape)
    finally:
        for leaf, view in () if host_memory else hosts:
            leaf.copy_to_device(view)


def _host_view(array: DeviceArray, host_memory: bool) -> np.ndarray:
    if not host_memory:
        return array.copy_to_host()
    memory = (ctypes.c_uint8 * array.nbytes).from_address(array.address)
    return np.frombuffer(memory, array.dtype).reshape(array.shape)


def _run(module: Module, leaves: Sequence[Any], shape: LaunchShape) -> None:
    kernel = module.functions[module.entry]
    geometry = Geometry(shape.grid, shape.block, shape.shared_bytes)
    try:
        run_grid(module, leaves, geometry, checks=True)
    except Raised as problem:
        raise _exception(problem, kernel) from None
    except (Divergence, Race, Uninitialised) as problem:
        code, hint = _PROBLEMS[type(problem)]
        raise DeviceError(code, str(problem), _location(kernel, problem.op), hint=hint) from None


def _location(kernel: Function, op: Op) -> SourceLocation:
    scope = kernel.scope
    if op.loc is None:
        return SourceLocation(scope.filename, scope.firstlineno, function=scope.qualname)
    loc = op.loc
    return SourceLocation(
        scope.filename, loc.line, loc.col, loc.end_line or None, loc.end_col or None, function=scope.qualname
    )


def _exception(problem: Raised, kernel: Function) -> BaseException:
    """The exception of the program, with the thread in its text."""
    cls = resolve_class(problem.cls)
    where = f"in {problem.thread} of {kernel.scope.qualname}()"
    values = list(problem.values)
    if values and isinstance(values[0], str):
        values[0] = f"{values[0]} ({where})"
    made = cls(*values)
    if not values:
        made.add_note(where)
    scopes = [*(scope for scope, _ in problem.trace), kernel.scope]
    places = [problem.loc, *(loc for _, loc in problem.trace)]
    return made.with_traceback(traceback.build(zip(scopes, places)))
