/* Modules as a heat map: features x samples in blocks along the diagonal, classes in a strip
 * above. */
#include "plot.h"

#include <math.h>

enum {
    MARGIN_LEFT = 70,
    MARGIN_TOP = 60,
    STRIP_HEIGHT = 12,
    LEGEND_STEP = 20,
    MOST_NAME = 150,
    BAR_ROOM = 78
};

static const rb_colour ink = {0.15, 0.15, 0.15};

static const rb_colour no_class = {0.92, 0.92, 0.92};

/* Where everything stands. */
typedef struct layout {
    rb_box map, strip;
    double left, row_height;
    bool names; /* is there room for the names of the rows? */
    double legend_column, legend_top;
    int64_t legend_entries, legend_across, legend_down;
    double height;
} layout;

static double widest(const char *const *names, int64_t count, rb_text_style style) {
    double room = 0;
    for (int64_t i = 0; i < count; i++) {
        room = fmax(room, rb_text_room(style, names[i]));
    }
    return room;
}

/* Samples without a class have an entry of their own in the legend. */
static int64_t legend_entries(const rb_modules_picture *p) {
    for (int64_t i = 0; i < p->columns; i++) {
        if (p->class_of[i] < 0) {
            return p->n_classes + 1;
        }
    }
    return p->n_classes;
}

static const char *legend_text(const rb_modules_picture *p, int64_t entry) {
    return entry < p->n_classes ? p->class_names[entry] : "(no label)";
}

static void arrange_legend(const rb_modules_picture *p, layout *l) {
    double room = RB_PAGE_WIDTH - l->left - 20, wanted = 0;
    l->legend_entries = legend_entries(p);
    for (int64_t c = 0; c < l->legend_entries; c++) {
        wanted = fmax(wanted, rb_text_room(RB_TEXT_LABEL, legend_text(p, c)) + 36);
    }
    l->legend_across = (int64_t)fmax(1, floor(room / wanted));
    l->legend_column = room / (double)l->legend_across;
    l->legend_down = (l->legend_entries + l->legend_across - 1) / l->legend_across;
}

static layout arrange(const rb_modules_picture *p) {
    layout l = {0};
    l.row_height = fmin(fmax(1400.0 / (double)p->rows, 2), p->rows < 30 ? 16 : 11.5);
    l.names = p->row_names && l.row_height >= rb_text_size(RB_TEXT_SMALL) + 1;
    double names =
        l.names ? fmin(widest(p->row_names, p->rows, RB_TEXT_SMALL), MOST_NAME) + 10 : 10;
    double top = MARGIN_TOP;
    l.left = MARGIN_LEFT;
    double width = RB_PAGE_WIDTH - l.left - names - BAR_ROOM;
    if (p->class_of) {
        l.strip = (rb_box){l.left, top, width, STRIP_HEIGHT};
        top += STRIP_HEIGHT + 5;
    }
    l.map = (rb_box){l.left, top, width, fmax(l.row_height * (double)p->rows, 120)};
    l.row_height = l.map.height / (double)p->rows;
    l.legend_top = l.map.y + l.map.height + 44;
    if (p->class_of) {
        arrange_legend(p, &l);
    }
    l.height = l.legend_top + (double)l.legend_down * LEGEND_STEP + (l.legend_down ? 10 : -14);
    return l;
}

static rb_colour colour_of_class(int64_t class_index) {
    return class_index < 0 ? no_class : rb_class_colour(class_index);
}

/* Neighbouring samples of one class are one rectangle. */
static void draw_strip(rb_page *page, const rb_modules_picture *p, const layout *l) {
    double width = l->strip.width / (double)p->columns;
    for (int64_t start = 0, end; start < p->columns; start = end) {
        for (end = start; end < p->columns && p->class_of[end] == p->class_of[start]; end++) {
        }
        rb_box part = {l->strip.x + (double)start * width, l->strip.y,
                       (double)(end - start) * width, l->strip.height};
        rb_page_fill(page, part, colour_of_class(p->class_of[start]));
    }
    rb_page_text(page, RB_TEXT_TICK, l->strip.x - 8, l->strip.y + l->strip.height / 2, 1, 0,
                 "class");
}

