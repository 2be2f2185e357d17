/* Files of covariates and of sets: tables of text, columns of AnnData, GMT; and what is wrong. */
#include "../fixture.h"
#include "io/io.h"
#include "io_covariates_test.h"

#include <stdio.h>
#include <unistd.h>
#include <zlib.h>

#define ANNDATA TEST_DATA "/data/hdf5/obs.h5ad"
#define OLD TEST_DATA "/data/hdf5/obs_old.h5ad"

static rb_context *ctx;
static char path[] = "/tmp/rarebit-covariates-XXXXXX";
static char logs[4096];

static void note_log(rb_log_level level, const char *message, void *user) {
    size_t used = strlen(logs);
    (void)level;
    (void)user;
    snprintf(logs + used, sizeof logs - used, "%s\n", message);
}

static void put_file(const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    logs[0] = '\0';
}

/* n samples; with names they are a, b, c, ... */
static rb_source *source_of(int64_t n, bool named) {
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    rb_matrix *matrix;
    rb_source *source;
    assert_ok(ctx, rb_matrix_new_dense(ctx, RB_FLOAT64, n, 1, &matrix));
    if (named) assert_ok(ctx, rb_matrix_set_sample_names(ctx, matrix, names, n));
    assert_ok(ctx, rb_source_own_matrix(ctx, matrix, &source));
    return source;
}

/* Reads a table and makes covariates of its columns. */
static rb_covariates *read_table(const char *where, const char *groups, const rb_source *source) {
    rb_covariates *table;
    assert_ok(ctx, read_covariates(ctx, where, groups, source, &table));
    return table;
}

/* A column is groups, one name per sample ("" for none), or numbers (NaN for none). */
static void assert_groups(const rb_covariates *table, int64_t column, const char *name,
                          const char *const *expected) {
    const rb_covariate *c = rb_covariates_column(table, column);
    assert_non_null(c);
    assert_string_equal(c->name, name);
    assert_null(c->values);
    for (int64_t i = 0; i < table->n_samples; i++) {
        int64_t g = c->groups.class_of[i];
        assert_string_equal(g < 0 ? "" : c->groups.names[g], expected[i]);
    }
}

static void assert_numbers(const rb_covariates *table, int64_t column, const char *name,
                           const double *expected) {
    const rb_covariate *c = rb_covariates_column(table, column);
    assert_non_null(c);
    assert_string_equal(c->name, name);
    assert_non_null(c->values);
    for (int64_t i = 0; i < table->n_samples; i++)
        assert_true(c->values[i] == expected[i] || (isnan(c->values[i]) && isnan(expected[i])));
}

/* ---- tables of text ---- */

/* By name, in any order; numbers and groups are recognised, and numbers that are groups named;
 * tabs, commas and semicolons; with and without a title above the names. */
static void tables_of_text(void **state) {
    (void)state;
    static const char *const site[] = {"A", "B B", "", "A"}, *const batch[] = {"1", "2", "", "1"};
    static const double age[] = {40.5, NAN, NAN, -3}, number[] = {1, 2, NAN, 1};
    static const char *const texts[] = {
        "sample\tage\tsite\tbatch\nd\t-3\tA\t1\nz\t7\tC\t2\nb\tNA\tB B\t2\na\t40.5\tA\t1\n",
        "age\tsite\tbatch\r\nd\t-3\tA\t1\r\n\r\nb\t\t\"B B\"\t2\r\na\t40.5\tA\t1\r\n",
        "\xef\xbb\xbf,age,site,batch\nd,-3,A,1\nb,?,\"B B\",2\na,40.5,A,1\n",
        "sample;age;site;batch\nd;-3;A;1\nb;n/a;B B;2\nc;;;\na;40.5;A;1\n",
    };
    rb_source *source = source_of(4, true);
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        put_file(texts[t]);
        rb_covariates *table = read_table(path, "batch", source);
        assert_int_equal(rb_covariates_count(table), 3);
        assert_numbers(table, 0, "age", age);
        assert_groups(table, 1, "site", site);
        assert_groups(table, 2, "batch", batch);
        assert_int_equal(strstr(logs, "has 3 of the 4 samples") != NULL, t < 3);
        assert_int_equal(rb_covariates_missing(table, 0), 2);
        rb_covariates_free(table);
        table = read_table(path, NULL, source);
        assert_numbers(table, 2, "batch", number);
        rb_covariates_free(table);
    }
    rb_source_free(source);
}

