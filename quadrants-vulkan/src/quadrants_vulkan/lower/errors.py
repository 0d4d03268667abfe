"""Checks and exceptions: a thread that raises writes a report, if it is the first, and is over.

The report is in memory that the host reads when it waits, laid out as `quadrants.host.reports` says. A function that may
raise gives a truth value more, which says whether it did; its callers then leave too.
"""

from __future__ import annotations

from collections.abc import Sequence

from quadrants.host.reports import BLOCK, LEAVES, MOST_LEAVES, THREAD
from quadrants.ir.core import Op
from quadrants.types import Scalar, Type
from quadrants_vulkan.lower import cells, launch
from quadrants_vulkan.lower.casts import widened
from quadrants_vulkan.lower.cells import Spot
from quadrants_vulkan.lower.control import guarded, leave
from quadrants_vulkan.lower.emit import Emitter, FunctionEmitter, Parts
from quadrants_vulkan.lower.parts import Part
from quadrants_vulkan.spirv.assembler import Id
from quadrants_vulkan.spirv.grammar import Op as Code

Payload = Sequence[tuple[Scalar, Parts]]


def check(e: FunctionEmitter, op: Op, holds: Id, exc: str, args: Type, payload: Payload) -> None:
    """Raise unless the condition holds."""

    def fail() -> None:
        _raise_here(e, op, exc, args, payload)

    guarded(e, e.test(Code.LOGICAL_NOT, holds), fail)


def _raise_here(e: FunctionEmitter, op: Op, exc: str, args: Type, payload: Payload) -> None:
    number = e.module.site(e.function, op, exc, args) + 1
    address = launch.pushed_long(e, launch.REPORT)
    cell = cells.global_cell(e, address, e.word_type, 4)
    before = cells.compare_exchange(e, cell, e.word(0), e.word(number))

    def write() -> None:
        from quadrants_vulkan.lower.device import (  # that module imports the emitters of control flow
            block_index,
            thread_index,
        )

        words = [(BLOCK + axis, block_index(e, axis)) for axis in range(3)]
        words += [(THREAD + axis, thread_index(e, axis)) for axis in range(3)]
        write_words(e, address, [*words, *leaf_words(e, payload)])

    guarded(e, e.test(Code.I_EQUAL, before, e.word(0)), write)
    leave(e, failed=True)


def leaf_words(e: FunctionEmitter, payload: Payload) -> list[tuple[int, Id]]:
    """The words of leaves, with their places in a report."""
    words = []
    for position, (type, parts) in enumerate(payload[:MOST_LEAVES]):
        pair = _bits(e, type, parts)
        words += [(LEAVES + 2 * position, e.longs.low(pair)), (LEAVES + 2 * position + 1, e.longs.high(pair))]
    return words


def write_words(e: FunctionEmitter, address: Id, words: Sequence[tuple[int, Id]]) -> None:
    """Write words at their places behind an address."""
    for place, word in words:
        at = e.longs.add(address, e.longs.const(4 * place))
        cells.whole_cell(e, Spot(at), Part.WORD).store(e, word)


def _bits(e: FunctionEmitter, type: Scalar, parts: Parts) -> Id:
    """The bits of a leaf, as a long."""
    if type.is_float and type.bits == 64:
        return e.let(Code.BITCAST, e.type(Part.LONG), parts[0])
    if type.is_float:
        return e.longs.join(e.let(Code.BITCAST, e.word_type, parts[0]), e.word(0))
    if type.is_bool:
        return e.longs.join(e.select(parts[0], Part.WORD, e.word(1), e.word(0)), e.word(0))
    return parts[0] if type.bits == 64 else widened(e, type, parts[0])


def payload_of(e: FunctionEmitter, op: Op, first: int) -> list[tuple[Scalar, Parts]]:
    """The operands that are the leaves of the arguments of an exception, or of a print."""
    payload = []
    for value in op.operands[first:]:
        if not isinstance(value.type, Scalar) or value.type.is_complex:
            e.module.refuse(
                e.function, op, f"an exception whose message has {value.type}", "put numbers into the message"
            )
        assert isinstance(value.type, Scalar)
        payload.append((value.type, e.get(value)))
    return payload


def _args(op: Op) -> Type:
    args = op.attrs["args"]
    assert isinstance(args, Type)
    return args


def _check(e: FunctionEmitter, op: Op) -> None:
    check(e, op, e.one(op.operands[0]), str(op.attrs["exc"]), _args(op), payload_of(e, op, 1))


def _raise(e: FunctionEmitter, op: Op) -> None:
    _raise_here(e, op, str(op.attrs["exc"]), _args(op), payload_of(e, op, 0))


EMITTERS: dict[str, Emitter] = {"check": _check, "raise": _raise}
