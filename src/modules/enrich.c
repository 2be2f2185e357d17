/* Modules against known classes of samples.
 *
 * For module and class, of N labelled samples: n of them in the module, K in the class, x in both.
 * By chance x is hypergeometric, P(X = x) = C(K, x) C(N - K, n - x) / C(N, n); the p-value is P(X
 * >= x). The class of smallest p-value is reported; it is chosen among all classes for each of all
 * modules, so the adjusted p-value is multiplied by both numbers.
 */
#include "modules.h"

#include <math.h>
#include <string.h>

static double log_choose(const double *log_factorial, int64_t n, int64_t k) {
    return log_factorial[n] - log_factorial[k] - log_factorial[n - k];
}

double rb_log_hypergeometric_tail(const double *log_factorial, int64_t population, int64_t marked,
                                  int64_t drawn, int64_t overlap) {
    int64_t others = population - marked;
    int64_t min = drawn > others ? drawn - others : 0;
    int64_t max = drawn < marked ? drawn : marked;
    if (overlap <= min) return 0;
    if (overlap > max) return -INFINITY;
    double first = log_choose(log_factorial, marked, overlap) +
                   log_choose(log_factorial, others, drawn - overlap) -
                   log_choose(log_factorial, population, drawn);
    /* sum over x of P(x) / P(overlap), by the ratio of neighbours */
    double term = 1, sum = 1;
    for (int64_t x = overlap; x < max && term > sum * 1e-17; x++) {
        term *= (double)(marked - x) * (double)(drawn - x) /
                ((double)(x + 1) * (double)(others - drawn + x + 1));
        sum += term;
    }
    double tail = first + log(sum);
    return tail < 0 ? tail : 0;
}

/* What every module is compared with, and scratch for one. */
typedef struct comparison {
    const rb_classes *labels;
    double *log_factorial; /* log 0! .. log n! of as many as are labelled */
    int64_t *class_size;   /* labelled samples of each class */
    int64_t *overlap;      /* of these, in the module at hand */
    double log_tests;
} comparison;

static rb_enrichment_row row_of(const comparison *c, int64_t module, int64_t module_size,
                                int64_t class_index) {
    int64_t class_size = c->class_size[class_index], overlap = c->overlap[class_index];
    double log_p = rb_log_hypergeometric_tail(c->log_factorial, c->labels->n_labelled, class_size,
                                              module_size, overlap);
    return (rb_enrichment_row){
        .module = module,
        .class_name = c->labels->names[class_index],
        .module_size = module_size,
        .class_size = class_size,
        .overlap = overlap,
        .precision = (double)overlap / (double)module_size,
        .recall = (double)overlap / (double)class_size,
        .f1 = 2 * (double)overlap / (double)(module_size + class_size),
        .jaccard = (double)overlap / (double)(module_size + class_size - overlap),
        .log10_p_value = log_p / log(10),
        .log10_p_value_adjusted = fmin(0, log_p + c->log_tests) / log(10),
    };
}

static bool is_better(const rb_enrichment_row *a, const rb_enrichment_row *b) {
    return a->log10_p_value < b->log10_p_value ||
           (a->log10_p_value == b->log10_p_value && a->f1 > b->f1);
}

int64_t rb_count_classes(const rb_classes *labels, const rb_module *m, int64_t *counts) {
    int64_t size = 0;
    memset(counts, 0, (size_t)labels->n_classes * sizeof *counts);
    for (int64_t d = 0; d < m->n_samples; d++) {
        int64_t class_index = labels->class_of[m->samples[d].index];
        if (class_index >= 0) {
            counts[class_index]++;
            size++;
        }
    }
    return size;
}

static rb_enrichment_row best_row(const comparison *c, const rb_module *m, int64_t rank) {
    int64_t size = rb_count_classes(c->labels, m, c->overlap);
    rb_enrichment_row best = {.module = rank};
    for (int64_t k = 0; size > 0 && k < c->labels->n_classes; k++) {
        rb_enrichment_row row = row_of(c, rank, size, k);
        if (!best.class_name || is_better(&row, &best)) best = row;
    }
    return best;
}

rb_error rb_modules_check_samples(rb_context *ctx, const rb_modules *modules, int64_t n_samples) {
    for (int64_t r = 0; r < modules->tested; r++) {
        const rb_module *m = &modules->list[r];
        for (int64_t d = 0; d < m->n_samples; d++) {
            if (m->samples[d].index < 0 || m->samples[d].index >= n_samples) {
                return rb_fail(
                    ctx, RB_ERROR_DATA,
                    "the module of unit %lld holds sample %lld, but the data have %lld samples; "
                    "give the data of the modules",
                    (long long)rb_nth(ctx, m->unit), (long long)rb_nth(ctx, m->samples[d].index),
                    (long long)n_samples);
            }
        }
    }
    return RB_OK;
}

static rb_error compare(rb_context *ctx, const rb_modules *modules, const rb_classes *labels,
                        rb_enrichment *e) {
    int64_t n_classes = labels->n_classes;
    rb_scratch scratch = {.ctx = ctx};
    comparison c = {.labels = labels,
                    .log_tests = log((double)n_classes * fmax(1, (double)modules->tested))};
    c.log_factorial = rb_take(&scratch, labels->n_labelled + 1, sizeof *c.log_factorial);
    c.class_size = rb_take(&scratch, n_classes, sizeof *c.class_size);
    c.overlap = rb_take(&scratch, n_classes, sizeof *c.overlap);
    e->rows = rb_alloc(ctx, modules->count, sizeof *e->rows);
    scratch.err = scratch.err || e->rows ? scratch.err : RB_ERROR_MEMORY;
    for (int64_t i = 1; i <= labels->n_labelled && !scratch.err; i++)
        c.log_factorial[i] = c.log_factorial[i - 1] + log((double)i);
    for (int64_t i = 0; i < labels->n_samples && !scratch.err; i++)
        if (labels->class_of[i] >= 0) c.class_size[labels->class_of[i]]++;
    for (int64_t r = 0; r < modules->count && !scratch.err; r++)
        e->rows[r] = best_row(&c, &modules->list[r], r);
    return rb_scratch_end(&scratch);
}

rb_error rb_modules_enrichment(rb_context *ctx, const rb_modules *modules,
                               const rb_classes *classes, rb_enrichment *e) {
    rb_error err = rb_size_check(ctx, "the enrichment", e->size, sizeof *e);
    if (err) return err;
    *e = (rb_enrichment){
        .size = sizeof *e, .n_labelled = classes->n_labelled, .n_classes = classes->n_classes};
    err = rb_modules_check_samples(ctx, modules, classes->n_samples);
    if (err || !rb_classes_differ(ctx, classes)) return err;
    rb_classes own = *classes; /* what rows point into stays */
    rb_names *names = e->text = rb_names_copy(ctx, (const char **)own.names, own.n_classes);
    own.names = names ? (const char *const *)names->text : NULL;
    err = names ? compare(ctx, modules, &own, e) : RB_ERROR_MEMORY;
    e->n_rows = modules->count;
    if (err) rb_enrichment_clear(e);
    return err;
}

void rb_enrichment_clear(rb_enrichment *e) {
    rb_free(e->rows);
    rb_names_free(e->text);
    *e = (rb_enrichment){.size = e->size};
}
