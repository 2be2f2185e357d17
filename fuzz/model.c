/* Fuzz target: model files. The input changes a sound model, object by object, and what still loads
 * is used. A damaged container is HDF5's own to survive. */
#include "../tests/options.h"
#include "driver/read.h"

#include <rarebit/deep.h>

#include "model/model.h"
#include <rarebit/io.h>
#include <rarebit/rarebit.h>

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { FEATURES = 3, UNITS = 2, INPUT = 4, MAX = 16 };

static double take_value(fuzz_input *in) {
    int value = (int8_t)fuzz_take(in);
    return value == 127 ? NAN : value == 126 ? INFINITY : value == 125 ? 1e308 : value / 8.0;
}

static int64_t take_number(fuzz_input *in) {
    int value = (int8_t)fuzz_take(in);
    return value == 127 ? INT64_MAX : value == -128 ? INT64_MIN : value;
}

/* ---- a sound model ---- */

static rb_preprocess *sound_preprocess(rb_context *ctx) {
    static const char *const names[FEATURES] = {"a", "b", "c"};
    rb_preprocess *p = rb_alloc_zero(ctx, 1, sizeof *p);
    fuzz_expect(p != NULL);
    rb_preprocess_options_default(&p->options);
    p->n_input = INPUT;
    p->n_features = FEATURES;
    p->selected = rb_alloc_zero(ctx, FEATURES, sizeof *p->selected);
    p->centre = rb_alloc_zero(ctx, FEATURES, sizeof *p->centre);
    p->scale = rb_alloc_zero(ctx, FEATURES, sizeof *p->scale);
    p->names = rb_names_copy(ctx, names, FEATURES);
    for (int k = 0; k < FEATURES; k++) {
        p->selected[k] = k;
        p->scale[k] = 1;
    }
    return p;
}

static void fill(rb_context *ctx, rb_model *model, const char *name, int64_t rows, int64_t columns,
                 double value) {
    double *values = rb_model_add_array(ctx, model, name, rows, columns);
    for (int64_t e = 0; e < rows * columns; e++)
        values[e] = value;
}

static rb_model *sound_model(rb_context *ctx) {
    rb_model *model;
    const rb_method *rfn = rb_find_method(ctx, "rfn");
    fuzz_expect(!rb_model_new(ctx, rfn, RB_FLOAT32, sound_preprocess(ctx), &model));
    fill(ctx, model, "loadings", FEATURES, UNITS, 0.5);
    fill(ctx, model, "noise", FEATURES, 1, 0.1);
    fill(ctx, model, "prior_mean", UNITS, 1, 0);
    fill(ctx, model, "scale", UNITS, 1, 1);
    fill(ctx, model, "dead", UNITS, 1, 0);
    rb_model_set_attribute(ctx, model, "eta", "0.1");
    rb_model_add_history(ctx, model, (rb_history){-1, 0, 0, {0}});
    return model;
}

/* ---- changes ---- */

static const char *const objects[] = {
    "arrays/loadings",  "arrays/noise",    "arrays/prior_mean",       "arrays/scale",
    "arrays/dead",      "arrays/new",      "preprocess/selected",     "preprocess/centre",
    "preprocess/scale", "preprocess/fill", "features/names",          "history/objective",
    "history/seconds",  "arrays",          "history/estep_objective", "attributes",
};
static const char *const attributes[] = {
    "format",       "format_version", "method",   "precision", "status", "n_input",
    "n_features",   "n_filled",       "checksum", "missing",   "totals", "log1p",
    "top-variance", "centre",         "scale",    "eta"};
static const char *const words[] = {"",    "rfn",           "float64", "stopped", "median", "true",
                                    "1e4", "rarebit-model", "iqr",     "none",    "-1",     "nan"};
static const char *const owners[] = {"/", "preprocess", "attributes"};

#define PICK(list, in) (list)[(size_t)fuzz_take(in) % (sizeof(list) / sizeof *(list))]

static void change(rb_h5 *file, fuzz_input *in) {
    double values[MAX];
    int64_t numbers[MAX];
    const char *texts[MAX];
    int what = fuzz_take(in);
    if (what % 3 == 0) { /* an attribute */
        const char *owner = PICK(owners, in), *name = PICK(attributes, in);
        if (what & 64)
            rb_h5_set_text(file, owner, name, PICK(words, in));
        else
            rb_h5_set_integer(file, owner, name, take_number(in));
        return;
    }
    const char *path = PICK(objects, in);
    int count = fuzz_take(in) % MAX;
    for (int i = 0; i < count; i++) {
        values[i] = take_value(in);
        numbers[i] = (int64_t)take_number(in);
        texts[i] = PICK(words, in);
    }
    rb_h5_remove(file, path);
    switch (what / 3 % 5) {
    case 0:
        rb_h5_put_values(file, path, count, -1, values);
        return;
    case 1:
        rb_h5_put_values(file, path, count % 2 ? count : count / 2, count % 2 ? 1 : 2, values);
        return;
    case 2:
        rb_h5_put_integers(file, path, count, numbers);
        return;
    case 3:
        rb_h5_put_texts(file, path, count, texts);
        return;
    default: /* stays away */
        return;
    }
}

/* ---- use ---- */

static rb_error take_rows(void *user, int64_t first, const rb_matrix *rows) {
    (void)user;
    (void)first;
    (void)rb_matrix_at(rows, 0, 0);
    return RB_OK;
}

static void use(rb_context *ctx, const rb_model *model) {
    static const double values[2 * INPUT] = {1, 0, 2, 0, 0, 3, 0, 4};
    rb_matrix *matrix;
    rb_source *source;
    rb_metrics *metrics;
    fuzz_expect(!rb_matrix_dense(ctx, RB_FLOAT64, 2, INPUT, values, INPUT, 1, &matrix));
    fuzz_expect(!rb_source_from_matrix(ctx, matrix, &source));
    if (rb_encode(ctx, model, source, take_rows, NULL))
        fuzz_expect(rb_context_error(ctx)[0] != '\0');
    rb_reconstruct(ctx, model, source, take_rows, NULL);
    rb_evaluate(ctx, model, source, &metrics);
    rb_metrics_free(metrics);
    rb_source_free(source);
    rb_matrix_free(matrix);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input in = {data, size};
    char path[FUZZ_PATH];
    rb_context *ctx;
    rb_h5 *file;
    rb_model *loaded;
    fuzz_temporary(path);
    fuzz_expect(!rb_context_new(&ctx));
    fuzz_expect(!rb_nets_use(ctx));
    rb_model *model = sound_model(ctx);
    fuzz_expect(!rb_model_save(ctx, model, path));
    rb_model_free(model);
    fuzz_expect(!rb_h5_edit(ctx, path, path, RB_H5_OWN, &file));
    while (in.left > 0)
        change(file, &in);
    rb_h5_close(file);
    if (rb_model_load(ctx, path, &loaded))
        fuzz_expect(!loaded && rb_context_error(ctx)[0] != '\0');
    else
        use(ctx, loaded);
    rb_model_free(loaded);
    rb_context_free(ctx);
    unlink(path);
    return 0;
}
