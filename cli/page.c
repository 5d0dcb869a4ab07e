/* SPDX-License-Identifier: GPL-3.0-or-later
 * HTML and Markdown of a report. The HTML is well-formed XML too, so that any XML tool can read it. */
#include "cli/page.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "plots/figure.h"

enum {
    LONG_CELL = 60 /* bytes; on a narrow screen such a cell is wide rather than high */
};

static const char style[] =
    "*{box-sizing:border-box}\n"
    "body{margin:0;background:var(--paper);color:var(--ink);font:17px/1.5 system-ui,sans-serif}\n"
    "header,nav,main,footer{max-width:60rem;margin:0 auto;padding:0 1rem}\n"
    "h1{font-size:1.6rem;line-height:1.2;overflow-wrap:anywhere}h2{margin-top:2.2rem;border-bottom:1px solid "
    "var(--grid)}\n"
    "p,li,td,th,figcaption{overflow-wrap:break-word}\n"
    ".answer{font-size:1.15rem;border-left:.3rem solid var(--c0);padding:.3rem 0 .3rem .8rem}\n"
    "nav ul{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.2rem 1rem}a{color:var(--c0)}\n"
    "a:focus-visible,.wide:focus-visible{outline:3px solid var(--c1);outline-offset:2px}\n"
    ".skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:1rem;background:var(--paper);padding:.5rem}\n"
    ".wide{overflow-x:auto}\n"
    "table{border-collapse:collapse;font-size:.92rem}caption{text-align:left;color:var(--muted);padding:.3rem 0}\n"
    "th,td{padding:.25rem .6rem;border-bottom:1px solid var(--grid);text-align:left;vertical-align:top}\n"
    "td.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\n"
    "figure{margin:1.5rem 0}figure svg{display:block;width:100%;height:auto}figure svg.narrow{display:none}\n"
    "@media screen and (max-width:40rem){figure svg.broad{display:none}figure svg.narrow{display:block}"
    "header,nav,main,footer{padding:0 .6rem}th,td{padding:.25rem .35rem}td.long{min-width:17rem}}\n"
    "figcaption{color:var(--muted);font-size:.92rem}summary{cursor:pointer;color:var(--c0);font-size:.92rem}\n"
    "@media print{nav,.skip{display:none}body{font-size:11pt}figure,tr{break-inside:avoid}h2{break-after:avoid}"
    "figure{margin:.6rem 0}figure svg{max-width:13cm}.wide{overflow:visible}"
    "details{display:none}table{font-size:7pt;max-width:100%}th,td{padding:1pt 2pt;overflow-wrap:anywhere}"
    "td.number{white-space:normal}}\n";

/* ---- escaping ---------------------------------------------------------------------------------------------------- */

static void append_html_byte(struct text_buffer *text, char byte)
{
    static const struct {
        char byte;
        const char *entity;
    } entities[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};

    for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++)
        if (entities[i].byte == byte) {
            text_buffer_append(text, entities[i].entity);
            return;
        }
    text_buffer_append_bytes(text, &byte, 1);
}

static void append_markdown_byte(struct text_buffer *text, char byte)
{
    if (byte == '&') {
        text_buffer_append(text, "&amp;");
        return;
    }
    if (byte == '<') {
        text_buffer_append(text, "&lt;");
        return;
    }
    if (strchr("\\`*_{}[]#|>~$!@", byte) != NULL)
        text_buffer_append(text, "\\");
    text_buffer_append_bytes(text, &byte, 1);
}

void page_append_escaped(struct page *page, const char *text)
{
    size_t length = text == NULL ? 0 : strlen(text), offset = 0, bad = 0;

    while (offset < length) {
        bool broken = utf8_check(text + offset, length - offset, &bad) != STATUS_OK;
        size_t end = broken ? offset + bad : length;

        for (; offset < end; offset++) {
            unsigned char byte = (unsigned char)text[offset];
            char clean = byte < 0x20 || byte == 0x7f ? ' ' : (char)byte;

            if (page->html)
                append_html_byte(&page->text, clean);
            else
                append_markdown_byte(&page->text, clean);
        }
        if (broken) {
            text_buffer_append(&page->text, "?");
            offset++;
        }
    }
}

