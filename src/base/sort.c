/* Numbers in ascending order, and their quantiles. */
#include "base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_numbers(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void rb_sort_numbers(double *values, int64_t count) {
    if (count > 1) qsort(values, (size_t)count, sizeof *values, compare_numbers);
}

static double middle_of(double a, double b, double c) {
    return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/* Those below the pivot, or equal to it too, come first, without a branch that would be guessed
 * wrong; how many? */
static int64_t split(double *v, int64_t count, double pivot, bool equal) {
    int64_t first = 0;
    for (int64_t i = 0; i < count; i++) {
        double x = v[i];
        v[i] = v[first];
        v[first] = x;
        first += (x < pivot) | (equal & (x == pivot));
    }
    return first;
}

/* FIND of C. A. R. Hoare, Comm. ACM 4 (1961). What it does not settle in some rounds is sorted. */
void rb_place_number(double *v, int64_t count, int64_t k) {
    for (int round = 0; count > 1 && round < 64; round++) {
        double pivot = middle_of(v[0], v[count / 2], v[count - 1]);
        int64_t less = split(v, count, pivot, false);
        if (k < less) {
            count = less;
            continue;
        }
        int64_t most = less + split(v + less, count - less, pivot, true);
        if (k < most) return;
        v += most;
        count -= most;
        k -= most;
    }
    rb_sort_numbers(v, count);
}

/* Of numbers that number k is among, and its follower, those come to the front that are between two
 * of an even sample, without a branch that would be guessed wrong. Gives their number, and changes
 * k to its place among them; all, if the sample was a poor one. */
static int64_t bring_near(double *v, int64_t count, int64_t *k) {
    int64_t sample = (int64_t)cbrt((double)count * (double)count), step = count / sample;
    double share = (double)*k / (double)count, at = share * (double)sample;
    int64_t spread = (int64_t)(3 * sqrt(at * (1 - share))) + 2, first = (int64_t)at - spread;
    int64_t last = (int64_t)at + spread, below = 0, near = 0;
    for (int64_t i = 0; i < sample; i++) {
        double moved = v[i];
        v[i] = v[i * step];
        v[i * step] = moved;
    }
    if (first >= 0) rb_place_number(v, sample, first);
    double low = first >= 0 ? v[first] : -INFINITY;
    if (last < sample) rb_place_number(v, sample, last);
    double high = last < sample ? v[last] : INFINITY;
    for (int64_t i = 0; i < count; i++) {
        double x = v[i];
        v[i] = v[near];
        v[near] = x;
        below += x < low;
        near += (x >= low) & (x <= high);
    }
    if (*k < below || *k + 1 >= below + near) return count;
    *k -= below;
    return near;
}

double rb_quantile_in(double *values, int64_t count, double share) {
    enum { MANY = 512 };
    if (count < 1) return NAN;
    double at = share * (double)(count - 1), next = INFINITY;
    int64_t below = (int64_t)at;
    double part = at - (double)below;
    if (count >= MANY) count = bring_near(values, count, &below);
    rb_place_number(values, count, below);
    for (int64_t i = below + 1; i < count && part > 0; i++)
        next = fmin(next, values[i]);
    return part > 0 ? values[below] + part * (next - values[below]) : values[below];
}

double rb_numbered(int64_t number) {
    uint64_t bits = number < 0 ? (uint64_t)(-number) | (uint64_t)1 << 63 : (uint64_t)number;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int compare_integers(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void rb_sort_integers(int64_t *values, int64_t count) {
    if (count > 1) qsort(values, (size_t)count, sizeof *values, compare_integers);
}

double rb_quantile_of(const double *sorted, int64_t count, double share) {
    if (count < 1) return NAN;
    double at = share * (double)(count - 1);
    int64_t below = (int64_t)at;
    double part = at - (double)below;
    return below + 1 < count ? sorted[below] + part * (sorted[below + 1] - sorted[below])
                             : sorted[count - 1];
}
