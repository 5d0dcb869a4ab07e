/* SPDX-License-Identifier: GPL-3.0-or-later
 * What figures are made of: bars, areas, heat maps with hatched cells, a second axis, remarks, many points; several
 * figures from one gnuplot, and a gnuplot that is too old. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text_buffer.h"
#include "plots/figure_sheet.h"
#include "tests/support/temp_dir.h"

Suite *suite_figure_styles(void);

enum {
    FIGURES = 4,
    KEPT = 3 /* of them: a table of all those points takes longer than their drawing */
};

/* Points of the largest figure. */
static size_t many(void)
{
    return getenv("TEST_QUICK") == NULL ? 1000000 : 20000;
}

static unsigned count_text(const char *text, const char *needle)
{
    unsigned count = 0;

    for (const char *place = strstr(text, needle); place != NULL; place = strstr(place + 1, needle))
        count++;
    return count;
}

static const double zeros[] = {0.0, 0.0, 0.0}, ones[] = {1.0, 2.0, 3.0}, twos[] = {2.0, 3.0, 4.0};

static void fill_heat(struct figure_sheet *sheet)
{
    sheet->figure = (struct figure){.title = "heat", .x_label = "hx", .y_label = "hy", .shade_label = "how warm"};
    sheet_add_series(sheet, (struct figure_series){.label = "",
                                                   .style = SERIES_STYLE_BOXES,
                                                   .count = 3,
                                                   .x_lo = ones,
                                                   .x_hi = twos,
                                                   .y_lo = zeros,
                                                   .y_hi = ones,
                                                   .shade = twos});
    sheet_add_series(sheet, (struct figure_series){.label = "cannot",
                                                   .style = SERIES_STYLE_BOXES,
                                                   .count = 1,
                                                   .x_lo = twos,
                                                   .x_hi = twos + 1,
                                                   .y_lo = ones,
                                                   .y_hi = twos,
                                                   .hatched = true});
    sheet_add_label(sheet, 1.5, 0.5, "cell 1.5");
    sheet->labels[0].inside = true;
    sheet_add_x_tick(sheet, 1.5, "it's \"one\"");
    sheet_add_y_tick(sheet, 0.5, "`touch pwned`");
}

static void fill_stack(struct figure_sheet *sheet)
{
    sheet->figure = (struct figure){.title = "stack", .x_label = "sx", .y_label = "sy"};
    sheet_add_series(
        sheet,
        (struct figure_series){
            .label = "low part", .style = SERIES_STYLE_AREA, .count = 3, .x = ones, .y_lo = zeros, .y_hi = ones});
    sheet_add_series(sheet, (struct figure_series){.label = "high part",
                                                   .style = SERIES_STYLE_AREA,
                                                   .count = 3,
                                                   .x = ones,
                                                   .y_lo = ones,
                                                   .y_hi = twos,
                                                   .color_index = 1});
}

static void fill_two_axes(struct figure_sheet *sheet)
{
    sheet->figure =
        (struct figure){.title = "two axes", .x_label = "tx", .y_label = "left", .y2_label = "right", .diagonal = true};
    sheet_add_series(sheet, (struct figure_series){
                                .label = "a curve", .style = SERIES_STYLE_STEPS, .count = 3, .x = ones, .y = twos});
    sheet_add_series(sheet, (struct figure_series){.label = "other scale",
                                                   .style = SERIES_STYLE_DASHED,
                                                   .count = 3,
                                                   .x = ones,
                                                   .y = twos,
                                                   .second_axis = true});
    sheet_add_marker(sheet, true, 2.0, "here");
    sheet_add_marker(sheet, true, 2.0, "here too");
    sheet_add_label(sheet, 1.0, 2.0, "a remark");
}

