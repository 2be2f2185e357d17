/* Guaranteed E-steps on random problems: O never rises, codes stay feasible, and where they end no
 * feasible neighbour is better; units one by one agree with the formula of their minimum. */
#include "fixture.h"

#include "rfn/estep/estep.h"

enum { L = 7, N = 23 };

struct problem {
    double hessian[L * L], linear[L * N], codes[L * N], next[L * N];
    rfn_quadratic quadratic;
    rb_dense mu, spare;
    rfn_work work;
};

static rb_dense view(double *values, int64_t rows, int64_t cols) {
    return (rb_dense){values, rows, cols, cols, RB_FLOAT64};
}

/* P = I + G'G, Q and feasible codes at random; `shift` below 0 makes units die. */
static void make(rb_context *ctx, struct problem *p, uint64_t seed, bool normalized, double shift) {
    rb_draws draws = {{seed, RB_RANDOM_SIMULATE, 0}, 0};
    double g[L * L];
    for (int e = 0; e < L * L; e++) {
        g[e] = rb_draw_normal(&draws);
    }
    for (int j = 0; j < L; j++) {
        for (int k = 0; k < L; k++) {
            p->hessian[j * L + k] = j == k;
            for (int c = 0; c < L; c++) {
                p->hessian[j * L + k] += g[c * L + j] * g[c * L + k];
            }
        }
    }
    p->quadratic = (rfn_quadratic){view(p->hessian, L, L), view(p->linear, L, N), normalized, NULL};
    p->mu = view(p->codes, L, N);
    p->spare = view(p->next, L, N);
    assert_ok(ctx, rfn_work_new(ctx, RB_FLOAT64, L, N, &p->work));
    for (int j = 0; j < L; j++) {
        double row[N];
        for (int i = 0; i < N; i++) {
            row[i] = rb_draw_normal(&draws);
            p->linear[j * N + i] = 3 * rb_draw_normal(&draws) + (j == 0 ? 100 * shift : shift);
        }
        rfn_feasible(ctx, normalized, RB_FLOAT64, N, 0, row, row, p->codes + j * N);
    }
}

/* (n/2) O without its constant: 1/2 tr mu P mu' - tr mu Q' */
static double objective(const struct problem *p, const double *codes) {
    double sum = 0;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < L; j++) {
            double product = 0;
            for (int k = 0; k < L; k++) {
                product += p->hessian[j * L + k] * codes[k * N + i];
            }
            sum += codes[j * N + i] * (product / 2 - p->linear[j * N + i]);
        }
    }
    return sum;
}

static void assert_feasible(const double *codes, bool normalized) {
    for (int j = 0; j < L; j++) {
        double squares = 0;
        for (int i = 0; i < N; i++) {
            assert_true(codes[j * N + i] >= 0);
            squares += codes[j * N + i] * codes[j * N + i];
        }
        if (normalized) {
            assert_close(squares / N, 1, 1e-12);
        }
    }
}

static double step(rb_context *ctx, struct problem *p, bool cyclic, double e_max) {
    double change;
    if (cyclic) {
        rfn_cyclic(ctx, &p->quadratic, p->mu, &p->work, &change);
    } else {
        rfn_gradient(ctx, &p->quadratic, e_max, &p->mu, &p->spare, &p->work, &change);
    }
    return change;
}

static void never_rise(void **state) {
    (void)state;
    rb_context *ctx = fixture_context();
    for (uint64_t seed = 0; seed < 400; seed++) {
        bool normalized = seed & 1, cyclic = seed & 2;
        struct problem p;
        double e_max;
        make(ctx, &p, seed, normalized, seed & 4 ? -1 : 0.5);
        assert_ok(ctx, rb_largest_eigenvalue(ctx, p.quadratic.hessian, &e_max));
        double before = objective(&p, p.mu.data);
        for (int t = 0; t < 20; t++) {
            step(ctx, &p, cyclic, e_max);
            double now = objective(&p, p.mu.data);
            assert_feasible(p.mu.data, normalized);
            if (!(now <= before + 1e-12 * (1 + fabs(before)))) {
                fail_msg("seed %d, step %d: O rose from %.15g to %.15g", (int)seed, t, before, now);
            }
            before = now;
        }
        rfn_work_free(&p.work);
    }
    rb_context_free(ctx);
}

/* One sweep of cyclic by its formula, unit by unit with fresh residuals. */
static void cyclic_by_formula(rb_context *ctx, const struct problem *p, double *codes) {
    for (int j = 0; j < L; j++) {
        double target[N], next[N];
        for (int i = 0; i < N; i++) {
            double rest = -p->linear[j * N + i];
            for (int k = 0; k < L; k++) {
                rest += k == j ? 0 : p->hessian[j * L + k] * codes[k * N + i];
            }
            target[i] = -rest / p->hessian[j * L + j];
        }
        rfn_feasible(ctx, p->quadratic.normalized, RB_FLOAT64, N, 0, target, target, next);
        memcpy(codes + j * N, next, sizeof next);
    }
}

static void cyclic_minimises_unit_by_unit(void **state) {
    (void)state;
    rb_context *ctx = fixture_context();
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct problem p;
        make(ctx, &p, seed, seed & 1, seed & 2 ? -1 : 0.5);
        double expected[L * N];
        memcpy(expected, p.codes, sizeof expected);
        cyclic_by_formula(ctx, &p, expected);
        step(ctx, &p, true, 0);
        for (int e = 0; e < L * N; e++) {
            assert_close(p.codes[e], expected[e], 1e-10);
        }
        rfn_work_free(&p.work);
    }
    rb_context_free(ctx);
}

/* Where the E-steps end, the multipliers separate the samples: each, solved alone on the rectified
 * set with P + diag tau from zero, has the same codes; and the KKT residual says how far they had
 * to go. */
static void multipliers_separate_samples(void **state) {
    (void)state;
    rb_context *ctx = fixture_context();
    int definite = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct problem p;
        double e_max, residual, multipliers[L], smallest;
        make(ctx, &p, seed, seed & 1, 1);
        assert_ok(ctx, rb_largest_eigenvalue(ctx, p.quadratic.hessian, &e_max));
        rfn_optimality(ctx, &p.quadratic, e_max, p.mu, &p.work, multipliers, &residual);
        assert_true(residual > 1e-3);
        for (int t = 0; t < 20000 && step(ctx, &p, seed & 2, e_max) > 0; t++) {
        }
        rfn_optimality(ctx, &p.quadratic, e_max, p.mu, &p.work, multipliers, &residual);
        assert_true(residual < 1e-10);
        rfn_add_multipliers(p.quadratic.hessian, multipliers, NULL, 1);
        assert_ok(ctx, rb_smallest_eigenvalue(ctx, p.quadratic.hessian, &smallest));
        if (smallest > 0.05) {
            struct problem alone = p;
            alone.quadratic.normalized = false;
            alone.quadratic.hessian = view(alone.hessian, L, L);
            alone.mu = view(alone.codes, L, N);
            memset(alone.codes, 0, sizeof alone.codes);
            for (int t = 0; t < 20000 && step(ctx, &alone, true, 0) > 0; t++) {
            }
            for (int e = 0; e < L * N; e++) {
                assert_close(alone.codes[e], ((double *)p.mu.data)[e], 1e-6);
            }
            definite++;
        }
        rfn_work_free(&p.work);
    }
    assert_true(definite > 30);
    rb_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_rise),
        cmocka_unit_test(cyclic_minimises_unit_by_unit),
        cmocka_unit_test(multipliers_separate_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
