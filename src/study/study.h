/* The face of src/study: questions that take many fits. */
#pragma once

#include "em/em.h"
#include "modules/modules.h"

#pragma GCC visibility push(default) /* for the libraries above: cmake/Libraries.cmake */

/* ---- many independent pieces of work (jobs.c) ---- */

/* The result of a job: bytes by rb_alloc, freed by rb_jobs_run. */
typedef struct rb_bytes {
    void *data;
    int64_t size;
} rb_bytes;

/* Does a job; the result depends on its number alone. ctx has one thread, no callbacks, and is used
 * by no other job meanwhile; several jobs run at a time: what `user` points to is only read. */
typedef rb_error (*rb_job_fn)(rb_context *ctx, int64_t job, void *user, rb_bytes *result);
/* Takes the result of a job, in the order of the jobs, once all are done, or those of its group. */
typedef rb_error (*rb_job_taker)(rb_context *ctx, int64_t job, rb_bytes result, void *user);

typedef struct rb_jobs {
    int64_t count;
    const char *what; /* one of them, for progress and messages: "fit" */
    const char *key;  /* says which jobs these are: data, options, version. Of another key no result
                         is taken */
    rb_job_fn run;
    rb_job_taker take;
    /* What a job costs, beside others: the dearest begin first, so that no thread is left with a
     * long one at the end. NULL: all the same. */
    double (*cost)(int64_t job, const void *user);
    void *user;
    /* A file that keeps each result as it is made: the same call goes on from it. NULL: none. */
    const char *journal;
    /* "3/100": only the third of 100 equal parts is done, for another machine, and nothing is
     * taken. Needs a journal. NULL: all of them. */
    const char *part;
    /* So many results are worth something when the program asks to stop: those that are there are
     * taken then. 0: all or none. */
    int64_t enough;
    /* So many jobs, one behind the other, are taken as soon as all of them are done, group by group
     * in any order, by any thread with its context, one at a time; then their results are freed. 0:
     * all at the end. */
    int64_t group;
} rb_jobs;

typedef struct rb_journal rb_journal;

/* What a journal is of, and who takes the results that are in it. */
typedef struct rb_journal_head {
    const char *key;
    int64_t count; /* of all jobs */
    rb_job_taker take;
    void *user;
} rb_journal_head;

/* Where results are kept: files, by a table of functions that librarebit-io fills
 * (rb_checkpoint_store.journals). */
typedef struct rb_journal_store {
    /* Opens or makes the file, which is locked, and hands over the results in it, which the taker
     * owns then; one that was half written is cut off. */
    rb_error (*open)(rb_context *ctx, const char *path, const rb_journal_head *head,
                     rb_journal **journal);
    /* One call at a time. */
    rb_error (*add)(rb_context *ctx, rb_journal *journal, int64_t job, rb_bytes result);
    void (*close)(rb_journal *journal);
} rb_journal_store;

/* Does the jobs, one per thread of the context at a time, and hands over their results; *complete
 * is false when only a part was asked for, and jobs of others are not in the journal, or when the
 * program asked to stop and there were enough results. Progress
 * counts jobs. An error of a job ends it all, the first job's that fails; results of those before
 * stay in the journal. RB_ERROR_ARGUMENT (part; a journal of other jobs), RB_ERROR_STOPPED,
 * RB_ERROR_UNSUPPORTED (a journal without rb_io_use), RB_ERROR_FILE, RB_ERROR_FORMAT (journal). */
rb_error rb_jobs_run(rb_context *ctx, const rb_jobs *jobs, bool *complete);

/* ---- data that many jobs read ---- */

/* All samples of a source in memory, with names: *matrix is what the source walks, or a copy, which
 * is *owned then and freed with rb_matrix_free (NULL is accepted). */
rb_error rb_study_load(rb_context *ctx, rb_source *source, const rb_matrix **matrix,
                       rb_matrix **owned);

/* Some samples of a matrix, ascending, as one of its own, without names. */
rb_error rb_study_rows(rb_context *ctx, const rb_matrix *matrix, const int64_t *samples,
                       int64_t count, rb_matrix **rows);

/* ---- data in which nothing is sparse (nulls.c) ---- */

