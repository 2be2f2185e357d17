/* The E-step as a problem of its own: how near each way to solve it comes to the minimum, and what
 * it costs beside a general quadratic solver, which the paper compares it with (Clevert et al.
 * 2015, section 2: projected Newton against a quadratic program of n l variables). */
#include "esteps.h"
#include "../../tests/quadratic.h"
#include "../../tool/blas_choice.h"
#include "rfn/paper/paper.h"

#include <stdio.h>

/* A problem at random, P = I + G'G / l and Q, and space to solve it; all in float64. */
struct problem {
    int64_t n, l;
    rfn_quadratic quadratic;
    rfn_search search;
    rfn_cascade cascade;
    rfn_work work;
};

static double *values_of(rb_dense a) {
    return a.data;
}

static rb_dense make_matrix(rb_context *ctx, int64_t rows, int64_t cols) {
    rb_dense a;
    bench_check(ctx, rb_dense_new(ctx, RB_FLOAT64, rows, cols, &a));
    return a;
}

static struct problem make(rb_context *ctx, int64_t n, int64_t l, bool normalized) {
    struct problem p = {.n = n, .l = l};
    uint64_t seed = (uint64_t)(n + l);
    rb_dense g = make_matrix(ctx, l, l), hessian = make_matrix(ctx, l, l);
    for (int64_t e = 0; e < l * l; e++)
        values_of(g)[e] = bench_normal(&seed) * 2 / sqrt((double)l);
    for (int64_t j = 0; j < l; j++)
        rb_dense_set(hessian, j, j, 1);
    rb_gemm(1, g, RB_TRANSPOSED, g, RB_PLAIN, 1, hessian);
    rb_dense_free(&g);
    p.quadratic = (rfn_quadratic){hessian, make_matrix(ctx, l, n), normalized, NULL};
    for (int64_t e = 0; e < l * n; e++)
        values_of(p.quadratic.linear)[e] = 3 * bench_normal(&seed);
    p.search = (rfn_search){.sigma = make_matrix(ctx, l, l),
                            .codes = make_matrix(ctx, l, n),
                            .next = make_matrix(ctx, l, n),
                            .gradient = make_matrix(ctx, l, n),
                            .direction = make_matrix(ctx, l, n),
                            .gradient_step = make_matrix(ctx, l, n)};
    bench_check(ctx, rfn_work_new(ctx, RB_FLOAT64, l, n, NULL, &p.work));
    bench_check(ctx, rfn_reduced_new(ctx, l, n, &p.search.reduced));
    bench_check(ctx, rb_largest_eigenvalue(ctx, hessian, &p.search.e_max));
    rb_spd *factor;
    bench_check(ctx, rb_spd_new(ctx, RB_FLOAT64, l, &factor));
    bench_check(ctx, rb_spd_factor(ctx, factor, hessian));
    rb_spd_inverse(ctx, factor, p.search.sigma);
    rb_spd_free(factor);
    return p;
}

static void done(struct problem *p) {
    rb_dense_free(&p->quadratic.hessian);
    rb_dense_free(&p->quadratic.linear);
    rb_dense_free(&p->search.sigma);
    rb_dense_free(&p->search.codes);
    rb_dense_free(&p->search.next);
    rb_dense_free(&p->search.gradient);
    rb_dense_free(&p->search.direction);
    rb_dense_free(&p->search.gradient_step);
    rfn_reduced_free(p->search.reduced);
    rfn_work_free(&p->work);
}

/* The codes that newton gives: P(mu_p). Any feasible codes will do before. */
static void begin(rb_context *ctx, struct problem *p) {
    p->search.problem = &p->quadratic;
    p->search.work = &p->work;
    p->cascade = (rfn_cascade){0};
    rb_dense_zero(p->search.codes);
    rfn_search_begin(ctx, &p->search);
    rfn_aim_at_means(&p->search);
    rfn_search_move(&p->search, p->search.direction, 1, 1);
    rb_dense_copy(p->search.next, p->search.codes);
}

/* (n/2) O, less what codes do not change. */
static double objective(rb_context *ctx, struct problem *p) {
    double sum = 0;
    rfn_search_begin(ctx, &p->search); /* mu P - Q */
    for (int64_t e = 0; e < p->l * p->n; e++) {
        sum += values_of(p->search.codes)[e] *
               (values_of(p->search.gradient)[e] - values_of(p->quadratic.linear)[e]) / 2;
    }
    return sum;
}

/* ---- steps that are searched for, which no fit takes ---- */

static int tries; /* of all of them */

static bool search_gradient(rfn_search *s, double beta) {
    int64_t before = s->tries;
    bool good = rfn_search_gradient(s, beta);
    tries += (int)(s->tries - before);
    return good;
}

static bool halve_lambda(rfn_search *s) {
    return search_gradient(s, 0.5);
}

static bool tenth_lambda(rfn_search *s) {
    return search_gradient(s, 0.1);
}

