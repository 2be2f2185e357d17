/* The options handle: every option of every method by name, presets, needs, texts, row sizes. */
#include "../fixture.h"
#include <rarebit/deep.h>
#include <rarebit/io.h>

enum { N = 60, M = 8 };

static rb_options *options_of(rb_context *ctx, const char *method) {
    rb_options *options;
    assert_ok(ctx, rb_options_new(ctx, method, &options));
    return options;
}

static void refuses(rb_context *ctx, rb_error err, const char *words) {
    assert_error(ctx, err, RB_ERROR_ARGUMENT, words);
    assert_null(strstr(rb_context_error(ctx), "--"));
}

/* Each is set to its default, or to something, and read back. */
static void every_option_of_every_method(void **state) {
    rb_context *ctx = *state;
    for (int64_t m = 0; rb_context_method(ctx, m); m++) {
        rb_options *options = options_of(ctx, rb_context_method(ctx, m)->name);
        rb_option row;
        int64_t count = 0;
        for (; !rb_options_row(options, count, &row, sizeof row); count++) {
            char text[64];
            const char *value = row.fallback ? row.fallback : "some-text";
            assert_non_null(row.help);
            assert_non_null(row.group);
            assert_false(rb_options_is_set(options, row.name));
            rb_options_get(options, row.name, text, sizeof text);
            assert_ok(ctx, rb_options_set(ctx, options, row.name, value));
            assert_true(rb_options_is_set(options, row.name));
            int64_t length = rb_options_get(options, row.name, text, sizeof text);
            assert_int_equal(length, strlen(text));
            if (row.kind == RB_OPTION_NUMBER || row.kind == RB_OPTION_INTEGER) {
                assert_ok(ctx, row.kind == RB_OPTION_NUMBER
                                   ? rb_options_set_number(ctx, options, row.name, atof(text))
                                   : rb_options_set_integer(ctx, options, row.name, atoll(text)));
                assert_true(atof(value) == atof(text));
            } else if (row.kind != RB_OPTION_VALUES && row.kind != RB_OPTION_SECONDS) {
                assert_string_equal(text, value);
                refuses(ctx, rb_options_set_number(ctx, options, row.name, 1), "is not a number");
            }
        }
        assert_true(count > 15);
        assert_null(row.name);
        rb_options_free(options);
    }
}

static void wrong_names_and_values(void **state) {
    rb_context *ctx = *state;
    rb_options *options;
    refuses(ctx, rb_options_new(ctx, "none", &options), "there is no method 'none'");
    assert_null(options);
    options = options_of(ctx, "linca");
    char text[8];
    assert_int_equal(rb_options_get(options, "nothing", text, sizeof text), -1);
    refuses(ctx, rb_options_set(ctx, options, "nothing", "1"), "there is no option 'nothing'");
    refuses(ctx, rb_options_set(ctx, options, "batch-size", "10"), "there is no option");
    refuses(ctx, rb_options_set(ctx, options, "units", NULL), "the value of 'units' is NULL");
    refuses(ctx, rb_options_set(ctx, options, "checkpoint", NULL), "'checkpoint' is NULL");
    refuses(ctx, rb_options_set(ctx, options, NULL, "2"), "name of an option is NULL");
    refuses(ctx, rb_options_unset(ctx, options, NULL), "name of an option is NULL");
    refuses(ctx, rb_options_set(ctx, options, "prior", "2"), "`prior` is '2', but must be");
    refuses(ctx, rb_options_set_integer(ctx, options, "units", 0), "`units` is '0'");
    refuses(ctx, rb_options_set_number(ctx, options, "units", 2.5), "`units` is '2.5'");
    refuses(ctx, rb_options_set_number(ctx, options, "sigma", NAN), "`sigma` is 'nan'");
    refuses(ctx, rb_options_set_matrix(ctx, options, "sigma", NULL), "cannot be a matrix");
    refuses(ctx, rb_options_set_all(ctx, options, "units=%d sigma", 3), "`sigma` is ''");
    refuses(ctx, rb_options_set_all(ctx, options, "units=3 =5 sigma=1"), "there is no option ''");
    assert_false(rb_options_is_set(options, "sigma"));
    assert_int_equal(rb_options_get(options, "units", text, sizeof text), 1);
    assert_string_equal(text, "3");
    assert_ok(ctx, rb_options_unset(ctx, options, "units"));
    assert_false(rb_options_is_set(options, "units"));
    assert_ok(ctx, rb_options_set(ctx, options, "checkpoint", "file"));
    assert_ok(ctx, rb_options_unset(ctx, options, "checkpoint"));
    assert_null(rb_options_text(options, "checkpoint"));
    refuses(ctx, rb_options_unset(ctx, options, "unit"), "there is no option 'unit'");
    refuses(ctx, rb_options_add(ctx, options, rb_biclusters_group()), "an option 'seed' already");
    rb_options_free(options);
}

