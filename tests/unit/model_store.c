/* Models: arrays, attributes and history in memory; saved and loaded bit for bit; the same model
 * gives the same bytes; no damaged file does harm. */
#include "../options.h"
#include "io_hdf5_test.h"

#include "io/hdf5_base.h"
#include "model/model.h"
#include "rfn/rfn.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

enum { FEATURES = 3, INPUT = 5, UNITS = 2 };

/* HDF5 leaks memory of its own when metadata are damaged: the leak check looks at ours only. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
    return "leak:libhdf5";
}

static const char *const metric_names[] = {"kkt_residual", "other", NULL};
static const rb_method method = {.name = "test",
                                 .title = "a method for tests",
                                 .code_name = "X_test",
                                 .metric_names = metric_names};

/* ---- an example ---- */

static void *copy_of(rb_context *ctx, const void *from, size_t count, size_t size) {
    void *copy = rb_alloc(ctx, (int64_t)count, size);
    assert_non_null(copy);
    memcpy(copy, from, count * size);
    return copy;
}

static rb_preprocess *example_preprocess(rb_context *ctx, bool full) {
    static const int64_t selected[] = {0, 2, 4};
    static const double centre[] = {1.0 / 3, -2, 1e300}, scale[] = {1, 1e-300, 0.1};
    static const char *const names[] = {"CD4", "NKG7", "\xce\xb2-actin"};
    rb_preprocess *p = rb_alloc_zero(ctx, 1, sizeof *p);
    assert_non_null(p);
    rb_preprocess_options_default(&p->options);
    p->n_input = full ? INPUT : FEATURES;
    p->n_features = FEATURES;
    p->centre = copy_of(ctx, centre, FEATURES, sizeof *centre);
    p->scale = copy_of(ctx, scale, FEATURES, sizeof *scale);
    p->checksum = 0xfedcba98;
    if (full) {
        p->options.missing = RB_MISSING_MEDIAN;
        p->options.totals = 1.0 / 7;
        p->options.log1p = true;
        p->options.top_variance = FEATURES;
        p->n_filled = 12;
        p->selected = copy_of(ctx, selected, FEATURES, sizeof *selected);
        p->fill = copy_of(ctx, centre, FEATURES, sizeof *centre);
        p->names = rb_names_copy(ctx, names, FEATURES);
    }
    return p;
}

static rb_model *example(rb_context *ctx, bool full) {
    rb_model *model;
    assert_int_equal(rb_model_new(ctx, &method, RB_FLOAT32, example_preprocess(ctx, full), &model),
                     RB_OK);
    double *loadings = rb_model_add_array(ctx, model, "loadings", FEATURES, UNITS);
    double *noise = rb_model_add_array(ctx, model, "noise", FEATURES, 1);
    assert_non_null(rb_model_add_array(ctx, model, "empty", 0, 4));
    for (int e = 0; e < FEATURES * UNITS; e++)
        loadings[e] = 1.0 / (e + 1);
    noise[1] = 5e-324;
    assert_int_equal(rb_model_set_attribute(ctx, model, "eta", "0.1"), RB_OK);
    assert_int_equal(rb_model_set_attribute(ctx, model, "command_line", ""), RB_OK);
    for (int t = 0; t < 40; t++) {
        rb_history entry = {-1.0 / (t + 1), t % 2 ? NAN : t, 0.25, {1e-3 / (t + 1), NAN}};
        assert_int_equal(rb_model_add_history(ctx, model, entry), RB_OK);
    }
    model->status = RB_STATUS_STOPPED;
    return model;
}

