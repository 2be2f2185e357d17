/* What is random in a pass of the newton E-step: input noise, and dropout of codes.
 *
 * Input noise: the posterior means of a pass are computed from samples with noise, while the
 * moments V'mu keep the samples as they are, so that codes learn to invert the noise (as the
 * authors' program has it; P. Vincent et al., "Extracting and composing robust features with
 * denoising autoencoders", ICML 2008).
 *
 *     masking           a value becomes 0: after centring the mean of its feature
 *     salt-and-pepper   a value becomes the smallest or the largest one of its feature
 *     gaussian          N(0, level^2) is added
 *
 * Of sparse samples masking hides stored values.
 *
 * Dropout: each code of each sample becomes 0 with a probability (Clevert et al. 2015, Alg. S9),
 * between rectifying and normalising; what is left is not multiplied up. The authors' program drops
 * after scaling: then the scale of a unit is that of all its codes.
 *
 * A random number depends on seed, pass, sample and feature (of sparse samples: on which of the
 * stored values it is) or unit alone.
 */
#include "engine.h"

#include <stddef.h>
#include <string.h>

const rb_field rfn_randomness_fields[] = {
    {"noisy_rows", offsetof(rfn_randomness, rows), RB_FIELD_DENSE, RB_KEPT_WORKING, RFN_NOISY,
     RFN_FEATURES},
    {"task_codes", offsetof(rfn_randomness, task_codes), RB_FIELD_POINTER, RB_KEPT_FLOAT64,
     RFN_TASKS, RFN_DROPS},
    {"task_squares", offsetof(rfn_randomness, task_squares), RB_FIELD_POINTER, RB_KEPT_FLOAT64,
     RFN_TASKS, RFN_DROPS},
    {0},
};

static int64_t row_capacity(const rfn_setup *setup) {
    int64_t m = setup->problem.n_features, l = setup->options.units, longest = l > m ? l : m;
    return (longest + RB_RANDOM_RUN - 1) / RB_RANDOM_RUN * RB_RANDOM_RUN;
}

/* A share of all random words: those below it. */
static uint32_t threshold_of(double share) {
    return (uint32_t)(share * 0x1p32);
}

rb_error rfn_randomness_new(rb_context *ctx, const rfn_setup *setup, rfn_randomness *random) {
    const rb_rfn_options *options = &setup->options;
    random->setup = setup;
    if (options->input_noise == RB_RFN_NOISE_NONE && options->dropout == 0) return RB_OK;
    if (options->input_noise != RB_RFN_NOISE_GAUSSIAN) /* whose level is no share */
        random->noise_share = threshold_of(options->input_noise_level);
    random->dropout_share = threshold_of(options->dropout);
    random->words =
        rb_alloc(ctx, rb_context_threads(ctx) * row_capacity(setup), sizeof *random->words);
    return random->words ? RB_OK : RB_ERROR_MEMORY;
}

void rfn_randomness_clear(rfn_randomness *random) {
    rb_free(random->values.data);
    rb_free(random->words);
}

static uint64_t key_of(const rfn_setup *setup, int64_t iteration, uint32_t purpose) {
    const rb_problem *problem = &setup->problem;
    const rb_stream stream = {.seed = (uint64_t)problem->fit->seed,
                              .purpose = purpose,
                              .restart = (uint32_t)problem->restart};
    return rb_random_key(stream, (uint64_t)iteration);
}

rb_device_chance rfn_mask_chance(const rfn_setup *setup, int64_t iteration) {
    return (rb_device_chance){key_of(setup, iteration, RB_RANDOM_INPUT_NOISE),
                              threshold_of(setup->options.input_noise_level)};
}

rb_device_chance rfn_drop_chance(const rfn_setup *setup, int64_t iteration) {
    return (rb_device_chance){key_of(setup, iteration, RB_RANDOM_DROPOUT),
                              threshold_of(setup->options.dropout)};
}

