/* What columns of a table become: classes, covariates, covariates to regress. */
#include "annotations.h"

#include "cells.h"

#include <math.h>
#include <string.h>

/* ---- classes ---- */

/* The second column, or the only one. Which was taken is not plain where there are others. */
static rb_error take_class(rb_matching *m) {
    const rb_annotations *t = m->table;
    if (t->width > 2) {
        rb_log(m->ctx, RB_LOG_INFO,
               "%s has %lld columns; the classes are taken from the second, '%s'; for another, "
               "say %s:COLUMN",
               t->path, (long long)t->width, rb_matching_title(m, 1), t->path);
    }
    int64_t at = t->width > 1;
    return rb_matching_add(m, (rb_matched){.name = rb_matching_title(m, at), .at = at});
}

/* Measurements make a class of nearly every sample. Few whole numbers may be labels. */
static rb_error refuse_measurements(const rb_matching *m, const rb_classes *labels) {
    enum { FEW = 10 };
    int64_t count = labels->n_classes;
    bool whole = true;
    for (int64_t c = 0; c < count; c++) {
        const char *text = labels->names[c];
        double value;
        if (rb_cell_read(NULL, text, (int64_t)strlen(text), &value) != RB_CELL_NUMBER) return RB_OK;
        whole = whole && value == floor(value);
    }
    if (2 * count <= labels->n_labelled || count < 3 || (whole && count <= FEW)) return RB_OK;
    return rb_fail(m->ctx, RB_ERROR_DATA,
                   "column '%s' of %s holds %lld different numbers in %lld samples, too many for "
                   "classes; name a column of classes, or test this one as a covariate",
                   m->columns->name, m->table->path, (long long)count,
                   (long long)labels->n_labelled);
}

/* Names, or lines whose parts no tab or comma divides. */
static rb_error refuse_unique(const rb_matching *m, const rb_classes *labels) {
    enum { FEW = 10 };
    if (labels->n_labelled <= FEW || labels->n_classes < labels->n_labelled) return RB_OK;
    return rb_fail(m->ctx, RB_ERROR_DATA,
                   "every value of column '%s' of %s is unique, such as '%.40s'; name a column of "
                   "classes, and separate columns by tabs or commas",
                   m->columns->name, m->table->path, labels->names[0]);
}

/* Colours go by all classes of the table, so that some of the samples have those of all. */
static rb_error find_places(const rb_matching *m, rb_classes *labels) {
    rb_classes all = {0};
    rb_scratch scratch = {.ctx = m->ctx};
    int64_t rows = rb_matching_rows(m);
    const char **text = rb_take(&scratch, rows, sizeof *text);
    for (int64_t i = 0; text && i < rows; i++)
        text[i] = rb_matching_text(m, m->columns, i);
    if (!scratch.err) scratch.err = rb_classes_of(m->ctx, text, rows, &all);
    if (!scratch.err) scratch.err = rb_classes_take_places(m->ctx, &all, labels);
    rb_classes_clear(&all);
    return rb_scratch_end(&scratch);
}

static rb_error check_classes(const rb_matching *m, const rb_classes *labels) {
    rb_error err = refuse_measurements(m, labels);
    err = err ? err : refuse_unique(m, labels);
    if (!err && labels->n_labelled == 0)
        return rb_fail(m->ctx, RB_ERROR_DATA, "%s has a class for no sample", m->table->path);
    if (!err && labels->n_labelled < m->n) {
        rb_log(m->ctx, RB_LOG_INFO, "%s has a class for %lld of the %lld samples", m->table->path,
               (long long)labels->n_labelled, (long long)m->n);
    }
    return err;
}

rb_error rb_annotations_classes(rb_context *ctx, const rb_annotations *table, const char *name,
                                const rb_source *source, rb_classes *classes) {
    rb_matching m = {.ctx = ctx, .table = table, .source = source};
    rb_error err = rb_size_check(ctx, "the classes", classes->size, sizeof *classes);
    if (err) return err;
    *classes = (rb_classes){.size = sizeof *classes};
    err = rb_matching_begin(&m, name);
    if (!err)
        err = name ? rb_matching_add(&m, (rb_matched){.name = name, .at = table->shorter})
                   : take_class(&m);
    err = err ? err : rb_matching_find(&m);
    err = err ? err : rb_matching_read(&m, m.columns);
    err = err ? err : rb_classes_of(ctx, m.columns->text, m.n, classes);
    err = err ? err : check_classes(&m, classes);
    err = err ? err : find_places(&m, classes);
    if (err) rb_classes_clear(classes);
    return rb_matching_end(&m, err);
}

/* ---- covariates ---- */

static void leave_out(const rb_matching *m, const rb_matched *c, const char *why) {
    rb_log(m->ctx, RB_LOG_WARNING, "column '%s' of %s is left out: %s", c->name, m->table->path,
           why);
}

/* Whole numbers of few values may be names of groups. */
static void warn_of_codes(const rb_matching *m, const rb_matched *c) {
    enum { MANY = 10 };
    double seen[MANY];
    int64_t count = 0, there = 0;
    for (int64_t i = 0; i < m->n; i++) {
        int64_t k = 0;
        double value = c->values[i];
        if (isnan(value)) continue;
        there++;
        while (k < count && seen[k] != value)
            k++;
        if (value != floor(value) || (k == count && count == MANY)) return;
        if (k == count) seen[count++] = value;
    }
    if (count > 2 && there > 3 * count) {
        rb_log(m->ctx, RB_LOG_INFO,
               "column '%s' of %s has %lld different whole numbers, and is taken as numbers; name "
               "it in `covariate-groups` if they stand for groups",
               c->name, m->table->path, (long long)count);
    }
}

