/* Which data a model was fitted to: what their checksum covers. */
#include "fixture.h"

#include "data/data.h"

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
        assert_ok(ctx, rb_preprocess_renew(ctx, p, source));
    }
    uint32_t checksum = p->checksum;
    rb_preprocess_free(p);
    rb_source_free(source);
    return checksum;
}

/* The checksum of dense data is the CRC-32 of their values as float64, as models have it. */
static void a_dense_checksum_is_of_the_values(void **state) {
    (void)state;
    rb_context *ctx = fixture_context();
    rb_matrix *matrix;
    double *values = fixture_values(N, M, 2, 1);
    rb_source_free(fixture_source(ctx, values, N, M, &matrix));
    uint32_t expected = (uint32_t)crc32_z(0, (const Bytef *)values, N * M * sizeof *values);
    assert_int_equal(checksum_of(ctx, matrix, false), expected);
    assert_int_equal(checksum_of(ctx, matrix, true), expected);
    rb_matrix_free(matrix);
    free(values);
    rb_context_free(ctx);
}

/* That of sparse data is also of where the values stand, and does not depend on the blocks in which
 * they are read: these are of 16 samples, of 8, and of all. */
static void a_sparse_checksum_is_of_places_too(void **state) {
    (void)state;
    enum { ROWS = 45, COLUMNS = 262144, STORED = 90 };
    rb_context *ctx = fixture_context();
    double values[STORED];
    int64_t starts[ROWS + 1];
    int32_t columns[STORED];
    uint32_t seen[4];
    for (int i = 0; i <= ROWS; i++) {
        starts[i] = 2 * i;
    }
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
        for (int before = 0; before < change; before++) {
            assert_int_not_equal(seen[before], seen[change]);
        }
        rb_matrix_free(matrix);
    }
    rb_context_free(ctx);
}

/* Our CRC-32 is zlib's, for any length and place, also put together of two parts. */
static void the_crc_is_that_of_zlib(void **state) {
    (void)state;
    unsigned char bytes[300];
    for (int i = 0; i < (int)sizeof bytes; i++) {
        bytes[i] = (unsigned char)(i * i * 7 + i / 3);
    }
    assert_int_equal(rb_crc32(0, "123456789", 9), 0xcbf43926);
    for (int first = 0; first < 9; first++) {
        for (int size = 0; first + size <= (int)sizeof bytes; size++) {
            uint32_t whole = (uint32_t)crc32(crc32(0, NULL, 0), bytes + first, (uInt)size);
            uint32_t start = rb_crc32(0, bytes + first, (size_t)size / 3);
            const unsigned char *rest = bytes + first + size / 3;
            size_t left = (size_t)(size - size / 3);
            assert_int_equal(rb_crc32(start, rest, left), whole);
            assert_int_equal(rb_crc32_combine(start, rb_crc32(0, rest, left), (int64_t)left),
                             whole);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dense_checksum_is_of_the_values),
        cmocka_unit_test(a_sparse_checksum_is_of_places_too),
        cmocka_unit_test(the_crc_is_that_of_zlib),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
