/* Context: errors, threads, progress and log messages.
 *
 * Every call of rarebit takes a context. A context holds the message of the last error, a pool of
 * threads, and the callbacks. There is no global state but that of the BLAS and of HDF5: two
 * contexts may be used by two threads at the same time; one context must be used by one thread at a
 * time.
 *
 * The process stays as it was found: locale, signals, environment, floating point mode. While a
 * call is in the BLAS, the BLAS has one thread in the whole process; between, and in callbacks, as
 * many as the program has asked it for. Results do not depend on that number. It must not be
 * changed by another thread while a call runs.
 *
 * Other objects, unless their header says otherwise: several threads, each with a context of its
 * own, may use one object at a time for calls that take a pointer to const (one model may encode in
 * several threads); a call that takes a pointer that is not const needs the object for itself.
 *   model            const in all calls but rb_model_set_attribute and rb_model_free
 *   matrix, modules  const in all but those that set names, and that free
 *   source           a source keeps the block it read last: one thread at a time, a source a thread
 *   writer           one thread at a time
 * HDF5 has global state: calls that read or write its files wait for each other.
 *
 * Every call that gives an rb_error may give RB_ERROR_MEMORY, and every one that reads the samples
 * of a source RB_ERROR_STOPPED (rb_context_stop); headers name the others.
 *
 * Callbacks are called on the thread that made the call, one at a time, and while it lasts; only
 * functions of a method that it runs by rb_context_parallel, and those of an rb_et_model, are
 * called on the threads of the context as well, several at a time. A callback is given the pointer
 * that was handed over with it. One that returns an rb_error ends the call with what it returns,
 * and with the error message that it has put into the context of the call, by rb_context_fail or by
 * a call of the library that failed; else with one of the library's. A callback may use the
 * context, but not for a call that walks over the same source. It returns: neither longjmp nor an
 * exception of C++ may pass through the library, which would leak memory and hold locks for ever.
 *
 * A program may fork while no call is running in any of its threads. The child has a copy of
 * everything and may go on with it: a context starts its threads anew where it needs them. Files
 * that are being written, and those that a source reads from, belong to the parent alone; a child
 * opens them for itself. To fork within a callback is for programs that then call exec.
 *
 * Messages name options between backquotes, so that a program can spell them its way: `eta`, or
 * `estep=newton` with a value. The tool prints --eta and --estep newton.
 *
 * The library never prints, never exits, never aborts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define RB_VISIBLE __attribute__((visibility("default")))
#define RB_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define RB_VISIBLE
#define RB_PRINTF(text, first)
#endif

/* Before every function; a program that defines it itself gives it extern "C" for C++. */
#ifndef RB_API
#ifdef __cplusplus
#define RB_API extern "C" RB_VISIBLE
#else
#define RB_API RB_VISIBLE
#endif
#endif

/* What a call returns: RB_OK, or why it could not be done. rb_context_error() has the message. */
typedef enum rb_error {
    RB_OK = 0,
    RB_ERROR_MEMORY,   /* an allocation failed, or a size does not fit into memory */
    RB_ERROR_ARGUMENT, /* an option or argument is outside its legal range */
    RB_ERROR_FILE,     /* a file could not be opened, read, written or renamed */
    RB_ERROR_FORMAT,   /* a file is not what its format says */
    RB_ERROR_DATA,     /* the data cannot be used: missing values, infinities, wrong shape */
    RB_ERROR_NUMERIC,  /* numbers became infinite or NaN, or a matrix was not positive definite */
    RB_ERROR_UNSUPPORTED, /* legal, but not offered */
    RB_ERROR_INTERRUPTED, /* a callback asks to stop */
    RB_ERROR_STOPPED      /* rb_context_stop was called before there was a usable result */
} rb_error;

typedef struct rb_context rb_context;

