/* HDF5 in plain terms: reading many texts, and the names of what is in a file. */
#include "hdf5_base.h"

#include <stdio.h>
#include <string.h>

/* Texts are read this many at a time, and a batch may take this much memory: a hostile file can
 * point to one long text from everywhere. */
enum { BATCH = 4096, BATCH_BYTES = 1 << 28, LONGEST_TEXT = 1 << 20, LONGEST_NAME = 4096 };

/* Memory that HDF5 fills with texts of variable length: all freed at once, also after a failure. */
struct arena {
    rb_context *ctx;
    int64_t left;
    struct arena_block {
        struct arena_block *next;
    } * blocks;
};

static void *arena_take(size_t size, void *info) {
    struct arena *arena = info;
    if (size > (size_t)arena->left) {
        return NULL;
    }
    struct arena_block *block = rb_alloc(arena->ctx, (int64_t)(size + sizeof *block), 1);
    if (!block) {
        return NULL;
    }
    arena->left -= (int64_t)size;
    block->next = arena->blocks;
    arena->blocks = block;
    return block + 1;
}

static void arena_keep(void *memory, void *info) {
    (void)memory;
    (void)info;
}

static void arena_free(struct arena *arena) {
    while (arena->blocks) {
        struct arena_block *next = arena->blocks->next;
        rb_free(arena->blocks);
        arena->blocks = next;
    }
    arena->left = BATCH_BYTES;
}

/* How the texts of a data set lie in memory. */
struct text_layout {
    hid_t type; /* what to ask HDF5 for: the text, or a compound of it alone */
    size_t size;
    bool variable, space_padded;
};

static bool wrap_in_member(struct text_layout *layout, const char *member) {
    hid_t text = layout->type;
    layout->type = H5Tcreate(H5T_COMPOUND, layout->size);
    bool done = layout->type >= 0 && H5Tinsert(layout->type, member, 0, text) >= 0;
    H5Tclose(text);
    return done;
}

/* False when these are no texts, or absurdly long ones. */
static bool find_layout(hid_t data, const char *member, struct text_layout *layout) {
    hid_t type = H5Dget_type(data);
    if (type >= 0 && member) {
        int index = H5Tget_member_index(type, member);
        hid_t inner = index >= 0 ? H5Tget_member_type(type, (unsigned)index) : H5I_INVALID_HID;
        H5Tclose(type);
        type = inner;
    }
    layout->type = type;
    if (type < 0 || H5Tget_class(type) != H5T_STRING) {
        return false;
    }
    layout->variable = H5Tis_variable_str(type) > 0;
    layout->space_padded = H5Tget_strpad(type) == H5T_STR_SPACEPAD;
    layout->size = H5Tget_size(type);
    if (layout->size == 0 || layout->size > LONGEST_TEXT) {
        return false;
    }
    return !member || wrap_in_member(layout, member);
}

/* Adds one text of fixed or variable length. */
static rb_error add_text(rb_context *ctx, rb_name_list *list, const struct text_layout *layout,
                         const char *cell) {
    if (layout->variable) {
        const char *text;
        memcpy(&text, cell, sizeof text);
        return rb_name_list_add(ctx, list, text ? text : "", text ? (int64_t)strlen(text) : 0);
    }
    size_t length = strnlen(cell, layout->size);
    while (layout->space_padded && length > 0 && cell[length - 1] == ' ') {
        length--;
    }
    return rb_name_list_add(ctx, list, cell, (int64_t)length);
}

static rb_error read_all(rb_h5 *file, const char *path, const rb_h5_data *data,
                         const struct text_layout *layout, hid_t transfer, struct arena *arena,
                         rb_name_list *list) {
    rb_context *ctx = file->ctx;
    int64_t batch = layout->variable ? BATCH : 1 + LONGEST_TEXT / (int64_t)layout->size;
    char *cells = rb_alloc(ctx, batch, layout->size);
    rb_error err = cells ? RB_OK : RB_ERROR_MEMORY;
    for (int64_t first = 0; !err && first < data->shape[0]; first += batch) {
        hsize_t start = (hsize_t)first;
        hsize_t count = (hsize_t)(data->shape[0] - first < batch ? data->shape[0] - first : batch);
        hid_t space = H5Dget_space(data->id), memory = H5Screate_simple(1, &count, NULL);
        ctx->sentence[0] = '\0'; /* set again when it was our memory that ran out */
        if (space < 0 || memory < 0 ||
            H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL) < 0 ||
            H5Dread(data->id, layout->type, memory, space, transfer, cells) < 0) {
            err = ctx->sentence[0]
                      ? RB_ERROR_MEMORY
                      : rb_h5_broken(file, RB_ERROR_FORMAT, "cannot read the texts of", path);
        }
        for (hsize_t i = 0; !err && i < count; i++) {
            err = add_text(ctx, list, layout, cells + i * layout->size);
        }
        arena_free(arena);
        if (memory >= 0) {
            H5Sclose(memory);
        }
        if (space >= 0) {
            H5Sclose(space);
        }
    }
    rb_free(cells);
    return err;
}

