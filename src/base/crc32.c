/* CRC-32 as gzip has it (ISO 3309), also of pieces that are joined afterwards.
 *
 * A message is a polynomial over GF(2), its CRC the rest of the division by P of degree 32; here
 * the lowest power of a polynomial stands in the highest bit. Where the processor multiplies
 * polynomials, 64 or 256 bytes are folded into as many that follow: with a message A x^d + B, A x^d
 * may be replaced by A (x^d mod P), which is 32 bits longer than A (V. Gopal et al., "Fast CRC
 * computation for generic polynomials using PCLMULQDQ", Intel 2009). Else eight bytes at a time go
 * by tables (M. Kounavis, F. Berry, "A systematic approach to building high performance software-
 * based CRC generators", 2005).
 */
#include "base.h"

#include <string.h>

enum { WIDE = 256 };
static const uint32_t POLYNOMIAL = 0xEDB88320U;

static uint32_t times_x(uint32_t a) {
    return (a >> 1) ^ (a & 1 ? POLYNOMIAL : 0);
}

/* a b mod P */
static uint32_t multiply(uint32_t a, uint32_t b) {
    uint32_t product = 0;
    for (; b; b <<= 1, a = times_x(a))
        product ^= b & 0x80000000U ? a : 0;
    return product;
}

/* x^n mod P */
static uint32_t power(uint64_t n) {
    uint32_t result = 0x80000000U, square = 0x40000000U;
    for (; n; n >>= 1, square = multiply(square, square))
        result = n & 1 ? multiply(result, square) : result;
    return result;
}

uint32_t rb_crc32_join(uint32_t first, uint32_t second, int64_t second_bytes) {
    return multiply(first, power(8 * (uint64_t)second_bytes)) ^ second;
}

#if defined __x86_64__ && defined __GNUC__
#include <immintrin.h>

static int choose_folds(void) {
    bool folds = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
    bool wide = __builtin_cpu_supports("vpclmulqdq") && __builtin_cpu_supports("avx512f");
    return folds ? 1 + wide : 0;
}

__attribute__((target("pclmul,sse4.1"))) static __m128i fold(__m128i bytes, __m128i by,
                                                             __m128i next) {
    __m128i low = _mm_clmulepi64_si128(bytes, by, 0x00);
    __m128i high = _mm_clmulepi64_si128(bytes, by, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

/* Sixteen bytes that have the rest of `count` bytes, a multiple of 64, that `rest` goes before. */
__attribute__((target("pclmul,sse4.1"))) static void fold_all(const rb_crc32 *crc, uint32_t rest,
                                                              const unsigned char *bytes,
                                                              size_t count,
                                                              unsigned char sixteen[16]) {
    const __m128i *in = (const __m128i *)(const void *)bytes;
    __m128i by = _mm_loadu_si128((const __m128i *)(const void *)crc->by_64);
    __m128i a = _mm_xor_si128(_mm_loadu_si128(in), _mm_cvtsi32_si128((int)rest));
    __m128i b = _mm_loadu_si128(in + 1), c = _mm_loadu_si128(in + 2), d = _mm_loadu_si128(in + 3);
    for (size_t at = 4; at < count / 16; at += 4) {
        a = fold(a, by, _mm_loadu_si128(in + at));
        b = fold(b, by, _mm_loadu_si128(in + at + 1));
        c = fold(c, by, _mm_loadu_si128(in + at + 2));
        d = fold(d, by, _mm_loadu_si128(in + at + 3));
    }
    by = _mm_loadu_si128((const __m128i *)(const void *)crc->by_16);
    a = fold(fold(fold(a, by, b), by, c), by, d);
    _mm_storeu_si128((__m128i *)(void *)sixteen, a);
}

/* The same of a multiple of WIDE bytes. */
__attribute__((target("avx512f,vpclmulqdq"))) static void
fold_wide(const rb_crc32 *crc, uint32_t rest, const unsigned char *bytes, size_t count,
          unsigned char sixteen[16]) {
    unsigned char wide[WIDE];
    __m512i by = _mm512_set4_epi64((int64_t)crc->by_wide[1], (int64_t)crc->by_wide[0],
                                   (int64_t)crc->by_wide[1], (int64_t)crc->by_wide[0]);
    __m512i first = _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)rest)), sums[WIDE / 64];
    for (int part = 0; part < WIDE / 64; part++) {
        sums[part] = _mm512_xor_si512(_mm512_loadu_si512(bytes + part * 64), first);
        first = _mm512_setzero_si512();
    }
    for (size_t at = WIDE; at < count; at += WIDE) {
        for (int part = 0; part < WIDE / 64; part++) {
            __m512i low = _mm512_clmulepi64_epi128(sums[part], by, 0x00);
            __m512i high = _mm512_clmulepi64_epi128(sums[part], by, 0x11);
            __m512i next = _mm512_loadu_si512(bytes + at + part * 64);
            sums[part] = _mm512_ternarylogic_epi64(low, high, next, 0x96); /* all three by xor */
        }
    }
    memcpy(wide, sums, WIDE);
    fold_all(crc, 0, wide, WIDE, sixteen);
}
#else
static int choose_folds(void) {
    return 0;
}

