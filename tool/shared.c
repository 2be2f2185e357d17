/* Options and steps that several commands share. */
#include "tool.h"

#include <rarebit/method.h>

#include <float.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct general_options {
    int64_t threads;
    double max_expansion;
    double min_shared;
    bool quiet;
} general_options;

const rb_option_group *general_group(void) {
    static const rb_option table[] = {
        {"threads", 0, RB_OPTION_INTEGER, offsetof(general_options, threads), "0", 0, 1024, NULL,
         "N", "number of threads; 0 is one per processor; results are the same for any number"},
        {"max-expansion", 0, RB_OPTION_NUMBER, offsetof(general_options, max_expansion), "1000",
         DBL_MIN, DBL_MAX, NULL, "TIMES",
         "limit memory per file to this multiple of its size; files below 256 kB count as 256 kB"},
        {"min-shared", 0, RB_OPTION_NUMBER, offsetof(general_options, min_shared), "0.1", 0, 1,
         NULL, "SHARE",
         "refuse data with less than this share of the model's features by name; missing features "
         "are set to their training centre"},
        {"quiet", 'q', RB_OPTION_FLAG, offsetof(general_options, quiet), "false", 0, 0, NULL, NULL,
         "report only warnings and errors", RB_OPTION_COMMON},
        {0},
    };
    static const rb_option_group group = {sizeof(rb_option), "General", table,
                                          sizeof(general_options)};
    return &group;
}

rb_error apply_general_options(const invocation *call) {
    const general_options *general = rb_options_fields(call->options, general_group());
    if (!general) return RB_OK;
    report_quietly(general->quiet);
    int threads = general->threads > 0 ? (int)general->threads : processes_threads();
    rb_error err = rb_context_set_threads(call->ctx, threads);
    err = err ? err : rb_context_set_max_expansion(call->ctx, general->max_expansion);
    return err ? err : rb_context_set_min_shared(call->ctx, general->min_shared);
}

const rb_option_group *matrix_output_group(void) {
    static const rb_option table[] = {
        {OUTPUT_OPTION, "FILE",
         "where to write: .npy, .tsv, .csv (also .gz), .h5 or .h5ad; - is standard output",
         RB_OPTION_COMMON},
        {"format", 0, RB_OPTION_CHOICE, 0, "tsv", 0, 0, "tsv|csv|npy", "FORMAT",
         "format on standard output"},
        {0},
    };
    static const rb_option_group group = {sizeof(rb_option), "Output", table};
    return &group;
}

const rb_option_group *path_group(void) {
    static const rb_option table[] = {
        {OUTPUT_OPTION, "FILE", "where to write", RB_OPTION_COMMON},
        {0},
    };
    static const rb_option_group group = {sizeof(rb_option), "Output", table};
    return &group;
}

const rb_option_group *json_group(void) {
    static const rb_option table[] = {
        {FLAG_OPTION("json"), "print JSON instead of a table", RB_OPTION_COMMON},
        {0},
    };
    static const rb_option_group group = {sizeof(rb_option), "Output", table};
    return &group;
}

const rb_option_group *coding_group(void) {
    static const rb_option table[] = {
        {"missing", 0, RB_OPTION_CHOICE, 0, "fit", 0, 0, "fit|model|omit", "HOW",
         "missing values: as the fit did, or leave them out of the likelihood (model, or omit)"},
        {"estep-tolerance", 0, RB_OPTION_NUMBER, 0, "3e-6", 0, 1, NULL, "T",
         "tolerance of the codes of an rfn model of any E-step but newton; as in the fit when not "
         "given"},
        {0},
    };
    static const rb_option_group group = {sizeof(rb_option), "Codes", table};
    return &group;
}

