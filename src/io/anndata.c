/* Reading AnnData files, in the layouts of anndata 0.5 and later: X and its layers, dense or
 * sparse, with the names of observations (our samples) and variables (our features); one column of
 * the table of observations. */
#include "hdf5_place.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool rb_h5_is_anndata(rb_h5 *file) {
    return rb_h5_has(file, "obs") && rb_h5_has(file, "var");
}

/* Old files keep a table as one compound data set; the index is the field of that name. */
static rb_error read_compound_index(rb_h5 *file, const char *table, rb_names **names) {
    rb_h5_data data;
    rb_error err = rb_h5_data_open(file, table, &data);
    if (!err && data.kind != H5T_COMPOUND)
        err = rb_h5_fail(file, RB_ERROR_FORMAT, "'%s' is no table", table);
    if (!err) {
        hid_t plain = rb_h5_member_type(&data, "index");
        rb_h5_drop(plain);
        err = rb_h5_read_texts(&data, plain >= 0 ? "index" : "_index", names);
    }
    rb_h5_data_close(&data);
    return err;
}

/* New files keep a group; an attribute says which column is the index. */
static rb_error read_group_index(rb_h5 *file, const char *table, rb_names **names) {
    char path[RB_H5_LONG_PATH], *index = NULL;
    if (rb_h5_has_attribute(file, table, "_index")) {
        rb_error err = rb_h5_get_text(file, table, "_index", &index);
        if (err) return err;
    }
    snprintf(path, sizeof path, "%s/%s", table, index ? index : "_index");
    rb_free(index);
    if (rb_h5_is_group(file, path)) /* texts that may be missing: their values and a mask */
        strncat(path, "/values", sizeof path - strlen(path) - 1);
    return rb_h5_get_texts(file, path, names);
}

rb_error rb_h5_anndata_index(rb_h5 *file, const char *table, rb_names **names) {
    *names = NULL;
    return rb_h5_is_group(file, table) ? read_group_index(file, table, names)
                                       : read_compound_index(file, table, names);
}

rb_error rb_h5_find_anndata(rb_h5 *file, const char *dataset, rb_h5_place *place) {
    const char *path = dataset + strspn(dataset, "/");
    const char *variables = strncmp(path, "raw/", 4) == 0 ? "raw/var" : "var";
    bool usual =
        strcmp(path, "X") == 0 || strncmp(path, "layers/", 7) == 0 || strcmp(path, "raw/X") == 0;
    rb_error err = rb_h5_find_matrix(file, path, place);
    err = err ? err : rb_h5_anndata_index(file, "obs", &place->samples);
    if (err) return err;
    if (!usual) { /* names where their number fits */
        if (place->samples->count != place->n_samples) {
            rb_names_free(place->samples);
            place->samples = NULL;
        }
        return RB_OK;
    }
    err = rb_h5_check_names(file, "obs", place->n_samples, place->samples);
    err = err ? err : rb_h5_anndata_index(file, variables, &place->features);
    return err ? err : rb_h5_check_names(file, variables, place->n_features, place->features);
}

/* ---- a column of observations: categorical, text, whole numbers or truth values ---- */

/* The values of a data set as texts. */
static rb_error read_plain(rb_h5 *file, const char *path, rb_names **texts) {
    rb_h5_data data;
    rb_error err = rb_h5_data_open(file, path, &data);
    if (!err && data.rank != 1)
        err = rb_h5_fail(file, RB_ERROR_FORMAT, "'%s' must be a list", path);
    if (!err && data.kind == H5T_FLOAT) {
        err = rb_h5_fail(file, RB_ERROR_FORMAT,
                         "'%s' holds floating-point numbers, which are no classes; give a column "
                         "that is categorical, text or integers (of integers pandas makes floats "
                         "where one is missing)",
                         path);
    }
    err = err ? err : rb_h5_read_texts(&data, NULL, texts);
    rb_h5_data_close(&data);
    return err;
}

/* Replaces codes, which were read from `path`, by the texts at `key` that they stand for; a code
 * below 0 has none. */
