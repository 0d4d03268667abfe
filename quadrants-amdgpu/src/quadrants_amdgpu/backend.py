"""The AMDGPU backend as core sees it.

Takes QIR and a target; gives code objects (`codegen`, `driver.linking`), and runs them on a device through HIP. HIP is looked for
when it is first needed, a device is opened when it is first used.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from quadrants.api.namespace import explicit_namespace
from quadrants.backend.contract import Artifact, Availability, Capabilities, Device, Target
from quadrants.diagnostics import BackendError, BackendUnavailable, Code
from quadrants.ir import Module
from quadrants.ir.rewrite import clone_module
from quadrants_amdgpu import target as targets
from quadrants_amdgpu.device import AmdgpuDevice, AmdgpuEvent, AmdgpuStream, Memory
from quadrants_amdgpu.driver import linking
from quadrants_amdgpu.driver.library import LIBRARIES, Hip, HipError, library
from quadrants_amdgpu.executable import AmdgpuExecutable
from quadrants_amdgpu.target import Arch

_INSTALL = "install ROCm (Debian and Ubuntu: amdgpu-install --usecase=rocm), or use another backend"
_OBJECT, _CODE_OBJECT = "amdgcn-object", "hsaco"


class AmdgpuBackend:
    """`qd.amdgpu`. `hip`: what stands in for the library, in tests."""

    name = "amdgpu"

    def __init__(self, hip: Hip | None = None) -> None:
        self._hip = hip
        self._opened: dict[int, AmdgpuDevice] = {}

    # What is here

    @cached_property
    def _found(self) -> tuple[Hip, list[tuple[Device, str]]] | Availability:
        """The library and the devices with the names of their processors, or why there are none."""
        hip = self._hip or library()
        if hip is None:
            if sys.platform not in LIBRARIES:
                return Availability(False, f"ROCm does not exist on {sys.platform}", "use another backend")
            return Availability(False, "ROCm's library HIP (libamdhip64) is not installed", _INSTALL)
        try:
            hip.call("hipInit", 0)
            count = hip.made("hipGetDeviceCount", type="int *")
            return hip, [self._device(hip, index) for index in range(count)]
        except HipError as error:
            return Availability(False, f"HIP cannot be started: {error}", "check the driver: `rocminfo` lists devices")

    @staticmethod
    def _device(hip: Hip, index: int) -> tuple[Device, str]:
        name, processor = hip.properties(index)
        memory = int(hip.made("hipDeviceTotalMem", index, type="size_t *"))
        return Device("amdgpu", index, name or processor, memory, (("processor", processor),)), processor

    def availability(self) -> Availability:
        """Usable here? If not, the reason in words, and the fix. Never raises."""
        found = self._found
        if isinstance(found, Availability):
            return found
        usable = self._usable()
        if not found[1]:
            return Availability(False, "HIP finds no device", "check the driver: `rocminfo` lists devices")
        if not usable:
            device, processor = found[1][0]
            known = ", ".join(targets.ARCHES)
            return Availability(
                False, f"no code is made for {device.name} ({processor or 'unknown'})", f"use a device of {known}"
            )
        if not linking.linkers():
            return Availability(False, "there is no linker: neither ROCm's comgr nor a program ld.lld", _INSTALL)
        device, arch = usable[0]
        return Availability(True, f"{device.name}, {arch.name}")

    def _usable(self) -> list[tuple[Device, Arch]]:
        found = self._found
        pairs = [] if isinstance(found, Availability) else found[1]
        return [(device, arch) for device, processor in pairs if (arch := targets.arch_of(processor)) is not None]

    @cached_property
    def namespace(self) -> types.ModuleType:
        return explicit_namespace("amdgpu")

    @property
    def legalise(self) -> Sequence[Any]:
        """None: `compile` itself runs the passes that depend on the target."""
        return ()

    @property
    def intrinsics(self) -> Sequence[Any]:
        return ()

    # Targets and devices

    def targets(self) -> Sequence[Target]:
        return tuple(map(targets.target, targets.ARCHES))

    def devices(self) -> Sequence[Device]:
        return [device for device, _ in self._usable()]

    def _known(self, device: Device) -> tuple[Device, Arch]:
        for known, arch in self._usable():
            if known.index == device.index:
                return known, arch
        state = self.availability()
        reason = state.reason if not state.ok else f"there are {len(self._usable())} devices"
        raise BackendUnavailable(
            Code.BACKEND_UNAVAILABLE, f"there is no AMD GPU {device.index}: {reason}", hint=state.fix or None
        )

    def target_of(self, device: Device) -> Target:
        return targets.target(self._known(device)[1].name)

    def capabilities(self, target: Target) -> Capabilities:
        return targets.capabilities()

    def open(self, device: Device) -> AmdgpuDevice:
        """The device, opened when it is first asked for."""
        opened = self._opened.get(device.index)
        if opened is None:
            known, _ = self._known(device)
            found = self._found
            assert not isinstance(found, Availability)
            opened = self._opened[device.index] = AmdgpuDevice(found[0], known.index, known.name)
        return opened

    # Code

    def compile(self, module: Module, target: Target, options: Any = None) -> Artifact:
        """The code object of the entry of the module; an object, where nothing links."""
        from quadrants.lower.gpu.kernel import lower
        from quadrants_amdgpu.codegen import to_object
        from quadrants_amdgpu.primitives import primitives

        arch = targets.arch_of(target.arch)
        if arch is None:
            raise BackendError(Code.CODEGEN_FAILED, f"no code is made for {target.arch}")
        entry = module.entry
        text, facts = lower(clone_module(module), primitives(arch.wave))
        code, format = to_object(text, arch.name), _OBJECT
        if linking.linkers():
            code, format = linking.link(code, arch.name), _CODE_OBJECT
        return Artifact(target, format, code, (entry,), (("facts", facts.to_json()),), {"llvm": text})

    def load(self, artifact: Artifact, device: Device) -> AmdgpuExecutable:
        code = artifact.code
        if artifact.format == _OBJECT:
            code = linking.link(code, artifact.target.arch)
        return AmdgpuExecutable(artifact, code, self.open(device))

    def memory(self, device: Device) -> Memory:
        return self.open(device).memory

    def stream(self, device: Device) -> AmdgpuStream:
        return AmdgpuStream(self.open(device))

    def event(self, device: Device) -> AmdgpuEvent:
        return AmdgpuEvent(self.open(device))
