/* Restricted Boltzmann machines with binary hidden units, by contrastive divergence.
 *
 * G. E. Hinton, "Training products of experts by minimizing contrastive divergence", Neural
 * Computation 14 (2002); G. E. Hinton, "A practical guide to training restricted Boltzmann
 * machines", UTML TR 2010-003; Gaussian visible units: K. Cho, A. Ilin, T. Raiko, "Improved
 * learning of Gaussian-Bernoulli restricted Boltzmann machines", ICANN 2011, here with all
 * variances 1.
 *
 *   Gaussian   E(v, h) = |v - c|^2 / 2 - b'h - v'W h      v | h ~ N(W h + c, I)
 *   binary     E(v, h) =  -c'v         - b'h - v'W h      p(v = 1 | h) = s(W h + c)
 *   both       p(h = 1 | v) = s(W'v + b)                  s(a) = 1 / (1 + exp(-a))
 *   free energy  F(v) = |v - c|^2 / 2 or -c'v, minus the sum over units of log(1 + exp(W'v + b))
 *
 * The log-likelihood rises along <dF/dw>_model - <dF/dw>_data; CD-1 takes for the model's mean that
 * of samples v' which one step of Gibbs sampling makes of the data: p = p(h | v), h ~ p, v' ~ p(v |
 * h), q = p(h | v'). What the step goes against, of a sample:
 *
 *   W  v'q' - v p'     b  q - p     c  v' - v
 *
 * Codes are the probabilities p. There is no objective that falls; what is told of an iteration is
 * the squared error of the mean of v given h.
 */
#include "one_layer.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

static const rb_option table[] = {
    {"preset", 0, RB_OPTION_CHOICE, offsetof(net_options, preset), "batches", 0, 0,
     "batches|paper|none", "NAME",
     "settings for a purpose: batches (--batch-size 100), paper (as in the comparison with "
     "rectified factor networks)",
     RB_OPTION_COMMON},
    {"units", 'k', RB_OPTION_INTEGER, offsetof(net_options, units), "10", 1, 1e9, NULL, "N",
     "number of hidden units", RB_OPTION_COMMON},
    {"visible", 0, RB_OPTION_CHOICE, offsetof(net_options, visible), "gaussian", 0, 0,
     "gaussian|binary", "KIND",
     "visible values: gaussian of variance 1 (use --scale sd), or probabilities from 0 to 1 "
     "(neither centred nor scaled)",
     RB_OPTION_COMMON},
    {"eta", 0, RB_OPTION_NUMBER, offsetof(net_options, eta), "0.01", DBL_MIN, DBL_MAX, NULL, "RATE",
     "learning rate"},
    {"momentum", 0, RB_OPTION_NUMBER, offsetof(net_options, momentum), "0.5", 0, 0.9999, NULL, "P",
     "momentum"},
    {"weight-init", 0, RB_OPTION_NUMBER, offsetof(net_options, weight_init), "0.01", DBL_MIN,
     DBL_MAX, NULL, "SD", "standard deviation of the initial loadings", RB_OPTION_RESEARCH},
    {0},
};

static const rb_option_rule rules[] = {
    {"preset=batches", "batch-size=100"},
    {"preset=paper", "eta=0.01 momentum=0 batch-size=10 iterations=1000 scale=sd"},
    {"visible=binary", "centre=none"},
    {0},
};

/* x_j <- 1 / (1 + exp(-x_j)) */
static void logistic_floats(int64_t n, float *x) {
    for (int64_t j = 0; j < n; j++)
        x[j] = 1 / (1 + expf(-x[j]));
}

static void logistic_doubles(int64_t n, double *x) {
    for (int64_t j = 0; j < n; j++)
        x[j] = 1 / (1 + exp(-x[j]));
}

static void make_probabilities(rb_dense x) {
    for (int64_t i = 0; i < x.rows; i++)
        if (x.type == RB_FLOAT32)
            logistic_floats(x.cols, rb_dense_row(x, i));
        else
            logistic_doubles(x.cols, rb_dense_row(x, i));
}

