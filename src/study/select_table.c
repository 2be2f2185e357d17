/* The table of a selection: what all fits of a number of units say together. */
#include "select.h"

#include <math.h>
#include <string.h>

static const double FAMILY_WISE = 0.05;

static const char *const names[] = {
    [SELECT_UNITS] = "units",
    [SELECT_OBJECTIVE] = "objective",
    [SELECT_OBJECTIVE_MEAN] = "objective_mean",
    [SELECT_HELD_OUT] = "held_out",
    [SELECT_HELD_OUT_SE] = "held_out_se",
    [SELECT_HELD_OUT_ERROR] = "held_out_error",
    [SELECT_ENTRY_ERROR] = "entry_error",
    [SELECT_MATCH] = "match",
    [SELECT_SHARED] = "shared",
    [SELECT_USED] = "used",
    [SELECT_DUPLICATED] = "duplicated",
    [SELECT_BACKGROUND] = "background",
    [SELECT_EMPTY] = "empty",
    [SELECT_BEYOND_NOISE] = "beyond_noise",
};

rb_error rb_selection_new(rb_context *ctx, const select_plan *plan, rb_selection **out) {
    rb_selection *s = *out = rb_alloc_zero(ctx, 1, sizeof *s);
    if (!s) return RB_ERROR_MEMORY;
    s->n_rows = plan->n_rows;
    s->folds = plan->chosen.folds;
    s->restarts = plan->chosen.restarts;
    s->permutations = plan->chosen.permutations;
    s->cells = rb_alloc_zero(ctx, s->n_rows * SELECT_COLUMNS, sizeof *s->cells);
    s->n_samples = plan->matrix->n_samples;
    s->held_out = rb_alloc_zero(ctx, s->n_rows * s->n_samples, sizeof *s->held_out);
    s->left_out = rb_alloc_zero(ctx, s->n_samples, sizeof *s->left_out);
    s->largest = rb_alloc_zero(ctx, s->permutations, sizeof *s->largest);
    s->models = rb_alloc_zero(ctx, s->restarts, sizeof *s->models);
    if (!s->cells || !s->held_out || !s->left_out || !s->largest || !s->models)
        return RB_ERROR_MEMORY;
    for (int64_t k = 0; k < s->n_rows; k++)
        s->cells[k * SELECT_COLUMNS + SELECT_BEYOND_NOISE] = s->permutations > 0 ? 0 : NAN;
    return RB_OK;
}

void rb_selection_free(rb_selection *s) {
    if (!s) return;
    rb_free(s->cells);
    rb_free(s->held_out);
    rb_free(s->left_out);
    rb_free(s->largest);
    rb_free(s->models);
    rb_free(s);
}

/* ---- match over restarts ---- */

/* Adds what the units of two models have in common: codes have mean 0 and length 1. */
static rb_error compare(rb_context *ctx, rb_bytes one, rb_bytes other, int64_t n, double sums[2]) {
    const select_outcome *a = one.data, *b = other.data;
    const float *x = (const float *)(a + 1), *y = (const float *)(b + 1);
    int64_t max = a->living > b->living ? a->living : b->living;
    rb_scratch scratch = {.ctx = ctx};
    double *gain = rb_take(&scratch, a->living * b->living, sizeof *gain);
    int64_t *partner = rb_take(&scratch, a->living, sizeof *partner);
    for (int64_t e = 0; !scratch.err && e < a->living * b->living; e++)
        gain[e] = rb_dot(ctx, RB_FLOAT32, n, x + e / b->living * n, y + e % b->living * n);
    if (!scratch.err) scratch.err = rb_assign(ctx, a->living, b->living, gain, partner);
    for (int64_t j = 0; !scratch.err && j < a->living; j++) {
        double r = partner[j] >= 0 ? gain[j * b->living + partner[j]] : 0;
        sums[0] += r / (double)max;
        sums[1] += (r > 0.9) / (double)max;
    }
    return rb_scratch_end(&scratch);
}

static rb_error end_restarts(rb_context *ctx, const select_plan *plan, double *row) {
    const rb_selection *s = plan->selection;
    double sums[2] = {0}, pairs = 0;
    rb_error err = RB_OK;
    for (int64_t a = 0; !err && a < s->restarts; a++)
        for (int64_t b = 0; !err && b < a; b++, pairs++)
            err = compare(ctx, s->models[a], s->models[b], plan->compared->n_samples, sums);
    row[SELECT_MATCH] = pairs > 0 ? sums[0] / pairs : NAN;
    row[SELECT_SHARED] = pairs > 0 ? sums[1] / pairs : NAN;
    return err;
}

/* ---- against noise ---- */

/* Units whose information is larger than that of all units of enough permuted data that the chance
 * of any such unit, without structure, is at most 0.05: the family-wise rate of permute.c. */
static double count_beyond(const rb_selection *s, const rb_bytes *model, int64_t units) {
    const char *at = (const char *)model->data + model->size - units * (int64_t)sizeof(double);
    double beyond = 0;
    for (int64_t u = 0; u < units; u++) {
        double information, larger = 0;
        memcpy(&information, at + u * (int64_t)sizeof information, sizeof information);
        for (int64_t b = 0; b < s->permutations; b++)
            larger += s->largest[b] >= information;
        beyond += 1 + larger <= FAMILY_WISE * (1 + (double)s->permutations) * (1 + 1e-12);
    }
    return beyond;
}

