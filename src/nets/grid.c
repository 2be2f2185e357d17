/* Which settings of a training? A net for each point of a grid, and the best one by validation.
 *
 * A journal keeps scores, not nets: the best net so far is at hand, and where it was trained by a
 * call that was interrupted since, it is trained once more, which gives the same bits.
 */
#include "nets.h"
#include "study/study.h"

#include <rarebit/grid.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { AXES = 16, NAME = 64, POINTS = 100000 };

/* An option and its values: places in the text of the caller. */
typedef struct axis {
    const char *name, *values;
    int name_length, count;
} axis;

/* What came of a point, as the journal keeps it. */
typedef struct outcome {
    double epochs, best_epoch, valid_error, valid_loss;
} outcome;

static const char *const names[] = {"epochs", "best_epoch", "valid_error", "valid_loss"};

struct rb_grid {
    int64_t count, best;
    char **points; /* "rate=0.1 masking=0" */
    outcome *rows;
    rb_model *net; /* of the best one */
};

typedef struct plan {
    const rb_options *options;
    const rb_model *start;
    rb_labelled train, valid; /* whose sources are those of the caller */
    const rb_matrix *train_matrix, *valid_matrix;
    rb_grid *grid;
    pthread_mutex_t lock; /* of what follows: the best net so far */
    rb_model *net;
    int64_t held; /* its point; -1: none */
    outcome score;
} plan;

/* ---- the points ---- */

/* What is of all points, or of none. */
static const char *const shared[] = {"max-time", "checkpoint-every", NULL};

static bool is_listed(rb_option_kind kind) {
    return kind == RB_OPTION_INTEGER || kind == RB_OPTION_NUMBER || kind == RB_OPTION_CHOICE ||
           kind == RB_OPTION_FLAG;
}

/* Can trainings of a grid differ in it? */
static bool is_free(rb_context *ctx, const char *name, rb_error *err) {
    rb_options *fresh = NULL;
    rb_option row;
    bool found = false;
    *err = rb_finetune_options_new(ctx, &fresh);
    for (int64_t i = 0; !*err && !found && !rb_options_row(fresh, i, &row, sizeof row); i++)
        found = strcmp(row.name, name) == 0 && is_listed(row.kind) && !rb_among(shared, name);
    rb_options_free(fresh);
    return found;
}

static rb_error check_axis(rb_context *ctx, const rb_options *options, const axis *a) {
    char name[NAME];
    rb_error err;
    snprintf(name, sizeof name, "%.*s", a->name_length, a->name);
    bool good = is_free(ctx, name, &err);
    if (err) return err;
    if (!good) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the grid has '%s', but takes only options of a training that are numbers, "
                       "choices or flags, such as rate",
                       name);
    }
    return rb_options_is_set(options, name)
               ? rb_fail(ctx, RB_ERROR_ARGUMENT,
                         "`%s` is given, and is in the grid too; leave one out", name)
               : RB_OK;
}

static rb_error not_grid(rb_context *ctx, const char *text) {
    return rb_fail(ctx, RB_ERROR_ARGUMENT,
                   "`grid` is '%s', but must be options with their values separated by commas, "
                   "such as 'rate=0.1,0.01', and blanks between options",
                   text);
}

/* One axis at `text`, which is moved behind it; false: it is none. */
static bool parse_axis(const char **text, axis *a) {
    size_t name = strcspn(*text, "= \t\n");
    const char *at = *text + name;
    bool sound = name > 0 && name < NAME && *at == '=';
    *a = (axis){*text, at + 1, (int)name, 0};
    for (; sound && (*at == '=' || *at == ','); a->count++) {
        size_t length = strcspn(at + 1, ", \t\n");
        sound = length > 0;
        at += 1 + length;
    }
    *text = at;
    return sound;
}

