/* Bars: pictures in which horizontal and vertical bars appear independently and cross.
 *
 * P. Foeldiak, "Forming sparse representations by local anti-Hebbian learning", Biological
 * Cybernetics 64 (1990), doi:10.1007/BF02331346; wide bars that overlap with their neighbours:
 * J. Luecke, "Hierarchical self-organization of minicolumnar receptive fields", Neural Networks 17
 * (2004), doi:10.1016/j.neunet.2004.07.008. With value 10, probability 0.2 and noise 2 these are
 * the data of J. Luecke, J. Eggert, "Expectation truncation and the benefits of preselection in
 * training generative models", JMLR 11 (2010), sections 4.1.1 (sum), 4.2.1 (maximum) and 4.3.1
 * (half of the bars negative; the paper does not say which, here it is every second one).
 * With heights, bars are causes of more values than two (section 5.2).
 */
#include "simulate.h"

#include <math.h>

int64_t rb_bars_count(int64_t size, int64_t width) {
    return 2 * (size - width + 1);
}

/* The horizontal bars from top to bottom, then the vertical ones from left to right. */
static void draw_fields(const rb_bars_plan *plan, double *fields) {
    int64_t side = plan->size, places = side - plan->width + 1;
    for (int64_t b = 0; b < 2 * places; b++) {
        double value = plan->signs && b % 2 == 1 ? -plan->value : plan->value;
        int64_t place = b % places;
        for (int64_t along = 0; along < side; along++) {
            for (int64_t across = place; across < place + plan->width; across++) {
                int64_t pixel = b < places ? across * side + along : along * side + across;
                fields[b * side * side + pixel] = value;
            }
        }
    }
}

static void add_bar(const double *field, double height, bool maximum, double *sample,
                    int64_t n_pixels) {
    for (int64_t d = 0; d < n_pixels; d++) {
        double value = height * field[d];
        if (maximum)
            sample[d] = value > sample[d] ? value : sample[d];
        else
            sample[d] += value;
    }
}

/* Every sample takes the same number of draws, whatever the noise. */
static void draw_sample(const rb_bars_plan *plan, const double *fields, int64_t bars,
                        rb_draws *draws, double *state, double *sample) {
    int64_t n_pixels = plan->size * plan->size;
    for (int64_t b = 0; b < bars; b++) {
        double u = rb_draw_uniform(draws), p = plan->probability;
        double last = fmax(1, (double)plan->heights);
        state[b] = u < p ? fmin(floor(u / p * last) + 1, last) : 0;
        if (state[b] > 0) add_bar(fields + b * n_pixels, state[b], plan->maximum, sample, n_pixels);
    }
    for (int64_t d = 0; d < n_pixels; d++)
        sample[d] += plan->noise_sd * rb_draw_normal(draws);
}

rb_error rb_generate_bars(rb_context *ctx, const rb_bars_plan *plan, rb_matrix **matrix,
                          rb_matrix **fields, rb_matrix **states) {
    int64_t bars = rb_bars_count(plan->size, plan->width);
    int64_t n_pixels = plan->size * plan->size;
    *matrix = *fields = *states = NULL;
    rb_error err = rb_matrix_new_dense(ctx, RB_FLOAT64, bars, n_pixels, fields);
    err = err ? err : rb_matrix_new_dense(ctx, RB_FLOAT64, plan->n_samples, bars, states);
    err = err ? err : rb_matrix_new_dense(ctx, RB_FLOAT64, plan->n_samples, n_pixels, matrix);
    if (err) {
        rb_matrix_free(*fields);
        rb_matrix_free(*states);
        *fields = *states = NULL;
        return err;
    }
    rb_draws draws = {.stream = {.seed = plan->seed, .purpose = RB_RANDOM_SIMULATE}};
    double *field = (double *)(*fields)->values, *state = (double *)(*states)->values;
    double *sample = (double *)(*matrix)->values;
    draw_fields(plan, field);
    for (int64_t n = 0; n < plan->n_samples; n++)
        draw_sample(plan, field, bars, &draws, state + n * bars, sample + n * n_pixels);
    return RB_OK;
}
