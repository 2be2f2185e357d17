/* What is known of units and modules while these are made of codes and loadings: private to
 * modules_extract.c and modules_units.c. */
#pragma once

#include "members.h"

enum { POSITIVE, NEGATIVE, BOTH };

/* What is known of a unit after the first pass. */
typedef struct unit {
    int64_t index;
    double weight;                 /* |W_j|^2 */
    double code;                   /* |mu_j|^2 */
    double rms;                    /* of its codes */
    rb_powers loadings, halves[2]; /* of Psi^-1/2 W_j, and of codes of either sign */
    double information;
    double worth;   /* what units are ranked by */
    double share;   /* by normal scores, over what noise may tell */
    int64_t column; /* of the tested units, which it is, or has nearly the codes of */
    int64_t lead;   /* the unit whose module it is in; or -1 */
    bool mirrors;   /* modules that rank before it */
} unit;

typedef struct extraction {
    rb_context *ctx;
    rb_scratch memory; /* has all arrays */
    const rb_modules_input *input;
    const rb_modules_options *options;
    rb_rule rule;
    unit *units; /* ranked once the first pass is done */
    int64_t n_samples;
    bool negative;   /* is any code below 0? */
    int64_t nonzero; /* codes that are not 0 */
    double root;     /* the size of a typical entry of a living unit's part of the data */
    double above;    /* the weight rule: the loading above which a feature belongs */
    double level;    /* of the rule test */
    rb_modules *modules;
    struct reading *readings; /* of each module */
    struct roll *rolls;       /* and its samples */
    int64_t living;           /* units, the first ones */
    /* Of the test rule: */
    int64_t tested; /* units of these, which have codes of their own */
    rb_refit *refit, *recoded;
    rb_scores *scores;  /* while they are computed */
    bool scored;        /* units have shares by them */
    bool *features;     /* features x tested: who belongs */
    double *deviations; /* of the codes of each */
} extraction;

/* By it units are ranked, with qsort. */
int rb_by_worth(const void *a, const void *b);

/* Which units are modules, of those that are ranked, and which features belong to them, by the rule
 * test. */
rb_error rb_test_units(extraction *e);

rb_unit_role rb_role_among(const extraction *e, const unit *u);
