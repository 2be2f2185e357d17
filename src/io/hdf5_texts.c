/* HDF5 in plain terms: reading texts and attributes, and the names of what is in a file. */
#include "hdf5_base.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Texts are read this many, or this many bytes, at a time. */
enum { BATCH = 4096, LONGEST_TEXT = 1 << 20, LONGEST_ATTRIBUTE = 1 << 24 };

/* How the texts of a data set lie in memory. */
struct text_layout {
    hid_t type; /* what to ask HDF5 for: the text, or a compound of it alone */
    size_t size;
    bool space_padded;
    rb_h5_heap *heap; /* of texts of variable length; else NULL */
};

static void clear_layout(struct text_layout *layout) {
    rb_h5_heap_close(layout->heap);
    rb_h5_drop(layout->type);
}

static bool is_text(const rb_h5 *file, hid_t type) {
    return type >= 0 && H5Tget_class(type) == H5T_STRING &&
           !(file->style == RB_H5_OWN && H5Tis_variable_str(type) > 0);
}

/* The layout of texts of this type, which is taken over. It is to be cleared in any case. */
static rb_error find_layout(rb_h5 *file, hid_t type, struct text_layout *layout) {
    rb_error err = RB_OK;
    *layout = (struct text_layout){.type = type};
    layout->space_padded = H5Tget_strpad(type) == H5T_STR_SPACEPAD;
    if (H5Tis_variable_str(type) > 0) {
        err = rb_h5_heap_open(file, &layout->heap, &type);
        if (!err) {
            rb_h5_drop(layout->type);
            layout->type = H5Tcopy(type);
        }
    }
    layout->size = H5Tget_size(layout->type);
    return err;
}

/* The text in a cell, of fixed or variable length; it ends with a 0 where the cell does. */
static rb_error text_of(const struct text_layout *layout, const char *cell, const char **text,
                        int64_t *length) {
    if (layout->heap) return rb_h5_heap_text(layout->heap, cell, text, length);
    *text = cell;
    *length = (int64_t)strnlen(cell, layout->size);
    while (layout->space_padded && *length > 0 && cell[*length - 1] == ' ')
        --*length;
    return RB_OK;
}

/* ---- data sets of texts ---- */

/* As find_layout, for all texts of a data set or one member of it. */
static rb_error find_member_layout(const rb_h5_data *data, const char *member,
                                   struct text_layout *layout) {
    rb_h5 *file = data->file;
    hid_t type = rb_h5_member_type(data, member);
    *layout = (struct text_layout){.type = type};
    if (!is_text(file, type)) {
        bool variable = type >= 0 && H5Tget_class(type) == H5T_STRING;
        return rb_h5_fail(file, RB_ERROR_FORMAT, "'%s' must hold texts%s", data->path,
                          variable ? " of fixed length" : "");
    }
    rb_error err = find_layout(file, type, layout);
    if (!err && (layout->size == 0 || layout->size > LONGEST_TEXT))
        err = rb_h5_fail(file, RB_ERROR_FORMAT, "the texts of '%s' are too long", data->path);
    if (!err && member) {
        type = layout->type;
        layout->type = rb_h5_member(member, type);
        rb_h5_drop(type);
    }
    return err || layout->type >= 0
               ? err
               : rb_h5_broken(file, RB_ERROR_FORMAT, "cannot read the texts of", data->path);
}

static rb_error read_texts(const rb_h5_data *data, const char *member, rb_name_list *list) {
    struct text_layout layout;
    rb_context *ctx = data->file->ctx;
    int64_t n = data->shape[0];
    rb_error err = find_member_layout(data, member, &layout);
    int64_t batch = layout.heap ? BATCH : 1 + LONGEST_TEXT / (int64_t)(layout.size + 1);
    char *cells = err ? NULL : rb_alloc(ctx, batch, layout.size);
    err = err || cells ? err : RB_ERROR_MEMORY;
    for (int64_t first = 0; !err && first < n; first += batch) {
        int64_t count = n - first < batch ? n - first : batch;
        err = rb_h5_data_read(data, first, count, layout.type, cells);
        for (int64_t i = 0; i < count && !err; i++) {
            const char *text;
            int64_t length;
            err = text_of(&layout, cells + i * (int64_t)layout.size, &text, &length);
            err = err ? err : rb_name_list_add(ctx, list, text, length);
        }
    }
    rb_free(cells);
    clear_layout(&layout);
    return err;
}

