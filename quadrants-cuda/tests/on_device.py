"""Checks and times the CUDA backend on a GPU, in one go: `python quadrants-cuda/tests/on_device.py`.

Needs a driver, numpy, llvmlite and cffi, nothing else. Prints a line a check, and ends with status 1 if one failed. `--json FILE`
keeps the figures, `--limit SECONDS` leaves out what does not fit into the time (420 by default), `--stand-in` runs everything small
on the stand-in for the driver, which tests this script.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from quadrants.backend import get_backend, registry
from quadrants.backend.conformance import GOLDEN
from quadrants.backend.conformance.running import missing, run
from quadrants.backend.contract import Device
from quadrants.ir.parser import parse_module
from quadrants_cuda import CudaBackend


@dataclass
class Session:
    """What the checks share: the backend, and what they found.

    Args:
        backend: the backend.
        small: whether everything is small, on the stand-in.
        ends: when no new check begins.
        figures: what was measured, by name.
        failed: the names of the checks that failed.
    """

    backend: CudaBackend
    small: bool
    ends: float
    figures: dict[str, float] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    @property
    def ns(self) -> Any:
        return self.backend.namespace

    @property
    def device(self) -> Device:
        return self.backend.devices()[0]

    def note(self, name: str, value: float, unit: str) -> None:
        """Keep a figure."""
        self.figures[f"{name} [{unit}]"] = value
        print(f"  {name}: {value:.4g} {unit}")

    def check(self, name: str, what: Callable[[Session], None]) -> None:
        """Run one check."""
        if time.monotonic() > self.ends:
            print(f"left out, for want of time: {name}")
            return
        start = time.monotonic()
        print(f"{name} ...", flush=True)
        try:
            what(self)
        except Exception:  # noqa: BLE001  (whatever goes wrong is this check's failure, and the others go on)
            traceback.print_exc(file=sys.stdout)
            self.failed.append(name)
        print(f"{name}: {'FAILED' if name in self.failed else 'good'} ({time.monotonic() - start:.1f} s)", flush=True)


def timed_ms(session: Session, work: Callable[[], None], turns: int = 10) -> float:
    """The time of some work on the device, by its events: the least of several."""
    backend, device, best = session.backend, session.device, float("inf")
    work()
    for _ in range(turns):
        first, last = backend.event(device), backend.event(device)
        first.record(None)
        work()
        last.record(None)
        best = min(best, first.elapsed_ms(last))
    return best


# Checks


def golden_programs(session: Session) -> None:
    """Every golden program, with every dtype; stops in time."""
    capabilities = session.backend.capabilities(session.backend.target_of(session.device))
    programs = [(golden, dtype) for golden in GOLDEN.values() for dtype in golden.dtypes]
    programs = programs[::40] if session.small else programs
    wrong, done = [], 0
    for golden, dtype in programs:
        if missing(golden, dtype, capabilities) or time.monotonic() > session.ends - 120:
            continue
        done += 1
        try:
            run(golden, session.ns, dtype)
        except Exception as error:  # noqa: BLE001  (each program is judged by itself)
            wrong.append(f"{golden.name}[{dtype}]: {type(error).__name__}: {error}")
            print("  " + wrong[-1].splitlines()[0])
    session.note("golden programs run", done, "programs")
    if wrong:
        raise AssertionError(f"{len(wrong)} programs of {done} failed")


def grids_and_blocks(session: Session) -> None:
    ns = session.ns

    @ns.kernel
    def count(out):  # type: ignore[no-untyped-def]
        ns.atomic.add(out, 0, 1)

    for grid, block in ((70_000, 1), ((1, 70_000), 1), ((1, 1, 70_000), 1), (3, 1024), ((2, 3, 4), (8, 8, 8))):
        out = np.zeros(1, np.int64)
        count[grid, block](out)
        assert out[0] == np.prod(grid) * np.prod(block), (grid, block, out)


def exceptions_and_prints(session: Session) -> None:
    ns = session.ns

    @ns.kernel
    def guard(x):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        if x[i] > 10:
            raise ValueError("too large", x[i])
        print("element", i)
        x[i] = 0

    guard[2, 4](np.zeros(8))
    try:
        guard[4, 4](np.arange(16.0) * (np.arange(16) == 13))
    except ValueError as error:
        assert "block (3, 0, 0), thread (1, 0, 0)" in str(error), error
    else:
        raise AssertionError("nothing was raised")


def converged_lanes(session: Session) -> None:
    """Subgroup operations behind branches that parted the lanes, many times over."""
    ns = session.ns

    @ns.kernel
    def sums(x, out):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        v = x[i]
        for turn in range(8):
            if (i + turn) % 3 == 0:
                v += ns.subgroup.reduce_all_add(1)
            else:
                v += 2
        out[i] = v + ns.subgroup.reduce_all_add(1)

    blocks = 2 if session.small else 4096
    x, out = np.zeros(256 * blocks, np.int32), np.zeros(256 * blocks, np.int32)
    sums[blocks, 256](x, out)
    lanes = np.arange(x.size).reshape(-1, 32)
    expected = np.full(lanes.shape, 32)
    for turn in range(8):
        chosen = (lanes + turn) % 3 == 0
        expected += np.where(chosen, chosen.sum(1, keepdims=True), 2)
    assert (out.reshape(-1, 32) == expected).all(), np.flatnonzero(out != expected.ravel())[:4]


def far_outside(session: Session) -> None:
    """An access far outside of memory, in a process of its own, is an error of Python."""
    if session.small:
        return
    code = (
        "import numpy as np, quadrants as qd\n"
        "ns = qd.cuda\n"
        "@ns.kernel\n"
        "def far(x, n):\n"
        "    x[n] = 1.0\n"
        "try:\n"
        "    far[1, 1](np.zeros(4), 1 << 50)\n"
        "except qd.QuadrantsError as error:\n"
        "    print('raised', type(error).__name__, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    print("  " + done.stdout.strip())
    assert done.returncode == 0 and "QD419" in done.stdout, (done.returncode, done.stderr[-500:])


# Times


def compile_times(session: Session) -> None:
    text = """qir 1
