/* Codes of two models of the same samples, unit by unit. */
#include "agreement.h"

#include "../bench.h"
#include "modules/modules.h"

#include <math.h>
#include <stdlib.h>

struct rows {
    double *values;
    int64_t units;
};

static rb_error take(void *user, int64_t first, const rb_matrix *rows) {
    const struct rows *out = user;
    for (int64_t i = 0; i < rb_matrix_samples(rows); i++)
        for (int64_t j = 0; j < out->units; j++)
            out->values[(first + i) * out->units + j] = rb_matrix_at(rows, i, j);
    return RB_OK;
}

bench_codes bench_codes_of(rb_context *ctx, const rb_model *model, rb_source *source) {
    int64_t n = rb_source_samples(source), l = rb_model_units(model);
    struct rows all = {bench_take((size_t)(n * l), sizeof(double)), l};
    bench_codes codes = {bench_take((size_t)(n * l), sizeof(double)), 0};
    bench_check(ctx, rb_encode(ctx, model, source, take, &all));
    for (int64_t j = 0; j < l; j++) {
        double *row = codes.values + codes.units * n, mean = 0, squares = 0;
        for (int64_t i = 0; i < n; i++) {
            row[i] = all.values[i * l + j];
            mean += row[i] / (double)n;
        }
        for (int64_t i = 0; i < n; i++) {
            row[i] -= mean;
            squares += row[i] * row[i];
        }
        for (int64_t i = 0; i < n && squares > 0; i++)
            row[i] /= sqrt(squares);
        codes.units += squares > 0;
    }
    free(all.values);
    return codes;
}

double bench_match(rb_context *ctx, const bench_codes *a, const bench_codes *b, int64_t n) {
    int64_t max = a->units > b->units ? a->units : b->units;
    double *gain = bench_take((size_t)(a->units * b->units + 1), sizeof *gain), sum = 0;
    int64_t *partner = bench_take((size_t)a->units + 1, sizeof *partner);
    for (int64_t j = 0; j < a->units; j++) {
        for (int64_t k = 0; k < b->units; k++) {
            double product = 0;
            for (int64_t i = 0; i < n; i++)
                product += a->values[j * n + i] * b->values[k * n + i];
            gain[j * b->units + k] = product;
        }
    }
    bench_check(ctx, rb_assign(ctx, a->units, b->units, gain, partner));
    for (int64_t j = 0; j < a->units; j++)
        sum += partner[j] >= 0 ? gain[j * b->units + partner[j]] : 0;
    free(gain);
    free(partner);
    return max > 0 ? sum / (double)max : 0;
}
