/* A unit over the samples (Clevert et al. 2015, Fig. 3): a strip of its codes, below it a strip for
 * each of its features; samples are points in the colours of their classes.
 *
 * Samples are ordered by class, within a class by code, the largest first; where they are many,
 * neighbours in this order are averaged.
 */
#include "plot.h"

#include <math.h>
#include <stddef.h>

enum { MAX_COLUMNS = 1000, BLOCK = 256, NUMBER = 24 };
enum { TOP = 48, CLASSES = 10, CODE = 84, STRIP = 34, GAP = 7, RIGHT = 64, MAX_NAME = 170 };

typedef struct unit_options {
    int64_t unit, features;
} unit_options;

const rb_option_group *rb_plot_unit_group(void) {
    static const rb_option rows[] = {
        {"unit", 0, RB_OPTION_INTEGER, offsetof(unit_options, unit), "0", 0, INT32_MAX, NULL, "U",
         "the unit to draw, counted from 0", RB_OPTION_COMMON},
        {"features", 0, RB_OPTION_INTEGER, offsetof(unit_options, features), "10", 1, 60, NULL, "N",
         "number of features to show, those with the largest absolute loadings"},
        {0},
    };
    static const rb_option_group group = {sizeof(rb_option), "Unit", rows, sizeof(unit_options)};
    return &group;
}

/* Rows: the code, then the features. */
typedef struct unit_plot {
    rb_context *ctx;
    rb_scratch scratch; /* has all arrays */
    const char *title;
    int64_t unit, n_samples, rows, columns, n_features;
    double *values;     /* rows x columns; sums at first */
    double *counts;     /* rows x columns: samples that have a value there */
    int64_t *row_of;    /* of each feature; -1: not shown */
    int64_t *column_of; /* of each sample */
    int64_t *class_of;  /* the place of the class of each column; -1: none */
    double *loadings;   /* of each row but the first */
    const char **names;
    rb_key *keys;
    rb_classes labels; /* no classes: none were given */
    int64_t n_classes;
    int64_t unlabelled;        /* samples without a class, though others have one */
    const char **sample_names; /* of the columns; NULL: none, or there is no room */
} unit_plot;

/* ---- drawing ---- */

static rb_colour colour_of(const unit_plot *p, int64_t column) {
    return rb_class_colour(p->n_classes ? p->class_of[column] : 0);
}

/* Each strip has a scale of its own, that of codes from 0; a line is the mean. */
static void draw_strip(rb_page *page, const unit_plot *p, int64_t row, rb_box box) {
    const rb_colour faint = {0.8, 0.8, 0.8};
    const double *values = p->values + row * p->columns, *counts = p->counts + row * p->columns;
    rb_chart c = {.box = box, .across = {.low = -0.5, .high = (double)p->columns - 0.5}};
    double radius = fmin(fmax(0.5 * box.width / (double)p->columns, 1.3), 3), sum = 0, count = 0;
    c.up = (rb_axis){.low = INFINITY, .high = -INFINITY};
    if (row == 0) rb_axis_cover(&c.up, 0);
    for (int64_t j = 0; j < p->columns; j++) {
        rb_axis_cover(&c.up, values[j]);
        sum += counts[j] > 0 ? values[j] * counts[j] : 0;
        count += counts[j];
    }
    rb_axis_pad(&c.up, 0.05);
    double line = row == 0 ? 0 : sum / count, y = rb_chart_y(&c, line);
    if (isfinite(y)) rb_page_line(page, box.x, y, box.x + box.width, y, 0.6, faint);
    for (int64_t j = 0; j < p->columns; j++)
        rb_chart_dot(page, &c, (double)j, values[j], radius, colour_of(p, j));
    if (row == 0) {
        rb_ticks ticks = rb_ticks_choose(c.up.low, c.up.high, 4, false);
        for (int i = 0; i < ticks.count; i++) {
            char text[32];
            rb_tick_text(&ticks, i, text, sizeof text);
            rb_page_text(page, RB_TEXT_TICK, box.x + box.width + 6,
                         rb_chart_y(&c, rb_tick_value(&ticks, i)), 0, 0, text);
        }
    }
}