/* ---- before the first iteration ---- */

/* Binary units can be given what lies between 0 and 1. */
static rb_error survey(rb_context *ctx, void *state, const rb_block *samples) {
    const net_fit *fit = state;
    rb_dense v = net_rows(ctx, samples, fit->work.rows);
    if (fit->options.visible != NET_BINARY) return RB_OK;
    for (int64_t i = 0; i < v.rows; i++) {
        for (int64_t k = 0; k < v.cols; k++) {
            double value = rb_dense_get(v, i, k);
            if (value < 0 || value > 1) {
                return rb_fail(
                    ctx, RB_ERROR_DATA,
                    "the value of sample %lld, feature %lld (counted from %d) is %g, but visible "
                    "binary needs values from 0 to 1; do not centre or scale them",
                    (long long)rb_nth(ctx, samples->first + i), (long long)rb_nth(ctx, k),
                    ctx->first, value);
            }
        }
    }
    return RB_OK;
}

/* ---- a block, step by step, in tasks of rows ---- */

struct pass {
    rb_context *ctx;
    const net_fit *fit;
    int64_t first;            /* the first row among all samples */
    uint64_t hidden, visible; /* keys */
    rb_dense v, model;        /* data; v' */
    rb_dense p, h;            /* p(h | v), later p(h | v'); what was drawn from it */
};

static int64_t first_of(const struct pass *p, int64_t task) {
    return p->first + rb_band_start(net_tasks(p->v.rows), task);
}

static void find_task(void *arg, int64_t task, int worker) {
    const struct pass *p = arg;
    (void)worker;
    rb_dense rows = net_task_rows(p->p, task);
    net_add_bias(p->ctx, p->fit->parameters.hidden_bias, rows);
    make_probabilities(rows);
}

/* 1 with the probability that is there. */
static void draw_row(const struct rb_kernels *kernels, uint64_t key, int64_t sample,
                     uint32_t *words, rb_dense from, rb_dense to) {
    kernels->random_row(key, (uint64_t)sample, from.cols, words);
    for (int64_t j = 0; j < from.cols; j++)
        rb_dense_set(to, 0, j, (double)words[j] < 0x1p32 * rb_dense_get(from, 0, j));
}

static void draw_hidden_task(void *arg, int64_t task, int worker) {
    const struct pass *p = arg;
    rb_dense from = net_task_rows(p->p, task), to = net_task_rows(p->h, task);
    find_task(arg, task, worker);
    for (int64_t i = 0; i < to.rows; i++)
        draw_row(rb_kernels_of(p->ctx), p->hidden, first_of(p, task) + i, net_words(p->fit, worker),
                 rb_dense_rows(from, i, 1), rb_dense_rows(to, i, 1));
}

static double squared_distance(rb_dense a, rb_dense b) {
    double sum = 0;
    for (int64_t i = 0; i < a.rows; i++) {
        for (int64_t k = 0; k < a.cols; k++) {
            double d = rb_dense_get(a, i, k) - rb_dense_get(b, i, k);
            sum += d * d;
        }
    }
    return sum;
}

static void add_normals(const struct pass *p, int64_t sample, uint32_t *words, rb_dense row) {
    const struct rb_kernels *kernels = rb_kernels_of(p->ctx);
    float *normals = (float *)words;
    kernels->normal_row(p->visible, (uint64_t)sample, row.cols, normals);
    kernels->of[row.type].add_floats(row.cols, 1, normals, row.data, row.data);
}

/* The mean of v given h, with c added; its error; and v' drawn from it. */
static void draw_visible_task(void *arg, int64_t task, int worker) {
    const struct pass *p = arg;
    rb_dense rows = net_task_rows(p->model, task), c = p->fit->parameters.visible_bias;
    bool binary = p->fit->options.visible == NET_BINARY;
    net_add_bias(p->ctx, c, rows);
    if (binary) make_probabilities(rows);
    p->fit->work.task_error[task] = squared_distance(rows, net_task_rows(p->v, task));
    for (int64_t i = 0; i < rows.rows; i++) {
        rb_dense row = rb_dense_rows(rows, i, 1);
        int64_t sample = first_of(p, task) + i;
        if (binary)
            draw_row(rb_kernels_of(p->ctx), p->visible, sample, net_words(p->fit, worker), row,
                     row);
        else
            add_normals(p, sample, net_words(p->fit, worker), row);
    }
}

