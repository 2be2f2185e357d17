/* The E-steps newton and cyclic on a device: it has the samples, Q and the codes; parameters go up,
 * moments come down. Normalising them, M-step and objective are those of the processor. */
#include "fit.h"

#include <math.h>

enum { PIECE = 256 }; /* samples of a sparse block that go up at once */

rb_error rfn_device_check(rb_context *ctx, const rb_problem *problem,
                          const rb_rfn_options *options) {
    const rb_conflict conflicts[] = {
        {problem->type != RB_FLOAT32,
         "a device computes in float32; leave out `precision=float64` or `device`"},
        {problem->missing, "a device takes no missing values; leave out `device`, or fill them "
                           "with `missing=mean` or `missing=median`"},
        {problem->fit->accelerate != RB_ACCELERATE_NONE,
         "a fit on a device is not accelerated; leave out `accelerate` or `device`"},
        {problem->fit->trace, "a device traces no E-step objective; leave out `trace` and what "
                              "needs it (`log-json`), or `device`"},
        {options->estep != RB_RFN_ESTEP_NEWTON && options->estep != RB_RFN_ESTEP_CYCLIC,
         "a device has the E-steps newton and cyclic; choose one with `estep`, or leave out "
         "`device`"},
        {options->noise == RB_RFN_PSI_FULL,
         "a device needs `noise=diagonal`; use that, or leave out `device`"},
        {!rfn_activation_projects(options),
         "a device needs `activation=rectify` with `activation-threshold` 0; use them, or leave "
         "out `device`"},
        {options->input_noise > RB_RFN_NOISE_MASKING ||
             (options->input_noise != RB_RFN_NOISE_NONE && problem->sparse),
         "a device has `input-noise=masking` alone, of dense data; use that, or leave out "
         "`device`"},
        {rfn_adapts(options),
         "a device adapts no prior mean; leave out `steer-iterations` (which `preset=sparse` sets) "
         "or `device`"},
        {0},
    };
    rb_error err = problem->device ? rb_check_conflicts(ctx, conflicts) : RB_OK;
    return err ? RB_ERROR_UNSUPPORTED : RB_OK;
}

/* ---- its life ---- */

static void note(rfn_device *d, rb_error err) {
    d->err = err;
    if (err) rb_fail(d->ctx, err, "%s: %s", d->table->name, d->work ? d->work->message : "");
}

static rb_error open_work(rfn_device *d, const rfn_setup *setup) {
    const rb_rfn_options *options = &setup->options;
    d->streams = rfn_in_batches(&setup->problem);
    rb_device_shape shape = {.size = sizeof shape,
                             .streams = d->streams,
                             .samples =
                                 d->streams ? setup->problem.block_samples : setup->problem.own,
                             .features = setup->problem.n_features,
                             .units = options->units,
                             .persists = options->estep != RB_RFN_ESTEP_NEWTON,
                             .normalized = options->normalize == RB_RFN_NORMALIZE_RMS,
                             .masks = options->input_noise != RB_RFN_NOISE_NONE};
    rb_error err = d->table->open(d->table, &shape, &d->work);
    bool may_stream = !shape.persists && !shape.streams && setup->problem.block_samples > 0;
    if (err == RB_ERROR_MEMORY && d->work && may_stream) {
        d->table->close(d->work);
        shape.streams = d->streams = true;
        shape.samples = setup->problem.block_samples;
        err = d->table->open(d->table, &shape, &d->work);
    }
    if (err && !d->work) return rb_fail(d->ctx, RB_ERROR_MEMORY, "out of memory");
    note(d, err);
    return err;
}

