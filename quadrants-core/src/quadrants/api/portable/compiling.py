"""Compiles a portable kernel for a device.

Takes a request and a backend; gives the host's function, and the code of each kernel that it launches.
"""

from __future__ import annotations

import types
from dataclasses import replace

from quadrants._frozen import frozen
from quadrants.api.frontend import absent_globals, place_of_hidden, ref_of
from quadrants.api.jobs import JOBS, progress
from quadrants.api.kernelstore import Request
from quadrants.api.portable.keeping import KernelParts, Parts
from quadrants.backend.contract import Backend
from quadrants.cache.dependencies import Ref
from quadrants.diagnostics import Code, CompileError, Decision, SourceLocation
from quadrants.infer import infer_module
from quadrants.infer.emitter import Options as InferOptions
from quadrants.ir import Function, Module
from quadrants.ir.rewrite import clone_module
from quadrants.ir.text import print_module
from quadrants.passes import launches, pipeline, simplify
from quadrants.passes.context import PassContext, PassOptions
from quadrants.passes.written import written_params
from quadrants.types import ArrayType, Scalar, Type
from quadrants.types.names import type_text
from quadrants.types.scalar import SCALARS


@frozen(eq=False)
class Result:
    """What compiling gives: what is kept of it, the host's function, what it depends on, decisions, and all functions."""

    parts: Parts
    host: Function
    refs: tuple[Ref, ...]
    decisions: tuple[Decision, ...]
    module: Module


def compile_portable(request: Request, backend: Backend) -> Result:
    """The program of a kernel for argument types."""
    with progress(f"compiling the kernel {request.function.__qualname__}"):
        return _compile(request, backend)


def _compile(request: Request, backend: Backend) -> Result:
    function, arg_types, options = request.function, request.arg_types, request.options
    capabilities = backend.capabilities(request.target)
    checked = options.boundscheck and (options.debug or capabilities.host_memory)
    numerics = options.numerics
    inferring = InferOptions(
        options.fp,
        checked,
        options.debug,
        numerics.division,
        kernel=True,
        portable=True,
        default_ip=SCALARS[numerics.weak_int],
        default_fp=SCALARS[numerics.weak_float],
        device=backend.name,
        lacks=capabilities.lacks,
    )
    widths = launches.Widths(
        most_threads=capabilities.max_threads_per_block, most_blocks=min(capabilities.max_grid[0], (1 << 31) - 1)
    )
    with JOBS.front_end():
        typed = infer_module(function, arg_types, inferring)
        context = PassContext(typed.module, PassOptions(bounds_checks=checked))
        scratch = launches.run(typed.module, context, widths)
        host = typed.module.functions.pop(typed.module.entry)
        _check_result(function, typed.result_type, host)
        simplify.run(host)
        pipeline.run_device(typed.module, PassOptions(bounds_checks=checked))
    names = launches.kernels_of(host)
    written = {name: written_params(typed.module, typed.module.functions[name]) for name in names}
    changed = {
        operand
        for op in launches.launches_of(host)
        for k, operand in enumerate(op.operands[1:])
        if k in written[str(op.attrs["callee"])]
    }
    own = host.params[: len(host.params) - len(scratch.sizes)]
    parts = Parts(
        print_module(Module({host.name: host}, host.name)),
        tuple(_kernel(typed.module, name, written[name], request, backend) for name in names),
        tuple(_as_used(param.type, param in changed) for param in own),
        scratch.sizes,
        typed.result_type,
        tuple(place_of_hidden(value, typed.dependencies) for value in typed.hidden),
    )
    refs = (*(ref_of(d, False) for d in typed.dependencies), *absent_globals(function, typed.dependencies))
    decisions = (*typed.decisions, *context.decisions)
    return Result(parts, host, refs, decisions, Module({host.name: host, **typed.module.functions}, host.name))


def _check_result(function: types.FunctionType, result: Type, host: Function) -> None:
    """A kernel on a device returns numbers."""
    if not all(isinstance(leaf, Scalar) for leaf in host.result_types):
        raise CompileError(
            Code.BAD_RETURN,
            f"the kernel {function.__name__}() returns what is not made of numbers",
            SourceLocation.of_code(function.__code__),
            types=[("returned", type_text(result))],
            hint="return numbers, vectors, or tuples of those; an array that is passed as an argument is changed in place",
        )


def _kernel(module: Module, name: str, written: frozenset[int], request: Request, backend: Backend) -> KernelParts:
    """The code of one kernel."""
    reached = launches.reached_by(module, [name])
    own = clone_module(Module({n: f for n, f in module.functions.items() if n in reached}, name))
    machine = tuple(_as_used(param.type, k in written) for k, param in enumerate(own.functions[name].params))
    for apply in backend.legalise:
        apply(own)
    return name, machine, backend.compile(own, request.target, request.options)


def _as_used(type: Type, written: bool) -> Type:
    """The type of a parameter; an array that is not written is read-only to the launch."""
    return replace(type, readonly=True) if isinstance(type, ArrayType) and not written else type
