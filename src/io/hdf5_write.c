/* Writing matrices as HDF5: a data set "X" with names beside it (.h5, .hdf5), or AnnData
 * (.h5ad). */
#include "hdf5_base.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 20 };

/* A data set that is written row by row. */
struct writing {
    rb_h5 *file;
    const char *path;
    rb_type type;
    hid_t data;
    int64_t next; /* row */
    bool sparse;
    rb_h5_rows rows; /* of a sparse one, instead of data and next */
};

static rb_error create(struct writing *w, int64_t rows, int64_t columns, bool checked) {
    hid_t stored = w->type == RB_FLOAT32 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
    return rb_h5_create_data(w->file, w->path, 2, (int64_t[]){rows, columns}, stored, checked,
                             &w->data);
}

static rb_error write_block(struct writing *w, int64_t count, int64_t columns,
                            const void *numbers) {
    int64_t first = w->next;
    w->next += count;
    return rb_h5_transfer(w->data, (int64_t[]){first, 0}, (int64_t[]){count, columns},
                          rb_h5_native(w->type), NULL, numbers)
               ? rb_h5_check(w->file)
               : rb_h5_broken(w->file, RB_ERROR_FILE, "cannot write the data set", w->path);
}

/* Writes rows, dense or sparse, converted to the type of the data set. */
static rb_error write_rows(struct writing *w, const rb_matrix *m) {
    int64_t columns = m->n_features, n = m->n_samples;
    if (n == 0 || columns == 0) return RB_OK;
    if (!m->sparse && m->type == w->type && m->column_stride == 1 && m->row_stride == columns)
        return write_block(w, n, columns, m->values);
    int64_t row_bytes = columns * (int64_t)rb_type_size(w->type);
    int64_t batch = row_bytes >= BLOCK_BYTES ? 1 : BLOCK_BYTES / row_bytes;
    char *numbers = rb_alloc(w->file->ctx, batch, (size_t)row_bytes);
    rb_error err = numbers ? RB_OK : RB_ERROR_MEMORY;
    for (int64_t from = 0; !err && from < n; from += batch) {
        int64_t count = n - from < batch ? n - from : batch;
        for (int64_t i = 0; i < count; i++)
            rb_rows_copy(m, from + i, w->type, numbers + i * row_bytes);
        err = write_block(w, count, columns, numbers);
    }
    rb_free(numbers);
    return err;
}

rb_error rb_h5_put_matrix(rb_h5 *file, const char *path, const rb_matrix *m) {
    struct writing w = {file, path, m->type, H5I_INVALID_HID, 0};
    rb_error err = create(&w, m->n_samples, m->n_features, true);
    return err ? err : rb_h5_finish_data(file, path, write_rows(&w, m), w.data);
}

/* ---- the writer ---- */

/* Names of samples or features. Where there are none: NULL, or if they are needed "0", "1", ... */
static rb_error list_names(rb_context *ctx, const rb_write_header *header, bool samples,
                           bool needed, rb_names **names) {
    const rb_source *source = header->sample_names_from;
    bool there = samples ? source && source->sample_names && source->n_samples >= header->n_samples
                         : header->feature_names != NULL;
    rb_name_list list = {0};
    rb_error err = RB_OK;
    *names = NULL;
    if (!there && !needed) return RB_OK;
    for (int64_t i = 0; !err && i < (samples ? header->n_samples : header->n_features); i++) {
        char number[24];
        snprintf(number, sizeof number, "%lld", (long long)i);
        const char *text = !there    ? number
                           : samples ? rb_source_sample_name(source, i)
                                     : header->feature_names[i];
        err = rb_name_list_add(ctx, &list, text, (int64_t)strlen(text));
    }
    return rb_name_list_end(ctx, err, &list, names);
}

static rb_error put_names(const struct writing *w, bool anndata, const rb_names *samples,
                          const rb_names *features) {
    rb_h5 *file = w->file;
    rb_error err = RB_OK;
    if (anndata) {
        err = rb_h5_put_anndata(file, samples, features);
        return err         ? err
               : w->sparse ? rb_h5_encode(file, "X", "csr_matrix", "0.1.0")
                           : rb_h5_encode(file, "X", "array", "0.2.0");
    }
    err = samples ? rb_h5_put_names(file, "samples", samples) : RB_OK;
    return err || !features ? err : rb_h5_put_names(file, "features", features);
}

static rb_error begin(struct writing *w, bool anndata, const rb_write_header *header) {
    const char *origin = rb_context_provenance(w->file->ctx);
    rb_names *samples = NULL, *features = NULL;
    rb_error err = w->sparse ? rb_h5_rows_begin(w->file, header, &w->rows)
                             : create(w, header->n_samples, header->n_features, false);
    err = err ? err : list_names(w->file->ctx, header, true, anndata, &samples);
    err = err ? err : list_names(w->file->ctx, header, false, anndata, &features);
    err = err ? err : put_names(w, anndata, samples, features);
    if (!err && origin) err = rb_h5_set_text(w->file, "/", "provenance", origin);
    rb_names_free(samples);
    rb_names_free(features);
    return err;
}

/* Closes what is open; the file is held. */
static rb_error end(struct writing *w, bool abandon) {
    rb_error err = RB_OK;
    w->file->writing = !abandon; /* what is thrown away may be incomplete */
    if (w->data >= 0 && H5Dclose(w->data) < 0 && !abandon)
        err = rb_h5_broken(w->file, RB_ERROR_FILE, "cannot finish the data set", w->path);
    if (w->sparse) err = rb_h5_rows_end(w->file, &w->rows, abandon);
    err = rb_h5_end(w->file, err);
    rb_free(w);
    return err;
}

static rb_error open_hdf5(rb_context *ctx, const char *path, const char *suffix,
                          const rb_write_header *header, void **state) {
    struct writing *w = rb_alloc_zero(ctx, 1, sizeof *w);
    rb_error err = w ? RB_OK : RB_ERROR_MEMORY;
    *state = NULL;
    /* the caller names the file */
    err = err ? err : rb_h5_create(ctx, path, "", RB_H5_SHARED, &w->file);
    if (err) {
        rb_free(w);
        return err;
    }
    bool anndata = strcmp(suffix, ".h5ad") == 0;
    *w = (struct writing){w->file,
                          "X",
                          header->type,
                          H5I_INVALID_HID,
                          0,
                          anndata && header->sparse,
                          .rows = {H5I_INVALID_HID, H5I_INVALID_HID, NULL, 0}};
    err = begin(w, anndata, header);
    if (err) {
        end(w, true);
        return err;
    }
    rb_h5_let_go(w->file);
    *state = w;
    return RB_OK;
}

static rb_error add_hdf5(rb_context *ctx, void *state, const rb_matrix *rows) {
    struct writing *w = state;
    rb_h5_hold(w->file, ctx);
    rb_error err = w->sparse ? rb_h5_rows_add(w->file, &w->rows, rows) : write_rows(w, rows);
    rb_h5_let_go(w->file);
    return err;
}

static rb_error close_hdf5(rb_context *ctx, void *state, bool abandon) {
    struct writing *w = state;
    rb_h5_hold(w->file, ctx);
    return end(w, abandon);
}

const rb_write_format rb_write_format_hdf5 = {".h5, .hdf5, .h5ad", open_hdf5, add_hdf5, close_hdf5};
