/* Classes of samples: from text by name or by position, from columns of AnnData. */
#include "../errors.h"
#include "io/io.h"
#include "modules/modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANNDATA TEST_DATA "/data/hdf5/obs.h5ad"

static rb_context *ctx;
static char path[] = "/tmp/rarebit-labels-XXXXXX";
static char first_log[512], last_log[512];
static int logs;

static void note_log(rb_log_level level, const char *message, void *user) {
    (void)level;
    (void)user;
    if (logs++ == 0) snprintf(first_log, sizeof first_log, "%s", message);
    snprintf(last_log, sizeof last_log, "%s", message);
}

static void put_file(const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* n samples; with names they are a, b, c, ... */
static rb_source *source_of(int64_t n, bool named) {
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    rb_matrix *matrix;
    rb_source *source;
    assert_int_equal(rb_matrix_new_dense(ctx, RB_FLOAT64, n, 1, &matrix), RB_OK);
    if (named) assert_int_equal(rb_matrix_set_sample_names(ctx, matrix, names, n), RB_OK);
    assert_int_equal(rb_source_own_matrix(ctx, matrix, &source), RB_OK);
    return source;
}

/* The labels are `expected`, a class for each of the source's samples, "" for none. */
static void assert_labels(const char *where, const rb_source *source, const char *const *expected) {
    rb_classes labels = {.size = sizeof labels};
    if (rb_classes_read(ctx, where, source, &labels)) fail_msg("%s", rb_context_error(ctx));
    assert_int_equal(labels.n_samples, rb_source_samples(source));
    for (int64_t i = 0; i < labels.n_samples; i++) {
        int64_t c = labels.class_of[i];
        assert_string_equal(c < 0 ? "" : labels.names[c], expected[i]);
    }
    rb_classes_clear(&labels);
}

static void by_name(void **state) {
    (void)state;
    static const char *const expected[] = {"T", "S", "", "T"};
    rb_source *source = source_of(4, true);
    logs = 0;
    put_file("\xef\xbb\xbfname\tclass\nd\tT\nb\tS\nb\tS\na\tT\n");
    assert_labels(path, source, expected);
    put_file("name\tclass\tmore\n\nd\tT\t1\r\nb\tS\t\na\tT\tx\nc\t\t\nz\tS\t\n");
    assert_labels(path, source, expected);
    assert_int_equal(logs, 3);
    assert_non_null(strstr(last_log, "has a class for 3 of the 4 samples"));
    put_file("d\tT\nb\tS\na\tT\n");
    assert_labels(path, source, expected); /* the first line names a sample: no header */
    rb_source_free(source);
}

/* Classes alone, with and without a header; names on one side only. All of it is said. */
static void by_position(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool named, header;
        const char *why;
    } cases[] = {
        {"class\nT\nS\n\nT\n", true, true, "it has no sample names"},
        {"T\nS\n\nT\n", true, false, "it has no sample names"},
        {"class\nT\nS\n\nT\n", false, true, "it has no sample names"},
        {"class\nT\nS\n\nT\n\n\n", true, true, "it has no sample names"},
        {"name\tclass\nq\tT\nq\tS\nr\t\ns\tT\n", false, true, "the data have no sample names"},
    };
    static const char *const expected[] = {"T", "S", "", "T"};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        rb_source *source = source_of(4, cases[c].named);
        put_file(cases[c].text);
        logs = 0;
        assert_labels(path, source, expected);
        assert_int_equal(logs, 2);
        assert_non_null(strstr(first_log, cases[c].why));
        assert_non_null(strstr(first_log, "by position"));
        assert_int_equal(strstr(first_log, "header") != NULL, cases[c].header);
        rb_source_free(source);
    }
}

/* Columns of an AnnData file: by name for other data, and for its own although a name stands twice;
 * by position for data without names. */
static void from_anndata(void **state) {
    (void)state;
    static const char *const type[] = {"T", "B", "", "B", "NK"};
    static const char *const cluster[] = {"2", "0", "10", "0", "-1"};
    static const char *const turned[] = {"B", "", "B", "T"};
    static const char *const cells[] = {"cell3", "cell2", "cell1", "cell0"};
    rb_source *source;
    rb_matrix *matrix;
    logs = 0;
    assert_int_equal(rb_open(ctx, ANNDATA, NULL, &source), RB_OK);
    assert_labels(ANNDATA ":type", source, type);
    assert_labels("obs:type", source, type);
    assert_labels("obs:cluster", source, cluster);
    rb_source_free(source);
    assert_int_equal(rb_matrix_new_dense(ctx, RB_FLOAT64, 4, 1, &matrix), RB_OK);
    assert_int_equal(rb_matrix_set_sample_names(ctx, matrix, cells, 4), RB_OK);
    assert_int_equal(rb_source_own_matrix(ctx, matrix, &source), RB_OK);
    assert_labels(ANNDATA ":type", source, turned);
    assert_int_equal(logs, 3); /* each time that some have no class */
    rb_source_free(source);
    source = source_of(5, false);
    assert_labels(ANNDATA ":type", source, type);
    assert_int_equal(logs, 5);
    rb_source_free(source);
}

