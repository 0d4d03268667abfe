"""The vocabulary of the version tables: operand readers, stack effects, control flow, and `Emitter`.

A version table maps an instruction's name to a `Rule`: how to read its operand, which canonical operations it stands
for, and how control leaves it. `Emitter` appends canonical operations while it follows the *layout* of CPython's stack,
one letter a slot: `v` a value, `n` a NULL (or the `self` of a method call), `l` a saved instruction index, `p` a saved
exception. Only `v` slots exist in the canonical stack, so depths are counted in them.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from typing import NoReturn

from quadrants._frozen import frozen

from .error import BytecodeError
from .opcode import FIXED, VARIABLE, Inst, Loc, Opcode
from .raw import RawCode

O = Opcode  # noqa: E741 - the tables are unreadable otherwise
Operand = Callable[[RawCode, int], object]
Ops = tuple[tuple[Opcode, object], ...]

COMPARISONS = ("<", "<=", "==", "!=", ">", ">=")
BINARY = ("+", "&", "//", "<<", "@", "*", "%", "|", "**", ">>", "-", "/", "^")
FUNCTION_FLAGS = ((1, "defaults"), (2, "kwdefaults"), (4, "annotations"), (8, "closure"), (16, "annotate"))


class Emitter:
    """Appends canonical operations for one block and follows the layout of the stack."""

    __slots__ = ("insts", "layout", "loc", "kwnames")

    def __init__(self, layout: str) -> None:
        self.insts: list[Inst] = []
        self.layout = layout
        self.loc = Loc(None, None, None, None, 0)
        self.kwnames: tuple[str, ...] = ()

    def fail(self, message: str) -> NoReturn:
        raise BytecodeError(message, self.loc.offset, self.loc.line)

    def emit(self, op: Opcode, arg: object = None) -> None:
        """Appends an operation; its operands must be plain values."""
        fixed = FIXED.get(op)
        pops, pushes = fixed if fixed is not None else VARIABLE[op](arg)
        layout = self.layout
        if pops:
            if not layout.endswith("v" * pops):
                self.fail(f"{op.name} takes {pops} values from the stack, which holds {layout.count('v')}")
            layout = layout[:-pops]
        self.layout = layout + "v" * pushes
        self.insts.append(Inst(op, arg, self.loc))

    def push(self, kinds: str) -> None:
        """Slots that exist in CPython's stack only."""
        self.layout += kinds

    def drop(self, kind: str) -> None:
        """Removes the top slot, which must be of this kind."""
        if not self.layout.endswith(kind):
            self.fail("the stack does not hold what the instruction takes")
        self.layout = self.layout[:-1]

    def depth(self, n: int) -> int:
        """The canonical depth of the nth slot from the top (1 = top), which must be a value."""
        top = self.top(n)
        if top[0] != "v":
            self.fail("the instruction refers to a slot that holds no value")
        return top.count("v")

    def top(self, n: int) -> str:
        """The top n slots."""
        if not 1 <= n <= len(self.layout):
            self.fail(f"the instruction refers to stack slot {n} of {len(self.layout)}")
        return self.layout[-n:]

    def take_constant(self) -> object:
        """Removes the constant that was just pushed and gives it."""
        if not self.insts or self.insts[-1].op is not O.PUSH:
            self.fail("the instruction takes a constant from the stack, and there is none")
        self.layout = self.layout[:-1]
        return self.insts.pop().arg


Effect = Callable[[Emitter, object, int], None]


class Flow(enum.Enum):
    """How control leaves an instruction."""

    NEXT = "next"
    JUMP = "jump"
    BRANCH = "branch"
    FOR = "for"
    RETURN = "return"
    RAISE = "raise"
    RERAISE = "reraise"


@frozen
class Branch:
    """A conditional jump on the popped value: taken if its truth is `when`. `taken` and `passed` run on the two ways.
    `takes_bool`: the instruction takes a bool only, so it cannot raise."""

    when: bool
    taken: Ops = ()
    passed: Ops = ()
    takes_bool: bool = False


@frozen
class Rule:
    """What an instruction means. `backward`: its jump goes back. `skip`: names skipped at the jump's target.
    `ends_block`: the next instruction starts a block, because handlers see another stack from there on."""

    operand: Operand
    effect: Effect
    flow: Flow = Flow.NEXT
    backward: bool = False
    branch: Branch | None = None
    skip: tuple[str, ...] = ()
    ends_block: bool = False


Table = Mapping[str, Rule]


# Operands


def none(code: RawCode, arg: int) -> object:
    return None


def raw(code: RawCode, arg: int) -> object:
    return arg


def flag(code: RawCode, arg: int) -> object:
    return bool(arg & 1)


def const(code: RawCode, arg: int) -> object:
    return code.consts[arg]


