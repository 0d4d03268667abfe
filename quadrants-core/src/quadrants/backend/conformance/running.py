"""Runs golden programs: launches them in the namespace of a backend, and compares what comes out.

Takes a `Golden`, a namespace, a dtype; gives nothing, or raises AssertionError with the program, the array and the first
element that differs.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from quadrants.backend.conformance.golden import Case, Golden, dtype_of
from quadrants.backend.contract import Capabilities


def missing(golden: Golden, dtype: str, capabilities: Capabilities) -> str:
    """Why a device cannot run a program; empty if it can."""
    if dtype not in capabilities.dtypes:
        return f"no {dtype}"
    for need in golden.needs:
        for name, _ in capabilities.lacks:
            if need == name or need.startswith(f"{name}.") or name.startswith(f"{need}."):
                return f"no {name}"
    lacking = [what for what in golden.atomics if not capabilities.supports_atomic(what, dtype)]
    return f"no atomic {', '.join(lacking)} of {dtype}" if lacking else ""


def make_case(golden: Golden, dtype: str) -> Case:
    """The case of a program; the same each time."""
    seed = zlib.crc32(f"{golden.name} {dtype}".encode())
    return golden.case(np.random.default_rng(seed), dtype_of(dtype))


def run(golden: Golden, namespace: Any, dtype: str) -> None:
    """Run one program and compare."""
    with np.errstate(all="ignore"):
        case = make_case(golden, dtype)
    kernel = golden.kernel(namespace, dtype_of(dtype))
    launch = kernel[case.grid, case.block, 0, case.shared_bytes]
    launch(*case.args)
    for position, expected in case.expected.items():
        compare(f"{golden.name}[{dtype}], argument {position}", case.args[position], np.asarray(expected), case.rtol)


def compare(what: str, found: np.ndarray, expected: np.ndarray, rtol: float) -> None:
    """Refuse an array that differs."""
    assert found.shape == expected.shape, f"{what}: the shape is {found.shape}, not {expected.shape}"
    if rtol:
        scale = float(np.max(np.abs(expected), initial=0.0))
        good = np.abs(found.astype(np.float64) - expected.astype(np.float64)) <= rtol * scale
    else:
        good = (found == expected) | ((found != found) & (expected != expected))
    if not np.all(good):
        at = tuple(int(index) for index in np.argwhere(~good)[0])
        raise AssertionError(f"{what}: {np.sum(~good)} elements differ, first {at}: {found[at]}, not {expected[at]}")
