/* A unit over samples of two planted classes: points stand in the strips by class and by code, high
 * where their class has a feature; sparse data and many samples alike; what is refused; memory. */
#include "../errors.h"
#include "../options.h"
#include "io/io.h"
#include "plot/plot.h"
#include <rarebit/rfn.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLES = 40, MANY = 2500, FEATURES = 12, UNITS = 3, CODES_AT = 65, CODES = 84 };
enum { STRIPS_AT = CODES_AT + CODES + 21, STRIP = 34, STEP = 41 };

static rb_context *ctx;
static rb_model *model;
static rb_options *options;
static char folder[64], picture[96], labels[96];
static double values[MANY * FEATURES];

/* Samples of an even number are of the class "even" and have features 0 to 5; the others, of
 * "odd", have 6 to 11. */
static bool is_even(int64_t sample) {
    return sample % 2 == 0;
}

static void make_values(void) {
    rb_draws draws = {{7, RB_RANDOM_SIMULATE, 0}, 0};
    for (int64_t i = 0; i < MANY; i++) {
        for (int64_t k = 0; k < FEATURES; k++) {
            bool has = is_even(i) == (k < FEATURES / 2);
            values[i * FEATURES + k] = has ? 3 + 0.3 * rb_draw_normal(&draws) : 0;
        }
    }
}

static void write_labels(int64_t count) {
    FILE *file = fopen(labels, "w");
    assert_non_null(file);
    fputs("class\n", file);
    for (int64_t i = 0; i < count; i++)
        fputs(is_even(i) ? "even\n" : "odd\n", file);
    assert_int_equal(fclose(file), 0);
}

static void check(rb_error err) {
    if (err) fail_msg("%s", rb_context_error(ctx));
}

static void set(const char *name, const char *value) {
    check(rb_options_set(ctx, options, name, value));
}

static rb_model *fit_model(int units) {
    rb_model *fitted;
    rb_matrix *matrix;
    rb_source *source;
    rb_rfn_options rfn;
    rb_fit_options fit;
    rb_rfn_options_default(&rfn);
    fixture_preset("paper", &rfn, NULL);
    rfn.units = units;
    rb_fit_options_default(&fit);
    fit.iterations = 40;
    check(rb_matrix_dense(ctx, RB_FLOAT64, SAMPLES, FEATURES, values, FEATURES, 1, &matrix));
    check(rb_source_from_matrix(ctx, matrix, &source));
    check(rb_fit(ctx, fixture_options(ctx, "rfn", &rfn, &fit, NULL), source, NULL, &fitted));
    rb_source_free(source);
    rb_matrix_free(matrix);
    return fitted;
}

static int set_up(void **state) {
    (void)state;
    strcpy(folder, "/tmp/rarebit_unit_XXXXXX");
    if (!mkdtemp(folder) || rb_context_new(&ctx)) return 1;
    snprintf(picture, sizeof picture, "%s/a.png", folder);
    snprintf(labels, sizeof labels, "%s/labels.tsv", folder);
    make_values();
    model = fit_model(UNITS);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    rb_model_free(model);
    rb_context_free(ctx);
    unlink(labels);
    unlink(picture);
    return rmdir(folder);
}

static int new_options(void **state) {
    (void)state;
    check(rb_options_new(ctx, NULL, &options));
    check(rb_options_add(ctx, options, rb_plot_group()));
    check(rb_options_add(ctx, options, rb_plot_unit_group()));
    set("width", "900");
    write_labels(SAMPLES);
    return 0;
}

static int free_options(void **state) {
    (void)state;
    rb_options_free(options);
    unlink(picture);
    return 0;
}

static rb_error plot(int64_t n) {
    rb_matrix *matrix;
    rb_source *source;
    int64_t left = ctx->allocations_left;
    ctx->allocations_left = -1;
    check(rb_matrix_dense(ctx, RB_FLOAT64, n, FEATURES, values, FEATURES, 1, &matrix));
    check(rb_source_from_matrix(ctx, matrix, &source));
    ctx->allocations_left = left;
    rb_error err = rb_plot_unit(ctx, model, source, options, picture);
    rb_source_free(source);
    rb_matrix_free(matrix);
    return err;
}

