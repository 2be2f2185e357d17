/* Charts: two axes with their ticks, the lines and dots between them, legends, colour bars, and
 * labels that keep apart. */
#include "plot.h"

#include <math.h>

static const rb_colour ink = {0.35, 0.35, 0.35};
static const rb_colour faint = {0.88, 0.88, 0.88};

/* ---- ticks ---- */

/* The next step of the row 1, 2, 5, 10, 20, 50, ... that is at least `min`. */
static double round_step(double min) {
    double power = pow(10, floor(log10(min)));
    const double factors[] = {1, 2, 5};
    for (int i = 0; i < 3; i++)
        if (factors[i] * power >= min * (1 - 1e-9)) return factors[i] * power;
    return 10 * power;
}

rb_ticks rb_ticks_choose(double low, double high, int max, bool whole) {
    double range = high - low;
    if (!(range > 0) || !isfinite(range)) return (rb_ticks){low, 1, 1};
    double step = fmax(round_step(range / max), whole ? 1 : 0);
    for (;; step = round_step(1.5 * step)) {
        double first = ceil(low / step - 1e-9), last = floor(high / step + 1e-9);
        if (last - first < max) return (rb_ticks){first * step, step, (int)(last - first) + 1};
    }
}

double rb_tick_value(const rb_ticks *ticks, int index) {
    double value = ticks->first + index * ticks->step;
    /* -0, and what rounding leaves of 0 */
    return fabs(value) < 1e-9 * ticks->step ? 0 : value;
}

void rb_tick_text(const rb_ticks *ticks, int index, char *buffer, size_t size) {
    double value = rb_tick_value(ticks, index);
    double largest = fmax(fabs(ticks->first), fabs(rb_tick_value(ticks, ticks->count - 1)));
    int place = (int)floor(log10(ticks->step) + 1e-9); /* of the last digit */
    if (largest < 1e6 && place >= -6) {
        rb_print(buffer, size, "%.*f", place < 0 ? -place : 0, value);
        return;
    }
    int digits = (int)floor(log10(fmax(largest, ticks->step))) - place + 1;
    rb_print(buffer, size, "%.*g", digits < 15 ? digits : 15, value);
}

void rb_page_numbers(rb_page *page, rb_text_style style, double x, double y, double step,
                     int64_t count) {
    const double min_step = 24, sparse_step = 40;
    rb_ticks ticks = {0, 1, (int)count};
    if (step < min_step) {
        ticks = rb_ticks_choose(0, (double)count - 1,
                                (int)fmax(1, (double)count * step / sparse_step), true);
    }
    for (int i = 0; i < ticks.count; i++) {
        char text[32];
        rb_tick_text(&ticks, i, text, sizeof text);
        rb_page_text(page, style, x + (rb_tick_value(&ticks, i) + 0.5) * step, y, 0.5, 0, text);
    }
}

void rb_spread(double *places, int64_t count, double gap, double low, double high) {
    for (int64_t i = 0; i < count; i++) {
        places[i] = fmax(places[i], low);
        low = places[i] + gap;
    }
    for (int64_t i = count - 1; i >= 0 && places[i] > high; i--) {
        places[i] = high;
        high -= gap;
    }
}

/* ---- axes ---- */

rb_axis rb_axis_counting(const char *label, int64_t count) {
    return (rb_axis){.label = label, .low = 1, .high = (double)(count > 1 ? count : 2)};
}

void rb_axis_cover(rb_axis *axis, double value) {
    if (isfinite(value)) {
        axis->low = fmin(axis->low, value);
        axis->high = fmax(axis->high, value);
    }
}

bool rb_axis_pad(rb_axis *axis, double share) {
    if (axis->low > axis->high) {
        axis->low = -1e-6;
        axis->high = 1e-6;
        return false;
    }
    double range = axis->high - axis->low;
    double margin = range > 0 ? share * range : fmax(0.05 * fabs(axis->low), 1e-6);
    axis->low -= margin;
    axis->high += margin;
    return true;
}

static double share_of(const rb_axis *axis, double value) {
    return (value - axis->low) / (axis->high - axis->low);
}

double rb_chart_x(const rb_chart *c, double value) {
    return c->box.x + c->box.width * share_of(&c->across, value);
}

double rb_chart_y(const rb_chart *c, double value) {
    return c->box.y + c->box.height * (1 - share_of(&c->up, value));
}