/* Without names of samples in the data, by position, which is said. */
static void by_position(void **state) {
    (void)state;
    static const double age[] = {3, 1, 2};
    rb_source *source = source_of(3, false);
    put_file("id\tage\nq\t3\nr\t1\ns\t2\n");
    rb_covariates *table = read_table(path, NULL, source), *none;
    assert_numbers(table, 0, "age", age);
    assert_non_null(strstr(logs, "taken by position"));
    rb_covariates_free(table);
    put_file("id\tage\nq\t3\nr\t1\n");
    assert_error(ctx, read_covariates(ctx, path, NULL, source, &none), RB_ERROR_DATA,
                 "has 2 rows for 3 samples");
    assert_null(none);
    rb_source_free(source);
}

/* Names of samples, columns without values: left out, which is said. Few whole numbers: also. */
static void columns_that_do_not_serve(void **state) {
    (void)state;
    rb_source *source = source_of(4, true);
    put_file("sample\tid\tempty\tx\na\tp\tNA\t1\nb\tq\t\t2\nc\tr\t\t2\nd\ts\t\t4\n");
    rb_covariates *table = read_table(path, NULL, source);
    assert_int_equal(rb_covariates_count(table), 1);
    assert_non_null(strstr(logs, "column 'id'"));
    assert_non_null(strstr(logs, "every value is unique"));
    assert_non_null(strstr(logs, "column 'empty'"));
    assert_non_null(strstr(logs, "no sample has a value"));
    rb_covariates_free(table);
    rb_source_free(source);
}

/* ---- AnnData ---- */

static void columns_of_anndata(void **state) {
    (void)state;
    static const double score[] = {0, 0.25, 0.5, 0.75, 1}, cluster[] = {2, 0, 10, 0, -1};
    static const double masked[] = {3, 3, NAN, 4, 4}, half[] = {0.5, 0.5, 0.5, 0.5, 0.5};
    static const char *const batch[] = {"7", "12", "12", "7", "7"};
    static const char *const louvain[] = {"B", "CD4 T", "", "CD4 T", "B"};
    static const char *const leiden[] = {"a", "a", "b", "b", ""};
    static const char *const doublet[] = {"False", "True", "False", "False", "True"};
    rb_source *source;
    assert_ok(ctx, rb_open(ctx, ANNDATA, NULL, &source));
    rb_covariates *table =
        read_table("obs:score,batch,cluster,louvain,leiden,masked,doublet", NULL, source);
    assert_numbers(table, 0, "score", score);
    assert_groups(table, 1, "batch", batch); /* categorical, although its texts are numbers */
    assert_numbers(table, 2, "cluster", cluster);
    assert_groups(table, 3, "louvain", louvain);
    assert_groups(table, 4, "leiden", leiden);
    assert_numbers(table, 5, "masked", masked);
    assert_groups(table, 6, "doublet", doublet);
    rb_covariates_free(table);
    rb_source_free(source);
    source = source_of(5, false);
    table = read_table(ANNDATA ":score,cluster", "cluster", source);
    assert_numbers(table, 0, "score", score);
    assert_int_equal(rb_covariates_groups(table, 1), 4);
    rb_covariates_free(table);
    table = read_table(ANNDATA ":masked,cluster", "masked,cluster", source);
    assert_int_equal(rb_covariates_groups(table, 0), 2);
    rb_covariates_free(table);
    table = read_table(OLD ":score,louvain", "score", source);
    assert_int_equal(rb_covariates_groups(table, 0), 1);
    rb_covariates_free(table);
    table = read_table(OLD ":score,louvain", NULL, source);
    assert_numbers(table, 0, "score", half);
    assert_int_equal(rb_covariates_groups(table, 1), 2);
    rb_covariates_free(table);
    rb_source_free(source);
}

/* ---- classes as a covariate ---- */

