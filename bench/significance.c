/* `./run significance`: are the p-values of modules right? In noise, how many sets have a module
 * that is called at a family-wise 0.05, with Wilson's interval of 95 %: a right test has at most
 * 0.05. With a folder, of each FOLDER/NAME/expr.tsv.gz: how many modules are called as it is, and
 * once its features are permuted.
 *
 *   refit        the fit again, on permuted data
 *   encode       permuted data, encoded by the model, which was fitted to these very data
 *   encode new   the same with other data of the same kind, which the model has not seen
 */
#include "../tool/blas_choice.h"
#include "bench.h"
#include "options.h"

#include <rarebit/io.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETS = 300, N = 100, M = 200, UNITS = 5, PERMUTATIONS = 19, REAL_PERMUTATIONS = 99 };

static rb_model *fit(rb_context *ctx, const char *preset, int64_t units, rb_source *source) {
    rb_options *options =
        bench_options(ctx, "rfn", NULL, "preset=%s units=%lld", preset, (long long)units);
    rb_model *model;
    bench_check(ctx, rb_fit(ctx, options, source, NULL, &model));
    rb_options_free(options);
    return model;
}

/* Modules called at a family-wise 0.05 by permuted features alone, of *found. Samples that are
 * rotated as well call fewer: ./run judges noise. */
static int64_t called(rb_context *ctx, const rb_model *model, rb_source *source, const char *null,
                      int permutations, int64_t *found) {
    rb_options *options = bench_options(ctx, NULL, rb_significance_group(),
                                        "permutations=%d null=%s", permutations, null);
    rb_modules *modules;
    bench_check(ctx, rb_modules_find(ctx, model, source, NULL, &modules));
    *found = rb_modules_called(modules);
    bench_check(ctx, rb_modules_permute(ctx, model, source, options, NULL, modules, NULL));
    int64_t count = 0;
    rb_significance s;
    for (int64_t r = 0; r < *found && rb_modules_significance(modules, r, &s); r++)
        count += s.p_permuted <= 0.05 * (1 + 1e-12);
    rb_modules_free(modules);
    rb_options_free(options);
    return count;
}

/* ---- noise ---- */

static rb_source *noise(rb_context *ctx, uint64_t *state, float *values, rb_matrix **matrix) {
    rb_source *source;
    for (int i = 0; i < N * M; i++)
        values[i] = (float)bench_normal(state);
    bench_check(ctx, rb_matrix_dense(ctx, RB_FLOAT32, N, M, values, M, 1, matrix));
    bench_check(ctx, rb_source_from_matrix(ctx, *matrix, &source));
    return source;
}

static void print_noise(const char *preset, const char *null, int64_t false_sets, double living,
                        double seconds) {
    double low, high;
    rb_success_interval(false_sets, SETS, &low, &high);
    printf("| %s | %s | %.1f | %lld of %d | %.3f (%.3f to %.3f) | %.1f |\n", preset, null, living,
           (long long)false_sets, SETS, (double)false_sets / SETS, low, high, seconds);
    fflush(stdout);
}

static void in_noise(rb_context *ctx, const char *preset, const char *null, bool other) {
    static float values[2][N * M];
    uint64_t state = 7;
    int64_t false_sets = 0, living = 0;
    double began = bench_now();
    for (int i = 0; i < SETS; i++) {
        rb_matrix *matrices[2];
        rb_source *sources[2];
        int64_t found;
        for (int s = 0; s < 2; s++)
            sources[s] = noise(ctx, &state, values[s], &matrices[s]);
        rb_model *model = fit(ctx, preset, UNITS, sources[0]);
        false_sets += called(ctx, model, sources[other], null, PERMUTATIONS, &found) > 0;
        living += found;
        rb_model_free(model);
        for (int s = 0; s < 2; s++) {
            rb_source_free(sources[s]);
            rb_matrix_free(matrices[s]);
        }
    }
    print_noise(preset, other ? "encode new" : null, false_sets, (double)living / SETS,
                bench_now() - began);
}

