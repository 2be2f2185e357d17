/* Clusters by average linkage (Sokal, Michener 1958), cut where the average similarity of two
 * clusters falls below a bound.
 *
 * Of all pairs of clusters the most similar one is joined, until none reaches the bound;
 *     s(a + b, c) = (n_a s(a, c) + n_b s(b, c)) / (n_a + n_b).
 * Each cluster knows its most similar one among those after it. A join never makes a third
 * cluster's largest similarity larger, so that only those which knew a or b must look again: about
 * count^2 steps in all.
 */
#include "analysis.h"

typedef struct linkage {
    int64_t count;
    double *similarity; /* count x count; of clusters, by their first member */
    int64_t *size;      /* 0: it was joined to another */
    int64_t *best;      /* of those after it; -1: there is none */
} linkage;

static double *similarity_of(const linkage *l, int64_t a, int64_t b) {
    return &l->similarity[a * l->count + b];
}

static void look(linkage *l, int64_t a) {
    l->best[a] = -1;
    for (int64_t b = a + 1; b < l->count; b++) {
        bool better = l->best[a] < 0 || *similarity_of(l, a, b) > *similarity_of(l, a, l->best[a]);
        if (l->size[b] > 0 && better) l->best[a] = b;
    }
}

/* b goes into a, which is before it. */
static void join(linkage *l, int64_t a, int64_t b) {
    double n_a = (double)l->size[a], n_b = (double)l->size[b];
    l->size[a] += l->size[b];
    l->size[b] = 0;
    for (int64_t c = 0; c < l->count; c++) {
        if (l->size[c] == 0 || c == a) continue;
        double mean = (n_a * *similarity_of(l, a, c) + n_b * *similarity_of(l, b, c)) / (n_a + n_b);
        *similarity_of(l, a, c) = *similarity_of(l, c, a) = mean;
    }
    for (int64_t c = 0; c < b; c++)
        if (l->size[c] > 0 && (c == a || l->best[c] == a || l->best[c] == b)) look(l, c);
}

/* The first of the two most similar clusters; -1: there are no two. */
static int64_t most_similar(const linkage *l) {
    int64_t most = -1;
    for (int64_t a = 0; a < l->count; a++) {
        if (l->size[a] == 0 || l->best[a] < 0) continue;
        if (most < 0 || *similarity_of(l, a, l->best[a]) > *similarity_of(l, most, l->best[most]))
            most = a;
    }
    return most;
}

rb_error rb_link_average(rb_context *ctx, int64_t count, double *similarity, double bound,
                         int64_t *cluster_of) {
    rb_scratch scratch = {.ctx = ctx};
    linkage l = {.count = count, .similarity = similarity};
    l.size = rb_take(&scratch, count, sizeof *l.size);
    l.best = rb_take(&scratch, count, sizeof *l.best);
    if (scratch.err) return rb_scratch_end(&scratch);
    for (int64_t i = 0; i < count; i++) {
        cluster_of[i] = i;
        l.size[i] = 1;
    }
    for (int64_t i = 0; i < count; i++)
        look(&l, i);
    for (int64_t a = most_similar(&l); a >= 0; a = most_similar(&l)) {
        int64_t b = l.best[a];
        if (!(*similarity_of(&l, a, b) >= bound)) break;
        join(&l, a, b);
        for (int64_t i = 0; i < count; i++)
            cluster_of[i] = cluster_of[i] == b ? a : cluster_of[i];
    }
    return rb_scratch_end(&scratch);
}
