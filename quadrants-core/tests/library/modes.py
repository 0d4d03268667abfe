"""Runs a NumPy or `math` call three ways: the original, the library function as plain Python, and compiled.

`check(original, *args, **kwargs)` asserts that all agree: value, type, dtype, shape; or exception class and text.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import quadrants
from quadrants.library import registry

#: Every test runs in the interpreter; compiled it is a slow one (`test_compiled.py` has quick ones of every kind).
MODES = ("python", pytest.param("compiled", marks=pytest.mark.slow))

_TOLERANCE = {"float16": 4e-3, "float32": 4e-6, "complex64": 4e-6, "float64": 2e-14, "complex128": 2e-14}


def outcome(function, args, kwargs):
    """The value of a call, or its exception."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - the exception is what the test compares
            return error


_COMPILED: dict[tuple[object, str], object] = {}


def compiled(original, args, kwargs):
    """A compiled function of the arrays and numbers in `args`; keyword arguments become constants of its source.

    Calls with the same source share a function, and so its specialisations.
    """
    names = [f"a{i}" for i in range(len(args))]
    scope = {"original": original, "np": np}
    words = []
    for name, value in kwargs.items():
        scope[f"_{name}"] = value
        simple = isinstance(value, (int, float, tuple, str, type(None))) and value == value and abs_(value) != np.inf
        words.append(f"{name}={value!r}" if simple else f"{name}=_{name}")
    text = f"lambda {', '.join(names)}: original({', '.join(names + words)})"
    if "=_" in text:
        return quadrants.njit(eval(text, scope))
    key = (original, text)
    if key not in _COMPILED:
        _COMPILED[key] = quadrants.njit(eval(text, scope))
    return _COMPILED[key]


def abs_(value):
    return abs(value) if isinstance(value, (int, float)) else 0


def run(mode, original, args, kwargs):
    if mode == "python":
        implementation = registry.lookup(registry.key_of(original))
        assert implementation is not None, registry.key_of(original)
        return outcome(implementation, args, kwargs)
    return outcome(compiled(original, args, kwargs), args, {})


def check(mode, original, /, *args, rtol=None, atol=0.0, kinds=True, **kwargs):
    """Asserts that the library agrees with the original.

    Args:
        mode: "python" or "compiled".
        original: the NumPy, `math` or `cmath` function.
        rtol, atol: tolerances; by default a few rounding errors of the result's dtype, relative to its largest element.
        kinds: whether the result's exact Python type must agree.
    """
    want = outcome(original, [copied(a) for a in args], kwargs)
    got = run(mode, original, [copied(a) for a in args], kwargs)
    where = f"{original} {args} {kwargs}: got {got!r}, want {want!r}"
    if isinstance(want, Exception):
        assert isinstance(got, Exception), where
        assert type(got) is type(want) and str(got) == str(want), where
        return
    assert not isinstance(got, Exception), where
    same(got, want, where, rtol, atol, kinds)


def copied(x):
    return x.copy(order="K") if isinstance(x, np.ndarray) and x.flags.forc else x


def same(got, want, where, rtol, atol, kinds):
    if isinstance(want, (tuple, list)):
        assert isinstance(got, tuple) and len(got) == len(want), where
        for g, w in zip(got, want, strict=True):
            same(g, w, where, rtol, atol, kinds)
        return
    if kinds:
        assert type(got) is type(want), where
    g = np.asarray(got)
    w = np.asarray(want)
    assert g.shape == w.shape and (not kinds or g.dtype == w.dtype), where
    if w.dtype.kind not in "fc":
        assert np.array_equal(g, w), where
        return
    tolerance = _TOLERANCE[str(w.dtype)] if rtol is None else rtol
    finite = np.abs(w[np.isfinite(w)])
    scale = float(finite.max()) if finite.size and rtol is None else 0.0
    np.testing.assert_allclose(g, w, rtol=tolerance, atol=max(atol, tolerance * scale), err_msg=where)


DTYPES = tuple(
    np.dtype(name)
    for name in "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
)


def sample(dtype, shape, seed=0):
    """An array of small values of the dtype, negative ones too where it has them."""
    rng = np.random.default_rng(seed)
    base = rng.random(shape) * 9 - 3
    if dtype.kind == "c":
        base = base + 1j * (rng.random(shape) * 5 - 2)
    if dtype.kind == "u":
        base = abs(base)
    if dtype.kind == "b":
        base = base > 0
    return np.asarray(base).astype(dtype)


def dtypes(mode):
    """All dtypes, or a few of different kinds where each costs a compilation."""
    return DTYPES if mode == "python" else tuple(np.dtype(name) for name in ("bool", "int32", "float32", "complex128"))


def layouts(a, mode="python"):
    """The same values in C order, in Fortran order, strided and reversed (compiled: in C order and strided)."""
    yield a
    if a.ndim > 1 and mode == "python":
        yield np.asfortranarray(a)
    if a.ndim > 0:
        wide = np.repeat(a, 2, axis=-1)
        yield wide[..., ::2]
        if mode == "python":
            yield a[::-1]
