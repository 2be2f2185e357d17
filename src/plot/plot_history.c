/* Objective over the iterations: a line, and below it what else the fit tells of each iteration:
 * E-step objective, KKT residual, what moved the codes; of a fit that cools log-likelihood, free
 * energy and temperature. */
#include "plot.h"

#include <rarebit/rfn.h>

#include <math.h>

static const rb_colour ink = {0.35, 0.35, 0.35};
static const rb_colour faint = {0.88, 0.88, 0.88};

enum { PANEL_HEIGHT = 270, PANEL_STEP = 330, MARGIN_TOP = 60, MARGIN_BOTTOM = 60 };

enum { LEFT = 112, WIDTH = 756, MOST_KINDS = 16 };

/* A panel and the ranges it shows. */
typedef struct panel {
    rb_box box;
    double low, high;               /* of the values */
    int64_t count;                  /* iterations */
    int kinds[MOST_KINDS], n_kinds; /* of values that are numbers of kinds: those that occur */
} panel;

/* The range of the finite values, with a margin; false when there is none. */
static bool find_range(const double *values, int64_t count, panel *p) {
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < count; i++) {
        if (isfinite(values[i])) {
            low = fmin(low, values[i]);
            high = fmax(high, values[i]);
        }
    }
    double margin = high > low ? 0.05 * (high - low) : fmax(0.05 * fabs(low), 1e-6);
    p->low = low - margin;
    p->high = high + margin;
    return low <= high;
}

/* The row of a kind, from 0 at the bottom; n_kinds: it has none. */
static int row_of(const panel *p, double kind) {
    int row = 0;
    while (row < p->n_kinds && p->kinds[row] != (int)kind) {
        row++;
    }
    return row;
}

/* Kinds that occur, in the order of their numbers: a row each. */
static bool find_kinds(const double *values, int64_t count, panel *p) {
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(values[i]) || p->n_kinds == MOST_KINDS || row_of(p, values[i]) < p->n_kinds) {
            continue;
        }
        int k = p->n_kinds++;
        for (; k > 0 && p->kinds[k - 1] > (int)values[i]; k--) {
            p->kinds[k] = p->kinds[k - 1];
        }
        p->kinds[k] = (int)values[i];
    }
    p->low = -0.5;
    p->high = p->n_kinds - 0.5;
    return p->n_kinds > 0;
}

static double place_x(const panel *p, double iteration) {
    double steps = p->count > 1 ? (double)(p->count - 1) : 1;
    return p->box.x + p->box.width * (iteration - 1) / steps;
}

static double place_y(const panel *p, double value) {
    return p->box.y + p->box.height * (1 - (value - p->low) / (p->high - p->low));
}

static void draw_row(rb_page *page, const panel *p, double value, const char *name) {
    double left = p->box.x, y = place_y(p, value);
    rb_page_line(page, left, y, left + p->box.width, y, 0.6, faint);
    rb_page_text(page, RB_TEXT_TICK, left - 8, y, 1, 0, name ? name : "");
}

/* A line and its name at each tick of the values, or at each kind. */
static void draw_rows(rb_page *page, const panel *p, const rb_series *series) {
    char text[32];
    rb_ticks rows = rb_ticks_choose(p->low, p->high, 7, false);
    for (int i = 0; !series->label && i < rows.count; i++) {
        rb_tick_text(&rows, i, text, sizeof text);
        draw_row(page, p, rb_tick_value(&rows, i), text);
    }
    for (int k = 0; series->label && k < p->n_kinds; k++) {
        draw_row(page, p, k, series->label(p->kinds[k]));
    }
}

static void draw_axes(rb_page *page, const panel *p, const rb_series *series) {
    char text[32];
    double left = p->box.x, bottom = p->box.y + p->box.height;
    draw_rows(page, p, series);
    rb_ticks columns = rb_ticks_choose(1, (double)(p->count > 1 ? p->count : 2), 9, true);
    for (int i = 0; i < columns.count; i++) {
        double x = place_x(p, rb_tick_value(&columns, i));
        rb_page_line(page, x, bottom, x, bottom + 4, 0.6, ink);
        rb_tick_text(&columns, i, text, sizeof text);
        rb_page_text(page, RB_TEXT_TICK, x, bottom + 13, 0.5, 0, text);
    }
    rb_page_line(page, left, p->box.y, left, bottom, 0.6, ink);
    rb_page_line(page, left, bottom, left + p->box.width, bottom, 0.6, ink);
    rb_page_text_up(page, RB_TEXT_LABEL, 22, p->box.y + p->box.height / 2, series->name);
}

/* Gaps are left where a value is not finite; a value alone is a point. */
static void draw_line(rb_page *page, const panel *p, const double *values, rb_colour colour) {
    bool pen_down = false;
    rb_page_colour(page, colour);
    cairo_set_line_width(page->cairo, 1.8);
    cairo_set_line_join(page->cairo, CAIRO_LINE_JOIN_ROUND);
    cairo_set_line_cap(page->cairo, CAIRO_LINE_CAP_ROUND);
    for (int64_t i = 0; i < p->count; i++) {
        if (!isfinite(values[i])) {
            pen_down = false;
            continue;
        }
        double x = place_x(p, (double)i + 1), y = place_y(p, values[i]);
        if (!pen_down) {
            cairo_move_to(page->cairo, x, y);
        }
        cairo_line_to(page->cairo, x, y);
        pen_down = true;
    }
    cairo_stroke(page->cairo);
}

