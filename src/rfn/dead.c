/* Dead units: no posterior mean is positive over all samples.
 *
 * On the rectified and normalised set the nearest feasible point of such a unit is sqrt(n) for the
 * sample of its largest posterior mean (ties: the first) and 0 elsewhere (Clevert et al. 2015,
 * Theorem 12, eq. 175, which prints the largest unit for the largest sample; Theorem 1 prints
 * sqrt(1/n), whose mean square is not 1). The sample is kept as the pass goes by, so that one pass
 * is enough.
 */
#include "fit.h"

#include <math.h>
#include <string.h>

/* A candidate is the sample, m values, and its codes, l. */
static void *codes_of(void *candidate, rb_type type, int64_t m) {
    return (char *)candidate + m * (int64_t)rb_type_size(type);
}

/* Memory for that of a unit; NULL: out of it. */
static void *candidate_of(rb_context *ctx, rfn_sums *sums, int64_t j) {
    void **candidate = &sums->candidates[j];
    int64_t values = sums->u.rows + sums->s.cols;
    if (!*candidate) *candidate = rb_alloc(ctx, values, rb_type_size(sums->s.type));
    return *candidate;
}

rb_error rfn_take_candidate(rb_context *ctx, rfn_sums *sums, int64_t j, double largest,
                            const rb_block *block, int64_t i, const void *codes) {
    int64_t m = block->n_features, l = sums->s.cols;
    rb_type type = sums->s.type;
    void *candidate = candidate_of(ctx, sums, j);
    if (!candidate) return RB_ERROR_MEMORY;
    sums->place[j] = block->first + i;
    sums->largest[j] = largest;
    rb_block_rows(block, i, (rb_dense){candidate, 1, m, m, type});
    memcpy(codes_of(candidate, type, m), codes, (size_t)l * rb_type_size(type));
    return RB_OK;
}

void rfn_candidates_free(rfn_sums *sums) {
    for (int64_t j = 0; sums->candidates && j < sums->s.cols; j++)
        rb_free(sums->candidates[j]);
    rb_free(sums->candidates);
}

/* What the process that has the sample of a dead unit knows of it comes to all. */
rb_error rfn_share_candidates(rb_context *ctx, const rb_problem *problem,
                              const rfn_progress *progress, rfn_sums *sums) {
    int64_t l = sums->s.cols;
    int64_t values = sums->u.rows + l;
    bool held = true;
    if (rb_ranks(ctx) == 1) return RB_OK;
    for (int64_t j = 0; j < l; j++)
        if (!progress->alive[j] && sums->place[j] >= 0) held = held && candidate_of(ctx, sums, j);
    rb_error err = rb_comm_agree(ctx, held ? RB_OK : RB_ERROR_MEMORY);
    for (int64_t j = 0; !err && j < l; j++) {
        if (!progress->alive[j] && sums->place[j] >= 0)
            rb_comm_sample(ctx, problem, sums->place[j],
                           (rb_dense){sums->candidates[j], 1, values, values, sums->s.type});
    }
    return err;
}

void rfn_place_dead(const rfn_sums *sums, const rfn_progress *progress, rfn_moments *moments) {
    rb_dense u = moments->u, s = moments->s;
    double root = sqrt(sums->weight / sums->gain);
    for (int64_t j = 0; j < s.cols; j++) {
        if (progress->alive[j] || sums->place[j] < 0) continue;
        void *sample = sums->candidates[j], *codes = codes_of(sample, s.type, u.rows);
        for (int64_t k = 0; k < u.rows; k++)
            rb_dense_set(u, k, j, rb_get(u.type, sample, k) / root);
        for (int64_t c = 0; c < s.cols; c++) {
            double code = rb_get(s.type, codes, c) / progress->scale[c];
            if (!progress->alive[c]) code = sums->place[c] == sums->place[j] ? root : 0;
            rb_dense_set(s, j > c ? j : c, j > c ? c : j, code / root);
        }
        moments->mean[j] = 1 / root;
    }
}
