/* What the writers of HDF5 data share: hdf5_write.c and anndata_write.c. */
#ifndef RB_HDF5_WRITE_H
#define RB_HDF5_WRITE_H

#include "hdf5_place.h"

/* An empty data set of rows x columns, to be filled by rows; checked: in chunks with a checksum. */
rb_error rb_h5_create_matrix(rb_h5 *file, const char *path, rb_type type, int64_t rows,
                             int64_t columns, bool checked, hid_t *data);
/* Writes rows from `first` on, dense or sparse, converted to the type of the data set. */
rb_error rb_h5_write_rows(rb_h5 *file, const char *path, hid_t data, rb_type type, int64_t first,
                          const rb_matrix *rows);
/* A data set with these rows. */
rb_error rb_h5_put_matrix(rb_h5 *file, const char *path, const rb_matrix *matrix);

/* The attributes by which AnnData knows what an object is. */
rb_error rb_h5_encode(rb_h5 *file, const char *path, const char *type, const char *version);
/* An empty dict. */
rb_error rb_h5_put_dict(rb_h5 *file, const char *path);
/* Makes a group of arrays of the compound data set that an old AnnData file has there
 * (anndata_old.c). */
rb_error rb_h5_renew_table(rb_h5 *file, const char *path);
/* All of an AnnData file but X. */
rb_error rb_h5_put_anndata(rb_h5 *file, int64_t n_samples, const char *const *samples,
                           int64_t n_features, const char *const *features);

#endif
