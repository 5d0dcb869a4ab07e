# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" curve dsv4-flash-sparse-decode --concurrency 1,8,96
