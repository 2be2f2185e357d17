/* From options to what is done: what they come to, and what is wrong with them. */
#include "fit.h"

#include <math.h>

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* How far samples may be widened, once candidates and active causes are known. */
static void set_widths(const rb_et_options *options, et_setup *setup) {
    int64_t limit = options->candidates_limit ? options->candidates_limit : options->units;
    int64_t more = options->max_active_limit - setup->max_active;
    setup->widest_active = setup->max_active;
    setup->max_candidates = setup->candidates;
    if (more <= 0 || options->exact || options->count) {
        return;
    }
    /* Compared before anything is multiplied: more may be huge. */
    int64_t capacity = smaller(limit, options->units) - setup->candidates;
    capacity = capacity > 0 ? capacity : 0;
    setup->max_candidates += more < capacity / 2 + capacity % 2 ? 2 * more : capacity;
    setup->widest_active = smaller(options->max_active_limit, setup->max_candidates);
}

et_setup et_limits(const rb_et_options *options, int64_t n_features, rb_type type) {
    enum { USUAL = 5 };
    int64_t active = options->count ? options->count : options->max_active;
    int64_t wanted = options->candidates ? options->candidates : USUAL;
    wanted = options->count > wanted ? options->count : wanted;
    et_setup setup = {.n_features = n_features, .units = options->units, .type = type};
    setup.candidates = options->exact ? options->units : smaller(wanted, options->units);
    setup.max_active =
        options->exact && !options->count ? options->units : smaller(active, setup.candidates);
    set_widths(options, &setup);
    return setup;
}

/* What is wrong with limits that would do nothing; NULL: nothing. */
static const char *idle_limit(const rb_et_options *o, const et_setup *setup) {
    if (o->max_active_limit && (o->exact || o->count)) {
        return "max-active-limit does nothing where all states or a fixed count are looked at; "
               "leave it out";
    }
    if (o->max_active_limit && o->max_active_limit < o->max_active) {
        return "max-active-limit is below max-active, where every sample begins; raise it";
    }
    if (o->candidates_limit && !o->max_active_limit) {
        return "candidates-limit is given without max-active-limit, which says whether samples are "
               "looked at again";
    }
    if (o->candidates_limit && o->candidates_limit < setup->candidates) {
        return "candidates-limit is below candidates, which every sample begins with; raise it";
    }
    return NULL;
}

/* How candidates are chosen; the choice that is printed gives way to one that is made. */
static int selection_of(const et_model *model, const rb_et_options *o) {
    if (o->selection != RB_ET_SELECT_AUTO) {
        return o->selection;
    }
    if (o->as_printed) {
        return model->non_negative ? RB_ET_SELECT_BOUND : RB_ET_SELECT_COSINE;
    }
    return RB_ET_SELECT_JOINT;
}

/* The paper has them for MCA, and for LinCA on sounds. */
static bool has_singletons(const et_model *model, const rb_et_options *o) {
    if (o->count) {
        return false;
    }
    bool usual = !o->as_printed || model->summing == &et_sum_max;
    return o->singletons == RB_ET_SINGLETONS_AUTO ? usual : o->singletons == RB_ET_SINGLETONS_YES;
}

rb_error et_setup_of(rb_context *ctx, const et_model *model, const rb_et_options *options,
                     int64_t n_features, rb_type type, et_setup *setup) {
    *setup = et_limits(options, n_features, type);
    setup->model = model;
    setup->selection = selection_of(model, options);
    setup->singletons = has_singletons(model, options);
    setup->fixed_count = options->count > 0;
    if (options->count > options->units) {
        return rb_fail(
            ctx, RB_ERROR_ARGUMENT,
            "count is %lld, but there are %lld units; ask for more units or fewer active",
            (long long)options->count, (long long)options->units);
    }
    const char *idle = idle_limit(options, setup);
    if (idle) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "%s", idle);
    }
    if (setup->selection == RB_ET_SELECT_BOUND && !model->non_negative) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "selection is 'bound', which needs fields that are not negative; %s takes "
                       "joint, cosine or exact",
                       model->name);
    }
    if (setup->selection == RB_ET_SELECT_EXACT && setup->units > RB_ET_MAX_EXACT) {
        return rb_fail(
            ctx, RB_ERROR_ARGUMENT,
            "selection is 'exact', which looks at all states and needs at most %d units, "
            "not %lld",
            (int)RB_ET_MAX_EXACT, (long long)setup->units);
    }
    return RB_OK;
}

/* ---- the plan of a fit ---- */

/* Says when there are fewer causes than were asked for; defaults give way in silence. */
static void warn_of_limits(rb_context *ctx, const rb_et_options *o, const et_setup *setup) {
    rb_et_options usual;
    rb_rows_default(et_option_rows, &usual);
    if (!o->exact && o->candidates > o->units) {
        rb_log(ctx, RB_LOG_WARNING,
               "candidates is %lld, but there are %lld units: all are looked at",
               (long long)o->candidates, (long long)o->units);
    }
    if (!o->exact && !o->count && o->max_active > setup->candidates &&
        o->max_active != usual.max_active) {
        rb_log(ctx, RB_LOG_WARNING,
               "max-active is %lld, but there are %lld candidates: at most so many are active",
               (long long)o->max_active, (long long)setup->candidates);
    }
}

static bool given(const char *text) {
    return text && *text;
}

