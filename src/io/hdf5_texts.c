/* HDF5 in plain terms: reading many texts, and the names of what is in a file. */
#include "hdf5_base.h"

#include <stdio.h>
#include <string.h>

/* Texts are read this many, or this many bytes, at a time. */
enum { BATCH = 4096, LONGEST_TEXT = 1 << 20 };

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

/* The layout is to be cleared in any case. */
static rb_error find_layout(rb_h5 *file, const char *path, hid_t data, const char *member,
                            struct text_layout *layout) {
    *layout = (struct text_layout){.type = H5Dget_type(data)};
    if (layout->type >= 0 && member) {
        hid_t table = layout->type;
        int index = H5Tget_member_index(table, member);
        layout->type = index >= 0 ? H5Tget_member_type(table, (unsigned)index) : H5I_INVALID_HID;
        H5Tclose(table);
    }
    bool texts = layout->type >= 0 && H5Tget_class(layout->type) == H5T_STRING;
    bool variable = texts && H5Tis_variable_str(layout->type) > 0;
    if (!texts || (variable && file->style == RB_H5_OWN)) {
        return rb_h5_fail(file, RB_ERROR_FORMAT, "'%s' must hold texts%s", path,
                          texts ? " of fixed length" : "");
    }
    layout->space_padded = H5Tget_strpad(layout->type) == H5T_STR_SPACEPAD;
    layout->size = H5Tget_size(layout->type);
    if (variable) {
        rb_error err = rb_h5_heap_open(file, &layout->heap);
        if (err) {
            return err;
        }
        H5Tclose(layout->type);
        layout->type = H5Tcopy(rb_h5_heap_type(layout->heap));
        layout->size = rb_h5_heap_reference_bytes(layout->heap);
    }
    if (layout->size == 0 || layout->size > LONGEST_TEXT) {
        return rb_h5_fail(file, RB_ERROR_FORMAT, "the texts of '%s' are too long", path);
    }
    if (member) {
        hid_t text = layout->type;
        layout->type = rb_h5_member(member, text);
        rb_h5_drop(text);
    }
    return layout->type >= 0
               ? RB_OK
               : rb_h5_broken(file, RB_ERROR_FORMAT, "cannot read the texts of", path);
}

/* Adds one text of fixed or variable length. */
static rb_error add_text(rb_context *ctx, rb_name_list *list, const struct text_layout *layout,
                         const char *cell) {
    int64_t length;
    if (layout->heap) {
        const char *text;
        rb_error err = rb_h5_heap_text(layout->heap, cell, &text, &length);
        return err ? err : rb_name_list_add(ctx, list, text, length);
    }
    length = (int64_t)strnlen(cell, layout->size);
    while (layout->space_padded && length > 0 && cell[length - 1] == ' ') {
        length--;
    }
    return rb_name_list_add(ctx, list, cell, length);
}

static rb_error read_texts(rb_h5 *file, const char *path, const rb_h5_data *data,
                           const char *member, rb_name_list *list) {
    struct text_layout layout;
    rb_error err = find_layout(file, path, data->id, member, &layout);
    int64_t batch = layout.heap ? BATCH : 1 + LONGEST_TEXT / (int64_t)(layout.size + 1);
    char *cells = err ? NULL : rb_alloc(file->ctx, batch, layout.size);
    if (!err && !cells) {
        err = RB_ERROR_MEMORY;
    }
    for (int64_t first = 0; !err && first < data->shape[0]; first += batch) {
        int64_t count = data->shape[0] - first < batch ? data->shape[0] - first : batch;
        err = rb_h5_data_read(file, path, data, first, count, 0, 1, layout.type, cells);
        for (int64_t i = 0; i < count && !err; i++) {
            err = add_text(file->ctx, list, &layout, cells + i * (int64_t)layout.size);
        }
    }
    rb_free(cells);
    clear_layout(&layout);
    return err;
}

