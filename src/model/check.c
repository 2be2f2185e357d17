/* What is wrong with the codes of a model, in one message each, where something is.
 *
 * For methods whose codes are 0 or above and should mostly be 0 (rb_method.sparser). Of many
 * samples a part is looked at, so that a check never takes long beside a fit.
 */
#include "use.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SAMPLES = 20000, RUNS = 16 };

/* Shares of samples, of units, and cosines above which something is said. */
static const double MANY_EMPTY = 0.02, MANY_FULL = 0.1, NEARLY_ALL = 0.9, THE_SAME = 0.95;
enum { FEWEST_UNITS = 5 }; /* of fewer, nearly all is nothing special */

/* Of so many samples, those of even runs are looked at. */
static bool is_looked_at(int64_t n, int64_t sample) {
    return n <= MAX_SAMPLES ||
           (sample / (n / RUNS) < RUNS && sample % (n / RUNS) < MAX_SAMPLES / RUNS);
}

static void count_sample(rb_code_tally *t, rb_dense codes, int64_t i) {
    int64_t count = 0;
    for (int64_t j = 0; j < t->units; j++) {
        double code = rb_dense_get(codes, i, j);
        t->negative |= code < 0;
        count += code != 0;
    }
    t->check->samples++;
    t->check->empty += count == 0;
    t->check->full += t->living >= FEWEST_UNITS && (double)count >= NEARLY_ALL * t->living;
}

/* Codes of samples that are all looked at. */
static void add_codes(rb_code_tally *t, rb_dense codes) {
    if (codes.rows == 0) return;
    rb_gemm_lower(t->scratch.ctx, 1, codes, RB_TRANSPOSED, codes, RB_PLAIN, 1, t->products);
    for (int64_t i = 0; i < codes.rows; i++)
        count_sample(t, codes, i);
}

rb_error rb_tally_add(void *user, int64_t first, const rb_matrix *rows) {
    rb_code_tally *t = user;
    int64_t n = rows->n_samples, begin = 0;
    rb_dense codes = {(void *)rows->values, n, rows->n_features, rows->row_stride, rows->type};
    for (int64_t i = 0; t->looks && i <= n; i++) {
        if (i < n && is_looked_at(t->n, first + i)) continue;
        add_codes(t, rb_dense_rows(codes, begin, i - begin));
        begin = i + 1;
    }
    return RB_OK;
}

/* Are two vectors nearly the same, by the sums of their squares and products? */
static bool are_alike(double aa, double ab, double bb) {
    return aa > 0 && bb > 0 && ab > THE_SAME * sqrt(aa * bb);
}

static bool have_like_loadings(const double *w, int64_t m, int64_t l, int64_t a, int64_t b) {
    double aa = 0, ab = 0, bb = 0;
    for (int64_t k = 0; k < m; k++) {
        double x = w[k * l + a], y = w[k * l + b];
        aa += x * x;
        ab += x * y;
        bb += y * y;
    }
    return are_alike(aa, ab, bb);
}

static void find_duplicates(const rb_code_tally *t, const rb_model *model) {
    int64_t m = 0, l = t->units;
    const double *w = rb_model_array(model, "loadings", &m, NULL);
    rb_dense p = t->products;
    for (int64_t a = 0; w && p.data && a < l; a++) {
        bool found = false;
        for (int64_t b = 0; b < a && !found; b++) {
            found =
                are_alike(rb_dense_get(p, a, a), rb_dense_get(p, a, b), rb_dense_get(p, b, b)) &&
                have_like_loadings(w, m, l, a, b);
            if (found && t->check->duplicates++ == 0) {
                t->check->duplicate[0] = b;
                t->check->duplicate[1] = a;
            }
        }
    }
}

/* Codes that their activation never lets be 0: how many are active then says nothing. */
static bool is_never_0(const rb_model *model) {
    const char *activation = rb_model_attribute(model, "activation");
    return activation && strcmp(activation, "sigmoid") == 0;
}

rb_error rb_tally_begin(rb_context *ctx, const rb_model *model, int64_t n, rb_code_check *check,
                        rb_code_tally *t) {
    int64_t l = rb_model_units(model);
    *check = (rb_code_check){0};
    *t = (rb_code_tally){.scratch.ctx = ctx,
                         .n = n,
                         .units = l,
                         .living = l - rb_model_dead(model),
                         .check = check,
                         .looks = model->method->sparser && n > 0 && !is_never_0(model)};
    if (t->looks) rb_dense_take(&t->scratch, model->type, l, l, &t->products);
    return t->scratch.err;
}

rb_error rb_tally_end(rb_code_tally *t, const rb_model *model, rb_error err) {
    if (err || t->negative)
        *t->check = (rb_code_check){0};
    else if (t->looks)
        find_duplicates(t, model);
    rb_error end = rb_scratch_end(&t->scratch);
    return err ? err : end;
}

