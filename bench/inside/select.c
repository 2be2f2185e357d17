/* `./run select [SETS]`: does rb_select find how many causes were planted? Both generators of
 * biclusters and bars, each with three noises; `--each` prints the table of every set. */
#include "../../tool/blas_choice.h"
#include "../bench.h"
#include "../options.h"
#include "analysis/analysis.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kind {
    const char *name, *method, *units, *options;
    int64_t planted;
    double noise;
};

static const struct kind kinds[] = {
    {"fabia, noise 1.5", "rfn", "2:20", "", 10, 1.5},
    {"fabia, noise 3", "rfn", "2:20", "", 10, 3},
    {"fabia, noise 4.5", "rfn", "2:20", "", 10, 4.5},
    {"rfn, noise 0.5", "rfn", "2:20", "", 10, 0.5},
    {"rfn, noise 1", "rfn", "2:20", "", 10, 1},
    {"rfn, noise 3", "rfn", "2:20", "", 10, 3},
    {"bars, noise 1", "linca", "4:16",
     "temperature=13:1 iterations=100 candidates=6 max-active=4 init-mean=4 init-sd=1.3333 "
     "weight-noise=0.05",
     10, 1},
    {"bars, noise 2", "linca", "4:16",
     "temperature=13:1 iterations=100 candidates=6 max-active=4 init-mean=4 init-sd=1.3333 "
     "weight-noise=0.05",
     10, 3},
    {"bars, noise 3", "linca", "4:16",
     "temperature=13:1 iterations=100 candidates=6 max-active=4 init-mean=4 init-sd=1.3333 "
     "weight-noise=0.05",
     10, 3},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static rb_matrix *make(rb_context *ctx, const struct kind *kind, int64_t seed) {
    rb_matrix *matrix = NULL, *fields = NULL, *states = NULL;
    rb_modules *planted = NULL;
    if (kind->name[0] == 'b') {
        rb_bars_plan plan = {.size = 5,
                             .width = 1,
                             .value = 10,
                             .probability = 0.15,
                             .noise_sd = kind->noise,
                             .n_samples = 500,
                             .seed = (uint64_t)seed};
        bench_check(ctx, rb_generate_bars(ctx, &plan, &matrix, &fields, &states));
    } else {
        rb_bicluster_plan plan =
            kind->name[0] == 'f' ? rb_plan_fabia(100, 1000) : rb_plan_rfn(1, 0, 200, 200);
        plan.groups[1].count = 0;
        plan.noise_sd = kind->noise;
        plan.seed = (uint64_t)seed;
        bench_check(ctx, rb_generate_biclusters(ctx, &plan, &matrix, &planted));
    }
    rb_modules_free(planted);
    rb_matrix_free(fields);
    rb_matrix_free(states);
    return matrix;
}

static void print_table(const rb_selection *s) {
    const char *name;
    for (int64_t c = 0; (name = rb_selection_name(s, c)); c++)
        printf("%s%s", c ? " " : "", name);
    putchar('\n');
    for (int64_t r = 0; r < rb_selection_rows(s); r++) {
        for (int64_t c = 0; (name = rb_selection_name(s, c)); c++)
            printf("%s%.5g", c ? " " : "", rb_selection_get(s, r, name));
        putchar('\n');
    }
}

int main(int argc, char **argv) {
    int64_t sets = 3;
    bool each = false;
    const char *only = NULL;
    choose_blas_kernels(argv);
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--each") == 0)
            each = true;
        else if (atoi(argv[i]) > 0)
            sets = atoi(argv[i]);
        else
            only = argv[i];
    rb_context *ctx;
    bench_check(NULL, rb_context_new(&ctx));
    bench_check(ctx, rb_context_set_threads(ctx, 2));
    for (int k = 0; k < KINDS; k++) {
        int64_t inside = 0, hit = 0, unsure = 0;
        double width = 0, seconds = bench_now();
        if (only && !strstr(kinds[k].name, only)) continue;
        for (int64_t seed = 1; seed <= sets; seed++) {
            rb_matrix *matrix = make(ctx, &kinds[k], seed);
            rb_source *source;
            rb_options *options;
            rb_selection *s;
            int64_t units, low, high;
            bench_check(ctx, rb_source_from_matrix(ctx, matrix, &source));
            bench_check(ctx, rb_select_options(ctx, kinds[k].method, &options));
            bench_check(ctx, rb_options_set_all(ctx, options, "units=%s %s seed=%lld",
                                                kinds[k].units, kinds[k].options, (long long)seed));
            bench_check(ctx, rb_select(ctx, options, source, &s));
            const char *why = rb_selection_choice(s, &units, &low, &high);
            inside += units > 0 && low <= kinds[k].planted && kinds[k].planted <= high;
            hit += units == kinds[k].planted;
            unsure += units == 0;
            width += (double)(high - low);
            if (each) {
                printf("%s, set %d: %s\n", kinds[k].name, (int)seed, why);
                print_table(s);
            }
            rb_selection_free(s);
            rb_options_free(options);
            rb_source_free(source);
            rb_matrix_free(matrix);
        }
        printf("%-18s inside %3d of %d, picked %d, unsure %d, width %.1f, %.1f s a set\n",
               kinds[k].name, (int)inside, (int)sets, (int)hit, (int)unsure, width / (double)sets,
               (bench_now() - seconds) / (double)sets);
        fflush(stdout);
    }
    rb_context_free(ctx);
    return 0;
}
