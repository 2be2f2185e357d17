/* Effects of covariates: their terms, bound to a source. regress_fit.c finds the coefficients. */
#include "rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void rb_regress_free(rb_regress *regress) {
    for (int64_t t = 0; regress && t < regress->n_terms; t++) {
        rb_free(regress->terms[t].name);
        rb_names_free(regress->terms[t].levels);
    }
    if (regress) {
        rb_free(regress->text);
        rb_free(regress->means);
        rb_free(regress->coefficients);
    }
    rb_free(regress);
}

static int64_t columns_of(const rb_regress_term *term) {
    return term->levels ? term->levels->count - 1 : 1;
}

rb_error rb_regress_complete(rb_context *ctx, rb_regress *regress) {
    static const char *const kinds[] = {":numbers", ":groups"};
    size_t size = 1, used = 0;
    regress->n_columns = 0;
    for (int64_t t = 0; t < regress->n_terms; t++) {
        size += strlen(regress->terms[t].name) + strlen(kinds[0]) + 1;
        regress->n_columns += columns_of(&regress->terms[t]);
    }
    regress->text = rb_alloc(ctx, (int64_t)size, 1);
    if (!regress->text) return RB_ERROR_MEMORY;
    regress->text[0] = '\0';
    for (int64_t t = 0; t < regress->n_terms; t++) {
        const rb_regress_term *term = &regress->terms[t];
        used += (size_t)snprintf(regress->text + used, size - used, "%s%s%s", t ? "," : "",
                                 term->name, kinds[term->levels != NULL]);
    }
    return RB_OK;
}

rb_regress *rb_regress_copy(rb_context *ctx, const rb_regress *from, int64_t n_features) {
    rb_regress *to = rb_alloc_zero(ctx, 1, sizeof *to);
    bool done = to;
    for (int64_t t = 0; done && t < from->n_terms; t++) {
        const rb_names *levels = from->terms[t].levels;
        rb_regress_term *term = &to->terms[to->n_terms++];
        term->name = rb_copy_text(ctx, from->terms[t].name);
        if (levels)
            term->levels = rb_names_copy(ctx, (const char *const *)levels->text, levels->count);
        done = term->name && (!levels || term->levels);
    }
    if (done) to->means = rb_copy(ctx, from->means, from->n_columns, sizeof(double));
    if (done)
        to->coefficients =
            rb_copy(ctx, from->coefficients, n_features * from->n_columns, sizeof(double));
    done = done && to->means && to->coefficients && rb_regress_complete(ctx, to) == RB_OK;
    if (!done) rb_regress_free(to);
    return done ? to : NULL;
}

/* ---- which covariates ---- */

static const rb_source_covariate *find(const rb_source *source, const char *name) {
    const rb_source_covariates *all = source->covariates;
    for (int64_t i = 0; all && i < all->count; i++)
        if (strcmp(all->list[i].name, name) == 0) return &all->list[i];
    return NULL;
}

/* The value of a sample of the source. */
static double value_of(const rb_source *source, const rb_source_covariate *covariate,
                       int64_t sample) {
    return covariate->values[source->covariates_first + sample];
}

/* "A, B, C and 4 more" */
static void list_levels(const rb_names *levels, char *buffer, size_t size) {
    enum { SHOWN = 8 };
    size_t used = 0;
    for (int64_t i = 0; i < levels->count && i < SHOWN && used < size; i++)
        used +=
            (size_t)snprintf(buffer + used, size - used, "%s%s", i ? ", " : "", levels->text[i]);
    if (levels->count > SHOWN && used < size)
        snprintf(buffer + used, size - used, " and %lld more", (long long)(levels->count - SHOWN));
}

/* "sample 3 (TCGA-02) has no 'batch'": RB_ERROR_DATA. */
static rb_error refuse_sample(rb_context *ctx, const rb_source *source, int64_t sample,
                              const char *what) {
    const char *name = rb_source_sample_name(source, sample);
    const char *path = rb_source_place(source, &sample);
    return rb_fail(ctx, RB_ERROR_DATA, "%s%ssample %lld%s%s%s%s %s", path ? path : "",
                   path ? ": " : "", (long long)rb_nth(ctx, sample), name ? " (" : "",
                   name ? name : "", name ? ")" : "", rb_counted(ctx, name), what);
}

