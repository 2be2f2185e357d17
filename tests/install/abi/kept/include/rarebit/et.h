/* Expectation truncation: generative models with binary causes, of which few are active at a time.
 *
 * Cause h is active (s_h = 1) with probability pi and has a field W_h; a sample is the
 * superposition of the active fields and noise: Gaussian of standard deviation sigma, or for fields
 * that are not negative Poisson. Of 2^units states, only those with few active causes, chosen among
 * a few candidates for each sample, are looked at. Reference: Luecke, Eggert, "Expectation
 * truncation and the benefits of preselection in training generative models", Journal of Machine
 * Learning Research 11, 2010.
 *
 * Methods:
 *   linca    fields of either sign add up (linear component analysis)
 *   nmf-et   fields that are not negative add up (non-negative matrix factorisation)
 *   mca      the largest of fields that are not negative counts (maximal causes analysis)
 *
 * Values may be missing (NaN, with RB_MISSING_OMIT): they are left out of all sums. Data are not
 * centred unless asked for. Codes are posterior means, the probabilities that a cause
 * is active. Arrays of a model (rb_model_array):
 *   loadings   n_features x units   W, a field each column
 *   sigma      1                    standard deviation of the noise
 *   prior      1, or units          pi, or one of each cause
 *   dead       units                1 for a cause in no training sample's most probable state,
 *                                   else 0
 *   used       1                    samples in use in the last M-step
 *   log_likelihood  1               of the training samples, at temperature 1
 * and of a traced fit (option trace)
 *   trace             iterations x 3   temperature, samples in use, candidate hits (NaN: too many
 *                                      units)
 *   trace_quality     iterations x m   Q of m samples evenly spread; up to 40, up to 20 units
 *   trace_fields      n_features x (k * units)   the fields before the M-step of k iterations
 *   trace_fields_at   k                which iterations, from 0
 *
 * The objective in the history is the sum over samples of the truncated log evidence at the
 * temperature of the iteration; there is no E-step objective. Of rb_evaluate log_likelihood is
 * the *sum* of log evidence at temperature 1, objective that sum less n log A (A: prior mass of the
 * states with few active causes). Metrics of an iteration (rb_model_metric, rb_progress), of the
 * parameters that it began with but for sigma and prior, which are those that it ended with:
 *   temperature      T
 *   samples_used     M, after the data cut
 *   causes_used      in the most probable state of a sample
 *   sigma, prior     prior: the mean over causes
 *   log_likelihood   sum over all samples of the truncated log evidence at temperature 1; NaN
 *                    unless traced or T is 1
 *   free_energy      sum over the samples in use of that at temperature T, less M log A (eq. 17)
 * and, traced, of up to 40 samples
 *   candidate_hits   p(s_h = 1 | y) of the candidates, as a share of that of all causes
 *   quality          mean Q (eq. 21)
 *   truncation       mean -log Q
 *
 * Options, by name (rarebit/options.h, whose rows have ranges, defaults and help):
 *   units, candidates, max-active   H, H' and gamma: causes, those looked at for a sample, and
 *                    those active in a state, at most
 *   prior, sigma     pi and the noise's standard deviation; prior 0: 2 / units, or 1/2 if less;
 *                    sigma 0: learned, from half the standard deviation of the data, or in a warm
 *                    start from that of the model
 *   learn-prior, learn-sigma, prior-per-cause   from the end temperature on
 *   temperature      "start:end" or "start", or a schedule over the iterations:
 *                    "0=13,0.1=13,0.8=1" is 13 for a tenth of them, falls to 1 until eight tenths,
 *                    and stays. Not set: from the data
 *   weight-noise-schedule, cut-schedule   likewise: the standard deviation of the noise on fields,
 *                    instead of weight-noise; and the share of the samples in use, those of largest
 *                    evidence, instead of cut-factor (0: 0.9, or 1 while prior or sigma are
 *                    learned; 1e9: all samples always)
 *   selection        joint: W_h'y - |W_h|^2 / 2, the best single causes; cosine: W_h'y / |W_h|
 *                    (eq. 33); bound: - sum_d max(0, W_dh - y_d)^2 (eq. 28), of fields that are not
 *                    negative; exact: p(s_h = 1 | y) over all states, for few units
 *   count            exactly so many causes in each sample, all such states equally likely
 *   max-active-limit, candidates-limit   at the end temperature a sample whose most probable state
 *                    is full is done again with one more active cause and two more candidates
 *   exact            look at all states
 *   as-printed       what the paper has instead of our choices, where they are not set: selection,
 *                    singletons, annealed prior, and noise on fields to the end
 *   mstep (nmf-et), noise and negative (nmf-et, mca), init-mean, init-sd, singletons,
 *                    anneal-prior */
