/* Where the annealed steps aim: from the codes at the means Sigma Q'. */
#include "fixture.h"

#include "rfn/paper/paper.h"

static void direction_leads_to_the_means(void **state) {
    (void)state;
    enum { L = 2, SAMPLES = 3 };
    double sigma[L * L] = {2, 0.5, 0.5, 1}, direction[L * SAMPLES] = {0};
    double linear[L * SAMPLES] = {1, -2, 3, 0.5, 4, -1}, codes[L * SAMPLES] = {0, 1, 2, 3, 0, 5};
    rb_context *ctx = fixture_context();
    rfn_quadratic problem = {.linear = {linear, L, SAMPLES, SAMPLES, RB_FLOAT64}};
    rfn_search search = {.ctx = ctx,
                         .problem = &problem,
                         .sigma = {sigma, L, L, L, RB_FLOAT64},
                         .codes = {codes, L, SAMPLES, SAMPLES, RB_FLOAT64},
                         .direction = {direction, L, SAMPLES, SAMPLES, RB_FLOAT64}};
    rfn_aim_at_means(&search);
    for (int j = 0; j < L; j++)
        for (int i = 0; i < SAMPLES; i++)
            assert_close(direction[j * SAMPLES + i],
                         sigma[j * L] * linear[i] + sigma[j * L + 1] * linear[SAMPLES + i] -
                             codes[j * SAMPLES + i],
                         1e-14);
    assert_true(search.toward_means);
    rb_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(direction_leads_to_the_means)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