static void draw_legend(rb_page *page, const rb_modules_picture *p, const layout *l) {
    for (int64_t c = 0; c < l->legend_entries; c++) {
        int64_t row = c / l->legend_across, column = c % l->legend_across;
        double x = l->left + (double)column * l->legend_column;
        double y = l->legend_top + (double)row * LEGEND_STEP;
        rb_page_fill(page, (rb_box){x, y - 6, 12, 12}, colour_of_class(c < p->n_classes ? c : -1));
        rb_page_text(page, RB_TEXT_LABEL, x + 18, y, 0, l->legend_column - 26, legend_text(p, c));
    }
}

/* The unit, at the left of the picture beside the frame. */
static void draw_unit(rb_page *page, const rb_module_frame *f, rb_box box, double right) {
    char text[32];
    snprintf(text, sizeof text, "unit %lld", (long long)f->unit);
    rb_page_text(page, RB_TEXT_TICK, right, box.y + box.height / 2, 1, 0, text);
}

static void draw_frames(rb_page *page, const rb_modules_picture *p, const layout *l) {
    double width = l->map.width / (double)p->columns;
    for (int64_t i = 0; i < p->n_frames; i++) {
        const rb_module_frame *f = &p->frames[i];
        rb_box box = {l->map.x + (double)f->first_column * width,
                      l->map.y + (double)f->first_row * l->row_height, (double)f->columns * width,
                      (double)f->rows * l->row_height};
        rb_page_frame(page, box, 1.2, ink);
        if (box.height >= rb_text_size(RB_TEXT_SMALL)) {
            draw_unit(page, f, box, l->map.x - 8);
        }
    }
}

static void draw_names(rb_page *page, const rb_modules_picture *p, const layout *l) {
    for (int64_t i = 0; i < p->rows; i++) {
        double y = l->map.y + ((double)i + 0.5) * l->row_height;
        rb_page_text(page, RB_TEXT_SMALL, l->map.x + l->map.width + 6, y, 0, MOST_NAME,
                     p->row_names[i]);
    }
}

rb_error rb_draw_modules(rb_context *ctx, const rb_modules_picture *p,
                         const rb_plot_options *options, const char *path) {
    rb_page page;
    layout l = arrange(p);
    rb_error err = rb_page_open(ctx, options, path, l.height, &page);
    if (err) {
        return err;
    }
    rb_grid grid = {p->values, p->rows, p->columns, RB_MAP_DIVERGING, -2.5, 2.5};
    rb_page_text(&page, RB_TEXT_TITLE, l.map.x, 30, 0, RB_PAGE_WIDTH - l.map.x - 20, p->title);
    if (p->note && *p->note) {
        rb_page_text(&page, RB_TEXT_TICK, l.map.x, 48, 0, RB_PAGE_WIDTH - l.map.x - 20, p->note);
    }
    rb_page_heatmap(&page, l.map, &grid);
    rb_page_frame(&page, l.map, 0.5, (rb_colour){0.6, 0.6, 0.6});
    if (p->class_of) {
        draw_strip(&page, p, &l);
        draw_legend(&page, p, &l);
    }
    draw_frames(&page, p, &l);
    if (l.names) {
        draw_names(&page, p, &l);
    }
    rb_page_text(&page, RB_TEXT_LABEL, l.map.x + l.map.width / 2, l.map.y + l.map.height + 16, 0.5,
                 0, "samples");
    rb_box bar = {RB_PAGE_WIDTH - 44, l.map.y + 6, 12, fmin(l.map.height - 12, 160)};
    rb_page_colour_bar(&page, bar, &grid, false, "standardised value");
    return rb_page_close(&page, RB_OK);
}
