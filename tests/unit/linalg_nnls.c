/* Non-negative least squares: solutions by the conditions of the minimum. */
#include "linalg_test.h"

enum { MOST = 33 }; /* units */

/* A problem of some units and samples, and what is to be had for it. */
struct problem {
    rb_context *ctx;
    rb_scratch scratch;
    rb_nnls nnls;
    rb_nnls_samples samples;
    int64_t all; /* samples */
};

/* G = A'A / units + ridge, but for a unit without any. */
static void fill_gram(rb_dense gram, double ridge, int64_t without) {
    int64_t l = gram.rows;
    rb_draws draws = {{4, RB_RANDOM_SIMULATE, 0}, 0};
    double a[MOST * MOST];
    for (int64_t e = 0; e < l * l; e++)
        a[e] = rb_draw_normal(&draws);
    for (int64_t j = 0; j < l; j++) {
        for (int64_t k = 0; k < l; k++) {
            double sum = j == k ? ridge : 0;
            for (int64_t c = 0; c < l; c++)
                sum += a[c * l + j] * a[c * l + k] / (double)l;
            rb_dense_set(gram, j, k, j == without || k == without ? 0 : sum);
        }
    }
}

/* Random q; codes are 1 in every third sample, else 0. */
static void begin(struct problem *p, rb_type type, int64_t units, int64_t all, bool across,
                  bool active) {
    *p = (struct problem){.ctx = test_context(1), .all = all};
    p->scratch.ctx = p->ctx;
    rb_nnls_new(&p->scratch, type, units, active, &p->nnls);
    assert_int_equal(p->scratch.err, RB_OK);
    int64_t rows = across ? units : all, cols = across ? all : units;
    p->samples = (rb_nnls_samples){.linear = test_random(p->ctx, type, rows, cols, 1, 5),
                                   .codes = test_zeros(p->ctx, type, rows, cols),
                                   .across = across,
                                   .count = all};
    for (int64_t i = 0; i < all; i += 3)
        for (int64_t j = 0; j < units; j++)
            rb_dense_set(p->samples.codes, across ? j : i, across ? i : j, 1);
}

static void end(struct problem *p) {
    rb_dense_free(&p->samples.linear);
    rb_dense_free(&p->samples.codes);
    rb_scratch_end(&p->scratch);
    rb_context_free(p->ctx);
}

static double of(const struct problem *p, rb_dense a, int64_t i, int64_t j) {
    return rb_dense_get(a, p->samples.across ? j : i, p->samples.across ? i : j);
}

static double code(const struct problem *p, int64_t i, int64_t j) {
    return of(p, p->samples.codes, i, j);
}

/* Derivatives are near 0 where codes are positive, and not below 0 elsewhere. */
static void assert_minimum(const struct problem *p, int64_t i, double bound) {
    for (int64_t j = 0; j < p->nnls.gram.rows; j++) {
        double derivative = -of(p, p->samples.linear, i, j);
        if (rb_dense_get(p->nnls.gram, j, j) == 0) continue;
        for (int64_t k = 0; k < p->nnls.gram.rows; k++)
            derivative += rb_dense_get(p->nnls.gram, j, k) * code(p, i, k);
        if (!(code(p, i, j) > 0 ? fabs(derivative) <= bound
                                : code(p, i, j) == 0 && derivative >= -bound))
            fail_msg("sample %d, unit %d: code %g, derivative %g", (int)i, (int)j, code(p, i, j),
                     derivative);
    }
}

/* Few and many samples, in rows and columns, as far as they are named; a unit without G stays. */
static void samples_come_to_their_minimum(void **state) {
    (void)state;
    static const int64_t counts[] = {1, 16, 17, 128, 300}, units[] = {1, 5, 8, MOST};
    for (int c = 0; c < 5 * 4 * 2 * 2; c++) {
        struct problem p;
        rb_type type = c & 1 ? RB_FLOAT64 : RB_FLOAT32;
        int64_t l = units[c / 4 % 4], all = 2 * counts[c / 16] + 1, which[601];
        begin(&p, type, l, all, c & 2, true);
        fill_gram(p.nnls.gram, 0.1, l > 1 ? 0 : -1);
        p.samples.which = which;
        p.samples.count = counts[c / 16];
        for (int64_t i = 0; i < p.samples.count; i++)
            which[i] = 2 * i + 1;
        rb_nnls_solve(&p.nnls, 1e-6, &p.samples, 0);
        for (int64_t i = 0; i < all; i++) {
            if (i % 2) assert_minimum(&p, i, 1e-4);
            for (int64_t j = 0; j < l; j++)
                if (i % 2 == 0 || (l > 1 && j == 0))
                    assert_true(code(&p, i, j) == (i % 3 == 0 ? 1 : 0));
        }
        end(&p);
    }
}

