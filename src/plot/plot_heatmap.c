/* Heat maps, colour bars, frames and lines. */
#include "plot.h"

#include <math.h>

/* A range of pixels. */
typedef struct span {
    int first, count;
} span;

static span pixels(const rb_page *page, double start, double length) {
    int first = (int)lround(start * page->scale), end = (int)lround((start + length) * page->scale);
    return (span){first, end > first ? end - first : 1};
}

/* The cells that pixel `index` of `count` covers. */
static void covered(int index, int count, int64_t cells, int64_t *first, int64_t *end) {
    *first = (int64_t)((double)index * (double)cells / count);
    *end = (int64_t)((double)(index + 1) * (double)cells / count);
    if (*end <= *first) {
        *end = *first + 1;
    }
}

static double average(const rb_grid *grid, int64_t row, int64_t row_end, int64_t column,
                      int64_t column_end) {
    double sum = 0;
    for (int64_t i = row; i < row_end; i++) {
        for (int64_t j = column; j < column_end; j++) {
            sum += grid->values[i * grid->columns + j];
        }
    }
    return sum / (double)((row_end - row) * (column_end - column));
}

static uint32_t packed(rb_colour c) {
    return (uint32_t)lround(255 * c.red) << 16 | (uint32_t)lround(255 * c.green) << 8 |
           (uint32_t)lround(255 * c.blue);
}

static void paint_cells(const rb_grid *grid, int height, int width, unsigned char *bytes,
                        int stride) {
    for (int y = 0; y < height; y++) {
        uint32_t *line = (uint32_t *)(void *)(bytes + (int64_t)y * stride);
        int64_t row, row_end;
        covered(y, height, grid->rows, &row, &row_end);
        for (int x = 0; x < width; x++) {
            int64_t column, column_end;
            covered(x, width, grid->columns, &column, &column_end);
            double value = average(grid, row, row_end, column, column_end);
            double position = (value - grid->low) / (grid->high - grid->low);
            line[x] = packed(rb_map_colour(grid->map, position));
        }
    }
}

void rb_page_heatmap(rb_page *page, rb_box box, const rb_grid *grid) {
    span x = pixels(page, box.x, box.width), y = pixels(page, box.y, box.height);
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, x.count, y.count);
    if (cairo_surface_status(image) == CAIRO_STATUS_SUCCESS) {
        cairo_surface_flush(image);
        paint_cells(grid, y.count, x.count, cairo_image_surface_get_data(image),
                    cairo_image_surface_get_stride(image));
        cairo_surface_mark_dirty(image);
    }
    cairo_save(page->cairo);
    cairo_identity_matrix(page->cairo);
    /* A surface that failed puts its error into the page, where rb_page_close finds it. */
    cairo_set_source_surface(page->cairo, image, x.first, y.first);
    cairo_pattern_set_filter(cairo_get_source(page->cairo), CAIRO_FILTER_NEAREST);
    cairo_rectangle(page->cairo, x.first, y.first, x.count, y.count);
    cairo_fill(page->cairo);
    cairo_restore(page->cairo);
    cairo_surface_destroy(image);
}

void rb_page_fill(rb_page *page, rb_box box, rb_colour colour) {
    span x = pixels(page, box.x, box.width), y = pixels(page, box.y, box.height);
    cairo_save(page->cairo);
    cairo_identity_matrix(page->cairo);
    rb_page_colour(page, colour);
    cairo_rectangle(page->cairo, x.first, y.first, x.count, y.count);
    cairo_fill(page->cairo);
    cairo_restore(page->cairo);
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

void rb_page_colour_bar(rb_page *page, rb_box box, const rb_grid *grid, bool more,
                        const char *label) {
    enum { STEPS = 256 };
    const rb_colour grey = {0.5, 0.5, 0.5};
    double values[STEPS];
    for (int i = 0; i < STEPS; i++) {
        values[i] = grid->high - (grid->high - grid->low) * i / (STEPS - 1);
    }
    rb_grid bar = {values, STEPS, 1, grid->map, grid->low, grid->high};
    rb_page_heatmap(page, box, &bar);
    rb_page_frame(page, box, 0.5, grey);
    rb_ticks ticks = rb_ticks_choose(grid->low, grid->high, 6, false);
    for (int i = 0; i < ticks.count; i++) {
        char text[32];
        double share = (rb_tick_value(&ticks, i) - grid->low) / (grid->high - grid->low);
        double y = box.y + box.height * (1 - share), right = box.x + box.width;
        rb_tick_text(&ticks, i, text, sizeof text);
        rb_page_line(page, right, y, right + 4, y, 0.5, grey);
        rb_page_text(page, RB_TEXT_TICK, right + 7, y, 0, 0, text);
    }
    if (more) {
        rb_page_text(page, RB_TEXT_TICK, box.x + box.width / 2, box.y - 9, 0.5, 0, "and above");
    }
    rb_page_text_up(page, RB_TEXT_TICK, box.x - 10, box.y + box.height / 2, label);
}
