/* Promises of the writers, of rb_describe, and of the choice of a format. */
#include "../options.h"
#include "io_test.h"

#include <rarebit/denoise.h>

#include <signal.h>
#include <sys/resource.h>

enum { ROWS = 5, COLUMNS = 3 };

static const double values[ROWS * COLUMNS] = {0,      -0.0,     1.0 / 3, 1e-300,
                                              -1e300, 123456,   0.1,     16777217,
                                              -2.5,   5e-324,   NAN,     9007199254740993.0,
                                              1e6,    -1000001, 2};

static const char *const feature_names[] = {"a b", "1", "x,\t\"y\""};
static const char *const sample_names[] = {"NA", "two", " three", "4e5", ""};

static rb_matrix *example(bool sample, rb_type type) {
    rb_matrix *m;
    assert_int_equal(rb_matrix_new_dense(ctx, type, ROWS, COLUMNS, &m), RB_OK);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        if (type == RB_FLOAT32)
            ((float *)m->values)[i] = fabs(values[i]) > 1e38 ? 1e38F : (float)values[i];
        else
            ((double *)m->values)[i] = values[i];
    if (sample) assert_int_equal(rb_matrix_set_sample_names(ctx, m, sample_names, ROWS), RB_OK);
    return m;
}

/* Writes a matrix in blocks of two rows. */
static rb_error write_matrix(const char *path, const rb_matrix *m, bool names) {
    rb_source *source;
    rb_writer *writer;
    rb_matrix block;
    rb_error err = rb_source_from_matrix(ctx, m, &source);
    if (err) return err;
    rb_write_header header = {sizeof header, m->n_samples, m->n_features,
                              m->type,       source,       names ? feature_names : NULL,
                              m->sparse};
    err = rb_writer_open(ctx, path, &header, &writer);
    if (err) {
        assert_null(writer);
        rb_source_free(source);
        return err;
    }
    for (int64_t first = 0; !err && first < m->n_samples; first += 2) {
        int64_t count = m->n_samples - first < 2 ? m->n_samples - first : 2;
        assert_int_equal(source->read(source, ctx, first, count, &block), RB_OK);
        err = rb_writer_add(ctx, writer, &block);
    }
    if (err)
        rb_writer_abandon(writer);
    else
        err = rb_writer_close(ctx, writer);
    rb_source_free(source);
    return err;
}

static void assert_same(const rb_matrix *a, const rb_matrix *b, rb_type type) {
    assert_int_equal(a->n_samples, b->n_samples);
    assert_int_equal(a->n_features, b->n_features);
    for (int64_t i = 0; i < a->n_samples; i++) {
        for (int64_t j = 0; j < a->n_features; j++) {
            double x = rb_matrix_at(a, i, j), y = rb_matrix_at(b, i, j);
            bool same = type == RB_FLOAT32 ? (float)x == (float)y : x == y;
            if (!(same && signbit(x) == signbit(y)) && !(isnan(x) && isnan(y)))
                fail_msg("value (%lld, %lld): %.17g, %.17g", (long long)i, (long long)j, x, y);
        }
    }
}

/* Every value and name comes back, bit for bit, from every format and type. */
static void what_is_written_reads_back(void **state) {
    (void)state;
    static const char *const paths[] = {"a.npy", "a.tsv", "a.csv", "a.tsv.gz", "A.CSV.GZ", "a.h5"};
    for (size_t p = 0; p < sizeof paths / sizeof *paths; p++) {
        for (int kind = 0; kind < 8; kind++) {
            rb_type type = kind & 1 ? RB_FLOAT32 : RB_FLOAT64;
            bool features = (kind & 2) != 0, samples = (kind & 4) != 0;
            bool text = p >= 1 && p <= 4;
            rb_matrix *m = example(samples, type);
            assert_int_equal(write_matrix(paths[p], m, features), RB_OK);
            assert_int_equal(files_here(), 1);
            rb_matrix *back = read_with(paths[p], NULL);
            assert_same(m, back, type);
            for (int i = 0; text && samples && i < ROWS; i++)
                assert_string_equal(rb_matrix_sample_name(back, i), sample_names[i]);
            for (int j = 0; text && features && j < COLUMNS; j++)
                assert_string_equal(rb_matrix_feature_name(back, j), feature_names[j]);
            assert_true(!text || samples || !back->sample_names);
            assert_true(!text || features || !back->feature_names);
            rb_matrix_free(m);
            rb_matrix_free(back);
            unlink(paths[p]);
        }
    }
}

