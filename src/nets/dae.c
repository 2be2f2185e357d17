/* Denoising autoencoders with rectified units and a linear output.
 *
 * P. Vincent, H. Larochelle, Y. Bengio, P.-A. Manzagol, "Extracting and composing robust features
 * with denoising autoencoders", ICML 2008; P. Vincent et al., "Stacked denoising autoencoders",
 * JMLR 11 (2010): of a sample x, some values become 0 (masking noise), and the network learns to
 * give all of it back:
 *
 *   x~     x, each value 0 with probability `corruption`
 *   a      E' x~ + b
 *   h      max(0, a)
 *   y      W h + c
 *   error  sum over samples of |y - x|^2, after their first paper's eq. 1 with squared errors
 *
 * Gradients of half the error, with d = y - x (m) and e = (W' d) [a > 0] (l):
 *
 *   W  d h'     E  x~ e'     b  e     c  d        E = W: the sum of both
 *
 * and twice that for the step. Codes of a model are h of samples as they are.
 */
#include "net.h"
#include "one_layer.h"

#include <float.h>
#include <stddef.h>

static const rb_option table[] = {
    {"preset", 0, RB_OPTION_CHOICE, offsetof(net_options, preset), "batches", 0, 0,
     "batches|paper|none", "NAME",
     "settings for a purpose: batches (--batch-size 100), paper (as in the comparison with "
     "rectified factor networks)",
     RB_OPTION_COMMON},
    {"units", 'k', RB_OPTION_INTEGER, offsetof(net_options, units), "10", 1, 1e9, NULL, "N",
     "number of hidden units", RB_OPTION_COMMON},
    {"corruption", 0, RB_OPTION_NUMBER, offsetof(net_options, corruption), "0.2", 0, 0.999, NULL,
     "SHARE", "probability that a value is set to 0 before encoding (0: a plain autoencoder)",
     RB_OPTION_COMMON},
    {"eta", 0, RB_OPTION_NUMBER, offsetof(net_options, eta), "0", 0, DBL_MAX, NULL, "RATE",
     "learning rate (0: 0.1 / mean square of a sample)"},
    {"momentum", 0, RB_OPTION_NUMBER, offsetof(net_options, momentum), "0.9", 0, 0.9999, NULL, "P",
     "momentum"},
    {"weights", 0, RB_OPTION_CHOICE, offsetof(net_options, weights), "tied", 0, 0, "tied|untied",
     "HOW", "tied: the encoder is the transpose of the decoder; untied: it has weights of its own"},
    {"weight-init", 0, RB_OPTION_NUMBER, offsetof(net_options, weight_init), "0", 0, DBL_MAX, NULL,
     "SD", "standard deviation of the initial loadings (0: root of 2 / (features + units))",
     RB_OPTION_RESEARCH},
    {0},
};

static const rb_option_rule rules[] = {
    {"preset=batches", "batch-size=100"},
    {"preset=paper", "eta=1e-4 momentum=0 batch-size=10 iterations=1000"},
    {0},
};

/* ---- the rate ---- */

static rb_error survey(rb_context *ctx, void *state, const rb_block *samples) {
    rb_block_feature_squares(ctx, samples, ((net_fit *)state)->squares);
    return RB_OK;
}

/* The error of a linear code is as curved as the data have variance in a direction, and that is at
 * most the mean square of a sample: a rate for data of any scale. */
static rb_error survey_end(rb_context *ctx, void *state) {
    enum { PARTS = 10 };
    net_fit *fit = state;
    double sum = 0;
    (void)ctx;
    for (int64_t k = 0; k < fit->problem.n_features; k++)
        sum += fit->squares[k];
    double mean = sum / (double)fit->problem.n_samples;
    if (fit->options.eta == 0) fit->eta = mean > 0 ? 1 / (PARTS * mean) : 1;
    return RB_OK;
}

/* ---- a block, step by step, in tasks of rows ---- */

