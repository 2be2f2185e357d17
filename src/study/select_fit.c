/* One fit of a selection, without the samples that it holds out, and what it says of them. */
#include "consensus.h"
#include "select.h"

#include <math.h>
#include <string.h>

static const double LEFT_OUT = 0.05;    /* of the values of samples that were not fitted */
enum { ROUNDS = 4, FOR_MEDIAN = 1000 }; /* each round leaves out others */
enum { MOST_VALUES = 1 << 26 };

static bool may_begin_at_random(const rb_method *method) {
    const rb_option *row = rb_rows_find(method->options, "start");
    return row && row->kind == RB_OPTION_CHOICE && strstr(row->choices, "random");
}

rb_error rb_select_fit_options(rb_context *ctx, const select_plan *plan, int64_t units,
                               rb_options **options) {
    rb_error err = rb_options_new(ctx, plan->options->method->name, options);
    err = err ? err : rb_options_set_as(ctx, plan->options, *options);
    err = err ? err : rb_options_unset(ctx, *options, "checkpoint");
    err = err ? err : rb_options_set_integer(ctx, *options, "restarts", 1);
    return err ? err : rb_options_set_integer(ctx, *options, "units", units);
}

/* What begins with no random number begins at random but for the first, as restarts of a fit do. */
rb_error rb_select_fit(rb_context *ctx, const select_plan *plan, const rb_matrix *matrix,
                       int64_t units, int64_t fit, rb_model **model) {
    rb_source source;
    rb_options *options = NULL;
    rb_source_of_matrix(matrix, &source);
    if (matrix == plan->matrix) source.of = plan->given; /* else samples are counted otherwise */
    rb_error err = rb_select_fit_options(ctx, plan, units, &options);
    if (!err && fit > 0 && may_begin_at_random(plan->options->method))
        err = rb_options_set(ctx, options, "start", "random");
    err = err ? err : rb_options_set_integer(ctx, options, "seed", plan->seed + fit);
    err = err ? err : rb_fit(ctx, options, &source, NULL, model);
    if (!err && rb_model_status(*model) == RB_STATUS_STOPPED)
        err = RB_ERROR_STOPPED; /* half a fit is none */
    rb_options_free(options);
    return err;
}

/* The samples of a matrix that a fit sees, or that it does not, as one of its own. */
static rb_error take_rows(rb_context *ctx, const select_plan *plan, const rb_matrix *matrix,
                          int64_t fit, bool held_out, rb_matrix **rows) {
    rb_scratch scratch = {.ctx = ctx};
    int64_t count = 0, *samples = rb_take(&scratch, matrix->n_samples, sizeof *samples);
    for (int64_t i = 0; samples && i < matrix->n_samples; i++)
        if (rb_select_holds_out(plan, fit, i) == held_out) samples[count++] = i;
    if (!scratch.err) scratch.err = rb_study_rows(ctx, matrix, samples, count, rows);
    return rb_scratch_end(&scratch);
}

/* *seen is NULL where all samples are. */
static rb_error fit_part(rb_context *ctx, const select_plan *plan, const rb_matrix *matrix,
                         int64_t units, int64_t fit, rb_matrix **seen, rb_model **model) {
    rb_error err = plan->chosen.folds > 0 ? take_rows(ctx, plan, matrix, fit, false, seen) : RB_OK;
    return err ? err : rb_select_fit(ctx, plan, *seen ? *seen : matrix, units, fit, model);
}

/* ---- units ---- */

select_arrays rb_select_arrays_of(const select_plan *plan, const select_outcome *o) {
    select_arrays a = {.held_out = (double *)(o + 1)};
    a.role = a.held_out + o->held_out_samples;
    a.information = a.role + o->units;
    a.codes = (float *)(a.information + (plan->chosen.permutations > 0 ? o->units : 0));
    a.loadings = a.codes + o->units * rb_units_samples(plan->matrix->n_samples);
    a.size = (const char *)(a.loadings + o->units * o->features) - (const char *)o;
    return a;
}

/* Makes a vector one of length 1, or leaves zeros. place: where a number goes; NULL: in order. */
static bool normalise(const double *from, int64_t count, int64_t stride, double mean,
                      const int64_t *place, float *to) {
    double squares = 0;
    for (int64_t i = 0; i < count; i++)
        squares += pow(from[i * stride] - mean, 2);
    for (int64_t i = 0; squares > 0 && i < count; i++)
        to[place ? place[i] : i] = (float)((from[i * stride] - mean) / sqrt(squares));
    return squares > 0;
}

