/* One column of an AnnData file's table of observations, as texts: categorical, text, whole numbers
 * or truth values, in the layouts of anndata 0.5 and later. */
#include "hdf5_place.h"

#include <stdio.h>
#include <string.h>

/* ---- lists of values ---- */

static rb_error check_list(rb_h5 *file, const char *path, const rb_h5_data *data) {
    return data->rank == 1 ? RB_OK : rb_h5_fail(file, RB_ERROR_FORMAT, "'%s' must be a list", path);
}

/* Truth values are an enumeration of two numbers. */
static rb_error read_flags(rb_h5 *file, const char *path, const rb_h5_data *data,
                           rb_names **texts) {
    rb_context *ctx = file->ctx;
    rb_name_list list = {0};
    int8_t *values = rb_alloc(ctx, data->shape[0], sizeof *values);
    rb_error err =
        values ? rb_h5_data_read(file, path, data, 0, data->shape[0], 0, 1, H5T_NATIVE_INT8, values)
               : RB_ERROR_MEMORY;
    for (int64_t i = 0; !err && i < data->shape[0]; i++) {
        const char *text = values[i] ? "True" : "False";
        err = rb_name_list_add(ctx, &list, text, (int64_t)strlen(text));
    }
    if (!err) {
        *texts = rb_name_list_finish(ctx, &list);
        err = *texts ? RB_OK : RB_ERROR_MEMORY;
    }
    rb_name_list_clear(&list);
    rb_free(values);
    return err;
}

/* The values of a data set as texts. */
static rb_error read_plain(rb_h5 *file, const char *path, rb_names **texts) {
    rb_h5_data data;
    rb_error err = rb_h5_data_open(file, path, &data);
    err = err ? err : check_list(file, path, &data);
    if (!err && data.kind == H5T_FLOAT) {
        err = rb_h5_fail(file, RB_ERROR_FORMAT,
                         "'%s' holds numbers with fractions, which are no classes; give a column "
                         "that is categorical, text or whole numbers",
                         path);
    }
    err = err            ? err
          : data.boolean ? read_flags(file, path, &data, texts)
                         : rb_h5_read_texts(file, path, &data, NULL, texts);
    rb_h5_data_close(&data);
    return err;
}

/* Exactly `count` whole numbers of a list, or of the field `member` of a table. */
static rb_error read_integers(rb_h5 *file, const char *path, const char *member, int64_t count,
                              int64_t *values) {
    rb_h5_data data;
    hid_t type = H5T_NATIVE_INT64;
    rb_error err = rb_h5_data_open(file, path, &data);
    err = err ? err : check_list(file, path, &data);
    if (!err && data.shape[0] != count) {
        err = rb_h5_fail(file, RB_ERROR_FORMAT, "'%s' has %lld values, but there are %lld of them",
                         path, (long long)data.shape[0], (long long)count);
    }
    if (!err && member) {
        type = H5Tcreate(H5T_COMPOUND, sizeof *values);
        if (type < 0 || H5Tinsert(type, member, 0, H5T_NATIVE_INT64) < 0) {
            err = rb_h5_broken(file, RB_ERROR_FORMAT, "cannot read the column", member);
        }
    }
    err = err ? err : rb_h5_data_read(file, path, &data, 0, count, 0, 1, type, values);
    if (member && type >= 0) {
        H5Tclose(type);
    }
    rb_h5_data_close(&data);
    return err;
}

/* ---- categories and masks ---- */

/* The text of each code; a code below 0 has none. NULL categories: the codes themselves. */
static rb_error spell_codes(rb_h5 *file, const char *path, const rb_names *categories,
                            const int64_t *codes, int64_t count, rb_names **texts) {
    rb_name_list list = {0};
    rb_error err = RB_OK;
    for (int64_t i = 0; !err && i < count; i++) {
        char number[32];
        snprintf(number, sizeof number, "%lld", (long long)codes[i]);
        const char *text = number;
        if (categories && codes[i] >= categories->count) {
            err = rb_h5_fail(file, RB_ERROR_FORMAT,
                             "'%s' has code %lld, but there are %lld categories", path,
                             (long long)codes[i], (long long)categories->count);
        } else if (categories) {
            text = codes[i] < 0 ? "" : categories->text[codes[i]];
        }
        err = err ? err : rb_name_list_add(file->ctx, &list, text, (int64_t)strlen(text));
    }
    if (!err) {
        *texts = rb_name_list_finish(file->ctx, &list);
        err = *texts ? RB_OK : RB_ERROR_MEMORY;
    }
    rb_name_list_clear(&list);
    return err;
}

