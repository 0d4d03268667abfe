"""CPython 3.11."""

from __future__ import annotations

from .common import COMMON, NOTHING, conditional, on_none, simple
from .opcode import Opcode
from .rules import (
    Branch,
    Flow,
    Rule,
    before_with,
    build_const_key_map,
    call_function_ex,
    chain,
    comparison,
    const,
    format_value,
    keyword_names,
    load_callable,
    load_method,
    make_function,
    name,
    name_above_1_bit,
    none,
    one,
    ops,
    push_value,
    raw,
    slot,
    take,
)

O = Opcode  # noqa: E741


def or_pop(when: bool) -> Rule:
    """Jumps with the value kept if its truth is `when`, pops it otherwise."""
    return Rule(none, chain(ops((O.COPY, 1)), take(1)), Flow.BRANCH, False, Branch(when, passed=((O.POP_TOP, None),)))


TABLE: dict[str, Rule] = COMMON | {
    "PRECALL": NOTHING,
    "KW_NAMES": Rule(const, keyword_names),
    "LOAD_CLOSURE": Rule(slot, one(O.LOAD_CELL)),
    "LOAD_CLASSDEREF": Rule(slot, chain(ops((O.LOAD_LOCALS, None)), one(O.LOAD_FROM_DICT_OR_DEREF))),
    "LOAD_GLOBAL": Rule(name_above_1_bit, load_callable(O.LOAD_GLOBAL, null_first=True)),
    "LOAD_ATTR": Rule(name, one(O.LOAD_ATTR)),
    "LOAD_METHOD": Rule(name, load_method),
    "LOAD_ASSERTION_ERROR": Rule(none, push_value(AssertionError)),
    "BINARY_SUBSCR": simple(O.SUBSCR),
    "UNARY_POSITIVE": Rule(none, ops((O.UNARY, "+"))),
    "COMPARE_OP": Rule(comparison(0), one(O.COMPARE)),
    "BUILD_CONST_KEY_MAP": Rule(raw, build_const_key_map),
    "LIST_TO_TUPLE": simple(O.LIST_TO_TUPLE),
    "FORMAT_VALUE": Rule(raw, format_value),
    "CALL_FUNCTION_EX": Rule(raw, call_function_ex),
    "MAKE_FUNCTION": Rule(raw, make_function),
    "BEFORE_WITH": Rule(none, before_with("__enter__", "__exit__")),
    "BEFORE_ASYNC_WITH": Rule(none, before_with("__aenter__", "__aexit__")),
    "PREP_RERAISE_STAR": Rule(none, ops((O.INTRINSIC, ("PREP_RERAISE_STAR", 2)))),
    "PRINT_EXPR": Rule(none, ops((O.INTRINSIC, ("PRINT", 1)), (O.POP_TOP, None))),
    "IMPORT_STAR": Rule(none, ops((O.INTRINSIC, ("IMPORT_STAR", 1)), (O.POP_TOP, None))),
    "ASYNC_GEN_WRAP": simple(O.ASYNC_GEN_WRAP),
    # On 3.11 the receiver is gone where SEND jumps to.
    "SEND": Rule(
        none,
        chain(ops((O.SEND, None)), take(1)),
        Flow.BRANCH,
        False,
        Branch(True, taken=((O.SWAP, 2), (O.POP_TOP, None))),
    ),
    "JUMP_IF_TRUE_OR_POP": or_pop(True),
    "JUMP_IF_FALSE_OR_POP": or_pop(False),
    "POP_JUMP_FORWARD_IF_TRUE": conditional(True),
    "POP_JUMP_FORWARD_IF_FALSE": conditional(False),
    "POP_JUMP_FORWARD_IF_NONE": on_none(True),
    "POP_JUMP_FORWARD_IF_NOT_NONE": on_none(False),
    "POP_JUMP_BACKWARD_IF_TRUE": conditional(True, backward=True),
    "POP_JUMP_BACKWARD_IF_FALSE": conditional(False, backward=True),
    "POP_JUMP_BACKWARD_IF_NONE": on_none(True, backward=True),
    "POP_JUMP_BACKWARD_IF_NOT_NONE": on_none(False, backward=True),
}
