"""Slots of the environment at merges: a local by its name, a place on the stack as "#" and its number.

Takes what a slot holds at the ends of several paths; gives whether it needs a value of its own after the merge, and of what type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from quadrants.bytecode import nodes
from quadrants.bytecode.opcode import Opcode
from quadrants.infer.merge import generalise, join_types, with_floats
from quadrants.infer.values import Abstract, ConflictType, Env, List, ListDisplay, Maybe, MaybeType, Opt, Tup, rebuild
from quadrants.ir import Value
from quadrants.types import STR, ChoiceType, Scalar, Type

#: In front of a variable's name: the local that says that the variable, which has a box, is bound (see `boxes`).
BOUND = "@bound "


def survives(name: str, live: Iterable[str] | None, envs: Sequence[Env]) -> bool:
    """Whether a merge keeps a local: one that may be read later, or a local of the walk's own that says what holds everywhere."""
    if name.startswith(BOUND):
        return all(name in env.locals for env in envs)
    return live is None or name in live or name[0] == "@"


def unchanged(values: Sequence[Abstract | None], before: Abstract | None) -> bool:
    """Whether a slot has the one value everywhere, and that is visible after the op."""
    first = values[0]
    if first is None or any(value is not first for value in values):
        return False
    return first is before or not first.leaves


def substitute(env: Env, old: Abstract, new: Abstract) -> None:
    """Put `new` wherever the environment holds `old`."""
    for name, value in env.locals.items():
        if value is old:
            env.locals[name] = new
    env.stack[:] = [new if value is old else value for value in env.stack]


def get_slot(env: Env, slot: str) -> Abstract | None:
    """What a slot holds; None if it is an unbound local."""
    return env.stack[int(slot[1:])] if slot.startswith("#") else env.locals.get(slot)


def set_slot(env: Env, slot: str, value: Abstract) -> None:
    """Bind a slot."""
    if slot.startswith("#"):
        env.stack[int(slot[1:])] = value
    else:
        env.locals[slot] = value


def rejoined(type_: Type, leaves: Iterator[Value], sources: Sequence[Abstract | None]) -> Abstract:
    """A value of the joined type of the sources, from its leaves: its lists can be widened where one of theirs can."""
    return _with_sites(rebuild(type_, leaves), [source for source in sources if source is not None])


def _with_sites(value: Abstract, sources: Sequence[Abstract]) -> Abstract:
    if isinstance(value, List):
        site = next(
            (source.site for source in sources if isinstance(source, (List, ListDisplay)) and source.site), None
        )
        return replace(value, site=site)
    if isinstance(value, (Opt, Maybe)):
        held = [source.item if isinstance(source, (Opt, Maybe)) else source for source in sources]
        return replace(value, item=_with_sites(value.item, held))
    if isinstance(value, Tup):
        rows = [source.items for source in sources if isinstance(source, Tup) and len(source.items) == len(value.items)]
        return replace(
            value, items=tuple(_with_sites(item, [row[k] for row in rows]) for k, item in enumerate(value.items))
        )
    return value


def carried_by(node: nodes.Loop | nodes.For, base: Env) -> dict[str, Type | None]:
    """The locals that a loop carries, with their types at its entry (None: unbound)."""
    return {name: type_of(base.locals.get(name)) for name in sorted(node.assigned & node.live)}


def type_of(value: Abstract | None) -> Type | None:
    """The type of what a slot holds; None if it is an unbound local."""
    return None if value is None else value.type


def join_types_of(types: Sequence[Type | None]) -> Type | None:
    """The join of the types of a local on several paths; None where it is unbound on all of them."""
    bound = [t for t in types if t is not None]
    if not bound:
        return None
    joined = bound[0]
    for t in bound[1:]:
        joined = join_types(joined, t)
    if len(bound) == len(types) or isinstance(joined, (MaybeType, ConflictType)):
        return joined
    return MaybeType(generalise(joined))


def join_values(values: Sequence[Abstract | None], floats: Scalar | None) -> Type:
    """The join of the types of a slot that is bound on some path. `floats`: see `with_floats`."""
    joined = join_types_of([type_of(value) for value in values])
    assert joined is not None
    return with_floats(joined, floats)


def settle(joined: Type, assumed: Type | None, round_: int, floats: Scalar | None) -> Type:
    """The next assumption: a literal number only if it is the one assumed; after some rounds never narrower than the last."""
    wanted = joined if joined == assumed else with_floats(generalise(joined), floats)
    if round_ > 2 and isinstance(assumed, ChoiceType) and isinstance(wanted, ChoiceType) and wanted != assumed:
        return STR  # a string that grows
    if assumed is not None and round_ > 4:
        return generalise(join_types(assumed, wanted))
    return wanted


def assigned_in(seq: nodes.Seq) -> frozenset[str]:
    """The locals that the sequence stores or deletes, nested nodes included."""
    names: set[str] = set()
    pending: list[object] = [seq]
    while pending:
        node = pending.pop()
        if isinstance(node, nodes.Code):
            names.update(str(inst.arg) for inst in node.insts if inst.op in _STORES)
        elif isinstance(node, nodes.Seq):
            pending.extend(node.items)
        else:
            parts = (getattr(node, part, None) for part in ("then", "orelse", "body", "exhausted", "handler"))
            pending.extend(part for part in parts if part is not None)
    return frozenset(names)


_STORES = frozenset(
    {Opcode.STORE_LOCAL, Opcode.DELETE_LOCAL, Opcode.STORE_DEREF, Opcode.DELETE_DEREF, Opcode.LOAD_LOCAL_OR_UNDEF}
)
