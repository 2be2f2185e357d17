/* Promises of the reader of CSV and TSV: what it finds out by itself, and what it refuses. */
#include "../options.h"
#include "io_test.h"

#include <pthread.h>

/* What a text is read as. Values row by row; names "a|b", NULL: none. */
struct example {
    const char *text;
    int64_t samples, features;
    double values[9];
    const char *sample_names, *feature_names;
};

static void assert_names(const rb_names *names, const char *wanted, const char *text) {
    char found[256] = "";
    if (!names || !wanted) {
        if (names || wanted) {
            fail_msg("names: %s, wanted: %s in\n%s", names ? names->text[0] : "none",
                     wanted ? wanted : "none", text);
        }
        return;
    }
    for (int64_t i = 0; i < names->count; i++) {
        strcat(found, i ? "|" : "");
        strcat(found, names->text[i]);
    }
    assert_string_equal(found, wanted);
}

static void expect(const struct example *e, const rb_read_options *options) {
    put_text("a.csv", e->text);
    rb_matrix *m = read_with("a.csv", options);
    if (m->n_samples != e->samples || m->n_features != e->features) {
        fail_msg("%lld x %lld values in\n%s", (long long)m->n_samples, (long long)m->n_features,
                 e->text);
    }
    assert_values(m, e->samples, e->features, e->values);
    assert_names(m->sample_names, e->sample_names, e->text);
    assert_names(m->feature_names, e->feature_names, e->text);
    assert_int_equal(rb_matrix_type(m), RB_FLOAT64);
    rb_matrix_free(m);
}

