/* Expectation truncation: generative models with binary causes, or causes of a few values, of which
 * few are active at a time.
 *
 * Cause h is active (s_h = 1) with probability pi and has a field W_h; a sample is the
 * superposition of the active fields, or with `values` of s_h W_h, and noise: Gaussian of standard
 * deviation sigma, or for fields that are not negative Poisson. Of 2^units states, only those with
 * few active causes, chosen among a few candidates for each sample, are looked at. Reference:
 * Luecke, Eggert, "Expectation truncation and the benefits of preselection in training generative
 * models", Journal of Machine Learning Research 11, 2010.
 *
 * Methods:
 *   linca    fields of either sign add up (linear component analysis)
 *   nmf-et   fields that are not negative add up (non-negative matrix factorisation)
 *   mca      the largest of fields that are not negative counts (maximal causes analysis)
 *   ssc      fields of either sign add up, times a strength that is normal and differs from sample
 *            to sample (spike and slab sparse coding)
 *
 * What follows is of the first three; of ssc at the end.
 *
 * Values may be missing (NaN, with RB_MISSING_OMIT): they are left out of all sums. Data are not
 * centred unless asked for. Codes are posterior means: the probabilities that a cause is active, or
 * with `values` the means of its values. Arrays of a model (rb_model_array):
 *   loadings   n_features x units   W, a field each column
 *   sigma      1                    standard deviation of the noise
 *   prior      1, or units          pi, or one of each cause: the probability that it is not 0
 *   values     values               with `values`: those besides 0
 *   value_prior  values x 1, or x units   with `values`: p(s_h = v), of all causes or of each
 *   dead       units                1 for a cause in no training sample's most probable state,
 *                                   else 0
 *   used       1                    samples in use in the last M-step
 *   log_likelihood  1               mean over training samples, at temperature 1
 * and of a traced fit (option trace)
 *   trace             iterations x 3   temperature, samples in use, candidate hits (NaN: too many
 *                                      units)
 *   trace_quality     iterations x m   Q of m samples evenly spread; up to 40, up to 20 units
 *   trace_fields      n_features x (k * units)   the fields before the M-step of k iterations
 *   trace_fields_at   k                which iterations, from 0
 *
 * The objective in the history is the mean over samples of the truncated log evidence at the
 * temperature of the iteration; there is no E-step objective. Of rb_evaluate log_likelihood is
 * the mean at temperature 1, objective that less log A (A: prior mass of the states with few active
 * causes). Metrics of an iteration (rb_model_metric, rb_progress), of the parameters that it began
 * with but for sigma and prior, which are those that it ended with:
 *   temperature      T
 *   samples_used     M, after the data cut
 *   causes_used      in the most probable state of a sample
 *   sigma, prior     prior: the mean over causes
 *   log_likelihood   mean over all samples of the truncated log evidence at temperature 1; NaN
 *                    unless traced or T is 1
 *   free_energy      mean over the samples in use of that at temperature T, less log A (eq. 17,
 *                    which is the sum)
 * and, traced, of up to 40 samples
 *   candidate_hits   p(s_h = 1 | y) of the candidates, as a share of that of all causes
 *   quality          mean Q (eq. 21)
 *   truncation       mean -log Q
 *
 * Options are described by their rows (rarebit/options.h, `rarebit help fit linca`), at length in
 * docs/reference/et.md.
 *
 * ssc: an active cause has the strength z_h ~ N(mu_h, psi_h^2), mu_h^2 + psi_h^2 = 1, and codes are
 * the posterior means of s_h z_h. All values must be there. Arrays: loadings, sigma, prior (units),
 * log_likelihood as above; slab_mean and slab_sd (units), mu and psi; noise (n_features), sigma^2;
 * dead (units), 1 for a cause that no training sample has more likely than not. The
 * objective of the history is the log-likelihood at the temperature of the iteration.
 * rb_states does not take such models. */
#pragma once

#include <rarebit/fit.h>

/* ---- models of one's own ----
 *
 * Binary causes with another superposition or another noise, or one of the methods above with
 * another selection of candidates: docs/howto/new-et-model.md shows both. All
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

    /* A size without these two will do: both are then NULL. */

    /* "linca", "nmf-et" or "mca": all but name, title, code_name, user and select is that method's,
     * and stays 0 here. NULL: a model of one's own. */
    const char *like;
    /* Selection from outside: how much each cause deserves to be looked at for a sample, by any
     * function of it, such as a classifier or a tree. The causes of the largest scores are its
     * candidates, of equals the first ones; NaN comes last. scores has a value for each of `units`
     * causes and holds those of the option `selection` before, so that to raise some will do.
     * y: the sample as the fit sees it, all n features; what is missing is NaN. As many are taken
     * as the option `candidates` says, besides single causes (option `singletons`). Called in each
     * E-step, and when the model is used, on several threads; it must always say the same of the
     * same sample. NULL: by the options alone. */
    void (*select)(void *user, int64_t n, const double *y, int64_t units, double *scores);
} rb_et_model;

struct rb_method;

/* Fills the table of a method for the model, to be given to rb_context_add_method; method->size
 * must be sizeof(rb_method) before. RB_ERROR_ARGUMENT for a model->size that this library does not
 * know or a method that it cannot be like, and method->size becomes 0, which rb_context_add_method
 * refuses. Its options are those above, or those of the method that it is like; both tables must
 * outlive the contexts that know them. */
RB_API rb_error rb_et_method(const rb_et_model *model, struct rb_method *method);
