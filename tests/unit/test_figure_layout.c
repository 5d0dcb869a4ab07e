/* SPDX-License-Identifier: GPL-3.0-or-later
 * Where figures put their texts: ticks of short axes, remarks beside lines, a terminal's rows; and files that are whole
 * or not there when a signal ends the program. */
#include <check.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "plots/figure_private.h"
#include "tests/support/temp_dir.h"

Suite *suite_figure_layout(void);

static struct figure figure_of(const struct figure_series *series, size_t count)
{
    return (struct figure){.title = "title", .x_label = "x", .y_label = "y", .series = series, .series_count = count};
}

/* The ticks of an axis from lo to hi as the script has them. The caller frees. */
static char *log_ticks(double lo, double hi, enum figure_output output)
{
    const double x[] = {lo, hi}, y[] = {1.0, 2.0};
    const struct figure_series series = {.label = "s", .style = SERIES_STYLE_LINE, .count = 2, .x = x, .y = y};
    struct figure figure = figure_of(&series, 1);
    const struct figure_options options = {.output = output};
    struct text_buffer script = {0};

    figure.x_logarithmic = true;
    struct figure_drawable found = figure_survey(&figure);
    found.x = (struct figure_range){lo, hi};
    figure_script_ticks(&script, &figure, &options, &found);
    text_buffer_append(&script, "");
    ck_assert(!script.failed);
    return script.text;
}

START_TEST(short_logarithmic_axes_are_labelled_at_1_2_5)
{
    char *text = log_ticks(3.0, 42.0, FIGURE_OUTPUT_SVG);

    ck_assert_ptr_nonnull(strstr(text, "set xtics ('' 3 1"));
    ck_assert_ptr_nonnull(strstr(text, "'5' 5,"));
    ck_assert_ptr_nonnull(strstr(text, "'10' 10,"));
    ck_assert_ptr_nonnull(strstr(text, "'20' 20,"));
    ck_assert_ptr_nonnull(strstr(text, "'' 40 1)"));
    ck_assert_ptr_null(strstr(text, "'2' 2"));
    free(text);
    text = log_ticks(0.03, 2.9, FIGURE_OUTPUT_SVG); /* just under two decades */
    ck_assert_ptr_nonnull(strstr(text, "'0.05' 0.05,"));
    ck_assert_ptr_nonnull(strstr(text, "'2' 2"));
    free(text);
}
END_TEST

START_TEST(an_axis_of_a_rounding_error_ends)
{
    char *text = log_ticks(1.0, nextafter(1.0, 2.0), FIGURE_OUTPUT_SVG);

    ck_assert_ptr_nonnull(text);
    ck_assert_uint_lt(strlen(text), 1000);
    free(text);
}
END_TEST

START_TEST(very_short_axes_have_even_steps_and_long_ones_decades)
{
    char *text = log_ticks(95.0, 125.0, FIGURE_OUTPUT_SVG);

    ck_assert_ptr_nonnull(strstr(text, "'100' 100, '110' 110, '120' 120"));
    free(text);
    text = log_ticks(1.0, 3e5, FIGURE_OUTPUT_SVG);
    ck_assert_ptr_nonnull(strstr(text, "set xtics ('1' 1, '' 2 1, '' 3 1,"));
    ck_assert_ptr_nonnull(strstr(text, "'100' 100,"));
    ck_assert_ptr_null(strstr(text, "'50' 50"));
    free(text);
    text = log_ticks(0.5, 300.0, FIGURE_OUTPUT_TERMINAL); /* room for seven labels, not for eight */
    ck_assert_ptr_nonnull(strstr(text, "'' 0.9 1, '1' 1,"));
    ck_assert_ptr_nonnull(strstr(text, "'100' 100,"));
    ck_assert_ptr_null(strstr(text, "'5' 5"));
    free(text);
    text = log_ticks(1e-9, 1e12, FIGURE_OUTPUT_SVG); /* every third decade */
    ck_assert_ptr_nonnull(strstr(text, "set xtics ('1e-09' 1e-09, '' 1e-08 1, '' 1e-07 1, '1e-06' 1e-06,"));
    ck_assert_ptr_nonnull(strstr(text, "'1000' 1000,"));
    ck_assert_ptr_nonnull(strstr(text, "'1e+12' 1000000000000)"));
    free(text);
}
END_TEST

