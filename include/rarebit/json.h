/* Values and tables of results as JSON, for programs that use jansson: as rarebit's own files and
 * page have them. What is given back is the caller's, to be freed by json_decref; NULL: there is no
 * memory. */
#pragma once

#include <rarebit/table.h>

struct json_t; /* of jansson.h */

/* NULL becomes null, and bytes that are no UTF-8 the replacement character. */
RB_API struct json_t *rb_json_text(const char *text);
/* NaN and infinities become null. */
RB_API struct json_t *rb_json_number(double value);
/* The same to so many digits; 0: all. */
RB_API struct json_t *rb_json_rounded(double value, int digits);
/* Adds to an object, or without a key to an array, and takes the value over; when that fails *to is
 * freed and becomes NULL, to which nothing can be added. */
RB_API void rb_json_add(struct json_t **to, const char *key, struct json_t *value);

/* A row of a table, from 0, as an object. keys: those of the columns with blanks between, of which
 * what the table leaves out is none; NULL: all that files have. Features are called by their names
 * in the model, which may be NULL where a table has none. digits: of numbers; 0: all. */
RB_API struct json_t *rb_json_row(const rb_table *table, int64_t row, const rb_model *model,
                                  const char *keys, int digits);
/* All of them, as an array. */
RB_API struct json_t *rb_json_table(const rb_table *table, const rb_model *model, const char *keys,
                                    int digits);
