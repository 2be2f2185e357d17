/* Blocks that a feed keeps: the same bits as those it makes anew, and no more of them than fit. */
#include "fixture.h"

#include "data/data.h"

#include <math.h>
#include <string.h>

enum { N = 230, M = 7, BLOCK = 50, BLOCKS = 5 };

/* Counts, of which each read overwrites the ones before. */
struct counts {
    float stored[N * M];
    int64_t starts[N + 1];
    int32_t columns[N * M];
    int reads;
};

static float count_at(int64_t sample, int64_t k) {
    return (float)((sample * 5 + k * k * 3) % 4);
}

static rb_error read_dense(void *user, int64_t first, int64_t count, void *rows) {
    struct counts *c = user;
    c->reads++;
    for (int64_t e = 0; e < count * M; e++)
        ((float *)rows)[e] = count_at(first + e / M, e % M);
    return RB_OK;
}

static rb_error read_sparse(void *user, int64_t first, int64_t count, const int64_t **starts,
                            const int32_t **columns, const void **values) {
    struct counts *c = user;
    int64_t e = 0;
    c->reads++;
    for (int64_t i = 0; i < count; i++) {
        c->starts[i] = e;
        for (int32_t k = 0; k < M; k++) {
            if (count_at(first + i, k) == 0) continue;
            c->columns[e] = k;
            c->stored[e++] = count_at(first + i, k);
        }
    }
    c->starts[count] = e;
    *starts = c->starts;
    *columns = c->columns;
    *values = c->stored;
    return RB_OK;
}

struct kept {
    rb_context *ctx;
    struct counts counts;
    rb_source *source;
    rb_preprocess *p;
    rb_feed *feed;
};

static void begin(struct kept *k, bool sparse, bool changes) {
    memset(k, 0, sizeof *k);
    k->ctx = fixture_context();
    assert_ok(k->ctx, sparse ? rb_source_from_csr_callback(k->ctx, RB_FLOAT32, N, M, read_sparse,
                                                           &k->counts, &k->source)
                             : rb_source_from_callback(k->ctx, RB_FLOAT32, N, M, read_dense,
                                                       &k->counts, &k->source));
    rb_preprocess_options o;
    rb_preprocess_options_default(&o);
    o.centre = RB_CENTRE_NONE;
    o.log1p = changes;
    o.totals = changes ? 100 : 0;
    assert_ok(k->ctx, rb_preprocess_fit(k->ctx, &o, k->source, &k->p));
    assert_ok(k->ctx, rb_feed_new(k->ctx, k->p, k->source, RB_FLOAT32, &k->feed));
    rb_feed_trust(k->feed);
    k->counts.reads = 0;
}

static void end(struct kept *k) {
    rb_feed_free(k->feed);
    rb_preprocess_free(k->p);
    rb_source_free(k->source);
    rb_context_free(k->ctx);
}

/* All values of a walk over the blocks. */
static void walk(struct kept *k, float values[N * M]) {
    for (int64_t first = 0; first < N; first += BLOCK) {
        rb_block block;
        int64_t count = rb_smaller(N - first, BLOCK);
        assert_ok(k->ctx, rb_feed_read(k->ctx, k->feed, first, count, &block));
        assert_int_equal(block.first, first);
        rb_block_rows(&block, 0, (rb_dense){values + first * M, count, M, M, RB_FLOAT32});
    }
}

/* Reads of three walks where `bytes` may be kept. */
static int reads_of_walks(bool sparse, bool changes, double bytes) {
    static float plain[N * M], values[N * M];
    struct kept k;
    begin(&k, sparse, changes);
    walk(&k, plain);
    k.counts.reads = 0;
    rb_feed_cache(k.ctx, k.feed, BLOCK, bytes);
    for (int i = 0; i < 3; i++) {
        walk(&k, values);
        assert_memory_equal(values, plain, sizeof plain);
    }
    int reads = k.counts.reads;
    end(&k);
    return reads;
}

static void keeps_what_fits(void **state) {
    (void)state;
    double block = BLOCK * M * sizeof(float), last = (N % BLOCK) * M * sizeof(float);
    for (int changes = 0; changes < 2; changes++) {
        assert_int_equal(reads_of_walks(false, changes, 0), 3 * BLOCKS);
        assert_int_equal(reads_of_walks(false, changes, 1e9), BLOCKS);
        assert_int_equal(reads_of_walks(false, changes, 2 * block), BLOCKS + 2 * (BLOCKS - 2));
        assert_int_equal(reads_of_walks(false, changes, last), BLOCKS + 2 * (BLOCKS - 1));
        assert_int_equal(reads_of_walks(true, changes, 1e9), BLOCKS);
        assert_int_equal(reads_of_walks(true, changes, 0), 3 * BLOCKS);
    }
}

/* Other samples than those of a kept block are read. */
static void other_blocks_are_read(void **state) {
    (void)state;
    struct kept k;
    rb_block block;
    begin(&k, false, true);
    rb_feed_cache(k.ctx, k.feed, BLOCK, 1e9);
    static const int64_t firsts[] = {0, 50, 50, 50, 60}, counts[] = {50, 50, 20, 50, 50};
    static const int reads[] = {1, 2, 3, 3, 4};
    for (int i = 0; i < 5; i++) {
        assert_ok(k.ctx, rb_feed_read(k.ctx, k.feed, firsts[i], counts[i], &block));
        assert_int_equal(block.n_samples, counts[i]);
        assert_int_equal(k.counts.reads, reads[i]);
    }
    end(&k);
}

/* Where memory is out fewer blocks are kept, and all are right. */
static void memory_may_be_out(void **state) {
    (void)state;
    static float plain[N * M], values[N * M];
    for (int sparse = 0; sparse < 2; sparse++) {
        for (int64_t n = 0; n < 24; n++) {
            struct kept k;
            begin(&k, sparse == 1, true);
            walk(&k, plain);
            k.ctx->allocations_left = n;
            rb_feed_cache(k.ctx, k.feed, BLOCK, 1e9);
            walk(&k, values);
            walk(&k, values);
            assert_memory_equal(values, plain, sizeof plain);
            k.ctx->allocations_left = -1;
            end(&k);
        }
    }
}

/* What lies in memory is not copied where nothing changes. */
static void views_stay_views(void **state) {
    (void)state;
    rb_context *ctx = fixture_context();
    float values[N * M] = {0};
    rb_matrix *matrix;
    rb_source *source;
    rb_preprocess *p;
    rb_preprocess_options o;
    rb_feed *feed;
    rb_block block;
    rb_preprocess_options_default(&o);
    o.centre = RB_CENTRE_NONE;
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT32, N, M, values, M, 1, &matrix));
    assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
    assert_ok(ctx, rb_preprocess_fit(ctx, &o, source, &p));
    assert_ok(ctx, rb_feed_new(ctx, p, source, RB_FLOAT32, &feed));
    rb_feed_trust(feed);
    rb_feed_cache(ctx, feed, BLOCK, 1e9);
    assert_ok(ctx, rb_feed_read(ctx, feed, BLOCK, BLOCK, &block));
    assert_ptr_equal(block.dense.data, values + BLOCK * M);
    rb_feed_free(feed);
    rb_preprocess_free(p);
    rb_source_free(source);
    rb_matrix_free(matrix);
    rb_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_what_fits),
        cmocka_unit_test(other_blocks_are_read),
        cmocka_unit_test(memory_may_be_out),
        cmocka_unit_test(views_stay_views),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
