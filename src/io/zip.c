/* ZIP, as far as .npz needs it (PKWARE, APPNOTE.TXT 6.3): files that are stored or deflated, listed
 * at the end. Sizes above 4 GiB (ZIP64) are read and not written. */
#include "io.h"

#include <string.h>
#include <zlib.h>

enum {
    LOCAL = 0x04034b50,
    CENTRAL = 0x02014b50,
    END = 0x06054b50,
    LOCAL_BYTES = 30,
    CENTRAL_BYTES = 46,
    END_BYTES = 22,
    STORED = 0,
    DEFLATED = 8
};
static const uint64_t WIDE = 0xFFFFFFFF; /* in place of a size: it stands in the extra field */

static rb_error damaged(rb_context *ctx, const char *path, const char *what) {
    return rb_fail(ctx, RB_ERROR_FORMAT, "%s is not a sound .npz file: %s", path, what);
}

/* ---- reading ---- */

/* A file as the list at the end has it. */
struct listed {
    uint64_t flags, method, crc, packed, size, offset;
    const unsigned char *name;
    int64_t name_bytes;
};

/* Where the list begins, and how many entries it has. */
static const unsigned char *find_end(rb_span file) {
    int64_t first = file.count - END_BYTES, last = first - 65535 < 0 ? 0 : first - 65535;
    for (int64_t at = first; at >= last; at--)
        if (rb_little(file.data + at, 4) == END) return file.data + at;
    return NULL;
}

/* Sizes of an entry above 4 GiB: an extra field of kind 1, in the order of those that need it. */
static bool take_wide(const unsigned char *extra, int64_t bytes, struct listed *entry) {
    uint64_t *wanted[] = {&entry->size, &entry->packed, &entry->offset};
    while (bytes >= 4) {
        int64_t kind = (int64_t)rb_little(extra, 2), length = (int64_t)rb_little(extra + 2, 2);
        if (length > bytes - 4) return false;
        for (int i = 0, at = 0; kind == 1 && i < 3; i++) {
            if (*wanted[i] != WIDE) continue;
            if (at + 8 > length) return false;
            *wanted[i] = rb_little(extra + 4 + at, 8);
            at += 8;
        }
        extra += 4 + length;
        bytes -= 4 + length;
    }
    return true;
}

/* The entry at `at`; NULL, or what is wrong with it. */
static const char *take_listed(rb_span file, int64_t *at, struct listed *entry) {
    if (*at > file.count - CENTRAL_BYTES) return "its list of files is cut off";
    const unsigned char *p = file.data + *at;
    if (rb_little(p, 4) != CENTRAL) return "its list of files is damaged";
    int64_t extra = (int64_t)rb_little(p + 30, 2), comment = (int64_t)rb_little(p + 32, 2);
    *entry = (struct listed){.flags = rb_little(p + 8, 2),
                             .method = rb_little(p + 10, 2),
                             .crc = rb_little(p + 16, 4),
                             .packed = rb_little(p + 20, 4),
                             .size = rb_little(p + 24, 4),
                             .offset = rb_little(p + 42, 4),
                             .name = p + CENTRAL_BYTES,
                             .name_bytes = (int64_t)rb_little(p + 28, 2)};
    int64_t bytes = CENTRAL_BYTES + entry->name_bytes + extra + comment;
    if (bytes > file.count - *at) return "its list of files is cut off";
    *at += bytes;
    if (!take_wide(entry->name + entry->name_bytes, extra, entry))
        return "its list of files is damaged";
    if (entry->flags & 1) return "it is encrypted";
    return NULL;
}

static bool inflate_all(rb_span packed, unsigned char *out, int64_t count) {
    z_stream z = {0};
    if (packed.count > UINT32_MAX || count > UINT32_MAX || inflateInit2(&z, -MAX_WBITS) != Z_OK)
        return false;
    z.next_in = (unsigned char *)packed.data;
    z.avail_in = (unsigned)packed.count;
    z.next_out = out;
    z.avail_out = (unsigned)count;
    int code = inflate(&z, Z_FINISH);
    bool whole = code == Z_STREAM_END && z.avail_out == 0;
    inflateEnd(&z);
    return whole;
}

