#include "curves.h"

#include "plot/plot.h"

#include <math.h>
#include <stdio.h>

enum { LEFT = 90, TOP = 60, WIDTH = 640, HEIGHT = 380, BOTTOM = 60, GAP = 15, MAX_CURVES = 16 };

static const rb_colour ink = {0.35, 0.35, 0.35}, faint = {0.88, 0.88, 0.88};

/* 0 at the axis' low end, 1 at its high end. */
static double place(const bench_axis *axis, double value) {
    if (axis->logarithmic) {
        return log(value / axis->low) / log(axis->high / axis->low);
    }
    return (value - axis->low) / (axis->high - axis->low);
}

static double at_x(const bench_axis *axis, double value) {
    return LEFT + WIDTH * place(axis, value);
}

static double at_y(const bench_axis *axis, double value) {
    return TOP + HEIGHT * (1 - place(axis, value));
}

/* 1, 2, 5, 10, ... on a logarithmic axis, round steps on another: at most `room` of them. */
static int ticks_of(const bench_axis *axis, int capacity, double *values) {
    int count = 0;
    if (!axis->logarithmic) {
        rb_ticks ticks = rb_ticks_choose(axis->low, axis->high, capacity, false);
        for (; count < ticks.count; count++) {
            values[count] = rb_tick_value(&ticks, count);
        }
        return count;
    }
    for (int decade = (int)floor(log10(axis->low)); count < capacity; decade++) {
        for (int step = 0; step < 3; step++) {
            double value = (step == 0 ? 1 : step == 1 ? 2 : 5) * pow(10, decade);
            if (value > axis->high * 1.0001 || count == capacity) {
                return count;
            }
            if (value >= axis->low * 0.9999) {
                values[count++] = value;
            }
        }
    }
    return count;
}

static void draw_axes(rb_page *page, const bench_axis *across, const bench_axis *up) {
    double values[12];
    char text[32];
    for (int t = 0, count = ticks_of(up, 12, values); t < count; t++) {
        double y = at_y(up, values[t]);
        rb_page_line(page, LEFT, y, LEFT + WIDTH, y, 0.6, faint);
        snprintf(text, sizeof text, "%g", values[t]);
        rb_page_text(page, RB_TEXT_TICK, LEFT - 8, y, 1, 0, text);
    }
    for (int t = 0, count = ticks_of(across, 12, values); t < count; t++) {
        double x = at_x(across, values[t]);
        rb_page_line(page, x, TOP + HEIGHT, x, TOP + HEIGHT + 4, 0.6, ink);
        snprintf(text, sizeof text, "%g", values[t]);
        rb_page_text(page, RB_TEXT_TICK, x, TOP + HEIGHT + 14, 0.5, 0, text);
    }
    rb_page_line(page, LEFT, TOP, LEFT, TOP + HEIGHT, 0.6, ink);
    rb_page_line(page, LEFT, TOP + HEIGHT, LEFT + WIDTH, TOP + HEIGHT, 0.6, ink);
    rb_page_text_up(page, RB_TEXT_LABEL, 24, TOP + HEIGHT / 2.0, up->label);
    rb_page_text(page, RB_TEXT_LABEL, LEFT + WIDTH / 2.0, TOP + HEIGHT + 38, 0.5, 0, across->label);
}

static void draw_curve(rb_page *page, const bench_axis *across, const bench_axis *up,
                       const bench_curve *curve) {
    cairo_save(page->cairo);
    cairo_rectangle(page->cairo, LEFT, TOP - 6, WIDTH + 6, HEIGHT + 12);
    cairo_clip(page->cairo);
    cairo_set_line_width(page->cairo, 1.8);
    cairo_new_path(page->cairo);
    for (int i = 0; i < curve->count; i++) {
        double x = at_x(across, curve->x[i]), y = at_y(up, curve->y[i]);
        if (curve->points) {
            cairo_new_sub_path(page->cairo);
            cairo_arc(page->cairo, x, y, 4.5, 0, 2 * M_PI);
        } else {
            cairo_line_to(page->cairo, x, y);
        }
    }
    (curve->points ? cairo_fill : cairo_stroke)(page->cairo);
    cairo_restore(page->cairo);
}

bool bench_draw(const char *path, const char *title, const bench_axis *across, const bench_axis *up,
                const bench_curve *curves, int count) {
    double labels[MAX_CURVES];
    int order[MAX_CURVES];
    rb_context *ctx;
    rb_page page;
    const rb_plot_options options = {.width = 900};
    if (rb_context_new(&ctx)) {
        return false;
    }
    rb_error err = rb_page_open(ctx, &options, path, TOP + HEIGHT + BOTTOM, &page);
    if (!err) {
        rb_page_text(&page, RB_TEXT_TITLE, LEFT, 28, 0, RB_PAGE_WIDTH - LEFT - 10, title);
        draw_axes(&page, across, up);
        /* Names beside the ends, from top to bottom, apart from each other. */
        for (int c = 0; c < count; c++) {
            double y = at_y(up, curves[c].y[curves[c].count - 1]);
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
            rb_page_colour(&page, rb_class_colour(order[c]));
            draw_curve(&page, across, up, &curves[order[c]]);
            rb_page_colour(&page, rb_class_colour(order[c]));
            rb_page_fill(&page, (rb_box){LEFT + WIDTH + GAP, labels[c] - 4, 8, 8},
                         rb_class_colour(order[c]));
            rb_page_text(&page, RB_TEXT_TICK, LEFT + WIDTH + GAP + 14, labels[c], 0, 0,
                         curves[order[c]].name);
        }
        err = rb_page_close(&page, RB_OK);
    }
    if (err) {
        fprintf(stderr, "%s\n", rb_context_error(ctx));
    }
    rb_context_free(ctx);
    return !err;
}