static void draw_rows(rb_page *page, const unit_plot *p, rb_box box) {
    const rb_colour frame = {0.7, 0.7, 0.7};
    char text[32];
    snprintf(text, sizeof text, "unit %lld", (long long)p->unit);
    for (int64_t row = 0; row < p->rows; row++) {
        box.height = row == 0 ? CODE : STRIP;
        double middle = box.y + box.height / 2, right = box.x + box.width;
        draw_strip(page, p, row, box);
        rb_page_frame(page, box, 0.5, frame);
        rb_page_text(page, row == 0 ? RB_TEXT_LABEL : RB_TEXT_TICK, box.x - 8, middle, 1, MAX_NAME,
                     row == 0 ? text : p->names[row - 1]);
        if (row > 0) {
            char number[NUMBER];
            rb_print(number, sizeof number, "%.3g", p->loadings[row - 1]);
            rb_page_text(page, RB_TEXT_TICK, right + 6, middle, 0, 0, number);
        }
        /* The word "loading" stands below the strip of codes, above the numbers. */
        box.y += box.height + (row == 0 ? 3 * GAP : GAP);
        if (row == 0) rb_page_text(page, RB_TEXT_TICK, right + 6, box.y - 9, 0, 0, "loading");
    }
}

static rb_error draw(const unit_plot *p, const rb_plot_options *options, const char *path) {
    double names = fmax(rb_text_widest(RB_TEXT_TICK, p->names, p->rows - 1),
                        rb_text_width(RB_TEXT_LABEL, "unit 000"));
    double left = fmin(names, MAX_NAME) + 28, top = TOP + (p->n_classes ? CLASSES + GAP : 0);
    double bottom = top + CODE + 2 * GAP + (double)(p->rows - 1) * (STRIP + GAP);
    rb_box box = {left, top, RB_PAGE_WIDTH - left - RIGHT, CODE};
    bool named = p->sample_names && rb_names_fit(box.width / (double)p->columns);
    const char *const *names_below = named ? p->sample_names : NULL;
    double below = bottom + rb_names_space(names_below, p->columns);
    rb_legend legend =
        rb_class_legend(p->n_classes ? &p->labels : NULL, p->unlabelled, left, below + 50);
    rb_page page;
    rb_error err =
        rb_page_open(p->ctx, options, path,
                     below + 36 + rb_legend_height(&legend) + (legend.count ? 10 : 0), &page);
    if (err) return err;
    rb_page_title(&page, left, 26, 0, p->title);
    if (p->n_classes)
        rb_page_class_strip(&page, (rb_box){left, TOP, box.width, CLASSES}, p->class_of,
                            p->columns);
    draw_rows(&page, p, box);
    box.height = bottom - box.y;
    rb_page_names_below(&page, box, names_below, p->columns);
    rb_page_text(&page, RB_TEXT_LABEL, left + box.width / 2, below + 18, 0.5, 0,
                 p->n_samples > p->columns ? "samples, neighbours averaged" : "samples");
    rb_page_legend(&page, &legend);
    return rb_page_close(&page, RB_OK);
}

/* ---- gathering ---- */

enum { CLASS, MINUS_CODE, SAMPLE }; /* the columns of a key: no class is INFINITY */

static void add_value(unit_plot *p, int64_t row, int64_t sample, double value) {
    int64_t cell = row * p->columns + p->column_of[sample];
    if (isnan(value)) {
        p->counts[cell]--;
        return;
    }
    p->values[cell] += value;
}

static rb_error take_codes(void *user, int64_t first, const rb_matrix *codes) {
    unit_plot *p = user;
    for (int64_t i = 0; i < rb_matrix_samples(codes); i++) {
        double *key = p->keys[first + i];
        int64_t class_index = p->n_classes ? p->labels.class_of[first + i] : -1;
        key[CLASS] = class_index < 0 ? INFINITY : (double)class_index;
        key[MINUS_CODE] = -rb_matrix_at(codes, i, p->unit);
        key[SAMPLE] = (double)(first + i);
        p->unlabelled += class_index < 0;
    }
    return RB_OK;
}

