"""Kernels of the explicit language: what `@qd.<backend>.kernel` makes.

Takes a Python function and the name of a backend; gives a `Kernel`. `kernel[grid, block](...)` compiles for the types of the
arguments at their first launch, and launches. NumPy arrays are updated in place by the time the launch returns. With
`debug=True` the launch runs in the interpreter of device code, which finds races, divergent barriers and reads of what was
not written.
"""

from __future__ import annotations

import functools
import inspect
import operator
import threading
import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from quadrants._frozen import frozen
from quadrants.api.coerce import coerce
from quadrants.api.devicearrays import DeviceArray
from quadrants.api.typeof import typeof
from quadrants.backend.contract import LaunchShape
from quadrants.diagnostics import BackendError, Code, QuadrantsError
from quadrants.options import KERNEL_NUMERICS, Options
from quadrants.types import Type

#: Threads of a block where `forall` chooses.
FORALL_BLOCK = 128
_OPTIONS = frozenset(("debug", "fastmath", "fp", "boundscheck", "cache", "inline"))


class Kernel:
    """A kernel: index it with the shape of the launch, then call it.

    Args:
        function: the Python function.
        backend: the name of the backend.
        options: how it is compiled.
    """

    __quadrants_kernel__ = True

    __name__: str
    __qualname__: str

    def __init__(self, function: types.FunctionType, backend: str, options: Options) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self.backend = backend
        self.options = options
        self._signature = inspect.signature(function)
        self._plain = all(
            p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in self._signature.parameters.values()
        )
        self._compiled: dict[tuple[Type, ...], Any] = {}
        self._lock = threading.RLock()

    def __getitem__(self, configuration: Any) -> Launch:
        """`kernel[grid, block]`, `kernel[grid, block, stream]`, `kernel[grid, block, stream, shared_bytes]`."""
        parts = configuration if isinstance(configuration, tuple) else (configuration,)
        if not 2 <= len(parts) <= 4:
            raise _bad_launch(
                f"{self.__name__}[...] takes grid and block, and perhaps a stream and bytes of shared memory,"
                f" not {len(parts)} value{'s' if len(parts) != 1 else ''}",
                hint=f"{self.__name__}[blocks, threads](...)",
            )
        stream = parts[2] if len(parts) > 2 else 0
        shared = _count(parts[3], "the bytes of shared memory") if len(parts) > 3 else 0
        return Launch(self, LaunchShape(_box(parts[0], "the grid"), _box(parts[1], "the block"), shared), stream)

    def forall(self, n: int, block: int = 0, stream: Any = 0, shared_bytes: int = 0) -> Launch:
        """The launch of at least `n` threads, in one axis. The kernel has to see for itself which of them are too many."""
        threads = _count(block, "the block") or FORALL_BLOCK
        blocks = -(-_count(n, "the number of threads") // threads)
        return Launch(self, LaunchShape((blocks, 1, 1), (threads, 1, 1), shared_bytes), stream)

    def __call__(self, *args: Any, **keywords: Any) -> None:
        raise _bad_launch(
            f"{self.__name__} is a kernel: it is launched with blocks and threads",
            hint=f"{self.__name__}[blocks, threads](...), or {self.__name__}.forall(n)(...)",
        )

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def bind(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> tuple[Any, ...]:
        """The arguments in the order of the parameters, defaults filled in."""
        if self._plain and not keywords and len(args) == len(self._signature.parameters):
            return args
        bound = self._signature.bind(*args, **keywords)
        bound.apply_defaults()
        fixed = [p for p in self._signature.parameters.values() if p.kind is not p.VAR_POSITIONAL]
        values = [bound.arguments[p.name] for p in fixed]
        rest = [bound.arguments[p.name] for p in self._signature.parameters.values() if p.kind is p.VAR_POSITIONAL]
        return (*values, *rest)

    def types_of(self, values: tuple[Any, ...]) -> tuple[Type, ...]:
        """The types of bound arguments."""
        names = list(self._signature.parameters)
        return tuple(
            value.type if isinstance(value, DeviceArray) else typeof(value, f"argument {name!r} of {self.__name__}()")
            for value, name in zip(values, names, strict=True)
        )

    def launch(self, shape: LaunchShape, stream: Any, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> None:
        """Launch with the arguments of a call."""
        names = self._signature.parameters
        bound = self.bind(args, keywords)
        values = tuple(self._coerced(value, name) for name, value in zip(names, bound, strict=True))
        code = self._code(self.types_of(values))
        if not shape.empty:
            code.launch(shape, stream, values)

    def _coerced(self, value: Any, name: str) -> Any:
        where = f"argument {name!r} of {self.__name__}()"
        if not isinstance(value, DeviceArray):
            return coerce(value, where)
        if value.backend != self.backend:
            raise BackendError(
                Code.DEVICE_MISMATCH,
                f"{where} is on {value.backend}, and the kernel runs on {self.backend}",
                hint="copy it: value.copy_to_host()",
            )
        return value

    def _code(self, found: tuple[Type, ...]) -> Any:
        """The code for the types of arguments, valid for the present values of globals."""
        known = self._compiled.get(found)
        if known is not None and known.fits():
            return known
        from quadrants.api.kernelcode import compile_kernel  # the compiler is loaded when something is compiled

        with self._lock:
            known = self._compiled.get(found)
            if known is None or not known.fits():
                known = self._compiled[found] = compile_kernel(self.py_func, self.backend, found, self.options)
            return known

    def inspect_ir(self, *args: Any) -> str:
        """The intermediate representation of the device level for arguments like these."""
        from quadrants.api.kernelcode import compile_kernel
        from quadrants.ir.text import print_module

        found = self.types_of(self.bind(args, {}))
        code = compile_kernel(self.py_func, self.backend, found, self.options.replace(cache=False))
        assert code.module is not None
        return print_module(code.module)

    def inspect_text(self, stage: str, *args: Any) -> str:
        """What the backend keeps of its own stages, for arguments like these: "llvm" on the CPU, for example."""
        text: dict[str, str] = self._code(self.types_of(self.bind(args, {}))).text
        if stage not in text:
            raise KeyError(f"{self.backend} keeps no {stage!r}; it has {', '.join(text) or 'nothing'}")
        return text[stage]

    def inspect_llvm(self, *args: Any) -> str:
        """The LLVM IR for arguments like these."""
        return self.inspect_text("llvm", *args)

    def __repr__(self) -> str:
        return f"<kernel {self.__qualname__} for {self.backend}>"


@frozen(eq=False)
class Launch:
    """A kernel with the shape of its launch: call it with the arguments."""

    kernel: Kernel
    shape: LaunchShape
    stream: Any = 0

    def __call__(self, *args: Any, **keywords: Any) -> None:
        self.kernel.launch(self.shape, self.stream, args, keywords)


def decorator(backend: str) -> Callable[..., Any]:
    """The decorator `kernel` of a backend."""

    def kernel(function: Any = None, /, **options: Any) -> Any:
        """Make a kernel of a function: `@ns.kernel`, or `@ns.kernel(debug=True)`.

        It is launched by `k[grid, block](...)`. `debug=True` checks bounds, assertions, races, barriers, and reads of memory
        that was not written; errors name the block and the thread.
        """
        parsed = parse_options(options)
        if function is None:
            return lambda function: _kernel(function, backend, parsed)
        return _kernel(function, backend, parsed)

    return kernel


def parse_options(given: Mapping[str, Any]) -> Options:
    """The options of a kernel."""
    from quadrants.api.settings import parse_options as parse

    unknown = [name for name in given if name not in _OPTIONS]
    if unknown:
        raise QuadrantsError(
            Code.BAD_OPTION,
            f"a kernel has no option {unknown[0]!r}",
            hint=f"the options are {', '.join(sorted(_OPTIONS))}",
        )
    return parse(given).replace(numerics=KERNEL_NUMERICS)


def _kernel(function: Any, backend: str, options: Options) -> Kernel:
    function = getattr(function, "py_func", function)
    if not isinstance(function, types.FunctionType):
        raise QuadrantsError(
            Code.NO_BYTECODE,
            f"{function!r} is not a Python function: it cannot be a kernel",
            hint=f"use it as @qd.{backend}.kernel on a function",
        )
    return Kernel(function, backend, options)


def _box(value: Any, what: str) -> tuple[int, int, int]:
    """Sizes along x, y and z."""
    sizes = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(sizes) <= 3:
        raise _bad_launch(f"{what} has one to three axes, not {len(sizes)}")
    counts = [_count(size, what) for size in sizes]
    return (counts + [1, 1])[0], (counts + [1, 1])[1], (counts + [1, 1])[2]


def _count(value: Any, what: str) -> int:
    """A size: an integer that is not negative."""
    if isinstance(value, (bool, float, np.floating)):
        raise _bad_launch(f"{what} is {value!r}: it has to be an integer", hint="use // for a division of integers")
    try:
        count = operator.index(value)
    except TypeError:
        raise _bad_launch(f"{what} is {value!r}: it has to be an integer, or a tuple of up to three") from None
    if count < 0:
        raise _bad_launch(f"{what} is {count}: it cannot be negative")
    return count


def _bad_launch(message: str, hint: str | None = None) -> BackendError:
    return BackendError(Code.BAD_LAUNCH, message, hint=hint)
