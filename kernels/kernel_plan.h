/* SPDX-License-Identifier: GPL-3.0-or-later
 * How one configuration is launched: buffers, entry points, arguments; and what a kernel file must supply. Filled by
 * kernels/case_*.c, executed by kernels/measure.c through a device backend. */
#ifndef OCCAM_KERNELS_KERNEL_PLAN_H
#define OCCAM_KERNELS_KERNEL_PLAN_H

#include "kernels/measure.h"
#include "kernels/random_fill.h"

enum {
    KERNEL_BUFFERS_MAX = 10,
    KERNEL_ARGUMENTS_MAX = 16
};

enum buffer_role {
    BUFFER_ROLE_INPUT,  /* filled before the run, one copy per input set */
    BUFFER_ROLE_OUTPUT, /* poisoned, compared with the reference */
    BUFFER_ROLE_RECORD, /* poisoned, read back for the report, not compared */
    BUFFER_ROLE_SCRATCH /* poisoned, between the launches of a sequence */
};

enum element_format {
    ELEMENT_FORMAT_UINT32,
    ELEMENT_FORMAT_UINT64,
    ELEMENT_FORMAT_FLOAT32,
    ELEMENT_FORMAT_BFLOAT16
};

struct kernel_buffer {
    const char *name;
    uint64_t bytes;
    enum buffer_role role;
    enum element_format format; /* of outputs and records */
    struct fill_rule fill;      /* of inputs */
    bool shared_by_sets;        /* one copy for all input sets (outputs always are) */
};

struct kernel_argument {
    int buffer; /* index, or -1 for value */
    int64_t value;
};

struct kernel_stage {
    const char *entry;
    uint32_t grid_x, grid_y;
    uint32_t threads;
    uint32_t cluster_ctas; /* 1 = none */
    uint64_t dynamic_smem_bytes;
    int carveout_percent; /* -1 = the driver's choice */
    uint32_t argument_count;
    struct kernel_argument arguments[KERNEL_ARGUMENTS_MAX];
};

struct kernel_plan {
    const struct kernel_case_definition *definition;
    const struct measure_config *config;
    const struct measure_facts *facts;
    uint32_t buffer_count, stage_count;
    struct kernel_buffer buffers[KERNEL_BUFFERS_MAX];
    struct kernel_stage stages[MEASURE_STAGES_MAX];
    double touched_bytes; /* distinct bytes one launch sequence reads and writes: decides how many sets are cold */
    double flop;
    uint32_t launches_per_sample; /* 0 = chosen by measure.c */
    bool in_kernel_clock;         /* times come from the record; cold and warm samples are not taken */
};

/* What one kernel supplies. */
struct kernel_case_definition {
    struct measure_kernel kernel;
    const char *source;    /* name of the .cu file without its ending */
    unsigned minimum_arch; /* 80 or more */
    /* STATUS_DOMAIN with one line in error when the configuration is impossible. */
    enum status (*plan)(struct kernel_plan *plan, struct error *error);
    /* Fills the OUTPUT buffers (host memory, same layout as on the device) from the inputs in float64. Elements that
     * are not checked keep the bytes 0xff. RECORD and SCRATCH buffers may be left alone. */
    void (*reference)(const struct kernel_plan *plan, void *const buffers[KERNEL_BUFFERS_MAX]);
    /* Figures from the records and samples; may be NULL. */
    void (*report)(const struct kernel_plan *plan, void *const buffers[KERNEL_BUFFERS_MAX],
                   struct measure_result *result);
    /* Every CTA's SM, start and stop out of the records, as many as stage 0 has CTAs; NULL: the kernel has none. */
    void (*timeline)(const struct kernel_plan *plan, void *const buffers[KERNEL_BUFFERS_MAX], struct measure_cta *ctas);
};

/* All kernels, in the order of the list; ends with NULL. */
extern const struct kernel_case_definition *const kernel_case_definitions[];

/* Helpers for plan functions. */
int64_t kernel_plan_value(const struct kernel_plan *plan, const char *name);
int kernel_plan_add_buffer(struct kernel_plan *plan, const char *name, enum buffer_role role,
                           enum element_format format, uint64_t bytes);
int kernel_plan_add_input(struct kernel_plan *plan, const char *name, uint64_t bytes, struct fill_rule fill);
struct kernel_stage *kernel_plan_add_stage(struct kernel_plan *plan, const char *entry, uint64_t grid_x,
                                           uint32_t grid_y, int64_t threads, uint64_t dynamic_smem_bytes);
void kernel_stage_pass_buffer(struct kernel_stage *stage, int buffer);
void kernel_stage_pass_value(struct kernel_stage *stage, int64_t value);
void measure_result_add(struct measure_result *result, const char *name, double value);

/* bf16 and e4m3 to double; the bits of the nearest bf16 (ties to even). */
double bfloat16_to_double(uint16_t bits);
double e4m3_to_double(uint8_t bits);
uint16_t bfloat16_from_double(double value);

#endif
