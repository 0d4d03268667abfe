"""The rules that hold on every supported version; each version's table starts from these."""

from __future__ import annotations

from .opcode import Opcode
from .rules import (
    Branch,
    Flow,
    Rule,
    binary_op,
    call,
    chain,
    const,
    copy,
    flag,
    into,
    name,
    none,
    nothing,
    one,
    ops,
    pair,
    pop_except,
    pop_top,
    push_exc_info,
    push_null,
    raw,
    slot,
    swap,
    take,
    take_arg,
    unary_not,
    unpack_ex,
    with_except_start,
)

O = Opcode  # noqa: E741

IS_NONE = ops((O.PUSH, None), (O.IS_OP, False))
NOTHING = Rule(none, nothing)


def simple(op: Opcode) -> Rule:
    return Rule(none, one(op))


def conditional(when: bool, backward: bool = False, takes_bool: bool = False) -> Rule:
    """Pops a value and jumps if its truth is `when`."""
    return Rule(none, take(1), Flow.BRANCH, backward, Branch(when, takes_bool=takes_bool))


def on_none(when: bool, backward: bool = False) -> Rule:
    """Pops a value and jumps if `value is None` is `when`."""
    return Rule(none, chain(IS_NONE, take(1)), Flow.BRANCH, backward, Branch(when))


