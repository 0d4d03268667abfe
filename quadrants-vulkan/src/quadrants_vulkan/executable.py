"""Code that is loaded on a device, and its launches.

Takes an artifact, and for a launch the shape and the argument block; records dispatches. A pipeline is made for each
shape of the block and size of the dynamic buffer, when it is first used. A kernel that may raise has a report behind
its argument block, which the batch looks at when it has run.
"""

from __future__ import annotations

import weakref
from functools import reduce
from typing import TYPE_CHECKING, Any

from quadrants.backend.contract import Artifact, LaunchAbi, LaunchShape, Stream
from quadrants.diagnostics import BackendError, Code
from quadrants.host.reports import RECORDS_BYTES, REPORT_BYTES, SITE, error_of, print_all
from quadrants_vulkan.driver.library import VulkanError
from quadrants_vulkan.driver.recorder import Report
from quadrants_vulkan.lower.kernel import ENTRY, Facts
from quadrants_vulkan.lower.launch import PUSHED

if TYPE_CHECKING:
    from quadrants_vulkan.device import VulkanDevice

Box = tuple[int, int, int]
_COMPUTE_STAGE = 0x20
_CHOSEN = 4  # numbers that a pipeline is made with: the block, and the length of the dynamic buffer


class VulkanExecutable:
    """A kernel on a device."""

    launch_abi = LaunchAbi.COMMAND_BUFFER

    def __init__(self, artifact: Artifact, device: VulkanDevice) -> None:
        self.artifact = artifact
        self.device = device
        self.name = artifact.entries[0]
        self.facts = Facts.from_json(dict(artifact.metadata)["facts"])
        self._report_bytes = REPORT_BYTES + (RECORDS_BYTES if self.facts.prints else 16)
        self._pipelines: dict[tuple[Box, int], int] = {}
        self._recorder = device.recorder
        vk, handle = device.vk, device.logical.handle
        code = vk.ffi.from_buffer("uint32_t[]", artifact.code)
        info = vk.new("VkShaderModuleCreateInfo", codeSize=len(artifact.code), pCode=code)
        self._module = vk.create("vkCreateShaderModule", handle, info)
        ranges = vk.new("VkPushConstantRange", stageFlags=_COMPUTE_STAGE, size=PUSHED.size)
        layout = vk.new("VkPipelineLayoutCreateInfo", pushConstantRangeCount=1, pPushConstantRanges=ranges)
        self._layout = vk.create("vkCreatePipelineLayout", handle, layout)
        weakref.finalize(self, _retire, device, self._pipelines, self._layout, self._module).atexit = False
        self._pushed = vk.ffi.new("char[]", PUSHED.size)
        self._pushed_bytes = vk.ffi.buffer(self._pushed)

    def address(self, entry: str) -> int:
        """The handle of the shader module."""
        if entry not in self.artifact.entries:
            raise KeyError(entry)
        return self._module

    # Pipelines

    def _pipeline(self, block: Box, shared_bytes: int) -> int:
        """The pipeline for blocks of a shape with so much dynamic memory."""
        self._check(block, shared_bytes)
        vk = self.device.vk
        item = self.facts.dynamic_item
        chosen = vk.ffi.new("uint32_t[]", [*block, max(1, shared_bytes // item) if item else 1])
        entries = vk.ffi.new("VkSpecializationMapEntry[]", _CHOSEN)
        for position in range(_CHOSEN):
            entries[position].constantID, entries[position].offset, entries[position].size = position, 4 * position, 4
        special = vk.new(
            "VkSpecializationInfo", mapEntryCount=_CHOSEN, pMapEntries=entries, dataSize=4 * _CHOSEN, pData=chosen
        )
        name = vk.ffi.new("char[]", ENTRY.encode())
        info = vk.new("VkComputePipelineCreateInfo", layout=self._layout)
        stage = vk.new(
            "VkPipelineShaderStageCreateInfo",
            stage=_COMPUTE_STAGE,
            module=self._module,
            pName=name,
            pSpecializationInfo=special,
        )
        info.stage = stage[0]
        made = vk.ffi.new("VkHandle *")
        try:
            vk.call("vkCreateComputePipelines", self.device.logical.handle, 0, 1, info, vk.null, made)
        except VulkanError as error:
            raise BackendError(
                Code.CODEGEN_FAILED, f"the driver of {self.device.name} does not take the kernel {self.name}: {error}"
            ) from error
        pipeline = self._pipelines[block, shared_bytes] = int(made[0])
        return pipeline

    def _check(self, block: Box, shared_bytes: int) -> None:
        """Refuse what the device does not run."""
        limits = self.device.limits
        threads = reduce(lambda a, b: a * b, block)
        problem = ""
        for axis, size in zip("xyz", block):
            if size > limits[f"max_block_{axis}"]:
                problem = f"a block of {size} threads along {axis}: it has at most {limits[f'max_block_{axis}']}"
        if threads > limits["max_threads"]:
            problem = f"a block of {threads} threads: it has at most {limits['max_threads']}"
        total = self.facts.shared_bytes + shared_bytes
        if total > limits["shared_bytes"]:
            problem = f"a block with {total} bytes of shared memory: it has {limits['shared_bytes']}"
        if problem:
            raise BackendError(
                Code.BAD_LAUNCH,
                f"{self.device.name} cannot launch {self.name} with {problem}",
                hint="use smaller blocks, and more of them",
            )

    # Launches

    def launch(self, entry: str, arguments: bytes, shape: LaunchShape, stream: Stream | None = None) -> None:
        """Record a launch. All streams of a device are one queue."""
        grid, block, shared_bytes = shape.grid, shape.block, shape.shared_bytes
        if shape.empty:
            return
        recorder = self._recorder
        with recorder.lock:
            pipeline = self._pipelines.get((block, shared_bytes)) or self._pipeline(block, shared_bytes)
            recorder.roll()
            size, report_address = len(arguments), 0
            if self.facts.sites:
                size = (size + 15) & ~15
                address, pointer = recorder.block(size + self._report_bytes)
                report_address = address + size
                recorder.vk.ffi.memmove(pointer + size, _NOTHING, len(_NOTHING))
                recorder.open().reports.append(self._reporter(pointer + size))
            elif size:
                address, pointer = recorder.block(size)
            else:
                address, pointer = 0, None
            if arguments:
                recorder.vk.ffi.memmove(pointer, arguments, len(arguments))
            self._dispatch(pipeline, address, report_address, grid)

    def _dispatch(self, pipeline: int, address: int, report: int, grid: Box) -> None:
        most = self.device.limits["max_grid"]
        for first in _parts(grid, most) if max(grid) > most else (_ORIGIN,):
            PUSHED.pack_into(self._pushed_bytes, 0, address, report, *grid, *first)
            groups = grid if max(grid) <= most else tuple(min(most, n - at) for n, at in zip(grid, first))
            self._recorder.dispatch(pipeline, self._layout, self._pushed, PUSHED.size, groups)  # type: ignore[arg-type]

    def _reporter(self, pointer: Any) -> Report:
        """What looks at a report when the kernel has run."""
        words = self.device.vk.ffi.cast("uint32_t *", pointer)
        facts, records = self.facts, REPORT_BYTES // 4

        def report() -> Exception | None:
            if facts.prints:
                print_all(facts.sites, facts.kernel, words + records)
            return error_of(facts.sites, facts.kernel, words) if words[SITE] else None

        return report


def _retire(device: VulkanDevice, pipelines: dict[tuple[Box, int], int], layout: int, module: int) -> None:
    """Give the objects of code that nobody holds any more back, when nothing runs that may use them."""
    objects = [("vkDestroyPipeline", pipeline) for pipeline in pipelines.values()]
    device.recorder.retired += [*objects, ("vkDestroyPipelineLayout", layout), ("vkDestroyShaderModule", module)]


_ORIGIN: Box = (0, 0, 0)
#: A report of nothing, and the count of no records behind it.
_NOTHING = bytes(REPORT_BYTES + 16)


def _parts(grid: Box, most: int) -> list[Box]:
    """The first blocks of the dispatches that make up a grid."""
    x, y, z = (range(0, size, most) for size in grid)
    return [(a, b, c) for c in z for b in y for a in x]
