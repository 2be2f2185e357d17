/* Writing AnnData: its encodings (version 0.8 of its on-disk layout), and changed copies of a
 * file. */
#include "hdf5_place.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- encodings ---- */

rb_error rb_h5_encode(rb_h5 *file, const char *path, const char *type, const char *version) {
    rb_error err = rb_h5_set_text(file, path, "encoding-type", type);
    return err ? err : rb_h5_set_text(file, path, "encoding-version", version);
}

rb_error rb_h5_put_dict(rb_h5 *file, const char *path) {
    rb_error err = rb_h5_put_group(file, path);
    return err ? err : rb_h5_encode(file, path, "dict", "0.1.0");
}

/* A table without columns: only its index. */
static rb_error put_index(rb_h5 *file, const char *table, const rb_names *names) {
    char path[32];
    snprintf(path, sizeof path, "%s/_index", table);
    hid_t text = rb_h5_text_type(H5T_VARIABLE);
    rb_error err = rb_h5_put_group(file, table);
    err = err ? err : rb_h5_encode(file, table, "dataframe", "0.2.0");
    err = err ? err : rb_h5_set_text(file, table, "_index", "_index");
    err = err ? err : rb_h5_set_attribute(file, table, "column-order", 0, text, text, NULL);
    err = err ? err : rb_h5_put_names(file, path, names);
    rb_h5_drop(text);
    return err ? err : rb_h5_encode(file, path, "string-array", "0.2.0");
}

rb_error rb_h5_put_anndata(rb_h5 *file, const rb_names *samples, const rb_names *features) {
    static const char *const dicts[] = {"layers", "obsm", "obsp", "uns", "varm", "varp"};
    rb_error err = rb_h5_encode(file, "/", "anndata", "0.1.0");
    err = err ? err : put_index(file, "obs", samples);
    err = err ? err : put_index(file, "var", features);
    for (size_t i = 0; !err && i < sizeof dicts / sizeof *dicts; i++)
        err = rb_h5_put_dict(file, dicts[i]);
    return err;
}

/* ---- the copy ---- */

static rb_error copy_file(rb_context *ctx, const char *input, const char *path) {
    char bytes[1 << 16];
    FILE *from = fopen(input, "rb"), *to = from ? fopen(path, "wb") : NULL;
    size_t count = 1;
    bool done = to != NULL;
    while (done && count > 0) {
        count = fread(bytes, 1, sizeof bytes, from);
        done = !ferror(from) && fwrite(bytes, 1, count, to) == count;
    }
    int reason = errno;
    if (from) fclose(from);
    if (to && fclose(to) != 0 && done) {
        done = false;
        reason = errno;
    }
    return done ? RB_OK
                : rb_fail(ctx, RB_ERROR_FILE, "%s: cannot be copied: %s", input, strerror(reason));
}

/* Puts a layer in the place of X; NULL: X stays. */
static rb_error replace_matrix(rb_h5 *file, const void *arg) {
    const char *dataset = arg;
    if (!rb_h5_is_anndata(file))
        return rb_h5_fail(file, RB_ERROR_UNSUPPORTED, "is not an AnnData file");
    const char *path = dataset ? dataset + strspn(dataset, "/") : "X";
    if (strcmp(path, "X") == 0) return RB_OK;
    if (strncmp(path, "layers/", 7) != 0)
        return rb_h5_fail(file, RB_ERROR_UNSUPPORTED, "'%s' is not a layer", path);
    if (!rb_h5_has(file, path))
        return rb_h5_fail(file, RB_ERROR_FORMAT, "there is no '%s' in the file", path);
    rb_error err = rb_h5_remove(file, "X");
    if (!err && H5Ocopy(file->id, path, file->id, "X", H5P_DEFAULT, H5P_DEFAULT) < 0)
        err = rb_h5_broken(file, RB_ERROR_FILE, "cannot copy", path);
    return err;
}

rb_error rb_h5_edit_copy(rb_context *ctx, const char *input, const char *output_name,
                         rb_h5_edit_fn edit, const void *arg) {
    rb_staged *output;
    rb_h5 *file;
    rb_error err = rb_staged_begin(ctx, output_name, &output);
    if (err) return err;
    err = copy_file(ctx, input, output->path);
    err = err ? err : rb_h5_edit(ctx, output->path, input, RB_H5_SHARED, &file);
    err = err ? err : rb_h5_end(file, edit(file, arg));
    return rb_staged_end(ctx, err, output);
}

rb_error rb_anndata_copy(rb_context *ctx, const char *input, const char *dataset,
                         const char *output) {
    return rb_h5_edit_copy(ctx, input, output, replace_matrix, dataset);
}
