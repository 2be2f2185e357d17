/* Modules in files: what is written is read again; every cell of the tables; what is wrong is
 * named. */
#include "../errors.h"
#include "io/io.h"
#include "modules/modules.h"

#include <rarebit/simulate.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static rb_context *ctx;
static char folder[] = "/tmp/rarebit-modules-XXXXXX";
static const char *const path = "modules.out";

static int enter(void **state) {
    (void)state;
    return rb_context_create(&ctx) || !mkdtemp(folder) || chdir(folder);
}

static int leave(void **state) {
    (void)state;
    rb_context_free(ctx);
    if (chdir(folder)) return -1; /* it was not made: nothing here is the test's */
    return unlink(path) || chdir("/") || rmdir(folder); /* fails when a test leaves a file behind */
}

static void assert_file(const char *expected) {
    char found[2048] = "";
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    found[fread(found, 1, sizeof found - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(found, expected);
}

static void put_file(const char *text) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* Two modules over 3 samples and 2 features; the second has no sample. */
static const rb_member samples_0[] = {{2, 1.5}, {0, -0.25}}, features_0[] = {{1, -3}},
                       features_1[] = {{0, 2}, {1, -0.5}};

static rb_modules *two_modules(void) {
    rb_modules *modules;
    assert_int_equal(rb_modules_new(ctx, 2, &modules), RB_OK);
    modules->list[0] = (rb_module){.unit = 7, .information = 12.5, .n_samples = 2, .n_features = 1};
    modules->list[1] = (rb_module){.unit = 3, .information = 0.5, .n_features = 2};
    modules->list[0].samples = rb_alloc(ctx, 2, sizeof(rb_member));
    modules->list[0].features = rb_alloc(ctx, 1, sizeof(rb_member));
    modules->list[1].features = rb_alloc(ctx, 2, sizeof(rb_member));
    memcpy(modules->list[0].samples, samples_0, sizeof samples_0);
    memcpy(modules->list[0].features, features_0, sizeof features_0);
    memcpy(modules->list[1].features, features_1, sizeof features_1);
    return modules;
}

static rb_source *named_source(const char *odd_name) {
    const char *const samples[] = {"cell 1", "cell 2", odd_name};
    static const char *const features[] = {"NKG7", "GNLY"};
    rb_matrix *matrix;
    rb_source *source;
    assert_int_equal(rb_matrix_new_dense(ctx, RB_FLOAT64, 3, 2, &matrix), RB_OK);
    assert_int_equal(rb_matrix_set_sample_names(ctx, matrix, samples, 3), RB_OK);
    assert_int_equal(rb_matrix_set_feature_names(ctx, matrix, features, 2), RB_OK);
    assert_int_equal(rb_source_own_matrix(ctx, matrix, &source), RB_OK);
    return source;
}

static void tables_with_names(void **state) {
    (void)state;
    rb_modules *modules = two_modules();
    rb_source *source = named_source("cell\t3");
    assert_int_equal(rb_modules_write(ctx, modules, NULL, source, RB_MODULES_TSV, path), RB_OK);
    assert_file("module\tunit\tinformation\tkind\tname\tindex\tweight\n"
                "0\t7\t12.5\tsample\tcell 3\t2\t1.5\n"
                "0\t7\t12.5\tsample\tcell 1\t0\t-0.25\n"
                "0\t7\t12.5\tfeature\tGNLY\t1\t-3\n"
                "1\t3\t0.5\tfeature\tNKG7\t0\t2\n"
                "1\t3\t0.5\tfeature\tGNLY\t1\t-0.5\n");
    assert_int_equal(rb_modules_write(ctx, modules, NULL, source, RB_MODULES_GMT, path), RB_OK);
    assert_file("unit7_down\trank 0, information 12.5\tGNLY\n"
                "unit3_up\trank 1, information 0.5\tNKG7\n"
                "unit3_down\trank 1, information 0.5\tGNLY\n");
    rb_source_free(source);
    rb_modules_free(modules);
}

/* What modules are ranked by, the other side of a unit, and background: no set of genes. */
static void scores_and_roles(void **state) {
    (void)state;
    static const char *const roles[] = {"other side", "background"};
    for (int background = 0; background < 2; background++) {
        char expected[512];
        rb_modules *modules = two_modules();
        modules->notes[0].score = 9.5;
        modules->notes[1] =
            (rb_module_note){0.25, background ? RB_UNIT_BACKGROUND : RB_UNIT_OTHER_SIDE};
        assert_int_equal(rb_modules_write(ctx, modules, NULL, NULL, RB_MODULES_TSV, path), RB_OK);
        snprintf(expected, sizeof expected,
                 "module\tunit\tinformation\tkind\tname\tindex\tweight\tscore\trole\n"
                 "0\t7\t12.5\tsample\t2\t2\t1.5\t9.5\tmodule\n"
                 "0\t7\t12.5\tsample\t0\t0\t-0.25\t9.5\tmodule\n"
                 "0\t7\t12.5\tfeature\t1\t1\t-3\t9.5\tmodule\n"
                 "1\t3\t0.5\tfeature\t0\t0\t2\t0.25\t%s\n"
                 "1\t3\t0.5\tfeature\t1\t1\t-0.5\t0.25\t%s\n",
                 roles[background], roles[background]);
        assert_file(expected);
        assert_int_equal(rb_modules_write(ctx, modules, NULL, NULL, RB_MODULES_GMT, path), RB_OK);
        assert_file(background ? "unit7_down\trank 0, information 12.5\t1\n"
                               : "unit7_down\trank 0, information 12.5\t1\n"
                                 "unit3-_up\trank 1, information 0.5\t0\n"
                                 "unit3-_down\trank 1, information 0.5\t1\n");
        assert_int_equal(rb_modules_write(ctx, modules, NULL, NULL, RB_MODULES_JSON, path), RB_OK);
        json_t *root = json_load_file(path, 0, NULL);
        const json_t *second = json_array_get(json_object_get(root, "modules"), 1);
        assert_true(json_number_value(json_object_get(second, "score")) == 0.25);
        assert_string_equal(json_string_value(json_object_get(second, "role")), roles[background]);
        json_decref(root);
        rb_modules_free(modules);
    }
}

/* Without names the index stands for the name. */
static void tables_without_names(void **state) {
    (void)state;
    rb_modules *modules = two_modules();
    assert_int_equal(rb_modules_write(ctx, modules, NULL, NULL, RB_MODULES_GMT, path), RB_OK);
    assert_file("unit7_down\trank 0, information 12.5\t1\n"
                "unit3_up\trank 1, information 0.5\t0\n"
                "unit3_down\trank 1, information 0.5\t1\n");
    assert_int_equal(rb_modules_write(ctx, modules, NULL, NULL, RB_MODULES_JSON, path), RB_OK);
    assert_file("{\"modules\":[\n"
                "{\"unit\":7,\"information\":12.5,\"samples\":[2,0],\"sample_weights\":[1.5,-0.25],"
                "\"features\":[1],\"feature_weights\":[-3.0]},\n"
                "{\"unit\":3,\"information\":0.5,\"samples\":[],\"sample_weights\":[],"
                "\"features\":[0,1],\"feature_weights\":[2.0,-0.5]}\n"
                "]}\n");
    rb_modules_free(modules);
}

/* Quotes, UTF-8 and even bytes that are no UTF-8 make valid JSON. */
static void json_with_names(void **state) {
    (void)state;
    static const char *const given[] = {"a \"b\"\\", "\xc3\xa9", "\xe9t\xe9"};
    static const char *const expected[] = {"a \"b\"\\", "\xc3\xa9", "\xef\xbf\xbdt\xef\xbf\xbd"};
    rb_modules *modules = two_modules();
    for (int n = 0; n < 3; n++) {
        rb_source *source = named_source(given[n]);
        assert_int_equal(rb_modules_write(ctx, modules, NULL, source, RB_MODULES_JSON, path),
                         RB_OK);
        json_t *root = json_load_file(path, 0, NULL);
        assert_non_null(root);
        json_t *first = json_array_get(json_object_get(root, "modules"), 0);
        json_t *names = json_object_get(first, "sample_names");
        assert_string_equal(json_string_value(json_array_get(names, 0)), expected[n]);
        assert_string_equal(json_string_value(json_array_get(names, 1)), "cell 1");
        names = json_object_get(first, "feature_names");
        assert_string_equal(json_string_value(json_array_get(names, 0)), "GNLY");
        json_decref(root);
        rb_source_free(source);
    }
    rb_modules_free(modules);
}

/* The truth of a simulation comes back as it was: same members, consensus score 1. */
static void truth_comes_back(void **state) {
    (void)state;
    rb_matrix *matrix;
    rb_modules *truth, *read;
    rb_match match = {.size = sizeof match};
    assert_int_equal(rb_simulate_biclusters(ctx, NULL, &matrix, &truth), RB_OK);
    assert_int_equal(rb_modules_write(ctx, truth, NULL, NULL, RB_MODULES_JSON, path), RB_OK);
    assert_int_equal(rb_modules_read(ctx, path, &read), RB_OK);
    assert_int_equal(rb_modules_count(read), 20);
    for (int64_t r = 0; r < 20; r++) {
        const rb_module *a = rb_modules_get(truth, r), *b = rb_modules_get(read, r);
        assert_int_equal(a->n_samples, b->n_samples);
        assert_int_equal(a->n_features, b->n_features);
        assert_memory_equal(a->samples, b->samples, (size_t)a->n_samples * sizeof *a->samples);
        assert_memory_equal(a->features, b->features, (size_t)a->n_features * sizeof *a->features);
    }
    assert_int_equal(rb_modules_match(ctx, read, truth, &match), RB_OK);
    assert_true(match.consensus_score == 1);
    rb_match_clear(&match);
    rb_modules_free(read);
    rb_modules_free(truth);
    rb_matrix_free(matrix);
}

/* The shape that other programs write; members in any order; unknown keys. */
static void plain_json_is_read(void **state) {
    (void)state;
    rb_modules *modules;
    put_file("{\"by\": \"hand\", \"modules\": [{\"features\": [2, 1], \"samples\": [4, 0, 9]},\n"
             "{\"samples\": [], \"features\": [3], \"colour\": null}]}");
    assert_int_equal(rb_modules_read(ctx, path, &modules), RB_OK);
    assert_int_equal(rb_modules_count(modules), 2);
    const rb_module *m = rb_modules_get(modules, 0);
    assert_int_equal(m->n_samples, 3);
    assert_int_equal(m->samples[0].index, 0);
    assert_int_equal(m->samples[1].index, 4);
    assert_int_equal(m->samples[2].index, 9);
    assert_int_equal(m->features[0].index, 1);
    m = rb_modules_get(modules, 1);
    assert_int_equal(m->unit, 1);
    assert_int_equal(m->n_samples, 0);
    assert_int_equal(m->features[0].index, 3);
    rb_modules_free(modules);
    put_file("{\"modules\":[]}");
    assert_int_equal(rb_modules_read(ctx, path, &modules), RB_OK);
    assert_int_equal(rb_modules_count(modules), 0);
    rb_modules_free(modules);
}

static void what_is_wrong(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "is not JSON: line 1"},
        {"{\"modules\":[\n{\"samples\":[1,", "is not JSON: line 2"},
        {"[]", "it has no list \"modules\""},
        {"{\"modules\":3}", "it has no list \"modules\""},
        {"{\"modules\":[7]}", "module 0 has no list \"samples\""},
        {"{\"modules\":[{\"samples\":[1]}]}", "module 0 has no list \"features\""},
        {"{\"modules\":[{\"samples\":[1],\"features\":{}}]}", "module 0 has no list \"features\""},
        {"{\"modules\":[{\"samples\":[],\"features\":[0]},{\"samples\":[1,-1],\"features\":[0]}]}",
         "entry 1 of \"samples\" in module 1"},
        {"{\"modules\":[{\"samples\":[1.5],\"features\":[0]}]}",
         "entry 0 of \"samples\" in module 0"},
        {"{\"modules\":[{\"samples\":[1],\"features\":[0,\"1\"]}]}",
         "entry 1 of \"features\" in module 0"},
        {"{\"modules\":[{\"samples\":[5,1,5],\"features\":[0]}]}",
         "\"samples\" of module 0 holds 5 twice"},
        {"{\"modules\":[{\"samples\":[99999999999999999999],\"features\":[0]}]}", "is not JSON"},
        {"{\"modules\":[],\"modules\":[]}", "is not JSON"},
    };
    rb_modules *modules;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        put_file(cases[c].text);
        assert_error(ctx, rb_modules_read(ctx, path, &modules), RB_ERROR_FORMAT, cases[c].message);
        assert_null(modules);
        assert_non_null(strstr(rb_context_error(ctx), path));
    }
    assert_int_equal(rb_modules_read(ctx, "not-there", &modules), RB_ERROR_FILE);
    assert_null(modules);
}

