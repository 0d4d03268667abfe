"""Dispatchers as Python objects: attributes, methods, subclasses, callbacks, life and death."""

from __future__ import annotations

import functools
import gc
import sys
import types
import weakref
from typing import Any

import numpy as np
import pytest
from host.native import Dispatcher, identity, install, load_kernel, make, took

from quadrants.host import layout
from quadrants.host.native_type import DispatcherBase, make_dispatcher_type, uninstall
from quadrants.types import PYFLOAT, PYINT


def plus_one() -> Any:
    return make([PYFLOAT], PYFLOAT, "  %s = fadd double %p0, 1.0\n  store double %s, ptr %r0\n  ret i32 0")


def test_ways_to_call() -> None:
    f = plus_one()
    assert f(1.0) == 2.0 and f(*[1.0]) == 2.0 and f(a=1.0) == 2.0 and f.__call__(1.0) == 2.0
    assert list(map(f, [1.0, 2.0])) == [2.0, 3.0] and sorted([3.0, 1.0], key=f) == [1.0, 3.0]
    assert functools.partial(f, 1.0)() == 2.0 and functools.reduce(lambda a, _: f(a), range(5), 0.0) == 5.0
    assert callable(f) and type(f)(lambda: 0)() == ("missed",)


def test_it_is_an_object() -> None:
    f = plus_one()
    f.note = 5
    assert f.__dict__["note"] == 5 and weakref.ref(f)() is f and {f: 1}[f] == 1
    with pytest.raises(AttributeError):
        f.missing_attribute


class Methods(DispatcherBase):
    """With what makes it a method."""

    __slots__ = ("function",)

    def __init__(self, function: Any) -> None:
        self.function = function

    def __get__(self, obj: Any, owner: Any = None) -> Any:
        return self if obj is None else types.MethodType(self, obj)

    def _miss(self, arguments: tuple[Any, ...], retried: bool) -> Any:
        return self.function(*arguments)


def test_methods_and_further_slots() -> None:
    from quadrants.host.parameters import Parameters

    cls = make_dispatcher_type(Methods)
    f = cls(lambda self, x: (self, x))
    f._parameters = Parameters.of(f.function)

    class Holder:
        method = f

    holder = Holder()
    assert (
        isinstance(holder.method, types.MethodType)
        and holder.method(3) == (holder, 3)
        and Holder.method(1, 2) == (1, 2)
    )
    assert cls.__name__ == "Methods" and cls.__module__ == __name__ and cls.__doc__ == Methods.__doc__
    assert isinstance(f, Methods)


def test_subclasses() -> None:
    class Sub(Dispatcher):  # type: ignore[misc,valid-type]
        def extra(self) -> int:
            return 42

    class Deeper(Sub):
        __slots__ = ("more",)

    for cls in (Sub, Deeper):
        f = cls(lambda x: 0)
        install(f, load_kernel([PYFLOAT], PYFLOAT, identity(PYFLOAT)))
        assert took(f, 1.5) and not took(f, 1) and f.extra() == 42


def test_a_subclass_with_a_call_of_its_own() -> None:
    class Override(Dispatcher):  # type: ignore[misc,valid-type]
        def __call__(self, *args: Any) -> Any:
            return ("own", args)

    class Mixin:
        def __call__(self, *args: Any) -> Any:
            return ("mixin", args)

    class Mixed(Mixin, Dispatcher):  # type: ignore[misc,valid-type]
        pass

    class Below(Override):
        pass

    f = Override(lambda x: 0)
    install(f, load_kernel([PYFLOAT], PYFLOAT, identity(PYFLOAT)))
    assert f(1.5) == ("own", (1.5,))
    assert Mixed(lambda x: 0)(1.5) == ("mixin", (1.5,)) and Below(lambda x: 0)(2) == ("own", (2,))


def test_chain_can_be_taken_apart() -> None:
    f: Any = Dispatcher(lambda x: 0)
    kernels = {type: load_kernel([type], type, identity(type)) for type in (PYFLOAT, PYINT)}
    for loaded in kernels.values():
        install(f, loaded)
    assert took(f, 1.0) and took(f, 1)
    uninstall(f, kernels[PYFLOAT])
    assert not took(f, 1.0) and took(f, 1)
    uninstall(f, kernels[PYFLOAT])
    install(f, kernels[PYFLOAT])
    assert not took(f, 1.0)  # it was declared invalid
    assert kernels[PYFLOAT].revalidate() and took(f, 1.0)
    uninstall(f, kernels[PYFLOAT])
    uninstall(f, kernels[PYINT])
    assert not took(f, 1.0) and not took(f, 1) and f._entries == []


def test_code_is_in_one_chain() -> None:
    kernel = load_kernel([PYFLOAT], PYFLOAT, identity(PYFLOAT))
    first, second = Dispatcher(lambda x=1.5: 0), Dispatcher(lambda x=2.5: 0)
    install(first, kernel)
    assert first() == 1.5
    with pytest.raises(ValueError, match="another dispatcher"):
        install(second, kernel)
    del first
    gc.collect()
    install(second, kernel)
    assert second() == 2.5 and second.misses == []


def test_code_may_be_replaced_while_it_runs() -> None:
    f: Any = Dispatcher(lambda x: 0)
    old = load_kernel([PYFLOAT], PYFLOAT, identity(PYFLOAT))
    install(f, old)

    def on_miss(self: Any, arguments: tuple[Any, ...], retried: bool) -> Any:
        uninstall(self, old)
        gc.collect()
        return self(2.5) if self._entries else "gone"

    f.on_miss = on_miss
    assert f(1) == "gone"


def test_cycles_are_collected() -> None:
    f = plus_one()
    f.me = f
    f(1.0)
    reference = weakref.ref(f)
    del f
    gc.collect()
    assert reference() is None


def test_sizes() -> None:
    if layout.native_call_supported():
        assert Dispatcher.__basicsize__ == Dispatcher.__mro__[1].__basicsize__ + 16
        assert Dispatcher.__flags__ & (1 << 11)


def test_a_missing_miss_is_reported() -> None:
    from quadrants.diagnostics import InternalError
    from quadrants.host.parameters import Parameters

    class Bare(DispatcherBase):
        __slots__ = ()

    f = make_dispatcher_type(Bare)()
    f._parameters = Parameters.of(lambda x: 0)  # type: ignore[arg-type]
    with pytest.raises(InternalError, match="new argument types"):
        f(1)


def test_recursion_through_the_python_side_ends_in_an_error() -> None:
    f: Any = Dispatcher(lambda x: 0, lambda self, arguments, retried: self(*arguments))
    with pytest.raises(RecursionError):
        f(1)
    assert sys.getrecursionlimit() > 0 and f.misses


def test_huge_calls() -> None:
    f: Any = Dispatcher(lambda *args, **kwargs: 0)
    result = f(*range(200_000))
    assert len(result) == 200_001
    assert f(np.float64(1))[0] == "missed"
