/* Round numbers for axes, and labels that keep apart. */
#include "plot.h"

#include <math.h>

/* The next step of the row 1, 2, 5, 10, 20, 50, ... that is at least `least`. */
static double round_step(double least) {
    double power = pow(10, floor(log10(least)));
    const double factors[] = {1, 2, 5};
    for (int i = 0; i < 3; i++) {
        if (factors[i] * power >= least * (1 - 1e-9)) {
            return factors[i] * power;
        }
    }
    return 10 * power;
}

rb_ticks rb_ticks_choose(double low, double high, int most, bool whole) {
    double range = high - low;
    if (!(range > 0) || !isfinite(range)) {
        return (rb_ticks){low, 1, 1};
    }
    double step = round_step(range / most);
    if (whole && step < 1) {
        step = 1;
    }
    for (;;) {
        double first = ceil(low / step - 1e-9), last = floor(high / step + 1e-9);
        if (last - first < most) {
            return (rb_ticks){first * step, step, (int)(last - first) + 1};
        }
        step = round_step(1.5 * step);
    }
}

double rb_tick_value(const rb_ticks *ticks, int index) {
    double value = ticks->first + index * ticks->step;
    /* -0, and what rounding leaves of 0 */
    return fabs(value) < 1e-9 * ticks->step ? 0 : value;
}

void rb_tick_text(const rb_ticks *ticks, int index, char *buffer, size_t size) {
    double value = rb_tick_value(ticks, index);
    double largest = fmax(fabs(ticks->first), fabs(rb_tick_value(ticks, ticks->count - 1)));
    int place = (int)floor(log10(ticks->step) + 1e-9); /* of the last digit */
    if (largest < 1e6 && place >= -6) {
        rb_print(buffer, size, "%.*f", place < 0 ? -place : 0, value);
        return;
    }
    int digits = (int)floor(log10(fmax(largest, ticks->step))) - place + 1;
    rb_print(buffer, size, "%.*g", digits < 15 ? digits : 15, value);
}

void rb_spread(double *places, int64_t count, double gap, double low, double high) {
    double least = low;
    for (int64_t i = 0; i < count; i++) {
        places[i] = fmax(places[i], least);
        least = places[i] + gap;
    }
    double most = high;
    for (int64_t i = count - 1; i >= 0 && places[i] > most; i--) {
        places[i] = most;
        most -= gap;
    }
}
