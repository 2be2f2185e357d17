/* Text in the sans serif face that the system has, colours, lines, boxes and heat maps. */
#include "plot.h"

#include <math.h>
#include <string.h>

enum { MAX_BYTES = 256, N_COLOURS = 10, MAX_NAME = 150 };

/* ---- text ---- */

/* None below 8 pixels in the smallest picture, which has two thirds of a pixel for each unit. */
static const struct {
    double size;
    cairo_font_weight_t weight;
    double grey;
} styles[] = {
    [RB_TEXT_TITLE] = {17, CAIRO_FONT_WEIGHT_BOLD, 0.1},
    [RB_TEXT_LABEL] = {13, CAIRO_FONT_WEIGHT_NORMAL, 0.15},
    [RB_TEXT_TICK] = {12, CAIRO_FONT_WEIGHT_NORMAL, 0.3},
    [RB_TEXT_SMALL] = {12, CAIRO_FONT_WEIGHT_NORMAL, 0.15},
};

double rb_text_size(rb_text_style style) {
    return styles[style].size;
}

/* Bytes of the UTF-8 character that begins here, or 0 when none does. */
static int character_length(const unsigned char *b) {
    static const uint32_t min[] = {0, 0, 0x80, 0x800, 0x10000};
    int length = b[0] >> 7 == 0    ? 1
                 : b[0] >> 5 == 6  ? 2
                 : b[0] >> 4 == 14 ? 3
                 : b[0] >> 3 == 30 ? 4
                                   : 0;
    uint32_t code = length == 1 ? b[0] : b[0] & (0x7FU >> length);
    for (int i = 1; i < length; i++) {
        if (b[i] >> 6 != 2) return 0;
        code = code << 6 | (b[i] & 0x3F);
    }
    bool surrogate = code >> 11 == 0x1B;
    return code >= min[length] && code <= 0x10FFFF && !surrogate ? length : 0;
}

/* Copies at most `max` characters, '?' for what cannot be drawn; how many characters there were. */
static int copy_clean(const char *text, int max, char clean[MAX_BYTES]) {
    int characters = 0, used = 0;
    for (; *text && characters < max && used + 8 < MAX_BYTES; characters++) {
        int length = character_length((const unsigned char *)text);
        if (length > 0 && (unsigned char)*text >= ' ' && *text != 127) {
            memcpy(clean + used, text, (size_t)length);
            used += length;
        } else {
            clean[used++] = '?';
        }
        text += length > 0 ? length : 1;
    }
    clean[used] = '\0';
    return characters;
}

double rb_text_width(rb_text_style style, const char *text) {
    char clean[MAX_BYTES];
    return 0.64 * styles[style].size * copy_clean(text, MAX_BYTES, clean);
}

double rb_text_widest(rb_text_style style, const char *const *texts, int64_t count) {
    double width = 0;
    for (int64_t i = 0; i < count; i++)
        width = fmax(width, rb_text_width(style, texts[i]));
    return width;
}

static double advance(rb_page *page, const char *text) {
    cairo_text_extents_t extents;
    cairo_text_extents(page->cairo, text, &extents);
    return extents.x_advance;
}

void rb_page_text(rb_page *page, rb_text_style style, double x, double y, double align,
                  double limit, const char *text) {
    static const char dots[] = "\xE2\x80\xA6";
    char clean[MAX_BYTES];
    double grey = styles[style].grey;
    cairo_select_font_face(page->cairo, "sans", CAIRO_FONT_SLANT_NORMAL, styles[style].weight);
    cairo_set_font_size(page->cairo, styles[style].size);
    rb_page_colour(page, (rb_colour){grey, grey, grey});
    int characters = copy_clean(text, MAX_BYTES, clean);
    double width = advance(page, clean);
    while (limit > 0 && width > limit && characters > 1) {
        copy_clean(text, --characters, clean);
        memcpy(clean + strlen(clean), dots, sizeof dots);
        width = advance(page, clean);
    }
    /* Half the height of a capital letter below the middle. */
    cairo_move_to(page->cairo, x - align * width, y + 0.36 * styles[style].size);
    cairo_show_text(page->cairo, clean);
    cairo_new_path(page->cairo);
}

