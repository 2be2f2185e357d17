/* A fit by steps against a gradient, batch by batch.
 *
 *   step <- momentum step - eta / n (sum of the gradients of n samples)      w <- w + step
 *
 * (B. T. Polyak, "Some methods of speeding up the convergence of iteration methods", 1964). An
 * iteration is a pass over the samples, in batches. Its objective is minus the mean of the squared
 * errors that samples had when their batch came.
 */
#include "one_layer.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

/* ---- memory ---- */

enum {
    FEATURES = RB_DIM_FEATURES,
    UNITS = RB_DIM_UNITS,
    ENCODER,      /* features, where weights are not tied */
    STEP_ROWS,    /* features, with momentum */
    STEP_ENCODER, /* likewise */
    STEP_UNITS,
    BLOCK,
    TASKS
};

static const rb_field parameters[] = {
    {"loadings", offsetof(net_arrays, loadings), RB_FIELD_DENSE, RB_KEPT_WORKING, FEATURES, UNITS,
     RB_KEPT_PARAMETER},
    {"weights", offsetof(net_arrays, weights), RB_FIELD_DENSE, RB_KEPT_WORKING, ENCODER, UNITS,
     RB_KEPT_PARAMETER},
    {"hidden_bias", offsetof(net_arrays, hidden_bias), RB_FIELD_DENSE, RB_KEPT_WORKING, UNITS, 0,
     RB_KEPT_PARAMETER},
    {"visible_bias", offsetof(net_arrays, visible_bias), RB_FIELD_DENSE, RB_KEPT_WORKING, FEATURES,
     0, RB_KEPT_PARAMETER},
    {0},
};
static const rb_field steps[] = {
    {"loadings_step", offsetof(net_arrays, loadings), RB_FIELD_DENSE, RB_KEPT_WORKING, STEP_ROWS,
     UNITS},
    {"weights_step", offsetof(net_arrays, weights), RB_FIELD_DENSE, RB_KEPT_WORKING, STEP_ENCODER,
     UNITS},
    {"hidden_bias_step", offsetof(net_arrays, hidden_bias), RB_FIELD_DENSE, RB_KEPT_WORKING,
     STEP_UNITS, 0},
    {"visible_bias_step", offsetof(net_arrays, visible_bias), RB_FIELD_DENSE, RB_KEPT_WORKING,
     STEP_ROWS, 0},
    {0},
};
static const rb_field gradients[] = {
    {"loadings_gradient", offsetof(net_arrays, loadings), RB_FIELD_DENSE, RB_KEPT_WORKING, FEATURES,
     UNITS},
    {"weights_gradient", offsetof(net_arrays, weights), RB_FIELD_DENSE, RB_KEPT_WORKING, ENCODER,
     UNITS},
    {"hidden_bias_gradient", offsetof(net_arrays, hidden_bias), RB_FIELD_DENSE, RB_KEPT_WORKING,
     UNITS, 0},
    {"visible_bias_gradient", offsetof(net_arrays, visible_bias), RB_FIELD_DENSE, RB_KEPT_WORKING,
     FEATURES, 0},
    {0},
};
static const rb_field progress[] = {
    {"msteps", offsetof(net_progress, msteps), RB_FIELD_INLINE, RB_KEPT_INTEGER, 0, 0,
     RB_KEPT_MSTEPS},
    {"pass", offsetof(net_progress, pass), RB_FIELD_INLINE, RB_KEPT_INTEGER, 0, 0, .max = 1e15},
    {"seen", offsetof(net_progress, seen), RB_FIELD_INLINE, RB_KEPT_INTEGER, 0, 0, .max = 1e18},
    {"error", offsetof(net_progress, error), RB_FIELD_INLINE, RB_KEPT_FLOAT64, 0, 0,
     .max = DBL_MAX},
    {0},
};
static const rb_field survey[] = {
    {"squares", offsetof(net_fit, squares), RB_FIELD_POINTER, RB_KEPT_FLOAT64, FEATURES, 0,
     .sum = RB_SUM_SQUARES},
    {0},
};
static const rb_field sums[] = {
    {"batch_error", offsetof(net_sums, error), RB_FIELD_INLINE, RB_KEPT_FLOAT64, 0, 0},
    {"batch_samples", offsetof(net_sums, samples), RB_FIELD_INLINE, RB_KEPT_INTEGER, 0, 0},
    {"errors", offsetof(net_sums, errors), RB_FIELD_POINTER, RB_KEPT_FLOAT64, FEATURES, 0},
    {"active", offsetof(net_sums, active), RB_FIELD_POINTER, RB_KEPT_FLAG, UNITS, 0,
     .sum = RB_SUM_OR},
    {0},
};
static const rb_field work[] = {
    {"rows", offsetof(net_work, rows), RB_FIELD_DENSE, RB_KEPT_WORKING, BLOCK, FEATURES},
    {"given", offsetof(net_work, given), RB_FIELD_DENSE, RB_KEPT_WORKING, BLOCK, FEATURES},
    {"rebuilt", offsetof(net_work, rebuilt), RB_FIELD_DENSE, RB_KEPT_WORKING, BLOCK, FEATURES},
    {"codes", offsetof(net_work, codes), RB_FIELD_DENSE, RB_KEPT_WORKING, BLOCK, UNITS},
    {"other", offsetof(net_work, other), RB_FIELD_DENSE, RB_KEPT_WORKING, BLOCK, UNITS},
    {"task_error", offsetof(net_work, task_error), RB_FIELD_POINTER, RB_KEPT_FLOAT64, TASKS, 0},
    {"task_sum", offsetof(net_work, task_sum), RB_FIELD_POINTER, RB_KEPT_FLOAT64, TASKS, UNITS},
    {"task_largest", offsetof(net_work, task_largest), RB_FIELD_POINTER, RB_KEPT_FLOAT64, TASKS,
     UNITS},
    {0},
};

