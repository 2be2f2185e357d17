/* Texts of variable length in HDF5 files. A cell holds a reference: length, address of a heap and
 * number of an object in it. HDF5 believes all three and copies what they say, so that a damaged
 * byte ends the process; here HDF5 gives the references and the heap is read by us.
 *
 * The layouts are those of the "Global Heap" and of variable-length types in the HDF5 File Format
 * Specification, sections III.E and VIII; all numbers are little-endian. */
#include "hdf5_base.h"

#include <string.h>

enum {
    KEPT = 32,            /* heaps whose objects are known: HDF5 fills up to 16 at a time */
    KEPT_BYTES = 1 << 16, /* of a heap that stays in memory: one of names has 4096 */
    LONGEST_TEXT = 1 << 20,
    MIN_HEAP = 4096,
    MARGIN = 1 << 26, /* bytes that even small files may cost */
    MAX_REREAD = 64   /* times the size of a file that its texts may cost */
};

struct object {
    int64_t address, size; /* of its bytes; address 0: there is none */
};

struct collection {
    int64_t address;
    struct object *objects; /* NULL: none */
    int64_t count;
    unsigned char *bytes; /* NULL: too many to keep */
};

struct rb_h5_heap {
    rb_h5 *file;
    hid_t type; /* of a reference in memory */
    int64_t base, file_bytes;
    size_t address_bytes, size_bytes;
    struct collection kept[KEPT];
    int next;     /* the one to be given up */
    int64_t left; /* bytes that may yet be read */
    rb_buffer text;
};

/* ---- how references get into memory ---- */

static const char conversion[] = "rarebit reference";

/* A conversion of HDF5 that leaves references as they are; only for the type made below. */
static herr_t leave(hid_t from, hid_t to, H5T_cdata_t *data, size_t count, size_t stride,
                    size_t background_stride, void *cells, void *background, hid_t transfer) {
    if (data->command != H5T_CONV_INIT) return 0;
    char *tag = H5Tget_tag(to);
    bool ours = tag && strcmp(tag, conversion) == 0;
    H5free_memory(tag);
    data->need_bkg = H5T_BKG_NO;
    /* a pointer in memory has another size */
    return ours && H5Tis_variable_str(from) > 0 && H5Tget_size(from) == H5Tget_size(to) ? 0 : -1;
}

static hid_t reference_type(const rb_h5_heap *heap) {
    hid_t type = H5Tcreate(H5T_OPAQUE, 8 + heap->address_bytes);
    hid_t text = rb_h5_text_type(H5T_VARIABLE);
    bool done = type >= 0 && text >= 0 && H5Tset_tag(type, conversion) >= 0 &&
                H5Tregister(H5T_PERS_SOFT, conversion, text, type, leave) >= 0;
    rb_h5_drop(text);
    if (!done) rb_h5_drop(type);
    return done ? type : H5I_INVALID_HID;
}

/* ---- opening ---- */

static bool find_sizes(rb_h5_heap *heap) {
    hsize_t base = 0, bytes = 0;
    hid_t list = H5Fget_create_plist(heap->file->id);
    bool done = list >= 0 && H5Pget_userblock(list, &base) >= 0 &&
                H5Pget_sizes(list, &heap->address_bytes, &heap->size_bytes) >= 0 &&
                H5Fget_filesize(heap->file->id, &bytes) >= 0 && heap->address_bytes <= 8 &&
                heap->size_bytes <= 8 && base <= INT64_MAX && bytes <= INT64_MAX;
    /* what was just written must be where we look for it */
    done = done && (heap->file->reading || H5Fflush(heap->file->id, H5F_SCOPE_LOCAL) >= 0);
    rb_h5_drop(list);
    heap->base = (int64_t)base;
    heap->file_bytes = (int64_t)bytes;
    heap->left = heap->file_bytes < INT64_MAX / MAX_REREAD - MARGIN
                     ? heap->file_bytes * MAX_REREAD + MARGIN
                     : INT64_MAX;
    return done;
}

rb_error rb_h5_heap_open(rb_h5 *file, rb_h5_heap **out, hid_t *type) {
    *out = NULL;
    rb_h5_heap *heap = rb_alloc_zero(file->ctx, 1, sizeof *heap);
    if (!heap) return RB_ERROR_MEMORY;
    heap->file = file;
    heap->type = find_sizes(heap) ? reference_type(heap) : H5I_INVALID_HID;
    if (heap->type < 0) {
        rb_free(heap);
        return rb_h5_broken(file, RB_ERROR_FORMAT, "cannot read texts of", file->shown);
    }
    *type = heap->type;
    *out = heap;
    return RB_OK;
}

static void collection_free(struct collection *collection) {
    rb_free(collection->objects);
    rb_free(collection->bytes);
}

void rb_h5_heap_close(rb_h5_heap *heap) {
    if (!heap) return;
    H5Tunregister(H5T_PERS_SOFT, conversion, H5I_INVALID_HID, H5I_INVALID_HID, leave);
    H5Tclose(heap->type);
    for (int i = 0; i < KEPT; i++)
        collection_free(&heap->kept[i]);
    rb_free(heap->text.data);
    rb_free(heap);
}

/* ---- collections ---- */