/* Two of every run stand for a cloud as it lies; least and most would make it two. */
START_TEST(a_thinned_cloud_keeps_its_shape)
{
    enum {
        COUNT = 100000
    };
    double *x = calloc(COUNT, sizeof *x), *y = calloc(COUNT, sizeof *y);
    struct figure_series series = {.label = "s", .count = COUNT, .x = x, .y = y};
    struct figure figure = figure_of(&series, 1);

    for (size_t i = 0; i < COUNT; i++) {
        x[i] = (double)i;
        y[i] = (double)(i * 7919 % 1000);
    }
    y[5] = (double)NAN;
    for (int cloud = 0; cloud < 2; cloud++) {
        const size_t step = figure_thinning_step(&series);
        struct figure_run run = {0};
        size_t kept = 0, middle = 0;

        series.style = cloud ? SERIES_STYLE_POINTS : SERIES_STYLE_LINE;
        for (size_t i = 0; i < COUNT; i++)
            if (figure_point_is_kept(&figure, &series, i, step, &run)) {
                kept++;
                middle += y[i] > 250.0 && y[i] < 750.0;
            }
        ck_assert_uint_eq(kept, FIGURE_POINTS_PER_SERIES_MAX);
        ck_assert_msg(cloud ? middle > kept * 45 / 100 && middle < kept * 55 / 100 : middle < kept / 100, "%zu",
                      middle);
    }
    free(x);
    free(y);
}
END_TEST

enum {
    TURNS = 9
};

/* A zigzag with a remark at every corner. */
static void fill_zigzag(double x[TURNS], double y[TURNS], struct figure_label labels[TURNS])
{
    for (int i = 0; i < TURNS; i++) {
        x[i] = i;
        y[i] = i % 2 == 0 ? 1.0 : 4.0;
        labels[i] = (struct figure_label){.x = x[i], .y = y[i], .text = "here 1"};
    }
}

/* The figure's texts as rectangles of the plotted area. Returns how many. */
static size_t placed(const char *script, double column, double row, double rectangles[][4], size_t most)
{
    size_t count = 0;

    for (const char *at = strstr(script, "set label 'here 1'"); at != NULL && count < most;
         at = strstr(at + 1, "set label 'here 1'")) {
        double left, middle;

        ck_assert_int_eq(sscanf(at, "set label 'here 1' at graph %lf, graph %lf", &left, &middle), 2);
        rectangles[count][0] = left - 0.4 * column;
        rectangles[count][1] = middle - 0.45 * row;
        rectangles[count][2] = left + 5.4 * column;
        rectangles[count++][3] = middle + 0.45 * row;
    }
    return count;
}

/* touching: how much of a line a text may touch to stay near; one through a text is more. */
static void check_remarks(const struct figure_options *options, double column, double row, size_t touching,
                          size_t least)
{
    double x[TURNS], y[TURNS], rectangles[TURNS][4];
    struct figure_label labels[TURNS];
    struct text_buffer script = {0};
    struct figure_ink ink;

    fill_zigzag(x, y, labels);
    const struct figure_series series = {
        .label = "s", .style = SERIES_STYLE_LINE_POINTS, .count = TURNS, .x = x, .y = y};
    struct figure figure = figure_of(&series, 1);
    figure.labels = labels;
    figure.label_count = TURNS;
    const struct figure_drawable found = figure_survey(&figure);
    if (options->output == FIGURE_OUTPUT_TERMINAL) {
        const struct figure_frame frame = figure_frame_make(&figure, options, &found);

        column = 1.0 / (frame.plotted_columns - 1.0);
        row = 1.0 / (frame.plotted_rows - 1.0);
    }
    figure_script_labels(&script, &figure, options, &found);
    figure_ink_make(&ink, &figure, &found);
    const size_t count = placed(script.text, column, row, rectangles, TURNS);
    ck_assert_uint_ge(count, least);
    for (size_t i = 0; i < count; i++) {
        const double *a = rectangles[i];

        ck_assert_uint_le(figure_ink_under(&ink, a[0], a[1], a[2], a[3]), touching);
        for (size_t k = 0; k < i; k++) {
            const double *b = rectangles[k];

            ck_assert(a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1]);
        }
    }
    figure_ink_release(&ink);
    text_buffer_release(&script);
}

