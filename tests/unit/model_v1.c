/* Models of earlier versions load for ever: the numbers of a file of format version 1, what it
 * makes of samples, and models as bytes of versions 1 and 2. They have no checksum, which is said.
 * tests/data/README.md says how they were made; they are never made again. */
#include "io_hdf5_test.h"

#include <rarebit/io.h>
#include <rarebit/rarebit.h>

#include <math.h>

enum { SAMPLES = 5, INPUT = 4, FEATURES = 3, UNITS = 2 };

/* The samples that the model was fitted to. */
static const double samples[SAMPLES * INPUT] = {1, 0, 0,  4, 0, 0,  13, 0, 0,  22,
                                                0, 0, 31, 0, 0, 34, 0,  0, 43, 0};
static const char *const genes[INPUT] = {"CD4", "CD8A", "NKG7", "MS4A1"};

/* Their codes, computed from the arrays in the file by numpy, apart from this library. */
static const double codes[SAMPLES * UNITS] = {1.6688334629779584, 0, 0, 1.5811388300841898, 0, 0,
                                              1.4882858841113136, 0, 0, 1.5811388300841898};

static rb_model *load(rb_context *ctx) {
    rb_model *model;
    if (rb_model_load(ctx, TEST_DATA "/data/model-v1.h5", &model))
        fail_msg("%s", rb_context_error(ctx));
    return model;
}

static void assert_near(double value, double expected) {
    if (!(fabs(value - expected) <= 1e-12 * (1 + fabs(expected))))
        fail_msg("%.17g is not %.17g", value, expected);
}

static void test_content(void **state) {
    rb_model *model = load(*state);
    int64_t rows, columns;
    double objective, estep;
    const double *loadings = rb_model_array(model, "loadings", &rows, &columns);
    assert_string_equal(rb_model_method(model), "rfn");
    assert_int_equal(rb_model_status(model), RB_STATUS_ITERATIONS);
    assert_int_equal(rb_model_features(model), FEATURES);
    assert_int_equal(rb_model_units(model), UNITS);
    assert_int_equal(rows, FEATURES);
    assert_int_equal(columns, UNITS);
    assert_true(fabs(loadings[0] + 0.1528958) < 1e-7);
    assert_true(fabs(loadings[5] + 0.34740486) < 1e-7);
    assert_string_equal(rb_model_feature_name(model, 0), "CD8A");
    assert_string_equal(rb_model_feature_name(model, 2), "MS4A1");
    assert_string_equal(rb_model_attribute(model, "eta"), "0.1");
    assert_string_equal(rb_model_attribute(model, "data_checksum"), "39c47572");
    assert_int_equal(rb_model_iterations(model), 30);
    assert_int_equal(rb_model_history(model, 29, &objective, &estep, NULL), RB_OK);
    assert_near(objective, -4.44030041591536);
    assert_near(estep, 0.884589736116407);
    rb_model_free(model);
}

static rb_error check_codes(void *seen, int64_t first, const rb_matrix *rows) {
    for (int64_t i = 0; i < rb_matrix_samples(rows); i++)
        for (int64_t u = 0; u < UNITS; u++)
            assert_near(rb_matrix_at(rows, i, u), codes[(first + i) * UNITS + u]);
    *(int64_t *)seen += rb_matrix_samples(rows);
    return RB_OK;
}

static void test_codes(void **state) {
    rb_context *ctx = *state;
    rb_model *model = load(ctx);
    rb_matrix *matrix;
    rb_source *source;
    int64_t seen = 0;
    assert_int_equal(rb_matrix_dense(ctx, RB_FLOAT64, SAMPLES, INPUT, samples, INPUT, 1, &matrix),
                     RB_OK);
    assert_int_equal(rb_matrix_set_feature_names(ctx, matrix, genes, INPUT), RB_OK);
    assert_int_equal(rb_source_from_matrix(ctx, matrix, &source), RB_OK);
    if (rb_encode(ctx, model, source, check_codes, &seen)) fail_msg("%s", rb_context_error(ctx));
    assert_int_equal(seen, SAMPLES);
    rb_source_free(source);
    rb_matrix_free(matrix);
    rb_model_free(model);
}

