/* SPDX-License-Identifier: GPL-3.0-or-later
 * Figures: what is in the SVG, labels that try to be commands, missing gnuplot, nothing to draw, unwritable targets. */
#include <check.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text_buffer.h"
#include "plots/figure.h"
#include "plots/gnuplot_pipe.h"

Suite *suite_figure(void);

enum {
    FILE_BYTES_MAX = 4 << 20
};

static char directory[] = "/tmp/occam-figure-XXXXXX";
static char saved_path[4096];

static void directory_make(void)
{
    const char *path = getenv("PATH");

    strcpy(strrchr(directory, '-'), "-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    (void)snprintf(saved_path, sizeof saved_path, "%s", path == NULL ? "/usr/bin:/bin" : path);
}

static const char *inside(const char *name)
{
    static char path[512]; /* directory and any file name */

    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

/* Files in the test's directory; removed when remove_them. */
static unsigned files_in_directory(bool remove_them)
{
    DIR *listing = opendir(directory);
    unsigned count = 0;

    ck_assert_ptr_nonnull(listing);
    for (struct dirent *entry = readdir(listing); entry != NULL; entry = readdir(listing)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        count++;
        if (remove_them && unlink(inside(entry->d_name)) != 0)
            (void)rmdir(inside(entry->d_name));
    }
    (void)closedir(listing);
    return count;
}

static void directory_remove(void)
{
    (void)setenv("PATH", saved_path, 1);
    (void)files_in_directory(true);
    (void)rmdir(directory);
}

static char *read_file(const char *path)
{
    char *text;
    size_t length;
    struct error error = {0};

    ck_assert_msg(file_read_text(path, FILE_BYTES_MAX, &text, &length, &error) == STATUS_OK, "%s", error.text);
    return text;
}

static const double x_values[] = {1.0, 8.0, 48.0, 96.0};
static const double y_values[] = {53.1, 281.0, 655.0, 845.0};
static const double lo_values[] = {48.0, 250.0, 600.0, 760.0};
static const double hi_values[] = {59.0, 310.0, 720.0, 930.0};

static const struct figure_series three_series[] = {
    {.label = "interval of the base",
     .style = SERIES_STYLE_BAND,
     .count = 4,
     .x = x_values,
     .y_lo = lo_values,
     .y_hi = hi_values,
     .color_index = 0},
    {.label = "base configuration",
     .style = SERIES_STYLE_LINE,
     .count = 4,
     .x = x_values,
     .y = y_values,
     .color_index = 0},
    {.label = "measured points",
     .style = SERIES_STYLE_POINTS,
     .count = 4,
     .x = x_values,
     .y = y_values,
     .color_index = 1},
};

static struct figure sample(void)
{
    return (struct figure){.title = "Throughput",
                           .x_label = "running requests",
                           .y_label = "tokens per second",
                           .caption = "drawn by a test",
                           .y_from_zero = true,
                           .series_count = 3,
                           .series = three_series};
}

static enum status draw(const struct figure *figure, enum figure_output output, const char *path, size_t *left_out,
                        struct error *error)
{
    struct figure_options options = {.output = output, .path = path};

    return figure_draw(figure, &options, left_out, error);
}

/* How often needle occurs. */
static unsigned count_text(const char *text, const char *needle)
{
    unsigned count = 0;

    for (const char *place = strstr(text, needle); place != NULL; place = strstr(place + 1, needle))
        count++;
    return count;
}

START_TEST(svg_names_its_axes_and_series)
{
    struct figure figure = sample();
    struct error error = {0};
    size_t left_out = 99;
    char *svg;

    ck_assert_msg(draw(&figure, FIGURE_OUTPUT_SVG, inside("a.svg"), &left_out, &error) == STATUS_OK, "%s", error.text);
    ck_assert_uint_eq(left_out, 0);
    svg = read_file(inside("a.svg"));
    ck_assert_uint_eq(count_text(svg, "<svg "), 1);
    ck_assert_uint_eq(count_text(svg, "</svg>"), 1);
    ck_assert_ptr_nonnull(strstr(svg, ">Throughput</text>"));
    ck_assert_ptr_nonnull(strstr(svg, ">running requests</text>"));
    ck_assert_ptr_nonnull(strstr(svg, ">tokens per second</text>"));
    ck_assert_ptr_nonnull(strstr(svg, ">drawn by a test</text>"));
    for (size_t s = 0; s < figure.series_count; s++)
        ck_assert_ptr_nonnull(strstr(svg, figure.series[s].label));
    /* Base curve and band share one colour, the points have another. */
    ck_assert_ptr_nonnull(strstr(svg, "rgb(  0, 114, 178)"));
    ck_assert_ptr_nonnull(strstr(svg, "rgb(213,  94,   0)"));
    free(svg);
}
END_TEST

START_TEST(png_and_pdf_have_their_signatures)
{
    struct figure figure = sample();
    struct error error = {0};
    char *bytes;

    ck_assert_msg(draw(&figure, FIGURE_OUTPUT_PNG, inside("a.png"), NULL, &error) == STATUS_OK, "%s", error.text);
    bytes = read_file(inside("a.png"));
    ck_assert_int_eq(memcmp(bytes, "\x89PNG\r\n\x1a\n", 8), 0);
    free(bytes);
    ck_assert_msg(draw(&figure, FIGURE_OUTPUT_PDF, inside("a.pdf"), NULL, &error) == STATUS_OK, "%s", error.text);
    bytes = read_file(inside("a.pdf"));
    ck_assert_int_eq(memcmp(bytes, "%PDF-", 5), 0);
    free(bytes);
    ck_assert_uint_eq(files_in_directory(false), 2);
}
END_TEST

START_TEST(labels_are_text_and_never_commands)
{
    static const char *const hostile[] = {"`touch pwned`",
                                          "$(touch pwned)",
                                          "'; system('touch pwned'); '",
                                          "\nsystem('touch pwned')\n",
                                          "@macro $0 {/Bold x} _sub ^sup",
                                          "\"double\" \\n back\\slash \\",
                                          "<b>&amp;",
                                          "end_of_series",
                                          "\xff broken \xc3",
                                          "it''s 'quoted'",
                                          "%s %d %n",
                                          "# comment"};
    struct error error = {0};
    char here[1024];

    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    ck_assert_int_eq(chdir(directory), 0);
    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        struct figure_series series = three_series[2];
        struct figure_marker markers[] = {{10.0, true, hostile[i]}, {500.0, false, hostile[i]}};
        struct figure figure = sample();

        series.label = hostile[i];
        figure.title = figure.x_label = figure.y_label = figure.caption = hostile[i];
        figure.series = &series;
        figure.series_count = 1;
        figure.markers = markers;
        figure.marker_count = 2;
        ck_assert_msg(draw(&figure, FIGURE_OUTPUT_SVG, "a.svg", NULL, &error) == STATUS_OK, "label %zu: %s", i,
                      error.text);
        ck_assert_int_ne(access("pwned", F_OK), 0);
        if (i == 4) {
            char *svg = read_file("a.svg");

            /* title, x, y, caption, series and two markers */
            ck_assert_uint_eq(count_text(svg, "@macro $0 {/Bold x} _sub ^sup</text>"), 7);
            free(svg);
        }
    }
    ck_assert_int_eq(chdir(here), 0);
}
END_TEST

START_TEST(paths_are_never_commands)
{
    static const char *const names[] = {"|touch pwned", "a'b.svg", "a`touch pwned`.svg", "~x", "new\nline.svg"};
    struct figure figure = sample();
    struct error error = {0};
    char here[1024];

    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    ck_assert_int_eq(chdir(directory), 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        ck_assert_msg(draw(&figure, FIGURE_OUTPUT_SVG, names[i], NULL, &error) == STATUS_OK, "%s", error.text);
        ck_assert_int_eq(access(names[i], R_OK), 0);
        ck_assert_int_ne(access("pwned", F_OK), 0);
    }
    ck_assert_int_eq(chdir(here), 0);
}
END_TEST

START_TEST(without_gnuplot_the_package_is_named)
{
    struct figure figure = sample();
    struct error error = {0};
    char version[32];

    ck_assert_int_eq(setenv("PATH", directory, 1), 0);
    ck_assert_int_eq(draw(&figure, FIGURE_OUTPUT_SVG, inside("a.svg"), NULL, &error), STATUS_MISSING);
    ck_assert_ptr_nonnull(strstr(error.text, "gnuplot-nox"));
    ck_assert_uint_eq(files_in_directory(false), 0);
    ck_assert_int_eq(gnuplot_version(version, sizeof version, &error), STATUS_MISSING);
}
END_TEST

/* Puts a shell script named gnuplot in front of everything else. */
static void fake_gnuplot(const char *body)
{
    FILE *stream = fopen(inside("gnuplot"), "w");

    ck_assert_ptr_nonnull(stream);
    ck_assert_int_ge(fprintf(stream, "#!/bin/sh\n%s\n", body), 0);
    ck_assert_int_eq(fclose(stream), 0);
    ck_assert_int_eq(chmod(inside("gnuplot"), 0700), 0);
    ck_assert_int_eq(setenv("PATH", directory, 1), 0);
}

START_TEST(a_failing_gnuplot_is_reported_and_leaves_nothing)
{
    static const struct {
        const char *body, *expected;
    } cases[] = {
        {"echo >&2; echo '    ^' >&2; echo 'line 3: no such thing' >&2; exit 1", "line 3: no such thing"},
        {"exit 2", "exit status 2"},
        {"kill -9 $$", "signal 9"},
        {"exit 0", "drew nothing"},
    };
    struct figure figure = sample();

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error error = {0};

        fake_gnuplot(cases[i].body);
        ck_assert_int_eq(draw(&figure, FIGURE_OUTPUT_SVG, inside("a.svg"), NULL, &error), STATUS_IO);
        ck_assert_msg(strstr(error.text, cases[i].expected) != NULL, "%s", error.text);
        ck_assert_uint_eq(files_in_directory(false), 1);
    }
}
END_TEST