entry @k

func @k(%x: array<f32, 1, C>) -> () from "k.py" "k" 1 with {kernel=true, level="device"} {
  %t32 = thread.index {axis=0} : i32
  %t = cast %t32 {type=i64}
  %v = load %x, %t {checked=false, wrap=false}
  %w = add %v, %v
  store %w, %x, %t {checked=false, wrap=false}
  return
}
"""
    module, backend = parse_module(text), session.backend
    target = backend.target_of(session.device)
    backend.compile(module, target)
    start = time.perf_counter()
    artifact = backend.compile(module, target)
    session.note("QIR to PTX", 1e3 * (time.perf_counter() - start), "ms")
    start = time.perf_counter()
    executable = backend.load(artifact, session.device)
    session.note("PTX to loaded code", 1e3 * (time.perf_counter() - start), "ms")
    executable.close()


def launch_times(session: Session) -> None:
    ns = session.ns

    @ns.kernel
    def nothing(a, b, c, d, e, f, g, h):  # type: ignore[no-untyped-def]
        if a < 0:
            b[0] = c[0]

    arrays = [ns.to_device(np.zeros(1, np.float32)) for _ in range(7)]
    launch = nothing[1, 32]
    launch(1, *arrays)
    ns.synchronize()
    turns = 20 if session.small else 5000
    start = time.perf_counter()
    for _ in range(turns):
        launch(1, *arrays)
    session.note("host time of a launch with 8 arguments", 1e6 * (time.perf_counter() - start) / turns, "us")
    ns.synchronize()
    session.note("the same with the device's work", 1e6 * (time.perf_counter() - start) / turns, "us")


def memory_bandwidth(session: Session) -> None:
    ns = session.ns
    n = 1 << 12 if session.small else 1 << 27

    @ns.kernel
    def saxpy(a, x, y):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        if i < y.size:
            y[i] += a * x[i]

    x, y = ns.to_device(np.ones(n, np.float32)), ns.to_device(np.zeros(n, np.float32))
    launch = saxpy[-(-n // 256), 256]
    best = timed_ms(session, lambda: launch(1.0, x, y), 1 if session.small else 10)
    if not session.small:
        session.note("saxpy", 12 * n / best / 1e6, "GB/s")
    found = y.copy_to_host()
    assert (found == found[0]).all() and found[0] > 0


def tiled_matmul(session: Session) -> None:
    ns, n = session.ns, 32 if session.small else 2048

    @ns.kernel
    def matmul(a, b, c):  # type: ignore[no-untyped-def]
        left = ns.shared.array((16, 16), np.float32)
        right = ns.shared.array((16, 16), np.float32)
        x, y = ns.threadIdx.x, ns.threadIdx.y
        row, column = ns.blockIdx.y * 16 + y, ns.blockIdx.x * 16 + x
        total = np.float32(0)
        for k in range(0, a.shape[1], 16):
            left[y, x] = a[row, k + x]
            right[y, x] = b[k + y, column]
            ns.syncthreads()
            for i in range(16):
                total += left[y, i] * right[i, x]
            ns.syncthreads()
        c[row, column] = total

    rng = np.random.default_rng(1)
    a, b = (rng.integers(-4, 4, (n, n)).astype(np.float32) for _ in range(2))
    left, right, out = ns.to_device(a), ns.to_device(b), ns.to_device(np.zeros_like(a))
    launch = matmul[(n // 16, n // 16), (16, 16)]
    best = timed_ms(session, lambda: launch(left, right, out), 1 if session.small else 10)
    if not session.small:
        session.note("matmul, tiles of 16 x 16", 2 * n**3 / best / 1e9, "TFLOP/s")
    assert (out.copy_to_host() == a @ b).all()


def block_reduction(session: Session) -> None:
    ns, n = session.ns, 1 << 10 if session.small else 1 << 26

    @ns.kernel
    def total(x, out):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        step = ns.gridsize(1)
        value = np.float32(0)
        while i < x.size:
            value += x[i]
            i += step
        value = ns.subgroup.reduce_add(value)
        if ns.laneid == 0:
            ns.atomic.add(out, 0, value)

    x, out = ns.to_device(np.ones(n, np.float32)), ns.to_device(np.zeros(1, np.float32))
    launch = total[2 if session.small else 1056, 256]
    best = timed_ms(session, lambda: launch(x, out), 1 if session.small else 10)
    if not session.small:
        session.note("sum of an array", 4 * n / best / 1e6, "GB/s")
    assert out.copy_to_host()[0] % n == 0


def large_shared_memory(session: Session) -> None:
    """All the dynamic shared memory that the target has."""
    ns = session.ns
    backend = session.backend
    nbytes = backend.capabilities(backend.target_of(session.device)).shared_bytes

    @ns.kernel
    def turn(x):  # type: ignore[no-untyped-def]
        tile = ns.shared.array(0, np.float32)
        i = ns.threadIdx.x
        while i < tile.size:
            tile[i] = i
            i += ns.blockDim.x
        ns.syncthreads()
        x[ns.threadIdx.x] = tile[tile.size - 1 - ns.threadIdx.x]

    x = np.zeros(64, np.float32)
    turn[1, 64, 0, nbytes](x)
    assert x[0] == nbytes // 4 - 1, x[0]


CHECKS: tuple[Callable[[Session], None], ...] = (
    grids_and_blocks,
    exceptions_and_prints,
    converged_lanes,
    large_shared_memory,
    far_outside,
    compile_times,
    launch_times,
    memory_bandwidth,
    block_reduction,
    tiled_matmul,
    golden_programs,
)


def _backend(stand_in: bool) -> CudaBackend:
    if not stand_in:
        found = get_backend("cuda")
        assert isinstance(found, CudaBackend)
        return found
    from cuda_harness import needed  # only where the stand-in is asked for: it needs a C compiler

    backend: CudaBackend = needed()
    registry._REGISTRY._instances["cuda"] = backend
    return backend


def _versions(session: Session) -> Iterator[str]:
    driver = session.backend.cuda.got("int", "cuDriverGetVersion")
    yield f"driver for CUDA {driver // 1000}.{driver % 1000 // 10}"
    for device in session.backend.devices():
        yield f"{device.name}: {dict(device.detail)}, {(device.memory_bytes or 0) >> 20} MiB"
    yield f"numpy {np.__version__}, python {sys.version.split()[0]}"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--limit", type=float, default=420)
    parser.add_argument("--stand-in", action="store_true")
    options = parser.parse_args(arguments)
    backend = _backend(options.stand_in)
    state = backend.availability()
    if not state.ok:
        print(f"{state.reason}: {state.fix}")
        return 2
    session = Session(backend, options.stand_in, time.monotonic() + options.limit)
    print("\n".join(_versions(session)))
    for check in CHECKS:
        session.check(check.__name__.replace("_", " "), check)
    if options.json:
        options.json.write_text(json.dumps({"figures": session.figures, "failed": session.failed}, indent=1))
    print(f"{len(CHECKS) - len(session.failed)} checks of {len(CHECKS)} are good", *session.failed)
    return 1 if session.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
