/* Random numbers by counter: Philox4x32-10.
 *
 * J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2,
 * 3", SC 2011, doi:10.1145/2063384.2063405. Each value is a pure function of key and counter, so
 * threads and order of calls cannot change it.
 */
#include "base.h"

#include <math.h>

static void philox_round(uint32_t counter[4], const uint32_t key[2]) {
    uint64_t a = (uint64_t)0xD2511F53U * counter[0];
    uint64_t b = (uint64_t)0xCD9E8D57U * counter[2];
    uint32_t second = counter[1], fourth = counter[3];
    counter[0] = (uint32_t)(b >> 32) ^ second ^ key[0];
    counter[1] = (uint32_t)b;
    counter[2] = (uint32_t)(a >> 32) ^ fourth ^ key[1];
    counter[3] = (uint32_t)a;
}

/* The counter becomes 128 random bits. */
static void philox_rounds(uint64_t seed, uint32_t counter[4]) {
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    for (int round = 0; round < 10; round++) {
        philox_round(counter, key);
        key[0] += 0x9E3779B9U;
        key[1] += 0xBB67AE85U;
    }
}

/* 128 random bits of (seed; index, purpose, restart). */
static void philox(rb_stream stream, uint64_t index, uint32_t bits[4]) {
    bits[0] = (uint32_t)index;
    bits[1] = (uint32_t)(index >> 32);
    bits[2] = stream.purpose;
    bits[3] = stream.restart;
    philox_rounds(stream.seed, bits);
}

/* 53 bits of two words as a number in [0, 1). */
static double unit_interval(uint32_t high, uint32_t low) {
    uint64_t bits = ((uint64_t)high << 32 | low) >> 11;
    return (double)bits * 0x1p-53;
}

double rb_random_uniform(rb_stream stream, uint64_t index) {
    uint32_t bits[4];
    philox(stream, index, bits);
    return unit_interval(bits[0], bits[1]);
}

double rb_random_normal(rb_stream stream, uint64_t index) {
    uint32_t bits[4];
    philox(stream, index, bits);
    /* Box and Muller; 1 - u is in (0, 1], so the logarithm is finite. */
    double radius = sqrt(-2.0 * log(1.0 - unit_interval(bits[0], bits[1])));
    return radius * cos(6.283185307179586476925 * unit_interval(bits[2], bits[3]));
}

uint64_t rb_random_key(rb_stream stream, uint64_t index) {
    uint32_t bits[4];
    philox(stream, index, bits);
    return (uint64_t)bits[0] << 32 | bits[1];
}

uint32_t rb_random_word(uint64_t key, uint64_t row, uint64_t position) {
    enum { LANES = RB_RANDOM_RUN / 4 };
    uint64_t run = position / RB_RANDOM_RUN, place = position % RB_RANDOM_RUN;
    uint32_t counter[4] = {(uint32_t)(run * LANES + place % LANES), (uint32_t)row,
                           (uint32_t)(row >> 32), 0};
    philox_rounds(key, counter);
    return counter[place / LANES];
}

double rb_draw_uniform(rb_draws *draws) {
    return rb_random_uniform(draws->stream, draws->next++);
}

double rb_draw_normal(rb_draws *draws) {
    return rb_random_normal(draws->stream, draws->next++);
}

int64_t rb_draw_integer(rb_draws *draws, int64_t low, int64_t high) {
    return low + (int64_t)(rb_draw_uniform(draws) * (double)(high - low + 1));
}

void rb_draw_order(rb_draws *draws, int64_t count, int64_t *order) {
    for (int64_t i = 0; i < count; i++)
        order[i] = i;
    for (int64_t i = count - 1; i > 0; i--) {
        int64_t other = rb_draw_integer(draws, 0, i), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}