/* The same samples, compressed. */
static rb_error plot_sparse(int64_t n) {
    static int64_t starts[MANY + 1];
    static int32_t columns[MANY * FEATURES];
    static double kept[MANY * FEATURES];
    rb_matrix *matrix;
    rb_source *source;
    for (int64_t i = 0; i < n; i++) {
        starts[i + 1] = starts[i];
        for (int32_t k = 0; k < FEATURES; k++) {
            if (values[i * FEATURES + k] == 0) continue;
            columns[starts[i + 1]] = k;
            kept[starts[i + 1]++] = values[i * FEATURES + k];
        }
    }
    check(rb_matrix_csr(ctx, RB_FLOAT64, n, FEATURES, starts, columns, kept, &matrix));
    check(rb_source_from_matrix(ctx, matrix, &source));
    rb_error err = rb_plot_unit(ctx, model, source, options, picture);
    rb_source_free(source);
    rb_matrix_free(matrix);
    return err;
}

/* Where the pixels of a class are within a strip of the picture. */
struct points {
    int64_t count, first, last; /* columns */
    double height;              /* the mean, above the lower end */
    int64_t highest_at;         /* the leftmost column of the highest row */
};

static struct points find(const rb_image *image, int64_t class_index, int64_t top, int64_t height) {
    rb_colour c = rb_class_colour(class_index);
    struct points p = {0, image->width, -1, 0, -1};
    for (int64_t at = top * image->width; at < (top + height) * image->width; at++) {
        const float *pixel = image->values + at * 3;
        int64_t x = at % image->width;
        if (fabs((double)pixel[0] - 255 * c.red) > 1.5 ||
            fabs((double)pixel[1] - 255 * c.green) > 1.5 ||
            fabs((double)pixel[2] - 255 * c.blue) > 1.5)
            continue;
        if (p.highest_at < 0) p.highest_at = x;
        p.count++;
        p.first = x < p.first ? x : p.first;
        p.last = x > p.last ? x : p.last;
        p.height += (double)(top + height - at / image->width);
    }
    p.height /= (double)(p.count ? p.count : 1);
    return p;
}

/* The feature whose loading of a unit is the k-th largest by size. */
static int64_t largest(int64_t unit, int64_t k) {
    const double *loadings = rb_model_array(model, "loadings", NULL, NULL);
    for (int64_t f = 0; f < FEATURES; f++) {
        int64_t larger = 0;
        for (int64_t other = 0; other < FEATURES; other++)
            larger += fabs(loadings[other * UNITS + unit]) > fabs(loadings[f * UNITS + unit]);
        if (larger == k) return f;
    }
    return -1;
}

/* Class "even" is at the left; in the strip of a feature that it has, its points are higher; and in
 * that of codes, where the loading of the feature says so. */
static void check_picture(int64_t unit) {
    rb_image image;
    check(rb_picture_read(ctx, picture, &image));
    for (int64_t row = 0; row < 4; row++) {
        int64_t top = STRIPS_AT + row * STEP;
        struct points even = find(&image, 0, top, STRIP), odd = find(&image, 1, top, STRIP);
        assert_true(even.count > 20 && odd.count > 20);
        assert_true(even.last < odd.first + 4);
        bool has = largest(unit, row) < FEATURES / 2;
        assert_true(has ? even.height > odd.height + 8 : odd.height > even.height + 8);
    }
    struct points even = find(&image, 0, CODES_AT, CODES), odd = find(&image, 1, CODES_AT, CODES);
    assert_true(even.highest_at <= even.first + 6 && odd.highest_at <= odd.first + 6);
    /* A loading above 0 says that codes are large where the feature is. */
    const double *loadings = rb_model_array(model, "loadings", NULL, NULL);
    int64_t feature = largest(unit, 0);
    bool with_even = (feature < FEATURES / 2) == (loadings[feature * UNITS + unit] > 0);
    assert_true(with_even ? even.height > odd.height + 10 : odd.height > even.height + 10);
    rb_free(image.values);
}

static void points_stand_by_class_and_code(void **state) {
    (void)state;
    set("labels", labels);
    for (int64_t unit = 0; unit < UNITS; unit++) {
        set("unit", unit == 0 ? "0" : unit == 1 ? "1" : "2");
        check(plot(SAMPLES));
        check_picture(unit);
        check(plot_sparse(SAMPLES));
        check_picture(unit);
    }
}

static void many_samples_are_averaged(void **state) {
    (void)state;
    set("labels", labels);
    set("unit", "1");
    write_labels(MANY);
    check(plot(MANY));
    check_picture(1);
}

