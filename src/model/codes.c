/* Codes as a source: what the next layer of a stack is fitted to, and encodes.
 *
 * They are computed in the blocks of rb_encode, whichever are asked for, so that a sample has the
 * same bits always.
 */
#include "use.h"

#include <string.h>

struct codes {
    rb_coder coder;
    const rb_model *model;
    rb_source *samples;
    int64_t size, held; /* samples in a block; which block was computed last, -1: none */
    rb_matrix last;     /* its codes */
    rb_buffer rows;     /* what is given out */
    char *kept;         /* all codes; NULL: none are kept */
    bool *there;        /* of each block: is it kept? */
};

static rb_error restart(rb_context *ctx, struct codes *c) {
    rb_coder_clear(&c->coder);
    c->held = -1;
    return rb_coder_start(ctx, &c->coder, c->model, c->samples);
}

static rb_error hold_block(rb_context *ctx, struct codes *c, int64_t index) {
    if (index == c->held) return RB_OK;
    rb_error err = c->coder.threads == rb_context_threads(ctx) ? RB_OK : restart(ctx, c);
    int64_t first = index * c->size;
    err = err ? err
              : rb_coder_block(ctx, &c->coder, first,
                               rb_smaller(c->samples->n_samples - first, c->size), &c->last);
    c->held = err ? -1 : index;
    return err;
}

static size_t row_bytes(const rb_source *source) {
    return (size_t)source->n_features * rb_type_size(source->type);
}

static rb_error keep_block(rb_context *ctx, const rb_source *source, struct codes *c,
                           int64_t index) {
    size_t row = row_bytes(source);
    rb_error err = c->there[index] ? RB_OK : hold_block(ctx, c, index);
    if (!err && !c->there[index]) {
        memcpy(c->kept + (size_t)(index * c->size) * row, c->last.values,
               (size_t)c->last.n_samples * row);
        c->there[index] = true;
    }
    return err;
}

/* The samples of a block that are among those asked for. */
static rb_error give_block(rb_context *ctx, const rb_source *source, struct codes *c, int64_t index,
                           int64_t first, int64_t end) {
    size_t row = row_bytes(source);
    rb_error err = hold_block(ctx, c, index);
    if (err) return err;
    int64_t begins = index * c->size, from = first > begins ? first : begins;
    int64_t to = rb_smaller(begins + c->last.n_samples, end);
    memcpy((char *)c->rows.data + (size_t)(from - first) * row,
           (const char *)c->last.values + (size_t)(from - begins) * row, (size_t)(to - from) * row);
    return RB_OK;
}

static rb_error read_codes(rb_source *source, rb_context *ctx, int64_t first, int64_t count,
                           rb_matrix *view) {
    struct codes *c = source->state;
    int64_t end = first + count;
    rb_error err = c->kept ? RB_OK : rb_buffer_hold(ctx, &c->rows, count, row_bytes(source));
    for (int64_t index = first / c->size; !err && index * c->size < end; index++) {
        err = rb_check_stop(ctx);
        if (!err && c->kept)
            err = keep_block(ctx, source, c, index);
        else if (!err)
            err = give_block(ctx, source, c, index, first, end);
    }
    *view =
        (rb_matrix){.n_samples = count,
                    .n_features = source->n_features,
                    .type = source->type,
                    .values = c->kept ? c->kept + (size_t)first * row_bytes(source) : c->rows.data,
                    .row_stride = source->n_features,
                    .column_stride = 1};
    return err;
}

static void close_codes(rb_source *source) {
    struct codes *c = source->state;
    rb_coder_clear(&c->coder);
    rb_free(c->rows.data);
    rb_free(c->kept);
    rb_free(c->there);
    rb_free(c);
}

static rb_error take_memory(rb_context *ctx, const rb_source *source, struct codes *c) {
    int64_t blocks = (source->n_samples + c->size - 1) / c->size;
    c->there = rb_alloc_zero(ctx, blocks, sizeof *c->there);
    c->kept = c->there ? rb_alloc(ctx, source->n_samples, row_bytes(source)) : NULL;
    return c->kept ? RB_OK : RB_ERROR_MEMORY;
}

rb_error rb_source_of_codes(rb_context *ctx, const rb_model *model, rb_source *samples, bool keep,
                            rb_source **out) {
    const struct codes state = {.model = model, .samples = samples, .held = -1};
    rb_source like = {.n_samples = samples->n_samples,
                      .n_features = rb_model_units(model),
                      .type = model->type,
                      .sample_names = samples->sample_names,
                      .at_random = keep,
                      .read = read_codes,
                      .close = close_codes};
    rb_error err = rb_source_make(ctx, &like, &state, sizeof state, out);
    if (err) return err;
    struct codes *c = (*out)->state;
    err = rb_coder_start(ctx, &c->coder, model, samples);
    c->size = c->coder.block_samples > 0 ? c->coder.block_samples : 1;
    err = err || !keep ? err : take_memory(ctx, *out, c);
    if (err) {
        rb_source_free(*out);
        *out = NULL;
    }
    return err;
}
