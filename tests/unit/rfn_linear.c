/* Products by lists of what is not 0, of the loadings and of P: their sums, where lists pay. */
#include "fixture.h"

#include "rfn/fit.h"

#include <math.h>
#include <stdlib.h>

enum { M = 37, L = 24 };

struct given {
    rfn_setup setup;
    rfn_persistent p;
    rb_dense v, weighted, offset, rows, linear;
    rb_block block;
};

/* Of the weights, unit by unit, `share` are not 0; unit 3 has none. */
static void make(rb_context *ctx, rb_type type, int64_t n, double share, struct given *g) {
    rb_draws draws = {{5, RB_RANDOM_SIMULATE, 0}, 0};
    *g = (struct given){.setup.problem = {.n_samples = n, .n_features = M, .type = type}};
    assert_ok(ctx, rb_dense_new(ctx, type, n, M, &g->v));
    assert_ok(ctx, rb_dense_new(ctx, type, M, L, &g->weighted));
    assert_ok(ctx, rb_dense_new(ctx, type, 1, L, &g->offset));
    assert_ok(ctx, rb_dense_new(ctx, type, n, L, &g->rows));
    assert_ok(ctx, rb_dense_new(ctx, type, L, n, &g->linear));
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < M; k++)
            rb_dense_set(g->v, i, k, rb_draw_normal(&draws));
    for (int64_t k = 0; k < M; k++)
        for (int64_t j = 0; j < L; j++)
            if (j != 3 && rb_draw_uniform(&draws) < share)
                rb_dense_set(g->weighted, k, j, rb_draw_normal(&draws));
    for (int64_t j = 0; j < L; j++)
        rb_dense_set(g->offset, 0, j, j == 5 ? 0 : rb_draw_normal(&draws));
    g->block = (rb_block){.n_samples = n, .n_features = M, .dense = g->v};
    g->p.setup = &g->setup;
    g->p.weighted = g->weighted;
    g->p.block.offset = g->offset.data;
}

static void done(struct given *g) {
    rfn_listed_free(&g->p.listed);
    rb_dense *all[] = {&g->v, &g->weighted, &g->offset, &g->rows, &g->linear};
    for (int i = 0; i < 5; i++)
        rb_dense_free(all[i]);
}

static double expected(const struct given *g, int64_t i, int64_t j) {
    double sum = rb_dense_get(g->offset, 0, j);
    for (int64_t k = 0; k < M; k++)
        sum += rb_dense_get(g->v, i, k) * rb_dense_get(g->weighted, k, j);
    return sum;
}

/* Samples that are no whole number of pieces, of a task that is not the first. */
static void sums_are_as_defined(void **state) {
    enum { N = 616, FIRST = 51 };
    rb_context *ctx = *state;
    for (int type = RB_FLOAT32; type <= RB_FLOAT64; type++) {
        for (int dense = 0; dense < 2; dense++) {
            struct given g;
            make(ctx, (rb_type)type, N, dense ? 0.9 : 0.05, &g);
            assert_ok(ctx, rfn_list_weights(ctx, &g.p));
            assert_int_equal(g.p.listed.on, !dense);
            rfn_collect_linear(ctx, &g.p, &g.block, FIRST, rb_context_threads(ctx) - 1,
                               rb_dense_rows(g.rows, 0, N - FIRST),
                               rb_dense_part(g.linear, 0, L, FIRST, N - FIRST));
            for (int64_t i = FIRST; i < N; i++)
                for (int64_t j = 0; j < L; j++)
                    assert_true(fabs(rb_dense_get(g.linear, j, i) - expected(&g, i, j)) <
                                (type == RB_FLOAT32 ? 1e-5 : 1e-12));
            done(&g);
        }
    }
}

/* Few samples, or sparse ones, have none. */
static void lists_where_they_pay(void **state) {
    rb_context *ctx = *state;
    for (int i = 0; i < 3; i++) {
        struct given g;
        make(ctx, RB_FLOAT32, i == 0 ? 100 : 600, 0.05, &g);
        g.setup.problem.sparse = i == 1;
        assert_ok(ctx, rfn_list_weights(ctx, &g.p));
        assert_int_equal(g.p.listed.on, i == 2);
        done(&g);
    }
}

