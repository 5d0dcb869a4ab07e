#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# device_run.sh [--budget S] [--phases "check micro waves ..."] [--seconds S] [--repeats N]: runs on the GPU machine from the
# folder that `make portable` fills (dist/occam): correctness of every kernel, then the campaigns of plans/, each
# with its share of the budget. Results go to $OUT (default ./out) as one archive and one log; --resume FILE.tgz goes on
# from an earlier archive.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-out}
budget=240
phases="check micro waves"
seconds=0.05
repeats=1
resume=
while [ $# -gt 1 ]; do
    case $1 in
    --budget) budget=$2 ;;
    --phases) phases=$2 ;;
    --seconds) seconds=$2 ;;
    --repeats) repeats=$2 ;;
    --resume) resume=$2 ;;
    *) echo "device_run: unknown option $1" >&2; exit 2 ;;
    esac
    shift 2
done
start=$(date +%s)
mkdir -p "$out"
work=$(mktemp -d)
results=$work/results
mkdir -p "$results"
[ -n "$resume" ] && tar -xzf "$resume" -C "$work"
log=$out/device_run.log
cache=${TMPDIR:-/tmp}/occam-code
occam=$here/occam
export LD_LIBRARY_PATH=$here/lib:/usr/local/cuda/lib64:/usr/local/nvidia/lib64:${LD_LIBRARY_PATH:-}

left() { echo $((start + budget - $(date +%s))); }
say() { echo "$*" | tee -a "$log"; }
save() { tar -czf "$out/results.tgz" -C "$work" results; }

nvidia-smi --query-gpu=name,driver_version,compute_cap,clocks.sm,clocks.mem,temperature.gpu,power.draw,power.limit,ecc.mode.current,mig.mode.current \
    --format=csv > "$results/environment.csv" 2>&1
say "$(cat "$results/environment.csv")"
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1 | tr -d '. \r')
if [ -z "$capability" ]; then
    say 'device_run: no GPU found by nvidia-smi'
    exit 4
fi
nvrtc=()
if ! ldconfig -p 2>/dev/null | grep -q libnvrtc.so && ! ls /usr/local/cuda/lib64/libnvrtc.so* >/dev/null 2>&1; then
    found=$(find / -xdev -name 'libnvrtc.so.1[23]' -print -quit 2>/dev/null)
    [ -n "$found" ] && nvrtc=(--nvrtc "$found") && export LD_LIBRARY_PATH=$(dirname "$found"):$LD_LIBRARY_PATH
fi

# Compiling takes most of the host's time: all cores, before the GPU is touched.
compile() {
    local jobs i
    jobs=$(nproc)
    for ((i = 0; i < jobs; i++)); do
        "$occam" measure "$1" --compile-only --arch "$capability" --cache "$cache" --shard "$i/$jobs" "${nvrtc[@]}" \
            --out "$work/compiled.$i" 2>> "$log" &
    done
    wait
    rm -rf "$work"/compiled.* # the rows hold the resources; this filled the cache
    say "$(basename "$1"): compiled after $(($(date +%s) - start)) s"
}

# Hardware counters of every launch of the plan's kernels, caches flushed before each pass (cold), clocks as they are. One
# collection, three tables: figures by section, one wide row per launch, and stall samples by instruction.
profile() {
    local ncu page names sections=() report=$results/profile section
    ncu=$(command -v ncu || ls -1 /usr/local/cuda*/bin/ncu /opt/nvidia/nsight-compute/*/ncu 2>/dev/null | tail -n 1)
    if [ -z "$ncu" ]; then
        say 'profile: ncu was not found'
        return
    fi
    for section in SpeedOfLight WarpStateStats SchedulerStats MemoryWorkloadAnalysis MemoryWorkloadAnalysis_Tables \
        ComputeWorkloadAnalysis InstructionStats LaunchStats Occupancy SourceCounters; do
        sections+=(--section "$section")
    done
    names=$(sed -n 's/^\([a-z_]*\) .*/\1/p' "$1" | sort -u | paste -s -d '|')
    timeout "$2" "$ncu" --clock-control none --cache-control all "${sections[@]}" -k "regex:^($names)\$" --force-overwrite \
        -o "$report" "$occam" measure "$1" --check-only --cache "$cache" "${nvrtc[@]}" > "$results/profile.log" 2>&1
    say "ncu: exit $?; $(grep -E 'ERR_|==ERROR==|No kernels' "$results/profile.log" | head -n 1)"
    [ -f "$report.ncu-rep" ] || return
    for page in details raw source; do
        "$ncu" --import "$report.ncu-rep" --page "$page" --csv --print-units base 2>> "$log" | grep -v '^==' \
            > "$out/profile-$page.csv"
        say "profile-$page.csv: $(wc -l < "$out/profile-$page.csv") lines"
    done
    grep -v '^ *#' "$1" | grep . > "$out/profile-plan.txt"
}

# The budget is shared evenly by what is left to do.
count=$(echo "$phases" | wc -w)
for phase in $phases; do
    plan=$here/plans/$phase.plan
    if [ ! -f "$plan" ]; then say "device_run: no plan $phase"; exit 2; fi
    compile "$plan"
    share=$(($(left) / count))
    count=$((count - 1))
    [ "$share" -lt 5 ] && say "$phase: no time left" && continue
    if [ "$phase" = sanitize ]; then
        for tool in memcheck racecheck; do
            timeout "$share" compute-sanitizer --tool "$tool" --error-exitcode 9 "$occam" measure "$plan" --check-only --cache "$cache" \
                "${nvrtc[@]}" > "$results/sanitizer-$tool.txt" 2>&1
            say "compute-sanitizer $tool: exit $?; $(tail -n 2 "$results/sanitizer-$tool.txt" | tr '\n' ' ')"
        done
        save
        continue
    fi
    if [ "$phase" = profile ]; then
        profile "$plan" "$share"
        save
        continue
    fi
    extra=()
    [ "$phase" = check ] && extra=(--check-only)
    "$occam" measure "$plan" --out "$results/$phase" --resume --budget "${share}s" --config-limit 20s \
        --sample-time "${seconds}s" --repeats "$repeats" --reference-every 40 --cache "$cache" "${nvrtc[@]}" "${extra[@]}" \
        2>&1 | tee -a "$log"
    save
done
say "all phases after $(($(date +%s) - start)) s"
python3 "$here/summary.py" "$results" 2>&1 | tee "$out/summary.txt"
save
