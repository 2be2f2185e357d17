/* Promises of the reader of .npy: every type, order and version; careful with what the header
 * says. */
#include "../options.h"
#include "io/npy.h"
#include "io_test.h"
#include "skip.h"

#include <sys/resource.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

static const uint16_t one = 1;

/* Writes a file of a version with this header text and these bytes behind it. */
static void put_npy(const char *path, int version, const char *header, const void *bytes,
                    size_t count) {
    char file[4096] = "\x93NUMPY";
    size_t length = strlen(header), at = version == 1 ? 10 : 12;
    file[6] = (char)version;
    file[8] = (char)(length & 255);
    file[9] = (char)(length >> 8);
    memcpy(file + at, header, length);
    memcpy(file + at + length, bytes, count);
    put_bytes(path, file, at + length + count);
}

static void describe(char *header, size_t size, const char *type, bool fortran, const char *shape) {
    snprintf(header, size, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n", type,
             fortran ? "True" : "False", shape);
}

/* Writes small whole numbers as items of a type, in the byte order that the type names. */
static size_t pack(const char *type, const int *numbers, int count, char *bytes) {
    bool little = *(const char *)&one == 1, swap = (type[0] == '>') == little;
    int size = type[2] - '0';
    for (int i = 0; i < count; i++) {
        int64_t whole = numbers[i];
        double f8 = numbers[i];
        float f4 = (float)f8;
        /* 0, 1, -2, 3 in half precision */
        uint16_t f2 = whole == 0 ? 0 : whole == 1 ? 0x3C00 : whole == -2 ? 0xC000 : 0x4200;
        const void *from = type[1] != 'f' ? (const void *)&whole
                           : size == 8    ? (const void *)&f8
                           : size == 4    ? (const void *)&f4
                                          : (const void *)&f2;
        char item[8];
        memcpy(item, from, (size_t)size); /* whole: the low bytes stand first */
        for (int b = 0; b < size; b++)
            bytes[i * size + b] = item[swap ? size - 1 - b : b];
    }
    return (size_t)(count * size);
}

static void all_types_and_byte_orders(void **state) {
    (void)state;
    static const struct {
        const char *type;
        rb_type becomes;
    } types[] = {{"<f2", RB_FLOAT32}, {">f2", RB_FLOAT32}, {"<f4", RB_FLOAT32}, {">f4", RB_FLOAT32},
                 {"<f8", RB_FLOAT64}, {">f8", RB_FLOAT64}, {"|i1", RB_FLOAT32}, {"<i2", RB_FLOAT32},
                 {">i2", RB_FLOAT32}, {"<i4", RB_FLOAT64}, {">i4", RB_FLOAT64}, {"<i8", RB_FLOAT64},
                 {">i8", RB_FLOAT64}, {"|u1", RB_FLOAT32}, {"<u2", RB_FLOAT32}, {">u2", RB_FLOAT32},
                 {"<u4", RB_FLOAT64}, {">u4", RB_FLOAT64}, {"<u8", RB_FLOAT64}, {">u8", RB_FLOAT64},
                 {"|b1", RB_FLOAT32}};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        const char *type = types[t].type;
        bool natural = type[1] == 'f' || type[1] == 'i', truth = type[1] == 'b';
        int numbers[6] = {0, 1, natural ? -2 : truth ? 1 : 3, truth ? 0 : 3, 1, 0};
        double wanted[6];
        char bytes[64], header[128];
        for (int i = 0; i < 6; i++)
            wanted[i] = numbers[i];
        size_t count = pack(type, numbers, 6, bytes);
        describe(header, sizeof header, type, false, "(2, 3)");
        put_npy("a.npy", 1, header, bytes, count);
        rb_matrix *m = read_with("a.npy", NULL);
        assert_values(m, 2, 3, wanted);
        if (rb_matrix_type(m) != types[t].becomes)
            fail_msg("%s becomes %d", type, rb_matrix_type(m));
        rb_matrix_free(m);
        describe(header, sizeof header, type, true, "(3, 2)"); /* the transpose */
        put_npy("a.npy", 1, header, bytes, count);
        rb_read_options options;
        fixture_default(rb_read_group(), &options);
        options.transpose = true;
        m = read_with("a.npy", &options);
        assert_values(m, 2, 3, wanted);
        rb_matrix_free(m);
    }
}

