"""Tells profilers about loaded code: with QUADRANTS_PERF=1, by perf's map file /tmp/perf-<pid>.map."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence

from quadrants import config
from quadrants.host.elf import ElfObject

_lock = threading.Lock()


def register(parsed: ElfObject, addresses: Sequence[int], exported: Mapping[str, int]) -> None:
    """Announce a loaded object, if the settings ask for it."""
    if config.get(config.Config.PERF):
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
