/* `./run consensus`: the consensus of restarts, with no number of modules told.
 *
 *   consensus [-o OPTIONS] [SETS [FIRST]]
 *       planted biclusters by FABIA's generator, 100 x 1000 with 10 modules, sets FIRST ..
 *       FIRST + SETS - 1
 *   consensus [-o OPTIONS] FOLDER
 *       every set of the folder: FOLDER/NAME/expr.tsv.gz
 *
 * OPTIONS are those of the fits and of the consensus: "units=20 preset=biclustering restarts=20".
 * Planted: units that were kept, and the consensus score of all their modules by several rules.
 * Others: units of two consensus models from disjoint seeds, and how their codes match; two pairs.
 */
#include "../../tool/blas_choice.h"
#include "../bench.h"
#include "../options.h"
#include "agreement.h"

#include <rarebit/io.h>

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLANTED = 10, SETS = 50, PAIRS = 2 };

static const char *const planted_options = "preset=biclustering units=20 restarts=20";
static const char *const set_options = "units=20 restarts=100 sparse-loadings=2";

static const char *const rules[] = {
    "rule=fabia",          "rule=fabia sample-threshold=0.65 feature-threshold=0.85",
    "rule=test level=0.1", "rule=test level=0.15",
    "rule=test level=0.2", "rule=test level=0.25"};
enum { RULES = sizeof rules / sizeof *rules };

static rb_model *consensus(rb_context *ctx, const char *text, int64_t seed, rb_source *source) {
    rb_options *options;
    rb_model *model = NULL;
    bench_check(ctx, rb_options_new(ctx, "rfn", &options));
    bench_check(ctx, rb_options_add(ctx, options, rb_consensus_group()));
    bench_check(ctx, rb_options_set_all(ctx, options, "%s seed=%lld", text, (long long)seed));
    bench_check(ctx, rb_fit_consensus(ctx, options, source, &model));
    rb_options_free(options);
    return model;
}

/* ---- planted ---- */

static double score_of(rb_context *ctx, const rb_model *model, rb_source *source,
                       const rb_modules *truth, const char *rule) {
    rb_options *options = bench_options(ctx, NULL, rb_modules_group(), "%s", rule);
    rb_modules *modules;
    rb_match match = {.size = sizeof match};
    bench_check(ctx, rb_modules_find(ctx, model, source, options, &modules));
    bench_check(ctx, rb_modules_match(ctx, modules, truth, &match));
    double score = match.consensus_score;
    rb_match_clear(&match);
    rb_modules_free(modules);
    rb_options_free(options);
    return score;
}

struct sums {
    double score[RULES], square[RULES];
    int64_t right;
};

static void planted(rb_context *ctx, const char *text, int64_t seed, struct sums *sums) {
    rb_matrix *matrix;
    rb_modules *truth;
    rb_source *source;
    rb_options *options = bench_options(ctx, NULL, rb_biclusters_group(),
                                        "generator=fabia seed=%lld", (long long)seed);
    bench_check(ctx, rb_simulate_biclusters(ctx, options, &matrix, &truth));
    bench_check(ctx, rb_source_from_matrix(ctx, matrix, &source));
    double began = bench_now();
    rb_model *model = consensus(ctx, text, seed, source);
    double seconds = bench_now() - began, next = 0;
    int64_t dropped;
    const double *others = rb_model_array(model, "dropped_stability", &dropped, NULL);
    if (dropped > 0) next = others[0];
    printf("| %lld | %lld | %.2f | %.2f |", (long long)seed, (long long)rb_model_units(model),
           rb_model_array(model, "stability", NULL, NULL)[rb_model_units(model) - 1], next);
    sums->right += rb_model_units(model) == PLANTED;
    for (int r = 0; r < RULES; r++) {
        double score = score_of(ctx, model, source, truth, rules[r]);
        printf(" %.3f |", score);
        sums->score[r] += score;
        sums->square[r] += score * score;
    }
    printf(" %.2f |\n", seconds);
    fflush(stdout);
    rb_model_free(model);
    rb_source_free(source);
    rb_matrix_free(matrix);
    rb_modules_free(truth);
    rb_options_free(options);
}

