/* The table of a selection: what all fits of a number of units say together. */
#include "consensus.h"
#include "select.h"

#include <math.h>
#include <string.h>

/* Stable units: docs/measurements/select.md has how these were chosen. Units are the same from this
 * cosine on, stable from this share of the fits on, and of fewer samples or features than this a
 * unit is an outlier. */
static const double SAME = 0.5, STABLE = 0.85, FEW = 2, FAMILY_WISE = 0.05;

static rb_value choice(const rb_table *table, int64_t row, const rb_table_column *column) {
    const rb_selection *s = table->of;
    return (rb_value){.kind = column->kind, .text = row == s->row ? "picked" : "-"};
}

static rb_value data(const rb_table *table, int64_t row, const rb_table_column *column) {
    const rb_selection *s = table->of;
    (void)row;
    return (rb_value){.kind = column->kind, .text = s->data};
}

static rb_value cell(const rb_table *table, int64_t row, const rb_table_column *column) {
    const double *cells = table->rows;
    return (rb_value){.kind = column->kind,
                      .number = cells[(size_t)row * SELECT_COLUMNS + column->offset]};
}

/* As in enum select_column, which is their offset; then what is said in words. */
static const rb_table_column columns[] = {
    {"units", "units", "%.0f", "", RB_VALUE_NUMBER, SELECT_UNITS, cell},
    {"stable", "stable", "%.0f", "units that recur", RB_VALUE_NUMBER, SELECT_STABLE, cell},
    {"objective", "objective", "%.6g", "the best of the fits", RB_VALUE_NUMBER, SELECT_OBJECTIVE,
     cell},
    {"objective_mean", "mean", "%.6g", "objective, mean of the fits", RB_VALUE_NUMBER,
     SELECT_OBJECTIVE_MEAN, cell},
    {"held_out", "held out", "%.6g", "log-likelihood of a sample that is left out", RB_VALUE_NUMBER,
     SELECT_HELD_OUT, cell},
    {"held_out_se", "+-", "%.3g", "standard error of its difference from the best row",
     RB_VALUE_NUMBER, SELECT_HELD_OUT_SE, cell},
    {"held_out_error", "error", "%.5g", "mean squared error of the same samples", RB_VALUE_NUMBER,
     SELECT_HELD_OUT_ERROR, cell},
    {"entry_error", "entries", "%.4f", "errors of a fifth of their values, predicted from the rest",
     RB_VALUE_NUMBER, SELECT_ENTRY_ERROR, cell},
    {"match", "match", "%.3f", "correlation of the codes of two fits, units paired",
     RB_VALUE_NUMBER, SELECT_MATCH, cell},
    {"shared", "shared", "%.3f", "share of units whose partner correlates by more than 0.9",
     RB_VALUE_NUMBER, SELECT_SHARED, cell},
    {"used", "used", "%.1f", "units that live", RB_VALUE_NUMBER, SELECT_USED, cell},
    {"duplicated", "duplicated", "%.1f", "units", RB_VALUE_NUMBER, SELECT_DUPLICATED, cell},
    {"background", "background", "%.1f", "units", RB_VALUE_NUMBER, SELECT_BACKGROUND, cell},
    {"empty", "empty", "%.3f", "share of samples without a unit", RB_VALUE_NUMBER, SELECT_EMPTY,
     cell},
    {"beyond_noise", "beyond noise", "%.1f", "units with more information than those of noise",
     RB_VALUE_NUMBER, SELECT_BEYOND_NOISE, cell, .optional = true},
    {"choice", "choice", NULL, "the number to fit", RB_VALUE_TEXT, .value = choice},
    {"data", "data", NULL, "whose table it is", RB_VALUE_TEXT, .value = data},
    {0},
};

rb_error rb_selection_new(rb_context *ctx, const select_plan *plan, rb_selection **out) {
    rb_selection *s = *out = rb_alloc_zero(ctx, 1, sizeof *s);
    if (!s) return RB_ERROR_MEMORY;
    rb_scratch *m = &s->memory;
    m->ctx = ctx;
    s->n_rows = plan->n_rows;
    s->folds = plan->chosen.folds;
    s->serial = plan->serial;
    s->fits = plan->fits;
    s->permutations = plan->chosen.permutations;
    s->cells = rb_take(m, s->n_rows * SELECT_COLUMNS, sizeof *s->cells);
    s->n_samples = plan->matrix->n_samples;
    s->row = -1;
    s->held_out = rb_take(m, s->n_rows * s->n_samples, sizeof *s->held_out);
    s->left_out = rb_take(m, s->n_samples, sizeof *s->left_out);
    s->largest = rb_take(m, s->permutations, sizeof *s->largest);
    s->models = rb_take(m, s->fits, sizeof *s->models);
    for (int64_t k = 0; !m->err && k < s->n_rows; k++) {
        double *row = s->cells + k * SELECT_COLUMNS;
        row[SELECT_BEYOND_NOISE] = s->permutations > 0 ? 0 : NAN;
        row[SELECT_HELD_OUT_ERROR] = row[SELECT_ENTRY_ERROR] = s->folds > 0 ? 0 : NAN;
    }
    return m->err;
}

