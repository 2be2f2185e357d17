/* What the tables of methods answer: they may end before the question, being of an earlier
 * header. */
#include "model.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

const rb_method *rb_model_table(const rb_model *model) {
    return model->method;
}

#define ANSWER(method, field) ((method)->size > offsetof(rb_method, field) ? (method)->field : 0)

/* ---- of a model ---- */

bool rb_has_causes(const rb_model *model) {
    return ANSWER(model->method, active_above) != NULL;
}

double rb_active_above(const rb_model *model) {
    return rb_has_causes(model) ? model->method->active_above(model) : 0.5;
}

bool rb_has_valued_causes(const rb_model *model) {
    bool (*valued)(const rb_model *) = ANSWER(model->method, valued);
    return valued && valued(model);
}

bool rb_has_sparse_loadings(const rb_model *model) {
    bool (*sparse)(const rb_model *) = ANSWER(model->method, sparse_loadings);
    return sparse && sparse(model);
}

bool rb_has_chances(const rb_model *model) {
    return ANSWER(model->method, chances);
}

bool rb_has_signs(const rb_model *model) {
    return !ANSWER(model->method, sparser) && !ANSWER(model->method, non_negative) &&
           !rb_has_causes(model);
}

const double *rb_code_scale(const rb_model *model) {
    const char *name = ANSWER(model->method, code_scale);
    return name ? rb_model_array(model, name, NULL, NULL) : NULL;
}

bool rb_tells_noise(const rb_model *model) {
    return ANSWER(model->method, noise) != NULL;
}

rb_array_of rb_array_belongs(const rb_model *model, const char *name) {
    static const rb_array_kind common[] = {{"loadings", RB_ARRAY_COLUMN_EACH},
                                           {"noise", RB_ARRAY_OF_ALL},
                                           {"scale", RB_ARRAY_ROW_EACH},
                                           {"dead", RB_ARRAY_ROW_EACH},
                                           {0}};
    const rb_array_kind *lists[] = {common, ANSWER(model->method, arrays)};
    for (int i = 0; i < 2; i++)
        for (const rb_array_kind *kind = lists[i]; kind && kind->name; kind++)
            if (strcmp(kind->name, name) == 0) return kind->of;
    return 0;
}

const rb_metric_plot *rb_metric_plots(const rb_model *model) {
    static const rb_metric_plot objectives[] = {
        {"objective", "objective", false, NULL},
        {"E-step objective", "estep_objective", false, NULL},
        {0}};
    const rb_metric_plot *plots = ANSWER(model->method, plots);
    return plots ? plots : objectives;
}

int64_t rb_model_shrinks_from(const rb_model *model) {
    return ANSWER(model->method, shrinks_from) ? model->method->shrinks_from(model) : 0;
}

const rb_trace_arrays *rb_traces(const rb_model *model) {
    return ANSWER(model->method, traces);
}

rb_error rb_states(rb_context *ctx, const rb_model *model, rb_source *source, rb_state_fn fn,
                   void *user) {
    if (!ANSWER(model->method, states))
        return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                       "a model of method '%s' has no most probable states; use one of expectation "
                       "truncation",
                       model->method->name);
    if (ctx->device)
        return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                       "a device finds no most probable states; ask for them without `device`");
    return model->method->states(ctx, model, source, fn, user);
}

/* ---- of methods ---- */

rb_error rb_method_group_end(rb_context *ctx, const rb_method *method, void *state) {
    return ANSWER(method, group_end) ? method->group_end(ctx, state) : RB_OK;
}

bool rb_method_done(const rb_method *method, const void *state) {
    return ANSWER(method, done) && method->done(state);
}

bool rb_method_reads(const rb_method *method, const void *state) {
    return !ANSWER(method, reads) || method->reads(state);
}

bool rb_method_adds(const rb_method *method, const void *state) {
    return !ANSWER(method, adds) || method->adds(state);
}

rb_error rb_method_device(rb_context *ctx, const rb_problem *problem, void *state,
                          rb_device_codes what) {
    return problem->device ? problem->method->device(ctx, state, what) : RB_OK;
}

static bool has_processes(const rb_method *method) {
    return ANSWER(method, spreads);
}

rb_error rb_method_check_processes(rb_context *ctx, const rb_problem *problem,
                                   const void *options) {
    char others[256];
    if (has_processes(problem->method)) return problem->method->spreads(ctx, problem, options);
    rb_method_names(ctx, has_processes, " or ", others, sizeof others);
    return rb_fail(
        ctx, RB_ERROR_UNSUPPORTED,
        "the method '%s' cannot be fitted by several processes, since it %s; fit in one, "
        "whose threads share the work, or use %s",
        problem->method->name,
        problem->method->takes_batches ? "learns from one small batch after the other"
                                       : "does not support them",
        others);
}

bool rb_method_takes_start(const rb_method *method) {
    return !ANSWER(method, no_start);
}

bool rb_method_has_top(const rb_method *method) {
    return ANSWER(method, top) != NULL;
}

bool rb_method_has_layer(const rb_method *method) {
    return ANSWER(method, layer) != NULL;
}

bool rb_method_rectifies(const rb_method *method) {
    return ANSWER(method, rectifies);
}

bool rb_method_is_slow(const rb_method *method) {
    return ANSWER(method, slow);
}

const rb_method *rb_method_advised(const rb_context *ctx, rb_advised data) {
    const rb_method *method;
    for (int64_t i = 0; (method = rb_context_method(ctx, i)); i++)
        if (ANSWER(method, advised) & (int)data) return method;
    return NULL;
}

static bool takes_below(const rb_method *method) {
    return ANSWER(method, advised) & RB_ADVISED_BELOW;
}

void rb_method_names(const rb_context *ctx, bool (*which)(const rb_method *), const char *between,
                     char *text, size_t size) {
    const rb_method *method;
    *text = 0;
    for (int64_t i = 0; (method = rb_context_method(ctx, i)); i++) {
        size_t used = strlen(text);
        if (which(method))
            snprintf(text + used, size - used, "%s%s", used ? between : "", method->name);
    }
}

static bool has_device(const rb_method *method) {
    return ANSWER(method, device) != NULL;
}

rb_error rb_method_check_device(rb_context *ctx, const rb_method *method) {
    char others[256];
    if (!ctx->device || has_device(method) || rb_method_has_top(method)) return RB_OK;
    rb_method_names(ctx, has_device, " or ", others, sizeof others);
    return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                   "the method '%s' does not run on a device; leave out `device`, or use %s",
                   method->name, others);
}

void rb_method_tell_below(rb_context *ctx, const rb_method *method, const rb_below *below,
                          const rb_preprocess *p, const rb_source *source) {
    char others[256];
    rb_method_names(ctx, takes_below, " or ", others, sizeof others);
    rb_below_tell(ctx, below, p, source, method->name, others);
}
