/* Fitting: what every iterative method shares. */
#pragma once

#include <rarebit/matrix.h>
#include <rarebit/options.h>
#include <rarebit/preprocess.h>

typedef struct rb_model rb_model;

/* Options of every fit, besides those of its method and of preprocessing, are described by their
 * rows (rarebit/options.h, `rarebit help fit METHOD`). Methods that cannot have batches or
 * acceleration have no such options. An iteration is an E-step and an M-step, whether an
 * acceleration keeps its result or not. With `checkpoint` the same call goes on from that file and
 * gives the same bits as a fit that was never interrupted (on the same kind of processor); the file
 * stays when the fit is done. It needs rb_io_use (rarebit/checkpoint.h): else the fit is
 * RB_ERROR_UNSUPPORTED. */

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
