/* Values and tables as JSON, by jansson. Bytes that are no UTF-8 become U+FFFD. */
#include <rarebit/json.h>

#include <jansson.h>
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

struct json_t *rb_json_text(const char *text) {
    static const char unknown[] = "\xef\xbf\xbd";
    if (!text) return json_null();
    json_t *json = json_string(text);
    char *mended = json ? NULL : malloc(3 * strlen(text) + 1), *to = mended;
    for (const char *c = text; mended && *c;) {
        size_t length = character(c);
        to = length ? (char *)memcpy(to, c, length) + length : stpcpy(to, unknown);
        c += length ? length : 1;
    }
    if (mended) {
        *to = '\0';
        json = json_string(mended);
    }
    free(mended);
    return json;
}

struct json_t *rb_json_number(double value) {
    bool whole = value == floor(value) && fabs(value) < 1e15 && (value != 0 || !signbit(value));
    return !isfinite(value) ? json_null()
           : whole          ? json_integer((json_int_t)value)
                            : json_real(value);
}

struct json_t *rb_json_rounded(double value, int digits) {
    char text[40];
    if (digits == 0) return rb_json_number(value);
    snprintf(text, sizeof text, "%.*g", digits, value);
    return rb_json_number(strtod(text, NULL));
}

void rb_json_add(struct json_t **to, const char *key, struct json_t *value) {
    json_t *name = rb_json_text(key);
    bool failed = key ? json_object_set_new(*to, json_string_value(name), value)
                      : json_array_append_new(*to, value);
    json_decref(name);
    if (failed) {
        json_decref(*to);
        *to = NULL;
    }
}

/* ---- tables ---- */

static json_t *value_of(const rb_value *v, const rb_model *model, int digits) {
    json_t *names = v->kind == RB_VALUE_FEATURES ? json_array() : NULL;
    switch (v->kind) {
    case RB_VALUE_INTEGER:
        return json_integer((json_int_t)v->integer);
    case RB_VALUE_TEXT:
        return rb_json_text(v->text);
    case RB_VALUE_NUMBER:
    case RB_VALUE_SHARE:
    case RB_VALUE_CHANCE:
        return rb_json_rounded(v->number, digits);
    case RB_VALUE_FEATURES:
        for (int64_t i = 0; i < v->integer; i++)
            rb_json_add(&names, NULL, rb_json_text(rb_model_feature_name(model, v->features[i])));
        return names;
    default:
        return json_null();
    }
}

static void add_value(json_t **to, const rb_table *table, int64_t row, const char *key,
                      const rb_model *model, int digits) {
    const rb_table_column *column = rb_table_find(table, key);
    if (!column) return;
    rb_value v = rb_table_value(table, row, column);
    rb_json_add(to, key, value_of(&v, model, digits));
}

struct json_t *rb_json_row(const rb_table *table, int64_t row, const rb_model *model,
                           const char *keys, int digits) {
    json_t *json = json_object();
    for (const rb_table_column *c = table->columns; !keys && c->key; c++)
        if (c->kind != RB_VALUE_MEMBERS) add_value(&json, table, row, c->key, model, digits);
    while (keys && *(keys += strspn(keys, " "))) {
        char key[32];
        int length = (int)strcspn(keys, " ");
        snprintf(key, sizeof key, "%.*s", length, keys);
        add_value(&json, table, row, key, model, digits);
        keys += length;
    }
    return json;
}

struct json_t *rb_json_table(const rb_table *table, const rb_model *model, const char *keys,
                             int digits) {
    json_t *rows = json_array();
    for (int64_t r = 0; r < table->n_rows; r++)
        rb_json_add(&rows, NULL, rb_json_row(table, r, model, keys, digits));
    return rows;
}