static void text_is_what_a_person_expects(void **state) {
    (void)state;
    double few[] = {0, 0.5, -3, NAN};
    rb_matrix *m;
    const char *rows[] = {"s1", "s2"};
    assert_int_equal(rb_matrix_dense(ctx, RB_FLOAT64, 2, 2, few, 2, 1, &m), RB_OK);
    assert_int_equal(rb_matrix_set_sample_names(ctx, m, rows, 2), RB_OK);
    assert_int_equal(write_matrix("a.tsv", m, true), RB_OK);
    assert_text("a.tsv", "\ta b\t\"1\"\ns1\t0\t0.5\ns2\t-3\tNA\n");
    assert_int_equal(write_matrix("a.csv", m, false), RB_OK);
    assert_text("a.csv", "s1,0,0.5\ns2,-3,NA\n");
    rb_matrix_free(m);
}

static void sparse_and_strided_rows_are_written(void **state) {
    (void)state;
    const int64_t starts[] = {0, 1, 1, 3};
    const int32_t columns[] = {1, 0, 2};
    const float entries[] = {5, 6, 7};
    rb_matrix *m, *back;
    assert_int_equal(rb_matrix_csr(ctx, RB_FLOAT32, 3, 3, starts, columns, entries, &m), RB_OK);
    assert_int_equal(write_matrix("a.npy", m, false), RB_OK);
    back = read_with("a.npy", NULL);
    assert_values(back, 3, 3, (double[]){0, 5, 0, 0, 0, 0, 6, 0, 7});
    rb_matrix_free(m);
    rb_matrix_free(back);
    assert_int_equal(rb_matrix_dense(ctx, RB_FLOAT32, 1, 3, entries + 2, 3, -1, &m), RB_OK);
    assert_int_equal(write_matrix("a.csv", m, false), RB_OK);
    assert_text("a.csv", "7,6,5\n");
    rb_matrix_free(m);
}

static void wrong_use_is_refused(void **state) {
    (void)state;
    rb_writer *writer;
    rb_matrix *m = example(false, RB_FLOAT64);
    rb_write_header header = {.size = sizeof header, .n_samples = ROWS - 1, .n_features = COLUMNS};
    assert_error(ctx, rb_writer_open(ctx, "a.txt", &header, &writer), RB_ERROR_ARGUMENT, "a.txt");
    assert_non_null(strstr(rb_context_error(ctx), ".npy, .tsv, .csv"));
    assert_int_equal(rb_writer_open(ctx, "missing/a.npy", &header, &writer), RB_ERROR_FILE);
    assert_int_equal(rb_writer_open(ctx, "a.npy", &header, &writer), RB_OK);
    assert_int_equal(rb_writer_add(ctx, writer, m), RB_ERROR_ARGUMENT);
    assert_error(ctx, rb_writer_close(ctx, writer), RB_ERROR_ARGUMENT, "0 of its 4 rows");
    assert_int_equal(rb_writer_open(ctx, "a.csv", &header, &writer), RB_OK);
    rb_writer_abandon(writer);
    rb_writer_abandon(NULL);
    assert_int_equal(files_here(), 0);
    rb_matrix_free(m);
}

