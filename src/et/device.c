/* The E-step on a device, in float32: parameters go up; the log evidence of each sample and the
 * sums come down. What a pass is, the cut and the M-step are those of the processor; |y|^2 is
 * computed here, when samples go up, so that differences with it keep their digits. */
#include "device.h"

#include <math.h>
#include <string.h>

enum { PIECE = 256, MOST_CANDIDATES = 64 }; /* samples that go up at once; bits of a set */

struct et_device {
    et_cpu cpu; /* what the processor keeps of the pass: its engine, and the pass */
    const rb_device *table;
    rb_device_work *work;
    rb_scratch memory;
    bool streams;      /* samples come and go, block by block */
    bool begun;        /* a block is worked on */
    rb_block at;       /* the samples at hand: their number and places */
    double data_bytes; /* moved by samples that stay */
    uint64_t *sets;
    rb_dense rows;                    /* samples on their way up */
    double *norm;                     /* |y|^2: of our samples */
    float *fields, *square, *overlap; /* H x D, H, H x H: of rb_device_fields */
    float *prior, *offset;
    uint8_t *empty, *used, *likeliest; /* H; samples; H */
    float *evidence, *energy;          /* samples */
    float *causes, *alone, *products, *second;
};

rb_error et_device_check(rb_context *ctx, const rb_problem *problem, const et_setup *setup) {
    const et_model *model = &setup->model;
    bool known = model->summing == &et_sum_linear || model->summing == &et_sum_max;
    const rb_conflict conflicts[] = {
        {problem->type != RB_FLOAT32,
         problem->fit
             ? "a device computes in float32; leave out `precision=float64` or `device`"
             : "a device computes in float32, and the model is of float64; leave out `device`"},
        {setup->missing, "a device takes no missing values; leave out `device`, or fill them with "
                         "`missing=mean` or `missing=median`"},
        {problem->fit && problem->fit->trace,
         "a device traces no posteriors; leave out `trace` and what needs it (`log-json`), or "
         "`device`"},
        {!known || !et_gaussian(model) || problem->method->own,
         "a device has linca, nmf-et and mca with Gaussian noise; use them, or leave out "
         "`device`"},
        {!et_binary(&setup->values),
         "a device has causes of the values 0 and 1; leave out `values` or `device`"},
        {setup->selection != RB_ET_SELECT_JOINT,
         "a device has `selection=joint`; use it, or leave out `device`"},
        {setup->region >= 0, "a device uses all states; leave out `region` or `device`"},
        {setup->widest_active > setup->max_active,
         "a device extends no samples; leave out `max-active-limit` or `device`"},
        {setup->candidates > MOST_CANDIDATES,
         "a device has at most 64 candidates; lower `candidates`, or leave out `device`"},
        {0}};
    return rb_check_conflicts(ctx, conflicts) ? RB_ERROR_UNSUPPORTED : RB_OK;
}

/* ---- its life ---- */

void et_device_free(et_device *d) {
    if (!d) return;
    d->table->close(d->work);
    rb_scratch_end(&d->memory);
    rb_free(d);
}

static void engine_close(void *engine) {
    et_device *d = engine;
    if (!d) return;
    et_engine_free(d->cpu.engine);
    et_device_free(d);
}

static rb_error note(et_device *d, rb_error err) {
    rb_context *ctx = d->memory.ctx;
    return err ? rb_fail(ctx, err, "%s: %s", d->table->name, d->work->message) : RB_OK;
}

static void take_memory(et_device *d, const et_setup *setup, int64_t samples, int64_t own) {
    rb_scratch *m = &d->memory;
    int64_t h = setup->units, n = setup->n_features;
    bool linear = setup->model.summing == &et_sum_linear;
    rb_dense_take(m, RB_FLOAT32, rb_smaller(samples, PIECE), n, &d->rows);
    d->norm = rb_take(m, own, sizeof *d->norm);
    d->fields = rb_take(m, h, (size_t)n * sizeof *d->fields);
    d->products = rb_take(m, h, (size_t)n * sizeof *d->products);
    d->second = rb_take(m, h, (size_t)(linear ? h : n) * sizeof *d->second);
    if (linear) d->overlap = rb_take(m, h, (size_t)h * sizeof *d->overlap);
    d->prior = rb_take(m, h, sizeof *d->prior);
    d->offset = rb_take(m, h, sizeof *d->offset);
    d->causes = rb_take(m, h, sizeof *d->causes);
    d->alone = rb_take(m, h, sizeof *d->alone);
    d->empty = rb_take(m, h, sizeof *d->empty);
    d->likeliest = rb_take(m, h, sizeof *d->likeliest);
    d->used = rb_take(m, samples, sizeof *d->used);
    d->evidence = rb_take(m, samples, sizeof *d->evidence);
    d->energy = rb_take(m, samples, sizeof *d->energy);
}

