/* SPDX-License-Identifier: GPL-3.0-or-later
 * The few types and functions of the CUDA driver, NVRTC and NVML that kernels/ uses, declared here so that the build
 * needs no CUDA; found in the libraries at run time. Values are those of the public headers (CUDA 12 and 13). */
#ifndef OCCAM_KERNELS_CUDA_DRIVER_H
#define OCCAM_KERNELS_CUDA_DRIVER_H

#include <stddef.h>

typedef int cuda_result; /* CUresult: 0 is success */
typedef int cuda_device;
typedef unsigned long long cuda_address;
struct cuda_context;
struct cuda_module;
struct cuda_function;
struct cuda_stream;
struct cuda_event;
struct cuda_graph;
struct cuda_graph_exec;

enum {
    CUDA_RESULT_OUT_OF_MEMORY = 2,
    CUDA_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
    CUDA_DEVICE_ATTRIBUTE_SM_COUNT = 16,
    CUDA_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36,
    CUDA_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
    CUDA_DEVICE_ATTRIBUTE_CC_MAJOR = 75,
    CUDA_DEVICE_ATTRIBUTE_CC_MINOR = 76,
    CUDA_DEVICE_ATTRIBUTE_SMEM_PER_SM = 81,
    CUDA_DEVICE_ATTRIBUTE_SMEM_PER_CTA_OPTIN = 97,
    CUDA_FUNCTION_ATTRIBUTE_STATIC_SMEM = 1,
    CUDA_FUNCTION_ATTRIBUTE_LOCAL_BYTES = 3,
    CUDA_FUNCTION_ATTRIBUTE_REGISTERS = 4,
    CUDA_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SMEM = 8,
    CUDA_FUNCTION_ATTRIBUTE_CARVEOUT = 9,
    CUDA_FUNCTION_ATTRIBUTE_NON_PORTABLE_CLUSTER = 14,
    CUDA_LAUNCH_ATTRIBUTE_CLUSTER = 4,
    CUDA_CAPTURE_THREAD_LOCAL = 1
};

struct cuda_uuid {
    char bytes[16];
};

/* CUlaunchAttribute: the value is a union of 64 bytes, 8-byte aligned. */
struct cuda_launch_attribute {
    int id;
    int pad;
    union {
        char pad[64];
        unsigned cluster[3];
        void *alignment;
    } value;
};

/* CUlaunchConfig */
struct cuda_launch_config {
    unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, dynamic_smem_bytes;
    struct cuda_stream *stream;
    struct cuda_launch_attribute *attributes;
    unsigned attribute_count;
};

