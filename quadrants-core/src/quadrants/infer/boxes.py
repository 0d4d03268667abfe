"""Variables that several functions share: making their boxes, reading, assigning and deleting them.

What a box holds and whether it has a flag that says that the variable is bound is found by trying: `engine.boxes` has what is
known, and `Rebox` has the function walked again whose variable it is. The variable is bound for good where the walk has passed an
assignment and nothing deletes it: a local `@bound ...` says so, and there is no flag where all depends on such places.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from quadrants.diagnostics import Code
from quadrants.infer.captured import Box, BoxType, cell_type
from quadrants.infer.emitter import describe, fail
from quadrants.infer.merge import convert, generalise, join_types
from quadrants.infer.slots import BOUND
from quadrants.infer.values import Abstract, ConflictType, Const, DisplayType, rebuild
from quadrants.ir import Value
from quadrants.types import BOOL, Scalar, Type

if TYPE_CHECKING:
    from quadrants.infer.names import ScopeWalk

_IS_BOUND = Const(True)


class Rebox(Exception):
    """A variable needs a box, or one for a wider type: its function is walked again.

    Args:
        site: whose variable (see `engine.boxes`).
        item: what the box has to hold, beside what it does; None: nothing more.
        flagged: whether it has to say that it is bound.
    """

    def __init__(self, site: tuple[object, str], item: Type | None, flagged: bool) -> None:
        super().__init__(site)
        self.site = site
        self.item = item
        self.flagged = flagged


def open_boxes(w: ScopeWalk, names: list[str], deleted: frozenset[str]) -> None:
    """Make the boxes of the variables, at the start of the function; those of parameters are filled."""
    if names and w.portable:
        fail(
            Code.UNSUPPORTED_NONLOCAL,
            f"'{names[0]}' is assigned by an inner function, which the portable language does not have",
            hint="Return the new value and assign it in the outer function.",
        )
    for name in names:
        site = w.site_of(name)
        item, flagged = w.engine.boxes.get(site, (None, False))
        type_ = BoxType(item, flagged or name in deleted, name in deleted, site)
        flag = w.b.value("alloc", type=cell_type(BOOL), zero=True) if type_.flagged else None
        w.boxes[name] = Box(
            type_, flag, tuple(w.b.value("alloc", type=cell_type(t), zero=False) for t in type_.parts())
        )
        given = w.live_env.locals.pop(name, None)
        if given is not None:
            store(w, name, w.boxes[name], given)


def captured(w: ScopeWalk, name: str) -> Box:
    """The box of a variable, for an inner function that is made now."""
    box = w.boxes[name]
    if box.box.item is not None and box.flag is None and BOUND + name not in w.live_env.locals:
        raise Rebox(box.box.site, None, True)
    return box


def load(w: ScopeWalk, name: str, box: Box) -> Abstract:
    """What the variable holds; a NameError or an UnboundLocalError at run time where it is not bound."""
    own = name in w.boxes
    if own:
        captured(w, name)
    if box.box.item is None:
        _unbound(w, name, w.b.bool(False), own)
        w.fails(NameError)
    if box.flag is not None and BOUND + name not in w.live_env.locals:
        _unbound(w, name, _read(w, box.flag), own)
        _mark(w, name, box)
    return rebuild(box.box.item, iter([_read(w, cell) for cell in box.cells]))


def _unbound(w: ScopeWalk, name: str, test: Value, own: bool) -> None:
    if own:
        text = f"cannot access local variable '{name}' where it is not associated with a value"
        w.check(test, UnboundLocalError, text)
    else:
        text = f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
        w.check(test, NameError, text)


def _read(w: ScopeWalk, cell: Value) -> Value:
    return w.b.value("load", cell, checked=False, wrap=False)


def _write(w: ScopeWalk, value: Value, cell: Value) -> None:
    w.b.op("store", value, cell, checked=False, wrap=False)


def _mark(w: ScopeWalk, name: str, box: Box) -> None:
    if not box.box.deleted:
        w.live_env.locals[BOUND + name] = _IS_BOUND


def store(w: ScopeWalk, name: str, box: Box, value: Abstract) -> None:
    """Assign the variable."""
    known = box.box.item
    item = value.type if known is None else join_types(known, value.type)
    if item != known:
        _check_item(name, item)
        raise Rebox(box.box.site, item, False)
    for leaf, cell in zip(convert(w.b, value, item).leaves, box.cells):
        _write(w, leaf, cell)
    if box.flag is not None and BOUND + name not in w.live_env.locals:
        _write(w, w.b.bool(True), box.flag)
    _mark(w, name, box)


def _check_item(name: str, item: Type) -> None:
    """Refuse what boxes do not hold."""
    if isinstance(item, ConflictType):
        fail(
            Code.CANNOT_UNIFY,
            f"'{name}', which an inner function assigns, is given different types",
            types=[(f"{name} (one way)", kind) for kind in item.kinds],
            hint="Assign values of one type, or use two names.",
        )
    if isinstance(item, DisplayType) or not all(isinstance(leaf, Scalar) for leaf in generalise(item).leaves()):
        fail(
            Code.UNSUPPORTED_NONLOCAL,
            f"'{name}', which an inner function assigns, is {describe(item)}: such a variable holds numbers and tuples of numbers",
            hint="Change the array or the list in place, which needs no nonlocal.",
        )


def delete(w: ScopeWalk, name: str, box: Box) -> None:
    """`del` of the variable."""
    load(w, name, box)
    assert box.flag is not None
    _write(w, w.b.bool(False), box.flag)
