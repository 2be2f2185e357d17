/* Cuts a length into bands as equal as multiples of 16 can be. A function of the length alone, so
 * that results do not depend on the number of threads. */
#ifndef RB_LINALG_BANDS_H
#define RB_LINALG_BANDS_H

#include <stdint.h>

struct bands {
    int64_t length, size, count;
};

enum { RB_BAND_STEP = 16 };

/* `count` bands or a little fewer. */
static inline struct bands rb_cut(int64_t length, int64_t count) {
    int64_t steps = (length + count * RB_BAND_STEP - 1) / (count * RB_BAND_STEP);
    int64_t size = steps < 1 ? RB_BAND_STEP : steps * RB_BAND_STEP;
    return (struct bands){length, size, (length + size - 1) / size};
}

/* For products: wide, so that packing the operands costs the BLAS little (bands of 256 cost a fifth
 * more time than bands of 400 to 512), but at least `least` where they are not too narrow then. */
static inline int64_t rb_band_count(int64_t length, int64_t min) {
    enum { BAND = 640, NARROW = 128 };
    int64_t count = (length + BAND / 2) / BAND;
    count = count < 1 ? 1 : count;
    return count < min && length >= 2 * NARROW ? min : count;
}

static inline struct bands rb_cut_wide(int64_t length) {
    return rb_cut(length, rb_band_count(length, 2));
}

static inline int64_t rb_band_start(struct bands bands, int64_t index) {
    return index * bands.size;
}

static inline int64_t rb_band_size(struct bands bands, int64_t index) {
    int64_t left = bands.length - index * bands.size;
    return left < bands.size ? left : bands.size;
}

#endif
