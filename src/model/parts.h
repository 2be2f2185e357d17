/* The arrays of a state, as the tables of its method describe them. Included by model.h. */
#ifndef RB_MODEL_PARTS_H
#define RB_MODEL_PARTS_H

#include <rarebit/method.h>

/* The shape of a fit: the method's dims, with what is the same for all. */
rb_shape rb_shape_of(const rb_problem *problem, const void *options);

/* All arrays of the parts, as zeros, into a state of zeros. On failure nothing leaks after
 * rb_parts_free, which is right for a state of zeros as well. */
rb_error rb_parts_new(rb_context *ctx, const rb_part *parts, const rb_shape *shape, void *state);
void rb_parts_free(const rb_part *parts, void *state);
/* Bytes that rb_parts_new allocates for parts of a kind; 0: of all. float64, for it may be much. */
double rb_parts_bytes(const rb_part *parts, const rb_shape *shape, rb_part_kind kind);

/* The array of a field, rows 0 where the fit has none. part: the struct that the table is of. */
rb_kept rb_field_array(const rb_field *field, const rb_shape *shape, void *part);

/* Hands on what is kept from one iteration to the next: parameters, codes, progress, and in batches
 * the sums that run on. */
rb_error rb_parts_keep(const rb_method *method, const rb_shape *shape, void *state, rb_kept_fn fn,
                       void *user);

/* The engine of that name, or the first; NULL: the method has none. */
const rb_engine *rb_engine_find(const rb_method *method, const char *name);

size_t rb_kept_size(rb_kept_type type);

#endif
