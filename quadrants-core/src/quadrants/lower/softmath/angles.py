"""Angles of any size, reduced by multiples of pi: sin, cos and tan.

Small angles go as in `vectormath`; without float64, float32 takes pi in parts of 15 bits. Large ones are multiplied
with so many bits of 1 / pi that what is left of the product, modulo 2, has all of its bits right (M. Payne and R.
Hanek, 1983).
"""

from __future__ import annotations

from quadrants.ir.core import Value
from quadrants.lower.softmath.code import QirCode
from quadrants.lower.vectormath import functions as f
from quadrants.types import F32, F64, U32, U64

#: The bits of 1 / pi behind the point, in words of 32, the highest first: enough for every float64.
# fmt: off
_ONE_OVER_PI = (
    0x517CC1B7, 0x27220A94, 0xFE13ABE8, 0xFA9A6EE0, 0x6DB14ACC, 0x9E21C820, 0xFF28B1D5, 0xEF5DE2B0, 0xDB92371D, 0x2126E970,
    0x03249775, 0x04E8C90E, 0x7F0EF58E, 0x5894D39F, 0x74411AFA, 0x975DA242, 0x74CE3813, 0x5A2FBF20, 0x9CC8EB1C, 0xC1A99CFA,
    0x4E422FC5, 0xDEFC941D, 0x8FFC4BFF, 0xEF02CC07, 0xF79788C5, 0xAD05368F, 0xB69B3F67, 0x93E584DB, 0xA7A31FB3, 0x4F2FF516,
    0xBA93DD63, 0xF5F2F8BD, 0x9E839CFB, 0xC5294975, 0x35FDAFD8, 0x8FC6AE84, 0x2B019823, 0x7E3DB5D5,
)
# fmt: on
#: pi in parts of 15 bits, and the rest: their products with numbers of 9 bits are exact in float32.
_PI_PARTS = (3.1414794921875, 0.0001131594181060791, 1.9841763787553646e-09, 1.0780605716316238e-14)
#: The largest angle that those are taken for.
_SMALL = 500.0
_PI = 3.141592653589793
#: By bits: words of the product, words of the table of which the highest are 0, bits of a position in the table.
_LIMBS, _ZEROS, _STEPS = {32: 3, 64: 6}, {32: 1, 64: 2}, {32: 3, 64: 6}


def sin(c: QirCode, x: Value) -> Value:
    far = _is_far(c, x)
    y = f._sin_reduced(c, c.branch(far, lambda: _odd(c, x, _far(c, x, half=False)), lambda: _near(c, x, 0.0)))
    y = c.select(c.compare("oeq", x, 0.0), x, y)
    return _finite(c, x, y)


def cos(c: QirCode, x: Value) -> Value:
    far = _is_far(c, x)
    y = f._sin_reduced(c, c.branch(far, lambda: _far(c, x, half=True), lambda: _near(c, x, 0.5)))
    return _finite(c, x, y)


def tan(c: QirCode, x: Value) -> Value:
    return c.div(sin(c, x), cos(c, x))


def _finite(c: QirCode, x: Value, y: Value) -> Value:
    """NaN for infinities and NaN."""
    return c.select(c.compare("olt", c.abs(x), float("inf")), y, float("nan"))


def _odd(c: QirCode, x: Value, r: Value) -> Value:
    """The angle of -x is that of x, negated."""
    return c.select(c.compare("olt", x, 0.0), c.neg(r), r)


def _is_far(c: QirCode, x: Value) -> Value:
    if c.bits == 32 and not c.doubles:
        return c.compare("ogt", c.abs(x), _SMALL)
    return c.compare("ogt", c.abs(x), f._ANGLES[c.bits])


def _near(c: QirCode, x: Value, offset: float) -> Value:
    """(-1)^n r where x = (n - offset) pi + r."""
    if c.bits == 64 or c.doubles:
        return f._turns(c, x, offset)  # type: ignore[no-any-return]
    shifted, k = f.nearest(c, x, 1 / _PI, offset)
    k = c.sub(k, offset) if offset else k
    for part in _PI_PARTS:
        x = c.sub(x, c.mul(k, part))
    odd = c.int_binary("shl", c.to_bits(shifted), 31)
    return c.from_bits(c.int_binary("xor", c.to_bits(x), odd))


def _far(c: QirCode, x: Value, half: bool) -> Value:
    """The same for the size of x; `half`: of x + pi / 2."""
    limbs = _product(c, x)
    top = c.b.value("xor", limbs[-1], c.word(1 << 30)) if half else limbs[-1]
    if half:  # half a turn more, carried into the whole ones
        top = c.b.value("add", limbs[-1], c.word(1 << 30))
    limbs = [*limbs[:-1], top]
    whole = c.b.value("shr", top, c.word(31))
    rest = _shifted(c, limbs)
    negative = c.b.value("cmp", c.b.value("shr", rest[-1], c.word(31)), c.word(1), pred="eq")
    size = [c.b.value("select", negative, c.b.value("not", limb), limb) for limb in rest]
    odd = c.b.value("xor", whole, c.cast(negative, U32))
    r = _to_float(c, size)
    flipped = c.b.value("xor", c.cast(negative, U32), odd)
    return c.select(c.b.value("cmp", flipped, c.word(0), pred="ne"), c.neg(r), r)


