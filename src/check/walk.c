/* Every value once: sums of samples and features, extremes, hashes; and a part of the samples,
 * evenly spread, is kept: all, or pairs of neighbours. Of much data stretches are looked at, evenly
 * spread too. */
#include "check.h"

#include <math.h>

enum {
    STRETCHES = 64,
    MAX_SAMPLES = 1 << 20,
    BLOCK_VALUES = 1 << 18,
    PART_SAMPLES = 500,
    PART_FEATURES = 4096
};
static const int64_t max_values = (int64_t)1 << 30;

/* ---- tallies ---- */

double rb_tally_mean(const rb_tally *t) {
    return t->present ? t->shift + t->sum / (double)t->present : NAN;
}

double rb_tally_sd(const rb_tally *t) {
    double n = (double)t->present, mean = t->sum / n;
    return t->low == t->high ? 0 : sqrt(fmax(0, t->squares / n - mean * mean));
}

static void tally_value(rb_tally *t, int64_t place, double value) {
    if (isnan(value)) {
        t->missing++;
        t->hash += rb_hash_value(place, NAN);
        return;
    }
    if (t->present == 0) t->shift = value;
    double d = value - t->shift;
    t->present++;
    t->sum += d;
    t->squares += d * d;
    t->low = fmin(t->low, value);
    t->high = fmax(t->high, value);
    if (value != 0) {
        t->nonzeros++;
        t->hash += rb_hash_value(place, value);
    }
}

/* Zeros that are not stored. */
static void tally_zeros(rb_tally *t, int64_t count) {
    if (count <= 0) return;
    t->present += count;
    t->sum -= (double)count * t->shift;
    t->squares += (double)count * t->shift * t->shift;
    t->low = fmin(t->low, 0);
    t->high = fmax(t->high, 0);
}

static void extreme_add(rb_extreme *e, double value, double sign) {
    if (value == e->value)
        e->count++;
    else if (sign * value > sign * e->value)
        *e = (rb_extreme){value, e->value, 1};
    else if (sign * value > sign * e->next)
        e->next = value;
}

/* ---- values ---- */

static void note_distinct(rb_look *look, double value) {
    for (int v = 0; v < look->distinct && v < 2; v++)
        if (look->seen[v] == value) return;
    if (look->distinct < 2) look->seen[look->distinct] = value;
    look->distinct += look->distinct < 3;
}

static void add_value(rb_look *look, int64_t j, int64_t k, double value) {
    if (isinf(value)) {
        if (look->infinite++ == 0) {
            look->infinite_sample = rb_look_sample(look, j);
            look->infinite_feature = k;
        }
        return;
    }
    tally_value(&look->samples[j], k, value);
    tally_value(&look->features[k], j, value);
    if (isnan(value)) {
        look->missing++;
        return;
    }
    look->values++;
    look->nonzeros += value != 0;
    look->whole += value == floor(value);
    if (look->distinct < 3) note_distinct(look, value);
    extreme_add(&look->low, value, -1);
    extreme_add(&look->high, value, 1);
}

static void add_zeros(rb_look *look, int64_t count) {
    if (count <= 0) return;
    look->values += count;
    look->whole += count;
    note_distinct(look, 0);
    extreme_add(&look->low, 0, -1);
    extreme_add(&look->high, 0, 1);
}

static void add_row(rb_look *look, const rb_matrix *m, int64_t i, int64_t j) {
    int64_t e = m->sparse ? m->starts[i] - m->starts[0] : 0;
    int64_t end = m->sparse ? m->starts[i + 1] - m->starts[0] : m->n_features;
    int64_t stored = end - e;
    for (; e < end; e++) {
        int64_t at = m->sparse ? e : i * m->row_stride + e * m->column_stride;
        add_value(look, j, m->sparse ? m->columns[e] : e, rb_get(m->type, m->values, at));
    }
    tally_zeros(&look->samples[j], look->m - stored);
    add_zeros(look, look->m - stored);
}

/* ---- the part ---- */

bool rb_look_drops(const rb_look *look, int64_t j) {
    bool constant = !(look->samples[j].low < look->samples[j].high);
    return constant && look->m > 1 && !rb_is_picture(look->source);
}

int64_t rb_look_kept(const rb_look *look) {
    if (look->kind == RB_KIND_PIXELS) return look->n;
    return look->n - (int64_t)((double)look->n * (double)look->dropped / (double)look->looked);
}

/* Place in the part of a sample that comes after those that are in it, or -1. What an advised fit
 * drops leaves its place to the next. */
static int64_t place_in_part(const rb_look *look, int64_t j) {
    int64_t p = look->part_kept;
    return p < look->part_n && j >= look->part_samples[p] ? p : -1;
}