/* How a fit ended; apart from errors, since each of these leaves a usable model. */
typedef enum rb_status {
    RB_STATUS_ITERATIONS = 0, /* the number of iterations asked for was done */
    RB_STATUS_CONVERGED,      /* the objective has settled: option tolerance */
    RB_STATUS_STOPPED,    /* the progress callback asked to stop, or rb_context_stop was called */
    RB_STATUS_PARAMETERS, /* the parameters have: option parameter-tolerance */
    RB_STATUS_PATIENCE,   /* the objective rose no more: option patience */
    RB_STATUS_TIME        /* option max-time has passed */
} rb_status;

/* Where a fit stands, after each iteration. The library makes it; new fields come at the end. */
typedef struct rb_progress {
    int64_t iteration;      /* from 1 */
    int64_t iterations;     /* how many were asked for */
    double objective;       /* to be maximised; see the method */
    double estep_objective; /* to be minimised; NaN unless option trace is set */
    double seconds;         /* of this iteration */
    double elapsed;         /* seconds since the fit began */
    double remaining;       /* estimated seconds until the last iteration, or max_time */
    /* What else the method tells of an iteration: names, NULL at the end (or NULL), and as many
     * values; NaN where there is none. */
    const char *const *metric_names;
    const double *metrics;
    /* What is counted: "iteration", or "fit" where a call makes many; then objective is NaN. */
    const char *what;
} rb_progress;

/* Called after each iteration. RB_ERROR_INTERRUPTED ends the fit with a usable model and
 * RB_STATUS_STOPPED; another error ends it with that error and without one. */
typedef rb_error (*rb_progress_fn)(const rb_progress *progress, void *user);

typedef enum rb_log_level {
    RB_LOG_WARNING, /* the result may not be what the user wants */
    RB_LOG_INFO     /* what was done, where a user would like to know */
} rb_log_level;

/* Called with one message, without a line end. */
typedef void (*rb_log_fn)(rb_log_level level, const char *message, void *user);

/* Called with the path of a file that is being written, beside the place where it will appear:
 * `there` is true once it has been made, and false when it has been renamed or removed. A program
 * that is ended by a signal knows by it what to remove. */
typedef void (*rb_temporary_fn)(const char *path, bool there, void *user);

/* Makes a context that knows the methods built into the library, with one thread.
 * *context is NULL on failure; the only failure is RB_ERROR_MEMORY. Free with rb_context_free. */
RB_API rb_error rb_context_new(rb_context **context);

/* Frees a context and ends its threads. NULL is accepted. Objects made with a context may be freed
 * after it. */
RB_API void rb_context_free(rb_context *context);

/* The message of the last error; "" if there was none. Valid until the next call with the
 * context. */
RB_API const char *rb_context_error(const rb_context *context);

/* Puts an error message into the context, one sentence that says what is wrong, where, and what to
 * do, and gives the code back: for callbacks, and for methods (rarebit/method.h). */
RB_API rb_error rb_context_fail(rb_context *context, rb_error code, const char *message);

/* Sets the number of threads, 1 to 1024; 0 takes one per processor. Results are the same bits for
 * any number. RB_ERROR_ARGUMENT, RB_ERROR_MEMORY (the old number stays). */
RB_API rb_error rb_context_set_threads(rb_context *context, int threads);
RB_API int rb_context_threads(const rb_context *context);

/* Sets how much memory the content of a file may take while it is read, as a multiple of the
 * file's size (above 0, 1000 by default; INFINITY is no limit). This holds for data, models,
 * checkpoints, pictures, sounds and labels. A file of less than 256 kB counts as 256 kB, so that
 * 256 MB are always allowed by default; what is allocated on the way counts too. What would take
 * more is refused with RB_ERROR_MEMORY and a message that names file and sizes: so a small file
 * that somebody else made cannot fill the machine. Data that are read block by block take no
 * memory; they may hold twice as much. RB_ERROR_ARGUMENT: not above 0. */
RB_API rb_error rb_context_set_max_expansion(rb_context *context, double times);
RB_API double rb_context_max_expansion(const rb_context *context);

