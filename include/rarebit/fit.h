/* Fitting: what every iterative method shares. */
#ifndef RAREBIT_FIT_H
#define RAREBIT_FIT_H

#include <rarebit/matrix.h>
#include <rarebit/options.h>
#include <rarebit/preprocess.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rb_model rb_model;

/* How iterations become fewer. Both move parameters and codes on along the path of the last
 * iterations, and go back whenever that lowers the objective, so that it never falls; they need a
 * method, and an E-step, whose iterations never lower it either. An iteration is an E-step and an
 * M-step, whether its result is kept or not. */
typedef enum rb_accelerate {
    RB_ACCELERATE_NONE = 0,
    RB_ACCELERATE_SQUAREM, /* squared extrapolation (Varadhan, Roland 2008); three more copies */
    RB_ACCELERATE_NESTEROV /* momentum with restarts (Nesterov 1983); one more copy */
} rb_accelerate;

/* Where a fit leaves, now and then, all that it needs to go on: after the end of the program, by
 * whatever cause, the same call goes on from there and gives the same bits as a fit that was never
 * interrupted (on the same kind of processor). Needs rb_io_use (rarebit/io.h): without it a fit
 * with a checkpoint is RB_ERROR_UNSUPPORTED. */
typedef struct rb_checkpoint_options {
    const char *checkpoint;       /* the file. When it is there the fit goes on from it; else it
                                   * begins anew. It stays when the fit is done */
    const char *checkpoint_every; /* iterations ("100") or seconds ("60s"); NULL: the default */
} rb_checkpoint_options;

/* The option table of rb_checkpoint_options. */
RB_API const rb_option *rb_checkpoint_option_table(void);
RB_API void rb_checkpoint_options_default(rb_checkpoint_options *options);

typedef struct rb_fit_options {
    int64_t iterations;         /* most iterations */
    double tolerance;           /* stop when |F - F_before| < tolerance * |F|; 0: never */
    int64_t patience;           /* above 0 another rule in place of the last: stop when for so many
                         * iterations F was not above its best by more than tolerance * |best| */
    double parameter_tolerance; /* stop when each array of parameters changes by less than this
                                 * share of its Frobenius norm; 0: never */
    double max_time;    /* stop after so many seconds in this call, all restarts together; 0: never.
                         * At least one iteration is made */
    int64_t seed;       /* of every random number; the same seed gives the same bits */
    int64_t restarts;   /* fit this many times from different starts and keep the best objective */
    int precision;      /* rb_type of storage and products; objectives are float64 always */
    int64_t batch_size; /* samples that an M-step follows; an iteration is still a pass over all of
                         * them. 0, or as many as there are: all */
    bool keep_order;    /* batches take the samples as they come, instead of shuffled */
    bool trace;         /* compute the E-step objective in each iteration (costs a little) */
    int accelerate;     /* rb_accelerate */
    const rb_checkpoint_options *checkpoint; /* NULL: none. No row of the table: it says nothing
                                              * about the result */
} rb_fit_options;

/* The option table of rb_fit_options. */
RB_API const rb_option *rb_fit_option_table(void);
RB_API void rb_fit_options_default(rb_fit_options *options);

/* Fits a method to the samples of a source.
 *
 * method       "rfn", or a name that the program has added with rb_context_add_method
 * options      the method's option struct (rb_rfn_options for "rfn"); NULL for its defaults
 * fit          NULL for the defaults
 * preprocess   NULL for the defaults (features centred by their means, if the method wants it so)
 * start        a model of the same method to start from (a warm start): its preprocessing and
 *              parameters are taken, `preprocess` is ignored, and so that nothing is ignored
 *              in silence fit->restarts must be 1, and options about the start (psi-init,
 *              weight-init and prior-mean of rfn) be their defaults or as the model has them;
 *              NULL to start anew
 * model        the result; free with rb_model_free; NULL on failure
 *
 * Errors: RB_ERROR_ARGUMENT (an option), RB_ERROR_DATA (missing or infinite values, no samples),
 * RB_ERROR_NUMERIC (numbers became infinite; the sentence says where), RB_ERROR_MEMORY,
 * RB_ERROR_FILE (the source; a checkpoint that is there but cannot be read, or that another fit is
 * writing), RB_ERROR_FORMAT (a damaged checkpoint; one of other data or options is
 * RB_ERROR_ARGUMENT). A checkpoint that cannot be written is a warning to the log: the fit goes on,
 * and the file of before stays.
 *
 * A callback that stops the fit gives RB_OK and RB_STATUS_STOPPED, after a last E-step. So does
 * rb_context_stop once an iteration is complete, but at once: the iteration at hand is abandoned,
 * and parameters, history and checkpoint are those of the last complete one. No last E-step is
 * made: what it gives, such as `scale`, `dead` and `multipliers` of rfn, is that of the E-step
 * before these parameters, near them in a fit that has nearly converged; `kkt_residual` and
 * `certificate` are missing, and so may be `log_likelihood`. Before the first iteration is complete
 * it gives RB_ERROR_STOPPED; a restart that is complete is a result. */
RB_API rb_error rb_fit(rb_context *context, const char *method, const void *options,
                       const rb_fit_options *fit, const rb_preprocess_options *preprocess,
                       rb_source *source, const rb_model *start, rb_model **model);

/* Bytes that a fit will need besides its input: an estimate from the shapes of the source, which is
 * not read. RB_ERROR_ARGUMENT (no such method, an option). */
RB_API rb_error rb_fit_memory(rb_context *context, const char *method, const void *options,
                              const rb_fit_options *fit, const rb_source *source, int64_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
