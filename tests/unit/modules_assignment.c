/* The optimal assignment against all permutations. */
#include "../errors.h"
#include "modules/modules.h"

#include <math.h>

enum { LARGEST = 7 };

static rb_context *new_context(void) {
    rb_context *ctx;
    assert_int_equal(rb_context_create(&ctx), RB_OK);
    return ctx;
}

/* The largest sum over rows `row` and on, each with a column of its own that is not `taken`, or
 * none. */
static double best_sum(const double *gain, int rows, int columns, int row, unsigned taken,
                       int may_skip) {
    if (row == rows) return 0;
    double best =
        may_skip > 0 ? best_sum(gain, rows, columns, row + 1, taken, may_skip - 1) : -INFINITY;
    for (int c = 0; c < columns; c++) {
        if (!(taken & 1U << c)) {
            double rest = best_sum(gain, rows, columns, row + 1, taken | 1U << c, may_skip);
            best = fmax(best, gain[row * columns + c] + rest);
        }
    }
    return best;
}

/* Sum of the gains of an assignment, which must be one to one and as large as it can be. */
static double sum_of(const double *gain, int rows, int columns, const int64_t *column_of) {
    int used[LARGEST] = {0}, placed = 0;
    double sum = 0;
    for (int r = 0; r < rows; r++) {
        int64_t c = column_of[r];
        assert_true(c >= -1 && c < columns);
        if (c >= 0) {
            assert_int_equal(used[c]++, 0);
            sum += gain[r * columns + c];
            placed++;
        }
    }
    assert_int_equal(placed, rows < columns ? rows : columns);
    return sum;
}

/* kind 0: uniform; 1: many ties; 2: negative gains, too. */
static double draw_gain(rb_draws *draws, int kind) {
    if (kind == 1) return (double)rb_draw_integer(draws, 0, 2);
    return rb_draw_uniform(draws) - (kind == 2 ? 0.7 : 0);
}

static void largest_of_all_permutations(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    rb_draws draws = {.stream = {.seed = 1}};
    for (int rows = 0; rows <= LARGEST; rows++) {
        for (int columns = 0; columns <= LARGEST; columns++) {
            for (int kind = 0; kind < 3; kind++) {
                double gain[LARGEST * LARGEST];
                int64_t column_of[LARGEST];
                for (int c = 0; c < rows * columns; c++)
                    gain[c] = draw_gain(&draws, kind);
                assert_int_equal(rb_assign(ctx, rows, columns, gain, column_of), RB_OK);
                double sum = sum_of(gain, rows, columns, column_of);
                int may_skip = rows > columns ? rows - columns : 0;
                double best = best_sum(gain, rows, columns, 0, 0, may_skip);
                assert_true(fabs(sum - best) < 1e-12);
            }
        }
    }
    rb_context_free(ctx);
}

/* A permuted diagonal that beats everything else is found at a size that permutations cannot
 * reach. */
static void planted_permutation(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    enum { N = 300 };
    rb_draws draws = {.stream = {.seed = 2}};
    double *gain = rb_alloc(ctx, N * N, sizeof *gain);
    int64_t column_of[N];
    for (int c = 0; c < N * N; c++)
        gain[c] = rb_draw_uniform(&draws);
    for (int r = 0; r < N; r++)
        gain[r * N + (7 * r + 3) % N] += 1;
    assert_int_equal(rb_assign(ctx, N, N, gain, column_of), RB_OK);
    for (int r = 0; r < N; r++)
        assert_int_equal(column_of[r], (7 * r + 3) % N);
    rb_free(gain);
    rb_context_free(ctx);
}

static void no_memory(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    const double gain[6] = {1, 2, 3, 4, 5, 6};
    int64_t column_of[2];
    rb_error err = RB_ERROR_MEMORY;
    int64_t n;
    for (n = 0; allow_allocations(ctx, n, err); n++)
        err = rb_assign(ctx, 2, 3, gain, column_of);
    assert_true(n > 1);
    rb_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(largest_of_all_permutations),
        cmocka_unit_test(planted_permutation),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
