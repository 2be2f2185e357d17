/* How fields superpose. */
#include "engine.h"

void et_superpose_sum(void *user, int64_t n, const double *wbar, const double *field, double *out) {
    (void)user;
    for (int64_t d = 0; d < n; d++) {
        out[d] = wbar[d] + field[d];
    }
}

void et_superpose_max(void *user, int64_t n, const double *wbar, const double *field, double *out) {
    (void)user;
    for (int64_t d = 0; d < n; d++) {
        out[d] = wbar[d] > field[d] ? wbar[d] : field[d];
    }
}
