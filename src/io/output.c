/* Files that appear whole or not at all: written beside their place, flushed to disk, renamed.
 *
 * Pipes, terminals and everything under /dev and /proc are written to directly: there is nothing to
 * rename (path and final_path are then equal).
 */
#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_ATTEMPTS = 1000, NAME_KEPT = 100 };

static bool is_direct(const rb_staged *staged) {
    return staged->path == staged->final_path;
}

static void discard(rb_staged *staged) {
    if (staged && !is_direct(staged)) rb_free(staged->path);
    if (staged) rb_free(staged->final_path);
    rb_free(staged);
}

/* The temporary file was made, or is gone. */
static void tell(const rb_staged *staged, bool there) {
    if (staged->on_temporary) staged->on_temporary(staged->path, there, staged->temporary_user);
}

/* /dev/stdout may lead to a regular file, but to one that somebody else has opened. */
static bool below_devices(const char *path) {
    return strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
}

static bool is_link(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
}

char *rb_output_place(rb_context *ctx, const char *path) {
    char resolved[PATH_MAX];
    return rb_copy_text(ctx, is_link(path) && realpath(path, resolved) ? resolved : path);
}

static rb_error refuse_place(rb_context *ctx, const char *path, int reason) {
    const char *slash = strrchr(path, '/');
    if (slash && (reason == ENOENT || reason == ENOTDIR)) {
        return rb_fail(ctx, RB_ERROR_FILE, "cannot write %s: there is no folder '%.*s'", path,
                       (int)(slash - path), path);
    }
    return rb_fail(ctx, RB_ERROR_FILE, "cannot write %s: no file can be made in its folder: %s",
                   path, strerror(reason));
}

static rb_error check_folder(rb_context *ctx, const char *path) {
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash + 1 - path) : 0;
    char *inside = rb_alloc(ctx, folder + 2, 1);
    if (!inside) return RB_ERROR_MEMORY;
    snprintf(inside, (size_t)folder + 2, "%.*s.", folder, path);
    bool fine = access(inside, W_OK | X_OK) == 0;
    int reason = errno;
    rb_free(inside);
    return fine ? RB_OK : refuse_place(ctx, path, reason);
}

/* What is wrong with a place to write to; else *out has its final path and mode, and of a device or
 * a pipe the path as well. */
static rb_error look_at(rb_context *ctx, const char *path, rb_staged **out) {
    struct stat info;
    size_t length = strlen(path);
    *out = NULL;
    if (length == 0) return rb_fail(ctx, RB_ERROR_FILE, "cannot write: the path is empty");
    bool exists = stat(path, &info) == 0;
    if ((exists && S_ISDIR(info.st_mode)) || path[length - 1] == '/')
        return rb_fail(ctx, RB_ERROR_FILE, "cannot write %s: it is a folder; name a file", path);
    if (!exists && is_link(path)) {
        return rb_fail(
            ctx, RB_ERROR_FILE,
            "cannot write %s: it is a link to a missing file; remove the link, or make that file",
            path);
    }
    if (exists && access(path, W_OK))
        return rb_fail(ctx, RB_ERROR_FILE, "cannot write %s: %s", path, strerror(errno));
    rb_staged *staged = *out = rb_alloc(ctx, 1, sizeof *staged);
    if (!staged) return RB_ERROR_MEMORY;
    bool direct = below_devices(path) || (exists && !S_ISREG(info.st_mode));
    *staged =
        (rb_staged){.final_path = direct ? rb_copy_text(ctx, path) : rb_output_place(ctx, path),
                    .mode = exists ? info.st_mode : 0,
                    .on_temporary = ctx->on_temporary,
                    .temporary_user = ctx->temporary_user};
    if (!staged->final_path) return RB_ERROR_MEMORY;
    staged->path = direct ? staged->final_path : NULL;
    return direct ? RB_OK : check_folder(ctx, staged->final_path);
}

rb_error rb_staged_check(rb_context *ctx, const char *path) {
    rb_staged *staged;
    rb_error err = look_at(ctx, path, &staged);
    discard(staged);
    return err;
}

/* The n-th name to try: a new one each time, or the same one. */
static void name_temporary(const char *final_path, bool same_name, int attempt, char *path,
                           int64_t capacity) {
    const char *slash = strrchr(final_path, '/');
    const char *name = slash ? slash + 1 : final_path;
    int folder = (int)(name - final_path);
    if (same_name) {
        snprintf(path, (size_t)capacity, "%.*s.%.*s.tmp", folder, final_path, 2 * NAME_KEPT, name);
    } else {
        snprintf(path, (size_t)capacity, "%.*s.%.*s.%ld-%d.tmp", folder, final_path, NAME_KEPT,
                 name, (long)getpid(), attempt);
    }
}

static int64_t temporary_bytes(const char *final_path) {
    return (int64_t)strlen(final_path) + 2 * NAME_KEPT + 64;
}

