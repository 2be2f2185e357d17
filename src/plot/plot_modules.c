/* Modules as a heat map: features x samples in blocks along the diagonal, classes in a strip above.
 *
 * Modules overlap, a plot cannot: a sample or feature of several modules stands with the one in
 * which its weight is largest, relative to the root mean square of that module's weights. A module
 * that would be left with none takes its heaviest ones from modules that can spare them; where
 * there is nothing to take, the module is not shown, and that is said.
 */
#include "plot.h"

#include <rarebit/view.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_MODULES = 20, ROWS = 100, COLUMNS = 600, TAKEN = 3, NUMBER = 24 };
enum { MARGIN_LEFT = 76, MARGIN_TOP = 62, STRIP_HEIGHT = 12, LINE = 16, BAR_WIDTH = 78 };
enum { SAMPLES, FEATURES }; /* the two axes */

/* ---- drawing ---- */

static const rb_colour ink = {0.15, 0.15, 0.15};

/* Where everything stands. */
typedef struct layout {
    rb_box map, strip;
    bool row_names, column_names; /* do they fit? */
    rb_legend legend;
    double below; /* the names of the columns */
    double height;
} layout;

static layout arrange(const rb_modules_plot *p) {
    layout l = {0};
    double rows = (double)p->rows, top = MARGIN_TOP + (*p->note ? LINE : 0);
    double row_height = fmin(fmax(1400 / rows, 2), p->rows < 30 ? 16 : 12.5);
    l.row_names = p->row_names && rb_names_fit(row_height);
    double names = l.row_names ? rb_names_space(p->row_names, p->rows) : 0;
    double width = RB_PAGE_WIDTH - MARGIN_LEFT - BAR_WIDTH - 4 - names;
    l.column_names = p->column_names && rb_names_fit(width / (double)p->columns);
    l.strip = (rb_box){MARGIN_LEFT, top, width, STRIP_HEIGHT};
    top += p->class_of ? STRIP_HEIGHT + 5 : 0;
    l.map = (rb_box){MARGIN_LEFT, top, width, fmax(row_height * rows, 120)};
    l.below =
        l.map.y + l.map.height + (l.column_names ? rb_names_space(p->column_names, p->columns) : 0);
    l.height = l.below + 30;
    if (p->class_of) {
        int64_t none = 0;
        for (int64_t i = 0; i < p->columns; i++)
            none += p->class_of[i] < 0;
        l.legend = rb_class_legend(p->classes, none, MARGIN_LEFT, l.height + 14);
        l.height = l.legend.top + rb_legend_height(&l.legend) + 10;
    }
    return l;
}

/* The unit stands at the left, beside its frame. */
static void draw_frames(rb_page *page, const rb_modules_plot *p, rb_box map) {
    double width = map.width / (double)p->columns, height = map.height / (double)p->rows;
    for (const rb_module_frame *f = p->frames; f < p->frames + p->n_frames; f++) {
        char text[32];
        rb_box box = {map.x + (double)f->first_column * width,
                      map.y + (double)f->first_row * height, (double)f->columns * width,
                      (double)f->rows * height};
        rb_page_frame(page, box, 1.2, ink);
        snprintf(text, sizeof text, "unit %lld%s", (long long)f->unit, f->other_side ? "-" : "");
        if (box.height >= rb_text_size(RB_TEXT_SMALL))
            rb_page_text(page, RB_TEXT_TICK, map.x - 8, box.y + box.height / 2, 1, 0, text);
    }
}

