# SPDX-License-Identifier: GPL-3.0-or-later
# The loops of PTX are told elsewhere; here the resources.
"$OCCAM" inspect tests/recorded/triton-3.6-cache --format csv | cut -d, -f1-17
