/* JSON that programs read, one line each. */
#include "tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t *json_of_text(const char *text) {
    json_t *json = text ? json_string(text) : json_null();
    char *ascii = json ? NULL : strdup(text);
    for (char *c = ascii; c && *c; c++) {
        *c = (unsigned char)*c < 128 ? *c : '?';
    }
    json = ascii ? json_string(ascii) : json;
    free(ascii);
    return json;
}

json_t *json_of_number(double value) {
    bool whole = value == floor(value) && fabs(value) < 1e15;
    return !isfinite(value) ? json_null()
           : whole          ? json_integer((json_int_t)value)
                            : json_real(value);
}

void json_add(json_t **to, const char *key, json_t *value) {
    json_t *name = json_of_text(key);
    bool failed = key ? json_object_set_new(*to, json_string_value(name), value)
                      : json_array_append_new(*to, value);
    json_decref(name);
    if (failed) {
        json_decref(*to);
        *to = NULL;
    }
}

rb_error json_put(rb_context *ctx, FILE *file, json_t *json) {
    char *text = json ? json_dumps(json, 0) : NULL;
    json_decref(json);
    if (!text) {
        return rb_context_fail(ctx, RB_ERROR_MEMORY, "out of memory");
    }
    fprintf(file, "%s\n", text);
    free(text);
    return RB_OK;
}
