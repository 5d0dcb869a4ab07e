/* SPDX-License-Identifier: GPL-3.0-or-later
 * Colours on light and dark. Okabe and Ito, "Color Universal Design" (2008): told apart with every common
 * colour-vision deficiency. Yellow is left out, it cannot be seen on white. On dark the same hues, lighter. */
#include "plots/figure_private.h"

static const char *const palettes[2][FIGURE_COLORS] = {
    {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#111111"},
    {"#4BA3DB", "#F0813A", "#2BC49A", "#DE9BC0", "#F0B341", "#8FD0F5", "#F2F2F2"},
};

const char *figure_color(int index, bool dark)
{
    const int wrapped = ((index % FIGURE_COLORS) + FIGURE_COLORS) % FIGURE_COLORS;

    return palettes[dark][wrapped];
}

const struct figure_theme *figure_theme(bool dark)
{
    static const struct figure_theme themes[] = {{"#222222", "#555555", "#DDDDDD", "#FFFFFF"},
                                                 {"#E6E6E6", "#ABABAB", "#3A3F44", "#16191C"}};

    return &themes[dark];
}