def _shifted(c: QirCode, limbs: list[Value]) -> list[Value]:
    """One bit up, the highest lost."""
    one, down = c.word(1), c.word(31)
    shifted = [c.b.value("shl", limbs[0], one)]
    for low, high in zip(limbs, limbs[1:]):
        shifted.append(c.b.value("or", c.b.value("shl", high, one), c.b.value("shr", low, down)))
    return shifted


def _product(c: QirCode, x: Value) -> list[Value]:
    """|x| / pi modulo 2, with the bit of 1 on top: words, the lowest first."""
    bits = c.to_bits(c.abs(x))
    exponent = c.int_binary("lshr", bits, c.fraction)
    kept = c.int_binary("and", bits, (1 << c.fraction) - 1)
    mantissa = c.int_binary("or", kept, 1 << c.fraction)
    shift = 32 * _ZEROS[c.bits] - 1 - c.bias - c.fraction
    start = c.cast(c.int_binary("add", exponent, shift), U32)
    window = _window(c, start)
    factors = [c.cast(mantissa, U32)]
    if c.bits == 64:
        factors.append(c.cast(c.int_binary("lshr", mantissa, 32), U32))
    total = [c.word(0)] * len(window)
    for place, factor in enumerate(factors):
        carry = c.b.const(0, U64)
        for index in range(place, len(window)):
            both = c.b.value("mul", c.cast(window[index - place], U64), c.cast(factor, U64))
            both = c.b.value("add", c.b.value("add", both, c.cast(total[index], U64)), carry)
            total[index] = c.cast(both, U32)
            carry = c.b.value("shr", both, c.b.const(32, U64))
    return total


def _window(c: QirCode, start: Value) -> list[Value]:
    """The words of 1 / pi from a bit on, the lowest first."""
    count = _LIMBS[c.bits]
    steps = _STEPS[c.bits]
    table = [0] * _ZEROS[c.bits] + list(_ONE_OVER_PI)
    word = c.b.value("shr", start, c.word(5))
    held: list[Value] = [c.word(value) for value in (*table, *[0] * 64)[: count + (1 << steps)]]
    for step in reversed(range(steps)):  # the words from there on, a bit of the position at a time
        bit = c.b.value("and", c.b.value("shr", word, c.word(step)), c.word(1))
        there = c.b.value("cmp", bit, c.word(1), pred="eq")
        keep = count + (1 << step)
        held = [c.b.value("select", there, held[i + (1 << step)], held[i]) for i in range(keep)]
    up = c.b.value("and", start, c.word(31))
    down = c.b.value("sub", c.word(32), up)
    words = [c.b.value("or", c.b.value("shl", held[i], up), c.b.value("shr", held[i + 1], down)) for i in range(count)]
    return words[::-1]


def _to_float(c: QirCode, size: list[Value]) -> Value:
    """A fraction of pi, its words from the lowest on, as an angle."""
    scale = c.const(1.0)
    for _ in range(2):  # so that the highest word is not 0
        empty = c.b.value("cmp", size[-1], c.word(0), pred="eq")
        moved = [c.word(0), *size[:-1]]
        size = [c.b.value("select", empty, low, own) for low, own in zip(moved, size)]
        scale = c.select(empty, c.mul(scale, 2.0**-32), scale)
    if c.bits == 32 and not c.doubles:
        high, low = (c.cast(c.cast(part, U32), F32) for part in _halves(c, size[-1], size[-2]))
        fraction = c.add(c.mul(high, 2.0**-24), c.mul(low, 2.0**-56))
        return c.mul(c.mul(fraction, _PI), scale)
    d = c if c.bits == 64 else c.wide()
    parts = [d.mul(d.cast(word, F64), 2.0 ** (-32 * place)) for place, word in enumerate(size[::-1][:3], 1)]
    angle = d.mul(d.add(parts[0], d.add(parts[1], parts[2])), _PI)
    return d.mul(angle, scale) if d is c else c.mul(c.narrowed(angle), scale)


def _halves(c: QirCode, high: Value, low: Value) -> tuple[Value, Value]:
    """The highest 24 of 64 bits, and the 32 below them."""
    eight, rest = c.word(8), c.word(24)
    below = c.b.value("or", c.b.value("shl", high, rest), c.b.value("shr", low, eight))
    return c.b.value("shr", high, eight), below
