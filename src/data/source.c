/* Sources: blocks of samples from a matrix or from a program's callback. */
#include "data.h"

rb_source *rb_source_new(rb_context *ctx) {
    return rb_alloc_zero(ctx, 1, sizeof(rb_source));
}

void rb_source_free(rb_source *source) {
    if (source) {
        if (source->close) {
            source->close(source);
        }
        rb_free(source->path);
        rb_free(source);
    }
}

rb_error rb_source_read(rb_context *ctx, rb_source *source, int64_t first, int64_t count,
                        rb_matrix *view) {
    rb_error err = rb_check_stop(ctx);
    return err ? err : source->read(source, ctx, first, count, view);
}

/* ---- a matrix in memory ---- */

static rb_error read_matrix(rb_source *source, rb_context *ctx, int64_t first, int64_t count,
                            rb_matrix *view) {
    (void)ctx;
    const rb_matrix *m = source->state;
    *view = *m;
    view->n_samples = count;
    view->sample_names = view->feature_names = NULL;
    view->release = NULL;
    int64_t skip = m->sparse ? m->starts[first] - m->starts[0] : first * m->row_stride;
    view->values = (const char *)m->values + skip * (int64_t)rb_type_size(m->type);
    if (m->sparse) {
        view->starts = m->starts + first;
        view->columns = m->columns + skip;
    }
    return RB_OK;
}

static void close_owned_matrix(rb_source *source) {
    rb_matrix_free(source->state);
}

rb_error rb_source_from_matrix(rb_context *ctx, const rb_matrix *m, rb_source **out) {
    *out = NULL;
    rb_source *source = rb_source_new(ctx);
    if (!source) {
        return RB_ERROR_MEMORY;
    }
    source->n_samples = m->n_samples;
    source->n_features = m->n_features;
    source->type = m->type;
    source->sparse = m->sparse;
    source->sample_names = m->sample_names;
    source->feature_names = m->feature_names;
    source->at_random = true;
    source->read = read_matrix;
    source->state = (void *)m; /* never written to: only close_owned_matrix frees it */
    *out = source;
    return RB_OK;
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
    void *user;
    void (*release)(void *user); /* NULL: the user's own */
    void *rows;
    int64_t room; /* samples that `rows` can hold */
};

static rb_error read_callback(rb_source *source, rb_context *ctx, int64_t first, int64_t count,
                              rb_matrix *view) {
    struct callback_state *state = source->state;
    if (count > state->room) {
        int64_t cells;
        if (!rb_multiply(count, source->n_features, &cells)) {
            return rb_fail(ctx, RB_ERROR_MEMORY,
                           "a block of %lld samples x %lld features is too large", (long long)count,
                           (long long)source->n_features);
        }
        void *rows = rb_alloc(ctx, cells, rb_type_size(source->type));
        if (!rows) {
            return RB_ERROR_MEMORY;
        }
        rb_free(state->rows);
        state->rows = rows;
        state->room = count;
    }
    int code = state->fn(state->user, first, count, state->rows);
    if (code) {
        return rb_fail(ctx, RB_ERROR_FILE, "the data source gave code %d for samples %lld to %lld",
                       code, (long long)first + 1, (long long)(first + count));
    }
    *view = (rb_matrix){.n_samples = count,
                        .n_features = source->n_features,
                        .type = source->type,
                        .values = state->rows,
                        .row_stride = source->n_features,
                        .column_stride = 1};
    return RB_OK;
}

static void close_callback(rb_source *source) {
    struct callback_state *state = source->state;
    if (state->release) {
        state->release(state->user);
    }
    rb_free(state->rows);
    rb_free(state);
}

rb_error rb_source_from_callback(rb_context *ctx, rb_type type, int64_t n_samples,
                                 int64_t n_features, rb_source_fn fn, void *user, rb_source **out) {
    *out = NULL;
    if (n_samples < 0 || n_features < 0) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "a source cannot have %lld samples x %lld features",
                       (long long)n_samples, (long long)n_features);
    }
    struct callback_state *state = rb_alloc_zero(ctx, 1, sizeof *state);
    rb_source *source = rb_source_new(ctx);
    if (!state || !source) {
        rb_free(state);
        rb_free(source);
        return RB_ERROR_MEMORY;
    }
    *state = (struct callback_state){.fn = fn, .user = user};
    *source = (rb_source){.n_samples = n_samples,
                          .n_features = n_features,
                          .type = type,
                          .read = read_callback,
                          .close = close_callback,
                          .state = state};
    *out = source;
    return RB_OK;
}

rb_error rb_source_own_callback(rb_context *ctx, rb_type type, int64_t n_samples,
                                int64_t n_features, rb_source_fn fn, void *user,
                                void (*release)(void *user), rb_source **out) {
    rb_error err = rb_source_from_callback(ctx, type, n_samples, n_features, fn, user, out);
    if (err) {
        release(user);
        return err;
    }
    struct callback_state *state = (*out)->state;
    state->release = release;
    return RB_OK;
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