const rb_option_group *covariates_group(void) {
    static const rb_option table[] = {
        {TEXT_OPTION("covariates"), "TABLE",
         "table of covariates of these samples, for a model fitted with --regress, with a header "
         "and sample names, or .h5ad; obs:, or nothing, is the data's own file"},
        {0},
    };
    static const rb_option_group group = {sizeof(rb_option), "Codes", table};
    return &group;
}

const option_group data_groups[] = {coding_group, covariates_group, rb_read_group, NULL};

static rb_error set_estep_tolerance(const invocation *call, rb_model *model) {
    char text[64];
    const rb_method *method = rb_model_table(model);
    if (!method->iterates || !method->iterates(model)) {
        return fail(call->ctx, RB_ERROR_ARGUMENT,
                    "`estep-tolerance` does nothing for a model of %s, whose codes take no "
                    "iterations; leave it out",
                    method->name);
    }
    rb_options_get(call->options, "estep-tolerance", text, sizeof text);
    return rb_model_set_attribute(call->ctx, model, "estep-tolerance", text);
}

bool leaves_missing(const invocation *call) {
    return option_is(call, "missing", "omit") || option_is(call, "missing", "model");
}

const rb_option_group *layer_group(void) {
    static const rb_option table[] = {
        {"layer", 0, RB_OPTION_INTEGER, 0, "0", 0, RB_STACK_LAYERS_MAX, NULL, "N",
         "use only the first N layers of a stack (0: all)"},
        {0},
    };
    static const rb_option_group group = {sizeof(rb_option), "Layers", table};
    return &group;
}

rb_error cut_layers(const invocation *call, rb_model **model) {
    rb_model *cut = NULL;
    if (!option_was_given(call, "layer") || option_is(call, "layer", "0")) return RB_OK;
    rb_error err = rb_stack_cut(call->ctx, *model, option_integer(call, "layer"), &cut);
    if (!err) {
        rb_model_free(*model);
        *model = cut;
    }
    return err;
}

rb_error load_model(const invocation *call, rb_model **model) {
    rb_error err = rb_model_load(call->ctx, call->arguments[0], model);
    err = err ? err : cut_layers(call, model);
    if (!err && leaves_missing(call)) err = rb_model_omit_missing(call->ctx, *model);
    if (!err && option_was_given(call, "estep-tolerance")) err = set_estep_tolerance(call, *model);
    return err;
}

/* A table of text can lie either way, and nothing in it tells. A model knows the names or number of
 * its features, and refuses others: only a square table without names could still lie either way.
 */
static bool may_lie_either_way(const rb_model *model, const rb_source *source) {
    const char *format = rb_source_format(source);
    bool text = strcmp(format, "delimited") == 0 || strcmp(format, "mtx") == 0;
    bool named = model && rb_model_feature_name(model, 0) && rb_source_feature_name(source, 0);
    bool square = rb_source_samples(source) == rb_source_features(source);
    return text && (!model || (square && !named));
}

/* Are these data that the model could take? By the name of a feature, or by their number. */
static bool is_taken(const rb_model *model, const rb_source *source) {
    enum { LOOKED = 20 };
    bool named = rb_model_feature_name(model, 0) && rb_source_feature_name(source, 0);
    if (!named) return rb_source_features(source) == rb_model_inputs(model);
    for (int64_t j = 0; j < LOOKED && j < rb_model_features(model); j++)
        for (int64_t k = 0; k < rb_source_features(source); k++)
            if (strcmp(rb_model_feature_name(model, j), rb_source_feature_name(source, k)) == 0)
                return true;
    return false;
}

/* How the data of the fit were read, unless the call says how; or NULL. */
static const char *as_fitted(const invocation *call, const rb_model *model, const char *option) {
    char name[64];
    snprintf(name, sizeof name, READING_ATTRIBUTE "%s", option);
    return model && !option_was_given(call, option) ? rb_model_attribute(model, name) : NULL;
}