struct pass {
    rb_context *ctx;
    const net_fit *fit;
    int64_t first;         /* the first row among all samples */
    uint64_t key;          /* of the corruption */
    uint32_t share;        /* likewise; 0: nothing is corrupted */
    rb_dense x, given;     /* samples; with corruption */
    rb_dense codes, delta; /* h; W h + c - x */
    rb_dense back;         /* W' d where h is above 0 */
};

static void corrupt_task(void *arg, int64_t task, int worker) {
    const struct pass *p = arg;
    rb_dense from = net_task_rows(p->x, task), to = net_task_rows(p->given, task);
    int64_t first = p->first + rb_band_start(net_tasks(p->x.rows), task);
    const struct rb_kernels *kernels = rb_kernels_of(p->ctx);
    uint32_t *words = net_words(p->fit, worker);
    for (int64_t i = 0; i < to.rows; i++) {
        kernels->random_row(p->key, (uint64_t)(first + i), to.cols, words);
        kernels->of[to.type].replace_row(to.cols, words, p->share, NULL, NULL,
                                         rb_dense_row(from, i), rb_dense_row(to, i));
    }
}

static void rectify_task(void *arg, int64_t task, int worker) {
    const struct pass *p = arg;
    const net_work *work = &p->fit->work;
    int64_t at = task * p->codes.cols;
    (void)worker;
    rb_rectify(p->ctx, net_task_rows(p->codes, task), p->fit->parameters.hidden_bias.data,
               work->task_sum + at, work->task_largest + at);
}

static void subtract_task(void *arg, int64_t task, int worker) {
    const struct pass *p = arg;
    rb_dense x = net_task_rows(p->x, task), delta = net_task_rows(p->delta, task);
    (void)worker;
    net_add_bias(p->ctx, p->fit->parameters.visible_bias, delta);
    for (int64_t i = 0; i < delta.rows; i++)
        rb_axpy(p->ctx, x.type, x.cols, -1, rb_dense_row(x, i), rb_dense_row(delta, i));
    p->fit->work.task_error[task] = net_squares(p->ctx, delta);
}

static void mask_task(void *arg, int64_t task, int worker) {
    const struct pass *p = arg;
    rb_dense codes = net_task_rows(p->codes, task), back = net_task_rows(p->back, task);
    (void)worker;
    deep_back(back, codes, 1);
}

static void forward(struct pass *p) {
    const net_arrays *w = &p->fit->parameters;
    if (p->share > 0) net_each_task(p->ctx, p->x, corrupt_task, p);
    net_multiply(p->ctx, 1, p->given, RB_PLAIN, net_encoder(w), RB_PLAIN, 0, p->codes);
    net_each_task(p->ctx, p->codes, rectify_task, p);
}

/* Rebuilds the samples and goes back from what is wrong with them. */
static void backward(struct pass *p) {
    const net_arrays *w = &p->fit->parameters;
    net_multiply(p->ctx, 1, p->codes, RB_PLAIN, w->loadings, RB_TRANSPOSED, 0, p->delta);
    net_each_task(p->ctx, p->delta, subtract_task, p);
    net_multiply(p->ctx, 1, p->delta, RB_PLAIN, w->loadings, RB_PLAIN, 0, p->back);
    net_each_task(p->ctx, p->back, mask_task, p);
}

static void add_gradients(const struct pass *p, int64_t tasks, net_sums *sums) {
    const net_arrays *g = &sums->gradients;
    net_multiply(p->ctx, 2, p->delta, RB_TRANSPOSED, p->codes, RB_PLAIN, 1, g->loadings);
    net_multiply(p->ctx, 2, p->given, RB_TRANSPOSED, p->back, RB_PLAIN, 1, net_encoder(g));
    net_add_rows(p->ctx, 2, p->back, g->hidden_bias);
    net_add_rows(p->ctx, 2, p->delta, g->visible_bias);
    for (int64_t t = 0; t < tasks; t++)
        sums->error += p->fit->work.task_error[t];
}

