"""The stages of a compilation as text, and the decisions taken in it.

Takes a specialisation; compiles it again as far as the stage (code out of the cache has no intermediate forms) and gives the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quadrants import bytecode
from quadrants.api import matching
from quadrants.api.compile import Request
from quadrants.api.frontend import FrontEnd, run
from quadrants.api.jobs import JOBS
from quadrants.diagnostics.explain import Decision, render
from quadrants.lower import vectormath
from quadrants.types.names import Signature, type_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from quadrants.api.dispatcher import Specialisation


def front_end_of(dispatcher: Any, specialisation: Specialisation) -> FrontEnd:
    """The front end's output for a specialisation."""
    types_ = specialisation.types
    result = matching.chosen_result(dispatcher.declared, types_)
    with JOBS.front_end():
        return run(Request(dispatcher.py_func, types_, dispatcher.options, result))


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
    """The decisions for each signature; prints as text."""

    def __init__(self, name: str, decisions: dict[Signature, tuple[Decision, ...]]) -> None:
        self.name = name
        self.decisions = decisions

    @property
    def records(self) -> tuple[Decision, ...]:
        """All decisions, signature after signature."""
        return tuple(record for records in self.decisions.values() for record in records)

    def __str__(self) -> str:
        if not self.decisions:
            return f"{self.name}: not compiled yet"
        return "\n\n".join(render(records, {self.name: _heading(sig)}) for sig, records in self.decisions.items())

    __repr__ = __str__


def _heading(signature: Signature) -> str:
    """`(float64[:], int) -> float`, behind the name of the function."""
    result = "" if signature.result is None else f" -> {type_text(signature.result)}"
    return f"{Signature(signature.params)}{result}"


def explain(dispatcher: Any, specialisations: Iterable[Specialisation]) -> Explanation:
    """What the compiler decided for each of the specialisations."""
    from quadrants.api import vectorisation  # with LLVM, when it is asked for
    from quadrants.passes.survey import survey

    found = {}
    for specialisation in specialisations:
        front = front_end_of(dispatcher, specialisation)
        remaining, loops = survey(front.module, vectormath.ENABLED)
        simd = vectorisation.decisions(front.text, loops)
        found[specialisation.signature] = tuple(dict.fromkeys((*front.decisions, *simd, *remaining)))
    return Explanation(dispatcher.__qualname__, found)
