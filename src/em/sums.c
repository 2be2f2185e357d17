/* Sums over samples: zeroed, decayed and brought together here; methods only add to them.
 *
 * Samples fall into 2^g groups of whole blocks, whose bounds follow from the shape alone. Blocks of
 * a group add up in order in the type of the sum. Groups are added in float64 in a fixed binary
 * tree,
 *     ((1 + 2) + (3 + 4)) + ((5 + 6) + (7 + 8)),
 * so that a process that has one of 2^p equal parts of the groups adds up a whole branch of it, and
 * 1, 2, 4 ... processes give the same bits. The tree is for floats that are added; what else there
 * is comes out the same in any order, and goes on from group to group.
 */
#include "em.h"

#include <math.h>
#include <string.h>

/* Bringing groups together costs about as much as 75 samples of dense data, and should stay below
 * 3 % of them; a sample of sparse data costs less. */
enum { GROUP_SAMPLES = 4096, GROUP_SAMPLES_SPARSE = 1 << 14 };

/* Eight groups are always possible; more where the stack of the tree stays below a block. */
enum { DEPTH_ALWAYS = 3, BLOCK_BYTES = 1 << 25 };

/* ---- walks over fields ---- */

static bool in_tree(const rb_field *field, const rb_kept *array) {
    return field->sum == RB_SUM_ADD &&
           (array->type == RB_KEPT_FLOAT32 || array->type == RB_KEPT_FLOAT64);
}

typedef void (*field_fn)(void *user, const rb_field *field, const rb_kept *array);

static void each_field(const rb_sums *sums, rb_part_kind kind, void *state, field_fn fn,
                       void *user) {
    for (const rb_part *part = sums->method->parts; part && part->kind; part++) {
        for (const rb_field *field = part->fields; part->kind == kind && field->name; field++) {
            rb_kept array = rb_field_array(field, sums->shape, (char *)state + part->offset);
            if (array.rows > 0) {
                fn(user, field, &array);
            }
        }
    }
}

/* Rows of an array, as tasks of about as many values. */
enum { TASK_VALUES = 1 << 15 };

typedef struct row_work row_work;
struct row_work {
    const rb_kept *array;
    double *values; /* rows x columns; the other side */
    double factor;
    int64_t rows; /* of a task */
    void (*fn)(const row_work *work, char *row, double *values);
};

static void work_rows(void *arg, int64_t task, int worker) {
    (void)worker;
    const row_work *work = arg;
    const rb_kept *array = work->array;
    int64_t first = task * work->rows, last = first + work->rows;
    int64_t bytes = array->stride * (int64_t)rb_kept_size(array->type);
    for (int64_t i = first; i < last && i < array->rows; i++) {
        work->fn(work, (char *)array->values + i * bytes,
                 work->values ? work->values + i * array->columns : NULL);
    }
}

static void each_row(rb_context *ctx, row_work work) {
    work.rows = (TASK_VALUES + work.array->columns - 1) / work.array->columns;
    rb_parallel(ctx, (work.array->rows + work.rows - 1) / work.rows, work_rows, &work);
}

/* values = row, and the row becomes 0. */
static void take_row(const row_work *work, char *row, double *values) {
    int64_t n = work->array->columns;
    if (work->array->type == RB_KEPT_FLOAT64) {
        memcpy(values, row, (size_t)n * sizeof *values);
    } else {
        for (int64_t i = 0; i < n; i++) {
            values[i] = (double)((const float *)(const void *)row)[i];
        }
    }
    memset(row, 0, (size_t)n * rb_kept_size(work->array->type));
}

/* row += values */
static void add_row(const row_work *work, char *row, double *values) {
    for (int64_t i = 0; i < work->array->columns; i++) {
        if (work->array->type == RB_KEPT_FLOAT64) {
            ((double *)(void *)row)[i] += values[i];
        } else {
            float *there = (float *)(void *)row + i;
            *there = (float)((double)*there + values[i]);
        }
    }
}

