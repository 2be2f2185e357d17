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

static bool direct(const rb_output *output) {
    return !output->path || !output->final_path || strcmp(output->path, output->final_path) == 0;
}

static void clear(rb_output *output) {
    rb_free(output->path);
    rb_free(output->final_path);
    *output = (rb_output){0};
}

/* The temporary file was made, or is gone. */
static void tell(const rb_output *output, bool there) {
    if (output->on_temporary) {
        output->on_temporary(output->path, there, output->temporary_user);
    }
}

/* /dev/stdout may lead to a regular file, but to one that somebody else has opened. */
static bool below_devices(const char *path) {
    return strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
}

/* The folder of a path, as a new text: "." for a bare name. */
static char *folder_of(rb_context *ctx, const char *path) {
    const char *slash = strrchr(path, '/');
    int64_t length = slash == path ? 1 : slash ? slash - path : 1;
    char *folder = rb_alloc(ctx, length + 1, 1);
    if (folder) {
        memcpy(folder, slash ? path : ".", (size_t)length);
        folder[length] = '\0';
    }
    return folder;
}

char *rb_output_place(rb_context *ctx, const char *path) {
    struct stat info;
    char resolved[PATH_MAX];
    bool linked = lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
    return rb_copy_text(ctx, linked && realpath(path, resolved) ? resolved : path);
}

static rb_error check_folder(rb_context *ctx, const char *path) {
    struct stat info;
    char *folder = folder_of(ctx, path);
    if (!folder) {
        return RB_ERROR_MEMORY;
    }
    rb_error err = RB_OK;
    if (stat(folder, &info)) {
        err = rb_fail(ctx, RB_ERROR_FILE, "cannot write %s: folder %s: %s", path, folder,
                      errno == ENOENT ? "it does not exist" : strerror(errno));
    } else if (!S_ISDIR(info.st_mode)) {
        err = rb_fail(ctx, RB_ERROR_FILE, "cannot write %s: %s is no folder", path, folder);
    }
    rb_free(folder);
    return err;
}

/* The n-th name to try: a new one each time, or the same one, where what an earlier process left is
 * removed. */
static void name_temporary(const rb_output *output, bool same_name, int attempt, int64_t capacity) {
    const char *slash = strrchr(output->final_path, '/');
    const char *name = slash ? slash + 1 : output->final_path;
    int folder = (int)(name - output->final_path);
    if (same_name) {
        snprintf(output->path, (size_t)capacity, "%.*s.%.*s.tmp", folder, output->final_path,
                 2 * NAME_KEPT, name);
        unlink(output->path);
    } else {
        snprintf(output->path, (size_t)capacity, "%.*s.%.*s.%ld-%d.tmp", folder, output->final_path,
                 NAME_KEPT, name, (long)getpid(), attempt);
    }
}

