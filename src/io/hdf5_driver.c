/* Where HDF5 writes to. Its own file driver reports a full disk to a library that then can neither
 * close the file nor end itself: it crashes when the program exits. This driver keeps the failure
 * for us and lets HDF5 go on as if all were well, so that it can close; we tell the user and throw
 * the file away. */
#include "hdf5_base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGEST_ADDRESS_BITS = 62 };

struct driven {
    H5FD_t common; /* HDF5's part comes first */
    int descriptor;
    haddr_t end_of_addresses, end_of_file;
    int *failure; /* the first errno of a write, for the owner of the file */
};

static H5FD_t *open_driven(const char *name, unsigned flags, hid_t list, haddr_t largest) {
    int *const *failure = H5Pget_driver_info(list);
    struct stat status;
    (void)largest;
    int how = (flags & H5F_ACC_RDWR ? O_RDWR : O_RDONLY) | (flags & H5F_ACC_CREAT ? O_CREAT : 0) |
              (flags & H5F_ACC_TRUNC ? O_TRUNC : 0) | (flags & H5F_ACC_EXCL ? O_EXCL : 0);
    int descriptor = open(name, how | O_CLOEXEC, 0666);
    struct driven *file = descriptor >= 0 && failure ? calloc(1, sizeof *file) : NULL;
    if (!file || fstat(descriptor, &status)) {
        free(file);
        if (descriptor >= 0) {
            close(descriptor);
        }
        return NULL;
    }
    file->descriptor = descriptor;
    file->end_of_file = (haddr_t)status.st_size;
    file->failure = *failure;
    return &file->common;
}

static void note(struct driven *file) {
    if (*file->failure == 0) {
        *file->failure = errno ? errno : EIO;
    }
}

static herr_t close_driven(H5FD_t *common) {
    struct driven *file = (struct driven *)common;
    if (close(file->descriptor)) {
        note(file);
    }
    free(file);
    return 0;
}

static herr_t query(const H5FD_t *common, unsigned long *features) {
    (void)common;
    *features = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA |
                H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

static haddr_t get_end_of_addresses(const H5FD_t *common, H5FD_mem_t type) {
    (void)type;
    return ((const struct driven *)common)->end_of_addresses;
}

static herr_t set_end_of_addresses(H5FD_t *common, H5FD_mem_t type, haddr_t end) {
    (void)type;
    ((struct driven *)common)->end_of_addresses = end;
    return 0;
}

static haddr_t get_end_of_file(const H5FD_t *common, H5FD_mem_t type) {
    (void)type;
    return ((const struct driven *)common)->end_of_file;
}

static herr_t read_driven(H5FD_t *common, H5FD_mem_t type, hid_t list, haddr_t from, size_t size,
                          void *buffer) {
    struct driven *file = (struct driven *)common;
    char *next = buffer;
    (void)type;
    (void)list;
    while (size > 0) {
        ssize_t count = pread(file->descriptor, next, size, (off_t)from);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return -1;
        }
        if (count == 0) { /* what was never written is zero */
            memset(next, 0, size);
            return 0;
        }
        next += count;
        from += (haddr_t)count;
        size -= (size_t)count;
    }
    return 0;
}

static herr_t write_driven(H5FD_t *common, H5FD_mem_t type, hid_t list, haddr_t to, size_t size,
                           const void *buffer) {
    struct driven *file = (struct driven *)common;
    const char *next = buffer;
    (void)type;
    (void)list;
    while (size > 0 && *file->failure == 0) {
        ssize_t count = pwrite(file->descriptor, next, size, (off_t)to);
        if (count > 0) {
            next += count;
            to += (haddr_t)count;
            size -= (size_t)count;
        } else if (count == 0 || errno != EINTR) {
            note(file);
        }
    }
    to += size; /* where it would have ended */
    file->end_of_file = to > file->end_of_file ? to : file->end_of_file;
    return 0;
}

static herr_t truncate_driven(H5FD_t *common, hid_t list, hbool_t closing) {
    struct driven *file = (struct driven *)common;
    (void)list;
    (void)closing;
    if (file->end_of_addresses != file->end_of_file) {
        if (*file->failure == 0 &&
            ftruncate(file->descriptor, (off_t)file->end_of_addresses) != 0) {
            note(file);
        }
        file->end_of_file = file->end_of_addresses;
    }
    return 0;
}

bool rb_h5_drive(hid_t list, int *failure) {
    const H5FD_class_t driver = {
#ifdef H5FD_CLASS_VERSION
        .version = H5FD_CLASS_VERSION,
        .value = (H5FD_class_value_t)(H5_VFD_RESERVED + 1),
#endif
        .name = "rarebit",
        .maxaddr = ((haddr_t)1 << LARGEST_ADDRESS_BITS) - 1,
        .fc_degree = H5F_CLOSE_WEAK,
        .fapl_size = sizeof failure,
        .open = open_driven,
        .close = close_driven,
        .query = query,
        .get_eoa = get_end_of_addresses,
        .set_eoa = set_end_of_addresses,
        .get_eof = get_end_of_file,
        .read = read_driven,
        .write = write_driven,
        .truncate = truncate_driven,
        .fl_map = H5FD_FLMAP_DICHOTOMY,
    };
    hid_t id = H5FDregister(&driver);
    bool done = id >= 0 && H5Pset_driver(list, id, &failure) >= 0;
    if (id >= 0) { /* the list keeps what it needs */
        H5FDunregister(id);
    }
    return done;
}