/* Names that are whole numbers or truth values are written out. */
static rb_error read_numbers(rb_h5 *file, const char *path, const rb_h5_data *data,
                             rb_name_list *list) {
    rb_context *ctx = file->ctx;
    int64_t *values = rb_alloc(ctx, data->shape[0], sizeof *values);
    rb_error err = values ? rb_h5_data_read(file, path, data, 0, data->shape[0], 0, 1,
                                            H5T_NATIVE_INT64, values)
                          : RB_ERROR_MEMORY;
    for (int64_t i = 0; !err && i < data->shape[0]; i++) {
        char text[32];
        int length = data->boolean ? snprintf(text, sizeof text, "%s", values[i] ? "True" : "False")
                                   : snprintf(text, sizeof text, "%lld", (long long)values[i]);
        err = rb_name_list_add(ctx, list, text, length);
    }
    rb_free(values);
    return err;
}

rb_error rb_h5_read_texts(rb_h5 *file, const char *path, const rb_h5_data *data, const char *member,
                          rb_names **names) {
    rb_name_list list = {0};
    *names = NULL;
    if (data->rank != 1) {
        return rb_h5_fail(file, RB_ERROR_FORMAT, "'%s' must hold a list of texts", path);
    }
    rb_error err = data->kind == H5T_INTEGER ? read_numbers(file, path, data, &list)
                                             : read_texts(file, path, data, member, &list);
    return rb_name_list_end(file->ctx, err, &list, names);
}

rb_error rb_h5_get_texts(rb_h5 *file, const char *path, rb_names **names) {
    rb_h5_data data;
    *names = NULL;
    rb_error err = rb_h5_data_open(file, path, &data);
    err = err ? err : rb_h5_read_texts(file, path, &data, NULL, names);
    rb_h5_data_close(&data);
    return err;
}

/* ---- what is in a group, what an object has ---- */

static H5_index_t link_order(hid_t group) {
    unsigned order = 0;
    hid_t list = H5Gget_create_plist(group);
    if (list >= 0) {
        H5Pget_link_creation_order(list, &order);
        H5Pclose(list);
    }
    return order & H5P_CRT_ORDER_TRACKED ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
}

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
    (void)group;
    (void)info;
    return add_name(listing, name);
}

static herr_t add_attribute(hid_t object, const char *name, const H5A_info_t *info, void *listing) {
    (void)object;
    (void)info;
    return add_name(listing, name);
}

rb_error rb_h5_list(rb_h5 *file, const char *path, rb_names **names) {
    struct listing listing = {file->ctx, {0}, RB_OK};
    *names = NULL;
    hid_t group = H5Gopen2(file->id, path, H5P_DEFAULT);
    if (group < 0) {
        return rb_h5_broken(file, RB_ERROR_FORMAT, "there is no readable group", path);
    }
    herr_t code = H5Literate(group, link_order(group), H5_ITER_INC, NULL, add_link, &listing);
    H5Gclose(group);
    if (code < 0) {
        listing.err = rb_h5_broken(file, RB_ERROR_FORMAT, "cannot list the group", path);
    }
    return rb_name_list_end(file->ctx, listing.err, &listing.list, names);
}

rb_error rb_h5_list_attributes(rb_h5 *file, const char *path, rb_names **names) {
    struct listing listing = {file->ctx, {0}, RB_OK};
    *names = NULL;
    hid_t object = H5Oopen(file->id, path, H5P_DEFAULT);
    herr_t code = -1;
    if (object >= 0) {
        code = H5Aiterate2(object, H5_INDEX_CRT_ORDER, H5_ITER_INC, NULL, add_attribute, &listing);
    }
    if (object >= 0 && code < 0 && !listing.err) { /* the order of creation was not recorded */
        rb_name_list_clear(&listing.list);
        code = H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, NULL, add_attribute, &listing);
    }
    if (object >= 0) {
        H5Oclose(object);
    }
    if (code < 0) {
        listing.err = rb_h5_broken(file, RB_ERROR_FORMAT, "cannot list the attributes of", path);
    }
    return rb_name_list_end(file->ctx, listing.err, &listing.list, names);
}