void rb_tally_totals(rb_code_tally *t, rb_total *totals) {
    const rb_total all[RB_TALLY_TOTALS] = {{&t->check->samples, 1, RB_KEPT_INTEGER},
                                           {&t->check->empty, 1, RB_KEPT_INTEGER},
                                           {&t->check->full, 1, RB_KEPT_INTEGER},
                                           {&t->negative, 1, RB_KEPT_FLAG},
                                           rb_total_of(t->products)};
    memcpy(totals, all, sizeof all);
}

struct look {
    rb_coder coder;
    rb_code_tally *tally;
};

/* A part of all samples, or so many of the runs. */
static rb_error look_at_group(rb_context *ctx, void *user, int64_t groups, int64_t group) {
    struct look *look = user;
    int64_t n = look->tally->n, runs = n > MAX_SAMPLES ? RUNS : groups, each = runs / groups;
    rb_error err = RB_OK;
    for (int64_t run = group * each; !err && run < (group + 1) * each; run++) {
        int64_t first = n > MAX_SAMPLES ? n / runs * run : n * run / runs;
        int64_t end = n > MAX_SAMPLES ? first + MAX_SAMPLES / RUNS : n * (run + 1) / runs;
        err = rb_coder_run(ctx, &look->coder, first, end, rb_tally_add, look->tally);
    }
    return err;
}

rb_error rb_tally_walk(rb_context *ctx, const rb_model *model, rb_source *source,
                       rb_code_tally *t) {
    struct look look = {.tally = t};
    rb_total totals[RB_TALLY_TOTALS + 1] = {{0}};
    if (!t->looks) return RB_OK;
    rb_tally_totals(t, totals);
    int64_t groups = rb_totals_groups(totals, rb_smaller(t->n, MAX_SAMPLES), 1, MAX_SAMPLES / RUNS);
    rb_error err = t->scratch.err;
    err = rb_comm_agree(ctx, err ? err : rb_coder_start(ctx, &look.coder, model, source));
    err = err ? err : rb_totals_add(ctx, totals, groups, false, look_at_group, &look);
    rb_coder_clear(&look.coder);
    return err;
}

rb_error rb_model_check(rb_context *ctx, const rb_model *model, rb_source *source,
                        rb_code_check *check) {
    rb_code_tally t;
    (void)rb_tally_begin(ctx, model, rb_source_samples(source), check, &t); /* t keeps its error */
    return rb_tally_end(&t, model, rb_tally_walk(ctx, model, source, &t));
}

static double percent(const rb_code_check *check, int64_t count) {
    return 100 * (double)count / (double)check->samples;
}

static void warn_of_codes(rb_context *ctx, const rb_model *model, const rb_code_check *c) {
    const rb_method *method = model->method;
    bool all_live = rb_model_dead(model) == 0; /* else more of them would die */
    if (c->empty == c->samples) {
        rb_log(ctx, RB_LOG_WARNING, "no sample has an active unit; use %s, or fewer units",
               method->denser);
        return;
    }
    if ((double)c->empty > MANY_EMPTY * (double)c->samples) {
        rb_log(ctx, RB_LOG_WARNING,
               "%.3g %% of the samples have no active unit; where causes are rare that is right, "
               "else use %s%s",
               percent(c, c->empty), all_live ? "more units or " : "", method->denser);
    }
    if ((double)c->full > MANY_FULL * (double)c->samples) {
        rb_log(ctx, RB_LOG_WARNING,
               "in %.3g %% of the samples nine in ten units are active, so units hardly "
               "distinguish them; use fewer units or %s",
               percent(c, c->full), method->sparser);
    }
    if (c->duplicates > 0) {
        rb_log(ctx, RB_LOG_WARNING,
               "%lld unit%s nearly the same as another one (the first: %lld and %lld); use fewer "
               "units",
               (long long)c->duplicates, c->duplicates == 1 ? " is" : "s are",
               (long long)c->duplicate[0], (long long)c->duplicate[1]);
    }
}

/* The objective of the best iteration, where the fit has left it by more than a hundredth of what
 * it had gained: attribute best_iteration, from 1. */
static void warn_of_end(rb_context *ctx, const rb_model *model) {
    const char *best = rb_model_attribute(model, "best_iteration");
    double there, last;
    if (best && !rb_model_history(model, strtoll(best, NULL, 10) - 1, &there, NULL, NULL) &&
        !rb_model_history(model, rb_model_iterations(model) - 1, &last, NULL, NULL)) {
        rb_log(ctx, RB_LOG_WARNING,
               "the objective ended at %.6g, below the %.6g of iteration %s; stop there, or use a "
               "smaller `eta`",
               last, there, best);
    }
}

static void warn_of_dead(rb_context *ctx, const rb_model *model) {
    if (rb_model_units(model) > rb_model_dead(model)) return;
    rb_log(ctx, RB_LOG_WARNING,
           "every unit is dead, so noise alone explains the samples; check their scale and offset "
           "with `rarebit check`");
}

void rb_model_warn(rb_context *ctx, const rb_model *model, const rb_code_check *check) {
    if (check->samples > 0)
        warn_of_codes(ctx, model, check);
    else
        warn_of_dead(ctx, model);
    warn_of_end(ctx, model);
}
