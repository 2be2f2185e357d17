/* Matrices: views of dense and compressed sparse numbers. */
#include "data.h"

/* Can there be a matrix like that? */
static rb_error check_shape(rb_context *ctx, const rb_matrix *like) {
    int64_t n = like->n_samples, m = like->n_features, cells, bytes;
    if (n < 0 || m < 0) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "a matrix cannot have %lld samples x %lld features",
                       (long long)n, (long long)m);
    }
    if (!like->sparse && (!rb_multiply(n, m, &cells) ||
                          !rb_multiply(cells, (int64_t)rb_type_size(like->type), &bytes))) {
        return rb_fail(ctx, RB_ERROR_MEMORY,
                       "a matrix of %lld samples x %lld features cannot be addressed", (long long)n,
                       (long long)m);
    }
    return RB_OK;
}

/* A copy in memory of its own, once the shape was checked. */
static rb_error new_matrix(rb_context *ctx, rb_matrix like, rb_matrix **matrix) {
    *matrix = NULL;
    rb_error err = rb_check_type(ctx, like.type);
    err = err ? err : check_shape(ctx, &like);
    rb_matrix *m = err ? NULL : rb_alloc(ctx, 1, sizeof *m);
    if (m) {
        *m = like;
        *matrix = m;
    }
    return err || m ? err : RB_ERROR_MEMORY;
}

rb_error rb_matrix_dense(rb_context *ctx, rb_type type, int64_t n_samples, int64_t n_features,
                         const void *values, int64_t row_stride, int64_t column_stride,
                         rb_matrix **matrix) {
    return new_matrix(ctx,
                      (rb_matrix){.n_samples = n_samples,
                                  .n_features = n_features,
                                  .type = type,
                                  .values = values,
                                  .row_stride = row_stride,
                                  .column_stride = column_stride},
                      matrix);
}

rb_error rb_matrix_own_dense(rb_context *ctx, rb_type type, int64_t n_samples, int64_t n_features,
                             void *values, rb_matrix **matrix) {
    rb_error err = rb_matrix_dense(ctx, type, n_samples, n_features, values, n_features, 1, matrix);
    if (err) {
        rb_free(values);
        return err;
    }
    (*matrix)->owner = values;
    (*matrix)->release = rb_free;
    return RB_OK;
}

rb_error rb_matrix_new_dense(rb_context *ctx, rb_type type, int64_t n_samples, int64_t n_features,
                             rb_matrix **matrix) {
    *matrix = NULL;
    rb_error err = check_shape(ctx, &(rb_matrix){n_samples, n_features, type});
    void *values = err ? NULL : rb_alloc_zero(ctx, n_samples * n_features, rb_type_size(type));
    return values ? rb_matrix_own_dense(ctx, type, n_samples, n_features, values, matrix)
           : err  ? err
                  : RB_ERROR_MEMORY;
}

rb_error rb_csr_check(rb_context *ctx, int64_t n_samples, int64_t n_features, const int64_t *starts,
                      const int32_t *columns) {
    if (n_features > INT32_MAX) {
        return rb_fail(ctx, RB_ERROR_UNSUPPORTED, "a sparse matrix may have at most %d features",
                       INT32_MAX);
    }
    if (starts[0] != 0)
        return rb_fail(ctx, RB_ERROR_FORMAT, "the first row of a sparse matrix must start at 0");
    for (int64_t i = 0; i < n_samples; i++) { /* all of them: they bound the columns */
        if (starts[i + 1] < starts[i]) {
            return rb_fail(ctx, RB_ERROR_FORMAT,
                           "row %lld of a sparse matrix ends before it starts", (long long)i + 1);
        }
    }
    for (int64_t i = 0; i < n_samples; i++) {
        for (int64_t e = starts[i]; e < starts[i + 1]; e++) {
            bool ordered = e == starts[i] || columns[e - 1] < columns[e];
            if (columns[e] < 0 || columns[e] >= n_features || !ordered) {
                return rb_fail(
                    ctx, RB_ERROR_FORMAT,
                    "entry %lld of row %lld of a sparse matrix has column %d: columns must "
                    "ascend and be below %lld",
                    (long long)(e - starts[i]) + 1, (long long)i + 1, columns[e],
                    (long long)n_features);
            }
        }
    }
    return RB_OK;
}