/* Adds `sign` times v p', p and v. */
static void add_statistics(const struct pass *p, double sign, rb_dense v, const net_arrays *to) {
    net_multiply(p->ctx, sign, v, RB_TRANSPOSED, p->p, RB_PLAIN, 1, to->loadings);
    net_add_rows(p->ctx, sign, p->p, to->hidden_bias);
    net_add_rows(p->ctx, sign, v, to->visible_bias);
}

static void add_block(struct pass *p, net_sums *sums) {
    rb_dense w = p->fit->parameters.loadings;
    int64_t tasks = net_tasks(p->v.rows).count;
    net_multiply(p->ctx, 1, p->v, RB_PLAIN, w, RB_PLAIN, 0, p->p);
    net_each_task(p->ctx, p->p, draw_hidden_task, p);
    add_statistics(p, -1, p->v, &sums->gradients);
    net_multiply(p->ctx, 1, p->h, RB_PLAIN, w, RB_TRANSPOSED, 0, p->model);
    net_each_task(p->ctx, p->model, draw_visible_task, p);
    net_multiply(p->ctx, 1, p->model, RB_PLAIN, w, RB_PLAIN, 0, p->p);
    net_each_task(p->ctx, p->p, find_task, p);
    add_statistics(p, 1, p->model, &sums->gradients);
    for (int64_t t = 0; t < tasks; t++)
        sums->error += p->fit->work.task_error[t];
    sums->samples += p->v.rows;
}

/* In the last E-step: what is left of each feature. Every unit is active. */
static void measure(struct pass *p, net_sums *sums) {
    const net_arrays *w = &p->fit->parameters;
    net_multiply(p->ctx, 1, p->v, RB_PLAIN, w->loadings, RB_PLAIN, 0, p->p);
    net_each_task(p->ctx, p->p, find_task, p);
    net_rebuild(p->ctx, w, p->p, p->model);
    if (p->fit->options.visible == NET_BINARY) make_probabilities(p->model);
    net_add_errors(p->v, p->model, sums->errors);
    for (int64_t j = 0; j < w->loadings.cols; j++)
        sums->active[j] = true;
}

static rb_error block(rb_context *ctx, void *state, const rb_block *samples) {
    net_fit *fit = state;
    const net_work *work = &fit->work;
    int64_t n = samples->n_samples;
    struct pass p = {.ctx = ctx,
                     .fit = fit,
                     .first = samples->first,
                     .hidden = net_key(fit, RB_RANDOM_HIDDEN),
                     .visible = net_key(fit, RB_RANDOM_VISIBLE),
                     .v = net_rows(ctx, samples, work->rows),
                     .model = rb_dense_rows(work->rebuilt, 0, n),
                     .p = rb_dense_rows(work->codes, 0, n),
                     .h = rb_dense_rows(work->other, 0, n)};
    if (fit->last)
        measure(&p, &fit->sums);
    else
        add_block(&p, &fit->sums);
    return RB_OK;
}

/* ---- using a model ---- */

struct encoding {
    rb_context *ctx;
    rb_dense bias, x;
};

static void encode_task(void *arg, int64_t task, int worker) {
    const struct encoding *e = arg;
    (void)worker;
    rb_dense rows = net_task_rows(e->x, task);
    net_add_bias(e->ctx, e->bias, rows);
    make_probabilities(rows);
}

static rb_error encode(rb_context *ctx, void *coder, const rb_block *samples, void *codes) {
    net_coder *c = coder;
    rb_dense w = c->parameters.loadings, v = net_rows(ctx, samples, c->rows);
    struct encoding e = {
        ctx, c->parameters.hidden_bias, {codes, samples->n_samples, w.cols, w.cols, w.type}};
    net_multiply(ctx, 1, v, RB_PLAIN, w, RB_PLAIN, 0, e.x);
    net_each_task(ctx, e.x, encode_task, &e);
    return RB_OK;
}

