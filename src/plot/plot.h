/* Drawing, shared by the plots of this room and private to it.
 *
 * Plots are laid out on a page 900 units wide, whatever their width in pixels: the option `width`
 * changes the resolution, never the layout. y grows downwards.
 */
#pragma once

#include "io/io.h"
#include <rarebit/plot.h>

#include <cairo.h>

typedef struct rb_plot_options {
    const char *shape; /* filters: "28x28" or "32x32x3", rows x columns x channels; "200": curves */
    int64_t width;     /* of the picture in pixels, from 600; the height follows */
    const char *title; /* NULL: a title that says what is shown */
    const char *labels; /* classes of samples, as rb_classes_read takes them: samples are grouped by
                           class; NULL: none */
    int order;          /* codes: rb_plot_order */
} rb_plot_options;

typedef enum rb_plot_order { RB_ORDER_UNIT, RB_ORDER_DATA } rb_plot_order;

enum { RB_PAGE_WIDTH = 900, RB_TITLE_SIZE = 160 };
#define RB_NO_LABEL "(no label)" /* stands for a class */

/* ---- the file of a page (plot_file.c) ---- */

/* Takes the bytes of a picture from cairo, and puts in where it comes from (rb_context_provenance):
 * an iTXt chunk "provenance" of PNG, <metadata> of SVG. */
typedef struct rb_page_file rb_page_file;
rb_error rb_page_file_open(rb_context *ctx, const char *path, bool svg, rb_page_file **file);
/* A cairo_write_func_t; closure is the file. */
cairo_status_t rb_page_file_write(void *closure, const unsigned char *bytes, unsigned count);
/* Closes it and frees it; false: not all could be written, and errno says why. */
bool rb_page_file_close(rb_page_file *file);

/* ---- page (plot_page.c) ---- */

