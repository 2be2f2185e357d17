/* Drawing, shared by the pictures of this room and private to it.
 *
 * Pictures are laid out on a page 900 units wide, whatever their width in pixels: the option
 * `width` changes the resolution, never the layout. y grows downwards.
 */
#ifndef RB_ANALYSIS_PLOT_H
#define RB_ANALYSIS_PLOT_H

#include "io/io.h"
#include <rarebit/plot.h>

#include <cairo.h>

typedef struct rb_plot_options {
    const char *shape; /* filters: "28x28" or "32x32x3", rows x columns x channels; "200": curves */
    int64_t width;     /* of the picture in pixels, from 600; the height follows */
    const char *title; /* NULL: a title that says what is shown */
    const char *labels; /* classes of samples, as for rb_modules_enrichment: samples are grouped by
                           class; NULL: none */
} rb_plot_options;

enum { RB_PAGE_WIDTH = 900 };

/* ---- page (plot_page.c) ---- */

typedef struct rb_page {
    rb_context *ctx;
    cairo_surface_t *surface;
    cairo_t *cairo;
    rb_output output;
    bool svg;
    double scale; /* pixels a unit */
    double height;
} rb_page;

typedef struct rb_box {
    double x, y, width, height;
} rb_box;

/* Takes the options and checks them and the suffix, before any work is done. */
rb_error rb_page_check(rb_context *ctx, const rb_options *given, rb_plot_options *options,
                       const char *path);
/* A white page. Close it in any case once it is open. */
rb_error rb_page_open(rb_context *ctx, const rb_plot_options *options, const char *path,
                      double height, rb_page *page);
/* Writes the file, or with an error so far throws it away; the error so far, or that of writing. */
rb_error rb_page_close(rb_page *page, rb_error err);

/* ---- text (plot_text.c) ---- */

typedef enum rb_text_style {
    RB_TEXT_TITLE,
    RB_TEXT_LABEL,
    RB_TEXT_TICK,
    RB_TEXT_SMALL
} rb_text_style;

/* Text centred at height y; align 0, 0.5, 1: x is its left end, middle, right end. Bytes that are
 * no UTF-8 become '?'; what is wider than `room` (0: any) is cut and ends in dots. */
void rb_page_text(rb_page *page, rb_text_style style, double x, double y, double align, double room,
                  const char *text);
/* The same, upwards along the vertical line x and centred at y. */
void rb_page_text_up(rb_page *page, rb_text_style style, double x, double y, const char *text);
/* Width that a text will hardly exceed, for a layout before there is a page. */
double rb_text_room(rb_text_style style, const char *text);
double rb_text_size(rb_text_style style);

/* ---- colours (plot_colour.c) ---- */

typedef enum rb_colour_map {
    RB_MAP_SEQUENTIAL, /* white to dark blue */
    RB_MAP_DIVERGING,  /* blue, white, red */
    RB_MAP_GREY        /* black to white */
} rb_colour_map;

typedef struct rb_colour {
    double red, green, blue;
} rb_colour;

/* position in [0, 1]; outside of it the nearest end; NaN is a light grey. */
rb_colour rb_map_colour(rb_colour_map map, double position);
/* A colour for each class; ten differ well also for colour-blind readers, then they repeat,
 * paler. */
rb_colour rb_class_colour(int64_t index);
/* The same ten again and again, none so light that a thin line is lost on white. */
rb_colour rb_line_colour(int64_t index);
void rb_page_colour(rb_page *page, rb_colour colour);

/* ---- heat maps (plot_heatmap.c) ---- */

typedef struct rb_grid {
    const double *values; /* rows x columns */
    int64_t rows, columns;
    rb_colour_map map;
    double low, high; /* the values at the ends of the map */
} rb_grid;

/* Fills the box; where cells are smaller than pixels, they are averaged. */
void rb_page_heatmap(rb_page *page, rb_box box, const rb_grid *grid);
/* A vertical bar with ticks at its right; `more`: values above `high` exist. */
void rb_page_colour_bar(rb_page *page, rb_box box, const rb_grid *grid, bool more,
                        const char *label);
void rb_page_fill(rb_page *page, rb_box box, rb_colour colour);
void rb_page_frame(rb_page *page, rb_box box, double line_width, rb_colour colour);
void rb_page_line(rb_page *page, double x0, double y0, double x1, double y1, double line_width,
                  rb_colour colour);

/* ---- ticks (plot_ticks.c) ---- */

/* Round numbers first, first + step, ...: count of them. */
typedef struct rb_ticks {
    double first, step;
    int count;
} rb_ticks;

