"""CPython 3.13."""

from __future__ import annotations

from .common import COMMON, CONDITIONS, NOTHING, SLICES, STORE_TWICE, conditional, simple
from .opcode import Opcode
from .rules import (
    Flow,
    Rule,
    before_with,
    build_const_key_map,
    call_function_ex,
    call_kw,
    compare_to_bool,
    comparison,
    const,
    convert_value,
    intrinsic,
    load_callable,
    load_fast_twice,
    load_super_attr,
    make_function,
    name_above_1_bit,
    name_above_2_bits,
    none,
    one,
    ops,
    push_value,
    raw,
    return_const,
    set_function_attribute,
    slot,
    store_load,
    two_slots,
)
from .v312 import INTRINSICS_1, INTRINSICS_2, SINCE_312

O = Opcode  # noqa: E741

# New in 3.13 and the same since.
SINCE_313: dict[str, Rule] = {
    "TO_BOOL": Rule(none, ops((O.UNARY, "bool"))),
    "COMPARE_OP": Rule(comparison(5), compare_to_bool(0x10)),
    "POP_JUMP_IF_TRUE": conditional(True, takes_bool=True),
    "POP_JUMP_IF_FALSE": conditional(False, takes_bool=True),
    "LOAD_FAST": Rule(slot, one(O.LOAD_LOCAL)),
    "LOAD_FAST_LOAD_FAST": Rule(two_slots, load_fast_twice),
    "STORE_FAST_LOAD_FAST": Rule(two_slots, store_load),
    "STORE_FAST_STORE_FAST": Rule(two_slots, STORE_TWICE),
    "LOAD_GLOBAL": Rule(name_above_1_bit, load_callable(O.LOAD_GLOBAL, null_first=False)),
    "LOAD_ATTR": Rule(name_above_1_bit, load_callable(O.LOAD_ATTR, null_first=False)),
    "LOAD_SUPER_ATTR": Rule(name_above_2_bits, load_super_attr(null_first=False)),
    "CALL_KW": Rule(raw, call_kw),
    "CALL_INTRINSIC_2": Rule(raw, intrinsic((*INTRINSICS_2, "SET_TYPEPARAM_DEFAULT"), 2)),
    "MAKE_FUNCTION": Rule(none, make_function),
    "SET_FUNCTION_ATTRIBUTE": Rule(raw, set_function_attribute),
    "CONVERT_VALUE": Rule(raw, convert_value),
    "FORMAT_SIMPLE": Rule(none, ops((O.FORMAT, False))),
    "FORMAT_WITH_SPEC": Rule(none, ops((O.FORMAT, True))),
}

TABLE: dict[str, Rule] = {
    **COMMON,
    **CONDITIONS,
    **SLICES,
    **SINCE_312,
    **SINCE_313,
    "INTERPRETER_EXIT": NOTHING,
    "EXIT_INIT_CHECK": NOTHING,
    "LOAD_ASSERTION_ERROR": Rule(none, push_value(AssertionError)),
    "BINARY_SUBSCR": simple(O.SUBSCR),
    "BUILD_CONST_KEY_MAP": Rule(raw, build_const_key_map),
    "CALL_FUNCTION_EX": Rule(raw, call_function_ex),
    "CALL_INTRINSIC_1": Rule(raw, intrinsic(INTRINSICS_1, 1)),
    "BEFORE_WITH": Rule(none, before_with("__enter__", "__exit__")),
    "BEFORE_ASYNC_WITH": Rule(none, before_with("__aenter__", "__aexit__")),
    "RETURN_CONST": Rule(const, return_const, Flow.RETURN),
    # At the end of the iterator FOR_ITER also removes it and skips END_FOR and POP_TOP.
    "FOR_ITER": Rule(none, COMMON["FOR_ITER"].effect, Flow.FOR, skip=("END_FOR", "POP_TOP")),
    "END_FOR": Rule(none, ops((O.POP_TOP, None))),
}