START_TEST(a_gnuplot_that_does_not_read_kills_nobody)
{
    /* Far more than a socket holds, so that the sender meets the closed end; a series alone would be thinned. */
    enum {
        POINTS = FIGURE_POINTS_PER_SERIES_MAX,
        COPIES = 12
    };
    double *values = malloc(POINTS * sizeof *values);
    struct figure_series series[COPIES];
    struct figure figure = sample();
    struct error error = {0};

    ck_assert_ptr_nonnull(values);
    for (int i = 0; i < POINTS; i++)
        values[i] = 1.0 / (i + 3.0);
    for (int i = 0; i < COPIES; i++)
        series[i] =
            (struct figure_series){.label = "", .style = SERIES_STYLE_LINE, .count = POINTS, .x = values, .y = values};
    figure.series = series;
    figure.series_count = COPIES;
    fake_gnuplot("exec 0<&-; exit 3");
    ck_assert_int_eq(draw(&figure, FIGURE_OUTPUT_SVG, inside("a.svg"), NULL, &error), STATUS_IO);
    ck_assert_msg(strstr(error.text, "exit status 3") != NULL, "%s", error.text);
    (void)setenv("PATH", saved_path, 1);
    ck_assert_msg(draw(&figure, FIGURE_OUTPUT_PNG, inside("a.png"), NULL, &error) == STATUS_OK, "%s", error.text);
    free(values);
}
END_TEST