/* Module, spare or background, where the method's codes tell. */
static void take_role(const rb_model *model, rb_dense codes, int64_t j, select_arrays to) {
    int64_t m = rb_model_features(model), l = rb_model_units(model);
    const double *w = rb_model_array(model, "loadings", NULL, NULL);
    const double *noise = rb_model_array(model, "noise", NULL, NULL);
    rb_powers of_codes = {0}, of_loadings = {0};
    if (!(w && noise)) return;
    for (int64_t i = 0; i < codes.cols; i++)
        rb_powers_add(&of_codes, rb_dense_get(codes, j, i));
    for (int64_t k = 0; k < m; k++)
        rb_powers_add(&of_loadings, fabs(w[k * l + j]) / sqrt(noise[k]));
    to.role[j] = rb_role_of(&of_codes, codes.cols, &of_loadings, m);
}

/* Units along whose loadings samples are as good as normal are no modules, though they may recur:
 * correlated features give such units. They are looked for in a dense copy. */
static rb_error find_normal(rb_context *ctx, const rb_model *model, const rb_matrix *matrix,
                            double *role) {
    static const double LEAST = 2; /* logarithm of a likelihood ratio */
    int64_t units = rb_model_units(model), n = matrix->n_samples;
    bool small = matrix->sparse ? rb_model_is_centred(model) &&
                                      rb_rotation_fits(true, n, rb_model_features(model))
                                : n <= MOST_VALUES / matrix->n_features;
    if (!small) return RB_OK;
    bool whole = !matrix->sparse && !model->preprocess->selected && !model->preprocess->fill;
    if (whole && rb_rotation_flaw(matrix)) return RB_OK; /* before a copy is made */
    rb_halfway halfway = {0};
    rb_source source;
    rb_source_of_matrix(matrix, &source);
    double *shapes = rb_alloc(ctx, units, sizeof *shapes);
    rb_error err = shapes ? rb_halfway_begin(ctx, model, &source, &halfway) : RB_ERROR_MEMORY;
    if (!err && !rb_rotation_flaw(halfway.matrix)) {
        err = rb_unit_shapes(ctx, &halfway.model, halfway.matrix, &(rb_blocks){0}, shapes);
        for (int64_t j = 0; !err && j < units; j++)
            if (role[j] == RB_UNIT_MODULE && shapes[j] < LEAST) role[j] = SELECT_NORMAL;
    }
    rb_halfway_end(&halfway);
    rb_free(shapes);
    return err;
}

/* Codes of the samples that are compared. */
static rb_error take_codes(rb_context *ctx, const rb_model *model, const rb_matrix *matrix,
                           select_outcome *o, select_arrays to) {
    int64_t n = rb_units_samples(matrix->n_samples);
    bool sparse = model->method->sparser;
    rb_dense codes = {0};
    rb_source source;
    rb_source_of_matrix(matrix, &source);
    rb_error err = rb_dense_new(ctx, RB_FLOAT64, o->units, n, &codes);
    err = err ? err : rb_units_encode(ctx, model, &source, codes);
    for (int64_t e = 0; !err && e < o->units * n; e++)
        sparse = sparse && rb_dense_get(codes, e / n, e % n) >= 0;
    for (int64_t j = 0; !err && j < o->units; j++) {
        const double *row = rb_dense_row(codes, j);
        double sum = 0;
        for (int64_t i = 0; i < n; i++)
            sum += row[i];
        o->living += normalise(row, n, 1, sum / (double)n, NULL, to.codes + j * n);
        if (sparse) take_role(model, codes, j, to);
    }
    rb_dense_free(&codes);
    return err || !sparse ? err : find_normal(ctx, model, matrix, to.role);
}

/* Loadings of the features of the data, of which each fit may have selected others. */
static void take_loadings(const select_plan *plan, const rb_model *model, const double *loadings,
                          float *to) {
    int64_t m = rb_model_features(model), l = rb_model_units(model);
    for (int64_t j = 0; j < l; j++, to += plan->matrix->n_features)
        normalise(loadings + j, m, l, 0, model->preprocess->selected, to);
}