rb_error rb_matrix_csr(rb_context *ctx, rb_type type, int64_t n_samples, int64_t n_features,
                       const int64_t *starts, const int32_t *columns, const void *values,
                       rb_matrix **matrix) {
    rb_matrix like = {n_samples,        n_features,        type, true, values,
                      .starts = starts, .columns = columns};
    *matrix = NULL;
    rb_error err = check_shape(ctx, &like);
    err = err ? err : rb_csr_check(ctx, n_samples, n_features, starts, columns);
    return err ? err : new_matrix(ctx, like, matrix);
}

rb_error rb_matrix_csr32(rb_context *ctx, rb_type type, int64_t n_samples, int64_t n_features,
                         const int32_t *starts, const int32_t *columns, const void *values,
                         rb_matrix **matrix) {
    *matrix = NULL;
    rb_error err = check_shape(ctx, &(rb_matrix){n_samples, n_features, type, true});
    int64_t *wide = err ? NULL : rb_alloc(ctx, n_samples + 1, sizeof *wide);
    if (!wide) return err ? err : RB_ERROR_MEMORY;
    for (int64_t i = 0; i <= n_samples; i++)
        wide[i] = starts[i];
    err = rb_matrix_csr(ctx, type, n_samples, n_features, wide, columns, values, matrix);
    if (err) {
        rb_free(wide);
        return err;
    }
    (*matrix)->owner = wide;
    (*matrix)->release = rb_free;
    return RB_OK;
}

struct csr_owner {
    void *starts, *columns, *values;
};

static void release_csr(void *owner) {
    struct csr_owner *arrays = owner;
    rb_free(arrays->starts);
    rb_free(arrays->columns);
    rb_free(arrays->values);
    rb_free(arrays);
}

rb_error rb_matrix_own_csr(rb_context *ctx, rb_type type, int64_t n_samples, int64_t n_features,
                           int64_t *starts, int32_t *columns, void *values, rb_matrix **matrix) {
    struct csr_owner arrays = {starts, columns, values}, *owner = rb_alloc(ctx, 1, sizeof *owner);
    *matrix = NULL;
    rb_error err = owner && starts && columns && values ? RB_OK : RB_ERROR_MEMORY;
    err = err ? err
              : rb_matrix_csr(ctx, type, n_samples, n_features, starts, columns, values, matrix);
    if (err) {
        rb_free(owner);
        rb_free(starts);
        rb_free(columns);
        rb_free(values);
        return err;
    }
    *owner = arrays;
    (*matrix)->owner = owner;
    (*matrix)->release = release_csr;
    return RB_OK;
}

/* Replaces a sparse matrix by its transpose. */
static rb_error transpose_csr(rb_context *ctx, rb_matrix **matrix) {
    rb_matrix *old = *matrix, *new;
    int64_t stored = rb_matrix_stored(old);
    if (old->n_samples > INT32_MAX) {
        return rb_fail(ctx, RB_ERROR_UNSUPPORTED, "a sparse matrix may have at most %d features",
                       INT32_MAX);
    }
    int64_t *starts = rb_alloc(ctx, old->n_features + 1, sizeof *starts);
    int32_t *columns = rb_alloc(ctx, stored, sizeof *columns);
    void *values = rb_alloc(ctx, stored, rb_type_size(old->type));
    if (starts && columns && values) {
        rb_csr v = {old->n_samples, old->n_features, old->starts,
                    old->columns,   old->values,     old->type};
        rb_csr_transpose(v, starts, columns, values);
    }
    rb_error err = rb_matrix_own_csr(ctx, old->type, old->n_features, old->n_samples, starts,
                                     columns, values, &new);
    if (err) return err;
    new->sample_names = old->feature_names;
    new->feature_names = old->sample_names;
    old->sample_names = old->feature_names = NULL;
    rb_matrix_free(old);
    *matrix = new;
    return RB_OK;
}

rb_error rb_matrix_transpose(rb_context *ctx, rb_matrix **matrix) {
    rb_matrix *m = *matrix;
    if (m->sparse) return transpose_csr(ctx, matrix);
    int64_t samples = m->n_samples, stride = m->row_stride;
    rb_names *names = m->sample_names;
    m->n_samples = m->n_features;
    m->n_features = samples;
    m->row_stride = m->column_stride;
    m->column_stride = stride;
    m->sample_names = m->feature_names;
    m->feature_names = names;
    return RB_OK;
}

void rb_matrix_free(rb_matrix *m) {
    if (!m) return;
    if (m->release) m->release(m->owner);
    rb_names_free(m->sample_names);
    rb_names_free(m->feature_names);
    rb_free(m);
}

