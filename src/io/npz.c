/* .npz: a ZIP of .npy files, each a named array (numpy.savez). Arrays are written in C order and
 * the byte order of this machine. */
#include "io.h"
#include "npy.h"

#include <stdlib.h>
#include <string.h>

/* ---- arrays by name ---- */

void rb_arrays_clear(rb_arrays *arrays) {
    for (int i = 0; i < arrays->count; i++) {
        rb_free(arrays->list[i].values);
        rb_free(arrays->names[i]);
    }
    arrays->count = 0;
}

double *rb_arrays_add(rb_context *ctx, rb_arrays *arrays, const char *name, int dimensions,
                      const int64_t *shape) {
    int64_t cells = 1;
    if (arrays->count == RB_ARRAYS_MAX) {
        rb_fail(ctx, RB_ERROR_FORMAT, "there are more than %d arrays", RB_ARRAYS_MAX);
        return NULL;
    }
    rb_named_array *array = &arrays->list[arrays->count];
    *array = (rb_named_array){.dimensions = dimensions};
    for (int d = 0; d < dimensions; d++) {
        array->shape[d] = shape[d];
        if (shape[d] < 0 || !rb_multiply(cells, shape[d], &cells)) cells = INT64_MAX;
    }
    char *copy = rb_copy_text(ctx, name);
    array->values = copy ? rb_alloc_zero(ctx, cells, sizeof(double)) : NULL;
    if (!array->values) {
        rb_free(copy);
        return NULL;
    }
    array->name = arrays->names[arrays->count++] = copy;
    return array->values;
}

const rb_named_array *rb_arrays_find(const rb_arrays *arrays, const char *name) {
    for (int i = 0; i < arrays->count; i++)
        if (strcmp(arrays->list[i].name, name) == 0) return &arrays->list[i];
    return NULL;
}

/* ---- reading ---- */

static void to_doubles(const rb_npy_header *h, const char *raw, double *values) {
    int64_t rows = h->n_samples, cols = h->n_features, cells = rows * cols;
    for (int64_t i = 0; i < cells; i++) {
        const char *item = raw + i * h->item.bytes;
        int64_t at = h->by_features ? i % rows * cols + i / rows : i;
        union {
            float f4;
            double f8;
        } value;
        rb_items_convert(h->item, item, 1, &value);
        values[at] = h->item.type == RB_FLOAT32 ? (double)value.f4 : value.f8;
    }
}

static rb_error read_array(rb_context *ctx, const char *path, const char *name,
                           const rb_zip_entry *entry, rb_arrays *arrays) {
    rb_npy_header h = {0};
    char shown[2 * RB_ZIP_NAME + 512];
    const char *bytes = (const char *)entry->data;
    snprintf(shown, sizeof shown, "%.500s: '%s'", path, name);
    rb_error err = rb_npy_prefix(ctx, shown, bytes, entry->count, entry->count, &h);
    if (err) return err;
    int64_t length = h.data_offset - h.text_offset;
    char *text = rb_alloc(ctx, length + 1, 1);
    if (!text) return RB_ERROR_MEMORY;
    memcpy(text, bytes + h.text_offset, (size_t)length);
    text[length] = '\0';
    err = rb_npy_parse(ctx, shown, text, entry->count, &h);
    rb_free(text);
    if (!err && h.dimensions > 2) {
        err = rb_fail(ctx, RB_ERROR_FORMAT, "%s has %d dimensions, but must have one or two", shown,
                      h.dimensions);
    }
    if (err) return err;
    double *values = rb_arrays_add(ctx, arrays, name, h.dimensions, h.shape);
    if (!values) return RB_ERROR_MEMORY;
    to_doubles(&h, bytes + h.data_offset, values);
    return RB_OK;
}

rb_error rb_npz_read(rb_context *ctx, const char *path, rb_array_choice choose, rb_arrays *arrays) {
    rb_zip zip;
    rb_error err = rb_zip_read(ctx, path, &zip);
    for (int i = 0; !err && i < zip.count; i++) {
        char *name = zip.entries[i].name;
        size_t length = strlen(name);
        if (length > 4 && strcmp(name + length - 4, ".npy") == 0) name[length - 4] = '\0';
        bool wanted = false;
        err = choose(ctx, path, name, &wanted);
        if (!err && wanted) err = read_array(ctx, path, name, &zip.entries[i], arrays);
    }
    rb_zip_clear(&zip);
    return err;
}

/* ---- writing ---- */

