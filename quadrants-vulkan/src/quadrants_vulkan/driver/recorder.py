"""Commands of a device: recorded one after the other, submitted in batches.

Takes launches, copies and time stamps; they run in the order in which they come, each after what was before it has
finished. They are submitted when someone waits, or when there are many. A batch keeps what its commands use (argument
blocks, reports of errors, staging buffers) until it has run; then it looks at the reports, and the first error that
it finds is raised by whoever waits next.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import Any

from quadrants.diagnostics import BackendError, Code
from quadrants_vulkan.driver.library import VulkanError
from quadrants_vulkan.driver.logical import Buffer, LogicalDevice
from quadrants_vulkan.driver.pool import Pool

#: Bytes of one arena of arguments.
ARENA = 1 << 18
#: Commands after which a batch is submitted without anyone waiting.
MANY = 512
#: Batches that the device may be behind.
MOST_RUNNING = 8
_STAGE_ALL, _READS_WRITES = 0x10000, 0x8000 | 0x10000
_COMPUTE_POINT, _COMPUTE_STAGE = 1, 0x20
_ONE_TIME, _RESETTABLE = 1, 2
_SLICE_NS, _TIMEOUT = 100_000_000, 2
_LOST = "start the process again; look for endless loops, and for indices out of bounds with debug=True"


def _forgetting(recorder: weakref.ref[Recorder]) -> Callable[[], None]:
    """What a forked process does first: the driver's threads are not in it, so nothing that was begun will end."""

    def forget() -> None:
        found = recorder()
        if found is not None:
            found.forked = True
            found._batch, found._running, found.lock = None, [], threading.RLock()

    return forget


#: Looks at what a launch left; gives the error that it reported, or None.
Report = Callable[[], Exception | None]


class Batch:
    """A command buffer, and what it uses."""

    __slots__ = ("arenas", "commands", "count", "fence", "reports", "staging", "used")

    def __init__(self, commands: Any, fence: int) -> None:
        self.commands = commands
        self.fence = fence
        self.count = 0
        self.arenas: list[Buffer] = []
        self.used = ARENA
        self.staging: list[Buffer] = []
        self.reports: list[Report] = []


