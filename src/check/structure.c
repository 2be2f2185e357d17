/* How the samples of the part lie to each other, once they are as a fit would have them (totals,
 * log1p) and each feature has mean 0 and standard deviation 1: Y, part_n x part_used.
 *
 * The Gram matrix G = Y Y' / part_used has everything: cosines of samples, their distances, and by
 * orthogonal iteration the principal components. Those above chance have a larger eigenvalue than
 * the largest one of Y with each feature permuted (parallel analysis; Horn, Psychometrika 30,
 * 1965; one permutation, which the first has to exceed by 4 times what that of noise varies).
 *
 * A break in file order is Pettitt's change point (Applied Statistics 28, 1979): with the ranks r
 * of n scores, K = max_t |2 sum_{i <= t} r_i - t (n + 1)| and p = 2 exp(-6 K^2 / (n^3 + n^2)). */
#include "check.h"

#include <math.h>
#include <string.h>

enum { ITERATIONS = 40, MIN_FEATURES = 20, MIN_SIDE = 5, MIN_SAMPLES = 10 };
static const double near_cosine = 0.999, break_p = 5e-4, break_share = 0.3, total_limit = 8,
                    alone = 0.85, chance_margin = 4, level_least = 0.9, level_sign_least = 0.85,
                    level_variance = 0.05;

/* ---- Y ---- */

static void transform_row(const rb_look *look, int64_t p) {
    const rb_tally *t = &look->samples[look->part_samples[p]];
    double total = rb_tally_mean(t) * (double)t->present;
    double factor = look->totals && total > 0 ? look->total / total : 1;
    double *row = look->part + p * look->part_m;
    for (int64_t k = 0; k < look->part_m; k++)
        row[k] = look->log1p ? log1p(row[k] * factor) : row[k] * factor;
}

/* Mean, standard deviation and fourth moment over the samples that have the feature. */
typedef struct moments {
    int64_t count;
    double mean, sd, kurtosis;
} moments;

static moments moments_of(const rb_look *look, int64_t k) {
    moments m = {0};
    double squares = 0, fourth = 0;
    for (int64_t i = 0; i < look->part_n; i++) {
        double x = look->part[i * look->part_m + k];
        m.count += !isnan(x);
        m.mean += isnan(x) ? 0 : x;
    }
    m.mean /= m.count ? (double)m.count : 1;
    for (int64_t i = 0; i < look->part_n; i++) {
        double x = look->part[i * look->part_m + k], d = isnan(x) ? 0 : x - m.mean;
        squares += d * d;
        fourth += d * d * d * d;
    }
    m.sd = m.count ? sqrt(squares / (double)m.count) : 0;
    if (!(m.sd > 1e-9 * fabs(m.mean))) m.sd = 0;
    m.kurtosis = m.sd > 0 ? fourth * (double)m.count / (squares * squares) - 3 : 0;
    return m;
}

/* Feature k, standardised, becomes column `used` of Y; missing values its mean. */
static void standardise(rb_look *look, int64_t k, int64_t used, const moments *m) {
    for (int64_t i = 0; i < look->part_n; i++) {
        double *row = look->part + i * look->part_m;
        row[used] = isnan(row[k]) ? 0 : (row[k] - m->mean) / m->sd;
    }
}

static void make_standard(rb_look *look) {
    double *sds = rb_take(&look->scratch, look->part_m, sizeof *sds);
    double *kurtoses = rb_take(&look->scratch, look->part_m, sizeof *kurtoses);
    int64_t dense = 0;
    for (int64_t p = 0; p < look->part_n; p++)
        transform_row(look, p);
    for (int64_t k = 0; kurtoses && k < look->part_m; k++) {
        moments m = moments_of(look, k);
        const rb_tally *t = &look->features[look->part_features[k]];
        if (m.sd == 0) continue;
        sds[look->part_used] = m.sd;
        if (2 * t->nonzeros > t->present) kurtoses[dense++] = m.kurtosis;
        standardise(look, k, look->part_used++, &m);
    }
    if (!kurtoses || look->part_used == 0) return;
    rb_sort_numbers(sds, look->part_used);
    rb_sort_numbers(kurtoses, dense);
    look->sd_spread =
        rb_quantile_of(sds, look->part_used, 0.95) / rb_quantile_of(sds, look->part_used, 0.05);
    look->kurtosis = dense ? rb_quantile_of(kurtoses, dense, 0.5) : 0;
}