/* A disk that is full after n bytes, for every n: a message, and no file. */
static void every_failed_write_is_reported(void **state) {
    (void)state;
    static const char *const paths[] = {"a.npy", "a.csv", "a.tsv.gz"};
    struct rlimit old, limit;
    getrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_IGN);
    rb_matrix *m = example(true, RB_FLOAT64);
    for (size_t p = 0; p < 3; p++) {
        int failures = 0;
        rb_error err = RB_ERROR_FILE;
        for (rlim_t bytes = 0; err; bytes++, failures++) {
            limit = (struct rlimit){bytes, old.rlim_max};
            setrlimit(RLIMIT_FSIZE, &limit);
            err = write_matrix(paths[p], m, true);
            setrlimit(RLIMIT_FSIZE, &old);
            assert_true(err == RB_OK || err == RB_ERROR_FILE);
            assert_int_equal(files_here(), err ? 0 : 1);
            if (err) assert_non_null(strstr(rb_context_error(ctx), "cannot write a."));
        }
        assert_true(failures > 50);
        unlink(paths[p]);
    }
    signal(SIGXFSZ, SIG_DFL);
    rb_matrix_free(m);
}

static void every_failed_allocation_is_reported_by_writers(void **state) {
    (void)state;
    static const char *const paths[] = {"a.npy", "a.csv.gz"};
    rb_matrix *m = example(false, RB_FLOAT64);
    for (size_t p = 0; p < 2; p++) {
        rb_error err = RB_ERROR_MEMORY;
        for (int64_t n = 0; allow_allocations(ctx, n, err); n++) {
            err = write_matrix(paths[p], m, true);
            assert_int_equal(files_here(), err ? 0 : 1);
        }
        unlink(paths[p]);
    }
    rb_matrix_free(m);
}

static void devices_take_text(void **state) {
    (void)state;
    rb_matrix *m = example(true, RB_FLOAT64);
    assert_int_equal(write_matrix("/dev/null", m, true), RB_OK);
    assert_error(ctx, write_matrix("/dev/full", m, true), RB_ERROR_FILE, "cannot write /dev/full");
    rb_matrix_free(m);
}

/* ---- what is in a file ---- */

static rb_error describe_text(const char *text, rb_description *d) {
    rb_source *source;
    put_text("a", text);
    assert_int_equal(rb_open(ctx, "a", NULL, &source), RB_OK);
    rb_error err = rb_describe(ctx, source, d);
    rb_source_free(source);
    return err;
}

static void a_description_counts_and_sums(void **state) {
    (void)state;
    rb_description d = {.size = sizeof d};
    assert_int_equal(describe_text("1,0,-2\nNA,3,0.5\n", &d), RB_OK);
    assert_int_equal(d.samples, 2);
    assert_int_equal(d.features, 3);
    assert_int_equal(d.nonzeros, 4);
    assert_int_equal(d.missing, 1);
    assert_true(d.sum == 2.5 && d.sum_of_squares == 14.25 && d.minimum == -2 && d.maximum == 3);
    /* Zeros that are not stored count for the least and the largest value. */
    assert_int_equal(
        describe_text("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 4\n2 2 nan\n", &d),
        RB_OK);
    assert_int_equal(d.nonzeros, 1);
    assert_int_equal(d.missing, 1);
    assert_true(d.sum == 4 && d.minimum == 0 && d.maximum == 4);
    assert_int_equal(describe_text("NA,NA\n?,NA\n", &d), RB_OK);
    assert_true(d.missing == 4 && isnan(d.minimum) && isnan(d.maximum) && d.sum == 0);
}

static void a_description_of_many_blocks_is_that_of_one(void **state) {
    (void)state;
    enum { MANY = 3000, WIDE = 700 }; /* several blocks */
    rb_matrix *m;
    rb_source *source;
    rb_description d = {.size = sizeof d};
    assert_int_equal(rb_matrix_new_dense(ctx, RB_FLOAT32, MANY, WIDE, &m), RB_OK);
    double sum = 0;
    for (int i = 0; i < MANY * WIDE; i++) {
        ((float *)m->values)[i] = (float)(i % 1000);
        sum += i % 1000;
    }
    assert_int_equal(rb_source_own_matrix(ctx, m, &source), RB_OK);
    assert_int_equal(rb_describe(ctx, source, &d), RB_OK);
    assert_true(d.sum == sum && d.nonzeros == MANY * WIDE - MANY * WIDE / 1000);
    ((float *)m->values)[MANY * WIDE - 2] = INFINITY;
    assert_error(ctx, rb_describe(ctx, source, &d), RB_ERROR_DATA, "sample 2999, feature 698");
    rb_source_free(source);
}

