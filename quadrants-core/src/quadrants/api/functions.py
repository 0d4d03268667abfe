"""Device functions: what `@qd.func` and `@qd.<backend>.func` make.

A device function is compiled for the kernel that calls it; undecorated functions are too. Called from the interpreter it is
the plain function.
"""

from __future__ import annotations

import functools
import types
from typing import Any

from quadrants.diagnostics import Code, QuadrantsError
from quadrants.options import KERNEL_NUMERICS, Options


class DeviceFunction:
    """A function for kernels. `py_func` is the plain one."""

    __quadrants_dispatcher__ = True

    __qualname__: str
    options = Options(numerics=KERNEL_NUMERICS)

    def __init__(self, function: types.FunctionType) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.py_func(*args, **keywords)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<device function {self.__qualname__}>"


def func(function: Any = None, /) -> Any:
    """Mark a function as one that kernels call. Any plain function can be called from a kernel too."""
    if function is None:
        return func
    function = getattr(function, "py_func", function)
    if not isinstance(function, types.FunctionType):
        raise QuadrantsError(
            Code.NO_BYTECODE,
            f"{function!r} is not a Python function: it has no bytecode to compile",
            hint="write a function that calls it, and decorate that",
        )
    return DeviceFunction(function)
