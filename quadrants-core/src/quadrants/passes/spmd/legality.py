"""Whether the turns of a loop may run side by side.

Takes a counted loop without calls and its facts; gives a `Plan`, or the `Refusal` that names what stands in the way. Turns are
independent if none reads or writes an element that another one writes: an index along some axis must tell turns apart, by the
same form in all accesses to an array that is written. Arrays that are not the same value are shown not to overlap when
the loop is reached. What may raise makes the turns run again one by one: then either nothing is stored before the last such
op, or nothing is read that is stored, and the state need not be exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from quadrants._frozen import frozen, record
from quadrants.ir import Op, Value
from quadrants.passes.spmd.carried import Carried, classify
from quadrants.passes.spmd.uniformity import Facts
from quadrants.passes.structure import LABELLED, is_pure
from quadrants.types import ArrayType, Scalar

#: More pairs of arrays than this are not compared in front of a loop.
_MOST_GUARDS = 16
#: A private array may have so many elements.
_MOST_PRIVATE = 128
_CONTROL = frozenset({"if", "block", "loop", "for", "yield", "break", "continue", "unreachable"})
_RAISING = frozenset({"check", "index", "raise"})
_MEMORY = frozenset({"load", "store", "alloc"})
_WORDS = {
    "call": "a call that cannot be inlined",
    "pycall": "a call into Python",
    "try": "an exception is handled in it",
    "reraise": "an exception is handled in it",
    "alloc": "an array is allocated in every turn",
    "var": "a variable that inner functions or handlers share",
    "retain": "arrays are passed around in it",
}


@frozen
class Refusal:
    """Why not: reason code, sentence, and where."""

    code: str
    text: str
    op: Op
    other: Op | None = None


@record
class Plan:
    """How the turns of a loop run side by side.

    Args:
        facts: see `uniformity`.
        carried: what each carried value is.
        apart: pairs of arrays that must not overlap.
        bails: whether the turns may have to run again one by one.
    """

    facts: Facts
    carried: list[Carried]
    apart: list[tuple[Value, Value]] = field(default_factory=list)
    bails: bool = False


def check(
    loop: Op, facts: Facts, constants: Mapping[Value, int], makers: Mapping[Value, Op], exact: bool, strict: bool
) -> Plan | Refusal:
    """The plan for a loop, or what stands in the way. `exact`: nothing may be stored by turns behind one that raises."""
    labels = {op.attrs["label"] for op in loop.regions[0].walk() if op.name in LABELLED}
    for op in loop.regions[0].walk():
        if op.name == "return" or (op.name in ("break", "continue") and op.attrs["label"] not in labels):
            if op.name != "continue" or op.attrs["label"] != loop.attrs["label"]:
                return Refusal("early-exit", f"a {op.name} can leave the loop before its end", op)
        refusal = _op(op, facts, constants)
        if refusal is not None:
            return refusal
    carried = []
    for position, arg in enumerate(loop.regions[0].args[1:]):
        role = classify(loop, position, strict)
        if role is None:
            text = f"every turn needs '{arg.hint or 'a value'}' from the turn before"
            return Refusal("carried-dependence", text, loop)
        carried.append(role)
    accesses = Accesses(loop, facts, constants, makers)
    conflict = accesses.conflict()
    if conflict is not None:
        return conflict
    apart = accesses.apart()
    if len(apart) > _MOST_GUARDS:
        return Refusal("many-arrays", "too many arrays would have to be compared for overlaps", loop)
    bails = any(_may_bail(op) for op in loop.regions[0].walk())
    if bails and not _stored_last(loop) and (exact or accesses.reads_written()):
        return Refusal("raises-after-store", "it may raise after it has stored what it also reads", _first_bail(loop))
    return Plan(facts, carried, apart, bails)


def _op(op: Op, facts: Facts, constants: Mapping[Value, int]) -> Refusal | None:
    """What is wrong with one op of the loop."""
    types = [value.type for value in (*op.operands, *op.results)]
    if any(isinstance(type, Scalar) and type.is_float and type.bits == 16 for type in types):
        return Refusal("half-floats", "half-precision floats are computed one by one", op)
    if op.name == "alloc":
        return _alloc(op, constants)
    if op.name == "view" and not facts.uniform(op.operands):
        return Refusal("view", "a part of an array is taken in every turn", op)
    if op.name in ("view", "dim", "stride", "same", "overlap"):
        if any(value in facts.private for value in op.operands) and op.name != "dim":
            return Refusal("view", "a part of a local array is taken", op)
    elif not all(isinstance(type, (Scalar, ArrayType)) for type in types):
        return Refusal("values", "it has values that are neither numbers nor arrays", op)
    if op.name == "for" and not _counts(op, facts, constants):
        return Refusal("range-step", "an inner range differs from turn to turn, and its step is not 1 or -1", op)
    if op.name in ("load", "store") and (op.attr("checked") or op.attr("wrap")):
        return Refusal("check-inside", "an index has to be checked in every turn", op)
    if op.name in _CONTROL or op.name in _RAISING or op.name in _MEMORY or is_pure(op):
        return _array_results(op, facts)
    what = _WORDS.get(op.name, f"there is {op.name} in it")
    return Refusal("call" if op.name in ("call", "pycall") else "op", what, op)


def _array_results(op: Op, facts: Facts) -> Refusal | None:
    if op.name != "view" and any(isinstance(result.type, ArrayType) for result in op.results):
        return Refusal("view", "which array it works on is decided in every turn", op)
    return None


def _alloc(op: Op, constants: Mapping[Value, int]) -> Refusal | None:
    size = 1
    for operand in op.operands:
        size *= constants.get(operand, _MOST_PRIVATE + 1)
    if op.attr("stack") and size <= _MOST_PRIVATE:
        return None
    return Refusal("allocation", "an array is allocated in every turn", op)


def _counts(op: Op, facts: Facts, constants: Mapping[Value, int]) -> bool:
    return facts.uniform(op.operands[:3]) or constants.get(op.operands[2]) in (1, -1)


def _may_bail(op: Op) -> bool:
    return op.name in ("check", "raise") or (op.name == "index" and bool(op.attr("checked")))


def _first_bail(loop: Op) -> Op:
    return next(op for op in loop.regions[0].walk() if _may_bail(op))


def _stored_last(loop: Op) -> bool:
    """Whether no turn stores anything before the last op that may raise."""
    stored = False
    for op in loop.regions[0].walk():
        if op.name in ("for", "loop"):
            inside = list(op.regions[0].walk())
            if any(inner.name == "store" for inner in inside) and any(map(_may_bail, inside)):
                return False
        stored |= op.name == "store"
        if stored and _may_bail(op):
            return False
    return True


# Accesses


@frozen
class Form:
    """An index as `scale` times the turn, plus invariant values times factors, plus a constant."""

    scale: int
    terms: frozenset[tuple[Value, int]]
    offset: int

    def plus(self, other: Form, factor: int = 1) -> Form:
        terms = dict(self.terms)
        for value, times in other.terms:
            terms[value] = terms.get(value, 0) + factor * times
        kept = frozenset((value, times) for value, times in terms.items() if times)
        return Form(self.scale + factor * other.scale, kept, self.offset + factor * other.offset)

    def times(self, factor: int) -> Form:
        terms = frozenset((value, factor * times) for value, times in self.terms if factor)
        return Form(factor * self.scale, terms, factor * self.offset)


class Accesses:
    """The loads and stores of a loop, but for those of private arrays."""

    def __init__(self, loop: Op, facts: Facts, constants: Mapping[Value, int], makers: Mapping[Value, Op]) -> None:
        self.loop = loop
        self.constants = constants
        self.inside: dict[Value, Op | None] = {}
        self.makers = makers
        self.loads: dict[Value, list[Op]] = {}
        self.stores: dict[Value, list[Op]] = {}
        for arg in loop.regions[0].args:
            self.inside[arg] = None
        for op in loop.regions[0].walk():
            self.inside.update(dict.fromkeys(op.results, op))
            for region in op.regions:
                self.inside.update(dict.fromkeys(region.args))
            if op.name in ("load", "store"):
                array = op.operands[op.name == "store"]
                if array not in facts.private:
                    (self.loads if op.name == "load" else self.stores).setdefault(array, []).append(op)

    def reads_written(self) -> bool:
        """Whether an array is both read and written."""
        return not self.loads.keys().isdisjoint(self.stores)

    def conflict(self) -> Refusal | None:
        """Two accesses by which one turn may depend on another."""
        arrays = {**self.loads, **self.stores}
        inner = next((array for array in arrays if array in self.inside), None)
        if inner is not None and self.stores:
            return Refusal("view", "a part of an array is taken in every turn", arrays[inner][0])
        for array, stores in self.stores.items():
            for store in stores:
                for other in (*stores, *self.loads.get(array, ())):
                    if not self.separate(store, other):
                        return self._conflict(store, other)
        return None

    def _conflict(self, store: Op, other: Op) -> Refusal:
        if other is store:
            return Refusal("dependence", "two turns may store to the same element", store)
        verb = "store" if other.name == "store" else "read"
        text = f"one turn may {verb} an element that another stores"
        return Refusal("dependence", text, store, other)

    def separate(self, store: Op, other: Op) -> bool:
        """Whether two different turns never meet at one element."""
        second = other.operands[1:] if other.name == "load" else other.operands[2:]
        return any(self._apart(a, b) for a, b in zip(store.operands[2:], second))

    def _apart(self, a: Value, b: Value) -> bool:
        x, y = self.form(a), self.form(b)
        if x is None or y is None or x.scale != y.scale or not x.scale or x.terms != y.terms:
            return False
        return x.offset == y.offset or (x.offset - y.offset) % x.scale != 0

    def form(self, value: Value) -> Form | None:
        """The form of an index."""
        if value is self.loop.regions[0].args[0]:
            return Form(1, frozenset(), 0)
        if value in self.constants:
            return Form(0, frozenset(), self.constants[value])
        op = self.inside.get(value, self.makers.get(value))
        if op is None or op.name not in ("add", "sub", "mul", "neg", "index"):
            return Form(0, frozenset({(value, 1)}), 0) if value not in self.inside else None
        if op.name == "index":
            return None if op.attr("wrap") else self.form(op.operands[0])
        forms = [self.form(operand) for operand in op.operands]
        known = [form for form in forms if form is not None]
        if len(known) < len(forms):
            return Form(0, frozenset({(value, 1)}), 0) if value not in self.inside else None
        return self._combined(op, known) or (Form(0, frozenset({(value, 1)}), 0) if value not in self.inside else None)

    @staticmethod
    def _combined(op: Op, forms: list[Form]) -> Form | None:
        if op.name == "neg":
            return forms[0].times(-1)
        if op.name != "mul":
            return forms[0].plus(forms[1], 1 if op.name == "add" else -1)
        for one, other in ((0, 1), (1, 0)):
            if not forms[one].scale and not forms[one].terms:
                return forms[other].times(forms[one].offset)
        return None

    def apart(self) -> list[tuple[Value, Value]]:
        """The pairs of arrays of which one is written, and which must not overlap."""
        pairs: dict[frozenset[Value], tuple[Value, Value]] = {}
        for written in self.stores:
            for other in (*self.stores, *self.loads):
                if other is not written and not self._disjoint(written, other):
                    pairs.setdefault(frozenset((written, other)), (written, other))
        return list(pairs.values())

    def _disjoint(self, a: Value, b: Value) -> bool:
        """Whether one is new memory, and the other is not made from it."""
        return any(self._is_new(one) and self._is_whole(other) for one, other in ((a, b), (b, a)))

    def _is_new(self, array: Value) -> bool:
        maker = self.makers.get(array)
        return maker is not None and maker.name == "alloc"

    def _is_whole(self, array: Value) -> bool:
        """Whether it is a parameter or an allocation: no view of anything."""
        maker = self.makers.get(array)
        return maker is not None and maker.name == "alloc"
