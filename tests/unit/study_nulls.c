/* Null data by themselves: rotated samples, blocks of samples. */
#include "fixture.h"

#include "study/study.h"

#include <rarebit/covariates.h>

#include <math.h>

/* Means and covariances of features are those of the data, of few samples and of many, and where
 * samples are just as many as features, one more and two more, also of directions by panels;
 * samples are others, for another number as well. */
static void rotation_keeps_covariances(void **state) {
    static const int64_t sizes[][2] = {{9, 15}, {15, 15}, {16, 15}, {17, 15}, {40, 15}, {151, 150}};
    static double values[151 * 150];
    rb_context *ctx = *state;
    for (int s = 0; s < 6; s++) {
        int64_t n = sizes[s][0], m = sizes[s][1];
        double largest = 0;
        rb_draws draws = {.stream = {.seed = 4, .purpose = RB_RANDOM_SIMULATE}};
        for (int64_t i = 0; i < n * m; i++)
            values[i] = 5 + rb_draw_normal(&draws) + (i % m ? values[i - 1] - 5 : 0);
        rb_matrix *matrix, *rotated[2];
        rb_rotation *rotation;
        assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, n, m, values, m, 1, &matrix));
        assert_null(rb_rotation_flaw(matrix));
        assert_ok(ctx, rb_rotation_new(ctx, matrix, &rotation));
        for (int b = 0; b < 2; b++)
            assert_ok(ctx, rb_study_rotate(ctx, rotation, 1, b, &rotated[b]));
        const double *a = rotated[0]->values, *other = rotated[1]->values;
        for (int64_t k = 0; k < m * m; k++) {
            double before = 0, after = 0, mean = 0, kept = 0;
            for (int64_t i = 0; i < n; i++) {
                before += values[i * m + k / m] * values[i * m + k % m];
                after += a[i * m + k / m] * a[i * m + k % m];
                mean += values[i * m + k % m];
                kept += a[i * m + k % m];
                largest = fmax(largest, fabs(a[i * m + k % m] - other[i * m + k % m]));
            }
            assert_close(after, before, 1e-9 * fabs(before));
            assert_close(kept, mean, 1e-9 * fabs(mean));
        }
        assert_true(largest > 1);
        for (int b = 0; b < 2; b++)
            rb_matrix_free(rotated[b]);
        rb_rotation_free(rotation);
        rb_matrix_free(matrix);
    }
}

/* Samples are not rotated where values are missing, nor what is sparse and stays so. */
static void where_samples_are_not_rotated(void **state) {
    rb_context *ctx = *state;
    static float values[6] = {1, 2, 3, NAN, 5, 6};
    static const int64_t starts[] = {0, 1, 2, 3};
    static const int32_t columns[] = {0, 1, 0};
    rb_matrix *missing, *sparse;
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT32, 3, 2, values, 2, 1, &missing));
    assert_ok(ctx, rb_matrix_csr(ctx, RB_FLOAT32, 3, 2, starts, columns, values, &sparse));
    assert_string_equal(rb_rotation_flaw(missing),
                        "values are missing (a fit with `missing=mean` fills them)");
    assert_string_equal(rb_rotation_flaw(sparse), "the data are sparse");
    assert_true(rb_rotation_fits(true, 10000, 2000) && rb_rotation_fits(true, 2001, 9000));
    assert_false(rb_rotation_fits(true, 10001, 2000) || rb_rotation_fits(true, 2002, 2001));
    rb_matrix_free(missing);
    rb_matrix_free(sparse);
}

