/* k-means by Lloyd's iterations (S. Lloyd, "Least squares quantization in PCM", IEEE Trans.
 * Information Theory 28, 1982): each sample goes to its nearest centre, each centre to the mean of
 * its samples. Neither step makes the sum of the squared distances larger; minus its mean is the
 * objective.
 *
 * Distances are compared by |c|^2 / 2 - <v, c>, one matrix product a block; of equal ones the first
 * centre is taken. A centre without samples goes to the sample that is farthest from its own.
 *
 * A code is 1 for the nearest centre and 0 for the others; loadings are the centres.
 */
#include "kmeans.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const rb_option option_rows[] = {
    {"units", 'k', RB_OPTION_INTEGER, offsetof(kmeans_options, units), "10", 1, 1e9, NULL, "N",
     "number of centres", RB_OPTION_COMMON},
    {0},
};

/* ---- arrays ---- */

enum {
    FEATURES = RB_DIM_FEATURES,
    UNITS = RB_DIM_UNITS,
    SAMPLES,
    BLOCK,      /* samples in one */
    MOVES,      /* twice as many */
    ENDS,       /* units, and the end */
    TRIALS,     /* candidates of the start, */
    TRIED,      /* the last centre and they, */
    CANDIDATES, /* they and the next ones */
    WIDEST      /* columns of products */
};

static const rb_field parameter_fields[] = {
    {"centres", offsetof(kmeans_fit, centres), RB_FIELD_DENSE, RB_KEPT_WORKING, UNITS, FEATURES,
     RB_KEPT_PARAMETER},
    {"noise", offsetof(kmeans_fit, noise), RB_FIELD_POINTER, RB_KEPT_FLOAT64, FEATURES,
     .role = RB_KEPT_REPORTED},
    {"sizes", offsetof(kmeans_fit, sizes), RB_FIELD_POINTER, RB_KEPT_FLOAT64, UNITS,
     .role = RB_KEPT_REPORTED},
    {0},
};

static const rb_field progress_fields[] = {
    {"iteration", offsetof(kmeans_fit, iteration), RB_FIELD_INLINE, RB_KEPT_INTEGER,
     .role = RB_KEPT_MSTEPS},
    {"chosen", offsetof(kmeans_fit, chosen), RB_FIELD_INLINE, RB_KEPT_INTEGER, .max = INT32_MAX},
    {"settled", offsetof(kmeans_fit, base.done), RB_FIELD_INLINE, RB_KEPT_FLAG},
    {"objective", offsetof(kmeans_fit, base.objective), RB_FIELD_INLINE, RB_KEPT_FLOAT64,
     .role = RB_KEPT_REPORTED},
    {"members", offsetof(kmeans_fit, members), RB_FIELD_DENSE, RB_KEPT_FLOAT64, UNITS, FEATURES},
    {0},
};

static const rb_field code_fields[] = {
    {"unit_of", offsetof(kmeans_fit, unit_of), RB_FIELD_POINTER, RB_KEPT_INTEGER, SAMPLES,
     .max = INT32_MAX},
    {0},
};

static const rb_field sum_fields[] = {
    {"totals", offsetof(kmeans_fit, totals), RB_FIELD_DENSE, RB_KEPT_WORKING, UNITS, FEATURES},
    {"counts", offsetof(kmeans_fit, counts), RB_FIELD_POINTER, RB_KEPT_FLOAT64, UNITS},
    {"farthest", offsetof(kmeans_fit, farthest), RB_FIELD_POINTER, RB_KEPT_FLOAT64, UNITS,
     .sum = RB_SUM_LARGEST},
    {"place", offsetof(kmeans_fit, place), RB_FIELD_POINTER, RB_KEPT_INTEGER, UNITS,
     .sum = RB_SUM_PLACE},
    {"potentials", offsetof(kmeans_fit, potentials), RB_FIELD_POINTER, RB_KEPT_FLOAT64, TRIALS},
    {"winners", offsetof(kmeans_fit, winners), RB_FIELD_POINTER, RB_KEPT_FLOAT64, TRIALS, TRIALS,
     .sum = RB_SUM_LARGEST},
    {"won", offsetof(kmeans_fit, won), RB_FIELD_POINTER, RB_KEPT_INTEGER, TRIALS, TRIALS,
     .sum = RB_SUM_PLACE},
    {0},
};

