/* `./run rules`: who belongs to a module by the rules `fabia` and `test`. Mean consensus with what
 * is planted, of as many of the best modules as are planted, 20 units, by default seeds 11 to 20.
 */
#include "../tool/blas_choice.h"
#include "bench.h"
#include "options.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const rules[] = {"fabia", "test"};
enum { RULES = sizeof rules / sizeof *rules };

static double score(rb_context *ctx, const rb_model *model, rb_source *source,
                    const rb_modules *truth, const char *rule) {
    rb_options *options = bench_options(ctx, NULL, rb_modules_group(), "rule=%s best=%lld", rule,
                                        (long long)rb_modules_count(truth));
    rb_match match = {.size = sizeof match};
    rb_modules *modules;
    bench_check(ctx, rb_modules_find(ctx, model, source, options, &modules));
    bench_check(ctx, rb_modules_match(ctx, modules, truth, &match));
    double value = match.consensus_score;
    rb_match_clear(&match);
    rb_modules_free(modules);
    rb_options_free(options);
    return value;
}

/* Adds the scores of one set and one preset. */
static void add_set(rb_context *ctx, const char *kind, const char *preset, int64_t seed,
                    double *sums) {
    rb_matrix *matrix;
    rb_modules *truth;
    rb_source *source;
    rb_model *model;
    rb_options *options =
        bench_options(ctx, NULL, rb_biclusters_group(), "%s seed=%lld", kind, (long long)seed);
    bench_check(ctx, rb_simulate_biclusters(ctx, options, &matrix, &truth));
    rb_options_free(options);
    bench_check(ctx, rb_source_from_matrix(ctx, matrix, &source));
    options = bench_options(ctx, "rfn", NULL, "units=20 preset=%s", preset);
    bench_check(ctx, rb_fit(ctx, options, source, NULL, &model));
    for (int r = 0; r < RULES; r++)
        sums[r] += score(ctx, model, source, truth, rules[r]);
    rb_options_free(options);
    rb_model_free(model);
    rb_source_free(source);
    rb_matrix_free(matrix);
    rb_modules_free(truth);
}

static void compare(rb_context *ctx, const char *kind, int64_t first, int64_t sets) {
    static const char *const presets[] = {"none", "biclustering"};
    for (int p = 0; p < 2; p++) {
        double sums[RULES] = {0};
        for (int64_t s = first; s < first + sets; s++)
            add_set(ctx, kind, presets[p], s, sums);
        printf("| %s | %s | %.3f | %.3f |\n", kind, presets[p], sums[0] / (double)sets,
               sums[1] / (double)sets);
        fflush(stdout);
    }
}

int main(int argc, char **argv) {
    choose_blas_kernels(argv);
    int64_t first = argc > 1 ? atoll(argv[1]) : 11, sets = argc > 2 ? atoll(argv[2]) : 10;
    rb_context *ctx;
    if (argc > 3 || first < 0 || sets < 1 || rb_context_new(&ctx)) {
        fprintf(stderr, "usage: rules [FIRST SEED [SETS]]\n");
        return 2;
    }
    printf("rarebit %s\n\n| sets | preset | fabia | test |\n|---|---|---|---|\n", rb_version());
    compare(ctx, "generator=fabia", first, sets);
    compare(ctx, "generator=fabia samples=400 features=400", first, sets);
    compare(ctx, "generator=fabia samples=400 features=400 noise=1.5", first, sets);
    compare(ctx, "generator=fabia samples=200 features=500 noise=2", first, sets);
    compare(ctx, "dataset=D1", first, sets);
    compare(ctx, "dataset=D7", first, sets);
    rb_context_free(ctx);
    return 0;
}
