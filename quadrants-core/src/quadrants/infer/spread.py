"""Calls with `*items` whose number is known only at run time: of `print`, `min`, `max`, and what takes a fixed number of arguments.

Takes the list of arguments in the making, in which a `Sequence_` of the kind "spread" stands for such items; gives the result of
the call, or the error that other functions need to know how many arguments they get.
"""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Sequence
from typing import NamedTuple

from quadrants.bytecode.opcode import Inst, Opcode, effect
from quadrants.diagnostics import Code
from quadrants.infer import lists, sequences, texts
from quadrants.infer.binding import missing_arguments
from quadrants.infer.builtins import BUILTINS, print_options
from quadrants.infer.calls import python_function
from quadrants.infer.emitter import Emitter, describe, fail
from quadrants.infer.values import Abstract, Closure, Const, List, ListDisplay, Sequence_, Text, Tup
from quadrants.types import NONE, PYINT, FormatHole, FormatType


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
    taken = _taken(callee, keywords)
    others = len(parts) - 1
    if taken is None or others > len(taken.names) or any(is_spread(part) and part is not several for part in parts):
        fail(
            Code.BAD_UNPACK,
            f"{describe(several.parts[0])} cannot be unpacked into arguments: its length is not known",
            hint="Pass it as one argument, or use a tuple.",
        )
    at = parts.index(several)
    items = _exactly(w, several.parts[0], taken, others)
    return w.call_value(callee, (*parts[:at], *items, *parts[at + 1 :]), keywords)  # type: ignore[attr-defined, no-any-return]


class _Taken(NamedTuple):
    """The positional arguments that a call has to give."""

    title: str
    names: tuple[str, ...]
    keyword: str | None  # the next one, which has been given by name
    hidden: int = 0  # how many more arguments than these the function counts in its messages


def _taken(callee: Abstract, keywords: dict[str, Abstract]) -> _Taken | None:
    """What a function takes by position, if that is always the same number of arguments."""
    target = getattr(callee, "value", None)
    if isinstance(target, type) and issubclass(target, tuple) and hasattr(target, "_fields"):
        positional = tuple(target._fields)
        optional = tuple(getattr(target, "_field_defaults", ()))
        title, hidden = f"{target.__name__}.__new__", 1
    else:
        function = callee if isinstance(callee, Closure) else python_function(target)
        if function is None:
            return None
        code = function.code if isinstance(function, Closure) else function.__code__
        if code.co_flags & inspect.CO_VARARGS:
            return None
        defaults = function.defaults if isinstance(function, Closure) else function.__defaults__ or ()
        positional = code.co_varnames[: code.co_argcount]
        optional = positional[len(positional) - len(defaults) :]
        title, hidden = code.co_qualname, 0
    names = tuple(name for name in positional if name not in keywords)
    if names != positional[: len(names)] or any(name in optional for name in names):
        return None
    return _Taken(title, names, (*positional, None)[len(names)], hidden)


def _exactly(w: Emitter, value: Abstract, taken: _Taken, others: int) -> tuple[Abstract, ...]:
    """As many items as there are parameters left; other numbers raise what Python raises."""
    value = BUILTINS[list](w, (value,), {}) if sequences.pulls(value) else value
    total, most = sequences.count(w, value), len(taken.names) + taken.hidden
    wanted = len(taken.names) - others
    given = w.b.value("add", total, w.b.i64(others + taken.hidden))
    takes = f"{taken.title}() takes {most} positional argument{'s' if most != 1 else ''} but "
    excess: Abstract = Text(FormatType((takes, FormatHole(PYINT, "", ""), " were given")), (given,))
    if taken.keyword is not None:
        excess = Const(f"{taken.title}() got multiple values for argument '{taken.keyword}'")
    w.check(w.b.value("cmp", total, w.b.i64(wanted), pred="le"), TypeError, excess)
    for count in range(wanted):
        message = missing_arguments(taken.title, taken.names[count + others :])
        w.check(w.b.value("cmp", total, w.b.i64(count), pred="ne"), TypeError, message)
    return tuple(sequences.item(w, value, w.b.i64(k)) for k in range(wanted))


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
