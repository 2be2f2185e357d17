/* What is far from the median; a feature on another scale. */
#include "check.h"

#include <math.h>

void rb_outliers_add(rb_outliers *found, int64_t place, double z) {
    int64_t at = found->count < RB_CHECK_SHOWN ? found->count : RB_CHECK_SHOWN - 1;
    found->count++;
    if (found->count > RB_CHECK_SHOWN && fabs(found->z[at]) >= fabs(z)) return;
    for (; at > 0 && fabs(found->z[at - 1]) < fabs(z); at--) {
        found->z[at] = found->z[at - 1];
        found->shown[at] = found->shown[at - 1];
    }
    found->z[at] = z;
    found->shown[at] = place;
}

rb_error rb_find_outliers(rb_look *look, const double *values, const int64_t *places, int64_t count,
                          double limit, rb_outliers *found) {
    const double consistent = 1.4826; /* MAD to standard deviation of a normal distribution */
    double *sorted = rb_alloc(look->ctx, count, sizeof *sorted);
    if (!sorted) return RB_ERROR_MEMORY;
    for (int64_t i = 0; i < count; i++)
        sorted[i] = values[i];
    double median = rb_quantile_in(sorted, count, 0.5);
    for (int64_t i = 0; i < count; i++)
        sorted[i] = fabs(values[i] - median);
    double scale = consistent * rb_quantile_in(sorted, count, 0.5);
    for (int64_t i = 0; scale > 1e-9 * fabs(median) && i < count; i++)
        if (fabs(values[i] - median) > limit * scale)
            rb_outliers_add(found, places[i], (values[i] - median) / scale);
    rb_free(sorted);
    return RB_OK;
}

rb_error rb_find_widest(rb_look *look) {
    double *sds = rb_alloc(look->ctx, look->m, sizeof *sds);
    int64_t count = 0;
    if (!sds) return RB_ERROR_MEMORY;
    for (int64_t k = 0; k < look->m; k++) {
        double sd = rb_tally_sd(&look->features[k]);
        if (!(sd > 0)) continue;
        sds[count++] = sd;
        if (sd > rb_tally_sd(&look->features[look->widest])) look->widest = k;
    }
    double median = count ? rb_quantile_in(sds, count, 0.5) : 0;
    if (count) {
        const rb_tally *t = &look->features[look->widest];
        double sd = rb_tally_sd(t), mean = rb_tally_mean(t);
        double far = fmax(t->high - mean, mean - t->low);
        look->widest_sds = sd / median;
        look->one_value = far * far > 0.9 * sd * sd * (double)t->present;
    }
    rb_free(sds);
    return RB_OK;
}
