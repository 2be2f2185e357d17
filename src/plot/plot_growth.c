/* Lines over two logarithmic axes, with their names at the right: how cost grows. */
#include "plot.h"

#include <math.h>

enum { LEFT = 84, TOP = 60, WIDTH = 660, HEIGHT = 440, BOTTOM = 60, NAME_GAP = 15 };

static const rb_colour ink = {0.35, 0.35, 0.35};
static const rb_colour faint = {0.88, 0.88, 0.88};

/* Logarithms to base 10 at the ends of the axes. */
typedef struct panel {
    double left, right, low, high;
} panel;

static bool drawable(const rb_plot_line *line, int64_t i) {
    return line->x[i] > 0 && line->y[i] > 0 && isfinite(line->x[i]) && isfinite(line->y[i]);
}

static panel find_range(const rb_plot_line *lines, int64_t count) {
    panel p = {INFINITY, -INFINITY, INFINITY, -INFINITY};
    for (int64_t l = 0; l < count; l++) {
        for (int64_t i = 0; i < lines[l].count; i++) {
            if (drawable(&lines[l], i)) {
                p.left = fmin(p.left, log10(lines[l].x[i]));
                p.right = fmax(p.right, log10(lines[l].x[i]));
                p.low = fmin(p.low, log10(lines[l].y[i]));
                p.high = fmax(p.high, log10(lines[l].y[i]));
            }
        }
    }
    if (p.left > p.right) {
        return (panel){0, 1, 0, 1};
    }
    double across = 0.03 * (p.right - p.left) + 0.02, up = 0.03 * (p.high - p.low) + 0.02;
    return (panel){p.left - across, p.right + across, p.low - up, p.high + up};
}

static double place_x(const panel *p, double x) {
    return LEFT + WIDTH * (log10(x) - p->left) / (p->right - p->left);
}

static double place_y(const panel *p, double y) {
    return TOP + HEIGHT * (p->high - log10(y)) / (p->high - p->low);
}

static void draw_tick(rb_page *page, const panel *p, bool upward, double value, bool power,
                      bool named) {
    char text[32];
    rb_print(text, sizeof text, "%.9g", value);
    double x = place_x(p, value), y = place_y(p, value), width = power ? 0.8 : 0.4;
    if (upward) {
        rb_page_line(page, LEFT, y, LEFT + WIDTH, y, width, faint);
    } else {
        rb_page_line(page, x, TOP, x, TOP + HEIGHT, width, faint);
    }
    if (named && upward) {
        rb_page_text(page, RB_TEXT_TICK, LEFT - 8, y, 1, 0, text);
    } else if (named) {
        rb_page_text(page, RB_TEXT_TICK, x, TOP + HEIGHT + 13, 0.5, 0, text);
    }
}

/* Lines at 1, 2 and 5 times powers of ten; numbers at the powers, and at all of them where the axis
 * has few. */
static void draw_ticks(rb_page *page, const panel *p, bool upward) {
    double low = upward ? p->low : p->left, high = upward ? p->high : p->right;
    const double steps[] = {1, 2, 5};
    for (int power = (int)floor(low); power <= (int)floor(high); power++) {
        for (int s = 0; s < 3; s++) {
            double value = steps[s] * pow(10, power);
            if (log10(value) >= low && log10(value) <= high) {
                draw_tick(page, p, upward, value, s == 0, s == 0 || high - low < 2.5);
            }
        }
    }
}

/* The line and its points; what has no logarithm is left out. */
static void draw_line(rb_page *page, const panel *p, const rb_plot_line *line, int64_t index) {
    bool pen_down = false;
    rb_page_colour(page, rb_class_colour(index));
    cairo_set_line_width(page->cairo, 1.6);
    for (int64_t i = 0; i < line->count; i++) {
        if (!drawable(line, i)) {
            continue;
        }
        double x = place_x(p, line->x[i]), y = place_y(p, line->y[i]);
        if (pen_down) {
            cairo_line_to(page->cairo, x, y);
        } else {
            cairo_move_to(page->cairo, x, y);
        }
        pen_down = true;
    }
    cairo_stroke(page->cairo);
    for (int64_t i = 0; i < line->count; i++) {
        if (drawable(line, i)) {
            cairo_arc(page->cairo, place_x(p, line->x[i]), place_y(p, line->y[i]), 2.4, 0, 7);
            cairo_fill(page->cairo);
        }
    }
}

/* Names at the right of the panel, from the top in the order of the lines, each after a stroke of
 * its line's colour. */
static void draw_names(rb_page *page, const rb_plot_line *lines, int64_t count) {
    for (int64_t l = 0; l < count; l++) {
        double y = TOP + 10 + NAME_GAP * (double)l;
        rb_page_line(page, LEFT + WIDTH + 12, y, LEFT + WIDTH + 30, y, 2, rb_class_colour(l));
        rb_page_text(page, RB_TEXT_TICK, LEFT + WIDTH + 36, y, 0, RB_PAGE_WIDTH - LEFT - WIDTH - 40,
                     lines[l].name);
    }
}

rb_error rb_plot_growth(rb_context *ctx, const rb_plot_line *lines, int64_t count,
                        const char *across, const char *up, const rb_options *given,
                        const char *path) {
    rb_plot_options chosen, *options = &chosen;
    rb_page page;
    rb_error err = rb_page_check(ctx, given, &chosen, path);
    if (!err) {
        err = rb_page_open(ctx, options, path, TOP + HEIGHT + BOTTOM, &page);
    }
    if (err) {
        return err;
    }
    panel p = find_range(lines, count);
    rb_page_text(&page, RB_TEXT_TITLE, LEFT, 30, 0, RB_PAGE_WIDTH - LEFT,
                 options->title ? options->title : up);
    draw_ticks(&page, &p, true);
    draw_ticks(&page, &p, false);
    rb_page_line(&page, LEFT, TOP, LEFT, TOP + HEIGHT, 0.6, ink);
    rb_page_line(&page, LEFT, TOP + HEIGHT, LEFT + WIDTH, TOP + HEIGHT, 0.6, ink);
    rb_page_text_up(&page, RB_TEXT_LABEL, 22, TOP + HEIGHT / 2.0, up);
    rb_page_text(&page, RB_TEXT_LABEL, LEFT + WIDTH / 2.0, TOP + HEIGHT + 38, 0.5, 0, across);
    for (int64_t l = 0; l < count; l++) {
        draw_line(&page, &p, &lines[l], l);
    }
    draw_names(&page, lines, count);
    return rb_page_close(&page, RB_OK);
}
