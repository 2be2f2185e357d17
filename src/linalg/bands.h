/* Cuts a length into bands as equal as multiples of 16 can be. A function of the length alone, so
 * that results do not depend on the number of threads. Private. */
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

static inline int64_t rb_band_start(struct bands bands, int64_t index) {
    return index * bands.size;
}

static inline int64_t rb_band_size(struct bands bands, int64_t index) {
    int64_t left = bands.length - index * bands.size;
    return left < bands.size ? left : bands.size;
}

#endif