const rb_part net_parts[] = {
    {RB_PART_SURVEY, survey, 0},
    {RB_PART_PARAMETERS, parameters, offsetof(net_fit, parameters)},
    {RB_PART_PROGRESS, steps, offsetof(net_fit, steps)},
    {RB_PART_PROGRESS, progress, offsetof(net_fit, progress)},
    {RB_PART_SUMS, gradients, offsetof(net_fit, sums.gradients)},
    {RB_PART_SUMS, sums, offsetof(net_fit, sums)},
    {RB_PART_SCRATCH, work, offsetof(net_fit, work)},
    {0},
};

const char *const net_start_options[] = {"weight-init", NULL};

int64_t net_units(const void *options) {
    return ((const net_options *)options)->units;
}

/* A batch, or as much of it as stays near the processor. */
int64_t net_block_samples(const rb_problem *problem, const void *options) {
    enum { CELLS = 1 << 21, MIN = 64, MAX = 4096 };
    int64_t batch = problem->batch_samples > 0 ? problem->batch_samples : problem->n_samples;
    int64_t m = problem->n_features, l = net_units(options), max = CELLS / (m > l ? m : l);
    max = max < MIN ? MIN : max > MAX ? MAX : max;
    return batch < max ? batch : max;
}

void net_shape(const rb_problem *problem, const void *options, rb_shape *shape) {
    const net_options *o = options;
    int64_t m = problem->n_features, l = o->units, *dims = shape->dims;
    bool untied = o->weights == NET_UNTIED, moves = o->momentum > 0;
    dims[FEATURES] = m;
    dims[UNITS] = l;
    dims[ENCODER] = untied ? m : 0;
    dims[STEP_ROWS] = moves ? m : 0;
    dims[STEP_ENCODER] = untied && moves ? m : 0;
    dims[STEP_UNITS] = moves ? l : 0;
    dims[BLOCK] = problem->block_samples;
    dims[TASKS] = net_tasks(problem->block_samples).count;
}

/* ---- start ---- */

static rb_error load(rb_context *ctx, const rb_model *model, const char *name, rb_dense to) {
    return to.data ? rb_model_take_array(ctx, model, name, to) : RB_OK;
}

static rb_error load_arrays(rb_context *ctx, const rb_model *model, net_arrays *to) {
    rb_error err = load(ctx, model, "loadings", to->loadings);
    err = err ? err : load(ctx, model, "weights", to->weights);
    err = err ? err : load(ctx, model, "hidden_bias", to->hidden_bias);
    return err ? err : load(ctx, model, "visible_bias", to->visible_bias);
}

/* Normal numbers; an encoder of its own begins as the decoder. */
static void draw(net_fit *fit) {
    rb_dense w = fit->parameters.loadings;
    double sd = fit->options.weight_init;
    if (sd == 0) sd = sqrt(2 / ((double)w.rows + (double)w.cols));
    rb_draws draws = {.stream = {.seed = (uint64_t)fit->problem.fit->seed,
                                 .purpose = RB_RANDOM_LOADINGS,
                                 .restart = (uint32_t)fit->problem.restart}};
    for (int64_t k = 0; k < w.rows; k++)
        for (int64_t j = 0; j < w.cols; j++)
            rb_dense_set(w, k, j, sd * rb_draw_normal(&draws));
    if (fit->parameters.weights.data) rb_dense_copy(w, fit->parameters.weights);
}