/* Is a value of the axis there before, too? */
static rb_error check_values(rb_context *ctx, const axis *a) {
    const char *value = a->values;
    for (int i = 0; i < a->count; i++) {
        size_t length = strcspn(value, ", \t\n");
        const char *before = a->values;
        for (int k = 0; k < i; k++) {
            size_t other = strcspn(before, ",");
            if (other == length && memcmp(before, value, length) == 0) {
                return rb_fail(ctx, RB_ERROR_ARGUMENT, "the grid has %.*s %.*s twice; give it once",
                               a->name_length, a->name, (int)length, value);
            }
            before += other + 1;
        }
        value += length + 1;
    }
    return RB_OK;
}

static rb_error parse(rb_context *ctx, const rb_options *options, const char *text, axis *axes,
                      int *count, int64_t *points) {
    *count = 0;
    *points = 1;
    for (const char *at = text + strspn(text, " \t\n"); *at; at += strspn(at, " \t\n")) {
        if (*count == AXES || !parse_axis(&at, &axes[*count])) return not_grid(ctx, text);
        rb_error err = check_axis(ctx, options, &axes[*count]);
        err = err ? err : check_values(ctx, &axes[*count]);
        if (err) return err;
        for (int k = 0; k < *count; k++) {
            if (axes[k].name_length == axes[*count].name_length &&
                memcmp(axes[k].name, axes[*count].name, (size_t)axes[k].name_length) == 0)
                return rb_fail(ctx, RB_ERROR_ARGUMENT, "the grid has %.*s twice; give it once",
                               axes[k].name_length, axes[k].name);
        }
        *points *= axes[(*count)++].count;
        if (*points > POINTS)
            return rb_fail(ctx, RB_ERROR_ARGUMENT, "the grid has more than %d points", POINTS);
    }
    return *count > 0 ? RB_OK : not_grid(ctx, text);
}

/* "rate=0.1 masking=0" of a point: rb_free. */
static char *point_text(rb_context *ctx, const axis *axes, int count, int64_t point) {
    size_t size = 1, used = 0;
    int64_t below = 1; /* points for each value of an axis */
    for (int k = 0; k < count; k++) {
        size += (size_t)axes[k].name_length + 2 + strcspn(axes[k].values, " \t\n");
        below *= axes[k].count;
    }
    char *text = rb_alloc(ctx, (int64_t)size, 1);
    for (int k = 0; text && k < count; k++) {
        const axis *a = &axes[k];
        const char *value = a->values;
        below /= a->count;
        for (int64_t skip = point / below % a->count; skip > 0; skip--)
            value += strcspn(value, ",") + 1;
        used += (size_t)snprintf(text + used, size - used, "%s%.*s=%.*s", k ? " " : "",
                                 a->name_length, a->name, (int)strcspn(value, ", \t\n"), value);
    }
    return text;
}

static rb_error point_options(rb_context *ctx, const rb_options *from, const char *point,
                              rb_options **options) {
    rb_error err = rb_finetune_options_new(ctx, options);
    err = err ? err : rb_options_set_as(ctx, from, *options);
    err = err ? err : rb_options_unset(ctx, *options, "checkpoint");
    err = err ? err : rb_options_unset(ctx, *options, "checkpoint-every");
    return err ? err : rb_options_set_all(ctx, *options, "%s", point);
}

/* What is wrong, with the point that has it. */
static rb_error name_point(rb_context *ctx, rb_error err, const char *point) {
    char why[512];
    if (!err || err == RB_ERROR_MEMORY) return err;
    snprintf(why, sizeof why, "%s", rb_context_error(ctx));
    return rb_fail(ctx, err, "%s (%s, of the grid)", why, point);
}

/* Do the values of a point go together; p: with the start and the samples, too, or NULL. */
static rb_error check_point(rb_context *ctx, const rb_options *from, const char *point,
                            const plan *p) {
    rb_options *options = NULL, *ready = NULL;
    rb_error err = point_options(ctx, from, point, &options);
    if (!err)
        err = p ? deep_train_ready(ctx, options, p->start, &p->train, &p->valid, &ready)
                : rb_options_ready(ctx, options, NULL, &ready);
    err = name_point(ctx, err, point);
    rb_options_free(ready);
    rb_options_free(options);
    return err;
}

