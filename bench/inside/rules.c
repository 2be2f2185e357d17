/* `./run rules`: who belongs to a module by the rules `fabia` and `test`, the latter at two levels.
 *
 *   rules [FIRST SEED [SETS]]
 *       mean consensus with what is planted, of as many of the best modules as are planted, 20
 *       units, by default seeds 11 to 20
 *   rules FOLDER
 *       every set of the folder with known classes (FOLDER/NAME/expr.tsv.gz and labels.tsv): the
 *       Jaccard index of samples, modules and classes assigned to each other, mean over classes
 *       and over two seeds, 10 units
 *
 * Each by default options, with the preset for biclusters, and for the consensus of 20 such fits.
 */
#include "../../tool/blas_choice.h"
#include "../bench.h"
#include "../options.h"
#include "io/io.h"
#include "modules/modules.h"

#include <rarebit/consensus.h>
#include <rarebit/io.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const rules[] = {"rule=fabia", "rule=test level=0.1", "rule=test level=0.2"};
enum { RULES = sizeof rules / sizeof *rules };

static const struct {
    const char *name, *options;
    bool consensus;
} ways[] = {{"none", "", false},
            {"biclustering", "preset=biclustering", false},
            {"consensus", "preset=biclustering restarts=20", true}};
enum { WAYS = sizeof ways / sizeof *ways };

static rb_model *fit(rb_context *ctx, int way, int64_t units, int64_t seed, rb_source *source) {
    rb_model *model = NULL;
    rb_options *options;
    bench_check(ctx, rb_options_new(ctx, "rfn", &options));
    bench_check(ctx, rb_options_set_all(ctx, options, "%s units=%lld seed=%lld", ways[way].options,
                                        (long long)units, (long long)seed));
    bench_check(ctx, ways[way].consensus ? rb_fit_consensus(ctx, options, source, &model)
                                         : rb_fit(ctx, options, source, NULL, &model));
    rb_options_free(options);
    return model;
}

static rb_modules *modules_of(rb_context *ctx, const rb_model *model, rb_source *source,
                              const char *rule, int64_t best) {
    rb_options *options =
        bench_options(ctx, NULL, rb_modules_group(), "%s best=%lld", rule, (long long)best);
    rb_modules *modules;
    bench_check(ctx, rb_modules_find(ctx, model, source, options, &modules));
    rb_options_free(options);
    return modules;
}

/* ---- planted ---- */

static double score(rb_context *ctx, const rb_model *model, rb_source *source,
                    const rb_modules *truth, const char *rule) {
    rb_match match = {.size = sizeof match};
    rb_modules *modules = modules_of(ctx, model, source, rule, rb_modules_count(truth));
    bench_check(ctx, rb_modules_match(ctx, modules, truth, &match));
    double value = match.consensus_score;
    rb_match_clear(&match);
    rb_modules_free(modules);
    return value;
}

/* Adds the scores of one set and one preset. */
static void add_set(rb_context *ctx, const char *kind, int way, int64_t seed, double *sums) {
    rb_matrix *matrix;
    rb_modules *truth;
    rb_source *source;
    rb_options *options =
        bench_options(ctx, NULL, rb_biclusters_group(), "%s seed=%lld", kind, (long long)seed);
    bench_check(ctx, rb_simulate_biclusters(ctx, options, &matrix, &truth));
    rb_options_free(options);
    bench_check(ctx, rb_source_from_matrix(ctx, matrix, &source));
    rb_model *model = fit(ctx, way, 20, 1, source);
    for (int r = 0; r < RULES; r++)
        sums[r] += score(ctx, model, source, truth, rules[r]);
    rb_model_free(model);
    rb_source_free(source);
    rb_matrix_free(matrix);
    rb_modules_free(truth);
}

static void print_row(const char *name, const char *preset, const double *sums, int64_t count) {
    printf("| %s | %s |", name, preset);
    for (int r = 0; r < RULES; r++)
        printf(" %.3f |", sums[r] / (double)count);
    putchar('\n');
    fflush(stdout);
}

static void compare(rb_context *ctx, const char *kind, int64_t first, int64_t sets) {
    for (int way = 0; way < WAYS; way++) {
        double sums[RULES] = {0};
        for (int64_t s = first; s < first + sets; s++)
            add_set(ctx, kind, way, s, sums);
        print_row(kind, ways[way].name, sums, sets);
    }
}

static void compare_planted(rb_context *ctx, int64_t first, int64_t sets) {
    static const char *const kinds[] = {"generator=fabia",
                                        "generator=fabia samples=400 features=400",
                                        "generator=fabia samples=400 features=400 noise=1.5",
                                        "generator=fabia samples=200 features=500 noise=2",
                                        "generator=fabia samples=200 features=200 noise=1",
                                        "generator=fabia samples=200 features=100 noise=1",
                                        "generator=fabia samples=200 features=50 noise=1",
                                        "generator=fabia samples=200 features=25 noise=1",
                                        "dataset=D1",
                                        "dataset=D4",
                                        "dataset=D7"};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        compare(ctx, kinds[k], first, sets);
}