/* All in one colour, from the largest code on. */
static void without_labels(void **state) {
    (void)state;
    rb_image image;
    set("unit", "1");
    set("features", "2");
    check(plot(SAMPLES));
    check(rb_picture_read(ctx, picture, &image));
    assert_int_equal(find(&image, 1, 0, image.height).count, 0);
    struct points codes = find(&image, 0, CODES_AT - 17, CODES);
    assert_true(codes.last - codes.first > 600 && codes.highest_at <= codes.first + 6);
    assert_int_equal(image.height, 48 + CODES + 14 + 2 * STEP + 36);
    rb_free(image.values);
}

static void assert_refused(rb_error error, const char *part) {
    assert_error(ctx, plot(SAMPLES), error, part);
    assert_int_not_equal(access(picture, F_OK), 0);
}

static void what_is_wrong_is_said(void **state) {
    (void)state;
    assert_refused(RB_ERROR_ARGUMENT, "set `unit` to one of the 3 units");
    set("unit", "3");
    assert_refused(RB_ERROR_ARGUMENT, "`unit` is 3, but the model has 3 units, counted from 0");
    set("unit", "2");
    set("labels", "/nowhere/labels.tsv");
    assert_refused(RB_ERROR_FILE, "/nowhere/labels.tsv");
    set("labels", labels);
    write_labels(SAMPLES - 3);
    assert_refused(RB_ERROR_DATA, "40");
    double *loadings = (double *)rb_model_array(model, "loadings", NULL, NULL), saved[FEATURES];
    for (int64_t k = 0; k < FEATURES; k++) {
        saved[k] = loadings[k * UNITS + 2];
        loadings[k * UNITS + 2] = 0;
    }
    assert_refused(RB_ERROR_DATA, "unit 2 has only loadings of 0");
    for (int64_t k = 0; k < FEATURES; k++)
        loadings[k * UNITS + 2] = saved[k];
}

/* A unit whose loadings are next to nothing is spare. */
static void tells_what_is_no_module(void **state) {
    (void)state;
    rb_matrix *matrix;
    rb_source *source;
    char note[RB_NOTE_SIZE], role[16];
    double *loadings = (double *)rb_model_array(model, "loadings", NULL, NULL), saved[FEATURES];
    check(rb_matrix_dense(ctx, RB_FLOAT64, SAMPLES, FEATURES, values, FEATURES, 1, &matrix));
    check(rb_source_from_matrix(ctx, matrix, &source));
    check(rb_find_roles(ctx, model, source, -1, note, sizeof note));
    assert_string_equal(note, "");
    for (int64_t k = 0; k < FEATURES; k++) {
        saved[k] = loadings[k * UNITS + 2];
        loadings[k * UNITS + 2] *= 1e-4;
    }
    check(rb_find_roles(ctx, model, source, -1, note, sizeof note));
    assert_string_equal(note, "spare: unit 2");
    check(rb_find_roles(ctx, model, source, 2, role, sizeof role));
    assert_string_equal(role, "spare");
    check(rb_find_roles(ctx, model, source, 0, role, sizeof role));
    assert_string_equal(role, "");
    for (int64_t k = 0; k < FEATURES; k++)
        loadings[k * UNITS + 2] = saved[k];
    rb_model *more = fit_model(4 * UNITS);
    loadings = (double *)rb_model_array(more, "loadings", NULL, NULL);
    for (int64_t e = 0; e < FEATURES * 4 * UNITS; e++)
        loadings[e] *= e % (4 * UNITS) < UNITS ? 1 : 1e-4;
    check(rb_find_roles(ctx, more, source, -1, note, sizeof note));
    assert_string_equal(note, "spare: 9 units");
    rb_model_free(more);
    rb_source_free(source);
    rb_matrix_free(matrix);
}

static void memory_may_be_refused(void **state) {
    (void)state;
    set("labels", labels);
    set("unit", "0");
    int refusals = 0;
    for (rb_error err = RB_ERROR_MEMORY; allow_allocations(ctx, refusals, err); refusals++) {
        err = plot(SAMPLES);
        assert_int_equal(access(picture, F_OK) == 0, !err);
    }
    assert_true(refusals > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(points_stand_by_class_and_code, new_options, free_options),
        cmocka_unit_test_setup_teardown(many_samples_are_averaged, new_options, free_options),
        cmocka_unit_test_setup_teardown(without_labels, new_options, free_options),
        cmocka_unit_test_setup_teardown(what_is_wrong_is_said, new_options, free_options),
        cmocka_unit_test_setup_teardown(tells_what_is_no_module, new_options, free_options),
        cmocka_unit_test_setup_teardown(memory_may_be_refused, new_options, free_options)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