/* ---- what the Gram matrix says ---- */

static void find_near(rb_look *look, rb_dense gram) {
    if (look->part_used < MIN_FEATURES) return;
    for (int64_t i = 0; i < gram.rows; i++) {
        bool near = false;
        const double *row = rb_dense_row(gram, i);
        for (int64_t j = 0; j < i; j++) {
            double norms = sqrt(row[i] * rb_dense_get(gram, j, j));
            bool same = look->samples[look->part_samples[i]].hash ==
                        look->samples[look->part_samples[j]].hash;
            if (!(norms > 0) || row[j] <= near_cosine * norms || same) continue;
            near = true;
            if (look->near_samples == 0) {
                look->near[0] = look->part_samples[j];
                look->near[1] = look->part_samples[i];
            }
        }
        look->near_samples += near;
    }
}

/* By the Gram matrix. */
static double cosine(int64_t a, int64_t b, void *user) {
    const rb_dense *gram = user;
    double norms = sqrt(rb_dense_get(*gram, a, a) * rb_dense_get(*gram, b, b));
    return norms > 0 ? rb_dense_get(*gram, a, b) / norms : 0;
}

static void find_neighbours(rb_look *look, rb_dense gram) {
    int64_t n = gram.rows, step = look->part_step, pairs = step == 1 ? n - 1 : n / step;
    look->neighbours = rb_neighbours_of(pairs, n, step, cosine, &gram);
}

/* Rows become orthonormal, one after the other (Gram and Schmidt, twice). */
static void orthonormalise(const rb_context *ctx, rb_dense q) {
    for (int64_t r = 0; r < q.rows; r++) {
        double *row = rb_dense_row(q, r);
        for (int pass = 0; pass < 2; pass++)
            for (int64_t s = 0; s < r; s++)
                rb_axpy(ctx, q.type, q.cols, -rb_dot(ctx, q.type, q.cols, row, rb_dense_row(q, s)),
                        rb_dense_row(q, s), row);
        double norm = sqrt(rb_dot(ctx, q.type, q.cols, row, row));
        for (int64_t i = 0; i < q.cols; i++)
            row[i] = norm > 1e-12 ? row[i] / norm : 0;
    }
}

/* The leading eigenvectors of G as rows of q, and their shares of the trace. */
static void find_components(rb_look *look, rb_dense gram, rb_dense q, rb_dense z) {
    rb_stream stream = {.purpose = RB_RANDOM_CHECK};
    double trace = 0;
    for (int64_t i = 0; i < gram.rows; i++)
        trace += rb_dense_get(gram, i, i);
    for (int64_t r = 0; r < q.rows; r++)
        for (int64_t i = 0; i < q.cols; i++)
            rb_dense_set(q, r, i, rb_random_normal(stream, (uint64_t)(r * q.cols + i)));
    for (int step = 0; step < ITERATIONS; step++) {
        orthonormalise(look->ctx, q);
        rb_gemm_parallel(look->ctx, 1, q, RB_PLAIN, gram, RB_PLAIN, 0, z);
        for (int64_t r = 0; r < q.rows && step == ITERATIONS - 1; r++)
            look->components[r] =
                rb_dot(look->ctx, q.type, q.cols, rb_dense_row(q, r), rb_dense_row(z, r)) / trace;
        if (step < ITERATIONS - 1) rb_dense_copy(z, q);
    }
    look->n_components = trace > 0 ? q.rows : 0;
    for (int64_t i = 0; i < q.cols; i++)
        for (int64_t r = 0; r < RB_CHECK_LED && r < q.rows; r++)
            look->scores[i * RB_CHECK_LED + r] = rb_dense_get(q, r, i);
}

