/* A quadratic program by a general solver, to compare with: minimise 1/2 x'Hx - q'x over x >= 0, H
 * positive definite and dense, by the predictor-corrector interior point method of Mehrotra (1992).
 * Needs memory for two more matrices of the size of H. */
#ifndef QUADRATIC_H
#define QUADRATIC_H

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* LAPACK; a symmetric matrix is the same by rows and by columns. */
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t length);
void dpotrs_(const char *uplo, const int *n, const int *sides, const double *a, const int *lda,
             double *b, const int *ldb, int *info, size_t length);
void dsymv_(const char *uplo, const int *n, const double *alpha, const double *a, const int *lda,
            const double *x, const int *one, const double *beta, double *y, const int *one_more,
            size_t length);

typedef struct quadratic {
    int n;
    const double *h, *q;
    double *factor;       /* of H + diag(z / x) */
    double *x, *z;        /* the solution and its multipliers, both above 0 */
    double *slope;        /* H x - q - z */
    double *dx, *dz, *to; /* steps; what x_i z_i is to become */
} quadratic;

/* The step for the products x_i z_i to become to_i. */
static inline void quadratic_step(quadratic *p) {
    int one = 1, info;
    for (int i = 0; i < p->n; i++)
        p->dx[i] = -p->slope[i] - p->z[i] + p->to[i] / p->x[i];
    dpotrs_("U", &p->n, &one, p->factor, &p->n, p->dx, &p->n, &info, 1);
    for (int i = 0; i < p->n; i++)
        p->dz[i] = (p->to[i] - p->z[i] * p->dx[i]) / p->x[i] - p->z[i];
}

/* How far x and z can go and stay above 0. */
static inline double quadratic_capacity(const quadratic *p) {
    double capacity = 1;
    for (int i = 0; i < p->n; i++) {
        capacity = p->dx[i] < 0 ? fmin(capacity, -p->x[i] / p->dx[i]) : capacity;
        capacity = p->dz[i] < 0 ? fmin(capacity, -p->z[i] / p->dz[i]) : capacity;
    }
    return capacity;
}

static inline double quadratic_gap(const quadratic *p, double step) {
    double gap = 0;
    for (int i = 0; i < p->n; i++)
        gap += (p->x[i] + step * p->dx[i]) * (p->z[i] + step * p->dz[i]);
    return gap / p->n;
}

/* One iteration; the mean of x_i z_i before it. */
static inline double quadratic_iterate(quadratic *p) {
    int one = 1, info;
    double plus = 1, gap = 0;
    for (int i = 0; i < p->n; i++) {
        p->slope[i] = -p->q[i] - p->z[i];
        p->to[i] = 0;
        gap += p->x[i] * p->z[i] / p->n;
    }
    dsymv_("U", &p->n, &plus, p->h, &p->n, p->x, &one, &plus, p->slope, &one, 1);
    memcpy(p->factor, p->h, (size_t)p->n * (size_t)p->n * sizeof *p->h);
    for (int i = 0; i < p->n; i++)
        p->factor[(size_t)i * (size_t)p->n + (size_t)i] += p->z[i] / p->x[i];
    dpotrf_("U", &p->n, p->factor, &p->n, &info, 1);
    quadratic_step(p);
    double centring = pow(quadratic_gap(p, quadratic_capacity(p)) / gap, 3);
    for (int i = 0; i < p->n; i++)
        p->to[i] = centring * gap - p->dx[i] * p->dz[i];
    quadratic_step(p);
    double step = fmin(1, 0.995 * quadratic_capacity(p));
    for (int i = 0; i < p->n; i++) {
        p->x[i] += step * p->dx[i];
        p->z[i] += step * p->dz[i];
    }
    return gap;
}

/* x: n. false: no memory. Iterations until the products x_i z_i are below the tolerance. */
static inline bool quadratic_solve(int n, const double *h, const double *q, double tolerance,
                                   double *x, int *iterations) {
    size_t size = (size_t)n;
    double *capacity = calloc(size * size + 5 * size, sizeof *capacity);
    if (!capacity) return false;
    double *rest = capacity + size * size;
    quadratic p = {
        n, h, q, capacity, x, rest, rest + size, rest + 2 * size, rest + 3 * size, rest + 4 * size};
    for (int i = 0; i < n; i++)
        p.x[i] = p.z[i] = 1;
    *iterations = 0;
    while (*iterations < 200 && quadratic_iterate(&p) > tolerance)
        ++*iterations;
    free(capacity);
    return true;
}

#endif
