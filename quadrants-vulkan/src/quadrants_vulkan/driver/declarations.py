"""The part of Vulkan 1.2 that computing needs, declared for cffi in ABI mode.

Structs keep the layout of the specification; members that nothing here reads are merged into arrays of the same size. Handles that
the specification calls non-dispatchable are 64-bit numbers.
"""

from __future__ import annotations

TYPES = """
typedef struct Instance_T *VkInstance; typedef struct Physical_T *VkPhysicalDevice; typedef struct Device_T *VkDevice;
typedef struct Queue_T *VkQueue; typedef struct Commands_T *VkCommandBuffer;
typedef uint64_t VkHandle; typedef uint32_t VkFlags; typedef uint32_t VkBool32; typedef int VkResult;

typedef struct { int sType; const void *pNext; const char *pApplicationName; uint32_t applicationVersion;
  const char *pEngineName; uint32_t engineVersion; uint32_t apiVersion; } VkApplicationInfo;
typedef struct { int sType; const void *pNext; VkFlags flags; const VkApplicationInfo *pApplicationInfo;
  uint32_t enabledLayerCount; const char *const *ppEnabledLayerNames;
  uint32_t enabledExtensionCount; const char *const *ppEnabledExtensionNames; } VkInstanceCreateInfo;
typedef struct { char layerName[256]; uint32_t specVersion; uint32_t implementationVersion; char description[256]; }
  VkLayerProperties;
typedef struct { char extensionName[256]; uint32_t specVersion; } VkExtensionProperties;

typedef struct { int sType; const void *pNext; VkFlags flags; const char *pMessageIdName; int32_t messageIdNumber;
  const char *pMessage; uint32_t counts[1]; const void *pLabels; } VkMessage;
typedef VkBool32 (*VkMessageCallback)(int, VkFlags, const VkMessage *, void *);
typedef struct { int sType; const void *pNext; VkFlags flags; VkFlags messageSeverity; VkFlags messageType;
  VkMessageCallback pfnUserCallback; void *pUserData; } VkMessengerCreateInfo;

typedef struct { uint32_t head[11]; uint64_t granularity[2]; uint32_t graphics[38];
  uint32_t maxComputeSharedMemorySize; uint32_t maxComputeWorkGroupCount[3];
  uint32_t maxComputeWorkGroupInvocations; uint32_t maxComputeWorkGroupSize[3];
  uint32_t display[13]; size_t mapAlignment; uint64_t offsets[3]; uint32_t images[21];
  VkBool32 timestampComputeAndGraphics; float timestampPeriod; uint32_t lines[12]; uint64_t copies[3]; } VkLimits;
typedef struct { uint32_t apiVersion, driverVersion, vendorID, deviceID; int deviceType; char deviceName[256];
  uint8_t pipelineCacheUUID[16]; VkLimits limits; VkBool32 sparse[5]; } VkPhysicalDeviceProperties;
typedef struct { int sType; void *pNext; VkPhysicalDeviceProperties properties; } VkPhysicalDeviceProperties2;
typedef struct { int sType; void *pNext; uint8_t ids[40]; uint32_t deviceNodeMask; VkBool32 deviceLUIDValid;
  uint32_t subgroupSize; VkFlags subgroupSupportedStages; VkFlags subgroupSupportedOperations;
  VkBool32 subgroupQuadOperationsInAllStages; int pointClippingBehavior; uint32_t more[4];
  uint64_t maxMemoryAllocationSize; } VkVulkan11Properties;
typedef struct { int sType; void *pNext; int driverID; char driverName[256]; char driverInfo[256]; uint8_t conformance[4];
  int denormBehaviorIndependence; int roundingModeIndependence; VkBool32 nanPreserve[3]; VkBool32 denormPreserve[3];
  VkBool32 denormFlush[3]; VkBool32 roundEven[3]; VkBool32 roundZero[3]; uint64_t more[32]; } VkVulkan12Properties;

typedef struct { VkBool32 first[39]; VkBool32 shaderFloat64; VkBool32 shaderInt64; VkBool32 rest[14]; } VkFeatures;
typedef struct { int sType; void *pNext; VkFeatures features; } VkPhysicalDeviceFeatures2;
typedef struct { int sType; void *pNext; VkBool32 storageBuffer16BitAccess; VkBool32 rest[11]; } VkVulkan11Features;
typedef struct { int sType; void *pNext; VkBool32 first[2]; VkBool32 storageBuffer8BitAccess; VkBool32 second[2];
  VkBool32 shaderBufferInt64Atomics; VkBool32 shaderSharedInt64Atomics; VkBool32 third[31]; VkBool32 bufferDeviceAddress;
  VkBool32 fourth[2]; VkBool32 vulkanMemoryModel; VkBool32 vulkanMemoryModelDeviceScope; VkBool32 fifth[4]; }
  VkVulkan12Features;
typedef struct { int sType; void *pNext; VkBool32 shaderBufferFloat32Atomics; VkBool32 shaderBufferFloat32AtomicAdd;
  VkBool32 shaderBufferFloat64Atomics; VkBool32 shaderBufferFloat64AtomicAdd; VkBool32 rest[8]; } VkAtomicFloatFeatures;

typedef struct { VkFlags queueFlags; uint32_t queueCount; uint32_t timestampValidBits; uint32_t image[3]; }
  VkQueueFamilyProperties;
typedef struct { VkFlags propertyFlags; uint32_t heapIndex; } VkMemoryType;
typedef struct { uint64_t size; VkFlags flags; } VkMemoryHeap;
typedef struct { uint32_t memoryTypeCount; VkMemoryType memoryTypes[32]; uint32_t memoryHeapCount;
  VkMemoryHeap memoryHeaps[16]; } VkPhysicalDeviceMemoryProperties;

typedef struct { int sType; const void *pNext; VkFlags flags; uint32_t queueFamilyIndex; uint32_t queueCount;
  const float *pQueuePriorities; } VkDeviceQueueCreateInfo;
typedef struct { int sType; const void *pNext; VkFlags flags; uint32_t queueCreateInfoCount;
  const VkDeviceQueueCreateInfo *pQueueCreateInfos; uint32_t enabledLayerCount; const char *const *ppEnabledLayerNames;
  uint32_t enabledExtensionCount; const char *const *ppEnabledExtensionNames; const void *pEnabledFeatures; }
  VkDeviceCreateInfo;

typedef struct { int sType; const void *pNext; VkFlags flags; uint64_t size; VkFlags usage; int sharingMode;
  uint32_t queueFamilyIndexCount; const uint32_t *pQueueFamilyIndices; } VkBufferCreateInfo;
typedef struct { uint64_t size, alignment; uint32_t memoryTypeBits; } VkMemoryRequirements;
typedef struct { int sType; const void *pNext; VkFlags flags; uint32_t deviceMask; } VkMemoryAllocateFlagsInfo;
typedef struct { int sType; const void *pNext; uint64_t allocationSize; uint32_t memoryTypeIndex; } VkMemoryAllocateInfo;
typedef struct { int sType; const void *pNext; VkHandle buffer; } VkBufferDeviceAddressInfo;
typedef struct { uint64_t srcOffset, dstOffset, size; } VkBufferCopy;

typedef struct { int sType; const void *pNext; VkFlags flags; size_t codeSize; const uint32_t *pCode; }
  VkShaderModuleCreateInfo;
typedef struct { VkFlags stageFlags; uint32_t offset; uint32_t size; } VkPushConstantRange;
typedef struct { int sType; const void *pNext; VkFlags flags; uint32_t setLayoutCount; const VkHandle *pSetLayouts;
  uint32_t pushConstantRangeCount; const VkPushConstantRange *pPushConstantRanges; } VkPipelineLayoutCreateInfo;
typedef struct { uint32_t constantID; uint32_t offset; size_t size; } VkSpecializationMapEntry;
typedef struct { uint32_t mapEntryCount; const VkSpecializationMapEntry *pMapEntries; size_t dataSize; const void *pData; }
  VkSpecializationInfo;
typedef struct { int sType; const void *pNext; VkFlags flags; int stage; VkHandle module; const char *pName;
  const VkSpecializationInfo *pSpecializationInfo; } VkPipelineShaderStageCreateInfo;
typedef struct { int sType; const void *pNext; VkFlags flags; VkPipelineShaderStageCreateInfo stage; VkHandle layout;
  VkHandle basePipelineHandle; int32_t basePipelineIndex; } VkComputePipelineCreateInfo;

typedef struct { int sType; const void *pNext; VkFlags flags; uint32_t queueFamilyIndex; } VkCommandPoolCreateInfo;
typedef struct { int sType; const void *pNext; VkHandle commandPool; int level; uint32_t commandBufferCount; }
  VkCommandBufferAllocateInfo;
typedef struct { int sType; const void *pNext; VkFlags flags; const void *pInheritanceInfo; } VkCommandBufferBeginInfo;
typedef struct { int sType; const void *pNext; VkFlags srcAccessMask, dstAccessMask; } VkMemoryBarrier;
typedef struct { int sType; const void *pNext; VkFlags flags; } VkFenceCreateInfo;
typedef struct { int sType; const void *pNext; VkFlags flags; int queryType; uint32_t queryCount; VkFlags statistics; }
  VkQueryPoolCreateInfo;
typedef struct { int sType; const void *pNext; uint32_t waitSemaphoreCount; const void *pWaitSemaphores;
  const VkFlags *pWaitDstStageMask; uint32_t commandBufferCount; const VkCommandBuffer *pCommandBuffers;
  uint32_t signalSemaphoreCount; const void *pSignalSemaphores; } VkSubmitInfo;
"""