void rb_selection_free(rb_selection *s) {
    if (s) rb_scratch_end(&s->memory);
    rb_free(s);
}

/* ---- match over fits ---- */

/* How many numbers of a vector of length 1 are not small: 1 / sum of fourth powers. */
static double spread_of(const float *x, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += pow((double)x[i], 4);
    return count == 0 ? INFINITY : sum > 0 ? 1 / sum : 0;
}

/* Of a model: which living units are neither spare nor background. */
static int64_t find_counted(const select_plan *plan, const select_outcome *o, bool *counted) {
    select_arrays a = rb_select_arrays_of(plan, o);
    int64_t n = rb_units_samples(plan->matrix->n_samples), count = 0;
    for (int64_t j = 0; j < o->units; j++) {
        counted[j] = a.role[j] < RB_UNIT_SPARE && spread_of(a.codes + j * n, n) > 0;
        count += counted[j];
    }
    return count;
}

/* Adds what the units of two models have in common: codes have mean 0 and length 1; their signs
 * may say nothing. */
static rb_error compare(rb_context *ctx, const select_plan *plan, rb_bytes one, rb_bytes other,
                        double sums[3]) {
    const select_outcome *a = one.data, *b = other.data;
    const float *x = rb_select_arrays_of(plan, a).codes, *y = rb_select_arrays_of(plan, b).codes;
    int64_t max = 0, n = rb_units_samples(plan->matrix->n_samples);
    rb_scratch scratch = {.ctx = ctx};
    double *gain = rb_take(&scratch, a->units * b->units, sizeof *gain);
    int64_t *partner = rb_take(&scratch, a->units, sizeof *partner);
    bool *in_a = rb_take(&scratch, a->units, sizeof *in_a);
    bool *in_b = rb_take(&scratch, b->units, sizeof *in_b);
    double match = 0;
    if (!scratch.err) {
        int64_t of_b = find_counted(plan, b, in_b);
        max = find_counted(plan, a, in_a);
        max = max > of_b ? max : of_b;
    }
    for (int64_t e = 0; !scratch.err && e < a->units * b->units; e++) {
        if (!in_a[e / b->units] || !in_b[e % b->units]) continue;
        gain[e] = rb_dot(ctx, RB_FLOAT32, n, x + e / b->units * n, y + e % b->units * n);
        gain[e] = plan->signs ? fabs(gain[e]) : gain[e];
    }
    if (!scratch.err) scratch.err = rb_assign(ctx, a->units, b->units, gain, partner);
    for (int64_t j = 0; !scratch.err && max > 0 && j < a->units; j++) {
        double r = partner[j] >= 0 ? gain[j * b->units + partner[j]] : 0;
        match += r / (double)max;
        sums[1] += (r > 0.9) / (double)max;
    }
    sums[0] += match;
    sums[2] += match * match;
    return rb_scratch_end(&scratch);
}

static rb_error match_fits(rb_context *ctx, const select_plan *plan, double *row) {
    rb_selection *s = plan->selection;
    double sums[3] = {0}, pairs = 0;
    rb_error err = RB_OK;
    for (int64_t a = 0; !err && a < s->fits; a++)
        for (int64_t b = 0; !err && b < a; b++, pairs++)
            err = compare(ctx, plan, s->models[a], s->models[b], sums);
    row[SELECT_MATCH] = pairs > 0 ? sums[0] / pairs : NAN;
    row[SELECT_SHARED] = pairs > 0 ? sums[1] / pairs : NAN;
    s->match_sd = sqrt(fmax(0, sums[2] / pairs - pow(sums[0] / pairs, 2)));
    return err;
}

/* ---- stable units ---- */

static void widen(const float *from, rb_dense to) {
    for (int64_t i = 0; i < to.cols; i++)
        rb_dense_set(to, 0, i, (double)from[i]);
}