/* Puts samples into columns. A column at the border of two classes has the colour of the first. */
static void order(unit_plot *p) {
    rb_sort_keys(p->keys, p->n_samples);
    for (int64_t place = p->n_samples - 1; place >= 0; place--) {
        const double *key = p->keys[place];
        int64_t sample = (int64_t)key[SAMPLE];
        int64_t column = (int64_t)((double)place * (double)p->columns / (double)p->n_samples);
        p->column_of[sample] = column;
        p->class_of[column] =
            isfinite(key[CLASS]) ? rb_classes_place(&p->labels, (int64_t)key[CLASS]) : -1;
        for (int64_t row = 0; row < p->rows; row++)
            p->counts[row * p->columns + column]++;
        add_value(p, 0, sample, -key[MINUS_CODE]);
    }
}

/* What is subtracted from a sparse feature moves all its values alike, which its own scale hides:
 * it is left out, and the zeros need no visit. */
static void add_block(unit_plot *p, const rb_block *block) {
    const rb_csr *csr = &block->csr;
    for (int64_t i = 0; i < block->n_samples; i++) {
        for (int64_t k = 0; k < p->n_features && !block->sparse; k++)
            if (p->row_of[k] >= 0)
                add_value(p, p->row_of[k], block->first + i, rb_dense_get(block->dense, i, k));
        int64_t end = block->sparse ? csr->starts[i + 1] - csr->starts[0] : 0;
        for (int64_t e = block->sparse ? csr->starts[i] - csr->starts[0] : 0; e < end; e++) {
            int64_t row = p->row_of[csr->columns[e]];
            if (row >= 0) add_value(p, row, block->first + i, rb_get(csr->type, csr->values, e));
        }
    }
}

static rb_error collect(unit_plot *p, const rb_model *model, rb_source *source) {
    rb_feed *feed = NULL;
    rb_error err = rb_encode(p->ctx, model, source, take_codes, p);
    err = err ? err : rb_feed_new(p->ctx, model->preprocess, source, model->type, &feed);
    if (!err) order(p);
    for (int64_t i = 0; !err && p->sample_names && i < p->n_samples; i++)
        p->sample_names[p->column_of[i]] = rb_source_sample_name(source, i);
    rb_block block = {0};
    while (rb_feed_next(p->ctx, feed, BLOCK, &block, &err))
        add_block(p, &block);
    for (int64_t cell = 0; cell < p->rows * p->columns && !err; cell++)
        p->values[cell] = p->counts[cell] > 0 ? p->values[cell] / p->counts[cell] : NAN;
    rb_feed_free(feed);
    return err;
}

/* ---- the features ---- */

/* Rows for the features of largest loading, the largest first. */
static rb_error choose_features(unit_plot *p, const rb_model *model, const double *loadings,
                                int64_t most) {
    int64_t units = rb_model_units(model), n = p->n_features, count = 0;
    rb_key *keys = rb_take(&p->scratch, n, sizeof *keys);
    p->row_of = rb_take(&p->scratch, n, sizeof *p->row_of);
    p->loadings = rb_take(&p->scratch, most, sizeof *p->loadings);
    p->names = rb_take(&p->scratch, most, sizeof *p->names);
    char(*numbers)[NUMBER] = rb_take(&p->scratch, most, sizeof *numbers);
    if (p->scratch.err) return p->scratch.err;
    for (int64_t k = 0; k < n; k++) {
        keys[k][0] = -fabs(loadings[k * units + p->unit]);
        keys[k][1] = (double)k;
        p->row_of[k] = -1;
    }
    rb_sort_keys(keys, n);
    for (; count < n && count < most && keys[count][0] < 0; count++) {
        int64_t k = (int64_t)keys[count][1];
        const char *name = rb_model_feature_name(model, k);
        snprintf(numbers[count], NUMBER, "%lld", (long long)rb_model_feature_index(model, k));
        p->row_of[k] = count + 1;
        p->loadings[count] = loadings[k * units + p->unit];
        p->names[count] = name ? name : numbers[count];
    }
    p->rows = count + 1;
    return count ? RB_OK
                 : rb_fail(p->ctx, RB_ERROR_DATA,
                           "unit %lld has only loadings of 0: there are no features to draw",
                           (long long)p->unit);
}