void rb_page_text_up(rb_page *page, rb_text_style style, double x, double y, double align,
                     double limit, const char *text) {
    cairo_save(page->cairo);
    cairo_translate(page->cairo, x, y);
    cairo_rotate(page->cairo, -1.5707963267948966);
    rb_page_text(page, style, 0, 0, align, limit, text);
    cairo_restore(page->cairo);
}

bool rb_names_fit(double step) {
    return step >= 0.95 * styles[RB_TEXT_SMALL].size;
}

double rb_names_space(const char *const *names, int64_t count) {
    return names ? fmin(rb_text_widest(RB_TEXT_SMALL, names, count), MAX_NAME) + 6 : 0;
}

void rb_page_names_below(rb_page *page, rb_box box, const char *const *names, int64_t count) {
    double step = box.width / (double)count, y = box.y + box.height + 5;
    for (int64_t i = 0; names && i < count; i++)
        rb_page_text_up(page, RB_TEXT_SMALL, box.x + ((double)i + 0.5) * step, y, 1, MAX_NAME,
                        names[i]);
}

void rb_page_names_right(rb_page *page, rb_box box, const char *const *names, int64_t count) {
    double step = box.height / (double)count, x = box.x + box.width + 6;
    for (int64_t i = 0; names && i < count; i++)
        rb_page_text(page, RB_TEXT_SMALL, x, box.y + ((double)i + 0.5) * step, 0, MAX_NAME,
                     names[i]);
}

void rb_page_title(rb_page *page, double x, double y, double align, const char *title) {
    double limit = align > 0 ? RB_PAGE_WIDTH - 60 : RB_PAGE_WIDTH - x - 20;
    rb_page_text(page, RB_TEXT_TITLE, x, y, align, limit, page->title ? page->title : title);
}

/* ---- colours ---- */

/* Anchors, equally spaced. */
static const rb_colour sequential[] = {
    {1, 1, 1}, {0.76, 0.86, 0.93}, {0.39, 0.65, 0.81}, {0.11, 0.38, 0.62}, {0.03, 0.13, 0.31}};
static const rb_colour diverging[] = {{0.05, 0.20, 0.45}, {0.22, 0.49, 0.72}, {0.68, 0.82, 0.91},
                                      {0.98, 0.98, 0.98}, {0.96, 0.74, 0.66}, {0.80, 0.31, 0.26},
                                      {0.45, 0.02, 0.12}};

static rb_colour mix(rb_colour a, rb_colour b, double share) {
    return (rb_colour){a.red + share * (b.red - a.red), a.green + share * (b.green - a.green),
                       a.blue + share * (b.blue - a.blue)};
}

rb_colour rb_map_colour(rb_colour_map map, double position) {
    if (isnan(position)) return (rb_colour){0.85, 0.85, 0.85};
    const rb_colour *anchors = map == RB_MAP_DIVERGING ? diverging : sequential;
    int steps = map == RB_MAP_DIVERGING ? 6 : 4;
    double place = fmin(fmax(position, 0), 1) * steps;
    int below = (int)fmin(floor(place), steps - 1);
    return mix(anchors[below], anchors[below + 1], place - below);
}

rb_colour rb_class_colour(int64_t index) {
    /* Neighbours differ in lightness as well as in hue. */
    static const rb_colour colours[N_COLOURS] = {
        {0.00, 0.42, 0.68}, {0.90, 0.60, 0.05}, {0.00, 0.58, 0.44}, {0.80, 0.33, 0.05},
        {0.42, 0.72, 0.90}, {0.78, 0.45, 0.64}, {0.50, 0.33, 0.64}, {0.93, 0.86, 0.30},
        {0.56, 0.38, 0.24}, {0.55, 0.75, 0.35},
    };
    if (index < 0) return (rb_colour){0.70, 0.70, 0.70};
    int64_t round = index / N_COLOURS;
    double pale = fmin(0.25 * (double)round, 0.75);
    return mix(colours[index % N_COLOURS], (rb_colour){1, 1, 1}, pale);
}

rb_colour rb_line_colour(int64_t index) {
    const double max = 0.5;
    rb_colour c = rb_class_colour(index % N_COLOURS);
    double light = 0.30 * c.red + 0.59 * c.green + 0.11 * c.blue;
    return light > max ? mix((rb_colour){0, 0, 0}, c, max / light) : c;
}