/* A disk that is full is an error for each format. */
static void full_disk(void **state) {
    (void)state;
    rb_modules *modules = two_modules();
    if (access("/dev/full", W_OK) == 0) {
        for (int format = RB_MODULES_TSV; format <= RB_MODULES_GMT; format++) {
            assert_error(ctx, rb_modules_write(ctx, modules, NULL, NULL, format, "/dev/full"),
                         RB_ERROR_FILE, "/dev/full");
        }
    }
    assert_int_equal(rb_modules_write(ctx, modules, NULL, NULL, RB_MODULES_TSV, "no/where"),
                     RB_ERROR_FILE);
    rb_modules_free(modules);
}

static void no_memory(void **state) {
    (void)state;
    rb_modules *modules = two_modules(), *read;
    rb_error err = RB_ERROR_MEMORY;
    int64_t n;
    for (n = 0; allow_allocations(ctx, n, err); n++)
        err = rb_modules_write(ctx, modules, NULL, NULL, RB_MODULES_JSON, path);
    assert_true(n > 1);
    err = RB_ERROR_MEMORY;
    for (n = 0; allow_allocations(ctx, n, err); n++) {
        err = rb_modules_read(ctx, path, &read);
        assert_true(err ? err == RB_ERROR_MEMORY && !read : n >= 6);
    }
    rb_modules_free(read);
    rb_modules_free(modules);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_with_names), cmocka_unit_test(tables_without_names),
        cmocka_unit_test(scores_and_roles),  cmocka_unit_test(json_with_names),
        cmocka_unit_test(truth_comes_back),  cmocka_unit_test(plain_json_is_read),
        cmocka_unit_test(what_is_wrong),     cmocka_unit_test(full_disk),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
