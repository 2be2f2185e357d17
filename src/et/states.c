/* The states of the candidates as a tree: each active cause at one of its values. */
#include "engine.h"

enum { MAX_STATES = 1 << 22 };

/* Binomial coefficients below 2^22 are exact up to rounding that cannot reach 1/2. */
double et_count_states(int64_t candidates, int64_t max_active, int64_t values) {
    const double any_memory = 1e15;
    double of_size = 1, sum = 1;
    for (int64_t k = 1; k <= max_active && sum < any_memory; k++) {
        of_size = of_size * (double)((candidates - k + 1) * values) / (double)k;
        sum += of_size;
    }
    return sum;
}

bool et_tree_fits(int64_t candidates, int64_t max_active, int64_t values) {
    return et_count_states(candidates, max_active, values) <= MAX_STATES;
}

rb_error et_tree_check(rb_context *ctx, int64_t candidates, int64_t max_active, int64_t values) {
    if (et_tree_fits(candidates, max_active, values)) return RB_OK;
    return rb_fail(ctx, RB_ERROR_ARGUMENT,
                   "%lld candidates with up to %lld active are more than %d states per sample; "
                   "lower `candidates` or `max-active`, or their limits",
                   (long long)candidates, (long long)max_active, (int)MAX_STATES);
}

void et_tree_new(rb_scratch *memory, int64_t candidates, int64_t max_active, int values,
                 et_tree *tree) {
    *tree = (et_tree){.candidates = (int)candidates,
                      .max_active = (int)max_active,
                      .items = (int)candidates * values};
    tree->count = (int64_t)(et_count_states(candidates, max_active, values) + 0.5);
    tree->inner = (int64_t)(et_count_states(candidates, max_active - 1, values) + 0.5);
    tree->last = rb_take(memory, tree->count, sizeof *tree->last);
    tree->first = rb_take(memory, tree->count, sizeof *tree->first);
    tree->parent = rb_take(memory, tree->count, sizeof *tree->parent);
    tree->size = rb_take(memory, tree->count, sizeof *tree->size);
    tree->child = rb_take(memory, tree->inner, sizeof *tree->child);
    if (memory->err) return;
    tree->last[0] = tree->parent[0] = -1;
    int64_t next = 1;
    for (int64_t s = 0; s < tree->inner; s++) {
        int32_t first = tree->first[s];
        tree->child[s] = next - first;
        for (int32_t k = first; k < tree->items; k++, next++) {
            tree->last[next] = k;
            tree->first[next] = (k / values + 1) * values;
            tree->parent[next] = (int32_t)s;
            tree->size[next] = tree->size[s] + 1;
        }
    }
}
