/* The face of src/em: the loop that every iterative method runs in. */
#ifndef RB_EM_H
#define RB_EM_H

#include "model/model.h"

typedef struct rb_run rb_run;

#pragma GCC visibility push(default) /* for the libraries above: cmake/Libraries.cmake */

extern const rb_option_group rb_fit_group, rb_checkpoint_group, rb_memory_group;

/* The options that a result depends on, as tables of rows; NULL past the last table. A fit records
 * them in its model, and who fits again takes these out of a model and no others: one that came
 * from somebody else may hold any attribute, such as the file of a checkpoint. */
const rb_option *rb_recorded_rows(const rb_method *method, int index);
/* RB_ERROR_ARGUMENT: an option of preprocessing, where that of a model is taken. */
rb_error rb_refuse_preprocess(rb_context *ctx, const char *option);

/* fit.c: rb_fit of one of the restarts alone, as it is among the others; the options of checkpoints
 * are not looked at. */
rb_error rb_fit_restart(rb_context *ctx, const rb_options *options, rb_source *source,
                        int64_t restart, rb_model **model);

/* The samples of a source that a fit with these options sees, and of all processes together:
 * rb_source_thin. */
rb_error rb_fit_thin(rb_context *ctx, const rb_options *options, bool together, rb_source **source,
                     rb_source **owned);

/* The options of checkpoints; they say nothing about the result. */
typedef struct rb_checkpoint_options {
    const char *checkpoint;
    const char *checkpoint_every; /* iterations ("100") or seconds ("60s") */
} rb_checkpoint_options;

/* The options about memory, likewise. */
typedef struct rb_memory_options {
    const char *cache; /* bytes, or "auto" */
} rb_memory_options;
/* How much a fit may keep of what it reads, all fits of a study together; NULL options: auto. */
rb_error rb_cache_size(rb_context *ctx, const rb_memory_options *options, double *bytes);

/* Where a fit is written down to go on from, and when. */
typedef struct rb_checkpoint {
    const char *path; /* NULL: nowhere */
    /* Due after so many iterations, or so many seconds; the other is 0. */
    int64_t every_iterations;
    double every_seconds;
    double written; /* of rb_run.elapsed, the last one */
    bool found;     /* the file was there when the fit began, and is yet to be gone on from */
    bool current;   /* it is of the last iteration */
    const struct rb_checkpoint_store *store;
    struct rb_h5 *file;   /* while it is written */
    struct rb_lock *lock; /* nobody else writes there; NULL: who knows */
} rb_checkpoint;

/* ---- sums over samples (sums.c) ---- */

/* The sums of a state while blocks add to them. */
typedef struct rb_sums {
    rb_context *ctx;
    const rb_method *method;
    const rb_shape *shape;
    void *state;
    double decay;
    rb_part_kind kind; /* of the pass at hand */
    bool in_groups;    /* of several, or of several processes, something is added */
    bool runs_on;      /* sums that may do so go on from what is there */
    double *base;      /* what they were; NULL: 0, or added to in place */
    rb_tree tree;
    rb_buffer others; /* of several processes: what is no part of the tree */
} rb_sums;

/* Into how many groups so many samples fall, from the shape alone: see sums.c. A power of two. */
int64_t rb_sums_groups(const rb_problem *problem, const rb_shape *shape, int64_t samples);
/* Before a pass over so many groups: sums are as if no sample had been added; fresh: those that run
 * on, too. first: of the passes of an E-step. groups 0: nothing will be added. */
rb_error rb_sums_begin(rb_sums *sums, rb_part_kind kind, int64_t groups, bool first, bool fresh);
/* After the last block of a group; after the last group of this process; and once that was RB_OK
 * for all of them: sums are then those of all. */
rb_error rb_sums_end_group(rb_sums *sums);
rb_error rb_sums_close(rb_sums *sums);
void rb_sums_end(rb_sums *sums);
void rb_sums_free(rb_sums *sums);
/* Are there sums in the pass, all of squares of features? These are to be set then. */
bool rb_sums_are_squares(const rb_sums *sums);
void rb_sums_fill_squares(const rb_sums *sums, const double *squares);

/* ---- parameters and codes as one vector (moving.c) ---- */

enum { RB_MAX_MOVING = 8, RB_MAX_POINTS = 3, RB_MOVING_CHUNK = 256 };

/* The arrays of a state that move, and earlier points of them. */
typedef struct rb_moving {
    rb_context *ctx;
    const rb_run *run;
    bool codes;
    int count, n_points;
    rb_kept arrays[RB_MAX_MOVING];
    rb_dense points[RB_MAX_MOVING][RB_MAX_POINTS];
} rb_moving;

/* Those of the parameters, and of codes or not. */
rb_error rb_moving_new(rb_context *ctx, const rb_run *run, bool codes, int n_points,
                       rb_moving *moving);