/* A name that stands twice in the data and, with other classes, in their labels at the same
 * places. */
static void repeated_names(void **state) {
    (void)state;
    static const char *const names[] = {"a", "b", "a"}, *const expected[] = {"S", "T", "T"};
    rb_matrix *matrix;
    rb_source *source;
    assert_int_equal(rb_matrix_new_dense(ctx, RB_FLOAT64, 3, 1, &matrix), RB_OK);
    assert_int_equal(rb_matrix_set_sample_names(ctx, matrix, names, 3), RB_OK);
    assert_int_equal(rb_source_own_matrix(ctx, matrix, &source), RB_OK);
    put_file("name\tclass\na\tS\nb\tT\na\tT\n");
    assert_labels(path, source, expected);
    rb_source_free(source);
}

/* A colon in the name of a file is no column. */
static void a_file_with_a_colon(void **state) {
    (void)state;
    static const char *const expected[] = {"T", "S"};
    char other[sizeof path + 8];
    rb_source *source = source_of(2, true);
    snprintf(other, sizeof other, "%s:type", path);
    put_file("name\tclass\na\tT\nb\tS\n");
    assert_int_equal(rename(path, other), 0);
    assert_labels(other, source, expected);
    assert_int_equal(rename(other, path), 0);
    rb_source_free(source);
}

/* A table of several columns: which one was taken is said, and another can be named. */
static void one_of_several(void **state) {
    (void)state;
    static const char *const classes[] = {"T", "S", ""}, *const plates[] = {"1", "2", "1"};
    char column[sizeof path + 16];
    rb_source *source = source_of(3, true);
    rb_classes labels = {.size = sizeof labels};
    logs = 0;
    put_file("name\tclass\tplate\nc\t\t1\nb\tS\t2\na\tT\t1\n");
    assert_labels(path, source, classes);
    assert_non_null(strstr(first_log, "has 3 columns; the classes are taken from the second, "
                                      "'class'"));
    logs = 0;
    snprintf(column, sizeof column, "%s:plate", path);
    assert_labels(column, source, plates);
    put_file("class\tplate\nc\t\t1\nb\tS\t2\na\tT\t1\n"); /* as R writes it */
    assert_labels(column, source, plates);
    put_file("plate\tclass\n1\tT\n2\tS\n1\tT\n"); /* no names: by position */
    assert_int_equal(logs, 0);
    assert_labels(column, source, plates);
    assert_int_equal(logs, 1);
    snprintf(column, sizeof column, "%s:type", path);
    assert_error(ctx, rb_classes_read(ctx, column, source, &labels), RB_ERROR_ARGUMENT,
                 "has no column 'type'; its columns are: plate, class");
    snprintf(column, sizeof column, "%s:plate", path);
    put_file("name\tclass\tplate\nc\tT\n");
    assert_error(ctx, rb_classes_read(ctx, column, source, &labels), RB_ERROR_FORMAT,
                 "row 2: the row has 2 fields, but row 1 has 3");
    rb_source_free(source);
}

/* Measurements are no classes; a few whole numbers may be. */
static void measurements(void **state) {
    (void)state;
    static const char *const whole[] = {"3", "1", "2", "3"};
    rb_source *source = source_of(4, true);
    rb_classes labels = {.size = sizeof labels};
    put_file("name\tage\na\t3\nb\t1\nc\t2\nd\t3\n");
    assert_labels(path, source, whole);
    put_file("name\tage\na\t3.5\nb\t1\nc\t2\nd\t3.5\n");
    assert_error(ctx, rb_classes_read(ctx, path, source, &labels), RB_ERROR_DATA,
                 "column 'age' of");
    assert_null(labels.class_of);
    rb_source_free(source);
}

/* A list whose names and classes a blank divides gives every sample a class of its own. */
static void unique_values(void **state) {
    (void)state;
    enum { MANY = 12 };
    for (int shared = 0; shared < 2; shared++) {
        char text[40 * MANY] = "";
        rb_source *source = source_of(MANY, false);
        rb_classes labels = {.size = sizeof labels};
        for (int i = 0; i < MANY; i++)
            snprintf(text + strlen(text), 40, "P%02d out\n", shared && i == 0 ? 1 : i);
        put_file(text);
        assert_int_equal(rb_classes_read(ctx, path, source, &labels),
                         shared ? RB_OK : RB_ERROR_DATA);
        if (!shared) assert_non_null(strstr(rb_context_error(ctx), "is unique, such as 'P00 out'"));
        rb_classes_clear(&labels);
        rb_source_free(source);
    }
}