typedef struct rb_page {
    rb_context *ctx;
    cairo_surface_t *surface;
    cairo_t *cairo;
    rb_staged *staged;
    const char *title; /* the user's, or NULL */
    bool svg;
    double scale; /* pixels per unit */
    rb_page_file *file;
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

/* A row of numbers that are compared in turn, and rows sorted in ascending order. */
typedef double rb_key[4];
void rb_sort_keys(rb_key *keys, int64_t count);

/* ---- units that are no modules (plot_roles.c) ---- */

enum { RB_NOTE_SIZE = 200 };
/* Adds to a text: "background: unit 5; spare: unit 3, unit 7", or how many they are. */
void rb_note_roles(const rb_modules *modules, char *note, size_t size);
/* The same of the modules that the default options find, "" where none can be; or what a unit is
 * that is no module (unit -1: all). */
rb_error rb_find_roles(rb_context *ctx, const rb_model *model, rb_source *source, int64_t unit,
                       char *note, size_t size);

/* ---- text, colours, shapes (plot_draw.c) ---- */

typedef enum rb_text_style {
    RB_TEXT_TITLE,
    RB_TEXT_LABEL,
    RB_TEXT_TICK,
    RB_TEXT_SMALL
} rb_text_style;

/* Text centred at height y; align 0, 0.5, 1: x is its left end, middle, right end. Bytes that are
 * no UTF-8 become '?'; what is wider than `limit` (0: any) is cut and ends in dots. */
void rb_page_text(rb_page *page, rb_text_style style, double x, double y, double align,
                  double limit, const char *text);
/* The same, upwards along the vertical line x; align 0, 0.5, 1: y is its lower end, middle, upper
 * end. */
void rb_page_text_up(rb_page *page, rb_text_style style, double x, double y, double align,
                     double limit, const char *text);
/* Can names of rows or columns that are `step` apart be read? */
bool rb_names_fit(double step);
/* What they take beside the box of their rows or columns, at most. */
double rb_names_space(const char *const *names, int64_t count);
/* Names of the rows at the right of the box, or of its columns below; NULL: none. */
void rb_page_names_right(rb_page *page, rb_box box, const char *const *names, int64_t count);
void rb_page_names_below(rb_page *page, rb_box box, const char *const *names, int64_t count);
/* The title of the page, unless the user has another; align 0 or 0.5. */
void rb_page_title(rb_page *page, double x, double y, double align, const char *title);
/* 0, 1, ... below or above the middles of `count` columns from x on, as many as fit. */
void rb_page_numbers(rb_page *page, rb_text_style style, double x, double y, double step,
                     int64_t count);
/* Width that a text will hardly exceed, for a layout before there is a page; the widest of some. */
double rb_text_width(rb_text_style style, const char *text);
double rb_text_widest(rb_text_style style, const char *const *texts, int64_t count);
double rb_text_size(rb_text_style style);

typedef enum rb_colour_map {
    RB_MAP_SEQUENTIAL, /* white to dark blue */
    RB_MAP_DIVERGING   /* blue, white, red */
} rb_colour_map;

typedef struct rb_colour {
    double red, green, blue;
} rb_colour;

/* position in [0, 1]; outside of it the nearest end; NaN is a light grey. */
rb_colour rb_map_colour(rb_colour_map map, double position);
/* A colour for each class; ten differ well also for colour-blind readers, then they repeat,
 * paler. No class, -1, is grey. */
rb_colour rb_class_colour(int64_t index);
/* The same ten again and again, none so light that a thin line is lost on white. */
rb_colour rb_line_colour(int64_t index);
void rb_page_colour(rb_page *page, rb_colour colour);

void rb_page_fill(rb_page *page, rb_box box, rb_colour colour);
void rb_page_frame(rb_page *page, rb_box box, double line_width, rb_colour colour);
void rb_page_line(rb_page *page, double x0, double y0, double x1, double y1, double line_width,
                  rb_colour colour);
/* Fills the pixels of a box: red << 16 | green << 8 | blue of pixel x, y of width x height. */
typedef uint32_t (*rb_pixel_fn)(const void *user, int64_t x, int64_t y, int64_t width,
                                int64_t height);
void rb_page_image(rb_page *page, rb_box box, rb_pixel_fn pixel, const void *user);

typedef struct rb_grid {
    const double *values; /* rows x columns */
    int64_t rows, columns;
    rb_colour_map map;
    double low, high; /* the values at the ends of the map */
} rb_grid;

/* Fills the box; where cells are smaller than pixels, they are averaged. */
void rb_page_heatmap(rb_page *page, rb_box box, const rb_grid *grid);

/* ---- axes, lines, legends (plot_chart.c) ---- */

/* Round numbers first, first + step, ...: count of them. */
typedef struct rb_ticks {
    double first, step;
    int count;
} rb_ticks;

/* Steps of 1, 2 or 5 times a power of ten that put at most `max` ticks into [low, high]; whole:
 * steps of at least 1. */
rb_ticks rb_ticks_choose(double low, double high, int max, bool whole);
double rb_tick_value(const rb_ticks *ticks, int index);
void rb_tick_text(const rb_ticks *ticks, int index, char *buffer, size_t size);

/* Places `count` labels of one size near their places (ascending) within [low, high], at least
 * `gap` apart; there must be space for all. */
void rb_spread(double *places, int64_t count, double gap, double low, double high);

typedef struct rb_axis {
    const char *label; /* NULL: none */
    double low, high;
    const char *const *names; /* of 0, 1, ...: instead of ticks; NULL: ticks */
    int n_names;
    bool whole; /* of its ticks */
} rb_axis;

/* Two axes and the lines, in units of the page, between which values are drawn. */
typedef struct rb_chart {
    rb_box box;
    rb_axis across, up;
} rb_chart;

/* An axis from 1 to count. */
rb_axis rb_axis_counting(const char *label, int64_t count);
/* Widens a range, from low = INFINITY, high = -INFINITY on, to a value that can be drawn. */
void rb_axis_cover(rb_axis *axis, double value);
/* Adds a share of the range at both ends; false when it covers nothing. */
bool rb_axis_pad(rb_axis *axis, double share);
double rb_chart_x(const rb_chart *chart, double value);
double rb_chart_y(const rb_chart *chart, double value);
void rb_chart_axes(rb_page *page, const rb_chart *chart);

typedef struct rb_pen {
    rb_colour colour;
    double width;
    int64_t dash; /* 0: none */
} rb_pen;

/* The pen of a line among many: lines of the same colour differ in their dashes. */
rb_pen rb_line_pen(int64_t index, double width);
/* Through the points; x NULL: 1, 2, ...: what cannot be drawn is a gap then, and left out where x
 * is given. A point alone is a dot. */
void rb_chart_line(rb_page *page, const rb_chart *chart, const double *x, const double *y,
                   int64_t count, rb_pen pen);
void rb_chart_dot(rb_page *page, const rb_chart *chart, double x, double y, double radius,
                  rb_colour colour);

/* Names in rows, each after the stroke of its line, or after a box in the colour of its class. */
typedef struct rb_legend {
    const char *const *names;
    const rb_classes *classes; /* NULL: lines */
    int64_t count;             /* what is beyond the classes is no class */
    int64_t unlabelled;        /* samples without a class */
    int64_t across;            /* names in a row */
    double left, top, step, row_height;
} rb_legend;
void rb_page_legend(rb_page *page, const rb_legend *legend);
double rb_legend_height(const rb_legend *legend);
/* Of classes (NULL: none), in as many columns as fit from `left` on; `unlabelled`: so many samples
 * have none. */
rb_legend rb_class_legend(const rb_classes *classes, int64_t unlabelled, double left, double top);
/* The place of the class of each column (rb_classes_place), or -1; the word stands at the left. */
void rb_page_class_strip(rb_page *page, rb_box strip, const int64_t *class_of, int64_t columns);

/* A vertical bar with ticks at its right; `more`: values above `high` exist. */
void rb_page_colour_bar(rb_page *page, rb_box box, const rb_grid *grid, bool more,
                        const char *label);

/* ---- plots ---- */

/* Values over the iterations, a panel each; those without a finite value are left out.
 * RB_ERROR_DATA when none is left. */
enum { RB_SERIES_MAX = 4 };
typedef struct rb_series {
    const char *name;
    const double *values;             /* one per iteration; NaN leaves a gap */
    const char *(*label)(int number); /* of values that are numbers of kinds; NULL: they are not */
} rb_series;
/* `shrinks_from`: the iteration, from 1, that a line marks in each panel; 0: none. */
rb_error rb_draw_history(rb_context *ctx, const rb_series *series, int n_series, int64_t count,
                         int64_t shrinks_from, const char *title, const rb_plot_options *options,
                         const char *path);

/* Lines over 1 .. count in one panel. */
typedef struct rb_series_plot {
    const double *values; /* lines x count; NaN: a gap */
    int64_t lines, count;
    double low, high; /* of the vertical axis; low = high: the range of the values */
    double cut;       /* a vertical line there, the first value at 0; NaN: none */
    const char *title, *across, *up;
    const int64_t *classes; /* count: one line is points in the colours of these; NULL: lines */
    int64_t n_classes;
    const char *const *class_names; /* for a legend above; NULL: it does not occur */
    const char *const *line_names;  /* of several lines, for a legend below them; NULL: none */
    const char *legend;             /* what the classes or lines are */
} rb_series_plot;

rb_error rb_draw_series(rb_context *ctx, const rb_series_plot *plot, const rb_plot_options *options,
                        const char *path);
/* The series of rb_plot_evidence, in memory of the scratch, whose error says whether all
 * went well. */
void rb_evidence_series(rb_scratch *scratch, const double *evidence, int64_t n, int64_t used,
                        rb_source *states, rb_series_plot *plot);

/* A group of rows next to each other. */
typedef struct rb_row_group {
    const char *name;
    int64_t class_index; /* -1: none */
    int64_t n_samples;
    int64_t first, count; /* rows of the picture */
} rb_row_group;

typedef struct rb_codes_plot {
    double *values; /* rows x units */
    int64_t rows, units, n_samples;
    rb_row_group *groups; /* NULL: none */
    int64_t n_groups;
    const char **names; /* of the rows; NULL: none, or there is no room */
    const char *title;
    const char *note; /* which units are no modules; NULL or "": all are */
} rb_codes_plot;

rb_error rb_draw_codes(rb_context *ctx, const rb_codes_plot *plot, const rb_plot_options *options,
                       const char *path);

typedef struct rb_filters_plot {
    const double *loadings; /* n_features x units */
    int64_t n_features, units;
    const int64_t *place; /* pixel of each feature; NULL: its own index. Other pixels are 0 */
    int64_t height, width, channels;
    const char *title;
    int64_t across;     /* images in a row, their numbers above the first; 0: as many as fit well */
    const double *rows; /* with `across`: a number for each row, at its left; NULL: none */
    bool curves;        /* height and channels are 1 */
    double largest;     /* size of the value that all are drawn against; 0: each against its own */
    const int64_t *numbers; /* of the units; NULL: from 0 */
} rb_filters_plot;

/* Takes place and shape from the option, rows x columns (x channels), or one length for curves,
 * which must multiply to the input features; n_features is set. */
rb_error rb_filters_shape(rb_context *ctx, const rb_plot_options *options, const rb_model *model,
                          rb_filters_plot *p);
/* Draws one as an image or curve. values: height x width x channels of scratch; middle: 0 is grey
 * and not black. */
void rb_filters_cell(rb_page *page, const rb_filters_plot *p, int64_t unit, bool middle,
                     double *values, rb_box box);
/* What black and white, or heights, mean, in a line centred at y. */
void rb_filters_scale(rb_page *page, const rb_filters_plot *p, bool middle, double x, double y);
enum { RB_SCALE_HEIGHT = 24 };

rb_error rb_draw_filters(rb_context *ctx, const rb_filters_plot *plot,
                         const rb_plot_options *options, const char *path);

/* A module in the picture: rows and columns that it frames. */
typedef struct rb_module_frame {
    int64_t unit;
    int64_t first_row, rows, first_column, columns;
    bool other_side;
} rb_module_frame;

typedef struct rb_modules_plot {
    double *values; /* rows (features) x columns (samples), standardised */
    int64_t rows, columns;
    const char **row_names;    /* NULL: none */
    const char **column_names; /* NULL: none */
    rb_module_frame *frames;
    int64_t n_frames;
    int64_t *class_of; /* the place of the class of each column, -1: none; NULL: no strip */
    const rb_classes *classes;
    const char *title;
    const char *left_out; /* below the title: samples and features that are not shown; or "" */
    const char *note;     /* below that: modules that are not; or "" */
} rb_modules_plot;

rb_error rb_draw_modules(rb_context *ctx, const rb_modules_plot *plot,
                         const rb_plot_options *options, const char *path);
