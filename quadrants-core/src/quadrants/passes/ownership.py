"""Inserts reference counting: every array that a function owns is released exactly once on every way out of its scope.

Takes QIR without maps; gives QIR with `retain`, `release` and `cleanup`. Runs last: nothing may move ops afterwards.

Owned are the results of ops with an array type (but for views and arrays in the frame), the array arguments of loops,
and variables that hold arrays. They belong to the region that defines them. Parameters and views are borrowed: a view
lives on what it was made from, whose last use is then that of the view. What a jump, a `yield`, a loop's initial
values, or a variable takes, is handed over if it ends here anyway, and retained otherwise. Everything else owned is
released behind its last use; by the jumps that leave its region earlier; and, where an op raises, by the op itself:
`cleanup` lists what is alive up to the enclosing `try` or the function.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field

from quadrants._frozen import record
from quadrants.ir import Function, Op, Region, Value
from quadrants.ir.ops import OPS
from quadrants.passes.context import PassContext

_JUMPS = frozenset({"break", "continue"})
#: Ops that take over the operands from an index on, or up to one.
_TAKES = {
    "loop": slice(0, None),
    "for": slice(3, None),
    "var": slice(0, None),
    "var.set": slice(1, None),
    "list.store": slice(1),
}
#: Ops that give what stays where it is: the reference has to be counted.
_READING = frozenset({"var.get", "list.load"})


def run(function: Function, context: PassContext | None = None) -> None:
    """Insert reference counting into one function."""
    if any(_counted(value) for op in function.body.walk() for value in (*op.results, *op.operands)):
        _Owner().region(function.body, "function", None)


def _counted(value: Value) -> bool:
    return value.type.heap


@record
class _Scope:
    """A region that is being walked: what it owns and has not released yet, in order of definition."""

    kind: str
    label: object
    live: list[Value] = field(default_factory=list)


@record
class _Owner:
    scopes: list[_Scope] = field(default_factory=list)
    roots: dict[Value, Value] = field(default_factory=dict)
    used: dict[Op, set[Value]] = field(default_factory=dict)

    def root(self, value: Value) -> Value:
        return self.roots.get(value, value)

    def uses(self, op: Op) -> set[Value]:
        """What the op and those inside it read, views traced to what they were made from."""
        if op in self.used:
            return self.used[op]
        if op.name == "view":
            self.roots[op.result] = self.root(op.operands[0])
        found = {self.root(value) for value in op.operands if _counted(value)}
        for region in op.regions:
            for inner in region.ops:
                found |= self.uses(inner)
        self.used[op] = found
        return found

    def region(self, region: Region, kind: str, label: object) -> None:
        """Rewrite a region in place."""
        last: dict[Value, int] = {}
        for index, op in enumerate(region.ops):
            for value in self.uses(op):
                last[value] = index
        scope = _Scope(kind, label)
        self.scopes.append(scope)
        out: list[Op] = []
        if kind in ("loop", "for"):
            self.gain(scope, [arg for arg in region.args if _counted(arg)], last, -1, out)
        for index, op in enumerate(region.ops):
            if op.defn.terminator:
                self.leave(op, out)
                break
            self.take(op, scope, last, index, out)
            if op.can_raise:
                op.cleanup = tuple(value for scope in self.scopes[self.handler() :] for value in scope.live)
            for number, nested in enumerate(op.regions):
                kind = "handler" if op.name == "try" and number == 1 else op.name
                self.region(nested, kind, op.attrs.get("label"))
            out.append(op)
            self.behind(op, scope, last, index, out)
        region.ops[:] = out
        self.scopes.pop()

    def gain(self, scope: _Scope, values: Iterable[Value], last: dict[Value, int], index: int, out: list[Op]) -> None:
        """The scope owns new values; those that nobody uses go at once."""
        for value in values:
            if last.get(value, index) > index:
                scope.live.append(value)
            else:
                out.append(_count("release", value))

    def behind(self, op: Op, scope: _Scope, last: dict[Value, int], index: int, out: list[Op]) -> None:
        """What the op was the last to use goes; what it defines is owned."""
        made = [result for result in op.results if _counted(result)]
        if op.name in _READING:  # before the list goes that held it
            made = [result for result in made if result in last]
            out.extend(_count("retain", result) for result in made)
        for value in [value for value in reversed(scope.live) if last[value] == index]:
            scope.live.remove(value)
            out.append(_count("release", value))
        if op.name == "view" or (op.name == "alloc" and op.attr("stack")):
            return
        self.gain(scope, made, last, index, out)

    def take(self, op: Op, scope: _Scope, last: dict[Value, int], index: int, out: list[Op]) -> None:
        """Hand over what an op takes: what ends here anyway, else a reference of its own."""
        part = _TAKES.get(op.name)
        if part is None:
            return
        taken = [value for value in op.operands[part] if _counted(value)]
        inside = {value for region in op.regions for inner in region.ops for value in self.uses(inner)}
        viewed = {self.root(value) for value in taken if value in self.roots}
        for value in taken:
            if value in scope.live and last[value] == index and value not in inside and value not in viewed:
                scope.live.remove(value)
            else:
                out.append(_count("retain", value))

    def leave(self, op: Op, out: list[Op]) -> None:
        """Hand over what a terminator takes, and release the rest of what ends with the regions that it leaves."""
        if op.name != "unreachable":
            ending = [value for scope in self.scopes[self.outermost(op) :] for value in scope.live]
            for value in op.operands:
                if not _counted(value):
                    continue
                if value in ending:
                    ending.remove(value)
                else:
                    out.append(_count("retain", value))
            out.extend(_count("release", value) for value in reversed(ending))
        out.append(op)

    def outermost(self, op: Op) -> int:
        """The index of the outermost scope that a terminator leaves."""
        if op.name == "yield":
            return len(self.scopes) - 1
        if op.name in _JUMPS:
            labels = [scope.label for scope in self.scopes]
            return len(labels) - 1 - labels[::-1].index(op.attrs["label"])
        return 0 if op.name == "return" else self.handler()

    def handler(self) -> int:
        """The index of the outermost scope that an exception leaves."""
        kinds: Sequence[str] = [scope.kind for scope in self.scopes]
        return len(kinds) - 1 - kinds[::-1].index("try") if "try" in kinds else 0


def _count(name: str, value: Value) -> Op:
    return Op(OPS[name], [value], [])
