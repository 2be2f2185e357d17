/* Sums of ranks: are those of some numbers larger or smaller than chance would have them?
 *
 * Of N numbers with ranks r (from 1; equal ones share the mean of their ranks), `size` are marked.
 * By chance every choice of them is as likely, and the sum R of their ranks has
 *     E R = size (N + 1) / 2,
 *     Var R = size (N - size) / 12 (N + 1 - sum (t^3 - t) / (N (N - 1))),  t equal numbers each.
 * H. Mann, D. Whitney, "On a test of whether one of two random variables is stochastically larger
 * than the other", Ann. Math. Stat. 18 (1947); ties: W. Kruskal, J. Am. Stat. Assoc. 52 (1957).
 *
 * The p-value has two sides: twice the smaller one, at most 1. It is
 * - exact where no numbers are equal and at most EXACT are marked, or are not: the number of
 *   choices by R is the coefficient of a Gaussian binomial (Mann and Whitney's recurrence);
 * - where one value is that of more than half of the numbers, as 0 is of sparse loadings, and few
 *   marked ones are expected beside it: a sum over the numbers p above it and q below it of marked
 *   ones, whose probability is exact (hypergeometric), with a normal R for each. The normal of all
 *   of R would be far off there: R then has a long tail;
 * - else normal, with the variance above. A normal R is corrected for continuity by 1/2.
 *
 * Do several groups differ? H of W. Kruskal, W. Wallis, "Use of ranks in one-criterion variance
 * analysis", J. Am. Stat. Assoc. 47 (1952), with its correction for ties,
 *     H = 12 / (N (N + 1)) sum_g n_g (R_g / n_g - (N + 1) / 2)^2 / (1 - sum (t^3 - t) / (N^3 - N)),
 * by chi-square with groups - 1 degrees of freedom.
 */
#include "modules.h"

#include <math.h>
#include <stdlib.h>

enum { FEW = 20 }; /* marked ones expected beside the value of most */

rb_error rb_ranking_begin(rb_context *ctx, rb_ranking *r, int64_t n) {
    *r = (rb_ranking){.ctx = ctx, .n = n};
    r->order = rb_alloc(ctx, n, sizeof *r->order);
    r->ranks = rb_alloc(ctx, n, sizeof *r->ranks);
    r->log_factorial = rb_alloc(ctx, n + 1, sizeof *r->log_factorial);
    if (!r->order || !r->ranks || !r->log_factorial) {
        rb_ranking_clear(r);
        return RB_ERROR_MEMORY;
    }
    r->log_factorial[0] = 0;
    for (int64_t i = 1; i <= n; i++)
        r->log_factorial[i] = r->log_factorial[i - 1] + log((double)i);
    return RB_OK;
}

void rb_ranking_clear(rb_ranking *r) {
    rb_free(r->order);
    rb_free(r->ranks);
    rb_free(r->log_factorial);
    for (int m = 0; m <= RB_RANKING_EXACT; m++)
        rb_free(r->exact[m]);
    *r = (rb_ranking){0};
}

