/* New samples from a model: codes by the prior or by the posteriors of given samples, the features
 * that they make with noise, and the preprocessing undone. */
#include "use.h"

#include <rarebit/sample.h>

#include <math.h>
#include <stddef.h>
#include <string.h>

/* ---- options ---- */

typedef struct sample_options {
    int64_t count;
    double noise;
    int64_t steps, seed;
} sample_options;

static const rb_option sample_rows[] = {
    {"count", 0, RB_OPTION_INTEGER, offsetof(sample_options, count), "0", 0, 1e15, NULL, "N",
     "number of samples (0: 100, or one per sample of DATA)", RB_OPTION_COMMON},
    {"noise", 0, RB_OPTION_NUMBER, offsetof(sample_options, noise), "1", 0, 1e6, NULL, "FACTOR",
     "multiply the standard deviation of the noise by this (0: no noise)", RB_OPTION_COMMON},
    {"steps", 0, RB_OPTION_INTEGER, offsetof(sample_options, steps), "0", 0, 1e9, NULL, "N",
     "steps of Gibbs sampling per sample, of a method that samples by a chain (0: 1000)"},
    {"seed", 0, RB_OPTION_INTEGER, offsetof(sample_options, seed), "1", 0, 9e15, NULL, "N",
     "seed of the random numbers", RB_OPTION_COMMON},
    {0},
};

const rb_option_group *rb_sample_group(void) {
    static const rb_option_group group = {sizeof(rb_option), "Samples", sample_rows,
                                          sizeof(sample_options), NULL};
    return &group;
}

static int64_t count_of(const sample_options *options, const rb_source *source) {
    enum { SOME = 100 };
    return options->count ? options->count : source ? source->n_samples : SOME;
}

int64_t rb_sample_count(const rb_options *options, const rb_source *source) {
    const sample_options *fields = rb_options_fields(options, rb_sample_group());
    sample_options defaults;
    rb_rows_default(sample_rows, &defaults);
    return count_of(fields ? fields : &defaults, source);
}

/* ---- random numbers ---- */

static rb_stream stream_of(const rb_sampling *sampling, int64_t sample) {
    uint32_t purpose = sampling->of_codes ? RB_RANDOM_SAMPLE_CODES : RB_RANDOM_SAMPLE_NOISE;
    rb_stream stream = {(uint64_t)sampling->seed, purpose, (uint32_t)sampling->layer};
    stream.seed = rb_random_key(stream, (uint64_t)(sampling->first + sample));
    return stream;
}

void rb_sampling_uniform(const rb_sampling *sampling, int64_t sample, int64_t first, int64_t count,
                         double *numbers) {
    rb_stream stream = stream_of(sampling, sample);
    for (int64_t i = 0; i < count; i++)
        numbers[i] = rb_random_uniform(stream, (uint64_t)(first + i));
}

void rb_sampling_normal(const rb_sampling *sampling, int64_t sample, int64_t first, int64_t count,
                        double *numbers) {
    rb_stream stream = stream_of(sampling, sample);
    for (int64_t i = 0; i < count; i++)
        numbers[i] = rb_random_normal(stream, (uint64_t)(first + i));
}

/* Of a rate up to 500, by inversion: the sum of the probabilities up to the count passes u. */
static double invert_poisson(double rate, double u) {
    double p = exp(-rate), sum = p, count = 0;
    while (u >= sum && p > 0) {
        count++;
        p *= rate / count;
        sum += p;
    }
    return count;
}

/* A large rate is a sum of small ones; beyond 10 000 a rounded normal number, whose skewness of
 * rate^-1/2 is less than 0.01 off. */
static double draw_poisson(const rb_sampling *sampling, int64_t sample, int64_t feature,
                           double rate) {
    enum { PART = 500, PARTS = 20 };
    double number, sum = 0;
    int64_t parts = (int64_t)ceil(fmin(rate, 1e9) / PART);
    if (parts > PARTS) {
        rb_sampling_normal(sampling, sample, feature * PARTS, 1, &number);
        return fmax(round(rate + sqrt(rate) * number), 0);
    }
    for (int64_t i = 0; i < parts; i++) {
        rb_sampling_uniform(sampling, sample, feature * PARTS + i, 1, &number);
        sum += invert_poisson(rate / (double)parts, number);
    }
    return sum;
}

