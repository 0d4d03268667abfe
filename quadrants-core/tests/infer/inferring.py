"""Runs Python functions through inference, the passes and the reference interpreter of the IR: no machine code takes part."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from quadrants.api.typeof import typeof
from quadrants.infer import InferResult, Options, infer_module
from quadrants.infer.function import parameter_names
from quadrants.ir import boxing, interp
from quadrants.ir.spec import verify
from quadrants.passes import pipeline
from quadrants.types import ArrayType, NamedTupleType, TupleType, Type


def bound(function: Callable[..., Any], args: tuple[Any, ...]) -> list[Any]:
    """The arguments in the order of the code's parameters."""
    call = inspect.signature(function).bind(*args)
    call.apply_defaults()
    return [call.arguments[name] for name in parameter_names(function.__code__)]


def leaves(type_: Type, value: Any) -> tuple[Any, ...]:
    """The leaves of an argument, arrays as NumPy arrays."""
    if isinstance(type_, ArrayType):
        return (value,)
    if isinstance(type_, (TupleType, NamedTupleType)):
        return tuple(leaf for item, part in zip(type_.items, value) for leaf in leaves(item, part))
    return boxing.unbox(type_, value)


def plain(value: Any) -> Any:
    """A result with NumPy arrays in the place of the interpreter's."""
    if isinstance(value, interp.InterpArray):
        return value.numpy()
    if isinstance(value, tuple):
        items = [plain(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value


def execute(result: InferResult, values: list[Any]) -> tuple[Any, list[Any]]:
    """The result, or the name of the exception, and the arguments after the call."""
    values = copy.deepcopy(values)
    flat = [leaf for type_, value in zip(result.param_types, values) for leaf in leaves(type_, value)]
    try:
        out = interp.run(result.module, [*flat, *result.hidden])
    except interp.Raised as error:
        return error.cls.rpartition(":")[2], values
    return plain(boxing.box(result.result_type, iter(out))), values


def outcomes(function: Callable[..., Any], args: tuple[Any, ...]) -> list[tuple[Any, list[Any]]]:
    """What the function gives before and after the passes, each verified."""
    values = bound(function, args)
    result = infer_module(function, [typeof(value) for value in values], Options())  # type: ignore[arg-type]
    verify(result.module)
    before = execute(result, values)
    pipeline.run(result.module)
    verify(result.module)
    return [before, execute(result, values)]


def expected(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, list[Any]]:
    """The same from CPython and NumPy."""
    args = copy.deepcopy(args)
    with np.errstate(all="ignore"):
        try:
            value: Any = function(*args)
        except Exception as error:  # noqa: BLE001 (whatever the program raises is the expectation)
            value = type(error).__name__
    return value, bound(function, args)


def alike(got: Any, wanted: Any) -> bool:
    """Equal in value, dtype and shape; a Python number may be its NumPy type (a variable that holds both is the latter)."""
    if isinstance(wanted, np.ndarray):
        same = isinstance(got, np.ndarray) and got.dtype == wanted.dtype and got.shape == wanted.shape
        return same and bool(np.allclose(got, wanted, rtol=1e-6, equal_nan=True))
    if isinstance(wanted, tuple):
        return isinstance(got, tuple) and len(got) == len(wanted) and all(map(alike, got, wanted))
    if isinstance(wanted, (str, type(None))):
        return bool(got == wanted)
    if isinstance(got, (str, type(None))) or (isinstance(wanted, np.generic) and got.dtype != wanted.dtype):
        return False
    return bool(got == wanted or (got != got and wanted != wanted) or abs(got - wanted) <= 1e-6 * abs(wanted))


def agrees(function: Callable[..., Any], *args: Any) -> None:
    """Assert that the IR, before and after the passes, does what the interpreter does."""
    wanted, wanted_args = expected(function, args)
    for got, got_args in outcomes(function, args):
        assert alike(got, wanted), (got, wanted)
        for after, wanted_after in zip(got_args, wanted_args):
            if isinstance(wanted_after, np.ndarray):
                assert alike(after, wanted_after), (after, wanted_after)
