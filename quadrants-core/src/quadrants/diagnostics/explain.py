"""What the compiler decided, and why: the records behind `explain()`, and their text view.

Takes `Decision` records from the passes; gives text grouped by function, in source order. A refusal says where: a refused
decision without a line is an error when it is made, so that no pass can leave its user without a place to look at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from enum import Enum

from quadrants._frozen import frozen
from quadrants.diagnostics.location import SourceLocation


class DecisionKind(Enum):
    """What became of a transformation."""

    APPLIED = "+"
    REFUSED = "-"
    REMAINS = "!"  # a cost that the program still pays: a check, an allocation, a copy
    NOTE = " "


@frozen
class Decision:
    """One decision of one pass. `code` is a short stable reason (`carried-dependence`), `text` the sentence for people."""

    pass_name: str
    kind: DecisionKind
    location: SourceLocation | None
    code: str
    text: str
    detail: tuple[tuple[str, str], ...] = field(default=())

    def __post_init__(self) -> None:
        if not self.code or not self.text:
            raise ValueError(f"a decision of {self.pass_name!r} needs a reason code and a text")
        if self.kind is DecisionKind.REFUSED and (self.location is None or self.location.line is None):
            raise ValueError(
                f"{self.pass_name!r} refused ({self.code}) without saying where: a refusal needs a location"
            )


def render(records: Iterable[Decision], signatures: Mapping[str, str] | None = None) -> str:
    """The text view: one group a function, in order of source lines. `signatures` maps function names to their types."""
    groups: dict[tuple[str, str], list[Decision]] = {}
    for record in records:
        groups.setdefault(_group(record), []).append(record)
    known = signatures or {}
    blocks = [_render_group(key, group, known) for key, group in groups.items()]
    named = {function for _, function in groups}
    blocks += [f"{name}{types}\n  (nothing to report)" for name, types in known.items() if name not in named]
    return "\n\n".join(blocks) if blocks else "(no decisions)"


def _group(record: Decision) -> tuple[str, str]:
    """The file and the function that a record belongs to; records about the whole program have neither."""
    if record.location is None:
        return ("", "")
    return (record.location.filename, record.location.function or "")


def _render_group(key: tuple[str, str], records: list[Decision], signatures: Mapping[str, str]) -> str:
    """One function: its heading, then its records with each source line shown once."""
    from quadrants.diagnostics.excerpt import source_line  # not on the way of a compilation

    filename, function = key
    heading = f"{function}{signatures.get(function, '')}  ({filename})" if filename else "the whole program"
    lines = [heading]
    shown: int | None = None
    for record in sorted(records, key=_order):
        line = record.location.line if record.location else None
        if line is not None and line != shown:
            source = source_line(filename, line).strip()
            lines.append(f"  {line} | {source}" if source else f"  {line} |")
            shown = line
        lines += _render_record(record)
    return "\n".join(lines)


def _order(record: Decision) -> tuple[int, int]:
    """Source order; a record without a line comes first."""
    location = record.location
    return (location.line or 0, location.col or 0) if location else (0, 0)


def _render_record(record: Decision) -> list[str]:
    """One record: mark, place, text, pass and reason; then its details, one a line."""
    place = _place(record.location)
    lines = [f"    {record.kind.value} {place}{record.text}  [{record.pass_name}: {record.code}]"]
    lines += [f"        {name}: {value}" for name, value in record.detail]
    return lines


def _place(location: SourceLocation | None) -> str:
    """`line:col: `, the column in characters from 1."""
    if location is None or location.line is None:
        return ""
    from quadrants.diagnostics.excerpt import char_column, source_line

    text = source_line(location.filename, location.line)
    col = char_column(text, location.col) if text else location.col
    return f"{location.line}: " if col is None else f"{location.line}:{col + 1}: "