/* A copy in which each feature has its values in an order of samples of its own, the same for every
 * call with the seed and the number of the permutation. Features that are `period` apart share
 * their order. */
rb_error rb_study_permute(rb_context *ctx, const rb_matrix *matrix, int64_t period, int64_t seed,
                          int64_t permutation, rb_matrix **permuted);

/* A copy whose samples are rotated at random, likewise; features keep their means and covariances.
 * What is needed for it, made once; the matrix must outlive it. */
typedef struct rb_rotation rb_rotation;
/* Are they few enough? Sparse data are made dense for it. */
bool rb_rotation_fits(bool sparse, int64_t n_samples, int64_t n_features);
/* Why a matrix cannot be rotated; or NULL. */
const char *rb_rotation_flaw(const rb_matrix *matrix);
rb_error rb_rotation_new(rb_context *ctx, const rb_matrix *matrix, rb_rotation **rotation);
void rb_rotation_free(rb_rotation *rotation); /* NULL is accepted */
rb_error rb_study_rotate(rb_context *ctx, const rb_rotation *rotation, int64_t seed,
                         int64_t permutation, rb_matrix **rotated);

/* ---- samples that depend on each other (blocks.c) ---- */

/* Blocks of `size` samples each: order has the samples block by block. */
typedef struct rb_blocks {
    int64_t count, size;
    int64_t *order;
} rb_blocks;
/* The groups of the first column; to be cleared. RB_ERROR_DATA: blocks of other sizes, too few,
 * samples without one. */
rb_error rb_blocks_of(rb_context *ctx, const rb_covariates *table, int64_t samples, rb_blocks *b);
void rb_blocks_clear(rb_blocks *blocks);
/* blocks x (size x features) of samples x features, and back, in place of the matrix. */
rb_error rb_blocks_fold(rb_context *ctx, const rb_blocks *blocks, const rb_matrix *matrix,
                        rb_matrix **folded);
rb_error rb_blocks_unfold(rb_context *ctx, const rb_blocks *blocks, rb_matrix **matrix);

/* Samples halfway through a model's preprocessing (halfway.c): before features are centred and
 * scaled, and sparse ones made dense where they are then rotated. The model is that for these, of
 * the same arrays. */
typedef struct rb_halfway {
    rb_preprocess *first;
    rb_matrix *matrix;
    rb_model model;
} rb_halfway;
/* rb_halfway_end in any case. */
rb_error rb_halfway_begin(rb_context *ctx, const rb_model *model, rb_source *source,
                          rb_halfway *halfway);
void rb_halfway_end(rb_halfway *halfway);

/* How far from normal the samples of a dense matrix without missing values are along the loadings
 * of each unit, as samples outside of their block give them (shapes.c); no blocks: other samples.
 * -INFINITY: of a unit without codes. */
rb_error rb_unit_shapes(rb_context *ctx, const rb_model *model, const rb_matrix *matrix,
                        const rb_blocks *blocks, double *shapes);

/* ---- samples next to each other, as a fit has them (order.c) ---- */

rb_error rb_neighbours_look(rb_context *ctx, const rb_preprocess *p, rb_source *source,
                            rb_neighbours *found);
/* Warns where they are alike; of a matrix that can be rotated. */
rb_error rb_neighbours_warn(rb_context *ctx, const rb_preprocess *p, const rb_matrix *matrix);

/* ---- which study it is (key.c) ---- */

/* The key of the jobs of a study: its name, the version, the data with what is bound to them, and
 * every option of a fit, and of a group (NULL: none), but the file for results and the part. Freed
 * by rb_free. */
rb_error rb_study_key(rb_context *ctx, const char *study, const rb_options *options,
                      const rb_option_group *group, const rb_source *source,
                      const rb_matrix *matrix, char **key);

/* rb_modules_permute of codes that others use as well (permute.c). Where
 * modules->stopped, the caller asks to stop again once it is done with them. */
rb_error rb_encoded_permute(rb_context *ctx, rb_encoded *kept, const rb_options *options,
                            const rb_covariates *blocks, rb_modules *modules, bool *complete);

#pragma GCC visibility pop
