/* Codes as a heat map, with classes at the left and a colour bar at the right.
 *
 * Rows are ordered by class and strongest unit, and averaged where they are many. The codes are
 * asked for block by block and never kept: once for the order, and once to fill the rows.
 */
#include "plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_ROWS = 1500,
    MARGIN_TOP = 62,
    MARGIN_BOTTOM = 60,
    MARGIN_RIGHT = 100,
    LABEL_STEP = 15,
    NAMED_ROWS = 110, /* at most, for names of samples */
    NAME_STEP = 12,
    COUNT_WIDTH = 36,
    MAX_LABEL = 230
};

static const rb_colour ink = {0.35, 0.35, 0.35};

/* ---- drawing ---- */

/* The scale: from 0 to the 99.5th percentile of what is not 0, or about 0 when there are signs. */
static rb_error choose_scale(rb_context *ctx, const rb_codes_plot *p, rb_grid *grid, bool *more) {
    int64_t count = 0;
    bool negative = false;
    double *sorted = rb_alloc(ctx, p->rows * p->units, sizeof *sorted);
    if (!sorted) return RB_ERROR_MEMORY;
    for (int64_t i = 0; i < p->rows * p->units; i++) {
        if (isfinite(p->values[i]) && p->values[i] != 0) {
            negative = negative || p->values[i] < 0;
            sorted[count++] = fabs(p->values[i]);
        }
    }
    rb_sort_numbers(sorted, count);
    double largest = count ? sorted[count - 1] : 1;
    double high = count ? sorted[(int64_t)(0.995 * (double)(count - 1))] : 1;
    /* A scale that would hide next to nothing goes to the end. */
    *more = largest > 1.1 * high;
    grid->high = *more ? high : largest;
    grid->low = negative ? -grid->high : 0;
    grid->map = negative ? RB_MAP_DIVERGING : RB_MAP_SEQUENTIAL;
    rb_free(sorted);
    return RB_OK;
}

static double row_y(const rb_codes_plot *p, rb_box map, double row) {
    return map.y + map.height * row / (double)p->rows;
}

static double middle_y(const rb_codes_plot *p, rb_box map, const rb_row_group *g) {
    return row_y(p, map, (double)g->first + (double)g->count / 2);
}

/* The groups that are labelled when not all fit: those of so many rows or more. */
static int64_t min_rows(const rb_codes_plot *p, int64_t max) {
    for (int64_t rows = 0;; rows++) {
        int64_t count = 0;
        for (int64_t g = 0; g < p->n_groups; g++)
            count += p->groups[g].count >= rows;
        if (count <= max) return rows;
    }
}

static rb_error draw_groups(rb_page *page, const rb_codes_plot *p, rb_box map) {
    const rb_row_group *end = p->groups + p->n_groups;
    double *places = rb_alloc(page->ctx, p->n_groups, sizeof *places), *place = places;
    int64_t count = 0, min = min_rows(p, (int64_t)(map.height / LABEL_STEP));
    if (!places) return RB_ERROR_MEMORY;
    for (const rb_row_group *g = p->groups; g < end; g++) {
        rb_box strip = {map.x - 9, row_y(p, map, (double)g->first), 6, 0};
        strip.height = row_y(p, map, (double)(g->first + g->count)) - strip.y;
        rb_page_fill(page, strip, rb_class_colour(g->class_index));
        if (g->count >= min) places[count++] = middle_y(p, map, g);
        if (g > p->groups) {
            double y = row_y(p, map, (double)g->first);
            rb_page_line(page, map.x - 8, y, map.x + map.width, y, 0.5, ink);
        }
    }
    rb_spread(places, count, LABEL_STEP, map.y + LABEL_STEP / 2.0,
              map.y + map.height - LABEL_STEP / 2.0);
    for (const rb_row_group *g = p->groups; g < end; g++) {
        if (g->count >= min) {
            char text[32];
            double y = *place++;
            snprintf(text, sizeof text, "%lld", (long long)g->n_samples);
            rb_page_line(page, map.x - 8, middle_y(p, map, g), map.x - 20, y, 0.5, ink);
            rb_page_text(page, RB_TEXT_TICK, map.x - 24, y, 1, 0, text);
            rb_page_text(page, RB_TEXT_LABEL, map.x - 24 - COUNT_WIDTH, y, 1, MAX_LABEL, g->name);
        }
    }
    rb_free(places);
    return RB_OK;
}

