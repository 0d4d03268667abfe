"""`python -m quadrants doctor`: whether compiling works here, and if not, why.

Takes a stream; writes versions, the machine, the settings, the cache, the backends with reason and fix, and the results of
self-tests: a function that is compiled and run, and a kernel on each backend. The exit status is 0 if the CPU backend works.
Every section reports its own failure and the next one goes on: this runs where something is broken.
"""

from __future__ import annotations

import os
import platform
import sys
import textwrap
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

from quadrants import config
from quadrants._version import __version__

PACKAGES = ("numpy", "llvmlite", "cffi", "importlib-metadata")


def doctor(out: TextIO) -> int:
    """Write the report; 0 if the self-test passed."""
    sections: tuple[tuple[str, Callable[[], Iterator[str]]], ...] = (
        ("versions", _versions),
        ("machine", _machine),
        ("settings", _settings),
        ("cache", _cache),
        ("backends", _backends),
    )
    for title, lines in sections:
        print(f"{title}:", file=out)
        _section(lines, out)
    print("self-test:", file=out)
    works = _section(_self_test, out)
    print("kernels:", file=out)
    return 0 if _section(_kernels, out) and works else 1


def _section(lines: Callable[[], Iterator[str]], out: TextIO) -> bool:
    """Write the lines of one section; whether it went through."""
    try:
        for line in lines():
            print("  " + line.replace("\n", "\n  "), file=out)
    except Exception:  # noqa: BLE001 - the report has to go on whatever is broken, and shows what
        print("  failed:\n    " + traceback.format_exc().rstrip().replace("\n", "\n    "), file=out)
        return False
    return True


def _versions() -> Iterator[str]:
    """Quadrants, Python and the packages that it needs."""
    import importlib_metadata

    yield f"quadrants {__version__} ({Path(__file__).parent})"
    yield f"{platform.python_implementation()} {platform.python_version()} ({sys.executable})"
    for name in PACKAGES:
        yield f"{name} {importlib_metadata.version(name)}"
    import llvmlite.binding

    yield "LLVM " + ".".join(str(part) for part in llvmlite.binding.llvm_version_info)


def _machine() -> Iterator[str]:
    """System, processor, what it can do, and what is compiled for."""
    from quadrants.host import target
    from quadrants.host.layout import native_call_supported

    identity = target.cpu_identity()
    name = " ".join(identity[key] for key in ("vendor_id", "cpu family", "model") if key in identity)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    yield f"{platform.system()} {platform.release()}, {platform.machine()}"
    yield f"processor {name or platform.processor() or 'unknown'}, {cores} cores for this process"
    flags = " ".join(sorted(target.cpu_flags())) or "none known"
    yield textwrap.fill(f"features: {flags}", 110, subsequent_indent="    ")
    host = target.host_target()
    yield f"compiling for {host.triple}, {host.isa or 'all features of this CPU'}"
    yield "calls: " + ("native" if native_call_supported() else "through ctypes, which is slower (QD511)")


def _settings() -> Iterator[str]:
    """Settings that are not at their default, and variables that are no settings."""
    values, defaults = config.snapshot(), config.snapshot({})
    changed = [f"{config.PREFIX}{name} = {value!r}" for name, value in values.items() if value != defaults[name]]
    yield from changed or ["all at their defaults"]
    for name in config.unknown_variables(os.environ):
        yield f"{name} is set and is no setting of Quadrants"


def _cache() -> Iterator[str]:
    """Where compiled code is kept, and how much there is."""
    from quadrants.cache import store

    used = store.current()
    if used is None:
        yield "off (QUADRANTS_CACHE=0)"
        return
    info = used.info()
    state = "" if used.usable() else ", made when something is kept" if used.can_be_made() else ", cannot be used"
    yield f"{info.folder}: {info.files} files, {info.bytes / 1e6:.1f} MB of {info.limit / 1e6:.0f} MB{state}"


def _backends() -> Iterator[str]:
    """Each backend with the reason and the fix where it cannot be used, and its devices where it can."""
    from quadrants.backend import backends, get_backend

    for info in backends():
        yield str(info)
        if info.availability.ok:
            for device in get_backend(info.name).devices():
                memory = f", {device.memory_bytes / 2**30:.1f} GiB" if device.memory_bytes else ""
                yield f"    device {device.index}: {device.name}{memory}"


def _self_test() -> Iterator[str]:
    """Compile a function, run it on numbers and on an array, and compare with the interpreter."""
    import time

    import numpy as np

    from quadrants.api.decorate import njit

    def mean_square(a: np.ndarray, scale: float) -> float:
        total = 0.0
        for i in range(len(a)):
            total += a[i] * a[i]
        return total * (scale / len(a))

    values = np.arange(1000.0)
    start = time.perf_counter()
    compiled = njit(mean_square)
    result = compiled(values, 2.0)
    elapsed = time.perf_counter() - start
    expected = mean_square(values, 2.0)
    if not abs(result - expected) <= 1e-12 * abs(expected):
        raise AssertionError(f"the compiled function gave {result!r}, the interpreter {expected!r}")
    yield f"a function was compiled and run in {elapsed * 1000:.0f} ms, and agrees with the interpreter"
    try:
        compiled(np.arange(0.0), 2.0)
    except ZeroDivisionError:
        yield "an error in compiled code arrived as the exception that Python raises"
    else:
        raise AssertionError("a division by zero in compiled code did not raise ZeroDivisionError")


def _kernels() -> Iterator[str]:
    """Run a kernel with shared memory and barriers on each backend that can be used here, and compare with NumPy."""
    from quadrants.backend import backends, get_backend
    from quadrants.backend.conformance.golden import GOLDEN
    from quadrants.backend.conformance.running import run

    for info in backends():
        if not info.availability.ok:
            continue
        try:
            run(GOLDEN["block_sum"], get_backend(info.name).namespace, "f32")
        except Exception as problem:
            if info.name == "cpu":
                raise
            yield f"{info.name}: failed: {type(problem).__name__}: {problem}"
        else:
            yield f"{info.name}: sums of blocks agree with NumPy"
