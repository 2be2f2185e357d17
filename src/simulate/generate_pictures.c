/* Pictures whose class is of their shape, and digits before backgrounds.
 *
 * H. Larochelle, D. Erhan, A. Courville, J. Bergstra, Y. Bengio, "An empirical evaluation of deep
 * architectures on problems with many factors of variation", ICML 2007. What the paper leaves open,
 * and what was chosen here, is in docs/howto/simulate.md.
 */
#include "simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIDE_MAX = RB_PICTURE_SIDE_MAX,
    WHITE = 255,
    LEAST_CONVEX = 19, /* pixels of a convex set, and of each of a union */
    LEAST_PART = 10,
    TRIES_MAX = 100000 /* of places for a patch that is not all grey */
};

static const double CONVEX = 0.195, PART = 0.07; /* of the geometric numbers of half-planes */

/* One sample while it is drawn. */
typedef struct canvas {
    const rb_pictures_plan *plan;
    rb_draws draws;
    int64_t side;
    double level[SIDE_MAX * SIDE_MAX]; /* row by row */
} canvas;

/* ---- rectangles ---- */

typedef struct rectangle {
    int64_t top, left, height, width;
} rectangle;

static rectangle draw_rectangle(canvas *c, int64_t least, int64_t apart, double low, double high) {
    rectangle r;
    double area;
    do {
        r.height = rb_draw_integer(&c->draws, least, c->side);
        r.width = rb_draw_integer(&c->draws, least, c->side);
        area = (double)(r.height * r.width) / (double)(c->side * c->side);
    } while (llabs((long long)(r.height - r.width)) < apart || area < low || area > high);
    r.top = rb_draw_integer(&c->draws, 0, c->side - r.height);
    r.left = rb_draw_integer(&c->draws, 0, c->side - r.width);
    return r;
}

/* 1: wider than high. */
static int label_of(rectangle r) {
    return r.width > r.height;
}

static int draw_border(canvas *c) {
    rectangle r = draw_rectangle(c, 1, 3, 0, 1);
    for (int64_t y = r.top; y < r.top + r.height; y++) {
        for (int64_t x = r.left; x < r.left + r.width; x++) {
            bool inner =
                y > r.top && y < r.top + r.height - 1 && x > r.left && x < r.left + r.width - 1;
            c->level[y * c->side + x] = inner ? 0 : WHITE;
        }
    }
    return label_of(r);
}

/* ---- patches of images ---- */

static double variance_of(const rb_matrix *image, int64_t top, int64_t left, int64_t side) {
    double sum = 0, squares = 0, count = (double)(side * side);
    for (int64_t y = 0; y < side; y++) {
        for (int64_t x = 0; x < side; x++) {
            double level = rb_matrix_at(image, top + y, left + x);
            sum += level;
            squares += level * level;
        }
    }
    return squares / count - sum / count * (sum / count);
}

/* A random patch of a random image that is not all grey. */
static bool draw_patch(canvas *c, double *levels) {
    const rb_pictures_plan *p = c->plan;
    for (int64_t tries = 0; tries < TRIES_MAX; tries++) {
        const rb_matrix *image = p->images[rb_draw_integer(&c->draws, 0, p->n_images - 1)];
        int64_t top = rb_draw_integer(&c->draws, 0, image->n_samples - c->side);
        int64_t left = rb_draw_integer(&c->draws, 0, image->n_features - c->side);
        if (variance_of(image, top, left, c->side) < p->least_sd * p->least_sd) continue;
        for (int64_t y = 0; y < c->side; y++)
            for (int64_t x = 0; x < c->side; x++)
                levels[y * c->side + x] = round(rb_matrix_at(image, top + y, left + x));
        return true;
    }
    return false;
}

static bool draw_image_rectangle(canvas *c, int *label) {
    double inside[SIDE_MAX * SIDE_MAX];
    rectangle r = draw_rectangle(c, 10, 5, 0.25, 0.75);
    if (!draw_patch(c, c->level) || !draw_patch(c, inside)) return false;
    for (int64_t y = r.top; y < r.top + r.height; y++)
        memcpy(c->level + y * c->side + r.left, inside + y * c->side + r.left,
               (size_t)r.width * sizeof *inside);
    *label = label_of(r);
    return true;
}

/* ---- convex sets ---- */

/* How many failures before the first success: 0, 1, 2, ... */
static int64_t draw_geometric(rb_draws *draws, double probability) {
    int64_t count = 0;
    while (rb_draw_uniform(draws) >= probability)
        count++;
    return count;
}

