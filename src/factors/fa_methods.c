/* The tables of factor models: what they have in common, and the options in which they differ. */
#include "fa.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

static const fa_prior normal = FACTORS_NORMAL, laplace = FACTORS_LAPLACE,
                      jeffreys = FACTORS_JEFFREYS, fabia = FACTORS_FABIA;

#define FIELD(name) offsetof(fa_options, name)

/* Rows of all tables. */
#define UNITS                                                                                      \
    {                                                                                              \
        "units", 'k', RB_OPTION_INTEGER, FIELD(units), "10", 1, 1e9, NULL, "N",                    \
            "number of hidden units (factors)", RB_OPTION_COMMON                                   \
    }
#define NOISE                                                                                      \
    {                                                                                              \
        "noise-min", 0, RB_OPTION_NUMBER, FIELD(noise_min), "1e-4", 0, 1, NULL, "SHARE",           \
            "smallest noise variance of a feature, as a share of its variance"                     \
    }
#define NORMALIZE(value)                                                                           \
    {                                                                                              \
        "normalize", 0, RB_OPTION_CHOICE, FIELD(normalize), value, 0, 0, "none|rms", "HOW",        \
            "scale of each unit's codes and loadings: none, or "                                   \
            "codes of mean square 1"                                                               \
    }
#define START                                                                                      \
    {                                                                                              \
        "weight-init", 0, RB_OPTION_NUMBER, FIELD(weight_init), "0.2", DBL_MIN, DBL_MAX, NULL,     \
            "SD",                                                                                  \
            "standard deviation of the initial loadings, in standard deviations of the "           \
            "feature",                                                                             \
            RB_OPTION_RESEARCH                                                                     \
    }

static const rb_option fa_rows[] = {
    UNITS,
    {"solver", 0, RB_OPTION_CHOICE, FIELD(solver), "auto", 0, 0, "auto|em|fixed-point", "HOW",
     "em passes over the data in each iteration and never lowers the likelihood; fixed-point needs "
     "one pass and a matrix of features x features, and converges faster; auto is fixed-point up "
     "to 1024 features"},
    NOISE,
    NORMALIZE("none"),
    START,
    {0},
};
static const rb_option sfa_rows[] = {
    UNITS,
    {"weight-decay", 0, RB_OPTION_NUMBER, FIELD(weight_decay), "5e-5", 0, 1, NULL, "SHARE",
     "move every loading towards 0 in each M-step, by this share of its feature's standard "
     "deviation"},
    NOISE,
    NORMALIZE("none"),
    START,
    {0},
};
static const rb_option variational_rows[] = {
    UNITS, NOISE, NORMALIZE("none"), START, {0},
};
/* FABIA's numbers: of features that are divided by the root of their interquartile range. */
static const rb_option fabia_rows[] = {
    UNITS,
    {"weight-decay", 0, RB_OPTION_NUMBER, FIELD(weight_decay), "0.01", 0, 1, NULL, "ALPHA",
     "move every loading towards 0 after each M-step, by this times the noise variance of its "
     "feature; meant for features divided by the root of their interquartile range"},
    {"noise-min", 0, RB_OPTION_NUMBER, FIELD(noise_min), "1e-3", 0, 1, NULL, "VARIANCE",
     "smallest noise variance of a feature"},
    NORMALIZE("rms"),
    {"weight-init", 0, RB_OPTION_NUMBER, FIELD(weight_init), "1", DBL_MIN, DBL_MAX, NULL, "SD",
     "standard deviation of the initial loadings", RB_OPTION_RESEARCH},
    {0},
};

/* FABIA's objective rests for hundreds of iterations before modules are found, and may fall: what
 * tells the end is that the parameters rest. */
static const rb_option_rule fabia_rules[] = {
    {"units", "iterations=2000"},
    {"units", "parameter-tolerance=5e-4"},
    {0},
};

static const char *const start_options[] = {"weight-init", NULL};

/* Parameters were moved, and noise variances, in logarithms, may have gone too low. */
static void project(rb_context *ctx, void *state) {
    factors *fa = state;
    (void)ctx;
    for (int64_t k = 0; k < fa->loadings.rows; k++)
        fa->noise[k] = fmax(fa->noise[k], fa_noise_min(fa, k));
}

#define SHARED                                                                                     \
    .size = sizeof(rb_method), .options_size = sizeof(fa_options), .start_options = start_options, \
    .units = fa_units, .block_samples = fa_block_samples, .parts = fa_parts, .shape = fa_shape,    \
    .state_size = sizeof(factors), .start = fa_start, .finish = fa_finish,                         \
    .survey_end = fa_survey_end, .begin = fa_begin, .block = fa_block, .end = fa_end,              \
    .mstep = fa_mstep, .objective = fa_objective, .store = fa_store, .coder_new = fa_coder_new,    \
    .coder_free = fa_coder_free, .encode = fa_encode, .evaluate = fa_evaluate,                     \
    .survey = fa_survey, .draw = fa_draw

const rb_method rb_method_fa = {
    .name = "fa",
    .title = "factor analysis (maximum likelihood)",
    .purpose = "correlated features with noise of their own",
    .code_name = "X_fa",
    .own = &normal,
    .options = fa_rows,
    .reads = fa_reads,
    .done = fa_done,
    .project = project,
    SHARED,
};

const rb_method rb_method_sfa = {
    .name = "sfa",
    .title = "factor analysis with sparse loadings",
    .purpose = "factors of a few features each",
    .code_name = "X_sfa",
    .own = &normal,
    .options = sfa_rows,
    SHARED,
};

const rb_method rb_method_fa_laplace = {
    .name = "fa-laplace",
    .title = "factor analysis with Laplacian factors (variational EM)",
    .purpose = "factors that are small in most samples",
    .code_name = "X_fa_laplace",
    .own = &laplace,
    .options = variational_rows,
    SHARED,
};

const rb_method rb_method_fa_jeffreys = {
    .name = "fa-jeffreys",
    .title = "factor analysis with factors of Jeffreys' prior (variational EM)",
    .purpose = "the same, without a scale to choose",
    .code_name = "X_fa_jeffreys",
    .own = &jeffreys,
    .options = variational_rows,
    SHARED,
};

const rb_method rb_method_fabia = {
    .name = "fabia",
    .title = "factor analysis for bicluster acquisition",
    .purpose = "biclusters: few samples and few features per factor",
    .code_name = "X_fabia",
    .own = &fabia,
    .options = fabia_rows,
    .rules = fabia_rules,
    .code_scale = "scale",
    SHARED,
};
