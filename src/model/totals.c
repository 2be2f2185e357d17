/* Sums over the samples of a feed, as metrics need them: in groups of whole blocks, which are added
 * in a tree (src/base/tree.c). Each of several processes has its share of the groups, and all get
 * the sums. */
#include "model.h"

/* A tree of more values than that, 32 MB, would cost more than it gives: they are added by one. */
enum { MOST_VALUES = 1 << 22 };

static int64_t count_values(const rb_total *totals) {
    int64_t count = 0;
    for (; totals->values; totals++)
        count += totals->count;
    return count;
}

static double get(const rb_total *t, int64_t i) {
    return t->type == RB_KEPT_INTEGER ? (double)((const int64_t *)t->values)[i]
           : t->type == RB_KEPT_FLAG  ? ((const bool *)t->values)[i]
                                      : rb_get((rb_type)t->type, t->values, i);
}

static void put(const rb_total *t, int64_t i, double value) {
    if (t->type == RB_KEPT_INTEGER)
        ((int64_t *)t->values)[i] = (int64_t)value;
    else if (t->type == RB_KEPT_FLAG)
        ((bool *)t->values)[i] = value > 0;
    else
        rb_put((rb_type)t->type, t->values, i, value);
}

/* Totals go to `sums` and become 0. */
static void take(const rb_total *totals, double *sums) {
    for (; totals->values; totals++) {
        for (int64_t i = 0; i < totals->count; i++) {
            *sums++ = get(totals, i);
            put(totals, i, 0);
        }
    }
}

static void give(const rb_total *totals, const double *sums) {
    for (; totals->values; totals++)
        for (int64_t i = 0; i < totals->count; i++)
            put(totals, i, *sums++);
}

static int64_t block_samples_of(const rb_adding *a) {
    return rb_smaller(a->block_samples, rb_tree_fewest(false));
}

static rb_error add_blocks(rb_context *ctx, void *user, int64_t groups, int64_t group) {
    const rb_adding *a = user;
    int64_t n = rb_feed_samples(a->feed), size = block_samples_of(a);
    int64_t end = rb_group_block(n, size, groups, group + 1);
    rb_error err = RB_OK;
    for (int64_t b = rb_group_block(n, size, groups, group); !err && b < end; b++) {
        rb_block block;
        err = rb_feed_read(ctx, a->feed, b * size, rb_smaller(n - b * size, size), &block);
        err = err ? err : a->fn(ctx, a->user, &block);
    }
    return err;
}

int64_t rb_totals_groups(const rb_total *totals, int64_t samples, int64_t block_samples,
                         int64_t fewest) {
    int64_t count = count_values(totals);
    return count > MOST_VALUES ? 1 : rb_tree_groups(samples, block_samples, fewest, count);
}

rb_error rb_totals_add(rb_context *ctx, const rb_total *totals, int64_t groups, bool alone,
                       rb_group_fn fn, void *user) {
    int64_t rank = alone ? 0 : rb_rank(ctx), ranks = alone ? 1 : rb_ranks(ctx);
    rb_tree tree = {0};
    rb_error err = RB_OK;
    if (groups == 1 && rb_ranks(ctx) == 1) return fn(ctx, user, 1, 0);
    rb_tree_begin(&tree, ctx, count_values(totals));
    for (int64_t g = rb_group_of(groups, rank, ranks);
         !err && g < rb_group_of(groups, rank + 1, ranks); g++) {
        double *sums = rb_tree_next(&tree);
        err = sums ? fn(ctx, user, groups, g) : RB_ERROR_MEMORY;
        if (!err) take(totals, sums);
        if (!err) rb_tree_join(&tree);
    }
    err = rb_comm_agree(ctx, err ? err : rb_tree_close(&tree));
    if (!err) give(totals, alone ? tree.stack[0] : rb_tree_end(&tree));
    rb_tree_free(&tree);
    return err;
}

rb_error rb_feed_add(rb_context *ctx, const rb_adding *a, bool alone) {
    int64_t groups = rb_totals_groups(a->totals, rb_feed_samples(a->feed), block_samples_of(a),
                                      rb_tree_fewest(false));
    return rb_totals_add(ctx, a->totals, groups, alone, add_blocks, (void *)a);
}