/* ---- what all methods may leave to the library ---- */

static bool knows_samples(const rb_method *method) {
    return method->size > offsetof(rb_method, draws_by_steps);
}

rb_error rb_method_can_draw(rb_context *ctx, const rb_method *method, int64_t steps, bool given) {
    bool knows = knows_samples(method);
    if (knows && method->no_samples) {
        return rb_fail(ctx, RB_ERROR_UNSUPPORTED, "a model of %s cannot draw samples: %s",
                       method->name, method->no_samples);
    }
    if (!given && !(knows && method->draw)) {
        return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                       "a model of %s has no prior for its codes; give data, and samples are drawn "
                       "from their codes",
                       method->name);
    }
    if (steps && (given || !(knows && method->draws_by_steps))) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "`steps` does nothing for samples of %s, which are drawn without a chain; "
                       "leave it out",
                       given ? "given data" : method->name);
    }
    return RB_OK;
}

rb_error rb_method_draw(rb_context *ctx, const rb_method *method, void *coder,
                        const rb_sampling *sampling, int64_t n, const rb_block *block,
                        void *codes) {
    rb_sampling of_codes = *sampling;
    of_codes.of_codes = true;
    return knows_samples(method) && method->draw
               ? method->draw(ctx, coder, &of_codes, n, block, codes)
               : method->encode(ctx, coder, block, codes);
}

bool rb_method_emits(const rb_method *method) {
    return knows_samples(method) && method->emit;
}

struct normal {
    const rb_sampling *sampling;
    double factor;
    const double *variances;
    rb_dense rows;
    double *numbers; /* a row for each worker */
};

enum { TASK_ROWS = 16 };

static void add_normal_task(void *arg, int64_t task, int worker) {
    const struct normal *e = arg;
    int64_t m = e->rows.cols, end = (task + 1) * TASK_ROWS;
    double *numbers = e->numbers + worker * m;
    for (int64_t i = task * TASK_ROWS; i < end && i < e->rows.rows; i++) {
        rb_sampling_normal(e->sampling, i, 0, m, numbers);
        for (int64_t k = 0; k < m; k++) {
            double sd = e->factor * (e->variances ? sqrt(e->variances[k]) : 1);
            rb_dense_set(e->rows, i, k, rb_dense_get(e->rows, i, k) + sd * numbers[k]);
        }
    }
}

rb_error rb_add_normal(rb_context *ctx, const rb_sampling *sampling, double factor,
                       const double *variances, rb_dense rows) {
    if (factor == 0) return RB_OK;
    struct normal normal = {sampling, factor, variances, rows, NULL};
    normal.numbers =
        rb_alloc(ctx, (int64_t)rb_context_threads(ctx) * rows.cols, sizeof *normal.numbers);
    if (!normal.numbers) return RB_ERROR_MEMORY;
    rb_parallel(ctx, (rows.rows + TASK_ROWS - 1) / TASK_ROWS, add_normal_task, &normal);
    rb_free(normal.numbers);
    return RB_OK;
}

rb_error rb_model_add_noise(rb_context *ctx, const rb_model *model, const rb_sampling *sampling,
                            rb_dense rows) {
    const double *variances;
    rb_error err = rb_model_need_array(ctx, model, "noise", rows.cols, 1, &variances);
    for (int64_t k = 0; !err && k < rows.cols; k++)
        if (!(variances[k] >= 0))
            err = rb_fail(ctx, RB_ERROR_FORMAT, "the noise variance of feature %lld is below 0",
                          (long long)k);
    return err ? err : rb_add_normal(ctx, sampling, sampling->noise, variances, rows);
}

