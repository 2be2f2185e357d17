/* Data, what a model makes of them, and samples drawn from it: three blocks of images, one below
 * the other, on one scale. */
#include "plot.h"

#include <math.h>
#include <stddef.h>

enum { MARGIN = 34, LEFT = 60, TOP = 52, GAP = 4, BLOCK_GAP = 18, ACROSS = 20, SHOWN = 20 };
enum { KINDS = 3 };

typedef struct samples_options {
    int codes; /* 1: of the data */
} samples_options;

const rb_option_group *rb_plot_samples_group(void) {
    static const rb_option rows[] = {
        {"codes", 0, RB_OPTION_CHOICE, offsetof(samples_options, codes), "prior", 0, 0,
         "prior|data", "FROM",
         "what samples are drawn from: the prior of codes, or the codes of the data shown"},
        {0},
    };
    static const rb_option_group group = {sizeof(rb_option), "Codes", rows,
                                          sizeof(samples_options)};
    return &group;
}

/* Rows of the library become columns first, first + 1, ... of features x columns. */
struct columns {
    double *values;
    int64_t count, first;
};

static rb_error take(void *user, int64_t first, const rb_matrix *rows) {
    const struct columns *to = user;
    for (int64_t i = 0; i < rows->n_samples; i++)
        for (int64_t k = 0; k < rows->n_features; k++)
            to->values[k * to->count + to->first + first + i] = rb_matrix_at(rows, i, k);
    return RB_OK;
}

/* 3 x count columns. What is missing in the data is shown as the model has it. */
static rb_error collect(rb_context *ctx, const rb_model *model, rb_source *source,
                        const rb_options *options, int64_t count, double *values) {
    struct columns to = {values, KINDS * count, 0};
    const samples_options *from = rb_options_fields(options, rb_plot_samples_group());
    rb_options *drawn = NULL;
    rb_source *shown = NULL;
    rb_error err = rb_source_slice(ctx, source, 0, count, &shown);
    err = err ? err : rb_options_new(ctx, NULL, &drawn);
    err = err ? err : rb_options_add(ctx, drawn, rb_sample_group());
    for (const rb_option *row = rb_sample_group()->rows; !err && row->name; row++) {
        char text[64];
        if (rb_options_get(options, row->name, text, sizeof text) > 0)
            err = rb_options_set(ctx, drawn, row->name, text);
    }
    err = err ? err : rb_options_set_integer(ctx, drawn, "count", count);
    err = err ? err : rb_impute(ctx, model, shown, take, &to);
    to.first = count;
    err = err ? err : rb_reconstruct(ctx, model, shown, take, &to);
    to.first = 2 * count;
    bool of_data = from && from->codes == 1;
    err = err ? err : rb_sample(ctx, model, of_data ? shown : NULL, drawn, take, &to);
    rb_options_free(drawn);
    rb_source_free(shown);
    return err;
}

static void draw_blocks(rb_page *page, const rb_filters_plot *p, rb_box cell, bool middle,
                        double *values) {
    static const char *const names[KINDS] = {"data", "reconstruction", "samples"};
    int64_t count = p->units / KINDS, rows = (count + p->across - 1) / p->across;
    double block = (double)rows * (cell.height + GAP) + BLOCK_GAP;
    for (int64_t unit = 0; unit < p->units; unit++) {
        int64_t kind = unit / count, row = unit % count / p->across;
        double right = (double)(unit % count % p->across);
        rb_box box = {cell.x + right * (cell.width + GAP),
                      cell.y + (double)kind * block + (double)row * (cell.height + GAP), cell.width,
                      cell.height};
        rb_filters_cell(page, p, unit, middle, values, box);
    }
    for (int i = 0; i < KINDS; i++)
        rb_page_text_up(page, RB_TEXT_LABEL, LEFT - 22,
                        cell.y + i * block + (block - BLOCK_GAP) / 2, 0.5, 0, names[i]);
}

/* As many in a row as make images of a good size, or a number near it that leaves no row half
 * empty. */