COMMON: dict[str, Rule] = {
    # Nothing to do
    "NOP": NOTHING,
    "RESUME": NOTHING,
    "COPY_FREE_VARS": NOTHING,
    # Constants, variables
    "LOAD_CONST": Rule(const, one(O.PUSH)),
    "LOAD_FAST": Rule(slot, one(O.LOAD_LOCAL)),
    "STORE_FAST": Rule(slot, one(O.STORE_LOCAL)),
    "DELETE_FAST": Rule(slot, one(O.DELETE_LOCAL)),
    "MAKE_CELL": Rule(slot, one(O.MAKE_CELL)),
    "LOAD_DEREF": Rule(slot, one(O.LOAD_DEREF)),
    "STORE_DEREF": Rule(slot, one(O.STORE_DEREF)),
    "DELETE_DEREF": Rule(slot, one(O.DELETE_DEREF)),
    "STORE_GLOBAL": Rule(name, one(O.STORE_GLOBAL)),
    "DELETE_GLOBAL": Rule(name, one(O.DELETE_GLOBAL)),
    "LOAD_NAME": Rule(name, one(O.LOAD_NAME)),
    "STORE_NAME": Rule(name, one(O.STORE_NAME)),
    "DELETE_NAME": Rule(name, one(O.DELETE_NAME)),
    "LOAD_BUILD_CLASS": simple(O.LOAD_BUILD_CLASS),
    "SETUP_ANNOTATIONS": simple(O.SETUP_ANNOTATIONS),
    # Attributes, items, operators
    "STORE_ATTR": Rule(name, one(O.STORE_ATTR)),
    "DELETE_ATTR": Rule(name, one(O.DELETE_ATTR)),
    "STORE_SUBSCR": simple(O.STORE_SUBSCR),
    "DELETE_SUBSCR": simple(O.DELETE_SUBSCR),
    "BINARY_OP": Rule(raw, binary_op),
    "UNARY_NEGATIVE": Rule(none, ops((O.UNARY, "-"))),
    "UNARY_NOT": Rule(none, unary_not),
    "UNARY_INVERT": Rule(none, ops((O.UNARY, "~"))),
    "IS_OP": Rule(flag, one(O.IS_OP)),
    "CONTAINS_OP": Rule(flag, one(O.CONTAINS_OP)),
    # Building
    "BUILD_SLICE": Rule(raw, one(O.BUILD_SLICE)),
    "BUILD_TUPLE": Rule(raw, one(O.BUILD_TUPLE)),
    "BUILD_LIST": Rule(raw, one(O.BUILD_LIST)),
    "BUILD_SET": Rule(raw, one(O.BUILD_SET)),
    "BUILD_MAP": Rule(raw, one(O.BUILD_MAP)),
    "BUILD_STRING": Rule(raw, one(O.BUILD_STRING)),
    "LIST_EXTEND": Rule(raw, into(O.LIST_EXTEND)),
    "LIST_APPEND": Rule(raw, into(O.LIST_APPEND)),
    "SET_ADD": Rule(raw, into(O.SET_ADD)),
    "SET_UPDATE": Rule(raw, into(O.SET_UPDATE)),
    "MAP_ADD": Rule(raw, into(O.MAP_ADD)),
    "DICT_UPDATE": Rule(raw, into(O.DICT_UPDATE)),
    "DICT_MERGE": Rule(raw, into(O.DICT_MERGE)),
    "UNPACK_SEQUENCE": Rule(raw, one(O.UNPACK)),
    "UNPACK_EX": Rule(raw, unpack_ex),
    "GET_LEN": simple(O.GET_LEN),
    # Calls, imports
    "PUSH_NULL": Rule(none, push_null),
    "CALL": Rule(raw, call),
    "IMPORT_NAME": Rule(name, one(O.IMPORT_NAME)),
    "IMPORT_FROM": Rule(name, one(O.IMPORT_FROM)),
    # Stack, iteration
    "POP_TOP": Rule(none, pop_top),
    "COPY": Rule(raw, copy),
    "SWAP": Rule(raw, swap),
    "GET_ITER": simple(O.GET_ITER),
    # Exceptions
    "PUSH_EXC_INFO": Rule(none, push_exc_info, ends_block=True),
    "POP_EXCEPT": Rule(none, pop_except),
    "CHECK_EXC_MATCH": simple(O.CHECK_EXC_MATCH),
    "CHECK_EG_MATCH": simple(O.CHECK_EG_MATCH),
    "WITH_EXCEPT_START": Rule(none, with_except_start),
    # Matching
    "MATCH_CLASS": Rule(raw, one(O.MATCH_CLASS)),
    "MATCH_MAPPING": simple(O.MATCH_MAPPING),
    "MATCH_SEQUENCE": simple(O.MATCH_SEQUENCE),
    "MATCH_KEYS": simple(O.MATCH_KEYS),
    # Generators. RETURN_GENERATOR is followed by the POP_TOP of what starts the generator.
    "RETURN_GENERATOR": Rule(none, push_null),
    "YIELD_VALUE": simple(O.YIELD),
    "GET_YIELD_FROM_ITER": simple(O.GET_YIELD_FROM_ITER),
    "GET_AWAITABLE": simple(O.GET_AWAITABLE),
    "GET_AITER": simple(O.GET_AITER),
    "GET_ANEXT": simple(O.GET_ANEXT),
    "END_ASYNC_FOR": simple(O.END_ASYNC_FOR),
    # Control
    "JUMP_FORWARD": Rule(none, nothing, Flow.JUMP),
    "JUMP_BACKWARD": Rule(none, nothing, Flow.JUMP, backward=True),
    "JUMP_BACKWARD_NO_INTERRUPT": Rule(none, nothing, Flow.JUMP, backward=True),
    "FOR_ITER": Rule(none, nothing, Flow.FOR),
    "RETURN_VALUE": Rule(none, take(1), Flow.RETURN),
    "RAISE_VARARGS": Rule(raw, take_arg, Flow.RAISE),
    "RERAISE": Rule(none, take(1), Flow.RERAISE),
}

# 3.12 and later jump on conditions forwards only.
CONDITIONS: dict[str, Rule] = {
    "POP_JUMP_IF_TRUE": conditional(True),
    "POP_JUMP_IF_FALSE": conditional(False),
    "POP_JUMP_IF_NONE": on_none(True),
    "POP_JUMP_IF_NOT_NONE": on_none(False),
}

# Two operands in one instruction, 3.13 and later.
SLICES: dict[str, Rule] = {
    "BINARY_SLICE": Rule(none, ops((O.BUILD_SLICE, 2), (O.SUBSCR, None))),
    "STORE_SLICE": Rule(none, ops((O.BUILD_SLICE, 2), (O.STORE_SUBSCR, None))),
}

STORE_TWICE = pair(O.STORE_LOCAL, O.STORE_LOCAL)