rb_error rb_matrix_end(rb_error err, rb_matrix **matrix) {
    if (err) {
        rb_matrix_free(*matrix);
        *matrix = NULL;
    }
    return err;
}

int64_t rb_matrix_samples(const rb_matrix *m) {
    return m->n_samples;
}

int64_t rb_matrix_features(const rb_matrix *m) {
    return m->n_features;
}

bool rb_matrix_sparse(const rb_matrix *m) {
    return m->sparse;
}

rb_type rb_matrix_type(const rb_matrix *m) {
    return m->type;
}

int64_t rb_matrix_stored(const rb_matrix *m) {
    return m->sparse ? m->starts[m->n_samples] - m->starts[0] : m->n_samples * m->n_features;
}

double rb_matrix_bytes(const rb_matrix *m) {
    size_t value = rb_type_size(m->type) + (m->sparse ? sizeof *m->columns : 0);
    return (double)rb_matrix_stored(m) * (double)value;
}

rb_error rb_matrix_values(const rb_matrix *m, const void **values, int64_t *row_stride,
                          int64_t *column_stride) {
    if (m->sparse) return RB_ERROR_ARGUMENT;
    *values = m->values;
    *row_stride = m->row_stride;
    *column_stride = m->column_stride;
    return RB_OK;
}

rb_error rb_matrix_csr_values(const rb_matrix *m, const int64_t **starts, const int32_t **columns,
                              const void **values) {
    if (!m->sparse) return RB_ERROR_ARGUMENT;
    *starts = m->starts;
    *columns = m->columns;
    *values = m->values;
    return RB_OK;
}

rb_matrix rb_matrix_part(const rb_matrix *m, int64_t first, int64_t count) {
    rb_matrix part = *m;
    int64_t skip = m->sparse ? m->starts[first] - m->starts[0] : first * m->row_stride;
    part.n_samples = count;
    part.sample_names = part.feature_names = NULL;
    part.release = NULL;
    part.values = (const char *)m->values + skip * (int64_t)rb_type_size(m->type);
    if (m->sparse) {
        part.starts = m->starts + first;
        part.columns = m->columns + skip;
    }
    return part;
}

void rb_matrix_copy(const rb_matrix *m, int64_t first, const rb_target *to) {
    if (!m->sparse && m->column_stride == 1 && to->column_stride == 1) {
        rb_dense rows = {to->values, m->n_samples, m->n_features, to->row_stride, to->type};
        rows.data = rb_dense_row(rows, first);
        rb_dense_copy((rb_dense){(void *)m->values, rows.rows, rows.cols, m->row_stride, m->type},
                      rows);
        return;
    }
    for (int64_t i = 0; i < m->n_samples; i++) {
        int64_t at = (first + i) * to->row_stride, from = i * m->row_stride;
        for (int64_t k = 0; k < m->n_features; k++) {
            rb_put(to->type, to->values, at + k * to->column_stride,
                   m->sparse ? 0 : rb_get(m->type, m->values, from + k * m->column_stride));
        }
        for (int64_t e = 0; m->sparse && e < m->starts[i + 1] - m->starts[i]; e++) {
            int64_t entry = m->starts[i] - m->starts[0] + e;
            rb_put(to->type, to->values, at + m->columns[entry] * to->column_stride,
                   rb_get(m->type, m->values, entry));
        }
    }
}

double rb_matrix_at(const rb_matrix *m, int64_t sample, int64_t feature) {
    if (!m->sparse)
        return rb_get(m->type, m->values, sample * m->row_stride + feature * m->column_stride);
    for (int64_t e = m->starts[sample] - m->starts[0]; e < m->starts[sample + 1] - m->starts[0];
         e++)
        if (m->columns[e] == feature) return rb_get(m->type, m->values, e);
    return 0;
}

rb_error rb_matrix_set_sample_names(rb_context *ctx, rb_matrix *m, const char *const *names,
                                    int64_t count) {
    return rb_names_set(ctx, &m->sample_names, names, count, m->n_samples, "samples");
}

rb_error rb_matrix_set_feature_names(rb_context *ctx, rb_matrix *m, const char *const *names,
                                     int64_t count) {
    return rb_names_set(ctx, &m->feature_names, names, count, m->n_features, "features");
}

const char *rb_matrix_sample_name(const rb_matrix *m, int64_t sample) {
    return m->sample_names ? m->sample_names->text[sample] : NULL;
}

const char *rb_matrix_feature_name(const rb_matrix *m, int64_t feature) {
    return m->feature_names ? m->feature_names->text[feature] : NULL;
}
