/* Sums over samples: zeroed, decayed and brought together here; methods only add to them.
 *
 * Samples fall into 2^g groups of whole blocks, whose bounds follow from the shape alone. Blocks of
 * a group add up in order in the type of the sum, groups in float64 in a tree (src/base/tree.c),
 * whatever the number of processes. The tree is for floats that are added; what else there is comes
 * out the same in any order, and goes on from group to group, and from process to process.
 */
#include "em.h"

#include <math.h>
#include <string.h>

/* ---- walks over fields ---- */

static bool next_of(const rb_shape *shape, void *state, rb_part_kind kind, rb_walk *walk) {
    bool found = rb_walk_next(walk, shape, state);
    while (found && (walk->part->kind != kind || walk->array.rows == 0))
        found = rb_walk_next(walk, shape, state);
    return found;
}

/* The next sum that the fit has. */
static bool next_sum(const rb_sums *sums, rb_walk *walk) {
    return next_of(sums->shape, sums->state, sums->kind, walk);
}

static bool in_tree(const rb_walk *walk) {
    rb_sum sum = walk->field->sum;
    return sum == RB_SUM_SQUARES || (sum == RB_SUM_ADD && walk->array.type <= RB_KEPT_FLOAT64);
}

static int64_t values_of(const rb_method *method, const rb_shape *shape, rb_part_kind kind) {
    int64_t values = 0;
    for (rb_walk walk = {.part = method->parts}; next_of(shape, NULL, kind, &walk);)
        values += in_tree(&walk) ? rb_kept_count(&walk.array) : 0;
    return values;
}

/* Those of the pass. */
static int64_t values_now(const rb_sums *sums) {
    return values_of(sums->method, sums->shape, sums->kind);
}

/* ---- floats, on all threads ---- */

enum { TASK_VALUES = 1 << 15 };

struct work;
typedef void (*float_fn)(const struct work *work, rb_dense floats, double *values);
struct work {
    rb_dense floats; /* 1 x n */
    double *values;  /* the other side, or NULL */
    double factor;
    float_fn fn; /* for a part of them */
};

static void work_values(void *arg, int64_t task, int worker) {
    (void)worker;
    const struct work *work = arg;
    int64_t first = task * TASK_VALUES;
    work->fn(work,
             rb_dense_part(work->floats, 0, 1, first,
                           rb_smaller(work->floats.cols - first, TASK_VALUES)),
             work->values ? work->values + first : NULL);
}

static void on_all_threads(const rb_sums *sums, rb_kept_type type, void *floats, int64_t count,
                           struct work work) {
    work.floats = (rb_dense){floats, 1, count, count, (rb_type)type};
    rb_parallel(sums->ctx, (count + TASK_VALUES - 1) / TASK_VALUES, work_values, &work);
}

/* values = floats, and these become 0. */
static void take(const struct work *work, rb_dense floats, double *values) {
    (void)work;
    rb_dense_copy(floats, (rb_dense){values, 1, floats.cols, floats.cols, RB_FLOAT64});
    rb_dense_zero(floats);
}

/* floats += values */
static void add(const struct work *work, rb_dense floats, double *values) {
    (void)work;
    double *wide = floats.data;
    float *narrow = floats.data;
    for (int64_t i = 0; floats.type == RB_FLOAT64 && i < floats.cols; i++)
        wide[i] += values[i];
    for (int64_t i = 0; floats.type == RB_FLOAT32 && i < floats.cols; i++)
        narrow[i] = (float)((double)narrow[i] + values[i]);
}

static void scale(const struct work *work, rb_dense floats, double *values) {
    (void)values;
    for (int64_t i = 0; i < floats.cols; i++)
        rb_put(floats.type, floats.data, i, work->factor * rb_get(floats.type, floats.data, i));
}

/* All sums of the pass that go through the tree, one after the other, and as many values. */
static void with_values(const rb_sums *sums, double *values, float_fn fn) {
    for (rb_walk walk = {.part = sums->method->parts}; next_sum(sums, &walk);) {
        if (in_tree(&walk)) {
            int64_t count = rb_kept_count(&walk.array);
            on_all_threads(sums, walk.array.type, walk.array.values, count,
                           (struct work){.fn = fn, .values = values});
            values += count;
        }
    }
}

/* ---- before a pass ---- */

