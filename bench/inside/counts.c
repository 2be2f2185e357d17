/* Counts with Poisson noise. */
#include "counts.h"
#include "base/base.h"

#include <math.h>
#include <stdlib.h>

/* D. Knuth, "The art of computer programming" 2, 3.4.1: of small means. */
static float draw_poisson(rb_draws *draws, double mean) {
    float count = 0;
    for (double left = rb_draw_uniform(draws); left > exp(-mean); left *= rb_draw_uniform(draws))
        count++;
    return count;
}

rb_error counts_draw(rb_context *ctx, int64_t seed, rb_matrix **samples, float **counts) {
    int64_t n = rb_matrix_samples(*samples), m = rb_matrix_features(*samples);
    rb_draws draws = {.stream = {.seed = (uint64_t)seed, .purpose = RB_RANDOM_SAMPLE_NOISE}};
    *counts = malloc((size_t)(n * m) * sizeof **counts);
    if (!*counts) return RB_ERROR_MEMORY;
    for (int64_t e = 0; e < n * m; e++)
        (*counts)[e] = draw_poisson(&draws, rb_matrix_at(*samples, e / m, e % m));
    rb_matrix_free(*samples);
    *samples = NULL;
    return rb_matrix_dense(ctx, RB_FLOAT32, n, m, *counts, m, 1, samples);
}