/* Of many features of one sign; of more units than are summed at once. */
static void offsets_keep_their_digits(void **state) {
    (void)state;
    enum { FEATURES = 20000, UNITS = 300 };
    rb_context *ctx = fixture_context();
    rb_draws draws = {{5, RB_RANDOM_SIMULATE, 0}, 0};
    rb_dense filter;
    float bias[UNITS], row[UNITS];
    double *shift = malloc(FEATURES * sizeof *shift);
    assert_ok(ctx, rb_dense_new(ctx, RB_FLOAT32, FEATURES, UNITS, &filter));
    for (int64_t k = 0; k < FEATURES; k++) {
        shift[k] = 3 + rb_draw_uniform(&draws);
        for (int64_t j = 0; j < UNITS; j++)
            rb_dense_set(filter, k, j, rb_draw_uniform(&draws));
    }
    for (int64_t j = 0; j < UNITS; j++)
        bias[j] = (float)j;
    rfn_offset(ctx, shift, filter, bias, row);
    for (int64_t j = 0; j < UNITS; j++) {
        double sum = (double)bias[j];
        for (int64_t k = 0; k < FEATURES; k++)
            sum -= shift[k] * rb_dense_get(filter, k, j);
        assert_true(fabs((double)row[j] - sum) < 1e-6 * fabs(sum));
    }
    rfn_offset(ctx, NULL, filter, bias, row);
    assert_memory_equal(row, bias, sizeof row);
    rb_dense_free(&filter);
    free(shift);
    rb_context_free(ctx);
}

/* ---- mu P ---- */

/* Rows of P in runs, and not; samples that are no whole number of slices. */
static void products_of_listed_p(void **state) {
    (void)state;
    enum { UNITS = 70, N = RFN_SLICE + 37, SOME = 7 };
    static const int64_t which[] = {3, 4, 5, 69, 0, 40, 39};
    rb_context *ctx = fixture_context();
    for (int i = 0; i < 6; i++) {
        rb_type type = i % 2 ? RB_FLOAT64 : RB_FLOAT32;
        int64_t l = i < 4 ? UNITS : L;
        double share = i < 2 ? 0.1 : i < 4 ? 0.9 : 0;
        rb_draws draws = {{5, RB_RANDOM_SIMULATE, 0}, 0};
        rfn_quadratic problem = {0};
        rfn_work work;
        rb_dense codes, out;
        assert_ok(ctx, rb_dense_new(ctx, type, l, l, &problem.hessian));
        assert_ok(ctx, rb_dense_new(ctx, type, l, N, &codes));
        assert_ok(ctx, rb_dense_new(ctx, type, SOME, N, &out));
        assert_ok(ctx, rfn_work_new(ctx, type, l, N, NULL, &work));
        for (int64_t j = 0; j < l; j++) {
            for (int64_t k = 0; k < l; k++)
                if (j == k || rb_draw_uniform(&draws) < share)
                    rb_dense_set(problem.hessian, j, k, rb_draw_normal(&draws));
            for (int64_t s = 0; s < N; s++)
                rb_dense_set(codes, j, s, fmax(0, rb_draw_normal(&draws)));
        }
        rb_dense own = problem.hessian, zeros; /* whose lists are not those of the next P */
        assert_ok(ctx, rb_dense_new(ctx, type, l, l, &zeros));
        problem.hessian = zeros;
        assert_ok(ctx, rfn_list_hessian(ctx, &problem, &work));
        assert_int_equal(problem.listed.rows, i < 4 ? l : 0);
        problem.hessian = own;
        assert_ok(ctx, rfn_list_hessian(ctx, &problem, &work));
        assert_int_equal(problem.listed.rows, i < 2 ? l : 0);
        rb_dense_free(&zeros);
        int64_t units[SOME];
        for (int u = 0; u < SOME; u++)
            units[u] = which[u] % l;
        rfn_product(ctx, &problem, codes, units, &work, out);
        for (int64_t u = 0; u < SOME; u++) {
            for (int64_t s = 0; s < N; s++) {
                double sum = 0;
                for (int64_t k = 0; k < l; k++)
                    sum += rb_dense_get(problem.hessian, units[u], k) * rb_dense_get(codes, k, s);
                assert_close(rb_dense_get(out, u, s), sum, type == RB_FLOAT32 ? 2e-5 : 1e-12);
            }
        }
        rfn_work_free(&work);
        rb_dense_free(&problem.hessian);
        rb_dense_free(&codes);
        rb_dense_free(&out);
    }
    rb_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_as_defined),
        cmocka_unit_test(lists_where_they_pay),
        cmocka_unit_test(offsets_keep_their_digits),
        cmocka_unit_test(products_of_listed_p),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
