/* rarebit encode: the codes of samples under a model, as a matrix or added to an AnnData file. */
#include "tool.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static char *name_of_unit(const rb_model *model, int64_t unit) {
    char *name = NULL;
    (void)model;
    return asprintf(&name, "unit%lld", (long long)unit) < 0 ? NULL : name;
}

static const rb_option_group *anndata_group(void) {
    static const rb_option table[] = {
        {TEXT_OPTION("key"), "NAME",
         "name of the codes in obsm; without its X_ it names the loadings in varm and the settings "
         "in uns (default: X_rfn, X_mca and so on, by the method)",
         RB_OPTION_COMMON},
        {FLAG_OPTION("overwrite"), "replace what has this name in the input instead of refusing",
         RB_OPTION_COMMON},
        {0},
    };
    static const rb_option_group group = {sizeof(rb_option), "AnnData", table};
    return &group;
}

/* ---- AnnData: codes are added to what is in the file ---- */

/* All codes in memory, since they are added in one piece. */
static rb_error annotate(invocation *call, const rb_model *model, rb_source *source,
                         const char *target) {
    int64_t n = rb_source_samples(source), units = rb_model_units(model);
    rb_type type = rb_model_type(model);
    rb_matrix *codes = NULL;
    void *values =
        calloc((size_t)(n * units) + 1, type == RB_FLOAT32 ? sizeof(float) : sizeof(double));
    if (!values) return rb_context_fail(call->ctx, RB_ERROR_MEMORY, "out of memory for the codes");
    rb_error err = rb_encode_into(call->ctx, model, source, type, values, units, 1);
    err = err ? err : rb_matrix_dense(call->ctx, type, n, units, values, units, 1, &codes);
    if (!err && processes_lead())
        err = rb_model_annotate_as(call->ctx, model, codes, option_text(call, "key"),
                                   call->arguments[1], target);
    rb_matrix_free(codes);
    free(values);
    return err;
}

/* The result waits under a temporary name where there are states, too. */
static int write_annotated(invocation *call, const rb_model *model, rb_source *source,
                           output *second) {
    const char *target = option_text(call, "output");
    output out = {0};
    int status = second->target ? output_begin_own(&out, call->ctx, target, "h5ad")
                                : output_begin(&out, target, "h5ad");
    if (status) return output_end(second, status);
    rb_error err = annotate(call, model, source, out.path);
    pair_hold(second);
    status = pair_end(second, finish_output(call, &out, err));
    if (!status)
        report("%s with codes, loadings and settings added in %s", call->arguments[1],
               output_shown(target));
    return status;
}

/* Several files as one are not added to. */
static bool is_annotated(const invocation *call) {
    return has_suffix(call->arguments[1], ".h5ad") && !call->joined &&
           has_suffix(option_text(call, "output"), ".h5ad");
}

/* Is the name free, or may it be replaced? */
static rb_error check_key(const invocation *call, const rb_model *model) {
    bool any = !is_annotated(call) || option_flag(call, "overwrite");
    return any ? RB_OK
               : rb_model_annotate_check(call->ctx, model, option_text(call, "key"),
                                         call->arguments[1]);
}

/* ---- most probable states ---- */

static const rb_option map_options[] = {
    {TEXT_OPTION("map"), "FILE",
     "write the most probable state of each sample (linca, nmf-et, mca): its log evidence, "
     "then the active causes, from 0; with --values each as CAUSE=VALUE",
     RB_OPTION_COMMON},
    {0},
};

struct states {
    const rb_model *model;
    rb_source *source;
    FILE *file;
    bool valued; /* causes have more values than 0 and 1 */
};

static rb_error write_state(void *user, const rb_state *state) {
    const struct states *s = user;
    fprintf(s->file, "%.17g", state->log_evidence);
    for (int64_t k = 0; k < state->count; k++) {
        fprintf(s->file, "\t%lld", (long long)state->causes[k]);
        if (s->valued) fprintf(s->file, "=%.15g", state->values[k]);
    }
    putc('\n', s->file);
    return interrupted() || ferror(s->file) ? RB_ERROR_INTERRUPTED : RB_OK;
}

static rb_error put_states(rb_context *ctx, FILE *file, const void *of) {
    struct states s = *(const struct states *)of;
    s.file = file;
    return rb_states(ctx, s.model, s.source, write_state, &s);
}

/* The states wait for the codes. */
static int write_states(invocation *call, const rb_model *model, rb_source *source, output *out) {
    const char *values = rb_model_attribute(model, "values");
    const struct states states = {model, source, NULL, values && *values};
    return output_fill(out, call->ctx, option_text(call, "map"), put_states, &states);
}

/* ---- the command ---- */

static int encode(invocation *call, rb_model *model, rb_source *source) {
    output states = {0};
    bool maps = option_text(call, "map") && processes_lead();
    int status = maps ? write_states(call, model, source, &states) : STATUS_DONE;
    if (status) return status;
    row_maker codes = {rb_encode, rb_model_units(model), name_of_unit};
    return is_annotated(call) ? write_annotated(call, model, source, &states)
                              : write_rows(call, model, source, &codes, &states);
}

static int run(invocation *call) {
    static const option_group anndata[] = {anndata_group, NULL};
    rb_device *device = NULL;
    int status = is_annotated(call)
                     ? STATUS_DONE
                     : refuse_options(call, anndata,
                                      "is for codes that go from AnnData to AnnData (.h5ad); leave "
                                      "it out");
    status = status ? status : device_begin(call, &device);
    status = status ? status : with_model_and_data(call, check_key, encode);
    device_end(call, device);
    return status;
}

const command encode_command = {
    .words = "encode",
    .summary = "write the codes of samples",
    .description =
        "The data may be new. They are preprocessed as the training data were; features are "
        "matched by name where model and data have names. Columns are unit0, unit1, ...; names of "
        "samples are kept. From AnnData to AnnData (.h5ad) the result is the input with the codes "
        "in obsm, the loadings in varm and the settings in uns. CODES may be the input itself. "
        "Results under the same --key are replaced only with --overwrite.",
    .arguments = {MODEL_ARGUMENT, DATA_ARGUMENT},
    .output = "CODES",
    .own = {sizeof(rb_option), "States", map_options},
    .own_after = 3,
    .groups = {matrix_output_group, anndata_group, layer_group, coding_group, covariates_group,
               rb_read_group, device_group, general_group},
    .examples = {{"Codes for numpy", "encode model.h5 X.npy -o codes.npy"},
                 {"A table with names, for R or a spreadsheet",
                  "encode model.h5 genes.tsv --transpose -o codes.tsv"},
                 {"Codes and loadings into AnnData", "encode model.h5 cells.h5ad -o coded.h5ad"},
                 {"Beside the codes of another model",
                  "encode other.h5 coded.h5ad --key X_other -o coded.h5ad"},
                 {"Into a pipe", "encode model.h5 X.npy -o - | head"}},
    .writes = "output map",
    .fixed = {"map", "states are written as text with tabs", ".tsv"},
    .check_output = rb_writer_check,
    .adds_to = ".h5ad",
    .reads = "covariates",
    .run = run,
    .together = true,
};
