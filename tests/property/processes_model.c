/* bench/processes.py, which says how long an iteration takes with processes that nobody has, has a
 * rule of groups of its own: it is that of the library. */
#include "fixture.h"
#include "skip.h"

#include "em/em.h"
#include "rfn/rfn.h"

static int64_t groups_of(int64_t samples, int64_t features) {
    rb_fit_options fit;
    rb_rfn_options options;
    rb_fit_options_default(&fit);
    rb_rfn_options_default(&options);
    options.units = 50;
    rb_problem problem = {.n_samples = samples,
                          .own = samples,
                          .n_features = features,
                          .batch_samples = samples,
                          .fit = &fit,
                          .method = &rb_method_rfn,
                          .engine = rb_method_rfn.engines[0]};
    problem.block_samples = rb_method_block_samples(&problem, &options);
    rb_shape shape = rb_shape_of(&problem, &options);
    return rb_sums_groups(&problem, &shape, samples);
}

static int64_t groups_said(int64_t samples, int64_t features) {
    char command[1024], answer[64] = "";
    snprintf(command, sizeof command,
             "cd %s/../bench && python3 -B -c 'import processes; print(processes.groups_of(%lld, "
             "%lld))'",
             TEST_DATA, (long long)samples, (long long)features);
    FILE *python = popen(command, "r");
    assert_non_null(python);
    bool said = fgets(answer, sizeof answer, python) != NULL;
    return pclose(python) == 0 && said ? atoll(answer) : -1;
}

static void groups_are_those_of_the_library(void **state) {
    (void)state;
    static const int64_t samples[] = {17000, 1000000, 100000000};
    static const int64_t features[] = {12, 1000, 20000, 1000000};
    if (system("python3 -c pass") != 0) skip_without("no python3", "python3");
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        for (size_t k = 0; k < sizeof features / sizeof *features; k++) {
            int64_t groups = groups_of(samples[i], features[k]);
            if (groups_said(samples[i], features[k]) != groups)
                fail_msg("%lld x %lld: %lld groups", (long long)samples[i], (long long)features[k],
                         (long long)groups);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(groups_are_those_of_the_library)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
