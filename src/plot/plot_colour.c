/* Colour maps between a few anchors, and colours for classes. */
#include "plot.h"

#include <math.h>

enum { MOST_ANCHORS = 7 };

typedef struct colour_map {
    int count;
    rb_colour anchors[MOST_ANCHORS]; /* equally spaced */
} colour_map;

static const colour_map maps[] = {
    [RB_MAP_SEQUENTIAL] = {5,
                           {{1, 1, 1},
                            {0.76, 0.86, 0.93},
                            {0.39, 0.65, 0.81},
                            {0.11, 0.38, 0.62},
                            {0.03, 0.13, 0.31}}},
    [RB_MAP_DIVERGING] = {7,
                          {{0.05, 0.20, 0.45},
                           {0.22, 0.49, 0.72},
                           {0.68, 0.82, 0.91},
                           {0.98, 0.98, 0.98},
                           {0.96, 0.74, 0.66},
                           {0.80, 0.31, 0.26},
                           {0.45, 0.02, 0.12}}},
    [RB_MAP_GREY] = {2, {{0, 0, 0}, {1, 1, 1}}},
};

static rb_colour mix(rb_colour a, rb_colour b, double share) {
    return (rb_colour){a.red + share * (b.red - a.red), a.green + share * (b.green - a.green),
                       a.blue + share * (b.blue - a.blue)};
}

rb_colour rb_map_colour(rb_colour_map map, double position) {
    const colour_map *m = &maps[map];
    if (isnan(position)) {
        return (rb_colour){0.85, 0.85, 0.85};
    }
    double place = fmin(fmax(position, 0), 1) * (m->count - 1);
    int below = (int)fmin(floor(place), m->count - 2);
    return mix(m->anchors[below], m->anchors[below + 1], place - below);
}

rb_colour rb_class_colour(int64_t index) {
    /* Neighbours differ in lightness as well as in hue. */
    static const rb_colour colours[] = {
        {0.00, 0.42, 0.68}, {0.90, 0.60, 0.05}, {0.00, 0.58, 0.44}, {0.80, 0.33, 0.05},
        {0.42, 0.72, 0.90}, {0.78, 0.45, 0.64}, {0.38, 0.22, 0.50}, {0.93, 0.86, 0.30},
        {0.56, 0.38, 0.24}, {0.55, 0.75, 0.35},
    };
    const int64_t count = sizeof colours / sizeof *colours;
    int64_t round = index / count;
    double pale = round < 3 ? 0.25 * (double)round : 0.75;
    return mix(colours[index % count], (rb_colour){1, 1, 1}, pale);
}

rb_colour rb_line_colour(int64_t index) {
    const double most = 0.5;
    rb_colour c = rb_class_colour(index % 10);
    double light = 0.30 * c.red + 0.59 * c.green + 0.11 * c.blue;
    return light > most ? mix((rb_colour){0, 0, 0}, c, most / light) : c;
}

void rb_page_colour(rb_page *page, rb_colour colour) {
    cairo_set_source_rgb(page->cairo, colour.red, colour.green, colour.blue);
}
