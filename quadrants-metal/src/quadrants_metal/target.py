"""What a Metal target is: a version of the language, and limits of the device.

Takes and gives `quadrants.backend` targets. Every target has Metal 3 (Apple7 and Mac2 GPUs and later): addresses of buffers, sums
of float32 in one step, simdgroups of 32 lanes with shuffles and ballots.
"""

from __future__ import annotations

from collections.abc import Mapping

from quadrants._frozen import frozen
from quadrants.backend import Target

ARCH = "msl3.2"

#: Numbers of a target, with what every Metal 3 device has.
LIMITS: Mapping[str, int] = {"shared_bytes": 32768, "max_threads": 1024, "subgroup_size": 32}


@frozen
class Limits:
    """Numbers of a device: bytes of a block's memory, threads of a block, lanes of a simdgroup."""

    shared_bytes: int = LIMITS["shared_bytes"]
    max_threads: int = LIMITS["max_threads"]
    subgroup_size: int = LIMITS["subgroup_size"]


def limits(target: Target) -> Limits:
    """What a target says, with what every device has where it says nothing."""
    return Limits(**{**LIMITS, **{name: int(value) for name, value in target.options if name in LIMITS}})


def target(numbers: Mapping[str, int]) -> Target:
    """The target with these limits."""
    return Target("metal", ARCH, "", (), tuple(sorted((name, str(value)) for name, value in numbers.items())))


#: What every device has: compiled for where no device is asked.
COMMON = target(LIMITS)