/* L of A = L L', of which a pivot that rounding made 0 or less has no column; float64. */
static rb_error find_root(rb_context *ctx, rb_dense a, rb_dense *l) {
    rb_error err = rb_dense_new(ctx, RB_FLOAT64, a.rows, a.rows, l);
    for (int64_t i = 0; !err && i < a.rows; i++) {
        double *row = rb_dense_row(*l, i);
        for (int64_t j = 0; j <= i; j++) {
            const double *other = rb_dense_row(*l, j);
            double left = rb_dense_get(a, i, j);
            for (int64_t k = 0; k < j; k++)
                left -= row[k] * other[k];
            row[j] = i == j ? sqrt(fmax(left, 0)) : other[j] > 0 ? left / other[j] : 0;
        }
    }
    return err;
}

rb_error rb_add_correlated(rb_context *ctx, const rb_sampling *sampling, double factor,
                           rb_dense covariance, rb_dense rows) {
    rb_dense root = {0}, wide = {0}, normal = {0};
    if (factor == 0) return RB_OK;
    rb_error err = find_root(ctx, covariance, &wide);
    err = err ? err : rb_dense_new(ctx, rows.type, wide.rows, wide.cols, &root);
    err = err ? err : rb_dense_new(ctx, rows.type, rows.rows, rows.cols, &normal);
    err = err ? err : rb_add_normal(ctx, sampling, 1, NULL, normal);
    if (!err) {
        rb_dense_copy(wide, root);
        rb_gemm_parallel(ctx, factor, normal, RB_PLAIN, root, RB_TRANSPOSED, 1, rows);
    }
    rb_dense_free(&wide);
    rb_dense_free(&root);
    rb_dense_free(&normal);
    return err;
}

rb_error rb_noise_is_whole(rb_context *ctx, const rb_sampling *sampling, const char *of) {
    if (sampling->noise == 0 || sampling->noise == 1) return RB_OK;
    return rb_fail(
        ctx, RB_ERROR_ARGUMENT,
        "`noise` is %g, but %s has no standard deviation to multiply; use 1, or 0 for no noise",
        sampling->noise, of);
}

struct counting {
    const rb_sampling *sampling;
    rb_dense rates;
};

static void count_row(void *arg, int64_t i, int worker) {
    const struct counting *c = arg;
    for (int64_t k = 0; k < c->rates.cols; k++) {
        double rate = rb_dense_get(c->rates, i, k);
        rb_dense_set(c->rates, i, k, draw_poisson(c->sampling, i, k, rate));
    }
}

rb_error rb_make_counts(rb_context *ctx, const rb_sampling *sampling, rb_dense rates) {
    rb_error err = rb_noise_is_whole(ctx, sampling, "Poisson noise");
    if (!err && sampling->noise == 1)
        rb_parallel(ctx, rates.rows, count_row, &(struct counting){sampling, rates});
    return err;
}

/* ---- the walk ---- */

struct drawing {
    rb_coder coder;
    rb_sampling sampling; /* first: of random numbers */
    int64_t done;         /* rows that the program has */
    rb_rows_fn fn;
    void *user;
};

/* `count` preprocessed samples into the rows of the coder; block NULL: of the prior. */
static rb_error make_rows(rb_context *ctx, struct drawing *d, int64_t count,
                          const rb_block *block) {
    rb_coder *coder = &d->coder;
    const rb_method *method = coder->model->method;
    rb_dense rows = rb_dense_rows(coder->rows, 0, count);
    rb_error err =
        rb_method_draw(ctx, method, coder->own, &d->sampling, count, block, coder->codes.data);
    if (err) return err;
    if (rb_method_emits(method))
        return method->emit(ctx, coder->own, &d->sampling, count, coder->codes.data, rows.data);
    err = rb_coder_decode(ctx, coder, count);
    return err ? err : rb_model_add_noise(ctx, coder->model, &d->sampling, rows);
}

/* The first `count` rows of the coder, on the scale of the data, to the program. */
static rb_error hand_on(rb_context *ctx, struct drawing *d, int64_t count) {
    rb_dense rows = rb_dense_rows(d->coder.rows, 0, count);
    const rb_matrix view = rb_matrix_of(rows);
    int64_t first = d->done;
    rb_error err = rb_coder_check(ctx, first, rows, "values");
    d->done += count;
    return err ? err : rb_give_rows(ctx, d->fn, d->user, first, &view);
}

