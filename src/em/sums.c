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

/* The next sum of a kind that the fit has. */
static bool next_sum(const rb_sums *sums, rb_part_kind kind, rb_walk *walk) {
    bool found = rb_walk_next(walk, sums->shape, sums->state);
    while (found && (walk->part->kind != kind || walk->array.rows == 0))
        found = rb_walk_next(walk, sums->shape, sums->state);
    return found;
}

static bool in_tree(const rb_walk *walk) {
    rb_sum sum = walk->field->sum;
    return sum == RB_SUM_SQUARES || (sum == RB_SUM_ADD && walk->array.type <= RB_KEPT_FLOAT64);
}

static int64_t values_of(const rb_sums *sums, rb_part_kind kind) {
    int64_t values = 0;
    for (rb_walk walk = {.part = sums->method->parts}; next_sum(sums, kind, &walk);)
        values += in_tree(&walk) ? rb_kept_count(&walk.array) : 0;
    return values;
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
    for (rb_walk walk = {.part = sums->method->parts}; next_sum(sums, sums->kind, &walk);) {
        if (in_tree(&walk)) {
            int64_t count = rb_kept_count(&walk.array);
            on_all_threads(sums, walk.array.type, walk.array.values, count,
                           (struct work){.fn = fn, .values = values});
            values += count;
        }
    }
}

static void add_values(const rb_sums *sums, double *to, double *values) {
    on_all_threads(sums, RB_KEPT_FLOAT64, to, values_of(sums, sums->kind),
                   (struct work){.fn = add, .values = values});
}

/* Memory for values, unless it is there. */
static bool need_values(const rb_sums *sums, double **values) {
    if (!*values) *values = rb_alloc(sums->ctx, values_of(sums, sums->kind), sizeof **values);
    return *values != NULL;
}

/* ---- before a pass ---- */

/* What adds nothing. */
static const double nothing[] = {
    [RB_SUM_ADD] = 0,         [RB_SUM_OR] = 0,     [RB_SUM_MIN] = INFINITY,
    [RB_SUM_MAX] = -INFINITY, [RB_SUM_PLACE] = -1, [RB_SUM_LARGEST] = -INFINITY,
    [RB_SUM_GAIN] = 1,        [RB_SUM_SQUARES] = 0};

static void clear(const rb_sums *sums) {
    for (rb_walk walk = {.part = sums->method->parts}; next_sum(sums, sums->kind, &walk);) {
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
    for (rb_walk walk = {.part = sums->method->parts}; next_sum(sums, sums->kind, &walk);)
        gain = walk.field->sum == RB_SUM_GAIN ? walk.array.values : gain;
    if (!gain) return;
    *gain /= sums->decay;
    if (*gain <= max) /* not so where nothing is to remain */
        return;
    double factor = isfinite(*gain) ? 1 / *gain : 0;
    for (rb_walk walk = {.part = sums->method->parts}; next_sum(sums, sums->kind, &walk);) {
        if (walk.field->runs_on && in_tree(&walk)) {
            on_all_threads(sums, walk.array.type, walk.array.values, rb_kept_count(&walk.array),
                           (struct work){.fn = scale, .factor = factor});
        }
    }
    *gain = 1;
}

int64_t rb_sums_groups(const rb_sums *sums, const rb_problem *problem, rb_part_kind kind,
                       int64_t samples) {
    int64_t min = problem->sparse ? GROUP_SAMPLES_SPARSE : GROUP_SAMPLES;
    int64_t blocks = (samples + problem->block_samples - 1) / problem->block_samples;
    double bytes = 8.0 * (double)values_of(sums, kind);
    int64_t groups = 1;
    if (problem->device && kind == RB_PART_SUMS) return 1; /* it adds up all samples itself */
    for (int depth = 1; depth <= RB_SUMS_DEPTH_MAX; depth++) {
        bool small = (depth + 1) * bytes <= BLOCK_BYTES || depth <= DEPTH_ALWAYS;
        if (!small || 2 * groups > blocks || samples / (2 * groups) < min) break;
        groups *= 2;
    }
    return groups;
}

/* ---- the tree ---- */

static rb_error push(rb_sums *sums) {
    if (!need_values(sums, &sums->stack[sums->waiting])) return RB_ERROR_MEMORY;
    with_values(sums, sums->stack[sums->waiting], take);
    sums->rank[sums->waiting++] = 0;
    while (sums->waiting > 1 && sums->rank[sums->waiting - 1] == sums->rank[sums->waiting - 2]) {
        sums->waiting--;
        add_values(sums, sums->stack[sums->waiting - 1], sums->stack[sums->waiting]);
        sums->rank[sums->waiting - 1]++;
    }
    return RB_OK;
}

rb_error rb_sums_begin(rb_sums *sums, rb_part_kind kind, int64_t groups, bool first, bool fresh) {
    if (sums->kind != kind) /* whose sums are of another size */
        rb_sums_free(sums);
    sums->kind = kind;
    sums->groups = groups;
    sums->runs_on = sums->shape->batches && !fresh && kind == RB_PART_SUMS;
    sums->waiting = 0;
    if (sums->runs_on && first) decay(sums);
    clear(sums);
    if (sums->runs_on && groups > 1) {
        if (!need_values(sums, &sums->base)) return RB_ERROR_MEMORY;
        with_values(sums, sums->base, take);
    }
    return RB_OK;
}

rb_error rb_sums_end_group(rb_sums *sums) {
    return sums->groups > 1 ? push(sums) : RB_OK;
}

void rb_sums_end(rb_sums *sums) {
    if (sums->groups > 1 && sums->runs_on) add_values(sums, sums->stack[0], sums->base);
    if (sums->groups > 1) with_values(sums, sums->stack[0], add);
}

void rb_sums_free(rb_sums *sums) {
    for (int i = 0; i <= RB_SUMS_DEPTH_MAX; i++) {
        rb_free(sums->stack[i]);
        sums->stack[i] = NULL;
    }
    rb_free(sums->base);
    sums->base = NULL;
}

bool rb_sums_are_squares(const rb_sums *sums) {
    int64_t others = 0, squares = 0;
    for (rb_walk walk = {.part = sums->method->parts}; next_sum(sums, sums->kind, &walk);)
        walk.field->sum == RB_SUM_SQUARES ? squares++ : others++;
    return squares > 0 && others == 0;
}

void rb_sums_fill_squares(const rb_sums *sums, const double *squares) {
    for (rb_walk walk = {.part = sums->method->parts}; next_sum(sums, sums->kind, &walk);)
        memcpy(walk.array.values, squares, (size_t)walk.array.rows * sizeof *squares);
}