/* The mean of v, the units being as probable as their codes say. */
static rb_error decode(rb_context *ctx, void *coder, int64_t n_samples, const void *codes,
                       void *rows) {
    const net_coder *c = coder;
    rb_dense w = c->parameters.loadings;
    rb_dense h = {(void *)codes, n_samples, w.cols, w.cols, w.type};
    struct encoding e = {
        ctx, c->parameters.visible_bias, {rows, n_samples, w.rows, w.rows, w.type}};
    if (c->options.visible == NET_GAUSSIAN) {
        net_rebuild(ctx, &c->parameters, h, e.x);
        return RB_OK;
    }
    net_multiply(ctx, 1, h, RB_PLAIN, w, RB_TRANSPOSED, 0, e.x);
    net_each_task(ctx, e.x, encode_task, &e);
    return RB_OK;
}

/* ---- drawing samples ---- */

struct chain {
    rb_context *ctx;
    const net_coder *coder;
    const rb_sampling *sampling;
    uint64_t key;    /* of the step at hand */
    rb_dense v, h;   /* samples x features, x units */
    uint32_t *words; /* a row for each worker */
    int64_t widest;
};

static uint64_t chain_key(const struct chain *c, int64_t step, int side) {
    const rb_sampling *s = c->sampling;
    uint32_t purpose = s->of_codes ? RB_RANDOM_SAMPLE_CODES : RB_RANDOM_SAMPLE_NOISE;
    return rb_random_key((rb_stream){(uint64_t)s->seed, purpose, (uint32_t)s->layer},
                         (uint64_t)(2 * step + side));
}

static uint32_t *chain_words(const struct chain *c, int worker) {
    return c->words + worker * c->widest;
}

/* What the units of either side are given their inputs, in place: probabilities, and numbers drawn
 * from them. */
static void draw_units_task(void *arg, int64_t task, int worker, rb_dense all, rb_dense bias,
                            bool draws) {
    const struct chain *c = arg;
    rb_dense rows = net_task_rows(all, task);
    int64_t first = c->sampling->first + rb_band_start(net_tasks(all.rows), task);
    net_add_bias(c->ctx, bias, rows);
    make_probabilities(rows);
    for (int64_t i = 0; draws && i < rows.rows; i++) {
        rb_dense row = rb_dense_rows(rows, i, 1);
        draw_row(rb_kernels_of(c->ctx), c->key, first + i, chain_words(c, worker), row, row);
    }
}

static void draw_h_task(void *arg, int64_t task, int worker) {
    const struct chain *c = arg;
    draw_units_task(arg, task, worker, c->h, c->coder->parameters.hidden_bias, true);
}

/* The means of Gaussian units are there, bias and all. */
static void draw_v_task(void *arg, int64_t task, int worker) {
    const struct chain *c = arg;
    if (c->coder->options.visible == NET_BINARY) {
        draw_units_task(arg, task, worker, c->v, c->coder->parameters.visible_bias,
                        c->sampling->noise > 0);
        return;
    }
    rb_dense rows = net_task_rows(c->v, task);
    int64_t first = c->sampling->first + rb_band_start(net_tasks(c->v.rows), task);
    const struct rb_kernels *kernels = rb_kernels_of(c->ctx);
    float *normals = (float *)chain_words(c, worker);
    for (int64_t i = 0; i < rows.rows; i++) {
        kernels->normal_row(c->key, (uint64_t)(first + i), rows.cols, normals);
        kernels->of[rows.type].add_floats(rows.cols, c->sampling->noise, normals,
                                          rb_dense_row(rows, i), rb_dense_row(rows, i));
    }
}

