/* The picture of `./run acceleration`: F less its target over evaluations, on a logarithmic axis.
 */
#include "acceleration.h"

#include <cairo.h>
#include <math.h>
#include <stdio.h>

enum { FIRST = 5 }; /* evaluation on the axis */
enum { WIDTH = 900, HEIGHT = 460, LEFT = 80, RIGHT = 180, TOP = 40, BOTTOM = 60 };

static const double least = -4, most = 2;
static const double colours[CURVES][3] = {
    {0.55, 0.55, 0.55}, {0.12, 0.12, 0.12}, {0.80, 0.47, 0.13}, {0.13, 0.40, 0.67}};

static double across(double evaluation) {
    return LEFT +
           (WIDTH - LEFT - RIGHT) * log(evaluation / FIRST) / log((double)EVALUATIONS / FIRST);
}

static double up(double value) {
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - least) / (most - least);
}

static void text(cairo_t *cairo, double x, double y, double align, const char *words) {
    cairo_text_extents_t size;
    cairo_text_extents(cairo, words, &size);
    cairo_move_to(cairo, x - align * size.x_advance, y);
    cairo_show_text(cairo, words);
}

static void line(cairo_t *cairo, double x0, double y0, double x1, double y1, double grey) {
    cairo_set_source_rgb(cairo, grey, grey, grey);
    cairo_set_line_width(cairo, 0.8);
    cairo_move_to(cairo, x0, y0);
    cairo_line_to(cairo, x1, y1);
    cairo_stroke(cairo);
}

static void draw_axes(cairo_t *cairo) {
    static const int ticks[] = {5, 10, 20, 50, 100, 200, 500, 1000};
    char words[32];
    for (int value = (int)least; value <= (int)most; value++) {
        line(cairo, LEFT, up(value), WIDTH - RIGHT, up(value), value == 0 ? 0.5 : 0.88);
        snprintf(words, sizeof words, "%d", value);
        cairo_set_source_rgb(cairo, 0.2, 0.2, 0.2);
        text(cairo, LEFT - 8, up(value) + 4, 1, words);
    }
    for (size_t i = 0; i < sizeof ticks / sizeof *ticks; i++) {
        double x = across(ticks[i]);
        line(cairo, x, HEIGHT - BOTTOM, x, HEIGHT - BOTTOM + 4, 0.3);
        snprintf(words, sizeof words, "%d", ticks[i]);
        cairo_set_source_rgb(cairo, 0.2, 0.2, 0.2);
        text(cairo, x, HEIGHT - BOTTOM + 18, 0.5, words);
    }
    text(cairo, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 16, 0.5,
         "evaluations: an E-step and an M-step each");
    text(cairo, LEFT, TOP - 16, 0,
         "Objective, less that of 1000 plain iterations at eta 0.1 (nats a sample, mean)");
}

static void draw_curve(cairo_t *cairo, const curve *c, const double *colour, double label) {
    cairo_set_source_rgb(cairo, colour[0], colour[1], colour[2]);
    cairo_set_line_width(cairo, 2);
    cairo_save(cairo);
    cairo_rectangle(cairo, LEFT, TOP, WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
    cairo_clip(cairo);
    for (int t = FIRST - 1; t < EVALUATIONS; t++) {
        cairo_line_to(cairo, across(t + 1), up(c->mean[t]));
    }
    cairo_stroke(cairo);
    cairo_restore(cairo);
    text(cairo, WIDTH - RIGHT + 10, label, 0, c->name);
}

int draw_curves(const curve *curves, const char *path) {
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, WIDTH, HEIGHT);
    cairo_t *cairo = cairo_create(surface);
    cairo_set_source_rgb(cairo, 1, 1, 1);
    cairo_paint(cairo);
    cairo_select_font_face(cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cairo, 13);
    draw_axes(cairo);
    double last = INFINITY;
    for (int c = 0; c < CURVES; c++) {
        double label = fmin(up(curves[c].mean[EVALUATIONS - 1]) + 4, last - 16);
        draw_curve(cairo, &curves[c], colours[c], label);
        last = label;
    }
    cairo_destroy(cairo);
    cairo_status_t status = cairo_surface_write_to_png(surface, path);
    cairo_surface_destroy(surface);
    if (status != CAIRO_STATUS_SUCCESS) {
        fprintf(stderr, "acceleration: cannot write %s: %s\n", path,
                cairo_status_to_string(status));
    }
    return status != CAIRO_STATUS_SUCCESS;
}