static void keep_row(rb_look *look, const rb_matrix *m, int64_t i, int64_t p) {
    double *row = look->part + p * look->part_m;
    for (int64_t c = 0; c < look->part_m && !m->sparse; c++) {
        int64_t k = look->part_features[c];
        row[c] = rb_get(m->type, m->values, i * m->row_stride + k * m->column_stride);
    }
    int64_t c = 0;
    for (int64_t e = m->sparse ? m->starts[i] : 0; m->sparse && e < m->starts[i + 1]; e++) {
        int64_t at = e - m->starts[0];
        while (c < look->part_m && look->part_features[c] < m->columns[at])
            c++;
        if (c < look->part_m && look->part_features[c] == m->columns[at])
            row[c] = rb_get(m->type, m->values, at);
    }
}

/* ---- the walk ---- */

/* The stretches are of equal length, but for one. */
static int64_t stretch_begin(const rb_look *look, int64_t s) {
    return s * look->looked / look->stretches;
}

static int64_t stretch_of(const rb_look *look, int64_t j) {
    int64_t s = j * look->stretches / look->looked;
    while (s + 1 < look->stretches && stretch_begin(look, s + 1) <= j)
        s++;
    while (s > 0 && stretch_begin(look, s) > j)
        s--;
    return s;
}

int64_t rb_look_sample(const rb_look *look, int64_t j) {
    int64_t s = stretch_of(look, j);
    int64_t first = (int64_t)((double)look->n * (double)s / (double)look->stretches);
    return first + j - stretch_begin(look, s);
}

static void choose(rb_look *look, int64_t max_samples) {
    int64_t most = max_samples > 0 ? max_samples : MAX_SAMPLES;
    if (max_samples == 0 && look->m > 0 && max_values / look->m < most) most = max_values / look->m;
    most = most < 1 ? 1 : most;
    look->looked = look->n < most ? look->n : most;
    look->stretches = look->looked == look->n    ? 1
                      : look->looked < STRETCHES ? look->looked
                                                 : STRETCHES;
    look->part_n = look->looked < PART_SAMPLES ? look->looked : PART_SAMPLES;
    look->part_step = look->part_n < look->looked ? 2 : 1;
    look->part_m = look->m < PART_FEATURES ? look->m : PART_FEATURES;
}

static rb_error take_memory(rb_look *look) {
    rb_scratch *s = &look->scratch;
    int64_t cells = 0;
    if (!rb_multiply(look->part_n, look->part_m, &cells)) return RB_ERROR_MEMORY;
    look->samples = rb_take(s, look->looked, sizeof *look->samples);
    look->features = rb_take(s, look->m, sizeof *look->features);
    look->part = rb_take(s, cells, sizeof *look->part);
    look->part_samples = rb_take(s, look->part_n, sizeof *look->part_samples);
    look->part_features = rb_take(s, look->part_m, sizeof *look->part_features);
    if (s->err) return s->err;
    int64_t step = look->part_step;
    rb_tally none = {.low = INFINITY, .high = -INFINITY};
    for (int64_t j = 0; j < look->looked; j++)
        look->samples[j] = none;
    for (int64_t k = 0; k < look->m; k++)
        look->features[k] = none;
    for (int64_t p = 0; p < look->part_n; p++)
        look->part_samples[p] = p / step * step * look->looked / look->part_n + p % step;
    for (int64_t c = 0; c < look->part_m; c++)
        look->part_features[c] = c * look->m / look->part_m;
    return RB_OK;
}

static rb_error walk_stretch(rb_look *look, int64_t s) {
    int64_t j = stretch_begin(look, s), end = stretch_begin(look, s + 1);
    int64_t step = look->m > 0 && look->m < BLOCK_VALUES ? BLOCK_VALUES / look->m : 1;
    rb_error err = RB_OK;
    while (!err && j < end) {
        rb_matrix view;
        int64_t count = end - j < step ? end - j : step;
        err = rb_source_read(look->ctx, look->source, rb_look_sample(look, j), count, &view);
        for (int64_t i = 0; !err && i < count; i++, j++) {
            add_row(look, &view, i, j);
            bool drops = rb_look_drops(look, j);
            int64_t p = drops ? -1 : place_in_part(look, j);
            look->dropped += drops;
            if (p < 0) continue;
            keep_row(look, &view, i, p);
            look->part_samples[p] = j;
            look->part_kept = p + 1;
        }
    }
    return err;
}

rb_error rb_look_walk(rb_look *look, int64_t max_samples) {
    choose(look, max_samples);
    look->low = (rb_extreme){INFINITY, INFINITY, 0};
    look->high = (rb_extreme){-INFINITY, -INFINITY, 0};
    rb_error err = take_memory(look);
    for (int64_t s = 0; !err && s < look->stretches && look->looked > 0; s++)
        err = walk_stretch(look, s);
    for (int64_t k = 0; !err && look->source->sparse && k < look->m; k++)
        tally_zeros(&look->features[k],
                    look->looked - look->features[k].present - look->features[k].missing);
    look->part_n = look->part_kept / look->part_step * look->part_step;
    return err;
}