static rb_error take_parameters(rb_context *ctx, net_fit *fit, const rb_model *start) {
    bool untied = fit->options.weights == NET_UNTIED;
    rb_error err = rb_model_starts(ctx, start, fit->options.units, fit->problem.n_features);
    if (err) return err;
    if (untied != (rb_model_array(start, "weights", NULL, NULL) != NULL)) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "`weights` is '%s', but those of the model to start from are %s",
                       untied ? "untied" : "tied", untied ? "tied" : "untied");
    }
    return load_arrays(ctx, start, &fit->parameters);
}

/* A row of words of the longer of both layers. */
static int64_t word_capacity(const net_fit *fit) {
    int64_t m = fit->problem.n_features, l = fit->options.units, longest = m > l ? m : l;
    return (longest + RB_RANDOM_RUN - 1) / RB_RANDOM_RUN * RB_RANDOM_RUN;
}

rb_error net_start(rb_context *ctx, const rb_problem *problem, const void *options,
                   const rb_model *start, void **state) {
    net_fit *fit = *state;
    fit->problem = *problem;
    fit->options = *(const net_options *)options;
    fit->eta = fit->options.eta;
    fit->words = rb_alloc(ctx, rb_context_threads(ctx) * word_capacity(fit), sizeof *fit->words);
    if (!fit->words) return RB_ERROR_MEMORY;
    if (start) return take_parameters(ctx, fit, start);
    draw(fit);
    return RB_OK;
}

void net_finish(void *state) {
    net_fit *fit = state;
    if (fit) rb_free(fit->words);
}

/* ---- iterations ---- */

/* A pass over the samples has ended, another one begins. */
rb_error net_begin(rb_context *ctx, void *state) {
    net_fit *fit = state;
    net_progress *p = &fit->progress;
    (void)ctx;
    if (p->seen == fit->problem.n_samples && !fit->last) {
        p->pass++;
        p->seen = 0;
        p->error = 0;
    }
    return RB_OK;
}

/* All tasks of a matrix; those of a small one by the caller, who would wait for others longer than
 * they take. */
static void each(rb_context *ctx, rb_dense over, int64_t count, rb_task task, void *arg) {
    enum { SMALL = 1 << 14 };
    bool small = over.rows * over.cols < SMALL;
    for (int64_t t = 0; small && t < count; t++)
        task(arg, t, 0);
    if (!small) rb_parallel(ctx, count, task, arg);
}

struct moving {
    const rb_context *ctx;
    rb_dense w, step, gradient;
    double momentum, rate;
};

static void move_floats(int64_t n, const struct moving *m, const float *restrict g,
                        float *restrict step, float *restrict w) {
    const float momentum = (float)m->momentum, rate = (float)m->rate;
    for (int64_t i = 0; i < n; i++) {
        step[i] = momentum * step[i] - rate * g[i];
        w[i] += step[i];
    }
}

static void move_doubles(int64_t n, const struct moving *m, const double *restrict g,
                         double *restrict step, double *restrict w) {
    for (int64_t i = 0; i < n; i++) {
        step[i] = m->momentum * step[i] - m->rate * g[i];
        w[i] += step[i];
    }
}

static struct bands strips(int64_t rows) {
    enum { COUNT = 16 };
    return rb_cut(rows, COUNT);
}

static void move_strip(void *arg, int64_t index, int worker) {
    const struct moving *all = arg;
    struct bands rows = strips(all->w.rows);
    int64_t first = rb_band_start(rows, index), n = rb_band_size(rows, index) * all->w.cols;
    void *w = rb_dense_row(all->w, first);
    const void *g = rb_dense_row(all->gradient, first);
    (void)worker;
    if (!all->step.data)
        rb_axpy(all->ctx, all->w.type, n, -all->rate, g, w);
    else if (all->w.type == RB_FLOAT32)
        move_floats(n, all, g, rb_dense_row(all->step, first), w);
    else
        move_doubles(n, all, g, rb_dense_row(all->step, first), w);
}

static void move(rb_context *ctx, const net_fit *fit, rb_dense gradient, rb_dense step,
                 rb_dense w) {
    double rate = fit->eta / (double)fit->sums.samples;
    struct moving all = {ctx, w, step, gradient, fit->options.momentum, rate};
    if (w.data) each(ctx, w, strips(w.rows).count, move_strip, &all);
}