static rb_box place_map(const rb_codes_plot *p) {
    double left = 0, names = rb_names_space(p->names, p->rows);
    for (int64_t g = 0; g < p->n_groups; g++)
        left = fmax(left, rb_text_width(RB_TEXT_LABEL, p->groups[g].name));
    left = p->n_groups ? fmin(left, MAX_LABEL) + COUNT_WIDTH + 34 : 56;
    return (rb_box){left, MARGIN_TOP, RB_PAGE_WIDTH - left - MARGIN_RIGHT - names,
                    p->names ? fmax(NAME_STEP * (double)p->rows, 160)
                             : fmin(fmax(12.0 * (double)p->rows, 160), 640)};
}

/* Rows that are more than one sample, and units that are no modules. */
static void tell(rb_page *page, const rb_codes_plot *p, rb_box map) {
    char text[80 + RB_NOTE_SIZE] = "";
    const char *note = p->note ? p->note : "";
    if (p->n_samples > p->rows) {
        snprintf(text, 80, "a row is the mean of up to %lld neighbouring samples%s",
                 (long long)((p->n_samples + p->rows - 1) / p->rows), *note ? "; " : "");
    }
    strncat(text, note, RB_NOTE_SIZE - 1);
    rb_page_text(page, RB_TEXT_TICK, map.x, 49, 0, RB_PAGE_WIDTH - map.x - 20, text);
}

rb_error rb_draw_codes(rb_context *ctx, const rb_codes_plot *p, const rb_plot_options *options,
                       const char *path) {
    rb_page page;
    bool more;
    rb_grid grid = {.values = p->values, .rows = p->rows, .columns = p->units};
    rb_error err = choose_scale(ctx, p, &grid, &more);
    if (err) return err;
    rb_box map = place_map(p);
    err = rb_page_open(ctx, options, path, map.y + map.height + MARGIN_BOTTOM, &page);
    if (err) return err;
    rb_page_title(&page, map.x, 30, 0, p->title);
    tell(&page, p, map);
    rb_page_heatmap(&page, map, &grid);
    if (p->n_groups) {
        err = draw_groups(&page, p, map);
    } else {
        char text[64];
        snprintf(text, sizeof text, "%lld samples", (long long)p->n_samples);
        rb_page_text_up(&page, RB_TEXT_LABEL, map.x - 18, map.y + map.height / 2, 0.5, 0, text);
    }
    rb_page_frame(&page, map, 0.5, ink);
    rb_page_numbers(&page, RB_TEXT_TICK, map.x, map.y + map.height + 12,
                    map.width / (double)p->units, p->units);
    rb_page_text(&page, RB_TEXT_LABEL, map.x + map.width / 2, map.y + map.height + 36, 0.5, 0,
                 "unit");
    rb_page_names_right(&page, map, p->names, p->rows);
    rb_box bar = {RB_PAGE_WIDTH - MARGIN_RIGHT + 36, map.y + 12, 12, fmin(map.height - 24, 200)};
    rb_page_colour_bar(&page, bar, &grid, more, "code");
    return rb_page_close(&page, err);
}

/* ---- gathering ---- */

/* What the key of a sample says of it, in the order of the rows: no class is INFINITY; samples
 * without codes come last, their unit is the number of units. */
enum { CLASS, STRONGEST, MINUS_STRENGTH, SAMPLE };

typedef struct gathering {
    rb_scratch scratch; /* has all arrays */
    rb_codes_plot plot; /* its values are sums at first */
    rb_classes labels;
    bool by_unit;    /* else samples stay in their order, within a class */
    rb_key *keys;    /* where samples are ordered */
    int64_t *place;  /* of each sample in the order; NULL: its own index */
    int64_t *in_row; /* samples that a row averages */
} gathering;

/* The row of a place in the order. */
static int64_t row_of(const gathering *g, int64_t place) {
    return (int64_t)((double)place * (double)g->plot.rows / (double)g->plot.n_samples);
}

static rb_error find_keys(void *user, int64_t first, const rb_matrix *codes) {
    gathering *g = user;
    for (int64_t i = 0; i < rb_matrix_samples(codes); i++) {
        double *key = g->keys[first + i];
        int64_t class_index = g->labels.class_of ? g->labels.class_of[first + i] : 0;
        key[CLASS] = class_index < 0 ? INFINITY : (double)class_index;
        key[STRONGEST] = (double)g->plot.units;
        key[MINUS_STRENGTH] = 0;
        key[SAMPLE] = (double)(first + i);
        for (int64_t u = 0; g->by_unit && u < g->plot.units; u++) {
            double code = fabs(rb_matrix_at(codes, i, u));
            if (code > -key[MINUS_STRENGTH]) {
                key[MINUS_STRENGTH] = -code;
                key[STRONGEST] = (double)u;
            }
        }
    }
    return RB_OK;
}

