"""What a Vulkan target can do, as the emitters and the driver name it.

Takes and gives `quadrants.backend` targets: a `Target` of this backend is SPIR-V 1.5, a set of features by name, and numbers.
Every target has 32-bit integers and floats and buffer device addresses (Vulkan 1.2): nothing is compiled for less.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum

from quadrants._frozen import frozen
from quadrants.backend import Target

ARCH = "spirv1.5"


class Feature(Enum):
    """What a device may have, and code for it may use."""

    INT64 = "int64"
    FLOAT64 = "float64"
    STORAGE8 = "storage8"
    STORAGE16 = "storage16"
    ATOMIC_INT64 = "atomic-int64"
    ATOMIC_FLOAT_ADD = "atomic-float-add"
    ATOMIC_DOUBLE_ADD = "atomic-double-add"
    MEMORY_MODEL = "memory-model"
    FUSED = "fused"  # a product with a sum is rounded once, as on all GPUs; Vulkan does not promise it
    FEW_TURNS = (
        "few-turns"  # a defect: it ends loops when a thread has taken 65,535 turns in all, as Mesa's llvmpipe does
    )
    NAN32 = "nan32"  # NaN, infinities and signed zeros are kept
    NAN64 = "nan64"
    EVEN32 = "even32"  # rounding to nearest even can be asked for
    EVEN64 = "even64"
    DENORM32 = "denorm32"
    DENORM64 = "denorm64"
    SUBGROUP_VOTE = "subgroup-vote"
    SUBGROUP_BALLOT = "subgroup-ballot"
    SUBGROUP_SHUFFLE = "subgroup-shuffle"


#: Numbers of a target, with what is guaranteed where nothing is said.
LIMITS: Mapping[str, int] = {
    "subgroup_size": 1,
    "shared_bytes": 16384,
    "max_threads": 128,
    "max_block_x": 128,
    "max_block_y": 128,
    "max_block_z": 64,
}


@frozen
class Profile:
    """A target, taken apart.

    Args:
        features: what it has.
        limits: a number for each name in `LIMITS`.
    """

    features: frozenset[Feature]
    limits: tuple[tuple[str, int], ...]

    def has(self, feature: Feature) -> bool:
        return feature in self.features

    def limit(self, name: str) -> int:
        return dict(self.limits)[name]


def profile(target: Target) -> Profile:
    """What a target says, with the guaranteed limits where it says nothing."""
    given = {name: int(value) for name, value in target.options if name in LIMITS}
    return Profile(frozenset(map(Feature, target.features)), tuple({**LIMITS, **given}.items()))


def target(features: Iterable[Feature], limits: Mapping[str, int]) -> Target:
    """The target with these features and limits."""
    names = tuple(sorted(feature.value for feature in features))
    return Target("vulkan", ARCH, "", names, tuple(sorted((name, str(value)) for name, value in limits.items())))


#: What every desktop driver has: compiled for where no device is asked.
COMMON = target(
    (
        Feature.INT64,
        Feature.STORAGE8,
        Feature.STORAGE16,
        Feature.MEMORY_MODEL,
        Feature.SUBGROUP_VOTE,
        Feature.SUBGROUP_BALLOT,
        Feature.SUBGROUP_SHUFFLE,
    ),
    {"subgroup_size": 32, "shared_bytes": 32768, "max_threads": 1024, "max_block_x": 1024, "max_block_y": 1024},
)
#: The least: Vulkan 1.2 with buffer device addresses.
LEAST = target((), {})
