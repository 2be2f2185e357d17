/* Input noise: the posterior means of a pass are computed from samples with noise, while the
 * moments V'mu keep the samples as they are, so that codes learn to undo the noise (as the authors'
 * program has it; P. Vincent et al., "Extracting and composing robust features with denoising
 * autoencoders", ICML 2008).
 *
 *     masking           a value becomes 0: after centring the mean of its feature
 *     salt-and-pepper   a value becomes the least or the largest one of its feature
 *     gaussian          N(0, level^2) is added
 *
 * Of sparse samples masking hides stored values. A random number depends on seed, pass, sample and
 * feature (of sparse samples: on which of the stored values it is) alone.
 */
#include "state.h"

#include <math.h>
#include <string.h>

static bool replaces(const rfn_state *st) {
    return st->options.input_noise == RB_RFN_NOISE_SALT_AND_PEPPER;
}

rb_error rfn_noise_new(rb_context *ctx, rfn_state *st) {
    rfn_noise *noise = &st->noise;
    int64_t m = st->problem.n_features;
    rb_type type = st->problem.type;
    if (st->options.input_noise == RB_RFN_NOISE_NONE) {
        return RB_OK;
    }
    if (st->problem.sparse && st->options.input_noise != RB_RFN_NOISE_MASKING) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "this input-noise would fill the zeros of sparse data; take masking, which "
                       "hides stored values");
    }
    if (st->options.input_noise != RB_RFN_NOISE_GAUSSIAN) { /* whose level is no share */
        noise->threshold = rfn_random_threshold(st->options.input_noise_level);
    }
    rb_error err = RB_OK;
    if (!st->problem.sparse) {
        err = rb_dense_new(ctx, type, st->problem.block_samples, m, &noise->rows);
    }
    if (!err && replaces(st)) {
        noise->least = rb_alloc(ctx, m, rb_type_size(type));
        noise->most = rb_alloc(ctx, m, rb_type_size(type));
        err = noise->least && noise->most ? RB_OK : RB_ERROR_MEMORY;
    }
    for (int64_t k = 0; !err && replaces(st) && k < m; k++) {
        rfn_put(type, noise->least, k, INFINITY);
        rfn_put(type, noise->most, k, -INFINITY);
    }
    return err;
}

void rfn_noise_free(rfn_noise *noise) {
    rb_dense_free(&noise->rows);
    rb_free(noise->values);
    rb_free(noise->least);
    rb_free(noise->most);
}

void rfn_noise_survey(rfn_state *st, const rb_block *block) {
    rfn_noise *noise = &st->noise;
    for (int64_t i = 0; noise->least && i < block->n_samples; i++) {
        const void *row = rb_dense_row(block->dense, i);
        for (int64_t k = 0; k < block->n_features; k++) {
            rb_type type = block->dense.type;
            double x = rfn_get(type, row, k);
            rfn_put(type, noise->least, k, fmin(x, rfn_get(type, noise->least, k)));
            rfn_put(type, noise->most, k, fmax(x, rfn_get(type, noise->most, k)));
        }
    }
}

bool rfn_has_noise(const rfn_state *st) {
    return st->options.input_noise != RB_RFN_NOISE_NONE && !rfn_is_last(st);
}

rb_error rfn_noise_block(rb_context *ctx, rfn_state *st, const rb_block *block, rb_block *seen) {
    rfn_noise *noise = &st->noise;
    *seen = *block;
    if (!block->sparse) {
        seen->dense = rb_dense_rows(noise->rows, 0, block->n_samples);
        return RB_OK;
    }
    rb_csr v = block->csr;
    int64_t entries = v.starts[v.rows] - v.starts[0];
    if (entries > noise->room) {
        rb_free(noise->values);
        noise->room = 0;
        noise->values = rb_alloc(ctx, entries, rb_type_size(v.type));
        if (!noise->values) {
            return RB_ERROR_MEMORY;
        }
        noise->room = entries;
    }
    seen->csr.values = noise->values;
    return RB_OK;
}

static void add_to_row(rb_context *ctx, const rfn_state *st, uint64_t sample, int64_t n,
                       const void *from, void *to, uint32_t *words) {
    const rfn_noise *noise = &st->noise;
    rb_type type = st->problem.type;
    if (st->options.input_noise == RB_RFN_NOISE_GAUSSIAN) {
        float *normals = (float *)words;
        rb_normal_row(ctx, noise->key, sample, n, normals);
        rb_add_floats(ctx, type, n, st->options.input_noise_level, normals, from, to);
        return;
    }
    rb_random_row(ctx, noise->key, sample, n, words);
    rb_replace_row(ctx, type, n, words, noise->threshold, noise->least, noise->most, from, to);
}

void rfn_noise_rows(rb_context *ctx, const rfn_state *st, const rb_block *block, int64_t first,
                    int64_t count, int worker) {
    uint32_t *words = rfn_worker_words(st, worker);
    for (int64_t i = first; i < first + count; i++) {
        uint64_t sample = (uint64_t)(block->first + i);
        if (block->sparse) {
            rb_csr v = block->csr;
            int64_t e = v.starts[i] - v.starts[0], size = (int64_t)rb_type_size(v.type);
            add_to_row(ctx, st, sample, v.starts[i + 1] - v.starts[i],
                       (const char *)v.values + e * size, (char *)st->noise.values + e * size,
                       words);
        } else {
            add_to_row(ctx, st, sample, block->n_features, rb_dense_row(block->dense, i),
                       rb_dense_row(st->noise.rows, i), words);
        }
    }
}