/* ---- which format a file has ---- */

static void formats_are_known_by_their_bytes(void **state) {
    (void)state;
    const char *name;
    rb_matrix *m = example(false, RB_FLOAT32);
    assert_int_equal(write_matrix("a.npy", m, false), RB_OK);
    assert_int_equal(rename("a.npy", "a.csv"), 0); /* the suffix does not matter */
    assert_int_equal(rb_format_of(ctx, "a.csv", &name), RB_OK);
    assert_string_equal(name, "npy");
    put_gzip("a.npy", "1,2\n");
    assert_int_equal(rb_format_of(ctx, "a.npy", &name), RB_OK);
    assert_string_equal(name, "delimited");
    put_text("a", "%%MatrixMarket matrix array real general\n1 1\n1\n");
    assert_int_equal(rb_format_of(ctx, "a", &name), RB_OK);
    assert_string_equal(name, "mtx");
    put_bytes("a",
              "\x7F"
              "ELF\0\0\0",
              7);
    assert_int_equal(rb_format_of(ctx, "a", &name), RB_ERROR_FORMAT);
    assert_null(name);
    rb_matrix_free(m);
}

static void what_is_no_data_file_is_refused(void **state) {
    (void)state;
    refuse("missing.csv", RB_ERROR_FILE, "missing.csv|no such file");
    put_text("empty.csv", "");
    refuse("empty.csv", RB_ERROR_FORMAT, "empty.csv|empty");
    put_gzip("empty.csv.gz", "");
    refuse("empty.csv.gz", RB_ERROR_FORMAT, "empty.csv.gz|empty");
    put_bytes("a",
              "\x7F"
              "ELF\0\0\0",
              7);
    refuse("a", RB_ERROR_FORMAT, "a |a format that rarebit does not know");
    refuse("/dev/null", RB_ERROR_FILE, "/dev/null|not a regular file");
    refuse(".", RB_ERROR_FORMAT, "folder|matrix.mtx");
    rb_read_options options;
    fixture_default(rb_read_group(), &options);
    options.header = 7;
    refuse_with("a", &options, RB_ERROR_ARGUMENT, "header");
}

static void assert_size(rb_error err) {
    assert_error(ctx, err, RB_ERROR_ARGUMENT, "does not set its size");
}

/* A struct of another version, or one whose size was not set, is neither read nor written. */
static void structs_of_another_size_are_refused(void **state) {
    (void)state;
    rb_writer *writer;
    rb_match match = {0};
    rb_denoising denoising = {.size = 1};
    rb_enrichment enrichment = {0};
    rb_description description = {.size = sizeof description + 8};
    assert_size(rb_writer_open(ctx, "a.npy", &(rb_write_header){.n_samples = 1}, &writer));
    assert_size(rb_describe(ctx, NULL, &description));
    assert_size(rb_denoise(ctx, NULL, "a.png", NULL, "b.png", &denoising));
    assert_size(rb_modules_match(ctx, NULL, NULL, &match));
    assert_size(rb_modules_enrichment(ctx, NULL, NULL, &enrichment));
    assert_int_equal(files_here(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(text_is_what_a_person_expects),
        cmocka_unit_test(sparse_and_strided_rows_are_written),
        cmocka_unit_test(wrong_use_is_refused),
        cmocka_unit_test(every_failed_write_is_reported),
        cmocka_unit_test(every_failed_allocation_is_reported_by_writers),
        cmocka_unit_test(devices_take_text),
        cmocka_unit_test(a_description_counts_and_sums),
        cmocka_unit_test(a_description_of_many_blocks_is_that_of_one),
        cmocka_unit_test(formats_are_known_by_their_bytes),
        cmocka_unit_test(what_is_no_data_file_is_refused),
        cmocka_unit_test(structs_of_another_size_are_refused),
    };
    return run_each(tests, sizeof tests / sizeof *tests, enter, leave);
}