static bool same(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

static void assert_vector(const double *a, const double *b, int64_t count) {
    assert_int_equal(a == NULL, b == NULL);
    for (int64_t i = 0; a && i < count; i++)
        assert_true(same(a[i], b[i]));
}

static void assert_preprocess(const rb_preprocess *a, const rb_preprocess *b) {
    assert_int_equal(a->options.missing, b->options.missing);
    assert_true(same(a->options.totals, b->options.totals));
    assert_int_equal(a->options.log1p, b->options.log1p);
    assert_int_equal(a->options.top_variance, b->options.top_variance);
    assert_int_equal(a->options.centre, b->options.centre);
    assert_int_equal(a->options.scale, b->options.scale);
    assert_int_equal(a->n_input, b->n_input);
    assert_int_equal(a->n_features, b->n_features);
    assert_int_equal(a->n_filled, b->n_filled);
    assert_int_equal(a->checksum, b->checksum);
    assert_vector(a->centre, b->centre, a->n_features);
    assert_vector(a->scale, b->scale, a->n_features);
    assert_vector(a->fill, b->fill, a->n_features);
    assert_int_equal(a->selected == NULL, b->selected == NULL);
    assert_int_equal(a->names == NULL, b->names == NULL);
    for (int64_t k = 0; k < a->n_features; k++) {
        assert_true(!a->selected || a->selected[k] == b->selected[k]);
        assert_true(!a->names || strcmp(a->names->text[k], b->names->text[k]) == 0);
    }
}

static void assert_model(const rb_model *a, const rb_model *b) {
    assert_ptr_equal(a->method, b->method);
    assert_int_equal(a->type, b->type);
    assert_int_equal(a->status, b->status);
    assert_int_equal(a->n_arrays, b->n_arrays);
    for (int64_t i = 0; i < a->n_arrays; i++) {
        assert_string_equal(a->arrays[i].name, b->arrays[i].name);
        assert_int_equal(a->arrays[i].rows, b->arrays[i].rows);
        assert_int_equal(a->arrays[i].columns, b->arrays[i].columns);
        assert_vector(a->arrays[i].values, b->arrays[i].values,
                      a->arrays[i].rows * a->arrays[i].columns);
    }
    assert_int_equal(a->n_attributes, b->n_attributes);
    for (int64_t i = 0; i < a->n_attributes; i++) {
        assert_string_equal(a->attributes[i].name, b->attributes[i].name);
        assert_string_equal(a->attributes[i].value, b->attributes[i].value);
    }
    assert_int_equal(a->iterations, b->iterations);
    for (int64_t t = 0; t < a->iterations; t++) {
        assert_true(same(a->history[t].objective, b->history[t].objective));
        assert_int_equal(isnan(a->history[t].estep_objective),
                         isnan(b->history[t].estep_objective));
        assert_true(same(a->history[t].metrics[0], b->history[t].metrics[0]));
        assert_true(isnan(a->history[t].metrics[1]) && isnan(b->history[t].metrics[1]));
    }
    assert_preprocess(a->preprocess, b->preprocess);
}

/* ---- in memory ---- */

static void test_arrays(void **state) {
    rb_context *ctx = *state;
    rb_model *model = example(ctx, true);
    int64_t rows, columns;
    const double *values;
    double *loadings = rb_model_add_array(ctx, model, "loadings", FEATURES, UNITS);
    assert_ptr_equal(loadings, rb_model_array(model, "loadings", &rows, &columns));
    assert_int_equal(rows, FEATURES);
    assert_int_equal(columns, UNITS);
    assert_null(rb_model_add_array(ctx, model, "loadings", 1, 1));
    assert_null(rb_model_add_array(ctx, model, "huge", INT64_MAX, 3));
    assert_null(rb_model_array(model, "absent", NULL, NULL));
    assert_string_equal(rb_model_array_name(model, 1), "noise");
    assert_null(rb_model_array_name(model, 3));
    assert_int_equal(rb_model_units(model), UNITS);
    assert_int_equal(rb_model_features(model), FEATURES);
    assert_int_equal(rb_model_need_array(ctx, model, "noise", FEATURES, -1, &values), RB_OK);
    assert_error(ctx, rb_model_need_array(ctx, model, "noise", 4, 1, &values), RB_ERROR_FORMAT,
                 "'noise' of the model is 3 x 1, but 4 x 1");
    /* Numbers that are none, or none of float32, do no harm until a method needs the array. */
    static const double bad[] = {NAN, INFINITY, -INFINITY, 1e39};
    for (int i = 0; i < 4; i++) {
        double *prior = rb_model_add_array(ctx, model, "prior_mean", 2, 1);
        prior[1] = bad[i];
        model->type = RB_FLOAT32;
        assert_error(ctx, rb_model_need_array(ctx, model, "prior_mean", 2, 1, &values),
                     RB_ERROR_FORMAT, "'prior_mean' of the model has ");
        assert_non_null(strstr(rb_context_error(ctx), "at row 1, column 0"));
        model->type = RB_FLOAT64;
        assert_int_equal(rb_model_need_array(ctx, model, "prior_mean", 2, 1, &values),
                         i == 3 ? RB_OK : RB_ERROR_FORMAT);
    }
    assert_int_equal(rb_model_need_array(ctx, model, "scale", -1, 1, &values), RB_ERROR_FORMAT);
    assert_string_equal(rb_model_feature_name(model, 1), "NKG7");
    assert_null(rb_model_feature_name(model, FEATURES));
    rb_model_free(model);
}

static void test_attributes_and_history(void **state) {
    rb_context *ctx = *state;
    rb_model *model = example(ctx, false);
    double objective, estep, seconds;
    assert_int_equal(rb_model_set_attribute(ctx, model, "eta", "0.5"), RB_OK);
    assert_string_equal(rb_model_attribute(model, "eta"), "0.5");
    assert_null(rb_model_attribute(model, "absent"));
    assert_string_equal(rb_model_attribute_name(model, 1), "command_line");
    assert_null(rb_model_attribute_name(model, 2));
    assert_int_equal(
        rb_model_record_options(ctx, model, rb_preprocess_group.rows, &model->preprocess->options),
        RB_OK);
    assert_string_equal(rb_model_attribute(model, "centre"), "auto");
    assert_int_equal(rb_model_iterations(model), 40);
    assert_int_equal(rb_model_history(model, 39, &objective, &estep, &seconds), RB_OK);
    assert_true(objective == -1.0 / 40 && isnan(estep) && seconds == 0.25);
    assert_int_equal(rb_model_history(model, 40, NULL, NULL, NULL), RB_ERROR_ARGUMENT);
    assert_int_equal(rb_model_metric(model, 39, "kkt_residual", &estep), RB_OK);
    assert_true(estep == 1e-3 / 40);
    assert_int_equal(rb_model_metric(model, 39, "nothing", &estep), RB_ERROR_ARGUMENT);
    assert_int_equal(rb_model_metric(model, 40, "kkt_residual", &estep), RB_ERROR_ARGUMENT);
    rb_model_free(model);
}

static void test_methods(void **state) {
    rb_context *ctx = *state;
    rb_method second = rb_method_rfn;
    second.name = "second";
    assert_ptr_equal(rb_find_method(ctx, "test"), &method);
    assert_null(rb_find_method(ctx, "second"));
    assert_int_equal(rb_context_add_method(ctx, &second), RB_OK);
    assert_ptr_equal(rb_find_method(ctx, "second"), &second);
    rb_method again = second;
    assert_int_equal(rb_context_add_method(ctx, &again), RB_ERROR_ARGUMENT);
    again.name = "third";
    again.encode = NULL;
    assert_error(ctx, rb_context_add_method(ctx, &again), RB_ERROR_ARGUMENT,
                 "lacks the function 'encode'");
    again.encode = second.encode;
    const size_t first = offsetof(rb_method, group_end), wrong[] = {0, first - 1, sizeof again + 1};
    for (int i = 0; i < 3; i++) {
        again.size = wrong[i];
        assert_error(ctx, rb_context_add_method(ctx, &again), RB_ERROR_ARGUMENT,
                     i < 2 ? "set its size" : "later version");
    }
    again.size = sizeof again;
    static const char *const odd[] = {"", "a b", "x/y", "m\xc3\xb6", "a_b", "a.b", "a\n"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        again.name = odd[i];
        assert_error(ctx, rb_context_add_method(ctx, &again), RB_ERROR_ARGUMENT,
                     "letters, digits and '-'");
    }
    again.name = "Third-3";
    rb_option broken[] = {{"a", 0, RB_OPTION_NUMBER, 0, "2", 0, 1, NULL, "N", "a number"}, {0}};
    again.options = broken;
    assert_error(ctx, rb_context_add_method(ctx, &again), RB_ERROR_ARGUMENT, "`a` is '2'");
    broken[0].fallback = "1";
    broken[0].offset = second.options_size;
    assert_error(ctx, rb_context_add_method(ctx, &again), RB_ERROR_ARGUMENT, "beyond the end");
    assert_ptr_equal(rb_context_method(ctx, 0), &method);
    assert_ptr_equal(rb_context_method(ctx, 1), &second);
    assert_null(rb_context_method(ctx, 2));
}

static void test_copy_of_preprocessing(void **state) {
    rb_context *ctx = *state;
    rb_preprocess *p = example_preprocess(ctx, true), *copy = NULL;
    for (int64_t n = 0; !copy; n++) {
        ctx->allocations_left = n;
        copy = rb_preprocess_copy(ctx, p);
    }
    ctx->allocations_left = -1;
    assert_preprocess(p, copy);
    rb_preprocess_free(p);
    rb_preprocess_free(copy);
}

/* ---- on disk ---- */

static void test_round_trip(void **state) {
    rb_context *ctx = *state;
    for (int full = 0; full < 2; full++) {
        const char *path = temporary("model.h5");
        rb_model *model = example(ctx, full), *back;
        assert_int_equal(rb_model_save(ctx, model, path), RB_OK);
        if (rb_model_load(ctx, path, &back)) fail_msg("%s", rb_context_error(ctx));
        assert_model(model, back);
        assert_int_equal(rb_model_add_history(ctx, back, (rb_history){0}), RB_OK);
        rb_model_free(model);
        rb_model_free(back);
        unlink(path);
    }
    assert_hdf5_closed();
}

static void test_same_model_same_bytes(void **state) {
    rb_context *ctx = *state;
    const char *path = temporary("bytes.h5");
    rb_model *model = example(ctx, true);
    size_t size[2];
    char *bytes[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rb_model_save(ctx, model, path), RB_OK);
        bytes[i] = slurp(path, &size[i]);
        sleep(i == 0); /* time stamps count seconds */
    }
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    free(bytes[0]);
    free(bytes[1]);
    unlink(path);
    rb_model_free(model);
}