/* Compressed or not, a feature has the values that it had, of other samples. */
static void permuted_features_keep_their_values(void **state) {
    enum { SAMPLES = 40, FEATURES = 3 };
    static const int64_t seed = 3;
    rb_context *ctx = *state;
    int64_t starts[SAMPLES + 1] = {0};
    int32_t columns[SAMPLES * FEATURES];
    float values[SAMPLES * FEATURES];
    for (int i = 0; i < SAMPLES; i++) {
        starts[i + 1] = starts[i];
        for (int k = 0; k < FEATURES; k++) {
            if ((i + k) % 3 == 0) continue;
            columns[starts[i + 1]] = k;
            values[starts[i + 1]++] = (float)(1 << k) + (float)i;
        }
    }
    rb_matrix *matrix, *permuted;
    assert_ok(ctx,
              rb_matrix_csr(ctx, RB_FLOAT32, SAMPLES, FEATURES, starts, columns, values, &matrix));
    assert_ok(ctx, rb_study_permute(ctx, matrix, FEATURES, seed, 0, &permuted));
    assert_true(permuted->sparse);
    for (int k = 0; k < FEATURES; k++) {
        double sum = 0, squares = 0;
        int64_t moved = 0;
        for (int i = 0; i < SAMPLES; i++) {
            double before = rb_matrix_at(matrix, i, k), after = rb_matrix_at(permuted, i, k);
            sum += after - before;
            squares += after * after - before * before;
            moved += after != before;
        }
        assert_true(sum == 0 && squares == 0 && moved > SAMPLES / 2);
    }
    rb_matrix_free(permuted);
    rb_matrix_free(matrix);
}

/* Samples of a block stay together: features of a permutation come from one block each, in its
 * order, and blocks that were folded unfold to what they were. */
static void blocks_stay_together(void **state) {
    rb_context *ctx = *state;
    enum { BLOCKS = 6, SIZE = 3, FEATURES = 4, SAMPLES = BLOCKS * SIZE };
    const char *of[SAMPLES];
    char names[BLOCKS][2] = {"a", "b", "c", "d", "e", "f"};
    double values[SAMPLES * FEATURES];
    for (int i = 0; i < SAMPLES; i++) {
        of[i] = names[i % BLOCKS]; /* scattered over the file */
        for (int k = 0; k < FEATURES; k++)
            values[i * FEATURES + k] = i % BLOCKS + 0.1 * (i / BLOCKS);
    }
    rb_covariates *table;
    rb_blocks blocks;
    rb_matrix *matrix, *folded, *permuted, *back;
    assert_ok(ctx, rb_covariates_new(ctx, SAMPLES, &table));
    assert_ok(ctx, rb_covariates_add_groups(ctx, table, "block", of));
    assert_ok(ctx, rb_blocks_of(ctx, table, SAMPLES, &blocks));
    assert_int_equal(blocks.size, SIZE);
    assert_ok(ctx,
              rb_matrix_dense(ctx, RB_FLOAT64, SAMPLES, FEATURES, values, FEATURES, 1, &matrix));
    assert_ok(ctx, rb_blocks_fold(ctx, &blocks, matrix, &folded));
    assert_ok(ctx, rb_study_permute(ctx, folded, FEATURES, 1, 0, &permuted));
    assert_ok(ctx, rb_blocks_unfold(ctx, &blocks, &permuted));
    const double *p = permuted->values;
    int64_t moved = 0;
    for (int i = 0; i < BLOCKS * FEATURES; i++) {
        int block = i / FEATURES, k = i % FEATURES;
        moved += p[block * FEATURES + k] != values[block * FEATURES + k];
        for (int t = 0; t < SIZE; t++)
            assert_close(p[(block + t * BLOCKS) * FEATURES + k],
                         floor(p[block * FEATURES + k]) + 0.1 * t, 1e-12);
    }
    assert_true(moved > 4);
    back = folded;
    assert_ok(ctx, rb_blocks_unfold(ctx, &blocks, &back));
    assert_memory_equal(back->values, values, sizeof values);
    rb_matrix_free(back);
    rb_matrix_free(permuted);
    rb_matrix_free(matrix);
    rb_blocks_clear(&blocks);
    rb_covariates_free(table);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rotation_keeps_covariances),
                                       cmocka_unit_test(where_samples_are_not_rotated),
                                       cmocka_unit_test(permuted_features_keep_their_values),
                                       cmocka_unit_test(blocks_stay_together)};
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
