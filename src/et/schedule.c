/* Temperature and data cut over the iterations t = 0 .. I - 1: hot for a tenth, cooling until eight
 * tenths, cold from then on; the cut begins after two thirds. */
#include "fit.h"

#include <math.h>
#include <string.h>

/* "0=13,0.1=13,0.8=1"; false unless shares ascend from 0 and temperatures are at least 1. */
static bool parse_knots(const char *text, et_schedule *s) {
    const char *stop = text + strlen(text), *rest = text;
    double before = -1;
    for (s->knots = 0; s->knots < ET_MOST_KNOTS; rest++) {
        double share = 0, temperature = 0;
        rest = rb_number_scan(rest, stop, &share);
        if (!rest || *rest != '=' || !(share > before && share <= 1)) {
            return false;
        }
        rest = rb_number_scan(rest + 1, stop, &temperature);
        if (!rest || !(temperature >= 1 && temperature <= 1e150)) {
            return false;
        }
        s->share[s->knots] = before = share;
        s->temperature[s->knots++] = temperature;
        if (*rest != ',') {
            break;
        }
    }
    s->start = s->temperature[0];
    s->end = s->temperature[s->knots - 1];
    return rest == stop && s->share[0] == 0;
}

rb_error et_schedule_parse(rb_context *ctx, const char *text, et_schedule *schedule) {
    if (strchr(text, '=')) {
        return parse_knots(text, schedule)
                   ? RB_OK
                   : rb_fail(
                         ctx, RB_ERROR_ARGUMENT,
                         "temperature is '%s', but knots must be SHARE=TEMPERATURE from share 0 "
                         "on, ascending, such as 0=13,0.1=13,0.8=1, %d at most",
                         text, (int)ET_MOST_KNOTS);
    }
    const char *stop = text + strlen(text);
    double start = 0, end = schedule->end;
    const char *rest = rb_number_scan(text, stop, &start);
    if (rest && *rest == ':') {
        rest = rb_number_scan(rest + 1, stop, &end);
    }
    if (rest != stop || !(end >= 1 && start >= end && start <= 1e150)) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "temperature is '%s', but must be START:END with START >= END >= 1, such as "
                       "13:%.15g (END is %.15g if not given)",
                       text, schedule->end, schedule->end);
    }
    schedule->start = start;
    schedule->end = end;
    return RB_OK;
}

bool et_schedule_ended(const et_schedule *s, int64_t iteration) {
    double tenths = s->knots ? 10 * s->share[s->knots - 1] : 8;
    return 10 * (double)iteration >= tenths * (double)s->iterations;
}

/* Between the knots around a share of the iterations. */
static double interpolate(const et_schedule *s, double share) {
    int k = 1;
    while (k < s->knots - 1 && share >= s->share[k]) {
        k++;
    }
    double from = s->share[k - 1], along = (share - from) / (s->share[k] - from);
    return s->temperature[k - 1] + (s->temperature[k] - s->temperature[k - 1]) * along;
}

double et_temperature(const et_schedule *s, int64_t iteration) {
    double t = (double)iteration, n = (double)s->iterations;
    if (et_schedule_ended(s, iteration)) {
        return s->end;
    }
    if (s->knots) {
        return interpolate(s, t / n);
    }
    if (10 * t < n) {
        return s->start;
    }
    return s->start + (s->end - s->start) * (t - n / 10) / (n * 7 / 10);
}

int64_t et_cut_size(int64_t iterations, int64_t iteration, int64_t n, double share) {
    int64_t begin = (2 * iterations + 2) / 3; /* ceil(2 I / 3) */
    if (iteration < begin || iteration >= iterations) {
        return n;
    }
    double least = floor(share * (double)n);
    least = least > (double)n ? (double)n : least;
    double progress = (double)(iteration - begin + 1) / (double)(iterations - begin);
    int64_t size = n - (int64_t)llround(((double)n - least) * progress);
    return size > 1 ? size : 1;
}
