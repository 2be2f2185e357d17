/* Writing matrices as HDF5: a data set "X" with names beside it (.h5, .hdf5), or AnnData
 * (.h5ad). */
#include "hdf5_base.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 20 };

/* ---- matrices ---- */

static hid_t stored_type(rb_type type) {
    return type == RB_FLOAT32 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
}

static rb_error write_block(rb_h5 *file, const char *path, hid_t data, rb_type type, int64_t first,
                            const rb_matrix *rows, const void *numbers) {
    return rb_h5_transfer(data, (int64_t[]){first, 0},
                          (int64_t[]){rows->n_samples, rows->n_features}, rb_h5_native(type), NULL,
                          numbers)
               ? rb_h5_check(file)
               : rb_h5_broken(file, RB_ERROR_FILE, "cannot write the data set", path);
}

/* Writes rows from `first` on, dense or sparse, converted to the type of the data set. */
static rb_error write_rows(rb_h5 *file, const char *path, hid_t data, rb_type type, int64_t first,
                           const rb_matrix *m) {
    int64_t columns = m->n_features, capacity;
    if (m->n_samples == 0 || columns == 0) {
        return RB_OK;
    }
    if (!m->sparse && m->type == type && m->column_stride == 1 && m->row_stride == columns) {
        return write_block(file, path, data, type, first, m, m->values);
    }
    int64_t row_bytes = columns * (int64_t)rb_type_size(type);
    int64_t batch = row_bytes >= BLOCK_BYTES ? 1 : BLOCK_BYTES / row_bytes;
    rb_error err = RB_OK;
    char *numbers = rb_multiply(batch, columns, &capacity)
                        ? rb_alloc(file->ctx, capacity, rb_type_size(type))
                        : NULL;
    if (!numbers) {
        return RB_ERROR_MEMORY;
    }
    for (int64_t from = 0; !err && from < m->n_samples; from += batch) {
        int64_t count = m->n_samples - from < batch ? m->n_samples - from : batch;
        for (int64_t i = 0; i < count; i++) {
            rb_rows_copy(m, from + i, type, numbers + i * row_bytes);
        }
        rb_matrix rows = {.n_samples = count, .n_features = columns};
        err = write_block(file, path, data, type, first + from, &rows, numbers);
    }
    rb_free(numbers);
    return err;
}

rb_error rb_h5_put_matrix(rb_h5 *file, const char *path, const rb_matrix *m) {
    hid_t data;
    rb_error err = rb_h5_create_data(file, path, 2, (int64_t[]){m->n_samples, m->n_features},
                                     stored_type(m->type), true, &data);
    return err ? err
               : rb_h5_finish_data(file, path, write_rows(file, path, data, m->type, 0, m), data);
}

rb_error rb_h5_put_dense(rb_h5 *file, const char *path, rb_dense values) {
    rb_matrix view = {.n_samples = values.rows,
                      .n_features = values.cols,
                      .type = values.type,
                      .values = values.data,
                      .row_stride = values.ld,
                      .column_stride = 1};
    return rb_h5_put_matrix(file, path, &view);
}

/* ---- the writer ---- */

struct writing {
    rb_h5 *file;
    hid_t data;
    rb_type type;
    int64_t next; /* row */
};

/* Names of samples and features as plain lists; NULL where there are none. */
struct names {
    const char **samples;
    const char *const *features;
    char *numbers;        /* text of the numbers that stand for names in AnnData */
    const char **counted; /* pointers to them */
};

static void free_names(struct names *names) {
    rb_free(names->samples);
    rb_free(names->numbers);
    rb_free(names->counted);
}

static rb_error take_sample_names(rb_context *ctx, const rb_write_header *header,
                                  struct names *names) {
    const rb_source *source = header->sample_names_from;
    if (!source || !source->sample_names || source->n_samples < header->n_samples) {
        return RB_OK;
    }
    names->samples = rb_alloc(ctx, header->n_samples, sizeof *names->samples);
    for (int64_t i = 0; names->samples && i < header->n_samples; i++) {
        names->samples[i] = rb_source_sample_name(source, i);
    }
    return names->samples ? RB_OK : RB_ERROR_MEMORY;
}

