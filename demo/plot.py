"""The plots of the demonstration: one PNG from the three runs. Matplotlib is loaded by `save`: without it, no plots."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from demo import molecules, nbody
from demo.runs import Run


def save(runs: list[Run], path: Path) -> None:
    """Draw the six panels into a file."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 3, figsize=(15, 9), constrained_layout=True)
    bodies, atoms, plate = runs
    _orbits(axes[0, 0], bodies.curves["orbits"])
    _drift(axes[1, 0], bodies)
    _energies(axes[0, 1], atoms)
    _structure(axes[1, 1], atoms)
    _decay(axes[0, 2], plate)
    _times(axes[1, 2], runs)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _orbits(axes: Any, points: np.ndarray) -> None:
    for body, name in enumerate(nbody.NAMES):
        axes.plot(points[:, body, 0], points[:, body, 1], "o" if body == 0 else "-", ms=4, label=name)
    axes.set(title="Five bodies: 165 years", xlabel="x / AU", ylabel="y / AU", aspect="equal")
    axes.legend(loc="upper right", fontsize=8)


def _drift(axes: Any, run: Run) -> None:
    drift = run.curves["energy"]
    years = np.linspace(0, run.timing.steps * nbody.DT, len(drift))
    axes.plot(years, drift, ".-")
    axes.set(
        title=f"Five bodies: energy over {run.timing.steps:,} steps", xlabel="time / years", ylabel="relative change"
    )


def _energies(axes: Any, run: Run) -> None:
    count = len(run.curves["total"])
    times = np.linspace(0, run.timing.steps * molecules.DT, count)
    for name in ("kinetic", "total", "potential"):
        axes.plot(times, run.curves[name], label=name)
    axes.set(title=f"Molecular dynamics: {run.timing.title} melt", xlabel="time", ylabel="energy of an atom")
    axes.legend(loc="center right", fontsize=8)


def _structure(axes: Any, run: Run) -> None:
    axes.plot(run.curves["distance"], run.curves["density"])
    axes.axhline(1.0, color="grey", lw=0.8)
    axes.set(title="Molecular dynamics: pair distribution at the end", xlabel="distance", ylabel="density / average")


def _decay(axes: Any, run: Run) -> None:
    axes.semilogy(run.curves["time"], run.curves["exact"], "-", label="analytic")
    axes.semilogy(run.curves["time"], run.curves["left"], "o", ms=4, mfc="none", label="compiled")
    axes.set(title="Heat equation: decay of the sine mode", xlabel="time", ylabel="temperature in the middle")
    axes.legend(fontsize=8)


def _times(axes: Any, runs: list[Run]) -> None:
    place = np.arange(len(runs))
    plain = [run.timing.extrapolated for run in runs]
    compiled = [run.timing.seconds for run in runs]
    axes.bar(place - 0.2, plain, 0.4, label="plain Python (extrapolated)")
    bars = axes.bar(place + 0.2, compiled, 0.4, label="compiled")
    axes.bar_label(bars, [f"{run.timing.speedup:,.0f}x" for run in runs])
    axes.set_yscale("log")
    axes.set_ylim(top=max(plain) * 20)
    axes.set_xticks(place, [run.timing.title for run in runs], fontsize=8)
    axes.set(title="Time for all steps", ylabel="seconds")
    axes.legend(fontsize=8)