/* Lists the points of a text, each of which has legal values that go together. */
static rb_error list_points(rb_context *ctx, const rb_options *options, const char *text,
                            rb_grid *grid) {
    axis axes[AXES];
    int count = 0;
    int64_t points = 0;
    rb_error err = parse(ctx, options, text, axes, &count, &points);
    if (err) return err;
    grid->points = rb_alloc_zero(ctx, points, sizeof *grid->points);
    grid->rows = rb_alloc_zero(ctx, points, sizeof *grid->rows);
    if (!grid->points || !grid->rows) return RB_ERROR_MEMORY;
    grid->count = points;
    for (int64_t i = 0; !err && i < points; i++) {
        grid->points[i] = point_text(ctx, axes, count, i);
        if (!grid->points[i]) return RB_ERROR_MEMORY;
        err = check_point(ctx, options, grid->points[i], NULL);
    }
    return err;
}

static rb_error take_options(rb_context *ctx, const rb_options *options, const char *text,
                             rb_grid **grid) {
    char epochs[32];
    if (!options || rb_options_get(options, "epochs", epochs, sizeof epochs) < 0) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the options are not those of a training; take rb_finetune_options_new");
    }
    for (int i = 0; shared[i]; i++) {
        if (rb_options_is_set(options, shared[i]))
            return rb_fail(
                ctx, RB_ERROR_ARGUMENT,
                "`%s` is given, but a grid cannot have it: each of its trainings is done "
                "whole, and written down then; leave it out",
                shared[i]);
    }
    *grid = rb_alloc_zero(ctx, 1, sizeof **grid);
    return *grid ? list_points(ctx, options, text, *grid) : RB_ERROR_MEMORY;
}

rb_error rb_grid_check(rb_context *ctx, const rb_options *options, const char *values) {
    rb_grid *grid = NULL;
    rb_error err = take_options(ctx, options, values, &grid);
    rb_grid_free(grid);
    return err;
}

/* ---- a point ---- */

/* The same samples in memory, for a thread of its own. */
static rb_source source_of(const rb_labelled *data, const rb_matrix *matrix) {
    rb_source source;
    rb_source_of_matrix(matrix, &source);
    source.covariates = data->source->covariates;
    source.covariates_first = data->source->covariates_first;
    return source;
}

static rb_error train_point(rb_context *ctx, const plan *p, int64_t point, rb_model **net) {
    rb_options *options = NULL;
    rb_labelled train = p->train, valid = p->valid;
    rb_source of_train = source_of(&p->train, p->train_matrix);
    rb_source of_valid = source_of(&p->valid, p->valid_matrix);
    train.source = &of_train;
    valid.source = &of_valid;
    *net = NULL;
    rb_error err = point_options(ctx, p->options, p->grid->points[point], &options);
    err = err ? err : rb_finetune(ctx, options, p->start, &train, &valid, net);
    if (!err && rb_model_status(*net) == RB_STATUS_STOPPED) err = RB_ERROR_STOPPED;
    rb_options_free(options);
    if (err) {
        rb_model_free(*net);
        *net = NULL;
    }
    return err;
}

static outcome outcome_of(const rb_model *net) {
    const char *best = rb_model_attribute(net, "best_epoch");
    outcome o = {(double)rb_model_iterations(net), NAN, NAN, NAN};
    long long at = 0;
    if (best && sscanf(best, "%lld", &at) == 1) o.best_epoch = (double)at;
    rb_model_metric(net, at - 1, "valid_error", &o.valid_error);
    rb_model_metric(net, at - 1, "valid_loss", &o.valid_loss);
    return o;
}

