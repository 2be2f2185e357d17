/* What `modules` and `report` tell: a document, and the files that it is asked with. */
#pragma once

#include "tool.h"

#include <rarebit/document.h>

/* --gmt, --labels, --covariates and what belongs to them. */
const rb_option_group *answers_group(void);

/* What was asked for; the rest stays empty. */
typedef struct answers {
    rb_document document;
    rb_feature_sets *sets;
    rb_covariates *labels, *blocks; /* one covariate each */
    rb_covariates *covariates;
} answers;

/* Is any of them asked for? */
bool answers_wanted(const invocation *call);
/* Refuses options that do nothing, and outputs of no known format. A status after a message. */
int answers_check(const invocation *call);
/* Reads the files and makes the document, whose with_... are set before; to be cleared in any
 * case. */
rb_error answers_find(invocation *call, const rb_model *model, rb_source *source, answers *a);
/* Of an interrupted command, whose permutations are fewer than were asked for. */
int answers_status(const invocation *call, const answers *a);
void answers_clear(answers *a);
/* The tables at the terminal, of what is not written to a file; or all of it added to JSON. */
void answers_print(const invocation *call, const answers *a);
void answers_add(json_t **to, const answers *a);
/* The files that were asked for: begins those that there are, and lets them appear if all went
 * well. A status after a message. */
enum { ANSWER_FILES = 3 };
int answers_begin(invocation *call, const answers *a, output files[ANSWER_FILES]);
int answers_end(output files[ANSWER_FILES], int status);
