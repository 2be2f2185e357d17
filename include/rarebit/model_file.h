/* Model files, HDF5 (docs/reference/model-format.md); later versions load older ones. Results in
 * AnnData. */
#pragma once

#include <rarebit/model.h>

/* Writes to a temporary name beside `path` and renames: there is never half a file, and on failure
 * what was there stays. RB_ERROR_FILE (cannot be written), RB_ERROR_ARGUMENT (the name
 * of an array is longer than 240 characters). */
RB_API rb_error rb_model_save(rb_context *context, const rb_model *model, const char *path);

/* RB_ERROR_FILE, RB_ERROR_FORMAT (not a model, damaged, of a newer format, of an unknown
 * method). A file ends with a checksum, by which any damaged byte is noticed; that one of an
 * earlier version, or one that another program has changed, has none is said in the log. */
RB_API rb_error rb_model_load(rb_context *context, const char *path, rb_model **model);

/* Adds results to an AnnData file (.h5ad): copies h5ad_in to h5ad_out, which may be the same path,
 * and writes `codes` (its observations x units, from rb_encode) as obsm `key`, the loadings as
 * varm `key`, matched with the variables by name, else by position (zeros for variables not in
 * use), and under uns `key` the attributes of the model as `params` and the model itself as
 * `model`, the bytes of rb_model_save_memory. key NULL: X_<method>; varm and uns leave out "X_".
 * Older results of the same names are replaced, all else in the file stays. RB_ERROR_ARGUMENT (no
 * such name can be), RB_ERROR_FORMAT (no AnnData), RB_ERROR_DATA (other observations or variables),
 * RB_ERROR_FILE. */
RB_API rb_error rb_model_annotate_as(rb_context *context, const rb_model *model,
                                     const rb_matrix *codes, const char *key, const char *h5ad_in,
                                     const char *h5ad_out);
/* Would rb_model_annotate_as replace nothing? RB_ERROR_ARGUMENT names what of that name is in the
 * file, or says that there can be no such name; RB_ERROR_FILE, RB_ERROR_FORMAT (it cannot be
 * read). */
RB_API rb_error rb_model_annotate_check(rb_context *context, const rb_model *model, const char *key,
                                        const char *h5ad);
