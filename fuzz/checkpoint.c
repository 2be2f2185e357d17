/* Fuzz target: checkpoints. The input changes values, arrays and attributes of a sound one, and the
 * fit goes on from it: it is refused with a message, or ends with a model whose numbers are
 * finite. A damaged container is HDF5's own to survive. */
#include "../tests/options.h"
#include "driver/read.h"

#include <rarebit/deep.h>

#include "model/model.h"
#include <rarebit/rarebit.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLES = 12, FEATURES = 4, UNITS = 2, ITERATIONS = 6, RESTARTS = 3, MAX = 32 };

static int64_t take_number(fuzz_input *in) {
    int value = (int8_t)fuzz_take(in);
    switch (value) {
    case 127:
        return INT64_MAX;
    case 126:
        return INT32_MAX;
    case 125:
        return (int64_t)INT32_MAX + 1;
    case 124:
        return 4096;
    case -128:
        return INT64_MIN;
    case -127:
        return INT32_MIN;
    case -126:
        return -4000;
    default:
        return value;
    }
}

static double take_value(fuzz_input *in) {
    static const double odd[] = {NAN,    INFINITY, -INFINITY, 1e308, -1e308,
                                 1e-308, 1e38,     -1e30,     1e-40, 5e-324};
    int value = (int8_t)fuzz_take(in);
    return value > 117 ? odd[value - 118] : value / 8.0;
}

/* ---- fits ---- */

/* A fit, and its checkpoint in the middle. */
struct fit {
    const char *method;
    rb_rfn_options rfn;
    rb_et_options et;
    rb_fit_options fit;
    rb_checkpoint_options checkpoint;
    uint8_t *bytes;
    size_t size;
};

enum { FITS = 7 };

static void choose(struct fit *f, int kind) {
    bool mca = kind == 2 || kind == 6;
    *f = (struct fit){.method = mca ? "mca" : "rfn"};
    rb_rfn_options_default(&f->rfn);
    rb_et_options_default(&f->et);
    rb_fit_options_default(&f->fit);
    if (kind != 1) /* which is the default */
        fixture_preset("paper", &f->rfn, NULL);
    f->rfn.units = f->et.units = UNITS;
    f->rfn.eta = 0.5;
    f->et.candidates = f->et.max_active = 2;
    f->fit.iterations = ITERATIONS;
    f->fit.restarts = RESTARTS;
    f->fit.seed = 1;
    f->fit.precision = kind % 2 ? RB_FLOAT32 : RB_FLOAT64;
    f->fit.trace = mca;
    if (kind == 3) f->rfn.estep = RB_RFN_ESTEP_CYCLIC;
    if (kind == 3) {
        f->fit.accelerate = RB_ACCELERATE_SQUAREM;
        f->fit.restarts = 1;
    }
    if (kind == 4) {
        f->rfn.estep = RB_RFN_ESTEP_CASCADE;
        f->rfn.steer_iterations = 2;
    }
    if (kind == 5) {
        f->fit.batch_size = 5;
        f->rfn.dropout = 0.2;
        f->rfn.momentum = 0.3;
    }
    f->et.learn_prior = kind == 6;
}

/* Counts that every method takes. */
static void values_of(double *values) {
    for (int i = 0; i < SAMPLES * FEATURES; i++)
        values[i] = (double)((i * 7 + i / 5 * 3 + i % 3 * 11) % 6);
}

static rb_error run(rb_context *ctx, struct fit *f, rb_model **model) {
    double values[SAMPLES * FEATURES];
    rb_matrix *matrix;
    rb_source *source;
    values_of(values);
    fuzz_expect(!rb_matrix_dense(ctx, RB_FLOAT64, SAMPLES, FEATURES, values, FEATURES, 1, &matrix));
    fuzz_expect(!rb_source_from_matrix(ctx, matrix, &source));
    fixture_checkpoint = &f->checkpoint;
    const void *options = strcmp(f->method, "rfn") == 0 ? (void *)&f->rfn : (void *)&f->et;
    rb_error err =
        rb_fit(ctx, fixture_options(ctx, f->method, options, &f->fit, NULL), source, NULL, model);
    rb_source_free(source);
    rb_matrix_free(matrix);
    return err;
}

