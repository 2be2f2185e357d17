/* Loadings as curves: a grid of small panels, one a unit, each scaled to its own largest absolute
 * value around a line at 0; for sounds and other series. */
#include "plot.h"

#include <math.h>
#include <string.h>

enum { MARGIN = 34, MARGIN_TOP = 56, MOST_ACROSS = 20, GAP = 7, LINE = 11, ROW_ROOM = 20 };

static const rb_colour ink = {0.13, 0.30, 0.55};
static const rb_colour faint = {0.80, 0.80, 0.80};

typedef struct layout {
    int64_t across;
    double left;          /* of the first column */
    double width, height; /* of a panel */
    bool numbers;         /* one below each panel; else that of a row's first, at its left */
} layout;

static layout arrange(const rb_filters_picture *p) {
    layout l;
    l.across = (int64_t)fmin(ceil(sqrt((double)p->units)), MOST_ACROSS);
    l.across = p->across ? p->across : l.across;
    l.left = MARGIN + (p->rows ? ROW_ROOM : 0);
    l.width = fmax((RB_PAGE_WIDTH - MARGIN - l.left) / (double)l.across - GAP, 1);
    l.height = fmin(0.62 * l.width, 90);
    l.numbers = !p->across && l.width > 45;
    return l;
}

static double row_step(const layout *l) {
    return l->height + GAP + (l->numbers ? LINE : 0);
}

/* The series of a unit, places without a feature 0; the largest absolute value. */
static double collect(const rb_filters_picture *p, int64_t unit, double *series) {
    double largest = 0;
    memset(series, 0, (size_t)p->width * sizeof *series);
    for (int64_t k = 0; k < p->n_features; k++) {
        double value = p->loadings[k * p->units + unit];
        series[p->place ? p->place[k] : k] = value;
        largest = fmax(largest, fabs(value));
    }
    return largest;
}

static void draw_curve(rb_page *page, const double *series, int64_t count, double largest,
                       rb_box box) {
    double middle = box.y + box.height / 2;
    rb_page_line(page, box.x, middle, box.x + box.width, middle, 0.5, faint);
    rb_page_colour(page, ink);
    cairo_set_line_width(page->cairo, 0.7);
    cairo_set_line_join(page->cairo, CAIRO_LINE_JOIN_ROUND);
    for (int64_t t = 0; t < count; t++) {
        double share = largest > 0 ? series[t] / largest : 0;
        double x = box.x + box.width * (double)t / (double)(count > 1 ? count - 1 : 1);
        double y = middle - share * box.height / 2;
        if (t == 0) {
            cairo_move_to(page->cairo, x, y);
        } else {
            cairo_line_to(page->cairo, x, y);
        }
    }
    cairo_stroke(page->cairo);
}

static void draw_number(rb_page *page, const rb_filters_picture *p, const layout *l, int64_t unit,
                        rb_box box) {
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)unit);
    if (p->rows) {
        snprintf(text, sizeof text, "%.0f", p->rows[unit / l->across]);
    }
    if (l->numbers) {
        rb_page_text(page, RB_TEXT_SMALL, box.x + box.width / 2, box.y + box.height + LINE / 2.0,
                     0.5, 0, text);
    } else if (unit % l->across == 0) {
        rb_page_text(page, RB_TEXT_SMALL, box.x - 5, box.y + box.height / 2, 1, 0, text);
    }
}

rb_error rb_draw_curves(rb_context *ctx, const rb_filters_picture *p,
                        const rb_plot_options *options, const char *path) {
    layout l = arrange(p);
    int64_t down = (p->units + l.across - 1) / l.across;
    rb_page page;
    double *series = rb_alloc(ctx, p->width, sizeof *series);
    rb_error err = series ? rb_page_open(ctx, options, path,
                                         MARGIN_TOP + (double)down * row_step(&l) + MARGIN, &page)
                          : RB_ERROR_MEMORY;
    if (!err) {
        rb_page_text(&page, RB_TEXT_TITLE, RB_PAGE_WIDTH / 2.0, 30, 0.5, RB_PAGE_WIDTH - 2 * MARGIN,
                     p->title);
        for (int64_t unit = 0; unit < p->units; unit++) {
            double largest = collect(p, unit, series);
            int64_t row = unit / l.across, column = unit % l.across;
            rb_box box = {l.left + (double)column * (l.width + GAP),
                          MARGIN_TOP + (double)row * row_step(&l), l.width, l.height};
            draw_curve(&page, series, p->width, largest, box);
            draw_number(&page, p, &l, unit, box);
        }
        if (p->across) {
            rb_page_numbers(&page, p->across, l.left + l.width / 2, l.width + GAP, MARGIN_TOP - 7);
        }
        err = rb_page_close(&page, RB_OK);
    }
    rb_free(series);
    return err;
}