/* "0", "1", ... for what has no names, as AnnData demands an index. */
static rb_error count_names(rb_context *ctx, int64_t count, struct names *names) {
    enum { LENGTH = 24 };
    names->numbers = rb_alloc(ctx, count, LENGTH);
    names->counted = rb_alloc(ctx, count, sizeof *names->counted);
    if (!names->numbers || !names->counted) {
        return RB_ERROR_MEMORY;
    }
    for (int64_t i = 0; i < count; i++) {
        char *text = names->numbers + i * LENGTH;
        snprintf(text, LENGTH, "%lld", (long long)i);
        names->counted[i] = text;
    }
    return RB_OK;
}

static rb_error put_anndata(rb_h5 *file, const rb_write_header *header, struct names *names) {
    int64_t n = header->n_samples, m = header->n_features;
    rb_error err = RB_OK;
    if (!names->samples || !names->features) {
        err = count_names(file->ctx, n > m ? n : m, names);
    }
    err = err ? err
              : rb_h5_put_anndata(file, n, names->samples ? names->samples : names->counted, m,
                                  names->features ? names->features : names->counted);
    return err ? err : rb_h5_encode(file, "X", "array", "0.2.0");
}

static rb_error put_plain_names(rb_h5 *file, const rb_write_header *header,
                                const struct names *names) {
    rb_error err = RB_OK;
    if (names->samples) {
        err = rb_h5_put_texts(file, "samples", header->n_samples, names->samples);
    }
    if (!err && names->features) {
        err = rb_h5_put_texts(file, "features", header->n_features, names->features);
    }
    return err;
}

static rb_error begin(struct writing *w, const char *suffix, const rb_write_header *header) {
    struct names names = {.features = header->feature_names};
    rb_error err =
        rb_h5_create_data(w->file, "X", 2, (int64_t[]){header->n_samples, header->n_features},
                          stored_type(header->type), false, &w->data);
    err = err ? err : take_sample_names(w->file->ctx, header, &names);
    err = err                            ? err
          : strcmp(suffix, ".h5ad") == 0 ? put_anndata(w->file, header, &names)
                                         : put_plain_names(w->file, header, &names);
    free_names(&names);
    return err;
}

/* Closes what is open; the file is held. */
static rb_error end(struct writing *w) {
    rb_error err = RB_OK;
    if (w->data >= 0 && H5Dclose(w->data) < 0 && w->file->writing) {
        err = rb_h5_broken(w->file, RB_ERROR_FILE, "cannot finish the data set", "X");
    }
    rb_error unfinished = rb_h5_close(w->file);
    rb_free(w);
    return err ? err : unfinished;
}

static rb_error open_hdf5(rb_context *ctx, const char *path, const char *suffix,
                          const rb_write_header *header, void **state) {
    *state = NULL;
    struct writing *w = rb_alloc_zero(ctx, 1, sizeof *w);
    if (!w) {
        return RB_ERROR_MEMORY;
    }
    w->data = H5I_INVALID_HID;
    w->type = header->type;
    rb_error err =
        rb_h5_create(ctx, path, "", RB_H5_SHARED, &w->file); /* the caller names the file */
    if (err) {
        rb_free(w);
        return err;
    }
    err = begin(w, suffix, header);
    if (err) {
        w->file->writing = false; /* it is thrown away, and may be incomplete */
        end(w);
        return err;
    }
    rb_h5_let_go(w->file);
    *state = w;
    return RB_OK;
}

static rb_error add_hdf5(rb_context *ctx, void *state, const rb_matrix *rows) {
    struct writing *w = state;
    rb_h5_hold(w->file, ctx);
    rb_error err = write_rows(w->file, "X", w->data, w->type, w->next, rows);
    rb_h5_let_go(w->file);
    w->next += rows->n_samples;
    return err;
}

static rb_error close_hdf5(rb_context *ctx, void *state, bool abandon) {
    struct writing *w = state;
    rb_h5_hold(w->file, ctx);
    w->file->writing = !abandon; /* what is thrown away may be incomplete */
    return end(w);
}

const rb_write_format rb_write_format_hdf5 = {".h5 .hdf5 .h5ad", open_hdf5, add_hdf5, close_hdf5};