void rb_page_colour(rb_page *page, rb_colour colour) {
    cairo_set_source_rgb(page->cairo, colour.red, colour.green, colour.blue);
}

/* ---- shapes ---- */

/* The pixels of a box, at least one each way. */
static rb_box pixels(const rb_page *page, rb_box b) {
    double s = page->scale, x = round(b.x * s), y = round(b.y * s);
    return (rb_box){x, y, fmax(round((b.x + b.width) * s) - x, 1),
                    fmax(round((b.y + b.height) * s) - y, 1)};
}

/* Fills pixels with an image that begins at their upper left corner, or with a colour. */
static void paint(rb_page *page, rb_box box, cairo_surface_t *image, rb_colour colour) {
    cairo_save(page->cairo);
    cairo_identity_matrix(page->cairo);
    rb_page_colour(page, colour);
    if (image) {
        /* A surface that failed puts its error into the page, where rb_page_close finds it. */
        cairo_set_source_surface(page->cairo, image, box.x, box.y);
        cairo_pattern_set_filter(cairo_get_source(page->cairo), CAIRO_FILTER_NEAREST);
    }
    cairo_rectangle(page->cairo, box.x, box.y, box.width, box.height);
    cairo_fill(page->cairo);
    cairo_restore(page->cairo);
}

void rb_page_fill(rb_page *page, rb_box box, rb_colour colour) {
    paint(page, pixels(page, box), NULL, colour);
}

void rb_page_frame(rb_page *page, rb_box box, double line_width, rb_colour colour) {
    rb_page_colour(page, colour);
    cairo_set_line_width(page->cairo, line_width);
    cairo_rectangle(page->cairo, box.x, box.y, box.width, box.height);
    cairo_stroke(page->cairo);
}

void rb_page_line(rb_page *page, double x0, double y0, double x1, double y1, double line_width,
                  rb_colour colour) {
    rb_page_colour(page, colour);
    cairo_set_line_width(page->cairo, line_width);
    cairo_move_to(page->cairo, x0, y0);
    cairo_line_to(page->cairo, x1, y1);
    cairo_stroke(page->cairo);
}

void rb_page_image(rb_page *page, rb_box box, rb_pixel_fn pixel, const void *user) {
    box = pixels(page, box);
    int width = (int)box.width, height = (int)box.height;
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    bool made = cairo_surface_status(image) == CAIRO_STATUS_SUCCESS;
    cairo_surface_flush(image);
    for (int y = 0; made && y < height; y++) {
        unsigned char *bytes = cairo_image_surface_get_data(image);
        int64_t stride = cairo_image_surface_get_stride(image);
        for (int x = 0; x < width; x++)
            ((uint32_t *)(void *)(bytes + y * stride))[x] = pixel(user, x, y, width, height);
    }
    cairo_surface_mark_dirty(image);
    paint(page, box, image, (rb_colour){0});
    cairo_surface_destroy(image);
}

/* ---- heat maps ---- */

/* The cells that pixel `index` of `count` covers. */
static void covered(int64_t index, int64_t count, int64_t cells, int64_t *first, int64_t *end) {
    *first = (int64_t)((double)index * (double)cells / (double)count);
    *end = (int64_t)((double)(index + 1) * (double)cells / (double)count);
    *end += *end <= *first;
}

static uint32_t cell_colour(const void *user, int64_t x, int64_t y, int64_t width, int64_t height) {
    const rb_grid *grid = user;
    int64_t row, row_end, column, column_end;
    double sum = 0;
    covered(y, height, grid->rows, &row, &row_end);
    covered(x, width, grid->columns, &column, &column_end);
    for (int64_t i = row; i < row_end; i++)
        for (int64_t j = column; j < column_end; j++)
            sum += grid->values[i * grid->columns + j];
    double value = sum / (double)((row_end - row) * (column_end - column));
    rb_colour c = rb_map_colour(grid->map, (value - grid->low) / (grid->high - grid->low));
    return (uint32_t)lround(255 * c.red) << 16 | (uint32_t)lround(255 * c.green) << 8 |
           (uint32_t)lround(255 * c.blue);
}

void rb_page_heatmap(rb_page *page, rb_box box, const rb_grid *grid) {
    rb_page_image(page, box, cell_colour, grid);
}
