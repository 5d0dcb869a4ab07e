/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam measure --timeline FILE.csv`: where and when every CTA of one launch ran, as `occam plot timeline` reads it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/measure_request.h"
#include "cli/program_version.h"
#include "plots/figure.h"

static const char ending[] = ".csv";

enum status measure_timeline_check(const struct campaign_plan *plan, const struct measure_request *request,
                                   struct error *error)
{
    size_t length = strlen(request->timeline);

    if (length < sizeof ending || strcmp(request->timeline + length - (sizeof ending - 1), ending) != 0)
        return error_set(error, STATUS_USAGE, "option --timeline: \"%.200s\" does not end in .csv", request->timeline);
    if (plan->count != 1)
        return error_set(error, STATUS_USAGE, "option --timeline takes one configuration, the plan has %zu",
                         plan->count);
    if (!measure_kernel_has_timeline(plan->configs[0].kernel))
        return error_set(error, STATUS_USAGE,
                         "option --timeline: %s does not write down where its CTAs run; wave_probe does",
                         plan->configs[0].kernel->name);
    return STATUS_OK;
}

static enum status write_table(const struct measure_timeline *timeline, const struct measure_facts *facts,
                               const struct measure_config *config, const char *path, struct error *error)
{
    struct text_buffer table = {0};
    char device[sizeof facts->gpu_name];
    enum status status;

    (void)snprintf(device, sizeof device, "%s", facts->gpu_name);
    for (char *at = device; (at = strpbrk(at, ",\"\r\n")) != NULL;)
        *at = ' ';
    text_buffer_append(&table, "cta,smid,start_ns,stop_ns,kernel,device\n");
    for (size_t i = 0; i < timeline->count; i++)
        text_buffer_append_format(&table, "%zu,%u,%llu,%llu,%s,%s\n", i, (unsigned)timeline->ctas[i].sm,
                                  (unsigned long long)timeline->ctas[i].start_ns,
                                  (unsigned long long)timeline->ctas[i].stop_ns, config->kernel->name, device);
    status = table.failed ? error_set(error, STATUS_NO_MEMORY, "no memory for the timeline")
                          : figure_write_file(path, table.text, table.length, error);
    text_buffer_release(&table);
    return status;
}

static enum status write_files(const struct measure_timeline *timeline, const struct measure_facts *facts,
                               const struct measure_config *config, const struct measure_result *result,
                               const struct measure_request *request, struct error *error)
{
    struct text_buffer path = {0};
    enum status status = write_table(timeline, facts, config, request->timeline, error);

    text_buffer_append_bytes(&path, request->timeline, strlen(request->timeline) - (sizeof ending - 1));
    text_buffer_append(&path, ".json");
    if (status == STATUS_OK && path.failed)
        status = error_set(error, STATUS_NO_MEMORY, "no memory for the timeline");
    if (status == STATUS_OK)
        status = timeline_provenance_write(path.text, facts, config, result, program_revision(), request->seed, error);
    if (status == STATUS_OK)
        (void)printf("%s: %zu CTAs; %s\n", request->timeline, timeline->count, path.text);
    text_buffer_release(&path);
    return status;
}

enum status measure_timeline_keep(struct measure_device *device, const struct measure_config *config,
                                  const struct measure_options *options, const struct measure_request *request,
                                  struct error *error)
{
    struct measure_timeline timeline = {0};
    struct measure_options own = *options;
    struct measure_result *result = calloc(1, sizeof *result);
    enum status status;

    if (result == NULL)
        return error_set(error, STATUS_NO_MEMORY, "no memory for a result");
    own.timeline = &timeline;
    status = measure_run(device, config, &own, result, error);
    if (status == STATUS_OK && result->outcome != MEASURE_OUTCOME_OK)
        status = error_set(error, STATUS_DOMAIN, "%s: %s", measure_outcome_word(result->outcome), result->reason);
    if (status == STATUS_OK)
        status = write_files(&timeline, measure_device_facts(device), config, result, request, error);
    measure_timeline_release(&timeline);
    free(result);
    return status;
}