static void append_arguments(struct page *page, const char *format, va_list arguments)
{
    char text[4096];

    (void)vsnprintf(text, sizeof text, format, arguments);
    page_append_escaped(page, text);
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

static void append_colors(struct text_buffer *text, bool dark)
{
    text_buffer_append(text, dark ? "--ink:#e6e6e6;--muted:#ababab;--grid:#3a3f44;--paper:#16191c"
                                  : "--ink:#222222;--muted:#555555;--grid:#dddddd;--paper:#ffffff");
    for (int i = 0; i < FIGURE_COLORS; i++)
        text_buffer_append_format(text, ";--c%d:%s", i, figure_color(i, dark));
}

static void append_head(struct page *page, const char *title)
{
    struct text_buffer *text = &page->text;

    text_buffer_append(text, "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n"
                             "<meta charset=\"utf-8\"/>\n"
                             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                             "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                             "'unsafe-inline'; img-src data:\"/>\n"
                             "<link rel=\"icon\" href=\"data:,\"/>\n<title>");
    page_append_escaped(page, title);
    text_buffer_append(text, "</title>\n<style>\n:root{color-scheme:light dark;");
    append_colors(text, false);
    text_buffer_append(text, "}\n@media (prefers-color-scheme:dark){:root{");
    append_colors(text, true);
    text_buffer_append(text, "}}\n@media print{:root{");
    append_colors(text, false);
    text_buffer_append(text, "}}\n");
    text_buffer_append(text, style);
    text_buffer_append(text, "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#content\">To the answer</a>\n"
                             "<header>\n<h1>");
}

void page_begin(struct page *page, const char *title, const char *subtitle)
{
    if (page->html)
        append_head(page, title);
    else
        text_buffer_append(&page->text, "# ");
    page_append_escaped(page, title);
    text_buffer_append(&page->text, page->html ? "</h1>\n<p>" : "\n\n");
    page_append_escaped(page, subtitle);
    text_buffer_append(&page->text, page->html ? "</p>\n</header>\n" : "\n\n");
}

void page_contents(struct page *page, const char *const *ids, const char *const *headings, size_t count)
{
    if (!page->html)
        return;
    text_buffer_append(&page->text, "<nav aria-label=\"Contents\">\n<ul>\n");
    for (size_t i = 0; i < count; i++) {
        text_buffer_append_format(&page->text, "<li><a href=\"#%s\">", ids[i]);
        page_append_escaped(page, headings[i]);
        text_buffer_append(&page->text, "</a></li>\n");
    }
    text_buffer_append(&page->text, "</ul>\n</nav>\n<main id=\"content\">\n");
}

void page_section(struct page *page, const char *id, const char *heading)
{
    if (page->html)
        text_buffer_append_format(&page->text, "<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">", id, id);
    else
        text_buffer_append(&page->text, "## ");
    page_append_escaped(page, heading);
    text_buffer_append(&page->text, page->html ? "</h2>\n" : "\n\n");
}

void page_section_end(struct page *page)
{
    text_buffer_append(&page->text, page->html ? "</section>\n" : "");
}

void page_paragraph(struct page *page, const char *format, ...)
{
    va_list arguments;

    text_buffer_append(&page->text, page->html ? "<p>" : "");
    va_start(arguments, format);
    append_arguments(page, format, arguments);
    va_end(arguments);
    text_buffer_append(&page->text, page->html ? "</p>\n" : "\n\n");
}

void page_answer(struct page *page, const char *format, ...)
{
    va_list arguments;

    text_buffer_append(&page->text, page->html ? "<p class=\"answer\"><strong>" : "**");
    va_start(arguments, format);
    append_arguments(page, format, arguments);
    va_end(arguments);
    text_buffer_append(&page->text, page->html ? "</strong></p>\n" : "**\n\n");
}

void page_list(struct page *page)
{
    text_buffer_append(&page->text, page->html ? "<ul>\n" : "");
}

void page_item(struct page *page, const char *format, ...)
{
    va_list arguments;

    text_buffer_append(&page->text, page->html ? "<li>" : "- ");
    va_start(arguments, format);
    append_arguments(page, format, arguments);
    va_end(arguments);
    text_buffer_append(&page->text, page->html ? "</li>\n" : "\n");
}

void page_list_end(struct page *page)
{
    text_buffer_append(&page->text, page->html ? "</ul>\n" : "\n");
}

void page_table(struct page *page, const char *caption, const char *const *headings, size_t count)
{
    page->columns = count;
    if (page->html) {
        text_buffer_append(&page->text, "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"");
        page_append_escaped(page, caption);
        text_buffer_append(&page->text, "\">\n<table>\n<caption>");
        page_append_escaped(page, caption);
        text_buffer_append(&page->text, "</caption>\n<thead><tr>");
    } else {
        page_append_escaped(page, caption);
        text_buffer_append(&page->text, ":\n\n|");
    }
    for (size_t i = 0; i < count; i++) {
        text_buffer_append(&page->text, page->html ? "<th scope=\"col\">" : " ");
        page_append_escaped(page, headings[i]);
        text_buffer_append(&page->text, page->html ? "</th>" : " |");
    }
    if (page->html)
        text_buffer_append(&page->text, "</tr></thead>\n<tbody>\n");
    else
        for (size_t i = 0; i < count; i++)
            text_buffer_append(&page->text, i == 0 ? "\n| --- |" : " --- |");
    text_buffer_append(&page->text, page->html ? "" : "\n");
}

static bool looks_like_number(const char *text)
{
    text += *text == '-' || *text == '+';
    return isdigit((unsigned char)*text) != 0;
}

void page_row(struct page *page, const char *const *cells)
{
    text_buffer_append(&page->text, page->html ? "<tr>" : "|");
    for (size_t i = 0; i < page->columns; i++) {
        if (page->html)
            text_buffer_append(&page->text, looks_like_number(cells[i])    ? "<td class=\"number\">"
                                            : strlen(cells[i]) > LONG_CELL ? "<td class=\"long\">"
                                                                           : "<td>");
        else
            text_buffer_append(&page->text, " ");
        page_append_escaped(page, cells[i]);
        text_buffer_append(&page->text, page->html ? "</td>" : " |");
    }
    text_buffer_append(&page->text, page->html ? "</tr>\n" : "\n");
}

void page_table_end(struct page *page)
{
    text_buffer_append(&page->text, page->html ? "</tbody>\n</table>\n</div>\n" : "\n");
}

/* What a link may hold unescaped in Markdown. */
static void append_link(struct text_buffer *text, const char *link)
{
    for (; *link != '\0'; link++) {
        if (isalnum((unsigned char)*link) != 0 || strchr("/._-", *link) != NULL)
            text_buffer_append_bytes(text, link, 1);
        else
            text_buffer_append_format(text, "%%%02X", (unsigned char)*link);
    }
}

static void append_drawings(struct page *page, const struct page_drawing *drawing)
{
    char prefix[80];

    text_buffer_append_format(&page->text, "<figure id=\"figure-%s\">\n", drawing->name);
    page_append_svg(page, drawing->broad, "broad", drawing->name, drawing->title);
    (void)snprintf(prefix, sizeof prefix, "%.60s-narrow", drawing->name);
    page_append_svg(page, drawing->narrow, "narrow", prefix, drawing->title);
    text_buffer_append(&page->text, "<figcaption>");
    page_append_escaped(page, drawing->caption);
    text_buffer_append(&page->text, "</figcaption>\n");
}

void page_figure(struct page *page, const struct page_drawing *drawing)
{
    if (page->html) {
        append_drawings(page, drawing);
        return;
    }
    text_buffer_append(&page->text, "### ");
    page_append_escaped(page, drawing->title);
    text_buffer_append(&page->text, "\n\n");
    if (drawing->link != NULL) {
        text_buffer_append(&page->text, "![");
        page_append_escaped(page, drawing->title);
        text_buffer_append(&page->text, "](");
        append_link(&page->text, drawing->link);
        text_buffer_append(&page->text, ")\n\n");
    } else {
        page_paragraph(page, "Not drawn here: --keep DIR draws it into a file, and so does occam plot %s.",
                       drawing->name);
    }
    page_append_escaped(page, drawing->caption);
    text_buffer_append(&page->text, "\n\n");
}

void page_figure_end(struct page *page)
{
    text_buffer_append(&page->text, page->html ? "</figure>\n" : "");
}

void page_details(struct page *page, const char *summary)
{
    text_buffer_append(&page->text, "<details><summary>");
    page_append_escaped(page, summary);
    text_buffer_append(&page->text, "</summary>\n");
}

void page_details_end(struct page *page)
{
    text_buffer_append(&page->text, "</details>\n");
}

void page_end(struct page *page)
{
    text_buffer_append(&page->text, page->html ? "</main>\n</body>\n</html>\n" : "");
}
