/* Loadings as images: a grid, one a unit, its number below it; where images are too small for that,
 * each row has the number of its first at the left. Where all units stand in each row, their
 * numbers are above the first one. */
#include "plot.h"

#include <math.h>
#include <string.h>

enum {
    MARGIN = 34,
    MARGIN_TOP = 56,
    MOST_CELL = 150,
    MOST_ACROSS = 128,
    NUMBER_ROOM = 28,
    ROW_ROOM = 20, /* besides the margin, for the numbers of rows */
    LINE = 12
};

static const rb_colour edge = {0.72, 0.72, 0.72};

/* How the grid is laid out, in pixels of the picture. */
typedef struct layout {
    int64_t across, down;
    int64_t cell_width, cell_height, gap;
    int64_t line; /* below an image, for its number; 0: it has none */
} layout;

/* Images in a row so that the grid is about as high as it is wide. A pixel of an image becomes a
 * whole number of pixels of the picture; where that leaves much of the width empty, more images go
 * into a row. */
static layout arrange(const rb_filters_picture *p, double scale) {
    layout l;
    double aspect = (double)p->height / (double)p->width;
    double page = (RB_PAGE_WIDTH - 2 * MARGIN - (p->rows ? ROW_ROOM : 0)) * scale;
    l.across = (int64_t)fmin(ceil(sqrt((double)p->units * aspect)), (double)p->units);
    l.across = l.across < 1 ? 1 : l.across > MOST_ACROSS ? MOST_ACROSS : l.across;
    l.across = p->across ? p->across : l.across;
    l.gap = (int64_t)fmax(1, round(3 * scale * (l.across > 20 ? 0.5 : 1)));
    double room = fmin(page / (double)l.across - (double)l.gap, MOST_CELL * scale);
    /* Tall images: the page must not become endless. */
    double rows = ceil((double)p->units / (double)l.across);
    room = fmin(room, 4 * RB_PAGE_WIDTH * scale / rows / aspect);
    l.cell_width = (int64_t)fmax(1, floor(room));
    if (l.cell_width > p->width) {
        l.cell_width -= l.cell_width % p->width;
    }
    l.cell_height = (int64_t)fmax(1, round((double)l.cell_width * aspect));
    if (!p->across && (double)l.cell_width < 0.85 * room && l.across < p->units) {
        int64_t most = (int64_t)((page + (double)l.gap) / (double)(l.cell_width + l.gap));
        l.across = most < p->units ? most : p->units;
    }
    l.down = (p->units + l.across - 1) / l.across;
    l.line = !p->across && (double)l.cell_width >= NUMBER_ROOM * scale
                 ? (int64_t)round(LINE * scale)
                 : 0;
    return l;
}

/* The image of a unit, channels together, pixels without a feature 0; the largest absolute
 * value. */
static double collect(const rb_filters_picture *p, int64_t unit, double *image) {
    double largest = 0;
    memset(image, 0, (size_t)(p->height * p->width * p->channels) * sizeof *image);
    for (int64_t k = 0; k < p->n_features; k++) {
        double value = p->loadings[k * p->units + unit];
        image[p->place ? p->place[k] : k] = value;
        largest = fmax(largest, fabs(value));
    }
    return largest;
}

static bool has_negative(const rb_filters_picture *p) {
    for (int64_t i = 0; i < p->n_features * p->units; i++) {
        if (p->loadings[i] < 0) {
            return true;
        }
    }
    return false;
}

/* 0 is in the middle where any loading of the picture is negative, else black. */
static uint32_t level(double value, double largest, bool middle) {
    double share = largest > 0 ? value / largest : 0;
    return (uint32_t)lround(middle ? 127.5 + 127.5 * share : 255 * share);
}

/* The colour of an image's pixel as cairo packs it. */
static uint32_t colour_at(const rb_filters_picture *p, const double *image, double largest,
                          bool middle, int64_t row, int64_t column) {
    const double *pixel = image + (row * p->width + column) * p->channels;
    uint32_t red = level(pixel[0], largest, middle);
    uint32_t green = p->channels == 3 ? level(pixel[1], largest, middle) : red;
    uint32_t blue = p->channels == 3 ? level(pixel[2], largest, middle) : red;
    return red << 16 | green << 8 | blue;
}

