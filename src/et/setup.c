/* From options to what is done: what they come to, and what is wrong with them. */
#include "fit.h"

#include <math.h>

/* ---- what posteriors need to know ---- */

/* How far samples may be widened, once candidates and active causes are known. */
static void set_widths(const rb_et_options *options, et_setup *setup) {
    int64_t limit = options->candidates_limit ? options->candidates_limit : options->units;
    int64_t more = options->max_active_limit - setup->max_active;
    setup->widest_active = setup->max_active;
    setup->max_candidates = setup->candidates;
    if (more <= 0 || options->exact || options->count) return;
    /* Compared before anything is multiplied: more may be huge. */
    int64_t capacity = rb_smaller(limit, options->units) - setup->candidates;
    capacity = capacity > 0 ? capacity : 0;
    setup->max_candidates += more < capacity / 2 + capacity % 2 ? 2 * more : capacity;
    setup->widest_active = rb_smaller(options->max_active_limit, setup->max_candidates);
}

/* How candidates are chosen; the choice that is printed gives way to one that is made. */
static int selection_of(const et_model *model, const rb_et_options *o) {
    int printed = model->non_negative ? RB_ET_SELECT_BOUND : RB_ET_SELECT_COSINE;
    int usual = o->as_printed ? printed : RB_ET_SELECT_JOINT;
    return o->selection == RB_ET_SELECT_AUTO ? usual : o->selection;
}

/* The paper has them for MCA, and for LinCA on sounds. */
static bool has_singletons(const et_model *model, const rb_et_options *o) {
    bool usual = !o->as_printed || model->summing == &et_sum_max;
    bool wanted = o->singletons == RB_ET_YES;
    return !o->count && (o->singletons == RB_ET_AUTO ? usual : wanted);
}

et_setup et_setup_of(const rb_problem *problem, const rb_et_options *o) {
    enum { USUAL = 5 };
    int64_t active = o->count ? o->count : o->max_active;
    int64_t wanted = o->candidates ? o->candidates : USUAL;
    wanted = o->count > wanted ? o->count : wanted;
    et_values values = et_values_of(o);
    et_setup setup = {.model = et_model_of(problem->method, o),
                      .values = values,
                      .n_features = problem->n_features,
                      .units = o->units,
                      .items = o->units * values.count,
                      .type = problem->type,
                      .candidates = o->exact ? o->units : rb_smaller(wanted, o->units),
                      .region = o->region,
                      .fixed_count = o->count > 0,
                      .missing = problem->missing};
    setup.max_active = o->exact && !o->count ? o->units : rb_smaller(active, setup.candidates);
    setup.selection = selection_of(&setup.model, o);
    setup.singletons = has_singletons(&setup.model, o);
    set_widths(o, &setup);
    return setup;
}

/* ---- what is wrong ---- */

rb_error et_setup_check(rb_context *ctx, const et_setup *setup, const rb_et_options *o) {
    const rb_conflict conflicts[] = {
        {o->max_active_limit && (o->exact || o->count),
         "`max-active-limit` does nothing with all states or a fixed count; leave it out"},
        {o->max_active_limit && o->max_active_limit < o->max_active,
         "`max-active-limit` is below `max-active`, where every sample starts; raise it"},
        {o->candidates_limit && !o->max_active_limit,
         "`candidates-limit` does nothing without `max-active-limit`; give both"},
        {o->candidates_limit && o->candidates_limit < setup->candidates,
         "`candidates-limit` is below `candidates`, where every sample starts; raise it"},
        {0},
    };
    if (o->count > o->units) {
        return rb_fail(
            ctx, RB_ERROR_ARGUMENT,
            "`count` is %lld, but there are %lld units; use more units or fewer active causes",
            (long long)o->count, (long long)o->units);
    }
    rb_error err = rb_check_conflicts(ctx, conflicts);
    if (!err && setup->selection == RB_ET_SELECT_BOUND && !setup->model.non_negative) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "`selection=bound` needs fields that are not negative; for %s use joint, "
                       "cosine, exact or product",
                       setup->model.own.name);
    }
    if (!err && setup->selection == RB_ET_SELECT_EXACT &&
        !et_enumerable(setup->units, &setup->values)) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "`selection=exact` uses all states of %lld units with %d values each; it "
                       "needs at most %d, of units with 2",
                       (long long)setup->units, setup->values.count + 1, (int)RB_ET_MAX_EXACT);
    }
    return err ? err : et_values_check(ctx, o, setup->model.non_negative);
}

