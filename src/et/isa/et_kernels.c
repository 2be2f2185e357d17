/* The kernels of one instruction set. This file is compiled once for each (cmake/Kernels.cmake)
 * with RB_ISA = ref, avx2 or avx512. The loops over lanes have a fixed length, which the compiler
 * turns into vectors; no sum is reordered but those written in lanes here. */
#include "et/kernels.h"

#include <string.h>
#ifdef __AVX512VL__
#include <immintrin.h>
#endif

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define JOIN_OF(a, b) a##b
#define JOIN(a, b) JOIN_OF(a, b)

enum { L = ET_LANES };

/* ---- exponential: x = k log 2 + r, |r| <= log(2) / 2; series of exp(r); 2^k by its bits ---- */

/* exp(r), |r| <= log(2) / 2: up to a few units in the last place, or coarsely to 1e-7. */
static inline double series(double r, bool coarse) {
    double p = 1.0 / 5040;
    if (!coarse) {
        p = 1.0 / 479001600;
        p = ((p * r + 1.0 / 39916800) * r + 1.0 / 3628800) * r + 1.0 / 362880;
        p = (p * r + 1.0 / 40320) * r + 1.0 / 5040;
    }
    p = ((p * r + 1.0 / 720) * r + 1.0 / 120) * r + 1.0 / 24;
    return (((p * r + 1.0 / 6) * r + 0.5) * r + 1) * r + 1;
}

/* exp(x) for x from -708 to 708. */
static inline double exponential_within(double x, bool coarse) {
    const double rounder = 0x1.8p52;
    double shifted = x * 0x1.71547652b82fep+0 + rounder;
    double k = shifted - rounder;
    double r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
    double p = series(r, coarse);
    int64_t bits, power;
    memcpy(&bits, &p, sizeof bits);
    memcpy(&power, &shifted, sizeof power);
    bits += (int64_t)((uint64_t)power << 52);
    memcpy(&p, &bits, sizeof p);
    return p;
}

/* exp(x) for x <= 0; 0 below -708. */
static inline double exponential(double x) {
    const double min = -708;
    double e = exponential_within(x > min ? x : min, false);
    return x > min ? e : 0;
}

/* Energies of -infinity count as very low ones, so that they times 0 is 0. */
static inline double bounded_energy(double energy) {
    return energy > -1e300 ? energy : -1e300;
}

/* A group of lanes, of which the first n count. */
static inline void exponentials_of(int64_t n, const double *shift, double *e, double *sum,
                                   double *weighted) {
    for (int l = 0; l < L; l++) {
        double value = bounded_energy(l < n ? e[l] : -1e300);
        e[l] = exponential(value - shift[l]);
        sum[l] += e[l];
        weighted[l] += e[l] * value;
    }
}

static void exponentials(int64_t n, const double *shift, double *energy, double *total,
                         double *product) {
    double sum[L] = {0}, weighted[L] = {0}, shifts[L];
    int64_t i = 0;
    memcpy(shifts, shift, sizeof shifts);
    for (; i + L <= n; i += L)
        exponentials_of(L, shifts, energy + i, sum, weighted);
    if (i < n) exponentials_of(n - i, shifts, energy + i, sum, weighted);
    memcpy(total, sum, sizeof sum);
    memcpy(product, weighted, sizeof weighted);
}

static void largest(int64_t count, const double *energy, double *best, int64_t *state) {
    double high[L];
    int64_t where[L] = {0};
    memcpy(high, energy, sizeof high);
    for (int64_t s = 1; s < count; s++) {
        const double *e = energy + s * L;
        for (int l = 0; l < L; l++) {
            bool more = e[l] > high[l];
            high[l] = more ? e[l] : high[l];
            where[l] = more ? s : where[l];
        }
    }
    memcpy(best, high, sizeof high);
    memcpy(state, where, sizeof where);
}

static void scale(int64_t count, const double *factor, double *energy) {
    for (int64_t s = 0; s < count; s++)
        for (int l = 0; l < L; l++)
            energy[s * L + l] *= factor[l];
}

/* ---- the tree ---- */