static void take_permutation(const select_plan *plan, int64_t k, int64_t b, rb_bytes result) {
    rb_selection *s = plan->selection;
    double *beyond = s->cells + k * SELECT_COLUMNS + SELECT_BEYOND_NOISE;
    memcpy(&s->largest[b], result.data, sizeof s->largest[b]);
    for (int64_t r = 0; b == s->permutations - 1 && r < s->restarts; r++)
        *beyond += count_beyond(s, &s->models[r], plan->units[k]) / (double)s->restarts;
}

/* ---- taking results ---- */

static rb_error take_restart(rb_context *ctx, const select_plan *plan, double *row, int64_t r,
                             rb_bytes result) {
    rb_selection *s = plan->selection;
    const select_outcome *o = result.data;
    double share = 1 / (double)s->restarts;
    row[SELECT_OBJECTIVE] = r == 0 ? o->objective : fmax(row[SELECT_OBJECTIVE], o->objective);
    row[SELECT_OBJECTIVE_MEAN] += share * o->objective;
    row[SELECT_USED] += share * (double)o->living;
    row[SELECT_DUPLICATED] += share * o->duplicates;
    row[SELECT_BACKGROUND] += share * o->background;
    row[SELECT_EMPTY] += share * o->empty;
    s->models[r] = result;
    return r == s->restarts - 1 ? end_restarts(ctx, plan, row) : RB_OK;
}

static int64_t samples_of(const select_plan *plan, int64_t fold) {
    int64_t count = 0;
    for (int64_t i = 0; i < plan->matrix->n_samples; i++)
        count += plan->fold_of[i] == fold;
    return count;
}

static bool is_sound(const select_plan *plan, int64_t units, int64_t which, rb_bytes result) {
    const select_outcome *o = result.data;
    if (which >= plan->chosen.restarts + plan->chosen.folds)
        return result.size == (int64_t)sizeof(double);
    int64_t codes = result.size - (int64_t)sizeof *o;
    int64_t row = plan->compared->n_samples * (int64_t)sizeof(float);
    int64_t fold = which - plan->chosen.restarts;
    if (fold < 0 && plan->chosen.permutations > 0) codes -= units * (int64_t)sizeof(double);
    if (codes < 0) return false;
    return fold >= 0 ? o->held_out_samples == samples_of(plan, fold) &&
                           codes == o->held_out_samples * (int64_t)sizeof(double)
                     : o->living >= 0 && o->living <= codes && codes == o->living * row;
}

static void put_likelihood(rb_selection *s, int64_t at, double value, const select_outcome *o) {
    s->means |= isnan(value);
    s->held_out[at] = isnan(value) ? o->held_out : value;
}

rb_error rb_selection_take(rb_context *ctx, int64_t job, rb_bytes result, void *user) {
    const select_plan *plan = user;
    rb_selection *s = plan->selection;
    int64_t k = job / plan->per_row, which = job % plan->per_row, fold = which - s->restarts;
    double *row = s->cells + k * SELECT_COLUMNS;
    const select_outcome *o = result.data;
    if (!is_sound(plan, plan->units[k], which, result))
        return rb_fail(ctx, RB_ERROR_FORMAT, "the checkpoint has a result that no fit gives");
    row[SELECT_UNITS] = (double)plan->units[k];
    if (which < s->restarts) return take_restart(ctx, plan, row, which, result);
    if (fold >= s->folds) {
        take_permutation(plan, k, fold - s->folds, result);
        return RB_OK;
    }
    double share = (double)o->held_out_samples / (double)plan->matrix->n_samples;
    row[SELECT_HELD_OUT] += share * o->held_out;
    row[SELECT_HELD_OUT_ERROR] += share * o->held_out_error;
    row[SELECT_ENTRY_ERROR] += share * o->entry_error;
    const double *likelihoods = (const double *)(o + 1);
    for (int64_t i = 0; i < s->n_samples; i++)
        if (plan->fold_of[i] == fold) put_likelihood(s, k * s->n_samples + i, *likelihoods++, o);
    return RB_OK;
}

/* ---- asking ---- */

int64_t rb_selection_rows(const rb_selection *s) {
    return s->n_rows;
}

const char *rb_selection_name(const rb_selection *s, int64_t column) {
    int64_t count = s->permutations > 0 ? SELECT_COLUMNS : SELECT_BEYOND_NOISE;
    return column >= 0 && column < count ? names[column] : NULL;
}

double rb_selection_get(const rb_selection *s, int64_t row, const char *name) {
    for (int c = 0; row >= 0 && row < s->n_rows && c < SELECT_COLUMNS; c++)
        if (strcmp(names[c], name) == 0) return s->cells[row * SELECT_COLUMNS + c];
    return NAN;
}

const char *rb_selection_choice(const rb_selection *s, int64_t *units, int64_t *low,
                                int64_t *high) {
    *units = s->units;
    *low = s->low;
    *high = s->high;
    return s->reason;
}