static void keep_message(rb_log_level level, const char *message, void *kept) {
    assert_int_equal(level, RB_LOG_INFO);
    assert_string_equal(kept, "");
    snprintf(kept, 300, "%s", message);
}

static void test_no_checksum_is_said(void **state) {
    char said[300] = "";
    rb_context_on_log(*state, keep_message, said);
    rb_model_free(load(*state));
    rb_context_on_log(*state, NULL, NULL);
    assert_non_null(strstr(said, "model-v1.h5: the model has no checksum"));
}

static rb_model *load_bytes(rb_context *ctx, const char *path) {
    char said[300] = "";
    size_t size;
    rb_model *model;
    char *bytes = slurp(path, &size);
    rb_context_on_log(ctx, keep_message, said);
    if (rb_model_load_memory(ctx, bytes, size, &model)) fail_msg("%s", rb_context_error(ctx));
    rb_context_on_log(ctx, NULL, NULL);
    assert_non_null(strstr(said, "the model has no checksum"));
    free(bytes);
    return model;
}

/* The same as in the file. */
static void test_bytes(void **state) {
    rb_model *model = load_bytes(*state, TEST_DATA "/data/model-v1.bytes"), *file = load(*state);
    const double *loadings = rb_model_array(model, "loadings", NULL, NULL);
    const double *expected = rb_model_array(file, "loadings", NULL, NULL);
    assert_memory_equal(loadings, expected, FEATURES * UNITS * sizeof *loadings);
    assert_string_equal(rb_model_feature_name(model, 2), "MS4A1");
    assert_string_equal(rb_model_attribute(model, "eta"), "0.1");
    assert_int_equal(rb_model_iterations(model), 30);
    rb_model_free(model);
    rb_model_free(file);
}

static void test_bytes_with_covariates(void **state) {
    rb_model *model = load_bytes(*state, TEST_DATA "/data/model-v2.bytes");
    assert_string_equal(rb_model_attribute(model, "regress"), "batch:groups");
    assert_int_equal(rb_model_features(model), 3);
    assert_int_equal(rb_model_units(model), 2);
    assert_int_equal(rb_model_iterations(model), 3);
    rb_model_free(model);
}

/* Nobody has so many attributes or arrays, each of which would be compared with all others. */
static void test_too_many_names(void **state) {
    static const char *const groups[] = {"attributes", "arrays"};
    for (int g = 0; g < 2; g++) {
        const char *path = temporary("many.h5");
        size_t size;
        char *bytes = slurp(TEST_DATA "/data/model-v1.h5", &size);
        spit(path, bytes, size);
        free(bytes);
        hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), space = H5Screate(H5S_SCALAR);
        for (int i = 0; i < 1001; i++) {
            char name[32];
            snprintf(name, sizeof name, "a%d", i);
            if (g == 0) {
                hid_t id = H5Acreate_by_name(file, "attributes", name, H5T_NATIVE_INT, space,
                                             H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
                assert_true(id >= 0 && H5Aclose(id) >= 0);
            } else {
                hid_t group = H5Gopen2(file, "arrays", H5P_DEFAULT);
                assert_true(H5Lcreate_soft("/nowhere", group, name, H5P_DEFAULT, H5P_DEFAULT) >= 0);
                H5Gclose(group);
            }
        }
        H5Sclose(space);
        assert_true(H5Fclose(file) >= 0);
        rb_model *model;
        assert_int_equal(rb_model_load(*state, path, &model), RB_ERROR_FORMAT);
        const char *message = rb_context_error(*state);
        assert_true(strstr(message, "at most") && strstr(message, groups[g]));
        unlink(path);
    }
}

static int set_up(void **state) {
    rb_context *ctx;
    if (rb_context_new(&ctx)) return 1;
    *state = ctx;
    return 0;
}

static int tear_down(void **state) {
    rb_context_free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_content), cmocka_unit_test(test_too_many_names),
        cmocka_unit_test(test_codes),   cmocka_unit_test(test_no_checksum_is_said),
        cmocka_unit_test(test_bytes),   cmocka_unit_test(test_bytes_with_covariates),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
