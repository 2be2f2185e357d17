/* The methods that a context knows: those built in and those that the program has added; and what
 * a method leaves to the library. */
#include "model.h"

#include <stddef.h>
#include <string.h>

const rb_method *rb_context_method(const rb_context *ctx, int64_t index) {
    const rb_method *const *lists[] = {ctx->methods, (const rb_method *const *)ctx->added_methods};
    for (int i = 0; i < 2; i++) {
        for (const rb_method *const *method = lists[i]; method && *method; method++)
            if (index-- == 0) return *method;
    }
    return NULL;
}

const rb_method *rb_find_method(const rb_context *ctx, const char *name) {
    const rb_method *method;
    for (int64_t i = 0; (method = rb_context_method(ctx, i)); i++)
        if (strcmp(method->name, name) == 0) return method;
    return NULL;
}

const rb_method *rb_find_made(const rb_context *ctx, const char *name) {
    for (const rb_method *const *made = ctx->made_methods; made && *made; made++)
        if (strcmp((*made)->name, name) == 0) return *made;
    return rb_find_method(ctx, name);
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
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (!functions[i].there) return functions[i].name;
    return NULL;
}

/* A name stands once in a part, sizes are among the dims, and pointers lie in the state. */
static const char *field_fault(const rb_method *method, const rb_part *part,
                               const rb_field *field) {
    size_t end = part->offset + field->offset + sizeof(void *);
    for (const rb_field *other = part->fields; other != field; other++)
        if (strcmp(other->name, field->name) == 0) return "there is another one of that name";
    if (field->rows < 0 || field->rows >= RB_DIMS_MAX || field->columns < 0 ||
        field->columns >= RB_DIMS_MAX)
        return "its sizes are not among the dims";
    if (field->sum == RB_SUM_SQUARES && (field->type != RB_KEPT_FLOAT64 || field->columns))
        return "sums of squares are a column of float64";
    bool inside = method->state_size == 0 || end <= method->state_size;
    return field->place != RB_FIELD_POINTER || inside ? NULL : "it lies outside of the state";
}

static rb_error check_parts(rb_context *ctx, const rb_method *method) {
    for (const rb_part *part = method->parts; part && part->kind; part++) {
        for (const rb_field *field = part->fields; field->name; field++) {
            const char *fault = field_fault(method, part, field);
            if (fault) {
                return rb_fail(ctx, RB_ERROR_ARGUMENT,
                               "the method '%s' describes its array '%s' wrongly: %s", method->name,
                               field->name, fault);
            }
        }
    }
    return RB_OK;
}

static rb_error check_method(rb_context *ctx, const rb_method *method) {
    size_t first = offsetof(rb_method, group_end); /* the size of the first version */
    if (method->size < first || method->size > sizeof(rb_method)) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the method has %zu bytes, but must have %zu to %zu: %s", method->size,
                       first, sizeof(rb_method),
                       method->size < first
                           ? "set its size to sizeof(rb_method)"
                           : "it was built for a later version of the library, or its size is not "
                             "set");
    }
    if (!method->name || !method->title || !method->code_name || !method->options) {
        return rb_fail(
            ctx, RB_ERROR_ARGUMENT,
            "a method needs a name, a title, a code_name and options; '%s' lacks one of them",
            method->name ? method->name : "");
    }
    static const char legal[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
    if (!*method->name || method->name[strspn(method->name, legal)]) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the method cannot be called '%s'; use letters, digits and '-' only",
                       method->name);
    }
    const char *missing = missing_function(method);
    if (missing) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "the method '%s' lacks the function '%s'",
                       method->name, missing);
    }
    if (rb_find_made(ctx, method->name)) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "there is a method '%s' already; choose another name", method->name);
    }
    rb_option_group group = rb_method_group(method);
    rb_error err = check_parts(ctx, method);
    return err ? err : rb_group_check(ctx, &group);
}