/* Groups that are as many as samples are names of these. */
static rb_error add_groups(const rb_matching *m, const rb_matched *c, rb_covariates *to) {
    rb_classes labels;
    rb_error err = rb_classes_of(m->ctx, c->text, m->n, &labels);
    if (err) return err;
    bool different = labels.n_labelled > 1 && labels.n_classes == labels.n_labelled;
    rb_classes_clear(&labels);
    if (!different) return rb_covariates_add_groups(m->ctx, to, c->name, c->text);
    leave_out(m, c, "every value is unique");
    return RB_OK;
}

static rb_error add_covariate(const rb_matching *m, rb_matched *c, rb_covariates *to) {
    rb_error err = rb_matching_read(m, c);
    int64_t i = 0;
    while (!err && i < m->n && !*c->text[i])
        i++;
    err = err ? err : rb_matched_check(m, c);
    if (!err && i == m->n) {
        leave_out(m, c, "no sample has a value");
    } else if (!err && rb_matched_is_groups(c)) {
        err = add_groups(m, c, to);
    } else if (!err) {
        warn_of_codes(m, c);
        err = rb_covariates_add_numbers(m->ctx, to, c->name, c->values);
    }
    rb_matched_clear(c);
    return err;
}

/* Those of "batch,plate" are groups, whatever they hold. */
static rb_error mark_groups(rb_matching *m, const char *groups) {
    for (const char *word = groups; word && *word; word += *word == ',') {
        size_t length = strcspn(word, ",");
        bool there = length == 0;
        for (int64_t c = 0; c < m->count; c++) {
            const char *name = m->columns[c].name;
            bool same = strlen(name) == length && memcmp(name, word, length) == 0;
            m->columns[c].groups = m->columns[c].groups || same;
            there = there || same;
        }
        if (!there) {
            return rb_fail(m->ctx, RB_ERROR_ARGUMENT,
                           "`covariate-groups` names '%.*s', but there is no such column in %s",
                           (int)length, word, m->table->path);
        }
        word += length;
    }
    return RB_OK;
}

static rb_error fill_covariates(rb_matching *m, rb_covariates *to) {
    if (m->found < m->n) {
        rb_log(m->ctx, RB_LOG_INFO, "%s has %lld of the %lld samples", m->table->path,
               (long long)m->found, (long long)m->n);
    }
    rb_error err = RB_OK;
    for (int64_t c = 0; !err && c < m->count; c++)
        err = add_covariate(m, &m->columns[c], to);
    return err || to->count > 0 ? err
                                : rb_fail(m->ctx, RB_ERROR_DATA,
                                          "%s has no column that can be tested", m->table->path);
}

rb_error rb_annotations_covariates(rb_context *ctx, const rb_annotations *table,
                                   const char *columns, const char *groups, const rb_source *source,
                                   rb_covariates **covariates) {
    rb_matching m = {.ctx = ctx, .table = table, .source = source};
    *covariates = NULL;
    rb_error err = rb_matching_begin(&m, columns);
    if (!err) err = columns ? rb_matching_add_named(&m, columns) : rb_matching_add_all(&m);
    err = err ? err : mark_groups(&m, groups);
    err = err ? err : rb_matching_find(&m);
    err = err ? err : rb_covariates_new(ctx, m.n, covariates);
    err = err ? err : fill_covariates(&m, *covariates);
    if (err) {
        rb_covariates_free(*covariates);
        *covariates = NULL;
    }
    return rb_matching_end(&m, err);
}

/* ---- covariates to regress ---- */

static rb_error bind(const rb_matching *m, rb_matched *c, rb_source *source) {
    rb_error err = rb_matching_read(m, c);
    err = err ? err : rb_matched_check(m, c);
    if (!err) {
        err = rb_matched_is_groups(c)
                  ? rb_source_set_groups(m->ctx, source, c->name, c->text, m->n)
                  : rb_source_set_numbers(m->ctx, source, c->name, c->values, m->n);
    }
    rb_matched_clear(c);
    return err;
}

rb_error rb_annotations_bind(rb_context *ctx, const rb_annotations *table, const char *columns,
                             rb_source *source) {
    rb_matching m = {.ctx = ctx, .table = table, .source = source, .kinds = true};
    rb_error err = rb_matching_begin(&m, columns);
    err = err ? err : rb_matching_add_named(&m, columns);
    err = err ? err : rb_matching_find(&m);
    for (int64_t c = 0; !err && c < m.count; c++)
        err = bind(&m, &m.columns[c], source);
    return rb_matching_end(&m, err);
}

/* ---- classes, for who needs a table once ---- */

void rb_annotations_keep(const rb_annotations *table, rb_source *source) {
    source->table = table;
}

static const rb_annotations *kept_table(const char *where, const rb_source *source) {
    const rb_annotations *kept = source ? source->table : NULL;
    if (!kept || !where) return NULL;
    size_t length = (size_t)rb_annotations_file(where);
    bool same = length == strlen(kept->path) && memcmp(kept->path, where, length) == 0;
    return same ? kept : NULL;
}

rb_error rb_classes_read(rb_context *ctx, const char *where, const rb_source *source,
                         rb_classes *classes) {
    rb_annotations *table;
    const rb_annotations *kept = kept_table(where, source);
    if (kept)
        return rb_annotations_classes(ctx, kept, rb_annotations_columns(where), source, classes);
    rb_error err = rb_annotations_read(ctx, where, source, &table);
    err = err ? err
              : rb_annotations_classes(ctx, table, rb_annotations_columns(where), source, classes);
    rb_annotations_free(table);
    return err;
}
