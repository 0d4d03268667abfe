"""The five-body solar system of the Computer Language Benchmarks Game: Sun, Jupiter, Saturn, Uranus, Neptune.

Lengths are in astronomical units, times in years, and masses such that the gravitational constant is 1. The functions are the
program of the benchmark, written for arrays: `x[i]` is the position of body i, `v[i]` its velocity, `m[i]` its mass.
"""

from __future__ import annotations

import math

import numpy as np

DT = 0.01
STEPS = 50_000_000

#: Steps -> the energy that the benchmark publishes, to 9 decimal places.
PUBLISHED = {0: -0.169075164, 1_000: -0.169087605, 50_000_000: -0.169059907}

NAMES = ("Sun", "Jupiter", "Saturn", "Uranus", "Neptune")
SOLAR_MASS = 4 * math.pi**2
DAYS = 365.24

#: One row a body: position, velocity in units a day, mass in solar masses.
BODIES = np.array(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
        [4.84143144246472090e00, -1.16032004402742839e00, -1.03622044471123109e-01]
        + [1.66007664274403694e-03, 7.69901118419740425e-03, -6.90460016972063023e-05, 9.54791938424326609e-04],
        [8.34336671824457987e00, 4.12479856412430479e00, -4.03523417114321381e-01]
        + [-2.76742510726411021e-03, 4.99852801234917238e-03, 2.30417297573763929e-05, 2.85885980666130812e-04],
        [1.28943695621391310e01, -1.51111514016986312e01, -2.23307578892655734e-01]
        + [2.96460137564761618e-03, 2.37847173959480950e-03, -2.96589568540237556e-05, 4.36624404335156298e-05],
        [1.53796971148509165e01, -2.59193146099879641e01, 1.79258772950371181e-01]
        + [2.68067772490389322e-03, 1.62824170038242295e-03, -9.51592254519715870e-05, 5.15138902046611451e-05],
    ]
)


def solar_system() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, velocities and masses at the start, the whole at rest."""
    x, v, m = BODIES[:, :3].copy(), BODIES[:, 3:6] * DAYS, BODIES[:, 6] * SOLAR_MASS
    offset_momentum(v, m)
    return x, v, m


def offset_momentum(v: np.ndarray, m: np.ndarray) -> None:
    """Give the Sun the velocity for which the momentum of the whole is zero."""
    for k in range(3):
        p = 0.0
        for i in range(len(m)):
            p += m[i] * v[i, k]
        v[0, k] = -p / m[0]


def energy(x: np.ndarray, v: np.ndarray, m: np.ndarray) -> float:
    """Kinetic and potential energy."""
    e = 0.0
    for i in range(len(m)):
        e += 0.5 * m[i] * (v[i, 0] ** 2 + v[i, 1] ** 2 + v[i, 2] ** 2)
        for j in range(i + 1, len(m)):
            dx = x[i, 0] - x[j, 0]
            dy = x[i, 1] - x[j, 1]
            dz = x[i, 2] - x[j, 2]
            e -= m[i] * m[j] / math.sqrt(dx * dx + dy * dy + dz * dz)
    return e


def advance(x: np.ndarray, v: np.ndarray, m: np.ndarray, dt: float, steps: int) -> None:
    """Move the bodies on by some steps of the symplectic Euler method."""
    n = len(m)
    for _ in range(steps):
        for i in range(n):
            for j in range(i + 1, n):
                dx = x[i, 0] - x[j, 0]
                dy = x[i, 1] - x[j, 1]
                dz = x[i, 2] - x[j, 2]
                d2 = dx * dx + dy * dy + dz * dz
                f = dt / (d2 * math.sqrt(d2))
                v[i, 0] -= dx * m[j] * f
                v[i, 1] -= dy * m[j] * f
                v[i, 2] -= dz * m[j] * f
                v[j, 0] += dx * m[i] * f
                v[j, 1] += dy * m[i] * f
                v[j, 2] += dz * m[i] * f
        for i in range(n):
            x[i, 0] += dt * v[i, 0]
            x[i, 1] += dt * v[i, 1]
            x[i, 2] += dt * v[i, 2]
