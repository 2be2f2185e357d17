/* Tables of samples: every spelling, as labels, covariates and covariates to regress, with one
 * result; and what is wrong with one, in one sentence for all three. */
#include "../fixture.h"
#include "io/io.h"
#include "io_covariates_test.h"

#include <stdio.h>
#include <unistd.h>
#include <zlib.h>

#define ANNDATA TEST_DATA "/data/hdf5/obs.h5ad"

enum { N = 4 };

static rb_context *ctx;
static char path[] = "/tmp/rarebit-annotations-XXXXXX";

static void put_file(const char *text, int64_t length, bool packed) {
    gzFile file = gzopen(path, packed ? "wb" : "wbT");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, text, (unsigned)length), length);
    assert_int_equal(gzclose(file), Z_OK);
}

static void put_text(const char *text) {
    put_file(text, (int64_t)strlen(text), false);
}

/* Samples a, b, c, d; or without names. */
static rb_source *source_of(bool named) {
    static const char *const names[N] = {"a", "b", "c", "d"};
    rb_matrix *matrix;
    rb_source *source;
    assert_ok(ctx, rb_matrix_new_dense(ctx, RB_FLOAT64, N, 1, &matrix));
    if (named) assert_ok(ctx, rb_matrix_set_sample_names(ctx, matrix, names, N));
    assert_ok(ctx, rb_source_own_matrix(ctx, matrix, &source));
    return source;
}

/* ---- three uses of a table ---- */

typedef enum use { CLASSES, COVARIATES, REGRESS, USES } use;

/* Reads a table and makes covariates of its columns. */
static rb_error bind_columns(rb_source *source, const char *where, const char *columns) {
    rb_annotations *table;
    rb_error err = rb_annotations_read(ctx, where, source, &table);
    err = err ? err : rb_annotations_bind(ctx, table, columns, source);
    rb_annotations_free(table);
    return err;
}

/* What the samples have in the column, by one of the uses; *texts are N copies to be freed. */
static rb_error use_table(use how, const char *where, const char *column, rb_source *source,
                          rb_names **texts) {
    const char *found[64] = {0};
    char kind[64];
    int64_t n = rb_source_samples(source);
    rb_classes classes = {.size = sizeof classes};
    rb_covariates *table = NULL;
    rb_error err;
    *texts = NULL;
    snprintf(kind, sizeof kind, "%s:groups", column);
    err = how == CLASSES      ? rb_classes_read(ctx, where, source, &classes)
          : how == COVARIATES ? read_covariates(ctx, where, column, source, &table)
                              : bind_columns(source, where, kind);
    for (int64_t i = 0; !err && i < n; i++) {
        if (how == CLASSES) {
            found[i] = classes.class_of[i] < 0 ? "" : classes.names[classes.class_of[i]];
        } else if (how == COVARIATES) {
            const rb_classes *groups = &rb_covariates_column(table, 0)->groups;
            found[i] = groups->class_of[i] < 0 ? "" : groups->names[groups->class_of[i]];
        } else {
            const rb_source_covariate *c = &source->covariates->list[0];
            found[i] = isnan(c->values[i]) ? "" : c->levels->text[(int64_t)c->values[i]];
        }
    }
    if (!err) *texts = rb_names_copy(ctx, found, n);
    rb_classes_clear(&classes);
    rb_covariates_free(table);
    return err;
}

static void assert_spelling(const char *name, const char *where, const char *column, bool named,
                            const char *const *expected) {
    for (use how = 0; how < USES; how++) {
        rb_names *texts;
        rb_source *source = source_of(named);
        if (use_table(how, where, column, source, &texts))
            fail_msg("%s, use %d: %s", name, how, rb_context_error(ctx));
        for (int i = 0; i < N; i++)
            if (strcmp(texts->text[i], expected[i]) != 0)
                fail_msg("%s, use %d: '%s' is sample %d", name, how, texts->text[i], i);
        rb_names_free(texts);
        rb_source_free(source);
    }
}