static void halves_of_every_kind(void **state) {
    (void)state;
    const uint16_t bits[] = {0x0001, 0x03FF, 0x0400, 0x7BFF, 0x8001, 0x3555, 0x7E00};
    const double wanted[] = {0x1p-24,  1023 * 0x1p-24, 0x1p-14, 65504,
                             -0x1p-24, 0.333251953125, NAN};
    char header[128];
    describe(header, sizeof header, *(const char *)&one ? "<f2" : ">f2", false, "(1, 7)");
    put_npy("a.npy", 1, header, bits, sizeof bits);
    rb_matrix *m = read_with("a.npy", NULL);
    assert_values(m, 1, 7, wanted);
    rb_matrix_free(m);
}

static void versions_and_dimensions(void **state) {
    (void)state;
    unsigned char bytes[12];
    double counted[12], scattered[12];
    for (int i = 0; i < 12; i++) {
        bytes[i] = (unsigned char)i;
        counted[i] = i;
        /* numpy: arange(12).reshape(2, 3, 2, order='F').reshape(2, 6) */
        int sample = i / 6, b = i % 6 / 2, c = i % 2;
        scattered[i] = sample + 2 * b + 6 * c;
    }
    static const struct {
        int version;
        bool fortran;
        const char *shape;
        int64_t samples, features;
    } cases[] = {{1, false, "(12,)", 12, 1},
                 {2, false, "(3, 4)", 3, 4},
                 {3, false, "(4L,3L)", 4, 3},
                 {1, false, "(2, 3, 2)", 2, 6},
                 {1, false, "( 1 , 12 , )", 1, 12}};
    char header[128];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        describe(header, sizeof header, "|u1", cases[i].fortran, cases[i].shape);
        put_npy("a.npy", cases[i].version, header, bytes, sizeof bytes);
        rb_matrix *m = read_with("a.npy", NULL);
        assert_values(m, cases[i].samples, cases[i].features, counted);
        rb_matrix_free(m);
    }
    describe(header, sizeof header, "|u1", true, "(2, 3, 2)");
    put_npy("a.npy", 1, header, bytes, sizeof bytes);
    rb_matrix *m = read_with("a.npy", NULL);
    assert_values(m, 2, 6, scattered);
    rb_matrix_free(m);
}

/* A float64 file of n x 3 counting numbers whose data starts at a multiple of 16 bytes, or not. */
static void put_doubles(const char *path, int n, bool aligned) {
    double values[300];
    char header[160], shape[32], text[120];
    for (int i = 0; i < 3 * n; i++)
        values[i] = i;
    snprintf(shape, sizeof shape, "(%d, 3)", n);
    describe(text, sizeof text, *(const char *)&one ? "<f8" : ">f8", false, shape);
    snprintf(header, sizeof header, "%-*s", aligned ? 118 : 119, text);
    put_npy(path, 1, header, values, (size_t)(24 * n));
}

/* All blocks of a source are what reading whole gives. */
static void check_blocks(const char *path, int64_t step, bool transpose) {
    rb_source *source;
    rb_read_options options;
    fixture_default(rb_read_group(), &options);
    options.transpose = transpose;
    rb_matrix *m = read_with(path, &options), block;
    rb_error err = rb_npy_stream(ctx, path, transpose, &source);
    if (err == RB_ERROR_UNSUPPORTED) { /* more than two dimensions in Fortran order */
        assert_true(transpose);
        err = rb_open(ctx, path, fixture_of(rb_read_group(), &options), &source);
    }
    assert_int_equal(err, RB_OK);
    assert_int_equal(source->n_samples, m->n_samples);
    assert_int_equal(source->n_features, m->n_features);
    for (int64_t first = 0; first < m->n_samples; first += step) {
        int64_t count = m->n_samples - first < step ? m->n_samples - first : step;
        assert_int_equal(source->read(source, ctx, first, count, &block), RB_OK);
        assert_int_equal(block.n_samples, count);
        for (int64_t i = 0; i < count; i++)
            for (int64_t j = 0; j < m->n_features; j++)
                assert_true(rb_matrix_at(&block, i, j) == rb_matrix_at(m, first + i, j));
    }
    rb_source_free(source);
    rb_matrix_free(m);
}