/* ---- sets of a folder ---- */

/* Each feature in an order of samples of its own. */
static rb_source *permuted(rb_context *ctx, const rb_matrix *from, uint64_t *state, float **values,
                           rb_matrix **matrix) {
    int64_t n = rb_matrix_samples(from), m = rb_matrix_features(from);
    rb_source *source;
    *values = bench_take((size_t)(n * m), sizeof **values);
    for (int64_t k = 0; k < m; k++) {
        for (int64_t i = 0; i < n; i++) {
            int64_t j = (int64_t)(bench_uniform(state) * (double)(i + 1));
            (*values)[i * m + k] = (*values)[j * m + k];
            (*values)[j * m + k] = (float)rb_matrix_at(from, i, k);
        }
    }
    bench_check(ctx, rb_matrix_dense(ctx, RB_FLOAT32, n, m, *values, m, 1, matrix));
    bench_check(ctx, rb_source_from_matrix(ctx, *matrix, &source));
    return source;
}

static void in_set(rb_context *ctx, const char *name, const char *data) {
    rb_matrix *matrices[2];
    rb_source *sources[2];
    float *values;
    uint64_t state = 11;
    bench_check(ctx, rb_read(ctx, data, NULL, &matrices[0]));
    bench_check(ctx, rb_source_from_matrix(ctx, matrices[0], &sources[0]));
    sources[1] = permuted(ctx, matrices[0], &state, &values, &matrices[1]);
    for (int s = 0; s < 2; s++) {
        double began = bench_now();
        int64_t found, left;
        rb_model *model = fit(ctx, "none", 10, sources[s]);
        int64_t by_refit = called(ctx, model, sources[s], "refit", REAL_PERMUTATIONS, &found);
        double seconds = bench_now() - began;
        began = bench_now();
        int64_t by_encoding = called(ctx, model, sources[s], "encode", REAL_PERMUTATIONS, &left);
        printf("| %s | %s | %lld | %lld | %lld | %.1f | %.1f |\n", name,
               s ? "permuted" : "as it is", (long long)found, (long long)by_refit,
               (long long)by_encoding, seconds, bench_now() - began);
        fflush(stdout);
        rb_model_free(model);
    }
    for (int s = 0; s < 2; s++) {
        rb_source_free(sources[s]);
        rb_matrix_free(matrices[s]);
    }
    free(values);
}

static int is_visible(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static void in_folder(rb_context *ctx, const char *folder) {
    struct dirent **entries;
    int count = scandir(folder, &entries, is_visible, alphasort);
    printf("| set | | modules | refit | encode | s | s |\n|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < count; i++) {
        char data[4096];
        snprintf(data, sizeof data, "%s/%s/expr.tsv.gz", folder, entries[i]->d_name);
        FILE *file = fopen(data, "rb");
        if (file) {
            fclose(file);
            in_set(ctx, entries[i]->d_name, data);
        }
        free(entries[i]);
    }
    if (count >= 0) free(entries);
}

int main(int argc, char **argv) {
    choose_blas(argv);
    rb_context *ctx;
    if (argc > 2 || rb_context_new(&ctx)) {
        fprintf(stderr, "usage: significance [FOLDER of folders with expr.tsv.gz]\n");
        return 2;
    }
    printf("rarebit %s\n\n", rb_version());
    if (argc > 1) {
        in_folder(ctx, argv[1]);
    } else {
        printf("| options | null | modules | sets with a call | share | s |\n"
               "|---|---|---|---|---|---|\n");
        for (int k = 0; k < 2; k++) {
            const char *preset = k ? "paper" : "none";
            in_noise(ctx, preset, "encode", true);
            in_noise(ctx, preset, "encode", false);
            in_noise(ctx, preset, "refit", false);
        }
    }
    rb_context_free(ctx);
    return 0;
}
