# SPDX-License-Identifier: GPL-3.0-or-later
# What TAB offers. The last word is the one being completed; files and folders depend on the place: an empty folder.
command -v bash > /dev/null || exit 1
completion=$PWD/completions/occam.bash
cat > "$SCRATCH/ask.bash" <<'BASH'
source "$1"
shift
COMP_WORDS=("$OCCAM" "$@")
COMP_CWORD=$#
_occam
printf '%s:' "$*"
printf ' %s' "${COMPREPLY[@]}"
echo
BASH
mkdir "$SCRATCH/empty"
cd "$SCRATCH/empty" || exit
ask() { bash "$SCRATCH/ask.bash" "$completion" "$@" 2>&1 | cut -c 1-150; }
ask wh
ask plot ''
ask plot throughput ''
ask predict ''
ask predict tri
ask predict -s ''
ask predict triton-gemm -s ''
ask plot throughput triton-gemm -s num
ask predict triton-gemm -s BM = ''
ask predict triton-gemm -s BM =
ask predict triton-gemm --format = js
ask predict triton-gemm --level ''
ask predict triton-gemm --device rtx-pro-6000
ask sweep triton-gemm --vary B
ask curve triton-gemm --form pa
ask sweep triton-gemm --ob
ask predict triton-gemm --free --dev
ask help sw
