/* Data in memory, once, for jobs that read them side by side. */
#include "study.h"

#include <string.h>

/* Rows of a sparse matrix, while they are collected. */
typedef struct rows {
    int64_t *starts;
    int32_t *columns;
    void *values;
    int64_t columns_held, values_held;
} rows;

static rb_error add_rows(rb_context *ctx, rows *to, int64_t first, const rb_matrix *view) {
    size_t size = rb_type_size(view->type);
    int64_t used = to->starts[first], more = view->starts[view->n_samples] - view->starts[0];
    int32_t *columns =
        rb_reserve(ctx, to->columns, used, more, &to->columns_held, sizeof *to->columns);
    to->columns = columns ? columns : to->columns;
    void *values = columns ? rb_reserve(ctx, to->values, used, more, &to->values_held, size) : NULL;
    if (!values) return RB_ERROR_MEMORY;
    to->values = values;
    memcpy(columns + used, view->columns, (size_t)more * sizeof *columns);
    memcpy((char *)values + (size_t)used * size, view->values, (size_t)more * size);
    for (int64_t i = 0; i < view->n_samples; i++)
        to->starts[first + i + 1] = used + view->starts[i + 1] - view->starts[0];
    return RB_OK;
}

static rb_error load_sparse(rb_context *ctx, rb_source *source, rb_matrix **matrix) {
    enum { SAMPLES = 1024 };
    rows all = {.starts = rb_alloc_zero(ctx, source->n_samples + 1, sizeof *all.starts)};
    rb_error err = all.starts ? RB_OK : RB_ERROR_MEMORY;
    for (int64_t first = 0; !err && first < source->n_samples; first += SAMPLES) {
        rb_matrix view;
        int64_t left = source->n_samples - first;
        err = rb_source_read(ctx, source, first, left < SAMPLES ? left : SAMPLES, &view);
        err = err ? err : add_rows(ctx, &all, first, &view);
    }
    if (!err && !all.columns) {
        all.columns = rb_alloc(ctx, 0, sizeof *all.columns);
        all.values = rb_alloc(ctx, 0, rb_type_size(source->type));
    }
    if (!err) {
        return rb_matrix_own_csr(ctx, source->type, source->n_samples, source->n_features,
                                 all.starts, all.columns, all.values, matrix);
    }
    rb_free(all.starts);
    rb_free(all.columns);
    rb_free(all.values);
    return err;
}

static rb_error load_dense(rb_context *ctx, rb_source *source, rb_matrix **matrix) {
    int64_t n = source->n_samples, m = source->n_features;
    rb_error err = rb_matrix_new_dense(ctx, source->type, n, m, matrix);
    return err ? err
               : rb_source_read_into(ctx, source, source->type, (void *)(*matrix)->values, m, 1);
}

static rb_error copy_names(rb_context *ctx, const rb_names *names, rb_names **copy) {
    *copy = names ? rb_names_copy(ctx, (const char *const *)names->text, names->count) : NULL;
    return names && !*copy ? RB_ERROR_MEMORY : RB_OK;
}

rb_error rb_study_load(rb_context *ctx, rb_source *source, const rb_matrix **matrix,
                       rb_matrix **owned) {
    *owned = NULL;
    *matrix = rb_source_memory(source);
    if (*matrix) return RB_OK;
    rb_error err =
        source->sparse ? load_sparse(ctx, source, owned) : load_dense(ctx, source, owned);
    err = err ? err : copy_names(ctx, source->sample_names, &(*owned)->sample_names);
    err = err ? err : copy_names(ctx, source->feature_names, &(*owned)->feature_names);
    if (err) {
        rb_matrix_free(*owned);
        *owned = NULL;
    }
    *matrix = *owned;
    return err;
}
