"""Closures: which variables they share with the function that made them, and what they take along where they leave it.

Inside of the function that made it a closure names the variables of that function (`Late`); each call sees what they hold then,
as Python's cells do. Where a closure leaves the function (as an argument, in a result, in a box) its variables become what they
hold at that time (`leaving`). That is the same as in Python where the variable stays as it is afterwards. Where it does not, or
where an inner function assigns it, the variable gets a box: `Rebox` has its function walked again with one.

Among what a closure captures may be the closure itself, or two closures that call each other. Such a circle is cut with an `Up`
where the closure leaves, and closed again where the variable is read (`unfolded`).
"""

from __future__ import annotations

import types as pytypes
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import quadrants.bytecode as bytecode
from quadrants._frozen import frozen
from quadrants.bytecode.opcode import Opcode
from quadrants.diagnostics import Code
from quadrants.infer.binding import parameter_names
from quadrants.infer.boxes import Rebox
from quadrants.infer.captured import BoxType, Late, LateType, Up
from quadrants.infer.dicts import DictDisplay
from quadrants.infer.emitter import fail
from quadrants.infer.values import (
    Abstract,
    Closure,
    ClosureType,
    Const,
    Functions,
    Generator,
    ListDisplay,
    Maybe,
    Method,
    Opt,
    Sequence_,
    Tup,
)
from quadrants.types import Type

if TYPE_CHECKING:
    from quadrants.infer.names import ScopeWalk

#: Closures that hold closures that hold closures ...
MAX_NESTED = 24


@frozen
class Plan:
    """What the bytecode says of the variables that inner functions of a function know.

    Args:
        shared: those that an inner function assigns or deletes.
        deleted: those that are deleted anywhere.
        changing: those that may be bound more than once.
    """

    shared: frozenset[str] = frozenset()
    deleted: frozenset[str] = frozenset()
    changing: frozenset[str] = frozenset()


_STORES = (Opcode.STORE_DEREF, Opcode.STORE_LOCAL)
_ACCESSES = (*_STORES, Opcode.DELETE_DEREF)
#: The variable, what is done to it, and whether that is in a loop.
_Access = tuple[str, Opcode, bool]


@lru_cache(maxsize=1024)
def plan_of(code: pytypes.CodeType) -> Plan:
    """The plan of a code object that has cells."""
    names = set(code.co_cellvars)
    own = _accesses(code)
    shared: set[str] = set()
    deleted = {name for name, op, _ in own if op is Opcode.DELETE_DEREF}
    for name, op, _ in _inner_accesses(code, names):
        shared.add(name)
        if op is Opcode.DELETE_DEREF:
            deleted.add(name)
    parameters = parameter_names(code)
    stores = [name for name, op, _ in own if op in _STORES] + [name for name in names if name in parameters]
    looped = {name for name, op, in_loop in own if in_loop and op in _STORES}
    changing = {name for name in names if stores.count(name) > 1 or name in looped or name in deleted}
    return Plan(frozenset(shared & names), frozenset(deleted & names), frozenset(changing))


def _inner_accesses(code: pytypes.CodeType, names: set[str]) -> list[_Access]:
    """The assignments and deletions of variables of these names in the functions inside."""
    found: list[_Access] = []
    for inner in code.co_consts:
        if isinstance(inner, pytypes.CodeType):
            known = names & set(inner.co_freevars)
            if known:
                found += [access for access in _accesses(inner) if access[0] in known]
                found += _inner_accesses(inner, known)
    return found


