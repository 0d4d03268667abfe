"""The examples in the documentation and in the README print what the pages say. UPDATE_GOLDEN=1 writes what they print."""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path

import page_runner as pages
import pytest

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
GENERATED = ("api", "errors")
PAGES = [ROOT / "README.md"] + sorted(
    path for path in DOCS.rglob("*.md") if path.relative_to(DOCS).parts[0] not in GENERATED
)
_BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(#[^)]*)?\)")


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", [p for p in PAGES if any(pages.examples(p.read_text("utf-8")))], ids=_name)
def test_examples(path: Path, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = list(pages.page_results(path, tmp_path))
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(pages.updated(path.read_text("utf-8"), results), encoding="utf-8")
        return
    for example, found in results:
        if example.expected is not None:
            assert pages.matches(example.expected, found), f"{_name(path)}:{example.line} printed\n{found}"
        else:
            assert not found, f"{_name(path)}:{example.line} prints, and the page does not say what:\n{found}"


@pytest.mark.parametrize("path", PAGES, ids=_name)
def test_links(path: Path) -> None:
    text = _BLOCK.sub("", path.read_text("utf-8"))
    assert [target for target, _ in _LINK.findall(text) if not (path.parent / target).exists()] == []


def test_a_wrong_page_fails(tmp_path: Path) -> None:
    """The runner sees a wrong text, an exception that is not announced, and names of earlier blocks."""
    blocks = ("python\nx = 2", "python\nprint(x)", "text\n3", "python\n1 / 0", "text\nZero...")
    text = "".join(f"```{block}\n```\n\n" for block in blocks)
    path = tmp_path / "page.md"
    path.write_text(text)
    results = list(pages.page_results(path, tmp_path))
    assert [found for _, found in results] == ["", "2\n", "ZeroDivisionError: division by zero\n"]
    assert [e.expected is None or pages.matches(e.expected, found) for e, found in results] == [True, False, True]
    assert "```text\n2\n```" in pages.updated(text, results)
    path.write_text("```python\n1 / 0\n```\n")
    with pytest.raises(ZeroDivisionError):
        list(pages.page_results(path, tmp_path))
