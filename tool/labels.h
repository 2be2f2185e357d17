/* Labels of samples for nets: of `finetune` and `evaluate`. */
#pragma once

#include "tool.h"

/* Labels of a source, and what they point into. Zero-initialise. */
typedef struct labelled_data {
    rb_labelled data;
    rb_classes classes;
    rb_matrix *targets;
    double *values;
} labelled_data;

/* Reads classes, or targets: a matrix with a row for each sample. One of both is NULL. To be
 * cleared in any case. */
rb_error labelled_read(const invocation *call, rb_source *source, const char *labels,
                       const char *targets, labelled_data *out);
void labelled_clear(labelled_data *data);

/* The whole name of an output, as column_namer; free it. */
char *output_name(const rb_model *net, int64_t k);
json_t *output_json(const rb_model *net, int64_t k); /* the same as JSON */

/* A line of a table of figures, unless it is NaN. */
void print_figure(const char *label, double value, const char *meaning);
/* Prints how good a net is on labelled samples, as a table or as JSON. */
rb_error scores_print(const invocation *call, const rb_model *net, rb_source *source,
                      const rb_net_scores *scores);
