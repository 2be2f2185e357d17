/* Lists of numbers that stand a stride apart: columns of a table, or its rows. */
#include "modules.h"

#include <math.h>

double rb_correlation(int64_t count, const double *x, int64_t x_stride, const double *y,
                      int64_t y_stride) {
    double mean_x = 0, mean_y = 0, xx = 0, yy = 0, xy = 0;
    for (int64_t k = 0; k < count; k++) {
        mean_x += x[k * x_stride] / (double)count;
        mean_y += y[k * y_stride] / (double)count;
    }
    for (int64_t k = 0; k < count; k++) {
        double dx = x[k * x_stride] - mean_x, dy = y[k * y_stride] - mean_y;
        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    double scale = sqrt(xx) * sqrt(yy); /* their product may be too large */
    return scale > 0 ? fmax(-1, fmin(1, xy / scale)) : NAN;
}

bool rb_normalise(int64_t count, double *x, int64_t stride, bool centre) {
    double mean = 0, squares = 0, before = 0;
    for (int64_t k = 0; k < count; k++) {
        mean += centre ? x[k * stride] / (double)count : 0;
        before += x[k * stride] * x[k * stride];
    }
    for (int64_t k = 0; k < count; k++) {
        x[k * stride] -= mean;
        squares += x[k * stride] * x[k * stride];
    }
    bool varies = squares > 1e-20 * before;
    for (int64_t k = 0; k < count; k++)
        x[k * stride] = varies ? x[k * stride] / sqrt(squares) : 0;
    return varies;
}
