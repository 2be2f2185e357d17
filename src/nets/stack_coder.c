/* Samples through the layers of a stack: a block at a time, and as a source of the codes below the
 * last layer, for rb_encode. */
#include "stack.h"

#include <string.h>

/* A layer at work on a block. */
typedef struct worker {
    const rb_model *model;
    void *own; /* its method's coder */
    rb_dense codes;
    rb_dense loadings; /* of a method without decode */
    /* Above the first layer: what it encodes, the codes below. */
    rb_matrix below;
    rb_source source;
    rb_feed *feed;
} worker;

typedef struct stack_coder {
    stack_layers layers;
    worker list[RB_STACK_LAYERS_MAX];
    rb_dense rows[2]; /* on the way back */
} stack_coder;

static void stack_coder_free(void *coder) {
    stack_coder *c = coder;
    for (int64_t k = 0; c && k < c->layers.count; k++) {
        worker *w = &c->list[k];
        if (w->own) rb_method_coder_free(w->model->method, w->own);
        rb_feed_free(w->feed);
        rb_dense_free(&w->codes);
        rb_dense_free(&w->loadings);
    }
    if (c) {
        rb_dense_free(&c->rows[0]);
        rb_dense_free(&c->rows[1]);
        stack_layers_free(&c->layers);
    }
    rb_free(c);
}

static rb_error take_loadings(rb_context *ctx, worker *w) {
    int64_t m = rb_model_features(w->model), l = rb_model_units(w->model);
    rb_error err = rb_dense_new(ctx, w->model->type, m, l, &w->loadings);
    return err ? err : rb_model_take_array(ctx, w->model, "loadings", w->loadings);
}

/* below: the worker of the layer below, or NULL. */
static rb_error begin(rb_context *ctx, const rb_model *layer, const worker *below,
                      int64_t block_samples, worker *w) {
    w->model = layer;
    rb_error err = rb_method_coder_new(ctx, layer, block_samples, &w->own);
    err =
        err ? err : rb_dense_new(ctx, layer->type, block_samples, rb_model_units(layer), &w->codes);
    if (!err && !layer->method->decode) err = take_loadings(ctx, w);
    if (err || !below) return err;
    w->below = rb_matrix_of(below->codes);
    rb_source_of_matrix(&w->below, &w->source);
    return rb_feed_new(ctx, layer->preprocess, &w->source, layer->type, &w->feed);
}

static rb_error take_rows(rb_context *ctx, int64_t block_samples, stack_coder *c) {
    size_t widest = 0;
    rb_error err = RB_OK;
    for (int64_t k = 0; k < c->layers.count; k++) {
        size_t wide = (size_t)rb_model_features(c->layers.list[k]);
        widest = wide > widest ? wide : widest;
    }
    for (int i = 0; !err && i < 2; i++)
        err = rb_dense_new(ctx, RB_FLOAT64, block_samples, (int64_t)widest, &c->rows[i]);
    return err;
}

static rb_error stack_coder_new(rb_context *ctx, const rb_model *model, int64_t block_samples,
                                void **coder) {
    stack_coder *c = *coder = rb_alloc_zero(ctx, 1, sizeof *c);
    if (!c) return RB_ERROR_MEMORY;
    rb_error err = stack_layers_take(ctx, model, &c->layers);
    for (int64_t k = 0; !err && k < c->layers.count; k++) {
        err = begin(ctx, c->layers.list[k], k > 0 ? &c->list[k - 1] : NULL, block_samples,
                    &c->list[k]);
    }
    err = err ? err : take_rows(ctx, block_samples, c);
    if (err) {
        stack_coder_free(c);
        *coder = NULL;
    }
    return err;
}

static rb_error stack_encode(rb_context *ctx, void *coder, const rb_block *block, void *codes) {
    stack_coder *c = coder;
    int64_t n = block->n_samples, last = c->layers.count - 1;
    rb_block given = *block;
    rb_error err = RB_OK;
    for (int64_t k = 0; !err && k <= last; k++) {
        worker *w = &c->list[k];
        if (k > 0) {
            rb_feed_forget(w->feed);
            err = rb_feed_read(ctx, w->feed, 0, n, &given);
            given.first = block->first;
            given.own = block->own;
        }
        if (!err)
            err = w->model->method->encode(ctx, w->own, &given, k == last ? codes : w->codes.data);
    }
    return err;
}

/* What the layer encodes, as it expects it of codes. */
static rb_error decode(rb_context *ctx, worker *w, rb_dense codes, rb_dense rows) {
    const rb_method *method = w->model->method;
    if (method->decode) return method->decode(ctx, w->own, codes.rows, codes.data, rows.data);
    rb_gemm_parallel(ctx, 1, codes, RB_PLAIN, w->loadings, RB_TRANSPOSED, 0, rows);
    return RB_OK;
}

/* rows scale + centre */
static void undo_preprocess(const rb_preprocess *p, rb_dense rows) {
    for (int64_t i = 0; i < rows.rows; i++)
        for (int64_t j = 0; j < rows.cols; j++)
            rb_dense_set(rows, i, j, rb_dense_get(rows, i, j) * p->scale[j] + p->centre[j]);
}

/* The values of a layer become those of the one below in its type. */
static rb_dense as_type(rb_dense rows, rb_type type, void *memory) {
    if (rows.type == type) return rows;
    rb_dense to = {memory, rows.rows, rows.cols, rows.cols, type};
    rb_dense_copy(rows, to);
    return to;
}

