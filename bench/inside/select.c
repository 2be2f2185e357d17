/* `./run select [SETS] [CASE]`: does rb_select find how many causes were planted? Both generators
 * of biclusters and bars, each with three noises.
 *
 *     --first SEED   of the first set
 *     --keep FOLDER  results of all fits: the same command goes on from them, with any rule
 *     --threads N
 *     --each         the table of every set */
#include "../../tool/blas_choice.h"
#include "../bench.h"
#include "../options.h"
#include "simulate/simulate.h"
#include <rarebit/io.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct kind {
    const char *name, *method, *units, *options;
    int64_t planted;
    double noise;
};

static const struct kind kinds[] = {
    {"fabia, noise 1.5", "rfn", "4:16", "", 10, 1.5},
    {"fabia, noise 3", "rfn", "4:16", "", 10, 3},
    {"fabia, noise 4.5", "rfn", "4:16", "", 10, 4.5},
    {"rfn, noise 0.5", "rfn", "4:16", "", 10, 0.5},
    {"rfn, noise 1", "rfn", "4:16", "", 10, 1},
    {"rfn, noise 3", "rfn", "4:16", "", 10, 3},
    {"bars, noise 1", "linca", "6:14",
     "temperature=13:1 iterations=100 candidates=6 max-active=4 init-mean=4 init-sd=1.3333 "
     "weight-noise=0.05",
     10, 1},
    {"bars, noise 2", "linca", "6:14",
     "temperature=13:1 iterations=100 candidates=6 max-active=4 init-mean=4 init-sd=1.3333 "
     "weight-noise=0.05",
     10, 2},
    {"bars, noise 3", "linca", "6:14",
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

struct tally {
    int64_t inside, hit, unsure;
    double width;
};

/* What is asked for on the command line. */
struct wish {
    int64_t sets, first, threads;
    const char *only, *keep;
    bool each;
};

static void choose(rb_context *ctx, const struct kind *kind, const struct wish *wish, int64_t seed,
                   struct tally *tally) {
    rb_matrix *matrix = make(ctx, kind, seed);
    rb_source *source;
    rb_options *options;
    rb_selection *s;
    char path[512];
    int64_t units, low, high;
    bench_check(ctx, rb_source_from_matrix(ctx, matrix, &source));
    bench_check(ctx, rb_select_options(ctx, kind->method, &options));
    bench_check(ctx, rb_options_set_all(ctx, options, "units=%s restarts=6 folds=3 %s seed=%lld",
                                        kind->units, kind->options, (long long)seed));
    snprintf(path, sizeof path, "%s/%s %lld", wish->keep ? wish->keep : "", kind->name,
             (long long)seed);
    if (wish->keep) bench_check(ctx, rb_options_set(ctx, options, "checkpoint", path));
    bench_check(ctx, rb_select(ctx, options, source, &s));
    const char *why = rb_selection_choice(s, &units, &low, &high);
    tally->inside += units > 0 && low <= kind->planted && kind->planted <= high;
    tally->hit += units == kind->planted;
    tally->unsure += units == 0;
    tally->width += (double)(high - low);
    if (wish->each) {
        printf("%s, set %d: %s\n", kind->name, (int)seed, why);
        print_table(s);
    }
    rb_selection_free(s);
    rb_options_free(options);
    rb_source_free(source);
    rb_matrix_free(matrix);
}

static struct wish read_wish(char **argv) {
    struct wish wish = {.sets = 3, .first = 1, .threads = 2};
    for (char **arg = argv + 1; *arg; arg++)
        if (strcmp(*arg, "--each") == 0)
            wish.each = true;
        else if (strcmp(*arg, "--keep") == 0 && arg[1])
            wish.keep = *++arg;
        else if (strcmp(*arg, "--first") == 0 && arg[1])
            wish.first = atoi(*++arg);
        else if (strcmp(*arg, "--threads") == 0 && arg[1])
            wish.threads = atoi(*++arg);
        else if (atoi(*arg) > 0)
            wish.sets = atoi(*arg);
        else
            wish.only = *arg;
    return wish;
}

int main(int argc, char **argv) {
    rb_context *ctx;
    (void)argc;
    choose_blas(argv);
    struct wish wish = read_wish(argv);
    bench_check(NULL, rb_context_new(&ctx));
    bench_check(ctx, rb_context_set_threads(ctx, (int)wish.threads));
    rb_io_use(ctx);
    for (int k = 0; k < KINDS; k++) {
        struct tally t = {0};
        clock_t began = clock();
        if (wish.only && !strstr(kinds[k].name, wish.only)) continue;
        for (int64_t seed = wish.first; seed < wish.first + wish.sets; seed++)
            choose(ctx, &kinds[k], &wish, seed, &t);
        printf("%-18s inside %3d of %d, picked %d, unsure %d, width %.1f, %.1f s of processor a "
               "set\n",
               kinds[k].name, (int)t.inside, (int)wish.sets, (int)t.hit, (int)t.unsure,
               t.width / (double)wish.sets,
               (double)(clock() - began) / CLOCKS_PER_SEC / (double)wish.sets);
        fflush(stdout);
    }
    rb_context_free(ctx);
    return 0;
}
