"""Affine forms: sums of values with integer coefficients."""

from __future__ import annotations

from typing import NamedTuple

from quadrants.ir import Value


class Form(NamedTuple):
    """`sum(coefficient * value) + const`. Coefficients are not 0."""

    terms: dict[Value, int]
    const: int

    def plus(self, other: Form, factor: int = 1) -> Form:
        """`self + factor * other`."""
        terms = dict(self.terms)
        for value, coefficient in other.terms.items():
            total = terms.get(value, 0) + factor * coefficient
            if total:
                terms[value] = total
            else:
                terms.pop(value, None)
        return Form(terms, self.const + factor * other.const)

    def replaced(self, value: Value, bound: Form) -> Form:
        """The form with another form for one of its values."""
        terms = dict(self.terms)
        factor = terms.pop(value)
        for other, coefficient in bound.terms.items():
            total = terms.get(other, 0) + factor * coefficient
            if total:
                terms[other] = total
            else:
                del terms[other]
        return Form(terms, self.const + factor * bound.const)

    def minus(self, other: Form) -> Form:
        return self.plus(other, -1)

    def shift(self, amount: int) -> Form:
        return Form(self.terms, self.const + amount)

    def scale(self, factor: int) -> Form:
        if factor == 0:
            return Form({}, 0)
        return Form({value: factor * coefficient for value, coefficient in self.terms.items()}, factor * self.const)


def symbol(value: Value) -> Form:
    """The form that is just the value."""
    return Form({value: 1}, 0)


def constant(number: int) -> Form:
    return Form({}, number)
