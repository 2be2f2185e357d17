/* How HDF5 reads and writes: a file driver of ours, for the sake of disks that fail or are full.
 *
 * HDF5 does not come to rest after a failed write: objects stay open, and closing them, at the
 * latest when the program ends, writes again and may crash. A failed read can pass for something
 * that is not in the file. So this driver never fails once a file is open: it keeps the first
 * error, gives zeros for what cannot be read and drops what cannot be written. Whoever closes the
 * file asks for the error and throws away what was made of it.
 *
 * One driver opens one file: what an HDF5 file says of other files (links, virtual data sets) is
 * not followed, since it may name anything, and HDF5 gives fill values for what it cannot open. */
#include "hdf5_base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

typedef struct disk_file {
    H5FD_t base; /* HDF5's part, first */
    rb_h5_disk *disk;
    int descriptor;
    haddr_t end_of_address, end_of_file;
} disk_file;

static void release(rb_h5_disk *disk) {
    if (--disk->owners > 0) return;
    if (disk->descriptor >= 0) close(disk->descriptor);
    free(disk);
}

/* The driver is let go of after the file is closed: HDF5 1.10 closes a file by a driver that it has
 * freed when nobody else holds it. */
void rb_h5_disk_release(rb_h5_disk *disk) {
    if (disk && disk->driver >= 0) H5FDunregister(disk->driver);
    if (disk) release(disk);
}

const char *rb_h5_disk_error(const rb_h5_disk *disk) {
    if (!disk || disk->error == 0) return NULL;
    return disk->shorter ? "it became shorter while it was read" : strerror(disk->error);
}

static void note(disk_file *file) {
    file->disk->error = file->disk->error ? file->disk->error : errno;
}

static H5FD_t *disk_open(const char *name, unsigned flags, hid_t access, haddr_t max) {
    rb_h5_disk *const *found = H5Pget_driver_info(access);
    rb_h5_disk *disk = found ? *found : NULL;
    if (!disk || disk->owners > 1) {
        if (disk) disk->other = true;
        return NULL;
    }
    int mode = (flags & H5F_ACC_RDWR ? O_RDWR : O_RDONLY) | O_CLOEXEC |
               (flags & H5F_ACC_CREAT ? O_CREAT : 0) | (flags & H5F_ACC_TRUNC ? O_TRUNC : 0);
    struct stat status;
    int descriptor = disk->descriptor >= 0 ? disk->descriptor : open(name, mode, 0666);
    disk->descriptor = descriptor; /* closed with the disk, if this fails */
    disk_file *file = descriptor >= 0 ? calloc(1, sizeof *file) : NULL;
    if (!file || fstat(descriptor, &status) != 0) {
        disk->error = errno;
        free(file);
        return NULL;
    }
    file->descriptor = descriptor;
    file->end_of_file = (haddr_t)status.st_size;
    file->disk = disk;
    disk->descriptor = -1;
    disk->owners++;
    disk->open = file;
    return &file->base;
}

/* HDF5 opens other files with the properties of the one that names them. */
static void *disk_properties(H5FD_t *base) {
    rb_h5_disk **copy = malloc(sizeof *copy);
    if (copy) *copy = ((disk_file *)base)->disk;
    return copy;
}

static herr_t disk_close(H5FD_t *base) {
    disk_file *file = (disk_file *)base;
    if (close(file->descriptor) != 0) note(file);
    file->disk->open = NULL;
    release(file->disk);
    free(file);
    return 0;
}

