/* Samples that are alike where they stand side by side in the data. */
#include "study.h"

#include <math.h>

/* The cosine of two samples. */
static double cosine(const rb_preprocess *p, const rb_matrix *x, int64_t a, int64_t b) {
    double product = 0, first = 0, second = 0;
    for (int64_t k = 0; k < p->n_features; k++) {
        double u = rb_get(x->type, x->values, a * p->n_features + k) - p->centre[k];
        double v = rb_get(x->type, x->values, b * p->n_features + k) - p->centre[k];
        double scale = 1 / (p->scale[k] * p->scale[k]);
        product += u * v * scale;
        first += u * u * scale;
        second += v * v * scale;
    }
    return first > 0 && second > 0 ? product / sqrt(first * second) : 0;
}

bool rb_neighbours_alike(const rb_preprocess *p, const rb_matrix *x, double *neighbours,
                         double *others) {
    enum { PAIRS = 1000, DEVIATIONS = 4 };
    rb_draws draws = {.stream = {.seed = 1, .purpose = RB_RANDOM_CHECK}};
    int64_t n = x->n_samples, pairs = n - 1 < PAIRS ? n - 1 : PAIRS;
    double sum = 0, squares = 0;
    *neighbours = 0;
    for (int64_t i = 0; i < pairs; i++) {
        int64_t a = i * (n - 1) / pairs, c = rb_draw_integer(&draws, 0, n - 1);
        int64_t d = (c + rb_draw_integer(&draws, 1, n - 1)) % n;
        double other = cosine(p, x, c, d);
        *neighbours += cosine(p, x, a, a + 1) / (double)pairs;
        sum += other;
        squares += other * other;
    }
    double count = (double)pairs;
    *others = sum / count;
    double error = sqrt(2 * fmax(squares / count - *others * *others, 0) / count);
    return pairs > 2 && *neighbours - *others > DEVIATIONS * error;
}
