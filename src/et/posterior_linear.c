/* Fields that add up: energies of all states from those of single causes and G, by the kernel. */
#include "engine.h"

#include <string.h>

/* The same for a sample that lacks values: its G is that of the packed fields. */
static void place_packed(const et_engine *engine, const et_tree *tree, et_scratch *scratch,
                         const et_sample *sample, int l) {
    int h = tree->candidates;
    bool pairs = tree->max_active > 1;
    for (int i = 0; i < h; i++) {
        const double *field =
            et_field(engine, sample, sample->candidates[i], rb_dense_row(scratch->fields, i));
        scratch->start[i * ET_LANES + l] = sample->single[sample->candidates[i]];
        for (int j = 0; pairs && j < i; j++) {
            double product =
                engine->kernels->dot(sample->n, rb_dense_row(scratch->fields, j), field);
            scratch->gram[((int64_t)j * h + i) * ET_LANES + l] = engine->scale * product;
        }
    }
}

void et_linear_energies(const et_engine *engine, const et_tree *tree, et_scratch *scratch,
                        const et_sample *samples, int count) {
    int h = tree->candidates;
    bool pairs = tree->max_active > 1;
    memset(scratch->start, 0, (size_t)(h * ET_LANES) * sizeof *scratch->start);
    for (int l = 0; l < count; l++) {
        const int32_t *candidates = samples[l].candidates;
        if (samples[l].places) {
            place_packed(engine, tree, scratch, &samples[l], l);
            continue;
        }
        for (int i = 0; i < h; i++) {
            scratch->start[i * ET_LANES + l] = samples[l].single[candidates[i]];
            const double *row = rb_dense_row(engine->gram, candidates[i]);
            double *g = scratch->gram + (int64_t)i * h * ET_LANES + l;
            for (int j = i + 1; pairs && j < h; j++) {
                g[(int64_t)j * ET_LANES] = engine->scale * row[candidates[j]];
            }
        }
    }
    engine->kernels->energies(tree, scratch->start, scratch->gram, scratch->work, scratch->energy);
}