static rb_error check_known(rb_context *ctx, const rb_source *source,
                            const rb_source_covariate *covariate) {
    for (int64_t i = 0; i < source->n_samples; i++) {
        if (isnan(value_of(source, covariate, i))) {
            char what[256];
            snprintf(what, sizeof what,
                     "has no %s, whose effects are to be removed; add the value, or leave the "
                     "sample out",
                     covariate->name);
            return refuse_sample(ctx, source, i, what);
        }
    }
    return RB_OK;
}

static rb_error lacks(rb_context *ctx, const rb_source *source, const char *name) {
    char there[256] = "";
    size_t used = 0;
    const rb_source_covariates *all = source->covariates;
    for (int64_t i = 0; all && i < all->count && used < sizeof there; i++)
        used += (size_t)snprintf(there + used, sizeof there - used, "%s%s", i ? ", " : "",
                                 all->list[i].name);
    return rb_fail(ctx, RB_ERROR_DATA,
                   "`regress` names '%s', but the samples have no such covariate%s%s; give a table "
                   "with it as `covariates`",
                   name, used ? ": there are " : "", there);
}

/* ---- new terms ---- */

/* The levels that samples of the source have, of two or more; numbers are to differ likewise. */
static rb_error make_levels(rb_context *ctx, const rb_source *source,
                            const rb_source_covariate *covariate, rb_regress_term *term) {
    int64_t n = source->n_samples, count = covariate->levels ? covariate->levels->count : 0;
    rb_scratch scratch = {.ctx = ctx};
    bool *used = rb_take(&scratch, count, sizeof *used);
    const char **text = rb_take(&scratch, count, sizeof *text);
    int64_t different = 0;
    bool differs = false;
    for (int64_t i = 0; !scratch.err && i < n; i++) {
        double value = value_of(source, covariate, i);
        differs = differs || value != value_of(source, covariate, 0);
        if (count) used[(int64_t)value] = true;
    }
    for (int64_t l = 0; !scratch.err && l < count; l++)
        if (used[l]) text[different++] = covariate->levels->text[l];
    if (!scratch.err && !differs) {
        scratch.err = rb_fail(
            ctx, RB_ERROR_DATA,
            "%s is the same in all samples and has no effect to remove; leave it out of `regress`",
            covariate->name);
    }
    if (!scratch.err && count) {
        term->levels = rb_names_copy(ctx, text, different);
        scratch.err = term->levels ? RB_OK : RB_ERROR_MEMORY;
    }
    return rb_scratch_end(&scratch);
}

/* Whole numbers of few values may be labels. */
static void remark_on_labels(rb_context *ctx, const rb_source *source,
                             const rb_source_covariate *covariate) {
    enum { FEW = 10 };
    double seen[FEW];
    int count = 0;
    for (int64_t i = 0; i < source->n_samples; i++) {
        double value = value_of(source, covariate, i);
        int s = 0;
        while (s < count && seen[s] != value)
            s++;
        if (value != floor(value) || s == FEW) return;
        if (s == count) seen[count++] = value;
    }
    if (count > 2) {
        rb_log(ctx, RB_LOG_INFO,
               "%s is treated as a number, with %d different values; if these are labels, write "
               "%s:groups",
               covariate->name, count, covariate->name);
    }
}

