/* A table of samples, between what reads its file (annotations.c) and what matches it with samples
 * (annotate.c). */
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

#endif
