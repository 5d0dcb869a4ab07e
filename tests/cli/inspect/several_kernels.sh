# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" inspect tests/recorded/nvcc-13.0/probe-sm_120a.cubin tests/recorded/nvcc-13.0/probe-sm_90-rdc.cubin
