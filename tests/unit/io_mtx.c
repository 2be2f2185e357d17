/* Promises of the readers of Matrix Market files and 10x folders. */
#include "io_test.h"

#define BANNER "%%MatrixMarket matrix "

static void expect(const char *text, bool sparse, rb_type type, int64_t samples, int64_t features,
                   const double *values) {
    put_text("a.mtx", text);
    rb_matrix *m = read_with("a.mtx", NULL);
    assert_int_equal(rb_matrix_sparse(m), sparse);
    assert_int_equal(rb_matrix_type(m), type);
    assert_values(m, samples, features, values);
    rb_matrix_free(m);
}

static void coordinates_become_sparse_rows(void **state) {
    (void)state;
    expect(BANNER "coordinate real general\n3 4 3\n% after the sizes\n3 4 -2e3\n\n  \n%\n1 1 1.5\n"
                  "% at the end\n3 1 4\n\n%\n",
           true, RB_FLOAT64, 3, 4, (double[]){1.5, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, -2000});
    expect(BANNER "coordinate real general\n% comment\n%\n\n3 4 3\n3 4 -2e3\n1 1 1.5\n\n3 1 4\n",
           true, RB_FLOAT64, 3, 4, (double[]){1.5, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, -2000});
    expect("%%matrixmarket MATRIX Coordinate Integer General\r\n2 2 2\r\n2 1 3\r\n1 2 -7\r\n", true,
           RB_FLOAT32, 2, 2, (double[]){0, -7, 3, 0});
    expect(BANNER "coordinate pattern general\n2 2 1\n2 1\n", true, RB_FLOAT32, 2, 2,
           (double[]){0, 0, 1, 0});
    expect(BANNER "coordinate integer general\n1 2 1\n1 2 16777217\n", true, RB_FLOAT64, 1, 2,
           (double[]){0, 16777217});
    expect(BANNER "coordinate real general\n2 2 0\n", true, RB_FLOAT64, 2, 2,
           (double[]){0, 0, 0, 0});
    expect(BANNER "coordinate real general\n1 2 1\n1 2 nan\n", true, RB_FLOAT64, 1, 2,
           (double[]){0, NAN});
}

static void duplicates_are_summed(void **state) {
    (void)state;
    expect(BANNER "coordinate real general\n2 3 6\n2 3 1\n1 2 4\n2 1 2\n2 3 10\n1 2 0.5\n2 3 100\n",
           true, RB_FLOAT64, 2, 3, (double[]){0, 4.5, 0, 2, 0, 111});
    expect(BANNER "coordinate integer general\n1 1 2\n1 1 16777216\n1 1 1\n", true, RB_FLOAT64, 1,
           1, (double[]){16777217});
}

static void symmetric_ones_are_unfolded(void **state) {
    (void)state;
    expect(BANNER "coordinate real symmetric\n2 2 2\n1 1 3\n2 1 5\n", true, RB_FLOAT64, 2, 2,
           (double[]){3, 5, 5, 0});
    expect(BANNER "coordinate pattern symmetric\n2 2 1\n2 1\n", true, RB_FLOAT32, 2, 2,
           (double[]){0, 1, 1, 0});
    expect(BANNER "coordinate real skew-symmetric\n2 2 1\n2 1 5\n", true, RB_FLOAT64, 2, 2,
           (double[]){0, -5, 5, 0});
    expect(BANNER "array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n", false, RB_FLOAT64, 3, 3,
           (double[]){1, 2, 3, 2, 4, 5, 3, 5, 6});
    expect(BANNER "array real skew-symmetric\n3 3\n1\n2\n3\n", false, RB_FLOAT64, 3, 3,
           (double[]){0, -1, -2, 1, 0, -3, 2, 3, 0});
}

static void arrays_become_dense(void **state) {
    (void)state;
    expect(BANNER "array real general\n2 3\n1\n2\n3\n4\n5\n6\n", false, RB_FLOAT64, 2, 3,
           (double[]){1, 3, 5, 2, 4, 6});
}