/* A line through the chart, or a stroke below it. */
static void draw_tick(rb_page *page, const rb_chart *c, bool up, double value, const char *text) {
    double right = c->box.x + c->box.width, bottom = c->box.y + c->box.height;
    if (up) {
        double y = rb_chart_y(c, value);
        rb_page_line(page, c->box.x, y, right, y, 0.6, faint);
        rb_page_text(page, RB_TEXT_TICK, c->box.x - 8, y, 1, 0, text);
    } else {
        double x = rb_chart_x(c, value);
        rb_page_line(page, x, bottom + 4, x, bottom, 0.6, ink);
        rb_page_text(page, RB_TEXT_TICK, x, bottom + 13, 0.5, 0, text);
    }
}

static void draw_ticks(rb_page *page, const rb_chart *c, bool up) {
    const rb_axis *axis = up ? &c->up : &c->across;
    rb_ticks ticks = rb_ticks_choose(axis->low, axis->high, up ? 7 : 9, !up || axis->whole);
    for (int i = 0; i < axis->n_names; i++)
        draw_tick(page, c, up, i, axis->names[i]);
    for (int i = 0; i < ticks.count && !axis->names; i++) {
        char text[32];
        rb_tick_text(&ticks, i, text, sizeof text);
        draw_tick(page, c, up, rb_tick_value(&ticks, i), text);
    }
}

void rb_chart_axes(rb_page *page, const rb_chart *c) {
    double left = c->box.x, right = left + c->box.width;
    double top = c->box.y, bottom = top + c->box.height;
    draw_ticks(page, c, true);
    draw_ticks(page, c, false);
    rb_page_line(page, left, top, left, bottom, 0.6, ink);
    rb_page_line(page, left, bottom, right, bottom, 0.6, ink);
    rb_page_text_up(page, RB_TEXT_LABEL, 22, (top + bottom) / 2, 0.5, 0, c->up.label);
    if (c->across.label)
        rb_page_text(page, RB_TEXT_LABEL, (left + right) / 2, bottom + 38, 0.5, 0, c->across.label);
}

/* ---- lines ---- */

rb_pen rb_line_pen(int64_t index, double width) {
    return (rb_pen){rb_line_colour(index), width, index / 10 % 4};
}

static void use_pen(rb_page *page, rb_pen pen) {
    static const double dashes[][4] = {{0}, {6, 3, 6, 3}, {1.5, 2.5, 1.5, 2.5}, {8, 2.5, 1.5, 2.5}};
    rb_page_colour(page, pen.colour);
    cairo_set_line_width(page->cairo, pen.width);
    cairo_set_line_join(page->cairo, CAIRO_LINE_JOIN_ROUND);
    cairo_set_line_cap(page->cairo, pen.dash ? CAIRO_LINE_CAP_BUTT : CAIRO_LINE_CAP_ROUND);
    cairo_set_dash(page->cairo, dashes[pen.dash], pen.dash ? 4 : 0, 0);
}

void rb_chart_line(rb_page *page, const rb_chart *c, const double *x, const double *y,
                   int64_t count, rb_pen pen) {
    bool pen_down = false;
    cairo_save(page->cairo);
    pen.width = count == 1 ? 5 : pen.width;
    use_pen(page, pen);
    for (int64_t i = 0; i < count; i++) {
        double at = x ? x[i] : (double)i + 1;
        if (isfinite(at) && isfinite(y[i])) {
            double to_x = rb_chart_x(c, at), to_y = rb_chart_y(c, y[i]);
            if (!pen_down) cairo_move_to(page->cairo, to_x, to_y);
            cairo_line_to(page->cairo, to_x, to_y);
            pen_down = true;
        } else {
            pen_down = pen_down && x;
        }
    }
    cairo_stroke(page->cairo);
    cairo_restore(page->cairo);
}

void rb_chart_dot(rb_page *page, const rb_chart *c, double x, double y, double radius,
                  rb_colour colour) {
    if (isfinite(x) && isfinite(y)) {
        rb_page_colour(page, colour);
        cairo_arc(page->cairo, rb_chart_x(c, x), rb_chart_y(c, y), radius, 0, 6.283185307179586);
        cairo_fill(page->cairo);
    }
}

/* ---- legends ---- */

double rb_legend_height(const rb_legend *l) {
    int64_t rows = (l->count + l->across - 1) / l->across;
    return (double)rows * l->row_height;
}