static void scale_row(const row_work *work, char *row, double *values) {
    (void)values;
    for (int64_t i = 0; i < work->array->columns; i++) {
        if (work->array->type == RB_KEPT_FLOAT64) {
            ((double *)(void *)row)[i] *= work->factor;
        } else {
            ((float *)(void *)row)[i] = (float)(work->factor * (double)((float *)(void *)row)[i]);
        }
    }
}

/* ---- before a pass ---- */

static void set_all(const rb_kept *array, double value) {
    for (int64_t i = 0; i < array->rows; i++) {
        char *row = (char *)array->values + i * array->stride * (int64_t)rb_kept_size(array->type);
        for (int64_t k = 0; k < array->columns; k++) {
            switch (array->type) {
            case RB_KEPT_FLOAT32:
                ((float *)(void *)row)[k] = (float)value;
                break;
            case RB_KEPT_FLOAT64:
                ((double *)(void *)row)[k] = value;
                break;
            case RB_KEPT_INTEGER:
                ((int64_t *)(void *)row)[k] = (int64_t)value;
                break;
            case RB_KEPT_FLAG:
                ((bool *)row)[k] = value != 0;
                break;
            case RB_KEPT_WORKING:
                break;
            }
        }
    }
}

static double nothing(rb_sum sum) {
    switch (sum) {
    case RB_SUM_ADD:
    case RB_SUM_OR:
        return 0;
    case RB_SUM_MIN:
        return INFINITY;
    case RB_SUM_MAX:
    case RB_SUM_LARGEST:
        return -INFINITY;
    case RB_SUM_PLACE:
        return -1;
    case RB_SUM_GAIN:
        return 1;
    }
    return 0;
}

static void clear(void *user, const rb_field *field, const rb_kept *array) {
    const rb_sums *sums = user;
    if (!sums->runs_on || !(field->runs_on || field->sum == RB_SUM_GAIN)) {
        set_all(array, nothing(field->sum));
    }
}

struct scaling {
    rb_context *ctx;
    double factor;
};

static void scale(void *user, const rb_field *field, const rb_kept *array) {
    const struct scaling *by = user;
    if (field->runs_on && in_tree(field, array)) {
        each_row(by->ctx, (row_work){.array = array, .factor = by->factor, .fn = scale_row});
    }
}

static void find_gain(void *user, const rb_field *field, const rb_kept *array) {
    if (field->sum == RB_SUM_GAIN) {
        *(double **)user = array->values;
    }
}

/* Blocks weigh more and more, instead of what is there less and less: a pass over the sums is then
 * needed only now and then. */
static void decay(rb_sums *sums) {
    const double max = 1e6;
    double *gain = NULL;
    each_field(sums, sums->kind, sums->state, find_gain, &gain);
    if (!gain) {
        return;
    }
    *gain /= sums->decay;
    if (!(*gain <= max)) { /* also where nothing is to remain */
        struct scaling by = {sums->ctx, isfinite(*gain) ? 1 / *gain : 0};
        each_field(sums, sums->kind, sums->state, scale, &by);
        *gain = 1;
    }
}

static void count(void *user, const rb_field *field, const rb_kept *array) {
    if (in_tree(field, array)) {
        *(int64_t *)user += array->rows * array->columns;
    }
}

static int64_t values_of(const rb_sums *sums, rb_part_kind kind) {
    int64_t values = 0;
    each_field(sums, kind, sums->state, count, &values);
    return values;
}

int64_t rb_sums_groups(const rb_sums *sums, const rb_problem *problem, rb_part_kind kind,
                       int64_t samples) {
    int64_t min = problem->sparse ? GROUP_SAMPLES_SPARSE : GROUP_SAMPLES;
    int64_t blocks = (samples + problem->block_samples - 1) / problem->block_samples;
    double bytes = 8.0 * (double)values_of(sums, kind);
    int64_t groups = 1;
    for (int depth = 1; depth <= RB_SUMS_DEPTH_MAX; depth++) {
        bool small = (depth + 1) * bytes <= BLOCK_BYTES || depth <= DEPTH_ALWAYS;
        if (!small || 2 * groups > blocks || samples / (2 * groups) < min) {
            break;
        }
        groups *= 2;
    }
    return groups;
}