/* Does a component say how high a sample lies in all features? */
static void find_level(rb_look *look, int component, const double *scores, const double *means) {
    int64_t positive = 0;
    double correlation = fabs(rb_correlation(look->part_n, scores, 1, means, 1));
    if (component > 0 && correlation <= look->level_correlation) return;
    for (int64_t k = 0; k < look->part_used; k++) {
        double loading = 0;
        for (int64_t i = 0; i < look->part_n; i++)
            loading += scores[i] * look->part[i * look->part_m + k];
        positive += loading > 0;
    }
    double share = (double)positive / (double)look->part_used;
    look->level_component = component;
    look->level_sign = fmax(share, 1 - share);
    look->level_correlation = correlation;
}

static void find_levels(rb_look *look, rb_dense q) {
    double *means = rb_take(&look->scratch, look->part_n, sizeof *means);
    for (int64_t i = 0; means && i < look->part_n; i++)
        for (int64_t k = 0; k < look->part_used; k++)
            means[i] += look->part[i * look->part_m + k] / (double)look->part_used;
    for (int c = 0; means && c < RB_CHECK_LED && c < look->n_components; c++)
        find_level(look, c, rb_dense_row(q, c), means);
}

bool rb_look_shares_level(const rb_look *look) {
    return look->above_chance > look->level_component && look->part_used >= MIN_FEATURES &&
           look->components[look->level_component] >= level_variance &&
           look->level_correlation >= level_least && look->level_sign >= level_sign_least;
}

/* Samples that a component is all about: leverage h_i = sum over the components above chance of the
 * squared scores, 1 at most. */
static void find_alone(rb_look *look, rb_dense q) {
    for (int64_t i = 0; i < q.cols; i++) {
        double leverage = 0;
        for (int64_t r = 0; r < look->above_chance; r++)
            leverage += pow(rb_dense_get(q, r, i), 2);
        if (leverage > alone) rb_outliers_add(&look->alone, look->part_samples[i], leverage);
    }
}

/* ---- chance ---- */

static void permute_features(rb_look *look) {
    rb_draws draws = {{look->seed, RB_RANDOM_CHECK, 1}, 0};
    for (int64_t k = 0; k < look->part_used; k++) {
        double *column = look->part + k;
        for (int64_t i = look->part_n - 1; i > 0; i--) {
            int64_t j = rb_draw_integer(&draws, 0, i);
            double kept = column[i * look->part_m];
            column[i * look->part_m] = column[j * look->part_m];
            column[j * look->part_m] = kept;
        }
    }
}

static void make_gram(rb_look *look, rb_dense gram) {
    rb_dense y = {look->part, look->part_n, look->part_used, look->part_m, RB_FLOAT64};
    rb_gemm_lower(look->ctx, 1 / (double)look->part_used, y, RB_PLAIN, y, RB_TRANSPOSED, 0, gram);
    rb_dense_mirror(gram);
}

/* How much the largest eigenvalue of noise varies, as a share of it (Johnstone, Annals of
 * Statistics 29, 2001). */
static double variation(double n, double m) {
    return cbrt(1 / sqrt(n) + 1 / sqrt(m)) / (sqrt(n) + sqrt(m));
}

static rb_error count_above_chance(rb_look *look, rb_dense gram) {
    double largest = 0, trace = 0;
    permute_features(look);
    make_gram(look, gram);
    for (int64_t i = 0; i < gram.rows; i++)
        trace += rb_dense_get(gram, i, i);
    rb_error err = rb_largest_eigenvalue(look->ctx, gram, &largest);
    double chance = largest / trace;
    double sure =
        chance * (1 + chance_margin * variation((double)gram.rows, (double)look->part_used));
    bool any = !err && look->n_components > 0 && look->components[0] > sure;
    while (any && look->above_chance < look->n_components &&
           look->components[look->above_chance] > chance)
        look->above_chance++;
    return err;
}

/* ---- breaks in file order ---- */

rb_error rb_look_rank(const rb_look *look, int component, rb_ranking *ranking) {
    double *scores = rb_alloc(look->ctx, look->part_n, sizeof *scores);
    if (!scores) return RB_ERROR_MEMORY;
    for (int64_t i = 0; i < look->part_n; i++)
        scores[i] = look->scores[i * RB_CHECK_LED + component];
    rb_ranking_set(ranking, scores, look->part_n);
    rb_free(scores);
    return RB_OK;
}

