"""Code that is loaded on a device, and its launches.

Takes an artifact, and for a launch the shape and the argument block. A grid that is larger than the device takes at once is
several launches, each of which knows its first block. A kernel that may raise or print leaves a report.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from quadrants.backend.contract import Artifact, LaunchAbi, LaunchShape, Stream
from quadrants.diagnostics import BackendError, Code
from quadrants.host.launchreport import Reader
from quadrants.lower.gpu import context
from quadrants.lower.gpu.kernel import ENTRY, Facts, launch_words
from quadrants_amdgpu.device import Report, handle_of
from quadrants_amdgpu.driver.library import HipError
from quadrants_amdgpu.target import SHARED_BYTES

if TYPE_CHECKING:
    from quadrants_amdgpu.device import AmdgpuDevice

Box = tuple[int, int, int]
#: Blocks along y and z, and threads along x, of one launch.
_MOST_BLOCKS = 65_535
_MOST_THREADS = (1 << 32) - 1


class AmdgpuExecutable:
    """A kernel on a device."""

    launch_abi = LaunchAbi.DRIVER_LAUNCH

    def __init__(self, artifact: Artifact, code: bytes, device: AmdgpuDevice) -> None:
        self.artifact = artifact
        self.device = device
        self.facts = Facts.from_json(dict(artifact.metadata)["facts"])
        self._reader = Reader(self.facts)
        hip = device.hip
        try:
            self._module = device.made("hipModuleLoadData", hip.ffi.from_buffer("char[]", code))
        except HipError as error:
            raise BackendError(
                Code.CODEGEN_FAILED, f"{device.name} does not take the kernel {self.facts.kernel}: {error}"
            ) from error
        self._function = device.made("hipModuleGetFunction", self._module, ENTRY.encode())

    def address(self, entry: str) -> int:
        """HIP's handle of the kernel."""
        if entry not in self.artifact.entries:
            raise KeyError(entry)
        return self._function

    def launch(self, entry: str, arguments: bytes, shape: LaunchShape, stream: Stream | None = None) -> None:
        """Start the kernel in a stream."""
        if shape.empty:
            return
        self._check(shape)
        device, handle = self.device, handle_of(stream)
        with device.lock:
            device.use()
            report = 0
            if self.facts.raises or self.facts.prints:
                report = device.report(self._reader.nbytes, context.REPORT_BYTES, handle)
                device.expect(Report(report, self._reader.nbytes, self._reader.look))
            for first, blocks in parts(shape):
                words = arguments + launch_words(shape.grid, shape.block, first, shape.shared_bytes, report)
                device.hip.launch(self._function, blocks, shape.block, shape.shared_bytes, handle, words)

    def _check(self, shape: LaunchShape) -> None:
        total = self.facts.shared_bytes + shape.shared_bytes
        if total > SHARED_BYTES:
            raise BackendError(
                Code.BAD_LAUNCH,
                f"{self.device.name} cannot launch {self.facts.kernel} with a block with {total} bytes of shared memory: "
                f"it has {SHARED_BYTES}",
                hint="use smaller blocks, and more of them",
            )

    def __del__(self) -> None:
        if getattr(self, "_module", 0):
            self.device.hip.lib.hipModuleUnload(self._module)


def parts(shape: LaunchShape) -> Iterator[tuple[Box, Box]]:
    """The launches that make up a grid: the first block, and the blocks, of each."""
    most = (_MOST_THREADS // shape.block[0], _MOST_BLOCKS, _MOST_BLOCKS)
    x, y, z = (range(0, size, limit) for size, limit in zip(shape.grid, most))
    for c in z:
        for b in y:
            for a in x:
                first = (a, b, c)
                sizes = [min(limit, size - at) for limit, size, at in zip(most, shape.grid, first)]
                yield first, (sizes[0], sizes[1], sizes[2])
