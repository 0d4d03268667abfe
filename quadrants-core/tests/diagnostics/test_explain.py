"""Decision records and their text view."""

from __future__ import annotations

from pathlib import Path

import pytest

from quadrants.diagnostics import Decision, DecisionKind, SourceLocation
from quadrants.diagnostics.explain import render


@pytest.mark.parametrize("location", [None, SourceLocation("a.py", None)])
def test_a_refusal_needs_a_location(location: SourceLocation | None) -> None:
    with pytest.raises(ValueError, match="needs a location"):
        Decision("vectorise", DecisionKind.REFUSED, location, "carried-dependence", "s is carried")


@pytest.mark.parametrize(("code", "text"), [("", "text"), ("code", "")])
def test_a_decision_needs_code_and_text(code: str, text: str) -> None:
    with pytest.raises(ValueError, match="reason code and a text"):
        Decision("vectorise", DecisionKind.NOTE, None, code, text)


def test_render(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("def f(a):\n    for i in range(len(a)):\n        a[i] += 1\n    for j in range(9):\n        g(j)\n")
    at = {
        (line, col): SourceLocation(str(path), line, col, line, col + 1, "f")
        for line, col in [(2, 4), (3, 8), (4, 4), (5, 8)]
    }
    records = [
        Decision("vectorise", DecisionKind.REFUSED, at[4, 4], "call", "the loop calls g", (("callee", "g"),)),
        Decision("bounds", DecisionKind.APPLIED, at[3, 8], "guarded", "index check replaced by one guard"),
        Decision("vectorise", DecisionKind.APPLIED, at[2, 4], "vectorised", "loop over i: 4 lanes"),
        Decision("inline", DecisionKind.NOTE, None, "budget", "12 of 100 units used"),
        Decision("bounds", DecisionKind.REMAINS, SourceLocation("<made>", 1, 2, 1, 3, "g"), "check", "check remains"),
    ]
    assert render(records, {"f": "(array) -> None", "h": "(int)"}).replace(str(path), "a.py") == (
        "f(array) -> None  (a.py)\n"
        "  2 | for i in range(len(a)):\n"
        "    + 2:5: loop over i: 4 lanes  [vectorise: vectorised]\n"
        "  3 | a[i] += 1\n"
        "    + 3:9: index check replaced by one guard  [bounds: guarded]\n"
        "  4 | for j in range(9):\n"
        "    - 4:5: the loop calls g  [vectorise: call]\n"
        "        callee: g\n"
        "\n"
        "the whole program\n"
        "      12 of 100 units used  [inline: budget]\n"
        "\n"
        "g  (<made>)\n"
        "  1 |\n"
        "    ! 1:3: check remains  [bounds: check]\n"
        "\n"
        "h(int)\n"
        "  (nothing to report)"
    )


def test_render_nothing() -> None:
    assert render([]) == "(no decisions)"