/* The living units of all fits of a row; by their codes alone where the method has no loadings. */
static void take_vectors(const select_plan *plan, rb_unit_vectors *v) {
    int64_t n = rb_units_samples(plan->matrix->n_samples);
    for (int64_t r = 0; r < plan->fits; r++) {
        const select_outcome *o = plan->selection->models[r].data;
        select_arrays a = rb_select_arrays_of(plan, o);
        for (int64_t j = 0; j < o->units; j++) {
            const float *codes = a.codes + j * n, *loadings = a.loadings + j * o->features;
            if (spread_of(codes, n) == 0 || spread_of(loadings, o->features) == 0) continue;
            widen(o->features > 0 ? loadings : codes, rb_dense_rows(v->loadings, v->count, 1));
            if (o->features > 0) widen(codes, rb_dense_rows(v->codes, v->count, 1));
            v->units[v->count++] = (rb_unit){r, j, false};
        }
    }
}

/* Is a unit neither spare nor background nor an outlier, and samples along it not normal? */
static bool is_module(const select_plan *plan, rb_unit unit) {
    const select_outcome *o = plan->selection->models[unit.model].data;
    select_arrays a = rb_select_arrays_of(plan, o);
    int64_t j = unit.index, n = rb_units_samples(plan->matrix->n_samples), m = o->features;
    return a.role[j] == RB_UNIT_MODULE && spread_of(a.codes + j * n, n) >= FEW &&
           spread_of(a.loadings + j * m, m) >= FEW;
}

static rb_error count_stable(rb_context *ctx, const select_plan *plan, double *row) {
    const select_outcome *first = plan->selection->models[0].data;
    int64_t count = plan->fits * first->units, n = rb_units_samples(plan->matrix->n_samples),
            m = first->features;
    rb_clusters clusters = {0};
    rb_scratch scratch = {.ctx = ctx};
    rb_unit_vectors v = {.signs = plan->signs, .units = rb_take(&scratch, count, sizeof *v.units)};
    rb_dense_take(&scratch, RB_FLOAT64, count, m > 0 ? m : n, &v.loadings);
    if (m > 0) rb_dense_take(&scratch, RB_FLOAT64, count, n, &v.codes);
    if (!scratch.err) {
        take_vectors(plan, &v);
        if (v.count > 0) scratch.err = rb_clusters_of(ctx, &v, plan->fits, SAME, &clusters);
    }
    for (int64_t c = 0; !scratch.err && c < clusters.count; c++) {
        const rb_cluster *one = &clusters.list[c];
        if (!is_module(plan, clusters.members[one->first])) continue;
        row[SELECT_STABLE] += one->stability >= STABLE - 1e-9;
        plan->selection->most_stable = fmax(plan->selection->most_stable, one->stability);
    }
    rb_clusters_clear(&clusters);
    return rb_scratch_end(&scratch);
}

static rb_error end_fits(rb_context *ctx, const select_plan *plan, double *row) {
    rb_error err = match_fits(ctx, plan, row);
    if (plan->fits > 1) return err ? err : count_stable(ctx, plan, row);
    row[SELECT_STABLE] = NAN;
    return err;
}

/* ---- against noise ---- */

/* Units whose information is larger than that of all units of enough permuted data that the chance
 * of any such unit, without structure, is at most 0.05: the family-wise rate of permute.c. */
static double count_beyond(const rb_selection *s, const double *information, int64_t units) {
    double beyond = 0;
    for (int64_t u = 0; u < units; u++) {
        double larger = 0;
        for (int64_t b = 0; b < s->permutations; b++)
            larger += s->largest[b] >= information[u];
        beyond += 1 + larger <= FAMILY_WISE * (1 + (double)s->permutations) * (1 + 1e-12);
    }
    return beyond;
}

static void take_permutation(const select_plan *plan, int64_t k, int64_t b, rb_bytes result) {
    rb_selection *s = plan->selection;
    double *beyond = s->cells + k * SELECT_COLUMNS + SELECT_BEYOND_NOISE;
    for (int64_t u = 0; u < plan->units[k]; u++)
        s->largest[b] = fmax(u > 0 ? s->largest[b] : 0, ((const double *)result.data)[u]);
    for (int64_t r = 0; b == s->permutations - 1 && r < s->fits; r++) {
        const select_outcome *o = s->models[r].data;
        *beyond +=
            count_beyond(s, rb_select_arrays_of(plan, o).information, o->units) / (double)s->fits;
    }
}

/* ---- taking results ---- */

static int64_t held_out_by(const select_plan *plan, int64_t fit) {
    int64_t count = 0;
    for (int64_t i = 0; i < plan->matrix->n_samples; i++)
        count += rb_select_holds_out(plan, fit, i);
    return count;
}