static void every_spelling_for_every_use(void **state) {
    (void)state;
    static const char *const expected[N] = {"T", "S", "", "T"};
    static const struct {
        const char *name, *text, *column;
        bool packed, unnamed;
    } spellings[] = {
        {"tabs", "sample\tclass\nd\tT\nb\tS\na\tT\n", "class"},
        {"commas", "sample,class\nd,T\nb,S\na,T\n", "class"},
        {"semicolons", "sample;class\nd;T\nb;S\na;T", "class"},
        {"gzip", "sample,class\nd,T\nb,S\na,T\n", "class", .packed = true},
        {"a mark and other line ends", "\xef\xbb\xbfsample\tclass\r\nd\tT\r\nb\tS\r\na\tT\r\n",
         "class"},
        {"R without a corner", "class\nd\tT\nb\tS\na\tT\n", "class"},
        {"R, quoted", "\"class\"\n\"d\"\t\"T\"\n\"b\"\t\"S\"\n\"a\"\t\"T\"\n", "class"},
        {"R, quoted, commas", "\"class\"\n\"d\",\"T\"\n\"b\",\"S\"\n\"a\",\"T\"\n", "class"},
        {"R, a corner", "\"\",\"class\"\n\"d\",\"T\"\n\"b\",\"S\"\n\"a\",\"T\"\n", "class"},
        {"pandas", ",class\nd,T\nb,S\nc,\na,T\n", "class"},
        {"missing words", "sample\tclass\nd\tT\nb\tS\nc\tNA\na\tT\n", "class"},
        {"others, and rows of others", "sample\tclass\nz\tQ\nd\tT\nb\tS\nc\t?\na\tT\n", "class"},
        {"blanks and empty lines", "sample\tclass\n\nd\t T\nb\tS \n\t\na\tT\n", "class"},
        {"doubles that agree", "sample\tclass\nd\tT\nb\tS\nd\tT\na\tT\n", "class"},
        {"no header", "d\tT\nb\tS\na\tT\n", "2"},
        {"a list", "T\nS\n\nT\n", "1"},
        {"a list with a header", "class\nT\nS\n\nT\n", "class"},
        {"a list, empty lines behind", "class\nT\nS\nNA\nT\n\n\n", "class"},
        {"by position", "sample\tclass\nq\tT\nr\tS\ns\t\nt\tT\n", "class", .unnamed = true},
    };
    for (size_t s = 0; s < sizeof spellings / sizeof *spellings; s++) {
        const char *text = spellings[s].text;
        put_file(text, (int64_t)strlen(text), spellings[s].packed);
        assert_spelling(spellings[s].name, path, spellings[s].column, !spellings[s].unnamed,
                        expected);
    }
}

/* FILE:COLUMN: of the others nothing is asked. Where it is the first, names are in another one, or
 * rows are taken by position. */
static void one_of_several_columns(void **state) {
    (void)state;
    static const char *const expected[N] = {"T", "S", "", "T"};
    static const char *const texts[] = {
        "sample\tage\tclass\tage\nd\t1\tT\tx\nb\tinf\tS\ty\na\t2\tT\tz\n",
        "age,class,age\nd,1,T,x\nb,inf,S,y\na,2,T,z\n",
        "class;age\nT;1\nS;2\n;3\nT;4\n",
        "class\tid\tage\nT\td\t1\nS\tb\t2\nT\ta\t3\n",
    };
    char where[sizeof path + 8];
    snprintf(where, sizeof where, "%s:class", path);
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        put_text(texts[t]);
        assert_spelling(texts[t], where, "class", true, expected);
    }
}

/* Numbers that are groups: as texts, in .npy, and in AnnData. */
static void numbers_as_groups(void **state) {
    (void)state;
    static const char *const expected[N] = {"1", "0.5", "", "1"};
    static const double values[] = {1, 0.5, NAN, 1};
    char array[sizeof path + 4];
    rb_matrix *matrix;
    rb_source *source;
    put_text("sample\tx\na\t1\nb\t0.5\nc\tNaN\nd\t1\n");
    assert_spelling("text", path, "x", true, expected);
    snprintf(array, sizeof array, "%s.npy", path);
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, N, 1, values, 1, 1, &matrix));
    assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
    assert_ok(ctx, rb_write(ctx, source, array));
    rb_source_free(source);
    rb_matrix_free(matrix);
    assert_spelling("npy", array, "1", true, expected);
    unlink(array);
}