static void tables_are_understood(void **state) {
    (void)state;
    static const struct example examples[] = {
        {"1,2,3\n4,5,6\n", 2, 3, {1, 2, 3, 4, 5, 6}, NULL, NULL},
        {"1,2,3\n4,5,6", 2, 3, {1, 2, 3, 4, 5, 6}, NULL, NULL},
        {"a,b\n1,2\n", 1, 2, {1, 2}, NULL, "a|b"},
        {"a\tb\n1\t2\n3\t4\n\n\n", 2, 2, {1, 2, 3, 4}, NULL, "a|b"},
        {"id,a,b\nx,1,2\ny,3,4\n", 2, 2, {1, 2, 3, 4}, "x|y", "a|b"},
        {",a,b\nx,1,2\ny,3,4\n", 2, 2, {1, 2, 3, 4}, "x|y", "a|b"},
        {"x,1,2\ny,3,4\n", 2, 2, {1, 2, 3, 4}, "x|y", NULL},
        {"a,b\nx,1,2\ny,3,4\n", 2, 2, {1, 2, 3, 4}, "x|y", "a|b"},
        {"\"a\" \"b\"\n\"1\" 1 2\n\"2\" 3 4\n", 2, 2, {1, 2, 3, 4}, "1|2", "a|b"},
        {"\"\",\"a\",\"b\"\n\"1\",1,2\n\"2\",3,4\n", 2, 2, {1, 2, 3, 4}, "1|2", "a|b"},
        {",0,1\n0,5,6\n1,7,8\n", 2, 2, {5, 6, 7, 8}, "0|1", "0|1"},
        {"\"1\",\"2\"\n5,6\n7,8\n", 2, 2, {5, 6, 7, 8}, NULL, "1|2"},
        {"\"1.5\",\"2\"\n\"3\",\"4\"\n", 2, 2, {1.5, 2, 3, 4}, NULL, NULL},
        {"\xEF\xBB\xBF"
         "a,b\r\n1,2\r\n",
         1,
         2,
         {1, 2},
         NULL,
         "a|b"},
        {"1;2\n3;4\n", 2, 2, {1, 2, 3, 4}, NULL, NULL},
        {"  1   2\n 3 4  \n", 2, 2, {1, 2, 3, 4}, NULL, NULL},
        {"1 , 2\n3,\t4\n", 2, 2, {1, 2, 3, 4}, NULL, NULL},
        {"\"a,b\",\"c\"\"d\"\n1,2\n", 1, 2, {1, 2}, NULL, "a,b|c\"d"},
        {"\"a\tb\"\tc d\nx\t1\n", 1, 1, {1}, "x", "c d"},
        {"1,NA,\nnan,?,null\n", 2, 3, {1, NAN, NAN, NAN, NAN, NAN}, NULL, NULL},
        {"1\n2\n3\n", 3, 1, {1, 2, 3}, NULL, NULL},
        {"v\n1\n\n3\n\n", 3, 1, {1, NAN, 3}, NULL, "v"},
        {"\n\n1,2\n", 1, 2, {1, 2}, NULL, NULL},
        {"5\n", 1, 1, {5}, NULL, NULL},
        {"s1,1,2\n", 1, 2, {1, 2}, "s1", NULL},
        {"gene;A,1,2\ngene;B,3,4\n", 2, 2, {1, 2, 3, 4}, "gene;A|gene;B", NULL},
        {"a,2b,3\n1,2,3\n", 1, 3, {1, 2, 3}, NULL, "a|2b|3"},
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        expect(&examples[i], NULL);
}

static void options_overrule_the_guess(void **state) {
    (void)state;
    rb_read_options o;
    fixture_default(rb_read_group(), &o);
    o.header = RB_READ_YES;
    expect(&(struct example){"1,2\n3,4\n", 1, 2, {3, 4}, NULL, "1|2"}, &o);
    o.row_names = RB_READ_YES;
    expect(&(struct example){"1,2\n3,4\n", 1, 1, {4}, "3", "2"}, &o);
    o.header = RB_READ_NO;
    expect(&(struct example){"1,2\n3,4\n", 2, 1, {2, 4}, "1|3", NULL}, &o);
    o.row_names = RB_READ_NO;
    put_text("a.csv", "a,2\n3,4\n");
    refuse_with("a.csv", &o, RB_ERROR_FORMAT, "row 1, column 1|\"a\"");
}

static void transposing_swaps_values_and_names(void **state) {
    (void)state;
    rb_read_options o;
    fixture_default(rb_read_group(), &o);
    o.transpose = true;
    expect(
        &(struct example){"id,a,b,c\nx,1,2,3\ny,4,5,6\n", 3, 2, {1, 4, 2, 5, 3, 6}, "a|b|c", "x|y"},
        &o);
}

static void words_for_missing_values(void **state) {
    (void)state;
    rb_read_options o;
    fixture_default(rb_read_group(), &o);
    o.missing_words = "n/d,-999,.";
    expect(
        &(struct example){
            "a,b\n1,N/D\n-999,3\n.,-99\n", 3, 2, {1, NAN, NAN, 3, NAN, -99}, NULL, "a|b"},
        &o);
    expect(&(struct example){"n/d,1\nn/d,2\n", 2, 2, {NAN, 1, NAN, 2}, NULL, NULL}, &o);
    /* Names stay names. */
    expect(&(struct example){"id,a,b\nx,1,n/d\ny,4,5\n", 2, 2, {1, NAN, 4, 5}, "x|y", "a|b"}, &o);
}

static void gzip_reads_as_plain(void **state) {
    (void)state;
    put_gzip("a.tsv.gz", "a\tb\n1\t2\n");
    rb_matrix *m = read_with("a.tsv.gz", NULL);
    assert_values(m, 1, 2, (double[]){1, 2});
    rb_matrix_free(m);
}

/* More of them than are read at a time. */
static void blank_lines_count(void **state) {
    (void)state;
    enum { LINES = 300000 };
    char *text = malloc(LINES + 7);
    memset(text, '\n', LINES);
    memcpy(text + LINES, "1\n\r\nx\n", 7);
    put_text("a.csv", text);
    refuse_with("a.csv", NULL, RB_ERROR_FORMAT,
                "a.csv, row 300003, column 1: \"x\" is not a number");
    free(text);
}

static void damage_is_named_with_file_row_and_column(void **state) {
    (void)state;
    static const struct {
        const char *text;
        rb_error code;
        const char *words;
    } cases[] = {
        {"1,2\n3,x\n", RB_ERROR_FORMAT, "a.csv|row 2, column 2|\"x\" is not a number"},
        {"1,2\nx,4\n5,6\n", RB_ERROR_FORMAT, "a.csv|row 2, column 1|\"x\"|row-names=yes"},
        {"1,abc,3\n4,5,6\n", RB_ERROR_FORMAT, "row 1, column 2|\"abc\"|header=yes"},
        {"a,b\n1,2\n3,4 4\n", RB_ERROR_FORMAT, "row 3, column 2|\"4 4\""},
        {"1.5;2,5\n3;4\n", RB_ERROR_FORMAT, "row 1, column 2|\"2,5\""},
        {"a;b\n1;2,5\n", RB_ERROR_FORMAT, "row 2, column 2|\"2,5\"|decimal point"},
        {"a;b\n1,5;2,5\n3,1;4,2\n", RB_ERROR_FORMAT, "row 2, column 1|\"1,5\"|tr , ."},
        {"1,5;2,5\n3,1;4,2\n", RB_ERROR_FORMAT, "column 1|\"3,1\"|tr , ."},
        {"1;2,5\n3;4,5\n", RB_ERROR_FORMAT, "row 1, column 2|\"2,5\"|tr , ."},
        {"x;2,5\ny;4,5\n", RB_ERROR_FORMAT, "row 2, column 2|\"4,5\"|tr , ."},
        {"1\t2,5\n3\t4,5\n", RB_ERROR_FORMAT, "row 1, column 2|\"2,5\"|tr , ."},
        {"1 2,5\n3 4,5\n", RB_ERROR_FORMAT, "row 1, column 2|\"2,5\"|tr , ."},
        /* Numbers with commas are never taken for names. */
        {"a,b\n\"1,234\",2\n\"5,678\",3\n", RB_ERROR_FORMAT,
         "row 2, column 1|\"1,234\"|commas between thousands|row-names=yes"},
        {"\"1,234\",2\n\"5,678\",3\n", RB_ERROR_FORMAT, "column 1|\"1,234\"|between thousands"},
        {"a,b\n2,\"1,234,567.5\"\n3,4\n", RB_ERROR_FORMAT,
         "row 2, column 2|\"1,234,567.5\"|commas between thousands"},
        {"a,b\n\"12,34\",2\n\"56,78\",3\n", RB_ERROR_FORMAT, "row 2, column 1|decimal point"},
        {"a,b\n1,2\n3,n/d\n", RB_ERROR_FORMAT, "row 3, column 2|\"n/d\"|`missing-words`='n/d'"},
        {"a,b\n1,2\nn/d,4\n", RB_ERROR_FORMAT, "row 3, column 1|`missing-words`='n/d'"},
        {"# by me\n1,2\n3,4\n", RB_ERROR_FORMAT, "row 1|1 fields|row 1 is a comment"},
        {"# by, me\na,b\n3,4\n", RB_ERROR_FORMAT, "row 2|row 1 is a comment"},
        {"#1,2\n3,4,5\n6,7\n", RB_ERROR_FORMAT, "row 1 is a comment"},
        {"a,t\n1,x\n2,y\n", RB_ERROR_FORMAT, "row 2, column 2|cut -d, --complement -f2"},
        {"a\tt\tb\n1\tx\t5\n2\ty\t6\n", RB_ERROR_FORMAT, "column 2|cut --complement -f2"},
        {"1,2\ninf,4\n", RB_ERROR_DATA, "a.csv|row 2, column 1|\"inf\" is infinite"},
        {"1,2\n3,-1e999\n", RB_ERROR_DATA, "row 2, column 2|infinite"},
        {"1,2,3\n4,5\n", RB_ERROR_FORMAT, "a.csv|row 2|column 3 is missing|2 fields|row 1 has 3"},
        {"1,2\n3,4,5\n", RB_ERROR_FORMAT, "a.csv|row 2|column 3 is one too many|3 fields"},
        {"1,2\n3\n5,6\n", RB_ERROR_FORMAT, "row 2|column 2 is missing|1 field,"},
        {"a,b,c\n1,2,3\n4,5,6,7\n", RB_ERROR_FORMAT, "row 3|column 4|row 2 has 3"},
        {"a,b,c,d\n1,2\n3,4\n", RB_ERROR_FORMAT, "row 1|4 fields|2"},
        {"1,2\n\n3,4\n", RB_ERROR_FORMAT, "row 2|blank"},
        {"a,b\n1,2\n\n\n3,4\n", RB_ERROR_FORMAT, "row 3|blank"},
        {"1,\"2\n3,4\n", RB_ERROR_FORMAT, "row 1, column 2|quoted field does not end"},
        {"1,2\n\"3\"4,5\n", RB_ERROR_FORMAT, "row 2, column 1|closing quote"},
        {"a,b\n", RB_ERROR_FORMAT, "a.csv|no row of numbers"},
        {"a\nb\n", RB_ERROR_FORMAT, "row 1, column 1|\"a\""},
        {"\n \n", RB_ERROR_FORMAT, "a.csv is empty"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_text("a.csv", cases[i].text);
        refuse("a.csv", cases[i].code, cases[i].words);
    }
}

static void a_zero_byte_is_no_number(void **state) {
    (void)state;
    char text[2000];
    memset(text, '\n', sizeof text);
    for (int i = 0; i < 1000; i++)
        text[2 * i] = '1';
    text[1801] = '\0';
    text[1803] = '\0';
    put_bytes("a.csv", text, sizeof text);
    refuse("a.csv", RB_ERROR_FORMAT, "row 901, column 1");
}

static void damaged_gzip_is_refused(void **state) {
    (void)state;
    char bytes[4096];
    put_gzip("a.csv.gz", "1,2,3\n4,5,6\n7,8,9\n");
    FILE *file = fopen("a.csv.gz", "rb");
    size_t count = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    put_bytes("a.csv.gz", bytes, count - 6);
    refuse("a.csv.gz", RB_ERROR_FORMAT, "a.csv.gz|gzip");
    bytes[count - 8] ^= 1; /* the checksum */
    put_bytes("a.csv.gz", bytes, count);
    refuse("a.csv.gz", RB_ERROR_FORMAT, "a.csv.gz|gzip");
    put_bytes("a.csv.gz", bytes, 12);
    refuse("a.csv.gz", RB_ERROR_FORMAT, "a.csv.gz|gzip");
}

static void utf16_is_named(void **state) {
    (void)state;
    put_bytes("a.csv", "\xFF\xFE\x31\0,\0\x32\0\n\0", 10);
    refuse("a.csv", RB_ERROR_FORMAT, "a.csv|UTF-16|UTF-8");
}

static void long_lines_and_many_rows_are_read(void **state) {
    (void)state;
    enum { ROWS = 300, COLUMNS = 2000 };
    FILE *file = fopen("a.csv", "wb");
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++)
            fprintf(file, "%s%d", j ? "," : "", i * COLUMNS + j);
        fputc('\n', file);
    }
    fclose(file);
    rb_matrix *m = read_with("a.csv", NULL);
    assert_int_equal(m->n_samples, ROWS);
    assert_int_equal(m->n_features, COLUMNS);
    for (int64_t i = 0; i < ROWS * COLUMNS; i++)
        assert_true(((const double *)m->values)[i] == (double)i);
    rb_matrix_free(m);
}

