/* A table of samples, between what reads its file (annotations.c), what finds samples in it
 * (annotations_match.c), and what is made of columns (annotations_use.c). */
#ifndef RB_IO_ANNOTATIONS_H
#define RB_IO_ANNOTATIONS_H

#include "io.h"

#include <rarebit/annotations.h>

struct rb_annotations {
    char *path;      /* of the file, for messages */
    int64_t rows;    /* a header among them */
    rb_names *names; /* of the observations of AnnData; NULL: text or numbers */
    rb_h5 *file;     /* AnnData, held while a column is read */
    bool owned;      /* it is closed with the table */
    /* Text and numbers: rows x width, of which the first row lacks one cell where it is shorter. */
    rb_names *cells;
    int64_t width;
    bool shorter;   /* the header begins above the second column, as R writes it */
    bool numbers;   /* there is no header */
    int64_t *lines; /* in the file, of each row; NULL: numbers */
    int64_t capacity;
};

/* A column as the samples have it. */
typedef struct rb_matched {
    const char *name;
    int64_t at;       /* of text, from 0 */
    rb_names *stored; /* of AnnData; else NULL */
    bool categorical;
    bool groups, numbers;   /* what it is said to be */
    const char **text;      /* n: "" where missing */
    double *values;         /* n: NaN where missing or no number */
    int64_t word, infinite; /* samples that have a text, an infinite number; -1: none */
} rb_matched;

/* Samples, and the columns that are asked for. */
typedef struct rb_matching {
    rb_context *ctx;
    const rb_annotations *table;
    const rb_source *source;
    int64_t n, found;
    bool header, nameless;
    bool kinds;         /* columns are named with what they are */
    char *memory;       /* of the names asked for */
    char (*called)[24]; /* of columns without a header: their numbers */
    rb_matched *columns;
    int64_t count, capacity;
    const char **names; /* of the rows without the header; NULL: by position */
    rb_named *sorted;   /* the same */
    int64_t *row_of;    /* n: -1: nowhere */
} rb_matching;

/* Begins with the table, the source, and `asked`, the columns as the caller names them, or NULL: of
 * AnnData an error that names those that there are. Everything is freed by rb_matching_end, which
 * gives err. */
rb_error rb_matching_begin(rb_matching *m, const char *asked);
rb_error rb_matching_end(rb_matching *m, rb_error err);
/* Asks for a column that has a name, and its place or one before it; for those of a list,
 * "batch,age" or "batch:groups,age:numbers"; for all. */
rb_error rb_matching_add(rb_matching *m, rb_matched column);
rb_error rb_matching_add_named(rb_matching *m, const char *list);
rb_error rb_matching_add_all(rb_matching *m);
/* What a column of text is called. */
const char *rb_matching_title(const rb_matching *m, int64_t at);
/* Then finds the samples, and reads one column after another. */
rb_error rb_matching_find(rb_matching *m);
rb_error rb_matching_read(const rb_matching *m, rb_matched *column);
/* All rows of the table below the header; what a column that was read has there, or "". */
int64_t rb_matching_rows(const rb_matching *m);
const char *rb_matching_text(const rb_matching *m, const rb_matched *column, int64_t row);
void rb_matched_clear(rb_matched *column);
bool rb_matched_is_groups(const rb_matched *column);
/* RB_ERROR_DATA: in a column of numbers a value is none, infinite, or has a comma. */
rb_error rb_matched_check(const rb_matching *m, const rb_matched *column);

#endif
