"""CPython 3.12."""

from __future__ import annotations

from .common import COMMON, CONDITIONS, NOTHING, SLICES, simple
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
    intrinsic,
    keyword_names,
    load_callable,
    load_super_attr,
    make_function,
    name,
    name_above_1_bit,
    name_above_2_bits,
    none,
    one,
    ops,
    push_value,
    raw,
    return_const,
    slot,
    take,
)

O = Opcode  # noqa: E741

INTRINSICS_1 = (
    "PRINT",
    "IMPORT_STAR",
    "STOPITERATION_ERROR",
    "ASYNC_GEN_WRAP",
    "UNARY_POSITIVE",
    "LIST_TO_TUPLE",
    "TYPEVAR",
    "PARAMSPEC",
    "TYPEVARTUPLE",
    "SUBSCRIPT_GENERIC",
    "TYPEALIAS",
)
INTRINSICS_2 = (
    "PREP_RERAISE_STAR",
    "TYPEVAR_WITH_BOUND",
    "TYPEVAR_WITH_CONSTRAINTS",
    "SET_FUNCTION_TYPE_PARAMS",
)

# New in 3.12 and the same since.
SINCE_312: dict[str, Rule] = {
    "LOAD_FAST_CHECK": Rule(slot, one(O.LOAD_LOCAL)),
    "LOAD_FAST_AND_CLEAR": Rule(slot, one(O.LOAD_LOCAL_OR_UNDEF)),
    "LOAD_LOCALS": simple(O.LOAD_LOCALS),
    "LOAD_FROM_DICT_OR_DEREF": Rule(slot, one(O.LOAD_FROM_DICT_OR_DEREF)),
    "LOAD_FROM_DICT_OR_GLOBALS": Rule(name, one(O.LOAD_FROM_DICT_OR_GLOBALS)),
    "CALL_INTRINSIC_2": Rule(raw, intrinsic(INTRINSICS_2, 2)),
    "CLEANUP_THROW": simple(O.CLEANUP_THROW),
    "END_SEND": Rule(none, ops((O.SWAP, 2), (O.POP_TOP, None))),
    "SEND": Rule(none, chain(ops((O.SEND, None)), take(1)), Flow.BRANCH, False, Branch(True)),
}

TABLE: dict[str, Rule] = {
    **COMMON,
    **CONDITIONS,
    **SLICES,
    **SINCE_312,
    "INTERPRETER_EXIT": NOTHING,
    "KW_NAMES": Rule(const, keyword_names),
    "LOAD_CLOSURE": Rule(slot, one(O.LOAD_CELL)),
    "LOAD_GLOBAL": Rule(name_above_1_bit, load_callable(O.LOAD_GLOBAL, null_first=True)),
    "LOAD_ATTR": Rule(name_above_1_bit, load_callable(O.LOAD_ATTR, null_first=True)),
    "LOAD_SUPER_ATTR": Rule(name_above_2_bits, load_super_attr(null_first=True)),
    "LOAD_ASSERTION_ERROR": Rule(none, push_value(AssertionError)),
    "BINARY_SUBSCR": simple(O.SUBSCR),
    "COMPARE_OP": Rule(comparison(4), one(O.COMPARE)),
    "BUILD_CONST_KEY_MAP": Rule(raw, build_const_key_map),
    "FORMAT_VALUE": Rule(raw, format_value),
    "CALL_FUNCTION_EX": Rule(raw, call_function_ex),
    "CALL_INTRINSIC_1": Rule(raw, intrinsic(INTRINSICS_1, 1)),
    "MAKE_FUNCTION": Rule(raw, make_function),
    "BEFORE_WITH": Rule(none, before_with("__enter__", "__exit__")),
    "BEFORE_ASYNC_WITH": Rule(none, before_with("__aenter__", "__aexit__")),
    "RETURN_CONST": Rule(const, return_const, Flow.RETURN),
    # At the end of the iterator FOR_ITER also removes it and skips END_FOR.
    "FOR_ITER": Rule(none, COMMON["FOR_ITER"].effect, Flow.FOR, skip=("END_FOR",)),
    "END_FOR": Rule(none, ops((O.POP_TOP, None), (O.POP_TOP, None))),
}