/* Is point a with its outcome to be taken rather than point b? */
static bool is_better(const outcome *a, int64_t at_a, const outcome *b, int64_t at_b) {
    if (isnan(a->valid_loss) || isnan(b->valid_loss)) return !isnan(a->valid_loss);
    double more = a->valid_error - b->valid_error; /* NaN where outputs are no classes */
    if (more < 0 || more > 0) return more < 0;
    if (a->valid_loss < b->valid_loss || a->valid_loss > b->valid_loss)
        return a->valid_loss < b->valid_loss;
    return at_a < at_b;
}

/* Keeps the net if it is the best so far, else frees it. */
static void hold(plan *p, int64_t point, rb_model *net, const outcome *o) {
    pthread_mutex_lock(&p->lock);
    if (net && (p->held < 0 || is_better(o, point, &p->score, p->held))) {
        rb_model *before = p->net;
        p->net = net;
        p->held = point;
        p->score = *o;
        net = before;
    }
    pthread_mutex_unlock(&p->lock);
    rb_model_free(net);
}

static rb_error do_point(rb_context *ctx, int64_t point, void *user, rb_bytes *result) {
    plan *p = user;
    rb_model *net = NULL;
    outcome *o = rb_alloc_zero(ctx, 1, sizeof *o);
    *result = (rb_bytes){o, sizeof *o};
    if (!o) return RB_ERROR_MEMORY;
    *o = (outcome){NAN, NAN, NAN, NAN};
    rb_error err = train_point(ctx, p, point, &net);
    if (err == RB_ERROR_NUMERIC) return RB_OK;
    if (err) return err;
    *o = outcome_of(net);
    hold(p, point, net, o);
    return RB_OK;
}

static rb_error take_point(rb_context *ctx, int64_t point, rb_bytes result, void *user) {
    plan *p = user;
    if (result.size != sizeof(outcome))
        return rb_fail(ctx, RB_ERROR_FORMAT, "a result of the checkpoint is damaged");
    memcpy(&p->grid->rows[point], result.data, sizeof(outcome));
    return RB_OK;
}

/* ---- all of it ---- */

static uint32_t labels_checksum(const rb_labelled *data, int64_t n) {
    rb_crc32 crc;
    uint32_t sum = 0;
    rb_crc32_prepare(&crc);
    if (data->class_of)
        sum = rb_crc32_add(&crc, sum, data->class_of, (size_t)n * sizeof *data->class_of);
    for (int64_t c = 0; data->names && c < data->n_classes; c++)
        sum = rb_crc32_add(&crc, sum, data->names[c], strlen(data->names[c]) + 1);
    if (data->values) {
        size_t count = (size_t)n * (size_t)data->n_values;
        sum = rb_crc32_add(&crc, sum, data->values, count * sizeof(double));
    }
    return sum;
}

/* What the trainings depend on besides options and training samples; rb_free. */
static rb_error name_study(rb_context *ctx, const plan *p, char **text) {
    const rb_grid *grid = p->grid;
    size_t size = 160, used = 0;
    uint32_t valid = 0;
    for (int64_t i = 0; i < grid->count; i++)
        size += strlen(grid->points[i]) + 1;
    *text = rb_alloc(ctx, (int64_t)size, 1);
    rb_error err = *text ? rb_matrix_checksum(ctx, p->valid_matrix, &valid) : RB_ERROR_MEMORY;
    if (err) return err;
    used += (size_t)snprintf(*text, size, "grid\n");
    for (int64_t i = 0; i < grid->count; i++)
        used += (size_t)snprintf(*text + used, size - used, "%s\n", grid->points[i]);
    snprintf(*text + used, size - used, "start %08x\nlabels %08x\nvalid %08x, labels %08x\n",
             p->start ? rb_model_checksum(p->start) : 0,
             labels_checksum(&p->train, p->train_matrix->n_samples), valid,
             labels_checksum(&p->valid, p->valid_matrix->n_samples));
    return RB_OK;
}