START_TEST(a_wrong_script_is_judged_by_its_exit_status)
{
    static const char script[] = "set terminal nosuchterminal\nplot 1\n";
    struct text_buffer output = {0};
    struct error error = {0};

    ck_assert_int_eq(gnuplot_run("-d", script, sizeof script - 1, &output, &error), STATUS_IO);
    ck_assert_msg(strstr(error.text, "terminal type") != NULL, "%s", error.text);
    text_buffer_release(&output);
}
END_TEST

START_TEST(nothing_to_draw_is_bad_data)
{
    static const double nothing[] = {(double)NAN, (double)INFINITY}, huge[] = {1e308, -1e308};
    struct figure_series series = {
        .label = "empty", .style = SERIES_STYLE_LINE, .count = 0, .x = x_values, .y = y_values};
    struct figure figure = sample();
    struct error error = {0};
    size_t left_out = 99;

    figure.series = &series;
    figure.series_count = 1;
    ck_assert_int_eq(draw(&figure, FIGURE_OUTPUT_SVG, inside("a.svg"), &left_out, &error), STATUS_BAD_DATA);
    ck_assert_uint_eq(left_out, 0);
    series.count = 2;
    series.y = nothing;
    ck_assert_int_eq(draw(&figure, FIGURE_OUTPUT_SVG, inside("a.svg"), &left_out, &error), STATUS_BAD_DATA);
    ck_assert_uint_eq(left_out, 2);
    series.y = huge;
    ck_assert_int_eq(draw(&figure, FIGURE_OUTPUT_SVG, inside("a.svg"), &left_out, &error), STATUS_BAD_DATA);
    ck_assert_uint_eq(left_out, 2);
    figure.series_count = 0;
    ck_assert_int_eq(draw(&figure, FIGURE_OUTPUT_SVG, inside("a.svg"), &left_out, &error), STATUS_BAD_DATA);
    ck_assert_uint_eq(files_in_directory(false), 0);
}
END_TEST

