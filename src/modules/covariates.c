/* The table of covariates: columns of numbers or groups. */
#include "modules.h"

#include <math.h>
#include <string.h>

rb_error rb_covariates_new(rb_context *ctx, int64_t n_samples, rb_covariates **out) {
    *out = rb_alloc_zero(ctx, 1, sizeof **out);
    if (!*out) return RB_ERROR_MEMORY;
    (*out)->n_samples = n_samples;
    return RB_OK;
}

static void clear_column(rb_covariate *c) {
    rb_free(c->name);
    rb_free(c->values);
    rb_classes_clear(&c->groups);
}

void rb_covariates_free(rb_covariates *table) {
    if (!table) return;
    for (int64_t c = 0; c < table->count; c++)
        clear_column(rb_covariates_column(table, c));
    rb_free(table->columns.data);
    rb_free(table);
}

rb_covariate *rb_covariates_column(const rb_covariates *table, int64_t covariate) {
    bool there = covariate >= 0 && covariate < table->count;
    return there ? (rb_covariate *)table->columns.data + covariate : NULL;
}

/* Takes the column over, or clears it. */
static rb_error add_column(rb_context *ctx, rb_covariates *table, const char *name, rb_error err,
                           rb_covariate *column) {
    int64_t more = 2 * table->count + 8;
    column->name = rb_copy_text(ctx, name);
    err = err || column->name ? err : RB_ERROR_MEMORY;
    if (!err && table->count == table->columns.capacity)
        err = rb_buffer_hold(ctx, &table->columns, more, sizeof *column);
    if (err)
        clear_column(column);
    else
        ((rb_covariate *)table->columns.data)[table->count++] = *column;
    return err;
}

rb_error rb_covariates_add_numbers(rb_context *ctx, rb_covariates *table, const char *name,
                                   const double *values) {
    rb_covariate column = {.values = rb_alloc(ctx, table->n_samples, sizeof *column.values)};
    rb_error err = column.values ? RB_OK : RB_ERROR_MEMORY;
    for (int64_t i = 0; !err && i < table->n_samples; i++) {
        column.values[i] = values[i];
        column.missing += isnan(values[i]) != 0;
        if (isinf(values[i])) {
            err = rb_fail(ctx, RB_ERROR_DATA,
                          "covariate '%s' is infinite in sample %lld (counted from %d)", name,
                          (long long)rb_nth(ctx, i), ctx->first);
        }
    }
    return add_column(ctx, table, name, err, &column);
}

rb_error rb_covariates_add_groups(rb_context *ctx, rb_covariates *table, const char *name,
                                  const char *const *groups) {
    rb_covariate column = {0};
    int64_t n = table->n_samples;
    const char **text = rb_alloc(ctx, n, sizeof *text);
    for (int64_t i = 0; text && i < n; i++)
        text[i] = groups[i] ? groups[i] : "";
    rb_error err = text ? rb_classes_of(ctx, text, n, &column.groups) : RB_ERROR_MEMORY;
    column.missing = n - column.groups.n_labelled;
    rb_free(text);
    return add_column(ctx, table, name, err, &column);
}

rb_error rb_covariates_add_classes(rb_context *ctx, rb_covariates *table, const char *name,
                                   const rb_classes *classes) {
    rb_scratch scratch = {.ctx = ctx};
    int64_t n = classes->n_samples;
    if (n != table->n_samples) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the covariates are of %lld samples, but the classes of %lld",
                       (long long)table->n_samples, (long long)n);
    }
    const char **group = rb_take(&scratch, n, sizeof *group);
    for (int64_t i = 0; group && i < n; i++)
        group[i] = classes->class_of[i] < 0 ? "" : classes->names[classes->class_of[i]];
    if (group) scratch.err = rb_covariates_add_groups(ctx, table, name, group);
    rb_covariate *made = scratch.err ? NULL : rb_covariates_column(table, table->count - 1);
    if (made) scratch.err = rb_classes_take_places(ctx, classes, &made->groups);
    if (made && scratch.err) {
        clear_column(made);
        table->count--;
    }
    return rb_scratch_end(&scratch);
}

int64_t rb_covariates_count(const rb_covariates *table) {
    return table->count;
}