static void energies(const et_tree *tree, const double *c, const double *g, double *work,
                     double *energy) {
    int h = tree->items;
    memcpy(work, c, (size_t)h * L * sizeof *work);
    memset(energy, 0, L * sizeof *energy);
    for (int64_t s = 0; s < tree->inner; s++) {
        const double *from = work + s * h * L;
        double *e = energy + s * L;
        int first = tree->first[s];
        double *child = energy + (tree->child[s] + first) * L;
        for (int k = first; k < h; k++, child += L)
            for (int l = 0; l < L; l++)
                child[l] = e[l] + from[k * L + l];
        for (int k = first; k < h && tree->child[s] + k < tree->inner; k++) {
            double *to = work + (tree->child[s] + k) * h * L;
            const double *less = g + (int64_t)k * h * L;
            for (int j = tree->first[tree->child[s] + k] * L; j < h * L; j += L)
                for (int l = 0; l < L; l++)
                    to[j + l] = from[j + l] - less[j + l];
        }
    }
}

/* With m(s) the probability of s and all below it, and v_s[k] that of all strictly below s in which
 * k is active: v_s[k] = m(s + k) + sum_{j < k} v_{s+j}[k]. A state in which k is active lies at or
 * below exactly one state that k was added to last. Hence <s_k> = v_0[k], and <s_j s_k> is the sum
 * of v_c[k] over the states c that j was added to last. */
static void moments(const et_tree *tree, double *q, double *work, double *mean, double *pairs) {
    int h = tree->items;
    if (pairs) memset(pairs, 0, (size_t)h * (size_t)h * L * sizeof *pairs);
    for (int64_t s = tree->inner - 1; s >= 0; s--) {
        double *v = work + s * h * L, sum[L];
        int64_t child = tree->child[s];
        int first = tree->first[s];
        memcpy(sum, q + s * L, sizeof sum);
        for (int k = first; k < h; k++) {
            for (int l = 0; l < L; l++) {
                v[k * L + l] = q[(child + k) * L + l];
                sum[l] += v[k * L + l];
            }
        }
        memcpy(q + s * L, sum, sizeof sum);
        for (int j = first; j < h && child + j < tree->inner; j++) {
            const double *below = work + (child + j) * h * L;
            for (int k = tree->first[child + j] * L; k < h * L; k += L)
                for (int l = 0; l < L; l++)
                    v[k + l] += below[k + l];
        }
        if (pairs && s > 0) {
            double *row = pairs + (int64_t)tree->last[s] * h * L;
            for (int k = first * L; k < h * L; k += L)
                for (int l = 0; l < L; l++)
                    row[k + l] += v[k + l];
        }
    }
    memcpy(mean, work, (size_t)h * L * sizeof *mean);
}

/* ---- the largest field ---- */

/* The last lanes of n values, those that were not in whole lanes before: 1, else 0. */
static inline const double *rest_of(int64_t n) {
    static const double rest[2 * ET_LANES] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
    return rest + n % L;
}

static inline double maximum_of(int64_t n, const double *a, const double *b, const double *y,
                                double *out, bool keep) {
    double sum[L] = {0}, all = 0;
    int64_t d = 0;
    for (; d + L <= n; d += L) {
        for (int l = 0; l < L; l++) {
            double w = a[d + l] > b[d + l] ? a[d + l] : b[d + l];
            sum[l] += w * (2 * y[d + l] - w);
            if (keep) out[d + l] = w;
        }
    }
    if (d > 0 && d < n) { /* whole lanes again, of which some were done */
        const double *rest = rest_of(n);
        d = n - L;
        for (int l = 0; l < L; l++) {
            double w = a[d + l] > b[d + l] ? a[d + l] : b[d + l];
            sum[l] += rest[l] * w * (2 * y[d + l] - w);
            if (keep) out[d + l] = w;
        }
        d = n;
    }
    for (; d < n; d++) {
        double w = a[d] > b[d] ? a[d] : b[d];
        all += w * (2 * y[d] - w);
        if (keep) out[d] = w;
    }
    for (int l = 0; l < L; l++)
        all += sum[l];
    return all;
}

static double maximum(int64_t n, const double *a, const double *b, const double *y, double *out) {
    return out ? maximum_of(n, a, b, y, out, true) : maximum_of(n, a, b, y, out, false);
}

/* log(x) of a positive normal number: its exponent, and the series of 2 atanh((m - 1) / (m + 1))
 * for the mantissa m from sqrt(1/2) to sqrt(2). */
