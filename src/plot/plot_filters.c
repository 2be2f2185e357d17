/* Loadings as images or curves: a grid, one per unit, below it its number and the largest absolute
 * value, to which it is scaled; where they are too small for that, each row has the number of its
 * first at the left. Where all units stand in each row, their numbers are above the first one.
 * Curves, for sounds and other series, are each scaled to their own largest absolute value around
 * a line at 0. Below stands what black and white mean. */
#include "plot.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum {
    MARGIN = 34,
    TOP = 56,
    MAX_CELL = 150,
    MAX_ACROSS = 128,
    MAX_CURVES_ACROSS = 20,
    NUMBER_WIDTH = 28,
    WITH_LARGEST = 58, /* of a cell below which its largest absolute value stands, too */
    ROW_WIDTH = 20,    /* besides the margin, for the numbers of rows */
    CURVE_GAP = 7,
    LINE = 14
};

/* Where the cells stand. */
typedef struct layout {
    int64_t across;
    double left, top, width, height, gap;
    double line; /* below a cell, for its number; 0: it has none */
} layout;

/* An image as it is drawn. */
typedef struct unit_image {
    const rb_filters_plot *plot;
    double *values; /* height x width x channels */
    double largest; /* absolute value */
    bool middle; /* 0 is in the middle, since some loading of the picture is negative; or black */
} unit_image;

static layout arrange_curves(const rb_filters_plot *p) {
    layout l = {.top = TOP, .gap = CURVE_GAP, .left = MARGIN + (p->rows ? ROW_WIDTH : 0)};
    l.across = (int64_t)fmin(ceil(sqrt((double)p->units)), MAX_CURVES_ACROSS);
    l.across = p->across ? p->across : l.across;
    l.width = fmax((RB_PAGE_WIDTH - MARGIN - l.left) / (double)l.across - l.gap, 1);
    l.height = fmin(0.62 * l.width, 90);
    l.line = !p->across && l.width > 45 ? LINE + 1 : 0;
    return l;
}

/* Images in a row so that the grid is about as high as it is wide. A pixel of an image becomes a
 * whole number of pixels of the picture; where that leaves much of the width empty, more images go
 * into a row. Computed in pixels. */
static layout arrange_images(const rb_filters_plot *p, double scale) {
    layout l = {.top = round(TOP * scale)};
    double units = (double)p->units, aspect = (double)p->height / (double)p->width;
    double page = (RB_PAGE_WIDTH - 2 * MARGIN - (p->rows ? ROW_WIDTH : 0)) * scale;
    double across = fmin(fmax(fmin(ceil(sqrt(units * aspect)), units), 1), MAX_ACROSS);
    across = p->across ? (double)p->across : across;
    l.gap = fmax(1, round(3 * scale * (across > 20 ? 0.5 : 1)));
    double limit = fmin(page / across - l.gap, MAX_CELL * scale);
    /* Tall images: the page must not become endless. */
    limit = fmin(limit, 4 * RB_PAGE_WIDTH * scale / ceil(units / across) / aspect);
    l.width = fmax(1, floor(limit));
    if (l.width > (double)p->width) l.width -= fmod(l.width, (double)p->width);
    l.height = fmax(1, round(l.width * aspect));
    if (!p->across && l.width < 0.85 * limit && across < units)
        across = fmin(floor((page + l.gap) / (l.width + l.gap)), units);
    l.line = !p->across && l.width >= NUMBER_WIDTH * scale ? round(LINE * scale) : 0;
    l.left = round((RB_PAGE_WIDTH * scale - across * (l.width + l.gap) + l.gap) / 2);
    return (layout){(int64_t)across,  l.left / scale, l.top / scale, l.width / scale,
                    l.height / scale, l.gap / scale,  l.line / scale};
}

static double largest_of(const rb_filters_plot *p, int64_t unit) {
    double largest = 0;
    for (int64_t k = 0; k < p->n_features; k++)
        largest = fmax(largest, fabs(p->loadings[k * p->units + unit]));
    return largest;
}

/* The values of a unit, channels together, 0 where there is no feature. */
static void collect(const rb_filters_plot *p, int64_t unit, unit_image *image) {
    memset(image->values, 0, (size_t)(p->height * p->width * p->channels) * sizeof(double));
    for (int64_t k = 0; k < p->n_features; k++)
        image->values[p->place ? p->place[k] : k] = p->loadings[k * p->units + unit];
    image->largest = p->largest > 0 ? p->largest : largest_of(p, unit);
}

