/* SPDX-License-Identifier: GPL-3.0-or-later
 * Scenario: the YAML file that says what is to be predicted. Read once, immutable afterwards; evaluated through
 * scenario_evaluator (one per thread). Syntax: docs/DATA.md. */
#ifndef OCCAM_EVIDENCE_SCENARIO_SCENARIO_H
#define OCCAM_EVIDENCE_SCENARIO_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evidence/device_catalogue.h"
#include "model/describe/kernel_case.h"
#include "model/describe/serving.h"

enum {
    SCENARIO_KNOBS_MAX = 24,
    SCENARIO_KNOB_VALUES_MAX = 4096,
    SCENARIO_WORKLOAD_MAX = 24,
    SCENARIO_LET_MAX = 48,
    SCENARIO_REQUIRE_MAX = 32,
    SCENARIO_NOTES_MAX = 32,
    SCENARIO_SETTINGS_MAX = 24 /* of `measure` */
};
#define SCENARIO_FILE_BYTES_MAX (4u << 20)

/* A knob or a workload variable: a name, its listed values, and the base value. */
struct scenario_variable {
    const char *name;
    uint32_t value_count;
    const double *values;
    double base;          /* one of values; NaN: an open question */
    bool is_knob;         /* else workload */
    const char *question; /* of a workload variable that the file leaves open: what must be told before anything can be
                             predicted. NULL: nothing; else values is one NaN */
};

/* A remark printed beside an answer it concerns (for example counter-evidence from another GPU). */
struct scenario_note {
    const char *knob; /* printed when this knob is changed; "" = always */
    const char *when; /* expression over variables, or NULL = always */
    const char *text;
    const char *source;
    const char *contests; /* "slower" or "faster": the verdict that this evidence speaks against; "" = neither */
    double measured_us;   /* what the kernel time was measured to be; NaN: nothing */
};

struct scenario_constraint {
    const char *expression, *why;
};

struct scenario; /* opaque; strings borrowed until freed */

/* path: a file, or the bare name of a shipped scenario (data/scenarios/NAME.yaml, built in). device_override may be
 * NULL. Everything is checked here: syntax, caps, names, cycles in let, the base configuration's values being listed.
 * Errors carry file, line and column. The catalogue must outlive the scenario. */
MUST_CHECK enum status scenario_read(const char *path, const struct device_catalogue *catalogue,
                                     const char *device_override, struct scenario **scenario, struct error *error);
/* The same from a scenario's text, at most SCENARIO_FILE_BYTES_MAX; messages call it `name`, files that it names are
 * looked for in the current folder. */
MUST_CHECK enum status scenario_read_text(const char *text, size_t length, const char *name,
                                          const struct device_catalogue *catalogue, const char *device_override,
                                          struct scenario **scenario, struct error *error);
void scenario_free(struct scenario *scenario);

const char *scenario_name(const struct scenario *scenario);
const char *scenario_title(const struct scenario *scenario); /* one line, "" if none */
/* The calibration that the file names: a bare name, or a path from the file's folder on; NULL if none. */
const char *scenario_calibration(const struct scenario *scenario);
const char *scenario_path(const struct scenario *scenario); /* file, or "built in: NAME" */
const struct gpu_device *scenario_device(const struct scenario *scenario);
/* FNV-1a 64 of the file's bytes, for provenance. */
uint64_t scenario_hash(const struct scenario *scenario);
/* Knobs first (in file order), then workload variables. */
size_t scenario_variable_count(const struct scenario *scenario);
size_t scenario_knob_count(const struct scenario *scenario);
const struct scenario_variable *scenario_variable_get(const struct scenario *scenario, size_t index);
/* Is it one of the values that the scenario lists for the variable? */
bool scenario_variable_lists(const struct scenario_variable *variable, double value);
/* Index by name, or -1. */
long scenario_variable_find(const struct scenario *scenario, const char *name);
/* STATUS_USAGE, naming the variables whose names are near, else all that there are. */
enum status scenario_unknown_variable(const struct scenario *scenario, const char *name, struct error *error);
size_t scenario_let_count(const struct scenario *scenario);
const char *scenario_let_name(const struct scenario *scenario, size_t index);
size_t scenario_kernel_count(const struct scenario *scenario);
const char *scenario_kernel_name(const struct scenario *scenario, size_t index);
/* The variable that is the concurrency of the serving part, -1 if there is none ("C" unless serving.concurrency says
 * otherwise). */
