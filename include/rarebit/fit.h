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

/* Options of every fit, besides those of its method (rarebit/rfn.h, rarebit/et.h) and of
 * preprocessing (rarebit/preprocess.h), by name (rarebit/options.h):
 *
 *   iterations           at most so many
 *   tolerance            stop when |F - F_before| < tolerance * |F|; 0: never
 *   patience             above 0 another rule in place of the last: stop when for so many
 *                        iterations F was not above its best by more than tolerance * |best|
 *   parameter-tolerance  stop when each array of parameters changes by less than this share of its
 *                        Frobenius norm; 0: never
 *   max-time             stop after so many seconds in this call, all restarts together; 0: never.
 *                        At least one iteration is made
 *   seed                 of every random number; the same seed gives the same bits
 *   restarts             fit this many times from different starts and keep the best objective
 *   precision            float32 or float64, of storage and products; objectives are float64 always
 *   batch-size           samples that an M-step follows; an iteration is still a pass over all of
 *                        them. 0, or as many as there are: all
 *   keep-order           batches take the samples as they come, instead of shuffled
 *   trace                compute the E-step objective in each iteration (costs a little)
 *   accelerate           none, squarem (squared extrapolation; Varadhan, Roland 2008; three more
 *                        copies of parameters and codes) or nesterov (momentum with restarts;
 *                        Nesterov 1983; one more copy). Both move parameters and codes on along the
 *                        path of the last iterations, and go back whenever that lowers the
 *                        objective, so that it never falls; they need a method, and an E-step,
 *                        whose iterations never lower it either. An iteration is an E-step and an
 *                        M-step, whether its result is kept or not
 *   checkpoint           a file where the fit leaves, now and then, all that it needs to go on:
 *                        after the end of the program, by whatever cause, the same call goes on
 *                        from there and gives the same bits as a fit that was never interrupted
 *                        (on the same kind of processor). When the file is there the fit goes on
 *                        from it; else it begins anew. It stays when the fit is done. Needs
 *                        rb_io_use (rarebit/checkpoint.h): else the fit is RB_ERROR_UNSUPPORTED
 *   checkpoint-every     iterations ("100") or seconds ("60s")
 *
 * Methods that cannot have batches or acceleration have no such options. */

/* Fits a method to the samples of a source.
 *
 * options      from rb_options_new with the name of the method
 * start        a model of the same method to start from (a warm start): its preprocessing and
 *              parameters are taken, and so that nothing is ignored in silence restarts must be 1,
 *              no option of preprocessing may be set (but missing=omit), and options about the
 *              start (psi-init, weight-init and prior-mean of rfn) must be their defaults or as the
 *              model has them; a preset leaves these as the model has them. NULL to start anew
 * model        the result; free with rb_model_free; NULL on failure
 *
 * Errors: RB_ERROR_ARGUMENT (an option: out of its range, contradicting another one, or set but
 * doing nothing without another one), RB_ERROR_DATA (missing or infinite values, no samples),
 * RB_ERROR_NUMERIC (numbers became infinite; the message says where), RB_ERROR_MEMORY,
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
RB_API rb_error rb_fit(rb_context *context, const rb_options *options, rb_source *source,
                       const rb_model *start, rb_model **model);

/* What rb_fit refuses before it looks at the samples: idle and contradictory options, and those
 * that a start from a model (or NULL) leaves no use for. */
RB_API rb_error rb_options_check(rb_context *context, const rb_options *options,
                                 const rb_model *start);

/* Bytes that a fit will need besides its input: an estimate from the shapes of the source, which is
 * not read. RB_ERROR_ARGUMENT (an option). */
RB_API rb_error rb_fit_memory(rb_context *context, const rb_options *options,
                              const rb_source *source, int64_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