static rb_error spell_codes(rb_h5 *file, const char *path, const char *key, rb_names **texts) {
    rb_names *categories = NULL, *codes = *texts;
    rb_name_list list = {0};
    *texts = NULL;
    rb_error err = read_plain(file, key, &categories);
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
static rb_error read_masked(rb_h5 *file, const char *column, int64_t count, rb_names **texts) {
    char path[RB_H5_LONG_PATH];
    rb_names *flags = NULL;
    snprintf(path, sizeof path, "obs/%s/values", column);
    rb_error err = read_plain(file, path, texts);
    snprintf(path, sizeof path, "obs/%s/mask", column);
    if (!err && rb_h5_has(file, path)) err = read_plain(file, path, &flags);
    if (!err && flags && (flags->count != count || (*texts)->count != count)) {
        err = rb_h5_fail(file, RB_ERROR_FORMAT,
                         "column '%s' of obs has not as many values as there are rows", column);
    }
    for (int64_t i = 0; !err && flags && i < count; i++)
        if (strcmp(flags->text[i], "True") == 0) (*texts)->text[i][0] = '\0';
    rb_names_free(flags);
    return err;
}

/* New files keep a table as a group with a member for each column. */
static rb_error read_member(rb_h5 *file, const char *column, int64_t count, rb_names **texts) {
    char path[RB_H5_LONG_PATH], key[RB_H5_LONG_PATH];
    snprintf(path, sizeof path, "obs/%s", column);
    bool group = rb_h5_is_group(file, path);
    snprintf(path, sizeof path, group ? "obs/%s/codes" : "obs/%s", column);
    snprintf(key, sizeof key, group ? "obs/%s/categories" : "obs/__categories/%s", column);
    if (group && !rb_h5_has(file, path)) return read_masked(file, column, count, texts);
    rb_error err = read_plain(file, path, texts);
    bool coded = !err && (group || rb_h5_has(file, key));
    return coded ? spell_codes(file, path, key, texts) : err;
}

/* Old ones as one compound data set; the texts of a coded field lie beside it. */
static rb_error read_field(rb_h5 *file, const char *column, rb_names **texts) {
    char key[RB_H5_LONG_PATH];
    rb_h5_data data;
    rb_error err = rb_h5_data_open(file, "obs", &data);
    hid_t type = err ? H5I_INVALID_HID : rb_h5_member_type(&data, column);
    H5T_class_t kind = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    rb_h5_drop(type);
    if (!err && kind != H5T_INTEGER && kind != H5T_STRING) {
        err = rb_h5_fail(file, RB_ERROR_FORMAT,
                         "column '%s' of obs is neither text nor whole numbers", column);
    }
    err = err ? err : rb_h5_read_texts(&data, column, texts);
    rb_h5_data_close(&data);
    snprintf(key, sizeof key, "uns/%s_categories", column);
    bool coded = !err && kind == H5T_INTEGER && rb_h5_has(file, key);
    return coded ? spell_codes(file, "obs", key, texts) : err;
}

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
                         column ? "obs has no column '" : "name a column of obs, after a colon",
                         column ? column : "", column ? "'" : "", there);
    }
    rb_names_free(columns);
    return err;
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
                                          : read_field(file, column, texts);
        if (!err && (*texts)->count != count) {
            err = rb_h5_fail(file, RB_ERROR_FORMAT, "'%s' has %lld values for %lld observations",
                             column, (long long)(*texts)->count, (long long)count);
        }
    }
    return err;
}

rb_error rb_anndata_column(rb_context *ctx, const char *path, const char *column, rb_names **names,
                           rb_names **texts) {
    rb_h5 *file;
    rb_reading reading;
    *names = *texts = NULL;
    rb_reading_begin(ctx, &reading, path);
    rb_error err = rb_h5_open(ctx, path, RB_H5_SHARED, &file);
    err = err ? err : rb_h5_end(file, read_column(file, column, names, texts));
    rb_reading_end(ctx);
    if (err) {
        rb_names_free(*names);
        rb_names_free(*texts);
        *names = *texts = NULL;
    }
    return err;
}

/* ---- a column of observations, numbers with fractions too ---- */

