/* rarebit methods: which method for these data? */
#include "tool.h"

#include <stddef.h>

static const rb_option_group *methods_output_group(void) {
    struct fields {
        const char *labels, *output;
        bool json;
    };
    static const rb_option table[] = {
        {"labels", 0, RB_OPTION_TEXT, offsetof(struct fields, labels), NULL, 0, 0, NULL, "LABELS",
         "known classes: FILE[:COLUMN], or obs:COLUMN of the data's own file", RB_OPTION_COMMON},
        {"output", 'o', RB_OPTION_TEXT, offsetof(struct fields, output), NULL, 0, 0, NULL, "TABLE",
         "write the table here, as .tsv or .json", RB_OPTION_COMMON},
        {"json", 0, RB_OPTION_FLAG, offsetof(struct fields, json), "false", 0, 0, NULL, NULL,
         "print JSON instead of a table", RB_OPTION_COMMON},
        {0},
    };
    static const rb_option_group group = {sizeof(rb_option), "Output", table,
                                          sizeof(struct fields)};
    return &group;
}

/* What JSON has besides the rows. */
static json_t *head_of(const char *summary) {
    json_t *json = json_object();
    json_add(&json, "summary", json_of_text(summary));
    return json;
}

static int write_table(invocation *call, const char *summary, const table_view *view,
                       rb_source *source, const char *target) {
    output out;
    json_t *head = head_of(summary);
    result_table rows = view_rows(view);
    rb_error err = name_origin(call, NULL, source);
    rows.head = head;
    int status = err ? report_failure(call->ctx, err) : table_begin(call, &out, target, &rows);
    json_decref(head);
    if (status) return status;
    report("%lld methods in %s", (long long)rows.rows, output_shown(target));
    return output_end(&out, STATUS_DONE);
}

static int deliver(invocation *call, const rb_method_comparison *c, rb_source *source) {
    const char *target = option_text(call, "output");
    const table_view view = view_table(rb_method_comparison_table(c), NULL, NULL);
    char summary[8192];
    snprintf(summary, sizeof summary, "%s", rb_method_comparison_summary(c));
    put_options(summary);
    int status = target ? write_table(call, summary, &view, source, target) : STATUS_DONE;
    if (!status && option_flag(call, "json")) {
        json_t *json = head_of(summary);
        json_add(&json, "rows", view_json(view.table, NULL, NULL, 0));
        rb_error err = json_put_from(call->ctx, stdout, json, NULL, source);
        return err ? report_failure(call->ctx, err) : STATUS_DONE;
    }
    if (!status && !target) {
        view_print(&view, NULL, view.table.n_rows);
        putchar('\n');
        print_wrapped(stdout, summary, 0, 0, 80);
    }
    return status;
}

static int run(invocation *call) {
    const char *where = option_text(call, "labels"), *target = option_text(call, "output");
    rb_source *source = NULL;
    rb_covariates *labels = NULL;
    rb_method_comparison *found = NULL;
    if (target && !table_format_known(target)) {
        report_error("cannot write '%s': use the suffix .tsv or .json", target);
        return STATUS_USAGE;
    }
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
    .heading = "Fit",
    .summary = "compare methods on a data set",
    .description =
        "Fits each method that takes the data, and compares them on one scale. Some fits leave out "
        "a part of the samples, the same part for each method. They show the errors on these "
        "samples and how well fits match. Others take all samples. They show the number of "
        "modules, how well known classes are marked, and the time. Sentences say which differences "
        "are within the spread, and which method to take.",
    .arguments = {{"DATA", "samples x features, in any format that fit reads", false}},
    .options_new = options_new,
    .groups = {methods_output_group, rb_read_group, general_group},
    .examples = {{"Which method for a gene table?", "methods genes.tsv --transpose"},
                 {"Counts of cells with known types",
                  "methods cells.h5ad --totals 10k --log1p --labels obs:louvain"},
                 {"Two methods with 20 units", "methods X.npy --methods pca,ica -k 20 -o m.tsv"}},
    .reads = "labels",
    .run = run,
};
