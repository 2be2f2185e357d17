/* JSON that programs read, one line each. Bytes that are no UTF-8 become U+FFFD. */
#include "tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the first character of the text, if it is one in UTF-8; else 0. */
static size_t character(const char *text) {
    unsigned char lead = (unsigned char)*text;
    size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    json_t *json = strnlen(text, length) == length ? json_stringn(text, length) : NULL;
    json_decref(json);
    return json ? length : 0;
}

json_t *json_of_text(const char *text) {
    static const char unknown[] = "\xef\xbf\xbd";
    if (!text) return json_null();
    json_t *json = json_string(text);
    char *mended = json ? NULL : malloc(3 * strlen(text) + 1), *to = mended;
    for (const char *c = text; mended && *c;) {
        size_t length = character(c);
        to = length ? mempcpy(to, c, length) : stpcpy(to, unknown);
        c += length ? length : 1;
    }
    if (mended) {
        *to = '\0';
        json = json_string(mended);
    }
    free(mended);
    return json;
}

json_t *json_of_number(double value) {
    bool whole = value == floor(value) && fabs(value) < 1e15 && (value != 0 || !signbit(value));
    return !isfinite(value) ? json_null()
           : whole          ? json_integer((json_int_t)value)
                            : json_real(value);
}

json_t *json_rounded(double value, int digits) {
    char text[40];
    if (digits == 0) return json_of_number(value);
    snprintf(text, sizeof text, "%.*g", digits, value);
    return json_of_number(strtod(text, NULL));
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

rb_error json_add_provenance(rb_context *ctx, json_t **to, const rb_model *model,
                             rb_source *source) {
    char *text = NULL;
    rb_error err = rb_provenance(ctx, model, source, &text);
    if (!err) json_add(to, "provenance", json_loads(text, 0, NULL));
    rb_free_memory(text);
    return err;
}

rb_error json_put_from(rb_context *ctx, FILE *file, json_t *json, const rb_model *model,
                       rb_source *source) {
    rb_error err = json_add_provenance(ctx, &json, model, source);
    if (!err) return json_put(ctx, file, json);
    json_decref(json);
    return err;
}

rb_error json_put(rb_context *ctx, FILE *file, json_t *json) {
    char *text = json ? json_dumps(json, 0) : NULL;
    json_decref(json);
    if (!text) return fail_memory(ctx);
    fprintf(file, "%s\n", text);
    free(text);
    return RB_OK;
}