START_TEST(one_point_is_a_figure)
{
    static const double zero[] = {0.0};
    struct figure_series series = {
        .label = "one", .style = SERIES_STYLE_LINE_POINTS, .count = 1, .x = x_values, .y = y_values};
    struct figure figure = sample();
    struct error error = {0};

    figure.series = &series;
    figure.series_count = 1;
    ck_assert_msg(draw(&figure, FIGURE_OUTPUT_SVG, inside("a.svg"), NULL, &error) == STATUS_OK, "%s", error.text);
    figure.x_logarithmic = figure.y_logarithmic = true;
    ck_assert_msg(draw(&figure, FIGURE_OUTPUT_SVG, inside("b.svg"), NULL, &error) == STATUS_OK, "%s", error.text);
    figure.x_logarithmic = figure.y_logarithmic = false;
    series.x = series.y = zero;
    ck_assert_msg(draw(&figure, FIGURE_OUTPUT_SVG, inside("c.svg"), NULL, &error) == STATUS_OK, "%s", error.text);
}
END_TEST

START_TEST(points_that_cannot_be_drawn_are_counted)
{
    const double x[] = {1.0, 2.0, (double)NAN, 4.0, 0.0, 6.0};
    const double y[] = {1.5, (double)INFINITY, 3.0, 4.5, 5.0, -6.0};
    struct figure_series series = {.label = "gaps", .style = SERIES_STYLE_LINE, .count = 6, .x = x, .y = y};
    struct figure figure = sample();
    struct error error = {0};
    size_t left_out;

    figure.series = &series;
    figure.series_count = 1;
    ck_assert_int_eq(draw(&figure, FIGURE_OUTPUT_SVG, inside("a.svg"), &left_out, &error), STATUS_OK);
    ck_assert_uint_eq(left_out, 2);
    figure.x_logarithmic = true;
    ck_assert_int_eq(draw(&figure, FIGURE_OUTPUT_SVG, inside("a.svg"), &left_out, &error), STATUS_OK);
    ck_assert_uint_eq(left_out, 3);
    figure.y_logarithmic = true;
    ck_assert_int_eq(draw(&figure, FIGURE_OUTPUT_SVG, inside("a.svg"), &left_out, &error), STATUS_OK);
    ck_assert_uint_eq(left_out, 4);
}
END_TEST

