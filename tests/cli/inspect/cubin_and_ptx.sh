# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" inspect tests/recorded/triton-3.6-cache/S5SMIEUX7XAWR5AMUEUQCW4FF5J4KQCPWYVN3Q2JVSXLAQH2LD5A/gqa_kernel.ptx \
    tests/recorded/triton-3.6-cache/S5SMIEUX7XAWR5AMUEUQCW4FF5J4KQCPWYVN3Q2JVSXLAQH2LD5A/gqa_kernel.cubin