FUNCTIONS = """
void *vkGetInstanceProcAddr(VkInstance, const char *);
VkResult vkEnumerateInstanceLayerProperties(uint32_t *, VkLayerProperties *);
VkResult vkEnumerateInstanceExtensionProperties(const char *, uint32_t *, VkExtensionProperties *);
VkResult vkCreateInstance(const VkInstanceCreateInfo *, const void *, VkInstance *);
void vkDestroyInstance(VkInstance, const void *);
VkResult vkEnumeratePhysicalDevices(VkInstance, uint32_t *, VkPhysicalDevice *);
void vkGetPhysicalDeviceProperties(VkPhysicalDevice, VkPhysicalDeviceProperties *);
void vkGetPhysicalDeviceProperties2(VkPhysicalDevice, VkPhysicalDeviceProperties2 *);
void vkGetPhysicalDeviceFeatures2(VkPhysicalDevice, VkPhysicalDeviceFeatures2 *);
void vkGetPhysicalDeviceMemoryProperties(VkPhysicalDevice, VkPhysicalDeviceMemoryProperties *);
void vkGetPhysicalDeviceQueueFamilyProperties(VkPhysicalDevice, uint32_t *, VkQueueFamilyProperties *);
VkResult vkEnumerateDeviceExtensionProperties(VkPhysicalDevice, const char *, uint32_t *, VkExtensionProperties *);
VkResult vkCreateDevice(VkPhysicalDevice, const VkDeviceCreateInfo *, const void *, VkDevice *);
void vkDestroyDevice(VkDevice, const void *);
VkResult vkDeviceWaitIdle(VkDevice);
void vkGetDeviceQueue(VkDevice, uint32_t, uint32_t, VkQueue *);
VkResult vkCreateBuffer(VkDevice, const VkBufferCreateInfo *, const void *, VkHandle *);
void vkDestroyBuffer(VkDevice, VkHandle, const void *);
void vkGetBufferMemoryRequirements(VkDevice, VkHandle, VkMemoryRequirements *);
VkResult vkAllocateMemory(VkDevice, const VkMemoryAllocateInfo *, const void *, VkHandle *);
void vkFreeMemory(VkDevice, VkHandle, const void *);
VkResult vkBindBufferMemory(VkDevice, VkHandle, VkHandle, uint64_t);
VkResult vkMapMemory(VkDevice, VkHandle, uint64_t, uint64_t, VkFlags, void **);
uint64_t vkGetBufferDeviceAddress(VkDevice, const VkBufferDeviceAddressInfo *);
VkResult vkCreateShaderModule(VkDevice, const VkShaderModuleCreateInfo *, const void *, VkHandle *);
void vkDestroyShaderModule(VkDevice, VkHandle, const void *);
VkResult vkCreatePipelineLayout(VkDevice, const VkPipelineLayoutCreateInfo *, const void *, VkHandle *);
void vkDestroyPipelineLayout(VkDevice, VkHandle, const void *);
VkResult vkCreateComputePipelines(VkDevice, VkHandle, uint32_t, const VkComputePipelineCreateInfo *, const void *, VkHandle *);
void vkDestroyPipeline(VkDevice, VkHandle, const void *);
VkResult vkCreateCommandPool(VkDevice, const VkCommandPoolCreateInfo *, const void *, VkHandle *);
void vkDestroyCommandPool(VkDevice, VkHandle, const void *);
VkResult vkAllocateCommandBuffers(VkDevice, const VkCommandBufferAllocateInfo *, VkCommandBuffer *);
VkResult vkBeginCommandBuffer(VkCommandBuffer, const VkCommandBufferBeginInfo *);
VkResult vkEndCommandBuffer(VkCommandBuffer);
void vkCmdBindPipeline(VkCommandBuffer, int, VkHandle);
void vkCmdPushConstants(VkCommandBuffer, VkHandle, VkFlags, uint32_t, uint32_t, const void *);
void vkCmdDispatch(VkCommandBuffer, uint32_t, uint32_t, uint32_t);
void vkCmdCopyBuffer(VkCommandBuffer, VkHandle, VkHandle, uint32_t, const VkBufferCopy *);
void vkCmdPipelineBarrier(VkCommandBuffer, VkFlags, VkFlags, VkFlags, uint32_t, const VkMemoryBarrier *, uint32_t,
  const void *, uint32_t, const void *);
VkResult vkCreateQueryPool(VkDevice, const VkQueryPoolCreateInfo *, const void *, VkHandle *);
void vkDestroyQueryPool(VkDevice, VkHandle, const void *);
void vkCmdResetQueryPool(VkCommandBuffer, VkHandle, uint32_t, uint32_t);
void vkCmdWriteTimestamp(VkCommandBuffer, VkFlags, VkHandle, uint32_t);
VkResult vkGetQueryPoolResults(VkDevice, VkHandle, uint32_t, uint32_t, size_t, void *, uint64_t, VkFlags);
VkResult vkCreateFence(VkDevice, const VkFenceCreateInfo *, const void *, VkHandle *);
void vkDestroyFence(VkDevice, VkHandle, const void *);
VkResult vkResetFences(VkDevice, uint32_t, const VkHandle *);
VkResult vkWaitForFences(VkDevice, uint32_t, const VkHandle *, VkBool32, uint64_t);
VkResult vkGetFenceStatus(VkDevice, VkHandle);
VkResult vkQueueSubmit(VkQueue, uint32_t, const VkSubmitInfo *, VkHandle);
"""