rb_error rb_context_add_method(rb_context *ctx, const rb_method *method) {
    rb_error err = check_method(ctx, method);
    if (err) return err;
    int64_t count = 0;
    while (ctx->added_methods && ctx->added_methods[count])
        count++;
    const rb_method **list =
        rb_grow(ctx, (void *)ctx->added_methods, count, count + 2, sizeof *list);
    if (!list) return RB_ERROR_MEMORY;
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
    if (problem->method->block_samples) return problem->method->block_samples(problem, options);
    int64_t wide = problem->n_features > 0 ? problem->n_features : 1;
    int64_t samples = wide < BLOCK_VALUES ? BLOCK_VALUES / wide : 1;
    return samples < problem->n_samples ? samples : problem->n_samples;
}

int64_t rb_method_memory(const rb_problem *problem, const void *options) {
    const rb_method *method = problem->method;
    if (method->memory) return method->memory(problem, options);
    rb_shape shape = rb_shape_of(problem, options);
    return method->parts ? (int64_t)rb_parts_bytes(method->parts, &shape, 0) : 0;
}

/* Parameters are arrays of the same names: of float64 in a model. */
static bool is_parameter(const rb_walk *walk) {
    return walk->part->kind == RB_PART_PARAMETERS && walk->array.rows > 0 &&
           walk->array.type <= RB_KEPT_FLOAT64;
}

static rb_error take_parameters(rb_context *ctx, const rb_method *method, const rb_shape *shape,
                                const rb_model *start, void *state) {
    rb_error err = RB_OK;
    for (rb_walk walk = {.part = method->parts}; !err && rb_walk_next(&walk, shape, state);)
        if (is_parameter(&walk))
            err = rb_model_take_array(ctx, start, walk.array.name, rb_kept_dense(&walk.array));
    return err;
}

rb_error rb_method_start(rb_context *ctx, const rb_problem *problem, const void *options,
                         const rb_model *start, void **state) {
    const rb_method *method = problem->method;
    if (method->state_size == 0) return method->start(ctx, problem, options, start, state);
    rb_shape shape = rb_shape_of(problem, options);
    void *made = rb_alloc_zero(ctx, 1, method->state_size);
    rb_error err = made ? rb_parts_new(ctx, method->parts, &shape, made) : RB_ERROR_MEMORY;
    if (!err && method->start)
        err = method->start(ctx, problem, options, start, &made);
    else if (!err && start)
        err = take_parameters(ctx, method, &shape, start, made);
    if (err) {
        rb_method_finish(method, made);
        return err;
    }
    *state = made;
    return RB_OK;
}

void rb_method_finish(const rb_method *method, void *state) {
    if (method->finish) method->finish(state);
    if (method->state_size > 0 && state) {
        rb_parts_free(method->parts, state);
        rb_free(state);
    }
}

rb_error rb_check_conflicts(rb_context *ctx, const rb_conflict *rules) {
    while (rules->message && !rules->broken)
        rules++;
    if (!rules->message) return RB_OK;
    return rules->option ? rb_fail(ctx, RB_ERROR_ARGUMENT, "`%s` is %.15g, %s", rules->option,
                                   rules->value, rules->message)
                         : rb_fail(ctx, RB_ERROR_ARGUMENT, "%s", rules->message);
}

/* Parameters become arrays of the same names. */
rb_error rb_method_store(rb_context *ctx, const rb_problem *problem, const void *options,
                         void *state, rb_model *model) {
    const rb_method *method = problem->method;
    if (method->store) return method->store(ctx, state, model);
    rb_shape shape = rb_shape_of(problem, options);
    rb_error err = RB_OK;
    for (rb_walk walk = {.part = method->parts}; !err && rb_walk_next(&walk, &shape, state);)
        if (is_parameter(&walk))
            err = rb_model_put_array(ctx, model, walk.array.name, rb_kept_dense(&walk.array));
    return err;
}

/* Without a coder of its own a method encodes from the model itself. */
rb_error rb_method_coder_new(rb_context *ctx, const rb_model *model, int64_t block_samples,
                             void **coder) {
    rb_error err = rb_method_check_device(ctx, model->method);
    *coder = err ? NULL : (void *)model; /* only read: `encode` and `decode` know it as const */
    if (err) return err;
    return model->method->coder_new ? model->method->coder_new(ctx, model, block_samples, coder)
                                    : RB_OK;
}

void rb_method_coder_free(const rb_method *method, void *coder) {
    if (method->coder_free) method->coder_free(coder);
}