/* Numbers of the data set at `path`; NULL when it holds no fractions. */
static rb_error read_fractions(rb_h5 *file, const char *path, int64_t count, double **values) {
    rb_h5_data data;
    rb_error err = rb_h5_data_open(file, path, &data);
    bool fractions = !err && data.rank == 1 && data.kind == H5T_FLOAT;
    rb_h5_data_close(&data);
    if (!fractions) return err;
    *values = rb_alloc(file->ctx, count, sizeof **values);
    if (!*values) return RB_ERROR_MEMORY;
    return rb_h5_get_numbers(file, path, count, H5T_NATIVE_DOUBLE, *values);
}

/* Where the mask is set there is no value. */
static rb_error mask_fractions(rb_h5 *file, const char *column, int64_t count, double *values) {
    char path[RB_H5_LONG_PATH];
    rb_names *flags = NULL;
    snprintf(path, sizeof path, "obs/%s/mask", column);
    rb_error err = rb_h5_has(file, path) ? read_plain(file, path, &flags) : RB_OK;
    for (int64_t i = 0; !err && flags && i < count && i < flags->count; i++)
        if (strcmp(flags->text[i], "True") == 0) values[i] = NAN;
    rb_names_free(flags);
    return err;
}

static rb_error look_into_group(rb_h5 *file, int64_t count, rb_column *c) {
    char path[RB_H5_LONG_PATH], codes[RB_H5_LONG_PATH], key[RB_H5_LONG_PATH];
    snprintf(path, sizeof path, "obs/%s", c->name);
    snprintf(codes, sizeof codes, "obs/%s/codes", c->name);
    snprintf(key, sizeof key, "obs/__categories/%s", c->name);
    bool group = rb_h5_is_group(file, path);
    c->categorical = group ? rb_h5_has(file, codes) : rb_h5_has(file, key);
    if (c->categorical) return RB_OK;
    if (group) snprintf(path, sizeof path, "obs/%s/values", c->name);
    rb_error err = read_fractions(file, path, count, &c->values);
    return err || !group || !c->values ? err : mask_fractions(file, c->name, count, c->values);
}

static rb_error look_into_table(rb_h5 *file, int64_t count, rb_column *c) {
    char key[RB_H5_LONG_PATH];
    rb_h5_data data;
    snprintf(key, sizeof key, "uns/%s_categories", c->name);
    c->categorical = rb_h5_has(file, key);
    rb_error err = rb_h5_data_open(file, "obs", &data);
    hid_t type = err ? H5I_INVALID_HID : rb_h5_member_type(&data, c->name);
    bool fractions = type >= 0 && H5Tget_class(type) == H5T_FLOAT;
    hid_t member = fractions ? rb_h5_member(c->name, H5T_NATIVE_DOUBLE) : H5I_INVALID_HID;
    if (fractions) {
        c->values = rb_alloc(file->ctx, count, sizeof *c->values);
        err = c->values ? rb_h5_data_read(&data, 0, count, member, c->values) : RB_ERROR_MEMORY;
    }
    rb_h5_drop(member);
    rb_h5_drop(type);
    rb_h5_data_close(&data);
    return err;
}

static rb_error read_any_column(rb_h5 *file, rb_column *c) {
    if (!rb_h5_is_anndata(file)) return read_column(file, c->name, &c->samples, &c->texts);
    bool group = rb_h5_is_group(file, "obs");
    rb_error err = check_column(file, c->name);
    err = err ? err : rb_h5_anndata_index(file, "obs", &c->samples);
    err = err ? err : (group ? look_into_group : look_into_table)(file, c->samples->count, c);
    if (err || c->values) return err;
    rb_names_free(c->samples);
    c->samples = NULL;
    return read_column(file, c->name, &c->samples, &c->texts);
}

rb_error rb_anndata_any_column(rb_context *ctx, const char *path, rb_column *column) {
    rb_h5 *file;
    rb_reading reading;
    rb_reading_begin(ctx, &reading, path);
    rb_error err = rb_h5_open(ctx, path, RB_H5_SHARED, &file);
    err = err ? err : rb_h5_end(file, read_any_column(file, column));
    rb_reading_end(ctx);
    return err;
}
