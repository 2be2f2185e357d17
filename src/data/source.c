/* Sources: blocks of samples from a matrix or from a program's callback. */
#include "data.h"

#include <string.h>

rb_source *rb_source_new(rb_context *ctx) {
    return rb_alloc_zero(ctx, 1, sizeof(rb_source));
}

void rb_source_free(rb_source *source) {
    if (source) {
        if (source->close) source->close(source);
        rb_source_covariates_free(source->own_covariates);
        rb_names_free(source->own_sample_names);
        rb_names_free(source->own_feature_names);
        rb_free(source->path);
        rb_free(source);
    }
}

rb_error rb_source_make(rb_context *ctx, const rb_source *like, const void *state, size_t size,
                        rb_source **out) {
    *out = rb_source_new(ctx);
    void *kept = rb_alloc(ctx, 1, size);
    if (!*out || !kept) {
        rb_free(*out);
        rb_free(kept);
        *out = NULL;
        return RB_ERROR_MEMORY;
    }
    memcpy(kept, state, size);
    **out = *like;
    (*out)->own_covariates = NULL;
    (*out)->own_sample_names = (*out)->own_feature_names = NULL;
    (*out)->state = kept;
    return RB_OK;
}

rb_error rb_source_read(rb_context *ctx, rb_source *source, int64_t first, int64_t count,
                        rb_matrix *view) {
    rb_error err = rb_check_stop(ctx);
    rb_phase before = rb_phase_begin(ctx, RB_PHASE_READING);
    err = err ? err : source->read(source, ctx, first, count, view);
    if (!err) rb_phase_add(ctx, 0, rb_matrix_bytes(view));
    rb_phase_end(ctx, before);
    return err;
}

/* ---- a matrix in memory ---- */

static rb_error read_matrix(rb_source *source, rb_context *ctx, int64_t first, int64_t count,
                            rb_matrix *view) {
    (void)ctx;
    *view = rb_matrix_part(source->state, first, count);
    return RB_OK;
}

static void close_owned_matrix(rb_source *source) {
    rb_matrix_free(source->state);
}

void rb_source_of_matrix(const rb_matrix *m, rb_source *source) {
    *source = (rb_source){
        .n_samples = m->n_samples,
        .n_features = m->n_features,
        .type = m->type,
        .sparse = m->sparse,
        .sample_names = m->sample_names,
        .feature_names = m->feature_names,
        .at_random = true,
        .read = read_matrix,
        .state = (void *)m, /* never written to: only close_owned_matrix frees it */
    };
}

rb_error rb_source_from_matrix(rb_context *ctx, const rb_matrix *m, rb_source **out) {
    *out = rb_source_new(ctx);
    if (!*out) return RB_ERROR_MEMORY;
    rb_source_of_matrix(m, *out);
    return RB_OK;
}

const rb_matrix *rb_source_memory(const rb_source *source) {
    return source->read == read_matrix ? source->state : NULL;
}

rb_error rb_source_own_matrix(rb_context *ctx, rb_matrix *matrix, rb_source **out) {
    rb_error err = rb_source_from_matrix(ctx, matrix, out);
    if (err) {
        rb_matrix_free(matrix);
        return err;
    }
    (*out)->close = close_owned_matrix;
    return RB_OK;
}

/* ---- a callback ---- */

struct callback_state {
    rb_source_fn fn;
    rb_csr_source_fn csr_fn; /* of a sparse source, instead of fn */
    void *user;
    void (*release)(void *user); /* NULL: the user's own */
    rb_buffer rows;
};

static rb_error read_callback(rb_source *source, rb_context *ctx, int64_t first, int64_t count,
                              rb_matrix *view) {
    struct callback_state *state = source->state;
    int64_t failures = ctx->failures, m = source->n_features;
    size_t size = (size_t)m * rb_type_size(source->type);
    if (!source->sparse && rb_buffer_hold(ctx, &state->rows, count, size)) return RB_ERROR_MEMORY;
    *view = (rb_matrix){count, m, source->type, source->sparse, state->rows.data, m, 1};
    rb_error err = source->sparse ? state->csr_fn(state->user, first, count, &view->starts,
                                                  &view->columns, &view->values)
                                  : state->fn(state->user, first, count, state->rows.data);
    if (err && ctx->failures == failures) { /* a message that the callback left stays */
        rb_fail(ctx, err, "the data source returned %s for samples %lld to %lld%s",
                rb_error_name(err), (long long)rb_nth(ctx, first),
                (long long)rb_nth(ctx, first + count - 1), rb_counted(ctx, false));
    }
    if (!err && source->sparse) {
        err = rb_csr_check(ctx, count, m, view->starts, view->columns);
        if (err) {
            rb_fail_prefix(
                ctx, "the data source, samples %lld to %lld%s: ", (long long)rb_nth(ctx, first),
                (long long)rb_nth(ctx, first + count - 1), rb_counted(ctx, false));
        }
    }
    return err;
}

static void close_callback(rb_source *source) {
    struct callback_state *state = source->state;
    if (state->release) state->release(state->user);
    rb_free(state->rows.data);
    rb_free(state);
}

