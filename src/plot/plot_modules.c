/* Gathers what the picture of modules shows: who stands where, and their values.
 *
 * Modules overlap, a picture cannot: a sample or feature of several modules stands with the one in
 * which its weight is largest, relative to the root mean square of that module's weights. A module
 * that would be left with none takes its heaviest ones from modules that can spare them; where
 * there is nothing to take, the module is not shown, and that is said.
 */
#include "plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MODULES = 20, ROWS = 100, COLUMNS = 600, BLOCK = 256, TAKEN = 3, NUMBER = 24 };

/* One axis of the picture: members of modules in order. */
typedef struct axis {
    int64_t total;      /* samples or features that there are */
    int64_t *residents; /* of each module: members that stand with it */
    int64_t *home;      /* total: rank of the module that each stands with, -1: none */
    double *strength;   /* total: its relative weight there */
    int64_t *place;     /* total: place in the picture, -1: not shown */
    int64_t *shown;     /* the index at each place */
    int64_t count;
} axis;

typedef struct gathering {
    rb_context *ctx;
    const rb_modules *modules;
    int64_t n_modules; /* of largest information, those that may be shown */
    axis samples, features;
    rb_module_frame *frames;
    int64_t n_frames;
    double *values;       /* features shown x samples shown */
    double *sum, *square; /* of each feature shown, over all samples */
    const char **row_names;
    char *numbers;  /* what stands for the names of data without names */
    char note[200]; /* which modules are not shown, and why; "" when all are */
    rb_labels labels;
    int64_t *class_of; /* of each sample shown */
} gathering;

static void clear_axis(axis *a) {
    rb_free(a->residents);
    rb_free(a->home);
    rb_free(a->strength);
    rb_free(a->place);
    rb_free(a->shown);
}

static void clear(gathering *g) {
    clear_axis(&g->samples);
    clear_axis(&g->features);
    rb_free(g->frames);
    rb_free(g->values);
    rb_free(g->sum);
    rb_free(g->square);
    rb_free(g->row_names);
    rb_free(g->numbers);
    rb_free(g->class_of);
    rb_labels_clear(&g->labels);
}

/* ---- who stands where ---- */

static rb_error start_axis(rb_context *ctx, axis *a, int64_t total, int64_t n_modules) {
    a->total = total;
    a->residents = rb_alloc_zero(ctx, n_modules, sizeof *a->residents);
    a->home = rb_alloc(ctx, total, sizeof *a->home);
    a->strength = rb_alloc_zero(ctx, total, sizeof *a->strength);
    a->place = rb_alloc(ctx, total, sizeof *a->place);
    a->shown = rb_alloc(ctx, total, sizeof *a->shown);
    if (!a->residents || !a->home || !a->strength || !a->place || !a->shown) {
        return RB_ERROR_MEMORY;
    }
    for (int64_t i = 0; i < total; i++) {
        a->home[i] = a->place[i] = -1;
    }
    return RB_OK;
}

static void move(axis *a, int64_t index, int64_t rank) {
    if (a->home[index] >= 0) {
        a->residents[a->home[index]]--;
    }
    a->home[index] = rank;
    a->residents[rank]++;
}

/* Lets the members of a module move in where it beats their home so far. */
static rb_error claim(const gathering *g, axis *a, int64_t rank, const rb_member *members,
                      int64_t count, const char *what) {
    double squares = 0;
    for (int64_t i = 0; i < count; i++) {
        squares += members[i].weight * members[i].weight;
    }
    double rms = count > 0 ? sqrt(squares / (double)count) : 1;
    for (int64_t i = 0; i < count; i++) {
        int64_t index = members[i].index;
        if (index < 0 || index >= a->total) {
            return rb_fail(g->ctx, RB_ERROR_DATA,
                           "the module of unit %lld has %s %lld, but the data has only %lld: are "
                           "these the modules of this data?",
                           (long long)rb_modules_get(g->modules, rank)->unit, what,
                           (long long)index, (long long)a->total);
        }
        double strength = rms > 0 ? fabs(members[i].weight) / rms : 0;
        if (a->home[index] < 0 || strength > a->strength[index]) {
            move(a, index, rank);
            a->strength[index] = strength;
        }
    }
    return RB_OK;
}

