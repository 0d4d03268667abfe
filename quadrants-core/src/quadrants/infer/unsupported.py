"""Operations of Python's bytecode that cannot be compiled, and what errors say of them."""

from __future__ import annotations

from typing import NoReturn

from quadrants.bytecode.opcode import Inst, Opcode
from quadrants.diagnostics import Code
from quadrants.infer.emitter import fail

_UNSUPPORTED: dict[Opcode, tuple[Code, str]] = {
    Opcode.BUILD_SET: (Code.UNSUPPORTED_SET, "sets cannot be used in compiled code"),
    Opcode.STORE_GLOBAL: (Code.UNSUPPORTED_GLOBAL_STORE, "a global cannot be assigned in compiled code"),
    Opcode.LOAD_BUILD_CLASS: (Code.UNSUPPORTED_CLASS, "a class cannot be defined in compiled code"),
    Opcode.MATCH_CLASS: (Code.UNSUPPORTED_MATCH, "a match statement with class patterns cannot be compiled"),
    Opcode.MATCH_MAPPING: (Code.UNSUPPORTED_MATCH, "a match statement with mapping patterns cannot be compiled"),
    Opcode.GET_YIELD_FROM_ITER: (Code.UNSUPPORTED_YIELD, "a generator cannot be compiled"),
    Opcode.SET_ADD: (Code.UNSUPPORTED_SET, "sets cannot be used in compiled code"),
    Opcode.SET_UPDATE: (Code.UNSUPPORTED_SET, "sets cannot be used in compiled code"),
    Opcode.MAP_ADD: (Code.UNSUPPORTED_DICT, "dicts whose keys are not known cannot be used in compiled code"),
    Opcode.DELETE_ATTR: (Code.UNSUPPORTED_DELETE, "attributes cannot be deleted in compiled code"),
    Opcode.DELETE_GLOBAL: (Code.UNSUPPORTED_DELETE, "a global cannot be deleted in compiled code"),
    Opcode.CHECK_EG_MATCH: (Code.UNSUPPORTED_EXCEPT, "except* cannot be compiled"),
    Opcode.GET_AWAITABLE: (Code.UNSUPPORTED_ASYNC, "await cannot be compiled"),
}


def refuse(inst: Inst) -> NoReturn:
    """The error for an operation that no handler takes."""
    code, text = _UNSUPPORTED.get(
        inst.op, (Code.UNSUPPORTED_SYNTAX, f"the operation {inst.op.value} cannot be compiled")
    )
    fail(code, text)
