/* Gathers the codes for their picture: rows ordered by class, and averaged where they are many.
 *
 * The codes are asked for block by block and never kept: once to find each sample's strongest unit,
 * when samples are ordered by class, and once to fill the rows.
 */
#include "plot.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_ROWS = 1500 };

/* Where a sample goes. */
typedef struct sample_key {
    int64_t class_index; /* INT64_MAX without a label */
    int64_t strongest;   /* unit; the number of units for a sample without codes: it comes last */
    double strength;
    int64_t sample;
} sample_key;

typedef struct gathering {
    rb_context *ctx;
    const rb_model *model;
    rb_source *source;
    rb_labels labels;
    sample_key *keys; /* when there are labels */
    int64_t *place;   /* of each sample in the order; NULL: its own index */
    double *values;   /* rows x units, sums at first */
    int64_t *in_row;  /* samples that a row averages */
    rb_row_group *groups;
    int64_t n_groups;
    int64_t rows, units, n_samples;
} gathering;

static void clear(gathering *g) {
    rb_labels_clear(&g->labels);
    rb_free(g->keys);
    rb_free(g->place);
    rb_free(g->values);
    rb_free(g->in_row);
    rb_free(g->groups);
}

/* The row of a place in the order. */
static int64_t row_of(const gathering *g, int64_t place) {
    return (int64_t)((double)place * (double)g->rows / (double)g->n_samples);
}

static rb_error find_strongest(void *user, int64_t first, const rb_matrix *codes) {
    gathering *g = user;
    for (int64_t i = 0; i < rb_matrix_samples(codes); i++) {
        sample_key *key = &g->keys[first + i];
        int64_t class_index = g->labels.class_of[first + i];
        *key = (sample_key){class_index < 0 ? INT64_MAX : class_index, g->units, 0, first + i};
        for (int64_t u = 0; u < g->units; u++) {
            double code = fabs(rb_matrix_at(codes, i, u));
            if (code > key->strength) {
                key->strength = code;
                key->strongest = u;
            }
        }
    }
    return RB_OK;
}

static int compare_keys(const void *a, const void *b) {
    const sample_key *x = a, *y = b;
    if (x->class_index != y->class_index) {
        return x->class_index < y->class_index ? -1 : 1;
    }
    if (x->strongest != y->strongest) {
        return x->strongest < y->strongest ? -1 : 1;
    }
    if (x->strength != y->strength) {
        return x->strength > y->strength ? -1 : 1;
    }
    return x->sample < y->sample ? -1 : 1;
}

/* Neighbours in the order that share a class become a group. */
static void find_groups(gathering *g) {
    for (int64_t start = 0, end; start < g->n_samples; start = end) {
        int64_t class_index = g->keys[start].class_index;
        for (end = start; end < g->n_samples && g->keys[end].class_index == class_index; end++) {
            g->place[g->keys[end].sample] = end;
        }
        const char *name =
            class_index == INT64_MAX ? "(no label)" : g->labels.classes->text[class_index];
        int64_t first = row_of(g, start), last = row_of(g, end - 1);
        g->groups[g->n_groups++] = (rb_row_group){name, end - start, first, last - first + 1};
    }
}

static rb_error order_by_class(gathering *g, const char *path) {
    rb_error err = rb_labels_read(g->ctx, path, g->source, &g->labels);
    if (err) {
        return err;
    }
    g->keys = rb_alloc(g->ctx, g->n_samples, sizeof *g->keys);
    g->place = rb_alloc(g->ctx, g->n_samples, sizeof *g->place);
    g->groups = rb_alloc(g->ctx, g->labels.classes->count + 1, sizeof *g->groups);
    if (!g->keys || !g->place || !g->groups) {
        return RB_ERROR_MEMORY;
    }
    err = rb_encode(g->ctx, g->model, g->source, find_strongest, g);
    if (!err) {
        qsort(g->keys, (size_t)g->n_samples, sizeof *g->keys, compare_keys);
        find_groups(g);
    }
    return err;
}

static rb_error add_rows(void *user, int64_t first, const rb_matrix *codes) {
    gathering *g = user;
    for (int64_t i = 0; i < rb_matrix_samples(codes); i++) {
        int64_t row = row_of(g, g->place ? g->place[first + i] : first + i);
        g->in_row[row]++;
        for (int64_t u = 0; u < g->units; u++) {
            g->values[row * g->units + u] += rb_matrix_at(codes, i, u);
        }
    }
    return RB_OK;
}

static rb_error gather(gathering *g, const char *labels) {
    rb_error err = RB_OK;
    if (g->n_samples == 0) {
        return rb_fail(g->ctx, RB_ERROR_DATA, "there are no samples to draw");
    }
    g->rows = g->n_samples < MOST_ROWS ? g->n_samples : MOST_ROWS;
    g->values = rb_alloc_zero(g->ctx, g->rows * g->units, sizeof *g->values);
    g->in_row = rb_alloc_zero(g->ctx, g->rows, sizeof *g->in_row);
    if (!g->values || !g->in_row) {
        return RB_ERROR_MEMORY;
    }
    if (labels) {
        err = order_by_class(g, labels);
    }
    if (!err) {
        err = rb_encode(g->ctx, g->model, g->source, add_rows, g);
    }
    for (int64_t i = 0; i < g->rows * g->units && !err; i++) {
        int64_t row = i / g->units;
        g->values[i] /= (double)g->in_row[row];
    }
    return err;
}

rb_error rb_plot_codes(rb_context *ctx, const rb_model *model, rb_source *source,
                       const rb_options *given, const char *path) {
    rb_plot_options chosen, *options = &chosen;
    rb_error err = rb_page_check(ctx, given, &chosen, path);
    if (err) {
        return err;
    }
    gathering g = {.ctx = ctx,
                   .model = model,
                   .source = source,
                   .units = rb_model_units(model),
                   .n_samples = rb_source_samples(source)};
    err = gather(&g, options->labels);
    if (!err) {
        char title[128];
        snprintf(title, sizeof title, "Codes of %lld samples, %lld units", (long long)g.n_samples,
                 (long long)g.units);
        rb_codes_picture picture = {g.values,
                                    g.rows,
                                    g.units,
                                    g.n_samples,
                                    g.groups,
                                    g.n_groups,
                                    options->title ? options->title : title};
        err = rb_draw_codes(ctx, &picture, options, path);
    }
    clear(&g);
    return err;
}