/* ---- known classes ---- */

/* The Jaccard index of the samples of a module and those of a class. */
static double overlap(const rb_module *module, const rb_classes *labels, int64_t class) {
    int64_t both = 0, members = 0, of_class = 0;
    for (int64_t i = 0; i < labels->n_samples; i++)
        of_class += labels->class_of[i] == class;
    for (int64_t i = 0; i < module->n_samples; i++) {
        int64_t found = labels->class_of[module->samples[i].index];
        members += found >= 0;
        both += found == class;
    }
    int64_t either = members + of_class - both;
    return either > 0 ? (double)both / (double)either : 0;
}

static double class_score(rb_context *ctx, const rb_modules *modules, const rb_classes *labels) {
    int64_t classes = labels->n_classes, count = rb_modules_count(modules);
    double *gain = bench_take((size_t)(classes * count + 1), sizeof *gain), sum = 0;
    int64_t *partner = bench_take((size_t)classes + 1, sizeof *partner);
    for (int64_t c = 0; c < classes; c++)
        for (int64_t m = 0; m < count; m++)
            gain[c * count + m] = overlap(rb_modules_get(modules, m), labels, c);
    bench_check(ctx, rb_assign(ctx, classes, count, gain, partner));
    for (int64_t c = 0; c < classes; c++)
        sum += partner[c] >= 0 ? gain[c * count + partner[c]] : 0;
    free(gain);
    free(partner);
    return sum / (double)classes;
}

static void compare_classes(rb_context *ctx, const char *name, rb_source *source,
                            const rb_classes *labels) {
    enum { SEEDS = 2 };
    for (int way = 0; way < WAYS; way++) {
        double sums[RULES] = {0};
        for (int seed = 1; seed <= SEEDS; seed++) {
            rb_model *model = fit(ctx, way, 10, seed, source);
            for (int r = 0; r < RULES; r++) {
                rb_modules *modules = modules_of(ctx, model, source, rules[r], 0);
                sums[r] += class_score(ctx, modules, labels);
                rb_modules_free(modules);
            }
            rb_model_free(model);
        }
        print_row(name, ways[way].name, sums, SEEDS);
    }
}

static int is_shown(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static void compare_set(rb_context *ctx, const char *folder, const char *set) {
    char path[4096], classes[4096], name[512];
    rb_matrix *matrix;
    rb_source *source;
    rb_classes labels = {.size = sizeof labels};
    snprintf(path, sizeof path, "%s/%s/expr.tsv.gz", folder, set);
    snprintf(classes, sizeof classes, "%s/%s/labels.tsv", folder, set);
    FILE *file = fopen(path, "rb");
    if (!file) return;
    fclose(file);
    bench_check(ctx, rb_read(ctx, path, NULL, &matrix));
    bench_check(ctx, rb_source_from_matrix(ctx, matrix, &source));
    bench_check(ctx, rb_classes_read(ctx, classes, source, &labels));
    snprintf(name, sizeof name, "%s, %lld x %lld", set, (long long)rb_source_samples(source),
             (long long)rb_source_features(source));
    compare_classes(ctx, name, source, &labels);
    rb_classes_clear(&labels);
    rb_source_free(source);
    rb_matrix_free(matrix);
}

static void compare_folder(rb_context *ctx, const char *folder) {
    struct dirent **entries;
    int count = scandir(folder, &entries, is_shown, alphasort);
    for (int i = 0; i < count; i++) {
        compare_set(ctx, folder, entries[i]->d_name);
        free(entries[i]);
    }
    if (count >= 0) free(entries);
}

int main(int argc, char **argv) {
    choose_blas(argv);
    const char *folder = argc > 1 && (argv[1][0] < '0' || argv[1][0] > '9') ? argv[1] : NULL;
    int64_t first = argc > 1 ? atoll(argv[1]) : 11, sets = argc > 2 ? atoll(argv[2]) : 10;
    rb_context *ctx;
    if (argc > (folder ? 2 : 3) || sets < 1 || rb_context_new(&ctx)) {
        fprintf(stderr, "usage: rules [FIRST SEED [SETS]] | FOLDER\n");
        return 2;
    }
    printf("rarebit %s\n\n| sets | preset |", rb_version());
    for (int r = 0; r < RULES; r++)
        printf(" %s |", rules[r]);
    printf("\n|---|---|---|---|---|\n");
    if (folder)
        compare_folder(ctx, folder);
    else
        compare_planted(ctx, first, sets);
    rb_context_free(ctx);
    return 0;
}
