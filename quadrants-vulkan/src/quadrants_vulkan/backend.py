"""The Vulkan backend as core sees it.

Takes QIR and a target; gives SPIR-V (`lower`), and runs it on a device (`driver`). The loader is found when it is first needed, a
device is opened when it is first used.
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from quadrants.api.namespace import explicit_namespace
from quadrants.backend.contract import Artifact, Availability, Capabilities, Device, Target
from quadrants.diagnostics import BackendUnavailable, Code
from quadrants.ir import Module
from quadrants.ir.rewrite import clone_module
from quadrants_vulkan import target as targets
from quadrants_vulkan.device import VulkanDevice, VulkanEvent, VulkanStream
from quadrants_vulkan.driver.instance import Instance, PhysicalDevice
from quadrants_vulkan.driver.library import VulkanError, library
from quadrants_vulkan.driver.memory import Memory
from quadrants_vulkan.executable import VulkanExecutable
from quadrants_vulkan.target import Feature

_DRIVERS = "install a Vulkan driver: Mesa's (Debian: mesa-vulkan-drivers libvulkan1) also runs on the CPU"


class VulkanBackend:
    """`qd.vulkan`. `validate`: ask for the validation layer, whose messages are in `instance.messages`."""

    name = "vulkan"

    def __init__(self, validate: bool = False) -> None:
        self._validate = validate
        self._opened: dict[int, VulkanDevice] = {}

    # What is here

    @cached_property
    def _found(self) -> Instance | Availability:
        """The instance, or why there is none."""
        vk = library()
        if vk is None:
            return Availability(False, "the Vulkan loader is not installed", _DRIVERS)
        try:
            return Instance(vk, self._validate)
        except VulkanError as error:
            return Availability(False, f"Vulkan cannot be started: {error}", _DRIVERS)

    @property
    def instance(self) -> Instance:
        """The instance of Vulkan; BackendUnavailable with the reason where there is none."""
        found = self._found
        if isinstance(found, Availability):
            raise BackendUnavailable(Code.BACKEND_UNAVAILABLE, found.reason, hint=found.fix)
        return found

    def availability(self) -> Availability:
        """Usable here? If not, the reason in words, and the fix. Never raises."""
        found = self._found
        if isinstance(found, Availability):
            return found
        if not found.devices:
            return Availability(False, "the Vulkan loader finds no device", _DRIVERS)
        best = found.devices[0]
        if best.lacks:
            return Availability(False, f"no device can be used: {best.name}: {best.lacks}", _DRIVERS)
        return Availability(True, f"{best.name}, {best.kind}, {best.driver}")

    @cached_property
    def namespace(self) -> types.ModuleType:
        return explicit_namespace("vulkan")

    @property
    def legalise(self) -> Sequence[Any]:
        """None: `compile` itself runs the passes that depend on the target."""
        return ()

    @property
    def intrinsics(self) -> Sequence[Any]:
        return ()

    # Targets and devices

    def targets(self) -> Sequence[Target]:
        return (targets.COMMON, targets.LEAST)

    def _usable(self) -> list[PhysicalDevice]:
        found = self._found
        return [] if isinstance(found, Availability) else [device for device in found.devices if not device.lacks]

    def devices(self) -> Sequence[Device]:
        return [
            Device(
                "vulkan", index, device.name, device.memory_bytes, (("kind", device.kind), ("driver", device.driver))
            )
            for index, device in enumerate(self._usable())
        ]

    def _physical(self, device: Device) -> PhysicalDevice:
        usable = self._usable()
        if not 0 <= device.index < len(usable):
            state = self.availability()
            reason = state.reason if not state.ok else f"there are {len(usable)} devices"
            raise BackendUnavailable(
                Code.BACKEND_UNAVAILABLE, f"there is no Vulkan device {device.index}: {reason}", hint=state.fix or None
            )
        return usable[device.index]

    def target_of(self, device: Device) -> Target:
        physical = self._physical(device)
        return targets.target(physical.features, {name: physical.limits[name] for name in targets.LIMITS})

    def capabilities(self, target: Target) -> Capabilities:
        return capabilities(targets.profile(target))

    def open(self, device: Device) -> VulkanDevice:
        """The device, opened when it is first asked for."""
        opened = self._opened.get(device.index)
        if opened is None:
            physical = self._physical(device)
            opened = self._opened[device.index] = VulkanDevice(self.instance, physical, device.index)
        return opened

    # Code

    def compile(self, module: Module, target: Target, options: Any = None) -> Artifact:
        """SPIR-V for the entry of the module."""
        from quadrants_vulkan.lower.kernel import compile_module
        from quadrants_vulkan.lower.legalise import legalise

        profile = targets.profile(target)
        module = clone_module(module)
        legalise(module, profile)
        code, facts = compile_module(module, profile)
        return Artifact(target, "spirv", code, (module.entry,), (("facts", facts.to_json()),))

    def load(self, artifact: Artifact, device: Device) -> VulkanExecutable:
        return VulkanExecutable(artifact, self.open(device))

    def memory(self, device: Device) -> Memory:
        return self.open(device).memory

    def stream(self, device: Device) -> VulkanStream:
        opened = self.open(device)
        opened.streams += 1
        return VulkanStream(opened, opened.streams)

    def event(self, device: Device) -> VulkanEvent:
        return VulkanEvent(self.open(device))


_WORDS = ("i8", "i16", "i32", "u8", "u16", "u32")
_UPDATES = ("add", "sub", "mul", "min", "max", "and", "or", "xor", "exchange", "inc", "dec", "cas")
_FLOAT_UPDATES = ("add", "sub", "mul", "min", "max", "exchange", "cas")
_GROUPS: dict[Feature, tuple[str, ...]] = {
    Feature.SUBGROUP_VOTE: ("vote",),
    Feature.SUBGROUP_BALLOT: ("ballot", "lane.active", "lane.first"),
    Feature.SUBGROUP_SHUFFLE: ("shuffle", "lane.match", "subgroup.reduce", "subgroup.scan"),
}


def capabilities(profile: targets.Profile) -> Capabilities:
    """What a target can do, in the words of the contract."""
    floats = ["f16", "f32"] + ["f64"] * profile.has(Feature.FLOAT64)
    dtypes = {"bool", *_WORDS, "i64", "u64", *floats, "c64"} | ({"c128"} if profile.has(Feature.FLOAT64) else set())
    atomics = {(what, dtype) for dtype in _WORDS for what in _UPDATES}
    atomics |= {(what, dtype) for dtype in ("f16", "f32") for what in _FLOAT_UPDATES}
    if profile.has(Feature.ATOMIC_INT64):
        atomics |= {(what, dtype) for dtype in ("i64", "u64") for what in _UPDATES}
        atomics |= {(what, "f64") for what in _FLOAT_UPDATES if profile.has(Feature.FLOAT64)}
    groups = {"lane.index", "lane.count", "lane.elect", "subgroup.barrier"}
    for feature, names in _GROUPS.items():
        groups |= set(names) if profile.has(feature) else set()
    block = (profile.limit("max_block_x"), profile.limit("max_block_y"), profile.limit("max_block_z"))
    return Capabilities(
        frozenset(dtypes),
        frozenset(atomics),
        profile.limit("subgroup_size"),
        frozenset(groups),
        profile.limit("shared_bytes"),
        block,
        profile.limit("max_threads"),
        ((1 << 31) - 1,) * 3,
        lacks=(("cg", "end the kernel, and launch another: each sees what those before it have written"),),
    )
