#include "curves.h"

#include "plot/plot.h"

#include <math.h>
#include <stdio.h>

enum { LEFT = 90, TOP = 60, WIDTH = 640, HEIGHT = 380, BOTTOM = 60, GAP = 15, MAX_CURVES = 16 };

static rb_axis axis_of(const bench_axis *axis) {
    bool log = axis->logarithmic;
    return (rb_axis){axis->label,
                     log ? log10(axis->low) : axis->low,
                     log ? log10(axis->high) : axis->high,
                     log,
                     NULL,
                     0};
}

static void draw_curve(rb_page *page, const rb_chart *chart, const bench_curve *curve,
                       rb_colour colour) {
    cairo_save(page->cairo);
    cairo_rectangle(page->cairo, LEFT, TOP - 6, WIDTH + 6, HEIGHT + 12);
    cairo_clip(page->cairo);
    for (int i = 0; curve->points && i < curve->count; i++)
        rb_chart_dot(page, chart, curve->x[i], curve->y[i], 4.5, colour);
    if (!curve->points)
        rb_chart_line(page, chart, curve->x, curve->y, curve->count, (rb_pen){colour, 1.8, 0});
    cairo_restore(page->cairo);
}

/* Names beside the ends, from top to bottom, apart from each other. */
static void draw_names(rb_page *page, const rb_chart *chart, const bench_curve *curves, int count) {
    double labels[MAX_CURVES];
    int order[MAX_CURVES];
    for (int c = 0; c < count; c++) {
        double y = rb_chart_y(chart, curves[c].y[curves[c].count - 1]);
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
    const rb_chart chart = {{LEFT, TOP, WIDTH, HEIGHT}, axis_of(across), axis_of(up)};
    if (rb_context_new(&ctx)) return false;
    rb_error err = rb_page_open(ctx, &options, path, TOP + HEIGHT + BOTTOM, &page);
    if (!err) {
        rb_page_title(&page, LEFT, 28, 0, title);
        rb_chart_axes(&page, &chart);
        for (int c = 0; c < count; c++)
            draw_curve(&page, &chart, &curves[c], rb_class_colour(c));
        draw_names(&page, &chart, curves, count);
        err = rb_page_close(&page, RB_OK);
    }
    if (err) fprintf(stderr, "%s\n", rb_context_error(ctx));
    rb_context_free(ctx);
    return !err;
}