/* Lets a module without residents take its heaviest members from modules that can spare them. */
static void take(axis *a, int64_t rank, const rb_member *members, int64_t count) {
    for (int64_t spared = TAKEN; spared >= 1 && a->residents[rank] == 0; spared--) {
        for (int64_t i = 0; i < count && a->residents[rank] < TAKEN; i++) {
            int64_t index = members[i].index;
            if (a->home[index] != rank && a->residents[a->home[index]] > spared) {
                move(a, index, rank);
            }
        }
    }
}

static rb_error claim_all(gathering *g) {
    rb_error err = RB_OK;
    for (int64_t r = 0; r < g->n_modules && !err; r++) {
        const rb_module *m = rb_modules_get(g->modules, r);
        err = claim(g, &g->samples, r, m->samples, m->n_samples, "sample");
        if (!err) {
            err = claim(g, &g->features, r, m->features, m->n_features, "feature");
        }
    }
    for (int64_t r = 0; r < g->n_modules && !err; r++) {
        const rb_module *m = rb_modules_get(g->modules, r);
        take(&g->samples, r, m->samples, m->n_samples);
        take(&g->features, r, m->features, m->n_features);
    }
    return err;
}

/* Why a module cannot be shown; NULL: it can. */
static const char *why_not_shown(const gathering *g, int64_t rank) {
    const rb_module *m = rb_modules_get(g->modules, rank);
    return m->n_features == 0                 ? "no feature passes the rule"
           : m->n_samples == 0                ? "no sample passes the rule"
           : g->features.residents[rank] == 0 ? "its features stand with other modules"
           : g->samples.residents[rank] == 0  ? "its samples stand with other modules"
                                              : NULL;
}

/* Notes that a module is not shown, for the picture and as a message. */
static void note_missing(gathering *g, int64_t rank, const char *why) {
    const rb_module *m = rb_modules_get(g->modules, rank);
    size_t used = strlen(g->note);
    snprintf(g->note + used, sizeof g->note - used, "%sunit %lld: %s",
             used ? "; " : "not shown: ", (long long)m->unit, why);
    rb_log(g->ctx, RB_LOG_WARNING, "unit %lld is not in the picture: %s", (long long)m->unit, why);
}

/* Puts the heaviest members that stand with a module at the next places; how many. */
static int64_t settle(axis *a, int64_t rank, const rb_member *members, int64_t count,
                      int64_t most) {
    int64_t before = a->count;
    for (int64_t i = 0; i < count && a->count - before < most; i++) {
        int64_t index = members[i].index;
        if (a->home[index] == rank && a->place[index] < 0) {
            a->place[index] = a->count;
            a->shown[a->count++] = index;
        }
    }
    return a->count - before;
}

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

static rb_error settle_all(gathering *g) {
    int64_t shown = g->n_modules > 0 ? g->n_modules : 1;
    int64_t most_features = clamp(ROWS / shown, 4, 12),
            most_samples = clamp(COLUMNS / shown, 15, 80);
    g->frames = rb_alloc(g->ctx, shown, sizeof *g->frames);
    if (!g->frames) {
        return RB_ERROR_MEMORY;
    }
    for (int64_t r = 0; r < g->n_modules; r++) {
        const rb_module *m = rb_modules_get(g->modules, r);
        const char *why = why_not_shown(g, r);
        if (why) {
            note_missing(g, r, why);
            continue;
        }
        rb_module_frame *f = &g->frames[g->n_frames++];
        *f = (rb_module_frame){
            .unit = m->unit, .first_row = g->features.count, .first_column = g->samples.count};
        f->rows = settle(&g->features, r, m->features, m->n_features, most_features);
        f->columns = settle(&g->samples, r, m->samples, m->n_samples, most_samples);
    }
    if (g->n_frames == 0) {
        return rb_fail(g->ctx, RB_ERROR_DATA, "there are no modules to draw");
    }
    return RB_OK;
}

/* ---- classes ---- */

/* A sample shown, and what decides its place within its module. */
typedef struct column_key {
    int64_t class_count; /* samples of its class shown in the module */
    int64_t class_index;
    int64_t place; /* by weight */
    int64_t sample;
} column_key;

static int compare_columns(const void *a, const void *b) {
    const column_key *x = a, *y = b;
    if (x->class_count != y->class_count) {
        return x->class_count > y->class_count ? -1 : 1;
    }
    if (x->class_index != y->class_index) {
        return x->class_index < y->class_index ? -1 : 1;
    }
    return x->place < y->place ? -1 : 1;
}

