"""Compiled kernels: from a function, a backend and argument types to something that can be launched.

Takes types; gives `KernelCode`, whose `launch` places the arguments in memory that the device sees, makes the argument block,
and starts the kernel. The code comes out of the cache if it can; then nothing of the compiler is imported.
"""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from quadrants.api import kernelstore
from quadrants.api.devicearrays import first_device
from quadrants.api.jobs import JOBS, progress
from quadrants.api.placement import in_host_memory, staged
from quadrants.backend.arguments import pack
from quadrants.backend.contract import Artifact, Backend, Capabilities, Device, KernelExecutable, LaunchShape
from quadrants.backend.registry import get_backend
from quadrants.cache.dependencies import Ref
from quadrants.diagnostics import BackendError, Code, CompileError, DeviceError, SourceLocation
from quadrants.options import Options
from quadrants.simt.signals import BarrierDivergence
from quadrants.types import ArrayType, LiteralType, NamedTupleType, NoneType, Scalar, TupleType, Type

if TYPE_CHECKING:
    from quadrants.infer import InferResult
    from quadrants.ir import Module

HiddenAt = tuple[int, tuple[int, ...]]


@dataclass(eq=False, slots=True)
class KernelCode:
    """A kernel that is compiled for the types of its arguments.

    Args:
        arg_types: those types.
        machine: the types of the kernel's parameters, read-only where it does not write.
        entry: the name of the kernel in its artifact.
        title: the name of the function.
        refs: the globals and cells that are part of the code.
        hidden: which of them are arguments, and the way to each through tuples.
        backend: where it runs.
        device: likewise.
        capabilities: of the device's target.
        executable: the loaded code; None where the interpreter runs it.
        module: the code of the device level, where it was compiled in this process.
        text: what `inspect_*` shows.
    """

    arg_types: tuple[Type, ...]
    machine: tuple[Type, ...]
    entry: str
    title: str
    refs: tuple[Ref, ...]
    hidden: tuple[HiddenAt, ...]
    backend: Backend
    device: Device
    capabilities: Capabilities
    executable: KernelExecutable | None = None
    module: Module | None = None
    text: dict[str, str] = field(default_factory=dict)
    values: tuple[object, ...] = ()

    def __post_init__(self) -> None:
        self.values = tuple(ref.value for ref in self.refs)

    def fits(self) -> bool:
        """Whether the globals that are part of the code have the values that they had."""
        for ref, value in zip(self.refs, self.values):
            now = ref.value
            if now is not value and not _same(now, value):
                return False
        return True

    def launch(self, shape: LaunchShape, stream: Any, values: tuple[Any, ...]) -> None:
        """Launch with the values of the parameters."""
        check_shape(shape, self.capabilities, self.device)
        leaves = [leaf for type, value in zip(self.arg_types, values) for leaf in leaves_of(type, value)]
        leaves += [functools.reduce(operator.getitem, path, self.values[at]) for at, path in self.hidden]  # type: ignore[arg-type]
        if self.executable is None:
            from quadrants.api import kerneldebug  # loaded by the launches that need it

            assert self.module is not None
            kerneldebug.run(self.module, leaves, shape, self.capabilities.host_memory)
            return
        with self._placed(leaves) as placed:
            block = pack(self.machine, placed)
            try:
                self.executable.launch(self.entry, block, shape, stream or None)
            except BarrierDivergence as problem:
                raise DeviceError(
                    Code.DIVERGENT_BARRIER,
                    f"divergent barrier in {self.title}(): {problem}",
                    hint="move the barrier out of the branch or loop; debug=True names the threads",
                ).with_traceback(problem.__traceback__) from None

    def _placed(self, leaves: list[Any]) -> Any:
        if self.capabilities.host_memory:
            return in_host_memory(leaves)
        return staged(self.machine, leaves, self.backend.memory(self.device))


def leaves_of(type: Type, value: Any) -> Iterator[Any]:
    """The machine values of an argument."""
    if isinstance(type, (TupleType, NamedTupleType)):
        for item, part in zip(type.items, value, strict=True):
            yield from leaves_of(item, part)
    elif not isinstance(type, (LiteralType, NoneType)):
        yield value.item() if isinstance(value, np.generic) else value


def _same(now: object, before: object) -> bool:
    """Whether a global or cell holds what it held; numbers count by value."""
    plain = type(now) is type(before) and isinstance(now, (bool, int, float, complex, str, np.generic))
    return plain and (now == before or (now != now and before != before))


def compile_kernel(
    function: types.FunctionType, name: str, arg_types: tuple[Type, ...], options: Options
) -> KernelCode:
    """The code of a kernel for a backend."""
    backend = get_backend(name)
    device = first_device(backend)
    target = backend.target_of(device)
    request = kernelstore.Request(function, arg_types, options, target)
    stored = None if options.debug else kernelstore.load(request)
    if stored is not None:
        entry, machine, hidden, artifact, refs = stored
        code = _code(request, backend, device, entry, machine, hidden, refs)
        code.executable = _loaded(backend, artifact, device)
        code.text = dict(artifact.text)
        return code
    with progress(f"compiling the kernel {function.__qualname__}"):
        return _compile(request, backend, device)


