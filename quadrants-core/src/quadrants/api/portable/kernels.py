"""`@qd.kernel`: functions whose outermost loops run in parallel, on any backend.

Takes a Python function; gives a `Kernel`, which compiles for the types of its arguments at their first call. Tensors and
dataclasses among the arguments become what compiled code takes: arrays, and tuples of them. The values of parameters that are
annotated with `qd.template()` are part of the code.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import types
from collections import namedtuple
from collections.abc import Callable
from typing import Any

from quadrants.api.portable import runtime
from quadrants.diagnostics.codes import Code
from quadrants.diagnostics.errors import QuadrantsError
from quadrants.options import Numerics, Options
from quadrants.types.annotations import annotations_of, is_template
from quadrants.types.structs import Struct
from quadrants.types.vectors import Value

#: Options of the decorator that are for other backends, or for speed alone.
_OPTIONS = frozenset("fastcache graph checkpoints pure gpu_graph".split())


class TemplateValue:
    """A value that is a part of the code: the same object for equal values."""

    __quadrants_literal__ = True
    __quadrants_template_value__ = True

    def __quadrants_key__(self) -> tuple[object, ...]:
        return (self.value,)

    _known: dict[Any, TemplateValue] = {}

    def __init__(self, value: Any) -> None:
        self.value = value

    @classmethod
    def of(cls, value: Any) -> TemplateValue:
        """The one for a value."""
        try:
            key = (type(value), value)
            return cls._known.setdefault(key, cls(value))
        except TypeError:  # not hashable: known by identity
            return cls._known.setdefault((type(value), "object", id(value)), cls(value))


class Kernel:
    """A kernel: call it with its arguments.

    Args:
        function: the Python function.
        options: what the decorator was given.
    """

    __quadrants_portable__ = True

    __name__: str
    __qualname__: str

    def __init__(self, function: types.FunctionType, options: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self.options = options
        self._dispatch: Callable[..., Any] = self._first_call
        self._settings: runtime.Settings | None = None
        self._templates: frozenset[str] = frozenset()

    def _first_call(self, *args: Any, **keywords: Any) -> Any:
        raise AssertionError("replaced by _renew")

    def _renew(self) -> None:
        """A dispatcher for the present settings, or what launches on their device."""
        from quadrants.api.dispatcher import Dispatcher

        given = runtime.settings()
        numerics = Numerics(str(given.default_ip), str(given.default_fp), "ieee", "raise" if given.debug else "wrap")
        options = Options(
            fp="fast" if given.fast_math else "default",
            boundscheck=given.boundscheck,
            debug=given.debug,
            parallel=True,
            portable=True,
            numerics=numerics,
        )
        self._signature = inspect.signature(self.py_func)
        known = annotations_of(self.py_func)
        self._templates = frozenset(name for name, annotation in known.items() if is_template(annotation))
        if given.device:
            from quadrants.api.portable.launching import Launcher  # only a device needs it

            self._dispatch = Launcher(self.py_func, options, given.device)
        else:
            self._dispatch = Dispatcher(self.py_func, options, ())
        self._settings = given

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if self._settings is not _STATE.settings:
            self._renew()
        if self._templates:
            bound = self._signature.bind(*args, **keywords)
            bound.apply_defaults()
            for name in self._templates:
                bound.arguments[name] = _template(bound.arguments[name])
            args, keywords = bound.args, bound.kwargs
        if keywords:
            keywords = {name: argument(value) for name, value in keywords.items()}
            return self._dispatch(*map(argument, args), **keywords)
        return self._dispatch(
            *[
                a.__quadrants_argument__ if type(a) in _TENSORS else a if type(a) in _PLAIN else argument(a)
                for a in args
            ]
        )

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    @property
    def dispatcher(self) -> Any:
        """The compiled function behind it: `inspect_ir()`, `explain()` and so on."""
        if self._settings is not _STATE.settings:
            self._renew()
        return self._dispatch

    def explain(self) -> Any:
        """What the compiler has decided, by line."""
        return self.dispatcher.explain()

    def __repr__(self) -> str:
        return f"<kernel {self.__qualname__}>"


def _same(value: Any) -> Any:
    return value


def _of_tensor(value: Any) -> Any:
    return value.__quadrants_argument__


#: Classes of arguments that are tensors, and those that compiled code takes as they are: filled as classes are met.
_TENSORS: set[type] = set()
_PLAIN: set[type] = set()
_STATE = runtime.STATE
#: The class of an argument -> what makes of it what compiled code takes; filled as classes are met.
_CONVERT: dict[type, Callable[[Any], Any]] = {}


def argument(value: Any) -> Any:
    """An argument as compiled code takes it."""
    cls = type(value)
    convert = _CONVERT.get(cls)
    if convert is None:
        convert = _CONVERT[cls] = _conversion(cls)
        if convert is _of_tensor:
            _TENSORS.add(cls)
        elif convert is _same:
            _PLAIN.add(cls)
    return convert(value)


def _conversion(cls: type) -> Callable[[Any], Any]:
    if hasattr(cls, "__quadrants_tensor__"):
        return _of_tensor
    if dataclasses.is_dataclass(cls) and not hasattr(cls, "__quadrants_literal__"):
        return _of_dataclass(cls)
    if issubclass(cls, tuple) and not issubclass(cls, (Value, Struct)):
        return _of_tuple
    return _of_list if issubclass(cls, list) else _same


def _of_tuple(value: Any) -> Any:
    items = [argument(item) for item in value]
    return type(value)._make(items) if hasattr(value, "_make") else tuple(items)


def _of_list(value: Any) -> Any:
    return tuple(argument(item) for item in value)


def _of_dataclass(cls: Any) -> Callable[[Any], Any]:
    """A dataclass as a named tuple of its members; of a frozen one it is made once."""
    names = tuple(field.name for field in dataclasses.fields(cls))
    made: Any = namedtuple(cls.__name__, names)  # type: ignore[misc]
    frozen = cls.__dataclass_params__.frozen
    place = "_quadrants_argument"

    def convert(value: Any) -> Any:
        known = getattr(value, "__dict__", {}).get(place) if frozen else None
        if known is not None:
            return known
        found = made._make([argument(getattr(value, name)) for name in names])
        if frozen and hasattr(value, "__dict__"):
            value.__dict__[place] = found
        return found

    return convert


def _template(value: Any) -> Any:
    """The value of a template parameter: tensors and functions are arguments as elsewhere."""
    converted = argument(value)
    literal = hasattr(type(value), "__quadrants_literal__") or hasattr(type(value), "__quadrants_dispatcher__")
    if converted is not value or literal or isinstance(value, types.FunctionType) or hasattr(value, "__array__"):
        return converted
    return TemplateValue.of(value)


def kernel(function: Any = None, /, **options: Any) -> Any:
    """Make a kernel of a function: its outermost loops run in parallel. `@qd.kernel` or `@qd.kernel(...)`.

    >>> import numpy as np
    >>> import quadrants as qd
    >>> @qd.kernel
    ... def double(x: qd.types.ndarray()):
    ...     for i in range(x.shape[0]):
    ...         x[i] *= 2
    >>> x = np.arange(4.0)
    >>> double(x)
    >>> x.tolist()
    [0.0, 2.0, 4.0, 6.0]
    """
    for name in options:
        if name not in _OPTIONS:
            raise QuadrantsError(
                Code.BAD_OPTION,
                f"a kernel has no option {name!r}",
                hint=f"the options are {', '.join(sorted(_OPTIONS))}",
            )
    if function is None:
        return lambda function: kernel(function, **options)
    if isinstance(function, Kernel):
        return function
    plain = getattr(function, "py_func", function)
    if not isinstance(plain, types.FunctionType):
        raise QuadrantsError(
            Code.NO_BYTECODE,
            f"{function!r} is not a Python function: it has no bytecode to compile",
            hint="write a function that calls it, and decorate that",
        )
    return Kernel(plain, options)


def data_oriented(cls: Any = None, /, **options: Any) -> Any:
    """Mark a class whose methods are kernels and functions: its objects are known when their kernels are compiled.

    >>> import quadrants as qd
    >>> @qd.data_oriented
    ... class Counter:
    ...     def __init__(self):
    ...         self.x = qd.field(qd.i32, shape=4)
    ...     @qd.kernel
    ...     def step(self, by: int):
    ...         for i in self.x:
    ...             self.x[i] += by
    >>> counter = Counter()
    >>> counter.step(2)
    >>> counter.x.to_numpy().tolist()
    [2, 2, 2, 2]
    """
    if cls is None:
        return data_oriented
    cls.__quadrants_literal__ = True
    return cls