static void what_is_wrong(void **state) {
    (void)state;
    static const struct {
        const char *text;
        rb_error error;
        const char *message;
    } cases[] = {
        {"name\tclass\na\tA\nb\n", RB_ERROR_FORMAT, "row 3: the row has 1 field, but row 1 has 2"},
        {"class\nA\nb\tB\n", RB_ERROR_FORMAT, "row 3: the row has 2 fields, but row 1 has 1"},
        {"name\tclass\na\tA\nb\tA\na\tB\n", RB_ERROR_DATA,
         "row 4, column 2: sample 'a' has 'B' in column 'class', but 'A' before"},
        {"name\tclass\nx\tA\ny\tA\n", RB_ERROR_DATA, "and 'x' in the table"},
        {"name\tclass\n", RB_ERROR_DATA, "none of the samples"},
        {"", RB_ERROR_FORMAT, "is empty"},
        {"A\nB\n", RB_ERROR_DATA, "has 2 rows for 3 samples"},
        {"class\nA\nB\nA\nB\n", RB_ERROR_DATA, "has 5 rows for 3 samples"},
        {"class\n\n\n\n", RB_ERROR_DATA, "has a class for no sample"},
    };
    rb_source *source = source_of(3, true);
    rb_classes labels = {.size = sizeof labels};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        put_file(cases[c].text);
        assert_error(ctx, rb_classes_read(ctx, path, source, &labels), cases[c].error,
                     cases[c].message);
        assert_non_null(strstr(rb_context_error(ctx), path));
        assert_null(labels.class_of);
    }
    assert_int_equal(rb_classes_read(ctx, "/does/not/exist", source, &labels), RB_ERROR_FILE);
    assert_error(ctx, rb_classes_read(ctx, "/does/not:exist", source, &labels), RB_ERROR_FILE,
                 "there is no such file");
    assert_error(ctx, rb_classes_read(ctx, "obs:type", source, &labels), RB_ERROR_ARGUMENT,
                 "the data are in no file");
    assert_error(ctx, rb_classes_read(ctx, ANNDATA, source, &labels), RB_ERROR_ARGUMENT,
                 "name a column of obs");
    assert_error(ctx, rb_classes_read(ctx, ANNDATA ":type", source, &labels), RB_ERROR_DATA,
                 "and 'cell0' in the table");
    rb_source_free(source);
    /* The data have no names, and are as many as there are neither lines nor observations; as many
     * as lines of names and classes, of which the first is always a header. */
    source = source_of(2, false);
    put_file("name\tclass\na\tA\n");
    assert_error(ctx, rb_classes_read(ctx, path, source, &labels), RB_ERROR_DATA,
                 "has 1 rows for 2 samples");
    put_file("name\tclass\na\tA\nb\tA\nc\t\n");
    assert_error(ctx, rb_classes_read(ctx, path, source, &labels), RB_ERROR_DATA,
                 "has 3 rows for 2 samples");
    assert_error(ctx, rb_classes_read(ctx, ANNDATA ":type", source, &labels), RB_ERROR_DATA,
                 "has 5 rows for 2 samples");
    assert_non_null(strstr(rb_context_error(ctx), "the data have no sample names"));
    rb_source_free(source);
}

static void no_memory(void **state) {
    (void)state;
    const char *const places[] = {path, ANNDATA ":louvain"};
    rb_source *source = source_of(5, false);
    put_file("class\nA\nB\nA\nB\nB\n");
    for (int p = 0; p < 2; p++) {
        rb_error err = RB_ERROR_MEMORY;
        for (int64_t n = 0; allow_allocations(ctx, n, err); n++) {
            rb_classes labels = {.size = sizeof labels};
            err = rb_classes_read(ctx, places[p], source, &labels);
            if (err) {
                assert_null(labels.class_of);
            } else {
                assert_true(n > 6);
                rb_classes_clear(&labels);
            }
        }
    }
    rb_source_free(source);
}

static int set_up(void **state) {
    (void)state;
    int file = mkstemp(path);
    if (file < 0 || close(file) || rb_context_create(&ctx)) return -1;
    rb_context_on_log(ctx, note_log, NULL);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    rb_context_free(ctx);
    return unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_name),
        cmocka_unit_test(by_position),
        cmocka_unit_test(from_anndata),
        cmocka_unit_test(repeated_names),
        cmocka_unit_test(a_file_with_a_colon),
        cmocka_unit_test(one_of_several),
        cmocka_unit_test(measurements),
        cmocka_unit_test(what_is_wrong),
        cmocka_unit_test(unique_values),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