/* Names that are whole numbers are written out. */
static rb_error read_numbers(rb_h5 *file, const char *path, const rb_h5_data *data,
                             rb_name_list *list) {
    rb_context *ctx = file->ctx;
    int64_t *values = rb_alloc(ctx, data->shape[0], sizeof *values);
    rb_error err = values ? rb_h5_data_read(file, path, data, 0, data->shape[0], 0, 1,
                                            H5T_NATIVE_INT64, values)
                          : RB_ERROR_MEMORY;
    for (int64_t i = 0; !err && i < data->shape[0]; i++) {
        char text[32];
        int length = snprintf(text, sizeof text, "%lld", (long long)values[i]);
        err = rb_name_list_add(ctx, list, text, length);
    }
    rb_free(values);
    return err;
}

static rb_error read_texts(rb_h5 *file, const char *path, const rb_h5_data *data,
                           const char *member, rb_name_list *list) {
    struct arena arena = {file->ctx, BATCH_BYTES, NULL};
    struct text_layout layout;
    rb_error err = RB_OK;
    bool texts = find_layout(data->id, member, &layout);
    hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    if (!texts || (layout.variable && file->style == RB_H5_OWN)) {
        err = rb_h5_fail(file, RB_ERROR_FORMAT, "'%s' must hold texts%s", path,
                         texts ? " of fixed length" : "");
    } else if (transfer < 0 ||
               H5Pset_vlen_mem_manager(transfer, arena_take, &arena, arena_keep, &arena) < 0) {
        err = rb_h5_broken(file, RB_ERROR_FORMAT, "cannot read the texts of", path);
    } else {
        err = read_all(file, path, data, &layout, transfer, &arena, list);
    }
    if (transfer >= 0) {
        H5Pclose(transfer);
    }
    if (layout.type >= 0) {
        H5Tclose(layout.type);
    }
    return err;
}

static rb_error finish_list(rb_context *ctx, rb_error err, rb_name_list *list, rb_names **names) {
    *names = err ? NULL : rb_name_list_finish(ctx, list);
    rb_name_list_clear(list);
    return err ? err : *names ? RB_OK : RB_ERROR_MEMORY;
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
    return finish_list(file->ctx, err, &list, names);
}

rb_error rb_h5_get_texts(rb_h5 *file, const char *path, rb_names **names) {
    rb_h5_data data;
    *names = NULL;
    rb_error err = rb_h5_data_open(file, path, &data);
    if (!err) {
        err = rb_h5_read_texts(file, path, &data, NULL, names);
    }
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

rb_error rb_h5_list(rb_h5 *file, const char *path, rb_names **names) {
    rb_name_list list = {0};
    H5G_info_t info = {0};
    rb_error err = RB_OK;
    *names = NULL;
    hid_t group = H5Gopen2(file->id, path, H5P_DEFAULT);
    if (group < 0 || H5Gget_info(group, &info) < 0) {
        err = rb_h5_broken(file, RB_ERROR_FORMAT, "there is no readable group", path);
    }
    for (hsize_t i = 0; !err && i < info.nlinks; i++) {
        char name[LONGEST_NAME];
        ssize_t length = H5Lget_name_by_idx(group, ".", link_order(group), H5_ITER_INC, i, name,
                                            sizeof name, H5P_DEFAULT);
        err = length < 0 || length >= (ssize_t)sizeof name
                  ? rb_h5_broken(file, RB_ERROR_FORMAT, "cannot list the group", path)
                  : rb_name_list_add(file->ctx, &list, name, length);
    }
    if (group >= 0) {
        H5Gclose(group);
    }
    return finish_list(file->ctx, err, &list, names);
}

struct listing {
    rb_context *ctx;
    rb_name_list list;
    rb_error err;
};

static herr_t add_attribute(hid_t object, const char *name, const H5A_info_t *info, void *user) {
    struct listing *listing = user;
    (void)object;
    (void)info;
    listing->err = rb_name_list_add(listing->ctx, &listing->list, name, (int64_t)strlen(name));
    return listing->err ? 1 : 0;
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
    return finish_list(file->ctx, listing.err, &listing.list, names);
}