long scenario_concurrency_variable(const struct scenario *scenario);
const struct serving_model *scenario_serving(const struct scenario *scenario);
size_t scenario_layer_group_count(const struct scenario *scenario);                /* 0 without serving.layers */
double scenario_layer_group_layers(const struct scenario *scenario, size_t group); /* `count` */
/* What the group sets, as in the file: "tokens = 128 + context / 128". */
const char *scenario_layer_group_text(const struct scenario *scenario, size_t group);
size_t scenario_constraint_count(const struct scenario *scenario);
const struct scenario_constraint *scenario_constraint_get(const struct scenario *scenario, size_t index);
size_t scenario_note_count(const struct scenario *scenario);
const struct scenario_note *scenario_note_get(const struct scenario *scenario, size_t index);
/* Number of configurations: product of the knobs' value counts (workload not counted). STATUS_LIMIT when it exceeds
 * 2^63. */
MUST_CHECK enum status scenario_config_count(const struct scenario *scenario, uint64_t *count, struct error *error);

/* Values of all variables (scenario_variable_count doubles), knobs then workload, set to the base. */
void scenario_base_values(const struct scenario *scenario, double *values);
/* "name=value" into values. Unknown name: STATUS_USAGE with near names. A value outside the knob's list is
 * STATUS_USAGE naming the list, unless free_values (then any finite number is taken, a whole one where all listed ones
 * are). Workload variables take any finite number; below 0 neither takes one unless the scenario lists such. */
MUST_CHECK enum status scenario_set_value(const struct scenario *scenario, const char *assignment, bool free_values,
                                          double *values, struct error *error);

enum config_verdict {
    CONFIG_OK,
    CONFIG_CONSTRAINT,    /* a require line is false; index says which */
    CONFIG_KERNEL_INVALID /* values that no kernel can have (negative grid, ...): error filled */
};

/* The verification kernel that `measure` names, NULL without one, and the settings it gives. Whether there is such a
 * kernel and what its settings may be is not checked here. */
const char *scenario_measure_kernel(const struct scenario *scenario);
size_t scenario_measure_setting_count(const struct scenario *scenario);
const char *scenario_measure_setting(const struct scenario *scenario, size_t index);

struct scenario_evaluator; /* opaque; one per thread */
MUST_CHECK enum status scenario_evaluator_create(const struct scenario *scenario, struct scenario_evaluator **evaluator,
                                                 struct error *error);
void scenario_evaluator_free(struct scenario_evaluator *evaluator);
/* Evaluate everything for these variable values: constraints, let, kernels. Expressions are re-evaluated only when a
 * variable they depend on changed since the last call, and small tables remember earlier results.
 * layer may be NULL (constraints only). *constraint_index is set for CONFIG_CONSTRAINT. Arithmetic errors in an
 * expression (division by zero, NaN) are returned as status with the expression's file position. */
MUST_CHECK enum status scenario_evaluate(struct scenario_evaluator *evaluator, const double *values,
                                         enum config_verdict *verdict, size_t *constraint_index,
                                         struct layer_case *layer, struct error *error);
/* After a CONFIG_CONSTRAINT: the kernels that the forbidden configuration would have, so that its SMEM and occupancy
 * can be shown beside the reason. */
MUST_CHECK enum status scenario_evaluate_forbidden(struct scenario_evaluator *evaluator, enum config_verdict *verdict,
                                                   struct layer_case *layer, struct error *error);
/* The same with the workload overrides of layer group `group` applied (group < scenario_layer_group_count). */
MUST_CHECK enum status scenario_evaluate_group(struct scenario_evaluator *evaluator, const double *values, size_t group,
                                               struct layer_case *layer, struct error *error);
/* Value of let entry `index` after the last scenario_evaluate. */
double scenario_evaluator_let(const struct scenario_evaluator *evaluator, size_t index);
/* Value of setting `index` of `measure` at the values of the last scenario_evaluate. STATUS_DOMAIN with its place if it
 * is not a whole number. */
MUST_CHECK enum status scenario_measure_value(struct scenario_evaluator *evaluator, size_t index, int64_t *value,
                                              struct error *error);
/* The `when` of note `index` at the values of the last scenario_evaluate (true when there is none). Besides the
 * scenario's names, grid_ctas (first kernel) and sm_count are defined there. */
MUST_CHECK enum status scenario_note_applies(struct scenario_evaluator *evaluator, size_t index, bool *applies,
                                             struct error *error);

#endif
