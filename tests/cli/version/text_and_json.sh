# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" version
"$OCCAM" --version | head -n 1
"$OCCAM" version --format json
