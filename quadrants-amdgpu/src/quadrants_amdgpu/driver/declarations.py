"""The functions of HIP and of comgr that are called, for cffi. Handles are addresses.

What differs from one version of ROCm to the next is left out: the properties of a device are read as bytes.
"""

from __future__ import annotations

HIP = """
typedef int hipError;
const char *hipGetErrorString(hipError error);
hipError hipInit(unsigned int flags);
hipError hipGetDeviceCount(int *count);
hipError hipSetDevice(int device);
hipError hipDeviceTotalMem(size_t *bytes, int device);
hipError hipGetDevicePropertiesR0600(void *properties, int device);
hipError hipGetDeviceProperties(void *properties, int device);
hipError hipDeviceSynchronize(void);
hipError hipMalloc(uintptr_t *address, size_t bytes);
hipError hipFree(uintptr_t address);
hipError hipMemcpyHtoDAsync(uintptr_t target, const void *source, size_t bytes, uintptr_t stream);
hipError hipMemcpyDtoHAsync(void *target, uintptr_t source, size_t bytes, uintptr_t stream);
hipError hipMemcpyDtoDAsync(uintptr_t target, uintptr_t source, size_t bytes, uintptr_t stream);
hipError hipMemsetD8Async(uintptr_t target, unsigned char value, size_t bytes, uintptr_t stream);
hipError hipStreamCreate(uintptr_t *stream);
hipError hipStreamDestroy(uintptr_t stream);
hipError hipStreamSynchronize(uintptr_t stream);
hipError hipStreamWaitEvent(uintptr_t stream, uintptr_t event, unsigned int flags);
hipError hipEventCreate(uintptr_t *event);
hipError hipEventDestroy(uintptr_t event);
hipError hipEventRecord(uintptr_t event, uintptr_t stream);
hipError hipEventSynchronize(uintptr_t event);
hipError hipEventElapsedTime(float *milliseconds, uintptr_t start, uintptr_t stop);
hipError hipModuleLoadData(uintptr_t *module, const void *image);
hipError hipModuleUnload(uintptr_t module);
hipError hipModuleGetFunction(uintptr_t *function, uintptr_t module, const char *name);
hipError hipModuleLaunchKernel(
    uintptr_t function,
    unsigned int blocks_x, unsigned int blocks_y, unsigned int blocks_z,
    unsigned int threads_x, unsigned int threads_y, unsigned int threads_z,
    unsigned int shared_bytes, uintptr_t stream, void **arguments, void **extra);
"""

COMGR = """
typedef struct { uint64_t handle; } Handle;
typedef int Status;
void amd_comgr_get_version(size_t *major, size_t *minor);
Status amd_comgr_create_data(int kind, Handle *data);
Status amd_comgr_release_data(Handle data);
Status amd_comgr_set_data(Handle data, size_t size, const char *bytes);
Status amd_comgr_set_data_name(Handle data, const char *name);
Status amd_comgr_get_data(Handle data, size_t *size, char *bytes);
Status amd_comgr_create_data_set(Handle *set);
Status amd_comgr_destroy_data_set(Handle set);
Status amd_comgr_data_set_add(Handle set, Handle data);
Status amd_comgr_create_action_info(Handle *info);
Status amd_comgr_destroy_action_info(Handle info);
Status amd_comgr_action_info_set_isa_name(Handle info, const char *isa);
Status amd_comgr_do_action(int kind, Handle info, Handle input, Handle output);
Status amd_comgr_action_data_count(Handle set, int kind, size_t *count);
Status amd_comgr_action_data_get_data(Handle set, int kind, size_t index, Handle *data);
"""