static void blocks_are_the_rows(void **state) {
    (void)state;
    char bytes[60], header[128];
    for (int i = 0; i < 60; i++)
        bytes[i] = (char)(3 * i);
    static const char *const shapes[] = {"(20, 3)", "(5, 2, 6)", "(60,)"};
    for (int fortran = 0; fortran < 2; fortran++) {
        for (size_t s = 0; s < 3; s++) {
            describe(header, sizeof header, "|i1", fortran, shapes[s]);
            put_npy("a.npy", 1, header, bytes, sizeof bytes);
            for (int transpose = 0; transpose < 2; transpose++) {
                check_blocks("a.npy", 3, transpose);
                check_blocks("a.npy", 100, transpose);
            }
        }
    }
    put_doubles("a.npy", 100, true);
    check_blocks("a.npy", 7, false);
    check_blocks("a.npy", 7, true);
}

/* Numbers that are converted are read a few megabytes at a time. */
static void large_blocks_are_converted_in_pieces(void **state) {
    (void)state;
    enum { ROWS = 3, COLUMNS = 3 << 20 };
    char header[128], shape[64], *bytes = malloc(ROWS * COLUMNS);
    assert_non_null(bytes);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        bytes[i] = (char)(i % 127);
    snprintf(shape, sizeof shape, "(%d, %d)", ROWS, COLUMNS);
    describe(header, sizeof header, "|i1", false, shape);
    FILE *file = fopen("a.npy", "wb");
    size_t length = strlen(header);
    const char start[10] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, (char)length, 0};
    assert_int_equal(fwrite(start, 1, 10, file), 10);
    assert_int_equal(fwrite(header, 1, length, file), length);
    assert_int_equal(fwrite(bytes, 1, ROWS * COLUMNS, file), ROWS * COLUMNS);
    assert_int_equal(fclose(file), 0);
    rb_matrix *m = read_with("a.npy", NULL);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        assert_true(((const float *)m->values)[i] == (float)(i % 127));
    rb_matrix_free(m);
    free(bytes);
}

/* A file that loses its end while it is in use gives an error, in every order of its numbers. */
static void a_file_that_becomes_shorter_is_reported(void **state) {
    (void)state;
    for (int native = 0; native < 2; native++) {
        for (int transpose = 0; transpose < 2; transpose++) {
            rb_source *source;
            rb_matrix block;
            put_doubles("a.npy", 100, native);
            assert_int_equal(rb_npy_stream(ctx, "a.npy", transpose, &source), RB_OK);
            int64_t last = source->n_samples - 1;
            assert_int_equal(source->read(source, ctx, last, 1, &block), RB_OK);
            assert_int_equal(truncate("a.npy", 200), 0);
            assert_error(ctx, source->read(source, ctx, last, 1, &block), RB_ERROR_FILE,
                         "a.npy: it became shorter");
            rb_source_free(source);
        }
    }
}

/* Memory is needed for blocks, not for the file. */
static void a_file_larger_than_memory_is_streamed(void **state) {
    (void)state;
    enum { COLUMNS = 1000 };
    const int64_t rows = INT64_C(1) << 30; /* 8 TB, nearly all of it a hole */
    char header[128], shape[64];
    double last = 7;
    snprintf(shape, sizeof shape, "(%lld, %d)", (long long)rows, COLUMNS);
    describe(header, sizeof header, *(const char *)&one ? "<f8" : ">f8", false, shape);
    put_npy("a.npy", 1, header, "", 0);
    struct stat info;
    assert_int_equal(stat("a.npy", &info), 0);
    if (truncate("a.npy", info.st_size + rows * COLUMNS * 8))
        skip_without("this file system has no file of 8 TB", "");
    FILE *file = fopen("a.npy", "r+b");
    fseeko(file, info.st_size + rows * COLUMNS * 8 - 8, SEEK_SET);
    fwrite(&last, sizeof last, 1, file);
    fclose(file);
    struct rlimit old, limit;
    getrlimit(RLIMIT_AS, &old);
    limit = old;
    limit.rlim_cur = old.rlim_max == RLIM_INFINITY || old.rlim_max > (INT64_C(1) << 40)
                         ? (rlim_t)1 << 40
                         : old.rlim_max;
#ifdef __SANITIZE_ADDRESS__
    limit = old; /* the sanitizer itself needs the address space */
#endif
    bool limited = setrlimit(RLIMIT_AS, &limit) == 0;
    rb_source *source;
    rb_matrix block;
    rb_error opened = rb_open(ctx, "a.npy", NULL, &source);
    rb_error err = opened ? opened : source->read(source, ctx, rows - 5, 5, &block);
    setrlimit(RLIMIT_AS, &old);
    assert_true(limited);
    assert_int_equal(err, RB_OK);
    assert_true(rb_matrix_at(&block, 4, COLUMNS - 1) == 7);
    assert_true(rb_matrix_at(&block, 4, COLUMNS - 2) == 0);
    rb_source_free(source);
}