static void draw_image(rb_page *page, const rb_filters_picture *p, const layout *l,
                       const double *image, double largest, bool middle, double x, double y) {
    cairo_surface_t *cell =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)l->cell_width, (int)l->cell_height);
    if (cairo_surface_status(cell) == CAIRO_STATUS_SUCCESS) {
        cairo_surface_flush(cell);
        unsigned char *bytes = cairo_image_surface_get_data(cell);
        int64_t stride = cairo_image_surface_get_stride(cell);
        for (int64_t row = 0; row < l->cell_height; row++) {
            uint32_t *line = (uint32_t *)(void *)(bytes + row * stride);
            for (int64_t column = 0; column < l->cell_width; column++) {
                line[column] =
                    colour_at(p, image, largest, middle, row * p->height / l->cell_height,
                              column * p->width / l->cell_width);
            }
        }
        cairo_surface_mark_dirty(cell);
    }
    cairo_set_source_surface(page->cairo, cell, x, y);
    cairo_pattern_set_filter(cairo_get_source(page->cairo), CAIRO_FILTER_NEAREST);
    cairo_rectangle(page->cairo, x, y, (double)l->cell_width, (double)l->cell_height);
    cairo_fill(page->cairo);
    cairo_surface_destroy(cell);
}

/* Where the images of a column and of a row begin, in pixels. */
static double place_x(const rb_page *page, const layout *l, int64_t column) {
    double width = (double)(l->across * (l->cell_width + l->gap) - l->gap);
    double left = round((RB_PAGE_WIDTH * page->scale - width) / 2);
    return left + (double)(column * (l->cell_width + l->gap));
}

static int64_t row_step(const layout *l) {
    return l->cell_height + l->gap + l->line;
}

static double place_y(const rb_page *page, const layout *l, int64_t row) {
    return round(MARGIN_TOP * page->scale) + (double)(row * row_step(l));
}

void rb_page_numbers(rb_page *page, int64_t count, double first, double step, double y) {
    static const int64_t strides[] = {1, 2, 5, 10, 20, 50};
    int s = 0;
    while (s < 5 && (double)strides[s] * step < NUMBER_ROOM) {
        s++;
    }
    for (int64_t k = 0; k < count; k += strides[s]) {
        char text[32];
        snprintf(text, sizeof text, "%lld", (long long)k);
        rb_page_text(page, RB_TEXT_SMALL, first + step * (double)k, y, 0.5, 0, text);
    }
}

/* x, y: the upper left corner of the image. */
static void draw_number(rb_page *page, const rb_filters_picture *p, const layout *l, int64_t unit,
                        double x, double y) {
    char text[32];
    double width = (double)l->cell_width / page->scale,
           height = (double)l->cell_height / page->scale;
    snprintf(text, sizeof text, "%lld", (long long)unit);
    if (p->rows) {
        snprintf(text, sizeof text, "%.0f", p->rows[unit / l->across]);
    }
    if (l->line > 0) {
        rb_page_text(page, RB_TEXT_SMALL, x + width / 2, y + height + LINE / 2.0, 0.5, 0, text);
    } else if (unit % l->across == 0) {
        rb_page_text(page, RB_TEXT_SMALL, x - 6, y + height / 2, 1, 0, text);
    }
}

static void draw_grid(rb_page *page, const rb_filters_picture *p, const layout *l, double *image) {
    bool middle = has_negative(p);
    for (int64_t unit = 0; unit < p->units; unit++) {
        double largest = collect(p, unit, image);
        double x = place_x(page, l, unit % l->across), y = place_y(page, l, unit / l->across);
        cairo_save(page->cairo);
        cairo_identity_matrix(page->cairo);
        draw_image(page, p, l, image, largest, middle, x, y);
        cairo_restore(page->cairo);
        x /= page->scale;
        y /= page->scale;
        rb_box frame = {x - 0.4, y - 0.4, (double)l->cell_width / page->scale + 0.8,
                        (double)l->cell_height / page->scale + 0.8};
        rb_page_frame(page, frame, 0.6, edge);
        draw_number(page, p, l, unit, x, y);
    }
    if (p->across) {
        double width = (double)l->cell_width / page->scale, gap = (double)l->gap / page->scale;
        rb_page_numbers(page, p->across, place_x(page, l, 0) / page->scale + width / 2, width + gap,
                        MARGIN_TOP - 7);
    }
}

