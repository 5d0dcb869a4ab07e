/* SPDX-License-Identifier: GPL-3.0-or-later
 * gnuplot's SVG made part of a page: only tags are touched, texts stay as gnuplot escaped them. */
#include <stdio.h>
#include <string.h>

#include "cli/page.h"
#include "plots/figure.h"

/* What gnuplot writes of its own neutral colours (plots/figure_theme.c), and the page's names of them. */
static const struct {
    unsigned rgb;
    const char *variable;
} neutral_colors[] = {{0x222222, "--ink"}, {0x555555, "--muted"}, {0xdddddd, "--grid"}, {0xffffff, "--paper"}};

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static void append_color(struct text_buffer *text, unsigned rgb)
{
    unsigned palette;

    for (size_t i = 0; i < sizeof neutral_colors / sizeof neutral_colors[0]; i++)
        if (neutral_colors[i].rgb == rgb) {
            text_buffer_append_format(text, "var(%s)", neutral_colors[i].variable);
            return;
        }
    for (int i = 0; i < FIGURE_COLORS; i++)
        if (sscanf(figure_color(i, false), "#%6x", &palette) == 1 && palette == rgb) {
            text_buffer_append_format(text, "var(--c%d)", i);
            return;
        }
    text_buffer_append_format(text, "#%06x", rgb);
}

/* Copies one tag, from '<' to '>', with its ids and colours replaced. */
static void append_tag(struct text_buffer *text, const char *tag, size_t length, const char *prefix)
{
    static const char *const id_starts[] = {"id='", "id=\"", "url(#", "href='#", "href=\"#"};
    const char *end = tag + length;

    while (tag < end) {
        unsigned red, green, blue;
        int used = 0;
        bool copied = false;

        for (size_t i = 0; i < sizeof id_starts / sizeof id_starts[0] && !copied; i++)
            if (starts_with(tag, id_starts[i])) {
                text_buffer_append_format(text, "%s%s-", id_starts[i], prefix);
                tag += strlen(id_starts[i]);
                copied = true;
            }
        if (copied)
            continue;
        if (starts_with(tag, "rgb(") && sscanf(tag, "rgb(%3u,%3u,%3u)%n", &red, &green, &blue, &used) == 3 &&
            used > 0 && tag + used <= end && (red | green | blue) < 256) {
            append_color(text, red << 16 | green << 8 | blue);
            tag += used;
        } else if (starts_with(tag, "color=\"black\"")) {
            text_buffer_append(text, "color=\"inherit\"");
            tag += strlen("color=\"black\"");
        } else if (starts_with(tag, "fill=\"#ffffff\"")) { /* the background */
            text_buffer_append(text, "fill=\"none\"");
            tag += strlen("fill=\"#ffffff\"");
        } else {
            text_buffer_append_bytes(text, tag++, 1);
        }
    }
}

/* Past gnuplot's own head: declaration, root, title and description. */
static const char *body_of(const char *svg)
{
    const char *canvas = strstr(svg, "<g id=\"gnuplot_canvas\"");

    return canvas == NULL ? "" : canvas;
}

/* The root's width and height in pixels. */
static void find_size(const char *svg, unsigned *width, unsigned *height)
{
    const char *root = strstr(svg, "<svg ");
    const char *box = root == NULL ? NULL : strstr(root, "viewBox=\"0 0 ");

    if (box == NULL || sscanf(box, "viewBox=\"0 0 %5u %5u\"", width, height) != 2) {
        *width = 900;
        *height = 600;
    }
}

void page_append_svg(struct page *page, const char *svg, const char *class_name, const char *prefix, const char *title)
{
    struct text_buffer *text = &page->text;
    unsigned width, height;
    const char *at = body_of(svg);

    find_size(svg, &width, &height);
    text_buffer_append_format(
        text,
        "<svg class=\"%s\" xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" "
        "viewBox=\"0 0 %u %u\" role=\"img\" aria-labelledby=\"%s-title\">\n"
        "<title id=\"%s-title\">",
        class_name, width, height, prefix, prefix);
    page_append_escaped(page, title);
    text_buffer_append(text, "</title>\n");
    while (*at != '\0') {
        size_t length = strcspn(at, "<");
        const char *close;

        text_buffer_append_bytes(text, at, length);
        at += length;
        close = strchr(at, '>');
        if (*at == '\0' || close == NULL)
            break;
        append_tag(text, at, (size_t)(close - at) + 1, prefix);
        at = close + 1;
    }
}
