"""What to assume of the variables at a loop's header, where the loop was solved before.

Takes the types of an earlier walk of the same loop and those of the present one; gives the first assumption. An inner loop is
walked anew whenever the loop around it widens what it assumes. Starting from nothing each time would double the work with every
level; starting from the earlier solution, the assumption mostly holds at once.

Legal where the earlier solution is not above the one that is looked for: `may_resume`. Types only widen from one walk of the outer
loop to the next, and so do solutions, with one exception: a variable that turns into a number of a narrow type (float32) takes
literals and Python numbers along into that type, which they would not join once they are assumed to be anything else. After such a
change the inner loops start from nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from quadrants._frozen import frozen
from quadrants.infer.merge import generalise
from quadrants.infer.values import MaybeType
from quadrants.types import BOOL, C128, F64, I64, Scalar, Type

Types = Mapping[str, Type]

#: Numbers that hold all Python numbers of their kind.
_WIDE = frozenset({BOOL, I64, F64, C128})


@frozen
class Solution:
    """An earlier walk: the types of all locals at the entry, and what was found for those that the loop carries."""

    entry: Types
    found: Types


def may_resume(before: Types, now: Types) -> bool:
    """Whether a solution for the one entry is a start for the other."""
    return all(_widens(before.get(name), type_) for name, type_ in now.items()) and before.keys() <= now.keys()


def _widens(before: Type | None, now: Type) -> bool:
    if before == now:
        return True
    if before is not None and now == generalise(before):
        return True
    item = now.item if isinstance(now, MaybeType) else now
    return isinstance(item, Scalar) and (item.weak or item in _WIDE)


def assumption(earlier: Solution | None, locals_: Types, entry: Mapping[str, Type | None]) -> dict[str, Type]:
    """The first assumption about the carried variables, given the types of all locals and of these at the entry."""
    cold = {name: type_ for name, type_ in entry.items() if type_ is not None}
    if earlier is None or not may_resume(earlier.entry, locals_):
        return cold
    warm: dict[str, Type] = {}
    for name, type_ in entry.items():
        before = earlier.entry.get(name)
        same = before == type_ or (before is not None and type_ == generalise(before))
        known = earlier.found.get(name) if same else None
        if known is not None or type_ is not None:
            warm[name] = known if known is not None else cold[name]
    return warm