rb_error rb_draw_filters(rb_context *ctx, const rb_filters_picture *p,
                         const rb_plot_options *options, const char *path) {
    double scale = (double)options->width / RB_PAGE_WIDTH;
    layout l = arrange(p, scale);
    double height = MARGIN_TOP + (double)(l.down * row_step(&l)) / scale + MARGIN;
    rb_page page;
    double *image = rb_alloc(ctx, p->height * p->width * p->channels, sizeof *image);
    rb_error err = image ? rb_page_open(ctx, options, path, height, &page) : RB_ERROR_MEMORY;
    if (!err) {
        rb_page_text(&page, RB_TEXT_TITLE, RB_PAGE_WIDTH / 2.0, 30, 0.5, RB_PAGE_WIDTH - 2 * MARGIN,
                     p->title);
        draw_grid(&page, p, &l, image);
        err = rb_page_close(&page, RB_OK);
    }
    rb_free(image);
    return err;
}

bool rb_shape_is_series(const rb_plot_options *options) {
    return options->shape && !strchr(options->shape, 'x');
}

rb_error rb_find_shape(rb_context *ctx, const rb_plot_options *options, int64_t n_input,
                       rb_filters_picture *p) {
    int64_t sizes[3] = {0, 0, 1}, product;
    if (!options->shape) {
        int64_t side = (int64_t)lround(sqrt((double)n_input));
        char hint[64] = "";
        if (side * side == n_input) {
            snprintf(hint, sizeof hint, ", perhaps %lldx%lld", (long long)side, (long long)side);
        }
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "filters need the shape of an image%s: the model has %lld features", hint,
                       (long long)n_input);
    }
    int count = rb_parse_shape(options->shape, sizes, 3);
    if (count < 1 || (sizes[2] != 1 && sizes[2] != 3)) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "shape is '%s', but must be rows x columns, such as 28x28, with 1 or 3 "
                       "channels, such as 32x32x3, or one length, such as 200, for curves",
                       options->shape);
    }
    if (count == 1) {
        sizes[1] = sizes[0];
        sizes[0] = 1;
    }
    if (!rb_multiply(sizes[0], sizes[1], &product) || !rb_multiply(product, sizes[2], &product) ||
        product != n_input) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "shape %s does not multiply to the %lld features of the model",
                       options->shape, (long long)n_input);
    }
    p->height = sizes[0];
    p->width = sizes[1];
    p->channels = sizes[2];
    return RB_OK;
}

rb_error rb_plot_filters(rb_context *ctx, const rb_model *model, const rb_options *given,
                         const char *path) {
    rb_plot_options chosen, *options = &chosen;
    rb_error err = rb_page_check(ctx, given, &chosen, path);
    if (err) {
        return err;
    }
    rb_filters_picture p = {0};
    p.loadings = rb_model_array(model, "loadings", &p.n_features, &p.units);
    if (!p.loadings) {
        return rb_fail(ctx, RB_ERROR_UNSUPPORTED, "a model of %s has no loadings to show",
                       rb_model_method(model));
    }
    const rb_preprocess *preprocess = model->preprocess;
    p.place = preprocess->selected;
    err = rb_find_shape(ctx, options, p.place ? preprocess->n_input : p.n_features, &p);
    if (err) {
        return err;
    }
    char title[128];
    bool curves = rb_shape_is_series(options);
    if (curves) {
        snprintf(title, sizeof title, "Filters of %lld units, %lld values", (long long)p.units,
                 (long long)p.width);
    } else {
        snprintf(title, sizeof title, "Filters of %lld units, %lld \xC3\x97 %lld pixels",
                 (long long)p.units, (long long)p.height, (long long)p.width);
    }
    p.title = options->title ? options->title : title;
    return curves ? rb_draw_curves(ctx, &p, options, path)
                  : rb_draw_filters(ctx, &p, options, path);
}
