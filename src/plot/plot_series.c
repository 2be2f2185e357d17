/* Lines or points in one panel: qualities over iterations, evidences over ranks. */
#include "plot.h"

#include <math.h>

static const rb_colour ink = {0.35, 0.35, 0.35};
static const rb_colour faint = {0.88, 0.88, 0.88};

enum { LEFT = 96, TOP = 60, WIDTH = 772, HEIGHT = 330, BOTTOM = 60 };
enum { LINE_COLOURS = 10, STROKE = 22, ENTRY_HEIGHT = 16 };

struct panel {
    const rb_series_picture *picture;
    double low, high;
};

static void find_range(struct panel *p) {
    const rb_series_picture *s = p->picture;
    p->low = s->low;
    p->high = s->high;
    if (s->low < s->high) {
        return;
    }
    p->low = INFINITY;
    p->high = -INFINITY;
    for (int64_t i = 0; i < s->lines * s->count; i++) {
        if (isfinite(s->values[i])) {
            p->low = fmin(p->low, s->values[i]);
            p->high = fmax(p->high, s->values[i]);
        }
    }
    if (!(p->low <= p->high)) {
        p->low = p->high = 0;
    }
    double margin = p->high > p->low ? 0.04 * (p->high - p->low) : fmax(0.05 * fabs(p->low), 1e-6);
    p->low -= margin;
    p->high += margin;
}

static double place_x(const struct panel *p, double index) {
    double steps = p->picture->count > 1 ? (double)(p->picture->count - 1) : 1;
    return LEFT + WIDTH * index / steps;
}

static double place_y(const struct panel *p, double value) {
    return TOP + HEIGHT * (1 - (value - p->low) / (p->high - p->low));
}

static void draw_axes(rb_page *page, const struct panel *p) {
    char text[32];
    rb_ticks rows = rb_ticks_choose(p->low, p->high, 7, false);
    for (int i = 0; i < rows.count; i++) {
        double y = place_y(p, rb_tick_value(&rows, i));
        rb_page_line(page, LEFT, y, LEFT + WIDTH, y, 0.6, faint);
        rb_tick_text(&rows, i, text, sizeof text);
        rb_page_text(page, RB_TEXT_TICK, LEFT - 8, y, 1, 0, text);
    }
    double last = p->picture->count > 1 ? (double)p->picture->count : 2;
    rb_ticks columns = rb_ticks_choose(1, last, 9, true);
    for (int i = 0; i < columns.count; i++) {
        double x = place_x(p, rb_tick_value(&columns, i) - 1);
        rb_page_line(page, x, TOP + HEIGHT, x, TOP + HEIGHT + 4, 0.6, ink);
        rb_tick_text(&columns, i, text, sizeof text);
        rb_page_text(page, RB_TEXT_TICK, x, TOP + HEIGHT + 13, 0.5, 0, text);
    }
    rb_page_line(page, LEFT, TOP, LEFT, TOP + HEIGHT, 0.6, ink);
    rb_page_line(page, LEFT, TOP + HEIGHT, LEFT + WIDTH, TOP + HEIGHT, 0.6, ink);
    rb_page_text_up(page, RB_TEXT_LABEL, 22, TOP + HEIGHT / 2.0, p->picture->up);
    rb_page_text(page, RB_TEXT_LABEL, LEFT + WIDTH / 2.0, TOP + HEIGHT + 38, 0.5, 0,
                 p->picture->across);
}

/* Lines of the same colour differ in their dashes. */
static void choose_pen(rb_page *page, int64_t line) {
    static const double dashes[][4] = {{6, 3, 6, 3}, {1.5, 2.5, 1.5, 2.5}, {8, 2.5, 1.5, 2.5}};
    const int64_t kinds = 1 + (int64_t)(sizeof dashes / sizeof *dashes);
    int64_t kind = line / LINE_COLOURS % kinds;
    rb_page_colour(page, rb_line_colour(line));
    cairo_set_line_width(page->cairo, 0.9);
    cairo_set_dash(page->cairo, kind > 0 ? dashes[kind - 1] : NULL, kind > 0 ? 4 : 0, 0);
}

static void draw_line(rb_page *page, const struct panel *p, int64_t line) {
    const double *values = p->picture->values + line * p->picture->count;
    bool pen_down = false;
    if (p->picture->lines > 1) {
        choose_pen(page, line);
    } else {
        rb_page_colour(page, rb_class_colour(0));
        cairo_set_line_width(page->cairo, 1.8);
    }
    cairo_set_line_join(page->cairo, CAIRO_LINE_JOIN_ROUND);
    cairo_set_line_cap(page->cairo,
                       p->picture->count > 1 ? CAIRO_LINE_CAP_BUTT : CAIRO_LINE_CAP_ROUND);
    if (p->picture->count == 1) {
        cairo_set_line_width(page->cairo, 5); /* a point */
    }
    for (int64_t i = 0; i < p->picture->count; i++) {
        if (!isfinite(values[i])) {
            pen_down = false;
            continue;
        }
        double x = place_x(p, (double)i), y = place_y(p, values[i]);
        if (!pen_down) {
            cairo_move_to(page->cairo, x, y);
        }
        cairo_line_to(page->cairo, x, y);
        pen_down = true;
    }
    cairo_stroke(page->cairo);
    cairo_set_dash(page->cairo, NULL, 0, 0);
}

