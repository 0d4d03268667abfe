"""Calls with `*items` whose number is known only at run time: of `print`, and of `min` and `max`.

Takes the list of arguments in the making, in which a `Sequence_` of the kind "spread" stands for such items; gives the result of
the call, or the error that other functions need to know how many arguments they get.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from quadrants.bytecode.opcode import Inst, Opcode, effect
from quadrants.diagnostics import Code
from quadrants.infer import lists, texts
from quadrants.infer.builtins import BUILTINS, print_options
from quadrants.infer.emitter import Emitter, describe, fail
from quadrants.infer.values import Abstract, List, ListDisplay, Sequence_, Tup
from quadrants.types import NONE


def for_call(coming: Sequence[object], above: int) -> bool:
    """Whether a list with so many values above it on the stack becomes the arguments of a call: what takes it says so."""
    for inst in coming:
        assert isinstance(inst, Inst)
        pops, pushes = effect(inst.op, inst.arg)
        if pops > above:
            return inst.op in (Opcode.LIST_TO_TUPLE, Opcode.CALL_EX) and (
                inst.op is Opcode.CALL_EX or _called(coming, inst)
            )
        above += pushes - pops
    return False


def _called(coming: Sequence[object], made: Inst) -> bool:
    """Whether the tuple that an operation leaves on top of the stack goes to a call."""
    above = 0
    for inst in coming[coming.index(made) + 1 :]:
        assert isinstance(inst, Inst)
        pops, pushes = effect(inst.op, inst.arg)
        if pops > above:
            return inst.op is Opcode.CALL_EX
        above += pushes - pops
    return False


def call(w: Emitter, callee: Abstract, packed: Abstract, keywords: dict[str, Abstract]) -> Abstract:
    """`callee(*packed, **keywords)`."""
    packed = w.unwrap(packed)
    parts = packed.items if isinstance(packed, (Tup, ListDisplay)) else (Sequence_("spread", (packed,)),)
    target = getattr(callee, "value", None)
    if target is builtins.print:
        return _print(w, parts, keywords)
    if target in (builtins.min, builtins.max) and len(parts) == 1:
        return _extreme(w, target, parts[0], keywords)
    several = next(part for part in parts if is_spread(part))
    assert isinstance(several, Sequence_)
    fail(
        Code.BAD_UNPACK,
        f"{describe(several.parts[0])} cannot be unpacked into arguments: its length is not known",
        hint="Pass it as one argument, or use a tuple.",
    )


def is_spread(part: Abstract) -> bool:
    """Whether a part of the arguments stands for items whose number is not known."""
    return isinstance(part, Sequence_) and part.kind == "spread"


def _print(w: Emitter, parts: tuple[Abstract, ...], keywords: dict[str, Abstract]) -> Abstract:
    spread = tuple(is_spread(part) for part in parts)
    values = [_items(w, part) if is_spread(part) else part for part in parts]
    options = (*print_options(keywords), ("spread", spread))
    return texts.call(w, "quadrants.host.hostcall:print_spread", values, NONE, options)


def _items(w: Emitter, part: Abstract) -> Abstract:
    """What `print` walks: lists, arrays and strings as they are, the rest in a list."""
    assert isinstance(part, Sequence_)
    value = part.parts[0]
    return BUILTINS[list](w, (value,), {}) if isinstance(value, Sequence_) else value


def _extreme(w: Emitter, target: object, part: Abstract, keywords: dict[str, Abstract]) -> Abstract:
    items = BUILTINS[list](w, (part.parts[0] if isinstance(part, Sequence_) else part,), {})
    assert isinstance(items, List)
    name, size = getattr(target, "__name__", ""), lists.size(w, items)
    some = w.b.value("cmp", size, w.b.i64(0), pred="ne")
    w.check(some, TypeError, f"{name} expected at least 1 argument, got 0")
    several = w.b.value("cmp", size, w.b.i64(1), pred="ne")
    w.check(several, TypeError, f"{describe(lists.get(w, items, w.b.i64(0)))!r} object is not iterable")
    return BUILTINS[target](w, (items,), keywords)
