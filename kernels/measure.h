/* SPDX-License-Identifier: GPL-3.0-or-later
 * Runs one configuration of one verification kernel and returns raw samples. The only header of kernels/ that other
 * rooms see; it knows no prediction. Built without CUDA: driver and run-time compiler are opened at run time. */
#ifndef OCCAM_KERNELS_MEASURE_H
#define OCCAM_KERNELS_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum {
    MEASURE_SETTINGS_MAX = 24,
    MEASURE_SAMPLES_MAX = 64,
    MEASURE_FIGURES_MAX = 12,
    MEASURE_STAGES_MAX = 2,
    MEASURE_NAME_SIZE = 32
};

/* MEASURE_OUTCOME_LIST(X): X(CONSTANT, "word of the outcome column", "meaning") */
#define MEASURE_OUTCOME_LIST(X)                                                                                        \
    X(OK, "ok", "ran, was right, was timed")                                                                           \
    X(INFEASIBLE, "infeasible", "cannot run on this device; not attempted")                                            \
    X(WRONG, "wrong", "ran but the result is not the reference's; not timed")                                          \
    X(COMPILE_FAILED, "compile-failed", "the compiler refused it")                                                     \
    X(LAUNCH_FAILED, "launch-failed", "the device refused or broke off the launch")                                    \
    X(NO_DEVICE_MEMORY, "no-device-memory", "device memory ran out")                                                   \
    X(CRASHED, "crashed", "the worker process died")                                                                   \
    X(TIMED_OUT, "timed-out", "over the time limit of one configuration")                                              \
    X(NOT_TRIED, "not-tried",                                                                                          \
      "something else is missing: the host's memory, a file, code, a GPU that is not throttled; tried again later")

#define MEASURE_OUTCOME_ENUM_ENTRY(constant, word, meaning) MEASURE_OUTCOME_##constant,
enum measure_outcome {
    MEASURE_OUTCOME_LIST(MEASURE_OUTCOME_ENUM_ENTRY) MEASURE_OUTCOME_COUNT
};
#undef MEASURE_OUTCOME_ENUM_ENTRY
/* "ok", "infeasible", ...; static. */
const char *measure_outcome_word(enum measure_outcome outcome);

/* One setting of a kernel: an integer with a range. */
struct measure_setting {
    const char *name;
    int64_t fallback, minimum, maximum;
    bool compiled; /* becomes a -D of the compiler; others are run-time arguments or shapes */
    const char *meaning;
};

/* A kernel as `occam measure` lists it. Static. */
struct measure_kernel {
    const char *name;
    const char *question; /* what it measures, one line */
    size_t setting_count;
    const struct measure_setting *settings;
};
size_t measure_kernel_count(void);
const struct measure_kernel *measure_kernel_get(size_t index);
/* NULL if there is none of that name. */
const struct measure_kernel *measure_kernel_find(const char *name);

/* values[i] belongs to kernel->settings[i]. */
struct measure_config {
    const struct measure_kernel *kernel;
    int64_t values[MEASURE_SETTINGS_MAX];
};
/* "kernel name=value name=value ..." with spaces between; settings left out take their fallback. STATUS_NOT_FOUND for
 * an unknown kernel or setting, STATUS_BAD_DATA for a malformed or repeated one, STATUS_DOMAIN for one out of range. */
MUST_CHECK enum status measure_config_parse(const char *text, struct measure_config *config, struct error *error);
/* The same text back, every setting named. Returns out; too small an out is a BUG(): 1024 bytes are enough. */
const char *measure_config_format(const struct measure_config *config, char *out, size_t out_size);
/* A setting's value; an unknown name is a BUG(). */
int64_t measure_config_value(const struct measure_config *config, const char *name);

