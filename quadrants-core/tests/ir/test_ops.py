"""Every operation is defined in full."""

from __future__ import annotations

import pytest

from quadrants.ir.builder import Builder, region_with_args
from quadrants.ir.core import Region, Value
from quadrants.ir.interp import _CONTROL, _SPECIAL
from quadrants.ir.opdef import Effect, OpDef
from quadrants.ir.ops import OPS
from quadrants.types import (
    BOOL,
    C64,
    C128,
    EXC,
    F16,
    F32,
    F64,
    I8,
    I32,
    I64,
    PYINT,
    STR,
    U64,
    ArrayType,
    RefType,
    TupleType,
    Type,
)

VECTOR = ArrayType(F64, 1)
MATRIX = ArrayType(F64, 2, "F")
FROZEN = ArrayType(F64, 1, readonly=True)
NO_ARGS = TupleType(())


@pytest.mark.parametrize("defn", OPS.values(), ids=lambda defn: defn.name)
def test_definition_is_complete(defn: OpDef) -> None:
    assert defn.doc
    assert defn.derivative
    exits = ("yield", "break", "continue", "return")
    meanings = (defn.reference, defn.on_thread, defn.on_group)
    assert any(meanings) or defn.name in _CONTROL or defn.name in _SPECIAL or defn.name in exits
    assert defn.may_raise is None or defn.effects & Effect.RAISES
    assert not defn.terminator or defn.effects & Effect.CONTROL


def test_table_is_immutable() -> None:
    with pytest.raises(TypeError):
        OPS["add"] = OPS["sub"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("name", "types", "attrs", "result"),
    [
        ("const", (), {"value": 1, "type": I8}, (I8,)),
        ("zero", (), {"type": VECTOR}, (VECTOR,)),
        ("add", (I8, I8), {}, (I8,)),
        ("floordiv", (U64, U64), {}, (U64,)),
        ("rem", (F16, F16), {}, (F16,)),
        ("cmp", (C64, C64), {"pred": "ne"}, (BOOL,)),
        ("cmp", (BOOL, BOOL), {"pred": "lt"}, (BOOL,)),
        ("select", (BOOL, C128, C128), {}, (C128,)),
        ("not", (BOOL,), {}, (BOOL,)),
        ("cast", (BOOL,), {"type": F16}, (F16,)),
        ("cast", (C64,), {"type": C128}, (C128,)),
        ("bitcast", (F32,), {"type": I32}, (I32,)),
        ("complex", (F32, F32), {}, (C64,)),
        ("imag", (C128,), {}, (F64,)),
        ("math.pow", (F16, F16), {}, (F16,)),
        ("math.fma", (F64, F64, F64), {}, (F64,)),
        ("dim", (MATRIX,), {"axis": 1}, (I64,)),
        ("load", (MATRIX, I64, I64), {}, (F64,)),
        ("store", (F64, VECTOR, I64), {}, ()),
        ("alloc", (I64, I64), {"type": MATRIX}, (MATRIX,)),
        ("view", (VECTOR, I64, I64, I64), {"type": FROZEN}, (FROZEN,)),
        ("same", (VECTOR, MATRIX), {}, (BOOL,)),
        ("var", (VECTOR,), {}, (RefType(VECTOR),)),
        ("var.get", (RefType(F64),), {}, (F64,)),
        ("var.set", (RefType(F64), F64), {}, ()),
        ("release", (RefType(VECTOR),), {}, ()),
        ("check", (BOOL, I64), {"exc": "builtins:ValueError", "args": TupleType((PYINT,))}, ()),
        ("exc.match", (EXC,), {"classes": ("builtins:ValueError",)}, (BOOL,)),
        ("index", (I64, I64), {}, (I64,)),
        ("call", (F64,), {"callee": "f", "result_types": (F64, STR)}, (F64, STR)),
        (
            "pycall",
            (I64,),
            {"target": "m:f", "args": TupleType((PYINT,)), "result": TupleType((PYINT, F64))},
            (I64, F64),
        ),
    ],
)
def test_type_rule(name: str, types: tuple[Type, ...], attrs: dict[str, object], result: tuple[Type, ...]) -> None:
    assert OPS[name].type_rule(types, attrs, []) == result