static int by_value(const void *a, const void *b) {
    const rb_ranked *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

/* Mean and variance of the ranks of the numbers first .. end - 1 in their order. */
static rb_rank_part part_of(const rb_ranking *r, int64_t first, int64_t end) {
    rb_rank_part part = {.count = end - first};
    for (int64_t i = first; i < end; i++)
        part.mean += r->ranks[r->order[i].index] / (double)part.count;
    for (int64_t i = first; i < end; i++) {
        double d = r->ranks[r->order[i].index] - part.mean;
        part.variance += d * d / (double)part.count;
    }
    return part;
}

void rb_ranking_set(rb_ranking *r, const double *values, int64_t n) {
    int64_t most_first = 0, most_end = 0;
    r->n = n;
    r->ties = 0;
    for (int64_t i = 0; i < n; i++)
        r->order[i] = (rb_ranked){values[i], i};
    qsort(r->order, (size_t)n, sizeof *r->order, by_value);
    for (int64_t first = 0, end; first < n; first = end) {
        end = first + 1;
        while (end < n && r->order[end].value == r->order[first].value)
            end++;
        double t = (double)(end - first);
        r->ties += t * t * t - t;
        for (int64_t i = first; i < end; i++)
            r->ranks[r->order[i].index] = 0.5 * (double)(first + 1 + end);
        if (end - first > most_end - most_first) {
            most_first = first;
            most_end = end;
        }
    }
    r->below = part_of(r, 0, most_first);
    r->most = part_of(r, most_first, most_end);
    r->above = part_of(r, most_end, n);
}

/* ---- exact ---- */

/* The number of choices of m among n numbers whose ranks sum to m (m + 1) / 2 + u, for u = 0 ..
 * top: the coefficients of prod_i (1 - q^(n - m + i)) / (1 - q^i), i = 1 .. m; then summed up. */
static double *count_choices(rb_context *ctx, int64_t n, int64_t m, int64_t top) {
    double *count = rb_alloc_zero(ctx, top + 1, sizeof *count);
    if (!count) return NULL;
    count[0] = 1;
    for (int64_t i = 1; i <= m; i++) {
        for (int64_t u = top; u >= n - m + i; u--)
            count[u] -= count[u - (n - m + i)];
        for (int64_t u = i; u <= top; u++)
            count[u] += count[u - i];
    }
    for (int64_t u = 1; u <= top; u++)
        count[u] += count[u - 1];
    return count;
}

static double log_choose(const rb_ranking *r, int64_t n, int64_t k) {
    return r->log_factorial[n] - r->log_factorial[k] - r->log_factorial[n - k];
}

/* U has its centre at m (n - m) / 2, and is as far from it on either side. */
static rb_error find_exact(rb_ranking *r, int64_t size, double sum, double *log_p) {
    int64_t n = r->n, m = size <= RB_RANKING_EXACT ? size : n - size, cells = m * (n - m);
    if (r->exact_n != n) { /* they are of other numbers */
        for (int k = 0; k <= RB_RANKING_EXACT; k++) {
            rb_free(r->exact[k]);
            r->exact[k] = NULL;
        }
        r->exact_n = n;
    }
    if (!r->exact[m]) r->exact[m] = count_choices(r->ctx, n, m, cells / 2);
    if (!r->exact[m]) return RB_ERROR_MEMORY;
    int64_t u = (int64_t)(sum - 0.5 * (double)size * (double)(size + 1));
    u = u > cells - u ? cells - u : u;
    *log_p = fmin(0, log(2) + log(r->exact[m][u]) - log_choose(r, n, m));
    return RB_OK;
}

/* ---- one value is that of most ---- */

/* The sum of `count` ranks of a part, as much as is taken of it. */
static void add_part(const rb_rank_part *part, int64_t count, double *mean, double *variance) {
    double k = (double)count, n = (double)part->count;
    *mean += k * part->mean;
    if (part->count > 1) *variance += k * part->variance * (n - k) / (n - 1);
}

static double log_add(double a, double b) {
    double high = fmax(a, b), low = fmin(a, b);
    return low == -INFINITY ? high : high + log1p(exp(low - high));
}

/* Adds to the logarithms of both tails what p above and q below have, with weight e^log_weight. */
static void add_case(const rb_ranking *r, const int64_t taken[3], double sum, double log_weight,
                     double tails[2]) {
    double mean = 0, variance = 0;
    add_part(&r->below, taken[0], &mean, &variance);
    add_part(&r->most, taken[1], &mean, &variance);
    add_part(&r->above, taken[2], &mean, &variance);
    for (int side = 0; side < 2; side++) {
        if (log_weight < tails[side] - 40) continue;
        double beyond = (side ? mean - sum : sum - mean) - 0.5;
        double tail = variance > 1e-9 ? rb_log_normal_tail(beyond / sqrt(variance))
                      : beyond < 0    ? 0
                                      : -INFINITY;
        tails[side] = log_add(tails[side], log_weight + tail);
    }
}

/* For x marked ones beside the value of most: all ways to have p above and x - p below. */
static void add_cases(const rb_ranking *r, int64_t size, int64_t x, double sum, double tails[2]) {
    double all = log_choose(r, r->n, size) - log_choose(r, r->most.count, size - x);
    for (int64_t p = x > r->below.count ? x - r->below.count : 0; p <= x && p <= r->above.count;
         p++) {
        int64_t taken[3] = {x - p, size - x, p};
        double log_weight =
            log_choose(r, r->above.count, p) + log_choose(r, r->below.count, x - p) - all;
        if (log_weight >= fmin(tails[0], tails[1]) - 40) add_case(r, taken, sum, log_weight, tails);
    }
}

static double find_mixed(const rb_ranking *r, int64_t size, double sum) {
    int64_t others = r->below.count + r->above.count;
    int64_t first = size > r->most.count ? size - r->most.count : 0;
    int64_t last = size < others ? size : others;
    double expected = (double)size * (double)others / (double)r->n;
    double tails[2] = {-INFINITY, -INFINITY}, all = log_choose(r, r->n, size);
    for (int64_t x = first; x <= last; x++) {
        double log_weight = log_choose(r, others, x) + log_choose(r, r->most.count, size - x) - all;
        if ((double)x > expected && log_weight < fmin(tails[0], tails[1]) - 40) break;
        add_cases(r, size, x, sum, tails);
    }
    return fmin(0, log(2) + fmin(tails[0], tails[1]));
}

/* ---- all of it ---- */

static double find_normal(const rb_ranking *r, int64_t size, double sum) {
    double n = (double)r->n, k = (double)size;
    double variance = k * (n - k) / 12 * (n + 1 - r->ties / (n * (n - 1)));
    double beyond = fmax(0, fabs(sum - 0.5 * k * (n + 1)) - 0.5);
    return fmin(0, log(2) + rb_log_normal_tail(beyond / sqrt(variance)));
}

rb_error rb_ranking_test(rb_ranking *r, int64_t size, double sum, double *log_p) {
    int64_t rest = r->n - size, others = r->n - r->most.count;
    *log_p = NAN;
    if (size < 1 || rest < 1 || others == 0) return RB_OK; /* there is nothing to compare */
    if (r->ties == 0 && (size <= RB_RANKING_EXACT || rest <= RB_RANKING_EXACT))
        return find_exact(r, size, sum, log_p);
    bool mixed = 2 * others < r->n && (double)size * (double)others / (double)r->n < FEW;
    *log_p = mixed ? find_mixed(r, size, sum) : find_normal(r, size, sum);
    return RB_OK;
}

double rb_ranking_auc(const rb_ranking *r, int64_t size, double sum) {
    double k = (double)size, rest = (double)(r->n - size);
    return (sum - 0.5 * k * (k + 1)) / (k * rest);
}

double rb_ranking_groups(const rb_ranking *r, int64_t n_groups, const double *rank_sums,
                         const double *counts, double *log_p) {
    double n = (double)r->n, between = 0, groups = 0;
    for (int64_t g = 0; g < n_groups; g++) {
        if (counts[g] <= 0) continue;
        double beyond = rank_sums[g] / counts[g] - 0.5 * (n + 1);
        between += counts[g] * beyond * beyond;
        groups++;
    }
    double h = 12 / (n * (n + 1)) * between / (1 - r->ties / (n * n * n - n));
    *log_p = rb_log_chi_square_tail(h, groups - 1);
    return h;
}
