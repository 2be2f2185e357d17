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

static void *at(void *base, size_t offset) {
    return (char *)base + offset;
}

rb_kept rb_field_array(const rb_field *field, const rb_shape *shape, void *part) {
    void *there = at(part, field->offset);
    rb_kept array = {.name = field->name,
                     .role = field->role,
                     .type =
                         field->type == RB_KEPT_WORKING ? (rb_kept_type)shape->type : field->type,
                     .rows = shape->dims[field->rows],
                     .columns = shape->dims[field->columns],
                     .min = field->min,
                     .max = field->max};
    array.stride = array.columns;
    if (array.rows == 0 || array.columns == 0) {
        array.rows = array.columns = 0;
    } else if (field->place == RB_FIELD_DENSE) {
        array.values = ((rb_dense *)there)->data;
        array.stride = ((rb_dense *)there)->ld;
    } else {
        array.values = field->place == RB_FIELD_INLINE ? there : *(void **)there;
    }
    return array;
}

static rb_error make(rb_context *ctx, const rb_field *field, const rb_shape *shape, void *part) {
    void *there = at(part, field->offset);
    rb_kept array = rb_field_array(field, shape, part);
    int64_t count;
    if (array.rows == 0 || field->place == RB_FIELD_INLINE) {
        return RB_OK;
    }
    if (field->place == RB_FIELD_DENSE) {
        return rb_dense_new(ctx, (rb_type)array.type, array.rows, array.columns, there);
    }
    if (!rb_multiply(array.rows, array.columns, &count)) {
        return rb_fail(ctx, RB_ERROR_MEMORY, "%s: %lld x %lld values cannot be addressed",
                       field->name, (long long)array.rows, (long long)array.columns);
    }
    *(void **)there = rb_alloc_zero(ctx, count, rb_kept_size(array.type));
    return *(void **)there ? RB_OK : RB_ERROR_MEMORY;
}

rb_error rb_parts_new(rb_context *ctx, const rb_part *parts, const rb_shape *shape, void *state) {
    rb_error err = RB_OK;
    for (const rb_part *part = parts; !err && part->kind; part++) {
        for (const rb_field *field = part->fields; !err && field->name; field++) {
            err = make(ctx, field, shape, at(state, part->offset));
        }
    }
    return err;
}

void rb_parts_free(const rb_part *parts, void *state) {
    for (const rb_part *part = parts; part->kind; part++) {
        for (const rb_field *field = part->fields; field->name; field++) {
            void *there = at(at(state, part->offset), field->offset);
            if (field->place == RB_FIELD_DENSE) {
                rb_dense_free(there);
            } else if (field->place == RB_FIELD_POINTER) {
                rb_free(*(void **)there);
                *(void **)there = NULL;
            }
        }
    }
}

double rb_parts_bytes(const rb_part *parts, const rb_shape *shape, rb_part_kind kind) {
    double bytes = 0;
    for (const rb_part *part = parts; part->kind; part++) {
        for (const rb_field *field = part->fields; field->name; field++) {
            rb_kept_type type =
                field->type == RB_KEPT_WORKING ? (rb_kept_type)shape->type : field->type;
            if (field->place != RB_FIELD_INLINE && (kind == 0 || part->kind == kind)) {
                bytes += (double)shape->dims[field->rows] * (double)shape->dims[field->columns] *
                         (double)rb_kept_size(type);
            }
        }
    }
    return bytes;
}

static bool is_kept(const rb_part *part, const rb_field *field, const rb_shape *shape) {
    switch (part->kind) {
    case RB_PART_PARAMETERS:
    case RB_PART_CODES:
    case RB_PART_PROGRESS:
        return true;
    case RB_PART_SUMS:
        return shape->batches && (field->runs_on || field->sum == RB_SUM_GAIN);
    case RB_PART_SURVEY:
    case RB_PART_SCRATCH:
        return false;
    }
    return false;
}

rb_error rb_parts_keep(const rb_method *method, const rb_shape *shape, void *state, rb_kept_fn fn,
                       void *user) {
    rb_error err = RB_OK;
    for (const rb_part *part = method->parts; !err && part->kind; part++) {
        for (const rb_field *field = part->fields; !err && field->name; field++) {
            rb_kept array = rb_field_array(field, shape, at(state, part->offset));
            if (array.rows > 0 && is_kept(part, field, shape)) {
                err = fn(user, &array);
            }
        }
    }
    return err;
}

const rb_engine *rb_engine_find(const rb_method *method, const char *name) {
    for (const rb_engine *const *engine = method->engines; name && engine && *engine; engine++) {
        if (strcmp((*engine)->name, name) == 0) {
            return *engine;
        }
    }
    return method->engines ? method->engines[0] : NULL;
}
