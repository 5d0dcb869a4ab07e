/* SPDX-License-Identifier: GPL-3.0-or-later
 * The figure `scorecard`: coverage of frozen predictions, from the ledger itself or from the table of `occam ledger
 * scorecard --format csv`. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/text_buffer.h"
#include "cli/ledger_place.h"
#include "cli/plot_table.h"

enum {
    GROUPS_MAX = 6
};
#define FILE_BYTES_MAX (64u << 20)
static const double BESIDE = 0.4; /* between groups, in percent of level */

/* Coverage of one group: measured share, and its interval, at every level; percent. */
struct coverage {
    double share[SCORECARD_LEVELS], lo[SCORECARD_LEVELS], hi[SCORECARD_LEVELS];
};

static void add_group(struct figure_sheet *sheet, const char *group, const struct coverage *coverage, int color)
{
    double *columns[4];

    for (int c = 0; c < 4; c++)
        columns[c] = sheet_numbers(sheet, SCORECARD_LEVELS);
    if (sheet->failed)
        return;
    for (int i = 0; i < SCORECARD_LEVELS; i++)
        columns[0][i] = round(100.0 * scorecard_levels()[i]) + BESIDE * color;
    memcpy(columns[1], coverage->share, sizeof coverage->share);
    memcpy(columns[2], coverage->lo, sizeof coverage->lo);
    memcpy(columns[3], coverage->hi, sizeof coverage->hi);
    sheet_add_series(sheet, (struct figure_series){.label = sheet_text(sheet, "%s", group),
                                                   .style = SERIES_STYLE_POINTS,
                                                   .count = SCORECARD_LEVELS,
                                                   .x = columns[0],
                                                   .y = columns[1],
                                                   .y_lo = columns[2],
                                                   .y_hi = columns[3],
                                                   .color_index = color});
}

static enum status read_coverage(const struct csv_table *table, size_t row, struct coverage *coverage,
                                 struct error *error)
{
    static const char *const parts[] = {"", "lo_", "hi_"};
    double *const columns[] = {coverage->share, coverage->lo, coverage->hi};
    enum status status = STATUS_OK;

    for (int i = 0; i < SCORECARD_LEVELS; i++)
        for (int c = 0; c < 3 && status == STATUS_OK; c++) {
            char name[64];

            (void)snprintf(name, sizeof name, "coverage_%ld_%spercent", lround(100.0 * scorecard_levels()[i]),
                           parts[c]);
            const long column = csv_column(table, name);
            status = column < 0 ? error_set_at(error, STATUS_BAD_DATA, table->file, 1, 0, "no column %s", name)
                                : csv_number(table, row, (size_t)column, &columns[c][i], error);
        }
    return status;
}

static enum status from_table(const char *path, struct figure_sheet *sheet, size_t *count, struct error *error)
{
    struct csv_table table = {0};
    enum status status = csv_read(path, FILE_BYTES_MAX, &table, error);

    if (status != STATUS_OK)
        return status;
    const long group = csv_column(&table, "group");
    if (group < 0)
        status = error_set_at(error, STATUS_BAD_DATA, table.file, 1, 0, "no column group");
    else if (table.row_count == 0)
        status = error_set_at(error, STATUS_BAD_DATA, table.file, 0, 0, "no rows");
    for (size_t r = 0; r < table.row_count && r < GROUPS_MAX && status == STATUS_OK; r++) {
        struct coverage coverage;

        status = read_coverage(&table, r, &coverage, error);
        if (status == STATUS_OK)
            add_group(sheet, csv_cell(&table, r, (size_t)group), &coverage, (int)r);
    }
    *count = table.row_count;
    csv_table_release(&table);
    return status;
}

/* *path: the ledger's. */
static enum status from_ledger(const char *asked, struct figure_sheet *sheet, size_t *count, const char **path,
                               struct error *error)
{
    struct ledger *ledger;
    struct ledger_card *cards = NULL;
    enum status status = ledger_place_open(asked, false, &ledger, error);

    if (status != STATUS_OK)
        return status;
    *path = sheet_text(sheet, "the ledger %s", ledger_path(ledger));
    status = ledger_cards_make(ledger, &cards, count, error);
    for (size_t g = 0; g < *count && g < GROUPS_MAX && status == STATUS_OK; g++) {
        struct coverage coverage;

        for (int i = 0; i < SCORECARD_LEVELS; i++) {
            coverage.share[i] = 100.0 * cards[g].card.coverage[i];
            coverage.lo[i] = 100.0 * cards[g].card.coverage_low[i];
            coverage.hi[i] = 100.0 * cards[g].card.coverage_high[i];
        }
        add_group(sheet, cards[g].group, &coverage, (int)g);
    }
    free(cards);
    ledger_close(ledger);
    return status;
}

bool plot_file_is_ledger(const char *path)
{
    static const char magic[] = "SQLite format 3";
    char begin[sizeof magic] = "";
    FILE *stream = fopen(path, "rbe");

    if (stream == NULL)
        return false;
    const bool is_ledger =
        fread(begin, 1, sizeof magic, stream) == sizeof magic && memcmp(begin, magic, sizeof magic) == 0;
    (void)fclose(stream);
    return is_ledger;
}

enum status plot_scorecard(const struct plot_request *request, struct figure_sheet *sheet, struct error *error)
{
    const char *path = request->file_count > 0 ? request->files[0] : NULL;
    size_t count = 0;
    enum status status;

    if (request->file_count > 1)
        return error_set(error, STATUS_USAGE, "this figure takes one table, not %zu", request->file_count);
    if (path != NULL && request->ledger != NULL)
        return error_set(error, STATUS_USAGE, "figure scorecard takes a table or --ledger, not both");
    if (path == NULL || plot_file_is_ledger(path))
        status = from_ledger(path == NULL ? request->ledger : path, sheet, &count, &path, error);
    else
        status = from_table(path, sheet, &count, error);
    if (status != STATUS_OK)
        return status;
    const char *more = count > GROUPS_MAX ? sheet_text(sheet, " The first %d of %zu groups.", GROUPS_MAX, count) : "";
    sheet->figure.title = "coverage of frozen predictions";
    sheet->figure.x_label = "level of the interval (%)";
    sheet->figure.y_label = "measured inside (%)";
    sheet->figure.diagonal = true;
    sheet->figure.caption = sheet_text(sheet,
                                       "On the line an interval holds as often as it says, above it more often; "
                                       "bars: 90 %% interval of the share.%s From %s; drawn %s.",
                                       more, path, plot_date(sheet));
    return sheet_check(sheet, error);
}
