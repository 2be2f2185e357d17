/* HDF5 files: who may call HDF5, its silence, opening and closing. */
#include "hdf5_base.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* The one lock of the library. HDF5 keeps global tables, and guards them only if it was built to
 * (--enable-threadsafe, as Debian's is): else calls from two threads, even on two files, must not
 * overlap. The lock belongs to HDF5, which is one in a process, and thus not to a context. */
static pthread_mutex_t hdf5_lock = PTHREAD_MUTEX_INITIALIZER;

/* Keeps the innermost reason, which comes first, and ends the walk. */
static herr_t keep_innermost(unsigned level, const H5E_error2_t *error, void *reason) {
    (void)level;
    snprintf(reason, RB_H5_REASON, "%s", error->desc ? error->desc : "");
    return 1;
}

/* Called by HDF5 when a call of ours fails, in place of printing: the next call, if only to close
 * what is open, would wipe the reason out. */
static herr_t keep_reason(hid_t stack, void *file) {
    H5Ewalk2(stack, H5E_WALK_UPWARD, keep_innermost, ((rb_h5 *)file)->reason);
    return 0;
}

void rb_h5_forget(rb_h5 *file) {
    file->reason[0] = '\0';
}

void rb_h5_hold(rb_h5 *file, rb_context *ctx) {
    unsigned is_v2 = 1;
    pthread_mutex_lock(&hdf5_lock);
    file->ctx = ctx;
    rb_h5_forget(file);
    /* HDF5 would print its error stack; a program that set a printer of its own gets it back. One
     * set through the interface of HDF5 1.6 cannot be asked for and stays. */
    file->old_printer = H5Eauto_is_v2(H5E_DEFAULT, &is_v2) >= 0 && is_v2 &&
                        H5Eget_auto2(H5E_DEFAULT, &file->printer, &file->printer_data) >= 0;
    if (file->old_printer) {
        H5Eset_auto2(H5E_DEFAULT, keep_reason, file);
    }
}

/* Is this the printer that HDF5 starts with? A new error stack has it. */
static bool is_default_printer(H5E_auto2_t printer) {
    H5E_auto2_t fresh = NULL;
    void *data;
    hid_t stack = H5Ecreate_stack();
    if (stack >= 0) {
        H5Eget_auto2(stack, &fresh, &data);
        H5Eclose_stack(stack);
    }
    return fresh && fresh == printer;
}

/* After a damaged file or a failing disk something inside HDF5 may stay open for ever, and HDF5
 * says so on stderr when the program ends, if it has a printer. Then its own stays off. */
void rb_h5_let_go(rb_h5 *file) {
    bool stays_off = file->broken && is_default_printer(file->printer);
    if (file->old_printer) {
        H5Eset_auto2(H5E_DEFAULT, stays_off ? NULL : file->printer, file->printer_data);
    }
    file->ctx = NULL;
    pthread_mutex_unlock(&hdf5_lock);
}

rb_error rb_h5_fail(const rb_h5 *file, rb_error code, const char *format, ...) {
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return file->shown[0] ? rb_fail(file->ctx, code, "%s: %s", file->shown, text)
                          : rb_fail(file->ctx, code, "%s", text);
}

rb_error rb_h5_check(rb_h5 *file) {
    const char *error = rb_h5_disk_error(file->disk);
    if (!error) {
        return RB_OK;
    }
    file->broken = true;
    const char *what = file->reading    ? "cannot be read: "
                       : file->shown[0] ? "cannot be written: "
                                        : "";
    return rb_h5_fail(file, RB_ERROR_FILE, "%s%s", what, error);
}

rb_error rb_h5_broken(rb_h5 *file, rb_error code, const char *what, const char *path) {
    if (rb_h5_disk_error(file->disk)) {
        return rb_h5_check(file);
    }
    file->broken = true;
    char reason[RB_H5_REASON];
    memcpy(reason, file->reason, sizeof reason);
    rb_h5_forget(file);
    return reason[0] ? rb_h5_fail(file, code, "%s '%s' (HDF5: %s)%s", what, path, reason,
                                  rb_h5_other_files(file))
                     : rb_h5_fail(file, code, "%s '%s'%s", what, path, rb_h5_other_files(file));
}

const char *rb_h5_other_files(const rb_h5 *file) {
    return rb_h5_disk_other(file->disk)
               ? "; links to other files are not followed: copy what they lead to with h5copy "
                 "-f ext"
               : "";
}

void rb_h5_drop(hid_t id) {
    switch (id > 0 ? H5Iget_type(id) : H5I_BADID) {
    case H5I_DATATYPE:
        H5Tclose(id);
        break;
    case H5I_DATASPACE:
        H5Sclose(id);
        break;
    case H5I_GENPROP_LST:
        H5Pclose(id);
        break;
    case H5I_ATTR:
        H5Aclose(id);
        break;
    case H5I_BADID:
        break;
    default:
        H5Oclose(id);
    }
}

hid_t rb_h5_properties(hid_t kind) {
    hid_t list = H5Pcreate(kind);
    if (list >= 0 && H5Pset_obj_track_times(list, false) < 0) {
        H5Pclose(list);
        return H5I_INVALID_HID;
    }
    return list;
}

enum opening { OPEN_READ, OPEN_EDIT, OPEN_CREATE };

/* The layout of new files: that of HDF5 1.8 is read by every program, that of 1.10 has checksums on
 * all that is not data. */
static bool choose_layout(hid_t list, rb_h5_style style) {
#if H5_VERSION_GE(1, 10, 2)
    H5F_libver_t layout = style == RB_H5_OWN ? H5F_LIBVER_V110 : H5F_LIBVER_V18;
    return H5Pset_libver_bounds(list, layout, layout) >= 0;
#else
    return list >= 0 && style >= 0;
#endif
}

static hid_t access_properties(rb_h5 *file, const char *path, enum opening how) {
    hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    int descriptor = list >= 0 && how == OPEN_READ ? rb_reading_open(file->ctx, path) : -1;
    bool done = list >= 0 && rb_h5_disk_use(list, descriptor, &file->disk);
    if (done && how == OPEN_CREATE) {
        done = choose_layout(list, file->style);
    }
    if (list >= 0 && !done) {
        H5Pclose(list);
        return H5I_INVALID_HID;
    }
    return list;
}

static hid_t create_file(const char *path, hid_t access) {
    hid_t list = rb_h5_properties(H5P_FILE_CREATE);
    hid_t id = H5I_INVALID_HID;
    unsigned order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
    if (list >= 0 && H5Pset_attr_creation_order(list, order) >= 0) {
        id = H5Fcreate(path, H5F_ACC_TRUNC, list, access);
    }
    rb_h5_drop(list);
    return id;
}

static hid_t open_id(const char *path, enum opening how, hid_t access) {
    if (access < 0 || how == OPEN_CREATE) {
        return access < 0 ? access : create_file(path, access);
    }
    return H5Fopen(path, how == OPEN_EDIT ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access);
}

static rb_error open_file(rb_context *ctx, const char *path, const char *shown, enum opening how,
                          rb_h5_style style, rb_h5 **out) {
    *out = NULL;
    rb_h5 *file = rb_alloc_zero(ctx, 1, sizeof *file);
    char *copy = file ? rb_copy_text(ctx, shown) : NULL;
    if (!copy) {
        rb_free(file);
        return RB_ERROR_MEMORY;
    }
    file->shown = copy;
    file->reading = how == OPEN_READ;
    file->writing = !file->reading;
    file->style = style;
    rb_h5_hold(file, ctx);
    hid_t access = access_properties(file, path, how);
    file->id = open_id(path, how, access);
    rb_error err = RB_OK;
    if (file->id < 0) {
        err = how == OPEN_CREATE
                  ? rb_h5_broken(file, RB_ERROR_FILE, "cannot create", path)
                  : rb_h5_broken(file, RB_ERROR_FORMAT, "is no HDF5 file, or a damaged one:", path);
    }
    rb_h5_drop(access);
    if (err) {
        rb_h5_close(file);
        return err;
    }
    *out = file;
    return RB_OK;
}

rb_error rb_h5_create(rb_context *ctx, const char *path, const char *shown, rb_h5_style style,
                      rb_h5 **file) {
    return open_file(ctx, path, shown, OPEN_CREATE, style, file);
}

rb_error rb_h5_edit(rb_context *ctx, const char *path, const char *shown, rb_h5_style style,
                    rb_h5 **file) {
    return open_file(ctx, path, shown, OPEN_EDIT, style, file);
}

rb_error rb_h5_open(rb_context *ctx, const char *path, rb_h5_style style, rb_h5 **file) {
    *file = NULL;
    rb_error err = rb_file_check(ctx, path, NULL);
    return err ? err : open_file(ctx, path, path, OPEN_READ, style, file);
}

rb_error rb_h5_close(rb_h5 *file) {
    if (!file) {
        return RB_OK;
    }
    bool closed = file->id < 0 || H5Fclose(file->id) >= 0;
    rb_error err = RB_OK;
    if (file->ctx && (file->reading || file->writing)) {
        err = rb_h5_check(file);
    }
    if (!err && !closed && file->writing) {
        err = rb_h5_broken(file, RB_ERROR_FILE, "cannot finish", file->shown);
    }
    rb_h5_disk_release(file->disk);
    rb_h5_let_go(file);
    rb_free(file->shown);
    rb_free(file);
    return err;
}

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

const char *rb_io_hdf5(void) {
    return TEXT(H5_VERS_MAJOR) "." TEXT(H5_VERS_MINOR) "." TEXT(H5_VERS_RELEASE);
}