rb_error rfn_device_new(rb_context *ctx, const rfn_setup *setup, rfn_device **device) {
    int64_t l = setup->options.units, m = setup->problem.n_features;
    *device = NULL;
    if (!setup->problem.device) return RB_OK;
    rfn_device *d = *device = rb_alloc_zero(ctx, 1, sizeof *d);
    if (!d) return RB_ERROR_MEMORY;
    d->ctx = ctx;
    d->table = setup->problem.device;
    d->n_units = l;
    d->units = (rb_device_units){
        rb_alloc_zero(ctx, l, sizeof(float)), rb_alloc_zero(ctx, l, sizeof(float)),
        rb_alloc_zero(ctx, l, sizeof(int64_t)), rb_alloc_zero(ctx, l, sizeof(int64_t))};
    d->codes = rb_alloc_zero(ctx, l, sizeof(float));
    bool there = d->units.sums && d->units.largest && d->units.place && d->units.active && d->codes;
    rb_error err =
        there ? rb_dense_new(ctx, RB_FLOAT32, setup->problem.sparse ? PIECE : 1, m, &d->rows)
              : RB_ERROR_MEMORY;
    if (!err) err = open_work(d, setup);
    if (!err && d->streams) err = rb_dense_new(ctx, RB_FLOAT32, m, l, &d->u);
    return err || !d->streams ? err : rb_dense_new(ctx, RB_FLOAT32, l, l, &d->s);
}

rb_error rfn_device_for_codes(rb_context *ctx, const rb_model *model, const rb_rfn_options *options,
                              int64_t block_samples, bool exact, rfn_device **device) {
    rfn_setup setup = {.problem = {.own = block_samples,
                                   .n_features = model->preprocess->n_features,
                                   .type = model->type,
                                   .sparse = true,
                                   .device = ctx->device},
                       .options = {.units = rb_model_units(model),
                                   .estep = exact ? RB_RFN_ESTEP_CYCLIC : RB_RFN_ESTEP_NEWTON,
                                   .normalize = RB_RFN_NORMALIZE_NONE}};
    const rb_conflict conflicts[] = {
        {model->type != RB_FLOAT32, "a device computes in float32, and the model is of float64; "
                                    "leave out `device`"},
        {!rfn_activation_projects(options),
         "a device needs `activation=rectify` with `activation-threshold` 0; leave out `device`"},
        {0}};
    rb_error err = ctx->device ? rb_check_conflicts(ctx, conflicts) : RB_OK;
    *device = NULL;
    return err ? RB_ERROR_UNSUPPORTED : rfn_device_new(ctx, &setup, device);
}

void rfn_device_free(rfn_device *d) {
    if (!d) return;
    if (d->ctx->work == d->work) d->ctx->work = NULL;
    d->table->close(d->work);
    rb_free(d->units.sums);
    rb_free(d->units.largest);
    rb_free(d->units.place);
    rb_free(d->units.active);
    rb_dense_free(&d->rows);
    rb_dense_free(&d->u);
    rb_dense_free(&d->s);
    rb_free(d->codes);
    rb_free(d);
}

/* A product may have failed, too (linalg/device.c). */
rb_error rfn_device_end(rfn_device *d) {
    if (!d->err && d->work->failed) note(d, RB_ERROR_UNSUPPORTED);
    return d->err;
}

/* ---- samples ---- */

bool rfn_device_is_filled(const rfn_device *d, const rb_problem *problem) {
    return !d->streams && d->there == problem->own;
}

static void put_rows(rfn_device *d, rb_dense rows) {
    if (!d->err) note(d, d->table->put(d->work, d->there, rows.rows, rows.data, rows.ld));
    d->there += rows.rows;
}

/* Samples of a sparse block go with their zeros, some at a time: products there are dense. */
void rfn_device_put(rfn_device *d, const rb_block *block) {
    if (d->err || block->own != d->there) return;
    if (!block->sparse) put_rows(d, block->dense);
    for (int64_t row = 0; block->sparse && row < block->n_samples; row += d->rows.rows) {
        int64_t left = block->n_samples - row;
        rb_dense rows = rb_dense_rows(d->rows, 0, left < d->rows.rows ? left : d->rows.rows);
        rb_block_rows(block, row, rows);
        put_rows(d, rows);
    }
    if (!d->streams) d->data_bytes = d->work->bytes;
}

void rfn_device_take(rfn_device *d, const rb_block *block) {
    rb_block own = *block;
    own.own = d->there = 0;
    rfn_device_put(d, &own);
}

/* ---- sums ---- */

/* shift: what V has less than that of the sums, which batches share with the processor; or NULL. */
static void take_units(const rfn_device *d, const double *shift, rfn_sums *sums) {
    sums->weight += sums->gain * (double)d->there;
    for (int64_t k = 0; shift && k < sums->u.rows; k++)
        rb_axpy(d->ctx, RB_FLOAT32, sums->u.cols, sums->gain * shift[k], d->units.sums,
                rb_dense_row(sums->u, k));
    for (int64_t j = 0; j < sums->s.cols; j++) {
        sums->codes[j] += sums->gain * (double)d->units.sums[j];
        sums->active[j] = sums->active[j] || d->units.active[j] > 0;
    }
}

