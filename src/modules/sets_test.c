/* Sets of features in modules: by their overlap, and by the ranks of the loadings.
 *
 * Of N features in use, K are in a set, n are in a module with one sign, x in both. By chance x is
 * hypergeometric, and the p-value is P(X >= x) (Fisher's exact test, one-sided; rb_log_
 * hypergeometric_tail). Expected are n K / N.
 *
 * The other question needs no module: the loadings of a unit, with their signs, are ranked, and
 * the ranks of the set's features compared with those of the others (ranks.c).
 *
 * The false discovery rate (discoveries.c) is over two families: the overlaps of all modules, both
 * signs and all sets, without those of a module that has no feature of that sign; and all ranks.
 */
#include "modules.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

const rb_option_group *rb_sets_group(void) {
    static const rb_option table[] = {
        {"gmt-min", 0, RB_OPTION_INTEGER, offsetof(rb_sets_options, min), "5", 1, INT32_MAX, NULL,
         "N", "leave out sets with fewer features in use"},
        {"gmt-max", 0, RB_OPTION_INTEGER, offsetof(rb_sets_options, max), "500", 1, INT32_MAX, NULL,
         "N", "leave out sets with more features in use"},
        {0},
    };
    static const rb_option_group group = {sizeof(rb_option), "Feature sets", table,
                                          sizeof(rb_sets_options), NULL};
    return &group;
}

typedef struct testing {
    rb_context *ctx;
    const rb_modules *modules;
    const rb_set_members *sets;
    int64_t n, n_units;
    const double *loadings; /* n x n_units */
    rb_ranking ranking;     /* of a unit's loadings; its log_factorial serves the overlaps */
    double *values;         /* n */
    int64_t *place;         /* n: of a feature in the module, from 1; 0: it is not in it */
    rb_set_tests *out;
    rb_buffer rows, features;
    int64_t n_features; /* kept in `features` */
} testing;

/* ---- rows ---- */

/* Where a row's features begin, until all are there and no longer move. */
static rb_error add_row(testing *t, const rb_set_test *row) {
    rb_set_tests *out = t->out;
    if (out->n_rows == t->rows.capacity &&
        rb_buffer_hold(t->ctx, &t->rows, 2 * out->n_rows + 256, sizeof *row))
        return RB_ERROR_MEMORY;
    ((rb_set_test *)t->rows.data)[out->n_rows++] = *row;
    return RB_OK;
}

/* The features of a set that are in the module, largest |weight| first: by their place in it. */
static rb_error keep_features(testing *t, const rb_module *m, int64_t set, int64_t overlap) {
    const int64_t *members = t->sets->feature.data;
    if (t->n_features + overlap > t->features.capacity &&
        rb_buffer_hold(t->ctx, &t->features, 2 * (t->n_features + overlap) + 256, sizeof *members))
        return RB_ERROR_MEMORY;
    int64_t *kept = (int64_t *)t->features.data + t->n_features, count = 0;
    for (int64_t i = t->sets->start[set]; i < t->sets->start[set + 1]; i++)
        if (t->place[members[i]]) kept[count++] = t->place[members[i]] - 1;
    rb_sort_integers(kept, count);
    for (int64_t i = 0; i < count; i++)
        kept[i] = m->features[kept[i]].index;
    t->n_features += count;
    return RB_OK;
}

static int64_t set_size(const testing *t, int64_t set) {
    return t->sets->start[set + 1] - t->sets->start[set];
}

/* ---- overlaps ---- */

static rb_error test_overlap(testing *t, int64_t rank, rb_set_question question, int64_t size,
                             int64_t set) {
    const rb_module *m = &t->modules->list[rank];
    const int64_t *members = t->sets->feature.data;
    int64_t overlap = 0, marked = set_size(t, set);
    for (int64_t i = t->sets->start[set]; i < t->sets->start[set + 1]; i++)
        overlap += t->place[members[i]] > 0;
    if (overlap == 0) return RB_OK;
    double expected = (double)size * (double)marked / (double)t->n;
    rb_set_test row = {.module = rank,
                       .unit = m->unit,
                       .set = t->sets->set[set],
                       .question = question,
                       .set_size = marked,
                       .size = size,
                       .overlap = overlap,
                       .expected = expected,
                       .fold = (double)overlap / expected,
                       .auc = NAN};
    row.log10_p_value =
        rb_log_hypergeometric_tail(t->ranking.log_factorial, t->n, marked, size, overlap);
    rb_error err = keep_features(t, m, set, overlap);
    return err ? err : add_row(t, &row);
}

