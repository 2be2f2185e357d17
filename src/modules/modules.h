/* The face of src/modules: what units of a model stand for. */
#pragma once

#include "model/model.h"
#include <rarebit/document.h>
#include <rarebit/modules.h>
#include <rarebit/replication.h>
#include <rarebit/significance.h>

#pragma GCC visibility push(default) /* for the libraries above: cmake/Libraries.cmake */

/* The struct behind the option group of modules: the rows say more. */
typedef struct rb_modules_options {
    const char *rule;                           /* NULL: the one that suits the model */
    double sample_threshold, feature_threshold; /* of the rules that have them */
    int64_t best;                               /* 0: all */
    double level;                               /* of the test rule; 0: by the features */
} rb_modules_options;

/* ---- modules ---- */

/* ---- what a unit is (role.c) ---- */

/* Those that are no module come last. */
typedef enum rb_unit_role {
    RB_UNIT_MODULE,
    RB_UNIT_OTHER_SIDE, /* of a unit whose codes have signs */
    RB_UNIT_SPARE,
    RB_UNIT_BACKGROUND
} rb_unit_role;

/* Of the sizes of numbers: how many are not 0, the sums of their powers, the largest square. */
typedef struct rb_powers {
    double active, size, square, cube, fourth, largest;
} rb_powers;

void rb_powers_add(rb_powers *powers, double size);
/* What the best block of so many samples and features of white noise has. */
double rb_block_of_noise(double rows, int64_t n_samples, double columns, int64_t n_features);
/* What a unit that is fitted to noise has at most, about (scores.c). */
double rb_fit_of_noise(double rows, int64_t n_samples, double columns, int64_t n_features);
/* Has a unit hardly more than one sample? */
bool rb_is_single(const rb_powers *codes);
/* Do so many samples have a unit, and so evenly, as have a mirror of modules? */
bool rb_may_mirror(const rb_powers *codes, int64_t n_samples);
/* Module, spare or background, by codes that are 0 or above and should mostly be 0, and by loadings
 * divided by the standard deviation of the noise. */
rb_unit_role rb_role_of(const rb_powers *codes, int64_t n_samples, const rb_powers *loadings,
                        int64_t n_features);

/* What is known of a module besides. */
typedef struct rb_module_note {
    double score; /* what it is ranked by; 0: read from a file */
    rb_unit_role role;
} rb_module_note;

struct rb_modules {
    rb_module *list;
    rb_module_note *notes; /* one per module; NULL: nothing is known */
    int64_t count;
    int64_t
        tested; /* list and notes have so many: those behind `count` are not shown, since `best` is
                       less, but belong to the family of every test */
    char *rule; /* by which members were found; NULL: read from a file */
    int64_t n_samples, n_features; /* of the data they are of, before selection; 0: not known */
    rb_significance *significance; /* one per module, or NULL */
    char *nulls;                   /* what it is about, as a sentence */
    int64_t permutations;          /* that it is of */
    bool stopped;                  /* fewer than were asked for: the program asked to stop */
    int64_t *column_of; /* of each feature in use its column in the data; NULL: its own index */
};

/* A list of empty modules; their members are filled in with rb_alloc'ed arrays, which it owns. */
rb_error rb_modules_new(rb_context *ctx, int64_t count, rb_modules **modules);

/* Makes a spare unit a module, in the order of scores. */
void rb_modules_promote(rb_modules *modules, int64_t rank);

/* Takes a module out, of those that are tested. */
void rb_modules_remove(rb_modules *modules, int64_t rank);

/* The column in the data of a feature that a module names. */
int64_t rb_modules_column(const rb_modules *modules, int64_t feature);

/* Largest |weight| first; of equal ones the smallest index. */
void rb_members_sort(rb_member *members, int64_t count);

/* ---- rules ---- */

typedef enum rb_rule_kind {
    RB_RULE_NONZERO,
    RB_RULE_FABIA,
    RB_RULE_ACTIVE,
    RB_RULE_TOP,
    RB_RULE_MASS,
    RB_RULE_TEST
} rb_rule_kind;