/* Within a module the samples of a class stand together, the most frequent class first. */
static void group_by_class(gathering *g, const rb_module_frame *f, column_key *keys,
                           int64_t *class_counts) {
    int64_t end = f->first_column + f->columns;
    memset(class_counts, 0, (size_t)(g->labels.classes->count + 1) * sizeof *class_counts);
    for (int64_t j = f->first_column; j < end; j++) {
        class_counts[g->labels.class_of[g->samples.shown[j]] + 1]++;
    }
    for (int64_t j = f->first_column; j < end; j++) {
        int64_t sample = g->samples.shown[j], class_index = g->labels.class_of[sample];
        keys[j] = (column_key){class_counts[class_index + 1], class_index, j, sample};
    }
    qsort(keys + f->first_column, (size_t)f->columns, sizeof *keys, compare_columns);
    for (int64_t j = f->first_column; j < end; j++) {
        g->samples.shown[j] = keys[j].sample;
        g->samples.place[keys[j].sample] = j;
        g->class_of[j] = keys[j].class_index;
    }
}

static rb_error find_classes(gathering *g, const rb_source *source, const char *path) {
    if (!path) {
        return RB_OK;
    }
    rb_error err = rb_labels_read(g->ctx, path, source, &g->labels);
    if (err) {
        return err;
    }
    g->class_of = rb_alloc(g->ctx, g->samples.count, sizeof *g->class_of);
    column_key *keys = rb_alloc(g->ctx, g->samples.count, sizeof *keys);
    int64_t *counts = rb_alloc(g->ctx, g->labels.classes->count + 1, sizeof *counts);
    if (!g->class_of || !keys || !counts) {
        err = RB_ERROR_MEMORY;
    }
    for (int64_t i = 0; i < g->n_frames && !err; i++) {
        group_by_class(g, &g->frames[i], keys, counts);
    }
    rb_free(keys);
    rb_free(counts);
    return err;
}

/* ---- their values ---- */

/* Adds a value of a feature shown, and keeps it where its sample is shown too. */
static void add_value(gathering *g, int64_t row, int64_t sample, double value) {
    int64_t column = g->samples.place[sample];
    g->sum[row] += value;
    g->square[row] += value * value;
    if (column >= 0) {
        g->values[row * g->samples.count + column] = value;
    }
}

static void add_dense(gathering *g, const rb_block *block) {
    for (int64_t i = 0; i < block->n_samples; i++) {
        for (int64_t row = 0; row < g->features.count; row++) {
            double value = rb_dense_get(block->dense, i, g->features.shown[row]);
            add_value(g, row, block->first + i, value);
        }
    }
}

static double csr_value(const rb_csr *csr, int64_t entry) {
    return csr->type == RB_FLOAT32 ? (double)((const float *)csr->values)[entry]
                                   : ((const double *)csr->values)[entry];
}

/* What is subtracted from a sparse feature would be lost in standardising anyway: it is left out,
 * and the zeros need no visit. */
static void add_sparse(gathering *g, const rb_block *block) {
    const rb_csr *csr = &block->csr;
    for (int64_t i = 0; i < csr->rows; i++) {
        int64_t end = csr->starts[i + 1] - csr->starts[0];
        for (int64_t e = csr->starts[i] - csr->starts[0]; e < end; e++) {
            int64_t row = g->features.place[csr->columns[e]];
            if (row >= 0) {
                add_value(g, row, block->first + i, csr_value(csr, e));
            }
        }
    }
}

static void standardise(gathering *g) {
    double n = (double)g->samples.total;
    for (int64_t row = 0; row < g->features.count; row++) {
        double mean = g->sum[row] / n;
        double sd = sqrt(fmax(g->square[row] / n - mean * mean, 0));
        double *values = g->values + row * g->samples.count;
        for (int64_t j = 0; j < g->samples.count; j++) {
            double z = sd > 1e-12 * fabs(mean) ? (values[j] - mean) / sd : 0;
            values[j] = fmin(fmax(z, -2.5), 2.5);
        }
    }
}

