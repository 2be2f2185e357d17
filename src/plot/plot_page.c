/* Options of the plots, and a page: opened white, drawn on, and written as PNG or SVG by its
 * suffix. */
#include "plot.h"

#include <cairo-svg.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const rb_option table[] = {
    {"shape", 0, RB_OPTION_TEXT, offsetof(rb_plot_options, shape), NULL, 0, 0, NULL, "HxW[xC]",
     "filters: draw features as an image of rows x columns (x channels), or as a curve of this "
     "length",
     RB_OPTION_COMMON},
    {"width", 0, RB_OPTION_INTEGER, offsetof(rb_plot_options, width), "1200", 600, 8000, NULL,
     "PIXELS", "width of the plot; the height follows"},
    {"title", 0, RB_OPTION_TEXT, offsetof(rb_plot_options, title), NULL, 0, 0, NULL, "TEXT",
     "title of the plot", RB_OPTION_COMMON},
    {"labels", 0, RB_OPTION_TEXT, offsetof(rb_plot_options, labels), NULL, 0, 0, NULL, "LABELS",
     "codes, unit and modules: show classes; a TSV with a header, of sample name and class or of "
     "classes alone; cells.h5ad:COLUMN; or obs:COLUMN of the data's own file",
     RB_OPTION_COMMON},
    {"order", 0, RB_OPTION_CHOICE, offsetof(rb_plot_options, order), "unit", 0, 0, "unit|data",
     "HOW",
     "codes: samples, within a class where there are --labels, by their strongest unit, or as the "
     "data have them",
     RB_OPTION_COMMON},
    {0},
};

const rb_option_group *rb_plot_group(void) {
    static const rb_option_group group = {sizeof(rb_option), "Picture", table,
                                          sizeof(rb_plot_options), NULL};
    return &group;
}

static bool ends_with(const char *path, const char *suffix) {
    size_t length = strlen(path), tail = strlen(suffix);
    return length > tail && strcasecmp(path + length - tail, suffix) == 0;
}

rb_error rb_plot_check(rb_context *ctx, const char *path) {
    if (!ends_with(path, ".png") && !ends_with(path, ".svg")) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "the name of a plot must end in .png or .svg: '%s'",
                       path);
    }
    return RB_OK;
}

rb_error rb_page_check(rb_context *ctx, const rb_options *given, rb_plot_options *options,
                       const char *path) {
    rb_error err = rb_options_take(ctx, given, rb_plot_group(), options);
    return err ? err : rb_plot_check(ctx, path);
}

/* The error message for what cairo says of a picture; RB_OK when all is well. */
static rb_error check_status(const rb_page *page, cairo_status_t status) {
    if (status == CAIRO_STATUS_SUCCESS) return RB_OK;
    if (status == CAIRO_STATUS_NO_MEMORY) {
        return rb_fail(page->ctx, RB_ERROR_MEMORY, "not enough memory to draw %s",
                       page->staged->final_path);
    }
    return rb_fail(page->ctx, RB_ERROR_FILE, "cannot write %s: %s", page->staged->final_path,
                   cairo_status_to_string(status));
}

static cairo_surface_t *new_surface(const rb_page *page, double width, double height) {
    if (page->svg) {
        cairo_surface_t *surface =
            cairo_svg_surface_create_for_stream(rb_page_file_write, page->file, width, height);
        if (cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS)
            cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PX);
        return surface;
    }
    return cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)width, (int)height);
}

rb_error rb_page_open(rb_context *ctx, const rb_plot_options *options, const char *path,
                      double height, rb_page *page) {
    *page = (rb_page){.ctx = ctx, .title = options->title, .svg = ends_with(path, ".svg")};
    rb_error err = rb_staged_begin(ctx, path, &page->staged);
    if (err) return err;
    err = rb_page_file_open(ctx, page->staged->path, page->svg, &page->file);
    if (err) return rb_staged_end(ctx, err, page->staged);
    page->scale = (double)options->width / RB_PAGE_WIDTH;
    /* What rounding adds to a whole height is no line of pixels. */
    double lines = ceil(height * page->scale - 1e-6);
    page->surface = new_surface(page, (double)options->width, lines);
    page->cairo = cairo_create(page->surface);
    err = check_status(page, cairo_status(page->cairo));
    if (err) return rb_page_close(page, err);
    cairo_set_source_rgb(page->cairo, 1, 1, 1);
    cairo_paint(page->cairo);
    cairo_scale(page->cairo, page->scale, page->scale);
    return RB_OK;
}

/* The error so far, or that of what could not be written. */
static rb_error close_file(const rb_page *page, rb_error err) {
    errno = 0;
    bool written = rb_page_file_close(page->file);
    return err || written ? err
                          : rb_fail(page->ctx, RB_ERROR_FILE, "cannot write %s: %s",
                                    page->staged->final_path, strerror(errno ? errno : EIO));
}

rb_error rb_page_close(rb_page *page, rb_error err) {
    if (!err) err = check_status(page, cairo_status(page->cairo));
    cairo_destroy(page->cairo);
    if (!err && !page->svg) {
        err = check_status(
            page, cairo_surface_write_to_png_stream(page->surface, rb_page_file_write, page->file));
    }
    cairo_surface_finish(page->surface);
    if (!err) err = check_status(page, cairo_surface_status(page->surface));
    cairo_surface_destroy(page->surface);
    return rb_staged_end(page->ctx, close_file(page, err), page->staged);
}

static int compare_keys(const void *a, const void *b) {
    const double *x = a, *y = b;
    int i = 0;
    while (i < 3 && x[i] == y[i])
        i++;
    return (x[i] > y[i]) - (x[i] < y[i]);
}

void rb_sort_keys(rb_key *keys, int64_t count) {
    qsort(keys, (size_t)count, sizeof *keys, compare_keys);
}