typedef union number {
    int64_t whole;
    double fraction;
} number;

/* As a text that reads back to the same bits; NaN is "". */
static int spell(const rb_h5_data *data, bool fractions, number value, char text[RB_SHORTEST]) {
    if (fractions) return isnan(value.fraction) ? 0 : rb_print_shortest(text, value.fraction);
    return data->boolean ? snprintf(text, RB_SHORTEST, "%s", value.whole ? "True" : "False")
                         : snprintf(text, RB_SHORTEST, "%lld", (long long)value.whole);
}

static rb_error read_numbers(const rb_h5_data *data, const char *member, bool fractions,
                             rb_name_list *list) {
    rb_context *ctx = data->file->ctx;
    hid_t plain = fractions ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64;
    hid_t type = member ? rb_h5_member(member, plain) : H5Tcopy(plain);
    int64_t n = data->shape[0];
    number *values = rb_alloc(ctx, n, sizeof *values);
    rb_error err = !values    ? RB_ERROR_MEMORY
                   : type < 0 ? rb_h5_data_broken(data)
                              : rb_h5_data_read(data, 0, n, type, values);
    for (int64_t i = 0; !err && i < n; i++) {
        char text[RB_SHORTEST];
        err = rb_name_list_add(ctx, list, text, spell(data, fractions, values[i], text));
    }
    rb_free(values);
    rb_h5_drop(type);
    return err;
}

rb_error rb_h5_read_texts(const rb_h5_data *data, const char *member, bool fractions,
                          rb_names **names) {
    rb_name_list list = {0};
    *names = NULL;
    if (data->rank != 1)
        return rb_h5_fail(data->file, RB_ERROR_FORMAT, "'%s' must be a list", data->path);
    hid_t type = rb_h5_member_type(data, member);
    H5T_class_t kind = data->boolean ? H5T_INTEGER : type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    rb_h5_drop(type);
    fractions = fractions && kind == H5T_FLOAT;
    rb_error err = fractions || kind == H5T_INTEGER ? read_numbers(data, member, fractions, &list)
                                                    : read_texts(data, member, &list);
    return rb_name_list_end(data->file->ctx, err, &list, names);
}

rb_error rb_h5_get_texts(rb_h5 *file, const char *path, rb_names **names) {
    rb_h5_data data;
    *names = NULL;
    rb_error err = rb_h5_data_open(file, path, &data);
    err = err ? err : rb_h5_read_texts(&data, NULL, false, names);
    rb_h5_data_close(&data);
    return err;
}

/* ---- attributes ---- */

