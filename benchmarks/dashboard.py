"""Static pages of benchmark results: `python -m benchmarks.dashboard [--results folder] [--asv folder] [--out folder]`.

Takes the files that `benchmarks.peers` leaves, and asv's results if there are any; gives an index with the latest figures of every
kernel, and a page a kernel with its history. The pages need nothing beside themselves: no network, no script.
"""

from __future__ import annotations

import argparse
import datetime
import html
import json
import math
import statistics
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.counts import baseline

HERE = Path(__file__).resolve().parent
_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }
body { color: #1b1f24; background: #fff; }
table { border-collapse: collapse; margin: 1rem 0 2rem; }
th, td { padding: .25rem .75rem; border-bottom: 1px solid #d8dee4; text-align: right; font-variant-numeric: tabular-nums; }
th:first-child, td:first-child { text-align: left; }
th { border-bottom: 2px solid #57606a; font-weight: 600; }
.faster { color: #116329; } .slower, .wrong { color: #a40e26; } .quiet { color: #57606a; }
svg { background: #f6f8fa; margin: .5rem 0 1.5rem; }
polyline { fill: none; stroke: #0550ae; stroke-width: 2; } circle { fill: #0550ae; }
@media (prefers-color-scheme: dark) {
  body { color: #e6edf3; background: #0d1117; } th, td { border-color: #30363d; } svg { background: #161b22; } a { color: #79c0ff; }
  .faster { color: #56d364; } .slower, .wrong { color: #ff7b72; } .quiet { color: #8b949e; }
  polyline { stroke: #79c0ff; } circle { fill: #79c0ff; }
}
"""
#: Figures of a kernel that have a history: key, title, unit.
_METRICS = (
    ("ms", "time", "ms"),
    ("first_ms", "first call", "ms"),
    ("call_mb", "memory of a call", "MiB"),
    ("peak_mb", "peak memory of the process", "MiB"),
)


@dataclass(frozen=True)
class Run:
    """The results of one run.

    Args:
        commit: that was measured; `+` behind it if the working tree differed.
        date: in ISO's form.
        kernels: records of `benchmarks.peers`, or of asv brought into their form, by kernel.
        system: figures around the kernels by unit: ours, and Numba's.
    """

    commit: str
    date: str
    kernels: dict[str, dict[str, Any]]
    system: dict[str, dict[str, list[float]]]


def own_runs(folder: Path) -> list[Run]:
    """The serial runs of `benchmarks.peers`."""
    found = []
    for path in sorted(folder.glob("*.json")):
        data = json.loads(path.read_text())
        if not data["parallel"]:
            by_name = {record["kernel"]: record for record in data["kernels"]}
            found.append(Run(data["commit"], data["date"], by_name, data["system"]))
    return found


#: asv's benchmarks: name -> key of a record, and the factor to its unit.
_ASV = {
    "bench_kernels.Kernels.time_kernel": ("ms", 1e3),
    "bench_kernels.Kernels.peakmem_kernel": ("peak_mb", 2.0**-20),
    "bench_kernels.Compile.track_first_call": ("first_ms", 1.0),
}
_ASV_CALLS = {
    "bench_kernels.Calls.time_one_float": "call with one float",
    "bench_kernels.Calls.time_three_arrays": "call with three arrays",
}


def asv_runs(folder: Path) -> list[Run]:
    """The runs of asv (its result files of version 2: columns by name, the values and the parameters among them)."""
    found = []
    for path in sorted(folder.glob("*/*.json")):
        data = json.loads(path.read_text())
        if "results" not in data or "commit_hash" not in data:
            continue
        kernels: dict[str, dict[str, Any]] = {}
        calls: dict[str, list[float]] = {}
        for name, columns in data["results"].items():
            row = dict(zip(data["result_columns"], columns, strict=False))
            values = row.get("result") or []
            if name in _ASV:
                key, factor = _ASV[name]
                for parameter, value in zip(row["params"][0], values):
                    if value is not None and not math.isnan(value):
                        kernel = parameter.strip("'")
                        kernels.setdefault(kernel, {"kernel": kernel, "peers": {}})[key] = value * factor
            elif name in _ASV_CALLS and values and values[0] is not None:
                calls[_ASV_CALLS[name]] = [values[0] * 1e9]
        found.append(Run(data["commit_hash"][:12], iso(data["date"] / 1e3), kernels, {"ns": calls} if calls else {}))
    return found


def iso(seconds: float) -> str:
    """A date as text, to the second."""
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).isoformat(timespec="seconds")


def number(value: float | None) -> str:
    """Three significant digits; a dash for what was not measured."""
    if value is None:
        return "-"
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:,.{min(digits, 4)}f}"


def table(head: Iterable[str], rows: Iterable[Iterable[str]], name: str) -> str:
    """A table of cells that are HTML already."""
    cells = "".join(f"<th>{title}</th>" for title in head)
    lines = ("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<table id="{name}"><thead><tr>{cells}</tr></thead><tbody>\n' + "\n".join(lines) + "\n</tbody></table>"


def page(title: str, body: str) -> str:
    """A document that needs nothing beside itself."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        '<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">'
        f"<style>{_STYLE}</style></head>\n<body><h1>{html.escape(title)}</h1>\n{body}\n</body></html>\n"
    )


def ratio(peer: dict[str, Any] | None) -> str:
    """A rival's time by ours, green where we are clearly faster and red where clearly slower."""
    if peer is None:
        return "-"
    kind = "faster" if peer["low"] > 1 else "slower" if peer["high"] < 1 else "quiet"
    span = f"95% interval {peer['low']:.2f} to {peer['high']:.2f}"
    return f'<span class="{kind}" title="{span}">{peer["ratio"]:.2f}</span>'


def latest(runs: list[Run]) -> dict[str, dict[str, Any]]:
    """The newest record of each kernel; figures that it lacks come from the newest run that has them."""
    found: dict[str, dict[str, Any]] = {}
    for run in runs:
        for name, record in run.kernels.items():
            before = found.get(name, {})
            found[name] = {**before, **record, "peers": {**before.get("peers", {}), **record["peers"]}}
    return dict(sorted(found.items()))


def index(runs: list[Run]) -> str:
    """The page of all kernels."""
    records = latest(runs)
    if not records:
        return page(
            "Quadrants benchmarks", '<p id="empty">No results yet: <code>make bench-peers</code> makes some.</p>'
        )
    names = sorted({name for record in records.values() for name in record["peers"]})
    counted = baseline().get("small", {})
    rows = []
    for name, record in records.items():
        link = f'<a href="{html.escape(name)}.html">{html.escape(name)}</a>'
        wrong = "" if record.get("right", True) else ' <span class="wrong">wrong</span>'
        figures = [number(record.get(key)) for key, _, _ in _METRICS]
        instructions = f"{counted[name]:,}" if name in counted else "-"
        rows.append([link + wrong, *figures, instructions, *(ratio(record["peers"].get(peer)) for peer in names)])
    means = ["geometric mean", *[""] * (len(_METRICS) + 1)]
    for name in names:
        logs = [math.log(record["peers"][name]["ratio"]) for record in records.values() if name in record["peers"]]
        means.append(f"{math.exp(statistics.fmean(logs)):.2f}")
    head = ["kernel", *(f"{title}, {unit}" for _, title, unit in _METRICS), "instructions, small input"]
    newest = f"Commit {html.escape(runs[-1].commit)}, {html.escape(runs[-1].date)}; {len(runs)} runs."
    body = (
        f'<p class="quiet">{newest} A ratio is the '
        + "time of another by ours: above 1 we are faster.</p>"
        + table([*head, *(f"{html.escape(name)} / ours" for name in names)], [*rows, means], "kernels")
    )
    return page("Quadrants benchmarks", body + system_table(runs))


def system_table(runs: list[Run]) -> str:
    """The cost of calls, imports and first calls, of the newest run that has them."""
    figures: dict[str, list[float]] = {}
    for run in runs:
        for unit, values in run.system.items():
            figures.update({f"{name}, {unit}": value for name, value in values.items()})
    if not figures:
        return ""
    rows = []
    for name, (mine, *other) in sorted(figures.items()):
        share = number(mine / other[0]) if other and other[0] else "-"
        rows.append([html.escape(name), number(mine), number(other[0] if other else None), share])
    return "<h2>Around the kernels</h2>" + table(["", "ours", "numba", "ours / numba"], rows, "system")


def chart(values: list[float]) -> str:
    """A line through the values from old to new, from zero up."""
    width, height, pad = 640, 120, 10
    top = max(values) or 1.0
    step = (width - 2 * pad) / max(1, len(values) - 1)
    points = [(pad + k * step, height - pad - value / top * (height - 2 * pad)) for k, value in enumerate(values)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in points)
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}"><polyline points="{line}"/>{dots}</svg>'
    )


def kernel_page(name: str, runs: list[Run]) -> str:
    """The history of one kernel."""
    parts = ['<p><a href="index.html">all kernels</a></p>']
    mine = [(run, run.kernels[name]) for run in runs if name in run.kernels]
    for key, title, unit in _METRICS:
        values = [record[key] for _, record in mine if record.get(key) is not None]
        if values:
            parts.append(f"<h2>{title}, {unit}</h2>{chart(values)}")
    rows = []
    for run, record in reversed(mine):
        peers = ", ".join(f"{html.escape(peer)} {ratio(value)}" for peer, value in record["peers"].items())
        figures = [number(record.get(key)) for key, _, _ in _METRICS]
        rows.append([html.escape(run.commit), html.escape(run.date), *figures, peers or "-"])
    head = ["commit", "date", *(f"{title}, {unit}" for _, title, unit in _METRICS), "others / ours"]
    return page(name, "\n".join(parts) + table(head, rows, "history"))


def write(runs: list[Run], out: Path) -> Path:
    """Write all pages; the index."""
    runs = sorted(runs, key=lambda run: run.date)
    out.mkdir(parents=True, exist_ok=True)
    for name in latest(runs):
        (out / f"{name}.html").write_text(kernel_page(name, runs), encoding="utf-8")
    path = out / "index.html"
    path.write_text(index(runs), encoding="utf-8")
    return path


def main(argv: list[str]) -> int:
    """Read the results and write the pages."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dashboard", description=__doc__)
    parser.add_argument("--results", type=Path, default=HERE / "results", help="of benchmarks.peers")
    parser.add_argument("--asv", type=Path, default=HERE.parent / ".asv" / "results", help="of asv")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "html", help="folder for the pages")
    options = parser.parse_args(argv)
    print(write([*own_runs(options.results), *asv_runs(options.asv)], options.out))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
