/* Modules from JSON: {"modules":[{"samples":[0,4],"features":[1,2]},...]}, counted from 0.
 *
 * Other keys (names, weights) are ignored. Every index is checked: a whole number, not negative,
 * given once.
 */
#include "io.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b) {
    int64_t x = ((const rb_member *)a)->index, y = ((const rb_member *)b)->index;
    return (x > y) - (x < y);
}

/* Members from one array of indices; `place` is the module, from 0, and `key` the array's name. */
static rb_error read_members(rb_context *ctx, const json_t *array, const char *key, int64_t place,
                             rb_member **out, int64_t *n_out) {
    if (!json_is_array(array)) {
        return rb_fail(ctx, RB_ERROR_FORMAT,
                       "module %lld has no list \"%s\" of indices, such as \"%s\":[0,4]",
                       (long long)place, key, key);
    }
    int64_t count = (int64_t)json_array_size(array);
    rb_member *members = *out = rb_alloc(ctx, count, sizeof *members);
    if (!members) return RB_ERROR_MEMORY;
    *n_out = count;
    for (int64_t d = 0; d < count; d++) {
        const json_t *entry = json_array_get(array, (size_t)d);
        if (!json_is_integer(entry) || json_integer_value(entry) < 0) {
            return rb_fail(ctx, RB_ERROR_FORMAT,
                           "entry %lld of \"%s\" in module %lld is not an index: it must be a "
                           "whole number of at least 0",
                           (long long)d, key, (long long)place);
        }
        members[d] = (rb_member){json_integer_value(entry), 1.0};
    }
    qsort(members, (size_t)count, sizeof *members, ascending);
    for (int64_t d = 1; d < count; d++) {
        if (members[d].index == members[d - 1].index) {
            return rb_fail(ctx, RB_ERROR_FORMAT, "\"%s\" of module %lld holds %lld twice", key,
                           (long long)place, (long long)members[d].index);
        }
    }
    return RB_OK;
}

static rb_error read_list(rb_context *ctx, const json_t *root, rb_modules **out) {
    const json_t *list = json_object_get(root, "modules");
    if (!json_is_array(list)) return rb_fail(ctx, RB_ERROR_FORMAT, "it has no list \"modules\"");
    int64_t count = (int64_t)json_array_size(list);
    rb_error err = rb_modules_new(ctx, count, out);
    for (int64_t r = 0; r < count && !err; r++) {
        const json_t *entry = json_array_get(list, (size_t)r);
        rb_module *m = &(*out)->list[r];
        m->unit = r;
        err = read_members(ctx, json_object_get(entry, "samples"), "samples", r, &m->samples,
                           &m->n_samples);
        err = err ? err
                  : read_members(ctx, json_object_get(entry, "features"), "features", r,
                                 &m->features, &m->n_features);
    }
    if (err) {
        rb_modules_free(*out);
        *out = NULL;
    }
    return err;
}

static rb_error load_file(rb_context *ctx, const char *path, json_t **root) {
    json_error_t error;
    errno = 0;
    FILE *file = fopen(path, "re");
    *root = file ? json_loadf(file, JSON_REJECT_DUPLICATES, &error) : NULL;
    bool failed = !file || ferror(file); /* to the parser that is the end of the file */
    int reason = errno;
    if (file) fclose(file);
    if (failed) {
        json_decref(*root);
        return rb_fail(ctx, RB_ERROR_FILE, "cannot read %s: %s", path, strerror(reason));
    }
    if (!*root && json_error_code(&error) == json_error_out_of_memory)
        return rb_fail(ctx, RB_ERROR_MEMORY, "%s does not fit into memory", path);
    return *root ? RB_OK
                 : rb_fail(ctx, RB_ERROR_FORMAT, "%s is not JSON: line %d, column %d: %s", path,
                           error.line, error.column, error.text);
}

rb_error rb_modules_read(rb_context *ctx, const char *path, rb_modules **out) {
    json_t *root;
    *out = NULL;
    rb_error err = load_file(ctx, path, &root);
    if (err) return err;
    err = read_list(ctx, root, out);
    json_decref(root);
    if (err) rb_fail_prefix(ctx, "%s: ", path);
    return err;
}
