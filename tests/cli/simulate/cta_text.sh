# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" simulate cta stream-copy --calibration none