typedef struct rb_rule {
    rb_rule_kind kind;
    int64_t top;  /* top: how many */
    double share; /* mass: of the sum of squares, above 0 and at most 1 */
} rb_rule;

/* "nonzero", "fabia", "active", "test", "top:20", "mass:0.9"; RB_ERROR_ARGUMENT for anything else.
 */
rb_error rb_rule_parse(rb_context *ctx, const char *text, rb_rule *rule);

/* How many of the sorted members stay: `top` and `mass` cut, the others keep all. */
int64_t rb_rule_cut(const rb_rule *rule, const rb_member *members, int64_t count);

/* ---- finding ---- */

/* Least squares on codes, with a constant: where units are groups that share all samples among
 * them, the two cannot be told apart. So where data are centred by the median it takes more
 * samples, at most a fifth and 20, that rest: as if their codes were 0 and their values medians. */
double rb_resting_samples(const rb_model *model, int64_t n_samples);

/* What modules are found in. */
typedef struct rb_modules_input {
    int64_t n_features, n_units;
    const double *loadings; /* n_features x n_units */
    const double *noise;    /* n_features, variances */
    bool probabilities;     /* codes are those that causes are active, or means of their values */
    double halfway;         /* above which a cause is active; 0: 1/2, of binary causes */
    bool valued;            /* causes have values besides 0 and 1 */
    bool chances;           /* codes are those that units are on, as in an rbm: 1/2 says nothing */
    bool sparse_loadings;
    bool sparse_codes;   /* the method sees to it that codes are mostly 0 */
    bool recurring;      /* units are those of a consensus */
    double resting;      /* rb_resting_samples */
    const double *scale; /* n_units: fabia's factors are codes times it; NULL: another method */
    /* Hands the codes (n_samples x n_units) to fn block by block, as rb_encode does. */
    rb_error (*walk)(void *state, rb_context *ctx, rb_rows_fn fn, void *user);
    /* The same with the preprocessed samples, for the test rule. */
    rb_error (*walk_blocks)(void *state, rb_context *ctx, rb_block_fn fn, void *user);
    void *state;
} rb_modules_input;

/* The information of every unit, by which all rules but test rank; of one that is not active 0. */
rb_error rb_unit_information(rb_context *ctx, const rb_model *model, rb_source *source,
                             double *information);
rb_error rb_information_of(rb_context *ctx, const rb_modules_input *input, double *information);

/* Codes of more bytes than this are not kept by who could do without. */
#define RB_KEPT_BYTES (INT64_C(1) << 30)
/* rb_unit_information and rb_modules_find of codes that others use as well. */
rb_error rb_encoded_information(rb_context *ctx, rb_encoded *kept, double *information);
rb_error rb_encoded_modules(rb_context *ctx, rb_encoded *kept, const rb_options *options,
                            rb_modules **modules);

/* "units 3, 7-": the modules of which that is so, as messages call them, each with its note, and
 * how many more there are; false: it is so of none. */
typedef bool rb_module_picks(const void *user, int64_t rank, char note[16]);
bool rb_modules_say(rb_context *ctx, const rb_modules *modules, rb_module_picks *picks,
                    const void *user, char *text, size_t size);

/* Units that follow the level of the samples, and modules of shallow or deep ones, by blocks that
 * somebody else goes through (levels.c): rb_levels_add is called with each where `of_means` or
 * `totals` are there, then rb_levels_tell, which says so and sets the metric units_of_level;
 * modules may be NULL. rb_levels_end in any case. */
typedef struct rb_levels {
    rb_scratch scratch;
    const rb_model *model;
    bool sparse, rotates; /* the data are; permutations can rotate them: set by who begins */
    int64_t n_units, n_samples;
    rb_total sums;
    double *of_means;                    /* 1 of each sample, its mean, the square of that */
    double *codes, *code_squares, *both; /* n_units: of codes, and of codes times means */
    double *totals;                      /* n_samples; NULL: they were not scaled to one */
    rb_dense row;
} rb_levels;
rb_error rb_levels_begin(rb_context *ctx, const rb_model *model, int64_t n_samples,
                         rb_levels *levels);