static uint32_t pixel(const void *user, int64_t x, int64_t y, int64_t width, int64_t height) {
    const unit_image *image = user;
    const rb_filters_plot *p = image->plot;
    int64_t row = y * p->height / height, column = x * p->width / width;
    const double *values = image->values + (row * p->width + column) * p->channels;
    uint32_t packed = 0;
    for (int c = 0; c < 3; c++) {
        double share = image->largest > 0 ? values[p->channels == 3 ? c : 0] / image->largest : 0;
        share = fmax(image->middle ? -1 : 0, fmin(share, 1));
        packed =
            packed << 8 | (uint32_t)lround(image->middle ? 127.5 + 127.5 * share : 255 * share);
    }
    return packed;
}

static void draw_curve(rb_page *page, const unit_image *image, rb_box box) {
    double high = image->largest > 0 ? image->largest : 1, middle = box.y + box.height / 2;
    rb_chart c = {.box = box,
                  .across = rb_axis_counting(NULL, image->plot->width),
                  .up = {.low = -high, .high = high}};
    rb_page_line(page, box.x, middle, box.x + box.width, middle, 0.5,
                 (rb_colour){0.80, 0.80, 0.80});
    rb_chart_line(page, &c, NULL, image->values, image->plot->width,
                  (rb_pen){{0.13, 0.30, 0.55}, 0.7, 0});
}

static void draw_image(rb_page *page, const unit_image *image, rb_box box) {
    rb_box frame = {box.x - 0.4, box.y - 0.4, box.width + 0.8, box.height + 0.8};
    rb_page_image(page, box, pixel, image);
    rb_page_frame(page, frame, 0.6, (rb_colour){0.72, 0.72, 0.72});
}

void rb_filters_cell(rb_page *page, const rb_filters_plot *p, int64_t unit, bool middle,
                     double *values, rb_box box) {
    unit_image image = {.plot = p, .values = values, .middle = middle};
    collect(p, unit, &image);
    (p->curves ? draw_curve : draw_image)(page, &image, box);
}

/* ---- the scale ---- */

/* From black to white. */
static uint32_t ramp(const void *user, int64_t x, int64_t y, int64_t width, int64_t height) {
    uint32_t level = (uint32_t)lround(255.0 * (double)x / (double)(width > 1 ? width - 1 : 1));
    (void)user, (void)y, (void)height;
    return level << 16 | level << 8 | level;
}

/* The largest absolute values of the units, the least and the largest of them. */
static void find_largest(const rb_filters_plot *p, double *low, double *high) {
    *low = INFINITY;
    *high = 0;
    for (int64_t unit = 0; unit < p->units; unit++) {
        *low = fmin(*low, largest_of(p, unit));
        *high = fmax(*high, largest_of(p, unit));
    }
}

/* A bar with its ends, where there are no colours. */
static double draw_bar(rb_page *page, const rb_filters_plot *p, bool middle, double x, double y) {
    enum { BAR = 80 };
    char ends[2][32];
    rb_print(ends[0], sizeof ends[0], p->largest > 0 ? "%.3g" : "\xE2\x88\x92max", -p->largest);
    rb_print(ends[1], sizeof ends[1], p->largest > 0 ? "%.3g" : "max", p->largest);
    const char *left = middle ? ends[0] : "0";
    x += rb_text_width(RB_TEXT_TICK, left) + 6;
    rb_box box = {x, y - 5, BAR, 10};
    rb_page_text(page, RB_TEXT_TICK, x - 6, y, 1, 0, left);
    rb_page_image(page, box, ramp, NULL);
    rb_page_frame(page, box, 0.5, (rb_colour){0.5, 0.5, 0.5});
    rb_page_text(page, RB_TEXT_TICK, x + BAR + 6, y, 0, 0, ends[1]);
    return x + BAR + 26 + rb_text_width(RB_TEXT_TICK, ends[1]);
}

void rb_filters_scale(rb_page *page, const rb_filters_plot *p, bool middle, double x, double y) {
    double low, high;
    char text[RB_TITLE_SIZE];
    const char *zero = p->curves ? "the line is 0" : middle ? "grey is 0" : "black is 0";
    const char *what = p->curves ? "curve" : "image";
    find_largest(p, &low, &high);
    if (!p->curves && p->channels == 1) x = draw_bar(page, p, middle, x, y);
    if (p->largest > 0)
        rb_print(text, sizeof text, "all %ss on one scale, to %.3g; %s", what, p->largest, zero);
    else
        rb_print(text, sizeof text, "%s each %s's largest absolute value, %.3g to %.3g; %s",
                 p->curves ? "heights: to" : "max:", what, low, high, zero);
    rb_page_text(page, RB_TEXT_TICK, x, y, 0, RB_PAGE_WIDTH - x - 10, text);
}

