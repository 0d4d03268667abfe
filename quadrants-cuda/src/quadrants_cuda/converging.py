"""Bringing lanes together again where a branch or a loop ends, so that subgroups are what the program says.

A device runs lanes that a branch has parted on their own for as long as it likes. Before a branch or a loop that has
operations of the subgroup inside or beside it, the lanes that are together are noted; behind it they wait for each
other, and so do the turns of a counted loop. Lanes that have left the kernel are not waited for. A branch that some
lanes leave for somewhere else (`break`, `continue`) is left as it is: the loop's end brings them together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from quadrants.ir import Function, Module
from quadrants.ir.core import Op, Region, Value
from quadrants.ir.ops import OPS, subgroup
from quadrants.lower import control
from quadrants.lower.emit import Emitter, FunctionEmitter, Text
from quadrants.types import U64

_LANE_OPS = frozenset(defn.name for defn in subgroup.DEFS) - {"lane.index", "lane.count"}
_CONTROL = ("if", "for", "loop", "block")
_LEAVING = ("break", "continue")


class Converging:
    """Where the lanes of a module wait for each other.

    Args:
        module: before it is made ready for lowering; it is changed, and its ops stay the same objects from then on.
    """

    def __init__(self, module: Module) -> None:
        self._calling = _with_lanes(module)
        self._together: set[int] = set()  # ops behind which the lanes that came to them wait
        self._whole: set[int] = set()  # ops before which all lanes of the kernel wait
        self._turns: dict[int, Value] = {}  # ends of turns of counted loops: the lanes that began the turn
        for function in module.functions.values():
            self._plan(function)

    def _is_lane_op(self, op: Op) -> bool:
        return op.name in _LANE_OPS or (op.name == "call" and op.attrs["callee"] in self._calling)

    def _has(self, region: Region) -> bool:
        return any(map(self._is_lane_op, region.walk()))

    def _plan(self, function: Function) -> None:
        if not self._has(function.body) or any(op.name == "try" for op in function.body.walk()):
            return
        kernel = bool(function.attrs.get("kernel"))
        for region in list(_regions(function.body)):
            if not self._has(region):
                continue
            if kernel and region is function.body:
                self._whole |= {id(op) for op in region.ops if self._is_lane_op(op) or any(map(self._has, op.regions))}
            else:
                self._together |= {id(op) for op in region.ops if op.name in _CONTROL and not _leaves(op, kernel)}
        for op in list(function.body.walk()):
            if op.name == "for" and self._has(op.regions[0]) and not _leaves(op, kernel):
                self._note_turns(op)

    def _note_turns(self, loop: Op) -> None:
        """Every turn of a loop without breaks ends when all lanes that began it have come to its end."""
        label = loop.attrs["label"]
        ends = [op for op in loop.regions[0].walk() if op.name in _LEAVING and op.attrs["label"] == label]
        if any(op.name == "break" for op in ends):
            return
        mask = Value(U64)
        loop.regions[0].ops.insert(0, Op(OPS["lane.active"], [], [mask]))
        self._turns.update((id(op), mask) for op in ends)

    def all_lanes(self, op: Op) -> bool:
        """Whether every lane of the kernel comes by an op."""
        return id(op) in self._whole

    # Emitters

    def emitters(self) -> Mapping[str, Emitter]:
        """Of the ops that part lanes."""
        return {**{name: self._around(control.EMITTERS[name]) for name in _CONTROL}, "continue": self._continue}

    def _around(self, emit: Emitter) -> Emitter:
        def emit_around(e: FunctionEmitter, op: Op) -> None:
            if self.all_lanes(op):
                wait(e, "-1")
            mask = active(e) if id(op) in self._together else ""
            emit(e, op)
            if mask:
                wait(e, mask)

        return emit_around

    def _continue(self, e: FunctionEmitter, op: Op) -> None:
        turn = self._turns.get(id(op))
        if turn is not None:
            wait(e, e.let(f"trunc i64 {e.one(turn)} to i32"))
        control.EMITTERS["continue"](e, op)


def active(e: FunctionEmitter) -> Text:
    """The lanes that are here together."""
    return e.let("call i32 @llvm.nvvm.activemask()")


def wait(e: FunctionEmitter, mask: Text) -> None:
    """Lanes wait for each other."""
    e.line(f"call void @llvm.nvvm.bar.warp.sync(i32 {mask})")


def _with_lanes(module: Module) -> set[str]:
    """The functions that do something in the subgroup, or call one that does."""
    found = {
        name for name, function in module.functions.items() if any(op.name in _LANE_OPS for op in function.body.walk())
    }
    while True:
        more = {
            name
            for name, function in module.functions.items()
            if any(op.name == "call" and op.attrs["callee"] in found for op in function.body.walk())
        }
        if more <= found:
            return found
        found |= more


def _regions(region: Region) -> Iterator[Region]:
    """A region, and those nested in it."""
    yield region
    for op in region.walk():
        yield from op.regions


def _leaves(op: Op, kernel: bool) -> bool:
    """Whether a lane may go from inside of an op to somewhere else than behind it, other than out of the kernel."""
    own = {inner.attrs.get("label") for inner in (op, *(o for r in op.regions for o in r.walk())) if inner.regions}
    for region in op.regions:
        for inner in region.walk():
            if inner.name in _LEAVING and inner.attrs["label"] not in own:
                return True
            if inner.name == "return" and not kernel:
                return True
    return False
