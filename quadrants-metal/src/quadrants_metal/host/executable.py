"""Code that is loaded on a device, and its launches.

Takes an artifact, and for a launch the shape and the argument block. The driver compiles the text when it is loaded, without the
liberties that it takes with floats otherwise. A kernel that may raise or print gets a report to write into.
"""

from __future__ import annotations

import struct
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from quadrants.backend.contract import Artifact, LaunchAbi, LaunchShape, Stream
from quadrants.diagnostics import BackendError, Code
from quadrants.host.reports import RECORDS_BYTES, REPORT_BYTES, error_of, print_all
from quadrants_metal.host.memory import contents
from quadrants_metal.lower.kernel import ENTRY, Facts

if TYPE_CHECKING:
    from quadrants_metal.host.device import MetalDevice, Report

#: `Launch` of the prelude: the address of the report, and the bytes of dynamic memory.
_LAUNCH = struct.Struct("<QII")
#: More bytes than these do not fit into a command, and take a buffer.
_MOST_INLINE = 4096


class MetalExecutable:
    """A kernel on a device."""

    launch_abi = LaunchAbi.COMMAND_BUFFER

    def __init__(self, artifact: Artifact, device: MetalDevice) -> None:
        self.artifact = artifact
        self.device = device
        self.name = artifact.entries[0]
        self.facts = Facts.from_json(dict(artifact.metadata)["facts"])
        metal, gpu = device.metal, device.device
        options = metal.MTLCompileOptions.alloc().init()
        options.setLanguageVersion_(metal.MTLLanguageVersion3_2)
        options.setMathMode_(metal.MTLMathModeSafe)
        library, problem = gpu.newLibraryWithSource_options_error_(artifact.code.decode(), options, None)
        if library is None:
            raise self._refused(problem)
        function = library.newFunctionWithName_(ENTRY)
        self._pipeline, problem = gpu.newComputePipelineStateWithFunction_error_(function, None)
        if self._pipeline is None:
            raise self._refused(problem)

    def _refused(self, problem: Any) -> BackendError:
        what = problem.localizedDescription() if problem is not None else "it does not say why"
        text = f"the driver of {self.device.name} does not take the kernel {self.name}: {what}"
        return BackendError(Code.CODEGEN_FAILED, text)

    def address(self, entry: str) -> int:
        """The driver's number of the pipeline."""
        if entry not in self.artifact.entries:
            raise KeyError(entry)
        return id(self._pipeline)

    def _check(self, block: tuple[int, int, int], shared_bytes: int) -> None:
        """Refuse what the device does not run."""
        threads = reduce(lambda a, b: a * b, block)
        most = int(self._pipeline.maxTotalThreadsPerThreadgroup())
        held = self.device.limits["shared_bytes"]
        total = self.facts.shared_bytes + shared_bytes
        problem = ""
        if threads > most:
            problem = f"a block of {threads} threads: it has at most {most}"
        if total > held:
            problem = f"a block with {total} bytes of shared memory: it has {held}"
        if problem:
            raise BackendError(
                Code.BAD_LAUNCH,
                f"{self.device.name} cannot launch {self.name} with {problem}",
                hint="use smaller blocks, and more of them",
            )

    def launch(self, entry: str, arguments: bytes, shape: LaunchShape, stream: Stream | None = None) -> None:
        """Start the kernel. All streams of a device are one queue."""
        if shape.empty:
            return
        self.device.check()
        self._check(shape.block, shape.shared_bytes)
        device, metal = self.device, self.device.metal
        with device.lock, device.pool():
            commands = device.queue.commandBuffer()
            encoder = commands.computeCommandEncoder()
            encoder.setComputePipelineState_(self._pipeline)
            self._bytes(encoder, arguments or bytes(8), 0)
            address, report = self._report(encoder)
            encoder.setBytes_length_atIndex_(_LAUNCH.pack(address, shape.shared_bytes, 0), _LAUNCH.size, 1)
            total = self.facts.shared_bytes + shape.shared_bytes
            encoder.setThreadgroupMemoryLength_atIndex_(max(16, (total + 15) // 16 * 16), 0)
            usage = metal.MTLResourceUsageRead | metal.MTLResourceUsageWrite
            for buffer in device.memory.buffers.values():  # any of which the addresses in the arguments may name
                encoder.useResource_usage_(buffer, usage)
            size = metal.MTLSizeMake
            encoder.dispatchThreadgroups_threadsPerThreadgroup_(size(*shape.grid), size(*shape.block))
            encoder.endEncoding()
            device.submit(commands, report)

    def _bytes(self, encoder: Any, data: bytes, index: int) -> None:
        """Give the kernel bytes: in the command, or in a buffer, which the command keeps."""
        if len(data) <= _MOST_INLINE:
            encoder.setBytes_length_atIndex_(data, len(data), index)
            return
        buffer = self.device.memory.buffer(len(data))
        contents(buffer)[: len(data)] = data
        encoder.setBuffer_offset_atIndex_(buffer, 0, index)

    def _report(self, encoder: Any) -> tuple[int, Report | None]:
        """The address of the report, and what looks at it when the kernel has run."""
        facts = self.facts
        if not facts.sites:
            return 0, None
        buffer = self.device.memory.buffer(REPORT_BYTES + (RECORDS_BYTES if facts.prints else 16))
        view = contents(buffer)
        view[:REPORT_BYTES] = bytes(REPORT_BYTES)
        view[REPORT_BYTES : REPORT_BYTES + 16] = bytes(16)
        metal = self.device.metal
        encoder.useResource_usage_(buffer, metal.MTLResourceUsageRead | metal.MTLResourceUsageWrite)

        def report() -> Exception | None:
            words = np.frombuffer(contents(buffer), np.uint32)
            if facts.prints:
                print_all(facts.sites, facts.kernel, words[REPORT_BYTES // 4 :])
            return error_of(facts.sites, facts.kernel, words)

        return int(buffer.gpuAddress()), report