static void texts_are_copied(void **state) {
    rb_context *ctx = *state;
    rb_options *options = options_of(ctx, "mca");
    char text[16] = "13:1", back[4];
    assert_ok(ctx, rb_options_set(ctx, options, "temperature", text));
    memset(text, 'x', sizeof text - 1);
    assert_string_equal(rb_options_text(options, "temperature"), "13:1");
    assert_int_equal(rb_options_get(options, "temperature", back, sizeof back), 4);
    assert_string_equal(back, "13:");
    assert_ok(ctx, rb_options_set(ctx, options, "temperature", "9"));
    assert_string_equal(rb_options_text(options, "temperature"), "9");
    rb_options_free(options);
}

/* Of what all fits have, as the method has them. */
static void defaults_of_a_method(void **state) {
    static const char *const cases[][3] = {{"fabia", "iterations", "2000"},
                                           {"fabia", "parameter-tolerance", "5e-4"},
                                           {"pca", "tolerance", "1e-3"},
                                           {"rfn", "iterations", "200"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        rb_options *options = options_of(*state, cases[c][0]);
        rb_option row = {0};
        for (int64_t i = 0; i == 0 || strcmp(row.name, cases[c][1]) != 0; i++)
            assert_ok(*state, rb_options_row(options, i, &row, sizeof row));
        assert_string_equal(row.fallback, cases[c][2]);
        rb_options_free(options);
    }
}

/* What a program of an earlier header asks for, and one of a later. */
static void rows_of_other_sizes(void **state) {
    rb_context *ctx = *state;
    rb_options *options = options_of(ctx, "rfn");
    struct {
        rb_option row;
        char canary[64];
    } later;
    char *bytes = (char *)&later;
    memset(&later, 7, sizeof later);
    size_t small = offsetof(rb_option, level);
    assert_int_equal(rb_options_row(options, 1, &later.row, small), RB_OK);
    assert_string_equal(later.row.name, "units");
    assert_int_equal(bytes[small], 7);
    assert_int_equal(rb_options_row(options, 1, &later.row, sizeof later), RB_OK);
    assert_string_equal(later.row.group, "rectified factor network");
    assert_int_equal(later.canary[0], 0);
    assert_int_equal(rb_options_row(options, 1000, &later.row, small), RB_ERROR_ARGUMENT);
    rb_options_free(options);
}

static rb_model *fit(rb_context *ctx, const char *words, const rb_model *start) {
    double *values = fixture_values(N, M, 2, 3);
    rb_source *source = fixture_data(ctx, values, N, M);
    rb_options *options = options_of(ctx, "rfn");
    rb_model *model;
    assert_ok(ctx, rb_options_set_all(ctx, options, "%s", words));
    assert_ok(ctx, rb_fit(ctx, options, source, start, &model));
    rb_options_free(options);
    rb_source_free(source);
    free(values);
    return model;
}

static void same(const rb_model *one, const rb_model *other) {
    int64_t rows, columns;
    const double *a = rb_model_array(one, "loadings", &rows, &columns);
    const double *b = rb_model_array(other, "loadings", NULL, NULL);
    assert_memory_equal(a, b, (size_t)(rows * columns) * sizeof *a);
}

/* A preset by name gives the bits of its options one by one, and what is set stays. */
static void presets(void **state) {
    rb_context *ctx = *state;
    static const struct {
        const char *preset, *plain, *iterations;
    } cases[] = {
        {"preset=paper units=3 eta=0.3",
         "estep=newton eta=0.3 psi-init=0.1 psi-min=0.01 weight-init=0.01 sparse-loadings=0 "
         "centre=mean prior-mean=0 iterations=1000 units=3",
         "1000"},
        {"units=3 iterations=60 preset=biclustering",
         "estep=newton eta=0.1 psi-init=1e9 psi-min=0.01 weight-init=0.01 sparse-loadings=1.5 "
         "centre=mean prior-mean=0 iterations=60 restarts=3 units=3",
         "60"},
        {"units=3 target-sparseness=0.6",
         "estep=cyclic eta=0.1 psi-init=0.1 psi-min=0.01 weight-init=0.01 sparse-loadings=0 "
         "centre=mean prior-mean=0 iterations=850 newton-iterations=500 steer-iterations=250 "
         "units=3 "
         "target-sparseness=0.6 preset=none",
         "850"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rb_model *preset = fit(ctx, cases[i].preset, NULL);
        rb_model *plain = fit(ctx, cases[i].plain, NULL);
        same(preset, plain);
        assert_string_equal(rb_model_attribute(preset, "iterations"), cases[i].iterations);
        assert_string_equal(rb_model_attribute(preset, "preset"), i == 2   ? "sparse"
                                                                  : i == 1 ? "biclustering"
                                                                           : "paper");
        rb_model_free(preset);
        rb_model_free(plain);
    }
}

static void idle_and_contradictory_options(void **state) {
    rb_context *ctx = *state;
    static const struct {
        const char *words, *message;
    } cases[] = {
        {"accept=any", "`accept` does nothing without `estep=cascade`; leave it out"},
        {"accept=any preset=sparse", "nothing without `estep=cascade`"},
        {"dropout-place=after", "nothing without `dropout`;"},
        {"activation-slope=0.1 activation=tanh", "nothing without `activation=leaky`"},
        {"checkpoint-every=5", "`checkpoint-every` does nothing without `checkpoint`;"},
        {"prior-mean=values.npy", "`prior-mean` is 'values.npy'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rb_options *options = options_of(ctx, "rfn");
        assert_ok(ctx, rb_options_set_all(ctx, options, "%s", cases[i].words));
        refuses(ctx, rb_options_check(ctx, options, NULL), cases[i].message);
        rb_options_free(options);
    }
    rb_options *options = options_of(ctx, "rfn");
    assert_ok(ctx,
              rb_options_set_all(ctx, options, "accept=any estep=cascade dropout-place=before"));
    assert_ok(ctx, rb_options_check(ctx, options, NULL));
    rb_options_free(options);
    assert_ok(ctx, rb_options_new(ctx, NULL, &options));
    refuses(ctx, rb_options_check(ctx, options, NULL), "the options belong to no method");
    rb_options_free(options);
}

static void a_start_from_a_model(void **state) {
    rb_context *ctx = *state;
    rb_model *start = fit(ctx, "units=3 iterations=5", NULL);
    rb_options *options = options_of(ctx, "rfn");
    assert_ok(ctx, rb_options_set_all(ctx, options, "units=3 scale=sd"));
    refuses(ctx, rb_options_check(ctx, options, start), "`scale` cannot be given with a model");
    assert_ok(ctx, rb_options_set_all(ctx, options, "scale=none psi-init=3"));
    refuses(ctx, rb_options_check(ctx, options, start),
            "`psi-init` is '3', but a fit that starts from a model");
    rb_options_free(options);
    rb_model *scaled = fit(ctx, "units=3 iterations=5 scale=sd", NULL);
    options = options_of(ctx, "rfn");
    assert_ok(ctx, rb_options_set_all(ctx, options, "scale=none centre=auto"));
    refuses(ctx, rb_options_check(ctx, options, scaled), "`scale` cannot be given with a model");
    assert_ok(ctx, rb_options_set_all(ctx, options, "scale=sd"));
    assert_ok(ctx, rb_options_check(ctx, options, scaled));
    rb_options_free(options);
    rb_model_free(scaled);
    rb_model *model = fit(ctx, "units=3 iterations=5 preset=paper", start); /* but for the start */
    assert_string_equal(rb_model_attribute(model, "psi-init"), "0");
    assert_string_equal(rb_model_attribute(model, "eta"), "0.1");
    rb_model_free(model);
    rb_model_free(start);
}

static void values_of_a_matrix(void **state) {
    rb_context *ctx = *state;
    static const double means[] = {-1, 0, 0.5};
    rb_matrix *matrix;
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, 1, 3, means, 3, 1, &matrix));
    rb_options *options = options_of(ctx, "rfn");
    char text[16];
    assert_ok(ctx, rb_options_set_integer(ctx, options, "units", 3));
    assert_ok(ctx, rb_options_set_matrix(ctx, options, "prior-mean", matrix));
    assert_ok(ctx, rb_options_check(ctx, options, NULL));
    rb_options_get(options, "prior-mean", text, sizeof text);
    assert_string_equal(text, "matrix");
    rb_options_free(options);
    rb_matrix_free(matrix);
}

static void allocations(void **state) {
    rb_context *ctx = *state;
    rb_error err = RB_ERROR_MEMORY;
    for (int64_t allowed = 0; allow_allocations(ctx, allowed, err); allowed++) {
        rb_options *options = NULL;
        err = rb_options_new(ctx, "mca", &options);
        err = err ? err : rb_options_add(ctx, options, rb_read_group());
        err = err ? err : rb_options_set_all(ctx, options, "dataset=x temperature=13:1");
        err = err ? err : rb_options_check(ctx, options, NULL);
        rb_options_free(options);
    }
}

/* Options that are asked for by name alone need no struct, and no places in one. */
static void a_group_without_a_struct(void **state) {
    rb_context *ctx = *state;
    static const rb_option rows[] = {
        {"file", 'f', RB_OPTION_TEXT, 0, NULL, 0, 0, NULL, "FILE", "a file"},
        {"whole", 0, RB_OPTION_INTEGER, 0, "7", 0, 9, NULL, "N", "a number"},
        {"each", 0, RB_OPTION_VALUES, 0, "0.5", 0, 1, NULL, "X", "values"},
        {"how", 0, RB_OPTION_CHOICE, 0, "b", 0, 0, "a|b", "HOW", "a choice"},
        {"on", 0, RB_OPTION_FLAG, 0, "true", 0, 0, NULL, NULL, "a flag"},
        {0},
    };
    static const char *const set[] = {"x.npy", "3", "0.25", "a", "false"};
    static const rb_option_group group = {sizeof(rb_option), "Own", rows};
    rb_options *options = options_of(ctx, "rfn");
    char text[16];
    assert_ok(ctx, rb_options_add(ctx, options, &group));
    assert_non_null(rb_options_fields(options, &group));
    for (int r = 0; r < 5; r++) {
        rb_options_get(options, rows[r].name, text, sizeof text);
        assert_string_equal(text, rows[r].fallback ? rows[r].fallback : "");
        assert_ok(ctx, rb_options_set(ctx, options, rows[r].name, set[r]));
    }
    for (int r = 0; r < 5; r++) {
        rb_options_get(options, rows[r].name, text, sizeof text);
        assert_string_equal(text, set[r]);
    }
    refuses(ctx, rb_options_set(ctx, options, "whole", "10"), "`whole` is '10'");
    rb_options_free(options);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_option_of_every_method),
        cmocka_unit_test(wrong_names_and_values),
        cmocka_unit_test(texts_are_copied),
        cmocka_unit_test(defaults_of_a_method),
        cmocka_unit_test(rows_of_other_sizes),
        cmocka_unit_test(presets),
        cmocka_unit_test(idle_and_contradictory_options),
        cmocka_unit_test(a_start_from_a_model),
        cmocka_unit_test(values_of_a_matrix),
        cmocka_unit_test(a_group_without_a_struct),
        cmocka_unit_test(allocations),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
