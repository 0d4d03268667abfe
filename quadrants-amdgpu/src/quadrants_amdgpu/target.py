"""What AMDGPU code is compiled for, and what devices can do."""

from __future__ import annotations

from quadrants._frozen import frozen
from quadrants.backend.contract import Capabilities, Target


@frozen
class Arch:
    """A processor: its name, and how many lanes the hardware runs in step. A subgroup has 32 on all of them."""

    name: str
    wave: int


#: The processors that code is made for, by what HIP calls them, up to a colon.
ARCHES = {
    arch.name: arch
    for arch in (
        Arch("gfx942", 64),
        Arch("gfx90a", 64),
        Arch("gfx1100", 32),
        Arch("gfx1030", 32),
        Arch("gfx1201", 32),
        *(Arch(name, 32) for name in ("gfx1031", "gfx1032", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151")),
        *(Arch(name, 32) for name in ("gfx1200",)),
        *(Arch(name, 64) for name in ("gfx906", "gfx908", "gfx950")),
    )
}

_INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
_FLOATS = ("f16", "f32", "f64")
_UPDATES = ("add", "sub", "mul", "min", "max", "and", "or", "xor", "exchange", "inc", "dec", "cas")
_FLOAT_UPDATES = ("add", "sub", "mul", "min", "max", "exchange", "cas")
_GROUPS = (
    *("lane.index", "lane.count", "lane.active", "lane.elect", "lane.first", "lane.match", "shuffle", "vote", "ballot"),
    *("subgroup.reduce", "subgroup.scan", "subgroup.barrier"),
)
#: The memory of a block on every one of them.
SHARED_BYTES = 64 << 10
MOST_THREADS = 1024


def target(arch: str) -> Target:
    """The target of a processor."""
    return Target("amdgpu", arch, cpu=arch)


def arch_of(name: str) -> Arch | None:
    """The processor that HIP names, such as "gfx90a:sramecc+:xnack-"; None: no code is made for it."""
    return ARCHES.get(name.partition(":")[0])


def capabilities() -> Capabilities:
    """What all of these devices can do."""
    atomics = {(what, dtype) for dtype in _INTEGERS for what in _UPDATES}
    atomics |= {(what, dtype) for dtype in _FLOATS for what in _FLOAT_UPDATES}
    return Capabilities(
        dtypes=frozenset(("bool", *_INTEGERS, *_FLOATS, "c64", "c128")),
        atomics=frozenset(atomics),
        subgroup_width=32,
        subgroup_ops=frozenset(_GROUPS),
        shared_bytes=SHARED_BYTES,
        max_block=(MOST_THREADS, MOST_THREADS, MOST_THREADS),
        max_threads_per_block=MOST_THREADS,
        max_grid=((1 << 31) - 1,) * 3,
        lacks=(("cg", "end the kernel, and launch another: each sees what those before it have written"),),
    )