const char *rb_covariates_name(const rb_covariates *table, int64_t covariate) {
    const rb_covariate *c = rb_covariates_column(table, covariate);
    return c ? c->name : NULL;
}

int64_t rb_covariates_missing(const rb_covariates *table, int64_t covariate) {
    const rb_covariate *c = rb_covariates_column(table, covariate);
    return c ? c->missing : -1;
}

int64_t rb_covariates_groups(const rb_covariates *table, int64_t covariate) {
    const rb_covariate *c = rb_covariates_column(table, covariate);
    return !c ? -1 : c->values ? 0 : c->groups.n_classes;
}

const char *rb_covariates_group(const rb_covariates *table, int64_t covariate, int64_t group) {
    bool there = group >= 0 && group < rb_covariates_groups(table, covariate);
    return there ? rb_covariates_column(table, covariate)->groups.names[group] : NULL;
}

int64_t rb_covariates_group_of(const rb_covariates *table, int64_t covariate, int64_t sample) {
    bool there =
        rb_covariates_groups(table, covariate) > 0 && sample >= 0 && sample < table->n_samples;
    return there ? rb_covariates_column(table, covariate)->groups.class_of[sample] : -1;
}

int64_t rb_covariates_group_place(const rb_covariates *table, int64_t covariate, int64_t group) {
    bool there = group >= 0 && group < rb_covariates_groups(table, covariate);
    return there ? rb_classes_place(&rb_covariates_column(table, covariate)->groups, group) : -1;
}

rb_error rb_classes_of(rb_context *ctx, const char *const *class_of, int64_t n,
                       rb_classes *classes) {
    const rb_names given = {n, (char **)class_of};
    rb_named *sorted = rb_names_sort(ctx, &given);
    const char **different = rb_alloc(ctx, n, sizeof *different);
    *classes = (rb_classes){.size = sizeof *classes,
                            .n_samples = n,
                            .class_of = rb_alloc(ctx, n, sizeof *classes->class_of)};
    int64_t count = 0;
    if (sorted && different && classes->class_of) {
        for (int64_t e = 0; e < n; e++) {
            const char *name = sorted[e].text;
            if (*name && (count == 0 || strcmp(different[count - 1], name) != 0))
                different[count++] = name;
            classes->class_of[sorted[e].index] = *name ? count - 1 : -1;
            classes->n_labelled += *name != '\0';
        }
        classes->text = rb_names_copy(ctx, different, count);
    }
    rb_free(sorted);
    rb_free(different);
    if (classes->text) {
        classes->names = (const char *const *)((rb_names *)classes->text)->text;
        classes->n_classes = count;
        return RB_OK;
    }
    rb_classes_clear(classes);
    return RB_ERROR_MEMORY;
}

int64_t rb_classes_place(const rb_classes *classes, int64_t class_index) {
    return class_index >= 0 && classes->places ? classes->places[class_index] : class_index;
}

rb_error rb_classes_take_places(rb_context *ctx, const rb_classes *all, rb_classes *classes) {
    int64_t at = 0, count = classes->n_classes;
    rb_free(classes->places);
    classes->places = rb_alloc(ctx, count, sizeof *classes->places);
    for (int64_t c = 0; classes->places && c < count; c++) {
        while (at < all->n_classes && strcmp(all->names[at], classes->names[c]) != 0)
            at++;
        classes->places[c] = rb_classes_place(all, at);
    }
    return classes->places ? RB_OK : RB_ERROR_MEMORY;
}

bool rb_classes_differ(rb_context *ctx, const rb_classes *labels) {
    int64_t count = labels->n_classes;
    if (count == 1) {
        rb_log(ctx, RB_LOG_WARNING,
               "all %lld labelled samples are of one class, '%.60s': there is nothing to test",
               (long long)labels->n_labelled, labels->names[0]);
    } else if (count == 0) {
        rb_log(ctx, RB_LOG_WARNING, "no sample has a class: there is nothing to test");
    }
    return count > 1;
}

void rb_classes_clear(rb_classes *classes) {
    rb_free(classes->class_of);
    rb_names_free(classes->text);
    rb_free(classes->places);
    *classes = (rb_classes){.size = sizeof *classes};
}
