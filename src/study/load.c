/* Data in memory, once, for jobs that read them side by side. */
#include "study.h"

#include <string.h>

/* Rows of a sparse matrix, while they are collected. */
typedef struct sparse_rows {
    int64_t *starts;
    int32_t *columns;
    void *values;
    int64_t columns_held, values_held;
} sparse_rows;

static rb_error add_rows(rb_context *ctx, sparse_rows *to, int64_t first, const rb_matrix *view) {
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

/* Makes a matrix of the rows, or frees them. */
static rb_error end_sparse(rb_context *ctx, rb_error err, sparse_rows *all, rb_type type, int64_t n,
                           int64_t m, rb_matrix **matrix) {
    if (!err && !all->columns) {
        all->columns = rb_alloc(ctx, 0, sizeof *all->columns);
        all->values = rb_alloc(ctx, 0, rb_type_size(type));
    }
    if (!err)
        return rb_matrix_own_csr(ctx, type, n, m, all->starts, all->columns, all->values, matrix);
    rb_free(all->starts);
    rb_free(all->columns);
    rb_free(all->values);
    return err;
}

static rb_error load_sparse(rb_context *ctx, rb_source *source, rb_matrix **matrix) {
    enum { SAMPLES = 1024 };
    int64_t n = source->n_samples;
    sparse_rows all = {.starts = rb_alloc_zero(ctx, n + 1, sizeof *all.starts)};
    rb_error err = all.starts ? RB_OK : RB_ERROR_MEMORY;
    for (int64_t first = 0; !err && first < n; first += SAMPLES) {
        rb_matrix view;
        err = rb_source_read(ctx, source, first, n - first < SAMPLES ? n - first : SAMPLES, &view);
        err = err ? err : add_rows(ctx, &all, first, &view);
    }
    return end_sparse(ctx, err, &all, source->type, n, source->n_features, matrix);
}

static rb_error take_sparse(rb_context *ctx, const rb_matrix *matrix, const int64_t *samples,
                            int64_t count, rb_matrix **taken) {
    sparse_rows all = {.starts = rb_alloc_zero(ctx, count + 1, sizeof *all.starts)};
    rb_error err = all.starts ? RB_OK : RB_ERROR_MEMORY;
    for (int64_t i = 0; !err && i < count; i++) {
        rb_matrix view = rb_matrix_part(matrix, samples[i], 1);
        err = add_rows(ctx, &all, i, &view);
    }
    return end_sparse(ctx, err, &all, matrix->type, count, matrix->n_features, taken);
}

rb_error rb_study_rows(rb_context *ctx, const rb_matrix *matrix, const int64_t *samples,
                       int64_t count, rb_matrix **taken) {
    if (matrix->sparse) return take_sparse(ctx, matrix, samples, count, taken);
    int64_t m = matrix->n_features;
    rb_error err = rb_matrix_new_dense(ctx, matrix->type, count, m, taken);
    if (err) return err;
    const rb_target to = {matrix->type, (void *)(*taken)->values, m, 1};
    for (int64_t i = 0; i < count; i++) {
        rb_matrix view = rb_matrix_part(matrix, samples[i], 1);
        rb_matrix_copy(&view, i, &to);
    }
    return RB_OK;
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

/* What is in memory already. */
static rb_error load_view(rb_context *ctx, const rb_matrix *memory, rb_matrix **matrix) {
    *matrix = rb_alloc(ctx, 1, sizeof **matrix);
    if (*matrix) **matrix = rb_matrix_part(memory, 0, memory->n_samples);
    return *matrix ? RB_OK : RB_ERROR_MEMORY;
}

rb_error rb_study_load(rb_context *ctx, rb_source *source, const rb_matrix **matrix,
                       rb_matrix **owned) {
    const rb_matrix *memory = rb_source_memory(source);
    *owned = NULL;
    *matrix = memory;
    if (memory && source->sample_names == memory->sample_names &&
        source->feature_names == memory->feature_names)
        return RB_OK;
    rb_error err = memory           ? load_view(ctx, memory, owned)
                   : source->sparse ? load_sparse(ctx, source, owned)
                                    : load_dense(ctx, source, owned);
    err = err ? err : copy_names(ctx, source->sample_names, &(*owned)->sample_names);
    err = err ? err : copy_names(ctx, source->feature_names, &(*owned)->feature_names);
    if (err) {
        rb_matrix_free(*owned);
        *owned = NULL;
    }
    *matrix = *owned;
    return err;
}
