/* The largest of many, of one process or of all. */
#include "engine.h"

#include <math.h>
#include <string.h>

et_cut et_cut_find(const double *values, int64_t first, int64_t n, int64_t count, double *work) {
    memcpy(work, values, (size_t)n * sizeof *work);
    rb_place_number(work, n, n - count);
    et_cut cut = {work[n - count], -1};
    int64_t equal = count;
    for (int64_t i = 0; i < n; i++)
        equal -= values[i] > cut.min;
    for (int64_t i = 0; equal > 0 && i < n; i++) { /* NaN equals nothing */
        if (values[i] == cut.min) {
            cut.last = first + i;
            equal--;
        }
    }
    return cut;
}

/* ---- of all processes ---- */

struct share {
    rb_context *ctx;
    const double *values;
    int64_t first, n;
};

/* How many of all values are at least `min`; how many of those equal to it are up to a place. */
static int64_t count_from(const struct share *s, double min) {
    int64_t count = 0;
    for (int64_t i = 0; i < s->n; i++)
        count += s->values[i] >= min;
    rb_comm_count(s->ctx, 1, &count);
    return count;
}

static int64_t count_equal(const struct share *s, double value, int64_t place) {
    int64_t count = 0;
    for (int64_t i = 0; i < s->n && s->first + i <= place; i++)
        count += s->values[i] == value;
    rb_comm_count(s->ctx, 1, &count);
    return count;
}

et_cut et_cut_find_all(rb_context *ctx, const double *values, int64_t first, int64_t n, int64_t all,
                       int64_t count) {
    const int64_t infinity = 0x7FF0000000000000;
    const struct share share = {ctx, values, first, n};
    int64_t low = -infinity, high = infinity, start = -1, end = all - 1;
    while (low < high) { /* the largest number that `count` are at least */
        int64_t middle = low + (int64_t)(((uint64_t)high - (uint64_t)low + 1) / 2);
        if (count_from(&share, rb_numbered(middle)) >= count)
            low = middle;
        else
            high = middle - 1;
    }
    double min = rb_numbered(low);
    int64_t equal = count - (low < infinity ? count_from(&share, rb_numbered(low + 1)) : 0);
    while (start < end) { /* the first place up to which there are enough */
        int64_t middle = start + (end - start) / 2;
        if (count_equal(&share, min, middle) >= equal)
            end = middle;
        else
            start = middle + 1;
    }
    return (et_cut){min, start};
}
