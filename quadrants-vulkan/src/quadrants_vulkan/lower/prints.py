"""`print` on a device: a thread that prints takes the next record behind the report of errors, if there is one left.

The records begin with a word that counts them; each has the number of its site and the leaves of its arguments, laid
out as a report. The host prints them when it waits, in the order in which they were taken.
"""

from __future__ import annotations

from quadrants.host.reports import MOST_LEAVES, RECORDS, REPORT_BYTES, SITE
from quadrants.ir.core import Op
from quadrants.types import TupleType
from quadrants_vulkan.lower import cells, launch
from quadrants_vulkan.lower.control import guarded
from quadrants_vulkan.lower.emit import Emitter, FunctionEmitter
from quadrants_vulkan.lower.errors import leaf_words, payload_of, write_words
from quadrants_vulkan.spirv.grammar import Op as Code

PRINT = "builtins:print"


def _pycall(e: FunctionEmitter, op: Op) -> None:
    args = op.attrs["args"]
    if op.attrs["target"] != PRINT:
        e.module.refuse(e.function, op, f"a call of {op.attrs['target']}", "call it before or after the launch")
    assert isinstance(args, TupleType)
    payload = payload_of(e, op, 0)
    if len(payload) > MOST_LEAVES:
        e.module.refuse(e.function, op, f"a print of {len(payload)} values at once", f"print at most {MOST_LEAVES}")
    number = e.module.site(e.function, op, "", args)
    start = e.longs.add(launch.pushed_long(e, launch.REPORT), e.longs.const(REPORT_BYTES))
    cell = cells.global_cell(e, start, e.word_type, 4)
    place = e.let(Code.ATOMIC_I_ADD, e.word_type, cell.pointer, *cells.scope_of(e, cell), e.word(1))

    def write() -> None:
        offset = e.w(Code.I_ADD, e.w(Code.I_MUL, place, e.word(REPORT_BYTES)), e.word(16))
        record = e.longs.add(start, e.longs.extend(offset, signed=False))
        write_words(e, record, [(SITE, e.word(number)), *leaf_words(e, payload)])

    guarded(e, e.test(Code.U_LESS_THAN, place, e.word(RECORDS)), write)


EMITTERS: dict[str, Emitter] = {"pycall": _pycall}