static const rb_field scratch_fields[] = {
    {"turned", offsetof(kmeans_fit, turned), RB_FIELD_DENSE, RB_KEPT_WORKING, FEATURES, UNITS},
    {"products", offsetof(kmeans_fit, products), RB_FIELD_DENSE, RB_KEPT_WORKING, BLOCK, WIDEST},
    {"rows", offsetof(kmeans_fit, rows), RB_FIELD_DENSE, RB_KEPT_WORKING, UNITS, FEATURES},
    {"candidates", offsetof(kmeans_fit, candidates), RB_FIELD_DENSE, RB_KEPT_WORKING, CANDIDATES,
     FEATURES},
    {"tried", offsetof(kmeans_fit, tried), RB_FIELD_DENSE, RB_KEPT_WORKING, FEATURES, TRIED},
    {"lengths", offsetof(kmeans_fit, lengths), RB_FIELD_POINTER, RB_KEPT_FLOAT64, SAMPLES},
    {"distances", offsetof(kmeans_fit, distances), RB_FIELD_POINTER, RB_KEPT_FLOAT64, SAMPLES},
    {"found", offsetof(kmeans_fit, found), RB_FIELD_POINTER, RB_KEPT_FLOAT64, BLOCK},
    {"nearest", offsetof(kmeans_fit, nearest), RB_FIELD_POINTER, RB_KEPT_INTEGER, BLOCK},
    {"order", offsetof(kmeans_fit, order), RB_FIELD_POINTER, RB_KEPT_INTEGER, MOVES},
    {"first", offsetof(kmeans_fit, first), RB_FIELD_POINTER, RB_KEPT_INTEGER, ENDS},
    {"halves", offsetof(kmeans_fit, halves), RB_FIELD_POINTER, RB_KEPT_FLOAT64, WIDEST},
    {0},
};

static const rb_part parts[] = {
    {RB_PART_PARAMETERS, parameter_fields, 0},
    {RB_PART_CODES, code_fields, 0},
    {RB_PART_PROGRESS, progress_fields, 0},
    {RB_PART_SURVEY, factors_survey_fields, 0},
    {RB_PART_SUMS, sum_fields, 0},
    {RB_PART_SCRATCH, scratch_fields, 0},
    {0},
};

static void shape(const rb_problem *problem, const void *options, rb_shape *shape) {
    int64_t l = factors_units(options), trials = kmeans_trials(l);
    shape->dims[FEATURES] = problem->n_features;
    shape->dims[UNITS] = l;
    shape->dims[SAMPLES] = problem->own;
    shape->dims[BLOCK] = problem->block_samples;
    shape->dims[MOVES] = 2 * problem->block_samples;
    shape->dims[ENDS] = l + 1;
    shape->dims[TRIALS] = trials;
    shape->dims[TRIED] = trials + 1;
    shape->dims[CANDIDATES] = trials * (trials + 1);
    shape->dims[WIDEST] = l > trials + 1 ? l : trials + 1;
}

static rb_error start(rb_context *ctx, const rb_problem *problem, const void *options,
                      const rb_model *before, void **state) {
    kmeans_fit *fit = *state;
    int64_t m = problem->n_features, l = factors_units(options);
    const double *values;
    fit->base.problem = *problem;
    fit->options = *(const kmeans_options *)options;
    if (l > problem->n_samples) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "`units` is %lld, but there are only %lld samples; use fewer units",
                       (long long)l, (long long)problem->n_samples);
    }
    if (!before) return RB_OK;
    fit->warm = true;
    fit->chosen = l;
    rb_error err = rb_model_need_array(ctx, before, "loadings", m, l, &values);
    for (int64_t j = 0; !err && j < l; j++)
        for (int64_t k = 0; k < m; k++)
            rb_dense_set(fit->centres, j, k, values[k * l + j]);
    return err;
}

void kmeans_halves(rb_dense turned, const double *shift, double *halves) {
    for (int64_t j = 0; j < turned.cols; j++)
        halves[j] = 0;
    for (int64_t k = 0; k < turned.rows; k++) {
        for (int64_t j = 0; j < turned.cols; j++) {
            double c = rb_dense_get(turned, k, j);
            halves[j] += c * (c / 2 + (shift ? shift[k] : 0));
        }
    }
}

/* ---- squared lengths of samples ---- */

struct measuring {
    rb_context *ctx;
    const rb_block *block;
    double *lengths;
    double shift; /* |shift|^2 */
};