static void test_allocation_failures(void **state) {
    rb_context *ctx = *state;
    const char *path = temporary("failing.h5");
    rb_model *model = example(ctx, true), *back = NULL;
    rb_error err = RB_ERROR_MEMORY;
    for (int64_t n = 0; allow_allocations(ctx, n, err); n++) {
        err = rb_model_save(ctx, model, path);
        assert_true(err == RB_OK || access(path, F_OK) != 0);
    }
    err = RB_ERROR_MEMORY;
    for (int64_t n = 0; allow_allocations(ctx, n, err); n++) {
        err = rb_model_load(ctx, path, &back);
        assert_true(err == RB_OK || (err == RB_ERROR_MEMORY && !back));
    }
    assert_model(model, back);
    rb_model_free(model);
    rb_model_free(back);
    unlink(path);
    assert_hdf5_closed();
}

static void test_save_fails(void **state) {
    rb_context *ctx = *state;
    rb_model *model = example(ctx, false);
    assert_error(ctx, rb_model_save(ctx, model, "/nowhere/model.h5"), RB_ERROR_FILE, "/nowhere");
    rb_model_free(model);
    assert_hdf5_closed();
}

/* The disk may be full after any number of bytes: a message, no file left behind, and HDF5 in
 * order. */
static void test_full_disk(void **state) {
    rb_context *ctx = *state;
    const char *path = temporary("full.h5");
    rb_model *model = example(ctx, true), *back;
    struct rlimit old, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    rb_error err = RB_ERROR_FILE;
    for (rlim_t bytes = 0; err; bytes += 509) {
        small = (struct rlimit){bytes, old.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        err = rb_model_save(ctx, model, path);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
        assert_true(err == RB_OK || err == RB_ERROR_FILE);
        assert_true(err == RB_OK || access(path, F_OK) != 0);
        assert_true(err == RB_OK || strstr(rb_context_error(ctx), strerror(EFBIG)));
        assert_hdf5_closed();
    }
    signal(SIGXFSZ, handler);
    assert_int_equal(rb_model_load(ctx, path, &back), RB_OK);
    assert_model(model, back);
    rb_model_free(back);
    rb_model_free(model);
    unlink(path);
}

/* ---- damage ---- */

typedef rb_error (*change)(rb_h5 *file);

static rb_error newer(rb_h5 *f) {
    return rb_h5_set_integer(f, "/", "format_version", 3);
}
static rb_error other_format(rb_h5 *f) {
    return rb_h5_set_text(f, "/", "format", "something");
}
static rb_error other_method(rb_h5 *f) {
    return rb_h5_set_text(f, "/", "method", "unheard");
}
static rb_error other_precision(rb_h5 *f) {
    return rb_h5_set_text(f, "/", "precision", "float16");
}
static rb_error more_features(rb_h5 *f) {
    return rb_h5_set_integer(f, "preprocess", "n_features", 4);
}
static rb_error negative_features(rb_h5 *f) {
    return rb_h5_set_integer(f, "preprocess", "n_features", -3);
}
static rb_error few_inputs(rb_h5 *f) {
    return rb_h5_set_integer(f, "preprocess", "n_input", 4);
}
static rb_error bad_option(rb_h5 *f) {
    return rb_h5_set_text(f, "preprocess", "centre", "middle");
}
static rb_error no_centre(rb_h5 *f) {
    return rb_h5_remove(f, "preprocess/centre");
}
static rb_error zero_scale(rb_h5 *f) {
    static const double scale[FEATURES] = {1, 0, 1};
    rb_error err = rb_h5_remove(f, "preprocess/scale");
    return err ? err : rb_h5_put_values(f, "preprocess/scale", FEATURES, -1, scale);
}
static rb_error nan_centre(rb_h5 *f) {
    static const double centre[FEATURES] = {1, NAN, 1};
    rb_error err = rb_h5_remove(f, "preprocess/centre");
    return err ? err : rb_h5_put_values(f, "preprocess/centre", FEATURES, -1, centre);
}
static rb_error no_selection(rb_h5 *f) {
    return rb_h5_remove(f, "preprocess/selected");
}
static rb_error no_fill(rb_h5 *f) {
    return rb_h5_remove(f, "preprocess/fill");
}
static rb_error few_names(rb_h5 *f) {
    static const char *const names[] = {"a", "b"};
    rb_error err = rb_h5_remove(f, "features/names");
    return err ? err : rb_h5_put_texts(f, "features/names", 2, names);
}
static rb_error long_loadings(rb_h5 *f) {
    static const double loadings[8] = {0};
    rb_error err = rb_h5_remove(f, "arrays/loadings");
    return err ? err : rb_h5_put_values(f, "arrays/loadings", 4, 2, loadings);
}
static rb_error group_for_array(rb_h5 *f) {
    return rb_h5_put_group(f, "arrays/odd");
}
static rb_error number_for_text(rb_h5 *f) {
    return rb_h5_set_integer(f, "attributes", "eta", 3);
}
static rb_error short_history(rb_h5 *f) {
    static const double seconds[2] = {0};
    rb_error err = rb_h5_remove(f, "history/seconds");
    return err ? err : rb_h5_put_values(f, "history/seconds", 2, -1, seconds);
}

static void test_damage_is_named(void **state) {
    static const struct {
        change make;
        const char *words;
    } cases[] = {{newer, "made by a newer version of rarebit; update"},
                 {other_format, "not a model of rarebit"},
                 {other_method, "method 'unheard', which this program lacks"},
                 {other_precision, "'float16'"},
                 {more_features, "wrong length"},
                 {negative_features, "impossible"},
                 {few_inputs, "ascend within the input"},
                 {bad_option, "preprocessing: `centre` is 'middle'"},
                 {no_centre, "preprocess/centre"},
                 {zero_scale, "scale"},
                 {nan_centre, "number 2 of 'preprocess/centre' is not finite"},
                 {no_selection, "selection of features is missing"},
                 {no_fill, "fillings"},
                 {few_names, "2 names for 3 features"},
                 {long_loadings, "one row per feature"},
                 {group_for_array, "arrays/odd"},
                 {number_for_text, "'eta'"},
                 {short_history, "history/seconds"}};
    rb_context *ctx = *state;
    const char *path = temporary("damaged.h5");
    rb_model *model = example(ctx, true), *back;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        rb_h5 *file;
        assert_int_equal(rb_model_save(ctx, model, path), RB_OK);
        assert_int_equal(rb_h5_edit(ctx, path, path, RB_H5_OWN, &file), RB_OK);
        assert_int_equal(cases[c].make(file), RB_OK);
        assert_int_equal(rb_h5_close(file), RB_OK);
        assert_int_equal(rb_model_load(ctx, path, &back), RB_ERROR_FORMAT);
        assert_null(back);
        if (!strstr(rb_context_error(ctx), cases[c].words) || !strstr(rb_context_error(ctx), path))
            fail_msg("case %zu: the sentence is '%s'", c, rb_context_error(ctx));
        assert_hdf5_closed();
    }
    unlink(path);
    rb_model_free(model);
}

