/* Which data a model was fitted to: what their checksum covers. */
#include "fixture.h"

#include "data/data.h"

#include <math.h>
#include <zlib.h>

enum { N = 6, M = 4 };

static uint32_t checksum_of(rb_context *ctx, const rb_matrix *matrix, bool renewed) {
    rb_source *source;
    rb_preprocess *p;
    rb_preprocess_options o;
    rb_preprocess_options_default(&o);
    o.centre = RB_CENTRE_NONE;
    assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
    assert_ok(ctx, rb_preprocess_fit(ctx, &o, source, &p));
    if (renewed) {
        p->checksum = 0;
        assert_ok(ctx, rb_preprocess_renew(ctx, p, source, false));
    }
    uint32_t checksum = p->checksum;
    rb_preprocess_free(p);
    rb_source_free(source);
    return checksum;
}

/* The checksum of dense data is the CRC-32 of their values as float64, as models have it. */
static void a_dense_checksum_is_of_the_values(void **state) {
    rb_context *ctx = *state;
    rb_matrix *matrix;
    double *values = fixture_values(N, M, 2, 1);
    rb_source_free(fixture_source(ctx, values, N, M, &matrix));
    uint32_t expected = (uint32_t)crc32_z(0, (const Bytef *)values, N * M * sizeof *values);
    assert_int_equal(checksum_of(ctx, matrix, false), expected);
    assert_int_equal(checksum_of(ctx, matrix, true), expected);
    rb_matrix_free(matrix);
    free(values);
}

/* With and without the processor's help, whole or in two pieces, for lengths around those at which
 * the way of computing changes. */
static void a_crc_is_that_of_zlib(void **state) {
    (void)state;
    static unsigned char bytes[1200];
    rb_crc32 crc;
    rb_crc32_prepare(&crc);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * i + 31 * i / 7);
    for (int folds = crc.folds; folds >= 0; folds--) {
        crc.folds = folds;
        for (size_t count = 0; count < 1100; count++) {
            const unsigned char *from = bytes + count % 17;
            uint32_t expected = (uint32_t)crc32_z(7, from, count);
            assert_int_equal(rb_crc32_add(&crc, 7, from, count), expected);
            size_t cut = count / 3;
            uint32_t first = rb_crc32_add(&crc, 7, from, cut);
            uint32_t second = rb_crc32_add(&crc, 0, from + cut, count - cut);
            assert_int_equal(rb_crc32_join(first, second, (int64_t)(count - cut)), expected);
        }
    }
}

/* Preprocessing is fitted to the same bits by any number of threads: of dense and sparse data, with
 * missing values, longer than a stretch of the pass. */
static void threads_do_not_change_the_fit(void **state) {
    enum { ROWS = 3000, COLUMNS = 700, STORED = ROWS * COLUMNS };
    rb_context *ctx = *state;
    double *values = fixture_values(ROWS, COLUMNS, 2, 1);
    int64_t *starts = calloc(ROWS + 1, sizeof *starts), e = 0;
    int32_t *columns = calloc(STORED, sizeof *columns);
    double *stored = calloc(STORED, sizeof *stored);
    for (int64_t i = 0; i < STORED; i++) {
        values[i] = i % 1009 == 0 ? NAN : fabs(values[i]);
        if (i % 3 != 0) {
            stored[e] = values[i];
            columns[e++] = (int32_t)(i % COLUMNS);
        }
        starts[i / COLUMNS + 1] = e;
    }
    for (int sparse = 0; sparse < 2; sparse++) {
        rb_matrix *matrix;
        rb_source *source;
        rb_preprocess *fitted[3];
        assert_ok(
            ctx,
            sparse ? rb_matrix_csr(ctx, RB_FLOAT64, ROWS, COLUMNS, starts, columns, stored, &matrix)
                   : rb_matrix_dense(ctx, RB_FLOAT64, ROWS, COLUMNS, values, COLUMNS, 1, &matrix));
        assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
        rb_preprocess_options o;
        rb_preprocess_options_default(&o);
        o.missing = RB_MISSING_MEDIAN;
        o.totals = 1000;
        o.log1p = true;
        o.scale = RB_SCALE_SD;
        for (int t = 0; t < 3; t++) {
            assert_ok(ctx, rb_context_set_threads(ctx, 1 + 2 * t));
            assert_ok(ctx, rb_preprocess_fit(ctx, &o, source, &fitted[t]));
            assert_int_equal(fitted[t]->checksum, fitted[0]->checksum);
            assert_int_equal(fitted[t]->n_filled, fitted[0]->n_filled);
            size_t bytes = COLUMNS * sizeof(double);
            assert_memory_equal(fitted[t]->centre, fitted[0]->centre, bytes);
            assert_memory_equal(fitted[t]->scale, fitted[0]->scale, bytes);
            assert_memory_equal(fitted[t]->fill, fitted[0]->fill, bytes);
        }
        assert_true(fitted[0]->n_filled > 1000);
        for (int t = 0; t < 3; t++)
            rb_preprocess_free(fitted[t]);
        rb_source_free(source);
        rb_matrix_free(matrix);
    }
    free(values);
    free(starts);
    free(columns);
    free(stored);
}

/* That of sparse data is also of where the values stand, and does not depend on the blocks in which
 * they are read: these are of 16 samples, of 8, and of all. */
static void a_sparse_checksum_is_of_places_too(void **state) {
    enum { ROWS = 45, COLUMNS = 262144, STORED = 90 };
    rb_context *ctx = *state;
    double values[STORED];
    int64_t starts[ROWS + 1];
    int32_t columns[STORED];
    uint32_t seen[4];
    for (int i = 0; i <= ROWS; i++)
        starts[i] = 2 * i;
    for (int e = 0; e < STORED; e++) {
        values[e] = 1;
        columns[e] = (int32_t)(e % 2 ? 200000 + e : e);
    }
    for (int change = 0; change < 4; change++) {
        rb_matrix *matrix;
        uint32_t whole;
        columns[40] = change == 1 ? 210001 : 210000; /* another column, row, value */
        columns[41] = 220000;
        starts[20] = change == 2 ? 41 : 40;
        values[40] = change == 3 ? 2 : 1;
        assert_ok(ctx,
                  rb_matrix_csr(ctx, RB_FLOAT64, ROWS, COLUMNS, starts, columns, values, &matrix));
        assert_ok(ctx, rb_matrix_checksum(ctx, matrix, &whole));
        seen[change] = checksum_of(ctx, matrix, false);
        assert_int_equal(seen[change], whole);
        assert_int_equal(checksum_of(ctx, matrix, true), whole);
        for (int before = 0; before < change; before++)
            assert_int_not_equal(seen[before], seen[change]);
        rb_matrix_free(matrix);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dense_checksum_is_of_the_values),
        cmocka_unit_test(a_crc_is_that_of_zlib),
        cmocka_unit_test(threads_do_not_change_the_fit),
        cmocka_unit_test(a_sparse_checksum_is_of_places_too),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
