/* The pictures of a fitted model: groups of samples that were planted appear where they should. */
#include "plot/plot.h"
#include "../errors.h"
#include "../options.h"
#include "io/io.h"
#include <rarebit/rfn.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLES = 40, FEATURES = 12 };

static rb_context *ctx;
static rb_matrix *matrix;
static rb_source *source;
static rb_model *model;
static rb_modules *modules;
static char folder[64], picture[96], labels[96];
static rb_plot_options options;

/* Even samples have features 0 to 5, odd ones 6 to 11. */
static rb_error make_data(void) {
    static char text[SAMPLES + FEATURES][8];
    const char *names[SAMPLES + FEATURES];
    rb_draws draws = {{7, RB_RANDOM_SIMULATE, 0}, 0};
    rb_error err = rb_matrix_new_dense(ctx, RB_FLOAT32, SAMPLES, FEATURES, &matrix);
    if (err) return err;
    float *values = (void *)matrix->values;
    for (int i = 0; i < SAMPLES; i++) {
        for (int k = 0; k < FEATURES; k++) {
            double mean = (i % 2 == 0) == (k < FEATURES / 2) ? 3 : 0;
            values[i * FEATURES + k] = (float)(mean + 0.3 * rb_draw_normal(&draws));
        }
    }
    for (int i = 0; i < SAMPLES + FEATURES; i++) {
        snprintf(text[i], sizeof text[i], i < SAMPLES ? "s%d" : "g%d",
                 i < SAMPLES ? i : i - SAMPLES);
        names[i] = text[i];
    }
    err = rb_matrix_set_sample_names(ctx, matrix, names, SAMPLES);
    return err ? err : rb_matrix_set_feature_names(ctx, matrix, names + SAMPLES, FEATURES);
}

static int set_up(void **state) {
    (void)state;
    strcpy(folder, "/tmp/rarebit_pictures_XXXXXX");
    if (!mkdtemp(folder) || rb_context_new(&ctx)) return 1;
    snprintf(picture, sizeof picture, "%s/a.png", folder);
    snprintf(labels, sizeof labels, "%s/labels.tsv", folder);
    FILE *file = fopen(labels, "w");
    fputs("sample\tclass\n", file);
    for (int i = 0; i < SAMPLES; i++)
        fprintf(file, "s%d\t%s\n", i, i % 2 == 0 ? "even" : "odd");
    rb_rfn_options rfn;
    rb_rfn_options_default(&rfn);
    fixture_preset("paper", &rfn, NULL);
    rfn.units = 3;
    rb_fit_options fit;
    rb_fit_options_default(&fit);
    fit.iterations = 40;
    fixture_default(rb_plot_group(), &options);
    return fclose(file) || make_data() || rb_source_from_matrix(ctx, matrix, &source) ||
           rb_fit(ctx, fixture_options(ctx, "rfn", &rfn, &fit, NULL), source, NULL, &model) ||
           rb_modules_find(ctx, model, source, NULL, &modules);
}

static int tear_down(void **state) {
    (void)state;
    rb_modules_free(modules);
    rb_model_free(model);
    rb_source_free(source);
    rb_matrix_free(matrix);
    rb_context_free(ctx);
    unlink(labels);
    unlink(picture);
    return rmdir(folder);
}

static rb_error plot_history(const rb_plot_options *o) {
    return rb_plot_history(ctx, model, fixture_of(rb_plot_group(), o), picture);
}

static rb_error plot_codes(const rb_plot_options *o) {
    return rb_plot_codes(ctx, model, source, fixture_of(rb_plot_group(), o), picture);
}

static rb_error plot_filters(const rb_plot_options *o) {
    return rb_plot_filters(ctx, model, fixture_of(rb_plot_group(), o), picture);
}

static rb_error plot_modules(const rb_plot_options *o) {
    return rb_plot_modules(ctx, model, source, modules, fixture_of(rb_plot_group(), o), picture);
}

typedef rb_error (*plot_fn)(const rb_plot_options *o);
static const plot_fn plots[] = {plot_history, plot_codes, plot_filters, plot_modules};
enum { N_PLOTS = sizeof plots / sizeof *plots };

/* Options that suit every picture. */
static rb_plot_options all_options(void) {
    rb_plot_options o = options;
    o.labels = labels;
    o.shape = "4x3";
    o.width = 600;
    return o;
}