static rb_error collect_values(gathering *g, rb_feed *feed) {
    rb_error err = RB_OK;
    int64_t cells;
    if (!rb_multiply(g->features.count, g->samples.count, &cells)) {
        return rb_fail(g->ctx, RB_ERROR_MEMORY, "the picture of the modules is too large");
    }
    g->values = rb_alloc_zero(g->ctx, cells, sizeof *g->values);
    g->sum = rb_alloc_zero(g->ctx, g->features.count, sizeof *g->sum);
    g->square = rb_alloc_zero(g->ctx, g->features.count, sizeof *g->square);
    if (!g->values || !g->sum || !g->square) {
        return RB_ERROR_MEMORY;
    }
    for (int64_t first = 0; first < g->samples.total && !err; first += BLOCK) {
        rb_block block;
        int64_t left = g->samples.total - first;
        err = rb_feed_read(g->ctx, feed, first, left < BLOCK ? left : BLOCK, &block);
        if (!err && block.sparse) {
            add_sparse(g, &block);
        } else if (!err) {
            add_dense(g, &block);
        }
    }
    if (!err) {
        standardise(g);
    }
    return err;
}

/* ---- names ---- */

/* Data without names: a feature is called by its column, from 0. */
static rb_error find_names(gathering *g, const rb_model *model) {
    g->row_names = rb_alloc(g->ctx, g->features.count, sizeof *g->row_names);
    g->numbers = rb_alloc(g->ctx, g->features.count, NUMBER);
    if (!g->row_names || !g->numbers) {
        return RB_ERROR_MEMORY;
    }
    for (int64_t row = 0; row < g->features.count; row++) {
        char *number = g->numbers + row * NUMBER;
        const char *name = rb_model_feature_name(model, g->features.shown[row]);
        snprintf(number, NUMBER, "%lld",
                 (long long)rb_model_feature_index(model, g->features.shown[row]));
        g->row_names[row] = name ? name : number;
    }
    return RB_OK;
}

/* ---- all of it ---- */

static rb_error gather(gathering *g, const rb_model *model, rb_source *source, rb_feed *feed,
                       const char *labels) {
    rb_error err = start_axis(g->ctx, &g->samples, rb_feed_samples(feed), g->n_modules);
    if (!err) {
        err = start_axis(g->ctx, &g->features, rb_model_features(model), g->n_modules);
    }
    if (!err) {
        err = claim_all(g);
    }
    if (!err) {
        err = settle_all(g);
    }
    if (!err) {
        err = find_names(g, model);
    }
    if (!err) {
        err = find_classes(g, source, labels);
    }
    if (!err) {
        err = collect_values(g, feed);
    }
    return err;
}

static rb_error draw(const gathering *g, const rb_plot_options *options, const char *path) {
    char title[160], of_all[32] = "";
    if (g->n_frames < rb_modules_count(g->modules)) {
        snprintf(of_all, sizeof of_all, " of %lld", (long long)rb_modules_count(g->modules));
    }
    snprintf(title, sizeof title, "%lld%s %s: %lld of %lld features, %lld of %lld samples",
             (long long)g->n_frames, of_all, g->n_frames == 1 ? "module" : "modules",
             (long long)g->features.count, (long long)g->features.total,
             (long long)g->samples.count, (long long)g->samples.total);
    rb_modules_picture picture = {
        .values = g->values,
        .rows = g->features.count,
        .columns = g->samples.count,
        .row_names = g->row_names,
        .frames = g->frames,
        .n_frames = g->n_frames,
        .class_of = g->class_of,
        .title = options->title ? options->title : title,
        .note = g->note,
    };
    if (g->class_of) {
        picture.class_names = (const char *const *)g->labels.classes->text;
        picture.n_classes = g->labels.classes->count;
    }
    return rb_draw_modules(g->ctx, &picture, options, path);
}

rb_error rb_plot_modules(rb_context *ctx, const rb_model *model, rb_source *source,
                         const rb_modules *modules, const rb_options *given, const char *path) {
    rb_plot_options chosen, *options = &chosen;
    rb_error err = rb_page_check(ctx, given, &chosen, path);
    if (err) {
        return err;
    }
    int64_t count = rb_modules_count(modules);
    gathering g = {
        .ctx = ctx, .modules = modules, .n_modules = count < MOST_MODULES ? count : MOST_MODULES};
    rb_feed *feed = NULL;
    err = rb_feed_new(ctx, model->preprocess, source, model->type, &feed);
    if (!err) {
        err = gather(&g, model, source, feed, options->labels);
    }
    if (!err) {
        err = draw(&g, options, path);
    }
    rb_feed_free(feed);
    clear(&g);
    return err;
}