/* Opens an attribute of `count` values, and gives its type; below 0: there is none such. */
static hid_t open_attribute(rb_h5 *file, const char *path, const char *name, int64_t count,
                            hid_t *type) {
    hid_t attribute = H5Aopen_by_name(file->id, path, name, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = attribute >= 0 ? H5Aget_space(attribute) : H5I_INVALID_HID;
    bool fits = space >= 0 && H5Sget_simple_extent_npoints(space) == count;
    *type = fits ? H5Aget_type(attribute) : H5I_INVALID_HID;
    rb_h5_drop(space);
    return attribute;
}

rb_error rb_h5_get_text(rb_h5 *file, const char *path, const char *name, char **text) {
    hid_t type, attribute = open_attribute(file, path, name, 1, &type);
    struct text_layout layout = {.type = type};
    const char *found = NULL;
    int64_t length = 0;
    *text = NULL;
    rb_error err = is_text(file, type)
                       ? find_layout(file, type, &layout)
                       : rb_h5_fail(file, RB_ERROR_FORMAT,
                                    "'%s' has no attribute '%s' that is one text", path, name);
    if (!err && layout.size > LONGEST_ATTRIBUTE)
        err = rb_h5_fail(file, RB_ERROR_FORMAT, "the attribute '%s' is too long", name);
    char *cell = err ? NULL : rb_alloc_zero(file->ctx, (int64_t)layout.size + 1, 1);
    err = err || cell ? err : RB_ERROR_MEMORY;
    if (!err && H5Aread(attribute, layout.type, cell) < 0)
        err = rb_h5_broken(file, RB_ERROR_FORMAT, "cannot read the attribute", name);
    err = err ? err : text_of(&layout, cell, &found, &length);
    if (!err) {
        *text = rb_copy_text(file->ctx, found);
        err = *text ? RB_OK : RB_ERROR_MEMORY;
    }
    rb_free(cell);
    clear_layout(&layout);
    rb_h5_drop(attribute);
    return err;
}

rb_error rb_h5_get_attribute_integers(rb_h5 *file, const char *path, const char *name,
                                      int64_t count, int64_t *values) {
    hid_t type, attribute = open_attribute(file, path, name, count, &type);
    bool done = type >= 0 && H5Tget_class(type) == H5T_INTEGER &&
                H5Aread(attribute, H5T_NATIVE_INT64, values) >= 0;
    rb_h5_drop(type);
    rb_h5_drop(attribute);
    return done ? RB_OK
                : rb_h5_fail(file, RB_ERROR_FORMAT,
                             "'%s' has no attribute '%s' of %lld whole number(s)", path, name,
                             (long long)count);
}

rb_error rb_h5_get_integer(rb_h5 *file, const char *path, const char *name, int64_t *value) {
    return rb_h5_get_attribute_integers(file, path, name, 1, value);
}

/* ---- what is in a group, what an object has ---- */

/* Names, as HDF5 comes to them: one by one by their number would take quadratic time. */
struct listing {
    rb_context *ctx;
    rb_name_list list;
    rb_error err;
};

static herr_t add_name(struct listing *listing, const char *name) {
    listing->err = rb_name_list_add(listing->ctx, &listing->list, name, (int64_t)strlen(name));
    return listing->err ? 1 : 0;
}

static herr_t add_link(hid_t group, const char *name, const H5L_info_t *info, void *listing) {
    return add_name(listing, name);
}

static herr_t add_attribute(hid_t object, const char *name, const H5A_info_t *info, void *listing) {
    return add_name(listing, name);
}

/* Links or attributes of an object, which is closed. */
static rb_error list_names(rb_h5 *file, const char *path, hid_t object, bool links,
                           rb_names **names) {
    static const H5_index_t orders[] = {H5_INDEX_CRT_ORDER, H5_INDEX_NAME};
    struct listing listing = {file->ctx, {0}, RB_OK};
    herr_t code = -1;
    for (int i = 0; i < 2 && object >= 0 && code < 0; i++) { /* the former may not be recorded */
        rb_name_list_clear(&listing.list);
        rb_h5_forget(file);
        code = links ? H5Literate(object, orders[i], H5_ITER_INC, NULL, add_link, &listing)
                     : H5Aiterate2(object, orders[i], H5_ITER_INC, NULL, add_attribute, &listing);
    }
    rb_h5_drop(object);
    if (code < 0) {
        listing.err =
            rb_h5_broken(file, RB_ERROR_FORMAT,
                         links ? "cannot list the group" : "cannot list the attributes of", path);
    }
    return rb_name_list_end(file->ctx, listing.err, &listing.list, names);
}

rb_error rb_h5_list(rb_h5 *file, const char *path, rb_names **names) {
    hid_t group = H5Gopen2(file->id, path, H5P_DEFAULT);
    *names = NULL;
    return group >= 0 ? list_names(file, path, group, true, names)
                      : rb_h5_broken(file, RB_ERROR_FORMAT, "there is no readable group", path);
}

rb_error rb_h5_list_attributes(rb_h5 *file, const char *path, rb_names **names) {
    return list_names(file, path, H5Oopen(file->id, path, H5P_DEFAULT), false, names);
}
