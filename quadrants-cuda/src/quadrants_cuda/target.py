"""What CUDA code is compiled for: compute capabilities, and what devices of them can do."""

from __future__ import annotations

from quadrants.backend.contract import Capabilities, Target

#: The compute capabilities that LLVM is asked for, in order: a device takes the code of the last one that it is not older than.
ARCHES = ("sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
#: The most shared memory of a block, by arch. More than 48 KiB has to be dynamic.
_SHARED = {
    "sm_70": 96 << 10,
    "sm_75": 64 << 10,
    "sm_80": 163 << 10,
    "sm_86": 99 << 10,
    "sm_89": 99 << 10,
    "sm_90": 227 << 10,
    "sm_100": 227 << 10,
    "sm_120": 99 << 10,
}
#: The most static shared memory of a block.
MOST_STATIC = 48 << 10

_INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
_FLOATS = ("f16", "f32", "f64")
_UPDATES = ("add", "sub", "mul", "min", "max", "and", "or", "xor", "exchange", "inc", "dec", "cas")
_FLOAT_UPDATES = ("add", "sub", "mul", "min", "max", "exchange", "cas")
_GROUPS = (
    *("lane.index", "lane.count", "lane.active", "lane.elect", "lane.first", "lane.match", "shuffle", "vote", "ballot"),
    *("subgroup.reduce", "subgroup.scan", "subgroup.barrier"),
)


def target(arch: str) -> Target:
    """The target of a compute capability."""
    return Target("cuda", arch, cpu=arch)


def arch_of(major: int, minor: int) -> str | None:
    """The arch whose code a device of a compute capability runs; None: it is too old."""
    number = 10 * major + minor
    fitting = [arch for arch in ARCHES if int(arch[3:]) <= number]
    return fitting[-1] if fitting else None


def capabilities(arch: str) -> Capabilities:
    """What devices of an arch can do."""
    atomics = {(what, dtype) for dtype in _INTEGERS for what in _UPDATES}
    atomics |= {(what, dtype) for dtype in _FLOATS for what in _FLOAT_UPDATES}
    return Capabilities(
        dtypes=frozenset(("bool", *_INTEGERS, *_FLOATS, "c64", "c128")),
        atomics=frozenset(atomics),
        subgroup_width=32,
        subgroup_ops=frozenset(_GROUPS),
        shared_bytes=_SHARED[arch],
        max_block=(1024, 1024, 64),
        max_threads_per_block=1024,
        max_grid=((1 << 31) - 1,) * 3,
        lacks=(("cg", "end the kernel, and launch another: each sees what those before it have written"),),
    )
