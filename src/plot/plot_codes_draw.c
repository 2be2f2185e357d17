/* Codes as a heat map, with classes at the left and a colour bar at the right. */
#include "plot.h"

#include <math.h>
#include <stdlib.h>

enum {
    MARGIN_TOP = 62,
    MARGIN_BOTTOM = 60,
    MARGIN_RIGHT = 100,
    LABEL_STEP = 14,
    COUNT_ROOM = 36,
    MOST_LABELS = 230
};

static const rb_colour ink = {0.35, 0.35, 0.35};

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The scale: from 0 to the 99.5th percentile of what is not 0, or about 0 when there are signs. */
static rb_error choose_scale(rb_context *ctx, const rb_codes_picture *p, rb_grid *grid,
                             bool *more) {
    int64_t cells = p->rows * p->units, count = 0;
    double *sorted = rb_alloc(ctx, cells, sizeof *sorted);
    if (!sorted) {
        return RB_ERROR_MEMORY;
    }
    bool negative = false;
    for (int64_t i = 0; i < cells; i++) {
        if (isfinite(p->values[i]) && p->values[i] != 0) {
            negative = negative || p->values[i] < 0;
            sorted[count++] = fabs(p->values[i]);
        }
    }
    qsort(sorted, (size_t)count, sizeof *sorted, ascending);
    double high = count ? sorted[(int64_t)(0.995 * (double)(count - 1))] : 1;
    /* A scale that would hide next to nothing goes to the end. */
    *more = count && sorted[count - 1] > 1.1 * high;
    if (count && !*more) {
        high = sorted[count - 1];
    }
    rb_free(sorted);
    grid->map = negative ? RB_MAP_DIVERGING : RB_MAP_SEQUENTIAL;
    grid->low = negative ? -high : 0;
    grid->high = high;
    return RB_OK;
}

static double label_room(const rb_codes_picture *p) {
    double room = 0;
    for (int64_t g = 0; g < p->n_groups; g++) {
        room = fmax(room, rb_text_room(RB_TEXT_LABEL, p->groups[g].name));
    }
    return fmin(room, MOST_LABELS);
}

static double row_y(const rb_codes_picture *p, rb_box map, double row) {
    return map.y + map.height * row / (double)p->rows;
}

/* The groups that are labelled when there is no memory for all: those of `least` rows or more. */
static int64_t least_rows(const rb_codes_picture *p, int64_t most) {
    for (int64_t least = 0;; least++) {
        int64_t count = 0;
        for (int64_t g = 0; g < p->n_groups; g++) {
            count += p->groups[g].count >= least;
        }
        if (count <= most) {
            return least;
        }
    }
}

static rb_error draw_groups(rb_page *page, const rb_codes_picture *p, rb_box map) {
    double *places = rb_alloc(page->ctx, p->n_groups, sizeof *places);
    if (!places) {
        return RB_ERROR_MEMORY;
    }
    int64_t count = 0, least = least_rows(p, (int64_t)(map.height / LABEL_STEP));
    for (int64_t g = 0; g < p->n_groups; g++) {
        const rb_row_group *group = &p->groups[g];
        if (group->count >= least) {
            double middle = (double)group->first + (double)group->count / 2;
            places[count++] = row_y(p, map, middle);
        }
        if (g > 0) {
            double y = row_y(p, map, (double)group->first);
            rb_page_line(page, map.x - 8, y, map.x + map.width, y, 0.5, ink);
        }
    }
    rb_spread(places, count, LABEL_STEP, map.y + LABEL_STEP / 2.0,
              map.y + map.height - LABEL_STEP / 2.0);
    for (int64_t g = 0, i = 0; g < p->n_groups; g++) {
        const rb_row_group *group = &p->groups[g];
        if (group->count < least) {
            continue;
        }
        char text[32];
        double middle = row_y(p, map, (double)group->first + (double)group->count / 2);
        snprintf(text, sizeof text, "%lld", (long long)group->n_samples);
        rb_page_line(page, map.x - 8, middle, map.x - 20, places[i], 0.5, ink);
        rb_page_text(page, RB_TEXT_TICK, map.x - 24, places[i], 1, 0, text);
        rb_page_text(page, RB_TEXT_LABEL, map.x - 24 - COUNT_ROOM, places[i], 1, MOST_LABELS,
                     group->name);
        i++;
    }
    rb_free(places);
    return RB_OK;
}

/* Numbers of the units, from 0, below their columns, as many as there is room for. */
static void draw_units(rb_page *page, const rb_codes_picture *p, rb_box map) {
    double width = map.width / (double)p->units;
    rb_ticks ticks = {0, 1, (int)p->units};
    if (width < 24) {
        ticks = rb_ticks_choose(0, (double)p->units - 1, (int)(map.width / 40), true);
    }
    for (int i = 0; i < ticks.count; i++) {
        char text[32];
        rb_tick_text(&ticks, i, text, sizeof text);
        double x = map.x + (rb_tick_value(&ticks, i) + 0.5) * width;
        rb_page_text(page, RB_TEXT_TICK, x, map.y + map.height + 12, 0.5, 0, text);
    }
    rb_page_text(page, RB_TEXT_LABEL, map.x + map.width / 2, map.y + map.height + 36, 0.5, 0,
                 "unit");
}

rb_error rb_draw_codes(rb_context *ctx, const rb_codes_picture *p, const rb_plot_options *options,
                       const char *path) {
    rb_page page;
    bool more;
    rb_grid grid = {.values = p->values, .rows = p->rows, .columns = p->units};
    rb_error err = choose_scale(ctx, p, &grid, &more);
    if (err) {
        return err;
    }
    double left = p->n_groups ? label_room(p) + COUNT_ROOM + 34 : 56;
    rb_box map = {left, MARGIN_TOP, RB_PAGE_WIDTH - left - MARGIN_RIGHT,
                  fmin(fmax(12.0 * (double)p->rows, 160), 640)};
    err = rb_page_open(ctx, options, path, map.y + map.height + MARGIN_BOTTOM, &page);
    if (err) {
        return err;
    }
    rb_page_text(&page, RB_TEXT_TITLE, map.x, 30, 0, RB_PAGE_WIDTH - map.x - 20, p->title);
    rb_page_heatmap(&page, map, &grid);
    if (p->n_groups) {
        err = draw_groups(&page, p, map);
    } else {
        char text[64];
        snprintf(text, sizeof text, "%lld samples", (long long)p->n_samples);
        rb_page_text_up(&page, RB_TEXT_LABEL, map.x - 18, map.y + map.height / 2, text);
    }
    rb_page_frame(&page, map, 0.5, ink);
    draw_units(&page, p, map);
    rb_box bar = {map.x + map.width + 36, map.y + 12, 12, fmin(map.height - 24, 200)};
    rb_page_colour_bar(&page, bar, &grid, more, "code");
    return rb_page_close(&page, err);
}