/* The states of the tree; with a fixed count the others are impossible. */
static int64_t list_sets(et_device *d, const et_engine *engine) {
    const et_tree *tree = engine->trees;
    int64_t count = 0;
    d->sets = rb_take(&d->memory, tree->count, sizeof *d->sets);
    for (int64_t s = 0; d->sets && s < tree->count; s++) {
        if (engine->setup.fixed_count && tree->size[s] < tree->max_active) continue;
        d->sets[count] = 0;
        for (int64_t p = s; p > 0; p = tree->parent[p])
            d->sets[count] |= (uint64_t)1 << tree->last[p];
        count++;
    }
    return count;
}

/* With all samples there or, where they do not fit, those of a block. */
static rb_error open_work(et_device *d, const rb_problem *problem, const et_engine *engine) {
    const et_setup *setup = &engine->setup;
    rb_device_shape shape = {.size = sizeof shape,
                             .samples = d->streams ? problem->block_samples : problem->own,
                             .features = setup->n_features,
                             .units = setup->units,
                             .streams = d->streams,
                             .states = {.candidates = setup->candidates,
                                        .singles = setup->singletons,
                                        .maximum = setup->model.summing == &et_sum_max}};
    shape.states.count = list_sets(d, engine);
    shape.states.sets = d->sets;
    if (!d->memory.err) take_memory(d, setup, shape.samples, problem->own);
    if (d->memory.err) return d->memory.err;
    rb_error err = d->table->open(d->table, &shape, &d->work);
    if (err == RB_ERROR_MEMORY && d->work && !d->streams) {
        d->table->close(d->work);
        shape.streams = d->streams = true;
        shape.samples = problem->block_samples;
        err = d->table->open(d->table, &shape, &d->work);
    }
    if (err && !d->work) return rb_fail(d->memory.ctx, RB_ERROR_MEMORY, "out of memory");
    return note(d, err);
}

static rb_error device_new(rb_context *ctx, const rb_problem *problem, const et_engine *engine,
                           bool streams, et_device **device) {
    et_device *d = *device = rb_alloc_zero(ctx, 1, sizeof *d);
    if (!d) return RB_ERROR_MEMORY;
    d->memory.ctx = ctx;
    d->table = problem->device;
    d->streams = streams;
    d->cpu.problem = *problem;
    rb_error err = open_work(d, problem, engine);
    if (err) {
        et_device_free(d);
        *device = NULL;
    }
    return err;
}

static rb_error engine_open(rb_context *ctx, const rb_problem *problem, const void *options,
                            void **out) {
    et_setup setup = et_setup_of(problem, options);
    et_engine *engine = NULL;
    et_device *d = NULL;
    rb_error err = et_device_check(ctx, problem, &setup);
    err = err ? err : et_engine_new(ctx, &setup, &engine);
    err = err ? err : device_new(ctx, problem, engine, false, &d);
    if (d)
        d->cpu.engine = engine;
    else
        et_engine_free(engine);
    *out = d;
    return err;
}

bool et_device_is_filled(const et_device *d) {
    return !d->streams && d->at.n_samples == d->cpu.problem.own;
}

/* ---- parameters ---- */

static void to_floats(int64_t n, const double *from, double factor, float *to) {
    for (int64_t i = 0; i < n; i++)
        to[i] = (float)(factor * from[i]);
}

static rb_error put_fields(et_device *d, const et_engine *engine) {
    const et_setup *setup = &engine->setup;
    int64_t h = setup->units;
    rb_device_fields fields = {.scale = (float)engine->scale,
                               .exponent = (float)et_soft_exponent(engine->beta),
                               .fields = d->fields,
                               .prior = d->prior,
                               .offset = d->offset,
                               .empty = d->empty,
                               .overlap = d->overlap};
    to_floats(h * setup->n_features, engine->fields.data, 1, d->fields);
    to_floats(h, engine->logit, 1, d->prior);
    if (d->overlap) to_floats(h * h, engine->gram.data, engine->scale, d->overlap);
    for (int64_t i = 0; i < h; i++) {
        d->offset[i] = (float)(engine->logit[i] - engine->scale / 2 * engine->square[i]);
        d->empty[i] = engine->square[i] == 0;
    }
    return note(d, d->table->fields(d->work, &fields));
}