static void test_every_picture_is_a_png_of_its_width(void **state) {
    (void)state;
    rb_plot_options o = all_options();
    for (int i = 0; i < N_PLOTS; i++) {
        unsigned char head[24];
        assert_int_equal(plots[i](&o), RB_OK);
        FILE *file = fopen(picture, "rb");
        assert_non_null(file);
        assert_int_equal(fread(head, 1, sizeof head, file), sizeof head);
        fclose(file);
        assert_memory_equal(head, "\211PNG\r\n\032\n", 8);
        assert_int_equal(head[18] << 8 | head[19], 600);
        assert_int_equal(unlink(picture), 0);
    }
    for (int i = 0; i < N_PLOTS; i++) {
        rb_error err = plots[i](NULL);
        assert_int_equal(err, plots[i] == plot_filters ? RB_ERROR_ARGUMENT : RB_OK);
    }
    assert_int_equal(unlink(picture), 0);
}

/* Red, green and blue of a pixel of the picture, given in units of the page. */
static void pixel(const rb_matrix *image, int64_t width, double x, double y, double rgb[3]) {
    double scale = (double)width / RB_PAGE_WIDTH;
    int64_t index = (int64_t)(y * scale) * width + (int64_t)(x * scale);
    for (int c = 0; c < 3; c++)
        rgb[c] = rb_matrix_at(image, 0, 3 * index + c);
}

/* With labels the two classes are two halves of the rows: in each column of a unit that tells them
 * apart one half is white and the other is not. */
static void test_codes_stand_by_class(void **state) {
    (void)state;
    rb_plot_options o = options;
    o.labels = labels;
    assert_int_equal(plot_codes(&o), RB_OK);
    rb_matrix *image;
    assert_int_equal(rb_format_image.read(ctx, picture, NULL, &image), RB_OK);
    int told_apart = 0;
    for (int unit = 0; unit < 3; unit++) {
        int coloured[2] = {0, 0};
        for (int row = 0; row < SAMPLES; row++) {
            double rgb[3], right = 800, left = 102;
            pixel(image, 1200, left + (right - left) * (unit + 0.5) / 3, 62 + 12 * (row + 0.5),
                  rgb);
            coloured[row / (SAMPLES / 2)] += rgb[0] < 250;
        }
        told_apart += (coloured[0] == 0) != (coloured[1] == 0);
    }
    assert_true(told_apart >= 2);
    rb_matrix_free(image);
    assert_int_equal(unlink(picture), 0);
}

/* How often the darkest unit of a row differs from that of the row before. */
static int changes_of_strongest(rb_plot_order order) {
    rb_plot_options o = options;
    rb_matrix *image;
    int changes = 0, before = -1;
    o.order = (int)order;
    assert_int_equal(plot_codes(&o), RB_OK);
    assert_int_equal(rb_format_image.read(ctx, picture, NULL, &image), RB_OK);
    for (int row = 0; row < SAMPLES; row++) {
        double darkest = 240;
        int strongest = -1;
        for (int unit = 0; unit < 3; unit++) {
            double rgb[3], right = 800, left = 56;
            pixel(image, 1200, left + (right - left) * (unit + 0.5) / 3, 62 + 12 * (row + 0.5),
                  rgb);
            strongest = rgb[0] < darkest ? unit : strongest;
            darkest = fmin(darkest, rgb[0]);
        }
        changes += row > 0 && strongest != before;
        before = strongest;
    }
    rb_matrix_free(image);
    assert_int_equal(unlink(picture), 0);
    return changes;
}

static void test_codes_stand_by_unit(void **state) {
    (void)state;
    int by_unit = changes_of_strongest(RB_ORDER_UNIT);
    assert_true(by_unit >= 1 && 4 * by_unit < changes_of_strongest(RB_ORDER_DATA));
}

static void assert_refused(plot_fn plot, const rb_plot_options *o, rb_error error,
                           const char *part) {
    assert_error(ctx, plot(o), error, part);
    assert_int_not_equal(access(picture, F_OK), 0);
}

static void test_what_is_wrong_is_said(void **state) {
    (void)state;
    rb_plot_options o = options;
    assert_refused(plot_filters, &o, RB_ERROR_ARGUMENT, "need `shape`");
    o.shape = "5x5";
    assert_refused(plot_filters, &o, RB_ERROR_ARGUMENT, "12 features");
    o.shape = "3x2x2";
    assert_refused(plot_filters, &o, RB_ERROR_ARGUMENT, "1 or 3 channels");
    o.shape = "13";
    assert_refused(plot_filters, &o, RB_ERROR_ARGUMENT, "12 features");
    o.shape = "12x";
    assert_refused(plot_filters, &o, RB_ERROR_ARGUMENT, "rows x columns (28x28)");
    o.labels = "/nowhere/labels.tsv";
    assert_refused(plot_codes, &o, RB_ERROR_FILE, "/nowhere/labels.tsv");
    assert_refused(plot_modules, &o, RB_ERROR_FILE, "/nowhere/labels.tsv");
    o.width = 1;
    for (int i = 0; i < N_PLOTS; i++)
        assert_refused(plots[i], &o, RB_ERROR_ARGUMENT, "width");
}