/* "(no label, 12)" */
static const char *no_label(int64_t count, char text[48]) {
    snprintf(text, 48, "(no label, %lld)", (long long)count);
    return text;
}

rb_legend rb_class_legend(const rb_classes *classes, int64_t unlabelled, double left, double top) {
    char none[48];
    const char *const *names = classes ? classes->names : NULL;
    int64_t n_classes = classes ? classes->n_classes : 0;
    double space = RB_PAGE_WIDTH - left - 20;
    double wanted = fmax(rb_text_widest(RB_TEXT_LABEL, names, n_classes),
                         unlabelled ? rb_text_width(RB_TEXT_LABEL, no_label(unlabelled, none)) : 0);
    int64_t across = (int64_t)fmax(1, floor(space / (wanted + 36)));
    return (rb_legend){.names = names,
                       .classes = classes,
                       .count = n_classes ? n_classes + (unlabelled > 0) : 0,
                       .unlabelled = unlabelled,
                       .across = across,
                       .left = left,
                       .top = top,
                       .step = space / (double)across,
                       .row_height = 20};
}

/* Neighbours of one class are one rectangle. */
void rb_page_class_strip(rb_page *page, rb_box strip, const int64_t *class_of, int64_t columns) {
    double width = strip.width / (double)columns;
    for (int64_t start = 0, end; start < columns; start = end) {
        for (end = start; end < columns && class_of[end] == class_of[start]; end++) {
        }
        rb_box part = {strip.x + (double)start * width, strip.y, (double)(end - start) * width,
                       strip.height};
        rb_page_fill(page, part, rb_class_colour(class_of[start]));
    }
    rb_page_text(page, RB_TEXT_TICK, strip.x - 8, strip.y + strip.height / 2, 1, 0, "class");
}

void rb_page_legend(rb_page *page, const rb_legend *l) {
    for (int64_t i = 0; i < l->count; i++) {
        int64_t row = i / l->across, column = i % l->across;
        double x = l->left + (double)column * l->step, y = l->top + (double)row * l->row_height;
        if (l->classes) {
            char none[48];
            bool known = i < l->classes->n_classes;
            int64_t place = known ? rb_classes_place(l->classes, i) : -1;
            rb_page_fill(page, (rb_box){x, y - 6, 12, 12}, rb_class_colour(place));
            rb_page_text(page, RB_TEXT_LABEL, x + 18, y, 0, l->step - 26,
                         known ? l->names[i] : no_label(l->unlabelled, none));
            continue;
        }
        cairo_save(page->cairo);
        use_pen(page, rb_line_pen(i, 1.6));
        cairo_set_line_cap(page->cairo, CAIRO_LINE_CAP_BUTT);
        cairo_move_to(page->cairo, x, y);
        cairo_line_to(page->cairo, x + 22, y);
        cairo_stroke(page->cairo);
        cairo_restore(page->cairo);
        rb_page_text(page, RB_TEXT_TICK, x + 28, y, 0, 0, l->names[i]);
    }
}

void rb_page_colour_bar(rb_page *page, rb_box box, const rb_grid *grid, bool more,
                        const char *label) {
    enum { STEPS = 256 };
    const rb_colour grey = {0.5, 0.5, 0.5};
    double values[STEPS], right = box.x + box.width;
    for (int i = 0; i < STEPS; i++)
        values[i] = grid->high - (grid->high - grid->low) * i / (STEPS - 1);
    rb_page_heatmap(page, box, &(rb_grid){values, STEPS, 1, grid->map, grid->low, grid->high});
    rb_page_frame(page, box, 0.5, grey);
    rb_ticks ticks = rb_ticks_choose(grid->low, grid->high, 6, false);
    for (int i = 0; i < ticks.count; i++) {
        char text[32];
        double share = (rb_tick_value(&ticks, i) - grid->low) / (grid->high - grid->low);
        double y = box.y + box.height * (1 - share);
        rb_tick_text(&ticks, i, text, sizeof text);
        rb_page_line(page, right, y, right + 4, y, 0.5, grey);
        rb_page_text(page, RB_TEXT_TICK, right + 7, y, 0, 0, text);
    }
    if (more)
        rb_page_text(page, RB_TEXT_TICK, box.x + box.width / 2, box.y - 9, 0.5, 0, "and above");
    rb_page_text_up(page, RB_TEXT_TICK, box.x - 10, box.y + box.height / 2, 0.5, 0, label);
}