rb_error rb_draw_modules(rb_context *ctx, const rb_modules_plot *p, const rb_plot_options *options,
                         const char *path) {
    rb_page page;
    layout l = arrange(p);
    rb_box map = l.map;
    rb_error err = rb_page_open(ctx, options, path, l.height, &page);
    if (err) return err;
    rb_grid grid = {p->values, p->rows, p->columns, RB_MAP_DIVERGING, -2.5, 2.5};
    rb_page_title(&page, map.x, 30, 0, p->title);
    rb_page_text(&page, RB_TEXT_TICK, map.x, 49, 0, RB_PAGE_WIDTH - map.x - 20, p->left_out);
    rb_page_text(&page, RB_TEXT_TICK, map.x, 49 + LINE, 0, RB_PAGE_WIDTH - map.x - 20, p->note);
    rb_page_heatmap(&page, map, &grid);
    rb_page_frame(&page, map, 0.5, (rb_colour){0.6, 0.6, 0.6});
    if (p->class_of) {
        rb_page_class_strip(&page, l.strip, p->class_of, p->columns);
        rb_page_legend(&page, &l.legend);
    }
    draw_frames(&page, p, map);
    rb_page_names_right(&page, map, l.row_names ? p->row_names : NULL, p->rows);
    rb_page_names_below(&page, map, l.column_names ? p->column_names : NULL, p->columns);
    rb_page_text(&page, RB_TEXT_LABEL, map.x + map.width / 2, l.below + 16, 0.5, 0, "samples");
    rb_box bar = {RB_PAGE_WIDTH - 44, map.y + 6, 12, fmin(map.height - 12, 160)};
    rb_page_colour_bar(&page, bar, &grid, false, "standardised value");
    return rb_page_close(&page, RB_OK);
}

/* ---- who stands where ---- */

/* A sample or a feature. */
typedef struct member {
    int64_t home;    /* rank of the module that it stands with; -1: none */
    double strength; /* its relative weight there */
    int64_t place;   /* in the picture; -1: not shown */
} member;

typedef struct axis {
    int64_t total;      /* samples or features that there are */
    member *members;    /* total */
    int64_t *residents; /* of each module: members that stand with it */
    int64_t *shown;     /* the index at each place */
    int64_t count;      /* places */
} axis;

typedef struct gathering {
    rb_context *ctx;
    rb_scratch scratch; /* has all arrays */
    const rb_modules *modules;
    int64_t n_modules; /* of largest information, those that may be shown */
    axis axes[2];
    rb_modules_plot plot;
    char note[RB_NOTE_SIZE]; /* which modules are not shown, and why; "" when all are */
    rb_classes labels;
} gathering;

static rb_error start_axis(gathering *g, int which, int64_t total) {
    axis *a = &g->axes[which];
    a->total = total;
    a->residents = rb_take(&g->scratch, g->n_modules, sizeof *a->residents);
    a->members = rb_take(&g->scratch, total, sizeof *a->members);
    a->shown = rb_take(&g->scratch, total, sizeof *a->shown);
    for (int64_t i = 0; i < total && !g->scratch.err; i++)
        a->members[i] = (member){-1, 0, -1};
    return g->scratch.err;
}

/* The members of a module on an axis, the heaviest first. */
static const rb_member *members_of(const gathering *g, int64_t rank, int which, int64_t *count) {
    const rb_module *m = rb_modules_get(g->modules, rank);
    *count = which == SAMPLES ? m->n_samples : m->n_features;
    return which == SAMPLES ? m->samples : m->features;
}

static void move(axis *a, int64_t index, int64_t rank) {
    if (a->members[index].home >= 0) a->residents[a->members[index].home]--;
    a->members[index].home = rank;
    a->residents[rank]++;
}

/* Lets the members of a module move in where it beats their home so far. */
static rb_error claim(gathering *g, int64_t rank, int which) {
    axis *a = &g->axes[which];
    int64_t count;
    const rb_member *members = members_of(g, rank, which, &count);
    double squares = 0;
    for (int64_t i = 0; i < count; i++)
        squares += members[i].weight * members[i].weight;
    double rms = count > 0 ? sqrt(squares / (double)count) : 1;
    for (int64_t i = 0; i < count; i++) {
        int64_t index = members[i].index;
        if (index < 0 || index >= a->total) {
            return rb_fail(g->ctx, RB_ERROR_DATA,
                           "the module of unit %lld has %s %lld, but the data have only %lld; give "
                           "the modules of these data",
                           (long long)rb_modules_get(g->modules, rank)->unit,
                           which == SAMPLES ? "sample" : "feature", (long long)index,
                           (long long)a->total);
        }
        double strength = rms > 0 ? fabs(members[i].weight) / rms : 0;
        if (a->members[index].home < 0 || strength > a->members[index].strength) {
            move(a, index, rank);
            a->members[index].strength = strength;
        }
    }
    return RB_OK;
}

