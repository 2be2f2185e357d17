/* The methods that a context knows: those built in and those that the program has added; and what
 * a method leaves to the library. */
#include "model.h"

#include <string.h>

static int64_t count_methods(const rb_method *const *list) {
    int64_t count = 0;
    while (list && list[count]) {
        count++;
    }
    return count;
}

const rb_method *rb_context_method(const rb_context *ctx, int64_t index) {
    int64_t built_in = count_methods(ctx->methods);
    int64_t added = count_methods((const rb_method *const *)ctx->added_methods);
    if (index < 0 || index >= built_in + added) {
        return NULL;
    }
    return index < built_in ? ctx->methods[index] : ctx->added_methods[index - built_in];
}

const rb_method *rb_find_method(const rb_context *ctx, const char *name) {
    const rb_method *method;
    for (int64_t i = 0; (method = rb_context_method(ctx, i)); i++) {
        if (strcmp(method->name, name) == 0) {
            return method;
        }
    }
    return NULL;
}

rb_option_group rb_method_group(const rb_method *method) {
    return (rb_option_group){sizeof(rb_option), method->title, method->options,
                             method->options_size, method->rules};
}

/* The first function that every method must have, and this one has not; or NULL. */
static const char *missing_function(const rb_method *m) {
    const struct {
        const char *name;
        bool there;
    } functions[] = {
        {"start", m->start || m->state_size > 0},
        {"block", m->block},
        {"mstep", m->mstep},
        {"objective", m->objective},
        {"encode", m->encode},
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (!functions[i].there) {
            return functions[i].name;
        }
    }
    return NULL;
}

/* A name stands once in a state, sizes are among the dims, and pointers lie in the state. */
static rb_error check_parts(rb_context *ctx, const rb_method *method) {
    for (const rb_part *part = method->parts; part && part->kind; part++) {
        for (const rb_field *field = part->fields; field->name; field++) {
            bool inside = method->state_size == 0 ||
                          part->offset + field->offset + sizeof(void *) <= method->state_size;
            bool dims = field->rows >= 0 && field->rows < RB_DIMS_MAX && field->columns >= 0 &&
                        field->columns < RB_DIMS_MAX;
            bool twice = false;
            for (const rb_field *other = part->fields; other != field; other++) {
                twice = twice || strcmp(other->name, field->name) == 0;
            }
            bool is_pointer = field->place == RB_FIELD_POINTER;
            if (!dims || twice || (is_pointer && !inside)) {
                return rb_fail(ctx, RB_ERROR_ARGUMENT,
                               "the method '%s' describes its array '%s' wrongly: %s", method->name,
                               field->name,
                               twice   ? "there is another one of that name"
                               : !dims ? "its sizes are not among the dims"
                                       : "it lies outside of the state");
            }
        }
    }
    return RB_OK;
}

static rb_error check_method(rb_context *ctx, const rb_method *method) {
    if (method->size != sizeof(rb_method)) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the method has %zu bytes instead of %zu: it was built for another version "
                       "of the library, or does not set its size",
                       method->size, sizeof(rb_method));
    }
    if (!method->name || !method->title || !method->code_name || !method->options) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "a method needs a name, a title, a code_name and options, of which one is "
                       "missing in '%s'",
                       method->name ? method->name : "");
    }
    const char *missing = missing_function(method);
    if (missing) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "the method '%s' lacks the function '%s'",
                       method->name, missing);
    }
    if (rb_find_method(ctx, method->name)) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "there is a method '%s' already; choose another name", method->name);
    }
    rb_option_group group = rb_method_group(method);
    rb_error err = check_parts(ctx, method);
    return err ? err : rb_group_check(ctx, &group);
}

