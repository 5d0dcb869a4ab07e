/* SPDX-License-Identifier: GPL-3.0-or-later
 * A document written as HTML (one file, nothing loaded from anywhere) or Markdown. Every text is escaped here. Used by
 * `occam report`. */
#ifndef OCCAM_CLI_PAGE_H
#define OCCAM_CLI_PAGE_H

#include <stdbool.h>

#include "base/text_buffer.h"

enum {
    PAGE_COLUMNS_MAX = 40
};

/* Zero-initialise and set html; text is the document. Release text. Check text.failed at the end. */
struct page {
    bool html;
    struct text_buffer text;
    size_t columns; /* of the table under way */
};

/* Text as the format shows it literally, whatever it holds; control characters become spaces, what is not UTF-8 '?'. */
void page_append_escaped(struct page *page, const char *text);

void page_begin(struct page *page, const char *title, const char *subtitle);
/* The list of sections: ids and headings. HTML alone. */
void page_contents(struct page *page, const char *const *ids, const char *const *headings, size_t count);
void page_section(struct page *page, const char *id, const char *heading);
void page_section_end(struct page *page);
void page_paragraph(struct page *page, const char *format, ...) PRINTF_LIKE(2, 3);
/* The sentence that matters most. */
void page_answer(struct page *page, const char *format, ...) PRINTF_LIKE(2, 3);
void page_list(struct page *page);
void page_item(struct page *page, const char *format, ...) PRINTF_LIKE(2, 3);
void page_list_end(struct page *page);
void page_table(struct page *page, const char *caption, const char *const *headings, size_t count);
/* cells: as many as the table has columns. Numbers are those that begin like one. */
void page_row(struct page *page, const char *const *cells);
void page_table_end(struct page *page);
/* What is shown on demand. HTML alone. */
void page_details(struct page *page, const char *summary);
void page_details_end(struct page *page);
/* A drawing of plots/, up to page_figure_end: as gnuplot wrote it, broad and narrow; a screen's width says which is
 * seen. link: the file's path for Markdown; NULL: there is none. */
struct page_drawing {
    const char *name, *title, *caption, *broad, *narrow, *link;
};
void page_figure(struct page *page, const struct page_drawing *drawing);
void page_figure_end(struct page *page);
void page_end(struct page *page);

/* page_svg.c: gnuplot's SVG as part of a page: ids of its own (prefix), its colours as variables that the page's style
 * sets for light and dark, no size of its own but its shape. */
void page_append_svg(struct page *page, const char *svg, const char *class_name, const char *prefix, const char *title);

#endif
