/* Line charts: one panel of lines, or of points in the colours of classes; panels over the
 * iterations of a fit. */
#include "plot.h"

#include <math.h>
#include <string.h>

enum { TOP = 60, BOTTOM = 60, N_KINDS = 16 };

static const rb_axis empty = {.low = INFINITY, .high = -INFINITY};

/* ---- one panel ---- */

/* Classes that occur, in a line above the panel. */
static void draw_classes(rb_page *page, const rb_series_plot *s, const rb_chart *chart) {
    const double y = chart->box.y - 13;
    double x = chart->box.x;
    if (s->legend) {
        rb_page_text(page, RB_TEXT_TICK, x, y, 0, 0, s->legend);
        x += rb_text_width(RB_TEXT_TICK, s->legend) + 8;
    }
    for (int64_t c = 0; c < s->n_classes; c++) {
        if (!s->class_names[c]) continue;
        rb_page_fill(page, (rb_box){x, y - 5, 10, 10}, rb_class_colour(c));
        rb_page_text(page, RB_TEXT_TICK, x + 15, y, 0, 0, s->class_names[c]);
        x += rb_text_width(RB_TEXT_TICK, s->class_names[c]) + 30;
    }
}

static rb_legend legend_below(const rb_series_plot *s, rb_box box) {
    rb_legend l = {.names = s->line_names, .count = s->line_names ? s->lines : 0};
    l.left = box.x + rb_text_width(RB_TEXT_TICK, s->legend ? s->legend : "") + 12;
    l.top = box.y + box.height + BOTTOM + 4;
    l.step = rb_text_widest(RB_TEXT_TICK, l.names, l.count) + 40;
    l.row_height = 16;
    l.across = (int64_t)fmax(1, fmin(10, floor((box.x + box.width - l.left) / l.step)));
    return l;
}

static rb_chart series_chart(const rb_series_plot *s) {
    rb_chart c = {.box = {96, TOP, 772, 330},
                  .across = rb_axis_counting(s->across, s->count),
                  .up = {.low = s->low, .high = s->high}};
    if (!(s->low < s->high)) {
        c.up = empty;
        for (int64_t i = 0; i < s->lines * s->count; i++)
            rb_axis_cover(&c.up, s->values[i]);
        rb_axis_pad(&c.up, 0.04);
    }
    c.up.label = s->up;
    return c;
}

static void draw_lines(rb_page *page, const rb_series_plot *s, const rb_chart *c) {
    for (int64_t line = 0; line < s->lines; line++) {
        rb_pen pen = s->lines > 1 ? rb_line_pen(line, 0.9) : (rb_pen){rb_class_colour(0), 1.8, 0};
        rb_chart_line(page, c, NULL, s->values + line * s->count, s->count, pen);
    }
}

static void draw_points(rb_page *page, const rb_series_plot *s, const rb_chart *c) {
    double radius = s->count > 2000 ? 1.2 : 2;
    for (int64_t i = 0; i < s->count; i++)
        rb_chart_dot(page, c, (double)i + 1, s->values[i], radius, rb_class_colour(s->classes[i]));
}

rb_error rb_draw_series(rb_context *ctx, const rb_series_plot *s, const rb_plot_options *options,
                        const char *path) {
    rb_page page;
    rb_chart c = series_chart(s);
    rb_legend legend = legend_below(s, c.box);
    double names = rb_legend_height(&legend), bottom = c.box.y + c.box.height;
    rb_error err =
        rb_page_open(ctx, options, path, bottom + BOTTOM + names + (names > 0 ? 8 : 0), &page);
    if (err) return err;
    rb_page_title(&page, c.box.x, s->classes ? 24 : 30, 0, s->title);
    rb_chart_axes(&page, &c);
    if (isfinite(s->cut)) {
        double x = rb_chart_x(&c, s->cut + 1);
        rb_page_line(&page, x, c.box.y, x, bottom, 1.2,
                     s->classes ? (rb_colour){0.35, 0.35, 0.35} : rb_class_colour(3));
    }
    if (s->classes) {
        draw_points(&page, s, &c);
        draw_classes(&page, s, &c);
    } else {
        draw_lines(&page, s, &c);
    }
    if (s->line_names) {
        rb_page_text(&page, RB_TEXT_TICK, c.box.x, legend.top, 0, 0, s->legend);
        rb_page_legend(&page, &legend);
    }
    return rb_page_close(&page, RB_OK);
}

/* ---- history ---- */

typedef struct panel {
    rb_chart chart;
    const rb_series *series;
    rb_colour colour;
    const char *names[N_KINDS]; /* of the kinds that occur, ascending: a row each, from 0 */
    int row_of[N_KINDS], n_kinds;
} panel;

static bool is_kind(double value) {
    return value >= 0 && value < N_KINDS;
}

static bool find_kinds(panel *p, int64_t count) {
    bool occurs[N_KINDS] = {false};
    for (int64_t i = 0; i < count; i++)
        if (is_kind(p->series->values[i])) occurs[(int)p->series->values[i]] = true;
    for (int kind = 0; kind < N_KINDS; kind++) {
        const char *name = occurs[kind] ? p->series->label(kind) : NULL;
        p->row_of[kind] = p->n_kinds;
        p->names[p->n_kinds] = name ? name : "";
        p->n_kinds += occurs[kind];
    }
    p->chart.up =
        (rb_axis){.low = -0.5, .high = p->n_kinds - 0.5, .names = p->names, .n_names = p->n_kinds};
    return p->n_kinds > 0;
}

