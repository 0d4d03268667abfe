"""Source excerpts with carets.

Takes a `SourceLocation`; gives the lines of text that show it, with carets under the exact sub-expression. The source is
read through `linecache`, so cells of a notebook work; where there is no source (`exec`, the plain REPL) the excerpt is empty.
"""

from __future__ import annotations

import linecache
import unicodedata

from quadrants.diagnostics.location import SourceLocation

MAX_LINES = 6  # of one excerpt; a longer expression shows its first lines and its last


def source_line(filename: str, line: int | None) -> str:
    """One line of source without its line end; empty where there is none."""
    if line is None or line < 1:
        return ""
    return linecache.getline(filename, line).rstrip("\r\n\f")


def char_column(text: str, byte_col: int | None) -> int | None:
    """The column in characters (from 0) of a column in UTF-8 bytes."""
    if byte_col is None:
        return None
    return len(text.encode("utf-8", "replace")[:byte_col].decode("utf-8", "ignore"))


def position(location: SourceLocation) -> str:
    """`file:line:col in function`, lines and columns from 1, the column in characters."""
    parts = [location.filename]
    if location.line is not None:
        parts.append(str(location.line))
        text = source_line(location.filename, location.line)
        col = char_column(text, location.col) if text else location.col
        if col is not None:
            parts.append(str(col + 1))
    return ":".join(parts) + (f" in {location.function}" if location.function else "")


def excerpt(location: SourceLocation) -> list[str]:
    """The source lines of `location` with carets, behind a gutter of line numbers; empty when there is no source."""
    first = location.line
    if first is None:
        return []
    linecache.checkcache(location.filename)
    last = first if _is_header(location) else max(first, location.end_line or first)
    texts = {n: source_line(location.filename, n) for n in _shown(first, last)}
    if not texts[first].strip():
        return []
    width = len(str(last))
    blank = " " * (width + 1) + "|"
    lines = [blank]
    previous = first - 1
    for number, text in texts.items():
        if number != previous + 1:
            lines.append(" " * (width + 1) + "...")
        previous = number
        lines.append(f"{number:>{width}} | {text}".rstrip())
        carets = _carets(text, *_span(location, number, last, text))
        if carets:
            lines.append(f"{blank} {carets}")
    return lines


def expression_text(location: SourceLocation) -> str:
    """The source text of a location on one line; else the whole line, stripped; empty when there is no source."""
    text = source_line(location.filename, location.line)
    start, stop = char_column(text, location.col), char_column(text, location.end_col)
    if start is None or stop is None or location.end_line not in (None, location.line):
        return text.strip()
    return text[start:stop].strip()


def _is_header(location: SourceLocation) -> bool:
    """Whether a location is a whole compound statement (a loop, a class): then its first line says enough."""
    text = source_line(location.filename, location.line).partition("#")[0]
    return text.rstrip().endswith(":") and (location.end_line or 0) > (location.line or 0)


def _shown(first: int, last: int) -> list[int]:
    """The line numbers of an excerpt."""
    if last - first < MAX_LINES:
        return list(range(first, last + 1))
    return [*range(first, first + MAX_LINES - 1), last]


def _span(location: SourceLocation, number: int, last: int, text: str) -> tuple[int, int]:
    """The range of characters to underline on one line of the location; empty when columns are not known."""
    if location.col is None:
        return (0, 0)
    body = len(text) - len(text.lstrip())
    start = char_column(text, location.col) if number == location.line else body
    stop = char_column(text, location.end_col) if number == location.end_line else None
    return (start or 0, len(text.rstrip()) if stop is None else stop)


def _carets(text: str, start: int, stop: int) -> str:
    """Carets under `text[start:stop]`; the padding repeats tabs so that any tab width lines up."""
    if stop <= start:
        return ""
    padding = "".join("\t" if c == "\t" else " " * _cells(c) for c in text[:start])
    return padding + "^" * max(1, sum(_cells(c) for c in text[start:stop]))


def _cells(char: str) -> int:
    """How many terminal cells a character takes."""
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1
