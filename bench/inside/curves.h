/* A picture of labelled curves, for what benchmarks compare. */
#ifndef CURVES_H
#define CURVES_H

#include <stdbool.h>

typedef struct bench_curve {
    const char *name; /* written at the curve's end */
    int count;
    const double *x, *y;
    bool points; /* marks instead of a line */
} bench_curve;

typedef struct bench_axis {
    const char *label;
    double low, high;
    bool logarithmic;
} bench_axis;

/* Writes a PNG; a message on stderr and false when that fails. */
bool bench_draw(const char *path, const char *title, const bench_axis *across, const bench_axis *up,
                const bench_curve *curves, int count);

#endif
