"""Derives the coefficients of the vector functions, and prints them as the module that holds them.

    python tools/vector_math_coefficients.py > quadrants-core/src/quadrants/lower/vectormath/coefficients.py

Every polynomial is the Chebyshev fit, by mpmath, of what is left of the function when its leading terms are taken off;
its relative error is within a small factor of that of the best polynomial of its degree. The fit is made with 200 bits,
each coefficient is then rounded once.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from mpmath import mp, mpf  # type: ignore[import-untyped]

mp.prec = 200

Real = Callable[[mpf], mpf]

HALF_LN2 = mp.log(2) / 2
TINY = mpf(2) ** -60


def exp_rest(r: mpf) -> mpf:
    """(e^r - 1 - r) / r^2."""
    return (mp.exp(r) - 1 - r) / r**2 if abs(r) > TINY else mpf(1) / 2


def exp2_rest(r: mpf) -> mpf:
    """(2^r - 1) / r."""
    return (mpf(2) ** r - 1) / r if abs(r) > TINY else mp.log(2)


def sin_rest(t: mpf) -> mpf:
    """(sin r - r) / r^3 where t = r^2."""
    r = mp.sqrt(abs(t))
    return (mp.sin(r) - r) / r**3 if r > TINY else -mpf(1) / 6


def log_rest(t: mpf) -> mpf:
    """(log((1 + s) / (1 - s)) - 2 s) / s^3 where t = s^2."""
    s = mp.sqrt(abs(t))
    return (mp.log((1 + s) / (1 - s)) - 2 * s) / s**3 if s > TINY else mpf(2) / 3


def atan_rest(t: mpf) -> mpf:
    """(atan z - z) / z^3 where t = z^2."""
    z = mp.sqrt(abs(t))
    return (mp.atan(z) - z) / z**3 if z > TINY else -mpf(1) / 3


def tan_rest(t: mpf) -> mpf:
    """(tan r - r) / r^3 where t = r^2."""
    r = mp.sqrt(abs(t))
    return (mp.tan(r) - r) / r**3 if r > TINY else mpf(1) / 3


def asin_rest(t: mpf) -> mpf:
    """(asin z - z) / z^3 where t = z^2."""
    z = mp.sqrt(abs(t))
    return (mp.asin(z) - z) / z**3 if z > TINY else mpf(1) / 6


def sinh_rest(t: mpf) -> mpf:
    """(sinh x - x) / x^3 where t = x^2."""
    x = mp.sqrt(abs(t))
    return (mp.sinh(x) - x) / x**3 if x > TINY else mpf(1) / 6


def erf_rest(t: mpf) -> mpf:
    """erf x / x - 1 where t = x^2."""
    x = mp.sqrt(abs(t))
    return (mp.erf(x) / x if x > TINY else 2 / mp.sqrt(mp.pi)) - 1


def erfc_scaled(t: mpf) -> mpf:
    """e^(x^2) erfc(x) (x + d) where t = (x - c) / (x + c)."""
    x = ERFC_CENTRE * (1 + t) / (1 - t)
    return mp.exp(x * x) * mp.erfc(x) * (x + ERFC_SHIFT)


def log2_tail(t: mpf) -> mpf:
    """(log2((1 + s) / (1 - s)) / s - c - c t / 3) / t^2 where t = s^2 and c = 2 / log 2."""
    s = mp.sqrt(abs(t))
    c = 2 / mp.log(2)
    return (mp.log((1 + s) / (1 - s), 2) / s - c - c * t / 3) / t**2 if s > mpf(2) ** -30 else c / 5


def two(value: mpf) -> list[mpf]:
    """The value as a float64 and what is left."""
    return [mpf(float(value)), value - mpf(float(value))]


def fit(function: Real, low: mpf, high: mpf, terms: int) -> list[mpf]:
    """The coefficients, highest power first."""
    found: list[mpf] = mp.chebyfit(function, [low, high], terms)
    return found


def split(value: mpf, *bits: int) -> list[mpf]:
    """The value as a sum of parts, of so many leading bits each; the last takes the rest."""
    parts = []
    for count in bits:
        scale = mpf(2) ** (count - 1 - mp.floor(mp.log(abs(value), 2)))
        parts.append(mp.floor(value * scale) / scale)
        value -= parts[-1]
    return [*parts, value]


def rounded(value: mpf, bits: int) -> float:
    """To the nearest float64 or float32."""
    near = float(value)
    return near if bits == 64 else struct.unpack("f", struct.pack("f", near))[0]


MARGIN = mpf("1.0001")
EXP_RANGE = (-HALF_LN2 * MARGIN, HALF_LN2 * MARGIN)
SIN_RANGE = (mpf(0), (mp.pi / 2 * MARGIN) ** 2)
LOG_RANGE = (mpf(0), ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1) * MARGIN) ** 2)

ATAN_RANGE = (mpf(0), (mp.tan(mp.pi / 8) * MARGIN) ** 2)

TAN_RANGE = (mpf(0), (mp.pi / 4 * MARGIN) ** 2)
ERFC_CENTRE, ERFC_SHIFT = mpf(3), mpf(0.3125)
CBRT_RANGE = (mp.sqrt(mpf(0.5)) / MARGIN, mp.sqrt(mpf(2)) * MARGIN)


def erfc_range(last: float) -> tuple[mpf, mpf]:
    """From the x of 1 to the last one."""
    low, high = ((x - ERFC_CENTRE) / (x + ERFC_CENTRE) for x in (1 / MARGIN, mpf(last)))
    return low, high


#: name -> (float64, float32), with how many terms where they are polynomials.
TABLE = {
    "EXP": [fit(exp_rest, *EXP_RANGE, n) for n in (11, 5)],
    "EXP2": [fit(exp2_rest, mpf(-0.5) * MARGIN, mpf(0.5) * MARGIN, n) for n in (12, 7)],
    "SIN": [fit(sin_rest, *SIN_RANGE, n) for n in (9, 5)],
    "LOG": [fit(log_rest, *LOG_RANGE, n) for n in (8, 4)],
    "WIDE_EXP2": [fit(exp2_rest, mpf(-0.5) * MARGIN, mpf(0.5) * MARGIN, n) for n in (12, 7)],
    "LOG2_SERIES": [[*fit(log2_tail, *LOG_RANGE, n), *two(2 / mp.log(2) / 3), *two(2 / mp.log(2))] for n in (8, 5)],
    "ATAN": [fit(atan_rest, *ATAN_RANGE, n) for n in (12, 6)],
    "TAN": [fit(tan_rest, *TAN_RANGE, n) for n in (14, 7)],
    "ASIN": [fit(asin_rest, mpf(0), mpf(0.25) * MARGIN, n) for n in (13, 6)],
    "SINH": [fit(sinh_rest, mpf(0), MARGIN**2, n) for n in (8, 4)],
    "CBRT": [fit(mp.cbrt, *CBRT_RANGE, n) for n in (6, 6)],
    "CBRT_2": [[mp.cbrt(2), 1 / mp.cbrt(2)]] * 2,
    "ERF": [fit(erf_rest, mpf(0), MARGIN**2, n) for n in (13, 7)],
    "ERFC": [fit(erfc_scaled, *erfc_range(last), n) for last, n in ((28, 22), (10.5, 11))],
    "RIGHT_ANGLE": [two(mp.pi / 2), split(mp.pi / 2, 24)],
    "LN2": [split(mp.log(2), bits) for bits in (32, 12)],
    "ONE_OVER_LN2": [split(1 / mp.log(2), bits) for bits in (53, 24)],
    "ONE_OVER_LN10": [split(1 / mp.log(10), bits) for bits in (53, 24)],
    "LOG10_2": [split(mp.log(2, 10), bits) for bits in (32, 12)],
    "PI": [split(mp.pi, 33, 33), split(mp.pi, 25)],
    "HALF_PI": [split(mp.pi / 2, 33, 33), split(mp.pi / 2, 25)],
    "TWO_OVER_PI": [[2 / mp.pi]] * 2,
    "LOG2_E": [[1 / mp.log(2)]] * 2,
    "ONE_OVER_PI": [[1 / mp.pi]] * 2,
}

#: Computed in float64 for float32 too: the reduction of angles, and powers.
DOUBLE = ("PI", "HALF_PI", "ONE_OVER_PI", "TWO_OVER_PI", "WIDE_EXP2", "LOG2_SERIES")


def main() -> None:
    """Print the module."""
    print(
        '"""The coefficients of the vector functions, as `tools/vector_math_coefficients.py` derives and prints them.'
    )
    print(
        '\nPolynomials have their highest power first. Each constant: by the bits of the floats that are computed.\n"""\n'
    )
    print("from __future__ import annotations")
    for name, columns in TABLE.items():
        print(f"\n{name}: dict[int, tuple[float, ...]] = {{")
        for bits, values in zip((64, 32), columns):
            kept = 64 if name in DOUBLE else bits
            items = "".join(f"\n        {rounded(value, kept)!r}," for value in values)
            print(f"    {bits}: ({items}\n    ),")
        print("}")


if __name__ == "__main__":
    main()