static void fold_all(const rb_crc32 *crc, uint32_t rest, const unsigned char *bytes, size_t count,
                     unsigned char sixteen[16]) {
}

static void fold_wide(const rb_crc32 *crc, uint32_t rest, const unsigned char *bytes, size_t count,
                      unsigned char sixteen[16]) {
    fold_all(crc, rest, bytes, count, sixteen);
}
#endif

/* What bytes are multiplied by that lie d bits before others: their first and their last eight. */
static void distance(uint64_t d, uint64_t by[2]) {
    by[0] = (uint64_t)power(d + 32) << 1;
    by[1] = (uint64_t)power(d - 32) << 1;
}

void rb_crc32_prepare(rb_crc32 *crc) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t rest = byte;
        for (int bit = 0; bit < 8; bit++)
            rest = times_x(rest);
        crc->tables[0][byte] = rest;
    }
    for (int t = 1; t < 8; t++) {
        for (int byte = 0; byte < 256; byte++) {
            uint32_t rest = crc->tables[t - 1][byte];
            crc->tables[t][byte] = (rest >> 8) ^ crc->tables[0][rest & 0xFF];
        }
    }
    distance(8 * WIDE, crc->by_wide);
    distance(512, crc->by_64);
    distance(128, crc->by_16);
    crc->folds = choose_folds();
}

static uint32_t add_by_tables(const rb_crc32 *crc, uint32_t rest, const unsigned char *bytes,
                              size_t count) {
    const uint32_t(*t)[256] = crc->tables;
    for (; count >= 8; bytes += 8, count -= 8) {
        uint32_t low = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                       (uint32_t)bytes[3] << 24;
        low ^= rest;
        rest = t[7][low & 0xFF] ^ t[6][low >> 8 & 0xFF] ^ t[5][low >> 16 & 0xFF] ^ t[4][low >> 24] ^
               t[3][bytes[4]] ^ t[2][bytes[5]] ^ t[1][bytes[6]] ^ t[0][bytes[7]];
    }
    for (; count > 0; bytes++, count--)
        rest = (rest >> 8) ^ t[0][(rest ^ *bytes) & 0xFF];
    return rest;
}

uint32_t rb_crc32_add(const rb_crc32 *crc, uint32_t before, const void *bytes, size_t count) {
    const unsigned char *at = bytes;
    unsigned char sixteen[16];
    uint32_t rest = ~before;
    for (int folds = crc->folds; folds > 0; folds--) {
        size_t size = folds == 2 ? WIDE : 64, folded = count / size * size;
        if (folded > size) {
            (folds == 2 ? fold_wide : fold_all)(crc, rest, at, folded, sixteen);
            rest = add_by_tables(crc, 0, sixteen, sizeof sixteen);
            at += folded;
            count -= folded;
        }
    }
    return ~add_by_tables(crc, rest, at, count);
}
