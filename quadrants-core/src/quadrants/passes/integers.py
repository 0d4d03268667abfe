"""Systems of linear equations and inequalities over the integers: whether they can have a solution.

Takes forms (see `forms`) that are 0 or not negative; gives an `Answer`. Equations are solved exactly: by the greatest
common divisor of their coefficients, and by changes of variables that keep integers integers. Inequalities are then
eliminated variable by variable (Fourier and Motzkin), with constants rounded to integers on the way; an elimination is
exact where one of the two coefficients is 1. So NO is a proof, YES is one too, and MAYBE is what is left.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import field
from math import gcd

from quadrants._frozen import record
from quadrants.ir import Value
from quadrants.passes.forms import Form
from quadrants.types import I64

#: More inequalities than this are not worked on.
_MOST = 160
#: A larger coefficient ends the search.
_LARGEST = 1 << 64


class Answer(enum.Enum):
    """Whether there is a solution."""

    NO = enum.auto()
    MAYBE = enum.auto()
    YES = enum.auto()


class _Impossible(Exception):
    """The system has no solution."""


class _TooLarge(Exception):
    """The system is not worked on any longer."""


@record
class System:
    """Equations (`form == 0`) and inequalities (`form >= 0`)."""

    equations: list[Form] = field(default_factory=list)
    inequalities: list[Form] = field(default_factory=list)

    def copy(self) -> System:
        return System(list(self.equations), list(self.inequalities))

    def solvable(self) -> Answer:
        """Whether some integers fulfil all."""
        try:
            rest = _solve_equations(self.equations, self.inequalities)
            return Answer.YES if _eliminate(rest) else Answer.MAYBE
        except _Impossible:
            return Answer.NO
        except _TooLarge:
            return Answer.MAYBE


def _reduced(form: Form) -> Form:
    """An equation divided by the common divisor of its coefficients, which must divide its constant."""
    if not form.terms:
        if form.const:
            raise _Impossible
        return form
    divisor = gcd(*form.terms.values())
    if form.const % divisor:
        raise _Impossible
    return Form({value: coefficient // divisor for value, coefficient in form.terms.items()}, form.const // divisor)


def _tightened(form: Form) -> Form | None:
    """An inequality divided by the common divisor, its constant rounded down; None if it always holds."""
    if not form.terms:
        if form.const < 0:
            raise _Impossible
        return None
    if max(map(abs, form.terms.values())) > _LARGEST:
        raise _TooLarge
    divisor = gcd(*form.terms.values())
    return Form({value: coefficient // divisor for value, coefficient in form.terms.items()}, form.const // divisor)


def _replace(forms: list[Form], value: Value, by: Form) -> list[Form]:
    return [form.replaced(value, by) if value in form.terms else form for form in forms]


def _solve_equations(equations: list[Form], inequalities: list[Form]) -> list[Form]:
    """The inequalities, with the variables that the equations fix replaced."""
    work = list(equations)
    while work:
        equation = _reduced(work.pop())
        if not equation.terms:
            continue
        value, coefficient = min(equation.terms.items(), key=lambda item: abs(item[1]))
        if abs(coefficient) == 1:
            rest = Form({v: c for v, c in equation.terms.items() if v is not value}, equation.const)
            by = rest.scale(-coefficient)
        else:  # value = new - sum(quotient * other): the other coefficients become smaller than this one
            new = Value(I64, "new")
            quotients = {v: -(c // coefficient) for v, c in equation.terms.items() if v is not value}
            by = Form({new: 1, **{v: q for v, q in quotients.items() if q}}, 0)
            work.append(equation.replaced(value, by))
        work, inequalities = _replace(work, value, by), _replace(inequalities, value, by)
    return inequalities


def _strongest(forms: Iterable[Form]) -> list[Form]:
    """The inequalities without those that others imply."""
    least: dict[frozenset[tuple[Value, int]], Form] = {}
    for form in forms:
        tight = _tightened(form)
        if tight is None:
            continue
        key = frozenset(tight.terms.items())
        if key not in least or tight.const < least[key].const:
            least[key] = tight
    return list(least.values())


def _eliminate(inequalities: list[Form]) -> bool:
    """Eliminate all variables. Gives whether every step was exact; raises `_Impossible` if nothing fulfils them."""
    forms = _strongest(inequalities)
    exact = True
    while forms:
        if len(forms) > _MOST:
            raise _TooLarge
        value = _cheapest(forms)
        lower = [form for form in forms if form.terms.get(value, 0) > 0]
        upper = [form for form in forms if form.terms.get(value, 0) < 0]
        rest = [form for form in forms if value not in form.terms]
        for low in lower:
            for high in upper:
                a, b = low.terms[value], -high.terms[value]
                exact = exact and (a == 1 or b == 1)
                rest.append(low.scale(b).plus(high, a))
        forms = _strongest(rest)
    return exact


def _cheapest(forms: list[Form]) -> Value:
    """The variable whose elimination leaves the fewest inequalities."""
    counts: dict[Value, list[int]] = {}
    for form in forms:
        for value, coefficient in form.terms.items():
            sides = counts.setdefault(value, [0, 0, 0])
            sides[coefficient > 0] += 1
            sides[2] |= abs(coefficient) != 1
    return min(
        counts, key=lambda value: (counts[value][0] * counts[value][1] - sum(counts[value][:2]), counts[value][2])
    )
