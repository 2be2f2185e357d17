/* Files as bytes, plain or gzip. */
#include "io.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static rb_error check_file(rb_context *ctx, const char *path, bool any, bool *folder) {
    struct stat info;
    if (stat(path, &info) || access(path, R_OK)) {
        return rb_fail(ctx, RB_ERROR_FILE, "cannot read %s: %s", path,
                       errno == ENOENT ? "there is no such file" : strerror(errno));
    }
    bool is_folder = S_ISDIR(info.st_mode);
    if (folder) *folder = is_folder;
    if (S_ISREG(info.st_mode) || (is_folder ? folder != NULL : any)) return RB_OK;
    return rb_fail(ctx, RB_ERROR_FILE, "cannot read %s: it is %s", path,
                   is_folder ? "a folder" : "not a regular file; save its content to a file first");
}

rb_error rb_file_check(rb_context *ctx, const char *path, bool *folder) {
    return check_file(ctx, path, false, folder);
}

rb_error rb_gz_open(rb_context *ctx, const char *path, bool any, struct gzFile_s **file) {
    *file = NULL;
    rb_error err = check_file(ctx, path, any, NULL);
    if (err) return err;
    errno = 0;
    int descriptor = rb_reading_open(ctx, path);
    *file = descriptor < 0 ? NULL : gzdopen(descriptor, "rb");
    if (!*file && descriptor >= 0) close(descriptor);
    return *file   ? RB_OK
           : errno ? rb_fail(ctx, RB_ERROR_FILE, "cannot read %s: %s", path, strerror(errno))
                   : rb_fail(ctx, RB_ERROR_MEMORY, "cannot read %s: out of memory", path);
}

rb_error rb_gz_check(rb_context *ctx, const char *path, struct gzFile_s *file, int64_t line) {
    int code;
    char after[40] = "";
    const char *reason = gzerror(file, &code);
    if (code == Z_OK || code == Z_STREAM_END) return RB_OK;
    if (code == Z_ERRNO)
        return rb_fail(ctx, RB_ERROR_FILE, "cannot read %s: %s", path, strerror(errno));
    if (code == Z_MEM_ERROR)
        return rb_fail(ctx, RB_ERROR_MEMORY, "cannot read %s: out of memory", path);
    const char *named = strstr(reason, ">: "); /* zlib names what it was given, "<fd:4>: " */
    reason = *reason == '<' && named ? named + 3 : reason;
    if (line >= 0) snprintf(after, sizeof after, " (after line %lld)", (long long)line);
    return rb_fail(ctx, RB_ERROR_FORMAT, "%s is a damaged or truncated gzip file%s: %s", path,
                   after, reason);
}

rb_error rb_load_bytes(rb_context *ctx, const char *path, unsigned char **bytes, int64_t *count) {
    enum { FIRST = 1 << 16, PIECE = 1 << 22 };
    gzFile file;
    int64_t capacity = 0, ask = 0, got = 0;
    *bytes = NULL;
    *count = 0;
    rb_error err = rb_gz_open(ctx, path, false, &file);
    if (err) return err;
    do {
        unsigned char *grown = rb_reserve(ctx, *bytes, *count, capacity ? 1 : FIRST, &capacity, 1);
        if (!grown) {
            gzclose(file);
            return RB_ERROR_MEMORY;
        }
        *bytes = grown;
        ask = capacity - *count < PIECE ? capacity - *count : PIECE;
        got = gzread(file, *bytes + *count, (unsigned)ask);
        *count += got > 0 ? got : 0;
        err = rb_check_stop(ctx);
    } while (!err && got == ask);
    err = err ? err : rb_gz_check(ctx, path, file, -1);
    gzclose(file);
    return err;
}
