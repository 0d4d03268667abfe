"""Binding arguments to parameters at compile time, with Python's rules and texts."""

from __future__ import annotations

import inspect
import types as pytypes
from collections.abc import Sequence
from typing import TYPE_CHECKING

from quadrants.diagnostics import Code
from quadrants.infer.dicts import made
from quadrants.infer.emitter import fail
from quadrants.infer.habits import suggestion
from quadrants.infer.values import Abstract, Tup

if TYPE_CHECKING:
    from quadrants.infer.engine import FunctionRef


def parameter_names(code: pytypes.CodeType) -> tuple[str, ...]:
    """The locals that hold arguments, in the order in which `bind` gives them."""
    count = code.co_argcount + code.co_kwonlyargcount
    return code.co_varnames[: count + bool(code.co_flags & inspect.CO_VARARGS) + takes_keywords(code)]


def takes_keywords(code: pytypes.CodeType) -> bool:
    """Whether there is a parameter `**keywords`."""
    return bool(code.co_flags & inspect.CO_VARKEYWORDS)


def title(ref: FunctionRef) -> str:
    """The name of a function in messages: those of the library that would hide a builtin end in an underscore."""
    return ref.name.rstrip("_") if ref.internal else ref.name


def bind(ref: FunctionRef, args: Sequence[Abstract], keywords: dict[str, Abstract]) -> list[Abstract]:
    """The values of the parameters in the order of `co_varnames`; `*args` is a tuple, `**keywords` a dict."""
    code = ref.code
    more: list[tuple[object, Abstract]] = []
    positional = code.co_varnames[: code.co_argcount]
    keyword_only = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    bound: dict[str, Abstract] = dict(zip(positional, args))
    extra = tuple(args[len(positional) :])
    varargs = bool(code.co_flags & inspect.CO_VARARGS)
    if extra and not varargs:
        _too_many(ref, len(positional), len(args))
    for name, value in keywords.items():
        known = name in positional[code.co_posonlyargcount :] or name in keyword_only
        if takes_keywords(code) and not known:
            more.append((name, value))
            continue
        if name in bound and name not in positional[: code.co_posonlyargcount]:
            fail(Code.BAD_ARGUMENTS, f"{title(ref)}() got multiple values for argument '{name}'")
        if not known:
            names = (*positional[code.co_posonlyargcount :], *keyword_only)
            hint = suggestion(name, names) or f"It takes {', '.join(names) or 'no keywords'}."
            fail(Code.BAD_ARGUMENTS, f"{title(ref)}() got an unexpected keyword argument '{name}'", hint=hint, at=value)
        bound[name] = value
    defaults = dict(zip(positional[len(positional) - len(ref.defaults) :], ref.defaults)) if ref.defaults else {}
    defaults.update(ref.kwdefaults)
    missing = [name for name in (*positional, *keyword_only) if name not in bound and name not in defaults]
    if missing:
        kind = "keyword-only" if missing[0] in keyword_only else "positional"
        fail(Code.BAD_ARGUMENTS, missing_arguments(title(ref), missing, kind), hint=_signature(ref))
    values = [bound[name] if name in bound else defaults[name] for name in (*positional, *keyword_only)]
    return [*values, *((Tup(extra),) if varargs else ()), *((made(more),) if takes_keywords(code) else ())]


def missing_arguments(title: str, names: Sequence[str], kind: str = "positional") -> str:
    """Python's message for arguments that a call lacks."""
    shown = [repr(name) for name in names]
    text = " and ".join(shown) if len(shown) < 3 else ", ".join(shown[:-1]) + f", and {shown[-1]}"
    return f"{title}() missing {len(names)} required {kind} argument{'s' if len(names) > 1 else ''}: {text}"


def _too_many(ref: FunctionRef, most: int, given: int) -> None:
    least = most - len(ref.defaults)
    wanted = str(most) if least == most else f"from {least} to {most}"
    plural = "" if wanted == "1" else "s"
    was = "was" if given == 1 else "were"
    fail(
        Code.BAD_ARGUMENTS,
        f"{title(ref)}() takes {wanted} positional argument{plural} but {given} {was} given",
        hint=_signature(ref),
    )


def _signature(ref: FunctionRef) -> str:
    """A hint that shows how the function is called."""
    code = ref.code
    positional = code.co_varnames[: code.co_argcount]
    optional = positional[len(positional) - len(ref.defaults) :] if ref.defaults else ()
    parts = [f"{name}=..." if name in optional else name for name in positional]
    named = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    defaults = dict(ref.kwdefaults)
    parts += ["*", *(f"{name}=..." if name in defaults else name for name in named)] if named else []
    return f"It is called as {title(ref)}({', '.join(parts)})."
