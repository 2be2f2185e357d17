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
     "solve for the fields and cut what is negative, or multiply, which never lowers the "
     "likelihood",
     RB_OPTION_RESEARCH},
    {"noise", 0, RB_OPTION_CHOICE, offsetof(rb_et_options, noise), "gaussian", 0, 0,
     "gaussian|poisson", "NOISE", "of the data: poisson for counts; it has no sigma",
     RB_OPTION_COMMON},
    {"negative", 0, RB_OPTION_CHOICE, offsetof(rb_et_options, negative), "clamp", 0, 0,
     "clamp|reflect", "WHAT",
     "what the M-step and the noise on fields leave below 0 becomes 0, or changes its sign",
     RB_OPTION_RESEARCH},
    {"values", 0, RB_OPTION_TEXT, offsetof(rb_et_options, values), NULL, 0, 0, NULL, "LIST",
     "what a cause may be: numbers that differ, with 0, such as 0,1,2 (0,1 if not given)"},
    {"value-prior", 0, RB_OPTION_TEXT, offsetof(rb_et_options, value_prior), NULL, 0, 0, NULL,
     "LIST",
     "instead of --prior, the probability of each of --values but 0, in their order: 0.2,0.1 (if "
     "not given equal parts of --prior)"},
    {"units", 'k', RB_OPTION_INTEGER, offsetof(rb_et_options, units), "10", 1, 1e9, NULL, "N",
     "number of causes", RB_OPTION_COMMON},
    {"candidates", 0, RB_OPTION_INTEGER, offsetof(rb_et_options, candidates), "0", 0, 1e9, NULL,
     "N", "causes looked at per sample (0: 5, or all if fewer)"},
    {"max-active", 0, RB_OPTION_INTEGER, offsetof(rb_et_options, max_active), "3", 1, 1e9, NULL,
     "N", "most causes that are active in a state", RB_OPTION_COMMON},
    {"max-active-limit", 0, RB_OPTION_INTEGER, offsetof(rb_et_options, max_active_limit), "0", 0,
     1e9, NULL, "N",
     "cold, look again at a sample whose most probable state has all of --max-active, with one "
     "more "
     "active and two more candidates, up to N active (0: never)",
     RB_OPTION_RESEARCH},
    {"candidates-limit", 0, RB_OPTION_INTEGER, offsetof(rb_et_options, candidates_limit), "0", 0,
     1e9, NULL, "N",
     "largest number of candidates of a sample that is looked at again (0: all units)",
     RB_OPTION_RESEARCH},
    {"prior", 0, RB_OPTION_NUMBER, offsetof(rb_et_options, prior), "0", 0, 1, NULL, "P",
     "probability that a cause is active (0: 2 in --units)"},
    {"sigma", 0, RB_OPTION_NUMBER, offsetof(rb_et_options, sigma), "0", 0, 1e150, NULL, "SD",
     "standard deviation of the noise (0: learned, from half of that of the data; mca with "
     "--values: "
     "from all of it)"},
    {"learn-prior", 0, RB_OPTION_FLAG, offsetof(rb_et_options, learn_prior), "false", 0, 0, NULL,
     NULL, "learn the prior once the end temperature is reached"},
    {"learn-sigma", 0, RB_OPTION_FLAG, offsetof(rb_et_options, learn_sigma), "false", 0, 0, NULL,
     NULL, "learn the noise too although --sigma is given"},
    {"prior-per-cause", 0, RB_OPTION_FLAG, offsetof(rb_et_options, prior_per_cause), "false", 0, 0,
     NULL, NULL, "learn a prior for each cause, once the end temperature is reached"},
    {"count", 0, RB_OPTION_INTEGER, offsetof(rb_et_options, count), "0", 0, 1e9, NULL, "N",
     "exactly N causes in each sample, instead of any number by the prior (0: any)"},
    {"exact", 0, RB_OPTION_FLAG, offsetof(rb_et_options, exact), "false", 0, 0, NULL, NULL,
     "look at all states of all causes (few units)"},
    {"temperature", 0, RB_OPTION_TEXT, offsetof(rb_et_options, temperature), NULL, 0, 0, NULL,
     "START:END",
     "annealing, such as 13:1 (from the data if not given; MCA ends at 1.05), or as lines between "
     "shares of the iterations: 0=13,0.1=13,0.8=1"},
    {"weight-noise", 0, RB_OPTION_NUMBER, offsetof(rb_et_options, weight_noise), "-1", -1, 1e150,
     NULL, "SD",
     "noise on the fields after each M-step until 0.8 of the iterations (-1: from the data)",
     RB_OPTION_RESEARCH},
    {"weight-noise-schedule", 0, RB_OPTION_TEXT, offsetof(rb_et_options, weight_noise_schedule),
     NULL, 0, 0, NULL, "COURSE",
     "the same as lines between shares of the iterations: 0=0.05,0.6=0.05,0.8=0",
     RB_OPTION_RESEARCH},
    {"init-mean", 0, RB_OPTION_NUMBER, offsetof(rb_et_options, init_mean), "0", -1e150, 1e150, NULL,
     "MEAN", "mean of the fields at the start, with --init-sd", RB_OPTION_RESEARCH},
    {"init-sd", 0, RB_OPTION_NUMBER, offsetof(rb_et_options, init_sd), "-1", -1, 1e150, NULL, "SD",
     "standard deviation of the fields at the start (-1: it and the mean from the data)",
     RB_OPTION_RESEARCH},
    {"selection", 0, RB_OPTION_CHOICE, offsetof(rb_et_options, selection), "auto", 0, 0,
     "auto|joint|cosine|bound|exact|product", "SCORE",
     "how candidates are chosen: best single causes (auto), eq. 33, eq. 28 (not for linca), by "
     "all states (few units), or by the scalar product with the field",
     RB_OPTION_RESEARCH},
    {"region", 0, RB_OPTION_INTEGER, offsetof(rb_et_options, region), "-1", -1, 1e9, NULL, "N",
     "of the states looked at count only those that differ from the most probable one in at most N "
     "causes (0: it alone; -1: all)",
     RB_OPTION_RESEARCH},
    {"singletons", 0, RB_OPTION_CHOICE, offsetof(rb_et_options, singletons), "auto", 0, 0,
     "auto|yes|no", "WHEN",
     "look at every single cause besides the candidates (auto: yes; as printed for mca alone)",
     RB_OPTION_RESEARCH},
    {"anneal-prior", 0, RB_OPTION_CHOICE, offsetof(rb_et_options, anneal_prior), "auto", 0, 0,
     "auto|yes|no", "WHEN",
     "let the temperature act on the prior too (auto: yes, but not for linca)", RB_OPTION_RESEARCH},
    {"cut-factor", 0, RB_OPTION_NUMBER, offsetof(rb_et_options, cut_factor), "0", 0, 1e9, NULL,
     "FACTOR",
     "samples kept at the end, in those expected to have few causes (0: 0.9, or 1 while prior or "
     "sigma are learned)",
     RB_OPTION_RESEARCH},
    {"cut-schedule", 0, RB_OPTION_TEXT, offsetof(rb_et_options, cut_schedule), NULL, 0, 0, NULL,
     "COURSE",
     "instead, the share of the samples kept, those explained best, as lines between shares of the "
     "iterations: 0=1,0.7=1,0.9=0.8",
     RB_OPTION_RESEARCH},
    {"as-printed", 0, RB_OPTION_FLAG, offsetof(rb_et_options, as_printed), "false", 0, 0, NULL,
     NULL,
     "the paper's selection, states, annealing and noise where they are not given; less reliable",
     RB_OPTION_RESEARCH},
    {0},
};