static void measure_sparse(const struct measuring *m, int64_t i) {
    const double *shift = m->block->shift;
    rb_csr v = m->block->csr;
    double sum = m->shift;
    for (int64_t e = v.starts[i] - v.starts[0]; e < v.starts[i + 1] - v.starts[0]; e++) {
        double value = rb_get(v.type, v.values, e);
        sum += value * (value - (shift ? 2 * shift[v.columns[e]] : 0));
    }
    m->lengths[i] = fmax(sum, 0);
}

static void measure_task(void *arg, int64_t task, int worker) {
    const struct measuring *m = arg;
    struct bands tasks = block_tasks(m->block->n_samples);
    int64_t first = rb_band_start(tasks, task), after = first + rb_band_size(tasks, task);
    (void)worker;
    for (int64_t i = first; m->block->sparse && i < after; i++)
        measure_sparse(m, i);
    for (int64_t i = first; !m->block->sparse && i < after; i++) {
        rb_dense v = m->block->dense;
        const void *row = rb_dense_row(v, i);
        m->lengths[i] = rb_dot(m->ctx, v.type, v.cols, row, row);
    }
}

static void measure(rb_context *ctx, const rb_block *block, double *lengths) {
    struct measuring m = {ctx, block, lengths, 0};
    for (int64_t k = 0; block->sparse && block->shift && k < block->n_features; k++)
        m.shift += block->shift[k] * block->shift[k];
    rb_parallel(ctx, block_tasks(block->n_samples).count, measure_task, &m);
}

/* ---- the nearest centres ---- */

static void search_task(void *arg, int64_t task, int worker) {
    const struct kmeans_search *s = arg;
    int64_t first;
    rb_dense products = block_task_rows(s->products, task, &first);
    (void)worker;
    rb_block_project(s->ctx, s->block, first, s->turned, products);
    for (int64_t i = 0; i < products.rows; i++) {
        const void *row = rb_dense_row(products, i);
        int64_t best = 0;
        double least = INFINITY;
        for (int64_t j = 0; j < products.cols; j++) {
            double value = s->halves[j] - rb_get(products.type, row, j);
            best = value < least ? j : best;
            least = value < least ? value : least;
        }
        s->nearest[first + i] = best;
        if (s->found) s->found[first + i] = fmax(s->lengths[first + i] + 2 * least, 0);
    }
}

static void search_all(rb_context *ctx, const struct kmeans_search *search) {
    rb_parallel(ctx, block_tasks(search->products.rows).count, search_task, (void *)search);
}

/* ---- sums of the samples of each centre ----
 *
 * Late iterations move few samples: what is added up is those that come and those that leave. */

/* Samples that come to centres and leave them, by centre, in order. */
static rb_error sort_moves(rb_context *ctx, kmeans_fit *fit, const rb_block *block) {
    int64_t l = fit->options.units, n = block->n_samples, *before = fit->unit_of + block->own;
    memset(fit->first, 0, (size_t)(l + 1) * sizeof *fit->first);
    for (int64_t i = 0; i < n; i++) {
        int64_t now = fit->nearest[i] + 1;
        if (before[i] > l)
            return rb_fail(ctx, RB_ERROR_FORMAT,
                           "the checkpoint is damaged: a sample has a centre that does not exist");
        fit->counts[now - 1]++;
        fit->first[now] += now != before[i];
        fit->first[before[i]] += before[i] > 0 && now != before[i];
    }
    for (int64_t j = 0; j < l; j++)
        fit->first[j + 1] += fit->first[j];
    for (int64_t i = 0; i < n; i++) {
        int64_t now = fit->nearest[i] + 1;
        if (now == before[i]) continue;
        fit->order[fit->first[now - 1]++] = i;
        if (before[i] > 0) fit->order[fit->first[before[i] - 1]++] = ~i;
        before[i] = now;
    }
    memmove(fit->first + 1, fit->first, (size_t)l * sizeof *fit->first);
    fit->first[0] = 0;
    return RB_OK;
}

struct adding {
    rb_context *ctx;
    const kmeans_fit *fit;
    const rb_block *block;
};

enum { BAND = 512 };