/* Where the bytes of an entry lie; NULL, or what is wrong. */
static const char *find_bytes(rb_span file, const struct listed *entry, rb_span *packed) {
    uint64_t count = (uint64_t)file.count;
    if (count < LOCAL_BYTES || entry->offset > count - LOCAL_BYTES) return "a file is cut off";
    const unsigned char *p = file.data + entry->offset;
    if (rb_little(p, 4) != LOCAL) return "a file is not where the list says";
    uint64_t begin = entry->offset + LOCAL_BYTES + rb_little(p + 26, 2) + rb_little(p + 28, 2);
    if (begin > count || entry->packed > count - begin) return "a file is cut off";
    *packed = (rb_span){file.data + begin, (int64_t)entry->packed};
    if (entry->method != STORED && entry->method != DEFLATED)
        return "a file is packed by a method other than deflate";
    if (entry->method == STORED && entry->size != entry->packed) return "sizes contradict";
    if (entry->size / RB_DEFLATE_LIMIT > entry->packed) return "sizes contradict";
    return NULL;
}

static rb_error read_entry(rb_context *ctx, const char *path, rb_span file,
                           const struct listed *from, rb_zip_entry *entry) {
    rb_span packed;
    const char *problem = find_bytes(file, from, &packed);
    if (!problem &&
        (from->name_bytes >= RB_ZIP_NAME || memchr(from->name, 0, (size_t)from->name_bytes)))
        problem = "a name in it is too long or holds a zero byte";
    if (problem) return damaged(ctx, path, problem);
    memcpy(entry->name, from->name, (size_t)from->name_bytes);
    entry->count = (int64_t)from->size;
    entry->data = rb_alloc(ctx, entry->count + 1, 1);
    if (!entry->data) return RB_ERROR_MEMORY;
    if (from->method == STORED)
        memcpy(entry->data, packed.data, (size_t)packed.count);
    else if (!inflate_all(packed, entry->data, entry->count))
        return damaged(ctx, path, "its packed content is damaged");
    rb_crc32 crc;
    rb_crc32_prepare(&crc);
    if (rb_crc32_add(&crc, 0, entry->data, (size_t)entry->count) != from->crc)
        return damaged(ctx, path, "a checksum does not agree");
    return RB_OK;
}

static rb_error read_entries(rb_context *ctx, const char *path, rb_span file, rb_zip *zip) {
    const unsigned char *end = file.count >= END_BYTES ? find_end(file) : NULL;
    if (!end) return damaged(ctx, path, "it has no list of files at its end");
    int count = (int)rb_little(end + 10, 2);
    int64_t at = (int64_t)rb_little(end + 16, 4);
    if (count > RB_ZIP_ENTRIES) return damaged(ctx, path, "it has more than 256 arrays");
    zip->entries = rb_alloc_zero(ctx, count + 1, sizeof *zip->entries);
    if (!zip->entries) return RB_ERROR_MEMORY;
    for (int i = 0; i < count; i++) {
        struct listed entry;
        const char *problem = take_listed(file, &at, &entry);
        if (problem) return damaged(ctx, path, problem);
        zip->count++;
        rb_error err = read_entry(ctx, path, file, &entry, &zip->entries[i]);
        if (err) return err;
    }
    return RB_OK;
}

rb_error rb_zip_read(rb_context *ctx, const char *path, rb_zip *zip) {
    unsigned char *bytes;
    int64_t count;
    rb_reading reading;
    *zip = (rb_zip){0};
    rb_reading_begin(ctx, &reading, path);
    rb_error err = rb_load_bytes(ctx, path, &bytes, &count);
    err = err ? err : read_entries(ctx, path, (rb_span){bytes, count}, zip);
    rb_reading_end(ctx);
    rb_free(bytes);
    return err;
}