#ifndef RAREBIT_ET_H
#define RAREBIT_ET_H

#include <rarebit/fit.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Takes the most probable state of a sample: its active causes, ascending from 0, and the sample's
 * log evidence at temperature 1. What it returns other than RB_OK ends the call. */
typedef rb_error (*rb_et_map_fn)(void *user, int64_t sample, double log_evidence, int64_t count,
                                 const int64_t *causes);

/* The most probable states of the samples of a source, in order. RB_ERROR_UNSUPPORTED for a model
 * of another family; else as rb_encode. */
RB_API rb_error rb_et_map(rb_context *context, const rb_model *model, rb_source *source,
                          rb_et_map_fn fn, void *user);

/* ---- models of one's own ----
 *
 * Binary causes with another superposition or another noise: docs/new-et-model.md shows one. All
 * functions take n features and must treat each by itself, since they are called for parts of a
 * sample, in any order and on several threads; they may not keep anything. */

enum { RB_ET_MAX_EXACT = 20 }; /* units for which all states can be looked at */

/* What an M-step adds up of one field: n values each. */
typedef struct rb_et_shares {
    double *up, *down;
} rb_et_shares;

typedef struct rb_et_model {
    size_t size;            /* sizeof(rb_et_model) of the caller; new fields come at the end */
    const char *name;       /* of the method: "noisy-or" */
    const char *title;      /* a few words */
    const char *code_name;  /* of the codes in AnnData: "X_noisy_or" */
    double min, max;        /* fields are kept between; they begin around the mean of the data */
    double empty;           /* the superposition of no cause, for each feature */
    bool anneal_prior;      /* whether the temperature acts on the prior too, by default */
    double end_temperature; /* 1 unless there is a reason */
    /* out = the superposition `wbar` with one more active field; out may be wbar. */
    void (*superpose)(void *user, int64_t n, const double *wbar, const double *field, double *out);
    /* log p(y | wbar) less `constant`; above -infinity for samples that are not refused. */
    double (*log_likelihood)(void *user, int64_t n, const double *y, const double *wbar,
                             double sigma);
    /* What log p(y | wbar) has besides that does not depend on wbar. NULL: 0. */
    double (*constant)(void *user, int64_t n, const double *y);
    /* The M-step. For an active field of a state of probability q and superposition wbar, adds to
     * the sums; once all samples are done the field becomes up / down, and stays where down is
     * 0. */
    void (*share)(void *user, int64_t n, const double *y, const double *wbar, const double *field,
                  double q, rb_et_shares sums);
    /* NULL, or what is wrong with a value: "is below 0". May be NULL: any value will do. */
    const char *(*refuse)(void *user, double value);
    void *user; /* given to all of them; must outlive the contexts that know the method */
} rb_et_model;

struct rb_method;

/* Fills the table of a method for the model, to be given to rb_context_add_method; method->size
 * must be sizeof(rb_method) before. RB_ERROR_ARGUMENT for a model->size that is not that of this
 * library, and method->size becomes 0, which rb_context_add_method refuses. Its options are those
 * above; both tables must outlive the contexts that know them. */
RB_API rb_error rb_et_method(const rb_et_model *model, struct rb_method *method);

#ifdef __cplusplus
}
#endif
#endif
