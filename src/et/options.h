/* The options of expectation truncation, as the code has them; options.c has their rows. */
#ifndef ET_OPTIONS_H
#define ET_OPTIONS_H

#include <rarebit/et.h>
#include <rarebit/method.h>

typedef enum rb_et_selection {
    RB_ET_SELECT_AUTO = 0, /* joint; as printed: bound, or for linca cosine */
    RB_ET_SELECT_JOINT,    /* W_h'y - |W_h|^2 / 2: the best single causes */
    RB_ET_SELECT_COSINE,   /* W_h'y / |W_h| (eq. 33) */
    RB_ET_SELECT_BOUND,    /* - sum_d max(0, W_dh - y_d)^2 (eq. 28): fields that are not negative */
    RB_ET_SELECT_EXACT     /* p(s_h = 1 | y) over all states, for few units */
} rb_et_selection;

typedef enum rb_et_anneal { RB_ET_ANNEAL_AUTO = 0, RB_ET_ANNEAL_YES, RB_ET_ANNEAL_NO } rb_et_anneal;

typedef enum rb_et_singletons {
    RB_ET_SINGLETONS_AUTO = 0, /* yes; as printed for mca alone */
    RB_ET_SINGLETONS_YES,
    RB_ET_SINGLETONS_NO
} rb_et_singletons;

/* What becomes of negative values of fields that may have none. */
typedef enum rb_et_negative {
    RB_ET_NEGATIVE_CLAMP = 0, /* 0; for mca 1e-4 */
    RB_ET_NEGATIVE_REFLECT    /* the absolute value */
} rb_et_negative;

typedef enum rb_et_mstep { RB_ET_MSTEP_SOLVE = 0, RB_ET_MSTEP_MULTIPLICATIVE } rb_et_mstep;

typedef enum rb_et_noise { RB_ET_GAUSSIAN = 0, RB_ET_POISSON } rb_et_noise;

typedef struct rb_et_options {
    int64_t units;      /* H */
    int64_t candidates; /* H': causes looked at for a sample; 0: min(units, 5) */
    int64_t max_active; /* gamma: active causes in a state, at most */
    double prior;       /* pi; 0: 2 / units, or 1/2 if less */
    double sigma;     /* of the noise; 0: learned, from half the standard deviation of the data, or
                         * in a warm start from that of the model */
    bool learn_prior; /* from the end temperature on */
    bool learn_sigma; /* likewise; always when sigma is 0 */
    /* "start:end" or "start", or a course over the iterations: "0=13,0.1=13,0.8=1" is 13 for a
     * tenth of them, falls to 1 until eight tenths, and stays. NULL: from the data. */
    const char *temperature;
    /* Courses likewise: the sd of the noise, instead of weight_noise; and the share of the samples
     * in use, those of largest evidence, instead of cut_factor. NULL: as those say. */
    const char *weight_noise_schedule, *cut_schedule;
    double weight_noise; /* sd of the noise on fields while annealing; -1: from the data */
    double init_mean;    /* of the fields at the start, with init_sd */
    double init_sd;      /* -1: both from the data */
    int selection;       /* rb_et_selection */
    int singletons;      /* rb_et_singletons: look at every single cause besides */
    int anneal_prior;    /* rb_et_anneal: the temperature acts on the prior too */
    double cut_factor; /* samples explained by few causes, as a share of those expected; 0: 0.9, or
                        * 1 while prior or sigma are learned; 1e9, say: use all samples always */
    int mstep;         /* rb_et_mstep, of nmf-et only */
    int noise;         /* rb_et_noise, of nmf-et and mca */
    int negative;      /* rb_et_negative, likewise: after the M-step, and after noise on fields */
    bool prior_per_cause; /* a prior for each cause; learned from the end temperature on */
    int64_t count; /* exactly this many causes in each sample, all such states equally likely; 0:
                      * any number, by the prior */
    /* At the end temperature a sample whose most probable state is full is done again with one
     * more active cause, up to this many; 0: never. */
    int64_t max_active_limit;
    int64_t candidates_limit; /* and with two more candidates, up to this many; 0: units */
    bool exact;               /* look at all states: candidates = max_active = units */
    /* What the paper has instead of our choices, where they are not given: selection, singletons,
     * annealed prior, and noise on fields to the end. */
    bool as_printed;
} rb_et_options;

extern const rb_option et_option_rows[];

#endif