static void labels_as_groups(void **state) {
    (void)state;
    static const char *const class_of[] = {"T", "", "S"};
    rb_source *source = source_of(3, true);
    rb_covariates *table;
    rb_classes classes = {.size = sizeof classes};
    put_file("sample\tclass\nc\tS\na\tT\n");
    assert_ok(ctx, rb_classes_read(ctx, path, source, &classes));
    assert_ok(ctx, rb_covariates_new(ctx, 3, &table));
    assert_ok(ctx, rb_covariates_add_classes(ctx, table, "class", &classes));
    assert_groups(table, 0, "class", class_of);
    rb_covariates_free(table);
    assert_ok(ctx, rb_covariates_new(ctx, 4, &table));
    assert_int_equal(rb_covariates_add_classes(ctx, table, "class", &classes), RB_ERROR_ARGUMENT);
    rb_covariates_free(table);
    rb_classes_clear(&classes);
    rb_source_free(source);
}

/* What reads as a number with a comma may name a group, where that is said or others have words. */
static void commas_of_groups(void **state) {
    (void)state;
    static const char *const dose[] = {"1,5", "1,5", "2"}, *const mixed[] = {"1,5", "1,5", "high"};
    rb_source *source = source_of(3, true);
    put_file("sample\tdose\tmixed\na\t1,5\t1,5\nb\t1,5\t1,5\nc\t2\thigh\n");
    rb_covariates *table = read_table(path, "dose", source);
    assert_groups(table, 0, "dose", dose);
    assert_groups(table, 1, "mixed", mixed);
    rb_covariates_free(table);
    rb_source_free(source);
}

/* ---- what is wrong ---- */

static void wrong_tables(void **state) {
    (void)state;
    static const struct {
        const char *text, *groups;
        rb_error error;
        const char *message;
    } cases[] = {
        {"", NULL, RB_ERROR_FORMAT, "is empty"},
        {"sample\tage\n", NULL, RB_ERROR_DATA, "has none of the samples of the data"},
        {"a\nb\nc\n", NULL, RB_ERROR_DATA, "has no column that can be tested"},
        {"sample\tage\na\t1\nb\n", NULL, RB_ERROR_FORMAT, "row 3: the row has 1 field, but row 1"},
        {"sample\tage\na\t1\nb\t2\t3\n", NULL, RB_ERROR_FORMAT, "row 3: the row has 3 fields"},
        {"sample,age\na,\"1\"2\n", NULL, RB_ERROR_FORMAT, "row 2, column 2: "},
        {"sample\tage\nx\t1\ny\t2\n", NULL, RB_ERROR_DATA, "and 'x' in the table"},
        {"sample\tage\na\t1\nb\t2\na\t3\n", NULL, RB_ERROR_DATA,
         "row 4, column 2: sample 'a' has '3' in column 'age', but '1' before"},
        {"sample\tage\na\t1\nb\tinf\n", NULL, RB_ERROR_DATA,
         "row 3, column 2: 'inf' of 'age' is infinite"},
        {"sample\tage\na\t1\nb\t0,5\nc\t\n", NULL, RB_ERROR_DATA,
         "row 3, column 2: '0,5' of 'age' has a comma; write numbers with a decimal point and no "
         "commas; if it names a group, say so with `covariate-groups`"},
        {"sample;n\na;1,234,567\nb;2\n", NULL, RB_ERROR_DATA, "'1,234,567' of 'n' has a comma"},
        {"sample\tid\na\tp\nb\tq\n", NULL, RB_ERROR_DATA, "has no column that can be tested"},
        {"sample\tage\na\t1\nb\t2\n", "age,batch", RB_ERROR_ARGUMENT, "'batch'"},
        {"sample\tage\na\t1\nb\t2\n", "ag", RB_ERROR_ARGUMENT, "'ag'"},
    };
    rb_source *source = source_of(3, true);
    rb_covariates *table;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        put_file(cases[c].text);
        rb_error err = read_covariates(ctx, path, cases[c].groups, source, &table);
        if (err != cases[c].error || !strstr(rb_context_error(ctx), cases[c].message))
            fail_msg("case %d: %d, %s", (int)c, err, rb_context_error(ctx));
        assert_non_null(strstr(rb_context_error(ctx), path));
        assert_null(table);
    }
    assert_int_equal(read_covariates(ctx, "/not/there.tsv", NULL, source, &table), RB_ERROR_FILE);
    assert_error(ctx, read_covariates(ctx, "obs:age", NULL, source, &table), RB_ERROR_ARGUMENT,
                 "the data are in no file");
    assert_error(ctx, read_covariates(ctx, ANNDATA, NULL, source, &table), RB_ERROR_ARGUMENT,
                 "name a column of obs");
    assert_int_equal(read_covariates(ctx, ANNDATA ":score,nothing", NULL, source, &table),
                     RB_ERROR_DATA);
    rb_source_free(source);
    source = source_of(5, false);
    assert_error(ctx, read_covariates(ctx, ANNDATA ":score,nothing", NULL, source, &table),
                 RB_ERROR_ARGUMENT, "obs has no column 'nothing'");
    rb_source_free(source);
}

