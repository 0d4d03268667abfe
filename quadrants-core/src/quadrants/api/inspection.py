"""The stages of a compilation as text, and the decisions taken in it.

Takes a specialisation; compiles it again as far as the stage (code out of the cache has no intermediate forms) and gives the text.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from quadrants import bytecode
from quadrants.api import matching
from quadrants.api.compile import Request
from quadrants.api.frontend import FrontEnd, run
from quadrants.api.jobs import JOBS
from quadrants.diagnostics.explain import Decision, render
from quadrants.host.target import host_target
from quadrants.lower import vectormath
from quadrants.types.names import Signature, type_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from quadrants.api.dispatcher import Specialisation
    from quadrants.diagnostics.explain_html import Section


def front_end_of(dispatcher: Any, specialisation: Specialisation) -> FrontEnd:
    """The front end's output for a specialisation."""
    types_ = specialisation.types
    result = matching.chosen_result(dispatcher.declared, types_)
    with JOBS.front_end():
        return run(Request(dispatcher.py_func, types_, dispatcher.options, result, sizes=specialisation.sizes))


def text_of(dispatcher: Any, specialisation: Specialisation, stage: str) -> str:
    """One stage as text: "bytecode", "ir", "llvm" or "asm"."""
    if stage == "bytecode":
        return bytecode.format(bytecode.regions(dispatcher.py_func.__code__))
    front = front_end_of(dispatcher, specialisation)
    if stage == "ir":
        return front.ir_text()
    if stage == "llvm":
        return front.text
    from quadrants.host.codegen import assembly  # LLVM is loaded when assembly is asked for

    return assembly(*front.modules)


class Explanation:
    """The decisions for each signature; prints as text, and shows as a page in notebooks.

    Args:
        name: of the function.
        decisions: by signature.
        lines: the first and the last line of the function in its file.
        timings: by signature, the stages of the compilation and the seconds that each took.
    """

    def __init__(
        self,
        name: str,
        decisions: dict[Signature, tuple[Decision, ...]],
        lines: tuple[int, int] | None = None,
        timings: dict[Signature, tuple[tuple[str, float], ...]] | None = None,
    ) -> None:
        self.name = name
        self.decisions = decisions
        self.lines = lines
        self.timings = timings or {}

    @property
    def records(self) -> tuple[Decision, ...]:
        """All decisions, signature after signature."""
        return tuple(record for records in self.decisions.values() for record in records)

    def __str__(self) -> str:
        if not self.decisions:
            return f"{self.name}: not compiled yet"
        return "\n\n".join(map(self._text, self.decisions))

    __repr__ = __str__

    def _text(self, signature: Signature) -> str:
        text = render(self.decisions[signature], {self.name: _heading(signature)})
        rows = self.timings.get(signature, ())
        return "\n".join((text, *(f"  {seconds * 1e3:8.2f} ms  {stage}" for stage, seconds in rows)))

    def html(self) -> str:
        """A page with the source, each decision under its line: one document that needs nothing beside itself."""
        from quadrants.diagnostics.explain_html import page

        return page(self.name, [section for sig in self.decisions for section in self._sections(sig)])

    def _repr_html_(self) -> str:
        return self.html()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html())

    def _sections(self, signature: Signature) -> list[Section]:
        from quadrants.diagnostics.explain_html import Section

        groups: dict[tuple[str, str], list[Decision]] = {}
        for record in self.decisions[signature]:
            at = record.location
            groups.setdefault(("", "") if at is None else (at.filename, at.function or ""), []).append(record)
        sections = []
        for (filename, function), records in groups.items():
            own = function == self.name
            heading = f"{function}{_heading(signature)}" if own else function or "the whole program"
            sections.append(Section(heading, filename, tuple(records), self.lines if own else None))
        return sections or [Section(f"{self.name}{_heading(signature)}: nothing to report", "", ())]


def _heading(signature: Signature) -> str:
    """`(float64[:], int) -> float`, behind the name of the function."""
    result = "" if signature.result is None else f" -> {type_text(signature.result)}"
    return f"{Signature(signature.params)}{result}"


def explain(dispatcher: Any, specialisations: Iterable[Specialisation], timings: bool = False) -> Explanation:
    """What the compiler decided for each of the specialisations; with `timings`, how long each stage takes."""
    from quadrants.api import vectorisation  # with LLVM, when it is asked for
    from quadrants.passes.called import library_calls
    from quadrants.passes.survey import survey

    found: dict[Signature, tuple[Decision, ...]] = {}
    times: dict[Signature, tuple[tuple[str, float], ...]] = {}
    for specialisation in specialisations:
        front = front_end_of(dispatcher, specialisation)
        vectors = vectormath.available(host_target().vector_bits)
        remaining, loops = survey(front.module, vectors)
        split = {
            decision.location for decision in front.decisions if decision.code == "partials"
        }  # says why they are no vectors
        loops = [loop for loop in loops if loop.location not in split]
        simd = vectorisation.decisions(front.text, loops, library_calls(front.module, vectors))
        before = found.get(specialisation.signature, ())  # of code for other sizes
        found[specialisation.signature] = tuple(dict.fromkeys((*before, *front.decisions, *simd, *remaining)))
        if timings:
            times[specialisation.signature] = _timings(dispatcher, specialisation)
    lines = [line for _, _, line in dispatcher.py_func.__code__.co_lines() if line]
    return Explanation(dispatcher.__qualname__, found, (min(lines), max(lines)) if lines else None, times)


def _timings(dispatcher: Any, specialisation: Specialisation) -> tuple[tuple[str, float], ...]:
    """The stages of a compilation of the specialisation, and the seconds that each takes."""
    from quadrants.host.codegen import compile_ir

    stages: list[tuple[str, float]] = []
    last = time.perf_counter()

    def mark(stage: str) -> None:
        nonlocal last
        now = time.perf_counter()
        stages.append((stage, now - last))
        last = now

    result = matching.chosen_result(dispatcher.declared, specialisation.types)
    with JOBS.front_end():
        request = Request(
            dispatcher.py_func, specialisation.types, dispatcher.options, result, sizes=specialisation.sizes
        )
        front = run(request, mark)
    code = compile_ir(*front.modules)
    machine = (
        ("LLVM reads", code.parse_seconds),
        ("LLVM optimises", code.optimise_seconds),
        ("LLVM emits", code.emit_seconds),
    )
    return (*stages, *machine)