rb_error net_mstep(rb_context *ctx, void *state) {
    net_fit *fit = state;
    net_arrays *to = &fit->parameters, *step = &fit->steps;
    const net_arrays *g = &fit->sums.gradients;
    move(ctx, fit, g->loadings, step->loadings, to->loadings);
    move(ctx, fit, g->weights, step->weights, to->weights);
    move(ctx, fit, g->hidden_bias, step->hidden_bias, to->hidden_bias);
    move(ctx, fit, g->visible_bias, step->visible_bias, to->visible_bias);
    fit->progress.msteps++;
    fit->progress.seen += fit->sums.samples;
    fit->progress.error += fit->sums.error;
    return RB_OK;
}

void net_objective(void *state, double *objective, double *estep_objective) {
    const net_progress *p = &((const net_fit *)state)->progress;
    *objective = -p->error / (double)p->seen;
    *estep_objective = NAN;
}

rb_error net_end(rb_context *ctx, void *state, bool *again) {
    net_fit *fit = state;
    (void)ctx;
    *again = false;
    fit->measured = fit->last;
    return RB_OK;
}

void net_last(void *state) {
    ((net_fit *)state)->last = true;
}

static rb_error store(rb_context *ctx, rb_model *model, const char *name, rb_dense from) {
    return from.data ? rb_model_put_array(ctx, model, name, from) : RB_OK;
}

rb_error net_store(rb_context *ctx, void *state, rb_model *model) {
    const net_fit *fit = state;
    const net_arrays *p = &fit->parameters;
    const net_progress *now = &fit->progress;
    int64_t m = p->loadings.rows, l = p->loadings.cols, n = fit->problem.n_samples;
    rb_error err = store(ctx, model, "loadings", p->loadings);
    err = err ? err : store(ctx, model, "weights", p->weights);
    err = err ? err : store(ctx, model, "hidden_bias", p->hidden_bias);
    err = err ? err : store(ctx, model, "visible_bias", p->visible_bias);
    double *noise = err ? NULL : rb_model_add_array(ctx, model, "noise", m, 1);
    double *dead = noise ? rb_model_add_array(ctx, model, "dead", l, 1) : NULL;
    if (!dead) return err ? err : RB_ERROR_MEMORY;
    for (int64_t k = 0; k < m; k++)
        noise[k] = fit->measured ? fit->sums.errors[k] / (double)n
                                 : now->error / ((double)now->seen * (double)m);
    for (int64_t j = 0; j < l; j++)
        dead[j] = fit->measured && !fit->sums.active[j];
    return RB_OK;
}

/* ---- parts of a block ---- */

struct bands net_tasks(int64_t rows) {
    enum { ROWS = 64 };
    return rb_cut(rows, (rows + ROWS - 1) / ROWS);
}

void net_each_task(rb_context *ctx, rb_dense over, rb_task task, void *arg) {
    each(ctx, over, net_tasks(over.rows).count, task, arg);
}

void net_multiply(rb_context *ctx, double alpha, rb_dense a, rb_side op_a, rb_dense b, rb_side op_b,
                  double beta, rb_dense c) {
    enum { SMALL = 1 << 20 };
    double inner = (double)(op_a == RB_TRANSPOSED ? a.rows : a.cols);
    if (inner * (double)c.rows * (double)c.cols < SMALL)
        rb_gemm(alpha, a, op_a, b, op_b, beta, c);
    else
        rb_gemm_parallel(ctx, alpha, a, op_a, b, op_b, beta, c);
}

struct copying {
    const rb_block *block;
    rb_dense rows;
};

static void copy_task(void *arg, int64_t task, int worker) {
    const struct copying *all = arg;
    (void)worker;
    rb_block_rows(all->block, rb_band_start(net_tasks(all->rows.rows), task),
                  net_task_rows(all->rows, task));
}

rb_dense net_rows(rb_context *ctx, const rb_block *block, rb_dense rows) {
    struct copying all = {block, rb_dense_rows(rows, 0, block->n_samples)};
    if (!block->sparse) return block->dense;
    net_each_task(ctx, all.rows, copy_task, &all);
    return all.rows;
}

rb_dense net_encoder(const net_arrays *p) {
    return p->weights.data ? p->weights : p->loadings;
}

void net_add_rows(const rb_context *ctx, double factor, rb_dense x, rb_dense bias) {
    for (int64_t i = 0; i < x.rows; i++)
        rb_axpy(ctx, x.type, x.cols, factor, rb_dense_row(x, i), bias.data);
}

void net_add_bias(const rb_context *ctx, rb_dense bias, rb_dense x) {
    for (int64_t i = 0; i < x.rows; i++)
        rb_axpy(ctx, x.type, x.cols, 1, bias.data, rb_dense_row(x, i));
}

