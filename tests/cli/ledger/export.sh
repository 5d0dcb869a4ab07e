# SPDX-License-Identifier: GPL-3.0-or-later
# The text names every column; times and the ledger's place are this run's own.
export OCCAM_LEDGER=$SCRATCH/l.sqlite
"$OCCAM" ledger 2>&1 | sed "s|$SCRATCH|.|"
"$OCCAM" hypothesis "block_h=16 is slightly slower" --scenario dsv4-flash-sparse-decode --change block_h=16 \
    --concurrency 8 > /dev/null
"$OCCAM" ledger export | sed 's/created: .*/created: TIME/; s/model: .*/model: MODEL/; s/hash: .*/hash: HASH/'
"$OCCAM" ledger export --table prediction --format csv | sed -n 1p
echo "not a ledger, but long enough to look at, and then some more of it" > "$SCRATCH/l.txt"
"$OCCAM" ledger --ledger "$SCRATCH/l.txt" 2>&1 | sed "s|$SCRATCH|.|"
