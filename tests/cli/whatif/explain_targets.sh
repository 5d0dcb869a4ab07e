# SPDX-License-Identifier: GPL-3.0-or-later
# Which earlier targets explain the gain, under both split rules; the closing part only.
"$OCCAM" whatif dsv4-flash-sparse-decode -s TARGET_CTAS=512 --explain 6..13 --across split_floor | sed -n '/^In short/,$p'