static rb_error describe_units(rb_context *ctx, const select_plan *plan, const rb_model *model,
                               int64_t held_out, rb_bytes *result) {
    int64_t rows, columns;
    const double *loadings = rb_model_array(model, "loadings", &rows, &columns);
    select_outcome shape = {.units = rb_model_units(model), .held_out_samples = held_out};
    if (loadings && rows == rb_model_features(model) && columns == shape.units)
        shape.features = plan->matrix->n_features;
    result->size = rb_select_arrays_of(plan, &shape).size;
    select_outcome *o = result->data = rb_alloc_zero(ctx, result->size, 1);
    if (!o) return RB_ERROR_MEMORY;
    *o = shape;
    select_arrays to = rb_select_arrays_of(plan, o);
    rb_source source;
    rb_code_check check = {0};
    rb_source_of_matrix(plan->matrix, &source);
    rb_error err = take_codes(ctx, model, plan->matrix, o, to);
    if (o->features > 0) take_loadings(plan, model, loadings, to.loadings);
    err = err ? err : rb_model_check(ctx, model, &source, &check);
    rb_model_history(model, rb_model_iterations(model) - 1, &o->objective, NULL, NULL);
    o->duplicates = check.samples ? (double)check.duplicates : NAN;
    o->empty = check.samples ? (double)check.empty / (double)check.samples : NAN;
    if (!err && plan->chosen.permutations > 0)
        err = rb_unit_information(ctx, model, &source, to.information);
    return err;
}

/* ---- entries that are left out ---- */

/* Single values of samples that were not fitted, predicted from the rest of each sample: the sum of
 * squared errors over that about the means of the samples that were. A gain is counted from the
 * better of means and medians: what centring by the median gains is no structure. */
enum { MEAN, MEDIAN, CONSTANTS };
typedef struct entries {
    const rb_matrix *fitted, *held_out;
    double *constants[CONSTANTS]; /* of the features */
    char *left_out;               /* per value of held_out */
    double errors, squares[CONSTANTS];
    double gain[CONSTANTS], gain_squares[CONSTANTS]; /* of the differences of both */
} entries;

static rb_error add_errors(void *user, int64_t first, const rb_matrix *rows) {
    entries *e = user;
    int64_t m = rows->n_features;
    for (int64_t i = 0; i < rows->n_samples; i++) {
        for (int64_t k = 0; k < m; k++) {
            if (!e->left_out[(first + i) * m + k]) continue;
            double value = rb_matrix_at(e->held_out, first + i, k);
            double error = pow(value - rb_matrix_at(rows, i, k), 2);
            e->errors += error;
            for (int c = 0; c < CONSTANTS; c++) {
                double square = pow(value - e->constants[c][k], 2);
                e->squares[c] += square;
                e->gain[c] += square - error;
                e->gain_squares[c] += pow(square - error, 2);
            }
        }
    }
    return RB_OK;
}

/* Chooses the entries of a round, which become NaN in the copy; none that is missing anyway. */
static void leave_out(const select_plan *plan, entries *e, int64_t fit, int round, double *copy) {
    int64_t n = e->held_out->n_samples, m = e->held_out->n_features;
    rb_stream stream = {(uint64_t)plan->seed, RB_RANDOM_ENTRIES, (uint32_t)fit};
    for (int64_t i = 0; i < n * m; i++) {
        double turn = rb_random_uniform(stream, (uint64_t)i) / LEFT_OUT;
        copy[i] = rb_matrix_at(e->held_out, i / m, i % m);
        e->left_out[i] = !isnan(copy[i]) && turn >= round && turn < round + 1;
        if (e->left_out[i]) copy[i] = NAN;
    }
}

/* The median of many samples is that of some. */
static void find_constants(entries *e, double *column) {
    int64_t n = e->fitted->n_samples, step = 1 + n / FOR_MEDIAN;
    for (int64_t k = 0; k < e->fitted->n_features; k++) {
        int64_t some = 0;
        double sum = 0, count = 0;
        for (int64_t i = 0; i < n; i++) {
            double value = rb_matrix_at(e->fitted, i, k);
            if (isnan(value)) continue;
            if (i % step == 0) column[some++] = value;
            sum += value;
            count++;
        }
        rb_sort_numbers(column, some);
        e->constants[MEAN][k] = count > 0 ? sum / count : 0;
        e->constants[MEDIAN][k] = some ? rb_quantile_of(column, some, 0.5) : 0;
    }
}

