/* Files of modules, and of sets of features. */
#pragma once

#include <rarebit/enrichment.h>
#include <rarebit/model.h>
#include <rarebit/modules.h>

/* Modules as JSON: {"modules":[{"samples":[0,4],"features":[1,2]},...]}, counted from 0; what
 * `simulate` writes as truth. Weights, units and names in the file are ignored: members have weight
 * 1 and ascend. RB_ERROR_FORMAT names module and entry. */
RB_API rb_error rb_modules_read(rb_context *context, const char *path, rb_modules **modules);

typedef enum rb_modules_format {
    RB_MODULES_TSV = 0,
    RB_MODULES_JSON,
    RB_MODULES_GMT
} rb_modules_format;

/* Writes modules; samples and features are the rows and columns of the data, from 0, also where
 * the model uses a selection of the features. Names are taken from model and source where they have
 * them (either may be NULL). The file appears whole or not at all. RB_ERROR_FILE (cannot be
 * written). */
RB_API rb_error rb_modules_write(rb_context *context, const rb_modules *modules,
                                 const rb_model *model, const rb_source *source,
                                 rb_modules_format format, const char *path);

/* Adds the sets of a GMT file, plain or gzip: in each line name, description, features, between
 * tabs. On failure the list stays as it was. RB_ERROR_FILE; RB_ERROR_FORMAT names the line, or
 * says that there is no set. */
RB_API rb_error rb_feature_sets_read(rb_context *context, const char *path, rb_feature_sets *sets);
