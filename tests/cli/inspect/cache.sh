# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" inspect tests/recorded/triton-3.6-cache