static rb_error add_entry(rb_zip_writer *zip, const char *array, const char *head, int64_t bytes,
                          rb_span data) {
    char name[RB_ZIP_NAME];
    snprintf(name, sizeof name, "%s.npy", array);
    return rb_zip_add(zip, name, (rb_span){(const unsigned char *)head, bytes}, data);
}

rb_error rb_npz_add(rb_zip_writer *zip, const rb_named_array *array, rb_type type) {
    char head[RB_NPY_HEAD];
    int64_t cells = 1;
    for (int d = 0; d < array->dimensions; d++)
        cells *= array->shape[d];
    void *values = rb_alloc(zip->ctx, cells, rb_type_size(type));
    if (!values) return RB_ERROR_MEMORY;
    for (int64_t i = 0; i < cells; i++)
        rb_put(type, values, i, array->values[i]);
    int64_t bytes =
        rb_npy_head(head, type == RB_FLOAT32 ? "f4" : "f8", array->dimensions, array->shape);
    rb_error err = add_entry(zip, array->name, head, bytes,
                             (rb_span){values, cells * (int64_t)rb_type_size(type)});
    rb_free(values);
    return err;
}

/* ---- texts: numpy has them as UCS-4, all of one length, filled up with 0 ---- */

/* The characters of a text in UTF-8, into at most `room` numbers; bytes that are no UTF-8 become
 * '?'. */
static int64_t decode(const char *text, uint32_t *out, int64_t room) {
    const unsigned char *p = (const unsigned char *)text;
    int64_t count = 0;
    while (*p) {
        int more = *p >= 0xF0 ? 3 : *p >= 0xE0 ? 2 : *p >= 0xC0 ? 1 : 0;
        uint32_t value = *p < 0x80 ? *p : more ? *p & (0x3FU >> more) : '?';
        p++;
        for (; more > 0; more--) {
            if ((*p & 0xC0) != 0x80) {
                value = '?';
                break;
            }
            value = value << 6 | (*p++ & 0x3F);
        }
        if (out && count < room) out[count] = value;
        count++;
    }
    return count;
}

rb_error rb_npz_add_texts(rb_zip_writer *zip, const char *name, int64_t count,
                          const char *const *texts) {
    char head[RB_NPY_HEAD], type[32];
    int64_t longest = 1, bytes;
    for (int64_t i = 0; i < count; i++) {
        int64_t length = decode(texts[i], NULL, 0);
        longest = length > longest ? length : longest;
    }
    if (!rb_multiply(count, longest, &bytes)) bytes = INT64_MAX / 8;
    uint32_t *values = rb_alloc_zero(zip->ctx, bytes, sizeof *values);
    if (!values) return RB_ERROR_MEMORY;
    for (int64_t i = 0; i < count; i++)
        decode(texts[i], values + i * longest, longest);
    snprintf(type, sizeof type, "U%lld", (long long)longest);
    bytes = rb_npy_head(head, type, 1, &count);
    rb_error err = add_entry(
        zip, name, head, bytes,
        (rb_span){(const unsigned char *)values, count * longest * (int64_t)sizeof *values});
    rb_free(values);
    return err;
}

/* Are these the texts, each filled up to the same width? */
static bool are_texts(const unsigned char *at, int64_t width, int64_t count,
                      const char *const *texts) {
    for (int64_t i = 0; i < count; i++, at += 4 * width) {
        int64_t length = decode(texts[i], NULL, 0);
        uint32_t *wanted = length <= width ? calloc((size_t)width, sizeof *wanted) : NULL;
        if (wanted) decode(texts[i], wanted, width);
        bool same = wanted && memcmp(at, wanted, (size_t)(4 * width)) == 0;
        free(wanted);
        if (!same) return false;
    }
    return true;
}

rb_error rb_npz_other_texts(rb_context *ctx, const char *path, const char *name, int64_t count,
                            const char *const *texts, bool *other) {
    rb_zip zip;
    char file[RB_ZIP_NAME];
    rb_error err = rb_zip_read(ctx, path, &zip);
    snprintf(file, sizeof file, "%s.npy", name);
    *other = false;
    for (int i = 0; !err && i < zip.count; i++) {
        const rb_zip_entry *entry = &zip.entries[i];
        rb_npy_header h = {0};
        if (strcmp(entry->name, file) != 0) continue;
        err = rb_npy_prefix(ctx, path, (const char *)entry->data, entry->count, entry->count, &h);
        int64_t bytes = entry->count - h.data_offset, width = count > 0 ? bytes / 4 / count : 0;
        if (!err && (width < 1 || bytes != 4 * width * count ||
                     !are_texts(entry->data + h.data_offset, width, count, texts)))
            *other = true;
    }
    rb_zip_clear(&zip);
    return err;
}
