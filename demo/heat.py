"""The heat equation on a square plate whose edges are kept cold, by explicit finite differences.

The start is one sine mode, which keeps its shape while it decays: exp(-2 (pi/L)^2 kappa t) in the equation, and by a known factor
each step in the scheme.
"""

from __future__ import annotations

import math

import numpy as np

SIZE = 1.0
KAPPA = 1.0
RATIO = 0.2  # kappa dt / h^2; the scheme is stable up to 0.25
POINTS = 257
STEPS = 20_000


def sine_mode(points: int) -> np.ndarray:
    """The temperature at the start, 1 in the middle."""
    s = np.sin(np.pi * np.linspace(0.0, SIZE, points))
    s[-1] = 0.0
    return s[:, None] * s[None, :]


def diffuse(u: np.ndarray, ratio: float, steps: int) -> np.ndarray:
    """The temperature some steps later."""
    old = u.copy()
    new = u.copy()
    rows, columns = u.shape
    for _ in range(steps):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                around = old[i - 1, j] + old[i + 1, j] + old[i, j - 1] + old[i, j + 1]
                new[i, j] = old[i, j] + ratio * (around - 4.0 * old[i, j])
        old, new = new, old
    return old


def time_of(step: int, points: int) -> float:
    """The time after a number of steps."""
    return step * RATIO * (SIZE / (points - 1)) ** 2 / KAPPA


def decay(step: int, points: int) -> float:
    """How much of the mode the equation leaves after a number of steps."""
    return math.exp(-2 * (math.pi / SIZE) ** 2 * KAPPA * time_of(step, points))


def discrete_decay(step: int, points: int) -> float:
    """How much of the mode the scheme leaves after a number of steps, in exact arithmetic."""
    return (1 - 8 * RATIO * math.sin(math.pi / (2 * (points - 1))) ** 2) ** step