/* One sign of a module against all sets. */
static rb_error test_overlaps(testing *t, int64_t rank, rb_set_question question) {
    const rb_module *m = &t->modules->list[rank];
    int64_t size = 0;
    rb_error err = RB_OK;
    for (int64_t d = 0; d < m->n_features; d++) {
        if ((m->features[d].weight > 0) != (question == RB_SET_UP)) continue;
        t->place[m->features[d].index] = d + 1;
        size++;
    }
    for (int64_t s = 0; size > 0 && s < t->sets->count && !err; s++)
        err = test_overlap(t, rank, question, size, s);
    t->out->n_overlap_tests += size > 0 ? t->sets->count : 0;
    for (int64_t d = 0; d < m->n_features; d++)
        t->place[m->features[d].index] = 0;
    return err;
}

/* ---- ranks ---- */

static rb_error test_rank(testing *t, int64_t rank, int64_t set) {
    const int64_t *members = t->sets->feature.data;
    int64_t size = set_size(t, set);
    double sum = 0;
    for (int64_t i = t->sets->start[set]; i < t->sets->start[set + 1]; i++)
        sum += t->ranking.ranks[members[i]];
    rb_set_test row = {.module = rank,
                       .unit = t->modules->list[rank].unit,
                       .set = t->sets->set[set],
                       .question = RB_SET_RANK,
                       .set_size = size,
                       .size = t->n,
                       .overlap = size,
                       .expected = NAN,
                       .fold = NAN,
                       .auc = rb_ranking_auc(&t->ranking, size, sum)};
    rb_error err = rb_ranking_test(&t->ranking, size, sum, &row.log10_p_value);
    if (err || isnan(row.log10_p_value)) return err;
    t->out->n_rank_tests++;
    return add_row(t, &row);
}

static rb_error test_ranks(testing *t, int64_t rank) {
    const rb_module *m = &t->modules->list[rank];
    double sign = m->n_samples > 0 && m->samples[0].weight < 0 ? -1 : 1; /* as of its features */
    rb_error err = RB_OK;
    for (int64_t k = 0; k < t->n; k++)
        t->values[k] = sign * t->loadings[k * t->n_units + m->unit];
    rb_ranking_set(&t->ranking, t->values, t->n);
    for (int64_t s = 0; s < t->sets->count && !err; s++)
        err = test_rank(t, rank, s);
    return err;
}

/* ---- all of it ---- */

static int by_p_value(const void *a, const void *b) {
    const rb_set_test *x = a, *y = b;
    if (x->module != y->module) return x->module < y->module ? -1 : 1;
    if (x->question != y->question) return x->question < y->question ? -1 : 1;
    if (x->log10_p_value != y->log10_p_value) return x->log10_p_value < y->log10_p_value ? -1 : 1;
    return (x->set > y->set) - (x->set < y->set);
}

static int by_family(const void *a, const void *b) {
    const rb_set_test *x = a, *y = b;
    return (x->question == RB_SET_RANK) - (y->question == RB_SET_RANK);
}

/* The rows are the result's from here on; their features, which lie in the order of the rows with
 * an overlap, no longer move. */
static rb_error finish(testing *t) {
    rb_set_tests *out = t->out;
    int64_t count = out->n_rows, overlaps = 0, at = 0;
    out->rows = t->rows.data;
    out->features = t->features.data;
    t->rows = t->features = (rb_buffer){0};
    for (int64_t i = 0; i < count; i++) {
        if (out->rows[i].question == RB_SET_RANK) continue;
        out->rows[i].features = out->features + at;
        at += out->rows[i].overlap;
        overlaps++;
    }
    if (count == 0) return RB_OK;
    qsort(out->rows, (size_t)count, sizeof *out->rows, by_family);
    rb_chance_rows family = {&out->rows->p_value, sizeof *out->rows, overlaps};
    rb_error err = rb_chances_adjust(t->ctx, &family, out->n_overlap_tests);
    family.first = rb_chance_row(&family, overlaps);
    family.count = count - overlaps;
    err = err ? err : rb_chances_adjust(t->ctx, &family, out->n_rank_tests);
    if (err) return err;
    qsort(out->rows, (size_t)count, sizeof *out->rows, by_p_value);
    while (out->n_rows > 0 && out->rows[out->n_rows - 1].module >= t->modules->count)
        out->n_rows--;
    return RB_OK;
}