static rb_error engine_set_parameters(rb_context *ctx, void *engine, const void *parameters) {
    et_device *d = engine;
    const et_pass *pass = d->cpu.pass = parameters;
    if (pass->kind == ET_PASS_CUT) return RB_OK;
    et_prepare(ctx, d->cpu.engine, pass->parameters, pass->beta, pass->beta_prior);
    return put_fields(d, d->cpu.engine);
}

/* ---- samples ---- */

/* Samples of the block from row `from` on go up, as those from `to` on. */
static rb_error put_rows(et_device *d, const rb_block *block, int64_t from, int64_t to,
                         rb_dense rows, double *norm) {
    rb_block_rows(block, from, rows);
    for (int64_t i = 0; norm && i < rows.rows; i++) {
        const float *y = rb_dense_row(rows, i);
        norm[i] = 0;
        for (int64_t k = 0; k < rows.cols; k++)
            norm[i] += (double)y[k] * (double)y[k];
    }
    return note(d, d->table->put(d->work, to, rows.rows, rows.data, rows.ld));
}

static rb_error put_block(et_device *d, const rb_block *block, int64_t to, double *norm) {
    rb_error err = RB_OK;
    for (int64_t i = 0; !err && i < block->n_samples; i += PIECE) {
        int64_t count = rb_smaller(block->n_samples - i, PIECE);
        err =
            put_rows(d, block, i, to + i, rb_dense_rows(d->rows, 0, count), norm ? norm + i : NULL);
    }
    return err;
}

/* ---- sums ---- */

static bool ranks(const et_pass *pass) {
    return pass->kind == ET_PASS_MEASURE || pass->kind == ET_PASS_RANK;
}

static rb_error begin(et_device *d) {
    const et_pass *pass = d->cpu.pass;
    for (int64_t i = 0; i < d->at.n_samples; i++)
        d->used[i] = et_pass_uses(pass, &d->at, i);
    return note(d, d->table->posteriors(d->work, ranks(pass) ? NULL : d->used));
}

/* The log evidence of each sample, and what is in the most probable states. */
static rb_error take_evidence(const et_device *d, et_sums *sums) {
    rb_context *ctx = d->memory.ctx;
    const et_engine *engine = d->cpu.engine;
    double *evidence = d->cpu.pass->evidence + d->at.own;
    const double *norm = d->norm + d->at.own;
    for (int64_t i = 0; i < d->at.n_samples; i++) {
        evidence[i] =
            et_constant(engine, engine->setup.n_features, norm[i]) + (double)d->evidence[i];
        if (!isfinite(evidence[i])) {
            return rb_fail(ctx, RB_ERROR_NUMERIC,
                           "the log evidence of sample %lld (counted from %d) is not finite; "
                           "scale the data",
                           (long long)rb_nth(ctx, d->at.first + i), ctx->first);
        }
        sums->all_evidence += evidence[i];
    }
    for (int64_t h = 0; h < engine->setup.units; h++)
        sums->in_map[h] = sums->in_map[h] || d->likeliest[h];
    return RB_OK;
}

static void add_floats(int64_t n, const float *from, void *to) {
    double *sums = to;
    for (int64_t i = 0; i < n; i++)
        sums[i] += (double)from[i];
}

/* <|y - Wbar(s)|^2> is |y|^2 less 2 / scale times <e(s)> without the prior's terms; where fields
 * add up the M-step has it from the moments. */
static void add_samples(const et_device *d, et_sums *sums) {
    const et_engine *engine = d->cpu.engine;
    for (int64_t i = 0; i < d->at.n_samples; i++) {
        int64_t own = d->at.own + i;
        if (!d->used[i]) continue;
        sums->used++;
        sums->values += (double)engine->setup.n_features;
        sums->squares += d->norm[own];
        sums->evidence += d->cpu.pass->evidence[own];
        if (!d->overlap) sums->residual += d->norm[own] - 2 / engine->scale * (double)d->energy[i];
    }
    for (int64_t h = 0; h < engine->setup.units; h++) {
        sums->active += (double)d->causes[h];
        if (!d->overlap)
            sums->residual += 2 / engine->scale * engine->logit[h] * (double)d->causes[h];
    }
}