static bool by_gamma(rfn_search *s, double step) {
    tries++;
    return rfn_search_try(s, s->direction, 1, step);
}

static bool by_both(rfn_search *s, double step) {
    tries++;
    return rfn_search_try(s, s->direction, step, step);
}

/* Alg. S7 with gamma, or gamma and lambda, where `reduced` has lambda. */
static bool reduced_gamma(rfn_search *s) {
    rfn_try_reduced(s); /* finds the direction */
    return rfn_search_halve(s, by_gamma, 1, RFN_TRIES, false);
}

static bool reduced_both(rfn_search *s) {
    rfn_try_reduced(s);
    return rfn_search_halve(s, by_both, 1, RFN_TRIES, false);
}

static const struct estep {
    const char *name;
    rb_rfn_stage first, last;
    bool any;
    bool (*search)(rfn_search *search); /* instead of the stages */
} esteps[] = {
    {"gradient", RB_RFN_STAGE_GRADIENT, RB_RFN_STAGE_GRADIENT, true},
    {"cyclic", RB_RFN_STAGE_NONE, RB_RFN_STAGE_NONE, true},
    {"annealed", RB_RFN_STAGE_NEWTON, RB_RFN_STAGE_BOTH, true},
    {"reduced", RB_RFN_STAGE_REDUCED, RB_RFN_STAGE_REDUCED, true},
    {"grg", RB_RFN_STAGE_GRG, RB_RFN_STAGE_GRG, true},
    {"rosen", RB_RFN_STAGE_ROSEN, RB_RFN_STAGE_ROSEN, true},
    {"haug-arora", RB_RFN_STAGE_HAUG_ARORA, RB_RFN_STAGE_HAUG_ARORA, true},
    {"cascade", RB_RFN_STAGE_NEWTON, RB_RFN_STAGE_GRADIENT, false},
    {"cascade, any decrease", RB_RFN_STAGE_NEWTON, RB_RFN_STAGE_GRADIENT, true},
    {"gradient, lambda = 1, 1/2, ...", .search = halve_lambda},
    {"gradient, lambda = 1, 1/10, ...", .search = tenth_lambda},
    {"reduced, gamma halved", .search = reduced_gamma},
    {"reduced, gamma and lambda halved", .search = reduced_both},
};

static void step(rb_context *ctx, struct problem *p, const struct estep *estep) {
    if (estep->search) {
        rfn_search_begin(ctx, &p->search);
        p->search.bar = 0;
        if (estep->search(&p->search)) rfn_swap(&p->search.codes, &p->search.next);
    } else if (estep->first == RB_RFN_STAGE_NONE)
        rfn_cyclic(ctx, &p->quadratic, p->search.codes, 0, false, &p->work);
    else
        rfn_cascade_step(ctx, &p->cascade, &p->search, estep->first, estep->last, estep->any);
}

/* ---- how near to the minimum ---- */

enum { MARKS = 4, MAX_STEPS = 20000 };
static const int marks[MARKS] = {1, 3, 10, 100};

/* Sweeps until no code changes by more. */
static void rest(rb_context *ctx, struct problem *p, double tolerance) {
    double change = INFINITY;
    begin(ctx, p);
    for (int t = 0; t < MAX_STEPS && change > tolerance; t++) {
        rfn_cyclic(ctx, &p->quadratic, p->search.codes, 0, true, &p->work);
        change = rfn_largest_change(ctx, p->search.codes, &p->work);
    }
}

static double min(rb_context *ctx, struct problem *p) {
    rest(ctx, p, 1e-14);
    return objective(ctx, p);
}

static void print_distances(rb_context *ctx, bool normalized) {
    struct problem p = make(ctx, 100, 50, normalized);
    double best = min(ctx, &p);
    begin(ctx, &p);
    double newton = objective(ctx, &p);
    printf("\n%s set, 100 samples, 50 units: what is left of O above its minimum, newton = 1\n\n"
           "| E-step | 1 step | 3 | 10 | 100 |\n|---|---|---|---|---|\n",
           normalized ? "Normalised" : "Rectified");
    for (size_t e = 0; e < sizeof esteps / sizeof *esteps; e++) {
        begin(ctx, &p);
        tries = 0;
        printf("| %s |", esteps[e].name);
        for (int t = 1, m = 0; m < MARKS; t++) {
            step(ctx, &p, &esteps[e]);
            if (t == marks[m]) {
                printf(" %.2g |", fmax(0, (objective(ctx, &p) - best) / (newton - best)));
                m++;
            }
        }
        if (tries > 0) printf(" %.1f candidates a step", (double)tries / marks[MARKS - 1]);
        printf("\n");
    }
    done(&p);
}

/* ---- running time beside a quadratic solver ---- */

