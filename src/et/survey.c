/* Mean, standard deviation and a high percentile of all values, in one pass. */
#include "fit.h"

#include <math.h>
#include <string.h>

/* Sign removed, exponent and 7 bits of the mantissa of a float32: neighbours differ by 0.8 % at
 * most.
 */
enum { BINS = 1 << 15, SHIFT = 16 };

rb_error et_survey_new(rb_context *ctx, et_survey *survey) {
    *survey = (et_survey){.bins = rb_alloc_zero(ctx, BINS, sizeof *survey->bins)};
    return survey->bins ? RB_OK : RB_ERROR_MEMORY;
}

void et_survey_free(et_survey *survey) {
    rb_free(survey->bins);
    *survey = (et_survey){0};
}

static uint32_t bin_of(double value) {
    float magnitude = (float)fabs(value);
    uint32_t bits;
    memcpy(&bits, &magnitude, sizeof bits);
    return bits >> SHIFT;
}

static double value_of(uint32_t bin) {
    uint32_t bits = bin << SHIFT;
    float magnitude;
    memcpy(&magnitude, &bits, sizeof magnitude);
    return (double)magnitude;
}

void et_survey_add(et_survey *survey, rb_dense rows) {
    for (int64_t i = 0; i < rows.rows; i++) {
        const void *row = rb_dense_row(rows, i);
        for (int64_t d = 0; d < rows.cols; d++) {
            double value = et_get(rows.type, row, d);
            if (isnan(value)) { /* left out */
                continue;
            }
            survey->count++;
            survey->sum += value;
            survey->squares += value * value;
            survey->bins[bin_of(value)]++;
        }
    }
}

void et_survey_finish(et_survey *survey) {
    double seen = 0;
    uint32_t bin = 0;
    for (; bin + 1 < BINS && seen + (double)survey->bins[bin] < 0.99 * survey->count; bin++) {
        seen += (double)survey->bins[bin];
    }
    survey->large = fmin(value_of(bin), 1e30);
    survey->mean = survey->sum / survey->count;
    double variance = survey->squares / survey->count - survey->mean * survey->mean;
    survey->sd = sqrt(fmax(0, variance));
    /* Data that do not vary: any noise will do, on their scale. */
    double scale = fabs(survey->mean) > 0 ? fabs(survey->mean) : 1;
    if (!(survey->sd > 1e-6 * scale)) {
        survey->sd = scale;
    }
}