static void fill_many(struct figure_sheet *sheet)
{
    const size_t count = many();
    double *x = sheet_numbers(sheet, count), *y = sheet_numbers(sheet, count);

    ck_assert_ptr_nonnull(x);
    ck_assert_ptr_nonnull(y);
    for (size_t i = 0; i < count; i++) {
        x[i] = (double)i;
        y[i] = (double)(i % 1000);
    }
    y[count / 2 + 3] = 7777.5; /* the one that must not be lost */
    y[77] = (double)NAN;
    sheet->figure = (struct figure){.title = "many", .x_label = "mx", .y_label = "my", .caption = "A caption."};
    sheet_add_series(
        sheet, (struct figure_series){.label = "points", .style = SERIES_STYLE_LINE, .count = count, .x = x, .y = y});
}

static void fill_all(struct figure_sheet *sheets)
{
    fill_heat(&sheets[0]);
    fill_stack(&sheets[1]);
    fill_two_axes(&sheets[2]);
    fill_many(&sheets[3]);
    for (int i = 0; i < FIGURES; i++) {
        struct error error = {0};

        ck_assert_int_eq(sheet_check(&sheets[i], &error), STATUS_OK);
    }
}

static void check_drawings(const struct text_buffer *drawings)
{
    char told[64];
    static const char *const wanted[FIGURES][8] = {
        {">heat<", ">hx<", ">hy<", ">how warm<", ">cannot<", "cell 1.5", "url(#gpPat", ">`touch pwned`<"},
        {">stack<", ">sx<", ">sy<", ">low part<", ">high part<", NULL},
        {">two axes<", ">left<", ">right<", ">a curve<", ">other scale<", ">here<", ">here too<", ">a remark<"},
        {">many<", ">points<", ">A caption. Drawn: ", " 8000<", NULL}};

    for (int f = 0; f < FIGURES; f++) {
        ck_assert_uint_eq(count_text(drawings[f].text, "<svg "), 1);
        for (int i = 0; i < 8 && wanted[f][i] != NULL; i++)
            ck_assert_msg(strstr(drawings[f].text, wanted[f][i]) != NULL, "figure %d lacks %s", f, wanted[f][i]);
    }
    ck_assert_ptr_nonnull(strstr(drawings[2].text, ">y = x<"));
    ck_assert_ptr_nonnull(strstr(drawings[0].text, ">it's \"one\"<"));
    /* A million points are a few thousand: the file stays small. */
    ck_assert_uint_lt(drawings[3].length, 300000);
    (void)snprintf(told, sizeof told, " of %zu points", many() - 1);
    ck_assert_msg(strstr(drawings[3].text, told) != NULL, "it does not tell%s", told);
}

START_TEST(several_figures_come_from_one_gnuplot)
{
    struct figure_sheet *sheets = calloc(FIGURES, sizeof *sheets);
    static const char *const names[FIGURES] = {"heat", "stack", "axes", "many"};
    const struct figure *figures[FIGURES];
    struct text_buffer drawings[FIGURES] = {{0}};
    struct temp_dir folder;
    char path[600];
    struct figure_options options = {0};
    struct error error = {0};

    ck_assert_ptr_nonnull(sheets);
    temp_dir_create(&folder);
    options.keep_directory = folder.path;
    fill_all(sheets);
    for (int i = 0; i < FIGURES; i++)
        figures[i] = &sheets[i].figure;
    ck_assert_msg(figures_draw_svg(figures, names, KEPT, &options, drawings, &error) == STATUS_OK, "%s", error.text);
    options.keep_directory = NULL;
    ck_assert_msg(figures_draw_svg(figures + KEPT, names + KEPT, FIGURES - KEPT, &options, drawings + KEPT, &error) ==
                      STATUS_OK,
                  "%s", error.text);
    check_drawings(drawings);
    ck_assert_int_ne(access("pwned", F_OK), 0);
    for (int i = 0; i < KEPT; i++) {
        (void)snprintf(path, sizeof path, "%s/%s.gp", folder.path, names[i]);
        ck_assert_int_eq(access(path, R_OK), 0);
        (void)snprintf(path, sizeof path, "%s/%s.csv", folder.path, names[i]);
        ck_assert_int_eq(access(path, R_OK), 0);
    }
    for (int i = 0; i < FIGURES; i++) {
        text_buffer_release(&drawings[i]);
        sheet_release(&sheets[i]);
    }
    temp_dir_remove(&folder);
    free(sheets);
}
END_TEST

