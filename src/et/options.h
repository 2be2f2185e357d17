/* The options of expectation truncation, as the code has them; options.c has their rows, which say
 * what they do. */
#ifndef ET_OPTIONS_H
#define ET_OPTIONS_H

#include <rarebit/et.h>
#include <rarebit/method.h>

typedef enum rb_et_selection {
    RB_ET_SELECT_AUTO = 0, /* joint; as printed: bound, or for linca cosine */
    RB_ET_SELECT_JOINT,    /* W_h'y - |W_h|^2 / 2: the best single causes */
    RB_ET_SELECT_COSINE,   /* W_h'y / |W_h| (eq. 33) */
    RB_ET_SELECT_BOUND,    /* - sum_d max(0, W_dh - y_d)^2 (eq. 28): fields that are not negative */
    RB_ET_SELECT_EXACT,    /* p(s_h not 0 | y) over all states, for few units */
    RB_ET_SELECT_PRODUCT   /* W_h'y (section 5.3) */
} rb_et_selection;

/* AUTO: singletons yes, as printed for mca alone; an annealed prior but for linca. */
typedef enum rb_et_when { RB_ET_AUTO = 0, RB_ET_YES, RB_ET_NO } rb_et_when;

/* What becomes of negative values of fields that may have none: the model's min, or their absolute
 * value. */
typedef enum rb_et_negative { RB_ET_NEGATIVE_CLAMP = 0, RB_ET_NEGATIVE_REFLECT } rb_et_negative;

typedef enum rb_et_mstep { RB_ET_MSTEP_SOLVE = 0, RB_ET_MSTEP_MULTIPLICATIVE } rb_et_mstep;

typedef enum rb_et_noise { RB_ET_GAUSSIAN = 0, RB_ET_POISSON } rb_et_noise;

typedef struct rb_et_options {
    int64_t units;      /* H */
    int64_t candidates; /* H'; 0: min(units, 5) */
    int64_t max_active; /* gamma */
    double prior;       /* pi; 0: 2 / units, or 1/2 if less */
    double sigma; /* 0: learned, from half the standard deviation of the data, or in a warm start
                       * from that of the model */
    bool learn_prior;        /* from the end temperature on */
    bool learn_sigma;        /* likewise; always when sigma is 0 */
    const char *temperature; /* NULL: from the data */
    /* Courses instead of weight_noise and cut_factor. NULL: as those say. */
    const char *weight_noise_schedule, *cut_schedule;
    double weight_noise;       /* -1: from the data */
    double init_mean, init_sd; /* init_sd -1: both from the data */
    const char *values;        /* of a cause, with 0; NULL: 0 and 1 */
    const char *value_prior;   /* of those other than 0; NULL: prior, in equal parts */
    int selection;             /* rb_et_selection */
    int64_t region;            /* -1: all states that are looked at */
    int singletons;            /* rb_et_when */
    int anneal_prior;          /* rb_et_when */
    double cut_factor;         /* 0: 0.9, or 1 while prior or sigma are learned; 1e9, say: no cut */
    int mstep, noise, negative; /* rb_et_mstep, rb_et_noise, rb_et_negative */
    bool prior_per_cause;       /* learned from the end temperature on */
    int64_t count;              /* 0: any number, by the prior */
    int64_t max_active_limit;   /* 0: samples are not looked at again */
    int64_t candidates_limit;   /* 0: units */
    bool exact;                 /* candidates = max_active = units */
    bool as_printed;
} rb_et_options;

extern const rb_option et_option_rows[];

#endif
