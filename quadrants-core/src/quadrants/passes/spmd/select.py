"""Chooses the loops whose turns run side by side in SIMD lanes, and transforms them.

Takes QIR after the passes that remove checks and rearrange loops; gives the same with chunks of lanes. A loop is looked at if LLVM
cannot vectorise it by itself: it has loops inside, checks, calls, or lanes that would part. Of loops inside one another
the one that gains the most is chosen, the inner one if they are close. What would gain but may not is told, with what
stands in the way.
"""

from __future__ import annotations

from collections.abc import Iterable

from quadrants._frozen import record
from quadrants.diagnostics import DecisionKind
from quadrants.ir import Function, Op, Region, Value
from quadrants.ir.rewrite import clone_op, replace_uses, uses
from quadrants.passes import known_sizes
from quadrants.passes.context import PassContext, location_of
from quadrants.passes.modes import STRICT, any_strict, mode_of, modes_of
from quadrants.passes.refusals import Refusal
from quadrants.passes.spmd import cost, extremes, is_reason, legality
from quadrants.passes.spmd.extremes import Extreme
from quadrants.passes.spmd.inline import first_label, hot_code
from quadrants.passes.spmd.legality import Plan
from quadrants.passes.spmd.transform import Chunks
from quadrants.passes.spmd.uniformity import Facts, analyse
from quadrants.passes.spmd.width import registers
from quadrants.passes.structure import SHORT, constant_turns, definitions, integer_constants, size_of
from quadrants.types import Scalar

PASS = "spmd"
#: The smallest gain that is worth it, by the estimate of `cost`.
_LEAST_GAIN = 1.45
#: An outer loop must gain so many times more than the one inside it.
_OUTER = 1.15
_MOST_OPS = 1200
_LARGEST_STEP = 1 << 20
#: Functions of floats that are instructions.
_INSTRUCTIONS = frozenset(f"math.{name}" for name in ("sqrt", "floor", "ceil", "trunc", "rint", "copysign", "fma"))


def _is_counted(op: Op) -> bool:
    return op.name == "for" and not op.attrs.get("cold")


@record
class _Candidate:
    """A loop that would gain."""

    loop: Op
    code: Op
    facts: Facts
    lanes: int
    gain: float
    extremes: list[Extreme]

    @property
    def skipped(self) -> frozenset[int]:
        """The places of carried values that are best values, what belongs to them, or their turns."""
        count = len(self.code.regions[0].args) - 1
        turns = range(count - len(self.extremes), count)
        return frozenset((*turns, *(place for extreme in self.extremes for place in extreme.places)))


