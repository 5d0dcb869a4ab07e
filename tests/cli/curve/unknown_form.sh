# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" curve dsv4-flash-sparse-decode --form cubic
