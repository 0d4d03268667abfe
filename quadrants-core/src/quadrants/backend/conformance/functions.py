"""Golden programs: device functions, arguments, control flow of the language."""

from __future__ import annotations

from typing import Any

import numpy as np

from quadrants.backend.conformance.golden import FLOATS, NUMBERS, WORDS, Case, Golden, data


def _plain(a, b=2, *, c=1):  # type: ignore[no-untyped-def]
    return a * b + c


def _calls(ns: Any, dtype: np.dtype) -> Any:
    @ns.func
    def middle(a, n):  # type: ignore[no-untyped-def]
        if n > 1:
            return _plain(a, c=n)
        return a

    @ns.kernel
    def calls(x, out):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        if i < x.size:
            out[i] = middle(x[i], 3) + middle(x[i], 1)

    return calls


def _calls_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = data(rng, dtype, 40, low=-10, high=10)
    return Case((x, np.zeros(40, dtype)), 2, 32, {1: x * dtype.type(3) + dtype.type(3)})


def _places_in_functions(ns: Any, dtype: np.dtype) -> Any:
    def index():  # type: ignore[no-untyped-def]
        return ns.blockIdx.x * ns.blockDim.x + ns.threadIdx.x

    def swap_with_mirror(tile, value):  # type: ignore[no-untyped-def]
        t = ns.threadIdx.x
        tile[t] = value
        ns.syncthreads()
        found = tile[ns.blockDim.x - 1 - t]
        ns.syncthreads()
        return found

    @ns.kernel
    def places_in_functions(x):  # type: ignore[no-untyped-def]
        tile = ns.shared.array(16, dtype)
        i = index()
        once = swap_with_mirror(tile, x[i])
        x[i] = swap_with_mirror(tile, once + 1)

    return places_in_functions


def _places_in_functions_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = data(rng, dtype, 32, high=20)
    return Case((x,), 2, 16, {0: x + dtype.type(1)})


def _defaults(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def defaults(x, step=2, *, offset=0):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        if i < x.size:
            x[i] = x[i] * step + offset

    return defaults


def _defaults_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = data(rng, dtype, 20, high=20)
    return Case((x,), 1, 32, {0: x * dtype.type(2)})


def _tuples(ns: Any, dtype: np.dtype) -> Any:
    def sums(pair, scale):  # type: ignore[no-untyped-def]
        x, y = pair
        return (x + y) * scale, x - y

    @ns.kernel
    def tuples(arrays, scales, out):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        if i < out.shape[0]:
            total, difference = sums((arrays[0][i], arrays[1][i]), scales[1])
            out[i, 0] = total
            out[i, 1] = difference

    return tuples


def _tuples_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x, y = data(rng, dtype, 30, low=-5, high=9), data(rng, dtype, 30, low=-9, high=5)
    x = (x + y.max()).astype(dtype)
    expected = np.stack([(x + y) * dtype.type(3), x - y], axis=1)
    return Case(((x, y), (dtype.type(2), dtype.type(3)), np.zeros((30, 2), dtype)), 1, 32, {2: expected})


def _control(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def control(x, out):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        if i >= x.size:
            return
        n = int(x[i])
        total = 0
        for k in range(n):
            if k == 3:
                continue
            if k > 7:
                break
            total += k
        else:
            total += 100
        while total % 5 != 0:
            total += 1
        out[i] = total

    return control


def _control_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    def value(n: int) -> int:
        total = 0
        for k in range(n):
            if k == 3:
                continue
            if k > 7:
                break
            total += k
        else:
            total += 100
        return total + -total % 5

    x = rng.integers(0, 15, 50).astype(dtype)
    return Case((x, np.zeros(50, np.int32)), 2, 32, {1: np.array([value(int(n)) for n in x], np.int32)})


def _mandelbrot(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def mandelbrot(out, width, height):  # type: ignore[no-untyped-def]
        px, py = ns.grid(2)
        if px < width and py < height:
            cx = px / width * 3.0 - 2.0
            cy = py / height * 2.0 - 1.0
            x = 0.0
            y = 0.0
            n = 0
            while x * x + y * y < 4.0 and n < 12:
                x, y = x * x - y * y + cx, 2.0 * x * y + cy
                n += 1
            out[py, px] = n

    return mandelbrot


def _mandelbrot_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    width, height = 16, 8  # powers of two: the starting points are exact in every type
    py, px = np.indices((height, width))
    c = (px / width * 3 - 2) + 1j * (py / height * 2 - 1)
    z, n = np.zeros_like(c), np.zeros((height, width), dtype)
    for _ in range(12):
        inside = z.real**2 + z.imag**2 < 4
        z = np.where(inside, z * z + c, z)
        n += inside
    return Case((np.zeros((height, width), dtype), width, height), (4, 2), (4, 4), {0: n})


def _selects(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def selects(x, out):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        if i < x.size:
            out[i] = ns.selp(x[i] > 3, x[i], 3) + min(x[i], 5) + max(x[i], 1) + (7 if 0 < x[i] <= 2 else 0)

    return selects


def _selects_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = data(rng, dtype, 60, low=-9, high=9)
    v = x.astype(np.int64)
    expected = np.maximum(v, 3) + np.minimum(v, 5) + np.maximum(v, 1) + np.where((0 < v) & (v <= 2), 7, 0)
    return Case((x, np.zeros(60, dtype)), 2, 32, {1: expected.astype(dtype)})


def _nbody(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def nbody(position, velocity, dt):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        n = position.shape[0]
        if i < n:
            ax = ay = az = position[0, 0] * 0
            for j in range(n):
                dx = position[j, 0] - position[i, 0]
                dy = position[j, 1] - position[i, 1]
                dz = position[j, 2] - position[i, 2]
                r2 = dx * dx + dy * dy + dz * dz + 0.125
                inverse = 1 / (r2 * r2)
                ax += dx * inverse
                ay += dy * inverse
                az += dz * inverse
            velocity[i, 0] += ax * dt
            velocity[i, 1] += ay * dt
            velocity[i, 2] += az * dt

    return nbody


def _nbody_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    position, velocity = rng.normal(size=(40, 3)).astype(dtype), rng.normal(size=(40, 3)).astype(dtype)
    wide = position.astype(np.float64)
    d = wide[None] - wide[:, None]
    weight = 1 / ((d * d).sum(-1) + 0.125) ** 2
    expected = velocity + 0.01 * (d * weight[..., None]).sum(1)
    rtol = 2e-5 if dtype == np.float32 else 1e-12
    return Case((position, velocity, 0.01), 2, 32, {1: expected.astype(dtype)}, rtol=rtol)


PROGRAMS = (
    Golden("device_functions", _calls, _calls_case),
    Golden("barriers_in_functions", _places_in_functions, _places_in_functions_case),
    Golden("defaults", _defaults, _defaults_case),
    Golden("tuples", _tuples, _tuples_case, (*WORDS, *FLOATS)),
    Golden("control_flow", _control, _control_case, NUMBERS),
    Golden("mandelbrot", _mandelbrot, _mandelbrot_case, ("i32",)),
    Golden("selects", _selects, _selects_case),
    Golden("nbody", _nbody, _nbody_case, FLOATS),
)
