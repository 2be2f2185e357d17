#include "curves.h"

#include "plot/plot.h"

#include <math.h>
#include <stdio.h>

enum { LEFT = 90, TOP = 60, WIDTH = 640, HEIGHT = 380, BOTTOM = 60, GAP = 15, MAX_CURVES = 16 };

/* What is drawn along an axis: the value, or its logarithm. */
static double place_of(const bench_axis *axis, double value) {
    return axis->logarithmic ? log10(value) : value;
}

static rb_axis axis_of(const bench_axis *axis) {
    static const char *const none[] = {""}; /* draw_powers draws the ticks */
    return (rb_axis){.label = axis->label,
                     .low = place_of(axis, axis->low),
                     .high = place_of(axis, axis->high),
                     .names = axis->logarithmic ? none : NULL};
}

/* Lines at 1, 2 and 5 times powers of ten; numbers at the powers, and at all where few are. */
static void draw_powers(rb_page *page, const rb_chart *c, bool up) {
    static const double steps[] = {1, 2, 5};
    const rb_colour faint = {0.88, 0.88, 0.88};
    const rb_axis *axis = up ? &c->up : &c->across;
    double right = c->box.x + c->box.width, bottom = c->box.y + c->box.height;
    for (int power = (int)floor(axis->low); power <= (int)floor(axis->high); power++) {
        for (int s = 0; s < 3; s++) {
            double value = steps[s] * pow(10, power), place = log10(value);
            double x = up ? c->box.x : rb_chart_x(c, place), y = up ? rb_chart_y(c, place) : bottom;
            char text[32] = "";
            if (place < axis->low || place > axis->high) continue;
            if (s == 0 || axis->high - axis->low < 2.5) snprintf(text, sizeof text, "%.9g", value);
            rb_page_line(page, x, y, up ? right : x, up ? y : c->box.y, s == 0 ? 0.8 : 0.4, faint);
            rb_page_text(page, RB_TEXT_TICK, up ? x - 8 : x, up ? y : y + 13, up ? 1 : 0.5, 0,
                         text);
        }
    }
}

static void draw_curve(rb_page *page, const rb_chart *chart, const bench_axis *axes[2],
                       const bench_curve *curve, rb_colour colour) {
    double *x = rb_alloc(page->ctx, curve->count, sizeof *x);
    double *y = rb_alloc(page->ctx, curve->count, sizeof *y);
    cairo_save(page->cairo);
    cairo_rectangle(page->cairo, LEFT, TOP - 6, WIDTH + 6, HEIGHT + 12);
    cairo_clip(page->cairo);
    for (int i = 0; x && y && i < curve->count; i++) {
        x[i] = place_of(axes[0], curve->x[i]);
        y[i] = place_of(axes[1], curve->y[i]);
        if (curve->points) rb_chart_dot(page, chart, x[i], y[i], 4.5, colour);
    }
    if (x && y && !curve->points)
        rb_chart_line(page, chart, x, y, curve->count, (rb_pen){colour, 1.8, 0});
    cairo_restore(page->cairo);
    rb_free(x);
    rb_free(y);
}

/* Names beside the ends, from top to bottom, apart from each other. */
static void draw_names(rb_page *page, const rb_chart *chart, const bench_axis *up,
                       const bench_curve *curves, int count) {
    double labels[MAX_CURVES];
    int order[MAX_CURVES];
    for (int c = 0; c < count; c++) {
        double y = rb_chart_y(chart, place_of(up, curves[c].y[curves[c].count - 1]));
        int at = c;
        for (; at > 0 && labels[at - 1] > y; at--) {
            labels[at] = labels[at - 1];
            order[at] = order[at - 1];
        }
        labels[at] = y;
        order[at] = c;
    }
    rb_spread(labels, count, 17, TOP, TOP + HEIGHT);
    for (int c = 0; c < count; c++) {
        rb_box box = {LEFT + WIDTH + GAP, labels[c] - 4, 8, 8};
        rb_page_fill(page, box, rb_class_colour(order[c]));
        rb_page_text(page, RB_TEXT_TICK, box.x + 14, labels[c], 0, 0, curves[order[c]].name);
    }
}

bool bench_draw(const char *path, const char *title, const bench_axis *across, const bench_axis *up,
                const bench_curve *curves, int count) {
    rb_context *ctx;
    rb_page page;
    const rb_plot_options options = {.width = 900};
    const bench_axis *axes[] = {across, up};
    const rb_chart chart = {{LEFT, TOP, WIDTH, HEIGHT}, axis_of(across), axis_of(up)};
    if (rb_context_new(&ctx)) return false;
    rb_error err = rb_page_open(ctx, &options, path, TOP + HEIGHT + BOTTOM, &page);
    if (!err) {
        rb_page_title(&page, LEFT, 28, 0, title);
        rb_chart_axes(&page, &chart);
        if (across->logarithmic) draw_powers(&page, &chart, false);
        if (up->logarithmic) draw_powers(&page, &chart, true);
        for (int c = 0; c < count; c++)
            draw_curve(&page, &chart, axes, &curves[c], rb_class_colour(c));
        draw_names(&page, &chart, up, curves, count);
        err = rb_page_close(&page, RB_OK);
    }
    if (err) fprintf(stderr, "%s\n", rb_context_error(ctx));
    rb_context_free(ctx);
    return !err;
}