/* In the last E-step: who is active, and what is left of each feature. */
static void measure(const struct pass *p, int64_t tasks, net_sums *sums) {
    const double *largest = p->fit->work.task_largest;
    int64_t l = p->codes.cols;
    for (int64_t e = 0; e < tasks * l; e++)
        sums->active[e % l] |= largest[e] > 0;
    net_rebuild(p->ctx, &p->fit->parameters, p->codes, p->delta);
    net_add_errors(p->x, p->delta, sums->errors);
}

static rb_error block(rb_context *ctx, void *state, const rb_block *samples) {
    net_fit *fit = state;
    const net_work *work = &fit->work;
    int64_t n = samples->n_samples, tasks = net_tasks(n).count;
    struct pass p = {.ctx = ctx,
                     .fit = fit,
                     .first = samples->first,
                     .key = net_key(fit, RB_RANDOM_CORRUPT),
                     .share = fit->last ? 0 : net_threshold(fit->options.corruption),
                     .x = net_rows(ctx, samples, work->rows),
                     .codes = rb_dense_rows(work->codes, 0, n),
                     .delta = rb_dense_rows(work->rebuilt, 0, n),
                     .back = rb_dense_rows(work->other, 0, n)};
    p.given = p.share > 0 ? rb_dense_rows(work->given, 0, n) : p.x;
    forward(&p);
    if (fit->last) {
        measure(&p, tasks, &fit->sums);
        return RB_OK;
    }
    backward(&p);
    add_gradients(&p, tasks, &fit->sums);
    fit->sums.samples += n;
    return RB_OK;
}

/* ---- using a model ---- */

struct encoding {
    rb_context *ctx;
    const net_coder *coder;
    rb_dense codes;
};

static void encode_task(void *arg, int64_t task, int worker) {
    const struct encoding *e = arg;
    const net_coder *c = e->coder;
    int64_t at = task * e->codes.cols;
    (void)worker;
    rb_rectify(e->ctx, net_task_rows(e->codes, task), c->parameters.hidden_bias.data,
               c->task_sum + at, c->task_largest + at);
}

static rb_error encode(rb_context *ctx, void *coder, const rb_block *samples, void *codes) {
    net_coder *c = coder;
    rb_dense w = net_encoder(&c->parameters), x = net_rows(ctx, samples, c->rows);
    struct encoding e = {ctx, c, {codes, samples->n_samples, w.cols, w.cols, w.type}};
    net_multiply(ctx, 1, x, RB_PLAIN, w, RB_PLAIN, 0, e.codes);
    net_each_task(ctx, e.codes, encode_task, &e);
    return RB_OK;
}

static rb_error decode(rb_context *ctx, void *coder, int64_t n_samples, const void *codes,
                       void *rows) {
    const net_coder *c = coder;
    rb_dense w = c->parameters.loadings;
    net_rebuild(ctx, &c->parameters, (rb_dense){(void *)codes, n_samples, w.cols, w.cols, w.type},
                (rb_dense){rows, n_samples, w.rows, w.rows, w.type});
    return RB_OK;
}

const rb_method rb_method_dae = {
    .size = sizeof(rb_method),
    .name = "dae",
    .title = "denoising autoencoder",
    .purpose = "codes that restore corrupted samples; layers of nets",
    .options = table,
    .options_size = sizeof(net_options),
    .code_name = "X_dae",
    .rules = rules,
    .start_options = net_start_options,
    .takes_batches = true,
    .units = net_units,
    .block_samples = net_block_samples,
    .parts = net_parts,
    .shape = net_shape,
    .state_size = sizeof(net_fit),
    .start = net_start,
    .finish = net_finish,
    .survey = survey,
    .survey_end = survey_end,
    .begin = net_begin,
    .block = block,
    .mstep = net_mstep,
    .objective = net_objective,
    .last = net_last,
    .end = net_end,
    .store = net_store,
    .coder_new = net_coder_new,
    .coder_free = net_coder_free,
    .encode = encode,
    .decode = decode,
    .layer = net_unit_layer,
    .arrays = net_model_arrays,
    .no_samples = "it is a map from samples to samples, not a distribution",
};