/* Pixels whose centres lie in random half-planes, all of them; gives their number. */
static int64_t draw_half_planes(canvas *c, double probability, bool *set) {
    int64_t pixels = c->side * c->side, left = 0;
    double side = (double)c->side;
    memset(set, true, (size_t)pixels);
    for (int64_t n = draw_geometric(&c->draws, probability); n > 0; n--) {
        double x0 = side * rb_draw_uniform(&c->draws), y0 = side * rb_draw_uniform(&c->draws);
        double angle = 2 * M_PI * rb_draw_uniform(&c->draws), u = cos(angle), v = sin(angle);
        for (int64_t i = 0; i < pixels; i++) {
            int64_t row = i / c->side, column = i % c->side;
            double x = (double)column + 0.5 - x0, y = (double)row + 0.5 - y0;
            set[i] = set[i] && x * u + y * v > 0;
        }
    }
    for (int64_t i = 0; i < pixels; i++)
        left += set[i];
    return left;
}

static void draw_convex(canvas *c, double probability, int64_t least, bool *set) {
    while (draw_half_planes(c, probability, set) < least) {
    }
}

/* The first and last pixel of a row that a set has; false: it has none. */
static bool find_ends(const bool *set, int64_t side, int64_t row, int64_t *first, int64_t *last) {
    *first = -1;
    for (int64_t x = 0; x < side; x++) {
        if (!set[row * side + x]) continue;
        if (*first < 0) *first = x;
        *last = x;
    }
    return *first >= 0;
}

