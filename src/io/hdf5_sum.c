/* The checksum of a file of ours: its last 16 bytes are "rarebit " and the CRC-32 of all before
 * them in hexadecimal digits. HDF5 passes over what stands behind its own end; a program that
 * changes the file by HDF5 cuts it off. */
#include "hdf5_base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TAIL = 16, NAME = 8 };

static bool read_all(int file, int64_t at, size_t count, void *bytes) {
    for (size_t done = 0; done < count;) {
        ssize_t got = pread(file, (char *)bytes + done, count - done, (off_t)at + (off_t)done);
        if (got < 0 && errno == EINTR) continue;
        if (got == 0) errno = EIO; /* it became shorter */
        if (got <= 0) return false;
        done += (size_t)got;
    }
    return true;
}

/* What the last bytes must be, of a file with `size` bytes before them. */
static bool make_tail(int file, int64_t size, char tail[TAIL + 1]) {
    unsigned char block[1 << 16];
    rb_crc32 crc;
    uint32_t sum = 0;
    rb_crc32_prepare(&crc);
    for (int64_t at = 0; at < size;) {
        size_t left = (size_t)(size - at), count = left < sizeof block ? left : sizeof block;
        if (!read_all(file, at, count, block)) return false;
        sum = rb_crc32_add(&crc, sum, block, count);
        at += (int64_t)count;
    }
    snprintf(tail, TAIL + 1, "rarebit %08lx", (unsigned long)sum);
    return true;
}

rb_error rb_h5_sum_check(rb_h5 *file, int descriptor) {
    struct stat info;
    char tail[TAIL + 1], found[TAIL];
    if (descriptor < 0 || fstat(descriptor, &info) != 0 || info.st_size < TAIL) return RB_OK;
    int64_t size = info.st_size - TAIL;
    bool read = read_all(descriptor, size, TAIL, found);
    file->summed = read && memcmp(found, "rarebit ", NAME) == 0;
    if (file->summed) read = make_tail(descriptor, size, tail);
    if (!read) return rb_h5_fail(file, RB_ERROR_FILE, "cannot be read: %s", strerror(errno));
    return file->summed && memcmp(found, tail, TAIL) != 0
               ? rb_h5_fail(file, RB_ERROR_FORMAT, "the file is damaged: its checksum is wrong")
               : RB_OK;
}

rb_error rb_h5_sum_add(rb_context *ctx, const rb_staged *output) {
    struct stat info;
    char tail[TAIL + 1];
    int file = open(output->path, O_RDWR | O_CLOEXEC);
    errno = file < 0 ? errno : EIO; /* of a short write */
    bool done = file >= 0 && fstat(file, &info) == 0 && make_tail(file, info.st_size, tail) &&
                pwrite(file, tail, TAIL, info.st_size) == TAIL;
    int reason = errno;
    if (file >= 0 && close(file) != 0 && done) {
        done = false;
        reason = errno;
    }
    return done ? RB_OK
                : rb_fail(ctx, RB_ERROR_FILE, "cannot write %s: %s", output->final_path,
                          strerror(reason));
}
