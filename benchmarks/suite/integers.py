"""Integers, branches and sorting.

Each kernel is as a physicist writes it, naive and readable, one source for every compiler. `kernels(compiler)` compiles them;
`WORKLOADS` has their inputs, references in NumPy, and checks.
"""

from __future__ import annotations

import numpy as np

from benchmarks.workload import collector, i64, rng, size

WORKLOADS = {}
add = collector(WORKLOADS)


def kernels(compiler):
    @compiler.kernel
    def collatz(n):
        best = 0
        arg = 0
        for i in range(1, n):
            x = i
            c = 0
            while x != 1:
                if x % 2 == 0:
                    x = x // 2
                else:
                    x = 3 * x + 1
                c += 1
            if c > best:
                best = c
                arg = i
        return arg * 1000 + best

    @compiler.kernel
    def radix_sort(a, tmp):
        n = a.shape[0]
        for p in range(4):
            sh = 8 * p
            cnt = np.zeros(257, np.int64)
            for i in range(n):
                cnt[((a[i] >> sh) & 255) + 1] += 1
            for b in range(256):
                cnt[b + 1] += cnt[b]
            for i in range(n):
                b = (a[i] >> sh) & 255
                tmp[cnt[b]] = a[i]
                cnt[b] += 1
            for i in range(n):
                a[i] = tmp[i]

    @compiler.kernel
    def merge_sort(a, tmp):
        n = a.shape[0]
        width = 1
        while width < n:
            i = 0
            while i < n:
                mid = min(i + width, n)
                hi = min(i + 2 * width, n)
                left = i
                r = mid
                for k in range(i, hi):
                    if left < mid and (r >= hi or a[left] <= a[r]):
                        tmp[k] = a[left]
                        left += 1
                    else:
                        tmp[k] = a[r]
                        r += 1
                i += 2 * width
            for k in range(n):
                a[k] = tmp[k]
            width *= 2


def mk(scale):
    return [size(scale, 100_000, 3_000)]


def ref(n):
    x = np.arange(1, n, dtype=i64)
    c = np.zeros(n - 1, i64)
    k = np.arange(n - 1)
    while True:
        k = k[x[k] != 1]
        if not k.size:
            break
        v = x[k]
        x[k] = np.where(v % 2 == 0, v // 2, 3 * v + 1)
        c[k] += 1
    b = c.max()
    return [np.int64((int(np.argmax(c)) + 1) * 1000 + b)]


add("collatz", make=mk, outs=lambda ret, a: [np.int64(ret)], ref=ref, par=False)


def mk(scale):
    n = size(scale, 1_000_000, 5_000)
    a = rng(41).integers(0, 2**32, n, dtype=np.uint64).astype(np.uint32)
    return [a, np.zeros_like(a)]


add(
    "radix_sort",
    make=mk,
    outs=lambda ret, a: [a[0]],
    ref=lambda a, t: [np.sort(a)],
    par=False,
    inplace=True,
    numpy_natural=True,
)


def mk(scale):
    n = size(scale, 200_000, 5_000)
    a = rng(42).random(n)
    return [a, np.zeros_like(a)]


add(
    "merge_sort",
    make=mk,
    outs=lambda ret, a: [a[0]],
    ref=lambda a, t: [np.sort(a)],
    par=False,
    inplace=True,
    numpy_natural=True,
)