/* Features of a band, of the moves of a centre. */
static void add_dense(void *arg, int64_t task, int worker) {
    const struct adding *a = arg;
    const kmeans_fit *fit = a->fit;
    rb_dense v = a->block->dense;
    int64_t bands = (v.cols + BAND - 1) / BAND, j = task / bands, from = task % bands * BAND;
    int64_t count = v.cols - from < BAND ? v.cols - from : BAND;
    void *sum = rb_dense_part(fit->totals, j, 1, from, count).data;
    (void)worker;
    for (int64_t p = fit->first[j]; p < fit->first[j + 1]; p++) {
        int64_t move = fit->order[p];
        const void *row = rb_dense_part(v, move < 0 ? ~move : move, 1, from, count).data;
        rb_axpy(a->ctx, v.type, count, move < 0 ? -1 : 1, row, sum);
    }
}

static void add_sparse(void *arg, int64_t j, int worker) {
    const struct adding *a = arg;
    const kmeans_fit *fit = a->fit;
    rb_csr v = a->block->csr;
    void *sum = rb_dense_row(fit->totals, j);
    int64_t more = 0;
    (void)worker;
    for (int64_t p = fit->first[j]; p < fit->first[j + 1]; p++) {
        int64_t i = fit->order[p], sign = i < 0 ? -1 : 1;
        i = i < 0 ? ~i : i;
        more += sign;
        for (int64_t e = v.starts[i] - v.starts[0]; e < v.starts[i + 1] - v.starts[0]; e++) {
            double value = (double)sign * rb_get(v.type, v.values, e);
            rb_put(v.type, sum, v.columns[e], rb_get(v.type, sum, v.columns[e]) + value);
        }
    }
    for (int64_t k = 0; a->block->shift && more != 0 && k < v.cols; k++)
        rb_put(v.type, sum, k, rb_get(v.type, sum, k) - (double)more * a->block->shift[k]);
}

static void note_farthest(kmeans_fit *fit, const rb_block *block) {
    for (int64_t i = 0; i < block->n_samples; i++) {
        int64_t j = fit->nearest[i];
        if (!(fit->found[i] > fit->farthest[j])) continue;
        fit->farthest[j] = fit->found[i];
        fit->place[j] = block->first + i;
    }
    for (int64_t j = 0; j < fit->options.units; j++) {
        int64_t i = fit->place[j] - block->first;
        if (i >= 0 && i < block->n_samples) rb_block_rows(block, i, rb_dense_rows(fit->rows, j, 1));
    }
}

static rb_error block(rb_context *ctx, void *state, const rb_block *block) {
    kmeans_fit *fit = state;
    int64_t n = block->n_samples, l = fit->options.units;
    if (fit->base.done) return RB_OK;
    if (!fit->measured) measure(ctx, block, fit->lengths + block->own);
    if (fit->chosen < l) return kmeans_start_block(ctx, fit, block);
    kmeans_halves(fit->turned, block->sparse ? block->shift : NULL, fit->halves);
    struct kmeans_search search = {.ctx = ctx,
                                   .block = block,
                                   .turned = fit->turned,
                                   .products = rb_dense_part(fit->products, 0, n, 0, l),
                                   .halves = fit->halves,
                                   .lengths = fit->lengths + block->own,
                                   .nearest = fit->nearest,
                                   .found = fit->found};
    search_all(ctx, &search);
    rb_error err = sort_moves(ctx, fit, block);
    if (err) return err;
    struct adding adding = {ctx, fit, block};
    int64_t bands = (block->n_features + BAND - 1) / BAND;
    rb_parallel(ctx, block->sparse ? l : l * bands, block->sparse ? add_sparse : add_dense,
                &adding);
    note_farthest(fit, block);
    return RB_OK;
}

/* ---- an iteration ---- */

static rb_error begin(rb_context *ctx, void *state) {
    kmeans_fit *fit = state;
    (void)ctx;
    if (!fit->base.done) rb_dense_transpose(fit->centres, fit->turned);
    return RB_OK;
}

static rb_error end(rb_context *ctx, void *state, bool *again) {
    kmeans_fit *fit = state;
    fit->measured = true;
    *again = !fit->base.done && fit->chosen < fit->options.units;
    if (*again) kmeans_start_end(ctx, fit);
    return RB_OK;
}

/* The centre whose farthest sample is farthest, among those with more than one; -1: none is off its
 * centre. */
static int64_t widest(const kmeans_fit *fit) {
    int64_t best = -1;
    double most = 0;
    for (int64_t j = 0; j < fit->options.units; j++) {
        if (fit->counts[j] > 1 && fit->farthest[j] > most) {
            most = fit->farthest[j];
            best = j;
        }
    }
    return best;
}