rb_error rb_context_add_method(rb_context *ctx, const rb_method *method) {
    rb_error err = check_method(ctx, method);
    if (err) {
        return err;
    }
    int64_t count = count_methods((const rb_method *const *)ctx->added_methods);
    const rb_method **list =
        rb_grow(ctx, (void *)ctx->added_methods, count, count + 2, sizeof *list);
    if (!list) {
        return RB_ERROR_MEMORY;
    }
    list[count] = method;
    list[count + 1] = NULL;
    ctx->added_methods = list;
    return RB_OK;
}

/* ---- what a method leaves to the library ---- */

int64_t rb_method_units(const rb_method *method, const void *options) {
    return method->units ? method->units(options) : 1;
}

int64_t rb_method_block_samples(const rb_problem *problem, const void *options) {
    enum { BLOCK_VALUES = 1 << 20 };
    if (problem->method->block_samples) {
        return problem->method->block_samples(problem, options);
    }
    int64_t wide = problem->n_features > 0 ? problem->n_features : 1;
    int64_t samples = wide < BLOCK_VALUES ? BLOCK_VALUES / wide : 1;
    return samples < problem->n_samples ? samples : problem->n_samples;
}

int64_t rb_method_memory(const rb_problem *problem, const void *options) {
    const rb_method *method = problem->method;
    if (method->memory) {
        return method->memory(problem, options);
    }
    rb_shape shape = rb_shape_of(problem, options);
    return method->parts ? (int64_t)rb_parts_bytes(method->parts, &shape, 0) : 0;
}

rb_error rb_method_start(rb_context *ctx, const rb_problem *problem, const void *options,
                         const rb_model *start, void **state) {
    const rb_method *method = problem->method;
    if (method->state_size == 0) {
        return method->start(ctx, problem, options, start, state);
    }
    rb_shape shape = rb_shape_of(problem, options);
    void *made = rb_alloc_zero(ctx, 1, method->state_size);
    rb_error err = made ? rb_parts_new(ctx, method->parts, &shape, made) : RB_ERROR_MEMORY;
    if (!err && method->start) {
        err = method->start(ctx, problem, options, start, &made);
    }
    if (err) {
        rb_method_finish(method, made);
        return err;
    }
    *state = made;
    return RB_OK;
}

void rb_method_finish(const rb_method *method, void *state) {
    if (method->finish) {
        method->finish(state);
    }
    if (method->state_size > 0 && state) {
        rb_parts_free(method->parts, state);
        rb_free(state);
    }
}

/* Parameters become arrays of the same names. */
rb_error rb_method_store(rb_context *ctx, const rb_problem *problem, const void *options,
                         void *state, rb_model *model) {
    const rb_method *method = problem->method;
    if (method->store) {
        return method->store(ctx, state, model);
    }
    rb_shape shape = rb_shape_of(problem, options);
    for (const rb_part *part = method->parts; part->kind; part++) {
        const rb_field *field = part->fields;
        for (; part->kind == RB_PART_PARAMETERS && field->name; field++) {
            rb_kept array = rb_field_array(field, &shape, (char *)state + part->offset);
            if (array.rows == 0 || array.type > RB_KEPT_FLOAT64) {
                continue;
            }
            double *to = rb_model_add_array(ctx, model, array.name, array.rows, array.columns);
            if (!to) {
                return RB_ERROR_MEMORY;
            }
            rb_dense from = {array.values, array.rows, array.columns, array.stride,
                             (rb_type)array.type};
            rb_dense_copy(from,
                          (rb_dense){to, array.rows, array.columns, array.columns, RB_FLOAT64});
        }
    }
    return RB_OK;
}

/* Without a coder of its own a method encodes from the model itself. */
rb_error rb_method_coder_new(rb_context *ctx, const rb_model *model, int64_t block_samples,
                             void **coder) {
    *coder = (void *)model; /* only read: `encode` and `decode` know it as const */
    return model->method->coder_new ? model->method->coder_new(ctx, model, block_samples, coder)
                                    : RB_OK;
}

void rb_method_coder_free(const rb_method *method, void *coder) {
    if (method->coder_free) {
        method->coder_free(coder);
    }
}
