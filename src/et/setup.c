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

rb_error et_setup_of(rb_context *ctx, const et_model *model, const rb_et_options *options,
                     int64_t n_features, rb_type type, et_setup *setup) {
    *setup = (et_setup){.model = model,
                        .n_features = n_features,
                        .units = options->units,
                        .type = type,
                        .selection = options->selection,
                        .singletons = options->singletons && !options->count,
                        .fixed_count = options->count > 0};
    et_limits(options, &setup->candidates, &setup->max_active);
    if (options->as_printed) {
        setup->selection = model->non_negative ? RB_ET_SELECT_BOUND : RB_ET_SELECT_COSINE;
        setup->singletons = model->max && !options->count;
    }
    if (options->count > options->units) {
        return rb_fail(
            ctx, RB_ERROR_ARGUMENT,
            "count is %lld, but there are %lld units; ask for more units or fewer active",
            (long long)options->count, (long long)options->units);
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
            const char *wrong = isnan(value) ? NULL : model->general->refuse(value);
            if (wrong) {
                return rb_fail(ctx, RB_ERROR_DATA, "sample %lld, feature %lld: %.6g %s",
                               (long long)(first + i + 1), (long long)d + 1, value, wrong);
            }
        }
    }
    return RB_OK;
}
