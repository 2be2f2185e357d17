/* CRC-32 (ISO 3309, as in gzip and PNG), eight bytes at a time by tables (Kounavis, Berry 2005).
 *
 * A CRC is linear: what a byte n comes to, with k bytes after it, is the sum (XOR) over the bits of
 * n of what they come to. POWERS has these, a line for each k, and the table follows from it.
 */
#include "base.h"

#define BIT(n, b, c) ((n) >> (b)&1 ? (c) : 0u)
#define SUM(n, a, b, c, d, e, f, g, h)                                                             \
    (BIT(n, 0, a) ^ BIT(n, 1, b) ^ BIT(n, 2, c) ^ BIT(n, 3, d) ^ BIT(n, 4, e) ^ BIT(n, 5, f) ^     \
     BIT(n, 6, g) ^ BIT(n, 7, h))
#define POWERS(n)                                                                                  \
    {                                                                                              \
        SUM(n, 0x77073096u, 0xee0e612cu, 0x076dc419u, 0x0edb8832u, 0x1db71064u, 0x3b6e20c8u,       \
            0x76dc4190u, 0xedb88320u),                                                             \
            SUM(n, 0x191b3141u, 0x32366282u, 0x646cc504u, 0xc8d98a08u, 0x4ac21251u, 0x958424a2u,   \
                0xf0794f05u, 0x3b83984bu),                                                         \
            SUM(n, 0x01c26a37u, 0x0384d46eu, 0x0709a8dcu, 0x0e1351b8u, 0x1c26a370u, 0x384d46e0u,   \
                0x709a8dc0u, 0xe1351b80u),                                                         \
            SUM(n, 0xb8bc6765u, 0xaa09c88bu, 0x8f629757u, 0xc5b428efu, 0x5019579fu, 0xa032af3eu,   \
                0x9b14583du, 0xed59b63bu),                                                         \
            SUM(n, 0x3d6029b0u, 0x7ac05360u, 0xf580a6c0u, 0x30704bc1u, 0x60e09782u, 0xc1c12f04u,   \
                0x58f35849u, 0xb1e6b092u),                                                         \
            SUM(n, 0xcb5cd3a5u, 0x4dc8a10bu, 0x9b914216u, 0xec53826du, 0x03d6029bu, 0x07ac0536u,   \
                0x0f580a6cu, 0x1eb014d8u),                                                         \
            SUM(n, 0xa6770bb4u, 0x979f1129u, 0xf44f2413u, 0x33ef4e67u, 0x67de9cceu, 0xcfbd399cu,   \
                0x440b7579u, 0x8816eaf2u),                                                         \
            SUM(n, 0xccaa009eu, 0x4225077du, 0x844a0efau, 0xd3e51bb5u, 0x7cbb312bu, 0xf9766256u,   \
                0x299dc2edu, 0x533b85dau)                                                          \
    }
#define FOUR(n) POWERS(n), POWERS((n) + 1), POWERS((n) + 2), POWERS((n) + 3)
#define SIXTEEN(n) FOUR(n), FOUR((n) + 4), FOUR((n) + 8), FOUR((n) + 12)
#define SIXTY_FOUR(n) SIXTEEN(n), SIXTEEN((n) + 16), SIXTEEN((n) + 32), SIXTEEN((n) + 48)

/* table[n][k]: a byte n with k bytes after it. */
static const uint32_t table[256][8] = {SIXTY_FOUR(0u), SIXTY_FOUR(64u), SIXTY_FOUR(128u),
                                       SIXTY_FOUR(192u)};

uint32_t rb_crc32(uint32_t before, const void *bytes, size_t size) {
    const unsigned char *p = bytes;
    uint32_t sum = ~before;
    for (; size >= 8; size -= 8, p += 8) {
        sum = table[(sum ^ p[0]) & 255][7] ^ table[(sum >> 8 ^ p[1]) & 255][6] ^
              table[(sum >> 16 ^ p[2]) & 255][5] ^ table[sum >> 24 ^ p[3]][4] ^ table[p[4]][3] ^
              table[p[5]][2] ^ table[p[6]][1] ^ table[p[7]][0];
    }
    for (; size > 0; size--, p++) {
        sum = sum >> 8 ^ table[(sum ^ *p) & 255][0];
    }
    return ~sum;
}

/* Polynomials modulo the CRC's, bits reversed: the highest bit is 1. */
static uint32_t multiply(uint32_t a, uint32_t b) {
    uint32_t product = 0;
    for (; a; a <<= 1) {
        product ^= a >> 31 ? b : 0;
        b = b >> 1 ^ (b & 1 ? 0xedb88320u : 0);
    }
    return product;
}

uint32_t rb_crc32_combine(uint32_t first, uint32_t second, int64_t size) {
    uint32_t shift = 1u << 31, byte = 1u << 23; /* x^0; x^8 */
    for (; size > 0; size >>= 1) {
        shift = size & 1 ? multiply(shift, byte) : shift;
        byte = multiply(byte, byte);
    }
    return multiply(shift, first) ^ second;
}