/* Options of which others leave nothing, and how fields may not begin or be disturbed. */
static rb_error check_plan(rb_context *ctx, const rb_et_options *o, const et_model *model,
                           const rb_et_options *usual) {
    bool all = o->exact || o->count;
    const rb_conflict conflicts[] = {
        {o->exact && o->candidates,
         "`candidates` does nothing with `exact`, which uses all causes; leave one of them out"},
        {o->exact && o->selection != RB_ET_SELECT_AUTO,
         "`selection` does nothing with `exact`, which uses all causes; leave one of them out"},
        {all && o->max_active != usual->max_active,
         "`max-active` does nothing with all states or a fixed count; leave it out"},
        {all && o->singletons != RB_ET_AUTO,
         "`singletons` does nothing with all states or a fixed count; leave it out"},
        {o->count && o->prior > 0,
         "`prior` does nothing with a fixed count of causes; leave one of them out"},
        {o->count && (o->learn_prior || o->prior_per_cause),
         "a fixed count of causes leaves no prior to learn; leave out `count`, or `learn-prior` "
         "and `prior-per-cause`"},
        {o->noise == RB_ET_POISSON && (o->sigma > 0 || o->learn_sigma),
         "Poisson noise has no sigma; leave out `sigma` and `learn-sigma`"},
        {o->weight_noise < 0 && o->weight_noise != -1,
         "`weight-noise` must be a standard deviation of 0 or more, or -1 to take it from the "
         "data"},
        {o->init_sd < 0 && o->init_sd != -1,
         "`init-sd` must be a standard deviation of 0 or more, or -1 to start from the data"},
        {o->init_sd < 0 && o->init_mean != 0,
         "`init-mean` is given without `init-sd`; give both, or neither to start from the data"},
        {o->init_sd >= 0 &&
             (o->init_mean < fmin(0, model->own.min) || o->init_mean > model->own.max),
         "`init-mean` is outside of the values that a field of this method may have"},
        {0},
    };
    return rb_check_conflicts(ctx, conflicts);
}

/* Says when there are fewer causes than were asked for; defaults give way in silence. */
static void warn_of_limits(rb_context *ctx, const rb_et_options *o, const et_setup *setup,
                           const rb_et_options *usual) {
    if (!o->exact && o->candidates > o->units) {
        rb_log(ctx, RB_LOG_WARNING,
               "`candidates` is %lld, but there are only %lld units; all are used",
               (long long)o->candidates, (long long)o->units);
    }
    if (!o->exact && !o->count && o->max_active > setup->candidates &&
        o->max_active != usual->max_active) {
        rb_log(
            ctx, RB_LOG_WARNING,
            "`max-active` is %lld, but there are only %lld candidates; at most so many are active",
            (long long)o->max_active, (long long)setup->candidates);
    }
}

/* ---- the plan of a fit ---- */

rb_error et_plan_of(rb_context *ctx, const rb_problem *problem, const rb_et_options *o,
                    et_plan *plan) {
    *plan = (et_plan){.options = *o, .setup = et_setup_of(problem, o)};
    const et_model *model = &plan->setup.model;
    rb_et_options usual;
    rb_rows_default(et_option_rows, &usual);
    rb_error err = et_setup_check(ctx, &plan->setup, o);
    err = err ? err : check_plan(ctx, o, model, &usual);
    if (err) return err;
    if (problem->restart == 0) warn_of_limits(ctx, o, &plan->setup, &usual);
    plan->anneal_prior =
        o->anneal_prior == RB_ET_YES ||
        (o->anneal_prior == RB_ET_AUTO && (model->own.anneal_prior || o->as_printed));
    plan->learn_sigma = et_gaussian(model) && (o->learn_sigma || o->sigma == 0);
    plan->reflect = model->non_negative && o->negative == RB_ET_NEGATIVE_REFLECT;
    plan->schedule = (et_schedule){.iterations = problem->fit->iterations,
                                   .end = model->own.end_temperature,
                                   .late_cut = model->summing == &et_sum_max && !o->as_printed};
    return et_schedule_of(ctx, o, &plan->schedule);
}

/* ---- values that a model cannot have ---- */

rb_error et_each_row(rb_context *ctx, const et_model *model, const rb_block *block, rb_dense row,
                     void (*fn)(void *user, rb_dense row), void *user) {
    for (int64_t i = 0; (fn || model->own.refuse) && i < block->n_samples; i++) {
        const double *values = row.data;
        rb_block_rows(block, i, row);
        for (int64_t d = 0; model->own.refuse && d < row.cols; d++) {
            const char *wrong =
                isnan(values[d]) ? NULL : model->own.refuse(model->own.user, values[d]);
            if (wrong) {
                return rb_fail(ctx, RB_ERROR_DATA,
                               "sample %lld, feature %lld (counted from %d): %.6g %s",
                               (long long)rb_nth(ctx, block->first + i), (long long)rb_nth(ctx, d),
                               ctx->first, values[d], wrong);
            }
        }
        if (fn) fn(user, row);
    }
    return RB_OK;
}