/* What the axis upwards shows; false: nothing. */
static bool find_range(panel *p, int64_t count) {
    p->chart.up = empty;
    for (int64_t i = 0; i < count && !p->series->label; i++)
        rb_axis_cover(&p->chart.up, p->series->values[i]);
    bool any = p->series->label ? find_kinds(p, count) : rb_axis_pad(&p->chart.up, 0.05);
    p->chart.up.label = p->series->name;
    return any;
}

/* A stroke at each iteration, at the height of its kind; half of one at the ends of the axis. */
static void draw_kinds(rb_page *page, const panel *p, int64_t count) {
    const rb_box *box = &p->chart.box;
    double width = fmax(box->width / (p->chart.across.high - 1), 1);
    rb_page_colour(page, p->colour);
    for (int64_t i = 0; i < count; i++) {
        double kind = p->series->values[i];
        if (is_kind(kind)) {
            double x = rb_chart_x(&p->chart, (double)i + 1);
            double y = rb_chart_y(&p->chart, p->row_of[(int)kind]);
            double from = fmax(x - width / 2, box->x);
            double to = fmin(x + width / 2, box->x + box->width);
            cairo_rectangle(page->cairo, from, y - 4, to - from, 8);
        }
    }
    cairo_fill(page->cairo);
}

/* Words above the first panel, within its ends. */
static void draw_mark(rb_page *page, const panel *p, int64_t iteration, bool first) {
    static const char words[] = "from here on loadings are shrunk";
    const rb_box *box = &p->chart.box;
    double x = rb_chart_x(&p->chart, (double)iteration), bottom = box->y + box->height;
    double width = rb_text_width(RB_TEXT_TICK, words), middle = box->x + box->width / 2;
    rb_page_line(page, x, box->y - 4, x, bottom, 1, (rb_colour){0.35, 0.35, 0.35});
    if (first)
        rb_page_text(page, RB_TEXT_TICK, x, box->y - 12,
                     x + width < box->x + box->width ? 0
                     : x > middle                    ? 1
                                                     : 0.5,
                     0, words);
}

rb_error rb_draw_history(rb_context *ctx, const rb_series *series, int n_series, int64_t count,
                         int64_t shrinks_from, const char *title, const rb_plot_options *options,
                         const char *path) {
    static const int colours[RB_SERIES_MAX] = {0, 3, 2, 1};
    panel panels[RB_SERIES_MAX];
    int n_panels = 0;
    for (int s = 0; s < n_series; s++) {
        panel *p = &panels[n_panels];
        *p = (panel){.chart = {.box = {112, TOP + n_panels * 330, 756, 270}},
                     .series = &series[s],
                     .colour = rb_class_colour(colours[s])};
        p->chart.across = rb_axis_counting(NULL, count);
        n_panels += find_range(p, count);
    }
    if (n_panels == 0)
        return rb_fail(ctx, RB_ERROR_DATA, "the model has no history of its objective");
    rb_page page;
    rb_chart *last = &panels[n_panels - 1].chart;
    last->across.label = "iteration";
    rb_error err = rb_page_open(ctx, options, path, last->box.y + last->box.height + BOTTOM, &page);
    if (err) return err;
    rb_page_title(&page, last->box.x, 30, 0, title);
    for (panel *p = panels; p < panels + n_panels; p++) {
        rb_chart_axes(&page, &p->chart);
        if (shrinks_from > 0 && shrinks_from <= count)
            draw_mark(&page, p, shrinks_from, p == panels);
        if (p->series->label) {
            draw_kinds(&page, p, count);
        } else {
            rb_chart_line(&page, &p->chart, NULL, p->series->values, count,
                          (rb_pen){p->colour, 1.8, 0});
        }
    }
    return rb_page_close(&page, RB_OK);
}

/* What a panel shows: a metric by its name; the objectives are in the history itself. */
static double value_of(const rb_model *model, int64_t iteration, const rb_metric_plot *m) {
    double value = NAN, objective = NAN, estep_objective = NAN;
    if (rb_model_metric(model, iteration, m->name, &value)) {
        rb_model_history(model, iteration, &objective, &estep_objective, NULL);
        value = strcmp(m->name, "objective") == 0         ? objective
                : strcmp(m->name, "estep_objective") == 0 ? estep_objective
                                                          : NAN;
    }
    return m->logarithm ? log10(value) : value;
}

rb_error rb_plot_history(rb_context *ctx, const rb_model *model, const rb_options *given,
                         const char *path) {
    rb_plot_options options;
    char title[RB_TITLE_SIZE];
    int64_t count = rb_model_iterations(model);
    rb_error err = rb_page_check(ctx, given, &options, path);
    double *values = err ? NULL : rb_alloc(ctx, RB_SERIES_MAX * count, sizeof *values);
    if (!values) return err ? err : RB_ERROR_MEMORY;
    const rb_metric_plot *m = rb_metric_plots(model);
    rb_series series[RB_SERIES_MAX];
    int s = 0;
    for (; m->label && s < RB_SERIES_MAX; m++, s++) {
        series[s] = (rb_series){m->label, values + s * count, m->kind};
        for (int64_t i = 0; i < count; i++)
            values[s * count + i] = value_of(model, i, m);
    }
    snprintf(title, sizeof title, "Objective over %lld iterations of %s", (long long)count,
             rb_model_method(model));
    err =
        rb_draw_history(ctx, series, s, count, rb_model_shrinks_from(model), title, &options, path);
    rb_free(values);
    return err;
}