/* Sets which share of a model's features data must have by name for the model to be applied to
 * them: 0 to 1, 0.1 by default. Data with less are refused with RB_ERROR_DATA, as are those with
 * none whatever is set here; features that are not there take their training centre, with a
 * warning.
 * RB_ERROR_ARGUMENT: not within 0 to 1. */
RB_API rb_error rb_context_set_min_shared(rb_context *context, double share);
RB_API double rb_context_min_shared(const rb_context *context);

/* What messages count samples, features and units of data and models from: 0, as at first, or 1, as
 * a program's users may. Rows of text files count from 1 in any case. RB_ERROR_ARGUMENT: another
 * number. */
RB_API rb_error rb_context_count_from(rb_context *context, int first);

/* Sets the callbacks; NULL removes one. Said once a context, as RB_LOG_INFO: that OpenBLAS took
 * slower kernels than the processor has ("blas_advice" of rarebit/version.h). */
RB_API void rb_context_on_progress(rb_context *context, rb_progress_fn fn, void *user);
RB_API void rb_context_on_log(rb_context *context, rb_log_fn fn, void *user);
RB_API void rb_context_on_temporary(rb_context *context, rb_temporary_fn fn, void *user);

/* Asks for the end of the call that the context is in, from a signal handler or from any thread, as
 * the only call that may be made while another one runs. It returns at once. The call ends before
 * it reads its next block of samples, which is a fraction of a second of work in nearly all
 * problems: with RB_ERROR_STOPPED, nothing written and nothing given back; a fit ends as
 * rarebit/fit.h says.
 *
 * The request stays until rb_context_clear_stop: calls that begin later end at once too, so that a
 * piece of work of several calls is stopped between two of them as well as inside of one, and no
 * request is lost that comes while a call begins. A program clears it where a piece of work begins,
 * before anything can ask for its end: then a request that came too late for the work before does
 * not end this one.
 *
 *     rb_context_clear_stop(context);
 *     old = signal(SIGINT, handler);      the handler calls rb_context_stop(context)
 *     error = rb_fit(context, ...);
 *     signal(SIGINT, old);
 *
 * The context must not be freed before the handler, or the other thread, is done with it. Writing a
 * file is not stopped, and what LAPACK does in one piece ends first: the eigenvalues of a full
 * noise covariance. */
RB_API void rb_context_stop(rb_context *context);
RB_API void rb_context_clear_stop(rb_context *context);

/* What the program was asked to do, on one line: models and results that say where they come from
 * name it. The text is copied; NULL: nothing, as at first. */
RB_API rb_error rb_context_set_command(rb_context *context, const char *line);
RB_API const char *rb_context_command(const rb_context *context);

/* Where pictures, and matrices in HDF5, come from that are written from here on: a JSON object on
 * one line, as rb_provenance of rarebit/output.h makes it. They hold it. The text is copied; NULL:
 * nothing, as at first. */
RB_API rb_error rb_context_set_provenance(rb_context *context, const char *json);
RB_API const char *rb_context_provenance(const rb_context *context);

/* From here on it is measured in which phase of the work, by names such as "reading", the calling
 * thread spends its time; other threads are not timed. What was measured before is forgotten.
 * false: nothing is measured, as at first. RB_ERROR_MEMORY: nothing is measured. */
RB_API rb_error rb_context_profile(rb_context *context, bool on);
/* The phase of an index from 0: its name, its seconds, the floating point operations in products of
 * matrices, and the bytes that these, or reading and preprocessing, have as operands and results. A
 * phase that begins within another one counts alone; the last one, "waiting for processes", is
 * there where there are several. NULL: there are no more phases, or nothing is measured. */
RB_API const char *rb_context_phase(const rb_context *context, int index, double *seconds,
                                    double *flops, double *bytes);

/* The name of an error or status, such as "RB_ERROR_FILE"; never NULL. */
RB_API const char *rb_error_name(rb_error error);
RB_API const char *rb_status_name(rb_status status);
