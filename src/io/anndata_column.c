/* One column of the observations of an AnnData file, of any layout: categorical, text or
 * numbers. */
#include "hdf5_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is stored ---- */

/* The values of a data set, or of one field of it, as texts. */
static rb_error read_values(rb_h5 *file, const char *path, const char *field, rb_names **texts) {
    rb_h5_data data;
    rb_error err = rb_h5_data_open(file, path, &data);
    err = err ? err : rb_h5_read_texts(&data, field, true, texts);
    rb_h5_data_close(&data);
    return err;
}

/* Replaces codes, which were read from `path`, by the texts at `key` that they stand for; a code
 * below 0 has none. */
static rb_error spell_codes(rb_h5 *file, const char *path, const char *key, rb_names **texts) {
    rb_names *categories = NULL, *codes = *texts;
    rb_name_list list = {0};
    *texts = NULL;
    rb_error err = read_values(file, key, NULL, &categories);
    for (int64_t i = 0; !err && i < codes->count; i++) {
        char *end;
        long long code = strtoll(codes->text[i], &end, 10);
        if (*end || code >= categories->count) {
            err =
                rb_h5_fail(file, RB_ERROR_FORMAT, "'%s' has code %s, but there are %lld categories",
                           path, codes->text[i], (long long)categories->count);
            break;
        }
        const char *text = code < 0 ? "" : categories->text[code];
        err = rb_name_list_add(file->ctx, &list, text, (int64_t)strlen(text));
    }
    rb_names_free(codes);
    rb_names_free(categories);
    return rb_name_list_end(file->ctx, err, &list, texts);
}

/* Values that may be missing: those where the mask is set have no text. */
static rb_error read_masked(rb_h5 *file, const char *column, rb_names **texts) {
    char path[RB_H5_LONG_PATH];
    rb_names *flags = NULL;
    snprintf(path, sizeof path, "obs/%s/values", column);
    rb_error err = read_values(file, path, NULL, texts);
    snprintf(path, sizeof path, "obs/%s/mask", column);
    if (!err && rb_h5_has(file, path)) err = read_values(file, path, NULL, &flags);
    if (!err && flags && flags->count != (*texts)->count) {
        err = rb_h5_fail(file, RB_ERROR_FORMAT,
                         "the mask of column '%s' of obs is not as long as its values", column);
    }
    for (int64_t i = 0; !err && flags && i < flags->count; i++)
        if (strcmp(flags->text[i], "True") == 0) (*texts)->text[i][0] = '\0';
    rb_names_free(flags);
    return err;
}

/* New files keep a table as a group with a member for each column. */
static rb_error read_member(rb_h5 *file, const char *column, rb_names **texts, bool *categorical) {
    char path[RB_H5_LONG_PATH], key[RB_H5_LONG_PATH];
    snprintf(path, sizeof path, "obs/%s", column);
    bool group = rb_h5_is_group(file, path);
    snprintf(path, sizeof path, group ? "obs/%s/codes" : "obs/%s", column);
    snprintf(key, sizeof key, group ? "obs/%s/categories" : "obs/__categories/%s", column);
    if (group && !rb_h5_has(file, path)) return read_masked(file, column, texts);
    *categorical = group || rb_h5_has(file, key);
    rb_error err = read_values(file, path, NULL, texts);
    return err || !*categorical ? err : spell_codes(file, path, key, texts);
}

/* Old ones as one compound data set; the texts of a coded field lie beside it. */
static rb_error read_field(rb_h5 *file, const char *column, rb_names **texts, bool *categorical) {
    char key[RB_H5_LONG_PATH];
    snprintf(key, sizeof key, "uns/%s_categories", column);
    *categorical = rb_h5_has(file, key);
    rb_error err = read_values(file, "obs", column, texts);
    return err || !*categorical ? err : spell_codes(file, "obs", key, texts);
}

/* ---- which columns there are ---- */

static rb_error list_columns(rb_h5 *file, rb_names **columns) {
    rb_name_list list = {0};
    rb_h5_data data;
    if (rb_h5_is_group(file, "obs")) return rb_h5_list(file, "obs", columns);
    rb_error err = rb_h5_data_open(file, "obs", &data);
    hid_t type = err ? H5I_INVALID_HID : H5Dget_type(data.id);
    int fields = type >= 0 ? H5Tget_nmembers(type) : 0;
    for (int f = 0; !err && f < fields; f++) {
        char *name = H5Tget_member_name(type, (unsigned)f);
        err = name ? rb_name_list_add(file->ctx, &list, name, (int64_t)strlen(name)) : RB_OK;
        H5free_memory(name);
    }
    rb_h5_drop(type);
    rb_h5_data_close(&data);
    return rb_name_list_end(file->ctx, err, &list, columns);
}

/* "louvain, n_genes, ..."; what serves the file's own order is left out. */
static void join_columns(const rb_names *columns, char *buffer, size_t size) {
    size_t used = 0;
    snprintf(buffer, size, "(none)");
    for (int64_t i = 0; i < columns->count; i++) {
        const char *name = columns->text[i];
        if (name[0] == '_' || strcmp(name, "index") == 0) continue;
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
    bool found = false;
    rb_error err = list_columns(file, &columns);
    for (int64_t i = 0; !err && column && i < columns->count; i++)
        found = found || strcmp(columns->text[i], column) == 0;
    if (!err && !found) {
        join_columns(columns, there, sizeof there);
        err = rb_h5_fail(file, RB_ERROR_ARGUMENT, "%s%s%s; its columns are: %s",
                         column ? "obs has no column '" : "name a column of obs after the colon",
                         column ? column : "", column ? "'" : "", there);
    }
    rb_names_free(columns);
    return err;
}

/* ---- in the file ---- */

rb_error rb_anndata_samples(rb_h5 *file, rb_names **names) {
    *names = NULL;
    return rb_h5_is_anndata(file)
               ? rb_h5_anndata_index(file, "obs", names)
               : rb_h5_fail(file, RB_ERROR_FORMAT,
                            "is not an AnnData file; only those have columns of observations");
}

rb_error rb_anndata_column(rb_h5 *file, const char *column, int64_t count, rb_names **texts,
                           bool *categorical) {
    *texts = NULL;
    *categorical = false;
    rb_error err = check_column(file, column);
    if (!err)
        err = (rb_h5_is_group(file, "obs") ? read_member : read_field)(file, column, texts,
                                                                       categorical);
    if (!err && (*texts)->count != count) {
        err = rb_h5_fail(file, RB_ERROR_FORMAT, "'%s' has %lld values for %lld observations",
                         column, (long long)(*texts)->count, (long long)count);
    }
    err = err ? err : rb_h5_check(file);
    if (err) {
        rb_names_free(*texts);
        *texts = NULL;
    }
    return err;
}