/* Codes at `path` (field `member` of a table, or NULL) and the texts they stand for at `key`, or
 * NULL. */
static rb_error read_coded(rb_h5 *file, const char *path, const char *member, const char *key,
                           int64_t count, rb_names **texts) {
    rb_names *categories = NULL;
    int64_t *codes = rb_alloc(file->ctx, count, sizeof *codes);
    rb_error err = codes ? RB_OK : RB_ERROR_MEMORY;
    err = err ? err : read_integers(file, path, member, count, codes);
    if (!err && key) {
        err = read_plain(file, key, &categories);
    }
    err = err ? err : spell_codes(file, path, categories, codes, count, texts);
    rb_names_free(categories);
    rb_free(codes);
    return err;
}

/* Values that may be missing: those where the mask is set have no text. */
static rb_error read_masked(rb_h5 *file, const char *column, int64_t count, rb_names **texts) {
    char path[RB_H5_LONG_PATH];
    rb_names *flags = NULL;
    snprintf(path, sizeof path, "obs/%s/values", column);
    rb_error err = read_plain(file, path, texts);
    snprintf(path, sizeof path, "obs/%s/mask", column);
    if (!err && rb_h5_has(file, path)) {
        err = read_plain(file, path, &flags);
    }
    if (!err && flags && (flags->count != count || (*texts)->count != count)) {
        err = rb_h5_fail(file, RB_ERROR_FORMAT,
                         "column '%s' of obs has not as many values as there are rows", column);
    }
    for (int64_t i = 0; !err && flags && i < count; i++) {
        if (strcmp(flags->text[i], "True") == 0) {
            (*texts)->text[i][0] = '\0';
        }
    }
    rb_names_free(flags);
    return err;
}

/* ---- the column ---- */

/* New files keep a table as a group with a member for each column. */
static rb_error read_member(rb_h5 *file, const char *column, int64_t count, rb_names **texts) {
    char path[RB_H5_LONG_PATH], codes[RB_H5_LONG_PATH], key[RB_H5_LONG_PATH];
    snprintf(path, sizeof path, "obs/%s", column);
    if (!rb_h5_is_group(file, path)) {
        snprintf(key, sizeof key, "obs/__categories/%s", column);
        return rb_h5_has(file, key) ? read_coded(file, path, NULL, key, count, texts)
                                    : read_plain(file, path, texts);
    }
    snprintf(codes, sizeof codes, "obs/%s/codes", column);
    snprintf(key, sizeof key, "obs/%s/categories", column);
    return rb_h5_has(file, codes) ? read_coded(file, codes, NULL, key, count, texts)
                                  : read_masked(file, column, count, texts);
}

/* Old ones as one compound data set; the texts of a coded field lie beside it. */
static rb_error read_field(rb_h5 *file, const char *column, int64_t count, rb_names **texts) {
    char key[RB_H5_LONG_PATH];
    rb_h5_data data;
    rb_error err = rb_h5_data_open(file, "obs", &data);
    hid_t type = err ? H5I_INVALID_HID : H5Dget_type(data.id);
    int index = type >= 0 ? H5Tget_member_index(type, column) : -1;
    H5T_class_t kind = index >= 0 ? H5Tget_member_class(type, (unsigned)index) : H5T_NO_CLASS;
    rb_h5_drop(type);
    snprintf(key, sizeof key, "uns/%s_categories", column);
    if (!err && kind == H5T_INTEGER) {
        err = read_coded(file, "obs", column, rb_h5_has(file, key) ? key : NULL, count, texts);
    } else if (!err && kind == H5T_STRING) {
        err = rb_h5_read_texts(file, "obs", &data, column, texts);
    } else if (!err) {
        err = rb_h5_fail(file, RB_ERROR_FORMAT,
                         "column '%s' of obs is neither text nor whole numbers", column);
    }
    rb_h5_data_close(&data);
    return err;
}

