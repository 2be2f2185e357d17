/* Shuffled sources: every sample once, each order equally likely, piece by piece where samples
 * cannot be had at random. */
#include "fixture.h"

enum { N = 1000 };

static rb_stream stream_of(uint64_t seed) {
    return (rb_stream){seed, RB_RANDOM_SHUFFLE, 0};
}

/* Reads all samples, `step` at a time; their first values. */
static void read_all(rb_context *ctx, rb_source *source, int64_t step, double *out) {
    for (int64_t first = 0; first < rb_source_samples(source); first += step) {
        int64_t left = rb_source_samples(source) - first, count = left < step ? left : step;
        rb_matrix view;
        assert_ok(ctx, source->read(source, ctx, first, count, &view));
        for (int64_t i = 0; i < count; i++)
            out[first + i] = rb_matrix_at(&view, i, 0);
    }
}

static void assert_each_once(const double *order, int64_t n) {
    bool *seen = calloc((size_t)n, sizeof *seen);
    for (int64_t i = 0; i < n; i++) {
        assert_false(seen[(int64_t)order[i]]);
        seen[(int64_t)order[i]] = true;
    }
    free(seen);
}

/* The order does not depend on how it is read; unshuffled it is that of the data. */
static void in_memory(void **state) {
    rb_context *ctx = *state;
    double numbers[2 * N], order[N], other[N];
    rb_matrix *matrix;
    rb_source *source, *shuffled;
    for (int64_t i = 0; i < N; i++)
        numbers[i] = (double)i; /* by columns, so that rows are not contiguous */
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, N, 2, numbers, 1, N, &matrix));
    assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
    assert_ok(ctx, rb_source_shuffled(ctx, source, &shuffled));
    read_all(ctx, shuffled, 7, order);
    for (int64_t i = 0; i < N; i++)
        assert_true(order[i] == (double)i);
    rb_source_shuffle(shuffled, stream_of(1));
    read_all(ctx, shuffled, 7, order);
    assert_each_once(order, N);
    read_all(ctx, shuffled, N, other);
    assert_memory_equal(order, other, sizeof order);
    rb_source_shuffle(shuffled, stream_of(2));
    read_all(ctx, shuffled, 100, other);
    assert_each_once(other, N);
    assert_memory_not_equal(order, other, sizeof order);
    rb_source_unshuffle(shuffled);
    read_all(ctx, shuffled, 100, other);
    assert_true(other[17] == 17);
    rb_source_free(shuffled);
    rb_source_free(source);
    rb_matrix_free(matrix);
}

/* Of 24 orders of 4 samples each comes up in 24000 draws 1000 times; standard error 31. */
static void uniform(void **state) {
    enum { DRAWS = 24000 };
    rb_context *ctx = *state;
    double numbers[4] = {0, 1, 2, 3}, order[4];
    int counts[256] = {0}, orders = 0;
    rb_matrix *matrix;
    rb_source *source, *shuffled;
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, 4, 1, numbers, 1, 1, &matrix));
    assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
    assert_ok(ctx, rb_source_shuffled(ctx, source, &shuffled));
    for (uint64_t d = 0; d < DRAWS; d++) {
        rb_source_shuffle(shuffled, stream_of(d));
        read_all(ctx, shuffled, 4, order);
        counts[(int)(order[0] + 4 * order[1] + 16 * order[2] + 64 * order[3])]++;
    }
    for (int i = 0; i < 256; i++) {
        orders += counts[i] > 0;
        assert_true(counts[i] == 0 || abs(counts[i] - DRAWS / 24) < 5 * 31);
    }
    assert_int_equal(orders, 24);
    rb_source_free(shuffled);
    rb_source_free(source);
    rb_matrix_free(matrix);
}

/* 2^17 features: pieces of 32 samples. */
enum { WIDE = 1 << 17, PIECE = 32, SAMPLES = 3 * PIECE + 5 };

struct calls {
    int64_t count, max;
    bool fails;
};

static rb_error read_wide(void *user, int64_t first, int64_t count, void *rows) {
    struct calls *calls = user;
    calls->count++;
    calls->max = count > calls->max ? count : calls->max;
    for (int64_t i = 0; i < count; i++)
        ((float *)rows)[i * WIDE] = (float)(first + i);
    return calls->fails ? RB_ERROR_FILE : RB_OK;
}

/* Pieces are read whole, once each, in an order of their own, and shuffled within. */
static void by_pieces(void **state) {
    rb_context *ctx = *state;
    struct calls calls = {0, 0, false};
    double order[SAMPLES], other[SAMPLES];
    rb_source *source, *shuffled;
    assert_ok(ctx,
              rb_source_from_callback(ctx, RB_FLOAT32, SAMPLES, WIDE, read_wide, &calls, &source));
    assert_ok(ctx, rb_source_shuffled(ctx, source, &shuffled));
    rb_source_shuffle(shuffled, stream_of(3));
    read_all(ctx, shuffled, 10, order);
    assert_int_equal(calls.count, 4);
    assert_int_equal(calls.max, PIECE);
    assert_each_once(order, SAMPLES);
    int64_t changes = 0, ascending = 0;
    for (int64_t i = 1; i < SAMPLES; i++) {
        changes += (int64_t)order[i] / PIECE != (int64_t)order[i - 1] / PIECE;
        ascending += order[i] == order[i - 1] + 1;
    }
    assert_int_equal(changes, 3);
    assert_in_range(ascending, 0, 10);
    read_all(ctx, shuffled, 33, other);
    assert_memory_equal(order, other, sizeof order);
    rb_matrix view;
    rb_source_shuffle_within(shuffled, 10, 2 * PIECE); /* those of a process */
    rb_source_shuffle(shuffled, stream_of(3));
    for (int64_t i = 0; i < 2 * PIECE; i++) {
        assert_ok(ctx, shuffled->read(shuffled, ctx, 10 + i, 1, &view));
        order[i] = rb_matrix_at(&view, 0, 0) - 10;
        assert_in_range(order[i], 0, 2 * PIECE - 1);
    }
    assert_each_once(order, 2 * PIECE);
    calls.fails = true;
    assert_int_equal(shuffled->read(shuffled, ctx, 10, 3, &view), RB_ERROR_FILE);
    rb_source_free(shuffled);
    rb_source_free(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_memory),
        cmocka_unit_test(uniform),
        cmocka_unit_test(by_pieces),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
