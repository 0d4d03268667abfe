"""CPython 3.14."""

from __future__ import annotations

from .common import COMMON, CONDITIONS, NOTHING, SLICES
from .opcode import Opcode
from .rules import (
    Flow,
    Rule,
    binary_op_or_subscript,
    build_interpolation,
    call_function_ex_or_null,
    common_constant,
    intrinsic,
    load_fast_twice,
    load_special,
    none,
    one,
    ops,
    pop_top,
    raw,
    slot,
    two_slots,
)
from .v312 import INTRINSICS_1, SINCE_312
from .v313 import SINCE_313

O = Opcode  # noqa: E741

COMMON_CONSTANTS = (AssertionError, NotImplementedError, tuple, all, any)
SPECIAL_METHODS = ("__enter__", "__exit__", "__aenter__", "__aexit__")

TABLE: dict[str, Rule] = {
    **COMMON,
    **CONDITIONS,
    **SLICES,
    **SINCE_312,
    **SINCE_313,
    "INTERPRETER_EXIT": NOTHING,
    "EXIT_INIT_CHECK": NOTHING,
    "NOT_TAKEN": NOTHING,
    "LOAD_SMALL_INT": Rule(raw, one(O.PUSH)),
    "LOAD_COMMON_CONSTANT": Rule(raw, common_constant(COMMON_CONSTANTS)),
    "LOAD_FAST_BORROW": Rule(slot, one(O.LOAD_LOCAL)),
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW": Rule(two_slots, load_fast_twice),
    "LOAD_SPECIAL": Rule(raw, load_special(SPECIAL_METHODS)),
    "BINARY_OP": Rule(raw, binary_op_or_subscript),
    "CALL_FUNCTION_EX": Rule(none, call_function_ex_or_null),
    "CALL_INTRINSIC_1": Rule(raw, intrinsic(INTRINSICS_1, 1)),
    "BUILD_TEMPLATE": Rule(none, one(O.BUILD_TEMPLATE)),
    "BUILD_INTERPOLATION": Rule(raw, build_interpolation),
    # At the end of the iterator FOR_ITER skips END_FOR, and POP_ITER removes the iterator.
    "FOR_ITER": Rule(none, COMMON["FOR_ITER"].effect, Flow.FOR, skip=("END_FOR", "POP_ITER")),
    "END_FOR": Rule(none, ops((O.POP_TOP, None))),
    "POP_ITER": Rule(none, pop_top),
}
