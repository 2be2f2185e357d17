/* Units that follow the level of the samples: what all features of a sample share. */
#include "modules.h"

#include <math.h>

enum { MIN_SAMPLES = 10, MIN_FEATURES = 20 };
static const double follows = 0.8;

typedef struct levels {
    int64_t n, n_units;
    double sum, squares;                 /* of the means of samples */
    double *codes, *code_squares, *both; /* n_units: of codes, and of codes times means */
    rb_dense row;
} levels;

static double mean_of(const rb_dense row) {
    double sum = 0;
    int64_t there = 0;
    for (int64_t k = 0; k < row.cols; k++) {
        double value = rb_dense_get(row, 0, k);
        sum += isnan(value) ? 0 : value;
        there += !isnan(value);
    }
    return there ? sum / (double)there : 0;
}

static rb_error add_block(void *user, const rb_block *block, const rb_matrix *codes) {
    levels *l = user;
    for (int64_t i = 0; i < block->n_samples; i++) {
        rb_block_rows(block, i, l->row);
        double mean = mean_of(l->row);
        l->sum += mean;
        l->squares += mean * mean;
        for (int64_t u = 0; u < l->n_units; u++) {
            double code = rb_matrix_at(codes, i, u);
            l->codes[u] += code;
            l->code_squares[u] += code * code;
            l->both[u] += code * mean;
        }
    }
    l->n += block->n_samples;
    return RB_OK;
}

/* The correlation of a unit's codes with the means; 0: one of them does not vary. */
static double correlation_of(const levels *l, int64_t u) {
    double n = (double)l->n, together = n * l->both[u] - l->codes[u] * l->sum;
    double squares =
        (n * l->squares - l->sum * l->sum) * (n * l->code_squares[u] - l->codes[u] * l->codes[u]);
    return squares > 0 ? together / sqrt(squares) : 0;
}

static void tell(rb_context *ctx, const levels *l, int64_t *count) {
    for (int64_t u = 0; l->n >= MIN_SAMPLES && u < l->n_units; u++)
        *count += fabs(correlation_of(l, u)) > follows;
    if (*count > 0) {
        rb_log(ctx, RB_LOG_WARNING,
               "%lld of %lld units follow%s the level of the samples (correlation above %g with "
               "their means): fit with `centre-samples` set to median to take it out",
               (long long)*count, (long long)l->n_units, *count == 1 ? "s" : "", follows);
    }
}

rb_error rb_units_of_level(rb_context *ctx, const rb_model *model, rb_source *source,
                           int64_t *count) {
    const rb_preprocess *p = model->preprocess;
    levels l = {.n_units = rb_model_units(model)};
    *count = 0;
    if (p->n_features < MIN_FEATURES || p->options.centre == RB_CENTRE_NONE ||
        p->options.centre_samples != RB_CENTRE_SAMPLES_NONE)
        return RB_OK;
    rb_scratch scratch = {.ctx = ctx};
    l.codes = rb_take(&scratch, l.n_units, sizeof *l.codes);
    l.code_squares = rb_take(&scratch, l.n_units, sizeof *l.code_squares);
    l.both = rb_take(&scratch, l.n_units, sizeof *l.both);
    rb_dense_take(&scratch, model->type, 1, p->n_features, &l.row);
    rb_error err = scratch.err;
    err = err ? err : rb_encode_blocks(ctx, model, source, add_block, &l);
    if (!err) tell(ctx, &l, count);
    rb_error end = rb_scratch_end(&scratch);
    return err ? err : end;
}