/* ---- the grid ---- */

static void draw_number(rb_page *page, const rb_filters_plot *p, const layout *l, int64_t unit,
                        rb_box box) {
    char text[64];
    double number = p->rows      ? p->rows[unit / l->across]
                    : p->numbers ? (double)p->numbers[unit]
                                 : (double)unit;
    int used = snprintf(text, sizeof text, "%.0f", number);
    if (l->line > 0 && l->width > WITH_LARGEST && p->largest == 0)
        rb_print(text + used, sizeof text - (size_t)used, ": %.3g", largest_of(p, unit));
    if (l->line > 0) {
        rb_page_text(page, RB_TEXT_SMALL, box.x + box.width / 2, box.y + box.height + l->line / 2,
                     0.5, 0, text);
    } else if (unit % l->across == 0) {
        rb_page_text(page, RB_TEXT_SMALL, box.x - (p->curves ? 5 : 6), box.y + box.height / 2, 1, 0,
                     text);
    }
}

static void draw_grid(rb_page *page, const rb_filters_plot *p, const layout *l, double *values) {
    bool middle = false;
    for (int64_t i = 0; i < p->n_features * p->units; i++)
        middle = middle || p->loadings[i] < 0;
    for (int64_t unit = 0; unit < p->units; unit++) {
        int64_t down = unit / l->across, right = unit % l->across;
        double column = (double)right, row = (double)down;
        rb_box box = {l->left + column * (l->width + l->gap),
                      l->top + row * (l->height + l->gap + l->line), l->width, l->height};
        rb_filters_cell(page, p, unit, middle, values, box);
        draw_number(page, p, l, unit, box);
    }
    if (p->across) {
        rb_page_numbers(page, RB_TEXT_SMALL, l->left - l->gap / 2, TOP - 8, l->width + l->gap,
                        l->across);
    }
    int64_t rows = (p->units + l->across - 1) / l->across;
    rb_filters_scale(page, p, middle, MARGIN,
                     l->top + (double)rows * (l->height + l->gap + l->line) + 18);
}

rb_error rb_draw_filters(rb_context *ctx, const rb_filters_plot *p, const rb_plot_options *options,
                         const char *path) {
    double scale = (double)options->width / RB_PAGE_WIDTH;
    layout l = p->curves ? arrange_curves(p) : arrange_images(p, scale);
    int64_t rows = (p->units + l.across - 1) / l.across;
    double down = (double)rows;
    double height = TOP + down * (l.height + l.gap + l.line) + MARGIN + RB_SCALE_HEIGHT / 2.0;
    rb_page page;
    double *values = rb_alloc(ctx, p->height * p->width * p->channels, sizeof *values);
    rb_error err = values ? rb_page_open(ctx, options, path, height, &page) : RB_ERROR_MEMORY;
    if (!err) {
        rb_page_title(&page, RB_PAGE_WIDTH / 2.0, 30, 0.5, p->title);
        draw_grid(&page, p, &l, values);
        err = rb_page_close(&page, RB_OK);
    }
    rb_free(values);
    return err;
}

/* ---- what is drawn ---- */

rb_error rb_filters_shape(rb_context *ctx, const rb_plot_options *options, const rb_model *model,
                          rb_filters_plot *p) {
    int64_t sizes[3] = {0, 0, 1}, product;
    p->place = model->preprocess->selected;
    int64_t n_input = p->place ? model->preprocess->n_input : p->n_features;
    if (!options->shape) {
        int64_t side = (int64_t)lround(sqrt((double)n_input));
        char hint[64] = "";
        if (side * side == n_input)
            snprintf(hint, sizeof hint, ", perhaps %lldx%lld", (long long)side, (long long)side);
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "filters need `shape`, the shape of an image%s: the model has %lld features",
                       hint, (long long)n_input);
    }
    int count = rb_parse_shape(options->shape, sizes, 3);
    if (count < 1 || (sizes[2] != 1 && sizes[2] != 3)) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "`shape` is '%s', but must be rows x columns (28x28), perhaps x 1 or 3 "
                       "channels (32x32x3), or one length for curves (200)",
                       options->shape);
    }
    p->curves = count == 1;
    p->height = p->curves ? 1 : sizes[0];
    p->width = p->curves ? sizes[0] : sizes[1];
    p->channels = sizes[2];
    if (!rb_multiply(p->height, p->width, &product) ||
        !rb_multiply(product, p->channels, &product) || product != n_input) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "`shape` %s does not multiply to the %lld features of the model",
                       options->shape, (long long)n_input);
    }
    return RB_OK;
}