/* Lets a module without residents take its heaviest members from modules that can spare them. */
static void take(gathering *g, int64_t rank, int which) {
    axis *a = &g->axes[which];
    int64_t count;
    const rb_member *members = members_of(g, rank, which, &count);
    for (int64_t spared = TAKEN; spared >= 1 && a->residents[rank] == 0; spared--) {
        for (int64_t i = 0; i < count && a->residents[rank] < TAKEN; i++) {
            int64_t index = members[i].index, home = a->members[index].home;
            if (home != rank && a->residents[home] > spared) move(a, index, rank);
        }
    }
}

/* Puts the heaviest members that stand with a module at the next places; how many. */
static int64_t place(gathering *g, int64_t rank, int which, int64_t max) {
    axis *a = &g->axes[which];
    int64_t before = a->count, count;
    const rb_member *members = members_of(g, rank, which, &count);
    for (int64_t i = 0; i < count && a->count - before < max; i++) {
        member *m = &a->members[members[i].index];
        if (m->home == rank && m->place < 0) {
            m->place = a->count;
            a->shown[a->count++] = members[i].index;
        }
    }
    return a->count - before;
}

/* Can a module be shown? If not, why is noted for the picture and logged. */
static bool can_show(gathering *g, int64_t rank) {
    const rb_module *m = rb_modules_get(g->modules, rank);
    const char *why =
        m->n_features == 0                       ? "no feature passes the rule"
        : m->n_samples == 0                      ? "no sample passes the rule"
        : g->axes[FEATURES].residents[rank] == 0 ? "its features stand with other modules"
        : g->axes[SAMPLES].residents[rank] == 0  ? "its samples stand with other modules"
                                                 : NULL;
    if (why) {
        size_t used = strlen(g->note);
        const char *side = rb_modules_other_side(g->modules, rank) ? "-" : "";
        snprintf(g->note + used, sizeof g->note - used, "%sunit %lld%s: %s",
                 used ? "; " : "not shown: ", (long long)m->unit, side, why);
        rb_log(g->ctx, RB_LOG_WARNING, "unit %lld%s is not in the plot: %s", (long long)m->unit,
               side, why);
    }
    return !why;
}

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

/* max: of the rows and columns of a module. */
static void place_module(gathering *g, int64_t rank, int64_t max_rows, int64_t max_columns) {
    rb_module_frame *f = &g->plot.frames[g->plot.n_frames++];
    f->unit = rb_modules_get(g->modules, rank)->unit;
    f->other_side = rb_modules_other_side(g->modules, rank);
    f->first_row = g->axes[FEATURES].count;
    f->first_column = g->axes[SAMPLES].count;
    f->rows = place(g, rank, FEATURES, max_rows);
    f->columns = place(g, rank, SAMPLES, max_columns);
}

static rb_error place_all(gathering *g) {
    int64_t shown = g->n_modules > 0 ? g->n_modules : 1;
    g->plot.frames = rb_take(&g->scratch, shown, sizeof *g->plot.frames);
    rb_error err = g->scratch.err;
    for (int64_t r = 0; r < g->n_modules && !err; r++) {
        err = claim(g, r, SAMPLES);
        err = err ? err : claim(g, r, FEATURES);
    }
    for (int64_t r = 0; r < g->n_modules && !err; r++) {
        take(g, r, SAMPLES);
        take(g, r, FEATURES);
    }
    for (int64_t r = 0; r < g->n_modules && !err; r++)
        if (can_show(g, r))
            place_module(g, r, clamp(ROWS / shown, 4, 12), clamp(COLUMNS / shown, 15, 80));
    g->plot.rows = g->axes[FEATURES].count;
    g->plot.columns = g->axes[SAMPLES].count;
    return err || g->plot.n_frames
               ? err
               : rb_fail(g->ctx, RB_ERROR_DATA, "there are no modules to draw: %s",
                         rb_modules_count(g->modules) > 0
                             ? "what the units tell is no more than noise or background"
                             : "no unit is active");
}

/* ---- names and classes ---- */

