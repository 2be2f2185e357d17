/* Tables of samples: a command reads each file once, however many options name it. */
#include "tool.h"

#include <stdlib.h>
#include <string.h>

typedef struct sample_table {
    char *file;           /* "" : the data's own */
    const rb_source *own; /* then of these data */
    rb_annotations *table;
    struct sample_table *next;
} sample_table;

void sample_tables_free(sample_table *list) {
    while (list) {
        sample_table *next = list->next;
        rb_annotations_free(list->table);
        free(list->file);
        free(list);
        list = next;
    }
}

rb_error read_sample_table(const invocation *call, const char *where, const rb_source *source,
                           const rb_annotations **table) {
    sample_table **place = call->tables;
    char *file = strndup(where ? where : "", where ? (size_t)rb_annotations_file(where) : 0);
    const rb_source *own = file && !*file ? source : NULL;
    while (file && *place && (strcmp((*place)->file, file) != 0 || (*place)->own != own))
        place = &(*place)->next;
    if (file && *place) {
        *table = (*place)->table;
        free(file);
        return RB_OK;
    }
    sample_table *made = file ? calloc(1, sizeof *made) : NULL;
    if (!made) {
        free(file);
        return fail_memory(call->ctx);
    }
    made->file = file;
    made->own = own;
    rb_error err = rb_annotations_read(call->ctx, where, source, &made->table);
    if (err) {
        free(file);
        free(made);
        return err;
    }
    *place = made;
    *table = made->table;
    return RB_OK;
}

rb_error read_classes(const invocation *call, const char *where, const rb_source *source,
                      rb_classes *classes) {
    const rb_annotations *table;
    rb_error err = read_sample_table(call, where, source, &table);
    return err ? err
               : rb_annotations_classes(call->ctx, table, rb_annotations_columns(where), source,
                                        classes);
}

rb_error read_labels(const invocation *call, const char *where, const rb_source *source,
                     rb_covariates **labels) {
    rb_classes classes = {.size = sizeof classes};
    rb_error err = read_classes(call, where, source, &classes);
    err = err ? err : rb_covariates_new(call->ctx, rb_source_samples(source), labels);
    err = err ? err : rb_covariates_add_classes(call->ctx, *labels, "class", &classes);
    rb_classes_clear(&classes);
    return err;
}

/* The data are in no file that has tables of samples. */
static rb_error fail_without_table(rb_context *ctx, const char *names) {
    return fail(
        ctx, RB_ERROR_ARGUMENT,
        "the fit removes the effects of %.300s; give a table that has them with `covariates`",
        names);
}

rb_error read_covariates(const invocation *call, const char *names, rb_source *source) {
    const char *where = option_text(call, "covariates");
    /* Of another command the option may be for more than this. */
    bool alone = call->command->method || rb_options_fields(call->options, covariates_group());
    if (names && *names) {
        const rb_annotations *table;
        rb_error err = read_sample_table(call, where, source, &table);
        if (err == RB_ERROR_ARGUMENT && !where) return fail_without_table(call->ctx, names);
        if (!err) rb_annotations_keep(table, source); /* plots read labels by themselves */
        return err ? err : rb_annotations_bind(call->ctx, table, names, source);
    }
    return where && alone
               ? rb_context_fail(call->ctx, RB_ERROR_ARGUMENT,
                                 "`covariates` does nothing where no effects of covariates are "
                                 "removed; leave it out")
               : RB_OK;
}
