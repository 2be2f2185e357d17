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
struct gathered {
    int64_t n_samples, units;
    rb_type type;
    void *values; /* n_samples x units; allocated by the first block, which tells the type */
    bool out_of_memory;
};

static bool gather_start(struct gathered *g, rb_type type) {
    g->type = type;
    g->values = calloc((size_t)(g->n_samples * g->units) + 1,
                       type == RB_FLOAT32 ? sizeof(float) : sizeof(double));
    g->out_of_memory = !g->values;
    return g->values != NULL;
}

static int gather_rows(void *user, int64_t first, const rb_matrix *rows) {
    struct gathered *g = user;
    if (!g->values && !gather_start(g, rb_matrix_type(rows))) {
        return 1;
    }
    for (int64_t i = 0; i < rb_matrix_samples(rows); i++) {
        for (int64_t j = 0; j < g->units; j++) {
            int64_t index = (first + i) * g->units + j;
            double value = rb_matrix_at(rows, i, j);
            if (g->type == RB_FLOAT32) {
                ((float *)g->values)[index] = (float)value;
            } else {
                ((double *)g->values)[index] = value;
            }
        }
    }
    return 0;
}

static rb_error annotate(invocation *call, const rb_model *model, rb_source *source,
                         const char *target) {
    const anndata_options *to = options_of(call, anndata_group());
    struct gathered g = {.n_samples = rb_source_samples(source), .units = rb_model_units(model)};
    rb_matrix *codes = NULL;
    rb_error err = rb_encode(call->ctx, model, source, gather_rows, &g);
    if (!err) {
        err =
            rb_matrix_dense(call->ctx, g.type, g.n_samples, g.units, g.values, g.units, 1, &codes);
    }
    if (!err) {
        err = rb_model_annotate_as(call->ctx, model, codes, to->key, call->arguments[1], target);
    }
    rb_matrix_free(codes);
    free(g.values);
    return g.out_of_memory ? RB_ERROR_MEMORY : err;
}

static int run_annotate(invocation *call, const char *target) {
    rb_model *model = NULL;
    rb_source *source = NULL;
    output out;
    int status = output_begin(&out, target, "h5ad");
    if (status) {
        return status;
    }
    const anndata_options *to = options_of(call, anndata_group());
    rb_error err = load_model(call, &model);
    if (!err && !to->overwrite) {
        err = rb_model_annotate_check(call->ctx, model, to->key, call->arguments[1]);
    }
    if (!err) {
        err = open_data(call, model, call->arguments[1], &source);
    }
    if (!err) {
        err = annotate(call, model, source, out.path);
    }
    rb_source_free(source);
    if (err) {
        status = report_failure(call->ctx, err);
        output_abandon(&out);
    } else {
        status = output_end(&out);
    }
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

static int write_state(void *user, int64_t sample, double log_evidence, int64_t count,
                       const int64_t *causes) {
    FILE *file = user;
    (void)sample;
    fprintf(file, "%.17g", log_evidence);
    for (int64_t k = 0; k < count; k++) {
        fprintf(file, "\t%lld", (long long)causes[k]);
    }
    putc('\n', file);
    return interrupted() || ferror(file);
}

static rb_error write_states(invocation *call, FILE *file) {
    rb_model *model = NULL;
    rb_source *source = NULL;
    rb_error err = load_model(call, &model);
    if (!err) {
        err = open_data(call, model, call->arguments[1], &source);
    }
    if (!err) {
        err = rb_et_map(call->ctx, model, source, write_state, file);
    }
    rb_source_free(source);
    rb_model_free(model);
    return err;
}

/* Writes the states where they are to wait for the codes; output_end lets them appear. */
static int prepare_states(invocation *call, const char *target, output *out) {
    int status = output_begin_own(out, call->ctx, target, "tsv");
    if (status) {
        return status;
    }
    FILE *file = fopen(out->path, "w");
    rb_error err = file ? write_states(call, file) : RB_OK;
    bool failed = !file || ferror(file);
    failed = (file && fclose(file) != 0) || failed;
    if (failed) {
        report_error("cannot write '%s': %s", target, strerror(errno ? errno : EIO));
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

static int run_codes(invocation *call, bool anndata) {
    const output_options *options = options_of(call, matrix_output_group());
    if (anndata) {
        return run_annotate(call, options->output);
    }
    return run_rows(call, rb_encode, names_of_units);
}

/* States and codes appear both, or neither: the states last, when only their name is missing. */
static int run(invocation *call) {
    const output_options *codes = options_of(call, matrix_output_group());
    const map_options *options = options_of(call, map_group());
    bool anndata = has_suffix(call->arguments[1], ".h5ad") && has_suffix(codes->output, ".h5ad");
    output states = {0};
    int status = anndata ? STATUS_DONE : refuse_anndata_options(call);
    if (!status && options->map) {
        status = prepare_states(call, options->map, &states);
    }
    if (status) {
        return status;
    }
    status = run_codes(call, anndata);
    if (status) {
        output_abandon(&states);
    } else if (options->map) {
        status = output_end(&states);
    }
    return status;
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