static void observations(void **state) {
    (void)state;
    static const char *const places[] = {ANNDATA ":type", "obs:type"};
    static const char *const expected[] = {"T", "B", "", "B", "NK"};
    rb_source *source;
    assert_ok(ctx, rb_open(ctx, ANNDATA, NULL, &source));
    for (int p = 0; p < 2; p++) {
        for (use how = 0; how < USES; how++) {
            rb_names *texts;
            if (use_table(how, places[p], "type", source, &texts))
                fail_msg("%s, use %d: %s", places[p], how, rb_context_error(ctx));
            for (int i = 0; i < 5; i++)
                assert_string_equal(texts->text[i], expected[i]);
            rb_names_free(texts);
        }
    }
    rb_source_free(source);
}

/* One table for all uses, read once; the file may be gone by then. */
static void a_table_is_read_once(void **state) {
    (void)state;
    rb_annotations *table;
    rb_covariates *covariates;
    rb_classes classes = {.size = sizeof classes};
    rb_source *source = source_of(true);
    put_text("sample,class,age\na,T,1\nb,S,2\nc,S,\nd,T,4\n");
    assert_ok(ctx, rb_annotations_read(ctx, path, source, &table));
    put_text("");
    assert_ok(ctx, rb_annotations_classes(ctx, table, NULL, source, &classes));
    assert_int_equal(classes.n_labelled, 4);
    assert_ok(ctx, rb_annotations_covariates(ctx, table, NULL, NULL, source, &covariates));
    assert_int_equal(rb_covariates_count(covariates), 2);
    assert_int_equal(rb_covariates_missing(covariates, 1), 1);
    assert_ok(ctx, rb_annotations_bind(ctx, table, "age,class", source));
    assert_true(source->covariates->list[0].values[3] == 4);
    assert_non_null(source->covariates->list[1].levels);
    rb_classes_clear(&classes);
    rb_annotations_keep(table, source);
    assert_ok(ctx, rb_classes_read(ctx, path, source, &classes));
    assert_int_equal(classes.n_labelled, 4);
    rb_annotations_keep(NULL, source);
    assert_true(rb_classes_read(ctx, path, source, &classes) != RB_OK);
    rb_covariates_free(covariates);
    rb_classes_clear(&classes);
    rb_annotations_free(table);
    rb_source_free(source);
}

/* ---- what is wrong ---- */

static void one_sentence_for_every_use(void **state) {
    (void)state;
    static const struct {
        const char *text, *column, *message;
        rb_error error;
        bool unnamed;
    } cases[] = {
        {"", "x", "is empty: a header and a row for each sample are expected", RB_ERROR_FORMAT},
        {"sample\tx\na\tA\nb\n", "x", ", row 3: the row has 1 field, but row 1 has 2",
         RB_ERROR_FORMAT},
        {"sample,x\na,A\nb,A,A\n", "x", ", row 3: the row has 3 fields, but row 1 has 2",
         RB_ERROR_FORMAT},
        {"x\nA\nb\tB\n", "x", ", row 3: the row has 2 fields, but row 1 has 1", RB_ERROR_FORMAT},
        {"sample;x\n\na;\"A\"B\n", "x", ", row 3, column 2: there is text behind a closing quote",
         RB_ERROR_FORMAT},
        {"sample\tx\na\t@\n", "x", ", row 2: the line holds a 0 byte", RB_ERROR_FORMAT},
        {"sample\tx\nq\tA\nr\tB\n", "x",
         "has none of the samples of the data: the first is 'a' in the data, and 'q' in the table",
         RB_ERROR_DATA},
        {"sample\tx\n", "x", "has none of the samples of the data", RB_ERROR_DATA},
        {"sample\tx\na\tA\nb\tA\na\tB\n", "x",
         ", row 4, column 2: sample 'a' has 'B' in column 'x', but 'A' before", RB_ERROR_DATA},
        {"x\na\tA\nb\tA\na\tB\n", "x", ", row 4, column 2: sample 'a' has 'B' in column 'x'",
         RB_ERROR_DATA},
        {"sample\tx\tx\na\tA\tB\nb\tA\tB\n", "x",
         ", row 1, column 3: a second column is called 'x'", RB_ERROR_FORMAT},
        {"x\nA\nB\n", "x", "has 2 rows for 4 samples, and can only be matched by position",
         RB_ERROR_DATA},
        {"sample\tx\na\tA\nb\tB\n", "x", "since the data have no sample names", RB_ERROR_DATA,
         true},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char text[128], first[1024] = "", where[sizeof path + 8];
        int64_t length = (int64_t)strlen(cases[c].text);
        memcpy(text, cases[c].text, (size_t)length);
        for (int64_t i = 0; i < length; i++)
            text[i] = text[i] == '@' ? '\0' : text[i];
        put_file(text, length, false);
        snprintf(where, sizeof where, "%s:%s", path, cases[c].column);
        for (use how = 0; how < USES; how++) {
            rb_names *texts;
            rb_source *source = source_of(!cases[c].unnamed);
            rb_error err = use_table(how, where, cases[c].column, source, &texts);
            if (err != cases[c].error || !strstr(rb_context_error(ctx), cases[c].message))
                fail_msg("case %d, use %d: %d, %s", (int)c, how, err, rb_context_error(ctx));
            if (how == 0) snprintf(first, sizeof first, "%s", rb_context_error(ctx));
            assert_string_equal(rb_context_error(ctx), first);
            assert_non_null(strstr(first, path));
            rb_source_free(source);
        }
    }
}