/* A source with a copy of that state. */
static rb_error new_callback(rb_context *ctx, rb_type type, int64_t n_samples, int64_t n_features,
                             struct callback_state state, rb_source **out) {
    *out = NULL;
    if (n_samples < 0 || n_features < 0) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "a source cannot have %lld samples x %lld features",
                       (long long)n_samples, (long long)n_features);
    }
    rb_source like = {.n_samples = n_samples,
                      .n_features = n_features,
                      .type = type,
                      .sparse = state.csr_fn != NULL,
                      .read = read_callback,
                      .close = close_callback};
    rb_error err = rb_check_type(ctx, type);
    return err ? err : rb_source_make(ctx, &like, &state, sizeof state, out);
}

rb_error rb_source_from_callback(rb_context *ctx, rb_type type, int64_t n_samples,
                                 int64_t n_features, rb_source_fn fn, void *user, rb_source **out) {
    return new_callback(ctx, type, n_samples, n_features,
                        (struct callback_state){.fn = fn, .user = user}, out);
}

rb_error rb_source_from_csr_callback(rb_context *ctx, rb_type type, int64_t n_samples,
                                     int64_t n_features, rb_csr_source_fn fn, void *user,
                                     rb_source **out) {
    return new_callback(ctx, type, n_samples, n_features,
                        (struct callback_state){.csr_fn = fn, .user = user}, out);
}

rb_error rb_source_own_callback(rb_context *ctx, rb_type type, int64_t n_samples,
                                int64_t n_features, rb_source_fn fn, void *user,
                                void (*release)(void *user), rb_source **out) {
    rb_error err =
        new_callback(ctx, type, n_samples, n_features,
                     (struct callback_state){.fn = fn, .user = user, .release = release}, out);
    if (err) release(user);
    return err;
}

/* ---- a part of another source ---- */

struct slice {
    rb_source *source;
    int64_t first;
    rb_names names; /* of its samples: within those of the source */
};

static rb_error read_slice(rb_source *source, rb_context *ctx, int64_t first, int64_t count,
                           rb_matrix *view) {
    const struct slice *slice = source->state;
    slice->source->ahead = source->ahead;
    return slice->source->read(slice->source, ctx, slice->first + first, count, view);
}

static void close_slice(rb_source *source) {
    rb_free(source->state);
}

rb_error rb_source_slice(rb_context *ctx, rb_source *source, int64_t first, int64_t count,
                         rb_source **out) {
    *out = NULL;
    if (first < 0 || count < 0 || first > source->n_samples - count) {
        return rb_fail(
            ctx, RB_ERROR_ARGUMENT,
            "%lld samples from sample %lld on (counted from 0) are more than the %lld of "
            "the source",
            (long long)count, (long long)first, (long long)source->n_samples);
    }
    struct slice state = {.source = source, .first = first};
    rb_source like = *source;
    double share = source->n_samples > 0 ? (double)count / (double)source->n_samples : 0;
    like.n_samples = count;
    like.covariates_first += first;
    like.path = NULL; /* its samples are counted otherwise than those of the file */
    like.of = NULL;
    like.unpacked = (int64_t)((double)source->unpacked * share);
    like.read = read_slice;
    like.close = close_slice;
    rb_error err = rb_source_make(ctx, &like, &state, sizeof state, out);
    if (!err && source->sample_names) {
        struct slice *slice = (*out)->state;
        slice->names = (rb_names){count, source->sample_names->text + first};
        (*out)->sample_names = &slice->names;
    }
    return err;
}

/* ---- reading, and what a source is ---- */

rb_error rb_source_read_into(rb_context *ctx, rb_source *source, rb_type type, void *values,
                             int64_t row_stride, int64_t column_stride) {
    enum { VALUES_AT_ONCE = 1 << 20 };
    const rb_target to = {type, values, row_stride, column_stride};
    int64_t wide = source->n_features > 0 ? source->n_features : 1, n = source->n_samples;
    int64_t size = wide < VALUES_AT_ONCE ? VALUES_AT_ONCE / wide : 1;
    rb_error err = rb_check_type(ctx, type);
    for (int64_t first = 0; !err && first < n; first += size) {
        rb_matrix view;
        err = rb_source_read(ctx, source, first, rb_smaller(n - first, size), &view);
        if (!err) rb_matrix_copy(&view, first, &to);
    }
    return err;
}

int64_t rb_source_samples(const rb_source *source) {
    return source->n_samples;
}

int64_t rb_source_features(const rb_source *source) {
    return source->n_features;
}

bool rb_source_sparse(const rb_source *source) {
    return source->sparse;
}

int64_t rb_source_unpacked(const rb_source *source) {
    return source->unpacked;
}

rb_type rb_source_type(const rb_source *source) {
    return source->type;
}

const char *rb_source_sample_name(const rb_source *source, int64_t sample) {
    return source->sample_names ? source->sample_names->text[sample] : NULL;
}

const char *rb_source_feature_name(const rb_source *source, int64_t feature) {
    return source->feature_names ? source->feature_names->text[feature] : NULL;
}

rb_error rb_source_set_sample_names(rb_context *ctx, rb_source *source, const char *const *names,
                                    int64_t count) {
    rb_error err =
        rb_names_set(ctx, &source->own_sample_names, names, count, source->n_samples, "samples");
    if (!err) source->sample_names = source->own_sample_names;
    return err;
}

rb_error rb_source_set_feature_names(rb_context *ctx, rb_source *source, const char *const *names,
                                     int64_t count) {
    rb_error err =
        rb_names_set(ctx, &source->own_feature_names, names, count, source->n_features, "features");
    if (!err) source->feature_names = source->own_feature_names;
    return err;
}