def _accesses(code: pytypes.CodeType) -> list[_Access]:
    """The stores and deletions of variables, and whether they are in a loop; nothing for code that has no tree."""
    try:
        tree = bytecode.regions(code)
    except bytecode.BytecodeError:
        return []
    found: list[_Access] = []
    pending: list[tuple[object, bool]] = [(tree.body, False)]
    while pending:
        node, looped = pending.pop()
        if isinstance(node, bytecode.Code):
            found += [(str(inst.arg), inst.op, looped) for inst in node.insts if inst.op in _ACCESSES]
        elif isinstance(node, bytecode.Seq):
            pending += [(item, looped) for item in node.items]
        else:
            inside = looped or isinstance(node, (bytecode.Loop, bytecode.For))
            parts = (getattr(node, part, None) for part in ("then", "orelse", "body", "exhausted", "handler"))
            pending += [(part, inside) for part in parts if part is not None]
    return found


# values made of others


def mapped(value: Abstract, change: Callable[[Abstract], Abstract]) -> Abstract:
    """The value with its parts changed; itself where no part is."""
    if isinstance(value, (Tup, ListDisplay, Functions, DictDisplay)):
        items = tuple(change(item) for item in value.items)
        return value if all(a is b for a, b in zip(items, value.items)) else replace(value, items=items)
    if isinstance(value, (Opt, Maybe)):
        item = change(value.item)
        return value if item is value.item else replace(value, item=item)
    if isinstance(value, Sequence_):
        parts = tuple(change(part) for part in value.parts)
        return value if all(a is b for a, b in zip(parts, value.parts)) else replace(value, parts=parts)
    if isinstance(value, Method):
        owner = change(value.owner)
        return value if owner is value.owner else Method(owner, value.name)
    if isinstance(value, Generator):
        function, iterable = change(value.function), change(value.iterable)
        assert isinstance(function, Closure)
        return value if function is value.function and iterable is value.iterable else Generator(function, iterable)
    return value


def leaving(w: ScopeWalk, value: Abstract) -> Abstract:
    """The value as it leaves the function: its closures with what their variables hold now."""
    return _leaving(w, value, ()) if w.late else value


def _leaving(w: ScopeWalk, value: Abstract, around: tuple[Closure, ...]) -> Abstract:
    if not isinstance(value, Closure):
        return mapped(value, lambda part: _leaving(w, part, around))
    if not names_variables(value.type):
        return value
    for level, other in enumerate(reversed(around)):
        if same(value, other):
            return Up(level)
    if len(around) == MAX_NESTED:
        fail(Code.ESCAPING_FUNCTION, "functions that hold each other are nested too deep here")
    defaults = tuple(_leaving(w, part, ()) for part in value.defaults)
    kwdefaults = tuple((name, _leaving(w, part, ())) for name, part in value.kwdefaults)
    free: list[tuple[str, Abstract | None]] = []
    for name, part in value.free:
        if isinstance(part, Late):
            w.left.add(part.name)
            part = w.live_env.locals.get(part.name)
        free.append((name, None if part is None else _leaving(w, part, (*around, value))))
    return replace(value, defaults=defaults, kwdefaults=kwdefaults, free=tuple(free))


def names_variables(type_: Type) -> bool:
    """Whether a closure of the type names variables of the function that made it."""
    return isinstance(type_, LateType) or any(names_variables(part) for part in _parts(type_))


def _parts(type_: Type) -> tuple[Type, ...]:
    """The types that a compound type is made of."""
    if isinstance(type_, ClosureType):
        free = (t for _, t in type_.free if t is not None)
        return (*type_.defaults, *(t for _, t in type_.kwdefaults), *free)
    item = getattr(type_, "item", None)
    more = getattr(type_, "items", None) or getattr(type_, "parts", None) or ()
    found = more if isinstance(more, tuple) else ()
    return (item, *found) if isinstance(item, Type) else found


def holds_functions(type_: Type | None) -> bool:
    """Whether a closure is among what a value of the type holds."""
    if isinstance(type_, ClosureType):
        return True
    return type_ is not None and any(holds_functions(part) for part in _parts(type_))


def same(a: Abstract, b: Abstract) -> bool:
    """Whether two values are known to be one."""
    return a is b or (a.type == b.type and a.leaves == b.leaves)


