"""A kernel with its inputs, its reference and its check, and what the areas of the suite share."""

from __future__ import annotations

import functools

import numpy as np

f32, f64, i32, i64 = np.float32, np.float64, np.int32, np.int64


class Workload:
    def __init__(
        self,
        name,
        func,
        make,
        outs,
        ref,
        rtol=1e-9,
        atol=0.0,
        par=True,
        inplace=False,
        nbytes=None,
        flops=None,
        numpy_natural=False,
        custom_check=None,
    ):
        self.name, self.func, self.make, self.outs, self.ref = name, func, make, outs, ref
        self.rtol, self.atol, self.par, self.inplace = rtol, atol, par, inplace
        self.nbytes, self.flops, self.numpy_natural = nbytes, flops, numpy_natural
        self.custom_check = custom_check
        self._references = {}

    def reference(self, scale):
        """The outputs that NumPy gives, kept in memory."""
        if scale not in self._references:
            self._references[scale] = [np.asarray(v) for v in self.ref(*self.make(scale))]
        return self._references[scale]

    def check(self, ret, args, scale):
        return self.check_outs(self.outs(ret, args), scale)

    def check_outs(self, outs, scale):
        got = [np.asarray(v) for v in outs]
        want = self.reference(scale)
        if self.custom_check:
            return self.custom_check(got, want)
        err = 0.0
        ok = len(got) == len(want)
        for g, w in zip(got, want):
            if g.shape != w.shape:
                return False, float("nan")
            if w.dtype.kind in "iub" and g.dtype.kind in "iub":
                bad = int(np.count_nonzero(g != w))
                err = max(err, bad / max(1, w.size))
                ok = ok and bad == 0 if self.rtol < 1e-2 else ok
            else:
                g = g.astype(np.complex128) if g.dtype.kind == "c" else g.astype(f64)
                w = w.astype(np.complex128) if w.dtype.kind == "c" else w.astype(f64)
                sc = np.max(np.abs(w)) if w.size else 1.0
                e = np.abs(g - w) / (np.abs(w) + 1e-3 * sc + 1e-300)
                m = float(np.max(e)) if e.size else 0.0
                err = max(err, m)
                ok = ok and bool(m <= self.rtol + self.atol)
        return bool(ok), err


class Compiler:
    """`njit` and `prange` of one compiler, and the kernels that it compiled so far, by name."""

    def __init__(self, module, **options):
        self.njit, self.prange = functools.partial(module.njit, **options), module.prange
        self.kernels = {}

    def kernel(self, function):
        """Compile a kernel of the suite: a decorator."""
        self.kernels[function.__name__] = compiled = self.njit(function)
        return compiled


def collector(workloads):
    """`add(name, function name, ...)`, which puts a workload into the dict."""

    def add(name, func=None, **kw):
        workloads[name] = Workload(name, func or name, **kw)

    return add


def rng(seed=0):
    """A generator of random numbers, the same in every run."""
    return np.random.default_rng(seed + 12345)


def size(scale, full, small):
    """One of two sizes: to measure, or to compile and check."""
    return full if scale == "full" else small