static void test_other_files_are_no_models(void **state) {
    rb_context *ctx = *state;
    rb_model *back;
    assert_error(ctx, rb_model_load(ctx, HDF5_DATA "named.h5", &back), RB_ERROR_FORMAT,
                 "not a model of rarebit");
    assert_error(ctx, rb_model_load(ctx, TEST_DATA "/data/README.md", &back), RB_ERROR_FORMAT,
                 "not an HDF5 file");
    assert_int_equal(rb_model_load(ctx, "/nowhere/model.h5", &back), RB_ERROR_FILE);
}

/* A model cut off anywhere, with any byte changed, or with more behind it, is refused. */
static void test_truncated_and_flipped(void **state) {
    rb_context *ctx = *state;
    const char *path = temporary("hostile.h5");
    rb_model *model = example(ctx, true), *back;
    size_t size;
    assert_int_equal(rb_model_save(ctx, model, path), RB_OK);
    char *bytes = slurp(path, &size);
    for (size_t length = 0; length < size; length += 63) {
        spit(path, bytes, length);
        assert_int_not_equal(rb_model_load(ctx, path, &back), RB_OK);
        assert_null(back);
    }
    spit(path, bytes, size);
    int file = open(path, O_WRONLY);
    for (size_t at = 0; at < size; at++) {
        unsigned char damaged = (unsigned char)bytes[at] ^ (at % 2 ? 0x10 : 0xff);
        assert_int_equal(pwrite(file, &damaged, 1, (off_t)at), 1);
        assert_error(ctx, rb_model_load(ctx, path, &back), RB_ERROR_FORMAT, "is damaged");
        assert_int_equal(pwrite(file, &bytes[at], 1, (off_t)at), 1);
    }
    assert_int_equal(rb_model_load(ctx, path, &back), RB_OK);
    rb_model_free(back);
    assert_int_equal(pwrite(file, "", 1, (off_t)size), 1);
    assert_int_equal(rb_model_load(ctx, path, &back), RB_ERROR_FORMAT);
    close(file);
    free(bytes);
    unlink(path);
    rb_model_free(model);
    assert_hdf5_closed();
}