START_TEST(dark_figures_have_their_own_colours)
{
    struct figure_sheet *sheet = calloc(1, sizeof *sheet);
    const struct figure *figure = &sheet->figure;
    static const char *const name = "dark";
    struct figure_options options = {.dark = true, .no_caption = true};
    struct text_buffer drawing = {0};
    struct error error = {0};

    fill_two_axes(sheet);
    sheet->figure.caption = "told elsewhere";
    ck_assert_msg(figures_draw_svg(&figure, &name, 1, &options, &drawing, &error) == STATUS_OK, "%s", error.text);
    ck_assert_ptr_nonnull(strstr(drawing.text, "fill=\"#16191c\""));
    ck_assert_ptr_null(strstr(drawing.text, "told elsewhere"));
    ck_assert_str_ne(figure_color(0, false), figure_color(0, true));
    ck_assert_str_eq(figure_color(-1, false), figure_color(FIGURE_COLORS - 1, false));
    text_buffer_release(&drawing);
    sheet_release(sheet);
    free(sheet);
}
END_TEST

/* Puts a shell script named gnuplot in front of everything else. */
static void fake_gnuplot(const char *folder, const char *body)
{
    char path[600];
    FILE *stream;

    (void)snprintf(path, sizeof path, "%s/gnuplot", folder);
    stream = fopen(path, "w");
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_ge(fprintf(stream, "#!/bin/sh\n%s\n", body), 0);
    ck_assert_int_eq(fclose(stream), 0);
    ck_assert_int_eq(chmod(path, 0700), 0);
    ck_assert_int_eq(setenv("PATH", folder, 1), 0);
}

START_TEST(an_old_gnuplot_is_named)
{
    struct figure_sheet *sheet = calloc(1, sizeof *sheet);
    struct temp_dir folder;
    const char *path = getenv("PATH");
    char target[600], saved[4096];
    struct figure_options options = {.output = FIGURE_OUTPUT_SVG, .path = target};
    struct error error = {0};

    (void)snprintf(saved, sizeof saved, "%s", path == NULL ? "/usr/bin:/bin" : path);
    temp_dir_create(&folder);
    (void)temp_dir_path(&folder, "a.svg", target, sizeof target);
    fake_gnuplot(folder.path, "if [ \"$1\" = --version ]; then echo 'gnuplot 4.6 patchlevel 6'; exit 0; fi\n"
                              "echo 'line 0: invalid command' >&2; exit 1");
    fill_two_axes(sheet);
    ck_assert_int_eq(figure_draw(&sheet->figure, &options, NULL, &error), STATUS_MISSING);
    ck_assert_msg(strstr(error.text, "4.6.6 is too old") != NULL, "%s", error.text);
    ck_assert_int_ne(access(target, F_OK), 0);
    /* Half a drawing, then dead: nothing of it stays. */
    fake_gnuplot(folder.path, "echo '<svg '; kill -9 $$");
    ck_assert_int_eq(figure_draw(&sheet->figure, &options, NULL, &error), STATUS_IO);
    ck_assert_msg(strstr(error.text, "signal 9") != NULL, "%s", error.text);
    ck_assert_int_ne(access(target, F_OK), 0);
    (void)setenv("PATH", saved, 1);
    temp_dir_remove(&folder);
    sheet_release(sheet);
    free(sheet);
}
END_TEST