void rb_moving_free(rb_moving *moving);
/* Point k becomes where the state is; the state goes to point k. */
void rb_moving_save(rb_moving *moving, int k);
void rb_moving_restore(rb_moving *moving, int k);
/* Changes n coordinates x, given those of the points; positive arrays have their logarithms as
 * coordinates. */
typedef void (*rb_moving_fn)(int64_t n, double (*points)[RB_MOVING_CHUNK], double *x, double step);
/* Moves the state; point k becomes where it was. k below 0: nothing moves, and the sum of squares
 * over all coordinates of what `to` makes of them is returned. */
double rb_moving_map(rb_moving *moving, rb_moving_fn to, double step, int k);
/* How far the state is from point 0: the most of all arrays of |x - point| / |x|; 0 without
 * arrays. */
double rb_moving_change(rb_moving *moving);
/* Hands the points on, as rb_parts_keep does arrays. */
rb_error rb_moving_keep(rb_moving *moving, rb_kept_fn fn, void *user);

/* ---- acceleration (accelerate.c) ---- */

typedef struct rb_accelerator {
    int kind; /* rb_accelerate */
    rb_moving moving;
    int64_t steps;     /* in a row: see accelerate.c */
    double longest;    /* squarem: the step may be so long */
    bool extrapolated; /* the iteration at hand began at a point that no iteration gave */
    bool at_longest, waits;
    bool rejected; /* the last iteration was thrown away */
} rb_accelerator;

/* ---- stopping rules (stop.c) ---- */

typedef struct rb_stopping {
    double best;   /* objective that the patience looks at */
    int64_t idle;  /* iterations since it rose */
    double change; /* of the parameters in the last iteration */
    rb_moving parameters;
} rb_stopping;

/* ---- the state after the last iteration (snapshot.c) ---- */

typedef struct rb_snapshot {
    char *bytes; /* NULL: of a method that does not say what it keeps */
    bool taken;
} rb_snapshot;

/* One fit from one start. */
struct rb_run {
    const rb_method *method;
    rb_options *chosen;  /* as they will be used, of the method, fit, preprocessing, checkpoints */
    const void *options; /* those of the method */
    const rb_preprocess *preprocess;
    rb_problem problem;
    rb_shape shape, whole, none; /* of this process, over the samples of all, without samples */
    rb_sums sums;
    void *state; /* of the method; NULL: not yet made */
    rb_feed *feed;
    rb_source *source;
    rb_source *shuffled; /* what the feed reads, when it is fitted in batches; NULL: all at once */
    const rb_model *start; /* NULL: anew */
    rb_model *model;       /* gets history, status and arrays */
    const rb_model *best;  /* of the restarts before; NULL: none */
    rb_checkpoint checkpoint;
    rb_accelerator accelerator;
    rb_stopping stopping;
    rb_snapshot snapshot;
    double began;    /* rb_seconds() when the first restart began */
    double elapsed;  /* from then to the end of the last iteration, by the clock of the first
                      * process: all decisions by the clock are made by it */
    bool settles;    /* was the fit where its method lets it stop? (rb_method.may_stop) */
    rb_below *below; /* values below 0, while they are counted */
    bool below_told; /* they were, where the method explains none */
    int64_t made;    /* iterations in this call */
    int64_t skipped; /* iterations that were done before that, by the checkpoint */
    int64_t restart; /* the one that is made alone; below 0: all are */
};

/* Iterates until a rule stops it, then makes a last E-step with the final parameters and stores
 * them. RB_ERROR_STOPPED when the program asked to stop in the first iteration, or before it;
 * later it is the end of the fit with the last iteration that is whole. */
rb_error rb_run_loop(rb_context *ctx, rb_run *run);

/* accelerate.c: once there is a state; around an iteration, whose outcome `err` and `entry` are. */
rb_error rb_accelerate_begin(rb_context *ctx, rb_run *run);
void rb_accelerate_before(rb_context *ctx, rb_run *run);
rb_error rb_accelerate_after(rb_context *ctx, rb_run *run, rb_error err, rb_history *entry);

/* stop.c: once there is a state; after each iteration; is it the end, and why? */
rb_error rb_stopping_begin(rb_context *ctx, rb_run *run);
void rb_stopping_after(rb_run *run, double objective);
bool rb_stopping_asks(const rb_run *run, rb_status *status);
bool rb_may_stop(const rb_run *run); /* does the method let the fit end now? */

/* snapshot.c: memory for it; the state is remembered; it is as it was then, if it ever was. */
rb_error rb_snapshot_new(rb_context *ctx, rb_run *run);
void rb_snapshot_free(rb_run *run);
void rb_snapshot_take(rb_run *run);
bool rb_snapshot_go_back(rb_run *run);

