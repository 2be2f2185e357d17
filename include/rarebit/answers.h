/* What the table of a method (rarebit/method.h) tells those who use its models and ask for no name:
 * check, modules, consensus, plots, nets. */
#pragma once

#include <rarebit/model.h>
#include <rarebit/states.h>

/* For which data a method is the one to begin with: bits of rb_method.advised. */
typedef enum rb_advised {
    RB_ADVISED_NUMBERS = 1, /* of any kind */
    RB_ADVISED_BINARY = 2,  /* 0 and 1 */
    RB_ADVISED_BELOW = 4    /* with values below 0 */
} rb_advised;

/* A metric of each iteration as plots show it; "objective" and "estep_objective" are known. */
typedef struct rb_metric_plot {
    const char *label, *name;
    bool logarithm;
    const char *(*kind)(int number); /* values are kinds, and have names; NULL: they are numbers */
} rb_metric_plot;

/* What a traced fit keeps of its iterations, for plots: arrays of its model, by name. */
typedef struct rb_trace_arrays {
    const char *fields;        /* features x (kept * units): loadings before some M-steps */
    const char *fields_at;     /* kept: of which iterations, from 0 */
    const char *quality;       /* iterations x samples, which are evenly spread: the share of a
                                  sample's evidence that is in the states looked at */
    const char *quality_needs; /* "fit again with `trace`" */
} rb_trace_arrays;

/* What the parts of a model's array belong to, for models that are put together from units of
 * others. One of all units where a shape does not have a part for each. */
typedef enum rb_array_of {
    RB_ARRAY_OF_ALL = 1,      /* all units in the same way: the mean over models */
    RB_ARRAY_ROW_EACH = 2,    /* a row for each unit */
    RB_ARRAY_COLUMN_EACH = 3, /* a column for each unit */
    RB_ARRAY_JOINT = 4        /* units together: there is no such model of models that have it */
} rb_array_of;

typedef struct rb_array_kind {
    const char *name;
    rb_array_of of;
} rb_array_kind;

/* What layer of a net a model becomes: arrays of the model, NULL where there are none. The codes
 * max(0, weights' x + bias); or, where there is a noise, those of x = weights h + e, e ~ N(0,
 * noise), h ~ N(prior_mean, I): the posterior mean of h, rectified and divided by scale. */
typedef struct rb_method_layer {
    size_t size;
    const double *weights;                   /* features x units */
    const double *bias;                      /* units */
    const double *noise;                     /* features: variances */
    const double *prior_mean, *scale, *dead; /* units; dead: other than 0 where the code is 0 */
    bool solved; /* the model's codes are solved for, and a layer gives what that begins with */
} rb_method_layer;