static int64_t choose_across(const rb_filters_plot *p, int64_t count) {
    enum { FEW = 10, NEAR = 3 };
    double aspect = p->curves ? 0.5 : (double)p->height / (double)p->width;
    double wanted = fmin(fmax(ceil(sqrt((double)count * 4 * aspect)), FEW), ACROSS);
    int64_t across = (int64_t)fmin(wanted, (double)count);
    for (int64_t off = 0; off <= NEAR; off++) {
        if (across > off && count % (across - off) == 0) return across - off;
        if (count % (across + off) == 0 && across + off <= ACROSS) return across + off;
    }
    return across;
}

static rb_error draw(rb_context *ctx, const rb_filters_plot *p, bool middle,
                     const rb_plot_options *options, const char *path) {
    int64_t count = p->units / KINDS, rows = (count + p->across - 1) / p->across;
    double width = (RB_PAGE_WIDTH - MARGIN - LEFT) / (double)p->across - GAP;
    double aspect = p->curves ? 0.6 : (double)p->height / (double)p->width;
    rb_box cell = {LEFT, TOP, width, width * aspect};
    double height = TOP + KINDS * ((double)rows * (cell.height + GAP) + BLOCK_GAP) + MARGIN / 2.0 +
                    RB_SCALE_HEIGHT;
    rb_page page;
    double *values = rb_alloc(ctx, p->height * p->width * p->channels, sizeof *values);
    rb_error err = values ? rb_page_open(ctx, options, path, height, &page) : RB_ERROR_MEMORY;
    if (!err) {
        rb_page_title(&page, RB_PAGE_WIDTH / 2.0, 28, 0.5, p->title);
        draw_blocks(&page, p, cell, middle, values);
        rb_filters_scale(&page, p, middle, LEFT, height - RB_SCALE_HEIGHT);
        err = rb_page_close(&page, RB_OK);
    }
    rb_free(values);
    return err;
}

/* The scale of all is that of the data, beyond which few values of samples are. */
static bool find_scale(rb_filters_plot *p) {
    bool below = false;
    for (int64_t k = 0; k < p->n_features; k++) {
        for (int64_t i = 0; i < p->units / KINDS; i++) {
            double value = p->loadings[k * p->units + i];
            p->largest = fmax(p->largest, fabs(value));
            below = below || value < 0;
        }
    }
    return below;
}

static rb_error find_count(rb_context *ctx, const rb_options *given, rb_source *source,
                           int64_t *count) {
    enum { MOST = 2000 };
    int64_t n = rb_source_samples(source);
    bool asked = given && rb_options_is_set(given, "count");
    *count = asked ? rb_sample_count(given, NULL) : SHOWN;
    *count = *count < n ? *count : n;
    if (*count < 1) return rb_fail(ctx, RB_ERROR_DATA, "there are no samples to draw");
    return *count <= MOST
               ? RB_OK
               : rb_fail(ctx, RB_ERROR_ARGUMENT, "`count` is %lld, but a plot shows at most %d",
                         (long long)*count, (int)MOST);
}

rb_error rb_plot_samples(rb_context *ctx, const rb_model *model, rb_source *source,
                         const rb_options *given, const char *path) {
    rb_plot_options options;
    int64_t count = 0;
    rb_filters_plot p = {.n_features = rb_model_features(model)};
    rb_error err = rb_page_check(ctx, given, &options, path);
    err = err ? err : rb_filters_shape(ctx, &options, model, &p);
    err = err ? err : find_count(ctx, given, source, &count);
    if (err) return err;
    p.units = KINDS * count;
    p.across = choose_across(&p, count);
    double *values = rb_alloc(ctx, p.n_features * p.units, sizeof *values);
    err = values ? collect(ctx, model, source, given, count, values) : RB_ERROR_MEMORY;
    if (!err) {
        char title[RB_TITLE_SIZE];
        snprintf(title, sizeof title, "Data, reconstruction and samples of a model of %s",
                 rb_model_method(model));
        p.loadings = values;
        p.title = title;
        bool middle = find_scale(&p);
        err = draw(ctx, &p, middle, &options, path);
    }
    rb_free(values);
    return err;
}