static int64_t floor_ratio(int64_t a, int64_t b) {
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

/* Pixels low .. high of a row are those between any two ends of the set, in two rows around it. */
static void find_hull(const int64_t (*ends)[2], int64_t side, int64_t row, int64_t *low,
                      int64_t *high) {
    *low = side;
    *high = -1;
    for (int64_t above = 0; above <= row; above++) {
        for (int64_t below = row; below < side; below++) {
            int64_t apart = below - above, to = below - row, from = row - above;
            if (ends[above][0] < 0 || ends[below][0] < 0) continue;
            int64_t first = ends[above][0], last = ends[above][1];
            if (apart > 0) {
                first = -floor_ratio(-(first * to + ends[below][0] * from), apart);
                last = floor_ratio(last * to + ends[below][1] * from, apart);
            }
            *low = first < *low ? first : *low;
            *high = last > *high ? last : *high;
        }
    }
}

bool rb_is_convex(const bool *set, int64_t side) {
    int64_t ends[SIDE_MAX][2];
    for (int64_t row = 0; row < side; row++)
        find_ends(set, side, row, &ends[row][0], &ends[row][1]);
    for (int64_t row = 0; row < side; row++) {
        int64_t low, high;
        find_hull((const int64_t(*)[2])ends, side, row, &low, &high);
        for (int64_t x = low; x <= high; x++)
            if (!set[row * side + x]) return false;
    }
    return true;
}

/* A union of convex sets that is not convex itself. */
static void draw_union(canvas *c, bool *set) {
    int64_t pixels = c->side * c->side;
    bool part[SIDE_MAX * SIDE_MAX];
    do {
        memset(set, false, (size_t)pixels);
        for (int64_t n = rb_draw_integer(&c->draws, 2, 4); n > 0; n--) {
            draw_convex(c, PART, LEAST_PART, part);
            for (int64_t i = 0; i < pixels; i++)
                set[i] = set[i] || part[i];
        }
    } while (rb_is_convex(set, c->side));
}

/* 1: convex. */
static int draw_shape(canvas *c) {
    bool set[SIDE_MAX * SIDE_MAX];
    int label = rb_draw_uniform(&c->draws) < 0.5;
    if (label)
        draw_convex(c, CONVEX, LEAST_CONVEX, set);
    else
        draw_union(c, set);
    for (int64_t i = 0; i < c->side * c->side; i++)
        c->level[i] = set[i] ? WHITE : 0;
    return label;
}

/* ---- digits ---- */

static double level_at(const double *digit, int64_t side, int64_t y, int64_t x) {
    return y >= 0 && y < side && x >= 0 && x < side ? digit[y * side + x] : 0;
}

/* Turned about the middle of the picture; between pixels, linear in both directions. */
static void turn(const double *digit, int64_t side, double angle, double *to) {
    double middle = (double)(side - 1) / 2, u = cos(angle), v = sin(angle);
    for (int64_t y = 0; y < side; y++) {
        for (int64_t x = 0; x < side; x++) {
            double dx = (double)x - middle, dy = (double)y - middle;
            double fx = middle + u * dx + v * dy, fy = middle - v * dx + u * dy;
            int64_t ix = (int64_t)floor(fx), iy = (int64_t)floor(fy);
            double rx = fx - (double)ix, ry = fy - (double)iy;
            double upper =
                (1 - rx) * level_at(digit, side, iy, ix) + rx * level_at(digit, side, iy, ix + 1);
            double lower = (1 - rx) * level_at(digit, side, iy + 1, ix) +
                           rx * level_at(digit, side, iy + 1, ix + 1);
            to[y * side + x] = round((1 - ry) * upper + ry * lower);
        }
    }
}

static bool draw_background(canvas *c, double *levels) {
    for (int64_t i = 0; c->plan->kind == RB_PICTURES_RAND && i < c->side * c->side; i++)
        levels[i] = (double)rb_draw_integer(&c->draws, 0, WHITE);
    return c->plan->kind == RB_PICTURES_RAND || draw_patch(c, levels);
}

/* The lighter of digit and background counts. */
static bool draw_digit(canvas *c, int64_t index, int *label) {
    const rb_pictures_plan *p = c->plan;
    double digit[SIDE_MAX * SIDE_MAX] = {0}, behind[SIDE_MAX * SIDE_MAX];
    int64_t at = p->order[index], pixels = c->side * c->side;
    for (int64_t i = 0; i < pixels; i++)
        digit[i] = rb_matrix_at(p->digits, at, i);
    *label = (int)rb_matrix_at(p->digit_labels, at, 0);
    if (p->kind == RB_PICTURES_ROT) {
        turn(digit, c->side, 2 * M_PI * rb_draw_uniform(&c->draws), c->level);
        return true;
    }
    memcpy(c->level, digit, sizeof digit);
    if (p->kind == RB_PICTURES_BASIC) return true;
    if (!draw_background(c, behind)) return false;
    for (int64_t i = 0; i < pixels; i++)
        c->level[i] = fmax(digit[i], behind[i]);
    return true;
}

/* ---- all of them ---- */

struct drawing {
    const rb_pictures_plan *plan;
    int64_t side;
    float *levels, *labels;
    bool *failed; /* of each sample: no patch was found for it */
};

static bool draw_picture(canvas *c, int64_t index, int *label) {
    switch (c->plan->kind) {
    case RB_PICTURES_RECTANGLES:
        *label = draw_border(c);
        return true;
    case RB_PICTURES_RECTANGLES_IMAGE:
        return draw_image_rectangle(c, label);
    case RB_PICTURES_CONVEX:
        *label = draw_shape(c);
        return true;
    default:
        return draw_digit(c, index, label);
    }
}

/* A sample has draws of its own, as many as it may want. */
static void draw_task(void *arg, int64_t task, int worker) {
    (void)worker;
    const struct drawing *d = arg;
    const rb_pictures_plan *p = d->plan;
    int64_t index = p->first + task, pixels = d->side * d->side;
    canvas c = {.plan = p,
                .draws = {{p->seed, RB_RANDOM_PICTURES, 0}, (uint64_t)index << 24},
                .side = d->side};
    bool shape = p->kind == RB_PICTURES_RECTANGLES || p->kind == RB_PICTURES_CONVEX;
    double divide = p->bytes ? 1 : shape ? WHITE : WHITE + 1;
    int label = 0;
    d->failed[task] = !draw_picture(&c, index, &label);
    for (int64_t i = 0; i < pixels; i++)
        d->levels[task * pixels + i] = (float)(c.level[i] / divide);
    d->labels[task] = (float)label;
}

rb_error rb_generate_pictures(rb_context *ctx, const rb_pictures_plan *plan, int64_t side,
                              rb_matrix **matrix, rb_matrix **labels) {
    struct drawing d = {.plan = plan, .side = side};
    int64_t n = plan->n_samples;
    rb_error err = rb_matrix_new_dense(ctx, RB_FLOAT32, n, side * side, matrix);
    err = err ? err : rb_matrix_new_dense(ctx, RB_FLOAT32, n, 1, labels);
    d.failed = err ? NULL : rb_alloc_zero(ctx, n, sizeof *d.failed);
    if (d.failed) {
        d.levels = (void *)(*matrix)->values;
        d.labels = (void *)(*labels)->values;
        err = rb_parallel_or_stop(ctx, n, draw_task, &d);
    } else {
        err = RB_ERROR_MEMORY;
    }
    for (int64_t i = 0; !err && i < n; i++) {
        if (d.failed[i]) {
            err = rb_fail(ctx, RB_ERROR_DATA,
                          "hardly a patch of the images has a standard deviation of %g grey levels "
                          "or more: take other images, or a smaller `least-sd`",
                          plan->least_sd);
        }
    }
    rb_free(d.failed);
    if (err) {
        rb_matrix_free(*matrix);
        rb_matrix_free(*labels);
        *matrix = *labels = NULL;
    }
    return err;
}
