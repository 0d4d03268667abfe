"""What the compiler decided, as a page: the source of each function, each decision under its line.

Takes `Decision` records and, by function, the lines to show; gives one HTML document that needs nothing beside itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from types import MappingProxyType

from quadrants._frozen import frozen
from quadrants.diagnostics.excerpt import char_column, source_line
from quadrants.diagnostics.explain import Decision, DecisionKind

#: kind -> its class in the page.
_CLASSES: Mapping[DecisionKind, str] = MappingProxyType(
    {
        DecisionKind.APPLIED: "applied",
        DecisionKind.REFUSED: "refused",
        DecisionKind.REMAINS: "remains",
        DecisionKind.NOTE: "note",
    }
)
_LEGEND = (
    ("applied", "done"),
    ("refused", "refused, with the reason"),
    ("remains", "a cost that remains"),
    ("note", "worth knowing"),
)
#: Lines shown above and below the decisions of a function whose extent is not known.
_AROUND = 1

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem;
  color: #1b1f24; background: #fff; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .2rem; font-family: ui-monospace, monospace; }
.file { color: #57606a; margin: 0 0 .6rem; } table { border-collapse: collapse; width: 100%; }
td { padding: 0 .6rem; vertical-align: top; } td.line { color: #8c959f; text-align: right; user-select: none; width: 3rem; }
pre { margin: 0; font: 13px/1.6 ui-monospace, monospace; white-space: pre-wrap; }
.applied { --c: #1a7f37; } .refused { --c: #cf222e; } .remains { --c: #9a6700; } .note { --c: #57606a; }
mark { background: none; color: inherit; border-bottom: 2px solid var(--c); }
.decision { border-left: 3px solid var(--c); margin: .15rem 0 .15rem 1.5rem; padding: 0 .6rem; font-size: 13px; }
.decision b { color: var(--c); font-weight: 600; } .decision code { color: #57606a; } .detail { color: #57606a; }
.legend span { border-left: 3px solid var(--c); padding: 0 1rem 0 .4rem; font-size: 13px; }
@media (prefers-color-scheme: dark) { body { color: #e6edf3; background: #0d1117; }
  .applied { --c: #3fb950; } .refused { --c: #f85149; } .remains { --c: #d29922; } .note { --c: #8b949e; } }
"""


@frozen
class Section:
    """One function of the page.

    Args:
        heading: its name and types.
        filename: where it is; "" for what concerns the whole program.
        records: its decisions.
        lines: the first and the last line to show; None: those around the decisions.
    """

    heading: str
    filename: str
    records: tuple[Decision, ...]
    lines: tuple[int, int] | None = None


def page(title: str, sections: Iterable[Section]) -> str:
    """The document."""
    legend = "".join(f'<span class="{name}">{escape(text)}</span>' for name, text in _LEGEND)
    body = "\n".join(map(_section, sections)) or "<p>Not compiled yet.</p>"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head>\n'
        f'<body><h1>{escape(title)}</h1><p class="legend">{legend}</p>\n{body}\n</body></html>\n'
    )


def _section(section: Section) -> str:
    by_line: dict[int, list[Decision]] = {}
    loose: list[Decision] = []
    for record in section.records:
        line = record.location.line if record.location else None
        if line is None:
            loose.append(record)
        else:
            by_line.setdefault(line, []).append(record)
    rows = [_row(section.filename, number, by_line.get(number, ())) for number in _range(section, by_line)]
    file = f'<p class="file">{escape(section.filename)}</p>' if section.filename else ""
    return (
        f"<section><h2>{escape(section.heading)}</h2>{file}{''.join(map(_decision, loose))}"
        f"<table>{''.join(rows)}</table></section>"
    )


def _range(section: Section, by_line: Mapping[int, Sequence[Decision]]) -> Iterable[int]:
    """The numbers of the lines to show: all of the function's, and those of the decisions."""
    if section.lines is not None:
        first, last = section.lines
    elif by_line:
        first, last = max(1, min(by_line) - _AROUND), max(by_line) + _AROUND
    else:
        return ()
    return range(min([first, *by_line]), max([last, *by_line]) + 1)


def _row(filename: str, number: int, records: Sequence[Decision]) -> str:
    ordered = sorted(records, key=lambda record: (record.location.col or 0) if record.location else 0)
    source = _marked(source_line(filename, number), ordered)
    decisions = "".join(map(_decision, ordered))
    return f'<tr><td class="line">{number}</td><td><pre>{source or " "}</pre>{decisions}</td></tr>'


def _marked(text: str, records: Sequence[Decision]) -> str:
    """A line of source; what the first decision is about is underlined."""
    location = next((record.location for record in records if record.location), None)
    if location is None or location.col is None:
        return escape(text)
    start = char_column(text, location.col) or 0
    one_line = location.end_line == location.line and location.end_col is not None
    end = char_column(text, location.end_col) if one_line else len(text)
    if end is None or end <= start:
        return escape(text)
    inside = escape(text[start:end])
    return f'{escape(text[:start])}<mark class="{_CLASSES[records[0].kind]}">{inside}</mark>{escape(text[end:])}'


def _decision(record: Decision) -> str:
    details = "".join(f'<div class="detail">{escape(name)}: {escape(value)}</div>' for name, value in record.detail)
    return (
        f'<div class="decision {_CLASSES[record.kind]}"><b>{escape(record.text)}</b> '
        f"<code>{escape(record.pass_name)}: {escape(record.code)}</code>{details}</div>"
    )