def name(code: RawCode, arg: int) -> object:
    return code.names[arg]


def name_above_1_bit(code: RawCode, arg: int) -> object:
    return code.names[arg >> 1]


def name_above_2_bits(code: RawCode, arg: int) -> object:
    return code.names[arg >> 2]


def slot(code: RawCode, arg: int) -> object:
    return code.slots[arg]


def two_slots(code: RawCode, arg: int) -> object:
    return code.slots[arg >> 4], code.slots[arg & 15]


def comparison(shift: int) -> Operand:
    """The symbol of a comparison, above `shift` flag bits."""
    return lambda code, arg: COMPARISONS[arg >> shift]


# Effects


def nothing(e: Emitter, value: object, arg: int) -> None:
    return None


def one(op: Opcode) -> Effect:
    """The operation, with the operand as its argument."""
    return lambda e, value, arg: e.emit(op, value)


def ops(*items: tuple[Opcode, object]) -> Effect:
    """A fixed sequence of operations."""

    def effect(e: Emitter, value: object, arg: int) -> None:
        for op, item in items:
            e.emit(op, item)

    return effect


def chain(*effects: Effect) -> Effect:
    """Effects one after another, all with the same operand."""

    def effect(e: Emitter, value: object, arg: int) -> None:
        for item in effects:
            item(e, value, arg)

    return effect


def pair(first: Opcode, second: Opcode) -> Effect:
    """Two operations, each with one of the two operands."""

    def effect(e: Emitter, value: object, arg: int) -> None:
        assert isinstance(value, tuple)
        e.emit(first, value[0])
        e.emit(second, value[1])

    return effect


def into(op: Opcode) -> Effect:
    """Adds the popped values to a container that lies `arg` slots deep."""

    def effect(e: Emitter, value: object, arg: int) -> None:
        before = e.layout
        e.emit(op, arg)
        depth = e.depth(arg)
        if len(before) - len(e.layout) < 1:
            e.fail("the stack is empty")
        e.insts[-1] = Inst(op, depth, e.loc)

    return effect


def load_fast_twice(e: Emitter, value: object, arg: int) -> None:
    assert isinstance(value, tuple)
    e.emit(O.LOAD_LOCAL, value[0])
    e.emit(O.LOAD_LOCAL, value[1])


def store_load(e: Emitter, value: object, arg: int) -> None:
    assert isinstance(value, tuple)
    e.emit(O.STORE_LOCAL, value[0])
    e.emit(O.LOAD_LOCAL, value[1])


def push_null(e: Emitter, value: object, arg: int) -> None:
    e.push("n")


def push_value(value: object) -> Effect:
    return lambda e, operand, arg: e.emit(O.PUSH, value)


def common_constant(values: tuple[object, ...]) -> Effect:
    """A constant that the interpreter knows by number."""

    def effect(e: Emitter, value: object, arg: int) -> None:
        if arg >= len(values):
            e.fail(f"unknown common constant {arg}")
        e.emit(O.PUSH, values[arg])

    return effect


def load_callable(op: Opcode, null_first: bool) -> Effect:
    """A load whose lowest argument bit says that a call follows, with a NULL (or self) slot below or above."""

    def effect(e: Emitter, value: object, arg: int) -> None:
        e.emit(op, value)
        if arg & 1 and null_first:
            e.layout = e.layout[:-1] + "nv"
        elif arg & 1:
            e.push("n")

    return effect


def load_method(e: Emitter, value: object, arg: int) -> None:
    e.emit(O.LOAD_ATTR, value)
    e.layout = e.layout[:-1] + "nv"


def load_super_attr(null_first: bool) -> Effect:
    """`super().name` in one instruction: the class `super`, the class, the object. Bit 1: both arguments are used."""
    attribute = load_callable(O.LOAD_ATTR, null_first)

    def effect(e: Emitter, value: object, arg: int) -> None:
        e.emit(O.CALL, (2, ()))
        attribute(e, value, arg)

    return effect


def load_special(names: tuple[str, ...]) -> Effect:
    def effect(e: Emitter, value: object, arg: int) -> None:
        if arg >= len(names):
            e.fail(f"unknown special method {arg}")
        e.emit(O.LOAD_SPECIAL, names[arg])
        e.push("n")

    return effect


def before_with(enter: str, leave: str) -> Effect:
    return ops(
        (O.COPY, 1),
        (O.LOAD_SPECIAL, leave),
        (O.SWAP, 2),
        (O.LOAD_SPECIAL, enter),
        (O.CALL, (0, ())),
    )


def keyword_names(e: Emitter, value: object, arg: int) -> None:
    e.kwnames = _names(e, value)


def _names(e: Emitter, value: object) -> tuple[str, ...]:
    if not isinstance(value, tuple) or not all(isinstance(item, str) for item in value):
        e.fail("keyword names must be a tuple of strings")
    return value


