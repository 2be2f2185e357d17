/* The states of the candidates as a tree. */
#include "engine.h"

enum { MAX_STATES = 1 << 22 };

/* How many states have at most max_active of `candidates` causes, and at most max_active - 1; false
 * when they are too many. */
static bool count_states(int64_t candidates, int64_t max_active, int64_t *count, int64_t *inner) {
    double of_size = 1, sum = 1, before = 0;
    for (int64_t k = 1; k <= max_active; k++) {
        before = sum;
        of_size = of_size * (double)(candidates - k + 1) / (double)k;
        sum += of_size;
        if (sum > MAX_STATES) {
            return false;
        }
    }
    /* Binomial coefficients below 2^22 are exact up to rounding that cannot reach 1/2. */
    *count = (int64_t)(sum + 0.5);
    *inner = (int64_t)(before + 0.5);
    return true;
}

bool et_tree_fits(int64_t candidates, int64_t max_active) {
    int64_t count, inner;
    return count_states(candidates, max_active, &count, &inner);
}

rb_error et_tree_check(rb_context *ctx, int64_t candidates, int64_t max_active) {
    return et_tree_fits(candidates, max_active)
               ? RB_OK
               : rb_fail(
                     ctx, RB_ERROR_ARGUMENT,
                     "%lld candidates with up to %lld active are more than %d states per sample; "
                     "lower candidates or max-active, or their limits",
                     (long long)candidates, (long long)max_active, (int)MAX_STATES);
}

rb_error et_tree_new(rb_context *ctx, int64_t candidates, int64_t max_active, et_tree *tree) {
    *tree = (et_tree){0};
    rb_error err = et_tree_check(ctx, candidates, max_active);
    if (err) {
        return err;
    }
    count_states(candidates, max_active, &tree->count, &tree->inner);
    tree->candidates = (int)candidates;
    tree->max_active = (int)max_active;
    tree->last = rb_alloc(ctx, tree->count, sizeof *tree->last);
    tree->parent = rb_alloc(ctx, tree->count, sizeof *tree->parent);
    tree->size = rb_alloc(ctx, tree->count, sizeof *tree->size);
    tree->child = rb_alloc(ctx, tree->inner, sizeof *tree->child);
    if (!tree->last || !tree->parent || !tree->size || !tree->child) {
        et_tree_free(tree);
        return RB_ERROR_MEMORY;
    }
    tree->last[0] = tree->parent[0] = -1;
    tree->size[0] = 0;
    int64_t next = 1;
    for (int64_t s = 0; s < tree->inner; s++) {
        int32_t first = tree->last[s] + 1;
        tree->child[s] = next - first;
        for (int32_t k = first; k < candidates; k++, next++) {
            tree->last[next] = k;
            tree->parent[next] = (int32_t)s;
            tree->size[next] = tree->size[s] + 1;
        }
    }
    return RB_OK;
}

void et_tree_free(et_tree *tree) {
    rb_free(tree->last);
    rb_free(tree->parent);
    rb_free(tree->size);
    rb_free(tree->child);
    *tree = (et_tree){0};
}