rb_error rb_levels_add(void *levels, const rb_block *block, const rb_matrix *codes);
rb_error rb_levels_tell(rb_context *ctx, const rb_levels *levels, const rb_modules *modules,
                        rb_metrics *metrics);
rb_error rb_levels_end(rb_levels *levels);

rb_error rb_modules_extract(rb_context *ctx, const rb_modules_input *input,
                            const rb_modules_options *options, rb_modules **modules);

/* ---- members by a test (members_test.c) ---- */

/* Sums over samples for a least-squares fit of every feature to the codes of all units. */
typedef struct rb_refit rb_refit;
rb_error rb_refit_new(rb_context *ctx, int64_t n_features, int64_t n_units, double resting,
                      rb_refit **refit); /* resting: rb_resting_samples */
void rb_refit_free(rb_refit *refit);     /* NULL is accepted */
rb_error rb_refit_add(rb_context *ctx, rb_refit *refit, const rb_block *block,
                      const rb_matrix *codes);
/* Are all values there? */
bool rb_refit_complete(const rb_refit *refit);
/* The correlation of the codes of two units. */
double rb_refit_correlation(const rb_refit *refit, int64_t a, int64_t b);
/* The variance of a feature. */
double rb_refit_variance(const rb_refit *refit, int64_t feature);
/* Degrees of freedom that so many units leave. */
int64_t rb_refit_freedom(const rb_refit *refit, int64_t n_units);

/* The units that are active anywhere: of a fit they are all together. */
typedef struct rb_tested_units {
    int64_t count;
    const int64_t *index; /* in the model */
    const double *rms;    /* of their codes, above 0 */
    double root;          /* the size of a typical entry of one unit's part of the data */
} rb_tested_units;

/* Of each feature k and the j-th unit, at k * units->count + j. */
typedef struct rb_membership {
    bool *sure;    /* by the false discovery rate */
    bool *belongs; /* by that, or by two groups; NULL: not asked */
} rb_membership;

/* Needs at least one degree of freedom. RB_ERROR_DATA: values are missing. */
rb_error rb_refit_features(rb_context *ctx, const rb_refit *refit, const rb_tested_units *units,
                           double level, rb_membership *out);

/* A refit to codes that are found anew, while samples are added, from the features that belong: it
 * gets the codes of the model, as the first one did. Of units without features codes stay what they
 * are. */
rb_error rb_refit_recode(rb_context *ctx, const rb_refit *first, const rb_tested_units *units,
                         const bool *belongs, bool nonnegative, rb_refit **refit);
/* The root mean square of a unit's codes. */
double rb_refit_rms(const rb_refit *refit, int64_t unit);
/* The information of such codes, and that of them about the features of a unit (`sure`). */
double rb_recoded_information(const rb_refit *refit, const rb_tested_units *units, int64_t j,
                              const bool *sure);
/* Posterior standard deviations of codes of mean square 1, one per unit. */
rb_error rb_posterior_deviations(rb_context *ctx, const rb_modules_input *input,
                                 const rb_tested_units *units, double *deviations);
/* size: of the codes of the samples that have the unit, sum_i z_i^2 / sum_i |z_i|. */
bool rb_sample_belongs(double z, double size, double deviation, double level);

/* ---- what units tell of normal scores (scores.c) ---- */

/* Of the units, whose indices it refers to, and the data that the refit is of. First
 * rb_scores_note with each block, rb_scores_begin with the features of each unit, then
 * rb_scores_add with each block. */
typedef struct rb_scores rb_scores;
rb_error rb_scores_new(rb_context *ctx, const rb_refit *refit, const rb_tested_units *units,
                       rb_scores **scores);
void rb_scores_free(rb_scores *scores); /* NULL is accepted */
rb_error rb_scores_note(rb_scores *scores, const rb_block *block);
rb_error rb_scores_begin(rb_context *ctx, rb_scores *scores, const rb_modules_input *input,
                         const bool *belongs);
rb_error rb_scores_add(rb_context *ctx, rb_scores *scores, const rb_block *block,
                       const rb_matrix *codes);
/* Of the j-th unit, over what noise may tell: a module has more than 1. */
double rb_scores_share(const rb_scores *scores, int64_t j, const rb_powers *codes);

/* ---- assignment ---- */