/* Makes the empty temporary file, which nobody else has. mode: that of the file it will replace. */
static rb_error create_temporary(rb_context *ctx, rb_output *output, bool same_name,
                                 const mode_t *mode) {
    int64_t capacity = (int64_t)strlen(output->final_path) + 2 * NAME_KEPT + 64;
    output->path = rb_alloc(ctx, capacity, 1);
    if (!output->path) {
        return RB_ERROR_MEMORY;
    }
    int file = -1, attempts = same_name ? 1 : MAX_ATTEMPTS;
    errno = EEXIST;
    for (int attempt = 0; file < 0 && errno == EEXIST && attempt < attempts; attempt++) {
        name_temporary(output, same_name, attempt, capacity);
        file = open(output->path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    }
    if (file < 0) {
        return rb_fail(ctx, RB_ERROR_FILE, "cannot write %s: its folder takes no new file: %s",
                       output->final_path, strerror(errno));
    }
    tell(output, true);
    if (mode) {
        (void)!fchmod(file,
                      *mode & 07777); /* on a file system without modes there is none to keep */
    }
    close(file);
    return RB_OK;
}

static rb_error begin_direct(rb_context *ctx, const char *path, rb_output *output) {
    output->path = rb_copy_text(ctx, path);
    output->final_path = rb_copy_text(ctx, path);
    return output->path && output->final_path ? RB_OK : RB_ERROR_MEMORY;
}

static rb_error begin_beside(rb_context *ctx, const char *path, bool same_name, const mode_t *mode,
                             rb_output *output) {
    output->final_path = rb_output_place(ctx, path);
    if (!output->final_path) {
        return RB_ERROR_MEMORY;
    }
    rb_error err = check_folder(ctx, output->final_path);
    return err ? err : create_temporary(ctx, output, same_name, mode);
}

static rb_error begin(rb_context *ctx, const char *path, bool same_name, rb_output *output) {
    struct stat info;
    *output = (rb_output){.on_temporary = ctx->on_temporary, .temporary_user = ctx->temporary_user};
    size_t length = strlen(path);
    if (length == 0) {
        return rb_fail(ctx, RB_ERROR_FILE, "cannot write: the path is empty");
    }
    bool exists = stat(path, &info) == 0;
    if ((exists && S_ISDIR(info.st_mode)) || path[length - 1] == '/') {
        return rb_fail(ctx, RB_ERROR_FILE, "cannot write %s: it is a folder, give a file", path);
    }
    if (exists && access(path, W_OK)) {
        return rb_fail(ctx, RB_ERROR_FILE, "cannot write %s: %s", path, strerror(errno));
    }
    rb_error err;
    if (below_devices(path) || (exists && !S_ISREG(info.st_mode))) {
        err = begin_direct(ctx, path, output);
    } else {
        err = begin_beside(ctx, path, same_name, exists ? &info.st_mode : NULL, output);
    }
    if (err) {
        clear(output);
    }
    return err;
}

rb_error rb_output_begin(rb_context *ctx, const char *path, rb_output *output) {
    return begin(ctx, path, false, output);
}

rb_error rb_output_begin_again(rb_context *ctx, const char *path, rb_output *output) {
    return begin(ctx, path, true, output);
}

/* Hands a file or a folder to the disk. */
static bool flush_to_disk(const char *path, int flags) {
    int file = open(path, flags | O_CLOEXEC);
    if (file < 0) {
        return false;
    }
    /* Some file systems cannot flush what they are asked to: that is no failure of ours. */
    bool done = fsync(file) == 0 || errno == EINVAL || errno == ENOTSUP;
    int reason = errno;
    close(file);
    errno = reason;
    return done;
}

rb_error rb_output_commit(rb_context *ctx, rb_output *output) {
    if (direct(output)) {
        clear(output);
        return RB_OK;
    }
    char *folder = folder_of(ctx, output->final_path);
    rb_error err = folder ? RB_OK : RB_ERROR_MEMORY;
    if (!err &&
        (!flush_to_disk(output->path, O_WRONLY) || rename(output->path, output->final_path))) {
        err =
            rb_fail(ctx, RB_ERROR_FILE, "cannot write %s: %s", output->final_path, strerror(errno));
    }
    if (err) {
        unlink(output->path);
    }
    tell(output, false);
    if (!err) {
        /* The file is there; a folder that may not be read cannot be flushed, and that is all
         * right. */
        (void)flush_to_disk(folder, O_RDONLY | O_DIRECTORY);
    }
    rb_free(folder);
    clear(output);
    return err;
}

void rb_output_abandon(rb_output *output) {
    if (output->path && !direct(output)) {
        unlink(output->path);
        tell(output, false);
    }
    clear(output);
}

rb_error rb_output_end(rb_context *ctx, rb_error err, rb_output *output) {
    if (err) {
        rb_output_abandon(output);
        return err;
    }
    return rb_output_commit(ctx, output);
}

rb_error rb_output_file(rb_context *ctx, const char *path, rb_fill_fn fill, void *arg) {
    rb_output output;
    rb_error err = rb_output_begin(ctx, path, &output);
    if (err) {
        return err;
    }
    errno = 0;
    FILE *file = fopen(output.path, "wbe");
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
    return rb_output_end(ctx, err, &output);
}

/* ---- the same for callers that write themselves ---- */

struct rb_staged {
    rb_output output;
};

rb_error rb_staged_begin(rb_context *ctx, const char *path, rb_staged **out) {
    *out = NULL;
    rb_staged *staged = rb_alloc_zero(ctx, 1, sizeof *staged);
    rb_error err = staged ? rb_output_begin(ctx, path, &staged->output) : RB_ERROR_MEMORY;
    if (err) {
        rb_free(staged);
        return err;
    }
    *out = staged;
    return RB_OK;
}

const char *rb_staged_path(const rb_staged *staged) {
    return staged->output.path;
}

rb_error rb_staged_commit(rb_context *ctx, rb_staged *staged) {
    rb_error err = rb_output_commit(ctx, &staged->output);
    rb_free(staged);
    return err;
}

void rb_staged_abandon(rb_staged *staged) {
    if (staged) {
        rb_output_abandon(&staged->output);
        rb_free(staged);
    }
}