/* Neighbours in the order that share a class become a group. */
static void find_groups(gathering *g) {
    int64_t n = g->plot.n_samples;
    for (int64_t start = 0, end; start < n; start = end) {
        double class_index = g->keys[start][CLASS];
        for (end = start; end < n && g->keys[end][CLASS] == class_index;)
            end++;
        const char *name =
            isfinite(class_index) ? g->labels.names[(int64_t)class_index] : RB_NO_LABEL;
        int64_t place =
            isfinite(class_index) ? rb_classes_place(&g->labels, (int64_t)class_index) : -1;
        int64_t first = row_of(g, start), last = row_of(g, end - 1);
        g->plot.groups[g->plot.n_groups++] =
            (rb_row_group){name, place, end - start, first, last - first + 1};
    }
}

static rb_error read_classes(gathering *g, rb_source *source, const char *path) {
    rb_error err = rb_classes_read(g->scratch.ctx, path, source, &g->labels);
    if (err) return err;
    g->plot.groups = rb_take(&g->scratch, g->labels.n_classes + 1, sizeof *g->plot.groups);
    return g->scratch.err;
}

static rb_error order_samples(gathering *g, const rb_model *model, rb_source *source) {
    int64_t n = g->plot.n_samples;
    g->keys = rb_take(&g->scratch, n, sizeof *g->keys);
    g->place = rb_take(&g->scratch, n, sizeof *g->place);
    rb_error err = g->scratch.err;
    err = err ? err : rb_encode(g->scratch.ctx, model, source, find_keys, g);
    if (err) return err;
    rb_sort_keys(g->keys, n);
    for (int64_t place = 0; place < n; place++)
        g->place[(int64_t)g->keys[place][SAMPLE]] = place;
    if (g->plot.groups) find_groups(g);
    return RB_OK;
}

static rb_error add_rows(void *user, int64_t first, const rb_matrix *codes) {
    gathering *g = user;
    for (int64_t i = 0; i < rb_matrix_samples(codes); i++) {
        int64_t row = row_of(g, g->place ? g->place[first + i] : first + i);
        g->in_row[row]++;
        for (int64_t u = 0; u < g->plot.units; u++)
            g->plot.values[row * g->plot.units + u] += rb_matrix_at(codes, i, u);
    }
    return RB_OK;
}

static rb_error find_names(gathering *g, const rb_source *source) {
    rb_codes_plot *p = &g->plot;
    if (p->n_samples > NAMED_ROWS || !rb_source_sample_name(source, 0)) return RB_OK;
    p->names = rb_take(&g->scratch, p->n_samples, sizeof *p->names);
    for (int64_t i = 0; p->names && i < p->n_samples; i++)
        p->names[row_of(g, g->place ? g->place[i] : i)] = rb_source_sample_name(source, i);
    return g->scratch.err;
}

static rb_error gather(gathering *g, const rb_model *model, rb_source *source, const char *labels) {
    rb_codes_plot *p = &g->plot;
    rb_context *ctx = g->scratch.ctx;
    if (p->n_samples == 0) return rb_fail(ctx, RB_ERROR_DATA, "there are no samples to draw");
    p->values = rb_take(&g->scratch, p->rows * p->units, sizeof *p->values);
    g->in_row = rb_take(&g->scratch, p->rows, sizeof *g->in_row);
    rb_error err = g->scratch.err;
    err = err || !labels ? err : read_classes(g, source, labels);
    err = err || !(labels || g->by_unit) ? err : order_samples(g, model, source);
    err = err ? err : find_names(g, source);
    err = err ? err : rb_encode(ctx, model, source, add_rows, g);
    for (int64_t i = 0; i < p->rows * p->units && !err; i++) {
        int64_t row = i / p->units;
        p->values[i] /= (double)g->in_row[row];
    }
    return err;
}

rb_error rb_plot_codes(rb_context *ctx, const rb_model *model, rb_source *source,
                       const rb_options *given, const char *path) {
    rb_plot_options options;
    rb_error err = rb_page_check(ctx, given, &options, path);
    if (err) return err;
    char title[RB_TITLE_SIZE], note[RB_NOTE_SIZE];
    int64_t n = rb_source_samples(source), units = rb_model_units(model);
    snprintf(title, sizeof title, "Codes of %lld samples, %lld units", (long long)n,
             (long long)units);
    gathering g = {.scratch.ctx = ctx,
                   .labels.size = sizeof g.labels,
                   .by_unit = options.order == RB_ORDER_UNIT,
                   .plot = {.rows = n < MAX_ROWS ? n : MAX_ROWS,
                            .units = units,
                            .n_samples = n,
                            .title = title,
                            .note = note}};
    err = gather(&g, model, source, options.labels);
    err = err ? err : rb_find_roles(ctx, model, source, -1, note, sizeof note);
    g.scratch.err = err ? err : rb_draw_codes(ctx, &g.plot, &options, path);
    rb_classes_clear(&g.labels);
    return rb_scratch_end(&g.scratch);
}