START_TEST(remarks_lie_beside_the_line_and_each_other)
{
    const struct figure_options file = {.output = FIGURE_OUTPUT_SVG}, text = {.output = FIGURE_OUTPUT_TERMINAL};

    check_remarks(&file, 0.0125, 0.058, 6, TURNS);
    check_remarks(&text, 0.0, 0.0, 0, 5); /* those without a clear place are left out */
}
END_TEST

START_TEST(a_terminal_is_shared_out_whole)
{
    const double x[] = {1.0, 2.0};
    const struct figure_series series[] = {
        {.label = "a rather long name of a series", .style = SERIES_STYLE_LINE, .count = 2, .x = x, .y = x},
        {.label = "another", .style = SERIES_STYLE_LINE, .count = 2, .x = x, .y = x},
        {.label = "", .style = SERIES_STYLE_LINE, .count = 2, .x = x, .y = x}};
    struct figure figure = figure_of(series, 3);
    struct figure_options options = {.output = FIGURE_OUTPUT_TERMINAL, .columns = 100, .rows = 30};
    const struct figure_drawable found = figure_survey(&figure);
    struct figure_frame frame = figure_frame_make(&figure, &options, &found);

    ck_assert_uint_eq(frame.legend_rows, 1);
    ck_assert_uint_eq(frame.rows, 30);
    ck_assert_uint_eq(frame.top + frame.plotted_rows + frame.bottom, 30);
    ck_assert_uint_eq(frame.left + frame.plotted_columns + frame.right, 100);
    options.columns = 50;
    frame = figure_frame_make(&figure, &options, &found);
    ck_assert_uint_eq(frame.legend_rows, 2);
    /* A long caption makes the figure higher, not the plotted area small. */
    figure.caption = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
                     "seventeen eighteen nineteen twenty twenty-one twenty-two twenty-three twenty-four twenty-five";
    options.rows = 12;
    frame = figure_frame_make(&figure, &options, &found);
    ck_assert_uint_eq(frame.plotted_rows, 10);
    ck_assert_uint_gt(frame.rows, 12);
}
END_TEST

/* Ended again and again while it writes: there is the whole file or none, and nothing beside it. */
START_TEST(a_signal_leaves_no_part_of_a_file)
{
    enum {
        LENGTH = 8 << 20,
        ENDS = 6
    };
    struct temp_dir directory;
    char path[600], listed[700];

    temp_dir_create(&directory);
    (void)temp_dir_path(&directory, "figure.svg", path, sizeof path);
    for (int i = 0; i < ENDS; i++) {
        const pid_t child = fork();

        ck_assert_int_ge(child, 0);
        if (child == 0) {
            char *bytes = calloc(LENGTH, 1);
            struct error error = {0};

            (void)signal(SIGTERM, SIG_DFL); /* the test runner has its own */
            (void)signal(SIGINT, SIG_DFL);
            while (bytes != NULL && figure_write_file(path, bytes, LENGTH, &error) == STATUS_OK)
                ;
            _exit(3);
        }
        const struct timespec moment = {0, (20 + 7 * i) * 1000000L};
        int state;

        (void)nanosleep(&moment, NULL);
        ck_assert_int_eq(kill(child, i % 2 == 0 ? SIGTERM : SIGINT), 0);
        ck_assert_int_eq(waitpid(child, &state, 0), child);
        ck_assert(WIFSIGNALED(state));
        (void)snprintf(listed, sizeof listed, "%s.part-%ld", path, (long)child);
        ck_assert_int_ne(access(listed, F_OK), 0);
    }
    temp_dir_remove(&directory);
}
END_TEST

Suite *suite_figure_layout(void)
{
    Suite *suite = suite_create("figure_layout");
    TCase *cases = tcase_create("layout");

    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, short_logarithmic_axes_are_labelled_at_1_2_5);
    tcase_add_test(cases, an_axis_of_a_rounding_error_ends);
    tcase_add_test(cases, very_short_axes_have_even_steps_and_long_ones_decades);
    tcase_add_test(cases, a_thinned_cloud_keeps_its_shape);
    tcase_add_test(cases, remarks_lie_beside_the_line_and_each_other);
    tcase_add_test(cases, a_terminal_is_shared_out_whole);
    tcase_add_test(cases, a_signal_leaves_no_part_of_a_file);
    suite_add_tcase(suite, cases);
    return suite;
}