static void draw_points(rb_page *page, const struct panel *p) {
    const rb_series_picture *s = p->picture;
    const double whole = 6.283185307179586, radius = s->count > 2000 ? 1.2 : 2;
    for (int64_t i = 0; i < s->count; i++) {
        if (isfinite(s->values[i])) {
            rb_page_colour(page, rb_class_colour(s->classes[i]));
            cairo_new_path(page->cairo);
            cairo_arc(page->cairo, place_x(p, (double)i), place_y(p, s->values[i]), radius, 0,
                      whole);
            cairo_fill(page->cairo);
        }
    }
}

static bool occurs(const rb_series_picture *s, int64_t class_index) {
    for (int64_t i = 0; i < s->count; i++) {
        if (s->classes[i] == class_index) {
            return true;
        }
    }
    return false;
}

/* In a line between title and panel. */
static void draw_legend(rb_page *page, const rb_series_picture *s) {
    const double y = TOP - 13;
    double x = LEFT;
    rb_page_text(page, RB_TEXT_TICK, x, y, 0, 0, s->legend);
    x += rb_text_room(RB_TEXT_TICK, s->legend) + 8;
    for (int64_t c = 0; c < s->n_classes; c++) {
        if (occurs(s, c)) {
            rb_page_fill(page, (rb_box){x, y - 5, 10, 10}, rb_class_colour(c));
            rb_page_text(page, RB_TEXT_TICK, x + 15, y, 0, 0, s->class_names[c]);
            x += rb_text_room(RB_TEXT_TICK, s->class_names[c]) + 30;
        }
    }
}

/* Names of lines below the panel, in rows. */
typedef struct line_legend {
    int64_t across;
    double left, step;
} line_legend;

static line_legend arrange_names(const rb_series_picture *s) {
    double widest = 0;
    for (int64_t line = 0; line < s->lines; line++) {
        widest = fmax(widest, rb_text_room(RB_TEXT_TICK, s->line_names[line]));
    }
    line_legend l = {.left = LEFT + rb_text_room(RB_TEXT_TICK, s->legend) + 12,
                     .step = STROKE + 6 + widest + 12};
    double fitting = floor((LEFT + WIDTH - l.left) / l.step);
    l.across = (int64_t)fmax(1, fmin(LINE_COLOURS, fitting));
    return l;
}

static double legend_height(const rb_series_picture *s) {
    if (!s->line_names) {
        return 0;
    }
    int64_t across = arrange_names(s).across, rows = (s->lines + across - 1) / across;
    return (double)rows * ENTRY_HEIGHT + 8;
}

static void draw_line_names(rb_page *page, const rb_series_picture *s) {
    const double top = TOP + HEIGHT + BOTTOM + 4;
    line_legend l = arrange_names(s);
    rb_page_text(page, RB_TEXT_TICK, LEFT, top, 0, 0, s->legend);
    for (int64_t line = 0; line < s->lines; line++) {
        int64_t row = line / l.across, column = line % l.across;
        double x = l.left + (double)column * l.step, y = top + (double)row * ENTRY_HEIGHT;
        choose_pen(page, line);
        cairo_set_line_width(page->cairo, 1.6);
        cairo_move_to(page->cairo, x, y);
        cairo_line_to(page->cairo, x + STROKE, y);
        cairo_stroke(page->cairo);
        cairo_set_dash(page->cairo, NULL, 0, 0);
        rb_page_text(page, RB_TEXT_TICK, x + STROKE + 6, y, 0, 0, s->line_names[line]);
    }
}

rb_error rb_draw_series(rb_context *ctx, const rb_series_picture *picture,
                        const rb_plot_options *options, const char *path) {
    struct panel p = {.picture = picture};
    rb_page page;
    find_range(&p);
    double height = TOP + HEIGHT + BOTTOM + legend_height(picture);
    rb_error err = rb_page_open(ctx, options, path, height, &page);
    if (err) {
        return err;
    }
    rb_page_text(&page, RB_TEXT_TITLE, LEFT, picture->classes ? 24 : 30, 0, WIDTH, picture->title);
    draw_axes(&page, &p);
    if (isfinite(picture->cut)) {
        double x = place_x(&p, picture->cut);
        rb_page_line(&page, x, TOP, x, TOP + HEIGHT, 1.2,
                     picture->classes ? ink : rb_class_colour(3));
    }
    if (picture->classes) {
        draw_points(&page, &p);
        draw_legend(&page, picture);
    }
    for (int64_t line = 0; !picture->classes && line < picture->lines; line++) {
        draw_line(&page, &p, line);
    }
    if (picture->line_names) {
        draw_line_names(&page, picture);
    }
    return rb_page_close(&page, RB_OK);
}
