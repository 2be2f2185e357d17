/* What the tests of tables of samples share. */
#ifndef IO_COVARIATES_TEST_H
#define IO_COVARIATES_TEST_H

#include <rarebit/annotations.h>

static inline rb_error read_covariates(rb_context *ctx, const char *where, const char *groups,
                                       const rb_source *source, rb_covariates **covariates) {
    rb_annotations *table;
    *covariates = NULL;
    rb_error err = rb_annotations_read(ctx, where, source, &table);
    err = err ? err
              : rb_annotations_covariates(ctx, table, rb_annotations_columns(where), groups, source,
                                          covariates);
    rb_annotations_free(table);
    return err;
}

#endif