/* In the second restart, where there is one. */
static rb_error stop_in_the_middle(const rb_progress *progress, void *user) {
    const struct fit *f = user;
    int64_t middle = f->fit.restarts > 1 ? ITERATIONS + 3 : 3;
    return progress->iteration == middle ? RB_ERROR_INTERRUPTED : RB_OK;
}

static void make_sound(rb_context *ctx, struct fit *f, const char *path) {
    rb_model *model;
    f->checkpoint = (rb_checkpoint_options){path, "1000"};
    rb_context_on_progress(ctx, stop_in_the_middle, f);
    fuzz_expect(!run(ctx, f, &model));
    rb_context_on_progress(ctx, NULL, NULL);
    rb_model_free(model);
    FILE *file = fopen(path, "rb");
    fuzz_expect(file && fseek(file, 0, SEEK_END) == 0);
    f->size = (size_t)ftell(file);
    f->bytes = malloc(f->size);
    rewind(file);
    fuzz_expect(f->bytes && fread(f->bytes, 1, f->size, file) == f->size);
    fclose(file);
    unlink(path);
}

static void write_file(const char *path, const uint8_t *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    fuzz_expect(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

/* ---- changes ---- */

static const char *const attributes[] = {"format_version", "samples", "features",  "sparse",
                                         "start",          "restart", "iteration", "seed"};
static const char *const groups[] = {
    "state", "fit/history", "best/arrays", "best/history", "fit/arrays", "fit", "/"};
static const char *const words[] = {
    "", "rfn", "mca", "stopped", "rarebit-checkpoint", "0", "-1", "nan", "100", "float32", "true"};
static const char *const owners[] = {"fit/attributes", "best/attributes"};
static const char *const names[] = {"loadings", "objective", "new", "scale", "codes"};

#define PICK(list, in) (list)[(size_t)fuzz_take(in) % (sizeof(list) / sizeof *(list))]

/* The path of an object of the file, or of one that is not there. */
static void pick_object(rb_context *ctx, rb_h5 *file, fuzz_input *in, char *path, size_t size) {
    rb_names *found = NULL;
    const char *group = PICK(groups, in);
    int which = fuzz_take(in);
    if (which < 250 && rb_h5_has(file, group) && !rb_h5_list(file, group, &found) &&
        found->count > 0)
        snprintf(path, size, "%s/%s", group, found->text[which % found->count]);
    else
        snprintf(path, size, "%s/%s", group, PICK(names, in));
    rb_names_free(found);
    (void)ctx;
}

/* Some values of an array are others; its shape stays. */
static void change_values(rb_context *ctx, rb_h5 *file, const char *path, fuzz_input *in) {
    int64_t rows, columns;
    if (rb_h5_get_shape(file, path, &rows, &columns) || rows * (columns < 0 ? 1 : columns) > 4096)
        return;
    int64_t count = rows * (columns < 0 ? 1 : columns);
    double *values = rb_alloc_zero(ctx, count + 1, sizeof *values);
    int64_t *numbers = rb_alloc_zero(ctx, count + 1, sizeof *numbers);
    fuzz_expect(values && numbers);
    bool whole = fuzz_take(in) % 2;
    rb_error err = whole ? rb_h5_get_integers(file, path, count, numbers)
                         : rb_h5_get_values(file, path, count, values);
    for (int times = 1 + fuzz_take(in) % 3; !err && count > 0 && times > 0; times--) {
        int64_t at = fuzz_take(in) % count;
        if (whole)
            numbers[at] = take_number(in);
        else
            values[at] = take_value(in);
    }
    if (!err && !rb_h5_remove(file, path)) {
        if (whole)
            rb_h5_put_integers(file, path, count, numbers);
        else
            rb_h5_put_values(file, path, rows, columns, values);
    }
    rb_free(values);
    rb_free(numbers);
}

/* Another array, or none. */
static void replace(rb_h5 *file, const char *path, fuzz_input *in) {
    double values[MAX];
    int64_t numbers[MAX];
    const char *texts[MAX];
    int kind = fuzz_take(in) % 6, count = fuzz_take(in) % MAX;
    for (int i = 0; i < count; i++) {
        values[i] = take_value(in);
        numbers[i] = take_number(in);
        texts[i] = PICK(words, in);
    }
    rb_h5_remove(file, path);
    if (kind == 0) {
        rb_h5_put_values(file, path, count, -1, values);
    } else if (kind == 1) {
        rb_h5_put_values(file, path, count % 2 ? count : count / 2, count % 2 ? 1 : 2, values);
    } else if (kind == 2) {
        rb_h5_put_integers(file, path, count, numbers);
    } else if (kind == 3) {
        rb_h5_put_texts(file, path, count, texts);
    } else if (kind == 4) {
        rb_h5_put_group(file, path);
    } /* or it stays away */
}

static void change_attribute(rb_h5 *file, fuzz_input *in) {
    int what = fuzz_take(in);
    rb_names *found = NULL;
    if (what % 2) {
        rb_h5_set_integer(file, "/", PICK(attributes, in), take_number(in));
        return;
    }
    const char *owner = PICK(owners, in);
    if (rb_h5_has(file, owner) && !rb_h5_list_attributes(file, owner, &found) && found->count > 0)
        rb_h5_set_text(file, owner, found->text[fuzz_take(in) % found->count], PICK(words, in));
    rb_names_free(found);
}

static void change(rb_context *ctx, rb_h5 *file, fuzz_input *in) {
    char path[512];
    int what = fuzz_take(in) % 8;
    if (what == 0) {
        change_attribute(file, in);
        return;
    }
    pick_object(ctx, file, in, path, sizeof path);
    if (what == 1)
        replace(file, path, in);
    else
        change_values(ctx, file, path, in);
}

static void change_objects(rb_context *ctx, const struct fit *f, const char *path, fuzz_input *in) {
    rb_h5 *file;
    write_file(path, f->bytes, f->size);
    fuzz_expect(!rb_h5_edit(ctx, path, path, RB_H5_OWN, &file));
    while (in->left > 0)
        change(ctx, file, in);
    rb_h5_close(file);
}

/* ---- what comes of it ---- */

static void expect_sound(const rb_model *model) {
    fuzz_expect(model->iterations > 0 && model->iterations <= ITERATIONS);
    for (int64_t i = 0; i < model->n_arrays; i++) {
        const rb_array *array = &model->arrays[i];
        bool reported = strncmp(array->name, "trace", 5) == 0;
        for (int64_t e = 0; !reported && e < array->rows * array->columns; e++)
            fuzz_expect(isfinite(array->values[e]));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct fit fits[FITS];
    fuzz_input in = {data, size};
    char path[FUZZ_PATH];
    rb_context *ctx;
    rb_model *model;
    fuzz_temporary(path);
    fuzz_expect(!rb_context_new(&ctx));
    fuzz_expect(!rb_nets_use(ctx));
    rb_io_use(ctx);
    unlink(path);
    int kind = fuzz_take(&in) % FITS;
    struct fit *f = &fits[kind];
    if (!f->bytes) {
        choose(f, kind);
        make_sound(ctx, f, path);
    }
    f->checkpoint = (rb_checkpoint_options){path, "1000"}; /* flushing takes its time */
    change_objects(ctx, f, path, &in);
    if (run(ctx, f, &model))
        fuzz_expect(!model && rb_context_error(ctx)[0] != '\0');
    else
        expect_sound(model);
    rb_model_free(model);
    rb_context_free(ctx);
    unlink(path);
    return 0;
}