void rb_zip_clear(rb_zip *zip) {
    for (int i = 0; i < zip->count; i++)
        rb_free(zip->entries[i].data);
    rb_free(zip->entries);
    *zip = (rb_zip){0};
}

/* ---- writing ---- */

static unsigned char *put(unsigned char *to, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++)
        *to++ = (unsigned char)(value >> (8 * i));
    return to;
}

/* What the two headers of a file have in common, from "version needed" on. No time: 1980. */
static unsigned char *put_common(unsigned char *to, uint32_t crc, int64_t size, size_t name) {
    to = put(to, 20, 2);      /* version */
    to = put(to, 1 << 11, 2); /* names are UTF-8 */
    to = put(to, STORED, 2);
    to = put(to, 0, 2);
    to = put(to, 1 << 5 | 1, 2); /* 1 January */
    to = put(to, crc, 4);
    to = put(to, (uint64_t)size, 4);
    to = put(to, (uint64_t)size, 4);
    return put(put(to, name, 2), 0, 2);
}

static rb_error list_file(rb_zip_writer *zip, const char *name, uint32_t crc, int64_t size) {
    size_t length = strlen(name);
    int64_t bytes = CENTRAL_BYTES + (int64_t)length;
    rb_error err = rb_buffer_hold(zip->ctx, &zip->list, zip->list_bytes + bytes, 1);
    if (err) return err;
    unsigned char *to = (unsigned char *)zip->list.data + zip->list_bytes;
    to = put(put(to, CENTRAL, 4), 20, 2);
    to = put_common(to, crc, size, length);
    to = put(put(to, 0, 2), 0, 2); /* comment, disk */
    to = put(put(to, 0, 2), 0, 4); /* attributes */
    to = put(to, (uint64_t)zip->at, 4);
    for (size_t i = 0; i < length; i++) /* without its end */
        to[i] = (unsigned char)name[i];
    zip->list_bytes += bytes;
    zip->count++;
    return RB_OK;
}

rb_error rb_zip_add(rb_zip_writer *zip, const char *name, rb_span head, rb_span data) {
    unsigned char header[LOCAL_BYTES];
    rb_crc32 crc;
    int64_t size = head.count + data.count;
    if (size > INT32_MAX || zip->at > INT32_MAX - size) {
        return rb_fail(zip->ctx, RB_ERROR_UNSUPPORTED,
                       "an .npz is written up to 2 GB, and this would be larger");
    }
    rb_crc32_prepare(&crc);
    uint32_t sum = rb_crc32_add(&crc, 0, head.data, (size_t)head.count);
    sum = rb_crc32_add(&crc, sum, data.data, (size_t)data.count);
    rb_error err = list_file(zip, name, sum, size);
    if (err) return err;
    put_common(put(header, LOCAL, 4), sum, size, strlen(name));
    fwrite(header, sizeof header, 1, zip->file);
    fwrite(name, strlen(name), 1, zip->file);
    fwrite(head.data, 1, (size_t)head.count, zip->file);
    fwrite(data.data, 1, (size_t)data.count, zip->file);
    zip->at += LOCAL_BYTES + (int64_t)strlen(name) + size;
    return RB_OK;
}

rb_error rb_zip_end(rb_zip_writer *zip, rb_error err) {
    unsigned char end[END_BYTES], *to = put(put(end, END, 4), 0, 4);
    to = put(put(to, (uint64_t)zip->count, 2), (uint64_t)zip->count, 2);
    to = put(put(to, (uint64_t)zip->list_bytes, 4), (uint64_t)zip->at, 4);
    put(to, 0, 2);
    if (!err) { /* what a file could not take is found when it is closed */
        fwrite(zip->list.data, 1, (size_t)zip->list_bytes, zip->file);
        fwrite(end, sizeof end, 1, zip->file);
    }
    rb_free(zip->list.data);
    zip->list = (rb_buffer){0};
    return err;
}