def _code(
    request: kernelstore.Request,
    backend: Backend,
    device: Device,
    entry: str,
    machine: tuple[Type, ...],
    hidden: tuple[HiddenAt, ...],
    refs: Sequence[Ref],
) -> KernelCode:
    title = request.function.__qualname__
    capabilities = backend.capabilities(request.target)
    return KernelCode(request.arg_types, machine, entry, title, tuple(refs), hidden, backend, device, capabilities)


def _loaded(backend: Backend, artifact: Artifact, device: Device) -> KernelExecutable:
    executable = backend.load(artifact, device)
    assert isinstance(executable, KernelExecutable)
    return executable


def _compile(request: kernelstore.Request, backend: Backend, device: Device) -> KernelCode:
    from quadrants.api import kerneldebug  # the compiler is loaded when something is compiled
    from quadrants.api.frontend import absent_globals, place_of_hidden, ref_of
    from quadrants.infer import infer_module
    from quadrants.infer.emitter import Options as InferOptions
    from quadrants.passes import pipeline
    from quadrants.passes.context import PassOptions
    from quadrants.passes.written import written_params

    options, function = request.options, request.function
    capabilities = backend.capabilities(request.target)
    checked = options.debug or (options.boundscheck and capabilities.host_memory)
    inferring = InferOptions(
        options.fp,
        checked,
        division=options.numerics.division,
        kernel=True,
        device=backend.name,
        lacks=capabilities.lacks,
    )
    with JOBS.front_end():
        typed = infer_module(function, request.arg_types, inferring)
        _check_interface(function, typed, capabilities)
        pipeline.run_device(typed.module, PassOptions(bounds_checks=checked))
    refs = (*(ref_of(d, False) for d in typed.dependencies), *absent_globals(function, typed.dependencies))
    hidden = tuple(place_of_hidden(value, typed.dependencies) for value in typed.hidden)
    kernel = typed.module.functions[typed.module.entry]
    written = written_params(typed.module, kernel)
    machine = tuple(_as_used(param.type, index in written) for index, param in enumerate(kernel.params))
    code = _code(request, backend, device, kernel.name, machine, hidden, refs)
    code.module = typed.module
    if options.debug or kerneldebug.needs_interpreter(typed.module, capabilities):
        return code
    for apply in backend.legalise:
        apply(typed.module)
    artifact = backend.compile(typed.module, request.target, options)
    code.executable = _loaded(backend, artifact, device)
    code.text = dict(artifact.text)
    kernelstore.save(request, kernel.name, machine, hidden, artifact, refs)
    return code


def _as_used(type: Type, written: bool) -> Type:
    """The type of a parameter; an array that the kernel does not write is read-only to the launch."""
    return replace(type, readonly=True) if isinstance(type, ArrayType) and not written else type


def _check_interface(function: types.FunctionType, typed: InferResult, capabilities: Capabilities) -> None:
    """A kernel returns nothing, and takes what an argument block can hold."""
    place = SourceLocation.of_code(function.__code__)
    if not isinstance(typed.result_type, NoneType):
        raise CompileError(
            Code.BAD_RETURN,
            f"the kernel {function.__name__}() returns a value",
            place,
            types=[("returned", str(typed.result_type))],
            hint="a kernel returns nothing: store the value into an array that it takes",
        )
    for param in typed.module.functions[typed.module.entry].params:
        scalar = param.type.dtype if isinstance(param.type, ArrayType) else param.type
        taken = isinstance(scalar, Scalar) and (not scalar.is_complex or isinstance(param.type, ArrayType))
        if not taken or (isinstance(scalar, Scalar) and scalar.is_complex and str(scalar) not in capabilities.dtypes):
            raise CompileError(
                Code.UNSUPPORTED_TYPE,
                f"the kernel {function.__name__}() cannot take {param.hint or 'an argument'} of the type {param.type}",
                place,
                hint="kernels take real numbers, truth values, arrays of them, and tuples of those",
            )


def check_shape(shape: LaunchShape, capabilities: Capabilities, device: Device) -> None:
    """Refuse a launch that the device cannot do."""
    x, y, z = shape.block
    limits: list[tuple[bool, Callable[[], str]]] = [
        (
            x * y * z > capabilities.max_threads_per_block,
            lambda: f"{x * y * z} threads in a block; at most {capabilities.max_threads_per_block} are possible",
        ),
        (
            any(size > most for size, most in zip(shape.block, capabilities.max_block)),
            lambda: f"blocks of {shape.block} threads; at most {capabilities.max_block} are possible",
        ),
        (
            any(size > most for size, most in zip(shape.grid, capabilities.max_grid)),
            lambda: f"a grid of {shape.grid} blocks; at most {capabilities.max_grid} are possible",
        ),
        (
            shape.shared_bytes > capabilities.shared_bytes,
            lambda: f"{shape.shared_bytes} bytes of shared memory; there are {capabilities.shared_bytes}",
        ),
    ]
    for broken, text in limits:
        if broken:
            raise BackendError(Code.BAD_LAUNCH, f"{device.backend}:{device.index} ({device.name}) cannot run {text()}")
