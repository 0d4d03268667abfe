"""The page about QIR: its table of operations is made from the definitions, and its example is valid."""

from __future__ import annotations

import os
import re
from pathlib import Path

from quadrants.ir.opdef import Effect, OpDef
from quadrants.ir.ops import OPS
from quadrants.ir.parser import parse_module
from quadrants.ir.spec import verify
from quadrants.ir.text import print_module

PAGE = Path(__file__).parents[3] / "docs" / "contributing" / "qir.md"
_TABLE = re.compile(r"(?<=<!-- operations -->\n).*?(?=<!-- end -->)", re.DOTALL)


def _row(defn: OpDef) -> str:
    attrs = ", ".join(f"`{spec.name}`" if spec.required else f"`{spec.name}`?" for spec in defn.attrs)
    effects = ", ".join(flag.name.lower() for flag in Effect if flag in defn.effects and flag.name)
    cells = (f"`{defn.name}`", attrs, effects, defn.doc, defn.derivative)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _table() -> str:
    head = ["", "An attribute with a `?` may be absent.", "", "| op | attributes | effects | meaning | derivative |"]
    return "\n".join([*head, "|---|---|---|---|---|", *map(_row, OPS.values()), "", ""])


def test_table_of_operations() -> None:
    text = PAGE.read_text()
    expected = _TABLE.sub(lambda _: _table(), text)
    if os.environ.get("UPDATE_GOLDEN"):
        PAGE.write_text(expected)
    assert PAGE.read_text() == expected, "the table is old: run this test with UPDATE_GOLDEN=1"


def test_example() -> None:
    (example,) = re.findall(r"```\n(qir 1\n.*?)```", PAGE.read_text(), re.DOTALL)
    module = parse_module(example)
    verify(module)
    assert print_module(module) == example