/* As decode, with noise. */
static rb_error emit(rb_context *ctx, worker *w, const rb_sampling *of_stack, int64_t layer,
                     rb_dense codes, rb_dense rows) {
    const rb_method *method = w->model->method;
    rb_sampling of_layer = *of_stack, *sampling = &of_layer;
    of_layer.layer = layer;
    rb_error err = rb_method_can_draw(ctx, method, 0, true);
    if (err) return err;
    if (rb_method_emits(method))
        return method->emit(ctx, w->own, sampling, codes.rows, codes.data, rows.data);
    err = decode(ctx, w, codes, rows);
    return err ? err : rb_model_add_noise(ctx, w->model, sampling, rows);
}

static void cut_below(rb_dense rows) {
    for (int64_t i = 0; i < rows.rows; i++)
        for (int64_t j = 0; j < rows.cols; j++)
            if (rb_dense_get(rows, i, j) < 0) rb_dense_set(rows, i, j, 0);
}

/* sampling NULL: as decoded. Codes that are 0 or above by their method are, noise or not. */
static rb_error go_down(rb_context *ctx, void *coder, const rb_sampling *sampling,
                        int64_t n_samples, const void *codes, void *rows) {
    stack_coder *c = coder;
    worker *top = &c->list[c->layers.count - 1];
    rb_error err = RB_OK;
    rb_dense at = {(void *)codes, n_samples, top->codes.cols, top->codes.cols, top->codes.type};
    int used = 0; /* which of the two rows are taken next */
    for (int64_t k = c->layers.count - 1; !err && k >= 0; k--) {
        worker *w = &c->list[k];
        int64_t m = rb_model_features(w->model);
        if (at.type != w->model->type) {
            at = as_type(at, w->model->type, c->rows[used].data);
            used = 1 - used;
        }
        bool last = k == 0 && w->model->type == top->model->type;
        rb_dense to = {last ? rows : c->rows[used].data, n_samples, m, m, w->model->type};
        err = sampling ? emit(ctx, w, sampling, k, at, to) : decode(ctx, w, at, to);
        if (!err && k > 0) undo_preprocess(w->model->preprocess, to);
        if (!err && k > 0 && sampling && c->layers.list[k - 1]->method->sparser) cut_below(to);
        used = 1 - used;
        at = to;
    }
    if (!err && at.data != rows)
        rb_dense_copy(at, (rb_dense){rows, at.rows, at.cols, at.cols, top->model->type});
    return err;
}

static rb_error stack_decode(rb_context *ctx, void *coder, int64_t n_samples, const void *codes,
                             void *rows) {
    return go_down(ctx, coder, NULL, n_samples, codes, rows);
}

/* ---- drawing samples: codes of the last layer, and from them layer by layer what each one makes
 * of the codes above it, noise included ---- */

static rb_error stack_draw(rb_context *ctx, void *coder, const rb_sampling *sampling, int64_t n,
                           const rb_block *block, void *codes) {
    stack_coder *c = coder;
    worker *top = &c->list[c->layers.count - 1];
    rb_sampling of_top = *sampling;
    of_top.layer = c->layers.count - 1;
    if (block) return stack_encode(ctx, coder, block, codes);
    rb_error err = rb_method_can_draw(ctx, top->model->method, sampling->steps, false);
    return err ? err : rb_method_draw(ctx, top->model->method, top->own, &of_top, n, NULL, codes);
}

/* ---- as a source ---- */

/* The chain of sources below the last layer. */
struct chain {
    stack_layers layers;
    rb_source *sources[RB_STACK_LAYERS_MAX]; /* of the codes of each */
    int64_t count;
};

static void free_chain(struct chain *c) {
    while (c->count > 0)
        rb_source_free(c->sources[--c->count]);
    stack_layers_free(&c->layers);
}

static rb_error read_chain(rb_source *source, rb_context *ctx, int64_t first, int64_t count,
                           rb_matrix *view) {
    const struct chain *c = source->state;
    rb_source *last = c->sources[c->count - 1];
    return last->read(last, ctx, first, count, view);
}

static void close_chain(rb_source *source) {
    free_chain(source->state);
    rb_free(source->state);
}

static rb_error build_chain(rb_context *ctx, rb_source *samples, struct chain *c) {
    rb_error err = RB_OK;
    for (int64_t k = 0; !err && k < c->layers.count; k++) {
        rb_source *from = k > 0 ? c->sources[k - 1] : samples;
        err = rb_source_of_codes(ctx, c->layers.list[k], from, false, &c->sources[k]);
        c->count += !err;
    }
    return err;
}

/* The last layer, and the codes below it as a source. */
static rb_error stack_top(rb_context *ctx, const rb_model *model, rb_source *samples,
                          rb_model **layer, rb_source **codes) {
    struct chain c = {.count = 0};
    *layer = NULL;
    *codes = NULL;
    rb_error err = stack_layers_take(ctx, model, &c.layers);
    rb_model *top = err ? NULL : c.layers.list[--c.layers.count];
    if (!err && c.layers.count == 0) {
        err = rb_source_slice(ctx, samples, 0, samples->n_samples, codes);
    } else if (!err) {
        err = build_chain(ctx, samples, &c);
        rb_source like = {0};
        if (!err) like = *c.sources[c.count - 1];
        like.read = read_chain;
        like.close = close_chain;
        err = err ? err : rb_source_make(ctx, &like, &c, sizeof c, codes);
    }
    if (err) {
        rb_model_free(top);
        free_chain(&c);
        return err;
    }
    *layer = top;
    return RB_OK;
}

/* ---- the method ---- */

const rb_method rb_method_stack = {
    .size = sizeof(rb_method),
    .name = "stack",
    .title = "stack of models",
    .code_name = "X_stack",
    .missing = true, /* its first layer sees to it */
    .coder_new = stack_coder_new,
    .coder_free = stack_coder_free,
    .encode = stack_encode,
    .decode = stack_decode,
    .top = stack_top,
    .draw = stack_draw,
    .emit = go_down,
    .draws_by_steps = true, /* where its last layer does */
};
