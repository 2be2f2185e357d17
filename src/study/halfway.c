/* Samples halfway through a model's preprocessing: with totals, logarithms and centring of samples,
 * before features are centred and scaled; and the model for these. */
#include "study.h"

/* A feed as a source. */
static rb_error read_feed(rb_source *source, rb_context *ctx, int64_t first, int64_t count,
                          rb_matrix *view) {
    rb_block b;
    rb_error err = rb_feed_read(ctx, source->state, first, count, &b);
    if (err) return err;
    *view = (rb_matrix){.n_samples = count, .n_features = b.n_features, .sparse = b.sparse};
    view->type = b.sparse ? b.csr.type : b.dense.type;
    view->values = b.sparse ? b.csr.values : b.dense.data;
    view->row_stride = b.sparse ? 0 : b.dense.ld;
    view->column_stride = 1;
    view->starts = b.csr.starts;
    view->columns = b.csr.columns;
    return RB_OK;
}

/* Preprocessing that goes no further than to what is permuted. */
static rb_preprocess *first_half(rb_context *ctx, const rb_preprocess *p) {
    rb_preprocess *half = rb_preprocess_copy(ctx, p);
    for (int64_t k = 0; half && k < half->n_features; k++) {
        half->centre[k] = 0;
        half->scale[k] = 1;
    }
    return half;
}

/* And what is left to do from there. */
static rb_preprocess *second_half(rb_context *ctx, const rb_preprocess *p) {
    rb_preprocess *half = rb_preprocess_copy(ctx, p);
    if (!half) return NULL;
    rb_free(half->selected);
    rb_free(half->fill);
    rb_names_free(half->names);
    half->selected = NULL;
    half->fill = NULL;
    half->names = NULL;
    rb_regress_free(half->regress);
    half->regress = NULL;
    half->options.regress = NULL;
    half->n_input = half->n_features;
    half->options.totals = 0;
    half->options.log1p = false;
    half->options.centre_samples = RB_CENTRE_SAMPLES_NONE;
    return half;
}

static rb_error load(rb_context *ctx, const rb_model *model, rb_source *source, rb_halfway *h) {
    const rb_matrix *matrix = NULL;
    const rb_preprocess *p = h->first;
    rb_feed *feed = NULL;
    rb_block block = {.sparse = source->sparse};
    bool widens =
        rb_model_is_centred(model) && rb_rotation_fits(true, source->n_samples, p->n_features);
    rb_error err = rb_feed_new(ctx, p, source, model->type, &feed);
    /* what is taken out of sparse samples may leave them dense */
    if (!err && source->n_samples > 0) err = rb_feed_read(ctx, feed, 0, 1, &block);
    rb_source halfway = {.n_samples = source->n_samples,
                         .n_features = p->n_features,
                         .type = model->type,
                         .sparse = block.sparse && !widens,
                         .read = read_feed,
                         .state = feed};
    err = err ? err : rb_study_load(ctx, &halfway, &matrix, &h->matrix);
    rb_feed_free(feed);
    return err;
}

rb_error rb_halfway_begin(rb_context *ctx, const rb_model *model, rb_source *source,
                          rb_halfway *h) {
    *h = (rb_halfway){.model = *model, .first = first_half(ctx, model->preprocess)};
    h->model.preprocess = h->first ? second_half(ctx, model->preprocess) : NULL;
    return h->model.preprocess ? load(ctx, model, source, h) : RB_ERROR_MEMORY;
}

void rb_halfway_end(rb_halfway *h) {
    rb_preprocess_free(h->first);
    if (h->first) rb_preprocess_free(h->model.preprocess);
    rb_matrix_free(h->matrix);
}