/* What the compiler or the driver says about one entry point. */
struct measure_resources {
    char entry[MEASURE_NAME_SIZE];
    uint32_t threads;
    uint32_t registers_per_thread;
    uint32_t static_smem_bytes;                   /* without the reserve of cc >= 9.0 */
    uint64_t dynamic_smem_bytes;                  /* asked for at launch */
    uint32_t local_bytes;                         /* stack frame per thread */
    uint32_t spill_store_bytes, spill_load_bytes; /* per thread, from the compiler's log */
    uint32_t barriers;
    uint32_t cluster_ctas;
    uint64_t grid_ctas;
    int32_t driver_ctas_per_sm; /* the driver's occupancy calculator; -1 = not asked (no device) */
};

/* The device as found. Strings are "" and numbers 0 where the driver did not say. */
struct measure_facts {
    char gpu_name[96];
    char gpu_id[24]; /* hash of the device's UUID */
    uint32_t cc_major, cc_minor;
    uint32_t sm_count;
    uint32_t l2_bytes;
    uint32_t smem_per_cta_optin_bytes, smem_per_sm_bytes;
    uint64_t memory_bytes;
    uint32_t clock_khz, memory_clock_khz; /* as the driver states them */
    int driver_version;                   /* 13000 = CUDA 13.0 */
    char driver_text[32];                 /* "580.159.04" */
    int compiler_major, compiler_minor;   /* NVRTC; 0 if absent */
};

/* Read beside every configuration. NaN where unknown. */
struct measure_sensors {
    double sm_clock_mhz, memory_clock_mhz, temperature_celsius, power_watts;
    uint64_t throttle_reasons; /* NVML bit mask; 0 also where unknown */
};

struct measure_figure {
    char name[40]; /* ends in its unit */
    double value;
};

struct measure_samples {
    uint32_t count;
    double median_us;               /* of what was kept; NaN if count is 0 */
    double confidence_fraction;     /* half width of the 95 % interval of the median, relative */
    double us[MEASURE_SAMPLES_MAX]; /* per launch (or launch sequence), in the order taken */
};

struct measure_result {
    enum measure_outcome outcome;
    char reason[256];                   /* one line; "" when ok */
    int compiler_major, compiler_minor; /* NVRTC that made the code; 0.0 if not reached or not known */
    uint32_t stage_count;
    struct measure_resources stages[MEASURE_STAGES_MAX];
    double relative_error; /* |out - ref| / |ref| over the checked elements; NaN if not reached */
    uint64_t checked_elements;
    uint32_t input_sets; /* rotated for the cold samples */
    uint32_t launches_per_sample;
    struct measure_samples cold, warm; /* graph replays; cold: inputs not in L2, warm: the same inputs again */
    struct measure_samples single;     /* one launch sequence per event pair, warm */
    uint32_t dropped_samples;          /* taken while the GPU said it was throttled */
    struct measure_sensors before, after;
    double touched_bytes, flop; /* of one launch sequence, as the kernel's own arithmetic counts them */
    uint32_t figure_count;
    struct measure_figure figures[MEASURE_FIGURES_MAX];
};

/* Where and when one CTA ran, on the device's clock (%globaltimer) from the first start on. */
struct measure_cta {
    uint32_t sm; /* %smid */
    uint64_t start_ns, stop_ns;
};
/* Zero-initialise; release with measure_timeline_release. ctas[i] is the CTA with the linear index i. */
struct measure_timeline {
    size_t count;
    struct measure_cta *ctas;
};
void measure_timeline_release(struct measure_timeline *timeline);
/* Whether a kernel writes down where and when its CTAs run. */
bool measure_kernel_has_timeline(const struct measure_kernel *kernel);

struct measure_options {
    uint64_t seed;                     /* of the inputs */
    double seconds;                    /* time to spend on samples of one configuration, about */
    double target_fraction;            /* stop when the median is known this well */
    uint32_t minimum_samples;          /* at least 3 */
    bool check_only;                   /* correctness, no timing */
    double maximum_error;              /* above it the outcome is WRONG */
    struct measure_timeline *timeline; /* filled with the last launch of a kernel that has one; NULL: not kept */
};
void measure_options_init(struct measure_options *options);

struct measure_device; /* opaque: an open GPU with its loaded code */

