#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The golden scenario from question to answer. OCCAM names the program, FIGURES the folder for the figure.
set -eu
OCCAM=${OCCAM:-build/occam}
FIGURES=${FIGURES:-build/demo}
scenario=dsv4-flash-sparse-decode

heading() {
    printf '\n==> %s\n' "$1"
}
# Shows the command as a person would type it, then runs it.
show() {
    printf '$ occam %s\n' "$*"
    "$OCCAM" "$@"
}

heading '1. What does the production configuration do?'
show predict $scenario
heading '2. Would twice the warps hide the latency? (before any restart or benchmark)'
show whatif $scenario -s num_warps=8
heading '3. Would a third pipeline stage fit?'
show whatif $scenario -s num_stages=3
heading '4. Which CTA target fills the GPU?'
show sweep $scenario --vary TARGET_CTAS
heading '5. Throughput over concurrency'
show plot throughput $scenario --terminal
mkdir -p "$FIGURES"
show plot throughput $scenario --output "$FIGURES/throughput.png"
heading '6. All of it as one file to read'
show report $scenario -s num_warps=8 --output "$FIGURES/report.html"
printf '\nThe figure is in %s/throughput.png, the report beside it. Next: occam help, or change the scenario (docs/DATA.md).\n' "$FIGURES"
