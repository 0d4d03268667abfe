"""The decorators of the CPU language.

Takes a function, or options and then a function; gives a dispatcher.
"""

from __future__ import annotations

import types
from typing import Any

from quadrants.api import compile as _driver  # noqa: F401 - here rather than in the first call
from quadrants.api.dispatcher import Dispatcher
from quadrants.api.settings import parse_options
from quadrants.api.signature import as_signatures, is_signature
from quadrants.diagnostics.codes import Code
from quadrants.diagnostics.errors import QuadrantsError
from quadrants.options import Options
from quadrants.types.names import Signature


def njit(signature_or_function: Any = None, /, **options: Any) -> Any:
    """Compile a function for the CPU when it is called, once for each combination of argument types.

    Used bare, `@njit`; with options, `@njit(fastmath=True)`; or with signatures, which are compiled at once:
    `@njit("float64(float64[:])")`, `@njit([qd.int64(qd.int64), qd.float64(qd.float64)])`.
    """
    signatures: tuple[Signature, ...] = ()
    if "signature" in options and signature_or_function is None:
        signature_or_function = options.pop("signature")
    if signature_or_function is None or is_signature(signature_or_function):
        signatures = as_signatures(signature_or_function)
        parsed = parse_options(options)
        return lambda function: _compiled(function, parsed, signatures, bool(options))
    return _compiled(signature_or_function, parse_options(options), (), bool(options))


jit = njit


def _compiled(function: Any, options: Options, signatures: tuple[Signature, ...], explicit: bool) -> Any:
    """The dispatcher of a function; static and class methods keep their wrapper."""
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(_compiled(function.__func__, options, signatures, explicit))
    if isinstance(function, Dispatcher):
        if not explicit and not signatures:
            return function
        function = function.py_func
    if not isinstance(function, types.FunctionType):
        raise _not_a_function(function)
    return Dispatcher(function, options, signatures)


def _not_a_function(value: object) -> QuadrantsError:
    if isinstance(value, type):
        return QuadrantsError(
            Code.UNSUPPORTED_CLASS,
            f"the class {value.__qualname__} cannot be compiled as a whole",
            hint="decorate its methods or, better, plain functions that take its data",
        )
    if isinstance(value, types.BuiltinFunctionType) or callable(value):
        name = getattr(value, "__qualname__", None) or repr(value)
        return QuadrantsError(
            Code.NO_BYTECODE,
            f"{name} is not a Python function: it has no bytecode to compile",
            hint="write a function that calls it, and decorate that",
        )
    return QuadrantsError(
        Code.BAD_SIGNATURE,
        f"{value!r} is neither a function nor a signature",
        hint='use it as @njit, @njit(option=...) or @njit("float64(float64[:])")',
    )
