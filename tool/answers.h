/* What modules and units stand for: known sets of features, classes, covariates. Of the command
 * `modules`. */
#ifndef TOOL_ANSWERS_H
#define TOOL_ANSWERS_H

#include "tool.h"

/* --gmt, --labels, --covariates and what belongs to them. */
const rb_option_group *answers_group(void);

/* What was asked for; the rest stays empty. */
typedef struct answers {
    const rb_model *model;
    const rb_modules *modules;
    rb_feature_sets *sets;
    rb_set_tests set_tests;
    rb_covariates *labels; /* one covariate */
    rb_enrichment classes;
    rb_group_aucs aucs;
    rb_covariates *covariates;
    rb_covariate_tests covariate_tests;
} answers;

/* What a module is called: "3", "3-" for the other side of its unit, "3 (background)". */
typedef struct unit_name {
    char text[40];
} unit_name;
unit_name name_of_unit(const rb_modules *modules, int64_t rank);

/* The class that a module goes with: most enriched, p at most 0.05 when corrected, and told by the
 * codes of the unit better than by chance, *auc on the side of the module. NULL: none, and NaN. */
const char *class_of_module(const answers *a, int64_t rank, double *auc);

json_t *json_of_overlap(const rb_group_auc *row); /* null: the unit has no module */

/* Is any of them asked for? */
bool answers_wanted(const invocation *call);
/* Refuses options that do nothing, and outputs of no known format. A status after a message. */
int answers_check(const invocation *call);
/* Reads and computes; to be cleared in any case. */
rb_error answers_find(invocation *call, rb_source *source, answers *a);
void answers_clear(answers *a);
/* The tables at the terminal, of what is not written to a file; or all of it added to JSON. */
void answers_print(const invocation *call, const answers *a);
void answers_add(json_t **to, const answers *a);
/* The files that were asked for: begins those that there are, and lets them appear if all went
 * well. A status after a message. */
enum { ANSWER_FILES = 3 };
int answers_begin(invocation *call, const answers *a, output files[ANSWER_FILES]);
int answers_end(output files[ANSWER_FILES], int status);

#endif