/* Where sweeps would take thousands, by the active set; without one samples stay. */
static void what_takes_long_is_solved_or_left(void **state) {
    (void)state;
    enum { L = 24, ALL = 150 };
    for (int active = 0; active < 2; active++) {
        struct problem p;
        begin(&p, RB_FLOAT64, L, ALL, false, active);
        fill_gram(p.nnls.gram, 0.1, -1);
        for (int64_t j = 0; j < L; j++) /* units are nearly the same, and all are wanted */
            for (int64_t k = 0; k < L; k++)
                rb_dense_set(p.nnls.gram, j, k, 1 + 0.001 * rb_dense_get(p.nnls.gram, j, k));
        for (int64_t i = 0; i < ALL; i++)
            for (int64_t j = 0; j < L; j++) {
                double sum = 0;
                for (int64_t k = 0; k < L; k++)
                    sum += rb_dense_get(p.nnls.gram, j, k) * (double)(1 + (i + k * k) % 5);
                rb_dense_set(p.samples.linear, i, j, sum);
            }
        rb_nnls_solve(&p.nnls, 1e-12, &p.samples, 0);
        int64_t left = 0;
        for (int64_t i = 0; i < ALL; i++) {
            bool stays = true;
            for (int64_t j = 0; j < L; j++)
                stays = stays && code(&p, i, j) == (i % 3 == 0 ? 1 : 0);
            left += stays;
            if (!stays) assert_minimum(&p, i, 1e-9);
        }
        assert_true(active ? left == 0 : left == ALL);
        end(&p);
    }
}

/* Where there is no minimum codes grow without end: they stay as they were. */
static void without_a_minimum_samples_stay(void **state) {
    (void)state;
    enum { ALL = 40 };
    for (int type = 0; type < 2; type++) {
        struct problem p;
        begin(&p, (rb_type)type, 2, ALL, false, false);
        for (int64_t e = 0; e < 4; e++)
            rb_dense_set(p.nnls.gram, e / 2, e % 2, e % 3 == 0 ? 1 : -2);
        for (int64_t i = 0; i < ALL; i++)
            for (int64_t j = 0; j < 2; j++)
                rb_dense_set(p.samples.linear, i, j, 1 + (double)i);
        rb_nnls_solve(&p.nnls, 1e-6, &p.samples, 0);
        for (int64_t i = 0; i < ALL; i++)
            for (int64_t j = 0; j < 2; j++)
                assert_true(code(&p, i, j) == (i % 3 == 0 ? 1 : 0));
        end(&p);
    }
}

/* From any start, for random problems: zeros, all units, a wrong half. */
static void active_set_from_anywhere(void **state) {
    (void)state;
    enum { L = 12, ALL = 300 };
    struct problem p;
    begin(&p, RB_FLOAT64, L, ALL, false, true);
    fill_gram(p.nnls.gram, 1e-4, -1);
    rb_active *active = p.nnls.active;
    for (int64_t i = 0; i < ALL; i++) {
        for (int64_t j = 0; j < L; j++) {
            active->x[j] = i % 3 == 0 ? 0 : i % 3 == 1 || j % 2 ? 1 : 0;
            active->linear[j] = of(&p, p.samples.linear, i, j);
        }
        rb_active_solve(p.nnls.gram, active);
        for (int64_t j = 0; j < L; j++)
            rb_dense_set(p.samples.codes, i, j, active->x[j]);
        assert_minimum(&p, i, 1e-7);
    }
    end(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_come_to_their_minimum),
        cmocka_unit_test(what_takes_long_is_solved_or_left),
        cmocka_unit_test(without_a_minimum_samples_stay),
        cmocka_unit_test(active_set_from_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
