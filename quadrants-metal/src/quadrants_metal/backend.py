"""The Metal backend as core sees it.

Takes QIR and a target; gives MSL (`lower`), and runs it on a device (`host`) through Apple's own bindings, pyobjc-framework-Metal,
which are loaded when they are first needed.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from quadrants.api.namespace import explicit_namespace
from quadrants.backend.contract import Artifact, Availability, Capabilities, Device, Target
from quadrants.diagnostics import BackendUnavailable, Code
from quadrants.ir import Module
from quadrants.ir.rewrite import clone_module
from quadrants_metal import target as targets
from quadrants_metal.host.device import MetalDevice, MetalEvent, MetalStream
from quadrants_metal.host.executable import MetalExecutable
from quadrants_metal.host.framework import Framework, framework
from quadrants_metal.host.memory import Memory


class MetalBackend:
    """`qd.metal`."""

    name = "metal"

    def __init__(self, platform: str = sys.platform) -> None:
        self._platform = platform
        self._opened: dict[int, MetalDevice] = {}

    # What is here

    @cached_property
    def _found(self) -> Framework | Availability:
        """The framework, or why there is none."""
        return framework(self._platform)

    def availability(self) -> Availability:
        """Usable here? If not, the reason in words, and the fix. Never raises."""
        found = self._found
        if isinstance(found, Availability):
            return found
        return Availability(True, ", ".join(str(device.name()) for device in found.devices))

    @cached_property
    def namespace(self) -> types.ModuleType:
        return explicit_namespace("metal")

    @property
    def legalise(self) -> Sequence[Any]:
        """None: `compile` itself runs the passes that MSL needs."""
        return ()

    @property
    def intrinsics(self) -> Sequence[Any]:
        return ()

    # Targets and devices

    def targets(self) -> Sequence[Target]:
        return (targets.COMMON,)

    def devices(self) -> Sequence[Device]:
        found = self._found
        if isinstance(found, Availability):
            return []
        return [
            Device("metal", index, str(device.name()), int(device.recommendedMaxWorkingSetSize()))
            for index, device in enumerate(found.devices)
        ]

    def open(self, device: Device) -> MetalDevice:
        """The device, opened when it is first asked for."""
        opened = self._opened.get(device.index)
        if opened is None:
            found = self._found
            if isinstance(found, Availability) or not 0 <= device.index < len(found.devices):
                state = self.availability()
                reason = state.reason if not state.ok else f"there are {len(self.devices())} devices"
                raise BackendUnavailable(
                    Code.BACKEND_UNAVAILABLE,
                    f"there is no Metal device {device.index}: {reason}",
                    hint=state.fix or None,
                )
            opened = self._opened[device.index] = MetalDevice(found, device.index)
        return opened

    def target_of(self, device: Device) -> Target:
        return targets.target(self.open(device).limits)

    def capabilities(self, target: Target) -> Capabilities:
        return capabilities(targets.limits(target))

    # Code

    def compile(self, module: Module, target: Target, options: Any = None) -> Artifact:
        """MSL for the entry of the module."""
        from quadrants_metal.lower.kernel import compile_module
        from quadrants_metal.lower.legalise import legalise

        module = clone_module(module)
        legalise(module)
        text, facts = compile_module(module, targets.limits(target))
        metadata = (("facts", facts.to_json()),)
        return Artifact(target, "msl", text.encode(), (module.entry,), metadata, {"msl": text})

    def load(self, artifact: Artifact, device: Device) -> MetalExecutable:
        return MetalExecutable(artifact, self.open(device))

    def memory(self, device: Device) -> Memory:
        return self.open(device).memory

    def stream(self, device: Device) -> MetalStream:
        opened = self.open(device)
        opened.streams += 1
        return MetalStream(opened, opened.streams)

    def event(self, device: Device) -> MetalEvent:
        return MetalEvent(self.open(device))


_WORDS = ("i8", "i16", "i32", "u8", "u16", "u32")
_UPDATES = ("add", "sub", "mul", "min", "max", "and", "or", "xor", "exchange", "inc", "dec", "cas")
_FLOAT_UPDATES = ("add", "sub", "mul", "min", "max", "exchange", "cas")
_GROUPS = (
    "lane.index",
    "lane.count",
    "lane.active",
    "lane.elect",
    "lane.first",
    "lane.match",
    "ballot",
    "vote",
    "shuffle",
    "subgroup.reduce",
    "subgroup.scan",
    "subgroup.barrier",
)


def capabilities(limits: targets.Limits) -> Capabilities:
    """What a target can do, in the words of the contract."""
    atomics = {(what, dtype) for dtype in _WORDS for what in _UPDATES}
    atomics |= {(what, dtype) for dtype in ("f16", "f32") for what in _FLOAT_UPDATES}
    return Capabilities(
        frozenset({"bool", *_WORDS, "i64", "u64", "f16", "f32", "c64"}),
        frozenset(atomics),
        limits.subgroup_size,
        frozenset(_GROUPS),
        limits.shared_bytes,
        (limits.max_threads,) * 3,
        limits.max_threads,
        ((1 << 31) - 1,) * 3,
        lacks=(("cg", "end the kernel, and launch another: each sees what those before it have written"),),
    )
