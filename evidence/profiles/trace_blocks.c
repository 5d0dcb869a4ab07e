/* SPDX-License-Identifier: GPL-3.0-or-later
 * Masks of 64 bytes by arithmetic on eight words; where the processor compares 16 bytes at once (every x86-64), so. */
#include "evidence/profiles/trace_blocks.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define EVERY_BYTE(byte) (0x0101010101010101U * (uint64_t)(unsigned char)(byte))

struct block_masks {
    uint64_t quotes, line_feeds, braces;
    bool has_backslash;
};

/* The high bit of each byte of `word` that is zero. */
static inline uint64_t zero_bytes(uint64_t word)
{
    const uint64_t low = EVERY_BYTE(0x7f);
    return ~(((word & low) + low) | word | low);
}

/* The high bits of the eight bytes, first byte lowest. */
static inline uint64_t gather(uint64_t high_bits)
{
    return ((high_bits >> 7) * 0x0102040810204080U) >> 56;
}

static inline uint64_t load_word(const char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static inline struct block_masks masks_by_words(const char bytes[TRACE_BLOCK_BYTES])
{
    struct block_masks masks = {0};
    uint64_t backslashes = 0;
    for (unsigned i = 0; i < TRACE_BLOCK_BYTES; i += 8) {
        uint64_t word = load_word(bytes + i);
        masks.quotes |= gather(zero_bytes(word ^ EVERY_BYTE('"'))) << i;
        masks.line_feeds |= gather(zero_bytes(word ^ EVERY_BYTE('\n'))) << i;
        /* { is 7b, } is 7d: without the bits in which they differ both are 79, and so are y and DEL. */
        masks.braces |= gather(zero_bytes((word & ~EVERY_BYTE(0x06)) ^ EVERY_BYTE(0x79))) << i;
        uint64_t slashed = word ^ EVERY_BYTE('\\');
        backslashes |= (slashed - EVERY_BYTE(0x01)) & ~slashed & EVERY_BYTE(0x80); /* zero if there is none */
    }
    masks.has_backslash = backslashes != 0;
    return masks;
}

#ifdef __SSE2__
static inline uint64_t equal_bytes(__m128i bytes, char wanted)
{
    return (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(wanted)));
}

static inline struct block_masks masks_of(const char bytes[TRACE_BLOCK_BYTES])
{
    struct block_masks masks = {0};
    uint64_t backslashes = 0;
    for (unsigned i = 0; i < TRACE_BLOCK_BYTES; i += 16) {
        __m128i part = _mm_loadu_si128((const __m128i *)(const void *)(bytes + i));
        masks.quotes |= equal_bytes(part, '"') << i;
        masks.line_feeds |= equal_bytes(part, '\n') << i;
        masks.braces |= equal_bytes(_mm_andnot_si128(_mm_set1_epi8(0x06), part), 0x79) << i;
        backslashes |= equal_bytes(part, '\\');
    }
    masks.has_backslash = backslashes != 0;
    return masks;
}
#else
static inline struct block_masks masks_of(const char bytes[TRACE_BLOCK_BYTES])
{
    return masks_by_words(bytes);
}
#endif

/* Bit i: an odd number of bits 0..i is set. */
static inline uint64_t parity_up_to(uint64_t bits)
{
    bits ^= bits << 1;
    bits ^= bits << 2;
    bits ^= bits << 4;
    bits ^= bits << 8;
    bits ^= bits << 16;
    bits ^= bits << 32;
    return bits;
}

/* Bits of what is in strings, byte by byte: for blocks with escapes, and where a line ends in a string. */
static uint64_t strings_slowly(const char bytes[TRACE_BLOCK_BYTES], bool *is_in_string, bool *is_escaped)
{
    uint64_t strings = 0;
    bool in_string = *is_in_string, escaped = *is_escaped;
    for (unsigned i = 0; i < TRACE_BLOCK_BYTES; i++) {
        char c = bytes[i];
        if (escaped && c != '\n') {
            escaped = false;
        } else if (c == '\n') {
            in_string = escaped = false;
        } else if (c == '"') {
            in_string = !in_string;
        } else if (c == '\\') {
            escaped = in_string;
        }
        strings |= (uint64_t)in_string << i;
    }
    *is_in_string = in_string;
    *is_escaped = escaped;
    return strings;
}

static inline uint64_t braces_of(const struct block_masks *masks, const char bytes[TRACE_BLOCK_BYTES],
                                 bool *is_in_string, bool *is_escaped)
{
    uint64_t strings = parity_up_to(masks->quotes) ^ (0 - (uint64_t)*is_in_string);
    if (masks->has_backslash || *is_escaped || (strings & masks->line_feeds) != 0) {
        strings = strings_slowly(bytes, is_in_string, is_escaped);
    } else {
        *is_in_string = strings >> 63 != 0;
    }
    return masks->braces & ~strings;
}

uint64_t trace_block_braces(const char bytes[TRACE_BLOCK_BYTES], bool *is_in_string, bool *is_escaped)
{
    struct block_masks masks = masks_of(bytes);
    return braces_of(&masks, bytes, is_in_string, is_escaped);
}

uint64_t trace_block_braces_by_words(const char bytes[TRACE_BLOCK_BYTES], bool *is_in_string, bool *is_escaped)
{
    struct block_masks masks = masks_by_words(bytes);
    return braces_of(&masks, bytes, is_in_string, is_escaped);
}