static void all_planted(rb_context *ctx, const char *text, int64_t sets, int64_t first) {
    struct sums sums = {0};
    printf("| set | units | least stable | next |");
    for (int r = 0; r < RULES; r++)
        printf(" %s |", rules[r]);
    printf(" s |\n|---|---|---|---|");
    for (int r = 0; r < RULES; r++)
        printf("---|");
    printf("---|\n");
    for (int64_t i = 0; i < sets; i++)
        planted(ctx, text, first + i, &sums);
    printf("\n%d units in %lld of %lld sets; mean score, standard error\n", PLANTED,
           (long long)sums.right, (long long)sets);
    for (int r = 0; r < RULES; r++) {
        double n = (double)sets, mean = sums.score[r] / n;
        printf("  %-60s %.3f +- %.3f\n", rules[r], mean,
               sqrt(fmax(sums.square[r] / n - mean * mean, 0) / n));
    }
}

/* ---- sets of a folder ---- */

/* Of the models from seeds 2 p + 1 and 2 p + 2; prints their units. */
static double match_pair(rb_context *ctx, const char *text, int p, rb_source *source) {
    bench_codes codes[2];
    int64_t units[2];
    for (int s = 0; s < 2; s++) {
        rb_model *model = consensus(ctx, text, 2 * p + s + 1, source);
        units[s] = rb_model_units(model);
        codes[s] = bench_codes_of(ctx, model, source);
        rb_model_free(model);
    }
    printf(" %lld, %lld |", (long long)units[0], (long long)units[1]);
    double match = bench_match(ctx, &codes[0], &codes[1], rb_source_samples(source));
    free(codes[0].values);
    free(codes[1].values);
    return match;
}

static void from_two_seeds(rb_context *ctx, const char *text, const char *name, const char *path) {
    rb_matrix *matrix;
    rb_source *source;
    double matches[PAIRS], sum = 0, began = bench_now();
    bench_check(ctx, rb_read(ctx, path, NULL, &matrix));
    bench_check(ctx, rb_source_from_matrix(ctx, matrix, &source));
    printf("| %s | %lld x %lld |", name, (long long)rb_source_samples(source),
           (long long)rb_source_features(source));
    for (int p = 0; p < PAIRS; p++) {
        matches[p] = match_pair(ctx, text, p, source);
        sum += matches[p];
    }
    for (int p = 0; p < PAIRS; p++)
        printf("%s%.3f", p ? ", " : " ", matches[p]);
    printf(" | %.3f | %.2f |\n", sum / PAIRS, (bench_now() - began) / 2 / PAIRS);
    fflush(stdout);
    rb_source_free(source);
    rb_matrix_free(matrix);
}

static int is_shown(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static void all_of(rb_context *ctx, const char *text, const char *folder) {
    struct dirent **entries;
    int count = scandir(folder, &entries, is_shown, alphasort);
    printf("| set | samples x features | units | units | matches | mean | s |\n"
           "|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s/expr.tsv.gz", folder, entries[i]->d_name);
        FILE *file = fopen(path, "rb");
        if (file) {
            fclose(file);
            from_two_seeds(ctx, text, entries[i]->d_name, path);
        }
        free(entries[i]);
    }
    if (count >= 0) free(entries);
}

int main(int argc, char **argv) {
    choose_blas(argv);
    rb_context *ctx;
    const char *text = NULL;
    int at = 1;
    if (argc > 2 && strcmp(argv[1], "-o") == 0) {
        text = argv[2];
        at = 3;
    }
    if (argc > at + 2 || rb_context_new(&ctx)) {
        fprintf(stderr, "usage: consensus [-o OPTIONS] [SETS [FIRST]] | FOLDER\n");
        return 2;
    }
    const char *first = argc > at ? argv[at] : "";
    int64_t sets = *first ? strtoll(first, NULL, 10) : SETS;
    bool folder = sets <= 0;
    const char *options = text ? text : folder ? set_options : planted_options;
    printf("rarebit %s: %s\n\n", rb_version(), options);
    if (folder)
        all_of(ctx, options, first);
    else
        all_planted(ctx, options, sets, argc > at + 1 ? strtoll(argv[at + 1], NULL, 10) : 1);
    rb_context_free(ctx);
    return 0;
}