/* All fits of a number have loadings, or none has. */
static bool is_sound(const select_plan *plan, int64_t units, int64_t which, rb_bytes result) {
    const select_outcome *o = result.data, *first = which ? plan->selection->models[0].data : o;
    if (which >= plan->fits) return result.size == units * (int64_t)sizeof(double);
    return result.size >= (int64_t)sizeof *o && o->units == units &&
           (o->features == 0 || o->features == plan->matrix->n_features) &&
           o->features == first->features && o->living >= 0 && o->living <= units &&
           o->held_out_samples == held_out_by(plan, which) &&
           result.size == rb_select_arrays_of(plan, o).size;
}

/* The mean over the fits that did not see a sample: one of each partition. */
static void take_held_out(const select_plan *plan, int64_t k, int64_t fit,
                          const select_outcome *o) {
    rb_selection *s = plan->selection;
    int64_t count = s->fits / s->folds;
    double *row = s->cells + k * SELECT_COLUMNS, partitions = (double)count;
    double share = (double)o->held_out_samples / (double)s->n_samples / partitions;
    const double *values = rb_select_arrays_of(plan, o).held_out;
    row[SELECT_HELD_OUT_ERROR] += share * o->held_out_error;
    row[SELECT_ENTRY_ERROR] += share * o->entry_error;
    for (int64_t i = 0; i < s->n_samples; i++) {
        if (!rb_select_holds_out(plan, fit, i)) continue;
        s->means |= isnan(*values);
        s->held_out[k * s->n_samples + i] += (isnan(*values) ? o->held_out : *values) / partitions;
        values++;
    }
}

static rb_error take_fit(rb_context *ctx, const select_plan *plan, int64_t k, int64_t fit,
                         rb_bytes result) {
    rb_selection *s = plan->selection;
    const select_outcome *o = result.data;
    double share = 1 / (double)s->fits, *row = s->cells + k * SELECT_COLUMNS, background = 0;
    for (int64_t j = 0; j < o->units; j++)
        background += rb_select_arrays_of(plan, o).role[j] == RB_UNIT_BACKGROUND;
    row[SELECT_OBJECTIVE] = fit == 0 ? o->objective : fmax(row[SELECT_OBJECTIVE], o->objective);
    row[SELECT_OBJECTIVE_MEAN] += share * o->objective;
    row[SELECT_USED] += share * (double)o->living;
    row[SELECT_DUPLICATED] += share * o->duplicates;
    row[SELECT_BACKGROUND] += share * (isnan(o->duplicates) ? NAN : background);
    row[SELECT_EMPTY] += share * o->empty;
    if (s->folds > 0) take_held_out(plan, k, fit, o);
    s->models[fit] = result;
    return fit == s->fits - 1 ? end_fits(ctx, plan, row) : RB_OK;
}

rb_error rb_selection_take(rb_context *ctx, int64_t job, rb_bytes result, void *user) {
    const select_plan *plan = user;
    int64_t k = job / plan->per_row, which = job % plan->per_row;
    if (!is_sound(plan, plan->units[k], which, result))
        return rb_fail(ctx, RB_ERROR_FORMAT,
                       "the checkpoint is damaged: a result is not that of a fit");
    plan->selection->cells[k * SELECT_COLUMNS + SELECT_UNITS] = (double)plan->units[k];
    if (which < plan->fits) return take_fit(ctx, plan, k, which, result);
    take_permutation(plan, k, which - plan->fits, result);
    return RB_OK;
}

/* ---- asking ---- */

int64_t rb_selection_rows(const rb_selection *s) {
    return s->n_rows;
}

const char *rb_selection_name(const rb_selection *s, int64_t column) {
    int64_t count = s->permutations > 0 ? SELECT_COLUMNS : SELECT_BEYOND_NOISE;
    return column >= 0 && column < count ? columns[column].key : NULL;
}

double rb_selection_get(const rb_selection *s, int64_t row, const char *name) {
    for (int c = 0; row >= 0 && row < s->n_rows && c < SELECT_COLUMNS; c++)
        if (strcmp(columns[c].key, name) == 0) return s->cells[row * SELECT_COLUMNS + c];
    return NAN;
}

const char *rb_selection_choice(const rb_selection *s, int64_t *units, int64_t *low,
                                int64_t *high) {
    *units = s->units;
    *low = s->low;
    *high = s->high;
    return s->reason;
}

int64_t rb_selection_row(const rb_selection *s) {
    return s->row;
}

rb_table rb_selection_table(const rb_selection *s) {
    return (rb_table){"rows", columns, s->n_rows, s->cells, 0, s};
}