/* The unit's number, and the loadings of all. */
static rb_error find_unit(rb_context *ctx, const rb_model *model, const rb_options *given,
                          unit_options *options, const double **loadings) {
    int64_t n_features = 0, units = 0;
    rb_error err = rb_options_take(ctx, given, rb_plot_unit_group(), options);
    if (err) return err;
    *loadings = rb_model_array(model, "loadings", &n_features, &units);
    if (!*loadings || n_features != rb_model_features(model) || units != rb_model_units(model)) {
        return rb_fail(ctx, RB_ERROR_UNSUPPORTED, "a model of method '%s' has no loadings to draw",
                       rb_model_method(model));
    }
    if (!given || !rb_options_is_set(given, "unit")) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "set `unit` to one of the %lld units, counted from 0", (long long)units);
    }
    return options->unit < units
               ? RB_OK
               : rb_fail(ctx, RB_ERROR_ARGUMENT,
                         "`unit` is %lld, but the model has %lld units, counted from 0",
                         (long long)options->unit, (long long)units);
}

static rb_error gather(unit_plot *p, const rb_model *model, rb_source *source, const char *labels) {
    int64_t n = p->n_samples, columns = p->columns;
    if (n == 0) return rb_fail(p->ctx, RB_ERROR_DATA, "there are no samples to draw");
    rb_error err = labels ? rb_classes_read(p->ctx, labels, source, &p->labels) : RB_OK;
    if (err) return err;
    if (labels) p->n_classes = p->labels.n_classes;
    p->values = rb_take(&p->scratch, p->rows * columns, sizeof *p->values);
    p->counts = rb_take(&p->scratch, p->rows * columns, sizeof *p->counts);
    p->column_of = rb_take(&p->scratch, n, sizeof *p->column_of);
    p->class_of = rb_take(&p->scratch, columns, sizeof *p->class_of);
    p->keys = rb_take(&p->scratch, n, sizeof *p->keys);
    if (columns == n && rb_source_sample_name(source, 0))
        p->sample_names = rb_take(&p->scratch, n, sizeof *p->sample_names);
    return p->scratch.err ? p->scratch.err : collect(p, model, source);
}

rb_error rb_plot_unit(rb_context *ctx, const rb_model *model, rb_source *source,
                      const rb_options *given, const char *path) {
    rb_plot_options options;
    unit_options chosen;
    const double *loadings;
    rb_error err = rb_page_check(ctx, given, &options, path);
    err = err ? err : find_unit(ctx, model, given, &chosen, &loadings);
    if (err) return err;
    char title[RB_TITLE_SIZE], role[16] = "";
    int64_t n = rb_source_samples(source);
    unit_plot p = {.ctx = ctx,
                   .scratch.ctx = ctx,
                   .labels.size = sizeof p.labels,
                   .title = title,
                   .unit = chosen.unit,
                   .n_samples = n,
                   .columns = n < MAX_COLUMNS ? n : MAX_COLUMNS,
                   .n_features = rb_model_features(model)};
    err = choose_features(&p, model, loadings, chosen.features);
    err = err ? err : rb_find_roles(ctx, model, source, p.unit, role, sizeof role);
    snprintf(title, sizeof title, "Unit %lld of %s%s%s%s over %lld samples, and its %lld %s",
             (long long)p.unit, rb_model_method(model), *role ? " (" : "", role, *role ? ")" : "",
             (long long)n, (long long)(p.rows - 1),
             p.rows == 2 ? "feature" : "features of largest loading");
    err = err ? err : gather(&p, model, source, options.labels);
    p.scratch.err = err ? err : draw(&p, &options, path);
    rb_classes_clear(&p.labels);
    return rb_scratch_end(&p.scratch);
}
