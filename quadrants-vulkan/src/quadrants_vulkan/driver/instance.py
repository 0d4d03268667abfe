"""An instance of Vulkan, and the devices that it sees.

Takes the loader; gives the physical devices with what they can do, as `target.Feature`s and limits. A device that
lacks what all code of this backend needs is seen with the reason why it is not used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quadrants._frozen import frozen
from quadrants_vulkan.driver.library import Library, Rows
from quadrants_vulkan.target import Feature

VALIDATION = "VK_LAYER_KHRONOS_validation"
_LLVMPIPE = 13
_API = 1 << 22 | 2 << 12  # 1.2
_COMPUTE_BIT = 2
_COMPUTE_STAGE = 0x20
_SUBGROUP_BITS = {Feature.SUBGROUP_VOTE: 2, Feature.SUBGROUP_BALLOT: 8, Feature.SUBGROUP_SHUFFLE: 16}
#: Kinds of devices, by number, the better ones first.
KINDS = {2: "discrete GPU", 1: "integrated GPU", 3: "virtual GPU", 4: "CPU", 0: "other"}
_RANK = list(KINDS)
ATOMIC_FLOAT = "VK_EXT_shader_atomic_float"
#: With it, and the flag of the same meaning, the loader shows drivers on top of others (MoltenVK).
_ENUMERATION = "VK_KHR_portability_enumeration"
PORTABILITY = "VK_KHR_portability_subset"


@frozen(eq=False)
class PhysicalDevice:
    """A device that the instance sees.

    Args:
        handle: the driver's.
        name: as the driver calls it.
        kind: one of `KINDS`.
        driver: the name and version of the driver.
        features: what it has.
        limits: numbers, as `target.LIMITS` names them, and `max_grid`.
        family: the family of queues that computes.
        tick_ns: the unit of time stamps; 0: there are none.
        extensions: to enable.
        lacks: why it cannot be used; empty: it can.
        memory: the driver's description of its memory.
    """

    handle: Any
    name: str
    kind: str
    driver: str
    features: frozenset[Feature]
    limits: Mapping[str, int]
    family: int
    tick_ns: float
    extensions: tuple[str, ...]
    lacks: str
    memory: Any

    @property
    def memory_bytes(self) -> int:
        """The size of its largest heap of its own."""
        heaps = [self.memory.memoryHeaps[index] for index in range(self.memory.memoryHeapCount)]
        return max(int(heap.size) for heap in heaps if heap.flags & 1 or len(heaps) == 1)


class Instance:
    """An instance; `messages` has what the validation layer said, if it was asked for."""

    def __init__(self, vk: Library, validate: bool = False) -> None:
        self.vk = vk
        self.messages: list[str] = []
        layers = [VALIDATION] if validate and VALIDATION in self._layers() else []
        found = self._extensions()
        known = {vk.string(extension.extensionName) for extension in found}
        extensions = [name for name in (*["VK_EXT_debug_utils"] * bool(layers), _ENUMERATION) if name in known]
        application = vk.new("VkApplicationInfo", apiVersion=_API)
        names, kept = vk.texts(layers)
        wanted, kept_too = vk.texts(extensions)
        info = vk.new(
            "VkInstanceCreateInfo",
            flags=int(_ENUMERATION in extensions),
            pApplicationInfo=application,
            enabledLayerCount=len(layers),
            ppEnabledLayerNames=names,
            enabledExtensionCount=len(extensions),
            ppEnabledExtensionNames=wanted,
        )
        messenger = self._messenger()
        if layers:
            info.pNext = messenger
        handle = vk.ffi.new("VkInstance *")
        vk.call("vkCreateInstance", info, vk.null, handle)
        self.handle = handle[0]
        self.validated = bool(layers)
        if layers:
            self._listen(messenger)
        del kept, kept_too
        self.devices = self._devices()

    def _layers(self) -> set[str]:
        vk = self.vk
        found = vk.listed("VkLayerProperties", vk.lib.vkEnumerateInstanceLayerProperties)
        return {vk.string(layer.layerName) for layer in found}

    def _extensions(self) -> Rows:
        function = self.vk.lib.vkEnumerateInstanceExtensionProperties
        return self.vk.listed("VkExtensionProperties", function, self.vk.null)

    def _messenger(self) -> Any:
        """What tells the validation layer where to report: errors and warnings go to `messages`."""
        vk = self.vk

        @vk.ffi.callback("VkMessageCallback")  # type: ignore[untyped-decorator]
        def heard(severity: int, kinds: int, message: Any, data: Any) -> int:
            self.messages.append(vk.string(message.pMessage))
            return 0

        self._heard = heard
        severities, kinds = 0x1000 | 0x100, 0x1 | 0x2 | 0x4
        return vk.new("VkMessengerCreateInfo", messageSeverity=severities, messageType=kinds, pfnUserCallback=heard)

    def _listen(self, messenger: Any) -> None:
        vk = self.vk
        address = vk.lib.vkGetInstanceProcAddr(self.handle, b"vkCreateDebugUtilsMessengerEXT")
        create = vk.ffi.cast(
            "VkResult (*)(VkInstance, const VkMessengerCreateInfo *, const void *, VkHandle *)", address
        )
        create(self.handle, messenger, vk.null, vk.ffi.new("VkHandle *"))

    def _devices(self) -> list[PhysicalDevice]:
        """All devices, usable ones first, then the faster kinds."""
        vk = self.vk
        handles = vk.listed("VkPhysicalDevice", vk.lib.vkEnumeratePhysicalDevices, self.handle)
        found = [_describe(vk, handle) for handle in handles]
        order = {name: _RANK.index(number) for number, name in KINDS.items()}
        return sorted(found, key=lambda device: (bool(device.lacks), order[device.kind]))


def _describe(vk: Library, handle: Any) -> PhysicalDevice:
    """What the driver says of a device."""
    first = vk.ffi.new("VkPhysicalDeviceProperties *")
    vk.lib.vkGetPhysicalDeviceProperties(handle, first)
    name, kind = vk.string(first.deviceName), KINDS.get(first.deviceType, "other")
    families = vk.listed("VkQueueFamilyProperties", vk.lib.vkGetPhysicalDeviceQueueFamilyProperties, handle)
    family = next((i for i, f in enumerate(families) if f.queueFlags & _COMPUTE_BIT), -1)
    memory = vk.ffi.new("VkPhysicalDeviceMemoryProperties *")
    vk.lib.vkGetPhysicalDeviceMemoryProperties(handle, memory)
    if first.apiVersion < _API:
        version = f"{first.apiVersion >> 22}.{first.apiVersion >> 12 & 0x3FF}"
        lacks = f"its driver has Vulkan {version}, and 1.2 is needed"
        return PhysicalDevice(handle, name, kind, "", frozenset(), {}, family, 0.0, (), lacks, memory)
    found = vk.listed("VkExtensionProperties", vk.lib.vkEnumerateDeviceExtensionProperties, handle, vk.null)
    extensions = {vk.string(extension.extensionName) for extension in found}
    features, has_addresses = _features(vk, handle, ATOMIC_FLOAT in extensions)
    more, limits, driver = _properties(vk, handle)
    if kind != "CPU":
        more |= {Feature.FUSED}
    lacks = "" if has_addresses else "it has no buffer device addresses"
    lacks = lacks if family >= 0 else "it has no queue for computing"
    tick = float(first.limits.timestampPeriod) if family >= 0 and families[family].timestampValidBits else 0.0
    enabled = tuple(e for e in (ATOMIC_FLOAT, PORTABILITY) if e in extensions)
    return PhysicalDevice(handle, name, kind, driver, features | more, limits, family, tick, enabled, lacks, memory)


def feature_chain(vk: Library, atomic_float: bool) -> tuple[Any, Any, Any, Any]:
    """The structs that a driver describes features with, linked: the parts of 1.0, 1.1, 1.2 and of float atomics."""
    floats = vk.new("VkAtomicFloatFeatures")
    third = vk.new("VkVulkan12Features", pNext=floats if atomic_float else vk.null)
    second = vk.new("VkVulkan11Features", pNext=third)
    return vk.new("VkPhysicalDeviceFeatures2", pNext=second), second, third, floats


def _features(vk: Library, handle: Any, atomic_float: bool) -> tuple[frozenset[Feature], bool]:
    first, second, third, floats = feature_chain(vk, atomic_float)
    vk.lib.vkGetPhysicalDeviceFeatures2(handle, first)
    has = {
        Feature.INT64: first.features.shaderInt64,
        Feature.FLOAT64: first.features.shaderFloat64,
        Feature.STORAGE8: third.storageBuffer8BitAccess,
        Feature.STORAGE16: second.storageBuffer16BitAccess,
        Feature.ATOMIC_INT64: third.shaderBufferInt64Atomics and third.shaderSharedInt64Atomics,
        Feature.ATOMIC_FLOAT_ADD: floats.shaderBufferFloat32AtomicAdd,
        Feature.ATOMIC_DOUBLE_ADD: floats.shaderBufferFloat64AtomicAdd,
        Feature.MEMORY_MODEL: third.vulkanMemoryModel and third.vulkanMemoryModelDeviceScope,
    }
    return frozenset(feature for feature, there in has.items() if there), bool(third.bufferDeviceAddress)


def _properties(vk: Library, handle: Any) -> tuple[frozenset[Feature], dict[str, int], str]:
    """Features that are properties to Vulkan, the limits, and the driver's name."""
    third = vk.new("VkVulkan12Properties")
    second = vk.new("VkVulkan11Properties", pNext=third)
    first = vk.new("VkPhysicalDeviceProperties2", pNext=second)
    vk.lib.vkGetPhysicalDeviceProperties2(handle, first)
    limits = first.properties.limits
    computes = second.subgroupSupportedStages & _COMPUTE_STAGE
    has = {f: computes and second.subgroupSupportedOperations & bit for f, bit in _SUBGROUP_BITS.items()}
    has |= _float_controls(third)
    numbers = {
        "subgroup_size": second.subgroupSize,
        "shared_bytes": limits.maxComputeSharedMemorySize,
        "max_threads": limits.maxComputeWorkGroupInvocations,
        **{f"max_block_{axis}": limits.maxComputeWorkGroupSize[i] for i, axis in enumerate("xyz")},
        "max_grid": min(limits.maxComputeWorkGroupCount),
    }
    if third.driverID == _LLVMPIPE:
        has[Feature.FEW_TURNS] = True
    driver = f"{vk.string(third.driverName)} {vk.string(third.driverInfo)}".strip()
    return frozenset(feature for feature, there in has.items() if there), numbers, driver


def _float_controls(properties: Any) -> dict[Feature, Any]:
    """Widths are 16, 32 and 64. Where a driver wants one setting for all widths, they are asked for together or not at all."""
    together = 2
    nan, even, denorm = properties.nanPreserve, properties.roundEven, properties.denormPreserve
    both_even = properties.roundingModeIndependence != together or (even[1] and even[2])
    both_denorm = properties.denormBehaviorIndependence != together or (denorm[1] and denorm[2])
    return {
        Feature.NAN32: nan[1],
        Feature.NAN64: nan[2],
        Feature.EVEN32: even[1] and both_even,
        Feature.EVEN64: even[2] and both_even,
        Feature.DENORM32: denorm[1] and both_denorm,
        Feature.DENORM64: denorm[2] and both_denorm,
    }
