/* Fields that add up: energies cost one vector addition for each state with children.
 *
 * With c_i = e of candidate i alone and g_ij = (beta / sigma^2) G_ij:
 *   e(s + k) = e(s) + f_s[k],   f_0 = c,   f_{s+k} = f_s - g_k
 */
#include "engine.h"

void et_linear_energies(const et_engine *engine, const et_tree *tree, const et_sample *sample) {
    int h = tree->candidates;
    double *f = sample->work, *g = sample->gram, *energy = sample->energy;
    const int32_t *candidates = sample->candidates;
    for (int i = 0; i < h; i++) {
        f[i] = sample->single[candidates[i]];
        const double *row = rb_dense_row(engine->gram, candidates[i]);
        for (int j = i + 1; tree->max_active > 1 && j < h; j++) {
            g[(int64_t)i * h + j] = engine->scale * row[candidates[j]];
        }
    }
    energy[0] = 0;
    for (int64_t s = 0; s < tree->inner; s++) {
        const double *from = f + s * h;
        int64_t child = tree->child[s];
        int first = tree->last[s] + 1;
        for (int k = first; k < h; k++) {
            energy[child + k] = energy[s] + from[k];
        }
        for (int k = first; k < h && child + k < tree->inner; k++) {
            double *to = f + (child + k) * h;
            const double *less = g + (int64_t)k * h;
            for (int j = k + 1; j < h; j++) {
                to[j] = from[j] - less[j];
            }
        }
    }
}

void et_linear_decode(rb_dense fields, const double *codes, double *row) {
    for (int64_t d = 0; d < fields.cols; d++) {
        row[d] = 0;
    }
    for (int64_t h = 0; h < fields.rows; h++) {
        const double *field = rb_dense_row(fields, h);
        for (int64_t d = 0; codes[h] != 0 && d < fields.cols; d++) {
            row[d] += codes[h] * field[d];
        }
    }
}
