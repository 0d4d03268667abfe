"""Which loops LLVM vectorised, read from what it made of them.

Takes the text of a module before LLVM's passes and the loops of the survey; gives a decision a loop. Lowering names each innermost
loop in its metadata, and LLVM keeps the name on the vector loop.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from quadrants.diagnostics import Decision, DecisionKind
from quadrants.host.codegen import optimise
from quadrants.passes.called import LibraryCall
from quadrants.passes.survey import Loop

PASS, LIBRARY = "simd", "library"
_NODE = re.compile(r"^!(\d+) = (?:distinct )?!\{(.*)\}$", re.MULTILINE)
_PLACE = re.compile(r'!"quadrants\.loop", !"([^"]*)"')
_BACK_EDGE = re.compile(r"^  br i1 .*!llvm\.loop !(\d+)", re.MULTILINE)
_VECTOR = re.compile(r"<(\d+) x (double|float|half|i\d+)>")
_FLOATS = ("half", "float", "double")
_LANES = {"double": "float64", "float": "float32", "half": "float16", "i1": "bool"}


def vector_loops(text: str) -> tuple[dict[str, str], set[str]]:
    """(place -> lanes of the vector loops, every place that is still a loop) of an optimised module."""
    nodes = {match[1]: match[2] for match in _NODE.finditer(text)}
    vectors: dict[str, str] = {}
    places: set[str] = set()
    for match in _BACK_EDGE.finditer(text):
        parts = [nodes.get(number, "") for number in re.findall(r"!(\d+)", nodes.get(match[1], ""))]
        found = next((p[1] for p in map(_PLACE.search, parts) if p), None)
        if found is None:
            continue
        places.add(found)
        if any("llvm.loop.isvectorized" in part for part in parts):
            lanes = _lanes(_block_before(text, match.start()))
            if lanes:
                vectors.setdefault(found, lanes)
    return vectors, places


def _block_before(text: str, end: int) -> str:
    """The basic block that ends at a position."""
    start = max(text.rfind("\n\n", 0, end), text.rfind(":\n", 0, end), text.rfind(":  ", 0, end))
    return text[start:end]


def _lanes(block: str) -> str:
    """The widest vector of numbers in a block, of floats if there are any, as "8 x float64"."""
    widest = (False, 0, "")
    for count, kind in _VECTOR.findall(block):
        if kind != "i1":
            widest = max(widest, (kind in _FLOATS, int(count), kind))
    return f"{widest[1]} x {_LANES.get(widest[2], widest[2].replace('i', 'int'))}" if widest[1] else ""


def decisions(text: str, loops: Iterable[Loop], calls: Iterable[LibraryCall] = ()) -> list[Decision]:
    """What became of each loop, and of the loops of each call of the library."""
    loops, calls = list(loops), list(calls)
    if not (loops or any(call.loops for call in calls)):
        return [decision for call in calls for decision in _of_call(call, {}, set())]
    vectors, places = vector_loops(optimise(text))
    found = [_decision(loop, vectors, places) for loop in {loop.place: loop for loop in loops}.values()]
    return [*found, *(decision for call in calls for decision in _of_call(call, vectors, places))]


def _of_call(call: LibraryCall, vectors: dict[str, str], places: set[str]) -> list[Decision]:
    """The loops and the allocations of a call of the library, at the line of the call."""
    told = []
    if call.loops or call.lanes:
        outcomes = [_decision(loop, vectors, places) for loop in call.loops]
        left = [outcome for outcome in outcomes if outcome.code != "no-loop-left"]
        fast = [outcome.text for outcome in left if outcome.kind is DecisionKind.APPLIED]
        slow = [outcome.text for outcome in left if outcome.kind is DecisionKind.REFUSED]
        detail = [("a loop", text) for text in (*fast, *["runs in SIMD lanes"] * call.lanes, *slow)]
        done = len(fast) + call.lanes
        ending = f"{done} of its {done + len(slow)} innermost loops in SIMD" if detail else "no loop of it is left"
        text = f"{call.name}() of the library, compiled for these types: {ending}"
        kind = DecisionKind.APPLIED if done or not detail else DecisionKind.NOTE
        told.append(Decision(LIBRARY, kind, call.location, "library-call", text, tuple(dict.fromkeys(detail))))
    if call.allocations:
        text = f"{call.name}() allocates {'an array' if len(call.allocations) == 1 else 'arrays'}, {' and '.join(call.allocations)}"
        told.append(Decision(LIBRARY, DecisionKind.REMAINS, call.location, "allocation", text))
    return told


def _decision(loop: Loop, vectors: dict[str, str], places: set[str]) -> Decision:
    if loop.place in vectors:
        text = f"vectorised: {vectors[loop.place]} a vector"
        scalar = loop.obstacle is not None and loop.obstacle[0] == "scalar-function"
        detail = (("but", loop.obstacle[1]),) if scalar and loop.obstacle is not None else ()
        return Decision(PASS, DecisionKind.APPLIED, loop.location, "vectorised", text, detail)
    if loop.place not in places:
        text = "unrolled, or replaced as a whole: no loop is left"
        return Decision(PASS, DecisionKind.APPLIED, loop.location, "no-loop-left", text)
    if loop.obstacle is not None:
        code, reason, where = loop.obstacle
        detail = (("at", where.short),)
        return Decision(PASS, DecisionKind.REFUSED, loop.location, code, f"not vectorised: {reason}", detail)
    text = "not vectorised: its accesses may overlap, have no unit stride, or are too few to pay"
    return Decision(PASS, DecisionKind.REFUSED, loop.location, "memory", text)