static inline double logarithm(double x, bool coarse) {
    const uint64_t root = UINT64_C(0x3fe6a09e667f3bcd), magic = UINT64_C(0x4330000000000000);
    uint64_t bits;
    double m, k;
    memcpy(&bits, &x, sizeof bits);
    uint64_t shifted = bits + (UINT64_C(0x3ff0000000000000) - root); /* exponent of x / sqrt(1/2) */
    uint64_t power = (shifted >> 52) | magic; /* as a double: 2^52 + the biased exponent */
    memcpy(&k, &power, sizeof k);
    k -= 0x1p52 + 1023;
    bits = (shifted & UINT64_C(0x000fffffffffffff)) + root;
    memcpy(&m, &bits, sizeof m);
    double z = (m - 1) / (m + 1), square = z * z;
    double p = 2.0 / 9;
    if (!coarse) {
        p = 2.0 / 21;
        p = ((p * square + 2.0 / 19) * square + 2.0 / 17) * square + 2.0 / 15;
        p = ((p * square + 2.0 / 13) * square + 2.0 / 11) * square + 2.0 / 9;
    }
    p = (((p * square + 2.0 / 7) * square + 2.0 / 5) * square + 2.0 / 3) * square + 2;
    return k * 0x1.62e42fefa39efp-1 + z * p;
}

/* x <- q x^-a, and 0 where x is 0 (below 1e-290). */
static inline void powers(int64_t n, bool coarse, double q, double a, double *x) {
    for (int64_t i = 0; i < n; i++) {
        double value = x[i] > 1e-290 ? x[i] : 1;
        double e = exponential_within(-a * logarithm(value, coarse), coarse);
        x[i] = x[i] > 1e-290 ? q * e : 0;
    }
}

static void responsibilities(int64_t n, int size, const et_soft_cause *causes, et_soft soft,
                             double q, const double *y, const double *there) {
    double sum[ET_BAND];
    int64_t padded = (n + L - 1) / L * L;
    for (int64_t d = 0; d < n; d++)
        sum[d] = causes[0].powers[d];
    for (int64_t d = n; d < padded; d++)
        sum[d] = 1; /* so that all powers run in lanes */
    for (int k = 1; k < size; k++) {
        const double *power = causes[k].powers;
        for (int64_t d = 0; d < n; d++)
            sum[d] += power[d];
    }
    if (soft.coarse)
        powers(padded, true, q, soft.exponent, sum);
    else
        powers(padded, false, q, soft.exponent, sum);
    for (int64_t d = 0; there && d < n; d++)
        sum[d] *= there[d];
    for (int k = 0; k < size; k++) {
        et_soft_cause cause = causes[k];
        for (int64_t d = 0; d < n; d++) {
            double share = cause.roots[d] * sum[d];
            cause.weights[d] += share;
            cause.products[d] += share * y[d];
        }
    }
}

/* ---- sums in lanes ---- */

/* sum of x_i, times y_i if `weighted`. */
static inline double sum_of(int64_t n, const double *x, const double *y, bool weighted) {
    double sum[2 * L] = {0}, all = 0;
    int64_t i = 0;
    for (; i + 2 * L <= n; i += 2 * L)
        for (int l = 0; l < 2 * L; l++)
            sum[l] += weighted ? x[i + l] * y[i + l] : x[i + l];
    for (; i + L <= n; i += L)
        for (int l = 0; l < L; l++)
            sum[l] += weighted ? x[i + l] * y[i + l] : x[i + l];
    for (; i < n; i++)
        all += weighted ? x[i] * y[i] : x[i];
    for (int l = 0; l < 2 * L; l++)
        all += sum[l];
    return all;
}

static double dot(int64_t n, const double *x, const double *y) {
    return sum_of(n, x, y, true);
}

static double sum(int64_t n, const double *x) {
    return sum_of(n, x, NULL, false);
}

static void add_weighted(int64_t n, double q, const double *y, const double *there, double *weights,
                         double *products) {
    for (int64_t d = 0; d < n; d++)
        products[d] += q * y[d];
    for (int64_t d = 0; d < n; d++)
        weights[d] += there ? q * there[d] : q;
}

static void add(int64_t n, const float *x, double *sums) {
    for (int64_t i = 0; i < n; i++)
        sums[i] += (double)x[i];
}

static int64_t above(int64_t n, const double *x, double *best) {
    double high[L], max = *best;
    int64_t i = 0;
    for (int l = 0; l < L; l++)
        high[l] = max;
    for (; i + L <= n; i += L)
        for (int l = 0; l < L; l++)
            high[l] = x[i + l] > high[l] ? x[i + l] : high[l];
    for (; i < n; i++)
        max = x[i] > max ? x[i] : max;
    for (int l = 0; l < L; l++)
        max = high[l] > max ? high[l] : max;
    for (i = 0; max > *best && i < n; i++) {
        if (x[i] == max) {
            *best = max;
            return i;
        }
    }
    return -1;
}

/* ---- the largest of many ---- */

