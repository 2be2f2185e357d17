/* Moments of codes of which most are 0, V'M and M'M: for each unit the samples in which it is not 0
 * are listed, SAMPLES at a time, so that their rows of V and M are in the cache, and are added up.
 *
 * A list is a row of M', compressed, and U' and S are products with M'. The order of their sums
 * follows from the shape and from which codes are 0: how units are cut shows in no value.
 */
#include "linalg.h"

/* The samples of a list; units that a task has at most, so that V is read few times; units whose
 * rows of S end at the same column. */
enum { SAMPLES = 64, UNITS = 512, ROWS = 64 };
/* An addition by lists takes half as long again as one of a dense product, twice as long where rows
 * of V do not begin with a line of the cache; and U' costs as much as some samples. U'
 * and S are read and written for each list: they are to stay in the last cache. */
static const double FEW = 0.3;
enum { LEAST_UNITS = 32, LEAST_SAMPLES = 512, MOST_BYTES = 1 << 23, EVERY = 32 };

/* What a worker has: M compressed by samples, and by units; and some columns of U', as rows. */
struct lists {
    int64_t *samples, *units; /* where the rows begin */
    int32_t *sample_columns, *unit_columns;
    void *sample_values, *unit_values;
    rb_dense features;
};

struct moments {
    rb_context *ctx;
    double alpha;
    rb_dense v, m, turned, u, s; /* turned: U' of this call */
    struct bands units, features;
    struct lists *of;
};

static void take_lists(rb_scratch *scratch, rb_type type, int64_t units, struct lists *lists) {
    int64_t entries = SAMPLES * units;
    lists->samples = rb_take(scratch, SAMPLES + 1, sizeof *lists->samples);
    lists->units = rb_take(scratch, units + 1, sizeof *lists->units);
    lists->sample_columns = rb_take(scratch, entries, sizeof *lists->sample_columns);
    lists->unit_columns = rb_take(scratch, entries, sizeof *lists->unit_columns);
    lists->sample_values = rb_take(scratch, entries, rb_type_size(type));
    lists->unit_values = rb_take(scratch, entries, rb_type_size(type));
}

/* (alpha M)', compressed. */
static rb_csr list(const struct moments *f, rb_dense m, const struct lists *lists) {
    rb_csr samples = rb_csr_list(f->ctx, f->alpha, m, lists->samples, lists->sample_columns,
                                 lists->sample_values);
    rb_csr_transpose(samples, lists->units, lists->unit_columns, lists->unit_values);
    return (rb_csr){m.cols, m.rows, lists->units, lists->unit_columns, lists->unit_values, m.type};
}

/* Rows of S, up to a column that follows from the unit alone: so do the vectors of the product, and
 * the order of its sums. */
static void add_squares(const struct moments *f, rb_csr own, int64_t first, rb_dense m) {
    for (int64_t j = first, next; j < first + own.rows; j = next) {
        int64_t end = rb_smaller((j / ROWS + 1) * ROWS, m.cols);
        next = rb_smaller(end, first + own.rows);
        rb_kernels_of(f->ctx)->of[m.type].csr(own, j - first, rb_dense_part(m, 0, m.rows, 0, end),
                                              true, rb_dense_part(f->s, j, next - j, 0, end));
    }
}

/* The last units first, whose rows of S are the longest. */
static void add_units(void *arg, int64_t task, int worker) {
    const struct moments *f = arg;
    int64_t band = f->units.count - 1 - task, first = rb_band_start(f->units, band);
    int64_t units = rb_band_size(f->units, band);
    for (int64_t i = 0; i < f->m.rows; i += SAMPLES) {
        int64_t samples = rb_smaller(f->m.rows - i, SAMPLES);
        rb_dense v = rb_dense_rows(f->v, i, samples), m = rb_dense_rows(f->m, i, samples);
        rb_csr own = list(f, rb_dense_part(m, 0, samples, first, units), &f->of[worker]);
        rb_kernels_of(f->ctx)->of[m.type].csr(own, 0, v, true,
                                              rb_dense_rows(f->turned, first, units));
        add_squares(f, own, first, m);
    }
}

static void add_turned(void *arg, int64_t band, int worker) {
    const struct moments *f = arg;
    int64_t first = rb_band_start(f->features, band), count = rb_band_size(f->features, band);
    rb_dense rows = rb_dense_rows(f->of[worker].features, 0, count);
    rb_dense_transpose(rb_dense_part(f->turned, 0, f->u.cols, first, count), rows);
    for (int64_t k = 0; k < count; k++)
        rb_axpy(f->ctx, rows.type, rows.cols, 1, rb_dense_row(rows, k),
                rb_dense_row(f->u, first + k));
}

static rb_error by_lists(struct moments *f) {
    rb_scratch scratch = {.ctx = f->ctx};
    int64_t units = f->m.cols, threads = rb_context_threads(f->ctx);
    int64_t fewest = (units + UNITS - 1) / UNITS;
    f->units = rb_cut(units, fewest < threads ? threads : fewest);
    f->features = rb_cut(f->u.rows, f->u.rows / RB_BAND_STEP + 1);
    f->of = rb_take(&scratch, threads, sizeof *f->of);
    for (int64_t w = 0; !scratch.err && w < threads; w++) {
        take_lists(&scratch, f->m.type, f->units.size, &f->of[w]);
        rb_dense_take(&scratch, f->m.type, f->features.size, units, &f->of[w].features);
    }
    rb_dense_take(&scratch, f->m.type, units, f->v.cols, &f->turned);
    if (!scratch.err) {
        rb_parallel(f->ctx, f->units.count, add_units, f);
        rb_parallel(f->ctx, f->features.count, add_turned, f);
    }
    return rb_scratch_end(&scratch);
}

double rb_moments_bytes(rb_type type, int64_t features, int64_t units) {
    double size = (double)rb_type_size(type), m = (double)features, l = (double)units;
    return units >= LEAST_UNITS && size * l * (m + l / 2) <= MOST_BYTES ? size * l * m : 0;
}

rb_error rb_moments_of_codes(rb_context *ctx, double alpha, rb_dense v, rb_dense m, rb_dense u,
                             rb_dense s) {
    struct moments f = {.ctx = ctx, .alpha = alpha, .v = v, .m = m, .u = u, .s = s};
    bool lists = m.rows >= LEAST_SAMPLES && rb_moments_bytes(m.type, v.cols, m.cols) > 0;
    double share = lists ? rb_dense_share(m, EVERY) : 1;
    if (share > FEW) {
        rb_moments_parallel(ctx, alpha, v, m, u, s);
        return RB_OK;
    }
    /* about */
    int64_t entries = (int64_t)(share * (double)m.rows * (double)m.cols);
    rb_phase before = rb_phase_sparse(ctx, entries, 1, v.cols + m.cols / 2, rb_type_size(m.type));
    rb_error err = by_lists(&f);
    rb_phase_end(ctx, before);
    return err;
}
