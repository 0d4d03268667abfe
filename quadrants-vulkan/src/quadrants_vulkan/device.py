"""A device in use: its memory, its recorder, its streams and events.

All streams of a device are one queue: work is done in the order in which it is launched, which is an order that streams allow.
"""

from __future__ import annotations

import atexit
import weakref

from quadrants_vulkan.driver.instance import Instance, PhysicalDevice
from quadrants_vulkan.driver.logical import LogicalDevice
from quadrants_vulkan.driver.memory import Memory
from quadrants_vulkan.driver.pool import Pool
from quadrants_vulkan.driver.recorder import Recorder

_STAGE_BOTTOM = 0x2000
_TIMESTAMP = 2
_WAIT_64 = 1 | 2


def _finish(device: weakref.ref[VulkanDevice]) -> None:
    """At the end of the process: what kernels have still to print or to raise."""
    found = device()
    if found is not None and found.recorder.pending:
        found.synchronize()


class VulkanDevice:
    """See the module's docstring."""

    def __init__(self, instance: Instance, physical: PhysicalDevice, index: int) -> None:
        self.vk = instance.vk
        self.name = physical.name
        self.limits = physical.limits
        self.physical = physical
        self.logical = LogicalDevice(instance, physical)
        self.pool = Pool(self.logical)
        self.recorder = Recorder(self.logical, self.pool)
        self.memory = Memory(self.logical, self.pool, self.recorder, index)
        self.streams = 0
        atexit.register(_finish, weakref.ref(self))

    def synchronize(self) -> None:
        """Wait for everything; raises the first error that a kernel reported."""
        self.recorder.wait()

    def close(self) -> None:
        """Wait, and give everything back."""
        try:
            self.recorder.close()
        finally:
            self.pool.close()
            self.vk.lib.vkDestroyDevice(self.logical.handle, self.vk.null)


class VulkanStream:
    """Work in order."""

    def __init__(self, device: VulkanDevice, handle: int) -> None:
        self.device = device
        self._handle = handle

    @property
    def handle(self) -> int:
        return self._handle

    def synchronize(self) -> None:
        self.device.synchronize()


class VulkanEvent:
    """A point in the order of a device's work, with the time at which it was reached where the device has a clock."""

    def __init__(self, device: VulkanDevice) -> None:
        vk = device.vk
        self.device = device
        self.recorded = False
        info = vk.new("VkQueryPoolCreateInfo", queryType=_TIMESTAMP, queryCount=1)
        self._query = vk.create("vkCreateQueryPool", device.logical.handle, info) if device.physical.tick_ns else 0

    def record(self, stream: object) -> None:
        """Note the time when all that was launched before is done."""
        recorder, vk = self.device.recorder, self.device.vk
        self.recorded = True
        if not self._query:
            return
        with recorder.lock:
            recorder.roll()
            commands = recorder.step()
            vk.lib.vkCmdResetQueryPool(commands, self._query, 0, 1)
            vk.lib.vkCmdWriteTimestamp(commands, _STAGE_BOTTOM, self._query, 0)

    def wait(self, stream: object) -> None:
        """What is launched later begins after the event: as everything does, on one queue."""
        if not self.recorded:
            raise ValueError("the event has not been recorded")

    def elapsed_ms(self, later: VulkanEvent) -> float:
        """The time from this event to a later one."""
        if not (self.recorded and later.recorded):
            raise ValueError("both events have to be recorded first")
        if not self._query:
            raise ValueError(f"{self.device.name} has no clock")
        self.device.synchronize()
        return (later._ticks() - self._ticks()) * self.device.physical.tick_ns / 1e6

    def _ticks(self) -> int:
        vk, handle = self.device.vk, self.device.logical.handle
        ticks = vk.ffi.new("uint64_t *")
        vk.call("vkGetQueryPoolResults", handle, self._query, 0, 1, 8, ticks, 8, _WAIT_64)
        return int(ticks[0])

    def __del__(self) -> None:
        if getattr(self, "_query", 0) and not self.device.recorder.pending:
            self.device.vk.lib.vkDestroyQueryPool(self.device.logical.handle, self._query, self.device.vk.null)