START_TEST(an_unwritable_target_leaves_nothing)
{
    struct figure figure = sample();
    struct error error = {0};

    ck_assert_int_eq(draw(&figure, FIGURE_OUTPUT_SVG, inside("no/such/dir.svg"), NULL, &error), STATUS_IO);
    ck_assert_ptr_nonnull(strstr(error.file, "no/such/dir.svg"));
    ck_assert_int_eq(mkdir(inside("taken"), 0700), 0);
    ck_assert_int_eq(draw(&figure, FIGURE_OUTPUT_SVG, inside("taken"), NULL, &error), STATUS_IO);
    ck_assert_uint_eq(files_in_directory(false), 1);
    if (access("/dev/full", W_OK) == 0)
        ck_assert_int_eq(draw(&figure, FIGURE_OUTPUT_SVG, "/dev/full", NULL, &error), STATUS_IO);
}
END_TEST

START_TEST(script_and_numbers_are_kept_and_draw_the_same)
{
    struct figure figure = sample();
    struct figure_options options = {.output = FIGURE_OUTPUT_SVG, .keep_directory = directory};
    char path[512], *script, *csv, *drawn;
    struct text_buffer output = {0};
    struct error error = {0};

    (void)snprintf(path, sizeof path, "%s", inside("kept.svg"));
    options.path = path;
    ck_assert_msg(figure_draw(&figure, &options, NULL, &error) == STATUS_OK, "%s", error.text);
    script = read_file(inside("kept.gp"));
    csv = read_file(inside("kept.csv"));
    ck_assert_ptr_nonnull(strstr(script, "set output 'kept.svg'\n"));
    ck_assert_ptr_nonnull(strstr(csv, "series,x,y,y_lo,y_hi\n"));
    ck_assert_ptr_nonnull(strstr(csv, "\"base configuration\",96,845,,\n"));
    ck_assert_ptr_nonnull(strstr(csv, "\"interval of the base\",1,,48,59\n"));
    /* Without its output line the kept script draws what the file holds. */
    char *line = strstr(script, "set output");

    memset(line, '\n', strcspn(line, "\n"));
    ck_assert_int_eq(gnuplot_run("-d", script, strlen(script), &output, &error), STATUS_OK);
    drawn = read_file(path);
    ck_assert_uint_eq(strlen(drawn), output.length);
    ck_assert_int_eq(memcmp(drawn, output.text, output.length), 0);
    text_buffer_release(&output);
    free(script);
    free(csv);
    free(drawn);
}
END_TEST

START_TEST(version_is_two_numbers_at_least)
{
    struct error error = {0};
    char version[32];
    unsigned major, minor;

    ck_assert_msg(gnuplot_version(version, sizeof version, &error) == STATUS_OK, "%s", error.text);
    ck_assert_int_eq(sscanf(version, "%u.%u", &major, &minor), 2);
    ck_assert_uint_ge(major, 4);
}
END_TEST

Suite *suite_figure(void)
{
    Suite *suite = suite_create("figure");
    TCase *cases = tcase_create("figure");

    tcase_set_timeout(cases, 120);
    tcase_add_checked_fixture(cases, directory_make, directory_remove);
    tcase_add_test(cases, svg_names_its_axes_and_series);
    tcase_add_test(cases, png_and_pdf_have_their_signatures);
    tcase_add_test(cases, labels_are_text_and_never_commands);
    tcase_add_test(cases, paths_are_never_commands);
    tcase_add_test(cases, without_gnuplot_the_package_is_named);
    tcase_add_test(cases, a_failing_gnuplot_is_reported_and_leaves_nothing);
    tcase_add_test(cases, a_gnuplot_that_does_not_read_kills_nobody);
    tcase_add_test(cases, a_wrong_script_is_judged_by_its_exit_status);
    tcase_add_test(cases, nothing_to_draw_is_bad_data);
    tcase_add_test(cases, one_point_is_a_figure);
    tcase_add_test(cases, points_that_cannot_be_drawn_are_counted);
    tcase_add_test(cases, an_unwritable_target_leaves_nothing);
    tcase_add_test(cases, script_and_numbers_are_kept_and_draw_the_same);
    tcase_add_test(cases, version_is_two_numbers_at_least);
    suite_add_tcase(suite, cases);
    return suite;
}
