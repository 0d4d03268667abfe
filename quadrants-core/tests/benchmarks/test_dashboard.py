"""The pages of benchmark results, opened in a real browser where there is one."""

from __future__ import annotations

import importlib
import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
#: Names of a browser that can print the document it has made of a page.
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
#: What makes the browser work alone: no window, no sandbox (of no use on own pages), nothing fetched in the background.
OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--virtual-time-budget=2000"),
)


def _module(name: str) -> Any:
    sys.path.insert(0, str(ROOT))
    try:
        return importlib.import_module(f"benchmarks.{name}")
    finally:
        sys.path.remove(str(ROOT))


dashboard = _module("dashboard")


def peer(value: float, low: float, high: float) -> dict[str, Any]:
    return {"ms": 2.0, "ratio": value, "low": low, "high": high, "first_ms": 300.0}


def record(kernel: str, ms: float, right: bool = True, **peers: dict[str, Any]) -> dict[str, Any]:
    return {"kernel": kernel, "ms": ms, "first_ms": 40.0, "call_mb": 80.5, "right": right, "peers": peers}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages of two runs of the peers and one of asv; a third file is of a parallel run."""
    folder = tmp_path_factory.mktemp("dashboard")
    results, asv = folder / "results", folder / "asv"
    old = [record("saxpy_f32", 4.0, numba=peer(1.0, 0.9, 1.1)), record("life", 7.25)]
    new = [
        record("saxpy_f32", 1.5, numba=peer(2.0, 1.9, 2.1), gcc=peer(0.5, 0.4, 0.6)),
        record("<b>", 3.0, right=False),
    ]
    system = {"ns": {"call with one float": [30.0, 240.0]}}
    runs = [("old", "2026-01-01", old, {}, False), ("new", "2026-03-01", new, system, False)]
    runs.append(("both", "2026-04-01", [record("never", 9.0)], {}, True))
    results.mkdir()
    for commit, date, kernels, around, parallel in runs:
        data = {"commit": commit, "date": date, "parallel": parallel, "kernels": kernels, "system": around}
        (results / f"{commit}.json").write_text(json.dumps(data))
    columns = ["result", "params", "version"]
    found = {
        "bench_kernels.Kernels.time_kernel": [[0.002, None], [["'saxpy_f32'", "'life'"]], "1"],
        "bench_kernels.Kernels.peakmem_kernel": [[104857600, None], [["'saxpy_f32'", "'life'"]], "1"],
        "bench_kernels.Calls.time_three_arrays": [[9.5e-8], [], "1"],
    }
    data = {
        "commit_hash": "f" * 40,
        "date": 1769904000000,
        "result_columns": columns,
        "results": found,
    }  # 1 February 2026
    (asv / "machine").mkdir(parents=True)
    (asv / "machine" / "ffff.json").write_text(json.dumps(data))
    (asv / "machine" / "machine.json").write_text('{"machine": "x"}')
    out = folder / "out"
    assert dashboard.main(["--results", str(results), "--asv", str(asv), "--out", str(out)]) == 0
    return out


class Tables(HTMLParser):
    """The text of the cells of each table of a page: table -> rows -> cells."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.cell = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "table":
            self.rows = self.tables.setdefault(dict(attrs)["id"], [])
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.cell = True
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self.cell = False

    def handle_data(self, data: str) -> None:
        if self.cell:
            self.rows[-1][-1] += data


def check_index(text: str) -> None:
    head, *rows = Tables(text).tables["kernels"]
    assert head[0] == "kernel" and head[-2:] == ["gcc / ours", "numba / ours"]
    by_name = {row[0]: row for row in rows}
    assert set(by_name) == {"saxpy_f32", "life", "<b> wrong", "geometric mean"}
    counted = f"{dashboard.baseline()['small']['saxpy_f32']:,}"
    assert by_name["saxpy_f32"][1:] == ["1.50", "40.0", "80.5", "100", counted, "0.50", "2.00"]
    assert by_name["life"][1:5] == ["7.25", "40.0", "80.5", "-"] and by_name["life"][-1] == "-"
    assert by_name["geometric mean"][-2:] == ["0.50", "2.00"]
    around = {row[0]: row[1:] for row in Tables(text).tables["system"]}
    assert around["call with one float, ns"] == ["30.0", "240", "0.125"]
    assert around["call with three arrays, ns"] == ["95.0", "-", "-"]


def check_history(text: str) -> None:
    rows = Tables(text).tables["history"][1:]
    assert [row[0] for row in rows] == ["new", "f" * 12, "old"]
    assert [row[2] for row in rows] == ["1.50", "2.00", "4.00"]
    assert rows[1][4:6] == ["-", "100"] and rows[0][-1] == "numba 2.00, gcc 0.50"
    assert text.count("<polyline") == 4 and text.count("<circle") == 3 + 2 + 2 + 1


def test_the_pages_have_the_figures_of_all_runs(pages: Path) -> None:
    assert {path.name for path in pages.iterdir()} == {"index.html", "saxpy_f32.html", "life.html", "<b>.html"}
    index = (pages / "index.html").read_text()
    check_index(index)
    assert 'class="slower" title="95% interval 0.40 to 0.60">0.50<' in index and 'class="faster"' in index
    check_history((pages / "saxpy_f32.html").read_text())


def test_the_pages_need_nothing_beside_themselves(pages: Path) -> None:
    for path in pages.iterdir():
        text = path.read_text()
        assert not re.search(r"https?:|<script|@import|url\(", text)
        for target in re.findall(r'href="([^"#:]+)"', text):
            assert (pages / target.replace("&lt;", "<").replace("&gt;", ">")).exists()


def test_without_results_the_page_says_how_to_make_some(tmp_path: Path) -> None:
    assert "make bench-peers" in dashboard.write([], tmp_path).read_text()


def test_a_browser_shows_the_pages(pages: Path, tmp_path: Path) -> None:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip("no browser: install Chromium (Debian: apt-get install chromium) to have the pages opened in it")

    def shown(name: str) -> str:
        command = [browser, *OPTIONS, f"--user-data-dir={tmp_path}", "--dump-dom", (pages / name).as_uri()]
        return subprocess.run(command, capture_output=True, text=True, timeout=240, check=True).stdout

    check_index(shown("index.html"))
    check_history(shown("saxpy_f32.html"))
