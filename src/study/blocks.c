/* Samples that depend on each other: whole blocks of them (plates, families, runs) in place of
 * samples. A block is a row: its samples one behind the other. */
#include "study.h"

#include <string.h>

static rb_error put_in_order(rb_context *ctx, const rb_classes *of, rb_blocks *b) {
    rb_scratch scratch = {.ctx = ctx};
    int64_t *filled = rb_take(&scratch, b->count, sizeof *filled);
    b->order = filled ? rb_alloc(ctx, of->n_samples, sizeof *b->order) : NULL;
    for (int64_t i = 0; b->order && i < of->n_samples && !scratch.err; i++) {
        int64_t block = of->class_of[i], at = block < 0 ? 0 : filled[block]++;
        if (block < 0)
            scratch.err =
                rb_fail(ctx, RB_ERROR_DATA, "sample %lld is in no block; give every sample one",
                        (long long)rb_nth(ctx, i));
        else if (at < b->size)
            b->order[block * b->size + at] = i;
    }
    for (int64_t block = 0; b->order && block < b->count && !scratch.err; block++) {
        if (filled[block] == b->size) continue;
        scratch.err = rb_fail(ctx, RB_ERROR_DATA,
                              "block '%s' has %lld samples, but must have as many as the others "
                              "(%lld samples, %lld blocks); only blocks of one size are exchanged",
                              of->names[block], (long long)filled[block], (long long)of->n_samples,
                              (long long)b->count);
    }
    return rb_scratch_end(&scratch);
}

rb_error rb_blocks_of(rb_context *ctx, const rb_covariates *table, int64_t samples, rb_blocks *b) {
    enum { FEWEST = 4 };
    const rb_covariate *column = rb_covariates_column(table, 0);
    *b = (rb_blocks){0};
    if (!column || column->values || column->groups.n_samples != samples)
        return rb_fail(ctx, RB_ERROR_DATA, "blocks must be groups of all samples");
    b->count = column->groups.n_classes;
    b->size = samples / (b->count > 0 ? b->count : 1);
    if (b->count < FEWEST || b->size < 2)
        return rb_fail(ctx, RB_ERROR_DATA,
                       "there are %lld blocks of %lld samples; blocks need at least %d of at least "
                       "two samples",
                       (long long)b->count, (long long)samples, FEWEST);
    rb_error err = put_in_order(ctx, &column->groups, b);
    if (err) rb_blocks_clear(b);
    return err;
}

void rb_blocks_clear(rb_blocks *b) {
    rb_free(b->order);
    *b = (rb_blocks){0};
}

static rb_error rearrange(rb_context *ctx, const rb_blocks *b, const rb_matrix *from, bool back,
                          rb_matrix **to) {
    int64_t wide = back ? 1 : b->size, rows = b->count * b->size;
    int64_t m = from->n_features / (back ? b->size : 1);
    size_t row = (size_t)m * rb_type_size(from->type);
    rb_error err = rb_matrix_new_dense(ctx, from->type, rows / wide, m * wide, to);
    for (int64_t i = 0; !err && i < rows; i++) {
        int64_t source = back ? i : b->order[i], target = back ? b->order[i] : i;
        memcpy((char *)(*to)->values + (size_t)target * row,
               (const char *)from->values + (size_t)source * row, row);
    }
    return err;
}

rb_error rb_blocks_fold(rb_context *ctx, const rb_blocks *b, const rb_matrix *matrix,
                        rb_matrix **folded) {
    if (matrix->sparse)
        return rb_fail(
            ctx, RB_ERROR_UNSUPPORTED,
            "blocks need dense data, but these are sparse; convert them to a dense format");
    return rearrange(ctx, b, matrix, false, folded);
}

rb_error rb_blocks_unfold(rb_context *ctx, const rb_blocks *b, rb_matrix **matrix) {
    rb_matrix *folded = *matrix;
    rb_error err = rearrange(ctx, b, folded, true, matrix);
    rb_matrix_free(folded);
    if (err) *matrix = NULL;
    return err;
}
