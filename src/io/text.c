/* Lines of any length from a plain or gzip file. */
#include "io.h"

#include <string.h>
#include <zlib.h>

enum { CHUNK = 1 << 17 };

struct rb_lines {
    gzFile file; /* zlib gives plain files as they are */
    char *path;
    char *bytes; /* what was read: given lines up to `next`, then the rest up to `used` */
    int64_t next, used, capacity;
    int64_t number;
    int64_t file_bytes;
    bool ended;
};

rb_error rb_lines_open(rb_context *ctx, const char *path, bool any, rb_lines **out) {
    *out = NULL;
    rb_lines *lines = rb_alloc_zero(ctx, 1, sizeof *lines);
    if (!lines) return RB_ERROR_MEMORY;
    lines->capacity = 2 * CHUNK;
    lines->bytes = rb_alloc(ctx, lines->capacity, 1);
    lines->path = rb_copy_text(ctx, path);
    rb_error err = lines->bytes && lines->path ? RB_OK : RB_ERROR_MEMORY;
    err = err ? err : rb_gz_open(ctx, path, any, &lines->file);
    if (err) {
        rb_lines_close(lines);
        return err;
    }
    gzbuffer(lines->file, CHUNK);
    lines->file_bytes = rb_file_size(path);
    *out = lines;
    return RB_OK;
}

void rb_lines_close(rb_lines *lines) {
    if (!lines) return;
    if (lines->file) gzclose(lines->file);
    rb_free(lines->bytes);
    rb_free(lines->path);
    rb_free(lines);
}

int64_t rb_lines_number(const rb_lines *lines) {
    return lines->number;
}

rb_error rb_lines_fail(rb_context *ctx, const rb_lines *lines, rb_error code, int64_t column,
                       const char *format, ...) {
    char what[768], at[32] = "";
    va_list list;
    va_start(list, format);
    rb_print_list(what, sizeof what, format, list);
    va_end(list);
    if (column > 0) snprintf(at, sizeof at, ", column %lld", (long long)column);
    return rb_fail(ctx, code, "%s, row %lld%s: %s", lines->path, (long long)lines->number, at,
                   what);
}

/* Adds a chunk of the file to the bytes; moves the unfinished line to the front first. */
static rb_error refill(rb_context *ctx, rb_lines *lines) {
    rb_error err = rb_check_stop(ctx);
    if (err) return err;
    memmove(lines->bytes, lines->bytes + lines->next, (size_t)(lines->used - lines->next));
    lines->used -= lines->next;
    lines->next = 0;
    /* One byte stays for the 0 after the last line. */
    char *bytes = rb_reserve(ctx, lines->bytes, lines->used, CHUNK + 1, &lines->capacity, 1);
    if (!bytes) return RB_ERROR_MEMORY;
    lines->bytes = bytes;
    int count = gzread(lines->file, lines->bytes + lines->used, CHUNK);
    if (count < CHUNK) {
        err = rb_gz_check(ctx, lines->path, lines->file, lines->number);
        if (err) return err;
        lines->ended = true;
    }
    lines->used += count;
    return gzdirect(lines->file) ? RB_OK
                                 : rb_expansion_check(ctx, lines->path, lines->file_bytes,
                                                      (double)gztell(lines->file));
}

/* Drops a UTF-8 byte order mark; says so when the file is UTF-16. */
static rb_error skip_mark(rb_context *ctx, rb_lines *lines) {
    const unsigned char *bytes = (const unsigned char *)lines->bytes;
    if (lines->used >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0)
        lines->next = 3;
    else if (lines->used >= 2 &&
             (memcmp(bytes, "\xFF\xFE", 2) == 0 || memcmp(bytes, "\xFE\xFF", 2) == 0))
        return rb_fail(ctx, RB_ERROR_FORMAT, "%s is UTF-16 text: save it as UTF-8", lines->path);
    return RB_OK;
}

int64_t rb_lines_skip_empty(rb_lines *lines) {
    int64_t before = lines->next;
    while (lines->next < lines->used && lines->bytes[lines->next] == '\n')
        lines->next++;
    lines->number += lines->next - before;
    return lines->next - before;
}

rb_error rb_lines_next(rb_context *ctx, rb_lines *lines, char **line, int64_t *length) {
    *line = NULL;
    *length = 0;
    bool first = lines->number == 0 && lines->used == 0;
    int64_t searched = 0;
    char *start, *end;
    for (;;) {
        start = lines->bytes + lines->next;
        int64_t there = lines->used - lines->next;
        end = memchr(start + searched, '\n', (size_t)(there - searched));
        if (end || lines->ended) break;
        searched = there;
        rb_error err = refill(ctx, lines);
        if (!err && first) {
            err = skip_mark(ctx, lines);
            searched = 0;
            first = false;
        }
        if (err) return err;
    }
    if (!end && lines->next == lines->used) return RB_OK;
    lines->next = end ? end + 1 - lines->bytes : lines->used;
    if (!end) end = lines->bytes + lines->used;
    end -= end > start && end[-1] == '\r';
    *end = '\0';
    *line = start;
    *length = end - start;
    lines->number++;
    return RB_OK;
}