static void every_failed_allocation_is_reported(void **state) {
    (void)state;
    put_text("a.csv", "id,a,b\nx,1,2\ny,3,4\n");
    fail_every_allocation("a.csv");
}

/* ---- a request to stop ---- */

static double asked_at;

static void *ask(void *user) {
    (void)user;
    usleep(10000);
    asked_at = rb_seconds();
    rb_context_stop(ctx);
    return NULL;
}

static void a_large_file_can_be_left(void **state) {
    enum { ROWS = 20000, COLUMNS = 500 };
    (void)state;
    FILE *file = fopen("large.csv", "w");
    assert_non_null(file);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            fputs(j + 1 < COLUMNS ? "1.25," : "1.25\n", file);
    fclose(file);
    rb_matrix *m;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, ask, NULL), 0);
    assert_int_equal(rb_read(ctx, "large.csv", NULL, &m), RB_ERROR_STOPPED);
    double left_at = rb_seconds();
    pthread_join(thread, NULL);
    assert_null(m);
    assert_true(left_at - asked_at < 0.5);
    rb_context_clear_stop(ctx);
}

/* The request is there before anything is read. */
static void other_formats_can_be_left(void **state) {
    static const char *const paths[] = {"a.csv", "a.csv.gz", "a.npy", "a.h5", "a.mtx"};
    enum { N = 600, M = 600 };
    (void)state;
    static double values[N * M];
    rb_matrix *m, *again;
    rb_source *source;
    put_text("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n");
    assert_int_equal(rb_matrix_dense(ctx, RB_FLOAT64, N, M, values, M, 1, &m), RB_OK);
    assert_int_equal(rb_source_from_matrix(ctx, m, &source), RB_OK);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(i < 4 ? rb_write(ctx, source, paths[i]) : RB_OK, RB_OK);
        rb_context_stop(ctx);
        assert_int_equal(rb_read(ctx, paths[i], NULL, &again), RB_ERROR_STOPPED);
        assert_null(again);
        rb_context_clear_stop(ctx);
    }
    rb_source_free(source);
    rb_matrix_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_understood),
        cmocka_unit_test(options_overrule_the_guess),
        cmocka_unit_test(transposing_swaps_values_and_names),
        cmocka_unit_test(words_for_missing_values),
        cmocka_unit_test(gzip_reads_as_plain),
        cmocka_unit_test(blank_lines_count),
        cmocka_unit_test(damage_is_named_with_file_row_and_column),
        cmocka_unit_test(a_zero_byte_is_no_number),
        cmocka_unit_test(damaged_gzip_is_refused),
        cmocka_unit_test(utf16_is_named),
        cmocka_unit_test(long_lines_and_many_rows_are_read),
        cmocka_unit_test(every_failed_allocation_is_reported),
        cmocka_unit_test(a_large_file_can_be_left),
        cmocka_unit_test(other_formats_can_be_left),
    };
    return run_each(tests, sizeof tests / sizeof *tests, enter, leave);
}
