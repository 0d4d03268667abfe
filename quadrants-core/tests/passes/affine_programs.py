"""Random programs about indices: loop nests over arrays, with affine and less affine indices, conditions, clamps and counters.

Made for the passes that prove or hoist bounds checks. `program(seed)` is a sample for `ir.observation`; sizes are small, so that
bounds are met from both sides.
"""

from __future__ import annotations

import random

import numpy as np
from ir.observation import Sample

from quadrants.ir import Function, Module, Region, Scope, Value
from quadrants.ir.builder import Builder, region_with_args
from quadrants.types import EXC, F64, I64, ArrayType

_INTS = (0, 0, 1, 1, 1, 2, 3, -1, -1, -2, 5)


class _Maker:
    """Makes one function."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.b = Builder(Region())
        self.scopes: list[list[Value]] = []
        self.arrays: list[Value] = []
        self.label = 0
        self.ops = 0

    def const(self, number: int) -> Value:
        return self.b.i64(number)

    def pick(self) -> Value:
        """An integer in scope; mostly a recent one."""
        if self.random.random() < 0.2:
            return self.const(self.random.choice(_INTS))
        values = [value for scope in self.scopes for value in scope]
        recent = values[-4:] if self.random.random() < 0.6 else values
        return self.random.choice(recent)

    def integer(self) -> Value:
        """A new integer made from those in scope."""
        kind = self.random.choice(
            ("add", "sub", "add", "sub", "mul", "min", "max", "mod", "floordiv", "dim", "select", "neg", "shr", "index")
        )
        b = self.b
        if kind == "dim":
            value = self.dim()
        elif kind == "neg":
            value = b.value("neg", self.pick())
        elif kind in ("mod", "floordiv", "shr"):
            right = self.pick() if self.random.random() < 0.5 else self.const(self.random.choice((1, 2, 3, 4)))
            value = b.value(kind, self.pick(), right)
        elif kind == "select":
            value = b.value("select", self.condition(), self.pick(), self.pick())
        elif kind == "index":
            value = b.value("index", self.pick(), self.dim())
        else:
            value = b.value(kind, self.pick(), self.pick())
        self.scopes[-1].append(value)
        return value

    def dim(self) -> Value:
        array = self.random.choice(self.arrays)
        assert isinstance(array.type, ArrayType)
        return self.b.value("dim", array, axis=self.random.randrange(array.type.ndim))

    def condition(self) -> Value:
        pred = self.random.choice(("lt", "le", "gt", "ge", "eq", "ne"))
        test = self.b.value("cmp", self.pick(), self.pick(), pred=pred)
        if self.random.random() < 0.2:
            other = self.b.value("cmp", self.pick(), self.pick(), pred=self.random.choice(("lt", "ge", "ne")))
            return self.b.value(self.random.choice(("and", "or")), test, other)
        return self.b.value("not", test) if self.random.random() < 0.1 else test

    def access(self) -> None:
        array = self.random.choice(self.arrays)
        assert isinstance(array.type, ArrayType)
        at = [self.pick() if self.random.random() < 0.7 else self.integer() for _ in range(array.type.ndim)]
        if self.random.random() < 0.5:
            self.b.value("load", array, *at)
        elif array.type.dtype == F64:
            self.b.op("store", self.b.f64(float(self.random.randrange(9))), array, *at)
        else:
            self.b.op("store", self.pick(), array, *at)
        if array.type.dtype == I64 and self.random.random() < 0.5:
            self.scopes[-1].append(self.b.value("load", array, *at))

    def statements(self, depth: int) -> None:
        for _ in range(self.random.randint(1, 4)):
            self.statement(depth)

    def attempt(self, depth: int) -> None:
        """A statement that may fail without ending the program."""
        regions = (Region(), region_with_args([EXC]))
        self.scopes.append([])
        with self.b.into(regions[0]):
            self.statement(depth)
            self.b.op("yield")
        with self.b.into(regions[1]):
            self.b.op("yield")
        self.scopes.pop()
        self.b.op("try", regions=regions)

    def statement(self, depth: int) -> None:
        self.ops += 1
        if depth > 0 and self.ops < 40 and self.random.random() < 0.3:
            self.attempt(depth)
            return
        choice = self.random.random()
        if depth > 0 and self.ops < 40 and choice < 0.35:
            self.for_loop(depth)
        elif depth > 0 and self.ops < 40 and choice < 0.45:
            self.while_loop(depth)
        elif depth > 0 and choice < 0.6:
            self.branch(depth)
        elif choice < 0.75:
            self.integer()
        else:
            self.access()

    def branch(self, depth: int) -> None:
        condition = self.condition()
        regions = (Region(), Region())
        for region in regions:
            self.scopes.append([])
            with self.b.into(region):
                if self.random.random() < 0.7:
                    self.statements(depth - 1)
                self.b.op("yield", self.pick())
            self.scopes.pop()
        self.scopes[-1].append(self.b.value("if", condition, regions=regions))

    def for_loop(self, depth: int) -> None:
        label = self.label
        self.label += 1
        start, stop = self.pick(), self.pick()
        if self.random.random() < 0.7:
            start, stop = self.const(self.random.choice((0, 0, 0, 1, 2))), self.bounded(stop)
        step = self.random.choice((1, 1, 1, 1, 2, 3, -1, -2))
        if step < 0:
            start, stop = stop, start
        body = region_with_args([I64, I64])
        self.scopes.append([*body.args])
        with self.b.into(body):
            if self.random.random() < 0.2:
                self.leave("break", label)
            self.statements(depth - 1)
            self.b.op("continue", self.next(body.args[1]), label=label)
        self.scopes.pop()
        # Long loops would take forever: the bounds are cut to a few turns.
        start, stop = self.cut(start), self.cut(stop)
        by = self.const(step)
        if self.random.random() < 0.15:  # not known before it runs, of either sign, never 0
            by = self.b.value("or", self.pick(), self.const(1))
        made = self.b.value("for", start, stop, by, self.pick(), regions=[body], label=label)
        self.scopes[-1].append(made)

    def bounded(self, stop: Value) -> Value:
        return self.dim() if self.random.random() < 0.6 else stop

    def cut(self, value: Value) -> Value:
        return self.b.value("max", self.b.value("min", value, self.const(6)), self.const(-6))

    def next(self, carried: Value) -> Value:
        if self.random.random() < 0.5:
            return self.b.value("add", carried, self.const(self.random.choice(_INTS)))
        return self.pick()

    def leave(self, kind: str, label: int) -> None:
        regions = (Region(), Region())
        condition = self.condition()
        with self.b.into(regions[0]):
            self.b.op(kind, self.pick(), label=label)
        with self.b.into(regions[1]):
            self.b.op("yield")
        self.b.op("if", condition, regions=regions)

    def while_loop(self, depth: int) -> None:
        """`while k < stop` (or `>`), at most a dozen turns."""
        label = self.label
        self.label += 1
        body = region_with_args([I64, I64])
        k, turns = body.args
        stop = self.dim() if self.random.random() < 0.6 else self.pick()
        down = self.random.random() < 0.3
        self.scopes.append([k])
        with self.b.into(body):
            for test in (
                self.b.value("cmp", turns, self.const(8), pred="lt"),
                self.b.value("cmp", k, stop, pred="gt" if down else "lt"),
            ):
                regions = (Region(), Region())
                with self.b.into(regions[0]):
                    self.b.op("yield")
                with self.b.into(regions[1]):
                    self.b.op("break", k, label=label)
                self.b.op("if", test, regions=regions)
            self.statements(depth - 1)
            step = self.random.choice((1, 1, 2, 3)) * (-1 if down else 1)
            following = self.b.value("add", k, self.const(step)) if self.random.random() < 0.7 else self.pick()
            self.b.op("continue", following, self.b.value("add", turns, self.const(1)), label=label)
        self.scopes.pop()
        made = self.b.op("loop", self.pick(), self.const(0), regions=[body], label=label, result_types=(I64,))
        self.scopes[-1].append(made.result)


def program(seed: int) -> Sample:
    """The program with the number, and arguments for it."""
    maker = _Maker(seed)
    choose = maker.random
    types = [ArrayType(choose.choice((F64, I64)), choose.choice((1, 1, 2)), choose.choice("CA")) for _ in range(3)]
    params = [*(Value(type) for type in types), Value(I64), Value(I64)]
    maker.arrays = params[:3]
    maker.scopes = [params[3:]]
    body = Region()
    with maker.b.into(body):
        maker.scopes[-1] += [maker.dim(), maker.const(0)]
        for _ in range(4):
            maker.attempt(3)
        maker.b.op("return", maker.pick())
    function = Function("main", params, (I64,), body, Scope("affine.py", "main", 1), {"fp": "strict"})
    arrays = [_array(type, choose) for type in types]
    extremes = (2**63 - 1, -(2**63), 2**62, 2**31)
    numbers = [choose.choice(extremes) if choose.random() < 0.1 else choose.randint(-3, 6) for _ in range(2)]
    return Sample(Module({"main": function}, "main"), (*arrays, *numbers))


def _array(type: ArrayType, choose: random.Random) -> np.ndarray:
    shape = [choose.choice((0, 1, 2, 3, 4, 5, 6)) for _ in range(type.ndim)]
    values = np.array([choose.randint(-2, 6) for _ in range(int(np.prod(shape)))]).reshape(shape)
    array = values.astype(np.float64 if type.dtype == F64 else np.int64)
    return array if type.layout == "C" else np.repeat(array, 2, axis=-1)[..., ::2]
