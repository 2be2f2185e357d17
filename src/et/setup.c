/* From options to what the engine is asked for. */
#include "fit.h"

#include <math.h>

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

void et_limits(const rb_et_options *options, int64_t *candidates, int64_t *max_active) {
    enum { USUAL = 5 };
    int64_t active = options->count ? options->count : options->max_active;
    int64_t wanted = options->candidates ? options->candidates : USUAL;
    wanted = options->count > wanted ? options->count : wanted;
    *candidates = options->exact ? options->units : smaller(wanted, options->units);
    *max_active = options->exact && !options->count ? options->units : smaller(active, *candidates);
}

void et_widths(const rb_et_options *options, et_setup *setup) {
    int64_t limit = options->candidates_limit ? options->candidates_limit : options->units;
    int64_t more = options->max_active_limit - setup->max_active;
    setup->most_active = setup->max_active;
    setup->most_candidates = setup->candidates;
    if (more <= 0 || options->exact || options->count) {
        return;
    }
    /* Compared before anything is multiplied: more may be huge. */
    int64_t room = smaller(limit, options->units) - setup->candidates;
    room = room > 0 ? room : 0;
    setup->most_candidates += more < room / 2 + room % 2 ? 2 * more : room;
    setup->most_active = smaller(options->max_active_limit, setup->most_candidates);
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
    bool usual = !o->as_printed || model->max;
    return o->singletons == RB_ET_SINGLETONS_AUTO ? usual : o->singletons == RB_ET_SINGLETONS_YES;
}

rb_error et_setup_of(rb_context *ctx, const et_model *model, const rb_et_options *options,
                     int64_t n_features, rb_type type, et_setup *setup) {
    *setup = (et_setup){.model = model,
                        .n_features = n_features,
                        .units = options->units,
                        .type = type,
                        .selection = selection_of(model, options),
                        .singletons = has_singletons(model, options),
                        .fixed_count = options->count > 0};
    et_limits(options, &setup->candidates, &setup->max_active);
    et_widths(options, setup);
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
    if (setup->selection == RB_ET_SELECT_EXACT && setup->units > RB_ET_MOST_EXACT) {
        return rb_fail(
            ctx, RB_ERROR_ARGUMENT,
            "selection is 'exact', which looks at all states and needs at most %d units, "
            "not %lld",
            (int)RB_ET_MOST_EXACT, (long long)setup->units);
    }
    return RB_OK;
}

rb_error et_check_values(rb_context *ctx, const et_model *model, int64_t first, rb_dense rows) {
    if (!model->general || !model->general->refuse) {
        return RB_OK;
    }
    for (int64_t i = 0; i < rows.rows; i++) {
        const void *row = rb_dense_row(rows, i);
        for (int64_t d = 0; d < rows.cols; d++) {
            double value = et_get(rows.type, row, d);
            const char *wrong = isnan(value) ? NULL : model->general->refuse(model->user, value);
            if (wrong) {
                return rb_fail(ctx, RB_ERROR_DATA,
                               "sample %lld, feature %lld (counted from 0): %.6g %s",
                               (long long)(first + i), (long long)d, value, wrong);
            }
        }
    }
    return RB_OK;
}
