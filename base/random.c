/* SPDX-License-Identifier: GPL-3.0-or-later
 * PCG32 and Halton points. Called by the interval propagation, the bootstrap and the property tests. */
#include "base/random.h"

#include "base/statistics.h"
#include "base/status.h"

/* PCG-XSH-RR 64/32, M. E. O'Neill 2014. */
void random_init(struct random_stream *stream, uint64_t seed, uint64_t sequence)
{
    stream->state = 0;
    stream->increment = (sequence << 1) | 1u;
    (void)random_uint32(stream);
    stream->state += seed;
    (void)random_uint32(stream);
}

uint32_t random_uint32(struct random_stream *stream)
{
    uint64_t before = stream->state;
    stream->state = before * UINT64_C(6364136223846793005) + stream->increment;
    uint32_t shifted = (uint32_t)(((before >> 18) ^ before) >> 27);
    uint32_t rotation = (uint32_t)(before >> 59);
    return (shifted >> rotation) | (shifted << ((32u - rotation) & 31u));
}

static uint64_t random_53_bits(struct random_stream *stream)
{
    uint64_t high = random_uint32(stream), low = random_uint32(stream);
    return ((high << 32) | low) >> 11;
}

double random_uniform(struct random_stream *stream)
{
    return (double)random_53_bits(stream) * 0x1p-53;
}

uint32_t random_below(struct random_stream *stream, uint32_t bound)
{
    if (bound == 0)
        BUG("random_below needs a bound of at least 1");
    /* Values under 2^32 mod bound are drawn again, so that what remains is a multiple of bound. */
    uint32_t threshold = (uint32_t)(0u - bound) % bound;
    for (;;) {
        uint32_t drawn = random_uint32(stream);
        if (drawn >= threshold)
            return drawn % bound;
    }
}

double random_normal(struct random_stream *stream)
{
    /* One draw by inversion keeps no second value between calls. 52 bits and a half keep 0 and 1 out. */
    return normal_quantile(((double)(random_53_bits(stream) >> 1) + 0.5) * 0x1p-52);
}

double halton(uint32_t index, uint32_t dimension)
{
    static const uint8_t primes[] = {2,  3,  5,  7,  11, 13, 17, 19, 23, 29,  31,  37,  41,  43,  47,  53,
                                     59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113, 127, 131};
    enum {
        POINTS_SKIPPED = 20
    };
    if (dimension >= sizeof primes)
        BUG("halton dimension %u", (unsigned)dimension);
    uint64_t base = primes[dimension];
    double weight = 1.0, point = 0.0;
    /* Point 0 of the sequence is 0 itself and no point of the open interval: counting starts behind it. */
    for (uint64_t rest = (uint64_t)index + 1 + POINTS_SKIPPED; rest > 0; rest /= base) {
        weight /= (double)base;
        point += weight * (double)(rest % base);
    }
    return point;
}
