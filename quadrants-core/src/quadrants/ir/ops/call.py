"""Calls: to functions of the module, and back into Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quadrants.ir.opdef import Attr, AttrKind, Effect, OpDef
from quadrants.ir.ops import rules
from quadrants.types import Type

if TYPE_CHECKING:
    from quadrants.ir.core import Op


def _call(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    if not isinstance(attrs.get("callee"), str):
        raise TypeError(f"attribute 'callee' must be the name of a function, not {attrs.get('callee')!r}")
    return rules.attr_types(attrs, "result_types")


def _fork(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    if not isinstance(attrs.get("callee"), str):
        raise TypeError(f"attribute 'callee' must be the name of a function, not {attrs.get('callee')!r}")
    if len(types) < 3:
        raise TypeError("takes the number of turns, the grain, the work and what the chunks share")
    rules.all_i64(types[:3], "turns, grain and work")
    return ()


def _launch(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    if not isinstance(attrs.get("callee"), str):
        raise TypeError(f"attribute 'callee' must be the name of a function, not {attrs.get('callee')!r}")
    if rules.attr_int(attrs, "block") < 1:
        raise TypeError("a block has at least one thread")
    if not types:
        raise TypeError("takes the number of blocks, and what the kernel is given")
    rules.all_i64(types[:1], "the number of blocks")
    return ()


def _pycall(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.match_types(types, rules.attr_type(attrs, "args").leaves(), "the operands")
    return rules.attr_type(attrs, "result").leaves()


def _may_throw(op: Op) -> bool:
    return not op.attr("nothrow")


DEFS = (
    OpDef(
        "call",
        _call,
        effects=Effect.READS | Effect.WRITES | Effect.ALLOCATES | Effect.RAISES,
        may_raise=_may_throw,
        attrs=(
            Attr("callee", AttrKind.STR),
            Attr("result_types", AttrKind.TYPES),
            Attr("nothrow", AttrKind.BOOL, required=False, default=False),
        ),
        doc="Calls a function of the module. `nothrow`: it is proven not to raise.",
        derivative="a call of the callee's derivative",
    ),
    OpDef(
        "fork",
        _fork,
        effects=Effect.READS | Effect.WRITES | Effect.ALLOCATES | Effect.RAISES,
        attrs=(Attr("callee", AttrKind.STR),),
        doc="A parallel region, (turns, grain, work, shared values): calls a function of the module, which gives nothing, as "
        "(lo, hi, shared values) for lo = 0, grain, ... below turns, hi being at most turns; several at once, in an order that "
        "is not laid down. The first exception, by lo, is raised. The grain is at least 1; `work` is an estimate in "
        "nanoseconds, 0 for none. Inserted by the pass `parallelise`.",
        derivative="none: after differentiation",
    ),
    OpDef(
        "launch",
        _launch,
        effects=Effect.READS | Effect.WRITES | Effect.RAISES | Effect.HOST,
        attrs=(Attr("callee", AttrKind.STR), Attr("block", AttrKind.INT)),
        doc="Starts a kernel of the module, (blocks, what the kernel is given), in blocks of so many threads along x. Launches "
        "run in order, and what the host reads of an array is what the launches before have left. Inserted by the pass `launches`.",
        derivative="none: after differentiation",
    ),
    OpDef(
        "pycall",
        _pycall,
        effects=Effect.READS | Effect.WRITES | Effect.RAISES | Effect.HOST,
        attrs=(Attr("target", AttrKind.STR), Attr("args", AttrKind.TYPE), Attr("result", AttrKind.TYPE)),
        doc='Calls back into Python: `target` is "module:qualname", the operands are the leaves of `args`.',
        derivative="none: outside of the language",
    ),
)