static void add_sums(const et_device *d, et_sums *sums) {
    const et_setup *setup = &d->cpu.engine->setup;
    int64_t units = setup->units, n = setup->n_features;
    add_samples(d, sums);
    add_floats(units, d->causes, sums->causes);
    add_floats(units * n, d->products, sums->products.data);
    if (d->overlap) add_floats(units * units, d->second, sums->second.data);
    for (int64_t i = 0; !d->overlap && i < units * n; i++)
        ((double *)sums->weights.data)[i] += (double)d->second[i] + (double)d->alone[i / n];
}

static rb_error end(et_device *d, et_sums *sums) {
    bool adds = !ranks(d->cpu.pass), linear = d->overlap, cut = d->cpu.pass->kind == ET_PASS_CUT;
    const rb_device_posteriors to = {.evidence = cut ? NULL : d->evidence,
                                     .likeliest = cut ? NULL : d->likeliest,
                                     .energy = adds && !linear ? d->energy : NULL,
                                     .causes = adds ? d->causes : NULL,
                                     .products = adds ? d->products : NULL,
                                     .alone = adds && !linear ? d->alone : NULL,
                                     .second = adds && linear ? d->second : NULL,
                                     .weights = adds && !linear ? d->second : NULL};
    rb_error err = note(d, d->table->posterior_sums(d->work, &to));
    if (!err && !cut) err = take_evidence(d, sums);
    if (!err && adds) add_sums(d, sums);
    return err;
}

/* ---- passes ---- */

/* A block goes up while the device works on the one before. */
static rb_error engine_block(rb_context *ctx, void *engine, const rb_block *block, void *sums) {
    et_device *d = engine;
    if (!d->streams && block->own != d->at.n_samples) return RB_OK; /* is there */
    rb_error err = put_block(d, block, d->streams ? 0 : block->own, d->norm + block->own);
    if (err || !d->streams) {
        d->at.n_samples += block->n_samples;
        d->data_bytes = d->work->bytes;
        return err;
    }
    if (d->begun) err = end(d, sums);
    d->begun = true;
    d->at = (rb_block){.first = block->first, .own = block->own, .n_samples = block->n_samples};
    return err ? err : begin(d);
}

static rb_error engine_sums(rb_context *ctx, void *engine, void *sums) {
    et_device *d = engine;
    rb_error err = d->streams ? RB_OK : begin(d);
    bool worked = !d->streams || d->begun;
    d->begun = false;
    return err || !worked ? err : end(d, sums);
}

static rb_error engine_finish(rb_context *ctx, void *engine, void *sums) {
    et_device *d = engine;
    const et_summing *summing = d->cpu.engine->setup.model.summing;
    if (!ranks(d->cpu.pass)) summing->finish(&d->cpu, sums);
    return RB_OK;
}

const rb_engine et_engine_device = {
    .name = "device",
    .open = engine_open,
    .close = engine_close,
    .set_parameters = engine_set_parameters,
    .block = engine_block,
    .sums = engine_sums,
    .finish = engine_finish,
};

rb_error et_device_report(const et_device *d, rb_model *model) {
    return rb_model_put_traffic(d->memory.ctx, model, d->data_bytes, d->work->bytes);
}

/* ---- codes ---- */

rb_error et_device_for_codes(rb_context *ctx, const et_engine *engine, int64_t block_samples,
                             et_device **device) {
    const rb_problem problem = {.method = NULL,
                                .own = block_samples,
                                .block_samples = block_samples,
                                .device = ctx->device};
    rb_error err = device_new(ctx, &problem, engine, true, device);
    return err ? err : put_fields(*device, engine);
}

rb_error et_device_encode(et_device *d, const rb_block *block, float *codes) {
    memset(d->used, true, (size_t)block->n_samples * sizeof *d->used);
    rb_error err = put_block(d, block, 0, NULL);
    err = err ? err : note(d, d->table->posteriors(d->work, d->used));
    return err ? err : note(d, d->table->get(d->work, codes));
}
