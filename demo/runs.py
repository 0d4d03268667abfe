"""The three programs: each run as plain Python for a few steps and compiled for all, checked and timed.

A `Run` keeps what the plots show. `scale` divides the numbers of steps, for a quick look; the checks that hold only after all
steps are left out then.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import quadrants as qd
from demo import heat, molecules, nbody
from demo.report import Timing, chunks, timed


@dataclass(slots=True)
class Run:
    """Times and checks of one program, and named curves to plot."""

    timing: Timing
    curves: dict[str, np.ndarray]


def solar_system(scale: int) -> Run:
    """Five bodies, the energy at each of 50 points on the way."""
    timing = Timing("five bodies", nbody.STEPS // scale, plain_steps=1_000)
    advance, energy = qd.njit(nbody.advance), qd.njit(nbody.energy)

    x, v, m = nbody.solar_system()
    timing.plain_seconds = timed(lambda: nbody.advance(x, v, m, nbody.DT, timing.plain_steps))
    timing.print_plain()
    plain = nbody.energy(x, v, m)

    x, v, m = nbody.solar_system()
    start = energy(x, v, m)
    timing.compile_seconds = timed(lambda: (advance(x, v, m, nbody.DT, 0), energy(x, v, m)))
    advance(x, v, m, nbody.DT, 1_000)
    after = energy(x, v, m)

    x, v, m = nbody.solar_system()
    energies = [start]
    for part in chunks(timing.steps, 50, "five bodies"):
        timing.seconds += timed(lambda part=part: advance(x, v, m, nbody.DT, part))  # type: ignore[misc]
        energies.append(energy(x, v, m))
    timing.print_compiled()

    timing.check("energy at the start", start, nbody.PUBLISHED[0], 5e-10)
    timing.check("energy after 1,000 steps", after, nbody.PUBLISHED[1_000], 5e-10)
    timing.check("energy after 1,000 steps, as plain Python", after, plain, 1e-13)
    if timing.steps in nbody.PUBLISHED:
        timing.check(f"energy after {timing.steps:,} steps", energies[-1], nbody.PUBLISHED[timing.steps], 5e-10)
    drift = np.array(energies) / start - 1
    timing.check("drift of the energy, relative", float(np.max(np.abs(drift))), 0.0, 1e-3)
    return Run(timing, {"energy": drift, "orbits": _orbits(advance)})


def _orbits(advance: Callable[..., None]) -> np.ndarray:
    """Where the bodies are at points of 165 years."""
    x, v, m = nbody.solar_system()
    points = []
    for _ in range(330):
        points.append(x.copy())
        advance(x, v, m, nbody.DT, 50)
    return np.array(points)


def molecular_dynamics(scale: int) -> Run:
    """Atoms that start on a lattice and melt; the energies on the way."""
    x, v, f, box = _atoms()
    timing = Timing(f"{len(x)} atoms", molecules.STEPS // scale, plain_steps=2)
    forces, verlet = qd.njit(molecules.forces), qd.njit(molecules.verlet)
    settings = (box, molecules.CUTOFF, molecules.DT)

    plain, v, f, _ = _atoms()
    molecules.forces(plain, f, box, molecules.CUTOFF)
    timing.plain_seconds = timed(lambda: molecules.verlet(plain, v, f, *settings, timing.plain_steps))
    timing.print_plain()

    x, v, f, _ = _atoms()
    timing.compile_seconds = timed(lambda: (forces(x, f, box, molecules.CUTOFF), verlet(x, v, f, *settings, 0)))
    verlet(x, v, f, *settings, timing.plain_steps)
    difference = float(np.max(np.abs(x - plain)))

    x, v, f, _ = _atoms()
    potential = forces(x, f, box, molecules.CUTOFF)
    energies = [(0.5 * float(np.sum(v * v)), potential)]
    for part in chunks(timing.steps, 100, timing.title):
        start = time.perf_counter()
        energies.append(verlet(x, v, f, *settings, part))
        timing.seconds += time.perf_counter() - start
    timing.print_compiled()

    curves = dict(zip(("kinetic", "potential"), np.array(energies).T / len(x)))
    curves["total"] = total = curves["kinetic"] + curves["potential"]
    timing.check("positions after 2 steps, as plain Python", difference, 0.0, 1e-12)
    reference = molecules.potential_by_numpy(x, box)
    timing.check("potential energy, as by whole arrays", energies[-1][1], reference, 1e-9 * abs(reference))
    timing.check("momentum", float(np.max(np.abs(v.sum(axis=0)))), 0.0, 1e-9)
    timing.check("drift of the energy, relative", float(np.max(np.abs(total / total[0] - 1))), 0.0, 2e-3)
    curves["distance"], curves["density"] = molecules.pair_distribution(x, box)
    return Run(timing, curves)


def _atoms() -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Positions, velocities, room for the forces, and the size of the box, at the start."""
    x, v, box = molecules.lattice(molecules.CELLS)
    return x, v, np.zeros_like(x), box


def heat_equation(scale: int) -> Run:
    """A sine mode that decays; how much of it is left on the way."""
    points = heat.POINTS
    timing = Timing(f"heat on {points} x {points} points", heat.STEPS // scale, plain_steps=2)
    diffuse = qd.njit(heat.diffuse)
    mode = heat.sine_mode(points)

    results: dict[str, Any] = {}
    timing.plain_seconds = timed(lambda: results.update(plain=heat.diffuse(mode, heat.RATIO, timing.plain_steps)))
    timing.print_plain()
    timing.compile_seconds = timed(lambda: diffuse(mode, heat.RATIO, 0))
    difference = float(np.max(np.abs(diffuse(mode, heat.RATIO, timing.plain_steps) - results["plain"])))

    u, left, done = mode, [1.0], [0]
    for part in chunks(timing.steps, 50, timing.title):
        start = time.perf_counter()
        u = diffuse(u, heat.RATIO, part)
        timing.seconds += time.perf_counter() - start
        left.append(float(u[points // 2, points // 2]))
        done.append(done[-1] + part)
    timing.print_compiled()

    timing.check("temperatures after 2 steps, as plain Python", difference, 0.0, 1e-14)
    discrete, analytic = heat.discrete_decay(timing.steps, points), heat.decay(timing.steps, points)
    timing.check("decay, as of the scheme in exact arithmetic", left[-1] / discrete, 1.0, 1e-10)
    timing.check("decay, as of the equation", left[-1] / analytic, 1.0, 1e-3)
    timing.check("shape of the mode", float(np.max(np.abs(u / left[-1] - mode))), 0.0, 1e-10)
    times = np.array([heat.time_of(step, points) for step in done])
    exact = np.array([heat.decay(step, points) for step in done])
    return Run(timing, {"time": times, "left": np.array(left), "exact": exact})


RUNS: tuple[tuple[str, Callable[[int], Run]], ...] = (
    ("Solar system of five bodies (Computer Language Benchmarks Game)", solar_system),
    ("Molecular dynamics: Lennard-Jones atoms, velocity Verlet, periodic box", molecular_dynamics),
    ("Heat equation: explicit finite differences on a square", heat_equation),
)
