"""Operations on scalars, lifted to lanes: the same on each lane by itself.

Takes the definition of an op whose operands and results are scalars; gives one that takes lanes too, all of one count.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from quadrants.ir.core import Op, Value
from quadrants.ir.opdef import OpDef, Reference, TypeRule
from quadrants.ir.ops import rules
from quadrants.types import LanesType, Scalar, Type
from quadrants.types.lanes import item_of


def lifted(defn: OpDef) -> OpDef:
    """The definition, for scalars and for lanes."""
    assert defn.reference is not None
    return dataclasses.replace(defn, type_rule=_rule(defn.type_rule), reference=_each(defn.reference))


def _rule(scalar: TypeRule) -> TypeRule:
    def rule(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
        if not any(isinstance(type, LanesType) for type in types):
            return scalar(types, attrs, regions)
        first = types[0]
        if not all(isinstance(type, LanesType) and isinstance(first, LanesType) for type in types):
            raise TypeError("operands must all be lanes, or none of them")
        counts = {type.count for type in types if isinstance(type, LanesType)}
        if len(counts) > 1:
            raise TypeError(f"operands must have one number of lanes, not {' and '.join(map(str, sorted(counts)))}")
        (count,) = counts
        results = scalar([item_of(type) for type in types], attrs, regions)
        return tuple(LanesType(result, count) for result in results if isinstance(result, Scalar))

    return rule


def _each(scalar: Reference) -> Reference:
    def reference(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
        if not isinstance(op.operands[0].type, LanesType):
            return scalar(op, values)
        operands = [Value(item_of(value.type)) for value in op.operands]
        results = [Value(item_of(value.type)) for value in op.results]
        one = Op(op.defn, operands, results, op.attrs, [], op.loc)
        return tuple(zip(*(scalar(one, lane) for lane in zip(*values))))

    return reference