/* What adds nothing. */
static const double nothing[] = {
    [RB_SUM_ADD] = 0,         [RB_SUM_OR] = 0,     [RB_SUM_MIN] = INFINITY,
    [RB_SUM_MAX] = -INFINITY, [RB_SUM_PLACE] = -1, [RB_SUM_LARGEST] = -INFINITY,
    [RB_SUM_GAIN] = 1,        [RB_SUM_SQUARES] = 0};

static void clear(const rb_sums *sums) {
    for (rb_walk walk = {.part = sums->method->parts}; next_sum(sums, &walk);) {
        const rb_field *field = walk.field;
        double value = nothing[field->sum];
        int64_t count = rb_kept_count(&walk.array);
        if (sums->runs_on && (field->runs_on || field->sum == RB_SUM_GAIN)) continue;
        memset(walk.array.values, 0, (size_t)count * rb_kept_size(walk.array.type));
        for (int64_t i = 0; value != 0 && i < count; i++)
            if (walk.array.type == RB_KEPT_INTEGER)
                ((int64_t *)walk.array.values)[i] = (int64_t)value;
            else
                rb_put((rb_type)walk.array.type, walk.array.values, i, value);
    }
}

/* Blocks weigh more and more, instead of what is there less and less: a pass over the sums is then
 * needed only now and then. */
static void decay(const rb_sums *sums) {
    const double max = 1e6;
    double *gain = NULL;
    for (rb_walk walk = {.part = sums->method->parts}; next_sum(sums, &walk);)
        gain = walk.field->sum == RB_SUM_GAIN ? walk.array.values : gain;
    if (!gain) return;
    *gain /= sums->decay;
    if (*gain <= max) /* not so where nothing is to remain */
        return;
    double factor = isfinite(*gain) ? 1 / *gain : 0;
    for (rb_walk walk = {.part = sums->method->parts}; next_sum(sums, &walk);) {
        if (walk.field->runs_on && in_tree(&walk)) {
            on_all_threads(sums, walk.array.type, walk.array.values, rb_kept_count(&walk.array),
                           (struct work){.fn = scale, .factor = factor});
        }
    }
    *gain = 1;
}

int64_t rb_sums_groups(const rb_problem *problem, const rb_shape *shape, int64_t samples) {
    int64_t survey = values_of(problem->method, shape, RB_PART_SURVEY);
    int64_t sums = values_of(problem->method, shape, RB_PART_SUMS);
    if (problem->device) return 1; /* it adds up all samples itself */
    return rb_tree_groups(samples, problem->block_samples, rb_tree_fewest(problem->sparse),
                          survey > sums ? survey : sums);
}

/* ---- a pass ---- */

rb_error rb_sums_begin(rb_sums *sums, rb_part_kind kind, int64_t groups, bool first, bool fresh) {
    if (sums->kind != kind) /* whose sums are of another size */
        rb_sums_free(sums);
    sums->kind = kind;
    sums->in_groups = groups > 1 || (groups > 0 && rb_ranks(sums->ctx) > 1);
    sums->runs_on = sums->shape->batches && !fresh && kind == RB_PART_SUMS;
    if (sums->in_groups) rb_tree_begin(&sums->tree, sums->ctx, values_now(sums));
    if (sums->runs_on && first) decay(sums);
    clear(sums);
    if (sums->runs_on && sums->in_groups) {
        if (!sums->base) sums->base = rb_alloc(sums->ctx, values_now(sums), sizeof *sums->base);
        if (!sums->base) return RB_ERROR_MEMORY;
        with_values(sums, sums->base, take);
    }
    return RB_OK;
}

rb_error rb_sums_end_group(rb_sums *sums) {
    if (!sums->in_groups) return RB_OK;
    double *values = rb_tree_next(&sums->tree);
    if (!values) return RB_ERROR_MEMORY;
    with_values(sums, values, take);
    rb_tree_join(&sums->tree);
    return RB_OK;
}

/* ---- over processes ---- */

/* A value that is no part of the tree, of any type, and its place where it has one. */
struct other {
    double value;
    int64_t integer;
};

static void add_others(int64_t count, void *mine, const void *theirs) {
    for (int64_t i = 0; i < count; i++)
        ((struct other *)mine)[i].integer += ((const struct other *)theirs)[i].integer;
}

static void least(int64_t count, void *mine, const void *theirs) {
    struct other *own = mine;
    for (int64_t i = 0; i < count; i++)
        own[i].value = fmin(own[i].value, ((const struct other *)theirs)[i].value);
}