def call(e: Emitter, value: object, arg: int) -> None:
    """Of the two slots below the arguments one may be a NULL; if none is, the upper one is the first argument."""
    kwnames, e.kwnames = e.kwnames, ()
    below = e.top(arg + 2)[:2]
    reals = below.count("v")
    if not reals or not e.layout.endswith("v" * arg) or len(kwnames) > arg:
        e.fail("the stack does not hold a callable and its arguments")
    e.layout = e.layout[: -(arg + 2)] + "v"
    e.insts.append(Inst(O.CALL, (arg - len(kwnames) + reals - 1, kwnames), e.loc))


def call_kw(e: Emitter, value: object, arg: int) -> None:
    e.kwnames = _names(e, e.take_constant())
    call(e, value, arg)


def _call_ex(e: Emitter, has_kwargs: bool) -> None:
    count = 1 + has_kwargs
    below = e.top(count + 2)[:2]
    if below.count("v") != 1 or not e.layout.endswith("v" * count):
        e.fail("the stack does not hold a callable, its arguments tuple and mapping")
    e.layout = e.layout[: -(count + 2)] + "v"
    e.insts.append(Inst(O.CALL_EX, has_kwargs, e.loc))


def call_function_ex(e: Emitter, value: object, arg: int) -> None:
    _call_ex(e, bool(arg & 1))


def call_function_ex_or_null(e: Emitter, value: object, arg: int) -> None:
    """3.14 always has a slot for the mapping, NULL if there is none."""
    has_kwargs = e.top(1) == "v"
    if not has_kwargs:
        e.drop("n")
    _call_ex(e, has_kwargs)


def make_function(e: Emitter, value: object, arg: int) -> None:
    e.emit(O.MAKE_FUNCTION, frozenset(title for bit, title in FUNCTION_FLAGS if arg & bit))


def set_function_attribute(e: Emitter, value: object, arg: int) -> None:
    """3.13 and later attach one attribute after another, the top of the stack first."""
    title = dict(FUNCTION_FLAGS).get(arg)
    last = e.insts[-1] if e.insts else None
    if title is None or last is None or last.op is not O.MAKE_FUNCTION or not isinstance(last.arg, frozenset):
        e.fail("a function attribute is set on something that was not just made")
    if not e.layout.endswith("vv"):
        e.fail("the attribute of a function is missing")
    e.layout = e.layout[:-2] + "v"
    e.insts[-1] = Inst(O.MAKE_FUNCTION, last.arg | {title}, last.loc)
    if title == "closure":
        _take_cells(e)


def _take_cells(e: Emitter) -> None:
    """Says of the loads for a closure's tuple, which 3.13 and later write as loads of locals, that they load cells.

    The names alone do not tell: a comprehension may have as a plain local what is a cell to the rest of the function.
    """
    built = e.insts[-3] if len(e.insts) > 2 else None
    if built is None or built.op is not O.BUILD_TUPLE or not isinstance(built.arg, int):
        e.fail("the cells of a closure are missing")
    end = len(e.insts) - 3
    for k in range(end - built.arg, end):
        load = e.insts[k] if k >= 0 else None
        if load is None or load.op is not O.LOAD_LOCAL:
            e.fail("the cells of a closure are missing")
        e.insts[k] = Inst(O.LOAD_CELL, load.arg, load.loc)


def build_const_key_map(e: Emitter, value: object, arg: int) -> None:
    keys = e.take_constant()
    if not isinstance(keys, tuple) or len(keys) != arg:
        e.fail("the keys of a dict display must be a tuple of constants")
    e.emit(O.BUILD_CONST_MAP, keys)


def format_value(e: Emitter, value: object, arg: int) -> None:
    """3.11, 3.12: conversion in the two low bits, bit 2 = a format spec lies on top."""
    spec = bool(arg & 4)
    if arg & 3:
        if spec:
            e.emit(O.SWAP, 2)
        e.emit(O.CONVERT, CONVERSIONS[arg & 3])
        if spec:
            e.emit(O.SWAP, 2)
    e.emit(O.FORMAT, spec)


CONVERSIONS = ("", "str", "repr", "ascii")


def convert_value(e: Emitter, value: object, arg: int) -> None:
    if not 1 <= arg <= 3:
        e.fail(f"unknown conversion {arg}")
    e.emit(O.CONVERT, CONVERSIONS[arg])


def build_interpolation(e: Emitter, value: object, arg: int) -> None:
    """3.14: conversion above two bits, lowest bit = a format spec lies on top."""
    e.emit(O.BUILD_INTERPOLATION, (CONVERSIONS[(arg >> 2) & 3], bool(arg & 1)))


def unpack_ex(e: Emitter, value: object, arg: int) -> None:
    e.emit(O.UNPACK_EX, (arg & 0xFF, arg >> 8))


