/* The memory of a fit, described: for those who write a method.
 *
 * A method's state is a few structs, its parts, and each part is described by a table of fields:
 * from the tables the library allocates and frees the arrays, adds up sums, writes checkpoints,
 * goes back to the last whole iteration, moves parameters (acceleration) and counts memory. */
#pragma once

#include <rarebit/matrix.h>

/* The sizes that arrays have. dims[RB_DIM_ONE] is 1; a method with a `shape` gives the others names
 * of its own, one without has features and units. An array of which a size is 0 is one that this
 * fit does not have. */
enum { RB_DIM_ONE = 0, RB_DIM_FEATURES = 1, RB_DIM_UNITS = 2, RB_DIMS_MAX = 32 };
typedef struct rb_shape {
    rb_type type; /* what RB_KEPT_WORKING stands for */
    bool batches; /* M-steps follow parts of the samples */
    int64_t dims[RB_DIMS_MAX];
} rb_shape;

typedef enum rb_kept_type {
    RB_KEPT_FLOAT32 = RB_FLOAT32,
    RB_KEPT_FLOAT64 = RB_FLOAT64,
    RB_KEPT_INTEGER, /* int64_t */
    RB_KEPT_FLAG,    /* bool */
    RB_KEPT_WORKING  /* the fit's type; only in tables */
} rb_kept_type;

/* What an array is to those who work between iterations: checkpoints keep all of them, acceleration
 * moves parameters and codes. */
typedef enum rb_kept_role {
    RB_KEPT_OTHER = 0, /* moved by nobody: counters, flags, what is given */
    RB_KEPT_PARAMETER, /* floats, as the next two */
    RB_KEPT_POSITIVE,  /* parameters above 0, moved in logarithms */
    RB_KEPT_CODES,     /* no parameters, but they move with them */
    RB_KEPT_MSTEPS,    /* one integer: M-steps made so far; moved by nobody, as the next one */
    RB_KEPT_REPORTED   /* told to users and used by nobody: any value, NaN too */
} rb_kept_role;

/* How what blocks of samples give comes together. The library sets a sum to what adds nothing (0,
 * -INFINITY and INFINITY for floats, false) before each pass; blocks only add to it. */
typedef enum rb_sum {
    RB_SUM_ADD = 0, /* floats and integers */
    RB_SUM_MIN,     /* floats */
    RB_SUM_MAX,     /* floats */
    RB_SUM_OR,      /* flags */
    RB_SUM_LARGEST, /* floats; the next field says at which sample: integers of as many rows, -1 at
                     * none. The smaller sample wins where two are equal */
    RB_SUM_PLACE,   /* that next field */
    RB_SUM_GAIN,    /* one float64, no sum: what blocks must multiply additions to sums that run on
                     * by. The library sets it */
    RB_SUM_SQUARES  /* float64, a row for each feature: the sum of its squares. Where a survey adds
                     * up nothing else, and these sums are known without looking at the samples, the
                     * library fills them and does not call `survey` */
} rb_sum;

typedef enum rb_field_place {
    RB_FIELD_POINTER = 0, /* a pointer to rows x columns values, row-major */
    RB_FIELD_INLINE,      /* the values themselves, in the struct */
    RB_FIELD_DENSE        /* an rb_dense, for methods of the library */
} rb_field_place;

typedef struct rb_field {
    const char *name; /* once in a state; NULL: the end of the table */
    size_t offset;    /* in the struct of the part */
    rb_field_place place;
    rb_kept_type type;
    int rows, columns; /* which of the dims */
    rb_kept_role role;
    double min,
        max; /* a checkpoint may be damaged: values that come from one lie between them, ends
                      * included, or are finite where both are 0 */
    rb_sum sum;
    bool runs_on; /* a sum that goes on from batch to batch, times rb_problem.decay at each */
} rb_field;

typedef enum rb_part_kind {
    RB_PART_PARAMETERS = 1, /* what a model is */
    RB_PART_CODES,          /* codes per sample that persist from one iteration to the next */
    RB_PART_PROGRESS,       /* whatever else an iteration takes from the one before */
    RB_PART_SURVEY,         /* sums of the survey; a checkpoint does without */
    RB_PART_SUMS,           /* sums of a pass of the E-step */
    RB_PART_SCRATCH         /* may be thrown away at any time */
} rb_part_kind;

typedef struct rb_part {
    rb_part_kind kind; /* 0: the end */
    const rb_field *fields;
    size_t offset; /* of the part's struct in the state */
} rb_part;
