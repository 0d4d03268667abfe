"""Molecular dynamics: atoms with the Lennard-Jones potential in a periodic box, moved by velocity Verlet.

Lengths are in units of sigma, energies in units of epsilon, masses in units of an atom's. The potential is cut off at `CUTOFF` and
shifted to be zero there.
"""

from __future__ import annotations

import numpy as np

CUTOFF = 2.5
DENSITY = 0.8442
TEMPERATURE = 1.44  # of the start, on a lattice: half of it goes into melting
DT = 0.002
CELLS = 4
STEPS = 4_000


def lattice(cells: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray, float]:
    """Positions on a face-centred cubic lattice, random velocities without a total momentum, and the size of the box."""
    corner = np.array([[0.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5], [0.0, 0.5, 0.5]])
    cell = np.array([[i, j, k] for i in range(cells) for j in range(cells) for k in range(cells)], dtype=np.float64)
    box = float((4 * cells**3 / DENSITY) ** (1 / 3))
    x = (cell[:, None, :] + corner[None, :, :]).reshape(-1, 3) * (box / cells)
    v = np.random.default_rng(seed).normal(size=x.shape)
    v -= v.mean(axis=0)
    v *= np.sqrt(TEMPERATURE * 3 * len(x) / (v**2).sum())
    return x, v, box


def forces(x: np.ndarray, f: np.ndarray, box: float, cutoff: float) -> float:
    """The force on every atom, into `f`; gives the potential energy."""
    n = len(x)
    shift = 4.0 * (cutoff**-12 - cutoff**-6)
    potential = 0.0
    f[:] = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            dx = x[i, 0] - x[j, 0]
            dy = x[i, 1] - x[j, 1]
            dz = x[i, 2] - x[j, 2]
            dx -= box * round(dx / box)  # the nearest image
            dy -= box * round(dy / box)
            dz -= box * round(dz / box)
            r2 = dx * dx + dy * dy + dz * dz
            if r2 < cutoff * cutoff:
                s6 = 1.0 / (r2 * r2 * r2)
                potential += 4.0 * (s6 * s6 - s6) - shift
                g = 24.0 * (2.0 * s6 * s6 - s6) / r2
                f[i, 0] += g * dx
                f[i, 1] += g * dy
                f[i, 2] += g * dz
                f[j, 0] -= g * dx
                f[j, 1] -= g * dy
                f[j, 2] -= g * dz
    return potential


def verlet(
    x: np.ndarray, v: np.ndarray, f: np.ndarray, box: float, cutoff: float, dt: float, steps: int
) -> tuple[float, float]:
    """Some steps of velocity Verlet, with the forces of the start in `f`; gives the kinetic and the potential energy."""
    potential = 0.0
    for _ in range(steps):
        v += 0.5 * dt * f
        x += dt * v
        potential = forces(x, f, box, cutoff)
        v += 0.5 * dt * f
    return 0.5 * np.sum(v * v), potential


def potential_by_numpy(x: np.ndarray, box: float) -> float:
    """The potential energy another way, with whole arrays: a reference for `forces`."""
    first, second = np.triu_indices(len(x), 1)
    d = x[first] - x[second]
    d -= box * np.round(d / box)
    r2 = (d**2).sum(axis=1)
    s6 = 1 / r2[r2 < CUTOFF**2] ** 3
    shift = 4 * (CUTOFF**-12 - CUTOFF**-6)
    return float((4 * (s6**2 - s6) - shift).sum())


def pair_distribution(x: np.ndarray, box: float, bins: int = 80) -> tuple[np.ndarray, np.ndarray]:
    """Distances, and how much denser than on average the atoms are at them: the structure of the liquid."""
    first, second = np.triu_indices(len(x), 1)
    d = x[first] - x[second]
    d -= box * np.round(d / box)
    counts, edges = np.histogram(np.sqrt((d**2).sum(axis=1)), bins=bins, range=(0.0, box / 2))
    shells = 4 / 3 * np.pi * np.diff(edges**3)
    return (edges[1:] + edges[:-1]) / 2, counts / (shells * len(x) ** 2 / 2 / box**3)
