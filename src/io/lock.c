/* A lock on a file that is written again and again: who has it is the only one to write there.
 *
 * A hidden file beside it is locked (flock), since the file itself is another one after each
 * renaming. The system lets go of the lock when a process ends, however that is; the file that is
 * left then is taken over by the next, and goes when that one is done. It holds a mark: a file
 * without, which somebody else made, is locked too, but stays.
 */
#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char mark[] = "rarebit lock\n";

struct rb_lock {
    int file;
    char *path; /* NULL: the file is not ours and stays */
    rb_temporary_fn on_temporary;
    void *temporary_user;
};

static char *name_of_lock(rb_context *ctx, const char *path) {
    char *place = rb_output_place(ctx, path);
    if (!place) return NULL;
    int64_t size = (int64_t)strlen(place) + 16;
    char *name = rb_alloc(ctx, size, 1);
    const char *slash = strrchr(place, '/');
    int folder = slash ? (int)(slash + 1 - place) : 0;
    if (name) snprintf(name, (size_t)size, "%.*s.%s.lock", folder, place, place + folder);
    rb_free(place);
    return name;
}

/* Has nobody removed the file since it was opened? */
static bool is_still_there(int file, const char *path) {
    struct stat opened, named;
    return fstat(file, &opened) == 0 && lstat(path, &named) == 0 && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

static bool has_mark(int file) {
    char text[sizeof mark] = "";
    struct stat info;
    return fstat(file, &info) == 0 && S_ISREG(info.st_mode) &&
           pread(file, text, sizeof text, 0) == (ssize_t)strlen(mark) && strcmp(text, mark) == 0;
}

/* Makes the file, or opens the one that is there; below 0: neither can be done. */
static int open_file(const char *path, bool *made) {
    int file = -1;
    *made = false;
    for (bool gone = true; file < 0 && gone;) {
        file = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
        *made = file >= 0;
        if (*made) (void)!write(file, mark, strlen(mark));
        if (*made || errno != EEXIST) return file;
        file = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
        gone = file < 0 && errno == ENOENT;
    }
    return file;
}

/* Below 0: no lock can be had there; *taken: since somebody else has it. */
static int open_locked(const char *path, bool *taken, bool *made) {
    for (;;) {
        int file = open_file(path, made);
        bool locked = file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0;
        *taken = file >= 0 && !locked && errno == EWOULDBLOCK;
        if (locked && is_still_there(file, path)) return file;
        if (file >= 0) close(file);
        if (!locked) return -1;
    }
}

/* The lock of an open file, whose name it takes over. */
static rb_error keep(rb_context *ctx, const char *path, rb_lock *lock, bool made) {
    bool left = !made && has_mark(lock->file);
    if (!made && !left) {
        rb_free(lock->path);
        lock->path = NULL;
        return RB_OK;
    }
    if (lock->on_temporary) lock->on_temporary(lock->path, true, lock->temporary_user);
    return left ? rb_staged_forget(ctx, path) : RB_OK;
}

rb_error rb_lock_take(rb_context *ctx, const char *path, rb_lock **out) {
    bool taken = false, made = false;
    *out = NULL;
    rb_lock *lock = rb_alloc_zero(ctx, 1, sizeof *lock);
    char *name = lock ? name_of_lock(ctx, path) : NULL;
    int file = name ? open_locked(name, &taken, &made) : -1;
    if (file < 0) {
        rb_error err = name ? RB_OK : RB_ERROR_MEMORY;
        rb_free(name);
        rb_free(lock);
        return taken ? rb_fail(ctx, RB_ERROR_FILE,
                               "%s is being written by another process; wait until it has ended, "
                               "or use another file",
                               path)
                     : err;
    }
    *lock = (rb_lock){file, name, ctx->on_temporary, ctx->temporary_user};
    rb_error err = keep(ctx, path, lock, made);
    if (err)
        rb_lock_release(lock);
    else
        *out = lock;
    return err;
}

void rb_lock_release(rb_lock *lock) {
    if (!lock) return;
    if (lock->path) unlink(lock->path); /* before others can have it */
    close(lock->file);
    if (lock->path && lock->on_temporary)
        lock->on_temporary(lock->path, false, lock->temporary_user);
    rb_free(lock->path);
    rb_free(lock);
}
