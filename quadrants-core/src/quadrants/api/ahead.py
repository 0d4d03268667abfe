"""Compiling ahead of the first call: `f.compile(...)`.

Takes a compiled function and what its `compile` was given: a signature, or a type, the text of a type or an example for each
parameter. Compiles what a call with such arguments would, in this thread or in one of its own. Examples are only looked at.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from quadrants.api import matching
from quadrants.api.coerce import coerce
from quadrants.api.signature import as_signature, parse_signature, parse_type
from quadrants.api.typeof import typeof
from quadrants.diagnostics.errors import QuadrantsError
from quadrants.types import Type
from quadrants.types.names import Signature, as_type

if TYPE_CHECKING:
    from concurrent.futures import Future

    from quadrants.api.dispatcher import Dispatcher, Specialisation
    from quadrants.api.sizes import Sizes

Asked = tuple[tuple[Type, ...], Type | None, "Sizes"]


def compile_for(function: Dispatcher, given: tuple[Any, ...], wait: bool) -> Specialisation | Future[Specialisation]:
    """See `Dispatcher.compile`."""
    types, result, sizes = _asked(function, given)
    if wait:
        return function._specialise(types, result, sizes)
    return _started(lambda: function._specialise(types, result, sizes), function.__name__)


def _asked(function: Dispatcher, given: tuple[Any, ...]) -> Asked:
    """The types of the parameters, that of the result if it was given, and the sizes of arrays that the code may be for."""
    signature = _whole(given[0]) if len(given) == 1 else None
    if signature is None:
        given = _with_defaults(function, given)
        types = tuple(map(_named, given))
        if all(type is None for type in types):
            return _as_called(function, given)
        params = (
            _of_example(function, k, v) if t is None else matching.primary(t)
            for k, (v, t) in enumerate(zip(given, types))
        )
        signature = Signature(tuple(params))
        function._check_arity(signature)
        return signature.params, None, ()
    function._check_arity(signature)
    return tuple(map(matching.primary, signature.params)), signature.result, ()


def _whole(spec: Any) -> Signature | None:
    """The signature that an only argument is; None where it stands for an only parameter."""
    if isinstance(spec, Signature):
        return spec
    if isinstance(spec, str):
        return None if _is_type(spec) else parse_signature(spec)
    if isinstance(spec, tuple) and all(_named(item) is not None for item in spec):
        return as_signature(spec)
    return None


def _is_type(text: str) -> bool:
    """Whether a text is a type. `(f8, i8)` is a signature."""
    if text.lstrip().startswith("("):
        return False
    try:
        parse_type(text)
    except QuadrantsError:
        return "(" not in text  # then the error is about a type
    return True


def _named(spec: Any) -> Type | None:
    """The type that an object names; None for an example."""
    if isinstance(spec, str):
        return parse_type(spec)
    try:
        return as_type(spec)
    except TypeError:
        return None


def _with_defaults(function: Dispatcher, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments in the order of the parameters, those that are left out by their defaults."""
    code = function.py_func.__code__
    missing, defaults = code.co_argcount - len(given), function.__defaults__ or ()
    if 0 < missing <= len(defaults):
        given += defaults[len(defaults) - missing :]
    named = function.__kwdefaults__ or {}
    while code.co_argcount <= len(given) < code.co_argcount + code.co_kwonlyargcount:
        name = code.co_varnames[len(given)]
        if name not in named:
            break
        given += (named[name],)
    return given


def _of_example(function: Dispatcher, index: int, value: Any) -> Type:
    return typeof(coerce(value, function._name_of(index)), function._name_of(index))


def _as_called(function: Dispatcher, given: tuple[Any, ...]) -> Asked:
    """What a call with the examples would compile."""
    given = tuple(coerce(value, f"argument {k + 1} of {function.__qualname__}()") for k, value in enumerate(given))
    found = tuple(typeof(value, f"argument {k + 1} of {function.__qualname__}()") for k, value in enumerate(given))
    function._check_arity(Signature(found))
    if function.declared:
        given, found = function._declared_arguments(given, found)
    return found, matching.chosen_result(function.declared, found), function._sizes_of(given, found)


def _started(work: Callable[[], Specialisation], name: str) -> Future[Specialisation]:
    """Do it in a thread. The process does not end before: LLVM must not be cut short."""
    from concurrent.futures import Future

    future: Future[Specialisation] = Future()
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 (it is raised where the result is asked for)
            future.set_exception(error)

    threading.Thread(target=run, name=f"compile {name}").start()
    return future