/* Random entries in random order against a table filled by hand. */
static void random_entries_find_their_places(void **state) {
    (void)state;
    enum { ROWS = 17, COLUMNS = 23, ENTRIES = 500 };
    double wanted[ROWS * COLUMNS] = {0};
    rb_draws draws = {{3, RB_RANDOM_SIMULATE, 0}, 0};
    FILE *file = fopen("a.mtx", "wb");
    fputs(BANNER "coordinate integer general\n", file);
    fprintf(file, "%d %d %d\n", ROWS, COLUMNS, ENTRIES);
    for (int e = 0; e < ENTRIES; e++) {
        int row = (int)rb_draw_integer(&draws, 1, ROWS);
        int column = (int)rb_draw_integer(&draws, 1, COLUMNS);
        int value = (int)rb_draw_integer(&draws, -9, 9);
        wanted[(row - 1) * COLUMNS + column - 1] += value;
        fprintf(file, "%d %d %d\n", row, column, value);
    }
    fclose(file);
    rb_matrix *m = read_with("a.mtx", NULL);
    assert_values(m, ROWS, COLUMNS, wanted);
    rb_matrix_free(m);
}

static void damage_is_named(void **state) {
    (void)state;
    static const struct {
        const char *text;
        rb_error code;
        const char *words;
    } cases[] = {
        {BANNER "coordinate complex general\n1 1 1\n1 1 1 0\n", RB_ERROR_UNSUPPORTED,
         "complex|real"},
        {BANNER "coordinate real hermitian\n1 1 1\n1 1 1\n", RB_ERROR_UNSUPPORTED, "hermitian"},
        {BANNER "array pattern general\n1 1\n", RB_ERROR_UNSUPPORTED, "pattern"},
        {BANNER "list real general\n", RB_ERROR_UNSUPPORTED, "list|coordinate"},
        {"%%MatrixMarket vector coordinate real general\n", RB_ERROR_FORMAT,
         "row 1|not a Matrix Market file"},
        {"%%MatrixMarket matrix coordinate\n", RB_ERROR_FORMAT, "row 1|first line"},
        {BANNER "coordinate real general\n%\n", RB_ERROR_FORMAT, "truncated|sizes"},
        {BANNER "coordinate real general\n2 2\n", RB_ERROR_FORMAT, "row 2|entries"},
        {BANNER "coordinate real general\n-2 2 1\n", RB_ERROR_FORMAT, "row 2"},
        {BANNER "coordinate real general\n0 2 0\n", RB_ERROR_FORMAT, "empty"},
        {BANNER "coordinate real general\n2 2 1\n3 1 5\n", RB_ERROR_FORMAT, "row 3|(3, 1)|2 x 2"},
        {BANNER "coordinate real general\n2 2 1\n1 0 5\n", RB_ERROR_FORMAT, "row 3|(1, 0)"},
        {BANNER "coordinate real general\n2 2 1\nx 1 5\n", RB_ERROR_FORMAT, "row 3|counted from 1"},
        {BANNER "coordinate real general\n2 2 1\n1 1 x\n", RB_ERROR_FORMAT,
         "row 3, column 3|\"x\""},
        {BANNER "coordinate real general\n2 2 1\n1 1 inf\n", RB_ERROR_DATA,
         "row 3, column 3|infinite"},
        {BANNER "coordinate real general\n2 2 1\n1 1\n", RB_ERROR_FORMAT, "row 3|value is missing"},
        {BANNER "coordinate pattern general\n2 2 1\n1 1 5\n", RB_ERROR_FORMAT, "row 3|pattern"},
        {BANNER "coordinate real general\n2 2 2\n1 1 5\n", RB_ERROR_FORMAT, "truncated|1 of its 2"},
        {BANNER "coordinate real general\n2 2 1\n1 1 5\n1 2 6\n", RB_ERROR_FORMAT, "row 4|more"},
        {BANNER "coordinate real symmetric\n2 3 1\n1 1 5\n", RB_ERROR_FORMAT, "symmetric"},
        {BANNER "coordinate real skew-symmetric\n2 2 1\n1 1 5\n", RB_ERROR_FORMAT,
         "row 3|diagonal"},
        {BANNER "array real general\n2 1\n1\n", RB_ERROR_FORMAT, "truncated|1 of its 2"},
        {BANNER "array real general\n1 1\n1 2\n", RB_ERROR_FORMAT, "row 3, column 1|\"1 2\""},
        {BANNER "coordinate real general\n2000000000 1 1\n1 1 1\n", RB_ERROR_FORMAT,
         "too many for 1 entries"},
        {BANNER "coordinate real general\n3000000000 1 1\n1 1 1\n", RB_ERROR_UNSUPPORTED,
         "3000000000"},
        {BANNER "coordinate real general\n2 2 900000000000000000\n1 1 1\n", RB_ERROR_FORMAT,
         "truncated"},
        {BANNER "coordinate real general\n2 2 99999999999999999999\n1 1 1\n", RB_ERROR_FORMAT,
         "row 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char words[160];
        snprintf(words, sizeof words, "a.mtx|%s", cases[i].words);
        put_text("a.mtx", cases[i].text);
        refuse("a.mtx", cases[i].code, words);
    }
}

/* ---- 10x folders: the folder of the test is one ---- */

#define COUNTS BANNER "coordinate integer general\n%\n3 2 3\n1 1 5\n3 1 7\n2 2 9\n"

static void expect_cells(void) {
    rb_matrix *m = read_with(".", NULL);
    assert_true(rb_matrix_sparse(m));
    assert_values(m, 2, 3, (double[]){5, 0, 7, 0, 9, 0});
    assert_string_equal(rb_matrix_sample_name(m, 1), "CC-1");
    assert_string_equal(rb_matrix_feature_name(m, 0), "A");
    assert_string_equal(rb_matrix_feature_name(m, 1), "B");
    assert_string_equal(rb_matrix_feature_name(m, 2), "A-1");
    rb_matrix_free(m);
}

static void cells_of_a_10x_folder_are_samples(void **state) {
    (void)state;
    const char *name;
    put_gzip("matrix.mtx.gz", COUNTS);
    put_gzip("barcodes.tsv.gz", "AA-1\nCC-1\n");
    put_gzip("features.tsv.gz",
             "g1\tA\tGene Expression\ng2\tB\tGene Expression\ng3\tA\tGene Expression\n");
    expect_cells();
    assert_int_equal(rb_format_of(ctx, ".", &name), RB_OK);
    assert_string_equal(name, "10x");
    fail_every_allocation(".");
    empty_here();
    put_text("matrix.mtx", COUNTS);
    put_text("barcodes.tsv", "AA-1\r\nCC-1\r\n");
    put_text("genes.tsv", "g1\tA\ng2\tB\ng3\tA\n");
    expect_cells();
    put_text("genes.tsv", "g1\ng2\ng3\n");
    rb_matrix *m = read_with(".", NULL);
    assert_string_equal(rb_matrix_feature_name(m, 2), "g3");
    rb_matrix_free(m);
}

static void incomplete_10x_folders_are_refused(void **state) {
    (void)state;
    refuse(".", RB_ERROR_FORMAT, "folder|matrix.mtx");
    put_text("matrix.mtx", COUNTS);
    refuse(".", RB_ERROR_FILE, "barcodes.tsv");
    put_text("barcodes.tsv", "AA-1\n");
    refuse(".", RB_ERROR_FORMAT, "barcodes.tsv|1 lines|2 cells");
    put_text("barcodes.tsv", "AA-1\nCC-1\n");
    refuse(".", RB_ERROR_FILE, "features.tsv|genes.tsv");
    put_text("features.tsv", "g1\tA\n");
    refuse(".", RB_ERROR_FORMAT, "features.tsv|1 lines|3 genes");
}

static void every_failed_allocation_is_reported(void **state) {
    (void)state;
    put_text("a.mtx", BANNER "coordinate real general\n2 3 3\n2 3 1\n1 2 4\n2 1 2\n");
    fail_every_allocation("a.mtx");
    put_text("a.mtx", BANNER "array real symmetric\n2 2\n1\n2\n3\n");
    fail_every_allocation("a.mtx");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coordinates_become_sparse_rows),
        cmocka_unit_test(duplicates_are_summed),
        cmocka_unit_test(symmetric_ones_are_unfolded),
        cmocka_unit_test(arrays_become_dense),
        cmocka_unit_test(random_entries_find_their_places),
        cmocka_unit_test(damage_is_named),
        cmocka_unit_test(cells_of_a_10x_folder_are_samples),
        cmocka_unit_test(incomplete_10x_folders_are_refused),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return run_each(tests, sizeof tests / sizeof *tests, enter, leave);
}