static double share_between(const double *scores, int64_t n, int64_t at) {
    double left = 0, right = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) {
        double score = scores[i * RB_CHECK_LED];
        *(i < at ? &left : &right) += score;
        squares += score * score; /* the mean is 0 */
    }
    return (left * left / (double)at + right * right / (double)(n - at)) / squares;
}

static void find_break(rb_look *look, int component, const double *ranks) {
    int64_t n = look->part_n, at = 0;
    double u = 0, most = 0;
    for (int64_t i = 0; i + 1 < n; i++) {
        u += 2 * ranks[i] - (double)(n + 1);
        at = fabs(u) > most ? i + 1 : at;
        most = fmax(most, fabs(u));
    }
    double size = (double)n, p = 2 * exp(-6 * most * most / (size * size * (size + 1)));
    if (p >= break_p || at < MIN_SIDE || n - at < MIN_SIDE) return;
    double share = share_between(look->scores + component, n, at);
    if (share < break_share || share <= look->break_share) return;
    look->break_at = at;
    look->break_component = component;
    look->break_share = share;
}

static rb_error find_breaks(rb_look *look) {
    rb_ranking ranking;
    rb_error err = rb_ranking_begin(look->ctx, &ranking, look->part_n);
    if (err) return err;
    for (int c = 0; !err && c < RB_CHECK_LED && c < look->above_chance; c++) {
        err = rb_look_rank(look, c, &ranking);
        if (!err) find_break(look, c, ranking.ranks);
    }
    rb_ranking_clear(&ranking);
    return err;
}

/* ---- totals ---- */

/* Means of samples, where they are amounts; of what is to be logarithms, their logarithms. */
static rb_error find_odd_totals(rb_look *look) {
    rb_scratch scratch = {.ctx = look->ctx};
    double *values = rb_take(&scratch, look->looked, sizeof *values);
    int64_t *places = rb_take(&scratch, look->looked, sizeof *places), count = 0;
    for (int64_t j = 0; places && j < look->looked; j++) {
        double mean = rb_tally_mean(&look->samples[j]);
        if (rb_look_drops(look, j) || isnan(mean) || (look->log1p && mean <= 0)) continue;
        values[count] = look->log1p ? log(mean) : mean;
        places[count++] = j;
    }
    rb_error err = scratch.err;
    if (!err) err = rb_find_outliers(look, values, places, count, total_limit, &look->by_total);
    rb_error end = rb_scratch_end(&scratch);
    return err ? err : end;
}

rb_error rb_look_structure(rb_look *look) {
    look->break_at = -1;
    rb_error err =
        look->looked >= MIN_SAMPLES && look->low.value >= 0 ? find_odd_totals(look) : RB_OK;
    if (!err) make_standard(look);
    err = err ? err : look->scratch.err;
    int64_t n = look->part_n, led = n - 1 < RB_CHECK_COMPONENTS ? n - 1 : RB_CHECK_COMPONENTS;
    if (err || n < 3 || look->part_used < 2) return err;
    rb_dense gram = {0}, q = {0}, z = {0};
    rb_scratch scratch = {.ctx = look->ctx};
    rb_dense_take(&scratch, RB_FLOAT64, n, n, &gram);
    rb_dense_take(&scratch, RB_FLOAT64, led, n, &q);
    rb_dense_take(&scratch, RB_FLOAT64, led, n, &z);
    look->scores = rb_take(&look->scratch, n * RB_CHECK_LED, sizeof *look->scores);
    err = scratch.err ? scratch.err : look->scratch.err;
    err = err ? err : rb_blas_need_memory(look->ctx, 0);
    if (!err) {
        make_gram(look, gram);
        find_near(look, gram);
        find_neighbours(look, gram);
        find_components(look, gram, q, z);
        find_levels(look, q);
    }
    err = err ? err : look->scratch.err;
    err = err ? err : count_above_chance(look, gram);
    if (!err && n >= MIN_SAMPLES) find_alone(look, q);
    rb_error end = rb_scratch_end(&scratch);
    err = err ? err : end;
    return err ? err : find_breaks(look);
}