@pytest.mark.parametrize(
    ("name", "types", "attrs", "message"),
    [
        ("const", (), {"value": 128, "type": I8}, "128 is not a constant of type i8"),
        ("const", (), {"value": True, "type": I8}, "not a constant"),
        ("const", (), {"value": 1.5, "type": I8}, "not a constant"),
        ("const", (), {"value": 1, "type": PYINT}, "machine scalar type"),
        ("zero", (), {"type": RefType(F64)}, "machine type"),
        ("add", (I8,), {}, "takes 2 operands, not 1"),
        ("add", (I8, I32), {}, "one type, not i8 and i32"),
        ("add", (BOOL, BOOL), {}, "integers or floats, not bool"),
        ("add", (C64, C64), {}, "not c64"),
        ("div", (I64, I64), {}, "floats, not i64"),
        ("floordiv", (F64, F64), {}, "integers, not f64"),
        ("cmp", (C64, C64), {"pred": "lt"}, "no order"),
        ("cmp", (F64, F64), {"pred": "less"}, "must be one of"),
        ("select", (I8, F64, F64), {}, "condition must be bool"),
        ("select", (BOOL, VECTOR, VECTOR), {}, "two scalars"),
        ("cast", (F64,), {"type": C128}, "real and complex"),
        ("bitcast", (I32,), {"type": F64}, "one width"),
        ("complex", (F16, F16), {}, "two f32 or two f64"),
        ("dim", (VECTOR,), {"axis": 1}, "axis 1"),
        ("load", (VECTOR,), {}, "takes 1 indices, not 0"),
        ("load", (VECTOR, I32), {}, "must be i64"),
        ("store", (F64, FROZEN, I64), {}, "read-only"),
        ("store", (F32, VECTOR, I64), {}, "stores f32"),
        ("alloc", (I64,), {"type": ArrayType(F64, 1, "A")}, "contiguous"),
        ("view", (FROZEN, I64, I64, I64), {"type": VECTOR}, "writable view"),
        ("var", (RefType(F64),), {}, "machine type"),
        ("var.set", (RefType(F64), F32), {}, "of f64 to f32"),
        ("retain", (F64,), {}, "references to arrays"),
        ("check", (F64,), {"exc": "builtins:ValueError", "args": NO_ARGS}, "must be bool"),
        ("check", (BOOL,), {"exc": "ValueError", "args": NO_ARGS}, "module:qualname"),
        ("raise", (I64,), {"exc": "builtins:ValueError", "args": NO_ARGS}, "exception's arguments must be ()"),
        ("reraise", (I64,), {}, "must be (exc)"),
        ("call", (), {"callee": 1, "result_types": ()}, "name of a function"),
    ],
)
def test_type_rule_refuses(name: str, types: tuple[Type, ...], attrs: dict[str, object], message: str) -> None:
    with pytest.raises(TypeError) as caught:
        OPS[name].type_rule(types, attrs, [])
    assert message in str(caught.value)


def test_builder_names_the_op() -> None:
    builder = Builder(Region())
    with pytest.raises(TypeError, match="^add: operands must have one type, not i64 and f64"):
        builder.op("add", builder.i64(1), builder.f64(1.0))


def _yielding(*types: Type) -> Region:
    region = region_with_args(types)
    Builder(region).op("yield", *region.args)
    return region


def test_control_takes_results_from_yields_and_breaks() -> None:
    builder = Builder(Region())
    leaving = Region()
    inner = Builder(leaving)
    inner.op("break", inner.f64(1.0), label=4)
    assert [value.type for value in builder.op("block", regions=[leaving], label=4).results] == [F64]
    with pytest.raises(TypeError, match="values of break"):
        other = Region()
        inside = Builder(other)
        stop, go = Region(), Region()
        Builder(stop).op("break", label=4)
        Builder(go).op("yield")
        inside.op("if", inside.bool(True), regions=[stop, go])
        inside.op("yield", inside.f64(1.0))
        builder.op("block", regions=[other], label=4)
    with pytest.raises(TypeError, match="the values of yield must be"):
        one, two = Region(), Region()
        for region, value in ((one, 1.0), (two, 2.0)):
            maker = Builder(region)
            maker.op("yield", maker.f64(value), *([maker.f64(value)] if value == 2.0 else []))
        builder.op("if", builder.bool(True), regions=[one, two])


def test_map_region_has_elements() -> None:
    vector, factor = Value(VECTOR), Value(F64)
    region = region_with_args((F64, F64))
    inside = Builder(region)
    inside.op("yield", inside.value("mul", *region.args))
    builder = Builder(Region())
    assert builder.op("map", vector, factor, regions=[region], dtype=F64, ndim=1).result.type == VECTOR
    with pytest.raises(TypeError, match="rank 1"):
        builder.op("map", vector, factor, regions=[region], dtype=F64, ndim=2)
    with pytest.raises(TypeError, match="yielded value must be"):
        builder.op("map", vector, factor, regions=[region], dtype=F32, ndim=1)
    with pytest.raises(TypeError, match="region's arguments"):
        builder.op("map", vector, regions=[region], dtype=F64, ndim=1)
    with pytest.raises(TypeError, match="read-only"):
        builder.op("map_into", Value(FROZEN), vector, regions=[_yielding(F64)])


def test_attributes_have_defaults() -> None:
    builder = Builder(Region())
    load = builder.op("load", Value(VECTOR), builder.i64(0))
    assert load.attr("checked") is True
    assert load.can_raise
    assert not builder.op("load", Value(VECTOR), builder.i64(0), checked=False).can_raise
    assert not builder.op("load", Value(ArrayType(F64, 0))).can_raise
    assert not builder.op("call", callee="f", result_types=(), nothrow=True).can_raise
    with pytest.raises(KeyError):
        load.attr("fast")
