/* Sums over groups of samples, added in a fixed binary tree,
 *     ((1 + 2) + (3 + 4)) + ((5 + 6) + (7 + 8)),
 * so that a process that has one of 2^p equal parts of the groups adds up a whole branch of it, and
 * 1, 2, 4 ... processes give the same bits. */
#include "base.h"

#include <string.h>

enum { TASK_VALUES = 1 << 15 };

/* Eight groups are always possible; more where the stack of the tree stays below 64 MB. */
enum { DEPTH_ALWAYS = 3, STACK_BYTES = 1 << 26 };

int64_t rb_tree_groups(int64_t samples, int64_t block_samples, int64_t fewest, int64_t values) {
    int64_t blocks = (samples + block_samples - 1) / block_samples, groups = 1;
    for (int depth = 1; depth <= RB_TREE_DEPTH_MAX; depth++) {
        bool small = (depth + 1) * 8.0 * (double)values <= STACK_BYTES || depth <= DEPTH_ALWAYS;
        if (!small || 2 * groups > blocks || samples / (2 * groups) < fewest) break;
        groups *= 2;
    }
    return groups;
}

void rb_tree_begin_of(rb_tree *tree, rb_context *ctx, int64_t count, size_t size,
                      rb_combine_fn fn) {
    if (tree->count != count || tree->size != size) rb_tree_free(tree);
    tree->ctx = ctx;
    tree->count = count;
    tree->size = size;
    tree->fn = fn;
    tree->waiting = 0;
}

void rb_tree_begin(rb_tree *tree, rb_context *ctx, int64_t count) {
    rb_tree_begin_of(tree, ctx, count, sizeof(double), rb_add_all);
}

void *rb_tree_next(rb_tree *tree) {
    void **values = &tree->stack[tree->waiting];
    if (!*values) *values = rb_alloc(tree->ctx, tree->count, tree->size);
    return *values;
}

struct adding {
    char *to;
    const char *values;
    int64_t count, size;
    rb_combine_fn fn;
};

static void add_some(void *arg, int64_t task, int worker) {
    const struct adding *a = arg;
    int64_t first = task * TASK_VALUES, skip = first * a->size;
    a->fn(rb_smaller(a->count - first, TASK_VALUES), a->to + skip, a->values + skip);
}

static void add_on_all_threads(rb_context *ctx, struct adding a) {
    rb_parallel(ctx, (a.count + TASK_VALUES - 1) / TASK_VALUES, add_some, &a);
}

void rb_add_values(rb_context *ctx, int64_t count, double *to, const double *values) {
    add_on_all_threads(ctx, (struct adding){(char *)to, (const char *)values, count,
                                            (int64_t)sizeof *values, rb_add_all});
}

static void join_last(rb_tree *tree) {
    tree->waiting--;
    add_on_all_threads(tree->ctx,
                       (struct adding){tree->stack[tree->waiting - 1], tree->stack[tree->waiting],
                                       tree->count, (int64_t)tree->size, tree->fn});
}

void rb_tree_join(rb_tree *tree) {
    tree->rank[tree->waiting++] = 0;
    while (tree->waiting > 1 && tree->rank[tree->waiting - 1] == tree->rank[tree->waiting - 2]) {
        join_last(tree);
        tree->rank[tree->waiting - 1]++;
    }
}

rb_error rb_tree_close(rb_tree *tree) {
    if (tree->waiting == 0) { /* a process without samples */
        if (!rb_tree_next(tree)) return RB_ERROR_MEMORY;
        memset(tree->stack[0], 0, (size_t)tree->count * tree->size);
    }
    while (tree->waiting > 1) /* where their number is no power of two */
        join_last(tree);
    return RB_OK;
}

void *rb_tree_end(rb_tree *tree) {
    rb_comm_combine(tree->ctx, tree->stack[0], tree->count, tree->size, tree->fn);
    return tree->stack[0];
}

void rb_tree_free(rb_tree *tree) {
    for (int i = 0; i <= RB_TREE_DEPTH_MAX; i++)
        rb_free(tree->stack[i]);
    *tree = (rb_tree){0};
}

void rb_add_groups(rb_context *ctx, int64_t count, int64_t groups, const double *parts,
                   double *sums) {
    for (int64_t i = 0; i < count; i++) {
        double part[1 << RB_TREE_DEPTH_MAX] = {0};
        for (int64_t g = 0; g < groups; g++)
            part[g] = parts[i * groups + g];
        for (int64_t step = 1; step < groups; step *= 2)
            for (int64_t g = 0; g + step < groups; g += 2 * step)
                part[g] += part[g + step];
        sums[i] = part[0];
    }
    rb_comm_add(ctx, count, sums);
}
