"""A device that is opened: its handle, its queue, and raw buffers.

Takes a physical device; gives what the memory pool and the recorder build on.
"""

from __future__ import annotations

from typing import Any

from quadrants._frozen import frozen
from quadrants_vulkan.driver.instance import ATOMIC_FLOAT, Instance, PhysicalDevice, feature_chain
from quadrants_vulkan.driver.library import Library, VulkanError
from quadrants_vulkan.target import Feature

# Memory properties.
DEVICE_LOCAL, HOST_VISIBLE, HOST_COHERENT, HOST_CACHED = 1, 2, 4, 8
_TRANSFER_SOURCE, _TRANSFER_TARGET, _STORAGE, _ADDRESS = 0x1, 0x2, 0x20, 0x20000
_ADDRESS_BIT = 2


@frozen(eq=False)
class Buffer:
    """A buffer with memory of its own.

    Args:
        handle: of the buffer.
        memory: its memory.
        address: on the device.
        nbytes: its size.
        mapped: a pointer of cffi to its bytes, if the host sees them.
    """

    handle: int
    memory: int
    address: int
    nbytes: int
    mapped: Any


class LogicalDevice:
    """An opened device."""

    def __init__(self, instance: Instance, physical: PhysicalDevice) -> None:
        self.instance = instance
        self.physical = physical
        self.vk: Library = instance.vk
        self.handle = self._open()
        queue = self.vk.ffi.new("VkQueue *")
        self.vk.lib.vkGetDeviceQueue(self.handle, physical.family, 0, queue)
        self.queue = queue[0]

    def _open(self) -> Any:
        vk, physical = self.vk, self.physical
        priority = vk.ffi.new("float[1]", [1.0])
        queues = vk.new(
            "VkDeviceQueueCreateInfo", queueFamilyIndex=physical.family, queueCount=1, pQueuePriorities=priority
        )
        names, kept = vk.texts(physical.extensions)
        chain = self._enabled()
        info = vk.new(
            "VkDeviceCreateInfo",
            pNext=chain[0],
            queueCreateInfoCount=1,
            pQueueCreateInfos=queues,
            enabledExtensionCount=len(physical.extensions),
            ppEnabledExtensionNames=names,
        )
        handle = vk.ffi.new("VkDevice *")
        vk.call("vkCreateDevice", physical.handle, info, vk.null, handle)
        del kept, chain
        return handle[0]

    def _enabled(self) -> tuple[Any, ...]:
        """The features to open the device with: those that code may use."""
        has = self.physical.features
        first, second, third, floats = chain = feature_chain(self.vk, ATOMIC_FLOAT in self.physical.extensions)
        first.features.shaderInt64 = Feature.INT64 in has
        first.features.shaderFloat64 = Feature.FLOAT64 in has
        second.storageBuffer16BitAccess = Feature.STORAGE16 in has
        third.storageBuffer8BitAccess = Feature.STORAGE8 in has
        third.shaderBufferInt64Atomics = third.shaderSharedInt64Atomics = Feature.ATOMIC_INT64 in has
        third.vulkanMemoryModel = third.vulkanMemoryModelDeviceScope = Feature.MEMORY_MODEL in has
        third.bufferDeviceAddress = True
        floats.shaderBufferFloat32AtomicAdd = Feature.ATOMIC_FLOAT_ADD in has
        floats.shaderBufferFloat64AtomicAdd = Feature.ATOMIC_DOUBLE_ADD in has
        floats.shaderBufferFloat32Atomics = Feature.ATOMIC_FLOAT_ADD in has
        floats.shaderBufferFloat64Atomics = Feature.ATOMIC_DOUBLE_ADD in has
        return chain

    # Buffers

    def buffer(self, nbytes: int, visible: bool) -> Buffer:
        """A new buffer, in memory of the device; `visible`: that the host sees, too. MemoryError where there is no room."""
        vk = self.vk
        usage = _TRANSFER_SOURCE | _TRANSFER_TARGET | _STORAGE | _ADDRESS
        try:
            handle = vk.create("vkCreateBuffer", self.handle, vk.new("VkBufferCreateInfo", size=nbytes, usage=usage))
        except VulkanError as error:
            raise self._no_room(nbytes, error) from error
        needs = vk.ffi.new("VkMemoryRequirements *")
        vk.lib.vkGetBufferMemoryRequirements(self.handle, handle, needs)
        flags = vk.new("VkMemoryAllocateFlagsInfo", flags=_ADDRESS_BIT)
        found = self._memory_type(needs.memoryTypeBits, needs.size, visible)
        if found is None:
            vk.lib.vkDestroyBuffer(self.handle, handle, vk.null)
            raise MemoryError(f"{self.physical.name} has no room for {nbytes} bytes")
        kind, seen = found
        info = vk.new("VkMemoryAllocateInfo", pNext=flags, allocationSize=needs.size, memoryTypeIndex=kind)
        try:
            memory = vk.create("vkAllocateMemory", self.handle, info)
        except VulkanError as error:
            vk.lib.vkDestroyBuffer(self.handle, handle, vk.null)
            raise self._no_room(nbytes, error) from error
        vk.call("vkBindBufferMemory", self.handle, handle, memory, 0)
        address = vk.lib.vkGetBufferDeviceAddress(self.handle, vk.new("VkBufferDeviceAddressInfo", buffer=handle))
        return Buffer(handle, memory, int(address), nbytes, self._mapped(memory, nbytes) if seen else None)

    def _mapped(self, memory: int, nbytes: int) -> Any:
        pointer = self.vk.ffi.new("void **")
        self.vk.call("vkMapMemory", self.handle, memory, 0, nbytes, 0, pointer)
        return self.vk.ffi.cast("char *", pointer[0])

    def _no_room(self, nbytes: int, error: VulkanError) -> Exception:
        if not error.no_memory:
            return error
        return MemoryError(f"{self.physical.name} has no room for {nbytes} bytes")

    def _memory_type(self, allowed: int, nbytes: int, visible: bool) -> tuple[int, bool] | None:
        """The kind of memory for a buffer, and whether the host sees it; None where no heap is so large."""
        kinds = self.physical.memory.memoryTypes
        flags = [int(kinds[index].propertyFlags) for index in range(self.physical.memory.memoryTypeCount)]
        shared = HOST_VISIBLE | HOST_COHERENT
        wishes = (shared | HOST_CACHED, shared) if visible else (DEVICE_LOCAL | shared, DEVICE_LOCAL, shared)
        heaps = self.physical.memory.memoryHeaps
        for wish in wishes:
            for index, has in enumerate(flags):
                if allowed >> index & 1 and has & wish == wish and heaps[kinds[index].heapIndex].size >= nbytes:
                    return index, has & shared == shared
        return None

    def release(self, buffer: Buffer) -> None:
        """Give a buffer back. Nothing may be using it."""
        self.vk.lib.vkDestroyBuffer(self.handle, buffer.handle, self.vk.null)
        self.vk.lib.vkFreeMemory(self.handle, buffer.memory, self.vk.null)

    def fence(self) -> int:
        return self.vk.create("vkCreateFence", self.handle, self.vk.new("VkFenceCreateInfo"))