#: The numbers that say what a struct is.
STRUCTURES: dict[str, int] = {
    "VkApplicationInfo": 0,
    "VkInstanceCreateInfo": 1,
    "VkDeviceQueueCreateInfo": 2,
    "VkDeviceCreateInfo": 3,
    "VkSubmitInfo": 4,
    "VkMemoryAllocateInfo": 5,
    "VkFenceCreateInfo": 8,
    "VkQueryPoolCreateInfo": 11,
    "VkBufferCreateInfo": 12,
    "VkShaderModuleCreateInfo": 16,
    "VkPipelineShaderStageCreateInfo": 18,
    "VkComputePipelineCreateInfo": 29,
    "VkPipelineLayoutCreateInfo": 30,
    "VkCommandPoolCreateInfo": 39,
    "VkCommandBufferAllocateInfo": 40,
    "VkCommandBufferBeginInfo": 42,
    "VkMemoryBarrier": 46,
    "VkVulkan11Features": 49,
    "VkVulkan11Properties": 50,
    "VkVulkan12Features": 51,
    "VkVulkan12Properties": 52,
    "VkPhysicalDeviceFeatures2": 1000059000,
    "VkPhysicalDeviceProperties2": 1000059001,
    "VkMemoryAllocateFlagsInfo": 1000060000,
    "VkMessengerCreateInfo": 1000128004,
    "VkBufferDeviceAddressInfo": 1000244001,
    "VkAtomicFloatFeatures": 1000260000,
}

#: The results that mean failure, by number.
RESULTS: dict[int, str] = {
    -1: "the host is out of memory",
    -2: "the device is out of memory",
    -3: "the driver could not initialise",
    -4: "the device is lost: a kernel ran too long or accessed memory that is not its own",
    -5: "memory could not be mapped",
    -6: "a layer is not installed",
    -7: "an extension is not supported",
    -8: "a feature is not supported",
    -9: "no installed driver fits",
    -10: "too many objects",
    -13: "the driver failed for a reason that it does not name",
}
