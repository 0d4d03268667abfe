"""Binding the arguments of a call, exactly as the interpreter does.

Takes a Python function; gives a binder: called with any arguments it returns the tuple of the parameters' values in the order
of `co_varnames` (positional, keyword-only, then the tuple of `*args`). Defaults are filled in, and a wrong call raises the
interpreter's own TypeError, because the interpreter does the binding: the binder is a function with the same parameters whose
bytecode loads them and builds the tuple.
"""

from __future__ import annotations

import dis
import inspect
import types
from collections.abc import Callable

from quadrants.diagnostics.codes import Code
from quadrants.diagnostics.errors import QuadrantsError

_DROPPED_FLAGS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_NESTED


def parameter_names(code: types.CodeType) -> tuple[str, ...]:
    """Every parameter in the order that values are bound in."""
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return code.co_varnames[:count]


def has_varargs(code: types.CodeType) -> bool:
    """Whether the last parameter takes the extra positional arguments."""
    return bool(code.co_flags & inspect.CO_VARARGS)


def make_binder(function: types.FunctionType) -> Callable[..., tuple[object, ...]]:
    """See the module. Functions with `**kwargs` are refused."""
    code = function.__code__
    if code.co_flags & inspect.CO_VARKEYWORDS:
        name = parameter_names(code)[-1]
        raise QuadrantsError(
            Code.UNSUPPORTED_KWARGS,
            f"{function.__qualname__}() takes **{name}: compiled functions have a fixed set of parameters",
            hint=f"name the parameters that **{name} stands for, with defaults",
        )
    names = parameter_names(code)
    stub = code.replace(
        co_code=_load_all(len(names)),
        co_consts=(None,),
        co_names=(),
        co_varnames=names,
        co_cellvars=(),
        co_freevars=(),
        co_nlocals=len(names),
        co_stacksize=len(names) + 1,
        co_flags=code.co_flags & ~_DROPPED_FLAGS,
        co_exceptiontable=b"",
        co_linetable=b"",
    )
    binder = types.FunctionType(stub, {}, function.__name__, function.__defaults__)
    binder.__kwdefaults__ = function.__kwdefaults__
    binder.__qualname__ = function.__qualname__
    return binder


def _load_all(count: int) -> bytes:
    """Bytecode that returns the tuple of the first `count` locals: the same five instructions on every version."""
    steps = [
        ("RESUME", 0),
        *(("LOAD_FAST", index) for index in range(count)),
        ("BUILD_TUPLE", count),
        ("RETURN_VALUE", 0),
    ]
    return b"".join(_instruction(name, argument) for name, argument in steps)


def _instruction(name: str, argument: int) -> bytes:
    prefix = b"" if argument < 256 else _instruction("EXTENDED_ARG", argument >> 8)
    return prefix + bytes((dis.opmap[name], argument & 255))
