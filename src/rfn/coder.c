/* Encoding by the closed form: mu_j = max(0, mu_p,j) / scale_j (or another activation), with the
 * scale of each unit from training, so that a single sample can be encoded. A unit that no training
 * sample activated gives 0. A model with multipliers has exact codes (exact.c). */
#include "coder.h"

#include "device.h"
#include "lacking.h"

void rfn_coder_free(void *coder) {
    rfn_coder *c = coder;
    if (c) {
        rfn_parameters_free(&c->parameters);
        rfn_posterior_free(&c->posterior);
        rfn_exact_free(c->exact);
        rfn_lacking_free(c->lacking);
        rfn_device_free(c->device);
        rb_scratch_end(&c->scratch);
        rb_free(c);
    }
}

static const char *const option_names[] = {"activation", "activation-threshold", "activation-slope",
                                           "estep-tolerance", NULL};

static rb_error take_rows(rb_context *ctx, rb_type type, int64_t l, int64_t samples, rfn_coder *c) {
    int64_t tasks = rfn_task_count(samples);
    c->scratch.ctx = ctx;
    if (c->device && !c->exact) rb_dense_take(&c->scratch, type, l, samples, &c->across);
    c->factors = rb_take(&c->scratch, l, rb_type_size(type));
    c->zeros = rb_take(&c->scratch, l, rb_type_size(type));
    c->offset = rb_take(&c->scratch, l, rb_type_size(type));
    c->task_sum = rb_take(&c->scratch, tasks, (size_t)l * sizeof *c->task_sum);
    c->task_largest = rb_take(&c->scratch, tasks, (size_t)l * sizeof *c->task_largest);
    return c->scratch.err;
}

static rb_error set_factors(rb_context *ctx, const rb_model *model, rfn_coder *c, int64_t l) {
    const double *scale, *dead;
    rb_error err = rb_model_need_array(ctx, model, "scale", l, 1, &scale);
    err = err ? err : rb_model_need_array(ctx, model, "dead", l, 1, &dead);
    for (int64_t j = 0; !err && j < l; j++) {
        if (!(scale[j] > 0)) {
            return rb_fail(ctx, RB_ERROR_FORMAT, "the scale of unit %lld is not above 0",
                           (long long)j);
        }
        rb_put(model->type, c->factors, j, dead[j] ? 0 : 1 / scale[j]);
    }
    return err;
}

rb_error rfn_coder_new(rb_context *ctx, const rb_model *model, int64_t block_samples,
                       void **coder) {
    int64_t m = model->preprocess->n_features, l = rb_model_units(model);
    rb_dense work = {0};
    rfn_coder *c = *coder = rb_alloc_zero(ctx, 1, sizeof *c);
    if (!c) return RB_ERROR_MEMORY;
    rb_error err = rb_model_recorded(ctx, model, rfn_option_rows, option_names, &c->options);
    err = err ? err : rfn_parameters_load(ctx, model->type, model, &c->parameters);
    err = err ? err : rfn_posterior_new(ctx, model->type, m, l, &c->posterior);
    err = err ? err : rb_dense_new(ctx, model->type, m, l, &work);
    err = err ? err : rfn_posterior_compute(ctx, &c->parameters, work, &c->posterior);
    rb_dense_free(&work);
    err = err ? err : rfn_exact_new(ctx, model, block_samples, c, &c->exact);
    if (!err)
        err = rfn_device_for_codes(ctx, model, &c->options, block_samples, c->exact, &c->device);
    err = err ? err : take_rows(ctx, model->type, l, block_samples, c);
    err = err ? err : set_factors(ctx, model, c, l);
    err = err ? err : rfn_lacking_new(ctx, model, block_samples, c, &c->lacking);
    if (err) {
        rfn_coder_free(c);
        *coder = NULL;
    }
    return err;
}

struct encoding {
    rb_context *ctx;
    rfn_coder *coder;
    const rb_block *block;
    rb_dense codes;
    bool activate;
};

