/* rarebit encode: the codes of samples under a model, as a matrix or added to an AnnData file. */
#include "results.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static char **names_of_units(const rb_model *model, int64_t *columns) {
    *columns = rb_model_units(model);
    return unit_names(*columns);
}

typedef struct anndata_options {
    const char *key;
    bool overwrite;
} anndata_options;

static const rb_option_group *anndata_group(void) {
    static const rb_option table[] = {
        {"key", 0, RB_OPTION_TEXT, offsetof(anndata_options, key), NULL, 0, 0, NULL, "NAME",
         "name of the codes in obsm, and without X_ that of the loadings in varm and the settings "
         "in uns; "
         "X_rfn, X_mca and so on by the method when not given"},
        {"overwrite", 0, RB_OPTION_FLAG, offsetof(anndata_options, overwrite), "false", 0, 0, NULL,
         NULL, "replace what has this name in the input instead of refusing"},
        {0},
    };
    static const rb_option_group group = {sizeof(rb_option), "AnnData", table,
                                          sizeof(anndata_options), NULL};
    return &group;
}

/* ---- AnnData: codes are added to what is in the file ---- */

/* All codes in memory, since they are added in one piece. */
static rb_error annotate(invocation *call, const rb_model *model, rb_source *source,
                         const char *target) {
    const anndata_options *to = options_of(call, anndata_group());
    int64_t n = rb_source_samples(source), units = rb_model_units(model);
    rb_type type = rb_model_type(model);
    rb_matrix *codes = NULL;
    void *values =
        calloc((size_t)(n * units) + 1, type == RB_FLOAT32 ? sizeof(float) : sizeof(double));
    if (!values) {
        return rb_context_fail(call->ctx, RB_ERROR_MEMORY, "out of memory for the codes");
    }
    rb_error err = rb_encode_into(call->ctx, model, source, type, values, units, 1);
    if (!err) {
        err = rb_matrix_dense(call->ctx, type, n, units, values, units, 1, &codes);
    }
    if (!err) {
        err = rb_model_annotate_as(call->ctx, model, codes, to->key, call->arguments[1], target);
    }
    rb_matrix_free(codes);
    free(values);
    return err;
}

/* The result waits under a temporary name until the states are there, too. */
static int make_annotated(invocation *call, const rb_model *model, rb_source *source,
                          const char *target, companion *second) {
    output out = {0};
    int status = second ? output_begin_own(&out, call->ctx, target, "h5ad")
                        : output_begin(&out, target, "h5ad");
    if (!status && second) {
        status = second->prepare(call, model, source, &second->out);
    }
    if (!status) {
        rb_error err = annotate(call, model, source, out.path);
        status = err ? report_failure(call->ctx, err) : STATUS_DONE;
        companion_hold(second);
        if (!status) {
            status = output_end(&out);
        }
        status = companion_end(second, status);
    }
    output_abandon(&out);
    return status;
}

static int run_annotate(invocation *call, const char *target, companion *second) {
    rb_model *model = NULL;
    rb_source *source = NULL;
    const anndata_options *to = options_of(call, anndata_group());
    rb_error err = load_model(call, &model);
    if (!err && !to->overwrite) {
        err = rb_model_annotate_check(call->ctx, model, to->key, call->arguments[1]);
    }
    if (!err) {
        err = open_data(call, model, call->arguments[1], &source);
    }
    int status =
        err ? report_failure(call->ctx, err) : make_annotated(call, model, source, target, second);
    rb_source_free(source);
    if (!status) {
        report("%s with codes, loadings and settings added in %s", call->arguments[1], target);
    }
    rb_model_free(model);
    return status;
}

/* ---- most probable states ---- */

typedef struct map_options {
    const char *map;
} map_options;

static const rb_option_group *map_group(void) {
    static const rb_option table[] = {
        {"map", 0, RB_OPTION_TEXT, offsetof(map_options, map), NULL, 0, 0, NULL, "FILE",
         "write the most probable state of each sample (linca, nmf-et, mca): its log evidence, "
         "then "
         "the causes that are active, from 0"},
        {0},
    };
    static const rb_option_group group = {sizeof(rb_option), "States", table, sizeof(map_options),
                                          NULL};
    return &group;
}