/* ---- the tree ---- */

struct walk {
    rb_context *ctx;
    double *values;
    void (*fn)(const row_work *work, char *row, double *values);
};

static void walk_field(void *user, const rb_field *field, const rb_kept *array) {
    struct walk *walk = user;
    if (in_tree(field, array)) {
        each_row(walk->ctx, (row_work){.array = array, .values = walk->values, .fn = walk->fn});
        walk->values += array->rows * array->columns;
    }
}

static void walk_all(const rb_sums *sums, void *state, double *values,
                     void (*fn)(const row_work *, char *, double *)) {
    struct walk walk = {sums->ctx, values, fn};
    each_field(sums, sums->kind, state, walk_field, &walk);
}

struct addition {
    double *to;
    const double *from;
    int64_t values;
};

static void add_values(void *arg, int64_t task, int worker) {
    (void)worker;
    const struct addition *a = arg;
    int64_t first = task * TASK_VALUES, last = first + TASK_VALUES;
    for (int64_t i = first; i < last && i < a->values; i++) {
        a->to[i] += a->from[i];
    }
}

static rb_error push(rb_sums *sums) {
    int64_t values = values_of(sums, sums->kind);
    double **top = &sums->stack[sums->waiting];
    if (!*top && !(*top = rb_alloc(sums->ctx, values, sizeof **top))) {
        return RB_ERROR_MEMORY;
    }
    walk_all(sums, sums->state, *top, take_row);
    sums->rank[sums->waiting++] = 0;
    while (sums->waiting > 1 && sums->rank[sums->waiting - 1] == sums->rank[sums->waiting - 2]) {
        sums->waiting--;
        struct addition a = {sums->stack[sums->waiting - 1], sums->stack[sums->waiting], values};
        rb_parallel(sums->ctx, (values + TASK_VALUES - 1) / TASK_VALUES, add_values, &a);
        sums->rank[sums->waiting - 1]++;
    }
    return RB_OK;
}

rb_error rb_sums_begin(rb_sums *sums, rb_part_kind kind, int64_t groups, bool first, bool fresh) {
    if (sums->kind != kind) { /* whose sums are of another size */
        rb_sums_free(sums);
    }
    sums->kind = kind;
    sums->groups = groups;
    sums->runs_on = sums->shape->batches && !fresh && kind == RB_PART_SUMS;
    sums->waiting = 0;
    if (sums->runs_on && first) {
        decay(sums);
    }
    each_field(sums, kind, sums->state, clear, sums);
    if (sums->runs_on && groups > 1) {
        int64_t values = values_of(sums, kind);
        if (!sums->base && !(sums->base = rb_alloc(sums->ctx, values, sizeof *sums->base))) {
            return RB_ERROR_MEMORY;
        }
        walk_all(sums, sums->state, sums->base, take_row);
    }
    return RB_OK;
}

rb_error rb_sums_end_group(rb_sums *sums) {
    return sums->groups > 1 ? push(sums) : RB_OK;
}

void rb_sums_end(rb_sums *sums) {
    if (sums->groups > 1) {
        if (sums->runs_on) {
            struct addition a = {sums->stack[0], sums->base, values_of(sums, sums->kind)};
            rb_parallel(sums->ctx, (a.values + TASK_VALUES - 1) / TASK_VALUES, add_values, &a);
        }
        walk_all(sums, sums->state, sums->stack[0], add_row);
    }
}

void rb_sums_free(rb_sums *sums) {
    for (int i = 0; i <= RB_SUMS_DEPTH_MAX; i++) {
        rb_free(sums->stack[i]);
        sums->stack[i] = NULL;
    }
    rb_free(sums->base);
    sums->base = NULL;
}
