/* SPDX-License-Identifier: GPL-3.0-or-later
 * What a report stands on: inputs with their sources, and how predictions have held. */
#include <math.h>
#include <stdio.h>

#include "base/text_buffer.h"
#include "cli/page_report.h"

static const char *const source_headings[] = {"input", "value", "unit", "from"};

static void write_launch_sources(struct page *page, const struct prediction *prediction)
{
    char value[32], name[KERNEL_NAME_SIZE + 64];

    for (uint32_t k = 0; prediction->has_layer && k < prediction->layer.kernel_count; k++) {
        const struct kernel_case *kernel = &prediction->layer.kernels[k];
        const struct {
            const char *what;
            double value;
            const char *unit;
            enum input_source source;
        } rows[] = {{"registers per thread", kernel->launch.registers_per_thread, "", kernel->launch.registers_source},
                    {"dynamic SMEM", (double)kernel->launch.dynamic_smem_bytes, "B", kernel->launch.smem_source},
                    {"grid", (double)kernel->launch.grid_ctas, "CTAs", kernel->launch.grid_source},
                    {"iterations of a CTA", kernel->loop.iterations, "", kernel->loop.source}};

        if (kernel->skipped)
            continue;
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            (void)snprintf(name, sizeof name, "%s: %s", kernel->name, rows[i].what);
            page_row(page, (const char *const[]){name, number_format_digits(rows[i].value, 6, value), rows[i].unit,
                                                 input_source_name(rows[i].source)});
        }
    }
}

static void write_parameters(struct page *page, const struct question *question)
{
    char value[32];

    for (int i = 0; i < PARAMETER_COUNT; i++) {
        const struct model_parameter *parameter = &question->parameters.items[i];
        const struct parameter_description *description = parameter_describe((enum parameter_id)i);

        page_row(page, (const char *const[]){description->name, number_format_digits(parameter->value, 4, value),
                                             description->unit, input_source_name(parameter->source)});
    }
}

static void write_device_figures(struct page *page, const struct gpu_device *device)
{
    char value[32], from[512];

    for (int i = 0; i < GPU_FIGURE_COUNT; i++) {
        const struct gpu_figure *figure = &device->figures[i];

        if (figure->source == INPUT_SOURCE_ABSENT)
            continue;
        (void)snprintf(from, sizeof from, "%s: %s", input_source_name(figure->source), figure->citation);
        page_row(page, (const char *const[]){
                           gpu_figure_column((enum gpu_figure_id)i),
                           number_format_digits(figure->value / gpu_figure_si_factor((enum gpu_figure_id)i), 6, value),
                           gpu_figure_unit((enum gpu_figure_id)i), from});
    }
}

void report_write_sources(struct page *page, const struct report_answer *answer)
{
    const struct question *question = answer->request.question;
    size_t counts[INPUT_SOURCE_COUNT] = {0};

    for (int i = 0; i < PARAMETER_COUNT; i++)
        counts[question->parameters.items[i].source]++;
    page_section(page, "sources", "What is measured, fitted, assumed");
    page_paragraph(page, "Of %d model parameters %zu are fitted and %zu assumed (%s). The step-time law: %s.",
                   PARAMETER_COUNT, counts[INPUT_SOURCE_FITTED], counts[INPUT_SOURCE_ASSUMED],
                   question->parameters.calibration, question->step_basis);
    page_table(page, "The kernels, as asked", source_headings, 4);
    write_launch_sources(page, &answer->asked);
    page_table_end(page);
    page_table(page, "Model parameters", source_headings, 4);
    write_parameters(page, question);
    page_table_end(page);
    page_table(page, "Figures of the GPU", source_headings, 4);
    write_device_figures(page, question->device);
    page_table_end(page);
    page_section_end(page);
}

/* What frozen predictions in the tables given have been worth. They were made when the rows were measured, by whatever
 * model and for whatever kernel the table is of: neither the calibration above nor this scenario. */
static void write_frozen(struct page *page, const struct report_answer *answer)
{
    for (size_t i = 0; i < answer->figure_count; i++) {
        const struct report_figure *figure = &answer->figures[i];

        if (figure->reason[0] == '\0' && figure->row->fill == plot_parity)
            page_paragraph(page,
                           "Apart from that, the tables given hold predictions of their own, made before their rows "
                           "were measured and not by this report's model or for its configurations (%s): %s",
                           figure->sheet->figure.title, figure->sheet->figure.caption);
    }
}

void report_write_accuracy(struct page *page, const struct report_answer *answer)
{
    const struct question *question = answer->request.question;
    const struct calibration *calibration = question->calibration;

    page_section(page, "accuracy", "Held-out accuracy");
    if (calibration == NULL) {
        page_paragraph(page,
                       "None: without a calibration nothing was held out. The intervals are those of assumed "
                       "parameters. occam calibrate learns from measured rows, occam validate judges the result.");
        write_frozen(page, answer);
        page_section_end(page);
        return;
    }
    page_paragraph(page,
                   "%s was learnt from %u rows of %s on %s. Its intervals are %.3g standard deviations wide to each "
                   "side: so far that %.4g %% of those rows, each held out of the fit in turn, were inside. Error of "
                   "the form and noise: %.3g %%.",
                   calibration->name, calibration->row_count,
                   calibration->scenario[0] == '\0' ? "an unnamed scenario" : calibration->scenario,
                   calibration->device[0] == '\0' ? "an unnamed GPU" : calibration->device, calibration->stretch,
                   100.0 * calibration->interval_level, 100.0 * expm1(calibration->form_log_sigma));
    page_paragraph(page, "Its residual process is left out here, because configurations are compared; occam predict "
                         "has it in.");
    if (question->other_calibration_device || question->other_calibration_kernel)
        page_paragraph(page,
                       "It is used here for another %s: nothing of this use was held out, and everything "
                       "extrapolates.",
                       question->other_calibration_device ? "GPU" : "kernel");
    write_frozen(page, answer);
    page_section_end(page);
}
