/* Clusters by average linkage, beside a plain search over all pairs. */
#include "analysis/analysis.h"
#include "fixture.h"

enum { N = 24 };

/* Joins the most similar pair again and again, with averages taken from the members. */
static void plain(int64_t n, const double *similarity, double bound, int64_t *cluster_of) {
    for (int64_t i = 0; i < n; i++)
        cluster_of[i] = i;
    for (;;) {
        double best = -2;
        int64_t first = -1, second = -1;
        for (int64_t a = 0; a < n; a++) {
            for (int64_t b = a + 1; b < n; b++) {
                double sum = 0, count = 0;
                for (int64_t i = 0; i < n; i++) {
                    for (int64_t j = 0; j < n; j++) {
                        if (cluster_of[i] != a || cluster_of[j] != b) continue;
                        sum += similarity[i * n + j];
                        count++;
                    }
                }
                if (count > 0 && sum / count > best) {
                    best = sum / count;
                    first = a;
                    second = b;
                }
            }
        }
        if (best < bound) return;
        for (int64_t i = 0; i < n; i++)
            cluster_of[i] = cluster_of[i] == second ? first : cluster_of[i];
    }
}

static void joins_as_a_plain_search_does(void **state) {
    (void)state;
    rb_context *ctx = fixture_context();
    for (uint64_t seed = 1; seed <= 20; seed++) {
        rb_draws draws = {{seed, RB_RANDOM_SIMULATE, 0}, 0};
        double similarity[N * N], copy[N * N];
        int64_t got[N], wanted[N], clusters = 0;
        for (int i = 0; i < N; i++)
            for (int j = 0; j <= i; j++)
                similarity[i * N + j] = similarity[j * N + i] =
                    i == j ? 1 : 0.7 * (i % 4 == j % 4) + 0.4 * rb_draw_uniform(&draws);
        memcpy(copy, similarity, sizeof copy);
        assert_ok(ctx, rb_link_average(ctx, N, copy, 0.85, got));
        plain(N, similarity, 0.85, wanted);
        assert_memory_equal(got, wanted, sizeof got);
        for (int i = 0; i < N; i++)
            clusters += got[i] == i;
        assert_in_range(clusters, 4, N - 1);
    }
    rb_context_free(ctx);
}

static void one_thing_and_none_are_fine(void **state) {
    (void)state;
    rb_context *ctx = fixture_context();
    double one = 1;
    int64_t of = -1;
    assert_ok(ctx, rb_link_average(ctx, 1, &one, 0.5, &of));
    assert_int_equal(of, 0);
    assert_ok(ctx, rb_link_average(ctx, 0, NULL, 0.5, NULL));
    rb_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins_as_a_plain_search_does),
        cmocka_unit_test(one_thing_and_none_are_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