/* Data without names: a feature is called by its column, from 0. */
static rb_error find_names(gathering *g, const rb_model *model, const rb_source *source) {
    bool named = rb_source_sample_name(source, 0);
    g->plot.row_names = rb_take(&g->scratch, g->plot.rows, sizeof *g->plot.row_names);
    char(*numbers)[NUMBER] = rb_take(&g->scratch, g->plot.rows, sizeof *numbers);
    for (int64_t row = 0; row < g->plot.rows && !g->scratch.err; row++) {
        int64_t feature = g->axes[FEATURES].shown[row];
        const char *name = rb_model_feature_name(model, feature);
        snprintf(numbers[row], NUMBER, "%lld", (long long)rb_model_feature_index(model, feature));
        g->plot.row_names[row] = name ? name : numbers[row];
    }
    if (named)
        g->plot.column_names = rb_take(&g->scratch, g->plot.columns, sizeof *g->plot.column_names);
    for (int64_t c = 0; named && c < g->plot.columns && !g->scratch.err; c++)
        g->plot.column_names[c] = rb_source_sample_name(source, g->axes[SAMPLES].shown[c]);
    return g->scratch.err;
}

/* Within a module the samples of a class stand together, the most frequent class first, and within
 * a class the heaviest sample. */
static void group_by_class(gathering *g, const rb_module_frame *f, rb_key *keys, double *counts) {
    axis *a = &g->axes[SAMPLES];
    const int64_t *class_of = g->labels.class_of, *shown = a->shown + f->first_column;
    memset(counts, 0, (size_t)(g->labels.n_classes + 1) * sizeof *counts);
    for (int64_t j = 0; j < f->columns; j++)
        counts[class_of[shown[j]] + 1]++;
    for (int64_t j = 0; j < f->columns; j++) {
        int64_t class_index = class_of[shown[j]];
        double key[] = {-counts[class_index + 1], (double)class_index, (double)j, (double)shown[j]};
        memcpy(keys[j], key, sizeof key);
    }
    rb_sort_keys(keys, f->columns);
    for (int64_t j = 0; j < f->columns; j++) {
        int64_t column = f->first_column + j, sample = (int64_t)keys[j][3];
        a->shown[column] = sample;
        a->members[sample].place = column;
        g->plot.class_of[column] = rb_classes_place(&g->labels, class_of[sample]);
    }
}

static rb_error find_classes(gathering *g, const rb_source *source, const char *path) {
    rb_error err = path ? rb_classes_read(g->ctx, path, source, &g->labels) : RB_OK;
    if (err || !path) return err;
    g->plot.classes = &g->labels;
    g->plot.class_of = rb_take(&g->scratch, g->plot.columns, sizeof *g->plot.class_of);
    rb_key *keys = rb_take(&g->scratch, g->plot.columns, sizeof *keys);
    double *counts = rb_take(&g->scratch, g->labels.n_classes + 1, sizeof *counts);
    for (int64_t i = 0; i < g->plot.n_frames && !g->scratch.err; i++)
        group_by_class(g, &g->plot.frames[i], keys, counts);
    return g->scratch.err;
}

/* ---- values ---- */

/* Standardised over all samples. A view has samples in their own order. */
static rb_error collect_values(gathering *g, const rb_model *model, rb_source *source) {
    const axis *samples = &g->axes[SAMPLES];
    rb_view view = {.size = sizeof view,
                    .features = g->axes[FEATURES].shown,
                    .n_samples = g->plot.columns,
                    .n_features = g->plot.rows};
    int64_t columns = g->plot.columns, cells, at = 0;
    int64_t *list = rb_take(&g->scratch, columns, sizeof *list);
    if (!rb_multiply(g->plot.rows, columns, &cells))
        return rb_fail(g->ctx, RB_ERROR_MEMORY, "the plot of the modules is too large");
    g->plot.values = rb_take(&g->scratch, cells, sizeof *g->plot.values);
    view.values = rb_take(&g->scratch, cells, sizeof *view.values);
    if (g->scratch.err) return g->scratch.err;
    for (int64_t i = 0; i < samples->total; i++)
        if (samples->members[i].place >= 0) list[at++] = i;
    view.samples = list;
    rb_error err = rb_view_fill(g->ctx, model, source, &view);
    for (int64_t first = 0; !err && first < cells; first += columns) {
        for (int64_t c = 0; c < columns; c++) {
            double z = view.values[first + c];
            int64_t place = samples->members[list[c]].place;
            g->plot.values[first + place] = isnan(z) ? z : fmin(fmax(z, -2.5), 2.5);
        }
    }
    return err;
}

