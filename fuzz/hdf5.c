/* Fuzz target: HDF5, AnnData and 10x. The input is not the file, but what to put into one: a sound
 * container with hostile content. A damaged container is HDF5's own to survive, and HDF5 1.10 does
 * not survive all of them. */
#include "driver/read.h"

#include "io/hdf5_base.h"

#include <string.h>
#include <unistd.h>

enum { MAX = 32 };

/* Mostly small numbers, now and then the extremes. */
static int64_t take_number(fuzz_input *in) {
    int value = (int8_t)fuzz_take(in);
    return value == 127 ? INT64_MAX : value == -128 ? INT64_MIN : value == 126 ? INT32_MAX : value;
}

/* A data set of up to two dimensions, of any type. */
static void put_numbers(rb_h5 *file, const char *path, fuzz_input *in) {
    const hid_t types[] = {H5T_STD_I8LE,  H5T_STD_I16LE,  H5T_STD_I32LE,  H5T_STD_I64LE,
                           H5T_STD_U64BE, H5T_IEEE_F32LE, H5T_IEEE_F64BE, H5T_STD_B8LE};
    int64_t values[MAX] = {0};
    int how = fuzz_take(in);
    hsize_t shape[2] = {(hsize_t)(fuzz_take(in) % MAX), 1};
    int rank = how & 8 ? 2 : how & 16 ? 0 : 1;
    if (rank == 2 && shape[0] % 2 == 0) {
        shape[0] /= 2;
        shape[1] = 2;
    }
    hid_t space = rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, shape, NULL);
    for (hsize_t i = 0; rank > 0 && i < shape[0] * shape[1]; i++)
        values[i] = take_number(in);
    hid_t data =
        H5Dcreate2(file->id, path, types[how % 8], space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (data >= 0) {
        H5Dwrite(data, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
        H5Dclose(data);
    }
    H5Sclose(space);
}

/* Up to MOST names of two letters, many of them alike; or numbers in their place. */
static void put_names(rb_h5 *file, const char *path, fuzz_input *in) {
    char text[MAX][4];
    const char *names[MAX];
    int count = fuzz_take(in);
    if (count >= 128) {
        put_numbers(file, path, in);
        return;
    }
    for (int i = 0; i < count % MAX; i++) {
        int letters = fuzz_take(in);
        text[i][0] = (char)('A' + letters % 4);
        text[i][1] = letters & 64 ? '-' : '\0';
        text[i][2] = (char)('1' + letters % 3);
        text[i][3] = '\0';
        names[i] = text[i];
    }
    rb_h5_put_texts(file, path, count % MAX, names);
}

static void set_shape(rb_h5 *file, const char *path, const char *name, fuzz_input *in) {
    int64_t shape[2] = {take_number(in), take_number(in)};
    hsize_t two = 2;
    hid_t space = H5Screate_simple(1, &two, NULL);
    hid_t attribute = H5Acreate_by_name(file->id, path, name, H5T_STD_I64LE, space, H5P_DEFAULT,
                                        H5P_DEFAULT, H5P_DEFAULT);
    if (attribute >= 0) {
        H5Awrite(attribute, H5T_NATIVE_INT64, shape);
        H5Aclose(attribute);
    }
    H5Sclose(space);
}

static void put_sparse(rb_h5 *file, const char *group, fuzz_input *in) {
    static const char *const parts[] = {"data", "indices", "indptr"};
    rb_h5_put_group(file, group);
    for (int i = 0; i < 3; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s/%s", group, parts[i]);
        put_numbers(file, path, in);
    }
}

static void put_table(rb_h5 *file, const char *table, fuzz_input *in) {
    static const char *const indices[] = {"_index", "", ".", "index"};
    char path[64];
    int how = fuzz_take(in);
    if (how == 255) { /* a table that is no group */
        put_numbers(file, table, in);
        return;
    }
    rb_h5_put_group(file, table);
    if (how % 5 < 4) rb_h5_set_text(file, table, "_index", indices[how % 5]);
    snprintf(path, sizeof path, "%s/_index", table);
    put_names(file, path, in);
}

/* Columns of observations: with categories, plain, with a mask. */
static const char *const columns[] = {"coded", "plain", "masked"};

static void put_columns(rb_h5 *file, fuzz_input *in) {
    rb_h5_put_group(file, "obs/coded");
    put_numbers(file, "obs/coded/codes", in);
    put_names(file, "obs/coded/categories", in);
    put_names(file, "obs/plain", in);
    rb_h5_put_group(file, "obs/masked");
    put_names(file, "obs/masked/values", in);
    put_numbers(file, "obs/masked/mask", in);
}

static void put_anndata(rb_h5 *file, fuzz_input *in) {
    static const char *const formats[] = {"csr_matrix", "csc_matrix", "array"};
    int how = fuzz_take(in);
    if (how % 4 == 3) {
        put_numbers(file, "X", in);
    } else {
        put_sparse(file, "X", in);
        rb_h5_set_text(file, "X", how & 16 ? "h5sparse_format" : "encoding-type", formats[how % 4]);
        set_shape(file, "X", how & 16 ? "h5sparse_shape" : "shape", in);
    }
    put_table(file, "obs", in);
    put_table(file, "var", in);
    put_columns(file, in);
}

static void put_tenx(rb_h5 *file, fuzz_input *in) {
    bool old = fuzz_take(in) & 1;
    put_sparse(file, "matrix", in);
    put_numbers(file, "matrix/shape", in);
    put_names(file, "matrix/barcodes", in);
    if (!old) rb_h5_put_group(file, "matrix/features");
    put_names(file, old ? "matrix/gene_names" : "matrix/features/name", in);
}

static void put_plain(rb_h5 *file, fuzz_input *in) {
    put_numbers(file, "X", in);
    put_names(file, "samples", in);
    put_names(file, "features", in);
}

static void put_content(rb_h5 *file, fuzz_input *in) {
    switch (fuzz_take(in) % 3) {
    case 0:
        put_anndata(file, in);
        return;
    case 1:
        put_tenx(file, in);
        return;
    default:
        put_plain(file, in);
        return;
    }
}

/* A column is as many texts as names, or a message. */
static void read_columns(rb_context *ctx, const char *path) {
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        rb_names *names = NULL, *texts = NULL;
        rb_h5 *file;
        bool categorical;
        fuzz_expect(!rb_h5_open(ctx, path, RB_H5_SHARED, &file));
        rb_error err = rb_anndata_samples(file, &names);
        if (!err) err = rb_anndata_column(file, columns[c], names->count, &texts, &categorical);
        fuzz_expect(err ? !texts && *rb_context_error(ctx) : names->count == texts->count);
        rb_names_free(names);
        rb_names_free(texts);
        rb_h5_close(file);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input in = {data, size};
    char path[FUZZ_PATH];
    rb_context *ctx;
    rb_h5 *file;
    fuzz_temporary(path);
    fuzz_expect(!rb_context_create(&ctx));
    fuzz_expect(!rb_h5_create(ctx, path, path, RB_H5_SHARED, &file));
    put_content(file, &in);
    rb_h5_close(file);
    read_columns(ctx, path);
    rb_context_free(ctx);
    fuzz_read_path(&rb_format_hdf5, path);
    unlink(path);
    return 0;
}
