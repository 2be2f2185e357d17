/* Reading ahead: the same blocks, errors where they belong, and one thread at a time that asks. */
#include "fixture.h"

#include "data/data.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

enum { N = 1000, M = 5, BLOCK = 96, FAILS_AT = 480 };

/* Two buffers where blocks are read ahead, each wiped before it is read into: a view that is used
 * too long shows. */
struct asked {
    float buffers[2][BLOCK * M];
    atomic_int inside;
    int reads, elsewhere; /* all, and those by another thread than the caller's */
    bool fails;
    pthread_t caller;
};

static rb_error give(rb_source *source, rb_context *ctx, int64_t first, int64_t count,
                     rb_matrix *view) {
    struct asked *a = source->state;
    assert_int_equal(atomic_fetch_add(&a->inside, 1), 0);
    float *rows = a->buffers[source->ahead ? a->reads % 2 : 0];
    a->reads++;
    a->elsewhere += !pthread_equal(pthread_self(), a->caller);
    for (int64_t i = 0; i < BLOCK * M; i++)
        rows[i] = i < count * M ? (float)sin((double)(first * M + i)) : NAN;
    *view = (rb_matrix){.n_samples = count,
                        .n_features = M,
                        .type = RB_FLOAT32,
                        .values = rows,
                        .row_stride = M,
                        .column_stride = 1};
    atomic_fetch_sub(&a->inside, 1);
    return a->fails && first >= FAILS_AT
               ? rb_fail(ctx, RB_ERROR_FILE, "sample %lld is gone", (long long)first)
               : RB_OK;
}

struct feeding {
    rb_context *ctx;
    struct asked asked;
    rb_source source;
    rb_preprocess *p;
    rb_feed *feed;
};

static int setup(void **state) {
    struct feeding *f = calloc(1, sizeof *f);
    rb_preprocess_options o;
    rb_preprocess_options_default(&o);
    o.centre = RB_CENTRE_NONE; /* a block is a view of the source's buffer */
    f->ctx = fixture_context();
    f->asked.caller = pthread_self();
    f->source = (rb_source){.n_samples = N,
                            .n_features = M,
                            .type = RB_FLOAT32,
                            .reads_ahead = true,
                            .read = give,
                            .state = &f->asked};
    double *values = fixture_values(N, M, 2, 1);
    rb_source *other = fixture_data(f->ctx, values, N, M);
    assert_ok(f->ctx, rb_preprocess_fit(f->ctx, &o, other, &f->p));
    rb_source_free(other);
    free(values);
    *state = f;
    return 0;
}

static void open_feed(struct feeding *f, int threads) {
    assert_ok(f->ctx, rb_context_set_threads(f->ctx, threads));
    assert_ok(f->ctx, rb_feed_new(f->ctx, f->p, &f->source, RB_FLOAT32, &f->feed));
    rb_feed_trust(f->feed);
    f->asked.reads = f->asked.elsewhere = 0;
}

static int teardown(void **state) {
    struct feeding *f = *state;
    rb_preprocess_free(f->p);
    rb_context_free(f->ctx);
    free(f);
    return 0;
}

static void check_block(struct feeding *f, int64_t first, int64_t count) {
    rb_block block;
    assert_ok(f->ctx, rb_feed_read(f->ctx, f->feed, first, count, &block));
    for (int64_t i = 0; i < count; i++) {
        for (int64_t k = 0; k < M; k++) {
            float expected = (float)sin((double)((first + i) * M + k));
            assert_true((float)rb_dense_get(block.dense, i, k) == expected);
        }
    }
}

/* Walks, a walk that is broken off, parts in any order: always what was asked for. With more than
 * one thread another one reads nearly all of it; with one nobody else does. */
static void blocks_are_those_asked_for(void **state) {
    struct feeding *f = *state;
    for (int threads = 1; threads <= 3; threads++) {
        open_feed(f, threads);
        for (int walk = 0; walk < 3; walk++)
            for (int64_t first = 0; first < N; first += BLOCK)
                check_block(f, first, N - first < BLOCK ? N - first : BLOCK);
        assert_true(threads == 1 ? f->asked.elsewhere == 0
                                 : f->asked.elsewhere >= f->asked.reads - 3);
        check_block(f, 0, BLOCK);
        check_block(f, BLOCK, BLOCK);
        check_block(f, 0, BLOCK);
        check_block(f, 700, 50);
        check_block(f, 20, 90);
        check_block(f, 110, 90);
        rb_feed_free(f->feed);
    }
}

/* A source within another one keeps two blocks, too. */
static void parts_are_read_ahead(void **state) {
    struct feeding *f = *state;
    rb_source *slice, *joined, **parts = rb_alloc(f->ctx, 2, sizeof *parts);
    rb_block block;
    assert_ok(f->ctx, rb_context_set_threads(f->ctx, 2));
    assert_ok(f->ctx, rb_source_slice(f->ctx, &f->source, 0, 3 * BLOCK, &slice));
    assert_ok(f->ctx, rb_source_slice(f->ctx, &f->source, 3 * BLOCK, BLOCK, &parts[1]));
    parts[0] = slice;
    assert_ok(f->ctx, rb_source_join(f->ctx, parts, 2, &joined));
    rb_source *sources[] = {slice, joined};
    for (int i = 0; i < 2; i++) {
        f->source.ahead = false;
        assert_ok(f->ctx, rb_feed_new(f->ctx, f->p, sources[i], RB_FLOAT32, &f->feed));
        assert_ok(f->ctx, rb_feed_read(f->ctx, f->feed, 0, BLOCK, &block));
        rb_feed_free(f->feed);
        assert_true(f->source.ahead);
    }
    rb_source_free(joined);
}

/* The message comes with the block that it is about, and the blocks before it are there. */
static void errors_are_handed_over(void **state) {
    struct feeding *f = *state;
    rb_block block;
    f->asked.fails = true;
    for (int threads = 1; threads <= 2; threads++) {
        open_feed(f, threads);
        for (int64_t first = 0; first < FAILS_AT; first += BLOCK)
            check_block(f, first, BLOCK);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(rb_feed_read(f->ctx, f->feed, FAILS_AT, BLOCK, &block), RB_ERROR_FILE);
            assert_string_equal(rb_context_error(f->ctx), "sample 480 is gone");
        }
        check_block(f, 0, BLOCK);
        rb_feed_free(f->feed); /* with a block on its way */
    }
}

/* A stop is answered before the block that is on its way is waited for. */
static void a_stop_ends_the_walk(void **state) {
    struct feeding *f = *state;
    rb_block block;
    open_feed(f, 2);
    check_block(f, 0, BLOCK);
    rb_context_stop(f->ctx);
    assert_int_equal(rb_feed_read(f->ctx, f->feed, BLOCK, BLOCK, &block), RB_ERROR_STOPPED);
    rb_context_clear_stop(f->ctx);
    check_block(f, BLOCK, BLOCK);
    rb_feed_free(f->feed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_those_asked_for),
        cmocka_unit_test(parts_are_read_ahead),
        cmocka_unit_test(errors_are_handed_over),
        cmocka_unit_test(a_stop_ends_the_walk),
    };
    return run_each(tests, sizeof tests / sizeof *tests, setup, teardown);
}
