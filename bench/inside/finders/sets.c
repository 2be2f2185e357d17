/* Data on which methods are compared, with what is to be found in them. */
#include "../../options.h"
#include "finders.h"
#include "modules/modules.h"

#include <rarebit/io.h>

#include <string.h>

/* A module of all samples of a class, and no feature but the first: only samples are compared. */
static rb_error class_module(rb_context *ctx, const struct sample_set *set, int64_t class,
                             rb_module *module) {
    int64_t n = rb_source_samples(set->source);
    module->samples = rb_alloc(ctx, n, sizeof *module->samples);
    module->features = rb_alloc(ctx, 1, sizeof *module->features);
    if (!module->samples || !module->features) return RB_ERROR_MEMORY;
    module->features[0] = (rb_member){0, 1};
    module->n_features = 1;
    for (int64_t i = 0; i < n; i++)
        if (set->class_of[i] == class) module->samples[module->n_samples++] = (rb_member){i, 1};
    return RB_OK;
}

static rb_error classes_to_truth(rb_context *ctx, int64_t n_classes, struct sample_set *set) {
    rb_error err = rb_modules_new(ctx, n_classes, &set->truth);
    for (int64_t c = 0; c < n_classes && !err; c++)
        err = class_module(ctx, set, c, &set->truth->list[c]);
    return err;
}

static rb_error open_cells(rb_context *ctx, const struct kind *kind, int64_t seed,
                           struct sample_set *set) {
    rb_modules *types = NULL;
    rb_options *options =
        bench_options(ctx, NULL, rb_cells_group(), "%s seed=%lld", kind->cells, (long long)seed);
    rb_error err = rb_simulate_cells(ctx, options, &set->matrix, &types);
    err = err ? err : rb_source_from_matrix(ctx, set->matrix, &set->source);
    int64_t n = err ? 0 : rb_source_samples(set->source), count = types ? types->count : 0;
    set->class_of = rb_alloc(ctx, n, sizeof *set->class_of);
    err = err || set->class_of ? err : RB_ERROR_MEMORY;
    for (int64_t t = 0; t < count && !err; t++)
        for (int64_t i = 0; i < types->list[t].n_samples; i++)
            set->class_of[types->list[t].samples[i].index] = t;
    err = err ? err : classes_to_truth(ctx, count, set);
    rb_modules_free(types);
    rb_options_free(options);
    return err;
}

static rb_error open_folder(rb_context *ctx, const struct kind *kind, struct sample_set *set) {
    char data[4096], labels[4096];
    rb_classes classes = {.size = sizeof classes};
    snprintf(data, sizeof data, "%s/expr.tsv.gz", kind->folder);
    snprintf(labels, sizeof labels, "%s/labels.tsv", kind->folder);
    rb_error err = rb_read(ctx, data, NULL, &set->matrix);
    err = err ? err : rb_source_from_matrix(ctx, set->matrix, &set->source);
    err = err ? err : rb_classes_read(ctx, labels, set->source, &classes);
    if (!err) {
        set->class_of = rb_alloc(ctx, classes.n_samples, sizeof *set->class_of);
        err = set->class_of ? RB_OK : RB_ERROR_MEMORY;
    }
    if (!err) {
        memcpy(set->class_of, classes.class_of, (size_t)classes.n_samples * sizeof *set->class_of);
        err = classes_to_truth(ctx, classes.n_classes, set);
    }
    rb_classes_clear(&classes);
    return err;
}

rb_error set_open(rb_context *ctx, const struct kind *kind, int64_t seed, struct sample_set *set) {
    *set = (struct sample_set){0};
    if (kind->cells) return open_cells(ctx, kind, seed, set);
    if (kind->folder) return open_folder(ctx, kind, set);
    rb_options *options = bench_options(ctx, NULL, rb_biclusters_group(), "%s seed=%lld",
                                        kind->planted, (long long)seed);
    rb_error err = rb_simulate_biclusters(ctx, options, &set->matrix, &set->truth);
    rb_options_free(options);
    return err ? err : rb_source_from_matrix(ctx, set->matrix, &set->source);
}

void set_close(struct sample_set *set) {
    rb_source_free(set->source);
    rb_matrix_free(set->matrix);
    rb_modules_free(set->truth);
    rb_free(set->class_of);
    rb_free(set->parts);
}
