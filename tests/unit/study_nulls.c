/* Null data of rotated samples, by themselves. */
#include "fixture.h"

#include "study/study.h"

#include <math.h>

/* Means and covariances of features are those of the data, of few samples and of many, and where
 * samples are just as many as features, one more and two more; samples are others, for another
 * number as well. */
static void rotation_keeps_covariances(void **state) {
    (void)state;
    static const int64_t sizes[] = {9, 15, 16, 17, 40};
    rb_context *ctx = fixture_context();
    for (int s = 0; s < 5; s++) {
        int64_t n = sizes[s], m = 15;
        double values[40 * 15], largest = 0;
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
    rb_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rotation_keeps_covariances)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
