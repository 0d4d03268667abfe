"""Numbers that are stored into arrays of integers: what NumPy raises, and what it wraps, for every way to store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import quadrants as qd


def element(a, v):
    a[0] = v


def element_of_two_axes(a, v):
    a.reshape(1, 3)[0, 1] = v


def elements_in_a_loop(a, v):
    for i in range(len(a)):
        a[i] = v


def part(a, v):
    a[1:] = v


def everything(a, v):
    a[...] = v


def fill(a, v):
    a.fill(v)


def masked(a, v):
    a[a == 0] = v


def indexed(a, v):
    a[np.array([0, 2])] = v


def in_place(a, v):
    a += v


def made(a, v):
    a[:] = np.array([v, v, v], a.dtype)


def displayed(a, v):
    a[:] = [v, 0, v]


def a_tuple(a, v):
    a[:] = (v, 0, v)


def rank_zero(a, v):
    a[0] = np.array(v)


def rank_zero_to_part(a, v):
    a[:1] = np.array(v)


def full(a, v):
    a[:] = np.full(3, v, a.dtype)


def read(a, v):
    b = np.array(v).reshape(1)
    for i in range(1):
        a[i] = b[i]


STORES = [
    element,
    element_of_two_axes,
    elements_in_a_loop,
    part,
    everything,
    fill,
    masked,
    indexed,
    in_place,
    made,
    displayed,
]
STORES += [a_tuple, rank_zero, rank_zero_to_part, full, read]
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
NARROW = [np.int8, np.uint8, np.int64]
VALUES = [
    *(
        70000,
        -1,
        5,
        True,
        np.int64(70000),
        np.int64(-1),
        np.int64(5),
        np.uint64(2**63 + 7),
        np.int16(200),
        np.bool_(True),
    ),
    *(70000.0, -2.5, np.float64(70000), np.float64("nan"), np.float32(-3.75), np.float64("inf"), np.float16(300)),
]


def outcome(function: Callable[..., Any], a: Any, v: Any) -> Any:
    """The array after the store, or the class of what was raised; a refused conversion is one when compiling, too."""
    a = a.copy()
    try:
        with np.errstate(all="ignore"):
            function(a, v)
    except (OverflowError, ValueError) as error:
        return type(error)
    except TypeError:
        return TypeError
    return a.tolist()


@pytest.mark.parametrize("store", STORES)
@pytest.mark.filterwarnings("ignore")
def test_stores_raise_and_wrap_as_numpys(store):
    compiled = qd.njit(store)
    for v in VALUES:
        for dtype in NARROW:
            if store is full and type(v) is float:
                continue  # NumPy wraps a float that is far too large there, and there only
            a = np.zeros(3, dtype)
            if not (type(v) is np.float64 and dtype is np.uint8 and not abs(v) < 2**31):  # what C leaves open
                assert outcome(compiled, a, v) == outcome(store, a, v), (v, dtype)


@pytest.mark.parametrize("source", INTEGERS)
def test_every_pair_of_integer_types(source):
    compiled = qd.njit(element)
    for target in INTEGERS:
        for limits in (np.iinfo(source), np.iinfo(target)):
            for v in (limits.min, limits.min - 1, limits.max, limits.max + 1):
                if np.iinfo(source).min <= v <= np.iinfo(source).max:
                    a, number = np.zeros(1, target), source(v)
                    assert outcome(compiled, a, number) == outcome(element, a, number), (v, target)


@pytest.mark.parametrize("source", [np.float16, np.float32, np.float64, float])
@pytest.mark.parametrize("target", [np.int8, np.int16, np.int32, np.int64])
def test_floats_at_the_ends_of_signed_types(source, target):
    compiled, limits = qd.njit(element), np.iinfo(target)
    for end in (limits.min - 1.0, limits.min, limits.max, limits.max + 1.0):
        with np.errstate(over="ignore"):
            v = source(end)
        for number in (v, np.nextafter(v, source(0)), v - source(0.5), v + source(0.5)):
            number = source(number)
            a = np.zeros(1, target)
            assert outcome(compiled, a, number) == outcome(element, a, number), number


def test_the_number_is_in_the_message_and_what_came_before_it_is_stored():
    @qd.njit
    def narrowed(a, b):
        for i in range(len(b)):
            a[i] = b[i]

    b = np.arange(100) * 2
    a = np.zeros(100, np.int8)
    with pytest.raises(OverflowError, match="^Python integer 128 out of bounds for int8$"):
        narrowed(a, b)
    assert a.tolist() == b[:64].tolist() + [0] * 36
    a = np.zeros(100, np.int32)
    narrowed(a, b)
    assert (a == b).all()
    x = b * 0.5
    x[70] = np.nan
    with pytest.raises(ValueError, match="cannot convert float NaN to integer"):
        narrowed(a, x)
    assert a.tolist() == [*range(70), *b[70:].tolist()]


def test_the_check_does_not_keep_a_loop_from_lanes():
    @qd.njit
    def narrowed(a, b):
        for i in range(len(a)):
            a[i] = b[i]

    narrowed(np.zeros(100, np.int8), np.arange(100))
    assert "SIMD lanes" in str(narrowed.explain())
