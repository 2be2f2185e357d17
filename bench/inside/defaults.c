/* `./run defaults`: what a fit without options gives, beside the presets, on planted biclusters, on
 * the cells of the demo, or on every set of a folder.
 *
 *   empty, full   percent of samples without an active unit, and with 9 in 10 of the living ones
 *   units         that live
 *   match         mean over pairs of seeds: units of two models paired so that the correlation of
 *                 their codes is largest, the sum over the larger number of living units
 *   found         planted: consensus score with the truth. Else: the area under the ROC curve of
 *                 the unit that marks a class best, mean over classes
 *   held out      mean log-likelihood of every fifth sample under a fit to the others
 *
 * Planted sets are means over 3 sets x 2 seeds, others over 4 seeds.
 */
#include "../../tool/blas_choice.h"
#include "../bench.h"
#include "../options.h"
#include "agreement.h"
#include "io/io.h"
#include "modules/modules.h"
#include <rarebit/document.h>

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SEEDS = 4, PLANTED_SETS = 3, HELD_OUT = 5 };

/* A table of numbers and, to compare with, a truth or classes. */
struct set {
    const char *name;
    int64_t units, wanted; /* of the fit; modules to compare with the truth */
    rb_matrix *matrix;
    rb_source *source;
    rb_modules *truth;
    const char *labels;
};

struct outcome {
    double empty, full, living, match, found, held_out, seconds;
};

static void add(struct outcome *sum, const struct outcome *o, double weight) {
    sum->empty += weight * o->empty;
    sum->full += weight * o->full;
    sum->living += weight * o->living;
    sum->match += weight * o->match;
    sum->found += weight * o->found;
    sum->held_out += weight * o->held_out;
    sum->seconds += weight * o->seconds;
}

static rb_model *fit(rb_context *ctx, const char *preset, int64_t units, int64_t seed,
                     rb_source *source) {
    rb_options *options = bench_options(ctx, "rfn", NULL, "preset=%s units=%lld seed=%lld", preset,
                                        (long long)units, (long long)seed);
    rb_model *model;
    bench_check(ctx, rb_fit(ctx, options, source, NULL, &model));
    rb_options_free(options);
    return model;
}

/* ---- what a fit has found ---- */

static double found(rb_context *ctx, const struct set *set, const rb_model *model) {
    rb_options *options =
        bench_options(ctx, NULL, rb_modules_group(), "best=%lld%s",
                      (long long)(set->truth ? set->wanted : 0), set->truth ? " rule=fabia" : "");
    rb_modules *modules;
    double score = 0;
    bench_check(ctx, rb_modules_find(ctx, model, set->source, options, &modules));
    rb_options_free(options);
    if (set->truth) {
        rb_match agreement = {.size = sizeof agreement};
        bench_check(ctx, rb_modules_match(ctx, modules, set->truth, &agreement));
        score = agreement.consensus_score;
        rb_match_clear(&agreement);
    } else {
        rb_classes classes = {.size = sizeof classes};
        rb_document document = {.size = sizeof document, .model = model, .source = set->source};
        rb_covariates *labels;
        bench_check(ctx, rb_classes_read(ctx, set->labels, set->source, &classes));
        bench_check(ctx, rb_covariates_new(ctx, classes.n_samples, &labels));
        bench_check(ctx, rb_covariates_add_classes(ctx, labels, "class", &classes));
        document.labels = labels;
        bench_check(ctx, rb_document_make(ctx, &document));
        const rb_group_aucs *aucs = &document.aucs;
        for (int64_t c = 0; c < aucs->n_groups; c++)
            score += aucs->rows[c * aucs->n_units + aucs->best[c]].auc / (double)aucs->n_groups;
        rb_document_clear(&document);
        rb_covariates_free(labels);
        rb_classes_clear(&classes);
    }
    rb_modules_free(modules);
    return score;
}

/* Every fifth sample, or the others. */
static rb_source *part_of(rb_context *ctx, const rb_matrix *all, bool held_out, rb_matrix **part) {
    int64_t n = rb_matrix_samples(all), m = rb_matrix_features(all), rows = 0;
    float *values = bench_take((size_t)(n * m), sizeof *values);
    rb_source *source;
    for (int64_t i = 0; i < n; i++) {
        if ((i % HELD_OUT == 0) == held_out) {
            for (int64_t k = 0; k < m; k++)
                values[rows * m + k] = (float)rb_matrix_at(all, i, k);
            rows++;
        }
    }
    bench_check(ctx, rb_matrix_dense(ctx, RB_FLOAT32, rows, m, values, m, 1, part));
    bench_check(ctx, rb_source_from_matrix(ctx, *part, &source));
    return source;
}

static void free_part(rb_source *source, rb_matrix *part) {
    float *values = (float *)part->values;
    rb_source_free(source);
    rb_matrix_free(part);
    free(values);
}

static double held_out(rb_context *ctx, const struct set *set, const char *preset) {
    rb_matrix *kept, *left;
    rb_source *training = part_of(ctx, set->matrix, false, &kept);
    rb_source *test = part_of(ctx, set->matrix, true, &left);
    rb_model *model = fit(ctx, preset, set->units, 1, training);
    rb_metrics *evaluation;
    bench_check(ctx, rb_evaluate(ctx, model, test, &evaluation));
    rb_model_free(model);
    free_part(training, kept);
    free_part(test, left);
    double value = rb_metrics_get(evaluation, "log_likelihood");
    rb_metrics_free(evaluation);
    return value;
}