void rfn_scale_codes(const rb_context *ctx, const rfn_coder *c, rb_dense codes) {
    for (int64_t i = 0; i < codes.rows; i++) {
        void *row = rb_dense_row(codes, i);
        rb_shift_scale(ctx, codes.type, codes.cols, row, c->zeros, c->factors, row);
    }
}

static void encode_task(void *arg, int64_t task, int worker) {
    const struct encoding *e = arg;
    rfn_coder *c = e->coder;
    rb_dense codes = rfn_task_rows(e->codes, task);
    int64_t l = codes.cols;
    rb_block_project(e->ctx, e->block, rfn_task_first(e->codes.rows, task), c->posterior.filter,
                     codes);
    if (!e->activate) {
        rfn_add_offset(e->ctx, 1, c->offset, codes);
        return;
    }
    rfn_activate(e->ctx, &c->options, codes, c->offset, c->task_sum + task * l,
                 c->task_largest + task * l);
    rfn_scale_codes(e->ctx, c, codes);
}

static void encode_block(struct encoding *e) {
    const rfn_posterior *posterior = &e->coder->posterior;
    rfn_offset(e->ctx, e->block->shift, posterior->filter, posterior->bias, e->coder->offset);
    rb_parallel(e->ctx, rfn_tasks(e->codes.rows).count, encode_task, e);
}

void rfn_posterior_means(rb_context *ctx, rfn_coder *coder, const rb_block *block, rb_dense codes) {
    encode_block(&(struct encoding){ctx, coder, block, codes, false});
}

/* The closed form on a device. */
static rb_error encode_there(rb_context *ctx, rfn_coder *c, const rb_block *block, rb_dense rows) {
    int64_t l = rows.cols;
    rfn_device_take(c->device, block);
    rfn_device_linear(c->device, c->posterior.filter, c->posterior.bias);
    rfn_device_first(c->device, (rb_dense){0}, false);
    rfn_device_codes(c->device, RB_DEVICE_FETCH, c->across);
    rb_dense_transpose(rb_dense_part(c->across, 0, l, 0, rows.rows), rows);
    rfn_scale_codes(ctx, c, rows);
    return rfn_device_end(c->device);
}

/* Of samples that lack nothing. */
static rb_error encode_whole(rb_context *ctx, rfn_coder *c, const rb_block *block, rb_dense rows) {
    if (c->exact) return rfn_exact_solve(ctx, c->exact, block, rows);
    if (c->device) return encode_there(ctx, c, block, rows);
    encode_block(&(struct encoding){ctx, c, block, rows, true});
    return RB_OK;
}

/* Those that lack values are encoded as if they had zeros first: so that the others get the codes
 * that they always get. */
rb_error rfn_encode(rb_context *ctx, void *coder, const rb_block *block, void *codes) {
    rfn_coder *c = coder;
    rb_dense w = c->parameters.loadings;
    rb_dense rows = {codes, block->n_samples, w.cols, w.cols, w.type};
    rb_block whole = *block;
    int64_t lacking = 0;
    rb_error err = c->lacking ? rfn_lacking_take(ctx, c->lacking, block, &lacking) : RB_OK;
    if (!err && c->device && lacking > 0)
        err = rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                      "a device takes no missing values; leave out `device`, or fill them");
    if (lacking > 0) {
        whole.sparse = false;
        whole.dense = c->lacking->block.rows;
        whole.shift = NULL;
    }
    err = err ? err : encode_whole(ctx, c, &whole, rows);
    return err || lacking == 0 ? err : rfn_lacking_encode(ctx, c->lacking, rows);
}

/* V ~ mu W' */
rb_error rfn_decode(rb_context *ctx, void *coder, int64_t n_samples, const void *codes,
                    void *rows) {
    const rfn_coder *c = coder;
    rb_dense w = c->parameters.loadings;
    rb_dense mu = {(void *)codes, n_samples, w.cols, w.cols, w.type};
    rb_dense out = {rows, n_samples, w.rows, w.rows, w.type};
    rb_gemm_parallel(ctx, 1, mu, RB_PLAIN, w, RB_TRANSPOSED, 0, out);
    return RB_OK;
}
