/* Curves of `./run acceleration`, and their picture. */
#ifndef BENCH_ACCELERATION_H
#define BENCH_ACCELERATION_H

enum { CURVES = 4, EVALUATIONS = 1000 };

/* What is compared, and the mean over all fits of F less that of the first one's end. */
typedef struct curve {
    const char *name;
    double eta;
    int accelerate;
    double mean[EVALUATIONS];
} curve;

/* Draws the curves into a PNG; 0, or a message and 1. */
int draw_curves(const curve *curves, const char *path);

#endif