/* ---- GMT ---- */

static void sets_of_a_file(void **state) {
    (void)state;
    rb_feature_sets *sets;
    assert_ok(ctx, rb_feature_sets_new(ctx, &sets));
    put_file("T cells\tna\tCD3D\tCD3E \t\t CD4\r\n\nempty\tna\n \t \nlast\t\tNKG7");
    assert_ok(ctx, rb_feature_sets_read(ctx, path, sets));
    assert_int_equal(rb_feature_sets_count(sets), 3);
    assert_string_equal(rb_feature_sets_name(sets, 0), "T cells");
    assert_int_equal(rb_feature_sets_size(sets, 0), 3);
    assert_string_equal(rb_feature_sets_member(sets, 0, 1), "CD3E");
    assert_string_equal(rb_feature_sets_member(sets, 0, 2), "CD4");
    assert_int_equal(rb_feature_sets_size(sets, 1), 0);
    assert_string_equal(rb_feature_sets_member(sets, 2, 0), "NKG7");
    assert_null(rb_feature_sets_name(sets, 3));
    /* Compressed ones are added; a file that is wrong adds nothing. */
    gzFile file = gzopen(path, "wb");
    assert_true(gzputs(file, "more\tna\tA\tB\n") > 0 && gzclose(file) == Z_OK);
    assert_ok(ctx, rb_feature_sets_read(ctx, path, sets));
    assert_int_equal(rb_feature_sets_count(sets), 4);
    static const char *const wrong[][2] = {
        {"a\tna\tG\nb\n", "row 2: the line has one column"},
        {"\tna\tG\n", "row 1, column 1: the set has no name"},
        {"\n\n", "holds no set"},
    };
    for (size_t c = 0; c < sizeof wrong / sizeof *wrong; c++) {
        put_file(wrong[c][0]);
        assert_error(ctx, rb_feature_sets_read(ctx, path, sets), RB_ERROR_FORMAT, wrong[c][1]);
        assert_int_equal(rb_feature_sets_count(sets), 4);
        assert_string_equal(rb_feature_sets_member(sets, 3, 1), "B");
        assert_int_equal(rb_feature_sets_size(sets, 3), 2);
    }
    rb_feature_sets_free(sets);
}

/* ---- memory ---- */

static rb_error read_once(const char *where, const rb_source *source) {
    rb_covariates *table;
    rb_error err = read_covariates(ctx, where, NULL, source, &table);
    assert_true(!err || !table);
    rb_covariates_free(err ? NULL : table);
    return err;
}

static void no_memory(void **state) {
    (void)state;
    const char *const places[] = {path, ANNDATA ":score,batch,masked", OLD ":score"};
    rb_source *source = source_of(5, false);
    for (int p = 0; p < 4; p++) {
        rb_error err = RB_ERROR_MEMORY;
        int64_t n = 0;
        put_file(p < 3 ? "s\tx\tg\na\t1\tA\nb\t2\tA\nc\t3\tB\nd\t4\tB\ne\t5\tB\n" : "a\tb\tc\td\n");
        for (; allow_allocations(ctx, n, err); n++) {
            rb_feature_sets *sets = NULL;
            if (p < 3) {
                err = read_once(places[p], source);
            } else {
                err = rb_feature_sets_new(ctx, &sets);
                err = err ? err : rb_feature_sets_read(ctx, path, sets);
                rb_feature_sets_free(sets);
            }
        }
        assert_true(n > 5);
    }
    rb_source_free(source);
}

static int set_up(void **state) {
    (void)state;
    int file = mkstemp(path);
    if (file < 0 || close(file) || rb_context_new(&ctx)) return 1;
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
        cmocka_unit_test(tables_of_text),
        cmocka_unit_test(by_position),
        cmocka_unit_test(columns_that_do_not_serve),
        cmocka_unit_test(columns_of_anndata),
        cmocka_unit_test(labels_as_groups),
        cmocka_unit_test(commas_of_groups),
        cmocka_unit_test(wrong_tables),
        cmocka_unit_test(sets_of_a_file),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