def binary_op(e: Emitter, value: object, arg: int) -> None:
    if arg < len(BINARY):
        e.emit(O.BINARY, BINARY[arg])
    elif arg < 2 * len(BINARY):
        e.emit(O.INPLACE, BINARY[arg - len(BINARY)])
    else:
        e.fail(f"unknown binary operator {arg}")


def binary_op_or_subscript(e: Emitter, value: object, arg: int) -> None:
    """3.14: the operator after the in-place ones is `container[key]`."""
    if arg == 2 * len(BINARY):
        e.emit(O.SUBSCR)
    else:
        binary_op(e, value, arg)


def intrinsic(names: tuple[str, ...], n: int) -> Effect:
    """Helpers numbered from 1; some are operations of their own."""

    def effect(e: Emitter, value: object, arg: int) -> None:
        if not 1 <= arg <= len(names):
            e.fail(f"unknown intrinsic {arg}")
        title = names[arg - 1]
        special = INTRINSIC_OPS.get(title)
        if special is not None:
            e.emit(*special)
        else:
            e.emit(O.INTRINSIC, (title, n))

    return effect


INTRINSIC_OPS: dict[str, tuple[Opcode, object]] = {
    "UNARY_POSITIVE": (O.UNARY, "+"),
    "LIST_TO_TUPLE": (O.LIST_TO_TUPLE, None),
    "ASYNC_GEN_WRAP": (O.ASYNC_GEN_WRAP, None),
}


def copy(e: Emitter, value: object, arg: int) -> None:
    kind = e.top(arg)[0]
    if kind == "v":
        e.insts.append(Inst(O.COPY, e.depth(arg), e.loc))
    e.push(kind)


def swap(e: Emitter, value: object, arg: int) -> None:
    """Swapping a value with a slot that has no canonical counterpart moves the value past those between."""
    top = e.top(arg)
    if arg < 2:
        e.fail("SWAP needs at least two slots")
    low, high = top[0], top[-1]
    between = top.count("v")
    if low == high == "v":
        moves: tuple[int, ...] = (between,)
    elif low == "v":
        moves = tuple(range(2, between + 1))
    elif high == "v":
        moves = tuple(range(between, 1, -1))
    else:
        moves = ()
    e.insts.extend(Inst(O.SWAP, n, e.loc) for n in moves)
    e.layout = e.layout[:-arg] + high + top[1:-1] + low


def pop_top(e: Emitter, value: object, arg: int) -> None:
    if e.top(1) == "v":
        e.emit(O.POP_TOP)
    else:
        e.layout = e.layout[:-1]


def unary_not(e: Emitter, value: object, arg: int) -> None:
    """Tests the truth itself, so a conversion to bool in front of it goes."""
    drop_bool(e)
    e.emit(O.UNARY, "not")


def drop_bool(e: Emitter) -> bool:
    """Removes a conversion to bool whose result is only tested; whether there was one."""
    if e.insts and e.insts[-1].op is O.UNARY and e.insts[-1].arg == "bool":
        e.insts.pop()
        return True
    return False


def compare_to_bool(convert: int) -> Effect:
    """A comparison whose argument says, by one bit, that its result is made a bool."""

    def effect(e: Emitter, value: object, arg: int) -> None:
        e.emit(O.COMPARE, value)
        if arg & convert:
            e.emit(O.UNARY, "bool")

    return effect


def push_exc_info(e: Emitter, value: object, arg: int) -> None:
    e.emit(O.PUSH_EXC)
    e.layout = e.layout[:-1] + "pv"


def pop_except(e: Emitter, value: object, arg: int) -> None:
    e.drop("p")
    e.insts.append(Inst(O.POP_EXCEPT, None, e.loc))


def with_except_start(e: Emitter, value: object, arg: int) -> None:
    """The exit function lies below the saved slots of the handler."""
    if e.top(1) != "v" or not e.layout[:-1].rstrip("lpn").endswith("v"):
        e.fail("the stack does not hold an exit function and an exception")
    e.push("v")
    e.insts.append(Inst(O.WITH_EXCEPT_START, None, e.loc))


def take(n: int) -> Effect:
    """Control instructions: their operands leave the stack with them."""

    def effect(e: Emitter, value: object, arg: int) -> None:
        if not e.layout.endswith("v" * n):
            e.fail("the stack does not hold the operand of the instruction")
        e.layout = e.layout[: len(e.layout) - n]

    return effect


def take_arg(e: Emitter, value: object, arg: int) -> None:
    if arg > 2:
        e.fail("raise takes at most two values")
    take(arg)(e, value, arg)


def return_const(e: Emitter, value: object, arg: int) -> None:
    e.emit(O.PUSH, value)
    take(1)(e, value, arg)
