"""The page of `explain()`: it says what the text says, in well-formed HTML."""

from __future__ import annotations

import html.parser
from pathlib import Path

import numpy as np
import pytest

import quadrants as qd
from quadrants.diagnostics import Decision, DecisionKind, SourceLocation
from quadrants.diagnostics.explain_html import Section, page

VOID = frozenset({"meta", "link", "br"})


class Reader(html.parser.HTMLParser):
    """Checks that elements are closed in order; collects text by class."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[str, str]] = []
        self.texts: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append((tag, dict(attrs).get("class") or ""))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        for _, name in self.open:
            if name:
                self.texts.append((name, data))


def read(text: str) -> list[tuple[str, str]]:
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert not reader.open
    return reader.texts


@qd.njit
def smooth(a, b):
    out = np.empty_like(a)
    for i in range(len(a) - 1):
        out[i] = a[i] + b[i + 1]
    return out


def test_every_decision_of_the_text_is_on_the_page(tmp_path: Path) -> None:
    smooth(np.ones(9), np.ones(9))
    smooth(np.ones(9, dtype=np.float32), np.ones(9))
    explanation = smooth.explain()
    path = tmp_path / "page.html"
    explanation.save(path)
    text = path.read_text(encoding="utf-8")
    assert text == explanation.html() == explanation._repr_html_()
    texts = [data for name, data in read(text) if name.startswith("decision")]
    assert explanation.records
    for record in explanation.records:
        assert record.text in texts
    assert "out[i] = a[i] + b[i + 1]" in text and "smooth(float64[::1], float64[::1])" in text


def test_source_and_reasons_are_escaped(tmp_path: Path) -> None:
    source = tmp_path / "<i>.py"
    source.write_text("if a < b & c:  # <script>alert(1)</script>\n    pass\n")
    at = SourceLocation(str(source), 1, 3, 1, 12, "f")
    decision = Decision("simd", DecisionKind.REFUSED, at, "a-reason", "<b>no</b>", (("x < y", "1 & 2"),))
    text = page("<f>", [Section("f<T>", str(source), (decision,))])
    assert "<script>" not in text and "<b>no</b>" not in text
    marked = [data for name, data in read(text) if name == "refused"]
    assert "a < b & c" in marked


@pytest.mark.parametrize("name", ["plain", "empty"])
def test_nothing_to_show(name: str) -> None:
    plain = qd.njit(lambda x: x + 1)
    if name == "plain":
        plain(1)
    read(plain.explain().html())


def test_timings_name_every_stage() -> None:
    smooth(np.ones(9), np.ones(9))
    explanation = smooth.explain(timings=True)
    for rows in explanation.timings.values():
        stages = [stage for stage, _ in rows]
        assert stages[0] == "inference" and {"bounds", "polls", "lowering", "LLVM optimises"} < set(stages)
        assert all(seconds >= 0 for _, seconds in rows)
        assert all(f"ms  {stage}" in str(explanation) for stage in stages)
