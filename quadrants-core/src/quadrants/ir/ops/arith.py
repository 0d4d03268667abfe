"""Arithmetic, comparisons and selection on integers and floats."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from quadrants.ir.opdef import Attr, AttrKind, OpDef, Reference
from quadrants.ir.ops import rules
from quadrants.ir.ops.semantics import arithmetic, operand_scalar, plain
from quadrants.ir.values import Undefined, wrap
from quadrants.types import BOOL, ObjectType, StrType, Type

if TYPE_CHECKING:
    from quadrants.ir.core import Op

PREDICATES = ("eq", "ne", "lt", "le", "gt", "ge")
NUMBERS = "integers or floats"


def _cmp(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 2)
    left, right = types
    if not rules.is_scalar(left) or left != right:
        raise TypeError(f"compares two scalars of one type, not {left} and {right}")
    pred = attrs.get("pred")
    if pred not in PREDICATES:
        raise TypeError(f"attribute 'pred' must be one of {', '.join(PREDICATES)}, not {pred!r}")
    if rules.is_complex(left) and pred not in ("eq", "ne"):
        raise TypeError(f"complex numbers have no order ({pred})")
    return (BOOL,)


def _select(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 3)
    if types[0] != BOOL:
        raise TypeError(f"the condition must be bool, not {types[0]}")
    if not (rules.is_scalar(types[1]) or isinstance(types[1], (ObjectType, StrType))) or types[1] != types[2]:
        raise TypeError(f"selects between two scalars of one type, not {types[1]} and {types[2]}")
    return (types[1],)


def _division(function: Callable[[int, int], int]) -> Reference:
    """Total over the integers: 0 for a divisor of 0 (unless the op promises that there is none)."""

    def reference(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
        a, b = values
        if b == 0 and op.attr("nonzero"):
            raise Undefined(f"{op.name} by 0")
        return (wrap(function(a, b), operand_scalar(op)) if b else 0,)

    return reference


def _compare(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    return (bool(_PREDICATE[op.attrs["pred"]](*values)),)


#: The predicates of `cmp`.
_PREDICATE: dict[object, Callable[[Any, Any], Any]] = {name: getattr(operator, name) for name in PREDICATES}

_BINARY = rules.same(2, rules.is_number, NUMBERS)
_UNARY = rules.same(1, rules.is_number, NUMBERS)
_INTEGERS = rules.same(2, rules.is_int, "integers")
_FLOATS = rules.same(2, rules.is_float, "floats")
_NONZERO = Attr("nonzero", AttrKind.BOOL, required=False, default=False)
_FLEXIBLE = (rules.FAST, rules.MODE, rules.NOWRAP)
_SUM = (*_FLEXIBLE, rules.FUSED)

DEFS = (
    OpDef(
        "add",
        _BINARY,
        reference=arithmetic(operator.add),
        attrs=_SUM,
        doc="Sum; integers wrap. `fused`: of two products, which is fused with the sum, 1 or 2.",
        derivative="da + db",
    ),
    OpDef(
        "sub",
        _BINARY,
        reference=arithmetic(operator.sub),
        attrs=_SUM,
        doc="Difference; integers wrap. `fused`: as of `add`.",
        derivative="da - db",
    ),
    OpDef(
        "mul",
        _BINARY,
        reference=arithmetic(operator.mul),
        attrs=_FLEXIBLE,
        doc="Product; integers wrap.",
        derivative="da * b + a * db",
    ),
    OpDef(
        "div",
        _FLOATS,
        reference=plain(operator.truediv),
        attrs=(rules.FAST, rules.MODE),
        doc="IEEE quotient.",
        derivative="da / b - db * (a / b) / b",
    ),
    OpDef(
        "floordiv",
        _INTEGERS,
        reference=_division(operator.floordiv),
        attrs=(_NONZERO,),
        doc="Quotient rounded down; x//0 is 0 and INT_MIN//-1 wraps to INT_MIN. `nonzero`: the divisor is proven not to be 0.",
        derivative="none: integers",
    ),
    OpDef(
        "mod",
        _INTEGERS,
        reference=_division(operator.mod),
        attrs=(_NONZERO,),
        doc="Remainder with the sign of the divisor; x%0 is 0 and INT_MIN%-1 is 0. `nonzero`: as in floordiv.",
        derivative="none: integers",
    ),
    OpDef(
        "rem",
        _FLOATS,
        reference=plain(np.fmod),
        attrs=(rules.FAST, rules.MODE),
        doc="C's fmod: the remainder with the sign of the dividend; NaN for a divisor of 0.",
        derivative="da - db * trunc(a / b)",
    ),
    OpDef(
        "neg",
        _UNARY,
        reference=arithmetic(operator.neg),
        attrs=_FLEXIBLE,
        doc="Negation; integers wrap.",
        derivative="-da",
    ),
    OpDef(
        "abs",
        _UNARY,
        reference=arithmetic(abs),
        attrs=(rules.NOWRAP,),
        doc="Absolute value; INT_MIN stays.",
        derivative="da if a >= 0 else -da",
    ),
    OpDef(
        "min",
        _BINARY,
        reference=plain(lambda a, b: a if a < b else b),
        attrs=(rules.MODE,),
        doc="a if a < b else b (so b if either is NaN).",
        derivative="da if a < b else db",
    ),
    OpDef(
        "max",
        _BINARY,
        reference=plain(lambda a, b: a if a > b else b),
        attrs=(rules.MODE,),
        doc="a if a > b else b (so b if either is NaN).",
        derivative="da if a > b else db",
    ),
    OpDef(
        "cmp",
        _cmp,
        reference=_compare,
        attrs=(Attr("pred", AttrKind.STR, choices=PREDICATES),),
        doc="Comparison; with a NaN all but `ne` are false. False < True.",
        derivative="none: a truth value",
    ),
    OpDef(
        "select",
        _select,
        reference=plain(lambda condition, a, b: a if condition else b),
        doc="The second operand if the first is true, else the third.",
        derivative="da or db, by the condition",
    ),
)
