/* The face of src/em: the loop that every iterative method runs in. */
#ifndef RB_EM_H
#define RB_EM_H

#include "model/model.h"

/* One fit from one start. */
typedef struct rb_run {
    const rb_method *method;
    const void *options;
    rb_problem problem;
    rb_feed *feed;
    const rb_model *start; /* NULL: anew */
    rb_model *model;       /* gets history, status and arrays */
    double began;          /* rb_seconds() when the first restart began */
} rb_run;

/* Iterates until a rule stops it, then makes a last E-step with the final parameters and stores
 * them. */
rb_error rb_run_loop(rb_context *ctx, rb_run *run);

/* Is the objective settled? The rule of rb_fit_options.tolerance. */
bool rb_converged(double tolerance, double before, double now);

#endif