def unfolded(w: ScopeWalk, value: Abstract, level: int = 0) -> Abstract:
    """A captured value with the function that is being walked in place of the `Up`s that mean it."""
    if isinstance(value, Up):
        return w.own_closure() if value.level == level else value
    if not isinstance(value, Closure):
        return mapped(value, lambda part: unfolded(w, part, level))
    free = tuple((name, None if part is None else unfolded(w, part, level + 1)) for name, part in value.free)
    changed = any(a is not b for (_, a), (_, b) in zip(free, value.free))
    return replace(value, free=free) if changed else value


# calls of closures


class _Unbound:
    """Stands for what a variable holds that is not bound."""


UNBOUND = Const(_Unbound())
_DEFAULT = "@default "


def parameters_of(closure: Closure) -> tuple[tuple[str, Abstract], ...]:
    """What a closure has captured, as parameters of its function. One that may call itself takes its defaults along."""
    found = [(name, UNBOUND if value is None else value) for name, value in closure.free]
    if any(isinstance(value, Up) or holds_functions(value.type) for _, value in found):
        named = ((str(k), value) for k, value in enumerate(closure.defaults))
        found += [(_DEFAULT + name, value) for name, value in (*named, *closure.kwdefaults) if value.leaves]
    return tuple(found)


def own_closure(w: ScopeWalk) -> Closure:
    """The function that is being walked as a value."""
    ref = w.ref
    defaults = tuple(w.free.get(f"{_DEFAULT}{k}", value) for k, value in enumerate(ref.defaults))
    kwdefaults = tuple((name, w.free.get(_DEFAULT + name, value)) for name, value in ref.kwdefaults)
    free = tuple((name, value) for name, value in w.free.items() if not name.startswith(_DEFAULT))
    return Closure(ref.code, ref.globals, defaults, kwdefaults, free)


def bound_free(w: ScopeWalk, name: str, value: Abstract) -> Abstract:
    """A captured value, with a NameError at run time where the variable is not bound."""
    text = f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
    if value is UNBOUND or (isinstance(value, Const) and value.value is UNBOUND.value):
        w.fails(NameError, text)
    if isinstance(value, Maybe):
        w.check(value.flag, NameError, text)
        value = value.item
    return unfolded(w, value)


def check_kept(w: ScopeWalk, values: Sequence[Abstract], result: Type | None) -> None:
    """After a call that closures were passed to: where they may be kept, the variables that change later need boxes."""
    left, w.left = w.left, set()
    boxes = [box for value in values for box in _boxes(value.type)]
    if holds_functions(result) or any(holds_functions(box.item) for box in boxes):
        for name in sorted(left):
            check_changing(w, name)


def check_changing(w: ScopeWalk, name: str) -> None:
    """A closure keeps what a variable holds now: give the variable a box if it may hold something else later."""
    if name in w.late and (name in plan_of(w.ref.code).changing or name not in w.live_env.locals):
        raise Rebox(w.site_of(name), None, False)


def _boxes(type_: Type) -> list[BoxType]:
    """The boxes among what a value of the type holds."""
    if isinstance(type_, BoxType):
        return [type_]
    return [box for part in _parts(type_) for box in _boxes(part)]


def part_from(w: ScopeWalk, name: str) -> None:
    """A comprehension that is a part of the function ends: its variable lives on in the closures that know it."""
    env = w.live_env
    change = lambda value: _parted(w, name, value)  # noqa: E731
    for key, value in env.locals.items():
        env.locals[key] = change(value)
    env.stack[:] = [change(value) for value in env.stack]


def _parted(w: ScopeWalk, name: str, value: Abstract) -> Abstract:
    if not isinstance(value, Closure):
        return mapped(value, lambda part: _parted(w, name, part))
    if not any(isinstance(part, Late) and part.name == name for _, part in value.free):
        return value
    now = w.live_env.locals.get(name)
    return replace(value, free=tuple((n, now if isinstance(p, Late) and n == name else p) for n, p in value.free))