/* The sample becomes one of centre j, and no more of its own. */
static void fill_empty(rb_context *ctx, kmeans_fit *fit, int64_t j) {
    int64_t from = widest(fit), m = fit->totals.cols;
    if (from < 0) return;
    void *sample = rb_dense_row(fit->rows, from);
    rb_comm_sample(ctx, &fit->base.problem, fit->place[from], rb_dense_rows(fit->rows, from, 1));
    rb_axpy(ctx, fit->rows.type, m, -1, sample, rb_dense_row(fit->totals, from));
    rb_axpy(ctx, fit->rows.type, m, 1, sample, rb_dense_row(fit->totals, j));
    fit->counts[from]--;
    fit->counts[j]++;
    fit->farthest[from] = 0; /* it gives no other one */
}

/* members += totals, totals = members; none are left where no sample is. */
static void take_moves(kmeans_fit *fit) {
    rb_dense sums = fit->members;
    for (int64_t j = 0; j < sums.rows; j++) {
        double *row = rb_dense_row(sums, j);
        void *total = rb_dense_row(fit->totals, j);
        for (int64_t k = 0; k < sums.cols; k++) {
            row[k] = fit->counts[j] > 0 ? row[k] + rb_get(fit->totals.type, total, k) : 0;
            rb_put(fit->totals.type, total, k, row[k]);
        }
    }
}

/* Centres become means. Did any change? */
static bool move_centres(kmeans_fit *fit) {
    rb_dense c = fit->centres;
    bool moved = false;
    for (int64_t j = 0; j < c.rows; j++) {
        void *centre = rb_dense_row(c, j), *sum = rb_dense_row(fit->totals, j);
        for (int64_t k = 0; fit->counts[j] > 0 && k < c.cols; k++) {
            double old = rb_get(c.type, centre, k);
            rb_put(c.type, centre, k, rb_get(c.type, sum, k) / fit->counts[j]);
            moved |= rb_get(c.type, centre, k) != old;
        }
    }
    return moved;
}

/* What is left of each feature: (|v_k|^2 + sum_j c_jk (n_j c_jk - 2 u_jk)) / n. */
static void find_errors(kmeans_fit *fit) {
    rb_dense c = fit->centres, u = fit->totals;
    double n = (double)fit->base.problem.n_samples, sum = 0;
    memcpy(fit->noise, fit->base.squares, (size_t)c.cols * sizeof *fit->noise);
    for (int64_t j = 0; j < c.rows; j++) {
        for (int64_t k = 0; k < c.cols; k++) {
            double x = rb_dense_get(c, j, k);
            fit->noise[k] += x * (fit->counts[j] * x - 2 * rb_dense_get(u, j, k));
        }
    }
    for (int64_t k = 0; k < c.cols; k++) {
        sum += fit->noise[k];
        fit->noise[k] = fmax(fit->noise[k] / n, 0);
    }
    fit->base.objective = -sum / n;
}

/* Rounding may lead round in a circle: what gets no better has settled, too. */
static rb_error mstep(rb_context *ctx, void *state) {
    kmeans_fit *fit = state;
    double before = fit->base.objective;
    if (fit->base.done) return RB_OK;
    take_moves(fit);
    for (int64_t j = 0; j < fit->options.units; j++)
        if (fit->counts[j] == 0) fill_empty(ctx, fit, j);
    fit->base.done = !move_centres(fit);
    memcpy(fit->sizes, fit->counts, (size_t)fit->options.units * sizeof *fit->sizes);
    find_errors(fit);
    fit->base.done |= fit->iteration > 0 && !(fit->base.objective > before);
    fit->iteration++;
    return RB_OK;
}

static bool reads(const void *state) {
    return !((const factors_fit *)state)->done;
}

static rb_error store(rb_context *ctx, void *state, rb_model *model) {
    const kmeans_fit *fit = state;
    rb_dense c = fit->centres;
    double *loadings = rb_model_add_array(ctx, model, "loadings", c.cols, c.rows);
    double *noise = loadings ? rb_model_add_array(ctx, model, "noise", c.cols, 1) : NULL;
    double *dead = noise ? rb_model_add_array(ctx, model, "dead", c.rows, 1) : NULL;
    double *share = dead ? rb_model_add_array(ctx, model, "share", c.rows, 1) : NULL;
    if (!share) return RB_ERROR_MEMORY;
    double n = 0;
    for (int64_t j = 0; j < c.rows; j++)
        n += (double)fit->sizes[j];
    for (int64_t j = 0; j < c.rows; j++) {
        for (int64_t k = 0; k < c.cols; k++)
            loadings[k * c.rows + j] = rb_dense_get(c, j, k);
        dead[j] = fit->sizes[j] == 0;
        share[j] = n > 0 ? (double)fit->sizes[j] / n : 0;
    }
    memcpy(noise, fit->noise, (size_t)c.cols * sizeof *noise);
    return RB_OK;
}

