/* The option table of expectation truncation. */
#include "engine.h"

#include <float.h>
#include <stddef.h>
#include <string.h>

/* The first row is for nmf-et alone, the next two for nmf-et and mca, the next two not for models
 * of one's own. */
const rb_option et_option_rows[] = {
    {"mstep", 0, RB_OPTION_CHOICE, offsetof(rb_et_options, mstep), "solve", 0, 0,
     "solve|multiplicative", "STEP",
     "M-step of the fields: clipped least squares, or multiplicative updates, which never lower "
     "the likelihood",
     RB_OPTION_RESEARCH},
    {"noise", 0, RB_OPTION_CHOICE, offsetof(rb_et_options, noise), "gaussian", 0, 0,
     "gaussian|poisson", "NOISE",
     "noise of the data: gaussian, or poisson for counts, which has no sigma", RB_OPTION_COMMON},
    {"negative", 0, RB_OPTION_CHOICE, offsetof(rb_et_options, negative), "clamp", 0, 0,
     "clamp|reflect", "WHAT",
     "negative fields after the M-step and the noise on fields are set to 0, or change their sign",
     RB_OPTION_RESEARCH},
    {"values", 0, RB_OPTION_TEXT, offsetof(rb_et_options, values), NULL, 0, 0, NULL, "LIST",
     "values of an active or absent cause: different numbers, with 0, such as 0,1,2 (default 0,1)"},
    {"value-prior", 0, RB_OPTION_TEXT, offsetof(rb_et_options, value_prior), NULL, 0, 0, NULL,
     "LIST",
     "probability of each of --values but 0, in their order, instead of --prior: 0.2,0.1 (default: "
     "equal parts of --prior)"},
    {"units", 'k', RB_OPTION_INTEGER, offsetof(rb_et_options, units), "10", 1, 1e9, NULL, "N",
     "number of causes", RB_OPTION_COMMON},
    {"candidates", 0, RB_OPTION_INTEGER, offsetof(rb_et_options, candidates), "0", 0, 1e9, NULL,
     "N", "candidate causes per sample (0: 5, or all if fewer)"},
    {"max-active", 0, RB_OPTION_INTEGER, offsetof(rb_et_options, max_active), "3", 1, 1e9, NULL,
     "N", "maximum number of active causes per state", RB_OPTION_COMMON},
    {"max-active-limit", 0, RB_OPTION_INTEGER, offsetof(rb_et_options, max_active_limit), "0", 0,
     1e9, NULL, "N",
     "at temperature 1, extend a sample whose most probable state has --max-active causes: one "
     "more cause and two more candidates, up to N causes (0: never)",
     RB_OPTION_RESEARCH},
    {"candidates-limit", 0, RB_OPTION_INTEGER, offsetof(rb_et_options, candidates_limit), "0", 0,
     1e9, NULL, "N", "maximum number of candidates of an extended sample (0: all units)",
     RB_OPTION_RESEARCH},
    {"prior", 0, RB_OPTION_NUMBER, offsetof(rb_et_options, prior), "0", 0, 1, NULL, "P",
     "probability that a cause is active (0: 2 / --units)"},
    {"sigma", 0, RB_OPTION_NUMBER, offsetof(rb_et_options, sigma), "0", 0, 1e150, NULL, "SD",
     "standard deviation of the noise (0: learned, starting at half of that of the data; mca with "
     "--values: at all of it)"},
    {"learn-prior", 0, RB_OPTION_FLAG, offsetof(rb_et_options, learn_prior), "false", 0, 0, NULL,
     NULL, "learn the prior once the end temperature is reached"},
    {"learn-sigma", 0, RB_OPTION_FLAG, offsetof(rb_et_options, learn_sigma), "false", 0, 0, NULL,
     NULL, "learn the noise even if --sigma is given"},
    {"prior-per-cause", 0, RB_OPTION_FLAG, offsetof(rb_et_options, prior_per_cause), "false", 0, 0,
     NULL, NULL, "learn a prior per cause, once the end temperature is reached"},
    {"count", 0, RB_OPTION_INTEGER, offsetof(rb_et_options, count), "0", 0, 1e9, NULL, "N",
     "exactly N active causes per sample, instead of any number by the prior (0: any)"},
    {"exact", 0, RB_OPTION_FLAG, offsetof(rb_et_options, exact), "false", 0, 0, NULL, NULL,
     "use all states of all causes (few units)"},
    {"temperature", 0, RB_OPTION_TEXT, offsetof(rb_et_options, temperature), NULL, 0, 0, NULL,
     "START:END",
     "annealing: START:END, such as 13:1, or values at shares of the iterations, 0=13,0.1=13,0.8=1 "
     "(default: from the data; mca ends at 1.05)"},
    {"weight-noise", 0, RB_OPTION_NUMBER, offsetof(rb_et_options, weight_noise), "-1", -1, 1e150,
     NULL, "SD",
     "noise added to the fields after each M-step, until 0.8 of the iterations (-1: from the data)",
     RB_OPTION_RESEARCH},
    {"weight-noise-schedule", 0, RB_OPTION_TEXT, offsetof(rb_et_options, weight_noise_schedule),
     NULL, 0, 0, NULL, "COURSE",
     "the same as values at shares of the iterations: 0=0.05,0.6=0.05,0.8=0", RB_OPTION_RESEARCH},
    {"init-mean", 0, RB_OPTION_NUMBER, offsetof(rb_et_options, init_mean), "0", -1e150, 1e150, NULL,
     "MEAN", "mean of the initial fields, with --init-sd", RB_OPTION_RESEARCH},
    {"init-sd", 0, RB_OPTION_NUMBER, offsetof(rb_et_options, init_sd), "-1", -1, 1e150, NULL, "SD",
     "standard deviation of the initial fields (-1: it and the mean from the data)",
     RB_OPTION_RESEARCH},
    {"selection", 0, RB_OPTION_CHOICE, offsetof(rb_et_options, selection), "auto", 0, 0,
     "auto|joint|cosine|bound|exact|product", "SCORE",
     "score of candidate causes: joint, the best single causes (auto), cosine (eq. 33), bound (eq. "
     "28; not for linca), exact (all states, few units), or product, W'y",
     RB_OPTION_RESEARCH},
    {"region", 0, RB_OPTION_INTEGER, offsetof(rb_et_options, region), "-1", -1, 1e9, NULL, "N",
     "use only states that differ from the most probable one in at most N causes (0: that one; -1: "
     "all)",
     RB_OPTION_RESEARCH},
    {"singletons", 0, RB_OPTION_CHOICE, offsetof(rb_et_options, singletons), "auto", 0, 0,
     "auto|yes|no", "WHEN",
     "use every single cause besides the candidates (auto: yes; as printed for mca only)",
     RB_OPTION_RESEARCH},
    {"anneal-prior", 0, RB_OPTION_CHOICE, offsetof(rb_et_options, anneal_prior), "auto", 0, 0,
     "auto|yes|no", "WHEN", "apply the temperature to the prior too (auto: yes, but not for linca)",
     RB_OPTION_RESEARCH},
    {"cut-factor", 0, RB_OPTION_NUMBER, offsetof(rb_et_options, cut_factor), "0", 0, 1e9, NULL,
     "FACTOR",
     "share of the samples kept at the end, among those expected to have few causes (0: 0.9, or 1 "
     "while prior or sigma are learned)",
     RB_OPTION_RESEARCH},
    {"cut-schedule", 0, RB_OPTION_TEXT, offsetof(rb_et_options, cut_schedule), NULL, 0, 0, NULL,
     "COURSE",
     "share of the samples kept, those explained best, as values at shares of the iterations: "
     "0=1,0.7=1,0.9=0.8",
     RB_OPTION_RESEARCH},
    {"as-printed", 0, RB_OPTION_FLAG, offsetof(rb_et_options, as_printed), "false", 0, 0, NULL,
     NULL, "use the paper's selection, states, annealing and noise where not given; less reliable",
     RB_OPTION_RESEARCH},
    {0},
};
