# SPDX-License-Identifier: GPL-3.0-or-later
# Where SIGPIPE is ignored the writer sees EPIPE: quiet, but not success.
(
    trap '' PIPE
    mkfifo "$SCRATCH/pipe"
    for format in text json csv; do
        : < "$SCRATCH/pipe" &
        exec 3> "$SCRATCH/pipe"
        wait
        "$OCCAM" devices --format $format >&3
        echo "exit $?"
        exec 3>&-
    done
)
