/* The states around the most probable one (Luecke and Eggert 2010, section 5.3): a set K_n that
 * shrinks to one state, or to those that differ from it in few causes. */
#include "engine.h"

#include <math.h>

/* What an item adds to the number of causes in which a state differs from another. */
static int32_t change(int64_t units, int64_t item, int size, const int64_t *items) {
    for (int k = 0; k < size; k++) {
        if (items[k] == item) return -1;
        if (items[k] % units == item % units) return 0; /* with another value */
    }
    return 1;
}

void et_keep_region(const et_engine *engine, const et_tree *tree, et_scratch *scratch,
                    const et_sample *sample, int l, int size, const int64_t *items) {
    const et_setup *setup = &engine->setup;
    int32_t *apart = scratch->apart;
    double *single = rb_dense_row(scratch->single, l);
    for (int64_t s = 0; s < tree->count; s++) {
        apart[s] = s == 0
                       ? size
                       : apart[tree->parent[s]] +
                             change(setup->units, sample->candidates[tree->last[s]], size, items);
        if (apart[s] > setup->region) scratch->energy[s * ET_LANES + l] = -HUGE_VAL;
    }
    for (int64_t i = 0; i < setup->items; i++)
        if (size + change(setup->units, i, size, items) > setup->region) single[i] = -HUGE_VAL;
}
