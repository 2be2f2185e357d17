/* Temperature, noise and data cut over the iterations t = 0 .. I - 1. Temperature: hot for a tenth,
 * cooling until eight tenths, cold from then on, or always where it begins so; noise: until eight
 * tenths; the cut begins after two thirds. Or any of them as lines between knots. */
#include "fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* "0=13,0.1=13,0.8=1"; false unless shares ascend from 0 and values are within the bounds. */
static bool parse(const char *text, double min, double max, et_knots *knots) {
    const char *stop = text + strlen(text), *rest = text;
    double before = -1;
    *knots = (et_knots){0};
    for (; knots->count < ET_MAX_KNOTS; rest++) {
        double share = 0, value = 0;
        rest = rb_number_scan(rest, stop, &share);
        if (!rest || *rest != '=' || !(share > before && share <= 1)) return false;
        rest = rb_number_scan(rest + 1, stop, &value);
        if (!rest || !(value >= min && value <= max)) return false;
        knots->share[knots->count] = before = share;
        knots->value[knots->count++] = value;
        if (*rest != ',') break;
    }
    return rest == stop && knots->share[0] == 0;
}

rb_error et_knots_parse(rb_context *ctx, const char *option, const char *text, double min,
                        double max, et_knots *knots) {
    if (parse(text, min, max, knots)) return RB_OK;
    char bound[64] = "";
    if (max < 1e100) snprintf(bound, sizeof bound, " and at most %g", max);
    return rb_fail(ctx, RB_ERROR_ARGUMENT,
                   "`%s` is '%s', but must be SHARE=VALUE,... with shares of the iterations that "
                   "ascend from 0, values of at least %g%s, and %d pairs at most, such as "
                   "0=%g,0.8=%g",
                   option, text, min, bound, (int)ET_MAX_KNOTS, fmin(13, max), fmax(1, min));
}

/* Between the knots around a share of the iterations; constant after the last. */
static double knots_at(const et_knots *knots, double share) {
    int last = knots->count - 1, k = 1;
    if (share >= knots->share[last]) return knots->value[last];
    while (k < last && share >= knots->share[k])
        k++;
    double from = knots->share[k - 1], along = (share - from) / (knots->share[k] - from);
    return knots->value[k - 1] + (knots->value[k] - knots->value[k - 1]) * along;
}

rb_error et_schedule_parse(rb_context *ctx, const char *text, et_schedule *schedule) {
    et_knots *knots = &schedule->temperature;
    if (strchr(text, '=')) {
        rb_error err = et_knots_parse(ctx, "temperature", text, 1, 1e150, knots);
        schedule->start = knots->value[0];
        schedule->end = knots->value[knots->count ? knots->count - 1 : 0];
        return err;
    }
    const char *stop = text + strlen(text);
    double start = 0, end = schedule->end;
    const char *rest = rb_number_scan(text, stop, &start);
    if (rest && *rest == ':') rest = rb_number_scan(rest + 1, stop, &end);
    if (rest != stop || !(end >= 1 && start >= end && start <= 1e150)) {
        return rb_fail(
            ctx, RB_ERROR_ARGUMENT,
            "`temperature` is '%s', but must be START:END with START >= END >= 1, such as "
            "13:%.15g (END is %.15g if not given)",
            text, schedule->end, schedule->end);
    }
    schedule->start = start;
    schedule->end = end;
    return RB_OK;
}

static bool is_past(const et_schedule *s, int64_t iteration, double tenths) {
    return 10 * (double)iteration >= tenths * (double)s->iterations;
}

bool et_schedule_ended(const et_schedule *s, int64_t iteration) {
    const et_knots *knots = &s->temperature;
    if (knots->count == 0) return is_past(s, iteration, s->start > s->end ? 8 : 0);
    int k = knots->count - 1;
    while (k > 0 && knots->value[k - 1] == s->end)
        k--;
    return is_past(s, iteration, 10 * knots->share[k]);
}

bool et_noise_ended(const et_schedule *s, int64_t iteration) {
    const et_knots *knots = &s->temperature;
    return is_past(s, iteration, knots->count ? 10 * knots->share[knots->count - 1] : 8);
}

double et_temperature(const et_schedule *s, int64_t iteration) {
    double t = (double)iteration, n = (double)s->iterations;
    if (et_schedule_ended(s, iteration)) return s->end;
    if (s->temperature.count) return knots_at(&s->temperature, t / n);
    if (10 * t < n) return s->start;
    return s->start + (s->end - s->start) * (t - n / 10) / (n * 7 / 10);
}

double et_noise_at(const et_schedule *s, int64_t iteration, double usual) {
    double along = (double)iteration / (double)s->iterations;
    return s->noise.count ? knots_at(&s->noise, along) : usual;
}

/* ceil(2 I / 3), or once it is cold, if that is later, but not in the last tenth. */
static int64_t cut_begin(const et_schedule *s) {
    int64_t begin = (2 * s->iterations + 2) / 3, last = 9 * s->iterations / 10;
    while (s->late_cut && begin < last && !et_schedule_ended(s, begin))
        begin++;
    return begin;
}

int64_t et_cut_size(const et_schedule *s, int64_t iteration, int64_t n, double share) {
    int64_t begin = s->cut.count ? 0 : cut_begin(s);
    if (iteration < begin || iteration >= s->iterations) return n;
    int64_t size;
    if (s->cut.count) {
        double along = (double)iteration / (double)s->iterations;
        size = (int64_t)llround(knots_at(&s->cut, along) * (double)n);
    } else {
        double min = fmin(floor(share * (double)n), (double)n);
        double progress = (double)(iteration - begin + 1) / (double)(s->iterations - begin);
        size = n - (int64_t)llround(((double)n - min) * progress);
    }
    return size > 1 ? size : 1;
}

/* ---- options ---- */

static bool given(const char *text) {
    return text && *text;
}

/* Each course says what another option says otherwise. */
rb_error et_schedule_of(rb_context *ctx, const rb_et_options *o, et_schedule *s) {
    bool noise = given(o->weight_noise_schedule), cut = given(o->cut_schedule);
    const rb_conflict conflicts[] = {
        {noise && o->weight_noise >= 0,
         "`weight-noise` and `weight-noise-schedule` are both given; leave one out"},
        {cut && o->cut_factor != 0,
         "`cut-factor` and `cut-schedule` are both given; leave one out"},
        {0},
    };
    rb_error err = rb_check_conflicts(ctx, conflicts);
    if (!err && given(o->temperature)) err = et_schedule_parse(ctx, o->temperature, s);
    if (!err && noise) {
        err = et_knots_parse(ctx, "weight-noise-schedule", o->weight_noise_schedule, 0, 1e150,
                             &s->noise);
    }
    if (!err && cut) err = et_knots_parse(ctx, "cut-schedule", o->cut_schedule, 0, 1, &s->cut);
    return err;
}