/* ---- using a model ---- */

typedef struct coder {
    rb_scratch own;
    rb_dense turned, products;
    double *halves;
    int64_t *nearest;
    const double *share; /* of the clusters; NULL in a model of earlier versions */
} coder;

static rb_error coder_new(rb_context *ctx, const rb_model *model, int64_t block_samples,
                          void **out) {
    int64_t m = rb_model_features(model), l = rb_model_units(model);
    const double *values;
    coder *c = factors_coder_begin(ctx, sizeof *c, out);
    if (!c) return RB_ERROR_MEMORY;
    c->own.err = rb_model_need_array(ctx, model, "loadings", m, l, &values);
    if (!c->own.err && rb_model_array(model, "share", NULL, NULL))
        c->own.err = rb_model_need_array(ctx, model, "share", l, 1, &c->share);
    rb_dense_take(&c->own, model->type, m, l, &c->turned);
    rb_dense_take(&c->own, model->type, block_samples, l, &c->products);
    c->halves = rb_take(&c->own, l, sizeof *c->halves);
    c->nearest = rb_take(&c->own, block_samples, sizeof *c->nearest);
    if (!c->own.err) rb_dense_copy((rb_dense){(void *)values, m, l, l, RB_FLOAT64}, c->turned);
    return factors_coder_end(out);
}

static rb_error encode(rb_context *ctx, void *memory, const rb_block *block, void *codes) {
    coder *c = memory;
    int64_t n = block->n_samples, l = c->turned.cols;
    rb_dense rows = {codes, n, l, l, c->turned.type};
    kmeans_halves(c->turned, block->sparse ? block->shift : NULL, c->halves);
    struct kmeans_search search = {.ctx = ctx,
                                   .block = block,
                                   .turned = c->turned,
                                   .products = rb_dense_rows(c->products, 0, n),
                                   .halves = c->halves,
                                   .nearest = c->nearest};
    search_all(ctx, &search);
    rb_dense_zero(rows);
    for (int64_t i = 0; i < n; i++)
        rb_dense_set(rows, i, c->nearest[i], 1);
    return RB_OK;
}

/* A cluster, as often as it has samples of the fit; noise is what these are around their centres,
 * the same of every cluster. */
static rb_error draw(rb_context *ctx, void *memory, const rb_sampling *sampling, int64_t n,
                     const rb_block *block, void *codes) {
    const coder *c = memory;
    int64_t l = c->turned.cols;
    rb_dense rows = {codes, n, l, l, c->turned.type};
    if (block) return encode(ctx, memory, block, codes);
    rb_dense_zero(rows);
    for (int64_t i = 0; i < n; i++) {
        double u, sum = 0;
        int64_t chosen = -1;
        rb_sampling_uniform(sampling, i, 0, 1, &u);
        for (int64_t j = 0; j < l && sum <= u; j++) {
            double share = c->share ? c->share[j] : 1 / (double)l;
            chosen = share > 0 ? j : chosen;
            sum += share;
        }
        if (chosen >= 0) rb_dense_set(rows, i, chosen, 1);
    }
    return RB_OK;
}

static const rb_array_kind arrays[] = {{"share", RB_ARRAY_ROW_EACH}, {0}};

const rb_method rb_method_kmeans = {
    .size = sizeof(rb_method),
    .name = "kmeans",
    .title = "k-means",
    .purpose = "clusters, one per sample",
    .options = option_rows,
    .options_size = sizeof(kmeans_options),
    .code_name = "X_kmeans",
    .arrays = arrays,
    .centre = RB_CENTRE_MEAN,
    .units = factors_units,
    .block_samples = factors_block_samples,
    .parts = parts,
    .shape = shape,
    .state_size = sizeof(kmeans_fit),
    .start = start,
    .survey = factors_survey,
    .begin = begin,
    .block = block,
    .end = end,
    .mstep = mstep,
    .objective = factors_objective,
    .store = store,
    .done = factors_done,
    .reads = reads,
    .coder_new = coder_new,
    .coder_free = factors_coder_free,
    .encode = encode,
    .draw = draw,
    .spreads = factors_spread,
};