/* -1 for what does not fit, such as the address of nothing: all bits set. */
static int64_t number(const unsigned char *bytes, size_t count) {
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value <= INT64_MAX ? (int64_t)value : -1;
}

static int64_t padded(int64_t size) {
    return (size + 7) / 8 * 8;
}

static rb_error damaged(const rb_h5_heap *heap, int64_t address) {
    return rb_h5_fail(heap->file, RB_ERROR_FORMAT,
                      "the heap of texts at byte %lld of the file is damaged", (long long)address);
}

/* Reads bytes of the file, or copies those that are kept, no more in all than texts may cost. */
static rb_error read_bytes(rb_h5_heap *heap, int64_t address, int64_t count,
                           const struct collection *from, void *out) {
    if (count > heap->left) {
        return rb_h5_fail(heap->file, RB_ERROR_FORMAT,
                          "its texts would take more than %d times the size of the file",
                          MAX_REREAD);
    }
    heap->left -= count;
    if (from && from->bytes) {
        memcpy(out, from->bytes + (address - heap->base - from->address), (size_t)count);
        return RB_OK;
    }
    return rb_h5_disk_read(heap->file->disk, address, count, out) ? RB_OK : rb_h5_check(heap->file);
}

/* Goes through the objects of a collection of `size` bytes that stands at `address`; notes them
 * unless `objects` is NULL. Gives the largest number, or -1 for a damaged one. */
static int64_t walk(const rb_h5_heap *heap, const unsigned char *bytes, int64_t size,
                    int64_t address, struct object *objects) {
    int64_t head = padded(8 + (int64_t)heap->size_bytes), at = head, largest = 0;
    while (at <= size - head) { /* the head of an object has the same size */
        int64_t index = number(bytes + at, 2), length = number(bytes + at + 8, heap->size_bytes);
        if (index == 0) break; /* the rest is free */
        if (length < 0 || length > size - at - head) return -1;
        if (objects) objects[index] = (struct object){address + at + head, length};
        largest = index > largest ? index : largest;
        at += head + padded(length);
    }
    return largest;
}

/* Reads a collection of so many bytes. */
static rb_error load(rb_h5_heap *heap, int64_t address, int64_t size, struct collection *out) {
    int64_t place = heap->base + address;
    unsigned char *bytes = rb_alloc(heap->file->ctx, size, 1);
    rb_error err = bytes ? read_bytes(heap, place, size, NULL, bytes) : RB_ERROR_MEMORY;
    int64_t largest = err ? 0 : walk(heap, bytes, size, place, NULL);
    if (!err && largest < 0) err = damaged(heap, address);
    if (!err) {
        *out = (struct collection){address, .count = largest + 1};
        out->objects = rb_alloc_zero(heap->file->ctx, largest + 1, sizeof *out->objects);
        err = out->objects ? RB_OK : RB_ERROR_MEMORY;
    }
    if (!err) walk(heap, bytes, size, place, out->objects);
    if (!err && size <= KEPT_BYTES)
        out->bytes = bytes;
    else
        rb_free(bytes);
    return err;
}

static rb_error find(rb_h5_heap *heap, int64_t address, const struct collection **found) {
    unsigned char head[16] = {0};
    struct collection loaded, *kept = heap->kept;
    for (int i = 0; i < KEPT; i++) {
        if (kept[i].address == address && kept[i].objects) {
            *found = &kept[i];
            return RB_OK;
        }
    }
    int64_t left = heap->file_bytes - heap->base - address;
    if (address < 0 || left < MIN_HEAP) return damaged(heap, address);
    rb_error err = read_bytes(heap, heap->base + address, sizeof head, NULL, head);
    int64_t size = number(head + 8, heap->size_bytes);
    if (!err && (memcmp(head, "GCOL\1", 5) != 0 || size < MIN_HEAP || size > left))
        err = damaged(heap, address);
    err = err ? err : load(heap, address, size, &loaded);
    if (!err) {
        collection_free(&kept[heap->next]);
        kept[heap->next] = loaded;
        *found = &kept[heap->next];
        heap->next = (heap->next + 1) % KEPT;
    }
    return err;
}

/* ---- texts ---- */

rb_error rb_h5_heap_text(rb_h5_heap *heap, const void *reference, const char **text,
                         int64_t *length) {
    const unsigned char *bytes = reference;
    const struct collection *collection = NULL;
    int64_t address = number(bytes + 4, heap->address_bytes);
    int64_t index = number(bytes + 4 + heap->address_bytes, 4);
    *length = number(bytes, 4);
    *text = "";
    if (*length == 0) return RB_OK;
    rb_error err = find(heap, address, &collection);
    if (err) return err;
    if (index >= collection->count || collection->objects[index].address == 0 ||
        *length > collection->objects[index].size)
        return damaged(heap, address);
    if (*length > LONGEST_TEXT) {
        return rb_h5_fail(heap->file, RB_ERROR_FORMAT, "a text of %lld bytes is too long",
                          (long long)*length);
    }
    err = rb_buffer_hold(heap->file->ctx, &heap->text, *length + 1, 1);
    if (err) return err;
    char *to = heap->text.data;
    to[*length] = '\0';
    *text = to;
    return read_bytes(heap, collection->objects[index].address, *length, collection, to);
}
