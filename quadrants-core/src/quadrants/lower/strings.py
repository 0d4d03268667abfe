"""Strings that are objects of the interpreter."""

from __future__ import annotations

from quadrants.ir.core import Op
from quadrants.lower.emit import Emitter, FunctionEmitter

_COMPARE = "PyUnicode_CompareWithASCIIString"

#: Compares with a constant. A string never changes and outlives the call, so that the comparison may leave loops; what is no
#: string (an absent optional one) is compared too then.
_EQUALS = "qd.str_eq"
_EQUALS_TEXT = f"""\
define internal i1 @{_EQUALS}(ptr %string, ptr %text) nounwind willreturn speculatable memory(none) noinline {{
  %absent = icmp eq ptr %string, null
  br i1 %absent, label %no, label %compare
compare:
  %order = call i32 @{_COMPARE}(ptr %string, ptr %text)
  %equal = icmp eq i32 %order, 0
  ret i1 %equal
no:
  ret i1 false
}}
"""


def _equals(e: FunctionEmitter, op: Op) -> None:
    text = str(op.attrs["text"])
    data = "".join(c if c.isalnum() else f"\\{ord(c):02X}" for c in text)
    helpers = e.module.helpers
    helpers.setdefault(_EQUALS, _EQUALS_TEXT)
    e.module.external(_COMPARE, f"declare i32 @{_COMPARE}(ptr, ptr) nounwind willreturn memory(none)")
    name = f'@"qd.text.{data}"'
    helpers.setdefault(name, f'{name} = private unnamed_addr constant [{len(text) + 1} x i8] c"{data}\\00"\n')
    e.set(op, e.let(f"call i1 @{_EQUALS}(ptr {e.one(op.operands[0])}, ptr {name})"))


EMITTERS: dict[str, Emitter] = {"str.eq": _equals}
