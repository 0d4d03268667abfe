"""Checks, exceptions and prints: a thread that raises writes a report, if it is the first, and is over.

The report is in memory that the host reads when it waits, laid out as `quadrants.host.reports` says; records of prints follow
it. A function that may raise gives a truth value more, which says whether it did; its callers then leave too.
"""

from __future__ import annotations

from collections.abc import Sequence

from quadrants.host.reports import LEAVES, MOST_LEAVES, RECORDS, REPORT_BYTES, SITE
from quadrants.ir.core import Op
from quadrants.types import Scalar, TupleType, Type
from quadrants_metal.lower.control import leave
from quadrants_metal.lower.emit import Emitter, FunctionEmitter
from quadrants_metal.lower.names import as_pointer

Payload = Sequence[tuple[Scalar, str]]
PRINT = "builtins:print"


def check(e: FunctionEmitter, op: Op, holds: str, exc: str, args: Type, payload: Payload) -> None:
    """Raise unless the condition holds."""
    with e.nested(f"if (!({holds}))"):
        _raise_here(e, op, exc, args, payload)


def _raise_here(e: FunctionEmitter, op: Op, exc: str, args: Type, payload: Payload) -> None:
    number = e.module.site(e.function, op, exc, args) + 1
    with e.nested(f"if (qd_reports(here, {number}u))"):
        _leaves(e, "here.report", payload)
    leave(e, failed=True)


def _leaves(e: FunctionEmitter, report: str, payload: Payload) -> None:
    """Write leaves into a report, as two words each."""
    for position, (type, part) in enumerate(payload[:MOST_LEAVES]):
        place = LEAVES + 2 * position
        bits = e.let("ulong", _bits(type, part))
        e.do(f"{report}[{place}] = uint({bits});")
        e.do(f"{report}[{place + 1}] = uint({bits} >> 32);")


def _bits(type: Scalar, part: str) -> str:
    """The bits of a leaf."""
    if type.is_float and type.bits < 64:
        return f"ulong(as_type<uint>(float({part})))"
    return f"ulong(long({part}))" if type.is_signed else f"ulong({part})"


def _payload(e: FunctionEmitter, op: Op, first: int) -> list[tuple[Scalar, str]]:
    """The operands that are the leaves of the arguments of an exception, or of a print."""
    payload = []
    for value in op.operands[first:]:
        if not isinstance(value.type, Scalar) or value.type.is_complex:
            e.module.refuse(
                e.function, op, f"an exception whose message has {value.type}", "put numbers into the message"
            )
        assert isinstance(value.type, Scalar)
        payload.append((value.type, e.one(value)))
    return payload


def _args(op: Op) -> Type:
    args = op.attrs["args"]
    assert isinstance(args, Type)
    return args


def _check(e: FunctionEmitter, op: Op) -> None:
    check(e, op, e.one(op.operands[0]), str(op.attrs["exc"]), _args(op), _payload(e, op, 1))


def _raise(e: FunctionEmitter, op: Op) -> None:
    _raise_here(e, op, str(op.attrs["exc"]), _args(op), _payload(e, op, 0))


def _pycall(e: FunctionEmitter, op: Op) -> None:
    """A print takes the next record, if there is one left."""
    args = op.attrs["args"]
    if op.attrs["target"] != PRINT:
        e.module.refuse(e.function, op, f"a call of {op.attrs['target']}", "call it before or after the launch")
    assert isinstance(args, TupleType)
    payload = _payload(e, op, 0)
    if len(payload) > MOST_LEAVES:
        e.module.refuse(e.function, op, f"a print of {len(payload)} values at once", f"print at most {MOST_LEAVES}")
    number = e.module.site(e.function, op, "", args)
    words = REPORT_BYTES // 4
    place = e.let("uint", f"qd_add({as_pointer('device atomic_uint*', f'here.report + {words}')}, 1u)")
    with e.nested(f"if ({place} < {RECORDS}u)"):
        record = e.let("device uint*", f"here.report + {words + 4}u + {place} * {words}u")
        e.do(f"{record}[{SITE}] = {number}u;")
        _leaves(e, record, payload)


EMITTERS: dict[str, Emitter] = {"check": _check, "raise": _raise, "pycall": _pycall}
