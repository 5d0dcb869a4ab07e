/* SPDX-License-Identifier: GPL-3.0-or-later
 * Differences between a calibration and its use, in words. */
#include "cli/calibration_match.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text_buffer.h"

static const double clock_difference = 0.02; /* of the SM clock; noise of one GPU is below one percent */

static char *next_text(struct calibration_match *match)
{
    const unsigned room = sizeof match->texts / sizeof match->texts[0];
    return match->texts[match->count < room ? match->count++ : room - 1];
}

static void compare_clock(const struct calibration *calibration, double clock_mhz, const char *whose,
                          struct calibration_match *match)
{
    char now[32], then[32];
    if (!(clock_mhz > 0) || !(calibration->sm_clock_mhz > 0) ||
        fabs(clock_mhz / calibration->sm_clock_mhz - 1) <= clock_difference) {
        return;
    }
    (void)snprintf(next_text(match), sizeof match->texts[0], "SM clock: calibrated at %s MHz, %s %s MHz",
                   number_format_digits(calibration->sm_clock_mhz, 4, then), whose,
                   number_format_digits(clock_mhz, 4, now));
}

static void compare_scenario(const struct calibration *calibration, const struct scenario *scenario,
                             struct calibration_match *match)
{
    const struct gpu_device *device = scenario_device(scenario);
    memset(match, 0, sizeof *match);
    if (strcmp(calibration->scenario, scenario_name(scenario)) != 0) {
        (void)snprintf(next_text(match), sizeof match->texts[0],
                       "scenario: calibrated with %.80s, used for %.80s: intervals are widened", calibration->scenario,
                       scenario_name(scenario));
    } else if (calibration->scenario_hash != scenario_hash(scenario)) {
        (void)snprintf(next_text(match), sizeof match->texts[0],
                       "scenario: the file of %.80s has changed since it was calibrated", calibration->scenario);
    }
    match->other_device = strcmp(calibration->device, device->name) != 0;
    if (match->other_device) {
        (void)snprintf(next_text(match), sizeof match->texts[0],
                       "device: calibrated on %.80s, carried over to %.80s: parameters are factors on its figures, "
                       "intervals are widened",
                       calibration->device, device->name);
    }
}

/* The driver of the machine at hand, where it has one: predictions may be meant for it. */
static void compare_local_driver(const struct calibration *calibration, struct calibration_match *match)
{
    FILE *stream = calibration->driver[0] ? fopen("/proc/driver/nvidia/version", "re") : NULL;
    char text[1024];
    if (!stream) {
        return;
    }
    const size_t length = fread(text, 1, sizeof text - 1, stream);
    (void)fclose(stream);
    text[length] = '\0';
    if (length > 0 && !strstr(text, calibration->driver)) {
        (void)snprintf(next_text(match), sizeof match->texts[0],
                       "driver: calibrated under %.60s, this machine has another", calibration->driver);
    }
}

void calibration_match_scenario(const struct calibration *calibration, const struct scenario *scenario,
                                struct calibration_match *match)
{
    compare_scenario(calibration, scenario, match);
    compare_local_driver(calibration, match);
    if (!match->other_device) {
        compare_clock(calibration, gpu_device_value(scenario_device(scenario), GPU_FIGURE_BOOST_CLOCK) / 1e6,
                      "the device file says", match);
    }
}

void calibration_match_rows(const struct calibration *calibration, const struct scenario *scenario,
                            const struct measured_rows *rows, struct calibration_match *match)
{
    compare_scenario(calibration, scenario, match);
    if (calibration->driver[0] && rows->driver[0] && strcmp(calibration->driver, rows->driver) != 0) {
        (void)snprintf(next_text(match), sizeof match->texts[0], "driver: calibrated under %.60s, measured under %.60s",
                       calibration->driver, rows->driver);
    }
    if (calibration->gpu_id[0] && rows->gpu_id[0] && strcmp(calibration->gpu_id, rows->gpu_id) != 0) {
        (void)snprintf(next_text(match), sizeof match->texts[0], "GPU: another one of the same kind");
    }
    compare_clock(calibration, rows->sm_clock_mhz, "measured at", match);
}
