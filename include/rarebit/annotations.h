/* Tables of samples: what is known of each sample besides its features, such as its class, its
 * batch or the age of the donor. One reader for classes (`labels`), covariates and `regress`.
 *
 * A table is named as FILE, or as FILE:COLUMN,... where only some of its columns are wanted. The
 * file is
 *   text (also .gz, also a pipe): a header, then a row for each sample, with the name of the sample
 *     in the first column; tabs, commas or semicolons, quotes. The header may lack the field above
 *     the names, as R writes it. Without a header, which a name of a sample in the first line
 *     tells, columns are called by their number, from 1.
 *   a list: text of one column, a value per line, with or without a header;
 *   numbers: .npy or IDX, one per sample;
 *   an AnnData file (.h5ad), for the columns of its observations; "obs:COLUMN,..." are those of the
 *     file of the data.
 *
 * Samples are found by name; by position where the data have no names, or the table has none: a
 * list, numbers, or a table of which the first column is asked for. That is told by a log message.
 * A sample that is not in the table has no value. A name may stand several times in a table where
 * all its rows say the same.
 *
 * Missing are empty cells, NA, N/A, NaN, null and ?. A column is groups when it is categorical or
 * holds a text, and numbers otherwise. Numbers with commas are refused.
 */
#pragma once

#include <rarebit/covariates.h>

typedef struct rb_annotations rb_annotations;

/* How many characters of "FILE:COLUMN" name the file: all of them when they are a file themselves
 * or no colon ends the name of one, 0 for "obs:COLUMN". Any thread. */
RB_API int64_t rb_annotations_file(const char *where);
/* The columns behind the file's name, within `where`; NULL: none are named. Any thread. */
RB_API const char *rb_annotations_columns(const char *where);

/* Reads the file of `where` once; which columns are wanted is said when they are used. source: for
 * "obs:", and for columns of its own file; it must outlive the table. NULL: the data are in no
 * file. where NULL is "obs:". Free the table with rb_annotations_free. Several threads may use it
 * at a time, each with a context of its own.
 *
 * RB_ERROR_FILE: cannot be read; RB_ERROR_FORMAT names the row of a text; RB_ERROR_ARGUMENT: the
 * data are no AnnData file. */
RB_API rb_error rb_annotations_read(rb_context *context, const char *where, const rb_source *source,
                                    rb_annotations **table);
RB_API void rb_annotations_free(rb_annotations *table); /* NULL is accepted */

/* ---- what the samples of a source have in a table ----
 *
 * Errors of all: RB_ERROR_ARGUMENT: there is no such column; RB_ERROR_FORMAT: a column of the
 * header has no name, or that of another; RB_ERROR_DATA: none of the samples is there, where the
 * position counts there are more or fewer rows than samples, rows of one name differ, or a number
 * is infinite. Messages name file, row and column. */

/* Classes of the samples: of one column; NULL: the first that is no name of a sample, which a log
 * message says where there are more. The caller sets the size of classes, and clears them with
 * rb_classes_clear. RB_ERROR_DATA also: no sample has a class, or they are numbers and more than
 * half as many as samples (whole ones: and more than 10). */
RB_API rb_error rb_annotations_classes(rb_context *context, const rb_annotations *table,
                                       const char *column, const rb_source *source,
                                       rb_classes *classes);

/* Covariates: of columns "batch,age"; NULL: of all. groups: those that are groups although they
 * hold numbers, "batch,plate"; NULL: none. A column without values, or of texts that differ in all
 * samples, is left out, which a log message says. RB_ERROR_DATA also: no column is left. */
RB_API rb_error rb_annotations_covariates(rb_context *context, const rb_annotations *table,
                                          const char *columns, const char *groups,
                                          const rb_source *source, rb_covariates **covariates);

/* Binds columns to the source for the option `regress` (rarebit/regress.h): "batch:groups,age",
 * where ":groups" or ":numbers" says what a column is. */
RB_API rb_error rb_annotations_bind(rb_context *context, const rb_annotations *table,
                                    const char *columns, rb_source *source);

/* From now on rb_classes_read, and plots with labels, take columns of the table's file from the
 * table where they are asked for this source: a pipe can be read once. The table must outlive the
 * source, or be replaced by NULL. */
RB_API void rb_annotations_keep(const rb_annotations *table, rb_source *source);

/* rb_annotations_read and rb_annotations_classes, for who needs a table once. */
RB_API rb_error rb_classes_read(rb_context *context, const char *where, const rb_source *source,
                                rb_classes *classes);