/* Gives each row a column of its own, and each column at most one row, so that the sum of
 * gain[row * columns + column] is largest. A row that goes empty (rows > columns) gets -1. */
rb_error rb_assign(rb_context *ctx, int64_t rows, int64_t columns, const double *gain,
                   int64_t *column_of);
/* The same in memory of the caller, of so many bytes. */
int64_t rb_assign_size(int64_t rows, int64_t columns);
void rb_assign_in(void *memory, int64_t rows, int64_t columns, const double *gain,
                  int64_t *column_of);

typedef enum rb_signs { RB_SIGNS_KEEP = 0, RB_SIGNS_IGNORE, RB_SIGNS_AUTO } rb_signs;

typedef struct rb_replication_options {
    int64_t permutations, seed;
    int signs; /* rb_signs */
} rb_replication_options;

/* ---- columns (columns.c) ---- */

/* The Pearson correlation of two columns, strides apart; NaN: one does not vary. */
double rb_correlation(int64_t count, const double *x, int64_t x_stride, const double *y,
                      int64_t y_stride);
/* Makes the length of a column 1, less its mean or as it is; false: nothing is left of it, and it
 * becomes 0. */
bool rb_normalise(int64_t count, double *x, int64_t stride, bool centre);

/* ---- classes ---- */

/* The classes of n samples by name, "" for none. On failure there is nothing to clear. */
rb_error rb_classes_of(rb_context *ctx, const char *const *class_of, int64_t n,
                       rb_classes *classes);
/* The places of classes among those of `all`, which has them all, in the same order. */
rb_error rb_classes_take_places(rb_context *ctx, const rb_classes *all, rb_classes *classes);
/* Are there classes to compare? A warning says where there is one alone, or none. */
bool rb_classes_differ(rb_context *ctx, const rb_classes *classes);

/* Every sample of the modules must be one of so many. */
rb_error rb_modules_check_samples(rb_context *ctx, const rb_modules *modules, int64_t n_samples);

/* Counts a module's samples by class; how many have one. */
int64_t rb_count_classes(const rb_classes *labels, const rb_module *module, int64_t *counts);

/* Natural logarithm of P(X >= overlap), X the number of marked ones among `drawn` of `population`,
 * of which `marked` are marked. log_factorial[0 .. population]. */
double rb_log_hypergeometric_tail(const double *log_factorial, int64_t population, int64_t marked,
                                  int64_t drawn, int64_t overlap);

/* ---- tails of distributions, as natural logarithms (tails.c) ---- */

double rb_log_normal_tail(double z);                              /* P(Z > z) */
double rb_log_chi_square_tail(double chi_square, double degrees); /* P(X > chi_square) */
double rb_log_student_tail(double t, double degrees);             /* P(|T| > |t|) */

/* ---- sums of ranks (ranks.c) ---- */

typedef struct rb_ranked {
    double value;
    int64_t index;
} rb_ranked;

typedef struct rb_rank_part {
    int64_t count;
    double mean, variance; /* of their ranks */
} rb_rank_part;

/* The ranks of a list of numbers, and what their sums are compared with. */
enum { RB_RANKING_EXACT = 8 };
typedef struct rb_ranking {
    rb_context *ctx;
    int64_t n;
    rb_ranked *order;                /* smallest first */
    double *ranks;                   /* from 1; equal ones share the mean of theirs */
    double ties;                     /* sum of t^3 - t over t equal numbers each */
    rb_rank_part below, most, above; /* around the value that most of the numbers have */
    double *log_factorial;           /* log 0! .. log n! */
    double *exact[RB_RANKING_EXACT + 1];
    int64_t exact_n;
} rb_ranking;

/* Memory for up to n numbers; to be cleared, unless it could not be had. */
rb_error rb_ranking_begin(rb_context *ctx, rb_ranking *ranking, int64_t n);
void rb_ranking_clear(rb_ranking *ranking);
/* Ranks n numbers, none of which is NaN; n at most what there is memory for. */
void rb_ranking_set(rb_ranking *ranking, const double *values, int64_t n);
/* The natural logarithm of the two-sided p-value of `size` of them, whose ranks have that sum; NaN
 * where there is nothing to compare: all are marked, none is, or all numbers are equal. */