/* The smaller place wins where values are the same; any is one more than none. */
static void largest(int64_t count, void *mine, const void *theirs) {
    struct other *own = mine;
    for (int64_t i = 0; i < count; i++) {
        struct other their = ((const struct other *)theirs)[i];
        bool same = their.value == own[i].value, known = their.integer >= 0;
        bool first = known && (own[i].integer < 0 || their.integer < own[i].integer);
        if (their.value > own[i].value || (same && first)) own[i] = their;
    }
}

static struct other get_other(const rb_kept *array, int64_t i) {
    if (array->type == RB_KEPT_INTEGER)
        return (struct other){.integer = ((const int64_t *)array->values)[i]};
    if (array->type == RB_KEPT_FLAG)
        return (struct other){.integer = ((const bool *)array->values)[i]};
    return (struct other){rb_get((rb_type)array->type, array->values, i), -1};
}

static void put_other(const rb_kept *array, int64_t i, struct other other) {
    if (array->type == RB_KEPT_INTEGER)
        ((int64_t *)array->values)[i] = other.integer;
    else if (array->type == RB_KEPT_FLAG)
        ((bool *)array->values)[i] = other.integer > 0;
    else
        rb_put((rb_type)array->type, array->values, i, other.value);
}

/* places: of the values, or NULL. */
static void combine(rb_sums *sums, rb_sum sum, const rb_kept *array, const rb_kept *places) {
    int64_t count = rb_kept_count(array);
    struct other *others = sums->others.data;
    for (int64_t i = 0; i < count; i++) {
        others[i] = get_other(array, i);
        if (places) others[i].integer = ((const int64_t *)places->values)[i];
    }
    rb_combine_fn fn = sum == RB_SUM_MIN                       ? least
                       : sum == RB_SUM_ADD || sum == RB_SUM_OR ? add_others
                                                               : largest;
    rb_comm_combine(sums->ctx, others, count, sizeof *others, fn);
    for (int64_t i = 0; i < count; i++) {
        put_other(array, i, others[i]);
        if (places) ((int64_t *)places->values)[i] = others[i].integer;
    }
}

static void combine_others(rb_sums *sums) {
    for (rb_walk walk = {.part = sums->method->parts}; next_sum(sums, &walk);) {
        rb_sum sum = walk.field->sum;
        rb_kept array = walk.array;
        if (in_tree(&walk) || sum == RB_SUM_GAIN) continue;
        bool placed = sum == RB_SUM_LARGEST && next_sum(sums, &walk);
        combine(sums, sum, &array, placed ? &walk.array : NULL);
    }
}

rb_error rb_sums_close(rb_sums *sums) {
    rb_error err = sums->in_groups ? rb_tree_close(&sums->tree) : RB_OK;
    for (rb_walk walk = {.part = sums->method->parts};
         !err && sums->in_groups && rb_ranks(sums->ctx) > 1 && next_sum(sums, &walk);) {
        if (!in_tree(&walk))
            err = rb_buffer_hold(sums->ctx, &sums->others, rb_kept_count(&walk.array),
                                 sizeof(struct other));
    }
    return err;
}

void rb_sums_end(rb_sums *sums) {
    if (!sums->in_groups) return;
    double *values = rb_tree_end(&sums->tree);
    if (rb_ranks(sums->ctx) > 1) combine_others(sums);
    if (sums->runs_on) rb_add_values(sums->ctx, values_now(sums), values, sums->base);
    with_values(sums, values, add);
}

void rb_sums_free(rb_sums *sums) {
    rb_tree_free(&sums->tree);
    rb_free(sums->others.data);
    sums->others = (rb_buffer){0};
    rb_free(sums->base);
    sums->base = NULL;
}

bool rb_sums_are_squares(const rb_sums *sums) {
    int64_t others = 0, squares = 0;
    for (rb_walk walk = {.part = sums->method->parts}; next_sum(sums, &walk);)
        walk.field->sum == RB_SUM_SQUARES ? squares++ : others++;
    return squares > 0 && others == 0;
}

void rb_sums_fill_squares(const rb_sums *sums, const double *squares) {
    for (rb_walk walk = {.part = sums->method->parts}; next_sum(sums, &walk);)
        memcpy(walk.array.values, squares, (size_t)walk.array.rows * sizeof *squares);
}
