"""Rewrites of one op at a time: constants, algebraic identities that are exact, and what is known of arrays by their
making.

`fold(op, env)` gives the values that stand for the op's results, or None to keep it. `env` answers questions about
values and makes constants. Every rule holds bit for bit: on integers modulo 2^n, on floats only where IEEE arithmetic
gives the operand itself.
"""

from __future__ import annotations

import math

from quadrants.ir import Op, Value
from quadrants.passes.fold_arrays import ARRAY_RULES
from quadrants.passes.fold_env import Env, Rule
from quadrants.types import BOOL, Scalar

#: pred -> the predicate of the negation (exact for integers), and of the swapped operands.
INVERSE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}
SWAPPED = {"eq": "eq", "ne": "ne", "lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}


def scalar(value: Value) -> Scalar:
    """The type of a value that is a scalar."""
    assert isinstance(value.type, Scalar)
    return value.type


def wrapped(value: int, type: Scalar) -> int:
    """The integer modulo 2^bits, in the range of the type."""
    value &= (1 << type.bits) - 1
    return value - (1 << type.bits) if type.is_signed and value >> (type.bits - 1) else value


def _is(env: Env, value: Value, number: float) -> bool:
    """Whether the value is the constant, the sign of zero included."""
    known = env.number(value)
    if known is None or isinstance(known, (bool, complex)) or known != number:
        return False
    return isinstance(known, int) or math.copysign(1.0, known) == math.copysign(1.0, number)


def _add(op: Op, env: Env) -> Value | None:
    left, right = op.operands
    if not scalar(left).is_integer:
        return left if _is(env, right, -0.0) else right if _is(env, left, -0.0) else None
    if env.number(left) is not None:
        left, right = right, left
    amount = env.number(right)
    if amount == 0:
        return left
    if isinstance(amount, int):  # (x + c) + d, (x - c) + d
        inner = env.maker(left)
        if inner is not None and inner.name in ("add", "sub"):
            first = env.number(inner.operands[1])
            if isinstance(first, int):
                total = wrapped(amount + (first if inner.name == "add" else -first), scalar(left))
                return env.emit("add", inner.operands[0], env.const(total, scalar(left)))
    return None


def _sub(op: Op, env: Env) -> Value | None:
    left, right = op.operands
    if not scalar(left).is_integer:
        return left if _is(env, right, 0.0) else None
    if left is right:
        return env.const(0, scalar(left))
    amount = env.number(right)
    if isinstance(amount, int):
        if amount == 0:
            return left
        return env.emit("add", left, env.const(wrapped(-amount, scalar(left)), scalar(left)))
    return None


def _mul(op: Op, env: Env) -> Value | None:
    left, right = op.operands
    for one, other in ((left, right), (right, left)):
        if _is(env, one, 1):
            return other
        if scalar(one).is_integer and env.number(one) == 0:
            return one
    return None


def _by_one(op: Op, env: Env) -> Value | None:
    """x / 1, x // 1 and shifts by 0 are handled by the identity of the second operand."""
    return op.operands[0] if _is(env, op.operands[1], 1) else None


def _mod(op: Op, env: Env) -> Value | None:
    return env.const(0, scalar(op.result)) if _is(env, op.operands[1], 1) else None


def _shift(op: Op, env: Env) -> Value | None:
    return op.operands[0] if env.number(op.operands[1]) == 0 else None


def _involution(op: Op, env: Env) -> Value | None:
    """neg of neg and not of not; the negation of a comparison of integers."""
    inner = env.maker(op.operands[0])
    if inner is None:
        return None
    if inner.name == op.name:
        return inner.operands[0]
    if op.name == "not" and inner.name == "cmp":
        pred = str(inner.attrs["pred"])
        if not scalar(inner.operands[0]).is_float or pred in ("eq", "ne"):
            return env.emit("cmp", *inner.operands, pred=INVERSE[pred])
    return None


def _logic(op: Op, env: Env) -> Value | None:
    left, right = op.operands
    if left is right:
        return env.const(False if scalar(left).is_bool else 0, scalar(left)) if op.name == "xor" else left
    type = scalar(left)
    ones = True if type.is_bool else (-1 if type.is_signed else (1 << type.bits) - 1)
    zeros = False if type.is_bool else 0
    neutral, absorbing = {"and": (ones, zeros), "or": (zeros, ones), "xor": (zeros, None)}[op.name]
    for one, other in ((left, right), (right, left)):
        known = env.number(one)
        if known is None:
            continue
        if known == neutral:
            return other
        if known == absorbing:
            return one
        if op.name == "xor" and type.is_bool:
            return env.emit("not", other)
    return None


def _min_max(op: Op, env: Env) -> Value | None:
    return op.operands[0] if op.operands[0] is op.operands[1] else None


def _cmp(op: Op, env: Env) -> Value | None:
    left, right = op.operands
    type = scalar(left)
    pred = str(op.attrs["pred"])
    if left is right and (type.is_integer or type.is_bool):
        return env.const(pred in ("eq", "le", "ge"), BOOL)
    known = env.number(right)
    if known is None or pred not in ("eq", "ne"):
        return None
    if type.is_bool:
        return left if bool(known) == (pred == "eq") else env.emit("not", left)
    inner = env.maker(left)  # (cast b) != 0 is b itself
    if known == 0 and inner is not None and inner.name == "cast" and scalar(inner.operands[0]).is_bool:
        return inner.operands[0] if pred == "ne" else env.emit("not", inner.operands[0])
    return None


def _select(op: Op, env: Env) -> Value | None:
    condition, first, second = op.operands
    if first is second:
        return first
    known = env.number(condition)
    if known is not None:
        return first if known else second
    inverse = env.maker(condition)
    if inverse is not None and inverse.name == "not":
        return env.emit("select", inverse.operands[0], second, first)
    if isinstance(first.type, Scalar) and first.type.is_bool:
        return _select_bool(op, env)
    test = env.maker(condition)
    if test is None or test.name != "cmp" or {first, second} != set(test.operands):
        return None
    pred = str(test.attrs["pred"])
    if first is not test.operands[0]:  # b if a < b else a is b if b > a else a
        pred = SWAPPED[pred]
    order = pred.replace("e", "t") if scalar(first).is_integer and pred in ("le", "ge") else pred
    return env.emit({"lt": "min", "gt": "max"}[order], first, second) if order in ("lt", "gt") else None


def _select_bool(op: Op, env: Env) -> Value | None:
    """Selection between booleans is logic."""
    condition, first, second = op.operands
    yes, no = env.number(first), env.number(second)
    if yes is not None and no is not None:
        return condition if yes else env.emit("not", condition)
    if yes is not None:
        return env.emit("or", condition, second) if yes else env.emit("and", env.emit("not", condition), second)
    if no is not None:
        return env.emit("or", env.emit("not", condition), first) if no else env.emit("and", condition, first)
    return None


def _cast(op: Op, env: Env) -> Value | None:
    """Casts that change nothing, and pairs where the first loses nothing that the second would need."""
    source, target = scalar(op.operands[0]), scalar(op.result)
    if source == target:
        return op.operands[0]
    inner = env.maker(op.operands[0])
    if inner is None or inner.name != "cast":
        return None
    origin = scalar(inner.operands[0])
    narrowing = origin.is_integer and source.is_integer and target.is_integer and target.bits <= source.bits
    if not narrowing and not _keeps(origin, source):
        return None
    return inner.operands[0] if origin == target else env.emit("cast", inner.operands[0], type=target)


def _keeps(origin: Scalar, target: Scalar) -> bool:
    """Whether every value of the first type is one of the second."""
    if origin.is_bool:
        return not target.is_bool
    if origin.is_integer and target.is_integer:
        if origin.is_signed:
            return target.is_signed and target.bits >= origin.bits
        return target.bits > origin.bits or (not target.is_signed and target.bits == origin.bits)
    if origin.is_integer and target.is_float:
        return origin.bits <= {16: 8, 32: 16, 64: 32}[target.bits]
    if origin.kind is target.kind and not origin.is_integer:
        return target.bits >= origin.bits
    return False


def _complex(op: Op, env: Env) -> Value | None:
    real, imag = (env.maker(operand) for operand in op.operands)
    if real is not None and imag is not None and (real.name, imag.name) == ("real", "imag"):
        if real.operands[0] is imag.operands[0]:
            return real.operands[0]
    return None


def _part(op: Op, env: Env) -> Value | None:
    inner = env.maker(op.operands[0])
    if inner is not None and inner.name == "complex":
        return inner.operands[0 if op.name == "real" else 1]
    return None


#: op name -> rule.
RULES: dict[str, Rule] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "div": _by_one,
    "floordiv": _by_one,
    "mod": _mod,
    "shl": _shift,
    "shr": _shift,
    "neg": _involution,
    "not": _involution,
    "and": _logic,
    "or": _logic,
    "xor": _logic,
    "min": _min_max,
    "max": _min_max,
    "cmp": _cmp,
    "select": _select,
    "cast": _cast,
    "complex": _complex,
    "real": _part,
    "imag": _part,
    **ARRAY_RULES,
}
