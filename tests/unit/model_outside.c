/* What a method outside of the library sees of a block: all ways of looking agree. */
#include "fixture.h"

enum { N = 4, M = 3, STORED = 5 };

static const int64_t starts[N + 1] = {2, 4, 4, 6, 7}; /* of a part of a larger block */
static const int32_t columns[STORED] = {0, 2, 1, 2, 0};
static const float values[STORED] = {1, 2, 3, 4, 5};
static const double shift[M] = {0.5, 0, -2};

static rb_block sparse_block(bool shifted) {
    return (rb_block){.first = 9,
                      .n_samples = N,
                      .n_features = M,
                      .sparse = true,
                      .csr = {N, M, starts, columns, values, RB_FLOAT32},
                      .shift = shifted ? shift : NULL};
}

static void assert_same_values(const rb_block *block, const double expected[N * M]) {
    double rows[N * M];
    rb_block_values(block, 0, N, rows);
    for (int i = 0; i < N * M; i++) {
        assert_true(rows[i] == expected[i]);
        assert_true(rb_block_at(block, i / M, i % M) == expected[i]);
    }
    assert_int_equal(rb_block_first(block), 9);
    assert_int_equal(rb_block_samples(block), N);
    assert_int_equal(rb_block_features(block), M);
}

static void sparse_blocks(void **state) {
    (void)state;
    for (int shifted = 0; shifted < 2; shifted++) {
        rb_block block = sparse_block(shifted);
        double expected[N * M];
        rb_sparse_block view = {.size = sizeof view};
        rb_type type;
        int64_t stride;
        assert_null(rb_block_dense(&block, &type, &stride));
        assert_true(rb_block_sparse(&block, &view));
        assert_false(rb_block_sparse(&block, &(rb_sparse_block){.size = 0}));
        assert_int_equal(view.type, RB_FLOAT32);
        for (int i = 0; i < N * M; i++)
            expected[i] = view.shift ? -view.shift[i % M] : 0;
        for (int i = 0; i < N; i++) {
            for (int64_t e = view.starts[i]; e < view.starts[i + 1]; e++) {
                int64_t at = e - view.starts[0];
                expected[i * M + view.columns[at]] += rb_get(view.type, view.values, at);
            }
        }
        assert_true(expected[0] == (shifted ? 0.5 : 1) && expected[5] == (shifted ? 2 : 0));
        assert_same_values(&block, expected);
    }
}

static void dense_blocks(void **state) {
    (void)state;
    float numbers[N * (M + 2)];
    double expected[N * M];
    for (int i = 0; i < N * (M + 2); i++)
        numbers[i] = (float)i;
    rb_block block = {
        .first = 9, .n_samples = N, .n_features = M, .dense = {numbers, N, M, M + 2, RB_FLOAT32}};
    rb_sparse_block none = {.size = sizeof none};
    rb_type type;
    int64_t stride;
    const void *view = rb_block_dense(&block, &type, &stride);
    assert_ptr_equal(view, numbers);
    assert_false(rb_block_sparse(&block, &none));
    for (int i = 0; i < N * M; i++)
        expected[i] = rb_get(type, view, i / M * stride + i % M);
    assert_true(expected[M] == M + 2);
    assert_same_values(&block, expected);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sparse_blocks),
        cmocka_unit_test(dense_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
