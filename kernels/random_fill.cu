// SPDX-License-Identifier: GPL-3.0-or-later
// Random inputs made on the device; random_fill.c holds the same rules in C and a test compares the two texts' results.
typedef unsigned long long u64;
typedef unsigned int u32;

__device__ static u64 mix(u64 x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    x ^= x >> 33;
    return x;
}

__device__ static u64 draw(u64 seed, u64 index)
{
    return mix(seed + (index + 1) * 0x9e3779b97f4a7c15ULL);
}

__device__ static unsigned short bfloat16_bits(u64 random)
{
    float value = (float)((int)(random & 255) - 128) * 0.0078125f;
    return (unsigned short)(__float_as_uint(value) >> 16);
}

__device__ static unsigned char e4m3_bits(u64 random)
{
    return (unsigned char)((random & 0x87) | (((random >> 8) % 7 + 3) << 3));
}

__device__ static u64 permute(u64 value, u64 mask, u64 key)
{
    u64 half = 1;
    while (half * half < mask)
        half++;
    u32 shift = 1;
    while ((1ULL << shift) < half)
        shift++;
    value = (value * ((key << 3 & 0xfffff8) | 5) + (key >> 24)) & mask;
    value ^= value >> shift;
    value = (value * ((key >> 12 & 0xfffff8) | 5)) & mask;
    value ^= value >> shift;
    return value & mask;
}

extern "C" __global__ void random_fill(unsigned char *out, u64 elements, int format, u64 seed, u64 count, u64 pool)
{
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < elements; i += (u64)gridDim.x * blockDim.x) {
        u64 random = draw(seed, i);
        if (format == 0) {
            ((u32 *)out)[i] = (u32)random;
        } else if (format == 1) {
            ((unsigned short *)out)[i] = bfloat16_bits(random);
        } else if (format == 2) {
            out[i] = e4m3_bits(random);
        } else if (format == 3) {
            u64 row = i / 584, place = i % 584;
            if (place < 448) {
                out[i] = e4m3_bits(random);
            } else if (place < 576) {
                u64 element = (place - 448) / 2;
                unsigned short bits = bfloat16_bits(draw(seed, row * 584 + 448 + element));
                out[i] = (unsigned char)((place & 1) ? bits >> 8 : bits);
            } else {
                out[i] = place < 583 ? (unsigned char)(121 + random % 6) : 0;
            }
        } else if (format == 4) {
            u64 group = i / count;
            ((int *)out)[i] = (int)(group * pool + permute(i % count, pool - 1, draw(seed, group)));
        } else {
            u64 next = (i * 1664525ULL + 1013904223ULL) & (count - 1);
            ((u32 *)out)[i * pool] = (u32)(next * pool);
        }
    }
}
