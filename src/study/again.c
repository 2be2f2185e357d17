/* A model's fit again, to null data: can options alone make it, and which. */
#include "consensus.h"

#include <rarebit/consensus.h>

#include <stdio.h>
#include <string.h>

static rb_error check_data(rb_context *ctx, const rb_model *model, rb_source *source) {
    rb_preprocess *p = rb_preprocess_copy(ctx, model->preprocess);
    rb_error err = p ? rb_preprocess_renew(ctx, p, source, false) : RB_ERROR_MEMORY;
    const char *effects = rb_model_attribute(model, "regress_checksum");
    char now[16] = "";
    if (!err && effects) snprintf(now, sizeof now, "%08x", rb_regress_checksum(p->regress, source));
    bool other = effects && strcmp(effects, now) != 0;
    if (!err && (other || p->checksum != model->preprocess->checksum)) {
        err = rb_fail(ctx, RB_ERROR_ARGUMENT,
                      "the model was not fitted to these data, as permutations with `null=refit` "
                      "need; give `null=encode`");
    }
    rb_preprocess_free(p);
    return err;
}

/* Codes of data that a model was fitted to carry more than those of data that it was not. */
void rb_again_warn(rb_context *ctx, const rb_model *model, rb_source *source) {
    rb_preprocess *p = rb_preprocess_copy(ctx, model->preprocess);
    if (p && !rb_preprocess_renew(ctx, p, source, false) &&
        p->checksum == model->preprocess->checksum) {
        rb_log(ctx, RB_LOG_WARNING,
               "the p-values are too small, also of noise: the model was fitted to these data, and "
               "with `null=encode` the permuted ones are not fitted");
    }
    rb_preprocess_free(p);
}

/* What options alone do not make again. */
static rb_error check_model(rb_context *ctx, const rb_model *model) {
    char name[64];
    if (rb_model_attribute(model, "start_checksum") && !rb_is_consensus(model)) {
        return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                       "the model was fitted from another model, so that it cannot be fitted again "
                       "from its options; fit it in one go");
    }
    for (const rb_option *row = model->method->options; row->name; row++) {
        snprintf(name, sizeof name, "%s_checksum", row->name);
        if (rb_model_attribute(model, name)) {
            return rb_fail(
                ctx, RB_ERROR_UNSUPPORTED,
                "the model was fitted with `%s` from a file, so that it cannot be fitted "
                "again from its options; give `null=encode`",
                row->name);
        }
    }
    return !rb_is_consensus(model) || rb_model_attribute(model, RB_CONSENSUS_OF_RESTARTS)
               ? RB_OK
               : rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                         "the model is a consensus of models that were there before, which cannot "
                         "be fitted again from its options: the stability of its units says which "
                         "are more than chance; or let a fit with consensus make them, or take "
                         "data that it was not fitted to with `null=encode`");
}

/* What permuted data need no more, or cannot have twice. */
static const char *value_again(const rb_model *model, const rb_option *row) {
    const char *name = row->name;
    if (strcmp(name, "regress") == 0) return NULL;
    static const char *const done[] = {"totals", "top-variance", "max-time", NULL};
    return rb_among(done, name)         ? "0"
           : strcmp(name, "log1p") == 0 ? "false"
           : strcmp(name, "centre-samples") == 0 || strcmp(name, "drop") == 0 ||
                   strcmp(name, "drop-samples") == 0
               ? "none"
               : rb_model_attribute(model, name);
}

rb_error rb_again_options(rb_context *ctx, const rb_model *model, rb_source *source,
                          rb_options **options) {
    rb_error err = check_model(ctx, model);
    err = err ? err : check_data(ctx, model, source);
    return err ? err : rb_options_recall(ctx, model, value_again, options);
}