static void draw_h(struct chain *c, int64_t step) {
    c->key = chain_key(c, step, 0);
    net_multiply(c->ctx, 1, c->v, RB_PLAIN, c->coder->parameters.loadings, RB_PLAIN, 0, c->h);
    net_each_task(c->ctx, c->h, draw_h_task, c);
}

static void draw_v(struct chain *c, int64_t step) {
    c->key = chain_key(c, step, 1);
    if (c->coder->options.visible == NET_GAUSSIAN)
        net_rebuild(c->ctx, &c->coder->parameters, c->h, c->v);
    else
        net_multiply(c->ctx, 1, c->h, RB_PLAIN, c->coder->parameters.loadings, RB_TRANSPOSED, 0,
                     c->v);
    net_each_task(c->ctx, c->v, draw_v_task, c);
}

/* With a row of words for each worker: those of a Gaussian row are taken four at a time. */
static rb_error chain_begin(rb_context *ctx, struct chain *c) {
    rb_dense w = c->coder->parameters.loadings;
    c->ctx = ctx;
    c->widest =
        ((w.rows > w.cols ? w.rows : w.cols) + RB_RANDOM_RUN) / RB_RANDOM_RUN * RB_RANDOM_RUN;
    c->words = rb_alloc(ctx, rb_context_threads(ctx) * c->widest, sizeof *c->words);
    return c->words ? RB_OK : RB_ERROR_MEMORY;
}

static void flip_coins(struct chain *c) {
    for (int64_t i = 0; i < c->h.rows; i++) {
        for (int64_t j = 0; j < c->h.cols; j++) {
            double u;
            rb_sampling_uniform(c->sampling, i, j, 1, &u);
            rb_dense_set(c->h, i, j, u < 0.5);
        }
    }
}

/* p(h) by Gibbs sampling from units that are on with probability 1/2, a chain for each sample; or
 * p(h | v) of given samples. */
static rb_error draw(rb_context *ctx, void *coder, const rb_sampling *sampling, int64_t n,
                     const rb_block *block, void *codes) {
    enum { STEPS = 1000 };
    net_coder *own = coder;
    rb_dense w = own->parameters.loadings, v = {0};
    rb_sampling whole = *sampling; /* noise is that of the last step */
    whole.noise = 1;
    struct chain c = {.coder = own, .sampling = &whole, .h = {codes, n, w.cols, w.cols, w.type}};
    rb_error err = chain_begin(ctx, &c);
    if (!err && block) {
        c.v = net_rows(ctx, block, own->rows);
        draw_h(&c, 0);
    } else if (!err && (err = rb_dense_new(ctx, w.type, n, w.rows, &v)) == RB_OK) {
        int64_t steps = sampling->steps ? sampling->steps : STEPS;
        c.v = v;
        flip_coins(&c);
        for (int64_t step = 0; !err && step < steps; step++) {
            draw_v(&c, step);
            draw_h(&c, step);
            err = rb_check_stop(ctx);
        }
    }
    rb_dense_free(&v);
    rb_free(c.words);
    return err;
}

static rb_error emit(rb_context *ctx, void *coder, const rb_sampling *sampling, int64_t n,
                     const void *codes, void *rows) {
    net_coder *own = coder;
    rb_dense w = own->parameters.loadings;
    struct chain c = {.coder = own,
                      .sampling = sampling,
                      .v = {rows, n, w.rows, w.rows, w.type},
                      .h = {(void *)codes, n, w.cols, w.cols, w.type}};
    rb_error err = own->options.visible == NET_BINARY
                       ? rb_noise_is_whole(ctx, sampling, "a value that is 0 or 1")
                       : RB_OK;
    err = err ? err : chain_begin(ctx, &c);
    if (!err) draw_v(&c, 0);
    rb_free(c.words);
    return err;
}

/* ---- metrics ---- */

/* The free energy of a sample, whose codes have the logarithms of 1 - p = 1 / (1 + exp(a)): a is
 * taken anew, for 1 - p may be 0. */