static void keep_message(rb_log_level level, const char *message, void *kept) {
    assert_int_equal(level, RB_LOG_INFO);
    snprintf(kept, 300, "%s", message);
}

/* Whoever changes a file by HDF5 cuts the checksum off, so that it is never that of another
 * content. */
static void test_changed_by_others(void **state) {
    rb_context *ctx = *state;
    const char *path = temporary("changed.h5");
    char said[300] = "";
    rb_model *model = example(ctx, true), *back;
    rb_context_on_log(ctx, keep_message, said);
    assert_int_equal(rb_model_save(ctx, model, path), RB_OK);
    assert_int_equal(rb_model_load(ctx, path, &back), RB_OK);
    assert_string_equal(said, "");
    rb_model_free(back);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(H5Adelete_by_name(file, "attributes", "eta", H5P_DEFAULT) >= 0);
    assert_true(H5Fclose(file) >= 0);
    assert_int_equal(rb_model_load(ctx, path, &back), RB_OK);
    assert_null(rb_model_attribute(back, "eta"));
    assert_non_null(strstr(said, "changed.h5: the model has no checksum"));
    assert_int_equal(rb_model_save(ctx, back, path), RB_OK);
    rb_model_free(back);
    said[0] = '\0';
    assert_int_equal(rb_model_load(ctx, path, &back), RB_OK);
    assert_string_equal(said, "");
    rb_context_on_log(ctx, NULL, NULL);
    rb_model_free(back);
    rb_model_free(model);
    unlink(path);
    assert_hdf5_closed();
}