/* Opens GPU `index` by the CUDA driver. cache_directory (may be NULL) keeps compiled code between runs; nvrtc_path (may
 * be NULL) names the run-time compiler where the usual names do not find it, "" = do without one. STATUS_MISSING: no
 * driver or no GPU. Without a compiler only code that is built in or already in the cache runs. */
MUST_CHECK enum status measure_device_open(unsigned index, const char *nvrtc_path, const char *cache_directory,
                                           struct measure_device **device, struct error *error);

/* A device made of nothing, for tests of the harness: launches compute the float64 reference, times follow from the
 * seed and the bytes touched. The n-th configuration (from 1) with one of these numbers misbehaves; 0 = never. */
struct measure_fake_plan {
    uint64_t seed;
    uint32_t sm_count;
    uint64_t memory_bytes;
    uint32_t crash_at, hang_at, launch_failure_at, wrong_at, not_tried_at;
    bool throttled;
};
MUST_CHECK enum status measure_device_open_fake(const struct measure_fake_plan *plan, struct measure_device **device,
                                                struct error *error);
void measure_device_close(struct measure_device *device);
const struct measure_facts *measure_device_facts(const struct measure_device *device);

/* Correctness first, then times. A configuration that cannot run or breaks is an outcome, not an error: the status is
 * STATUS_OK and result->outcome says which. After a fatal outcome the device must be closed (a broken context stays
 * broken). STATUS_NO_MEMORY: host memory, before anything was tried. */
MUST_CHECK enum status measure_run(struct measure_device *device, const struct measure_config *config,
                                   const struct measure_options *options, struct measure_result *result,
                                   struct error *error);
/* Whether the device cannot be used after this outcome. */
bool measure_outcome_is_fatal(enum measure_outcome outcome);

/* Machine code built into the program (data/campaigns/embedded.plan), which runs with a driver alone. Returns how many
 * pieces there are and writes one line about them; 0 where the build found no NVRTC. */
size_t measure_embedded_describe(char *out, size_t out_size);

/* Launch geometry and dynamic SMEM of every stage, without compiling: the outcome is OK, or INFEASIBLE with the reason.
 * facts: compute capability, sm_count, l2_bytes (at least 1), smem_per_cta_optin_bytes (0 = no limit). */
void measure_config_plan(const struct measure_config *config, const struct measure_facts *facts,
                         struct measure_result *result);

/* What the compiler made of one configuration. Zero-initialise; release with measure_code_release. */
struct measure_code {
    void *cubin;
    size_t cubin_bytes;
    char *ptx, *log; /* NUL-terminated; all entry points of the kernel are in each */
};

struct measure_compiler; /* opaque: NVRTC and the code cache, without a GPU */

/* Paths as for measure_device_open. A missing NVRTC shows when code is not in the cache. */
MUST_CHECK enum status measure_compiler_create(const char *nvrtc_path, const char *cache_directory,
                                               struct measure_compiler **compiler, struct error *error);
void measure_compiler_free(struct measure_compiler *compiler);
/* NVRTC's version; 0.0 without one. */
void measure_compiler_version(const struct measure_compiler *compiler, int *major, int *minor);
/* Compiles for sm_<arch>, or finds what is built in, and reads the resources of every entry point. sm_count is what the
 * launch geometry is computed for. STATUS_MISSING: no NVRTC and no code. The outcome is OK, INFEASIBLE or
 * COMPILE_FAILED. */
MUST_CHECK enum status measure_compile(struct measure_compiler *compiler, const struct measure_config *config,
                                       unsigned arch, uint32_t sm_count, struct measure_result *result,
                                       struct error *error);
/* The code itself for sm_<arch>, by NVRTC, past what is built in and cached. STATUS_MISSING without NVRTC,
 * STATUS_BAD_DATA with the compiler's first complaint. */
MUST_CHECK enum status measure_compile_code(struct measure_compiler *compiler, const struct measure_config *config,
                                            unsigned arch, struct measure_code *code, struct error *error);
void measure_code_release(struct measure_code *code);

#endif