static rb_error write_state(void *user, int64_t sample, double log_evidence, int64_t count,
                            const int64_t *causes) {
    FILE *file = user;
    (void)sample;
    fprintf(file, "%.17g", log_evidence);
    for (int64_t k = 0; k < count; k++) {
        fprintf(file, "\t%lld", (long long)causes[k]);
    }
    putc('\n', file);
    return interrupted() || ferror(file) ? RB_ERROR_INTERRUPTED : RB_OK;
}

/* companion.prepare: the states wait for the codes. */
static int prepare_states(invocation *call, const rb_model *model, rb_source *source, output *out) {
    const map_options *options = options_of(call, map_group());
    int status = output_begin_own(out, call->ctx, options->map, "tsv");
    if (status) {
        return status;
    }
    FILE *file = fopen(out->path, "w");
    rb_error err = file ? rb_et_map(call->ctx, model, source, write_state, file) : RB_OK;
    bool failed = !file || ferror(file);
    failed = (file && fclose(file) != 0) || failed;
    if (failed) {
        report_error("cannot write '%s': %s", options->map, strerror(errno ? errno : EIO));
        status = STATUS_FAILED;
    } else if (err) {
        status = report_failure(call->ctx, err);
    }
    if (status) {
        output_abandon(out);
    }
    return status;
}

static int check_output(const invocation *call, const char *option, const char *path) {
    return strcmp(option, "map") == 0
               ? refuse_other_format("--map", path, "states are written as text with tabs", ".tsv")
               : check_matrix_output(call, option, path);
}

/* ---- the command ---- */

/* Other outputs have no names for what is in them. */
static int refuse_anndata_options(const invocation *call) {
    for (const rb_option *row = anndata_group()->rows; row->name; row++) {
        if (option_was_given(call, row->name)) {
            report_error("--%s is for codes that go from AnnData to AnnData (.h5ad); leave it out",
                         row->name);
            return STATUS_USAGE;
        }
    }
    return STATUS_DONE;
}

static int run(invocation *call) {
    const output_options *codes = options_of(call, matrix_output_group());
    const map_options *options = options_of(call, map_group());
    bool anndata = has_suffix(call->arguments[1], ".h5ad") && has_suffix(codes->output, ".h5ad");
    companion states = {.prepare = prepare_states}, *second = options->map ? &states : NULL;
    int status = anndata ? STATUS_DONE : refuse_anndata_options(call);
    if (status) {
        return status;
    }
    return anndata ? run_annotate(call, codes->output, second)
                   : run_rows(call, rb_encode, names_of_units, second);
}

const command encode_command = {
    .words = "encode",
    .heading = "Use a model",
    .summary = "write the codes of samples: how active each unit is in each sample",
    .description =
        "The data may be new. They are preprocessed as the training data were; features are "
        "matched by name where model and data have names. Columns are unit0, unit1, ...; names of "
        "samples are kept. From AnnData to AnnData (.h5ad) the result is the input with the codes "
        "in obsm, the loadings in varm and the settings in uns; CODES may be the input itself, and "
        "what is in it under the same --key is replaced only with --overwrite.",
    .arguments = {{"MODEL", "a model that 'rarebit fit' wrote", false},
                  {"DATA", "samples x features, in any format that fit reads", false}},
    .output = "CODES",
    .groups = {matrix_output_group, anndata_group, map_group, coding_group, rb_read_group,
               general_group},
    .examples = {{"Codes for numpy", "encode model.h5 X.npy -o codes.npy"},
                 {"A table with names, for R or a spreadsheet",
                  "encode model.h5 genes.tsv --transpose -o codes.tsv"},
                 {"Codes and loadings into AnnData", "encode model.h5 cells.h5ad -o coded.h5ad"},
                 {"Beside the codes of another model",
                  "encode other.h5 coded.h5ad --key X_other -o coded.h5ad"},
                 {"Into a pipe", "encode model.h5 X.npy -o - | head"}},
    .writes = "output map",
    .check_output = check_output,
    .adds_to = ".h5ad",
    .run = run,
};