/* What dead.c needs of units that no sample activates. */
static void take_candidates(rfn_device *d, rfn_sums *sums) {
    int64_t m = sums->u.rows;
    for (int64_t j = 0; !d->err && j < sums->s.cols; j++) {
        double largest = (double)d->units.largest[j];
        if (sums->active[j] || (sums->place[j] >= 0 && !(largest > sums->largest[j]))) continue;
        rb_block sample = {.first = d->first + d->units.place[j],
                           .n_samples = 1,
                           .n_features = m,
                           .dense = rb_dense_rows(d->rows, 0, 1)};
        note(d, d->table->sample(d->work, d->units.place[j], d->rows.data, d->codes));
        if (!d->err) d->err = rfn_take_candidate(d->ctx, sums, j, largest, &sample, 0, d->codes);
    }
}

static void add_moments(rfn_device *d, rfn_sums *sums) {
    if (!d->err) note(d, d->table->moments(d->work, sums->u.data, sums->s.data));
}

void rfn_device_linear(rfn_device *d, rb_dense weights, const void *offset) {
    if (!d->err) note(d, d->table->linear(d->work, weights.data, offset));
}

/* Scales are those of all codes, before any is dropped. */
static void drop(rfn_device *d, rb_device_chance chance, rfn_sums *sums) {
    const rb_device_units units = {.sums = d->units.sums, .active = d->units.active};
    if (d->err) return;
    note(d, d->table->drop(d->work, chance, d->codes));
    for (int64_t j = 0; !d->err && j < sums->s.cols; j++) {
        sums->all_codes[j] += sums->gain * (double)d->units.sums[j];
        sums->all_squares[j] += sums->gain * (double)d->codes[j];
    }
    if (!d->err) note(d, d->table->sums(d->work, &units));
}

/* weights: false where they are there. */
static void begin_newton(rfn_device *d, const rfn_fit *fit, bool weights) {
    const rfn_posterior *p = &fit->posterior;
    rb_device_chance chance = rfn_mask_chance(&fit->setup, fit->progress.iteration);
    chance.first = (uint32_t)d->first;
    if (!d->err && !fit->progress.last && fit->setup.options.input_noise != RB_RFN_NOISE_NONE)
        note(d, d->table->mask(d->work, chance));
    if (weights)
        rfn_device_linear(d, p->filter, p->factored ? p->linear : p->bias);
    else
        rfn_device_linear(d, (rb_dense){0}, NULL);
}

/* Codes of the samples at hand, and all that they add but moments. */
static void end_newton(rfn_device *d, rfn_fit *fit) {
    const rb_rfn_options *options = &fit->setup.options;
    const rfn_posterior *posterior = &fit->posterior;
    rb_device_chance chance = rfn_drop_chance(&fit->setup, fit->progress.iteration);
    chance.first = (uint32_t)d->first;
    if (d->err) return;
    note(d, d->table->project(d->work, posterior->factored ? posterior->sigma.data : NULL, false,
                              &d->units));
    if (!fit->progress.last && options->dropout > 0) drop(d, chance, &fit->sums);
    if (!d->err) take_units(d, fit->survey.shift, &fit->sums);
    if (options->normalize == RB_RFN_NORMALIZE_RMS) take_candidates(d, &fit->sums);
}

void rfn_device_newton(rfn_device *d, rfn_fit *fit) {
    begin_newton(d, fit, true);
    end_newton(d, fit);
    add_moments(d, &fit->sums);
}

/* The block goes up while the device works on the one before. */
rb_error rfn_device_block(rfn_device *d, rfn_fit *fit, const rb_block *block) {
    int64_t before = d->there;
    rfn_device_take(d, block);
    d->there = before;
    if (d->begun) end_newton(d, fit);
    if (!d->err && d->begun) note(d, d->table->add(d->work));
    d->there = block->n_samples;
    d->first = block->first;
    begin_newton(d, fit, !d->begun);
    d->begun = true;
    return rfn_device_end(d);
}