void net_add_errors(rb_dense x, rb_dense rebuilt, double *errors) {
    for (int64_t i = 0; i < x.rows; i++) {
        for (int64_t k = 0; k < x.cols; k++) {
            double d = rb_dense_get(x, i, k) - rb_dense_get(rebuilt, i, k);
            errors[k] += d * d;
        }
    }
}

double net_squares(const rb_context *ctx, rb_dense x) {
    double sum = 0;
    for (int64_t i = 0; i < x.rows; i++)
        sum += rb_dot(ctx, x.type, x.cols, rb_dense_row(x, i), rb_dense_row(x, i));
    return sum;
}

/* ---- random numbers ---- */

uint64_t net_key(const net_fit *fit, rb_purpose purpose) {
    rb_stream stream = {.seed = (uint64_t)fit->problem.fit->seed,
                        .purpose = purpose,
                        .restart = (uint32_t)fit->problem.restart};
    return rb_random_key(stream, (uint64_t)fit->progress.pass);
}

uint32_t *net_words(const net_fit *fit, int worker) {
    return fit->words + worker * word_capacity(fit);
}

/* ---- coders ---- */

void net_coder_free(void *coder) {
    net_coder *c = coder;
    if (c) {
        rb_scratch_end(&c->scratch);
        rb_free(c);
    }
}

/* The one option that encoding asks for. */
static rb_error load_options(rb_context *ctx, const rb_model *model, net_options *options) {
    const rb_option *rows = model->method->options;
    const char *visible = rb_model_attribute(model, "visible");
    rb_rows_default(rows, options);
    if (visible && rb_rows_find(rows, "visible") &&
        rb_rows_set(ctx, rows, options, "visible", visible)) {
        return rb_fail(ctx, RB_ERROR_FORMAT,
                       "the model has an unknown kind of visible units; it is damaged");
    }
    return RB_OK;
}

static rb_error fill_coder(rb_context *ctx, const rb_model *model, int64_t block_samples,
                           net_coder *c) {
    int64_t m = model->preprocess->n_features, l = rb_model_units(model);
    int64_t tasks = net_tasks(block_samples).count;
    bool untied = rb_model_array(model, "weights", NULL, NULL) != NULL;
    rb_scratch *s = &c->scratch;
    *s = (rb_scratch){.ctx = ctx, .err = load_options(ctx, model, &c->options)};
    rb_dense_take(s, model->type, m, l, &c->parameters.loadings);
    if (untied) rb_dense_take(s, model->type, m, l, &c->parameters.weights);
    rb_dense_take(s, model->type, l, 1, &c->parameters.hidden_bias);
    rb_dense_take(s, model->type, m, 1, &c->parameters.visible_bias);
    rb_dense_take(s, model->type, block_samples, m, &c->rows);
    c->task_sum = rb_take(s, tasks, (size_t)l * sizeof *c->task_sum);
    c->task_largest = rb_take(s, tasks, (size_t)l * sizeof *c->task_largest);
    return s->err ? s->err : load_arrays(ctx, model, &c->parameters);
}

rb_error net_coder_new(rb_context *ctx, const rb_model *model, int64_t block_samples,
                       void **coder) {
    net_coder *c = *coder = rb_alloc_zero(ctx, 1, sizeof *c);
    rb_error err = c ? fill_coder(ctx, model, block_samples, c) : RB_ERROR_MEMORY;
    if (err) {
        net_coder_free(c);
        *coder = NULL;
    }
    return err;
}

void net_rebuild(rb_context *ctx, const net_arrays *p, rb_dense codes, rb_dense rows) {
    net_multiply(ctx, 1, codes, RB_PLAIN, p->loadings, RB_TRANSPOSED, 0, rows);
    net_add_bias(ctx, p->visible_bias, rows);
}

const rb_array_kind net_model_arrays[] = {{"weights", RB_ARRAY_COLUMN_EACH},
                                          {"hidden_bias", RB_ARRAY_ROW_EACH},
                                          {"visible_bias", RB_ARRAY_OF_ALL},
                                          {0}};

rb_error net_unit_layer(rb_context *ctx, const rb_model *model, rb_method_layer *layer) {
    int64_t m = rb_model_features(model), l = rb_model_units(model);
    bool untied = rb_model_array(model, "weights", NULL, NULL) != NULL;
    rb_error err =
        rb_model_need_array(ctx, model, untied ? "weights" : "loadings", m, l, &layer->weights);
    return err ? err : rb_model_need_array(ctx, model, "hidden_bias", l, 1, &layer->bias);
}
