/* How many units: what is stable, and what unseen samples say of each number. */
#include "plot.h"

#include <rarebit/select.h>

#include <math.h>
#include <stdio.h>

enum { TOP = 60, BOTTOM = 60, PANEL = 210, GAP = 50, N_PANELS = 5 };

typedef struct panel {
    const char *label, *name, *spread; /* columns; spread NULL: none */
    int colour;
    bool whole; /* counts */
} panel;

static const panel panels[N_PANELS] = {
    {"stable units", "stable", NULL, 4, true},
    {"held-out log-likelihood", "held_out", "held_out_se", 0, false},
    {"match over fits", "match", NULL, 3, false},
    {"units that live", "used", NULL, 2, true},
    {"units beyond noise", "beyond_noise", NULL, 1, true},
};

static double cell(const rb_selection *s, int64_t row, const char *name) {
    return name ? rb_selection_get(s, row, name) : 0;
}

/* The number to fit, behind the lines. */
static void draw_choice(rb_page *page, const rb_selection *s, const rb_chart *c) {
    int64_t row = rb_selection_row(s);
    if (row < 0) return;
    double x = rb_chart_x(c, cell(s, row, "units"));
    rb_page_line(page, x, c->box.y, x, c->box.y + c->box.height, 1.5, (rb_colour){0.5, 0.5, 0.5});
}

static void draw_panel(rb_page *page, const rb_selection *s, const panel *p, const rb_chart *c) {
    int64_t n = rb_selection_rows(s);
    rb_colour colour = rb_class_colour(p->colour);
    for (int64_t r = 0; r < n; r++) {
        double x = rb_chart_x(c, cell(s, r, "units")), y = cell(s, r, p->name);
        double spread = cell(s, r, p->spread), next = cell(s, r + 1, p->name);
        if (!isfinite(y)) continue;
        rb_page_line(page, x, rb_chart_y(c, y - spread), x, rb_chart_y(c, y + spread), 1, colour);
        if (r + 1 < n && isfinite(next)) {
            rb_page_line(page, x, rb_chart_y(c, y), rb_chart_x(c, cell(s, r + 1, "units")),
                         rb_chart_y(c, next), 1.8, colour);
        }
        rb_chart_dot(page, c, cell(s, r, "units"), y, 3, colour);
    }
}

/* false: there is nothing to show. */
static bool find_range(const rb_selection *s, const panel *p, rb_chart *c) {
    c->across = c->up = (rb_axis){.low = INFINITY, .high = -INFINITY};
    for (int64_t r = 0; r < rb_selection_rows(s); r++) {
        double y = cell(s, r, p->name), spread = cell(s, r, p->spread);
        rb_axis_cover(&c->across, cell(s, r, "units"));
        rb_axis_cover(&c->up, y - spread);
        rb_axis_cover(&c->up, y + spread);
    }
    for (int end = 0; end < 2 && !p->spread && c->up.low <= c->up.high; end++)
        rb_axis_cover(&c->up, end); /* counts and shares */
    c->up.label = p->label;
    c->up.whole = p->whole;
    rb_axis_pad(&c->across, 0.03);
    return rb_axis_pad(&c->up, 0.05);
}

rb_error rb_plot_selection(rb_context *ctx, const rb_selection *s, const rb_options *given,
                           const char *path) {
    rb_plot_options options;
    rb_chart charts[N_PANELS];
    int shown[N_PANELS], n = 0;
    rb_page page;
    char title[RB_TITLE_SIZE];
    int64_t units, low, high;
    rb_error err = rb_page_check(ctx, given, &options, path);
    if (err) return err;
    for (int p = 0; p < N_PANELS; p++) {
        charts[n] = (rb_chart){.box = {112, TOP + n * (PANEL + GAP), 756, PANEL}};
        shown[n] = p;
        n += find_range(s, &panels[p], &charts[n]);
    }
    if (n == 0)
        return rb_fail(ctx, RB_ERROR_DATA,
                       "there is nothing to plot: no number of units was tried");
    charts[n - 1].across.label = "units";
    rb_selection_choice(s, &units, &low, &high);
    snprintf(title, sizeof title,
             isnan(cell(s, 0, "stable")) ? "How many units: no number is picked"
             : units == 0                ? "How many units: nothing is stable"
             : low < high                ? "How many units: %lld are stable (%lld to %lld)"
                                         : "How many units: %lld stable",
             (long long)units, (long long)low, (long long)high);
    err = rb_page_open(ctx, &options, path, TOP + n * (PANEL + GAP) - GAP + BOTTOM, &page);
    if (err) return err;
    rb_page_title(&page, charts[0].box.x, 30, 0, title);
    for (int i = 0; i < n; i++) {
        draw_choice(&page, s, &charts[i]);
        rb_chart_axes(&page, &charts[i]);
        draw_panel(&page, s, &panels[shown[i]], &charts[i]);
    }
    return rb_page_close(&page, RB_OK);
}
