// SPDX-License-Identifier: GPL-3.0-or-later
// What does a launch cost? A kernel that does next to nothing, launched many times in a row.
extern "C" __global__ void launch_chain(unsigned *written)
{
    if (threadIdx.x == 0)
        written[blockIdx.x] = blockIdx.x;
}
