# SPDX-License-Identifier: GPL-3.0-or-later
# A user's file takes part like a built-in one, and replaces one of its name.
sed "s|^dram_capacity_gb,96,|dram_capacity_gb,37,|" data/devices/rtx-pro-6000-blackwell-server.csv > "$SCRATCH/mine.csv"
"$OCCAM" devices mine --device-file "$SCRATCH/mine.csv" --format csv | grep '^dram_capacity' | cut -d, -f1-2
mkdir "$SCRATCH/own"
cp "$SCRATCH/mine.csv" "$SCRATCH/own/rtx-pro-6000-blackwell-server.csv"
OCCAM_DEVICE_DIR="$SCRATCH/own" "$OCCAM" devices rtx-pro-6000-blackwell-server --format csv | grep '^dram_capacity' | cut -d, -f1-2
