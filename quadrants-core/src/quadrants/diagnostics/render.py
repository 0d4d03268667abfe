"""The text of an error.

Takes a `QuadrantsError`; gives the text that `str()` shows: code and message, place, excerpt with carets, types, calls, hint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from quadrants.diagnostics.excerpt import excerpt, expression_text, position

if TYPE_CHECKING:
    from quadrants.diagnostics.errors import QuadrantsError, TypeNote
    from quadrants.diagnostics.location import SourceLocation

MAX_CALLS = 8  # a longer chain shows its ends


def render_error(error: QuadrantsError) -> str:
    """The full text of `error`."""
    lines = [f"{error.code}: {error.message}"]
    if error.location is not None:
        lines.append(f"  --> {position(error.location)}")
        lines += [f"  {line}" for line in excerpt(error.location)]
    lines += _types(error.types)
    lines += _calls(error.call_chain)
    lines += _labelled("note", error.notes)
    lines += _labelled("hint", [error.hint] if error.hint else [])
    return "\n".join(lines)


def _types(types: list[TypeNote]) -> list[str]:
    """One line for each typed name, aligned."""
    width = max((len(name) for name, _ in types), default=0)
    return [f"  {'where' if i == 0 else '     '} {name:<{width}} : {text}" for i, (name, text) in enumerate(types)]


def _calls(chain: list[SourceLocation]) -> list[str]:
    """The calls that led here, the innermost first, as they are read from the error outwards."""
    lines = []
    for location in reversed(chain):
        text = expression_text(location)
        lines.append(f"  called from {position(location)}" + (f": {text}" if text else ""))
    if len(lines) > MAX_CALLS:
        head, tail = MAX_CALLS // 2, MAX_CALLS - MAX_CALLS // 2
        lines[head:-tail] = [f"  ... {len(lines) - MAX_CALLS} more calls ..."]
    return lines


def _labelled(label: str, texts: list[str]) -> list[str]:
    """Texts behind a label; further lines of a text are indented under it."""
    indent = " " * (len(label) + 4)
    return [f"  {label}: " + text.replace("\n", "\n" + indent) for text in texts]
