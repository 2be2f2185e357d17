/* rarebit methods: which method for these data? */
#include "tool.h"

#include <stddef.h>

static const rb_option methods_output_options[] = {
    {TEXT_OPTION("labels"), "LABELS",
     "known classes: FILE[:COLUMN], or obs:COLUMN of the data's own file", RB_OPTION_COMMON},
    {OUTPUT_OPTION, "TABLE", "write the table here, as .tsv or .json", RB_OPTION_COMMON},
    {FLAG_OPTION("json"), "print JSON instead of a table", RB_OPTION_COMMON},
    {0},
};

static int deliver(invocation *call, const rb_method_comparison *c, rb_source *source) {
    char summary[8192];
    snprintf(summary, sizeof summary, "%s", rb_method_comparison_summary(c));
    put_options(summary);
    table_answer answer = {.table = rb_method_comparison_table(c),
                           .key = "rows",
                           .head = json_pack("{so}", "summary", rb_json_text(summary)),
                           .noun = "methods"};
    int status = table_deliver(call, &answer, source);
    if (!status && !option_text(call, "output") && !option_flag(call, "json")) {
        putchar('\n');
        print_wrapped(stdout, summary, 0, 0, 80);
    }
    return status;
}

static int run(invocation *call) {
    const char *where = option_text(call, "labels");
    rb_source *source = NULL;
    rb_covariates *labels = NULL;
    rb_method_comparison *found = NULL;
    rb_error err = open_data(call, NULL, call->arguments[0], &source);
    if (!err && where) err = read_labels(call, where, source, &labels);
    if (!err) {
        watch_begin(call, NULL, NULL);
        err = rb_methods_compare(call->ctx, call->options, source, labels, &found);
        watch_end(call);
    }
    int status = err ? report_failure(call->ctx, err) : deliver(call, found, source);
    rb_method_comparison_free(found);
    rb_covariates_free(labels);
    rb_source_free(source);
    return status;
}

static rb_error options_new(rb_context *ctx, const char *method, rb_options **options) {
    (void)method;
    return rb_methods_options(ctx, options);
}

const command methods_command = {
    .words = "methods",
    .summary = "compare methods on a data set",
    .description =
        "Fits each method that takes the data, and compares them on one scale. Some fits leave out "
        "a part of the samples, the same part for each method. They show the errors on these "
        "samples and how well fits match. Others take all samples. They show the number of "
        "modules, how well known classes are marked, and the time. Sentences say which differences "
        "are within the spread, and which method to take.",
    .arguments = {DATA_ARGUMENT},
    .options_new = options_new,
    .own = {sizeof(rb_option), "Output", methods_output_options},
    .groups = {rb_read_group, general_group},
    .examples = {{"Which method for a gene table?", "methods genes.tsv --transpose"},
                 {"Counts of cells with known types",
                  "methods cells.h5ad --totals median --log1p --labels obs:louvain"},
                 {"Two methods with 20 units", "methods X.npy --methods pca,ica -k 20 -o m.tsv"}},
    .reads = "labels",
    .check_output = table_check,
    .run = run,
};