/* CUDA_DRIVER_LIST(X): X(member, "symbol", parameter types) */
#define CUDA_DRIVER_LIST(X)                                                                                            \
    X(init, "cuInit", (unsigned))                                                                                      \
    X(driver_version, "cuDriverGetVersion", (int *))                                                                   \
    X(device_count, "cuDeviceGetCount", (int *))                                                                       \
    X(device_get, "cuDeviceGet", (cuda_device *, int))                                                                 \
    X(device_name, "cuDeviceGetName", (char *, int, cuda_device))                                                      \
    X(device_uuid, "cuDeviceGetUuid_v2", (struct cuda_uuid *, cuda_device))                                            \
    X(device_bus, "cuDeviceGetPCIBusId", (char *, int, cuda_device))                                                   \
    X(device_memory, "cuDeviceTotalMem_v2", (size_t *, cuda_device))                                                   \
    X(device_attribute, "cuDeviceGetAttribute", (int *, int, cuda_device))                                             \
    X(context_retain, "cuDevicePrimaryCtxRetain", (struct cuda_context **, cuda_device))                               \
    X(context_release, "cuDevicePrimaryCtxRelease_v2", (cuda_device))                                                  \
    X(context_set, "cuCtxSetCurrent", (struct cuda_context *))                                                         \
    X(module_load, "cuModuleLoadData", (struct cuda_module **, const void *))                                          \
    X(module_unload, "cuModuleUnload", (struct cuda_module *))                                                         \
    X(module_function, "cuModuleGetFunction", (struct cuda_function **, struct cuda_module *, const char *))           \
    X(function_get, "cuFuncGetAttribute", (int *, int, struct cuda_function *))                                        \
    X(function_set, "cuFuncSetAttribute", (struct cuda_function *, int, int))                                          \
    X(occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor", (int *, struct cuda_function *, int, size_t))          \
    X(memory_allocate, "cuMemAlloc_v2", (cuda_address *, size_t))                                                      \
    X(memory_free, "cuMemFree_v2", (cuda_address))                                                                     \
    X(copy_to_host, "cuMemcpyDtoH_v2", (void *, cuda_address, size_t))                                                 \
    X(set_bytes, "cuMemsetD8_v2", (cuda_address, unsigned char, size_t))                                               \
    X(launch, "cuLaunchKernelEx",                                                                                      \
      (const struct cuda_launch_config *, struct cuda_function *, void **parameters, void **extra))                    \
    X(stream_create, "cuStreamCreate", (struct cuda_stream **, unsigned))                                              \
    X(stream_destroy, "cuStreamDestroy_v2", (struct cuda_stream *))                                                    \
    X(stream_wait, "cuStreamSynchronize", (struct cuda_stream *))                                                      \
    X(capture_begin, "cuStreamBeginCapture_v2", (struct cuda_stream *, int))                                           \
    X(capture_end, "cuStreamEndCapture", (struct cuda_stream *, struct cuda_graph **))                                 \
    X(graph_instantiate, "cuGraphInstantiateWithFlags",                                                                \
      (struct cuda_graph_exec **, struct cuda_graph *, unsigned long long))                                            \
    X(graph_launch, "cuGraphLaunch", (struct cuda_graph_exec *, struct cuda_stream *))                                 \
    X(graph_exec_destroy, "cuGraphExecDestroy", (struct cuda_graph_exec *))                                            \
    X(graph_destroy, "cuGraphDestroy", (struct cuda_graph *))                                                          \
    X(event_create, "cuEventCreate", (struct cuda_event **, unsigned))                                                 \
    X(event_record, "cuEventRecord", (struct cuda_event *, struct cuda_stream *))                                      \
    X(event_wait, "cuEventSynchronize", (struct cuda_event *))                                                         \
    X(event_elapsed_ms, "cuEventElapsedTime", (float *, struct cuda_event *, struct cuda_event *))                     \
    X(event_destroy, "cuEventDestroy_v2", (struct cuda_event *))                                                       \
    X(error_name, "cuGetErrorName", (cuda_result, const char **))

#define CUDA_DRIVER_MEMBER(member, symbol, parameters) cuda_result(*member) parameters;
struct cuda_driver {
    void *library;
    CUDA_DRIVER_LIST(CUDA_DRIVER_MEMBER)
};
#undef CUDA_DRIVER_MEMBER

enum {
    NVRTC_ERROR_OUT_OF_MEMORY = 1,
    NVRTC_ERROR_INVALID_OPTION = 5,
    NVRTC_ERROR_BUILTINS = 7 /* its second library is not there */
};

/* NVRTC_LIST(X), as above. nvrtcResult 0 is success. */
struct nvrtc_program;
#define NVRTC_LIST(X)                                                                                                  \
    X(version, "nvrtcVersion", (int *, int *))                                                                         \
    X(create, "nvrtcCreateProgram",                                                                                    \
      (struct nvrtc_program **, const char *text, const char *name, int, const char *const *header_texts,              \
       const char *const *header_names))                                                                               \
    X(destroy, "nvrtcDestroyProgram", (struct nvrtc_program **))                                                       \
    X(compile, "nvrtcCompileProgram", (struct nvrtc_program *, int, const char *const *))                              \
    X(cubin_size, "nvrtcGetCUBINSize", (struct nvrtc_program *, size_t *))                                             \
    X(cubin, "nvrtcGetCUBIN", (struct nvrtc_program *, char *))                                                        \
    X(ptx_size, "nvrtcGetPTXSize", (struct nvrtc_program *, size_t *))                                                 \
    X(ptx, "nvrtcGetPTX", (struct nvrtc_program *, char *))                                                            \
    X(log_size, "nvrtcGetProgramLogSize", (struct nvrtc_program *, size_t *))                                          \
    X(log, "nvrtcGetProgramLog", (struct nvrtc_program *, char *))

#define NVRTC_MEMBER(member, symbol, parameters) int(*member) parameters;
struct nvrtc {
    void *library;
    NVRTC_LIST(NVRTC_MEMBER)
};
#undef NVRTC_MEMBER

/* NVML: clocks, temperature, power. Optional. */
struct nvml_device;
#define NVML_LIST(X)                                                                                                   \
    X(init, "nvmlInit_v2", (void))                                                                                     \
    X(shutdown, "nvmlShutdown", (void))                                                                                \
    X(device_by_bus, "nvmlDeviceGetHandleByPciBusId_v2", (const char *, struct nvml_device **))                        \
    X(driver_text, "nvmlSystemGetDriverVersion", (char *, unsigned))                                                   \
    X(clock, "nvmlDeviceGetClockInfo", (struct nvml_device *, int, unsigned *))                                        \
    X(temperature, "nvmlDeviceGetTemperature", (struct nvml_device *, int, unsigned *))                                \
    X(power, "nvmlDeviceGetPowerUsage", (struct nvml_device *, unsigned *))                                            \
    X(throttle, "nvmlDeviceGetCurrentClocksThrottleReasons", (struct nvml_device *, unsigned long long *))

#define NVML_MEMBER(member, symbol, parameters) int(*member) parameters;
struct nvml {
    void *library;
    struct nvml_device *device;
    NVML_LIST(NVML_MEMBER)
};
#undef NVML_MEMBER

#endif
