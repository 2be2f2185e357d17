/* Codes that are made once. The first walk encodes the samples and keeps their codes; later ones
 * hand these on, with the preprocessed samples where they are asked for, and encode nothing. */
#include "use.h"

void rb_encoded_clear(rb_encoded *kept) {
    rb_dense_free(&kept->codes);
    *kept = (rb_encoded){0};
}

/* Memory for the codes, where they are to be kept. */
static rb_error make_room(rb_context *ctx, rb_encoded *k) {
    int64_t n = rb_source_samples(k->source), units = rb_model_units(k->model), cells;
    int64_t most = k->most / (int64_t)rb_type_size(k->model->type);
    bool fits = rb_multiply(n, units, &cells) && cells <= most;
    if (k->codes.data || (!fits && k->most < INT64_MAX)) return RB_OK;
    return rb_dense_new(ctx, k->model->type, n, units, &k->codes);
}

/* A walk, and who is given what it passes. */
struct keeping {
    rb_coder coder;
    rb_encoded *kept;
    rb_rows_fn rows;
    rb_block_fn blocks; /* NULL: rows alone */
    void *user;
};

static rb_error hand_on(void *user, int64_t first, const rb_matrix *codes) {
    struct keeping *w = user;
    rb_encoded *k = w->kept;
    rb_error err = RB_OK;
    if (!k->walked && k->codes.data) {
        rb_dense to = k->codes;
        rb_matrix_copy(codes, first, &(rb_target){to.type, to.data, to.ld, 1});
    }
    if (!k->walked && k->also) err = k->also(k->also_user, &w->coder.block, codes);
    if (err) return err;
    return w->blocks ? w->blocks(w->user, &w->coder.block, codes) : w->rows(w->user, first, codes);
}

/* Over the samples: with codes that are kept, or that are made. */
static rb_error walk_samples(rb_context *ctx, struct keeping *w) {
    rb_encoded *k = w->kept;
    rb_below below = {0};
    rb_error err = k->walked ? RB_OK : make_room(ctx, k);
    bool blocks = w->blocks || (k->also && !k->walked);
    if (!err) {
        err = blocks ? rb_coder_start_blocks(ctx, &w->coder, k->model, k->source, false)
                     : rb_coder_start(ctx, &w->coder, k->model, k->source);
    }
    bool tells = !k->walked && k->most > 0;
    if (tells) w->coder.below = &below;
    int64_t n = rb_source_samples(k->source);
    if (k->walked && k->codes.data) {
        w->coder.given = &k->codes;
        err = err ? err : rb_coder_run(ctx, &w->coder, 0, n, hand_on, w);
    } else {
        err = rb_coder_walk(ctx, &w->coder, err, n, blocks, hand_on, w);
    }
    if (!err && tells)
        rb_method_tell_below(ctx, k->model->method, &below, k->model->preprocess, k->source);
    rb_coder_clear(&w->coder);
    k->walked = k->walked || !err;
    return err;
}

rb_error rb_encoded_rows(rb_context *ctx, rb_encoded *k, rb_rows_fn fn, void *user) {
    enum { ROWS = 4096 };
    struct keeping w = {.kept = k, .rows = fn, .user = user};
    rb_error err = RB_OK;
    if (!k->walked || !k->codes.data) return walk_samples(ctx, &w);
    for (int64_t first = 0, n = k->codes.rows; first < n && !err; first += ROWS) {
        int64_t count = rb_smaller(n - first, ROWS);
        const rb_matrix part = rb_matrix_of(rb_dense_rows(k->codes, first, count));
        err = rb_check_stop(ctx);
        err = err ? err : fn(user, first, &part);
    }
    return err;
}

rb_error rb_encoded_blocks(rb_context *ctx, rb_encoded *k, rb_block_fn fn, void *user) {
    struct keeping w = {.kept = k, .blocks = fn, .user = user};
    return walk_samples(ctx, &w);
}