/* NaN: sparse data, or a method that needs all values where none are filled. */
static rb_error measure_entries(rb_context *ctx, const select_plan *plan, rb_model *model,
                                int64_t fit, entries e, select_outcome *o) {
    int64_t n = e.held_out->n_samples, m = e.held_out->n_features;
    o->entry_error = NAN;
    if (e.held_out->sparse) return RB_OK;
    if (rb_model_omit_missing(ctx, model) && !model->preprocess->fill) return RB_OK;
    rb_scratch scratch = {.ctx = ctx};
    double *copy = rb_take(&scratch, n * m, sizeof *copy);
    double *column = rb_take(&scratch, e.fitted->n_samples, sizeof *column);
    for (int c = 0; c < CONSTANTS; c++)
        e.constants[c] = rb_take(&scratch, m, sizeof *e.constants[c]);
    e.left_out = rb_take(&scratch, n * m, 1);
    const rb_matrix view = {n, m, RB_FLOAT64, false, copy, m, 1};
    rb_source source;
    rb_source_of_matrix(&view, &source);
    if (!scratch.err) find_constants(&e, column);
    for (int round = 0; round < ROUNDS && !scratch.err; round++) {
        leave_out(plan, &e, fit, round, copy);
        scratch.err = rb_reconstruct(ctx, model, &source, add_errors, &e);
    }
    int better = e.squares[MEDIAN] < e.squares[MEAN] ? MEDIAN : MEAN;
    o->entry_error = e.squares[MEAN] > 0 ? e.errors / e.squares[MEAN] : NAN;
    o->gain = e.gain[better];
    o->gain_squares = e.gain_squares[better];
    return rb_scratch_end(&scratch);
}

/* ---- samples that are held out ---- */

static rb_error measure_held_out(rb_context *ctx, const select_plan *plan, rb_model *model,
                                 const rb_matrix *seen, const rb_matrix *rows, int64_t fit,
                                 select_outcome *o) {
    rb_source source;
    rb_metrics *metrics = NULL;
    rb_source_of_matrix(rows, &source);
    rb_error err =
        rb_evaluate_samples(ctx, model, &source, rb_select_arrays_of(plan, o).held_out, &metrics);
    if (!err) {
        o->held_out = rb_metrics_get(metrics, "log_likelihood");
        if (isnan(o->held_out)) o->held_out = rb_metrics_get(metrics, "log_likelihood_bound");
        o->held_out_error = rb_metrics_get(metrics, "mean_squared_error");
        err =
            measure_entries(ctx, plan, model, fit, (entries){.fitted = seen, .held_out = rows}, o);
    }
    rb_metrics_free(metrics);
    return err;
}

/* ---- jobs ---- */

static rb_error do_fit(rb_context *ctx, const select_plan *plan, int64_t units, int64_t fit,
                       rb_bytes *result) {
    rb_matrix *seen = NULL, *rows = NULL;
    rb_model *model = NULL;
    rb_error err = fit_part(ctx, plan, plan->matrix, units, fit, &seen, &model);
    if (!err && seen) err = take_rows(ctx, plan, plan->matrix, fit, true, &rows);
    err = err ? err : describe_units(ctx, plan, model, rows ? rows->n_samples : 0, result);
    if (!err && seen) err = measure_held_out(ctx, plan, model, seen, rows, fit, result->data);
    rb_model_free(model);
    rb_matrix_free(seen);
    rb_matrix_free(rows);
    return err;
}

/* A fit as others are, of data in which there is only noise to find. */
static rb_error do_permutation(rb_context *ctx, const select_plan *plan, int64_t units,
                               int64_t permutation, rb_bytes *result) {
    rb_matrix *permuted = NULL, *seen = NULL;
    rb_model *model = NULL;
    rb_source source;
    int64_t fit = permutation % plan->fits;
    *result =
        (rb_bytes){rb_alloc_zero(ctx, units, sizeof(double)), units * (int64_t)sizeof(double)};
    rb_error err = result->data ? RB_OK : RB_ERROR_MEMORY;
    err = err ? err
              : rb_study_permute(ctx, plan->matrix, plan->matrix->n_features, plan->seed,
                                 permutation, &permuted);
    err = err ? err : fit_part(ctx, plan, permuted, units, fit, &seen, &model);
    if (!err) {
        rb_source_of_matrix(permuted, &source);
        err = rb_unit_information(ctx, model, &source, result->data);
    }
    rb_model_free(model);
    rb_matrix_free(seen);
    rb_matrix_free(permuted);
    return err;
}

rb_error rb_select_do(rb_context *ctx, int64_t job, void *user, rb_bytes *result) {
    const select_plan *plan = user;
    int64_t units = plan->units[job / plan->per_row], which = job % plan->per_row;
    return which < plan->fits ? do_fit(ctx, plan, units, which, result)
                              : do_permutation(ctx, plan, units, which - plan->fits, result);
}