/* The largest of each S-th value; -1e308 where there is none above it. */
static inline void strides(int64_t n, int s, const double *x, double *max) {
    int64_t i = 0;
    for (int l = 0; l < s; l++)
        max[l] = -1e308;
    for (; i + s <= n; i += s)
        for (int l = 0; l < s; l++)
            max[l] = x[i + l] > max[l] ? x[i + l] : max[l];
    for (int l = 0; i + l < n; l++)
        max[l] = x[i + l] > max[l] ? x[i + l] : max[l];
}

/* The count-th largest of s values: the least of those that fewer than `count` are above. */
static inline double ranked(int s, const double *x, int64_t count) {
    double min = 1e308;
    for (int b = 0; b < s; b += L) {
        int64_t above_it[L] = {0};
        for (int j = 0; j < s; j++)
            for (int l = 0; l < L; l++)
                above_it[l] += x[j] > x[b + l];
        for (int l = 0; l < L; l++)
            min = above_it[l] < count && x[b + l] < min ? x[b + l] : min;
    }
    return min;
}

/* Collects the indices of values of at least `least`, ascending. */
static int64_t collect(int64_t n, const double *x, double min, int32_t *out) {
    int64_t count = 0, i = 0;
#ifdef __AVX512VL__
    __m256i index = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    for (; i + L <= n; i += L) {
        __mmask8 reach = _mm512_cmp_pd_mask(_mm512_loadu_pd(x + i), _mm512_set1_pd(min), 29);
        _mm256_storeu_si256((__m256i *)(out + count), _mm256_maskz_compress_epi32(reach, index));
        index = _mm256_add_epi32(index, _mm256_set1_epi32(L));
        count += __builtin_popcount(reach);
    }
#endif
    for (; i + L <= n; i += L) {
        int any = 0;
        for (int l = 0; l < L; l++)
            any |= x[i + l] >= min;
        for (int l = 0; any && l < L; l++) {
            out[count] = (int32_t)(i + l);
            count += x[i + l] >= min;
        }
    }
    for (; i < n; i++) {
        out[count] = (int32_t)i;
        count += x[i] >= min;
    }
    return count;
}

static int64_t shortlist(int64_t n, const double *x, int64_t count, int32_t *out) {
    enum { FEWER = ET_STRIDES / 2 };
    double max[ET_STRIDES], min;
    if (count <= FEWER / 2) {
        strides(n, FEWER, x, max);
        min = ranked(FEWER, max, count);
    } else {
        strides(n, ET_STRIDES, x, max);
        min = ranked(ET_STRIDES, max, count);
    }
    return min > -1e308 ? collect(n, x, min, out) : -1;
}

static void largest_of(int64_t n, const int32_t *list, const double *x, int64_t count,
                       int32_t *out) {
    double value[ET_FEW];
    int64_t before[ET_FEW]; /* how many come first: larger, or equal and earlier */
    int64_t padded = (n + L - 1) / L * L, taken = 0;
    if (list)
        for (int64_t i = 0; i < n; i++)
            value[i] = x[list[i]];
    else
        memcpy(value, x, (size_t)n * sizeof *value);
    for (int64_t i = n; i < padded; i++)
        value[i] = 0;
    for (int64_t b = 0; b < padded; b += L) {
        int64_t rank[L] = {0};
        for (int64_t j = 0; j < n; j++)
            for (int l = 0; l < L; l++)
                rank[l] += (value[j] > value[b + l]) | ((value[j] == value[b + l]) & (j < b + l));
        memcpy(before + b, rank, sizeof rank);
    }
    for (int64_t i = 0; i < n && taken < count; i++) {
        out[taken] = list ? list[i] : (int32_t)i;
        taken += before[i] < count;
    }
}

static void singles(int64_t n, double scale, double value, const double *b, const double *square,
                    const double *logit, double *out) {
    double factor = scale * value, half = value / 2;
    for (int64_t h = 0; h < n; h++)
        out[h] = factor * (b[h] - half * square[h]) + logit[h];
}

extern const et_kernels JOIN(et_kernels_, RB_ISA);
const et_kernels JOIN(et_kernels_, RB_ISA) = {
    .name = TEXT(RB_ISA),
    .energies = energies,
    .largest = largest,
    .exponentials = exponentials,
    .scale = scale,
    .moments = moments,
    .maximum = maximum,
    .responsibilities = responsibilities,
    .dot = dot,
    .sum = sum,
    .above = above,
    .singles = singles,
    .shortlist = shortlist,
    .largest_of = largest_of,
    .add = add,
    .add_weighted = add_weighted,
};