static rb_error train_all(rb_context *ctx, plan *p) {
    char *study = NULL, *key = NULL;
    bool complete = false;
    rb_error err = name_study(ctx, p, &study);
    err = err ? err
              : rb_study_key(ctx, study, p->options, NULL, p->train.source, p->train_matrix, &key);
    rb_jobs jobs = {.count = p->grid->count,
                    .what = "training",
                    .key = key,
                    .run = do_point,
                    .take = take_point,
                    .user = p,
                    .journal = rb_options_text(p->options, "checkpoint")};
    err = err ? err : rb_jobs_run(ctx, &jobs, &complete);
    rb_free(study);
    rb_free(key);
    return err;
}

/* The net of the best point: the one at hand, or it is trained again. */
static rb_error choose(rb_context *ctx, plan *p) {
    rb_grid *g = p->grid;
    for (int64_t i = 1; i < g->count; i++)
        if (is_better(&g->rows[i], i, &g->rows[g->best], g->best)) g->best = i;
    if (isnan(g->rows[g->best].valid_loss)) {
        return rb_fail(ctx, RB_ERROR_NUMERIC,
                       "the loss became infinite at every point of the grid; take smaller rates");
    }
    if (p->held != g->best) return train_point(ctx, p, g->best, &g->net);
    g->net = p->net;
    p->net = NULL;
    return RB_OK;
}

rb_error rb_finetune_grid(rb_context *ctx, const rb_options *options, const char *values,
                          const rb_model *start, const rb_labelled *train, const rb_labelled *valid,
                          rb_grid **grid) {
    rb_matrix *own_train = NULL, *own_valid = NULL;
    *grid = NULL;
    rb_error err = deep_labelled_check(ctx, "the training samples", train);
    err = err ? err : deep_labelled_check(ctx, "the validation samples", valid);
    err = err ? err : take_options(ctx, options, values, grid);
    plan p = {.options = options, .start = start, .grid = *grid, .held = -1};
    if (!err) {
        p.train = *train;
        p.valid = *valid;
    }
    /* What a training refuses is refused before the first one. */
    for (int64_t i = 0; !err && i < p.grid->count; i++)
        err = check_point(ctx, options, p.grid->points[i], &p);
    err = err ? err : rb_study_load(ctx, train->source, &p.train_matrix, &own_train);
    err = err ? err : rb_study_load(ctx, valid->source, &p.valid_matrix, &own_valid);
    pthread_mutex_init(&p.lock, NULL);
    err = err ? err : train_all(ctx, &p);
    err = err ? err : choose(ctx, &p);
    pthread_mutex_destroy(&p.lock);
    rb_model_free(p.net);
    rb_matrix_free(own_train);
    rb_matrix_free(own_valid);
    if (err) {
        rb_grid_free(*grid);
        *grid = NULL;
    }
    return err;
}

/* ---- asking ---- */

void rb_grid_free(rb_grid *grid) {
    for (int64_t i = 0; grid && i < grid->count; i++)
        rb_free(grid->points[i]);
    if (!grid) return;
    rb_free(grid->points);
    rb_free(grid->rows);
    rb_model_free(grid->net);
    rb_free(grid);
}

int64_t rb_grid_points(const rb_grid *grid) {
    return grid->count;
}

const char *rb_grid_point(const rb_grid *grid, int64_t point) {
    return point >= 0 && point < grid->count ? grid->points[point] : NULL;
}

double rb_grid_get(const rb_grid *grid, int64_t point, const char *name) {
    if (point < 0 || point >= grid->count) return NAN;
    const outcome *o = &grid->rows[point];
    const double values[] = {o->epochs, o->best_epoch, o->valid_error, o->valid_loss};
    for (int c = 0; c < 4; c++)
        if (strcmp(name, names[c]) == 0) return values[c];
    return NAN;
}

int64_t rb_grid_best(const rb_grid *grid) {
    return grid->best;
}

rb_model *rb_grid_take(rb_grid *grid) {
    rb_model *net = grid->net;
    grid->net = NULL;
    return net;
}
