/* The face of src/em: the loop that every iterative method runs in. */
#ifndef RB_EM_H
#define RB_EM_H

#include "model/model.h"

/* Where a fit is written down to go on from, and when. */
typedef struct rb_checkpoint {
    const char *path; /* NULL: nowhere */
    /* Due after so many iterations, or so many seconds; the other is 0. */
    int64_t every_iterations;
    double every_seconds;
    double written; /* rb_seconds() of the last one */
    bool found;     /* the file was there when the fit began, and is yet to be gone on from */
} rb_checkpoint;

/* One fit from one start. */
typedef struct rb_run {
    const rb_method *method;
    const void *options;
    rb_problem problem;
    rb_feed *feed;
    const rb_model *start; /* NULL: anew */
    rb_model *model;       /* gets history, status and arrays */
    const rb_model *best;  /* of the restarts before; NULL: none */
    rb_checkpoint checkpoint;
    double began;    /* rb_seconds() when the first restart began */
    int64_t skipped; /* iterations that were done before that, by the checkpoint */
} rb_run;

/* Iterates until a rule stops it, then makes a last E-step with the final parameters and stores
 * them. */
rb_error rb_run_loop(rb_context *ctx, rb_run *run);

/* Reads a time: "90", "90s", "1.5m", "2h", "1d". *has_unit: a letter followed the number. */
bool rb_parse_seconds(const char *text, double *seconds, bool *has_unit);

/* ---- checkpoints ---- */

/* checkpoint.c: fills the checkpoint of a run from the options; NULL: none. */
rb_error rb_checkpoint_begin(rb_context *ctx, const rb_checkpoint_options *options, rb_run *run);
/* After an iteration: writes if it is due, or `now`. A failure is a warning. */
void rb_checkpoint_after(rb_context *ctx, rb_run *run, void *state, bool now);

/* resume.c: where a found checkpoint stands: the restart, and the best model of those before, with
 * a copy of the preprocessing, or NULL. */
rb_error rb_resume_restart(rb_context *ctx, const rb_run *run, const rb_preprocess *preprocess,
                           int64_t *restart, rb_model **best);
/* Refuses a found checkpoint that is of another fit than the one that run->model records. */
rb_error rb_resume_check(rb_context *ctx, rb_run *run);
/* Fills state and history from it. */
rb_error rb_resume_state(rb_context *ctx, rb_run *run, void *state);

/* What the file is called, and the checksum of the model that a fit starts from; 0: none. */
#define RB_CHECKPOINT_FORMAT "rarebit-checkpoint"
enum { RB_CHECKPOINT_VERSION = 1 };
int64_t rb_start_checksum(const rb_model *start);

/* Is the objective settled? The rule of rb_fit_options.tolerance. */
bool rb_converged(double tolerance, double before, double now);

#endif
