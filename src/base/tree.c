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

void rb_tree_begin(rb_tree *tree, rb_context *ctx, int64_t count) {
    if (tree->count != count) rb_tree_free(tree);
    tree->ctx = ctx;
    tree->count = count;
    tree->waiting = 0;
}

double *rb_tree_next(rb_tree *tree) {
    double **values = &tree->stack[tree->waiting];
    if (!*values) *values = rb_alloc(tree->ctx, tree->count, sizeof **values);
    return *values;
}

struct adding {
    double *to;
    const double *values;
    int64_t count;
};

static void add_some(void *arg, int64_t task, int worker) {
    (void)worker;
    const struct adding *a = arg;
    int64_t first = task * TASK_VALUES, end = first + rb_smaller(a->count - first, TASK_VALUES);
    for (int64_t i = first; i < end; i++)
        a->to[i] += a->values[i];
}

void rb_add_values(rb_context *ctx, int64_t count, double *to, const double *values) {
    rb_parallel(ctx, (count + TASK_VALUES - 1) / TASK_VALUES, add_some,
                &(struct adding){to, values, count});
}

static void join_last(rb_tree *tree) {
    tree->waiting--;
    rb_add_values(tree->ctx, tree->count, tree->stack[tree->waiting - 1],
                  tree->stack[tree->waiting]);
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
        memset(tree->stack[0], 0, (size_t)tree->count * sizeof(double));
    }
    while (tree->waiting > 1) /* where their number is no power of two */
        join_last(tree);
    return RB_OK;
}

double *rb_tree_end(rb_tree *tree) {
    rb_comm_add(tree->ctx, tree->count, tree->stack[0]);
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