typedef struct filters_options {
    int64_t best;
} filters_options;

const rb_option_group *rb_plot_filters_group(void) {
    static const rb_option rows[] = {
        {"best", 0, RB_OPTION_INTEGER, offsetof(filters_options, best), "0", 0, 1e9, NULL, "N",
         "draw the N units with the largest sum of squared loadings, largest first (0: all, in "
         "their order)",
         RB_OPTION_COMMON},
        {0},
    };
    static const rb_option_group group = {sizeof(rb_option), "Units", rows,
                                          sizeof(filters_options)};
    return &group;
}

/* The units of the largest loadings, the largest first, by number where equal. */
static void choose_best(const rb_filters_plot *p, int64_t count, double *squares,
                        int64_t *numbers) {
    for (int64_t j = 0; j < p->units; j++) {
        squares[j] = 0;
        for (int64_t k = 0; k < p->n_features; k++)
            squares[j] += p->loadings[k * p->units + j] * p->loadings[k * p->units + j];
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t best = 0;
        for (int64_t j = 1; j < p->units; j++)
            if (squares[j] > squares[best]) best = j;
        numbers[i] = best;
        squares[best] = -1;
    }
}

/* Leaves the chosen columns of what is drawn, in memory of that size. */
static void keep_units(const int64_t *numbers, int64_t count, rb_filters_plot *p, double *kept) {
    for (int64_t k = 0; k < p->n_features; k++)
        for (int64_t i = 0; i < count; i++)
            kept[k * count + i] = p->loadings[k * p->units + numbers[i]];
    p->loadings = kept;
    p->numbers = numbers;
    p->units = count;
}

static void make_title(const rb_filters_plot *p, int64_t units, bool answers,
                       char title[RB_TITLE_SIZE]) {
    int used = snprintf(title, RB_TITLE_SIZE, "%s of ", answers ? "Largest answers" : "Filters");
    if (p->units < units)
        used +=
            snprintf(title + used, RB_TITLE_SIZE - (size_t)used, "%lld of ", (long long)p->units);
    used += snprintf(title + used, RB_TITLE_SIZE - (size_t)used, "%lld units, ", (long long)units);
    if (p->curves) {
        snprintf(title + used, RB_TITLE_SIZE - (size_t)used, "%lld values", (long long)p->width);
    } else {
        snprintf(title + used, RB_TITLE_SIZE - (size_t)used, "%lld \xC3\x97 %lld pixels",
                 (long long)p->height, (long long)p->width);
    }
}

rb_error rb_plot_answers(rb_context *ctx, const rb_model *model, const double *samples,
                         const rb_options *given, const char *path) {
    rb_plot_options options;
    rb_filters_plot p = {0};
    rb_error err = rb_page_check(ctx, given, &options, path);
    if (err) return err;
    p.loadings = rb_model_array(model, "loadings", &p.n_features, &p.units);
    if (!p.loadings) {
        return rb_fail(ctx, RB_ERROR_UNSUPPORTED, "a model of method '%s' has no loadings to draw",
                       rb_model_method(model));
    }
    err = rb_filters_shape(ctx, &options, model, &p);
    if (err) return err;
    const filters_options *own = given ? rb_options_fields(given, rb_plot_filters_group()) : NULL;
    int64_t units = p.units, best = own ? own->best : 0;
    best = best < units ? best : units;
    rb_scratch scratch = {.ctx = ctx};
    double *squares = rb_take(&scratch, units, sizeof *squares);
    int64_t *numbers = rb_take(&scratch, units, sizeof *numbers);
    double *kept = rb_take(&scratch, p.n_features * best, sizeof *kept);
    if (!scratch.err && best > 0) choose_best(&p, best, squares, numbers);
    if (samples) p.loadings = samples;
    if (!scratch.err && best > 0) keep_units(numbers, best, &p, kept);
    if (!scratch.err) {
        char title[RB_TITLE_SIZE];
        make_title(&p, units, samples != NULL, title);
        p.title = title;
        scratch.err = rb_draw_filters(ctx, &p, &options, path);
    }
    return rb_scratch_end(&scratch);
}

rb_error rb_plot_filters(rb_context *ctx, const rb_model *model, const rb_options *given,
                         const char *path) {
    return rb_plot_answers(ctx, model, NULL, given, path);
}
