/* A whole file in memory, plain or gzip. */
#include "io.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

/* Reads an open file to its end; zlib reads plain files as they are. */
static rb_error read_all(rb_context *ctx, const char *path, gzFile file, unsigned char **bytes,
                         int64_t *count) {
    int64_t room = 0;
    for (;;) {
        if (*count == room) {
            int64_t more = room ? 2 * room : 1 << 16;
            unsigned char *grown = rb_grow(ctx, *bytes, room, more, 1);
            if (!grown) {
                return RB_ERROR_MEMORY;
            }
            *bytes = grown;
            room = more;
        }
        int64_t ask = room - *count < 1 << 30 ? room - *count : 1 << 30;
        int got = gzread(file, *bytes + *count, (unsigned)ask);
        if (got < ask) {
            *count += got > 0 ? got : 0;
            break;
        }
        *count += got;
    }
    int code;
    const char *message = gzerror(file, &code);
    if (code == Z_ERRNO) {
        return rb_fail(ctx, RB_ERROR_FILE, "%s: cannot be read: %s", path, strerror(errno));
    }
    if (code != Z_OK && code != Z_STREAM_END) {
        return rb_fail(ctx, RB_ERROR_FORMAT, "%s: the gzip file is damaged: %s", path, message);
    }
    return RB_OK;
}

rb_error rb_load_bytes(rb_context *ctx, const char *path, unsigned char **bytes, int64_t *count) {
    struct stat status;
    *bytes = NULL;
    *count = 0;
    if (stat(path, &status) == 0 && S_ISFIFO(status.st_mode)) { /* opening it would wait */
        return rb_fail(ctx, RB_ERROR_FILE, "%s: is a pipe; save what it gives to a file first",
                       path);
    }
    gzFile file = rb_gzip_open(ctx, path);
    if (!file) {
        return rb_fail(ctx, RB_ERROR_FILE, "%s: cannot be opened: %s", path, strerror(errno));
    }
    rb_error err = read_all(ctx, path, file, bytes, count);
    gzclose(file);
    return err;
}
