/* Fuzz target: tables of samples, as covariates, classes and covariates to regress, for samples
 * with names and, by position, for three without. */
#include "driver/read.h"

#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SAMPLES = 3 };

static void look_at(const rb_covariates *table) {
    for (int64_t c = 0; c < rb_covariates_count(table); c++) {
        const rb_covariate *column = rb_covariates_column(table, c);
        int64_t groups = rb_covariates_groups(table, c), missing = rb_covariates_missing(table, c);
        fuzz_expect(missing >= 0 && missing < SAMPLES);
        for (int64_t i = 0; i < SAMPLES; i++) {
            fuzz_expect(column->values ? !isinf(column->values[i])
                                       : column->groups.class_of[i] < groups);
        }
    }
}

/* One table for both, read once. */
static void read_others(rb_context *ctx, const char *path, rb_source *source) {
    rb_annotations *table;
    rb_classes classes = {.size = sizeof classes};
    if (rb_annotations_read(ctx, path, source, &table)) return;
    rb_error err = rb_annotations_classes(ctx, table, NULL, source, &classes);
    fuzz_expect(err || classes.n_labelled > 0);
    for (int64_t i = 0; i < classes.n_samples; i++)
        fuzz_expect(classes.class_of[i] < classes.n_classes);
    rb_classes_clear(&classes);
    err = rb_annotations_bind(ctx, table, "g,x:numbers", source);
    fuzz_expect(!err || rb_context_error(ctx)[0] != '\0');
    rb_annotations_free(table);
}

static rb_error read_covariates(rb_context *ctx, const char *path, const char *groups,
                                const rb_source *source, rb_covariates **covariates) {
    rb_annotations *table;
    *covariates = NULL;
    rb_error err = rb_annotations_read(ctx, path, source, &table);
    err = err ? err
              : rb_annotations_covariates(ctx, table, rb_annotations_columns(path), groups, source,
                                          covariates);
    rb_annotations_free(table);
    return err;
}

static void read_once(const char *path, bool named) {
    static const double values[SAMPLES] = {0};
    static const char *const names[SAMPLES] = {"a", "b", "c"};
    rb_context *ctx;
    rb_matrix *matrix;
    rb_source *source;
    rb_covariates *table;
    fuzz_expect(!rb_context_create(&ctx));
    fuzz_expect(!rb_matrix_dense(ctx, RB_FLOAT64, SAMPLES, 1, values, 1, 1, &matrix));
    if (named) fuzz_expect(!rb_matrix_set_sample_names(ctx, matrix, names, SAMPLES));
    fuzz_expect(!rb_source_from_matrix(ctx, matrix, &source));
    if (read_covariates(ctx, path, named ? "g" : NULL, source, &table))
        fuzz_expect(!table && rb_context_error(ctx)[0] != '\0');
    else
        look_at(table);
    rb_covariates_free(table);
    read_others(ctx, path, source);
    rb_source_free(source);
    rb_matrix_free(matrix);
    rb_context_free(ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    int file = memfd_create("fuzz", MFD_CLOEXEC);
    if (file < 0 || write(file, data, size) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    read_once(path, true);
    read_once(path, false);
    close(file);
    return 0;
}
