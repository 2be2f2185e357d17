/* How much memory the content of a file may take: a file that somebody else made must not fill the
 * machine by being small and expanding to anything (gzip, PNG, compressed HDF5, sizes in a header).
 *
 * While a file is read, what rb_alloc gives is counted against a multiple of the file's size. */
#include "base.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file smaller than this counts as this large: so 256 MB are always allowed by default. */
enum { SMALL_FILE = 256000 };

rb_error rb_context_set_max_expansion(rb_context *ctx, double times) {
    if (!(times > 0))
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "`max-expansion` is %g, but must be above 0", times);
    ctx->max_expansion = times;
    return RB_OK;
}

double rb_context_max_expansion(const rb_context *ctx) {
    return ctx->max_expansion;
}

/* The regular files of a folder, without those of folders in it. */
static int64_t folder_bytes(const char *path) {
    int64_t bytes = 0;
    DIR *folder = opendir(path);
    struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        char inside[4096];
        struct stat info;
        int length = snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name);
        if (length < (int)sizeof inside && stat(inside, &info) == 0 && S_ISREG(info.st_mode))
            bytes += info.st_size;
    }
    if (folder) closedir(folder);
    return bytes;
}

int64_t rb_file_size(const char *path) {
    struct stat info;
    if (stat(path, &info)) return 0;
    return S_ISDIR(info.st_mode) ? folder_bytes(path) : S_ISREG(info.st_mode) ? info.st_size : 0;
}

bool rb_is_regular(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

double rb_expansion_allowed(const rb_context *ctx, int64_t file_bytes) {
    return ctx->max_expansion * (double)(file_bytes > SMALL_FILE ? file_bytes : SMALL_FILE);
}

/* "522 kB" */
static const char *show_size(double bytes, char *buffer, size_t size) {
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
    int unit = 0;
    for (; bytes >= 1000 && unit < 6; unit++)
        bytes /= 1000;
    rb_print(buffer, size, "%.3g %s", bytes, units[unit]);
    return buffer;
}

rb_error rb_expansion_check(rb_context *ctx, const char *path, int64_t file_bytes, double bytes) {
    double limit = rb_expansion_allowed(ctx, file_bytes);
    if (bytes <= limit) return RB_OK;
    char has[32], max[32];
    return rb_fail(ctx, RB_ERROR_MEMORY,
                   "%s has %s, but its content would need more than %s of memory; if you trust the "
                   "file, raise `max-expansion`, which is %g",
                   path, show_size((double)file_bytes, has, sizeof has),
                   show_size(limit, max, sizeof max), ctx->max_expansion);
}

void rb_reading_begin(rb_context *ctx, rb_reading *reading, const char *path) {
    *reading = (rb_reading){path, rb_file_size(path), 0, -1, ctx->reading};
    ctx->reading = reading;
}

void rb_reading_end(rb_context *ctx) {
    if (ctx->reading->descriptor >= 0) close(ctx->reading->descriptor);
    ctx->reading = ctx->reading->outer;
}

int rb_reading_open(rb_context *ctx, const char *path) {
    rb_reading *reading = NULL;
    for (rb_reading *r = ctx->reading; r; r = r->outer)
        reading = strcmp(r->path, path) == 0 ? r : reading;
    if (!reading) return open(path, O_RDONLY | O_CLOEXEC);
    if (reading->descriptor < 0) reading->descriptor = open(path, O_RDONLY | O_CLOEXEC);
    (void)lseek(reading->descriptor, 0, SEEK_SET);
    return reading->descriptor < 0 ? -1 : fcntl(reading->descriptor, F_DUPFD_CLOEXEC, 0);
}

rb_error rb_reading_check(rb_context *ctx, double bytes) {
    const rb_reading *reading = ctx->reading;
    return reading ? rb_expansion_check(ctx, reading->path, reading->file_bytes, bytes) : RB_OK;
}

bool rb_reading_take(rb_context *ctx, int64_t bytes) {
    rb_reading *reading = ctx->reading;
    if (!reading) return true;
    if (rb_reading_check(ctx, reading->taken + (double)bytes)) return false;
    reading->taken += (double)bytes;
    return true;
}
