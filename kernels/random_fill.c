/* SPDX-License-Identifier: GPL-3.0-or-later
 * Random inputs on the host, bit for bit those of random_fill.cu. Called by the fake device and by tests. */
#include "kernels/random_fill.h"

#include <string.h>

static uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    x ^= x >> 33;
    return x;
}

static uint64_t draw(uint64_t seed, uint64_t index)
{
    return mix(seed + (index + 1) * 0x9e3779b97f4a7c15ULL);
}

static uint16_t bfloat16_bits(uint64_t random)
{
    float value = (float)((int)(random & 255) - 128) * 0.0078125f;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static uint8_t e4m3_bits(uint64_t random)
{
    return (uint8_t)((random & 0x87) | (((random >> 8) % 7 + 3) << 3));
}

/* Each step is invertible modulo mask + 1 (a power of two): odd factors, and x ^= x >> shift. */
static uint64_t permute(uint64_t value, uint64_t mask, uint64_t key)
{
    uint64_t half = 1;
    while (half * half < mask)
        half++;
    uint32_t shift = 1;
    while ((1ULL << shift) < half)
        shift++;
    value = (value * ((key << 3 & 0xfffff8) | 5) + (key >> 24)) & mask;
    value ^= value >> shift;
    value = (value * ((key >> 12 & 0xfffff8) | 5)) & mask;
    value ^= value >> shift;
    return value & mask;
}

static uint8_t kv_row_byte(uint64_t seed, uint64_t index)
{
    uint64_t row = index / KV_ROW_BYTES, place = index % KV_ROW_BYTES;
    if (place < KV_ROW_E4M3)
        return e4m3_bits(draw(seed, index));
    if (place < KV_ROW_SCALES_OFFSET) {
        uint64_t element = (place - KV_ROW_E4M3) / 2;
        uint16_t bits = bfloat16_bits(draw(seed, row * KV_ROW_BYTES + KV_ROW_E4M3 + element));
        return (uint8_t)((place & 1) ? bits >> 8 : bits);
    }
    return place < KV_ROW_BYTES - 1 ? (uint8_t)(121 + draw(seed, index) % 6) : 0;
}

uint64_t fill_element_count(const struct fill_rule *rule, uint64_t bytes)
{
    switch (rule->format) {
    case FILL_FORMAT_WORDS:
    case FILL_FORMAT_GATHER:
        return bytes / 4;
    case FILL_FORMAT_BFLOAT16:
        return bytes / 2;
    case FILL_FORMAT_E4M3:
    case FILL_FORMAT_KV_ROW:
        return bytes;
    case FILL_FORMAT_CHAIN:
        return rule->count;
    }
    return 0;
}

void fill_host(const struct fill_rule *rule, void *out, uint64_t bytes)
{
    uint64_t elements = fill_element_count(rule, bytes);
    for (uint64_t i = 0; i < elements; i++) {
        switch (rule->format) {
        case FILL_FORMAT_WORDS:
            ((uint32_t *)out)[i] = (uint32_t)draw(rule->seed, i);
            break;
        case FILL_FORMAT_BFLOAT16:
            ((uint16_t *)out)[i] = bfloat16_bits(draw(rule->seed, i));
            break;
        case FILL_FORMAT_E4M3:
            ((uint8_t *)out)[i] = e4m3_bits(draw(rule->seed, i));
            break;
        case FILL_FORMAT_KV_ROW:
            ((uint8_t *)out)[i] = kv_row_byte(rule->seed, i);
            break;
        case FILL_FORMAT_GATHER: {
            uint64_t group = i / rule->count;
            uint64_t row = permute(i % rule->count, rule->pool - 1, draw(rule->seed, group));
            ((int32_t *)out)[i] = (int32_t)(group * rule->pool + row);
            break;
        }
        case FILL_FORMAT_CHAIN:
            ((uint32_t *)out)[i * rule->pool] =
                (uint32_t)(((i * 1664525ULL + 1013904223ULL) & (rule->count - 1)) * rule->pool);
            break;
        }
    }
}