/* ---- two threads ---- */

static void *save_and_load(void *path) {
    rb_context *ctx = new_context();
    static const rb_method *const methods[] = {&method, NULL};
    ctx->methods = methods;
    rb_model *model = example(ctx, true), *back;
    for (int i = 0; i < 20; i++) {
        assert_int_equal(rb_model_save(ctx, model, path), RB_OK);
        assert_int_equal(rb_model_load(ctx, path, &back), RB_OK);
        assert_model(model, back);
        rb_model_free(back);
    }
    rb_model_free(model);
    rb_context_free(ctx);
    return NULL;
}

static void test_two_threads(void **state) {
    (void)state;
    enum { THREADS = 2 };
    pthread_t threads[THREADS];
    char paths[THREADS][512];
    for (int i = 0; i < THREADS; i++) {
        char name[32];
        snprintf(name, sizeof name, "thread%d.h5", i);
        snprintf(paths[i], sizeof paths[i], "%s", temporary(name));
        assert_int_equal(pthread_create(&threads[i], NULL, save_and_load, paths[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        unlink(paths[i]);
    }
    assert_hdf5_closed();
}

/* ---- results in AnnData ---- */

static void test_annotate(void **state) {
    rb_context *ctx = *state;
    const char *path = temporary("annotated.h5ad");
    rb_model *model = example(ctx, true);
    rb_matrix *codes;
    rb_h5 *file;
    double varm[4 * UNITS];
    static const double expected[4 * UNITS] = {1, 1.0 / 2, 0, 0, 1.0 / 3, 1.0 / 4, 0, 0};
    assert_int_equal(rb_matrix_new_dense(ctx, RB_FLOAT32, 5, UNITS, &codes), RB_OK);
    assert_int_equal(rb_model_annotate_as(ctx, model, codes, NULL, HDF5_DATA "csr.h5ad", path),
                     RB_OK);
    assert_int_equal(rb_h5_open(ctx, path, RB_H5_SHARED, &file), RB_OK);
    assert_int_equal(rb_h5_get_values(file, "varm/test", 4 * UNITS, varm), RB_OK);
    assert_memory_equal(varm, expected, sizeof expected);
    assert_true(rb_h5_has(file, "uns/test/params/eta"));
    assert_true(rb_h5_has(file, "obsm/X_test"));
    rb_h5_close(file);
    assert_error(ctx, rb_model_annotate_check(ctx, model, NULL, path), RB_ERROR_ARGUMENT,
                 "obsm['X_test']");
    assert_int_equal(rb_model_annotate_check(ctx, model, "test", path), RB_ERROR_ARGUMENT);
    assert_int_equal(rb_model_annotate_check(ctx, model, "X_a/b", path), RB_ERROR_ARGUMENT);
    assert_int_equal(rb_model_annotate_check(ctx, model, "X_new", path), RB_OK);
    assert_int_equal(rb_model_annotate_as(ctx, model, codes, "X_new", path, path), RB_OK);
    assert_int_equal(rb_h5_open(ctx, path, RB_H5_SHARED, &file), RB_OK);
    assert_true(rb_h5_has(file, "obsm/X_test") && rb_h5_has(file, "obsm/X_new"));
    assert_true(rb_h5_has(file, "varm/new") && rb_h5_has(file, "uns/new/params/eta"));
    rb_h5_close(file);
    unlink(path);
    codes->n_features = 1;
    assert_int_equal(rb_model_annotate_as(ctx, model, codes, NULL, HDF5_DATA "csr.h5ad", path),
                     RB_ERROR_ARGUMENT);
    rb_matrix_free(codes);
    rb_model_free(model);
}

static int set_up(void **state) {
    static const rb_method *const methods[] = {&method, NULL};
    rb_context *ctx = new_context();
    ctx->methods = methods;
    *state = ctx;
    return 0;
}

static int tear_down(void **state) {
    rb_context_free(*state);
    return 0;
}

int main(void) {
    H5dont_atexit(); /* after damaged files it would complain that it cannot close itself */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_attributes_and_history),
        cmocka_unit_test_setup_teardown(test_methods, set_up, tear_down),
        cmocka_unit_test(test_copy_of_preprocessing),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_same_model_same_bytes),
        cmocka_unit_test(test_allocation_failures),
        cmocka_unit_test(test_save_fails),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_damage_is_named),
        cmocka_unit_test(test_other_files_are_no_models),
        cmocka_unit_test(test_truncated_and_flipped),
        cmocka_unit_test(test_changed_by_others),
        cmocka_unit_test(test_two_threads),
        cmocka_unit_test(test_annotate),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