static void test_modules_of_other_data_are_refused(void **state) {
    (void)state;
    rb_module *first = (rb_module *)rb_modules_get(modules, 0);
    int64_t index = first->samples[0].index;
    first->samples[0].index = SAMPLES;
    assert_refused(plot_modules, &options, RB_ERROR_DATA, "the modules of these data");
    first->samples[0].index = index;
}

static char last_log[512];
static int warnings;

static void note_log(rb_log_level level, const char *message, void *user) {
    (void)user;
    warnings += level == RB_LOG_WARNING;
    snprintf(last_log, sizeof last_log, "%s", message);
}

/* Gives a module `samples` from `first` on in steps of 2 and the features 0 .. features - 1. */
static void fill_module(rb_module *m, int64_t unit, int64_t first, double weight,
                        int64_t n_features) {
    *m = (rb_module){.unit = unit, .n_samples = SAMPLES / 2, .n_features = n_features};
    m->samples = rb_alloc(ctx, m->n_samples, sizeof *m->samples);
    m->features = rb_alloc(ctx, FEATURES, sizeof *m->features);
    for (int64_t i = 0; i < m->n_samples; i++)
        m->samples[i] = (rb_member){first + 2 * i, 1};
    for (int64_t k = 0; k < n_features; k++)
        m->features[k] = (rb_member){k, weight};
}

/* Pixels of the colour of a class. */
static int64_t count_class(int64_t class_index) {
    rb_matrix *image;
    rb_colour c = rb_class_colour(class_index);
    const double wanted[3] = {255 * c.red, 255 * c.green, 255 * c.blue};
    int64_t count = 0;
    assert_int_equal(rb_format_image.read(ctx, picture, NULL, &image), RB_OK);
    for (int64_t i = 0; i < rb_matrix_features(image); i += 3) {
        int equal = 0;
        for (int j = 0; j < 3; j++)
            equal += fabs(rb_matrix_at(image, 0, i + j) - wanted[j]) <= 1;
        count += equal == 3;
    }
    rb_matrix_free(image);
    return count;
}

/* A module all of whose features stand with another gets its frame all the same; one that cannot be
 * shown is named in a warning. */
static void test_no_module_is_left_out_in_silence(void **state) {
    (void)state;
    rb_modules *two;
    rb_plot_options o = options;
    o.labels = labels;
    rb_context_on_log(ctx, note_log, NULL);
    warnings = 0;
    assert_int_equal(rb_modules_new(ctx, 2, &two), RB_OK);
    fill_module(&two->list[0], 1, 0, 1, 6);
    fill_module(&two->list[1], 2, 1, 1, 4);
    assert_int_equal(
        rb_plot_modules(ctx, model, source, two, fixture_of(rb_plot_group(), &o), picture), RB_OK);
    assert_int_equal(warnings, 0);
    /* Both halves of the strip are there, not only the box of the legend. */
    assert_true(count_class(0) > 1000 && count_class(1) > 1000);
    two->list[1].n_features = 0;
    assert_int_equal(
        rb_plot_modules(ctx, model, source, two, fixture_of(rb_plot_group(), &o), picture), RB_OK);
    assert_int_equal(warnings, 1);
    assert_string_equal(last_log, "unit 2 is not in the plot: no feature passes the rule");
    assert_true(count_class(0) > 1000 && count_class(1) < 1000);
    two->list[0].n_features = two->list[1].n_features = 1;
    assert_int_equal(
        rb_plot_modules(ctx, model, source, two, fixture_of(rb_plot_group(), &o), picture), RB_OK);
    assert_string_equal(last_log,
                        "unit 2 is not in the plot: its features stand with other modules");
    rb_context_on_log(ctx, NULL, NULL);
    rb_modules_free(two);
    assert_int_equal(unlink(picture), 0);
}