static rb_error from_prior(rb_context *ctx, struct drawing *d, int64_t count) {
    int64_t size = d->coder.block_samples;
    rb_error err = RB_OK;
    while (!err && d->done < count) {
        int64_t part = rb_smaller(count - d->done, size);
        d->sampling.first = d->done;
        err = rb_check_stop(ctx);
        err = err ? err : make_rows(ctx, d, part, NULL);
        if (!err) {
            rb_preprocess_inverse(d->coder.model->preprocess,
                                  rb_dense_rows(d->coder.rows, 0, part));
            err = hand_on(ctx, d, part);
        }
    }
    return err;
}

/* The j-th of `wanted` samples that are spread evenly over n. */
static int64_t place_of(int64_t j, int64_t wanted, int64_t n) {
    return n / wanted * j + n % wanted * j / wanted;
}

/* `wanted` of the samples of the feed, at most all. Where they lie near each other all samples
 * between them are read and made, and the others thrown away. */
static rb_error round_of(rb_context *ctx, struct drawing *d, int64_t wanted) {
    enum { NEAR = 16 };
    rb_coder *c = &d->coder;
    int64_t n = rb_feed_samples(c->feed), span = n / NEAR >= wanted ? 1 : c->block_samples;
    int64_t before = d->done / n * n; /* rounds before this one were of all samples */
    rb_error err = RB_OK;
    for (int64_t j = 0, end; !err && j < wanted; j = end) {
        int64_t first = place_of(j, wanted, n), kept = 0;
        for (end = j + 1; end < wanted && place_of(end, wanted, n) < first + span;)
            end++;
        int64_t count = place_of(end - 1, wanted, n) - first + 1;
        d->sampling.first = before + first;
        err = rb_feed_read(ctx, c->feed, first, count, &c->block);
        err = err ? err : make_rows(ctx, d, count, &c->block);
        if (err) break;
        rb_feed_inverse(c->feed, rb_dense_rows(c->rows, 0, count));
        for (int64_t k = j; k < end; k++) {
            int64_t from = place_of(k, wanted, n) - first;
            if (from > kept)
                rb_dense_copy(rb_dense_rows(c->rows, from, 1), rb_dense_rows(c->rows, kept, 1));
            kept++;
        }
        err = hand_on(ctx, d, kept);
    }
    return err;
}

static rb_error from_samples(rb_context *ctx, struct drawing *d, int64_t count) {
    int64_t n = rb_feed_samples(d->coder.feed);
    rb_error err = n > 0 || count == 0
                       ? RB_OK
                       : rb_fail(ctx, RB_ERROR_DATA, "the data have no samples to draw codes from");
    while (!err && d->done < count)
        err = round_of(ctx, d, rb_smaller(count - d->done, n));
    return err;
}

rb_error rb_sample(rb_context *ctx, const rb_model *model, rb_source *source,
                   const rb_options *given, rb_rows_fn fn, void *user) {
    sample_options options;
    rb_error err = rb_options_take(ctx, given, rb_sample_group(), &options);
    err = err ? err : rb_method_can_draw(ctx, model->method, options.steps, source != NULL);
    if (err) return err;
    int64_t count = count_of(&options, source);
    struct drawing d = {.sampling = {.size = sizeof(rb_sampling),
                                     .noise = options.noise,
                                     .steps = options.steps,
                                     .seed = options.seed},
                        .fn = fn,
                        .user = user};
    err = rb_coder_prepare(ctx, &d.coder, model, source ? source->n_samples : count, true);
    if (!err && source)
        err = rb_feed_new(ctx, model->preprocess, source, model->type, &d.coder.feed);
    if (!err) err = source ? from_samples(ctx, &d, count) : from_prior(ctx, &d, count);
    rb_coder_clear(&d.coder);
    return err;
}

rb_error rb_sample_into(rb_context *ctx, const rb_model *model, rb_source *source,
                        const rb_options *options, rb_type type, void *rows, int64_t row_stride,
                        int64_t column_stride) {
    rb_target to = {type, rows, row_stride, column_stride};
    rb_error err = rb_check_type(ctx, type);
    return err ? err : rb_sample(ctx, model, source, options, rb_copy_rows, &to);
}