/* `name` may end in ":groups" or ":numbers", which is cut off. */
static rb_error add_term(rb_context *ctx, const rb_source *source, char *name,
                         rb_regress *regress) {
    char *colon = strrchr(name, ':');
    bool groups = colon && strcmp(colon, ":groups") == 0,
         numbers = colon && strcmp(colon, ":numbers") == 0;
    if (groups || numbers) *colon = '\0';
    const rb_source_covariate *covariate = find(source, name);
    for (int64_t t = 0; t < regress->n_terms; t++)
        if (strcmp(regress->terms[t].name, name) == 0)
            return rb_fail(ctx, RB_ERROR_ARGUMENT, "`regress` names '%s' twice; name it once",
                           name);
    if (!covariate) return lacks(ctx, source, name);
    if (covariate->levels ? numbers : groups) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "`regress` takes '%s' for %s, but it has %s", name,
                       groups ? "groups" : "numbers", groups ? "numbers" : "groups");
    }
    if (regress->n_terms == RB_COVARIATES_MAX)
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "`regress` names more than %d covariates, the limit",
                       RB_COVARIATES_MAX);
    rb_error err = check_known(ctx, source, covariate);
    if (err) return err;
    if (!covariate->levels && !numbers) remark_on_labels(ctx, source, covariate);
    rb_regress_term *term = &regress->terms[regress->n_terms++];
    term->name = rb_copy_text(ctx, name);
    return term->name ? make_levels(ctx, source, covariate, term) : RB_ERROR_MEMORY;
}

/* The means of the columns over the samples of the source. */
static rb_error find_means(rb_context *ctx, const rb_source *source, rb_regress *regress) {
    rb_regress_rows rows;
    double *sums = rb_alloc_zero(ctx, regress->n_columns, sizeof *sums);
    regress->means = rb_alloc_zero(ctx, regress->n_columns, sizeof *regress->means);
    rb_error err = sums && regress->means ? RB_OK : RB_ERROR_MEMORY;
    err = err ? err : rb_regress_bind(ctx, regress, source, &rows);
    for (int64_t i = 0; !err && i < source->n_samples; i++) {
        rb_regress_entry entries[RB_COVARIATES_MAX];
        int count = rb_regress_row(&rows, i, entries);
        for (int e = 0; e < count; e++)
            sums[entries[e].column] += entries[e].value;
    }
    for (int64_t c = 0; !err && c < regress->n_columns; c++)
        regress->means[c] = sums[c] / (double)source->n_samples;
    if (!err) rb_regress_unbind(&rows);
    rb_free(sums);
    return err;
}

rb_error rb_regress_new(rb_context *ctx, const char *text, const rb_source *source,
                        rb_regress **out) {
    rb_regress *regress = rb_alloc_zero(ctx, 1, sizeof *regress);
    char *copy = rb_copy_text(ctx, text);
    rb_error err = regress && copy ? RB_OK : RB_ERROR_MEMORY;
    for (char *name = copy, *next; !err && name; name = next) {
        next = strchr(name, ',');
        if (next) *next++ = '\0';
        err = *name ? add_term(ctx, source, name, regress)
                    : rb_fail(ctx, RB_ERROR_ARGUMENT,
                              "`regress` is '%s', but must be names separated by commas", text);
    }
    err = err ? err : rb_regress_complete(ctx, regress);
    err = err ? err : find_means(ctx, source, regress);
    rb_free(copy);
    if (err) rb_regress_free(regress);
    *out = err ? NULL : regress;
    return err;
}

/* ---- terms and the covariates of a source ---- */

/* The level of a term that has that name, or -1. */
static int64_t level_of(const rb_regress_term *term, const char *name) {
    int64_t low = 0, high = term->levels->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        bool before = strcmp(term->levels->text[middle], name) < 0;
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    return low < term->levels->count && strcmp(term->levels->text[low], name) == 0 ? low : -1;
}

enum { FIRST_LEVEL = -1, UNKNOWN_LEVEL = -2 };

static rb_error check_levels(rb_context *ctx, const rb_source *source, const rb_regress_term *term,
                             const rb_source_covariate *covariate, const int64_t *columns) {
    for (int64_t i = 0; i < source->n_samples; i++) {
        int64_t level = (int64_t)value_of(source, covariate, i);
        if (columns[level] == UNKNOWN_LEVEL) {
            char known[256], what[512];
            list_levels(term->levels, known, sizeof known);
            snprintf(what, sizeof what, "has %s '%s', but the model knows only %s", term->name,
                     covariate->levels->text[level], known);
            return refuse_sample(ctx, source, i, what);
        }
    }
    return RB_OK;
}