static void test_memory_running_out_at_every_point(void **state) {
    (void)state;
    rb_plot_options o = all_options();
    o.width = 600;
    for (int i = 0; i < N_PLOTS; i++) {
        rb_error err = RB_ERROR_MEMORY;
        int64_t n;
        for (n = 0; allow_allocations(ctx, n, err); n++) {
            err = plots[i](&o);
            assert_true(!err || access(picture, F_OK) != 0);
        }
        assert_true(n > 2);
        assert_int_equal(unlink(picture), 0);
    }
}

/* The model becomes one with causes, and a trace that does not fit it: this is the last test. */
static void test_a_trace_of_another_shape_is_refused(void **state) {
    (void)state;
    rb_plot_options o = all_options();
    static const char *const names[] = {"trace_fields_at", "trace_fields"};
    model->method = rb_find_method(ctx, "linca");
    for (int i = 0; i < 2; i++) {
        int64_t rows = i ? FEATURES : 1, columns = i ? 6 : 1;
        double *values = rb_model_add_array(ctx, model, names[i], rows, columns);
        assert_non_null(values);
        for (int64_t k = 0; k < rows * columns; k++)
            values[k] = 1;
    }
    assert_error(ctx, rb_plot_fields(ctx, model, fixture_of(rb_plot_group(), &o), picture),
                 RB_ERROR_FORMAT, "trace_fields");
    assert_int_not_equal(access(picture, F_OK), 0);
}

static int64_t read_picture(unsigned char *bytes, int64_t size) {
    FILE *file = fopen(picture, "rb");
    assert_non_null(file);
    int64_t got = (int64_t)fread(bytes, 1, (size_t)size, file);
    fclose(file);
    assert_int_equal(unlink(picture), 0);
    return got;
}

/* The best are those of the largest loadings, under their own numbers. */
static void test_the_best_filters_are_drawn(void **state) {
    (void)state;
    enum { SIZE = 1 << 17, UNITS = 3 };
    static unsigned char bytes[2][SIZE];
    static const int64_t order[UNITS] = {2, 0, 1};
    static const char *const titles[] = {"Filters of 2 of 3 units, 4 \xC3\x97 3 pixels",
                                         "Filters of 3 units, 4 \xC3\x97 3 pixels"};
    double *loadings = (double *)rb_model_array(model, "loadings", NULL, NULL),
           was[FEATURES * UNITS];
    memcpy(was, loadings, sizeof was);
    for (int k = 0; k < FEATURES; k++) {
        loadings[k * UNITS] = 2 - k % 3;
        loadings[k * UNITS + 1] = k == 4;
        loadings[k * UNITS + 2] = k - 5;
    }
    for (int64_t best = 2; best <= 4; best += 2) { /* 4: as many as there are */
        int64_t drawn = best < UNITS ? best : UNITS;
        double values[FEATURES * UNITS];
        rb_options *given;
        for (int64_t k = 0; k < FEATURES; k++)
            for (int64_t i = 0; i < drawn; i++)
                values[k * drawn + i] = loadings[k * UNITS + order[i]];
        assert_int_equal(rb_options_new(ctx, NULL, &given), RB_OK);
        assert_int_equal(rb_options_add(ctx, given, rb_plot_group()), RB_OK);
        assert_int_equal(rb_options_add(ctx, given, rb_plot_filters_group()), RB_OK);
        assert_int_equal(rb_options_set(ctx, given, "shape", "4x3"), RB_OK);
        assert_int_equal(rb_options_set_integer(ctx, given, "best", best), RB_OK);
        assert_int_equal(rb_plot_filters(ctx, model, given, picture), RB_OK);
        rb_options_free(given);
        int64_t size = read_picture(bytes[0], SIZE);
        rb_filters_plot p = {values, FEATURES, drawn, NULL, 4, 3, 1, titles[best > UNITS]};
        p.numbers = order;
        assert_int_equal(rb_draw_filters(ctx, &p, &options, picture), RB_OK);
        assert_int_equal(read_picture(bytes[1], SIZE), size);
        assert_true(size < SIZE);
        assert_memory_equal(bytes[0], bytes[1], (size_t)size);
    }
    memcpy(loadings, was, sizeof was);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_picture_is_a_png_of_its_width),
        cmocka_unit_test(test_the_best_filters_are_drawn),
        cmocka_unit_test(test_codes_stand_by_class),
        cmocka_unit_test(test_codes_stand_by_unit),
        cmocka_unit_test(test_what_is_wrong_is_said),
        cmocka_unit_test(test_modules_of_other_data_are_refused),
        cmocka_unit_test(test_no_module_is_left_out_in_silence),
        cmocka_unit_test(test_memory_running_out_at_every_point),
        cmocka_unit_test(test_a_trace_of_another_shape_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