/* A stroke at each iteration, at the height of its kind; half of one at the ends of the axis. */
static void draw_kinds(rb_page *page, const panel *p, const double *values, rb_colour colour) {
    double width = p->box.width / (double)(p->count > 1 ? p->count - 1 : 1);
    double left = p->box.x, right = left + p->box.width;
    rb_page_colour(page, colour);
    for (int64_t i = 0; i < p->count; i++) {
        if (isfinite(values[i])) {
            double x = place_x(p, (double)i + 1), y = place_y(p, row_of(p, values[i]));
            double from = fmax(x - fmax(width, 1) / 2, left);
            double to = fmin(x + fmax(width, 1) / 2, right);
            cairo_rectangle(page->cairo, from, y - 4, to - from, 8);
        }
    }
    cairo_fill(page->cairo);
}

rb_error rb_draw_history(rb_context *ctx, const rb_series *series, int n_series, int64_t count,
                         const char *title, const rb_plot_options *options, const char *path) {
    panel panels[RB_SERIES_MOST];
    int shown[RB_SERIES_MOST], n_panels = 0;
    for (int s = 0; s < n_series; s++) {
        panel *p = &panels[n_panels];
        *p = (panel){.box = {LEFT, MARGIN_TOP + n_panels * PANEL_STEP, WIDTH, PANEL_HEIGHT},
                     .count = count};
        if ((series[s].label ? find_kinds : find_range)(series[s].values, count, p)) {
            shown[n_panels++] = s;
        }
    }
    if (n_panels == 0) {
        return rb_fail(ctx, RB_ERROR_DATA, "the model has no history of its objective");
    }
    rb_page page;
    double bottom = panels[n_panels - 1].box.y + PANEL_HEIGHT;
    rb_error err = rb_page_open(ctx, options, path, bottom + MARGIN_BOTTOM, &page);
    if (err) {
        return err;
    }
    rb_page_text(&page, RB_TEXT_TITLE, panels[0].box.x, 30, 0, panels[0].box.width, title);
    for (int i = 0; i < n_panels; i++) {
        static const int colours[RB_SERIES_MOST] = {0, 3, 2, 1};
        const rb_series *s = &series[shown[i]];
        draw_axes(&page, &panels[i], s);
        (s->label ? draw_kinds : draw_line)(&page, &panels[i], s->values,
                                            rb_class_colour(colours[shown[i]]));
    }
    rb_page_text(&page, RB_TEXT_LABEL, panels[0].box.x + panels[0].box.width / 2, bottom + 38, 0.5,
                 0, "iteration");
    return rb_page_close(&page, RB_OK);
}

static double figure(const rb_model *model, int64_t iteration, const char *name) {
    double value;
    return rb_model_metric(model, iteration, name, &value) == RB_OK ? value : NAN;
}

/* Of a fit that cools: its objective is at another temperature in each iteration. */
static void fill_annealed(const rb_model *model, int64_t count, double *values,
                          rb_series series[RB_SERIES_MOST]) {
    static const char *const names[] = {"log_likelihood", "free_energy", "temperature"};
    static const char *const labels[] = {"log-likelihood", "free energy", "temperature"};
    series[0].name = "log evidence at the temperature";
    for (int s = 1; s < RB_SERIES_MOST; s++) {
        series[s] = (rb_series){labels[s - 1], values + s * count, NULL};
        for (int64_t i = 0; i < count; i++) {
            values[s * count + i] = figure(model, i, names[s - 1]);
        }
    }
}

rb_error rb_plot_history(rb_context *ctx, const rb_model *model, const rb_options *given,
                         const char *path) {
    rb_plot_options chosen, *options = &chosen;
    rb_error err = rb_page_check(ctx, given, &chosen, path);
    if (err) {
        return err;
    }
    char title[128];
    int64_t count = rb_model_iterations(model);
    snprintf(title, sizeof title, "Objective over %lld iterations of %s", (long long)count,
             rb_model_method(model));
    double *values = rb_alloc(ctx, RB_SERIES_MOST * count, sizeof *values);
    if (!values) {
        return RB_ERROR_MEMORY;
    }
    rb_series series[RB_SERIES_MOST] = {
        {"objective", values, NULL},
        {"E-step objective", values + count, NULL},
        {"log10 of KKT residual", values + 2 * count, NULL},
        {"what moved the codes", values + 3 * count, rb_rfn_stage_name}};
    for (int64_t i = 0; i < count && !err; i++) {
        err = rb_model_history(model, i, &values[i], &values[count + i], NULL);
        values[2 * count + i] = log10(figure(model, i, "kkt_residual"));
        values[3 * count + i] = figure(model, i, "estep_stage");
    }
    if (count > 0 && isfinite(figure(model, 0, "temperature"))) {
        fill_annealed(model, count, values, series);
    }
    if (!err) {
        err = rb_draw_history(ctx, series, RB_SERIES_MOST, count,
                              options->title ? options->title : title, options, path);
    }
    rb_free(values);
    return err;
}
