"""Compiles a portable kernel for a device.

Takes a function, argument types, options and a backend; gives `Compiled`: the host's function, and the code of each kernel that
it launches.
"""

from __future__ import annotations

import types
from dataclasses import replace

from quadrants.api.frontend import absent_globals, place_of_hidden, ref_of
from quadrants.api.jobs import JOBS, progress
from quadrants.api.portable.launching import Compiled, Kernel
from quadrants.backend.arguments import packer
from quadrants.backend.contract import Backend, Device, KernelExecutable
from quadrants.diagnostics import Code, CompileError, SourceLocation
from quadrants.infer import infer_module
from quadrants.infer.emitter import Options as InferOptions
from quadrants.ir import Function, Module
from quadrants.ir.rewrite import clone_module
from quadrants.options import Options
from quadrants.passes import launches, pipeline, simplify
from quadrants.passes.context import PassContext, PassOptions
from quadrants.passes.written import written_params
from quadrants.types import ArrayType, Scalar, Type
from quadrants.types.names import type_text
from quadrants.types.scalar import SCALARS


def compile_portable(
    function: types.FunctionType, arg_types: tuple[Type, ...], options: Options, backend: Backend, device: Device
) -> Compiled:
    """The program of a kernel for argument types."""
    with progress(f"compiling the kernel {function.__qualname__}"):
        return _compile(function, arg_types, options, backend, device)


def _compile(
    function: types.FunctionType, arg_types: tuple[Type, ...], options: Options, backend: Backend, device: Device
) -> Compiled:
    target = backend.target_of(device)
    capabilities = backend.capabilities(target)
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
    kernels = {name: _kernel(typed.module, name, written[name], options, backend, device) for name in names}
    own = host.params[: len(host.params) - len(scratch.sizes)]
    return Compiled(
        host,
        kernels,
        tuple(_as_used(param.type, param in changed) for param in own),
        scratch.sizes,
        typed.result_type,
        (*(ref_of(d, False) for d in typed.dependencies), *absent_globals(function, typed.dependencies)),
        tuple(place_of_hidden(value, typed.dependencies) for value in typed.hidden),
        (*typed.decisions, *context.decisions),
        Module({host.name: host, **typed.module.functions}, host.name),
    )


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


def _kernel(
    module: Module, name: str, written: frozenset[int], options: Options, backend: Backend, device: Device
) -> Kernel:
    """The code of one kernel."""
    reached = launches.reached_by(module, [name])
    own = clone_module(Module({n: f for n, f in module.functions.items() if n in reached}, name))
    machine = tuple(_as_used(param.type, k in written) for k, param in enumerate(own.functions[name].params))
    for apply in backend.legalise:
        apply(own)
    artifact = backend.compile(own, backend.target_of(device), options)
    executable = backend.load(artifact, device)
    assert isinstance(executable, KernelExecutable)
    return Kernel(executable, name, packer(machine))


def _as_used(type: Type, written: bool) -> Type:
    """The type of a parameter; an array that is not written is read-only to the launch."""
    return replace(type, readonly=True) if isinstance(type, ArrayType) and not written else type