static struct outcome measure(rb_context *ctx, const struct set *set, const char *preset,
                              int seeds) {
    bench_codes codes[MAX_SEEDS];
    struct outcome mean = {.held_out = held_out(ctx, set, preset)};
    int64_t n = rb_source_samples(set->source);
    for (int s = 0; s < seeds; s++) {
        double began = bench_now();
        rb_model *model = fit(ctx, preset, set->units, s + 1, set->source);
        double seconds = bench_now() - began;
        rb_code_check check;
        bench_check(ctx, rb_model_check(ctx, model, set->source, &check));
        codes[s] = bench_codes_of(ctx, model, set->source);
        struct outcome one = {.empty = 100 * (double)check.empty / (double)check.samples,
                              .full = 100 * (double)check.full / (double)check.samples,
                              .living = (double)codes[s].units,
                              .found = found(ctx, set, model),
                              .seconds = seconds};
        add(&mean, &one, 1.0 / seeds);
        rb_model_free(model);
    }
    for (int a = 0; a < seeds; a++)
        for (int b = 0; b < a; b++)
            mean.match += bench_match(ctx, &codes[a], &codes[b], n) / (seeds * (seeds - 1) / 2);
    for (int s = 0; s < seeds; s++)
        free(codes[s].values);
    return mean;
}

/* ---- the table ---- */

static const struct {
    const char *name;
    const char *preset;
} kinds[] = {{"default", "none"}, {"paper", "paper"}, {"biclustering", "biclustering"}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void print(const char *name, int64_t n, int64_t m, int64_t units, const char *kind,
                  const struct outcome *o) {
    printf("| %s | %lld x %lld | %lld | %s | %.1f | %.1f | %.1f | %.2f | %.3f | %.1f | %.2f |\n",
           name, (long long)n, (long long)m, (long long)units, kind, o->empty, o->full, o->living,
           o->match, o->found, o->held_out, o->seconds);
    fflush(stdout);
}

static void free_set(struct set *set) {
    rb_source_free(set->source);
    rb_matrix_free(set->matrix);
    rb_modules_free(set->truth);
}

static void planted(rb_context *ctx, const char *name, const char *kind, int64_t units,
                    int64_t wanted) {
    struct outcome sums[KINDS] = {0};
    int64_t n = 0, m = 0;
    for (int i = 0; i < PLANTED_SETS; i++) {
        struct set set = {.name = name, .units = units, .wanted = wanted};
        rb_options *options =
            bench_options(ctx, NULL, rb_biclusters_group(), "%s seed=%d", kind, i + 1);
        bench_check(ctx, rb_simulate_biclusters(ctx, options, &set.matrix, &set.truth));
        rb_options_free(options);
        bench_check(ctx, rb_source_from_matrix(ctx, set.matrix, &set.source));
        n = rb_source_samples(set.source);
        m = rb_source_features(set.source);
        for (int k = 0; k < KINDS; k++) {
            struct outcome o = measure(ctx, &set, kinds[k].preset, 2);
            add(&sums[k], &o, 1.0 / PLANTED_SETS);
        }
        free_set(&set);
    }
    for (int k = 0; k < KINDS; k++)
        print(name, n, m, units, kinds[k].name, &sums[k]);
}

static void with_classes(rb_context *ctx, const char *name, const char *folder) {
    char data[4096], labels[4096];
    struct set set = {.name = name, .units = 10, .labels = labels};
    snprintf(data, sizeof data, "%s/expr.tsv.gz", folder);
    snprintf(labels, sizeof labels, "%s/labels.tsv", folder);
    bench_check(ctx, rb_read(ctx, data, NULL, &set.matrix));
    bench_check(ctx, rb_source_from_matrix(ctx, set.matrix, &set.source));
    for (int k = 0; k < KINDS; k++) {
        struct outcome o = measure(ctx, &set, kinds[k].preset, MAX_SEEDS);
        print(name, rb_source_samples(set.source), rb_source_features(set.source), set.units,
              kinds[k].name, &o);
    }
    free_set(&set);
}

static int has_expression(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

/* Every folder in the folder that has expr.tsv.gz and labels.tsv. */
static void all_of(rb_context *ctx, const char *folder) {
    struct dirent **entries;
    int count = scandir(folder, &entries, has_expression, alphasort);
    for (int i = 0; i < count; i++) {
        char inner[2048], data[4096];
        snprintf(inner, sizeof inner, "%s/%s", folder, entries[i]->d_name);
        snprintf(data, sizeof data, "%s/expr.tsv.gz", inner);
        FILE *file = fopen(data, "rb");
        if (file) {
            fclose(file);
            with_classes(ctx, entries[i]->d_name, inner);
        }
        free(entries[i]);
    }
    if (count >= 0) free(entries);
}

int main(int argc, char **argv) {
    choose_blas(argv);
    rb_context *ctx;
    if (argc > 2 || rb_context_new(&ctx)) {
        fprintf(stderr, "usage: defaults [FOLDER of folders with expr.tsv.gz and labels.tsv]\n");
        return 2;
    }
    printf("rarebit %s\n\n", rb_version());
    printf(
        "| set | samples x features | k | options | empty %% | full %% | units | match | found | "
        "held out | s |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
    if (argc > 1) {
        all_of(ctx, argv[1]);
    } else {
        const char *fabia = "generator=fabia", *larger = "generator=fabia samples=400 features=400";
        planted(ctx, "fabia", fabia, 10, 10);
        planted(ctx, "fabia", fabia, 20, 10);
        planted(ctx, "fabia, more samples", larger, 20, 10);
        planted(ctx, "the same, less noise", "generator=fabia samples=400 features=400 noise=1.5",
                20, 10);
        planted(ctx, "rfn D1", "dataset=D1", 20, 20);
        planted(ctx, "rfn D3", "dataset=D3", 20, 20);
        planted(ctx, "rfn D7", "dataset=D7", 20, 20);
        with_classes(ctx, "pbmc700", "examples/data/pbmc700");
    }
    rb_context_free(ctx);
    return 0;
}