class Recorder:
    """See the module's docstring. Its lock guards all of a device's state."""

    def __init__(self, device: LogicalDevice, pool: Pool) -> None:
        self.device = device
        self.pool = pool
        self.vk = device.vk
        self.lock = threading.RLock()
        self.error: Exception | None = None
        self.forked = False
        self.retired: list[tuple[str, int]] = []  # functions that destroy objects, and the objects
        self._batch: Batch | None = None
        self._running: list[Batch] = []
        self._idle: list[Batch] = []
        self._arenas: list[Buffer] = []
        self._bound = 0
        vk = self.vk
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_forgetting(weakref.ref(self)))
        info = vk.new("VkCommandPoolCreateInfo", flags=_RESETTABLE, queueFamilyIndex=device.physical.family)
        self._commands = vk.create("vkCreateCommandPool", device.handle, info)
        self._barrier = vk.new("VkMemoryBarrier", srcAccessMask=_READS_WRITES, dstAccessMask=_READS_WRITES)
        self._begin = vk.new("VkCommandBufferBeginInfo", flags=_ONE_TIME)
        lib = vk.lib
        self._dispatch, self._push, self._bind = lib.vkCmdDispatch, lib.vkCmdPushConstants, lib.vkCmdBindPipeline
        self._pipeline_barrier = lib.vkCmdPipelineBarrier

    @property
    def pending(self) -> bool:
        """Whether there is anything that has not run yet."""
        return bool(self._running) or self._batch is not None

    # Batches

    def open(self) -> Batch:
        """The batch that is being recorded."""
        batch = self._batch
        if self.forked:
            raise BackendError(
                Code.BACKEND_UNAVAILABLE,
                f"{self.device.physical.name} was opened before this process was forked, and cannot be used in it",
                hint="start processes with multiprocessing's method 'spawn'",
            )
        if batch is None:
            batch = self._batch = self._idle.pop() if self._idle else self._new()
            self.vk.call("vkBeginCommandBuffer", batch.commands, self._begin)
            self._bound = 0
        return batch

    def _new(self) -> Batch:
        vk = self.vk
        info = vk.new("VkCommandBufferAllocateInfo", commandPool=self._commands, commandBufferCount=1)
        made = vk.ffi.new("VkCommandBuffer *")
        vk.call("vkAllocateCommandBuffers", self.device.handle, info, made)
        return Batch(made[0], self.device.fence())

    def roll(self) -> None:
        """Submit the batch if it has many commands. Called before what a command uses is put into a batch."""
        if self._batch is not None and self._batch.count >= MANY:
            self.submit()
            if len(self._running) > MOST_RUNNING:
                self._finish()

    def step(self) -> Any:
        """Begin a command that comes after all others; the command buffer."""
        batch = self._batch or self.open()
        null = self.vk.null
        batch.count += 1
        self._pipeline_barrier(batch.commands, _STAGE_ALL, _STAGE_ALL, 0, 1, self._barrier, 0, null, 0, null)
        return batch.commands

    def submit(self) -> None:
        """Let the device begin with what was recorded."""
        batch = self._batch
        if batch is None:
            return
        vk = self.vk
        self._batch = None
        vk.call("vkEndCommandBuffer", batch.commands)
        listed = vk.ffi.new("VkCommandBuffer *", batch.commands)
        info = vk.new("VkSubmitInfo", commandBufferCount=1, pCommandBuffers=listed)
        vk.call("vkQueueSubmit", self.device.queue, 1, info, batch.fence)
        self._running.append(batch)

    def wait(self) -> None:
        """Wait for everything; raises the first error that a kernel reported."""
        with self.lock:
            self.submit()
            while self._running:
                self._finish()
            self.pool.settle()
            while self.retired:
                destroy, handle = self.retired.pop()
                getattr(self.vk.lib, destroy)(self.device.handle, handle, self.vk.null)
            error, self.error = self.error, None
        if error is not None:
            raise error

    def _finish(self) -> None:
        """Wait for the oldest batch, in slices of time between which Ctrl-C is heard."""
        vk, batch = self.vk, self._running[0]
        fences = vk.ffi.new("VkHandle *", batch.fence)
        try:
            while vk.call("vkWaitForFences", self.device.handle, 1, fences, 1, _SLICE_NS) == _TIMEOUT:
                pass
            vk.call("vkResetFences", self.device.handle, 1, fences)
        except VulkanError as error:
            raise BackendError(Code.BACKEND_UNAVAILABLE, f"{self.device.physical.name}: {error}", hint=_LOST) from error
        self._running.pop(0)
        for report in batch.reports:
            self.error = self.error or report()
        for buffer in batch.staging:
            self.device.release(buffer)
        self._arenas += batch.arenas
        batch.arenas, batch.staging, batch.reports = [], [], []
        batch.used, batch.count = ARENA, 0
        self._idle.append(batch)

    # Commands

    def block(self, nbytes: int) -> tuple[int, Any]:
        """Room for bytes that the next commands read: its address, and a pointer to it. Aligned to 16 bytes."""
        batch = self._batch or self.open()
        if batch.used + nbytes > ARENA:
            if nbytes > ARENA:
                buffer = self.device.buffer(nbytes, visible=True)
                batch.staging.append(buffer)
                return buffer.address, buffer.mapped
            batch.arenas.append(self._arenas.pop() if self._arenas else self.device.buffer(ARENA, visible=True))
            batch.used = 0
        arena, offset = batch.arenas[-1], batch.used
        batch.used += (nbytes + 15) & ~15
        return arena.address + offset, arena.mapped + offset

    def dispatch(self, pipeline: int, layout: int, pushed: Any, size: int, groups: tuple[int, int, int]) -> None:
        """Record a dispatch with push constants."""
        commands = self.step()
        if self._bound != pipeline:
            self._bind(commands, _COMPUTE_POINT, pipeline)
            self._bound = pipeline
        self._push(commands, layout, _COMPUTE_STAGE, 0, size, pushed)
        self._dispatch(commands, *groups)

    def copy(self, source: Buffer, source_at: int, target: Buffer, target_at: int, nbytes: int) -> None:
        """Record a copy between buffers."""
        commands = self.step()
        region = self.vk.new("VkBufferCopy", srcOffset=source_at, dstOffset=target_at, size=nbytes)
        self.vk.lib.vkCmdCopyBuffer(commands, source.handle, target.handle, 1, region)

    def close(self) -> None:
        """Wait, and give everything back."""
        try:
            self.wait()
        finally:
            vk, handle = self.vk, self.device.handle
            for batch in self._idle:
                vk.lib.vkDestroyFence(handle, batch.fence, vk.null)
            for buffer in self._arenas:
                self.device.release(buffer)
            vk.lib.vkDestroyCommandPool(handle, self._commands, vk.null)
