/* HDF5 files: who may call HDF5, its silence, opening and closing. */
#include "hdf5_base.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The one lock of the library. HDF5 keeps global tables, and guards them only if it was built to
 * (--enable-threadsafe, as Debian's is): else calls from two threads, even on two files, must not
 * overlap. The lock belongs to HDF5, which is one in a process, and thus not to a context. */
static pthread_mutex_t hdf5_lock = PTHREAD_MUTEX_INITIALIZER;

/* Keeps the innermost reason, which comes first, and ends the walk. */
static herr_t keep_innermost(unsigned level, const H5E_error2_t *error, void *reason) {
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
    if (file->old_printer) H5Eset_auto2(H5E_DEFAULT, keep_reason, file);
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
    if (file->old_printer)
        H5Eset_auto2(H5E_DEFAULT, stays_off ? NULL : file->printer, file->printer_data);
    file->ctx = NULL;
    pthread_mutex_unlock(&hdf5_lock);
}

rb_error rb_h5_fail(const rb_h5 *file, rb_error code, const char *format, ...) {
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return file->shown[0] ? rb_fail(file->ctx, code, "%s: %s", file->shown, text)
                          : rb_fail(file->ctx, code, "%s", text);
}

rb_error rb_h5_check(rb_h5 *file) {
    const char *error = rb_h5_disk_error(file->disk);
    if (!error) return RB_OK;
    file->broken = true;
    const char *what = file->reading    ? "cannot be read: "
                       : file->shown[0] ? "cannot be written: "
                                        : "";
    return rb_h5_fail(file, RB_ERROR_FILE, "%s%s", what, error);
}

rb_error rb_h5_broken(rb_h5 *file, rb_error code, const char *what, const char *path) {
    if (rb_h5_disk_error(file->disk)) return rb_h5_check(file);
    file->broken = true;
    char reason[RB_H5_REASON];
    memcpy(reason, file->reason, sizeof reason);
    rb_h5_forget(file);
    return rb_h5_fail(file, code, reason[0] ? "%s '%s' (HDF5: %s)%s" : "%s '%s'%s%s", what, path,
                      reason, rb_h5_other_files(file));
}

const char *rb_h5_other_files(const rb_h5 *file) {
    return file->disk && file->disk->other
               ? "; links to other files are not followed: copy what they lead to with h5copy "
                 "-f ext"
               : "";
}

void rb_h5_drop(hid_t id) {
    if (id > 0) H5Idec_ref(id);
}

hid_t rb_h5_properties(hid_t kind) {
    hid_t list = H5Pcreate(kind);
    unsigned order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
    bool done = list >= 0 && H5Pset_obj_track_times(list, false) >= 0 &&
                (kind == H5P_DATASET_CREATE || H5Pset_attr_creation_order(list, order) >= 0);
    if (!done) rb_h5_drop(list);
    return done ? list : H5I_INVALID_HID;
}

/* ---- opening and closing; `how` is H5F_ACC_RDONLY, H5F_ACC_RDWR or, for a new file,
 * H5F_ACC_TRUNC ---- */

/* The layout of new files: that of HDF5 1.8 is read by every program, that of 1.10 has checksums on
 * all that is not data. */
static bool choose_layout(hid_t list, rb_h5_style style) {
    H5F_libver_t layout = style == RB_H5_OWN ? H5F_LIBVER_V110 : H5F_LIBVER_V18;
    return H5Pset_libver_bounds(list, layout, layout) >= 0;
}

/* descriptor: of the file, and taken over; or -1. */
static hid_t open_id(rb_h5 *file, const char *path, unsigned how, int descriptor) {
    hid_t id = H5I_INVALID_HID, create = H5P_DEFAULT, access = H5Pcreate(H5P_FILE_ACCESS);
    bool done = rb_h5_disk_use(access, descriptor, &file->disk);
    if (done && how == H5F_ACC_TRUNC) {
        create = rb_h5_properties(H5P_FILE_CREATE);
        if (create >= 0 && choose_layout(access, file->style))
            id = H5Fcreate(path, how, create, access);
    } else if (done) {
        id = H5Fopen(path, how, access);
    }
    rb_h5_drop(create);
    rb_h5_drop(access);
    return id;
}

/* Opens a file; one of ours is checked first, for HDF5 is not made for damaged files. */
static rb_error open_checked(rb_h5 *file, const char *path, unsigned how) {
    bool own = file->style == RB_H5_OWN;
    int descriptor = file->reading ? rb_reading_open(file->ctx, path) : -1;
    rb_error err = own ? rb_h5_sum_check(file, descriptor) : RB_OK;
    if (err) {
        close(descriptor);
        return err;
    }
    file->id = open_id(file, path, how, descriptor);
    if (file->id < 0) {
        return how == H5F_ACC_TRUNC ? rb_h5_broken(file, RB_ERROR_FILE, "cannot create", path)
                                    : rb_h5_broken(file, RB_ERROR_FORMAT,
                                                   "is not an HDF5 file, or a damaged one:", path);
    }
    return own && file->reading && !file->summed && rb_h5_disk_goes_on(file->disk)
               ? rb_h5_fail(file, RB_ERROR_FORMAT,
                            "the file is damaged: no checksum follows its content")
               : RB_OK;
}

static rb_error open_file(rb_context *ctx, const char *path, const char *shown, unsigned how,
                          rb_h5_style style, rb_h5 **out) {
    *out = NULL;
    rb_h5 *file = rb_alloc_zero(ctx, 1, sizeof *file);
    char *copy = file ? rb_copy_text(ctx, shown) : NULL;
    if (!copy) {
        rb_free(file);
        return RB_ERROR_MEMORY;
    }
    bool reading = how == H5F_ACC_RDONLY;
    *file = (rb_h5){.shown = copy,
                    .id = H5I_INVALID_HID,
                    .reading = reading,
                    .writing = !reading,
                    .style = style};
    rb_h5_hold(file, ctx);
    rb_error err = open_checked(file, path, how);
    if (err)
        rb_h5_close(file);
    else
        *out = file;
    return err;
}

rb_error rb_h5_create(rb_context *ctx, const char *path, const char *shown, rb_h5_style style,
                      rb_h5 **file) {
    return open_file(ctx, path, shown, H5F_ACC_TRUNC, style, file);
}

rb_error rb_h5_edit(rb_context *ctx, const char *path, const char *shown, rb_h5_style style,
                    rb_h5 **file) {
    return open_file(ctx, path, shown, H5F_ACC_RDWR, style, file);
}

rb_error rb_h5_open(rb_context *ctx, const char *path, rb_h5_style style, rb_h5 **file) {
    *file = NULL;
    rb_error err = rb_file_check(ctx, path, NULL);
    return err ? err : open_file(ctx, path, path, H5F_ACC_RDONLY, style, file);
}

rb_error rb_h5_begin(rb_context *ctx, const char *path, bool again, rb_h5 **file) {
    rb_staged *output;
    rb_error err = rb_staged_begin_as(ctx, path, again, &output);
    if (err) return err;
    err = rb_h5_create(ctx, output->path, path, RB_H5_OWN, file);
    if (err)
        rb_staged_abandon(output);
    else
        (*file)->output = output;
    return err;
}

rb_error rb_h5_close(rb_h5 *file) {
    if (!file) return RB_OK;
    bool closed = file->id < 0 || H5Fclose(file->id) >= 0;
    rb_error err = RB_OK;
    if (file->ctx && (file->reading || file->writing)) err = rb_h5_check(file);
    if (!err && !closed && file->writing)
        err = rb_h5_broken(file, RB_ERROR_FILE, "cannot finish", file->shown);
    rb_h5_disk_release(file->disk);
    rb_h5_let_go(file);
    rb_free(file->shown);
    rb_free(file);
    return err;
}

rb_error rb_h5_end(rb_h5 *file, rb_error err) {
    rb_context *ctx = file->ctx;
    rb_staged *output = file->output;
    rb_error failed = rb_h5_close(file);
    err = failed ? failed : err;
    if (output && !err) err = rb_h5_sum_add(ctx, output);
    return output ? rb_staged_end(ctx, err, output) : err;
}

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

const char *rb_io_hdf5(void) {
    return TEXT(H5_VERS_MAJOR) "." TEXT(H5_VERS_MINOR) "." TEXT(H5_VERS_RELEASE);
}