static double free_energy(const net_coder *c, rb_dense v, rb_dense inputs) {
    double sum = 0;
    for (int64_t k = 0; k < v.cols; k++) {
        double x = rb_dense_get(v, 0, k), bias = rb_dense_get(c->parameters.visible_bias, k, 0);
        sum += c->options.visible == NET_BINARY ? -bias * x : (x - bias) * (x - bias) / 2;
    }
    for (int64_t j = 0; j < inputs.cols; j++) {
        double a = rb_dense_get(inputs, 0, j) + rb_dense_get(c->parameters.hidden_bias, j, 0);
        sum -= fmax(a, 0) + log1p(exp(-fabs(a)));
    }
    return sum;
}

struct measuring {
    net_coder *coder;
    rb_dense codes, rows; /* of a block */
    rb_metrics *metrics;
    double energy, errors, zeros;
};

static rb_error measure_block(rb_context *ctx, struct measuring *to, const rb_block *samples) {
    net_coder *c = to->coder;
    int64_t n = samples->n_samples;
    rb_dense codes = rb_dense_rows(to->codes, 0, n), rows = rb_dense_rows(to->rows, 0, n);
    rb_error err = rb_metrics_encode(ctx, to->metrics, c, samples, codes.data);
    err = err ? err : decode(ctx, c, n, codes.data, rows.data);
    if (err) return err;
    rb_dense v = net_rows(ctx, samples, c->rows);
    to->errors += squared_distance(v, rows);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < codes.cols; j++)
            to->zeros += rb_dense_get(codes, i, j) == 0;
    net_multiply(ctx, 1, v, RB_PLAIN, c->parameters.loadings, RB_PLAIN, 0, codes);
    for (int64_t i = 0; i < n; i++)
        to->energy += free_energy(c, rb_dense_rows(v, i, 1), rb_dense_rows(codes, i, 1));
    return RB_OK;
}

static rb_error measure_all(rb_context *ctx, rb_feed *feed, int64_t size, struct measuring *to) {
    rb_block block = {0};
    rb_error err = RB_OK;
    while (rb_feed_next(ctx, feed, size, &block, &err))
        err = measure_block(ctx, to, &block);
    return err;
}

static rb_error evaluate(rb_context *ctx, const rb_model *model, rb_feed *feed,
                         rb_metrics *metrics) {
    enum { CELLS = 1 << 20 };
    int64_t m = model->preprocess->n_features, l = rb_model_units(model), n = rb_feed_samples(feed);
    int64_t size = rb_block_size(CELLS, m > l ? m : l, n);
    void *coder = NULL;
    rb_scratch scratch = {.ctx = ctx, .err = net_coder_new(ctx, model, size, &coder)};
    struct measuring to = {.coder = coder, .metrics = metrics};
    rb_dense_take(&scratch, model->type, size, l, &to.codes);
    rb_dense_take(&scratch, model->type, size, m, &to.rows);
    scratch.err = scratch.err ? scratch.err : measure_all(ctx, feed, size, &to);
    if (!scratch.err) {
        rb_metrics_rebuilt(metrics, to.zeros / ((double)n * (double)l), to.errors,
                           (double)n * (double)m);
        rb_metrics_set(metrics, "free_energy", to.energy / (double)n);
    }
    net_coder_free(coder);
    return rb_scratch_end(&scratch);
}

const rb_method rb_method_rbm = {
    .size = sizeof(rb_method),
    .name = "rbm",
    .title = "restricted Boltzmann machine",
    .purpose = "units that are on with a probability; layers of nets",
    .options = table,
    .options_size = sizeof(net_options),
    .code_name = "X_rbm",
    .rules = rules,
    .start_options = net_start_options,
    .takes_batches = true,
    .units = net_units,
    .block_samples = net_block_samples,
    .parts = &net_parts[NET_WITHOUT_SURVEY],
    .shape = net_shape,
    .state_size = sizeof(net_fit),
    .start = net_start,
    .finish = net_finish,
    .survey = survey,
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
    .evaluate = evaluate,
    .draw = draw,
    .emit = emit,
    .draws_by_steps = true,
    .chances = true,
    .layer = net_unit_layer,
    .arrays = net_model_arrays,
};