rb_error rb_ranking_test(rb_ranking *ranking, int64_t size, double sum, double *log_p);
/* The probability that of a marked number and another the marked one is larger; equal: half. */
double rb_ranking_auc(const rb_ranking *ranking, int64_t size, double sum);
/* Do groups differ, by the sum of the ranks of each and how many it has? At least two are not
 * empty, and the numbers are not all equal. H, and the logarithm of its p-value. */
double rb_ranking_groups(const rb_ranking *ranking, int64_t n_groups, const double *rank_sums,
                         const double *counts, double *log_p);

/* ---- many tests (discoveries.c, chances.c) ---- */

/* The false discovery rates of p-values, or the logarithms of both, for a family of `tests`; those
 * that are not among the count, where that is less, have p-value 1. NaN stays, and is no test. */
rb_error rb_false_discovery(rb_context *ctx, const double *p, bool logarithms, int64_t count,
                            int64_t tests, double *fdr);

/* Rows that hold what tests say, as numbers one behind the other. */
typedef struct rb_chance_rows {
    double *first; /* number of the first row */
    size_t size;   /* of a row, in bytes */
    int64_t count;
} rb_chance_rows;
double *rb_chance_row(const rb_chance_rows *rows, int64_t row);
/* The p-value, its decimal logarithm, the false discovery rate and its logarithm of each row, from
 * the natural logarithms of p-values that are second in it. */
rb_error rb_chances_adjust(rb_context *ctx, const rb_chance_rows *rows, int64_t tests);

/* Values of units in the data, NaN for one that has none, and in permuted data: the larger the
 * rarer. */
typedef struct rb_chances {
    int64_t permutations;
    const double *observed; /* one per row */
    const double *permuted; /* permutations x rows */
} rb_chances;
/* The p-value, the family-wise one and the false discovery rate of each row; NaN where nothing was
 * observed. */
rb_error rb_chances_find(rb_context *ctx, const rb_chances *chances, const rb_chance_rows *rows);

/* ---- sets of features (sets.c, sets_match.c) ---- */

struct rb_feature_sets {
    rb_buffer text;   /* the words, each with its 0 */
    rb_buffer words;  /* int64_t: where each begins */
    rb_buffer starts; /* int64_t: of each set its first word, which is its name */
    int64_t n_text, n_words, count;
};
int64_t rb_feature_sets_size(const rb_feature_sets *sets, int64_t set);
const char *rb_feature_sets_member(const rb_feature_sets *sets, int64_t set, int64_t member);

typedef struct rb_sets_options {
    int64_t min, max; /* features in use of a set */
} rb_sets_options;

/* The sets that are tested: which they are, and their features in use. */
typedef struct rb_set_members {
    int64_t count;
    int64_t *set;      /* of each its place in the list */
    int64_t *start;    /* count + 1 */
    rb_buffer feature; /* int64_t: start[s] .. start[s + 1] - 1 are those of set s */
    int64_t n_small, n_large;
} rb_set_members;

/* On failure there is nothing to clear. */
rb_error rb_sets_match(rb_context *ctx, const rb_model *model, const rb_feature_sets *sets,
                       const rb_sets_options *options, rb_set_members *members);
void rb_set_members_clear(rb_set_members *members);

/* ---- tables (tables.c) ---- */

/* The value of a column that counts the rows. */
rb_value rb_row_number(const rb_table *table, int64_t row, const rb_table_column *column);

/* ---- covariates (covariates.c) ---- */

typedef struct rb_covariate {
    char *name;
    double *values;    /* NaN: missing; NULL: it is groups */
    rb_classes groups; /* empty: it is numbers */
    int64_t missing;
} rb_covariate;

struct rb_covariates {
    int64_t n_samples, count;
    rb_buffer columns; /* rb_covariate */
};
rb_covariate *rb_covariates_column(const rb_covariates *table, int64_t covariate); /* or NULL */
/* Are they codes of the samples of the table? */
rb_error rb_codes_check(rb_context *ctx, const rb_covariates *table, const rb_matrix *codes);

#pragma GCC visibility pop
