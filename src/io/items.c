/* Numbers as they stand in .npy and IDX files, of any type and byte order. */
#include "npy.h"

#include <math.h>
#include <string.h>

/* An item in the byte order of this machine. */
static uint64_t load(const char *item, int bytes, bool swapped) {
    uint8_t b1;
    uint16_t b2;
    uint32_t b4;
    uint64_t b8;
    switch (bytes) {
    case 1:
        memcpy(&b1, item, sizeof b1);
        return b1;
    case 2:
        memcpy(&b2, item, sizeof b2);
        return swapped ? __builtin_bswap16(b2) : b2;
    case 4:
        memcpy(&b4, item, sizeof b4);
        return swapped ? __builtin_bswap32(b4) : b4;
    default:
        memcpy(&b8, item, sizeof b8);
        return swapped ? __builtin_bswap64(b8) : b8;
    }
}

/* IEEE half precision: 1 bit sign, 5 bits exponent, 10 bits fraction. */
static double half_value(uint64_t bits) {
    int exponent = (int)(bits >> 10 & 31);
    int fraction = (int)(bits & 1023);
    double magnitude = exponent == 31  ? (fraction ? NAN : INFINITY)
                       : exponent == 0 ? ldexp(fraction, -24)
                                       : ldexp(1024 + fraction, exponent - 25);
    return bits >> 15 & 1 ? -magnitude : magnitude;
}

static double float_value(uint64_t bits, int bytes) {
    float f4;
    double f8;
    uint32_t b4 = (uint32_t)bits;
    switch (bytes) {
    case 2:
        return half_value(bits);
    case 4:
        memcpy(&f4, &b4, sizeof f4);
        return f4;
    default:
        memcpy(&f8, &bits, sizeof f8);
        return f8;
    }
}

static double item_value(rb_item h, const char *item) {
    uint64_t bits = load(item, h.bytes, h.swapped);
    int above = 64 - 8 * h.bytes; /* bits, which the sign fills */
    switch (h.kind) {
    case 'f':
        return float_value(bits, h.bytes);
    case 'i':
        return (double)((int64_t)(bits << above) >> above);
    case 'b':
        return bits != 0;
    default:
        return (double)bits;
    }
}

rb_item rb_item_of(char kind, int bytes, bool big) {
    bool other = big == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    return (rb_item){kind, bytes, bytes > 1 && other,
                     bytes < (kind == 'f' ? 8 : 4) ? RB_FLOAT32 : RB_FLOAT64};
}

void rb_items_convert(rb_item item, const char *raw, int64_t count, void *out) {
    for (int64_t i = 0; i < count; i++)
        rb_put(item.type, out, i, item_value(item, raw + i * item.bytes));
}
