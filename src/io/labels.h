/* Classes as a file has them, between what reads the file and what finds the samples. */
#ifndef RB_IO_LABELS_H
#define RB_IO_LABELS_H

#include "io.h"

typedef struct rb_label_table {
    rb_names *names;   /* of the samples; NULL: the file has none */
    rb_names *classes; /* one each; "": no class */
    bool header;       /* the first entry is a header, or without names may be one */
} rb_label_table;

/* Reads what --labels takes. The table is to be cleared, also when it was not filled. */
rb_error rb_label_table_read(rb_context *ctx, const char *where, const rb_source *source,
                             rb_label_table *table);
void rb_label_table_clear(rb_label_table *table);

#endif
