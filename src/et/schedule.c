/* Temperature and data cut over the iterations t = 0 .. I - 1: hot for a tenth, cooling until eight
 * tenths, cold from then on; the cut begins after two thirds. */
#include "fit.h"

#include <math.h>
#include <string.h>

rb_error et_schedule_parse(rb_context *ctx, const char *text, et_schedule *schedule) {
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
    return 10 * (double)iteration >= 8 * (double)s->iterations;
}

double et_temperature(const et_schedule *s, int64_t iteration) {
    double t = (double)iteration, n = (double)s->iterations;
    if (et_schedule_ended(s, iteration)) {
        return s->end;
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