/* Courses over the iterations; each says what another option says otherwise. */
static rb_error read_schedules(rb_context *ctx, const rb_et_options *o, et_schedule *s) {
    bool noise = given(o->weight_noise_schedule), cut = given(o->cut_schedule);
    if (noise && o->weight_noise >= 0) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "weight-noise and weight-noise-schedule are both given; leave one out");
    }
    if (cut && o->cut_factor != 0) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "cut-factor and cut-schedule are both given; leave one out");
    }
    rb_error err = given(o->temperature) ? et_schedule_parse(ctx, o->temperature, s) : RB_OK;
    if (!err && noise) {
        err = et_knots_parse(ctx, "weight-noise-schedule", o->weight_noise_schedule, 0, 1e150,
                             &s->noise);
    }
    if (!err && cut) {
        err = et_knots_parse(ctx, "cut-schedule", o->cut_schedule, 0, 1, &s->cut);
    }
    return err;
}

/* What is wrong with options of which others leave nothing; NULL: nothing. */
static const char *idle_option(const rb_et_options *o) {
    rb_et_options usual;
    rb_rows_default(et_option_rows, &usual);
    if (o->exact && o->candidates) {
        return "candidates does nothing where exact looks at all causes; leave one of them out";
    }
    if (o->exact && o->selection != RB_ET_SELECT_AUTO) {
        return "selection does nothing where exact looks at all causes; leave one of them out";
    }
    if ((o->exact || o->count) && o->max_active != usual.max_active) {
        return "max-active does nothing where all states or a fixed count are looked at; leave it "
               "out";
    }
    if ((o->exact || o->count) && o->singletons != RB_ET_SINGLETONS_AUTO) {
        return "singletons does nothing where all states or a fixed count are looked at; leave it "
               "out";
    }
    if (o->count && o->prior > 0) {
        return "prior does nothing with a fixed count of causes; leave one of them out";
    }
    if (o->count && (o->learn_prior || o->prior_per_cause)) {
        return "with a fixed count of causes there is no prior to learn; leave out count, or "
               "learn-prior and prior-per-cause";
    }
    if (o->noise == RB_ET_POISSON && (o->sigma > 0 || o->learn_sigma)) {
        return "Poisson noise has no sigma; leave out sigma and learn-sigma";
    }
    return NULL;
}

/* What is wrong with how fields are to begin and to be disturbed; NULL: nothing. */
static const char *wrong_start(const rb_et_options *o, const et_model *model) {
    if (o->weight_noise < 0 && o->weight_noise != -1) {
        return "weight-noise must be a standard deviation of 0 or more, or -1 to take it from the "
               "data";
    }
    if (o->init_sd < 0 && o->init_sd != -1) {
        return "init-sd must be a standard deviation of 0 or more, or -1 to start from the data";
    }
    if (o->init_sd < 0 && o->init_mean != 0) {
        return "init-mean is given without init-sd; give both, or neither to start from the data";
    }
    if (o->init_sd >= 0 && (o->init_mean < fmin(0, model->min) || o->init_mean > model->max)) {
        return "init-mean is outside of the values that a field of this method may have";
    }
    return NULL;
}

rb_error et_plan_of(rb_context *ctx, const rb_problem *problem, const rb_et_options *o,
                    et_plan *plan) {
    *plan = (et_plan){.options = *o};
    const et_model *model = et_model_of(problem->method, o, &plan->own_model);
    rb_error err = et_setup_of(ctx, model, o, problem->n_features, problem->type, &plan->setup);
    if (err) {
        return err;
    }
    const char *wrong = idle_option(o);
    wrong = wrong ? wrong : wrong_start(o, model);
    if (wrong) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "%s", wrong);
    }
    if (problem->restart == 0) {
        warn_of_limits(ctx, o, &plan->setup);
    }
    bool multiplies = model == &et_nmf && o->mstep == RB_ET_MSTEP_MULTIPLICATIVE;
    plan->model = model;
    plan->setup.missing = problem->missing;
    plan->anneal_prior =
        o->anneal_prior == RB_ET_ANNEAL_YES ||
        (o->anneal_prior == RB_ET_ANNEAL_AUTO && (model->anneal_prior || o->as_printed));
    plan->learn_sigma = model->noise->sigma && (o->learn_sigma || o->sigma == 0);
    plan->reflect = model->non_negative && o->negative == RB_ET_NEGATIVE_REFLECT;
    plan->mstep = multiplies ? et_mstep_multiplicative : model->mstep;
    plan->schedule =
        (et_schedule){.iterations = problem->fit->iterations, .end = model->end_temperature};
    return read_schedules(ctx, o, &plan->schedule);
}

/* ---- values that a model cannot have ---- */

static rb_error check_sample(rb_context *ctx, const et_model *model, int64_t sample, rb_dense row) {
    for (int64_t d = 0; model->refuse && d < row.cols; d++) {
        double value = rb_get(row.type, row.data, d);
        const char *wrong = isnan(value) ? NULL : model->refuse(model->user, value);
        if (wrong) {
            return rb_fail(ctx, RB_ERROR_DATA,
                           "sample %lld, feature %lld (counted from 0): %.6g %s", (long long)sample,
                           (long long)d, value, wrong);
        }
    }
    return RB_OK;
}

rb_error et_each_row(rb_context *ctx, const et_model *model, const rb_block *block, rb_dense row,
                     void (*fn)(void *user, rb_dense row), void *user) {
    rb_error err = RB_OK;
    bool looks = fn || model->refuse;
    for (int64_t i = 0; !err && looks && i < block->n_samples; i++) {
        if (block->sparse) {
            rb_block_rows(block, i, row);
        } else {
            row = rb_dense_rows(block->dense, i, 1);
        }
        err = check_sample(ctx, model, block->first + i, row);
        if (!err && fn) {
            fn(user, row);
        }
    }
    return err;
}
