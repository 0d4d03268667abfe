"""Random valid modules of QIR, and arguments for them: for differential tests of passes and lowerings.

`modules(config)` is a hypothesis strategy of `Sample` (module and arguments); `random_sample(seed, config)` is the same from a
seed, for long runs. Every program ends, and is deterministic: no memory is read before it is written, and with
`Config(exact=True)` there is nothing whose last bits depend on the machine (elementary functions, signs of NaN).
`ir.observation` runs a sample in the reference interpreter and compares what can be seen.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import hypothesis.strategies as st
import numpy as np
from ir.choices import Choices, Drawn, Seeded
from ir.observation import Sample

from quadrants.ir.builder import Builder
from quadrants.ir.core import Function, Loc, Module, Op, Region, Scope, Value
from quadrants.ir.ops.math import BINARY, UNARY
from quadrants.types import (
    BOOL,
    C64,
    C128,
    EXC,
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    ArrayType,
    FormatHole,
    FormatType,
    LiteralType,
    Scalar,
    TupleType,
    Type,
)
from quadrants.types.dtypes import dtype_of

INTEGERS = (I64, I32, I16, I8, U64, U32, U16, U8)
FLOATS = (F64, F32, F16)
COMPLEXES = (C128, C64)
SCALARS = (*INTEGERS, *FLOATS, BOOL, *COMPLEXES)
#: Elementary functions whose result is the same everywhere.
EXACT_MATH = ("sqrt", "floor", "ceil", "trunc", "rint")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Config:
    """What a module may hold.

    Args:
        size: how many statements a region has at most.
        depth: how deep regions nest.
        functions: how many functions there are besides the entry.
        exact: only operations with the same result on every machine; functions are `fp="strict"`.
        types: the scalars to use.
        arrays, maps, exceptions, loops: whether to use them.
    """

    size: int = 7
    depth: int = 3
    functions: int = 2
    exact: bool = True
    types: tuple[Scalar, ...] = SCALARS
    arrays: bool = True
    maps: bool = True
    exceptions: bool = True
    loops: bool = True


@st.composite
def modules(draw: Callable[[st.SearchStrategy[int]], int], config: Config = Config()) -> Sample:
    """A strategy of samples."""
    return _sample(Drawn(draw), config)


def random_sample(seed: int, config: Config = Config()) -> Sample:
    """The sample with the number."""
    return _sample(Seeded(random.Random(seed)), config)


def _sample(choices: Choices, config: Config) -> Sample:
    maker = ModuleMaker(choices, config)
    module = maker.module()
    return Sample(module, tuple(maker.argument(param.type) for param in module.functions[module.entry].params))


@dataclass(slots=True)
class _Body:
    """A function that is being made: the values in scope, and the labels that can be left."""

    result_types: tuple[Type, ...]
    scopes: list[list[Value]]
    labels: list[tuple[int, tuple[Type, ...], bool]] = field(default_factory=list)
    next_label: int = 0
    line: int = 1
    in_map: bool = False
    can_return: bool = True


class ModuleMaker:
    """Makes one module."""

    def __init__(self, choices: Choices, config: Config) -> None:
        self.choices = choices
        self.config = config
        self.callees: list[Function] = []
        self.b = Builder(Region())
        self.body = _Body((), [[]])

    # Decisions

    def pick(self, items: Sequence[T]) -> T:
        return items[self.choices.integer(0, len(items) - 1)]

    def chance(self, percent: int) -> bool:
        return self.choices.integer(0, 99) >= 100 - percent

    def scalar_type(self, among: Sequence[Scalar] = SCALARS) -> Scalar:
        allowed = [type for type in among if type in self.config.types]
        return self.pick(allowed or list(among))

    def value_type(self) -> Type:
        if self.config.arrays and self.chance(30):
            return ArrayType(self.scalar_type(), self.choices.integer(0, 2), self.pick("CA"))
        return self.scalar_type()

    # Functions

    def module(self) -> Module:
        module = Module()
        for index in range(self.choices.integer(0, self.config.functions)):
            function = self.function(f"callee{index}")
            module.functions[function.name] = function
            self.callees.append(function)
        module.functions["main"] = self.function("main")
        module.entry = "main"
        return module

    def function(self, name: str) -> Function:
        params = [Value(self.value_type(), f"p{index}") for index in range(self.choices.integer(0, 4))]
        results = tuple(self.value_type() for _ in range(self.choices.integer(0, 3)))
        self.body = _Body(results, [list(params)])
        region = Region()
        with self.b.into(region):
            self.statements(self.config.depth)
            self.op("return", *(self.value(type) for type in results))
        attrs: dict[str, object] = {"fp": "strict"} if self.config.exact else {}
        return Function(name, params, results, region, Scope("random.py", name, 1), attrs)

    def argument(self, type: Type) -> Any:
        """A value for a parameter."""
        if isinstance(type, Scalar):
            return dtype_of(type).type(self.constant(type))
        assert isinstance(type, ArrayType)
        dims = tuple(self.choices.integer(0, 4) for _ in range(type.ndim))
        items = [self.constant(type.dtype) for _ in range(int(np.prod(dims)))]
        array = np.array(items, dtype_of(type.dtype)).reshape(dims)
        if type.layout == "C" or type.ndim == 0:
            return array
        wide = np.zeros(tuple(2 * dim + 1 for dim in dims), array.dtype)
        view = wide[tuple(slice(1, None, 2) for _ in dims)]
        view = view[::-1] if self.chance(50) else view
        view[...] = array
        return view

    # Values

    def op(self, name: str, *operands: Value, regions: Sequence[Region] = (), **attrs: Any) -> Op:
        """Append an op with a line of its own; its results come into scope."""
        self.b.loc = Loc(self.body.line)
        self.body.line += 1
        op = self.b.op(name, *operands, regions=regions, **attrs)
        self.body.scopes[-1].extend(op.results)
        return op

    def constant(self, type: Scalar) -> Any:
        """An interesting or an ordinary number of the type."""
        if type.is_bool:
            return bool(self.choices.integer(0, 1))
        if type.is_integer:
            low = -(1 << (type.bits - 1)) if type.is_signed else 0
            high = low + (1 << type.bits) - 1
            special = [0, 1, 2, 3, 7, low, low + 1, high, high - 1, type.bits, -1 if low else high]
            return self.pick(special) if self.chance(70) else self.choices.integer(low, high)
        if type.is_complex:
            return complex(self.constant(type.part), self.constant(type.part))
        info = np.finfo(dtype_of(type))
        special_floats = [0.0, -0.0, 1.0, -1.5, 3.25, 1e3, float("inf"), float("-inf"), float("nan"), float(info.max)]
        special_floats += [float(info.smallest_subnormal), float(info.eps), 0.1, 2.0**31, 2.0**63, -(2.0**63), 2.0**64]
        value = self.pick(special_floats) if self.chance(60) else self.choices.integer(-100_000, 100_000) / 64
        with np.errstate(over="ignore"):
            return float(dtype_of(type).type(value))

    def known(self, accepts: Callable[[Type], bool]) -> list[Value]:
        """The values in scope whose type is accepted, newest last."""
        return [value for scope in self.body.scopes for value in scope if accepts(value.type)]

    def value(self, type: Type) -> Value:
        """A value of the type: one in scope, a constant, or something new."""
        found = self.known(lambda other: other == type)
        if isinstance(type, ArrayType):
            return found[-1 - self.choices.integer(0, min(len(found), 4) - 1)] if found else self.new_array(type)
        assert isinstance(type, Scalar)
        if found and self.chance(80):
            return found[-1 - self.choices.integer(0, min(len(found), 6) - 1)]
        return self.op("const", value=self.constant(type), type=type).result

    def i64(self, value: int) -> Value:
        return self.op("const", value=value, type=I64).result

    def small(self) -> Value:
        """An i64 from 0 to 3 that need not be constant."""
        if self.chance(60):
            return self.i64(self.choices.integer(0, 3))
        return self.op("and", self.value(I64), self.i64(3)).result

    def new_array(self, type: ArrayType) -> Value:
        dims = [self.small() for _ in range(type.ndim)]
        layout = "F" if type.layout == "A" and self.chance(30) and type.ndim > 1 else "C"
        made = ArrayType(type.dtype, type.ndim, layout)
        array = self.op("alloc", *dims, type=made, zero=True).result
        if type == made:
            return array
        return self.whole_view(array, type)

    def whole_view(self, array: Value, type: ArrayType) -> Value:
        """The same elements as another layout, which must be true."""
        dims = [self.op("dim", array, axis=axis).result for axis in range(type.ndim)]
        strides = [self.op("stride", array, axis=axis).result for axis in range(type.ndim)]
        return self.op("view", array, self.i64(0), *dims, *strides, type=type).result

    # Statements

    def statements(self, depth: int) -> None:
        for _ in range(self.choices.integer(1, self.config.size)):
            self.statement(depth)

    def statement(self, depth: int) -> None:
        makers = [self.arithmetic] * 6 + [self.comparison, self.conversion, self.bits, self.pairs, self.elementary]
        if not self.body.in_map:
            makers += self._effectful()
        if depth > 0:
            makers += self._nested(depth)
        self.pick(makers)()

    def _effectful(self) -> list[Callable[[], None]]:
        makers: list[Callable[[], None]] = []
        if self.config.arrays:
            makers += [self.access, self.access, self.access, self.shape, self.view, self.identity]
        if self.config.exceptions:
            makers += [self.check, self.index]
        if self.callees:
            makers.append(self.call)
        return makers

    def _nested(self, depth: int) -> list[Callable[[], None]]:
        makers: list[Callable[[], None]] = [
            lambda: self.branch(depth),
            lambda: self.branch(depth),
            lambda: self.block(depth),
        ]
        if self.config.loops:
            makers += [lambda: self.for_loop(depth), lambda: self.endless_loop(depth)]
        if self.config.exceptions and not self.body.in_map:
            makers.append(lambda: self.attempt(depth))
        if self.config.maps and self.config.arrays and not self.body.in_map:
            makers += [lambda: self.map(depth), lambda: self.map_into(depth)]
        return makers

    def arithmetic(self) -> None:
        type = self.scalar_type((*INTEGERS, *FLOATS))
        names = ["add", "sub", "mul", "neg", "abs", "min", "max"] + (
            ["floordiv", "mod"] if type.is_integer else ["div", "rem"]
        )
        name = self.pick(names)
        self.op(name, *(self.value(type) for _ in range(1 if name in ("neg", "abs") else 2)))

    def comparison(self) -> None:
        type = self.scalar_type()
        pred = self.pick(("eq", "ne") if type.is_complex else ("eq", "ne", "lt", "le", "gt", "ge"))
        condition = self.op("cmp", self.value(type), self.value(type), pred=pred).result
        if self.chance(50):
            type = self.scalar_type()
            self.op("select", condition, self.value(type), self.value(type))

    def conversion(self) -> None:
        source = self.scalar_type()
        if source.is_complex:
            self.op("cast", self.value(source), type=self.scalar_type(COMPLEXES))
        elif self.chance(80):
            self.op("cast", self.value(source), type=self.scalar_type((*INTEGERS, *FLOATS, BOOL)))
        else:
            bits = self.pick((16, 32, 64))
            floating = next(type for type in FLOATS if type.bits == bits)
            whole = next(type for type in INTEGERS if type.bits == bits)
            to_float = self.config.exact or self.chance(50)  # the bits of a NaN are the machine's
            self.op("bitcast", self.value(whole if to_float else floating), type=floating if to_float else whole)

    def bits(self) -> None:
        name = self.pick(
            ("and", "or", "xor", "not", "shl", "shr", "popcount", "clz", "ctz", "bitreverse", "bswap"),
        )
        type = BOOL if name in ("and", "or", "xor", "not") and self.chance(30) else self.scalar_type(INTEGERS)
        self.op(name, *(self.value(type) for _ in range(2 if name in ("and", "or", "xor", "shl", "shr") else 1)))

    def pairs(self) -> None:
        type = self.scalar_type(COMPLEXES)
        if self.chance(40):
            self.op("complex", self.value(type.part), self.value(type.part))
        else:
            self.op(self.pick(("real", "imag")), self.value(type))

    def elementary(self) -> None:
        type = self.scalar_type(FLOATS)
        if self.chance(20):
            self.op("math.fma", *(self.value(type) for _ in range(3)))
            return
        name = self.pick(EXACT_MATH if self.config.exact else (*UNARY, *BINARY))
        self.op(f"math.{name}", *(self.value(type) for _ in range(2 if name in BINARY else 1)))

    # Arrays

    def array(self) -> Value:
        found = self.known(lambda type: isinstance(type, ArrayType))
        if found and self.chance(85):
            return self.pick(found)
        return self.new_array(ArrayType(self.scalar_type(), self.choices.integer(0, 2)))

    def inner_index(self, array: Value, axis: int) -> Value:
        """An index that may be out of range, more often in range."""
        if self.chance(25) and self.config.exceptions:
            return self.value(I64)
        size = self.op("dim", array, axis=axis).result
        return self.op("mod", self.value(I64), size).result

    def access(self) -> None:
        array = self.array()
        type = array.type
        assert isinstance(type, ArrayType)
        attrs: dict[str, Any] = {} if self.chance(50) else {"wrap": self.chance(50)}
        indices = [self.inner_index(array, axis) for axis in range(type.ndim)]
        if self.chance(50):
            self.op("load", array, *indices, **attrs)
        else:
            self.op("store", self.value(type.dtype), array, *indices, **attrs)

    def shape(self) -> None:
        array = self.array()
        assert isinstance(array.type, ArrayType)
        if array.type.ndim:
            axis = self.choices.integer(0, array.type.ndim - 1)
            self.op(self.pick(("dim", "stride")), array, axis=axis)

    def view(self) -> None:
        """The transpose, the reverse along an axis, or every second element."""
        array = self.array()
        type = array.type
        assert isinstance(type, ArrayType)
        dims = [self.op("dim", array, axis=axis).result for axis in range(type.ndim)]
        strides = [self.op("stride", array, axis=axis).result for axis in range(type.ndim)]
        offset = self.i64(0)
        if type.ndim == 0:
            return
        axis = self.choices.integer(0, type.ndim - 1)
        one, kind = self.i64(1), self.choices.integer(0, 2)
        if kind == 0:
            dims.reverse()
            strides.reverse()
        elif kind == 1:
            last = self.op("max", self.op("sub", dims[axis], one).result, self.i64(0)).result
            offset = self.op("mul", last, strides[axis]).result
            strides[axis] = self.op("neg", strides[axis]).result
        else:
            dims[axis] = self.op("shr", self.op("add", dims[axis], one).result, one).result
            strides[axis] = self.op("mul", strides[axis], self.i64(2)).result
        self.op("view", array, offset, *dims, *strides, type=ArrayType(type.dtype, type.ndim, "A"))

    def identity(self) -> None:
        self.op(self.pick(("same", "overlap") if not self.config.exact else ("same",)), self.array(), self.array())

    def _element_region(self, depth: int, inputs: list[Value], result: Scalar) -> Region:
        types = [value.type.dtype if isinstance(value.type, ArrayType) else value.type for value in inputs]
        region = Region([Value(type) for type in types])
        in_map, labels, can_return = self.body.in_map, self.body.labels, self.body.can_return
        self.body.in_map, self.body.labels, self.body.can_return = True, [], False
        # Arrays are out of reach inside; scalars around are not.
        scopes = self.body.scopes
        self.body.scopes = [[v for v in scope if isinstance(v.type, Scalar)] for scope in scopes] + [list(region.args)]
        with self.b.into(region):
            for _ in range(self.choices.integer(0, 3)):
                self.statement(min(depth - 1, 1))
            self.op("yield", self.value(result))
        self.body.scopes = scopes
        self.body.in_map, self.body.labels, self.body.can_return = in_map, labels, can_return
        return region

    def map(self, depth: int) -> None:
        inputs = [
            self.array() if self.chance(70) else self.value(self.scalar_type())
            for _ in range(self.choices.integer(1, 3))
        ]
        ranks = [value.type.ndim for value in inputs if isinstance(value.type, ArrayType)]
        dtype = self.scalar_type()
        region = self._element_region(depth, inputs, dtype)
        self.op("map", *inputs, regions=[region], dtype=dtype, ndim=max(ranks, default=0))

    def map_into(self, depth: int) -> None:
        target = self.array()
        assert isinstance(target.type, ArrayType)
        rank = target.type.ndim
        fitting = self.known(lambda type: isinstance(type, ArrayType) and type.ndim <= rank)
        inputs = [self.pick(fitting) for _ in range(self.choices.integer(0, 2))] if fitting else []
        inputs.append(self.value(self.scalar_type()))
        self.op("map_into", target, *inputs, regions=[self._element_region(depth, inputs, target.type.dtype)])

    # Errors and calls

    def _exception(self) -> tuple[str, TupleType, list[Value]]:
        name = self.pick(("builtins:ValueError", "builtins:ZeroDivisionError", "builtins:KeyError"))
        if self.chance(50):
            return name, TupleType((LiteralType("no good"),)), []
        type = self.scalar_type((*INTEGERS, BOOL))
        if self.chance(50):
            return name, TupleType((type, LiteralType(3))), [self.value(type)]
        hole = FormatHole(type, "", "d" if type.is_integer else "")
        return name, TupleType((FormatType(("got ", hole)),)), [self.value(type)]

    def check(self) -> None:
        name, args, leaves = self._exception()
        self.op("check", self.value(BOOL), *leaves, exc=name, args=args)

    def index(self) -> None:
        size = self.op("add", self.small(), self.i64(1)).result
        position = self.value(I64) if self.chance(30) else self.op("mod", self.value(I64), size).result
        self.op("index", position, size, tuple=self.chance(50), axis=self.choices.integer(0, 3))

    def call(self) -> None:
        callee = self.pick(self.callees)
        args = [self.value(param.type) for param in callee.params]
        self.op("call", *args, callee=callee.name, result_types=callee.result_types)

    # Control

    def region(self, depth: int, end: Callable[[], None], args: Sequence[Value] = ()) -> Region:
        """A region with statements, which leaves early at times, else ends with what `end` makes."""
        region = Region(list(args))
        self.body.scopes.append(list(args))
        with self.b.into(region):
            self.statements(depth - 1)
            if self.chance(15) and self.leave():
                pass
            else:
                end()
        self.body.scopes.pop()
        return region

    def leave(self) -> bool:
        """A terminator that leaves for somewhere further out, if there is one."""
        ways: list[Callable[[], object]] = []
        for label, types, loop in self.body.labels:
            if not loop:
                ways.append(lambda label=label, types=types: self.op("break", *map(self.value, types), label=label))  # type: ignore[misc]
        if self.body.can_return and not self.body.in_map:
            ways.append(lambda: self.op("return", *map(self.value, self.body.result_types)))
            if self.config.exceptions:
                ways.append(self.throw)
        if ways:
            self.pick(ways)()
        return bool(ways)

    def throw(self) -> None:
        name, args, leaves = self._exception()
        self.op("raise", *leaves, exc=name, args=args)

    def result_types(self) -> tuple[Type, ...]:
        if self.body.in_map:
            return tuple(self.scalar_type() for _ in range(self.choices.integer(0, 2)))
        return tuple(self.value_type() for _ in range(self.choices.integer(0, 2)))

    def yields(self, types: Sequence[Type]) -> None:
        self.op("yield", *(self.value(type) for type in types))

    def branch(self, depth: int) -> None:
        types = self.result_types()
        condition = self.value(BOOL)
        regions = [self.region(depth, lambda: self.yields(types)) for _ in range(2)]
        self.op("if", condition, regions=regions)

    def block(self, depth: int) -> None:
        types = self.result_types()
        label = self._label(types, loop=False)
        body = self.region(depth, lambda: self.yields(types))
        self.body.labels.pop()
        self.op("block", regions=[body], label=label)

    def _label(self, types: tuple[Type, ...], *, loop: bool) -> int:
        label = self.body.next_label
        self.body.next_label += 1
        self.body.labels.append((label, types, loop))
        return label

    def for_loop(self, depth: int) -> None:
        types = self.result_types()
        inits = [self.value(type) for type in types]
        start, stop = self.i64(self.choices.integer(-1, 2)), self.small()
        step = self.i64(self.pick((1, 1, 1, 2, -1)))
        args = [Value(I64), *(Value(type) for type in types)]
        label = self._label(types, loop=False)

        def end() -> None:
            self.op("continue", *(self.value(type) for type in types), label=label)

        body = self.region(depth, end, args)
        self.body.labels.pop()
        self.op("for", start, stop, step, *inits, regions=[body], label=label)

    def endless_loop(self, depth: int) -> None:
        """A loop with a counter among the carried values, so that it ends."""
        types = self.result_types()
        carried = tuple(self.scalar_type() for _ in range(self.choices.integer(0, 2)))
        inits = [self.i64(0), *(self.value(type) for type in carried)]
        counter = Value(I64)
        args = [counter, *(Value(type) for type in carried)]
        label = self._label(types, loop=False)

        def end() -> None:
            advanced = self.op("add", counter, self.i64(1)).result
            condition = self.op("cmp", advanced, self.i64(self.choices.integer(1, 4)), pred="lt").result
            going, leaving = Region(), Region()
            for region, name, values in ((going, "continue", carried), (leaving, "break", types)):
                self.body.scopes.append([])
                with self.b.into(region):
                    extra = [advanced] if name == "continue" else []
                    self.op(name, *extra, *(self.value(type) for type in values), label=label)
                self.body.scopes.pop()
            self.op("if", condition, regions=[going, leaving])
            self.op("unreachable")

        body = self.region(depth, end, args)
        self.body.labels.pop()
        self.op("loop", *inits, regions=[body], label=label, result_types=types)

    def attempt(self, depth: int) -> None:
        """A `try`, with a variable that the handler reads."""
        types = self.result_types()
        kept = self.scalar_type()
        variable = self.op("var", self.value(kept)).result

        def body_end() -> None:
            self.op("var.set", variable, self.value(kept))
            self.check()
            self.yields(types)

        body = self.region(depth, body_end)
        exception = Value(EXC)
        body_types = types

        def handler_end() -> None:
            self.op("var.get", variable)
            classes = ("builtins:ValueError", self.pick(("builtins:LookupError", "builtins:ArithmeticError")))
            caught = self.op("exc.match", exception, classes=classes).result
            again, fine = Region(), Region()
            with self.b.into(again):
                self.op("reraise", exception)
            with self.b.into(fine):
                self.op("yield")
            self.op("if", caught, regions=[fine, again])
            self.yields(body_types)

        handler = self.region(depth, handler_end, [exception])
        self.op("try", regions=[body, handler])