/* loop.c: all that the next iteration takes from this one, the method's arrays among it; whole: in
 * the shape that they have over the samples of all processes, whatever is there of them. */
rb_error rb_run_keep(rb_run *run, bool whole, rb_kept_fn fn, void *user);

/* gather.c: has this process a part of such an array alone? Then its values become those of all
 * processes, in the first one, which frees them (in others they are nothing, and are freed, too);
 * or this process takes its own out of what is whole. */
bool rb_is_shared(const rb_run *run, const rb_kept *whole);
rb_error rb_gather(rb_context *ctx, const rb_run *run, rb_kept *whole);
void rb_take_own(const rb_run *run, const rb_kept *whole);

/* ---- checkpoints ---- */

/* Where checkpoints are kept: HDF5 files, by a table of functions that librarebit-io fills and
 * rb_io_use hands to a context. Nobody is called back while a file is open. */
typedef struct rb_h5 rb_checkpoint_file;
typedef struct rb_checkpoint_store {
    /* *lock is NULL where none can be had; RB_ERROR_FILE: somebody else has it. */
    rb_error (*lock)(rb_context *ctx, const char *path, struct rb_lock **lock);
    void (*unlock)(struct rb_lock *lock); /* NULL is accepted */
    rb_error (*open)(rb_context *ctx, const char *path, rb_checkpoint_file **file);
    rb_error (*create)(rb_context *ctx, const char *path, bool locked, rb_checkpoint_file **file);
    /* What was created appears whole, or not at all where err is not RB_OK. Returns err, or what
     * went wrong now. */
    rb_error (*close)(rb_checkpoint_file *file, rb_error err);
    rb_error (*put_text)(rb_checkpoint_file *file, const char *name, const char *text);
    rb_error (*put_integer)(rb_checkpoint_file *file, const char *name, int64_t value);
    rb_error (*put_array)(rb_checkpoint_file *file, const rb_kept *array);
    rb_error (*put_model)(rb_checkpoint_file *file, const char *group, const rb_model *model);
    /* *text is freed with rb_free; NULL: there is none of that name. */
    rb_error (*get_text)(rb_checkpoint_file *file, const char *name, char **text);
    rb_error (*get_integer)(rb_checkpoint_file *file, const char *name, int64_t *value);
    rb_error (*get_array)(rb_checkpoint_file *file, const rb_kept *array);
    bool (*has_model)(rb_checkpoint_file *file, const char *group);
    /* Adds what put_model wrote to an empty model. */
    rb_error (*get_model)(rb_checkpoint_file *file, const char *group, rb_model *model);
    const struct rb_journal_store *journals; /* src/study */
} rb_checkpoint_store;

/* checkpoint.c: fills the checkpoint of a run from the options; NULL: none. */
rb_error rb_checkpoint_begin(rb_context *ctx, const rb_checkpoint_options *options, rb_run *run);
void rb_checkpoint_end(rb_run *run);
/* After an iteration: writes if it is due, or `now`; before the first one of a restart without the
 * state. A failure is a warning. */
void rb_checkpoint_after(rb_context *ctx, rb_run *run, bool now);

/* The head of a file: which fit it is, and where it stands. */
typedef struct rb_checkpoint_head {
    int64_t samples, features, sparse;
    int64_t start; /* checksum of the model that the fit starts from, and 1; 0: none */
    int64_t restart, iteration, seed;
} rb_checkpoint_head;
/* Of the arrays of a model. */
uint32_t rb_model_checksum(const rb_model *model);
extern const char *const rb_head_names[]; /* of its fields, in their order; then NULL */
rb_checkpoint_head rb_head_of(const rb_run *run);

/* resume.c: the head of a file that is there. */
rb_error rb_checkpoint_look(rb_context *ctx, const char *path, rb_checkpoint_head *head);
/* Where a found checkpoint stands: the restart, and the best model of those before, or
 * NULL. Refuses one that is of another fit than the one that run->model records, or damaged. */
rb_error rb_resume_restart(rb_context *ctx, rb_run *run, int64_t *restart, rb_model **best);
/* Fills state and history from it; the same is refused. */
rb_error rb_resume_state(rb_context *ctx, rb_run *run);

#define RB_CHECKPOINT_FORMAT "rarebit-checkpoint"
enum { RB_CHECKPOINT_VERSION = 2 };

/* batches.c: makes problem and source of a run ready for batches, if the options ask for them;
 * refuses methods that cannot. */
rb_error rb_batches_begin(rb_context *ctx, rb_run *run, rb_source *source);
/* The order of the samples for an iteration, from 0; and that of the data. */
void rb_batches_shuffle(const rb_run *run, int64_t iteration);
void rb_batches_in_order(const rb_run *run);

#pragma GCC visibility pop

#endif