static rb_error test_all(testing *t) {
    rb_error err = RB_OK;
    for (int64_t r = 0; r < t->modules->tested && !err; r++) {
        err = rb_check_stop(t->ctx);
        err = err ? err : test_overlaps(t, r, RB_SET_UP);
        err = err ? err : test_overlaps(t, r, RB_SET_DOWN);
        err = err ? err : test_ranks(t, r);
    }
    return err ? err : finish(t);
}

/* Modules that were read from a file may be those of another model. */
static rb_error check_modules(const testing *t) {
    for (int64_t r = 0; r < t->modules->tested; r++) {
        const rb_module *m = &t->modules->list[r];
        bool fits = m->unit >= 0 && m->unit < t->n_units;
        for (int64_t d = 0; fits && d < m->n_features; d++)
            fits = m->features[d].index >= 0 && m->features[d].index < t->n;
        if (!fits) {
            return rb_fail(t->ctx, RB_ERROR_DATA,
                           "module %lld has a unit or a feature that the model does not have; give "
                           "modules of this model",
                           (long long)r);
        }
    }
    return RB_OK;
}

static rb_error test_matched(testing *t, const rb_model *model) {
    int64_t rows = 0;
    t->n = rb_model_features(model);
    t->loadings = rb_model_array(model, "loadings", &rows, &t->n_units);
    if (!t->loadings || rows != t->n) {
        return rb_fail(t->ctx, RB_ERROR_UNSUPPORTED,
                       "sets need a model with loadings, which method '%s' does not give",
                       rb_model_method(model));
    }
    rb_error err = check_modules(t);
    err = err ? err : rb_ranking_begin(t->ctx, &t->ranking, t->n);
    if (err) return err;
    rb_scratch scratch = {.ctx = t->ctx};
    t->values = rb_take(&scratch, t->n, sizeof *t->values);
    t->place = rb_take(&scratch, t->n, sizeof *t->place);
    if (!scratch.err) scratch.err = test_all(t);
    rb_free(t->rows.data);
    rb_free(t->features.data);
    rb_ranking_clear(&t->ranking);
    return rb_scratch_end(&scratch);
}

rb_error rb_modules_test_sets(rb_context *ctx, const rb_modules *modules, const rb_model *model,
                              const rb_feature_sets *sets, const rb_options *given,
                              rb_set_tests *tests) {
    rb_sets_options options;
    rb_set_members members;
    rb_error err = rb_size_check(ctx, "the tests", tests->size, sizeof *tests);
    if (err) return err;
    *tests = (rb_set_tests){.size = sizeof *tests};
    err = rb_options_take(ctx, given, rb_sets_group(), &options);
    if (!err && options.min > options.max) {
        err = rb_fail(ctx, RB_ERROR_ARGUMENT,
                      "`gmt-min` is %lld, but must be at most `gmt-max`, %lld",
                      (long long)options.min, (long long)options.max);
    }
    err = err ? err : rb_sets_match(ctx, model, sets, &options, &members);
    if (err) return err;
    *tests = (rb_set_tests){.size = sizeof *tests,
                            .n_features = rb_model_features(model),
                            .n_sets = members.count,
                            .n_small = members.n_small,
                            .n_large = members.n_large};
    testing t = {.ctx = ctx, .modules = modules, .sets = &members, .out = tests};
    err = test_matched(&t, model);
    rb_set_members_clear(&members);
    if (err) rb_set_tests_clear(tests);
    return err;
}

void rb_set_tests_clear(rb_set_tests *tests) {
    rb_free(tests->rows);
    rb_free(tests->features);
    *tests = (rb_set_tests){.size = tests->size};
}
