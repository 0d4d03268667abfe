"""Compiled kernels: from a function, a backend and argument types to something that can be launched.

Takes types; gives `KernelCode`, whose `launch` places the arguments in memory that the device sees, makes the argument block, and
starts the kernel. Imported only when a kernel is compiled.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from quadrants.api import kerneldebug
from quadrants.api.devicearrays import first_device
from quadrants.api.jobs import JOBS
from quadrants.backend.arguments import pack
from quadrants.backend.contract import Backend, Capabilities, Device, KernelExecutable, LaunchShape
from quadrants.backend.registry import get_backend
from quadrants.diagnostics import BackendError, Code, CompileError, DeviceError, SourceLocation
from quadrants.infer import Dependency, InferResult, infer_module
from quadrants.infer.emitter import Options as InferOptions
from quadrants.ir import Module
from quadrants.ir.text import print_module
from quadrants.options import Options
from quadrants.passes import pipeline
from quadrants.passes.context import PassOptions
from quadrants.simt.signals import BarrierDivergence
from quadrants.types import ArrayType, LiteralType, NamedTupleType, NoneType, Scalar, TupleType, Type

_MISSING = object()


@dataclass(eq=False, slots=True)
class KernelCode:
    """A kernel that is compiled for the types of its arguments.

    Args:
        typed: what inference made of it.
        module: the code of the device level, after the passes that all devices share.
        backend: where it runs.
        device: likewise.
        capabilities: of the device's target.
        executable: the loaded code; None where the interpreter runs it.
        text: what `inspect_*` shows.
    """

    typed: InferResult
    module: Module
    backend: Backend
    device: Device
    capabilities: Capabilities
    executable: KernelExecutable | None
    text: dict[str, str] = field(default_factory=dict)

    def fits(self) -> bool:
        """Whether the globals that are part of the code have the values that they had."""
        return all(map(_is_current, self.typed.dependencies))

    def ir_text(self) -> str:
        return print_module(self.module)

    def launch(self, shape: LaunchShape, stream: Any, values: tuple[Any, ...]) -> None:
        """Launch with the values of the parameters."""
        check_shape(shape, self.capabilities, self.device)
        types = [*self.typed.param_types, *self.typed.hidden_types]
        hidden = [value for value in self.typed.hidden if isinstance(value, np.ndarray)]
        leaves = [leaf for type, value in zip(types, (*values, *hidden)) for leaf in leaves_of(type, value)]
        params = self.module.functions[self.module.entry].params
        if self.executable is None:
            kerneldebug.run(self.module, leaves, shape, self.capabilities.host_memory)
            return
        with self._placed([param.type for param in params], leaves) as placed:
            block = pack([param.type for param in params], placed)
            try:
                self.executable.launch(self.module.entry, block, shape, stream or None)
            except BarrierDivergence as problem:
                text = f"divergent barrier in {self.module.functions[self.module.entry].scope.qualname}(): {problem}"
                raise DeviceError(
                    Code.DIVERGENT_BARRIER,
                    text,
                    hint="move the barrier out of the branch or loop; debug=True names the threads",
                ).with_traceback(problem.__traceback__) from None

    def _placed(self, types: list[Type], leaves: list[Any]) -> Any:
        from quadrants.api.placement import in_host_memory, staged

        if self.capabilities.host_memory:
            return in_host_memory(leaves)
        return staged(types, leaves, self.backend.memory(self.device))


def leaves_of(type: Type, value: Any) -> Iterator[Any]:
    """The machine values of an argument."""
    if isinstance(type, (TupleType, NamedTupleType)):
        for item, part in zip(type.items, value, strict=True):
            yield from leaves_of(item, part)
    elif not isinstance(type, (LiteralType, NoneType)):
        yield value.item() if isinstance(value, np.generic) else value


def _is_current(dependency: Dependency) -> bool:
    """Whether a global or cell holds what it held; numbers count by value."""
    if dependency.cell is not None:
        try:
            now: object = dependency.cell.cell_contents
        except ValueError:
            return False
    else:
        assert dependency.namespace is not None
        now = dependency.namespace.get(dependency.name, _MISSING)
    before = dependency.value
    plain = type(now) is type(before) and isinstance(now, (bool, int, float, complex, str, np.generic))
    return now is before or (plain and (now == before or (now != now and before != before)))


def compile_kernel(
    function: types.FunctionType, name: str, arg_types: tuple[Type, ...], options: Options
) -> KernelCode:
    """Compile a kernel for a backend."""
    backend = get_backend(name)
    device = first_device(backend)
    target = backend.target_of(device)
    capabilities = backend.capabilities(target)
    checked = options.debug or (options.boundscheck and capabilities.host_memory)
    inferring = InferOptions(
        options.fp, checked, False, options.numerics.division, kernel=True, device=name, lacks=capabilities.lacks
    )
    with JOBS.front_end():
        typed = infer_module(function, arg_types, inferring)
        _check_interface(function, typed)
        module = typed.module
        pipeline.run_device(module, PassOptions(bounds_checks=checked))
    if options.debug or kerneldebug.needs_interpreter(module, capabilities):
        return KernelCode(typed, module, backend, device, capabilities, None)
    for apply in backend.legalise:
        apply(module)
    artifact = backend.compile(module, target, options)
    executable = backend.load(artifact, device)
    assert isinstance(executable, KernelExecutable)
    return KernelCode(typed, module, backend, device, capabilities, executable, dict(artifact.text))


def _check_interface(function: types.FunctionType, typed: InferResult) -> None:
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
        if not isinstance(scalar, Scalar) or scalar.is_complex:
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