static herr_t disk_query(const H5FD_t *base, unsigned long *features) {
    *features = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA |
                H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA |
                H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

static haddr_t disk_get_end_of_address(const H5FD_t *base, H5FD_mem_t kind) {
    return ((const disk_file *)base)->end_of_address;
}

static herr_t disk_set_end_of_address(H5FD_t *base, H5FD_mem_t kind, haddr_t address) {
    ((disk_file *)base)->end_of_address = address;
    return 0;
}

static haddr_t disk_get_end_of_file(const H5FD_t *base, H5FD_mem_t kind) {
    return ((const disk_file *)base)->end_of_file;
}

static herr_t disk_read(H5FD_t *base, H5FD_mem_t kind, hid_t transfer, haddr_t address, size_t size,
                        void *buffer) {
    disk_file *file = (disk_file *)base;
    size_t done = 0;
    while (done < size) {
        ssize_t got =
            pread(file->descriptor, (char *)buffer + done, size - done, (off_t)(address + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            note(file);
        } else if (got == 0 && address + done < file->end_of_file && file->disk->error == 0) {
            file->disk->shorter = true;
            file->disk->error = EIO;
        }
        if (got <= 0) { /* what HDF5 has reserved behind the end of a file is zero */
            memset((char *)buffer + done, 0, size - done);
            break;
        }
        done += (size_t)got;
    }
    return 0;
}

bool rb_h5_disk_read(rb_h5_disk *disk, int64_t address, int64_t count, void *bytes) {
    disk_read(&disk->open->base, H5FD_MEM_DRAW, H5P_DEFAULT, (haddr_t)address, (size_t)count,
              bytes);
    return disk->error == 0;
}

bool rb_h5_disk_goes_on(const rb_h5_disk *disk) {
    return disk->open->end_of_file > disk->open->end_of_address;
}

static herr_t disk_write(H5FD_t *base, H5FD_mem_t kind, hid_t transfer, haddr_t address,
                         size_t size, const void *buffer) {
    disk_file *file = (disk_file *)base;
    size_t done = 0;
    while (done < size && file->disk->error == 0) {
        ssize_t put = pwrite(file->descriptor, (const char *)buffer + done, size - done,
                             (off_t)(address + done));
        if (put < 0 && errno != EINTR) note(file);
        done += put > 0 ? (size_t)put : 0;
    }
    if (address + size > file->end_of_file) file->end_of_file = address + size;
    return 0;
}

static herr_t disk_truncate(H5FD_t *base, hid_t transfer, hbool_t closing) {
    disk_file *file = (disk_file *)base;
    if (file->end_of_file != file->end_of_address) {
        if (ftruncate(file->descriptor, (off_t)file->end_of_address) != 0) note(file);
        file->end_of_file = file->end_of_address;
    }
    return 0;
}

/* File systems without locks are common on clusters: there it goes without. */
static herr_t disk_lock(H5FD_t *base, hbool_t writing) {
    const disk_file *file = (const disk_file *)base;
    int status = flock(file->descriptor, (writing ? LOCK_EX : LOCK_SH) | LOCK_NB);
    return status == 0 || errno == ENOSYS || errno == ENOTSUP ? 0 : -1;
}

static herr_t disk_unlock(H5FD_t *base) {
    flock(((const disk_file *)base)->descriptor, LOCK_UN);
    return 0;
}

/* No `cmp`: two openings of a file stay apart, each with errors of its own. */
static const H5FD_class_t disk_class = {
#if H5_VERSION_GE(1, 13, 0)
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)511, /* one of those that nobody owns */
#endif
    .name = "rarebit",
    .maxaddr = INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(rb_h5_disk *),
    .fapl_get = disk_properties,
    .open = disk_open,
    .close = disk_close,
    .query = disk_query,
    .get_eoa = disk_get_end_of_address,
    .set_eoa = disk_set_end_of_address,
    .get_eof = disk_get_end_of_file,
    .read = disk_read,
    .write = disk_write,
    .truncate = disk_truncate,
    .lock = disk_lock,
    .unlock = disk_unlock,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

bool rb_h5_disk_use(hid_t access, int descriptor, rb_h5_disk **disk) {
    *disk = calloc(1, sizeof **disk);
    if (!*disk) {
        if (descriptor >= 0) close(descriptor);
        return false;
    }
    **disk = (rb_h5_disk){.owners = 1, .descriptor = descriptor};
    (*disk)->driver = H5FDregister(&disk_class);
    return (*disk)->driver >= 0 && H5Pset_driver(access, (*disk)->driver, disk) >= 0;
}
