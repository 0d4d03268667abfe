"""Which turns of a loop depend on each other: the exact tests that every reordering of loops goes by.

Takes a `for` and its accesses (see `subscripts`); gives a `Verdict`. Two accesses to one array, one of them a store,
conflict if they can meet in one element in different turns. That is a system of equations (the indices are equal) and
inequalities (the bounds of the loops, one turn before the other) over the indices of both turns, which `integers`
decides: the test of the greatest common divisor, Banerjee's bounds, and exact elimination in one. What does not change
in the loop is a symbol: a system without a solution has none for any value of the symbols. Products of an index and a
symbol (`a[i * n + j]`) are taken apart where `0 <= j < n` can be shown.

The answer holds under conditions that are tested when the program runs: arrays that must not overlap (`disjoint`),
arrays whose own elements must not overlap (`distinct`: their strides are not known), and symbols that must be so small
that no index wraps (`limits`).
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from itertools import combinations

from quadrants._frozen import frozen, record
from quadrants.ir import Op, Value
from quadrants.passes.equations import Equations, Turn, constant_of
from quadrants.passes.forms import Form, symbol
from quadrants.passes.integers import Answer, System
from quadrants.passes.polynomials import Poly
from quadrants.passes.subscripts import Access, Subscripts, Writes
from quadrants.types import ArrayType

#: More pairs of accesses than this are not looked at.
_MOST_PAIRS = 400


class Kind(enum.Enum):
    """Which of the two comes first."""

    FLOW = "reads what an earlier turn stored"
    ANTI = "stores what an earlier turn reads"
    OUTPUT = "stores where an earlier turn stored"


@frozen(eq=False)
class Conflict:
    """Two accesses that may meet in different turns.

    Args:
        first: the access of the earlier turn.
        second: that of the later turn.
        distance: by how many turns the second is later, if that is always the same number; 0: if it may be any.
        proven: that they do meet whenever the loop runs for so many turns.
    """

    first: Access
    second: Access
    distance: int = 0
    proven: bool = False

    @property
    def kind(self) -> Kind:
        if self.first.writes:
            return Kind.OUTPUT if self.second.writes else Kind.FLOW
        return Kind.ANTI


@record
class Verdict:
    """What stands against running the turns of a loop in any order, and under which conditions nothing else does.

    Args:
        conflicts: pairs of accesses that may meet.
        opaque: ops that may do anything.
        accesses: all that the loop does to arrays that other turns can see.
        disjoint: pairs of arrays that must not overlap.
        distinct: arrays of which no two elements may overlap.
        limits: how large values may be: `abs(value) < limit`.
    """

    conflicts: list[Conflict] = field(default_factory=list)
    opaque: list[Op] = field(default_factory=list)
    accesses: list[Access] = field(default_factory=list)
    disjoint: list[tuple[Value, Value]] = field(default_factory=list)
    distinct: list[Value] = field(default_factory=list)
    limits: dict[Value, int] = field(default_factory=dict)

    @property
    def independent(self) -> bool:
        """Whether nothing is in the way, the conditions apart."""
        return not self.conflicts and not self.opaque


def analyse(loop: Op, makers: Mapping[Value, Op], writes: Writes | None = None) -> Verdict:
    """The dependences that a `for` carries from turn to turn through memory. (Its carried values are another matter.)

    Args:
        loop: a `for` with a constant step.
        makers: the definitions of the function's values.
        writes: which array arguments a call may write to; without it, all.
    """
    found = Subscripts(loop, makers) if writes is None else Subscripts(loop, makers, writes)
    return _Tester(found).verdict()


@record
class _Tester:
    subscripts: Subscripts
    found: Verdict = field(default_factory=Verdict)
    equations: Equations = field(init=False)
    step: int = 0
    pairs: int = 0

    def __post_init__(self) -> None:
        self.equations = Equations(self.subscripts, self.found.limits)

    def verdict(self) -> Verdict:
        found, loop = self.found, self.subscripts.loop
        found.opaque = list(self.subscripts.opaque)
        found.accesses = self.subscripts.accesses
        step = constant_of(self.subscripts, loop.operands[2])
        if step is None:
            found.opaque.append(loop)
            return found
        self.step = step
        by_root: dict[Value, list[Access]] = {}
        for access in self.subscripts.accesses:
            by_root.setdefault(access.root, []).append(access)
        for accesses in by_root.values():
            self.array(accesses)
        for one, other in combinations(by_root, 2):
            stored = any(access.writes for root in (one, other) for access in by_root[root])
            if stored and not self.apart(one, other):
                found.disjoint.append((one, other))
        return found

    def apart(self, one: Value, other: Value) -> bool:
        """Whether two arrays are known not to overlap: one of them was allocated here, the other is not made from it."""
        makers = self.subscripts.makers
        for new, old in ((one, other), (other, one)):
            maker, origin = makers.get(new), makers.get(old)
            if maker is not None and maker.name == "alloc" and (origin is None or origin.name == "alloc"):
                return True
        return False

    def array(self, accesses: list[Access]) -> None:
        """The conflicts within one array."""
        stores = [access for access in accesses if access.writes]
        if not stores:
            return
        root = accesses[0].root
        before = len(self.found.conflicts)
        for store in stores:
            for access in accesses:
                if access.writes and accesses.index(access) < accesses.index(store):
                    continue  # this pair was looked at
                self.pair(store, access)
        assert isinstance(root.type, ArrayType)
        if not root.type.contiguous and len(self.found.conflicts) == before:
            self.found.distinct.append(root)

    def pair(self, one: Access, other: Access) -> None:
        """Both orders of two accesses, where only the same elements can tell them apart."""
        if (one.axes is None or other.axes is None) and one.linear is not None and other.linear is not None:
            same = one is other
            one = replace(one, axes=(one.linear,))
            other = one if same else replace(other, axes=(other.linear,))
        orders = [(one, other)] if one is other else [(one, other), (other, one)]
        self.pairs += 1
        if one.axes is None or other.axes is None or self.pairs > _MOST_PAIRS:
            self.found.conflicts.append(Conflict(*orders[0]))
            return
        if any(self.apart_by(left, right) for left, right in zip(one.axes, other.axes)):
            return
        for first, second in orders:
            conflict = self.meet(first, second)
            if conflict is not None:
                self.found.conflicts.append(conflict)

    def apart_by(self, left: Poly | None, right: Poly | None) -> bool:
        """Whether an index along one axis tells the turns apart by itself: it is the index of the loop, plus the same."""
        if left is None or left != right:
            return False
        index = self.subscripts.loop.regions[0].args[0]
        changing = [monomial for monomial in left if self.equations.changes(monomial)]
        return changing == [(index,)] and abs(left[index,]) == 1

    def meet(self, first: Access, second: Access) -> Conflict | None:
        """Whether the second access can meet the first in a later turn."""
        assert first.axes is not None and second.axes is not None
        earlier, later = Turn(), Turn()
        system = System()
        for access, turn in ((first, earlier), (second, later)):
            self.equations.bounds(system, access, turn)
        index = self.subscripts.loop.regions[0].args[0]
        ahead = symbol(later.indices[index]).minus(symbol(earlier.indices[index]))
        system.inequalities.append((ahead if self.step > 0 else ahead.scale(-1)).shift(-1))
        exact = True
        for left, right in zip(first.axes, second.axes):
            exact &= self.equations.equal(system, left, right, earlier, later)
        answer = system.solvable()
        if answer is Answer.NO:
            return None
        distance = self.distance(system, ahead)
        names = {*earlier.indices.values(), *later.indices.values()}
        plain = all(set(form.terms) <= names for form in system.equations)
        proven = exact and plain and answer is Answer.YES and first.always and second.always
        return Conflict(first, second, distance, proven and (distance > 0 or _same_every_turn(first, second, index)))

    def distance(self, system: System, ahead: Form) -> int:
        """The number of turns between the two, if the equations leave one only."""
        for form in system.equations:
            if set(form.terms) == set(ahead.terms) and sum(form.terms.values()) == 0:
                later = next(value for value, sign in ahead.terms.items() if sign > 0)
                gap = -form.const // form.terms[later]
                return abs(gap // self.step) if gap % self.step == 0 else 0
        return 0


def _same_every_turn(first: Access, second: Access, index: Value) -> bool:
    """Whether neither access depends on the index of the loop."""
    axes: Iterable[Poly | None] = (*(first.axes or ()), *(second.axes or ()))
    return all(poly is not None and not any(index in monomial for monomial in poly) for poly in axes)