/* Column `at` and those that follow are of term t. */
static rb_error bind_term(rb_context *ctx, const rb_source *source, int64_t t, int64_t *columns,
                          rb_regress_rows *rows) {
    const rb_regress_term *term = &rows->regress->terms[t];
    const rb_source_covariate *covariate = find(source, term->name);
    if (!covariate) return lacks(ctx, source, term->name);
    if (!covariate->levels != !term->levels) {
        return rb_fail(ctx, RB_ERROR_DATA,
                       "the covariate '%s' has %s here, but had %s in the fit of the model",
                       term->name, term->levels ? "numbers" : "groups",
                       term->levels ? "groups" : "numbers");
    }
    rb_error err = check_known(ctx, source, covariate);
    rows->values[t] = covariate->values;
    rows->columns[t] = term->levels ? columns : NULL;
    for (int64_t l = 0; term->levels && l < covariate->levels->count; l++) {
        int64_t level = level_of(term, covariate->levels->text[l]);
        columns[l] = level < 0 ? UNKNOWN_LEVEL : level == 0 ? FIRST_LEVEL : rows->at[t] + level - 1;
    }
    return err || !term->levels ? err : check_levels(ctx, source, term, covariate, columns);
}

rb_error rb_regress_bind(rb_context *ctx, const rb_regress *regress, const rb_source *source,
                         rb_regress_rows *rows) {
    *rows = (rb_regress_rows){.regress = regress, .first = source->covariates_first};
    int64_t levels = 0, column = 0;
    for (int64_t i = 0; source->covariates && i < source->covariates->count; i++)
        if (source->covariates->list[i].levels) levels += source->covariates->list[i].levels->count;
    rows->memory = rb_alloc(ctx, levels, sizeof *rows->memory);
    rb_error err = rows->memory ? RB_OK : RB_ERROR_MEMORY;
    int64_t *next = rows->memory;
    for (int64_t t = 0; !err && t < regress->n_terms; t++) {
        rows->at[t] = column;
        column += columns_of(&regress->terms[t]);
        err = bind_term(ctx, source, t, next, rows);
        if (!err && rows->columns[t]) next += find(source, regress->terms[t].name)->levels->count;
    }
    if (err) rb_regress_unbind(rows);
    return err;
}

void rb_regress_unbind(rb_regress_rows *rows) {
    rb_free(rows->memory);
    rows->memory = NULL;
}

int rb_regress_row(const rb_regress_rows *rows, int64_t sample,
                   rb_regress_entry entries[RB_COVARIATES_MAX]) {
    int count = 0;
    for (int64_t t = 0; t < rows->regress->n_terms; t++) {
        double value = rows->values[t][rows->first + sample];
        const int64_t *columns = rows->columns[t];
        int64_t column = columns ? columns[(int64_t)value] : rows->at[t];
        if (column != FIRST_LEVEL) {
            double entry = columns ? 1 : value - rows->regress->means[column];
            entries[count++] = (rb_regress_entry){column, entry};
        }
    }
    return count;
}

double rb_regress_offset(const rb_regress *regress, const double *coefficients) {
    double offset = 0;
    for (int64_t t = 0, column = 0; t < regress->n_terms; t++) {
        int64_t end = column + columns_of(&regress->terms[t]);
        for (; column < end; column++)
            if (regress->terms[t].levels) offset -= coefficients[column] * regress->means[column];
    }
    return offset;
}

uint32_t rb_regress_checksum(const rb_regress *regress, const rb_source *source) {
    rb_crc32 crc;
    uint32_t sum = 0;
    rb_crc32_prepare(&crc);
    for (int64_t t = 0; t < regress->n_terms; t++) {
        const rb_source_covariate *covariate = find(source, regress->terms[t].name);
        for (int64_t i = 0; covariate && i < source->n_samples; i++) {
            double value = value_of(source, covariate, i);
            if (covariate->levels && !isnan(value)) {
                const char *level = covariate->levels->text[(int64_t)value];
                sum = rb_crc32_add(&crc, sum, level, strlen(level) + 1);
            } else {
                sum = rb_crc32_add(&crc, sum, &value, sizeof value);
            }
        }
    }
    return sum;
}