/* A column that is not there, in words with those that are; a column asked for twice. */
static void columns_that_are_not_there(void **state) {
    (void)state;
    assert_null(rb_annotations_columns(NULL));
    assert_null(rb_annotations_columns(""));
    char where[sizeof path + 8];
    put_text("sample\tage\tbatch\na\t1\t2\nb\t3\t4\n");
    snprintf(where, sizeof where, "%s:x", path);
    for (use how = 0; how < USES; how++) {
        rb_names *texts;
        rb_source *source = source_of(true);
        assert_error(ctx, use_table(how, where, "x", source, &texts), RB_ERROR_ARGUMENT,
                     "has no column 'x'; its columns are: sample, age, batch");
        rb_source_free(source);
    }
    rb_source *source = source_of(true);
    assert_error(ctx, bind_columns(source, path, "age,batch,age"), RB_ERROR_ARGUMENT,
                 "column 'age' is asked for twice");
    put_text("sample;age\na;1\nb;0,5\n");
    for (int numbers = 0; numbers < 2; numbers++) {
        assert_error(ctx, bind_columns(source, path, numbers ? "age:numbers" : "age"),
                     RB_ERROR_DATA, "row 3, column 2: '0,5' of 'age' has a comma");
    }
    assert_ok(ctx, bind_columns(source, path, "age:groups"));
    assert_error(ctx, bind_columns(source, NULL, "age"), RB_ERROR_ARGUMENT,
                 "the data are in no file");
    rb_source_free(source);
}

static void no_memory(void **state) {
    (void)state;
    put_text("sample,class,age\na,T,1\nb,S,2\nc,S,\na,T,1\n");
    for (use how = 0; how < USES; how++) {
        rb_error err = RB_ERROR_MEMORY;
        int64_t n = 0;
        for (; err; n++) {
            rb_names *texts = NULL;
            rb_source *source = source_of(true);
            ctx->allocations_left = n;
            err = use_table(how, path, "class", source, &texts);
            ctx->allocations_left = -1;
            if (err) assert_int_equal(err, RB_ERROR_MEMORY);
            rb_names_free(texts);
            rb_source_free(source);
        }
        assert_true(n > 10);
    }
}

static int set_up(void **state) {
    (void)state;
    int file = mkstemp(path);
    return file < 0 || close(file) || rb_context_new(&ctx) ? 1 : 0;
}

static int tear_down(void **state) {
    (void)state;
    rb_context_free(ctx);
    return unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_spelling_for_every_use),
        cmocka_unit_test(one_of_several_columns),
        cmocka_unit_test(numbers_as_groups),
        cmocka_unit_test(observations),
        cmocka_unit_test(a_table_is_read_once),
        cmocka_unit_test(one_sentence_for_every_use),
        cmocka_unit_test(columns_that_are_not_there),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