rb_error rfn_device_group_end(rfn_device *d, rfn_fit *fit) {
    rfn_sums *sums = &fit->sums;
    int64_t m = d->u.rows, l = d->u.cols;
    if (!d->begun) return RB_OK;
    d->begun = false;
    end_newton(d, fit);
    if (!d->err) note(d, d->table->moments(d->work, d->u.data, d->s.data));
    if (!d->err) {
        rb_axpy(d->ctx, RB_FLOAT32, m * l, sums->gain, d->u.data, sums->u.data);
        rb_axpy(d->ctx, RB_FLOAT32, l * l, sums->gain, d->s.data, sums->s.data);
    }
    return rfn_device_end(d);
}

void rfn_device_moments(rfn_device *d, rfn_sums *sums) {
    const rb_device_units units = {.sums = d->units.sums, .active = d->units.active};
    if (!d->err) note(d, d->table->sums(d->work, &units));
    take_units(d, NULL, sums);
    add_moments(d, sums);
}

/* ---- codes that persist ---- */

void rfn_device_first(rfn_device *d, rb_dense sigma, bool scaled) {
    if (!d->err) note(d, d->table->project(d->work, sigma.data, scaled, NULL));
}

void rfn_device_descend(rfn_device *d, const rfn_quadratic *problem, float *largest,
                        float *changes) {
    const rb_device *table = d->table;
    if (!d->err) note(d, table->sweep(d->work, problem->hessian.data, problem->dead, NULL, NULL));
    if (!d->err) note(d, table->each(d->work, largest, changes));
}

void rfn_device_sweep(rfn_device *d, rfn_persistent *p, double *change) {
    float largest = 0;
    if (!d->err)
        note(d, d->table->sweep(d->work, p->problem.hessian.data, p->dead, change ? &largest : NULL,
                                change ? p->work.alive : NULL));
    if (change) *change = (double)largest;
}

double rfn_device_largest_code(rfn_device *d) {
    const rb_device_units units = {.largest = d->units.largest};
    double largest = 0;
    if (!d->err) note(d, d->table->sums(d->work, &units));
    for (int64_t j = 0; !d->err && j < d->n_units; j++)
        largest = fmax(largest, (double)units.largest[j]);
    return largest;
}

void rfn_device_look(rfn_device *d, rfn_persistent *p, double *multipliers) {
    double largest = rfn_device_largest_code(d);
    float change = 0;
    if (!d->err)
        note(d, d->table->look(d->work, (float)(1 / p->search.e_max), p->dead, d->codes, &change));
    for (int64_t j = 0; !d->err && j < d->n_units; j++)
        multipliers[j] = p->dead[j] || !p->problem.normalized ? 0 : (double)d->codes[j];
    p->residual = largest > 0 ? (double)change / largest : 0;
}

void rfn_device_products(rfn_device *d, rb_dense products) {
    if (!d->err) note(d, d->table->moments(d->work, NULL, products.data));
}

void rfn_clear_codes(rfn_device *d, rb_dense codes, int64_t unit) {
    if (!d)
        rb_dense_zero(rb_dense_rows(codes, unit, 1));
    else if (!d->err)
        note(d, d->table->clear(d->work, unit));
}

void rfn_device_count_positive(rfn_device *d, int64_t *positive) {
    const rb_device_units units = {.active = positive};
    if (!d->err) note(d, d->table->sums(d->work, &units));
}

void rfn_device_occupied(rfn_device *d, const uint8_t *marks, int64_t least, int64_t *empty,
                         int64_t *full) {
    if (!d->err) note(d, d->table->occupied(d->work, marks, least, empty, full));
}

rb_error rfn_device_report(rfn_device *d, rb_model *model) {
    return rb_model_put_traffic(d->ctx, model, d->data_bytes, d->work->bytes);
}

void rfn_device_codes(rfn_device *d, rb_device_codes what, rb_dense codes) {
    if (d->err) return;
    switch (what) {
    case RB_DEVICE_FETCH:
        note(d, d->table->get(d->work, codes.data));
        break;
    case RB_DEVICE_SEND:
        note(d, d->table->set(d->work, codes.data));
        break;
    case RB_DEVICE_SAVE:
        note(d, d->table->save(d->work));
        break;
    case RB_DEVICE_RESTORE:
        note(d, d->table->restore(d->work));
        break;
    }
}
