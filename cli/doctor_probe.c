/* SPDX-License-Identifier: GPL-3.0-or-later
 * Probes of the machine. The CUDA driver and NVRTC are opened by name at run time, so that the same program runs where
 * neither exists. */
#include "cli/doctor_probe.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plots/figure.h"

/* The library stays loaded: unloading would make its global memory look leaked, and some do not survive it. */
static void *open_library(const char *name)
{
    return dlopen(name, RTLD_LAZY | RTLD_LOCAL);
}

/* A function pointer from dlsym; through memcpy because ISO C has no conversion from an object pointer. */
static bool load_function(void *library, const char *name, void *function, size_t size)
{
    void *symbol = dlsym(library, name);

    memcpy(function, &symbol, size);
    return symbol != NULL;
}

/* The few driver calls that name the GPUs (CUDA driver API; results are 0 for success). */
struct driver {
    int (*init)(unsigned);
    int (*version)(int *);
    int (*count)(int *);
    int (*get)(int *, int);
    int (*name)(char *, int, int);
    int (*attribute)(int *, int, int);
};

static bool driver_load(void *library, struct driver *driver)
{
    return load_function(library, "cuInit", &driver->init, sizeof driver->init) &&
           load_function(library, "cuDriverGetVersion", &driver->version, sizeof driver->version) &&
           load_function(library, "cuDeviceGetCount", &driver->count, sizeof driver->count) &&
           load_function(library, "cuDeviceGet", &driver->get, sizeof driver->get) &&
           load_function(library, "cuDeviceGetName", &driver->name, sizeof driver->name) &&
           load_function(library, "cuDeviceGetAttribute", &driver->attribute, sizeof driver->attribute);
}

static void name_gpus(const struct driver *driver, int count, struct probe *result)
{
    enum {
        ATTRIBUTE_SM_COUNT = 16 /* CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT */
    };

    for (int i = 0; i < count; i++) {
        size_t length = strlen(result->text);
        char name[128] = "unnamed GPU";
        int device, sm_count = 0;

        if (driver->get(&device, i) != 0 || driver->name(name, sizeof name, device) != 0 ||
            driver->attribute(&sm_count, ATTRIBUTE_SM_COUNT, device) != 0)
            continue;
        (void)snprintf(result->text + length, sizeof result->text - length, "%s%s (%d SMs)", i == 0 ? "; " : ", ", name,
                       sm_count);
    }
}

struct probe probe_gpu(void)
{
    struct probe result = {.text = "no CUDA driver (libcuda.so.1)"};
    void *library = open_library("libcuda.so.1");
    struct driver driver;
    int version = 0, count = 0, code;

    if (library == NULL)
        return result;
    if (!driver_load(library, &driver)) {
        (void)snprintf(result.text, sizeof result.text, "the CUDA driver lacks a function that occam needs");
    } else if ((code = driver.init(0)) != 0 || (code = driver.count(&count)) != 0 || count == 0) {
        (void)snprintf(result.text, sizeof result.text, "a CUDA driver, but no usable GPU (code %d)", code);
    } else {
        (void)driver.version(&version);
        (void)snprintf(result.text, sizeof result.text, "%d GPU%s, driver for CUDA %d.%d", count, count == 1 ? "" : "s",
                       version / 1000, version % 1000 / 10);
        name_gpus(&driver, count, &result);
        result.found = true;
    }
    return result;
}

static bool is_program(const char *directory, size_t length, const char *name, struct probe *result)
{
    char path[PROBE_TEXT_SIZE];

    if (snprintf(path, sizeof path, "%.*s/%s", (int)length, directory, name) >= (int)sizeof path ||
        access(path, X_OK) != 0)
        return false;
    result->found = true;
    (void)snprintf(result->text, sizeof result->text, "%s", path);
    return true;
}

struct probe probe_nvcc(void)
{
    struct probe result = {.text = "not in PATH, $CUDA_HOME/bin or /usr/local/cuda/bin"};
    const char *path = getenv("PATH"), *home = getenv("CUDA_HOME");

    while (path != NULL && *path != '\0') {
        size_t length = strcspn(path, ":");

        if (length > 0 && is_program(path, length, "nvcc", &result))
            return result;
        path += length + (path[length] == ':');
    }
    if (home != NULL && is_program(home, strlen(home), "bin/nvcc", &result))
        return result;
    (void)is_program("/usr/local/cuda", strlen("/usr/local/cuda"), "bin/nvcc", &result);
    return result;
}

struct probe probe_nvrtc(void)
{
    static const char *const names[] = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"};
    struct probe result = {.text = "no NVRTC library (libnvrtc.so)"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        void *library = open_library(names[i]);

        if (library == NULL)
            continue;
        int (*version)(int *, int *);
        int major = 0, minor = 0;

        result.found = load_function(library, "nvrtcVersion", &version, sizeof version) && version(&major, &minor) == 0;
        (void)snprintf(result.text, sizeof result.text, "%s, version %d.%d", names[i], major, minor);
        return result;
    }
    return result;
}

struct probe probe_gnuplot(void)
{
    struct probe result = {.found = false};
    struct error error = {0};
    char version[32];

    result.found = gnuplot_version(version, sizeof version, &error) == STATUS_OK;
    (void)snprintf(result.text, sizeof result.text, "%s%s", result.found ? "version " : "",
                   result.found ? version : error.text);
    return result;
}