static void damaged_headers_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *header;
        rb_error code;
        const char *words;
    } cases[] = {
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)", RB_ERROR_FORMAT, "not end"},
        {"{'descr': '<f8', 'fortran_order': False, }", RB_ERROR_FORMAT, "missing"},
        {"{'descr': '<f8', 'fortran_order': 0, 'shape': (2,)}", RB_ERROR_FORMAT, "fortran_order"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (-2,)}", RB_ERROR_FORMAT, "shape"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': 2}", RB_ERROR_FORMAT, "shape"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': ()}", RB_ERROR_FORMAT, "single number"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3)}", RB_ERROR_FORMAT,
         "empty|0 x 3"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 0)}", RB_ERROR_FORMAT,
         "empty|3 x 0"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (4000000000, 4000000000)}",
         RB_ERROR_FORMAT, "too large"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}",
         RB_ERROR_FORMAT, "shape"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}", RB_ERROR_FORMAT,
         "truncated|2 x 3|48 bytes|8 are there"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", RB_ERROR_UNSUPPORTED, "<c8"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", RB_ERROR_UNSUPPORTED, "|O"},
        {"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}", RB_ERROR_UNSUPPORTED,
         "records"},
        {"{'descr': '<f8', 'order': False, 'shape': (1,)}", RB_ERROR_FORMAT, "unknown key"},
        {"garbage", RB_ERROR_FORMAT, "not a dictionary"},
        {"", RB_ERROR_FORMAT, "not a dictionary"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_npy("a.npy", 1, cases[i].header, "\0\0\0\0\0\0\0\0", 8);
        char words[160];
        snprintf(words, sizeof words, "a.npy|%s", cases[i].words[0] == '|' ? "O" : cases[i].words);
        refuse("a.npy", cases[i].code, words);
    }
    put_bytes("a.npy", "\x93NUMPY\x01\x00\xFF\xFF{", 11);
    refuse("a.npy", RB_ERROR_FORMAT, "a.npy|longer than the file");
    put_bytes("a.npy", "\x93NUMPY\x01", 7);
    refuse("a.npy", RB_ERROR_FORMAT, "a.npy|too early");
    put_npy("a.npy", 9, "{}", "", 0);
    refuse("a.npy", RB_ERROR_UNSUPPORTED, "a.npy|version 9");
}

static void a_compressed_file_says_what_to_do(void **state) {
    (void)state;
    put_gzip("a.npy.gz", "\x93NUMPY\x01");
    refuse("a.npy.gz", RB_ERROR_UNSUPPORTED, "a.npy.gz|gunzip");
}

static void every_failed_allocation_is_reported(void **state) {
    (void)state;
    char header[128];
    put_doubles("a.npy", 4, true);
    fail_every_allocation("a.npy");
    describe(header, sizeof header, "|u1", false, "(2, 3)");
    put_npy("a.npy", 1, header, "abcdef", 6);
    fail_every_allocation("a.npy");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_types_and_byte_orders),
        cmocka_unit_test(halves_of_every_kind),
        cmocka_unit_test(versions_and_dimensions),
        cmocka_unit_test(blocks_are_the_rows),
        cmocka_unit_test(large_blocks_are_converted_in_pieces),
        cmocka_unit_test(a_file_that_becomes_shorter_is_reported),
        cmocka_unit_test(a_file_larger_than_memory_is_streamed),
        cmocka_unit_test(damaged_headers_are_refused),
        cmocka_unit_test(a_compressed_file_says_what_to_do),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return run_each(tests, sizeof tests / sizeof *tests, enter, leave);
}
