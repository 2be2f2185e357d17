/* From options to what the engine is asked for. */
#include "fit.h"

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

void et_limits(const rb_et_options *options, int64_t *candidates, int64_t *max_active) {
    enum { USUAL = 5 };
    int64_t wanted = options->candidates ? options->candidates : USUAL;
    *candidates = smaller(wanted, options->units);
    *max_active = smaller(options->max_active, *candidates);
}

rb_error et_setup_of(rb_context *ctx, const et_model *model, const rb_et_options *options,
                     int64_t n_features, rb_type type, et_setup *setup) {
    enum { MOST_EXACT = 16 };
    *setup = (et_setup){.model = model,
                        .n_features = n_features,
                        .units = options->units,
                        .type = type,
                        .selection = options->selection,
                        .singletons = options->singletons};
    et_limits(options, &setup->candidates, &setup->max_active);
    if (options->as_printed) {
        setup->selection = model->non_negative ? RB_ET_SELECT_BOUND : RB_ET_SELECT_COSINE;
        setup->singletons = model->max;
    }
    if (setup->selection == RB_ET_SELECT_BOUND && !model->non_negative) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "selection is 'bound', which needs fields that are not negative; %s takes "
                       "joint, cosine or exact",
                       model->name);
    }
    if (setup->selection == RB_ET_SELECT_EXACT && setup->units > MOST_EXACT) {
        return rb_fail(
            ctx, RB_ERROR_ARGUMENT,
            "selection is 'exact', which looks at all states and needs at most %d units, "
            "not %lld",
            (int)MOST_EXACT, (long long)setup->units);
    }
    return RB_OK;
}