/* Steps of 1, 2 or 5 times a power of ten that put at most `most` ticks into [low, high]; whole:
 * steps of at least 1. */
rb_ticks rb_ticks_choose(double low, double high, int most, bool whole);
double rb_tick_value(const rb_ticks *ticks, int index);
void rb_tick_text(const rb_ticks *ticks, int index, char *buffer, size_t size);

/* Places `count` labels of one size near their places (ascending) within [low, high], at least
 * `gap` apart; the room must be enough for all. */
void rb_spread(double *places, int64_t count, double gap, double low, double high);

/* Values over the iterations, a panel each; those without a finite value are left out.
 * RB_ERROR_DATA when none is left. */
enum { RB_SERIES_MOST = 4 };
typedef struct rb_series {
    const char *name;
    const double *values;             /* one an iteration; NaN leaves a gap */
    const char *(*label)(int number); /* of values that are numbers of kinds; NULL: they are not */
} rb_series;
rb_error rb_draw_history(rb_context *ctx, const rb_series *series, int n_series, int64_t count,
                         const char *title, const rb_plot_options *options, const char *path);

/* Lines over 0 .. count - 1, or 1 .. count, in one panel. */
typedef struct rb_series_picture {
    const double *values; /* lines x count; NaN: a gap */
    int64_t lines, count;
    double low, high; /* of the vertical axis; low = high: the range of the values */
    double cut;       /* a vertical line there; NaN: none */
    const char *title, *across, *up;
    /* Points instead of one line, in the colours of their classes. NULL: a line. */
    const int64_t *classes; /* count */
    int64_t n_classes;
    const char *const *class_names;
    const char *const *line_names; /* of several lines, for a legend below them; NULL: none */
    const char *legend;            /* what the classes or lines are */
} rb_series_picture;

rb_error rb_draw_series(rb_context *ctx, const rb_series_picture *picture,
                        const rb_plot_options *options, const char *path);

/* A group of rows next to each other. */
typedef struct rb_row_group {
    const char *name;
    int64_t n_samples;
    int64_t first, count; /* rows of the picture */
} rb_row_group;

typedef struct rb_codes_picture {
    const double *values; /* rows x units */
    int64_t rows, units, n_samples;
    const rb_row_group *groups; /* NULL: none */
    int64_t n_groups;
    const char *title;
} rb_codes_picture;

rb_error rb_draw_codes(rb_context *ctx, const rb_codes_picture *picture,
                       const rb_plot_options *options, const char *path);

typedef struct rb_filters_picture {
    const double *loadings; /* n_features x units */
    int64_t n_features, units;
    const int64_t *place; /* pixel of each feature; NULL: its own index. Other pixels are 0 */
    int64_t height, width, channels;
    const char *title;
    int64_t across;     /* images in a row, their numbers above the first; 0: as many as fit well */
    const double *rows; /* with `across`: a number for each row, at its left; NULL: none */
} rb_filters_picture;

/* rows x columns (x channels) from the option, or one length; they must multiply to n_input. */
rb_error rb_find_shape(rb_context *ctx, const rb_plot_options *options, int64_t n_input,
                       rb_filters_picture *picture);

/* Is the shape one length: are curves asked for? */
bool rb_shape_is_series(const rb_plot_options *options);

rb_error rb_draw_filters(rb_context *ctx, const rb_filters_picture *picture,
                         const rb_plot_options *options, const char *path);

/* Numbers from 0 at places first, first + step, ..., as many as have room: at height y. */
void rb_page_numbers(rb_page *page, int64_t count, double first, double step, double y);

/* The same for series: height and channels are 1. */
rb_error rb_draw_curves(rb_context *ctx, const rb_filters_picture *picture,
                        const rb_plot_options *options, const char *path); /* plot_curves.c */

/* A module in the picture: rows and columns that it frames. */
typedef struct rb_module_frame {
    int64_t unit;
    int64_t first_row, rows, first_column, columns;
} rb_module_frame;

typedef struct rb_modules_picture {
    const double *values; /* rows (features) x columns (samples), standardised */
    int64_t rows, columns;
    const char *const *row_names; /* NULL: none */
    const rb_module_frame *frames;
    int64_t n_frames;
    const int64_t *class_of; /* of each column, -1: none; NULL: no strip */
    const char *const *class_names;
    int64_t n_classes;
    const char *title;
    const char *note; /* below the title; NULL: none */
} rb_modules_picture;

rb_error rb_draw_modules(rb_context *ctx, const rb_modules_picture *picture,
                         const rb_plot_options *options, const char *path);

#endif
