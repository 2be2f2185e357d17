/* Covariates that are bound to a source. */
#include "data.h"

#include <math.h>
#include <string.h>

static void clear(rb_source_covariate *covariate) {
    rb_free(covariate->name);
    rb_names_free(covariate->levels);
    rb_free(covariate->values);
}

void rb_source_covariates_free(rb_source_covariates *covariates) {
    for (int64_t i = 0; covariates && i < covariates->count; i++)
        clear(&covariates->list[i]);
    rb_free(covariates);
}

/* ---- what is bound ---- */

/* Squares of what is larger, and their sums, could overflow. */
static const double largest = 1e100;

static bool ends_in(const char *text, const char *end) {
    size_t length = strlen(text), wanted = strlen(end);
    return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

static rb_error check(rb_context *ctx, const rb_source *source, const char *name, int64_t count) {
    if (*name == '\0' || strchr(name, ',') || ends_in(name, ":groups") ||
        ends_in(name, ":numbers")) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "a covariate cannot be called '%s'; use a name without commas that does not "
                       "end in ':groups' or ':numbers'",
                       name);
    }
    if (count != source->n_samples) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the covariate '%s' has %lld values, but there are %lld samples", name,
                       (long long)count, (long long)source->n_samples);
    }
    return RB_OK;
}

/* Covariates that are those of the source alone; NULL: out of memory. */
static rb_source_covariates *own(rb_context *ctx, rb_source *source) {
    if (!source->own_covariates) {
        source->own_covariates = rb_alloc_zero(ctx, 1, sizeof *source->own_covariates);
        source->covariates = source->own_covariates;
        source->covariates_first = 0;
    }
    return source->own_covariates;
}

/* Takes over levels and values, also on failure. */
static rb_error put(rb_context *ctx, rb_source *source, const char *name, rb_names *levels,
                    double *values) {
    rb_source_covariate made = {rb_copy_text(ctx, name), levels, values};
    rb_source_covariates *all = made.name && values ? own(ctx, source) : NULL;
    rb_error err = all ? RB_OK : RB_ERROR_MEMORY;
    int64_t at = 0;
    while (all && at < all->count && strcmp(all->list[at].name, name) != 0)
        at++;
    if (!err && at == RB_COVARIATES_MAX) {
        err = rb_fail(ctx, RB_ERROR_ARGUMENT, "there are %d covariates, which is the limit",
                      RB_COVARIATES_MAX);
    }
    if (err) {
        clear(&made);
        return err;
    }
    if (at < all->count)
        clear(&all->list[at]);
    else
        all->count++;
    all->list[at] = made;
    return RB_OK;
}

static rb_error take_one(rb_context *ctx, const rb_source_covariate *from, int64_t first,
                         const int64_t *samples, rb_source *to) {
    double *values = rb_alloc(ctx, to->n_samples, sizeof *values);
    const rb_names *levels = from->levels;
    rb_names *copy =
        levels ? rb_names_copy(ctx, (const char *const *)levels->text, levels->count) : NULL;
    for (int64_t i = 0; values && i < to->n_samples; i++)
        values[i] = from->values[first + samples[i]];
    if (values && (copy || !levels)) return put(ctx, to, from->name, copy, values);
    rb_names_free(copy);
    rb_free(values);
    return RB_ERROR_MEMORY;
}

rb_error rb_source_take_covariates(rb_context *ctx, const rb_source *from, const int64_t *samples,
                                   rb_source *to) {
    rb_error err = RB_OK;
    for (int64_t i = 0; from->covariates && !err && i < from->covariates->count; i++)
        err = take_one(ctx, &from->covariates->list[i], from->covariates_first, samples, to);
    return err;
}

rb_error rb_source_set_numbers(rb_context *ctx, rb_source *source, const char *name,
                               const double *values, int64_t count) {
    rb_error err = check(ctx, source, name, count);
    for (int64_t i = 0; !err && i < count; i++) {
        if (fabs(values[i]) > largest) {
            err = rb_fail(ctx, RB_ERROR_ARGUMENT,
                          "the covariate '%s' of sample %lld (counted from %d) is %s", name,
                          (long long)rb_nth(ctx, i), ctx->first,
                          isinf(values[i]) ? "infinite" : "beyond 1e100; give it in larger units");
        }
    }
    if (err) return err;
    return put(ctx, source, name, NULL, rb_copy(ctx, values, count, sizeof *values));
}

/* Levels in alphabetical order, and which of them each sample has. */
static rb_error number(rb_context *ctx, const char *const *groups, int64_t count, rb_names **levels,
                       double *values) {
    rb_scratch scratch = {.ctx = ctx};
    const char **text = rb_take(&scratch, count, sizeof *text);
    for (int64_t i = 0; !scratch.err && i < count; i++)
        text[i] = groups[i] ? groups[i] : "";
    const rb_names given = {count, (char **)text};
    rb_named *sorted = scratch.err ? NULL : rb_names_sort(ctx, &given);
    int64_t different = 0;
    for (int64_t e = 0; sorted && e < count; e++) {
        const char *level = sorted[e].text;
        if (*level && (different == 0 || strcmp(text[different - 1], level) != 0))
            text[different++] = level; /* of places that were sorted already, or are not read */
        values[sorted[e].index] = *level ? (double)(different - 1) : NAN;
    }
    *levels = sorted ? rb_names_copy(ctx, text, different) : NULL;
    rb_free(sorted);
    (void)rb_scratch_end(&scratch);
    return *levels ? RB_OK : RB_ERROR_MEMORY;
}

rb_error rb_source_set_groups(rb_context *ctx, rb_source *source, const char *name,
                              const char *const *groups, int64_t count) {
    rb_names *levels = NULL;
    rb_error err = check(ctx, source, name, count);
    if (err) return err;
    double *values = rb_alloc(ctx, count, sizeof *values);
    err = values ? number(ctx, groups, count, &levels, values) : RB_ERROR_MEMORY;
    if (err) {
        rb_free(values);
        return err;
    }
    return put(ctx, source, name, levels, values);
}