/* The whole problem as a general solver has it: n l variables, a dense matrix. */
static double time_quadratic(const struct problem *p, double *distance) {
    int64_t size = p->n * p->l;
    double *h = bench_take((size_t)(size * size), sizeof *h), *x = bench_take((size_t)size, 8);
    double *q = bench_take((size_t)size, sizeof *q);
    for (int64_t e = 0; e < size * size; e++)
        h[e] = 0;
    for (int64_t i = 0; i < p->n; i++) {
        for (int64_t j = 0; j < p->l; j++) {
            q[i * p->l + j] = rb_dense_get(p->quadratic.linear, j, i);
            for (int64_t k = 0; k < p->l; k++)
                h[(i * p->l + j) * size + i * p->l + k] = rb_dense_get(p->quadratic.hessian, j, k);
        }
    }
    int iterations;
    double began = bench_now();
    if (!quadratic_solve((int)size, h, q, 1e-10, x, &iterations)) {
        fprintf(stderr, "esteps: out of memory\n");
        exit(1);
    }
    double seconds = bench_now() - began;
    *distance = 0;
    for (int64_t i = 0; i < p->n; i++) {
        for (int64_t j = 0; j < p->l; j++) {
            double code = rb_dense_get(p->search.codes, j, i);
            *distance = fmax(*distance, fabs(code - x[i * p->l + j]));
        }
    }
    free(h);
    free(x);
    free(q);
    return seconds;
}

enum { REPEATS = 3 };

/* newton: the posterior means and their projection. */
static double time_newton(rb_context *ctx, struct problem *p) {
    bench_times times = {0};
    for (int r = 0; r < REPEATS; r++) {
        double began = bench_now();
        rb_gemm(1, p->search.sigma, RB_PLAIN, p->quadratic.linear, RB_PLAIN, 0, p->search.next);
        for (int64_t j = 0; j < p->l; j++) {
            rb_dense row = rb_dense_rows(p->search.next, j, 1);
            rfn_feasible(ctx, &p->work.slices, false, 0, row, row.data,
                         rb_dense_row(p->search.codes, j));
        }
        bench_add(&times, bench_now() - began);
    }
    return bench_median(&times);
}

static double time_cyclic(rb_context *ctx, struct problem *p) {
    bench_times times = {0};
    for (int r = 0; r < REPEATS; r++) {
        double began = bench_now();
        rest(ctx, p, 1e-9);
        bench_add(&times, bench_now() - began);
    }
    return bench_median(&times);
}

static double time_reduced(rb_context *ctx, struct problem *p) {
    static const struct estep reduced = {"", RB_RFN_STAGE_REDUCED, RB_RFN_STAGE_REDUCED, true,
                                         NULL};
    bench_times times = {0};
    for (int r = 0; r < REPEATS; r++) {
        begin(ctx, p);
        double began = bench_now();
        for (int t = 0; t < 30; t++)
            step(ctx, p, &reduced);
        bench_add(&times, bench_now() - began);
    }
    return bench_median(&times);
}

static void print_times(rb_context *ctx) {
    static const int64_t shapes[][2] = {{10, 10}, {20, 20},    {40, 25},   {50, 40},
                                        {80, 50}, {1000, 100}, {5000, 500}};
    const int64_t max = 8000;
    printf(
        "\nRectified set, one thread, float64: seconds for the minimum to 1e-9, and for newton, "
        "which is not the minimum\n\n| n x l | variables | newton | cyclic | reduced, 30 steps | "
        "quadratic solver | over cyclic | codes differ by |\n|---|---|---|---|---|---|---|---|\n");
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        struct problem p = make(ctx, shapes[s][0], shapes[s][1], false);
        int64_t variables = p.n * p.l;
        double newton = time_newton(ctx, &p);
        double reduced = variables <= 100000 ? time_reduced(ctx, &p) : NAN;
        double cyclic = time_cyclic(ctx, &p), distance = NAN;
        double general = variables <= max ? time_quadratic(&p, &distance) : NAN;
        printf("| %lld x %lld | %lld | %.2g | %.2g | %.2g | %.2g | %.2g | %.1g |\n", (long long)p.n,
               (long long)p.l, (long long)variables, newton, cyclic, reduced, general,
               general / cyclic, distance);
        fflush(stdout);
        done(&p);
    }
}

int main(int argc, char **argv) {
    choose_blas(argv);
    int instances = argc > 1 ? atoi(argv[1]) : 5;
    const char *folder = argc > 2 ? argv[2] : ".";
    rb_context *ctx;
    if (instances < 0) {
        fprintf(stderr, "usage: esteps [INSTANCES, 0: no fits] [FOLDER of the pictures]\n");
        return 2;
    }
    if (rb_context_new(&ctx)) {
        fprintf(stderr, "esteps: out of memory\n");
        return 1;
    }
    printf("rarebit %s\n", rb_version());
    if (instances > 0) esteps_compare_fits(ctx, instances, folder);
    print_distances(ctx, false);
    print_distances(ctx, true);
    print_times(ctx);
    rb_context_free(ctx);
    return 0;
}