rb_error rb_staged_forget(rb_context *ctx, const char *path) {
    char *place = rb_output_place(ctx, path);
    int64_t capacity = place ? temporary_bytes(place) : 0;
    char *name = place ? rb_alloc(ctx, capacity, 1) : NULL;
    if (name) {
        name_temporary(place, true, 0, name, capacity);
        unlink(name);
    }
    rb_error err = name ? RB_OK : RB_ERROR_MEMORY;
    rb_free(name);
    rb_free(place);
    return err;
}

/* Makes the empty temporary file, which nobody else has. */
static rb_error create_temporary(rb_context *ctx, rb_staged *staged, bool same_name) {
    int64_t capacity = temporary_bytes(staged->final_path);
    staged->path = rb_alloc(ctx, capacity, 1);
    if (!staged->path) return RB_ERROR_MEMORY;
    int file = -1, attempts = same_name ? 1 : MAX_ATTEMPTS;
    errno = EEXIST;
    for (int attempt = 0; file < 0 && errno == EEXIST && attempt < attempts; attempt++) {
        name_temporary(staged->final_path, same_name, attempt, staged->path, capacity);
        file = open(staged->path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    }
    if (file < 0 && errno == EEXIST && same_name) {
        return rb_fail(ctx, RB_ERROR_FILE, "cannot write %s: %s is in the way; move it elsewhere",
                       staged->final_path, staged->path);
    }
    if (file < 0) return refuse_place(ctx, staged->final_path, errno);
    tell(staged, true);
    if (staged->mode) /* on a file system without modes there is none to keep */
        (void)!fchmod(file, staged->mode & 07777);
    close(file);
    return RB_OK;
}

rb_error rb_staged_begin_as(rb_context *ctx, const char *path, bool same_name, rb_staged **out) {
    rb_error err = look_at(ctx, path, out);
    if (!err && !is_direct(*out)) err = create_temporary(ctx, *out, same_name);
    if (err) {
        discard(*out);
        *out = NULL;
    }
    return err;
}

rb_error rb_staged_begin(rb_context *ctx, const char *path, rb_staged **staged) {
    return rb_staged_begin_as(ctx, path, false, staged);
}

const char *rb_staged_path(const rb_staged *staged) {
    return staged->path;
}

/* Hands a file or a folder to the disk. */
static bool flush_to_disk(const char *path, int flags) {
    int file = open(path, flags | O_CLOEXEC);
    if (file < 0) return false;
    /* Some file systems cannot flush what they are asked to: that is no failure of ours. */
    bool done = fsync(file) == 0 || errno == EINVAL || errno == ENOTSUP;
    int reason = errno;
    close(file);
    errno = reason;
    return done;
}

/* The folder that a file is in: "." for a bare name. */
static void flush_folder(char *path) {
    char *slash = strrchr(path, '/');
    if (slash) slash[slash == path] = '\0';
    /* One that may not be read cannot be flushed, and that is all right: the file is there. */
    (void)flush_to_disk(slash ? path : ".", O_RDONLY | O_DIRECTORY);
}

rb_error rb_staged_commit(rb_context *ctx, rb_staged *staged) {
    rb_error err = RB_OK;
    if (is_direct(staged)) {
        discard(staged);
        return RB_OK;
    }
    if (!flush_to_disk(staged->path, O_WRONLY) || rename(staged->path, staged->final_path)) {
        err =
            rb_fail(ctx, RB_ERROR_FILE, "cannot write %s: %s", staged->final_path, strerror(errno));
        unlink(staged->path);
    }
    tell(staged, false);
    if (!err) flush_folder(staged->final_path);
    discard(staged);
    return err;
}

void rb_staged_abandon(rb_staged *staged) {
    if (staged && !is_direct(staged)) {
        unlink(staged->path);
        tell(staged, false);
    }
    discard(staged);
}

rb_error rb_staged_end(rb_context *ctx, rb_error err, rb_staged *staged) {
    if (err) {
        rb_staged_abandon(staged);
        return err;
    }
    return rb_staged_commit(ctx, staged);
}

rb_error rb_output_file(rb_context *ctx, const char *path, rb_fill_fn fill, void *arg) {
    rb_staged *staged;
    rb_error err = rb_staged_begin(ctx, path, &staged);
    if (err) return err;
    errno = 0;
    FILE *file = fopen(staged->path, "wbe");
    err = file ? fill(ctx, file, arg) : RB_OK;
    bool failed = !file || ferror(file);
    int reason = errno;
    if (file && fclose(file) && !failed) {
        failed = true;
        reason = errno;
    }
    if (failed) {
        err = rb_fail(ctx, RB_ERROR_FILE, "cannot write %s: %s", path,
                      strerror(reason ? reason : EIO));
    }
    return rb_staged_end(ctx, err, staged);
}
