/* The arrays of a state, as the tables of its method describe them. */
#include "model.h"

#include <string.h>

rb_shape rb_shape_of(const rb_problem *problem, const void *options) {
    rb_shape shape = {.type = problem->type,
                      .batches = problem->batch_samples > 0 &&
                                 problem->batch_samples < problem->n_samples};
    shape.dims[RB_DIM_ONE] = 1;
    if (problem->method->shape) {
        problem->method->shape(problem, options, &shape);
    } else {
        shape.dims[RB_DIM_FEATURES] = problem->n_features;
        shape.dims[RB_DIM_UNITS] = rb_method_units(problem->method, options);
    }
    return shape;
}

size_t rb_kept_size(rb_kept_type type) {
    static const size_t sizes[] = {[RB_KEPT_FLOAT32] = sizeof(float),
                                   [RB_KEPT_FLOAT64] = sizeof(double),
                                   [RB_KEPT_INTEGER] = sizeof(int64_t),
                                   [RB_KEPT_FLAG] = sizeof(bool)};
    return sizes[type];
}

static rb_kept array_of(const rb_field *field, const rb_shape *shape, void *there) {
    bool working = field->type == RB_KEPT_WORKING;
    int64_t rows = shape->dims[field->rows], columns = shape->dims[field->columns];
    bool none = rows == 0 || columns == 0, nowhere = none || !there;
    return (rb_kept){.name = field->name,
                     .role = field->role,
                     .type = working ? (rb_kept_type)shape->type : field->type,
                     .rows = none ? 0 : rows,
                     .columns = none ? 0 : columns,
                     .values = nowhere                           ? NULL
                               : field->place == RB_FIELD_DENSE  ? ((rb_dense *)there)->data
                               : field->place == RB_FIELD_INLINE ? there
                                                                 : *(void **)there,
                     .min = field->min,
                     .max = field->max};
}

bool rb_walk_next(rb_walk *walk, const rb_shape *shape, void *state) {
    bool begins = !walk->field && walk->part && walk->part->kind;
    walk->field = begins ? walk->part->fields : walk->field ? walk->field + 1 : NULL;
    while (walk->field && !walk->field->name) {
        walk->part++;
        walk->field = walk->part->kind ? walk->part->fields : NULL;
    }
    if (walk->field) {
        walk->there = state ? (char *)state + walk->part->offset + walk->field->offset : NULL;
        walk->array = array_of(walk->field, shape, walk->there);
    }
    return walk->field != NULL;
}

static rb_error make(rb_context *ctx, const rb_walk *walk) {
    const rb_kept *array = &walk->array;
    int64_t count;
    if (array->rows == 0 || walk->field->place == RB_FIELD_INLINE) return RB_OK;
    if (walk->field->place == RB_FIELD_DENSE)
        return rb_dense_new(ctx, (rb_type)array->type, array->rows, array->columns, walk->there);
    if (!rb_multiply(array->rows, array->columns, &count)) {
        return rb_fail(ctx, RB_ERROR_MEMORY, "%s: %lld x %lld values cannot be addressed",
                       array->name, (long long)array->rows, (long long)array->columns);
    }
    void *values = *(void **)walk->there = rb_alloc_zero(ctx, count, rb_kept_size(array->type));
    return values ? RB_OK : RB_ERROR_MEMORY;
}

rb_error rb_parts_new(rb_context *ctx, const rb_part *parts, const rb_shape *shape, void *state) {
    rb_error err = RB_OK;
    for (rb_walk walk = {.part = parts}; !err && rb_walk_next(&walk, shape, state);)
        err = make(ctx, &walk);
    return err;
}

void rb_parts_free(const rb_part *parts, void *state) {
    static const rb_shape none = {0};
    for (rb_walk walk = {.part = parts}; rb_walk_next(&walk, &none, state);) {
        if (walk.field->place == RB_FIELD_DENSE) {
            rb_dense_free(walk.there);
        } else if (walk.field->place == RB_FIELD_POINTER) {
            rb_free(*(void **)walk.there);
            *(void **)walk.there = NULL;
        }
    }
}

double rb_parts_bytes(const rb_part *parts, const rb_shape *shape, rb_part_kind kind) {
    double bytes = 0;
    for (rb_walk walk = {.part = parts}; rb_walk_next(&walk, shape, NULL);) {
        if (walk.field->place != RB_FIELD_INLINE && (kind == 0 || walk.part->kind == kind)) {
            bytes += (double)walk.array.rows * (double)walk.array.columns *
                     (double)rb_kept_size(walk.array.type);
        }
    }
    return bytes;
}

static bool is_kept(const rb_walk *walk, const rb_shape *shape) {
    bool runs_on = walk->field->runs_on || walk->field->sum == RB_SUM_GAIN;
    return walk->part->kind <= RB_PART_PROGRESS || /* and parameters, and codes */
           (walk->part->kind == RB_PART_SUMS && shape->batches && runs_on);
}

rb_error rb_parts_keep(const rb_method *method, const rb_shape *shape, void *state, rb_kept_fn fn,
                       void *user) {
    rb_error err = RB_OK;
    for (rb_walk walk = {.part = method->parts}; !err && rb_walk_next(&walk, shape, state);)
        if (walk.array.rows > 0 && is_kept(&walk, shape)) err = fn(user, &walk.array);
    return err;
}