/* ---- all of it ---- */

/* Of a consensus: how stable the modules that are shown are. */
static void add_stability(const gathering *g, char *title, size_t size) {
    double least = 1, most = 0;
    for (int64_t f = 0; f < g->plot.n_frames; f++) {
        for (int64_t r = 0; r < g->n_modules; r++) {
            const rb_module *m = rb_modules_get(g->modules, r);
            if (m->unit != g->plot.frames[f].unit) continue;
            least = fmin(least, m->stability);
            most = fmax(most, m->stability);
        }
    }
    size_t used = strlen(title);
    if (most > 0) snprintf(title + used, size - used, "; stability %.2f to %.2f", least, most);
}

/* "left out: 41 samples of no module drawn, 252 lighter samples, 7 lighter features". */
static void tell_left_out(const gathering *g, char *text, size_t size) {
    static const char *const names[] = {"sample", "feature"};
    size_t used = 0;
    *text = '\0';
    for (int which = 0; which < 2; which++) {
        const axis *a = &g->axes[which];
        long long counts[2] = {0, 0}; /* of no module that is drawn; others */
        for (int64_t i = 0; i < a->total; i++)
            if (a->members[i].place < 0) counts[a->members[i].home >= 0]++;
        for (int lighter = 0; lighter < 2; lighter++) {
            if (counts[lighter] == 0) continue;
            used += (size_t)snprintf(text + used, size - used, "%s%lld %s%s%s%s",
                                     used ? ", " : "left out: ", counts[lighter],
                                     lighter ? "lighter " : "", names[which],
                                     counts[lighter] == 1 ? "" : "s",
                                     lighter ? "" : " of no module drawn");
        }
    }
}

static rb_error draw(gathering *g, const rb_plot_options *options, const char *path) {
    char title[RB_TITLE_SIZE], left_out[RB_TITLE_SIZE], of_all[32] = "";
    int64_t count = rb_modules_called(g->modules), shown = g->plot.n_frames;
    if (shown < count) snprintf(of_all, sizeof of_all, " of %lld", (long long)count);
    snprintf(title, sizeof title, "%lld%s %s: %lld of %lld features, %lld of %lld samples",
             (long long)shown, of_all, shown == 1 ? "module" : "modules", (long long)g->plot.rows,
             (long long)g->axes[FEATURES].total, (long long)g->plot.columns,
             (long long)g->axes[SAMPLES].total);
    rb_note_roles(g->modules, g->note, sizeof g->note);
    rb_modules_plot plot = g->plot;
    add_stability(g, title, sizeof title);
    plot.title = title;
    tell_left_out(g, left_out, sizeof left_out);
    plot.left_out = left_out;
    plot.note = g->note;
    return rb_draw_modules(g->ctx, &plot, options, path);
}

rb_error rb_plot_modules(rb_context *ctx, const rb_model *model, rb_source *source,
                         const rb_modules *modules, const rb_options *given, const char *path) {
    rb_plot_options options;
    rb_error err = rb_page_check(ctx, given, &options, path);
    if (err) return err;
    gathering g = {.ctx = ctx,
                   .scratch.ctx = ctx,
                   .labels.size = sizeof g.labels,
                   .modules = modules,
                   .n_modules = clamp(rb_modules_called(modules), 0, MAX_MODULES)};
    err = start_axis(&g, SAMPLES, rb_source_samples(source));
    err = err ? err : start_axis(&g, FEATURES, rb_model_features(model));
    err = err ? err : place_all(&g);
    err = err ? err : find_classes(&g, source, options.labels);
    err = err ? err : find_names(&g, model, source);
    err = err ? err : collect_values(&g, model, source);
    g.scratch.err = err ? err : draw(&g, &options, path);
    rb_classes_clear(&g.labels);
    return rb_scratch_end(&g.scratch);
}
