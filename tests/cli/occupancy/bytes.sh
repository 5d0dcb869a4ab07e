# SPDX-License-Identifier: GPL-3.0-or-later
# Bytes with a unit; KB and MB mean two things each and are not guessed.
ask() {
    "$OCCAM" occupancy --device h200 --threads 128 --registers 64 --smem "$1" --format csv 2>&1 | tail -1 | cut -c1-120
}
for text in 49152 49152B 48KiB 0.046875MiB 48KB 1MB 48kib 0.3B -1KiB KiB ""; do
    echo "$text: $(ask "$text")"
done