/* Data lie as those of the fit did, unless the call says how, or only the other way is taken. */
static rb_error open_turned(const invocation *call, const rb_model *model, const char *path,
                            rb_source **source, bool *turned) {
    const char *was = as_fitted(call, model, "transpose");
    *turned = was && strcmp(was, "true") == 0;
    if (*turned) {
        rb_error err = rb_options_set(call->ctx, call->options, "transpose", "true");
        err = err ? err : rb_open(call->ctx, path, call->options, source);
        rb_error unset = rb_options_unset(call->ctx, call->options, "transpose");
        if (unset || (err && err != RB_ERROR_UNSUPPORTED)) return err ? err : unset;
        if (!err && is_taken(model, *source)) return RB_OK;
        if (!err) rb_source_free(*source);
        *turned = false;
    }
    return rb_open(call->ctx, path, call->options, source);
}

/* And of HDF5 from the data set of the fit; dataset: that, or NULL. */
static rb_error open_as_fitted(const invocation *call, const rb_model *model, const char *path,
                               rb_source **source, bool *turned, const char **dataset) {
    *dataset = as_fitted(call, model, "dataset");
    if (!*dataset) return open_turned(call, model, path, source, turned);
    rb_error err = rb_options_set(call->ctx, call->options, "dataset", *dataset);
    err = err ? err : open_turned(call, model, path, source, turned);
    rb_error unset = rb_options_unset(call->ctx, call->options, "dataset");
    if (!err || unset) return err ? err : unset;
    if (err != RB_ERROR_ARGUMENT) {
        char text[1280];
        snprintf(text, sizeof text, "the fit read '%s'; to read another one use --dataset",
                 *dataset);
        report_log(RB_LOG_WARNING, text, NULL);
        return err;
    }
    *dataset = NULL; /* other files have none */
    return open_turned(call, model, path, source, turned);
}

rb_error open_data(const invocation *call, const rb_model *model, const char *path,
                   rb_source **source) {
    bool turned;
    const char *dataset;
    rb_error err = open_as_fitted(call, model, path, source, &turned, &dataset);
    if (err) return err;
    if (dataset) report("'%s' is read, as in the fit; to read another one use --dataset", dataset);
    bool unsure = !option_was_given(call, "transpose") && may_lie_either_way(model, *source);
    report("%lld samples x %lld features%s", (long long)rb_source_samples(*source),
           (long long)rb_source_features(*source),
           turned   ? " (transposed, as the data of the fit; if not, use --no-transpose)"
           : unsure ? " (rows are samples; if they are features, use --transpose)"
                    : "");
    return RB_OK;
}

void put_reading(FILE *file, const invocation *call) {
    for (const rb_option *row = rb_read_group()->rows; row->name; row++) {
        char value[4096];
        bool flag = row->kind == RB_OPTION_FLAG;
        if (!option_was_given(call, row->name) || (flag && !option_flag(call, row->name))) continue;
        rb_options_get(call->options, row->name, value, sizeof value);
        fprintf(file, " --%s%s", row->name, flag ? "" : "=");
        if (!flag) put_word(file, value);
    }
}

int with_model_and_data(invocation *call,
                        rb_error (*check)(const invocation *call, const rb_model *model),
                        int (*work)(invocation *call, rb_model *model, rb_source *source)) {
    rb_model *model = NULL;
    rb_source *source = NULL;
    /* What pictures of the model alone are given besides is not read. */
    bool data =
        !call->command->arguments[1].optional || (call->arguments[1] && !call->command->plot);
    rb_error err = load_model(call, &model);
    err = err || !check ? err : check(call, model);
    err = err || !data ? err : open_data(call, model, call->arguments[1], &source);
    if (!err && data) err = read_covariates(call, rb_model_attribute(model, "regress"), source);
    int status = err ? report_failure(call->ctx, err) : work(call, model, source);
    rb_source_free(source);
    rb_model_free(model);
    return status;
}

int finish_output(const invocation *call, output *out, rb_error err) {
    return output_end(out, report_failure(call->ctx, err));
}