/* Block characters are asked for only of a gnuplot that has them, and only where the reader's characters allow it. */
START_TEST(newer_gnuplots_draw_in_blocks)
{
    struct figure_sheet *sheet = calloc(1, sizeof *sheet);
    struct temp_dir folder;
    const char *path = getenv("PATH");
    char saved[4096], script_path[600], body[4900], *script;
    struct figure_options options = {.output = FIGURE_OUTPUT_TERMINAL, .columns = 60, .rows = 20};
    struct error error = {0};
    size_t length;

    (void)snprintf(saved, sizeof saved, "%s", path == NULL ? "/usr/bin:/bin" : path);
    temp_dir_create(&folder);
    (void)temp_dir_path(&folder, "script", script_path, sizeof script_path);
    (void)snprintf(body, sizeof body, "PATH='%s' cat > '%s'; echo", saved, script_path);
    fake_gnuplot(folder.path, body);
    fill_two_axes(sheet);
    for (unsigned wanted = 0; wanted < 4; wanted++) {
        const unsigned block = wanted == 3; /* without colour no line would be told from another */

        options.unicode = (wanted & 1) != 0;
        options.color = (wanted & 2) != 0;
        ck_assert_msg(figure_draw(&sheet->figure, &options, NULL, &error) == STATUS_OK, "%s", error.text);
        ck_assert_int_eq(file_read_text(script_path, 1 << 20, &script, &length, &error), STATUS_OK);
        ck_assert_uint_eq(count_text(script, "GPVAL_VERSION >= 6.0 && strstrt(GPVAL_TERMINALS, ' block ')"), block);
        ck_assert_uint_eq(count_text(script, "set terminal block quadrants noenhanced size 60,20 ansi256"), block);
        ck_assert_uint_eq(count_text(script, options.color ? "set terminal dumb noenhanced size 60,20 ansi256"
                                                           : "set terminal dumb noenhanced size 60,20 mono"),
                          1);
        free(script);
    }
    (void)setenv("PATH", saved, 1);
    temp_dir_remove(&folder);
    sheet_release(sheet);
    free(sheet);
}
END_TEST

START_TEST(a_sheet_has_bounds)
{
    struct figure_sheet *sheet = calloc(1, sizeof *sheet);
    struct error error = {0};

    for (int i = 0; i < 2000; i++) {
        sheet_add_series(sheet, (struct figure_series){.label = "s", .count = 3, .x = ones, .y = twos});
        sheet_add_marker(sheet, true, i, sheet_text(sheet, "marker %d", i));
        sheet_add_label(sheet, i, i, "label");
        sheet_add_x_tick(sheet, i, "x");
        sheet_add_y_tick(sheet, i, "y");
    }
    ck_assert_uint_eq(sheet->figure.series_count, SHEET_SERIES_MAX);
    ck_assert_uint_eq(sheet->figure.marker_count, SHEET_MARKERS_MAX);
    ck_assert_uint_eq(sheet->figure.label_count, SHEET_LABELS_MAX);
    ck_assert_uint_eq(sheet->figure.x_tick_count, SHEET_TICKS_MAX);
    ck_assert_str_eq(sheet->markers[7].label, "marker 7");
    ck_assert_int_eq(sheet_check(sheet, &error), STATUS_OK);
    sheet_release(sheet);
    ck_assert_uint_eq(sheet->figure.series_count, 0);
    free(sheet);
}
END_TEST

Suite *suite_figure_styles(void)
{
    Suite *suite = suite_create("figure_styles");
    TCase *tests = tcase_create("figure_styles");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, several_figures_come_from_one_gnuplot);
    tcase_add_test(tests, dark_figures_have_their_own_colours);
    tcase_add_test(tests, an_old_gnuplot_is_named);
    tcase_add_test(tests, newer_gnuplots_draw_in_blocks);
    tcase_add_test(tests, a_sheet_has_bounds);
    suite_add_tcase(suite, tests);
    return suite;
}
