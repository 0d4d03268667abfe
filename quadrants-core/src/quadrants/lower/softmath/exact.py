"""Functions whose result is the exact one, rounded at most once: remainders, products with a sum, neighbours."""

from __future__ import annotations

from quadrants.ir.builder import region_with_args
from quadrants.ir.core import Region, Value
from quadrants.lower.softmath.code import QirCode
from quadrants.lower.softmath.functions import product_of, sum_of

_INF, _NAN = float("inf"), float("nan")


def nextafter(c: QirCode, a: Value, b: Value) -> Value:
    bits = c.to_bits(a)
    away = c.b.value("xor", c.compare("ogt", a, 0.0), c.compare("ogt", a, b))  # from 0
    moved = c.int_select(away, c.int_binary("add", bits, 1), c.int_binary("sub", bits, 1))
    least = c.int_binary("or", c.int_binary("and", c.to_bits(b), 1 << (c.bits - 1)), 1)
    moved = c.int_select(c.compare("oeq", a, 0.0), least, moved)
    y = c.select(c.compare("oeq", a, b), b, c.from_bits(moved))
    return c.select(c.mask_or(c.is_nan(a), c.is_nan(b)), _NAN, y)


def rem(c: QirCode, a: Value, b: Value) -> Value:
    """C's fmod. What is taken off is always the divisor times a power of 2, so that nothing is rounded."""
    size, by = c.abs(a), c.abs(b)
    valid = c.mask_and(c.compare("olt", size, _INF), c.compare("ogt", by, 0.0))
    needed = c.mask_and(valid, c.mask_and(c.compare("oge", size, by), c.compare("olt", by, _INF)))
    rest = c.branch(needed, lambda: _taken_off(c, size, by), lambda: size)
    return c.select(valid, c.copysign(rest, a), _NAN)


def _taken_off(c: QirCode, size: Value, by: Value) -> Value:
    """The rest of a division, of which it is known that the quotient is 1 or more."""
    b, least = c.b, _exponent(c, by)
    turn = region_with_args([c.scalar])
    with b.into(turn):
        (r,) = turn.args
        steps = c.int_binary("sub", _exponent(c, r), least)
        half = c.int_binary("lshr", steps, 1)  # the whole way may be longer than an exponent
        part = c.scale(c.scale(by, half), c.int_binary("sub", steps, half))
        part = c.select(c.compare("ogt", part, r), c.mul(part, 0.5), part)
        left = c.sub(r, part)
        b.op("if", c.compare("olt", left, by), regions=[_end(c, left), _end(c, None)])
        b.op("continue", left, label=0)
    return b.op("loop", size, regions=[turn], label=0, result_types=(c.scalar,)).result


def _end(c: QirCode, value: Value | None) -> Region:
    """A region that leaves the loop with a value, or goes on."""
    with c.b.into(Region()) as region:
        if value is None:
            c.b.op("yield")
        else:
            c.b.op("break", value, label=0)
    return region


def _exponent(c: QirCode, x: Value) -> Value:
    """The exponent of a positive number, also of a subnormal one; up to a constant."""
    small = c.compare("olt", x, 2.0 ** (1 - c.bias))
    lift = c.fraction
    exponent = c.int_binary("lshr", c.to_bits(c.select(small, c.mul(x, 2.0**lift), x)), c.fraction)
    return c.int_select(small, c.int_binary("sub", exponent, lift), exponent)


def fma(c: QirCode, a: Value, b: Value, z: Value) -> Value:
    """a * b + z, rounded once (S. Boldo and G. Melquiond, 2008); where a part of it overflows or is lost, twice."""
    if c.bits == 32 and c.doubles:
        d = c.wide()
        product = d.mul(c.widened(a), c.widened(b))
        return c.narrowed(_odd_sum(d, product, c.widened(z)))
    plain = c.add(c.mul(a, b), z)
    product, lost = product_of(c, a, b)
    middle, rest = sum_of(c, z, lost)
    total, more = sum_of(c, product, middle)
    y = c.add(total, _odd_sum(c, more, rest))
    same = c.b.value("cmp", y, y, pred="eq")
    return c.select(same, y, plain)


def _odd_sum(c: QirCode, a: Value, b: Value) -> Value:
    """A sum rounded to odd: to be rounded again, to fewer bits, without harm."""
    total, lost = sum_of(c, a, b)
    bits = c.to_bits(total)
    even = c.int_compare("eq", c.int_binary("and", bits, 1), 0)
    some = c.mask_or(c.compare("olt", lost, 0.0), c.compare("ogt", lost, 0.0))
    up = c.b.value("xor", c.compare("ogt", lost, 0.0), c.compare("olt", total, 0.0))
    moved = c.int_select(up, c.int_binary("add", bits, 1), c.int_binary("sub", bits, 1))
    adjusted = c.mask_and(c.mask_and(even, some), c.compare("olt", c.abs(total), _INF))
    return c.select(adjusted, c.from_bits(moved), total)
