# SPDX-License-Identifier: GPL-3.0-or-later
# One line each, and the exit code.
try() {
    "$OCCAM" simulate "$@" 2>&1
    echo "exit $?"
}
try
try ctas
try cta
try cta no-such-scenario
try cta stream-copy --seeds 3
try cta stream-copy --jitter 2
try cta stream-copy --jitter 0.1 --seeds 0
try cta stream-copy --sms-per-gpc 0
try cta stream-copy --device sm_120
try cta stream-copy --timeline "$SCRATCH" | sed "s|$SCRATCH|FOLDER|"