class Selector:
    """Looks at the loops of one function."""

    def __init__(self, function: Function, context: PassContext) -> None:
        self.function = function
        self.context = context
        self.constants = integer_constants(function)
        self.makers = definitions(function)
        self.sizes = known_sizes.sizes_of(function)
        self.mode = mode_of(function)
        self.label = first_label(function)
        self.replaced: dict[Value, Value] = {}
        self.candidates: dict[Op, _Candidate | None] = {}
        self.plans: dict[tuple[Op, bool], Plan | Refusal] = {}
        vectors = context.options.vector_functions
        self.functions = {
            bits: frozenset(f"math.{name}" for name, width in vectors if width == bits) for bits in (32, 64)
        }

    def run(self) -> None:
        """Transform what gains in the function."""
        self.region(self.function.body, inside_try=False)
        replace_uses(self.function.body, self.replaced)

    def region(self, region: Region, inside_try: bool) -> None:
        """Transform what gains in a region."""
        out: list[Op] = []
        for op in region.ops:
            new = self.loop(op, inside_try) if _is_counted(op) else None
            if new is not None:
                out += new
                continue
            out.append(op)
            if not op.attrs.get("cold"):
                for nested in op.regions:
                    self.region(nested, inside_try or op.name == "try")
        region.ops[:] = out

    def loop(self, loop: Op, inside_try: bool) -> list[Op] | None:
        """The ops that stand for a loop, if it is transformed."""
        candidate = self.candidate(loop)
        if candidate is None:
            return None
        inside = map(self.candidate, filter(_is_counted, loop.regions[0].walk()))
        close = [found for found in inside if found is not None and found.gain * _OUTER >= candidate.gain]
        if any(isinstance(self.legal(found, inside_try), Plan) for found in close):
            return None
        plan = self.legal(candidate, inside_try)
        if isinstance(plan, Refusal):
            self.refuse(candidate, plan)
            return None
        return self.transform(candidate, plan)

    def candidate(self, loop: Op) -> _Candidate | None:
        """The loop, if it would gain."""
        if loop not in self.candidates:
            self.candidates[loop] = self.find(loop)
        return self.candidates[loop]

    def legal(self, found: _Candidate, inside_try: bool) -> Plan | Refusal:
        """How the turns of a loop would run side by side, or why not."""
        key = found.loop, inside_try
        if key not in self.plans:
            self.plans[key] = self.decide(found, inside_try)
        return self.plans[key]

    def find(self, loop: Op) -> _Candidate | None:
        step = self.constants.get(loop.operands[2], 0)
        if not 1 <= abs(step) <= _LARGEST_STEP or not is_reason(loop):
            return None
        turns = constant_turns(loop, self.constants)
        if (turns is not None and turns < SHORT) or size_of(loop.regions[0]) > _MOST_OPS:
            return None
        code = hot_code(loop, self.function, self.context.module, self.label, self.makers, self.constants)
        best = extremes.find(code, uses(code.regions[0])) if step > 0 else []
        if best:
            code = clone_op(code, {}) if code is loop else code
            best = extremes.find(code, uses(code.regions[0]))
            for extreme in best:
                extremes.add_turn(code, extreme)
        constants = self.constants
        if code is not loop:
            self.label = max(self.label, first_label_in(code))
            constants = {**constants, **_constants_in(code)}
        facts = analyse(code, code.regions[0].args)
        bits = _bits(code, facts)
        lanes = self.context.options.vector_bits // bits
        gain = cost.gain(code, facts, lanes, constants, self.functions_in(code, bits), self.sizes)
        if gain < _LEAST_GAIN:
            return None
        return _Candidate(loop, code, facts, lanes * registers(code, facts, constants, _INSTRUCTIONS), gain, best)

    def functions_in(self, code: Op, bits: int) -> frozenset[str]:
        """The elementary functions of a loop that lanes compute together."""
        math = (op for op in code.regions[0].walk() if op.name.startswith("math.") and op.name not in _INSTRUCTIONS)
        return _INSTRUCTIONS if STRICT in modes_of(math, self.mode) else self.functions[bits] | _INSTRUCTIONS

    def decide(self, found: _Candidate, inside_try: bool) -> Plan | Refusal:
        asked = legality.Question(
            found.code,
            found.facts,
            found.lanes,
            self.constants_of(found),
            self.makers_of(found),
            self.function.scope,
            self.mode,
            exact=any_strict(found.code.regions[0].walk(), self.mode) or inside_try or self.context.options.exact_state,
            extremes=found.skipped,
        )
        return legality.check(asked)

    def constants_of(self, found: _Candidate) -> dict[Value, int]:
        """The integer constants, those of a copy included."""
        return self.constants if found.code is found.loop else {**self.constants, **_constants_in(found.code)}

    def makers_of(self, found: _Candidate) -> dict[Value, Op]:
        """The definitions, those of a copy included."""
        if found.code is found.loop:
            return self.makers
        return {**self.makers, **{result: op for op in found.code.regions[0].walk() for result in op.results}}

    def transform(self, found: _Candidate, plan: Plan) -> list[Op]:
        constants, makers = self.constants_of(found), self.makers_of(found)
        chunks = Chunks(
            found.loop, found.code, plan, found.lanes, constants, makers, self.label, found.extremes, self.sizes
        )
        new = chunks.emit()
        self.label = chunks.label
        self.replaced.update(chunks.replaced)
        self.note(found, plan, new)
        return new

    # What is told

    def note(self, found: _Candidate, plan: Plan, new: list[Op]) -> None:
        inside = [inner for op in new if op is not found.loop for inner in _walk(op)]
        counts = {name: sum(op.name == name for op in inside) for name in ("lanes.gather", "lanes.scatter")}
        parts = sum(op.name in ("loop", "for") for op in plan.facts.divergent) - 1
        parts += sum(op.name == "if" and op.operands[0] in plan.facts.varying for op in found.code.regions[0].walk())
        told = [f"{found.lanes} turns run side by side in SIMD lanes"]
        told += [f"masks at {parts} place{'s' if parts != 1 else ''}"] if parts > 0 else []
        told += [f"{count} {name[6:]}{'s' if count != 1 else ''}" for name, count in counts.items() if count]
        told += [f"{name}() one lane at a time" for name in self.scalar_functions(found)]
        told += ["one by one where they would raise"] if plan.bails else []
        told += ["if its arrays do not overlap"] if plan.verdict.disjoint or plan.verdict.distinct else []
        self.context.note(PASS, DecisionKind.APPLIED, self.function, found.loop, "lanes", ", ".join(told))

    def scalar_functions(self, found: _Candidate) -> list[str]:
        """The elementary functions that lanes call one after the other."""
        bits = {32: self.functions_in(found.code, 32), 64: self.functions_in(found.code, 64)}
        names = {
            op.name[5:]: None
            for op in found.code.regions[0].walk()
            if op.name.startswith("math.") and not found.facts.uniform(op.results)
            if isinstance(type := op.result.type, Scalar) and op.name not in bits.get(type.bits, ())
        }
        return list(names)

    def refuse(self, found: _Candidate, refusal: Refusal) -> None:
        at = refusal.op
        detail = [("at", location_of(self.function, at).short)] if at is not None and at.loc is not None else []
        text = f"its turns do not run in SIMD lanes: {refusal.text}"
        self.context.note(PASS, DecisionKind.REFUSED, self.function, found.loop, refusal.code, text, detail)


def _walk(op: Op) -> Iterable[Op]:
    yield op
    for region in op.regions:
        yield from region.walk()


def _bits(loop: Op, facts: Facts) -> int:
    """The size of what decides how many lanes there are: the largest float that differs, else 64."""
    sizes = {
        value.type.part.bits
        for op in loop.regions[0].walk()
        for value in op.results
        if value in facts.varying and isinstance(value.type, Scalar) and (value.type.is_float or value.type.is_complex)
    }
    return max(sizes, default=64) if sizes <= {32, 64} else 64


def _constants_in(loop: Op) -> dict[Value, int]:
    """The integer constants inside a loop."""
    return {
        op.result: value
        for op in loop.regions[0].walk()
        if op.name == "const" and isinstance(value := op.attrs["value"], int) and not isinstance(value, bool)
    }


def first_label_in(loop: Op) -> int:
    """The first label above those inside a loop."""
    labels = [label for op in loop.regions[0].walk() if isinstance(label := op.attrs.get("label"), int)]
    return max(labels, default=-1) + 1