void rfn_randomness_begin(rfn_randomness *random, const rfn_given *given) {
    random->noise_key = key_of(random->setup, given->iteration, RB_RANDOM_INPUT_NOISE);
    random->dropout_key = key_of(random->setup, given->iteration, RB_RANDOM_DROPOUT);
    random->min = given->survey->min;
    random->max = given->survey->max;
    random->last = given->last;
}

static uint32_t *words_of(const rfn_randomness *random, int worker) {
    return random->words + worker * row_capacity(random->setup);
}

/* ---- input noise ---- */

bool rfn_has_noise(const rfn_randomness *random) {
    return random->setup->options.input_noise != RB_RFN_NOISE_NONE && !random->last;
}

rb_error rfn_noise_block(rb_context *ctx, rfn_randomness *random, const rb_block *block,
                         rb_block *seen) {
    *seen = *block;
    if (!block->sparse) {
        seen->dense = rb_dense_rows(random->rows, 0, block->n_samples);
        return RB_OK;
    }
    rb_csr v = block->csr;
    rb_error err =
        rb_buffer_hold(ctx, &random->values, v.starts[v.rows] - v.starts[0], rb_type_size(v.type));
    seen->csr.values = random->values.data;
    return err;
}

static void add_to_row(rb_context *ctx, const rfn_randomness *random, uint64_t sample, int64_t n,
                       uint32_t *words, const void *from, void *to) {
    const rfn_setup *setup = random->setup;
    const struct rb_kernels *kernels = rb_kernels_of(ctx);
    const struct rb_type_kernels *typed = &kernels->of[setup->problem.type];
    if (setup->options.input_noise == RB_RFN_NOISE_GAUSSIAN) {
        float *normals = (float *)words;
        kernels->normal_row(random->noise_key, sample, n, normals);
        typed->add_floats(n, setup->options.input_noise_level, normals, from, to);
        return;
    }
    kernels->random_row(random->noise_key, sample, n, words);
    typed->replace_row(n, words, random->noise_share, random->min, random->max, from, to);
}

void rfn_noise_rows(rb_context *ctx, const rfn_randomness *random, const rb_block *block,
                    int64_t first, int64_t count, int worker) {
    uint32_t *words = words_of(random, worker);
    for (int64_t i = first; i < first + count; i++) {
        uint64_t sample = (uint64_t)(block->first + i);
        if (block->sparse) {
            rb_csr v = block->csr;
            int64_t at = (v.starts[i] - v.starts[0]) * (int64_t)rb_type_size(v.type);
            add_to_row(ctx, random, sample, v.starts[i + 1] - v.starts[i], words,
                       (const char *)v.values + at, (char *)random->values.data + at);
        } else {
            add_to_row(ctx, random, sample, block->n_features, words, rb_dense_row(block->dense, i),
                       rb_dense_row(random->rows, i));
        }
    }
}

/* ---- dropout ---- */

bool rfn_drops(const rfn_randomness *random) {
    return random->setup->options.dropout > 0 && !random->last;
}

void rfn_drop(rb_context *ctx, const rfn_randomness *random, rb_dense codes, int64_t sample,
              int64_t task, int worker, double *sum) {
    int64_t l = codes.cols;
    size_t bytes = (size_t)l * sizeof *sum;
    double *squares = random->task_squares + task * l;
    uint32_t *words = words_of(random, worker);
    const struct rb_kernels *kernels = rb_kernels_of(ctx);
    memcpy(random->task_codes + task * l, sum, bytes);
    memset(sum, 0, bytes);
    memset(squares, 0, bytes);
    for (int64_t i = 0; i < codes.rows; i++) {
        kernels->random_row(random->dropout_key, (uint64_t)(sample + i), l, words);
        kernels->of[codes.type].drop_row(l, words, random->dropout_share, rb_dense_row(codes, i),
                                         sum, squares);
    }
}

void rfn_add_dropped(const rfn_randomness *random, int64_t tasks, rfn_sums *sums) {
    int64_t l = random->setup->options.units;
    for (int64_t e = 0; rfn_drops(random) && e < tasks * l; e++) {
        sums->all_codes[e % l] += sums->gain * random->task_codes[e];
        sums->all_squares[e % l] += sums->gain * random->task_squares[e];
    }
}
