# SPDX-License-Identifier: GPL-3.0-or-later
# Wrong results, crashes and broken launches cost one configuration and are said; a wrong one makes the exit code 1.
cd "$SCRATCH" || exit 1
try() {
    fault=$1
    shift
    "$OCCAM" measure launch_chain -s launches=2 -s ctas=1..3 --device-backend fake --sample-time 1ms --fake-fault "$fault" "$@" > out
    code=$?
    sed 's/[0-9.]* s$/T s/' out
    echo "exit $code"
}
try wrong@3 --out wrong
try crash@3 --out crash
try launch-failure@2 --out launch
try not-tried@2 --out host
try hang@3 --out hang --config-limit 300ms
try wrong@2 --check-only
try hang@1 --out none --config-limit 300ms --limit 1
cut -d, -f5,6 crash/launch_chain.csv