/* ---- which columns there are ---- */

static rb_error list_fields(rb_h5 *file, rb_name_list *list) {
    rb_h5_data data;
    rb_error err = rb_h5_data_open(file, "obs", &data);
    hid_t type = err ? H5I_INVALID_HID : H5Dget_type(data.id);
    int fields = type >= 0 ? H5Tget_nmembers(type) : 0;
    for (int f = 0; !err && f < fields; f++) {
        char *name = H5Tget_member_name(type, (unsigned)f);
        err = name ? rb_name_list_add(file->ctx, list, name, (int64_t)strlen(name)) : RB_OK;
        H5free_memory(name);
    }
    rb_h5_drop(type);
    rb_h5_data_close(&data);
    return err;
}

static rb_error list_columns(rb_h5 *file, rb_names **columns) {
    rb_name_list list = {0};
    if (rb_h5_is_group(file, "obs")) {
        return rb_h5_list(file, "obs", columns);
    }
    rb_error err = list_fields(file, &list);
    if (!err) {
        *columns = rb_name_list_finish(file->ctx, &list);
        err = *columns ? RB_OK : RB_ERROR_MEMORY;
    }
    rb_name_list_clear(&list);
    return err;
}

static bool among(const rb_names *columns, const char *column) {
    for (int64_t i = 0; i < columns->count; i++) {
        if (strcmp(columns->text[i], column) == 0) {
            return true;
        }
    }
    return false;
}

/* "louvain, n_genes, ..."; what serves the file's own order is left out. */
static void join_columns(const rb_names *columns, char *buffer, size_t size) {
    size_t used = 0;
    buffer[0] = '\0';
    for (int64_t i = 0; i < columns->count; i++) {
        const char *name = columns->text[i];
        if (name[0] == '_' || strcmp(name, "index") == 0) {
            continue;
        }
        if (used + strlen(name) + 6 > size) {
            snprintf(buffer + used, size - used, ", ...");
            return;
        }
        used += (size_t)snprintf(buffer + used, size - used, "%s%s", used ? ", " : "", name);
    }
}

static rb_error check_column(rb_h5 *file, const char *column) {
    char there[240];
    rb_names *columns = NULL;
    rb_error err = list_columns(file, &columns);
    if (err || (column && among(columns, column))) {
        rb_names_free(columns);
        return err;
    }
    join_columns(columns, there, sizeof there);
    rb_names_free(columns);
    return rb_h5_fail(file, RB_ERROR_ARGUMENT, "%s%s%s; its columns are: %s",
                      column ? "obs has no column '" : "name a column of obs, after a colon",
                      column ? column : "", column ? "'" : "", *there ? there : "(none)");
}

static rb_error read_column(rb_h5 *file, const char *column, rb_names **names, rb_names **texts) {
    if (!rb_h5_is_anndata(file)) {
        return rb_h5_fail(file, RB_ERROR_FORMAT,
                          "is no AnnData file, and only those have columns to choose from");
    }
    rb_error err = check_column(file, column);
    err = err ? err : rb_h5_anndata_index(file, "obs", names);
    if (!err) {
        int64_t count = (*names)->count;
        err = rb_h5_is_group(file, "obs") ? read_member(file, column, count, texts)
                                          : read_field(file, column, count, texts);
        if (!err && (*texts)->count != count) {
            err = rb_h5_fail(file, RB_ERROR_FORMAT, "'%s' has %lld values for %lld observations",
                             column, (long long)(*texts)->count, (long long)count);
        }
    }
    return err ? err : rb_h5_check(file);
}

rb_error rb_anndata_column(rb_context *ctx, const char *path, const char *column, rb_names **names,
                           rb_names **texts) {
    rb_h5 *file;
    rb_reading reading;
    *names = *texts = NULL;
    rb_reading_begin(ctx, &reading, path);
    rb_error err = rb_h5_open(ctx, path, RB_H5_SHARED, &file);
    if (!err) {
        err = read_column(file, column, names, texts);
        rb_h5_close(file);
    }
    rb_reading_end(ctx);
    if (err) {
        rb_names_free(*names);
        rb_names_free(*texts);
        *names = *texts = NULL;
    }
    return err;
}
