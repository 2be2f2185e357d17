/* rarebit modules: which samples and features belong to each unit. */
#include "answers.h"

#include <rarebit/significance.h>

#include <stddef.h>
#include <string.h>

/* "auto" comes first; the others are rb_modules_format, one later. */
static const char *const suffixes[] = {".tsv", ".json", ".gmt"};

static const rb_option module_output_options[] = {
    {OUTPUT_OPTION, "FILE",
     "write the modules: .tsv, .json or .gmt (gene sets); - is standard output", RB_OPTION_COMMON},
    {"format", 0, RB_OPTION_CHOICE, 0, "auto", 0, 0, "auto|tsv|json|gmt", "FORMAT",
     "format of the modules; auto goes by the suffix"},
    {TEXT_OPTION("truth"), "FILE", "compare with true modules, as 'simulate' writes them",
     RB_OPTION_COMMON},
    {FLAG_OPTION("json"),
     "print JSON: the results of --truth, --gmt, --labels and --covariates, or else the "
     "modules",
     RB_OPTION_COMMON},
    {0},
};

/* The format that --format says, or with auto the suffix; false: neither does. */
static bool find_format(const invocation *call, const char *path, rb_modules_format *format) {
    int count = sizeof suffixes / sizeof *suffixes, f = 0;
    while (f < count && !option_is(call, "format", suffixes[f] + 1))
        f++;
    for (int s = 0; s < count && option_is(call, "format", "auto"); s++)
        f = has_suffix(path, suffixes[s]) ? s : f;
    *format = f < count ? (rb_modules_format)f : RB_MODULES_TSV;
    return f < count;
}

/* What modules are of, agree with, and stand for; what was not asked for stays empty. */
typedef struct findings {
    rb_model *model;
    rb_source *source;
    bool permuted; /* significance was asked for */
    rb_match match;
    answers answers;
} findings;

/* ---- tables on stdout ---- */

static void print_modules(const findings *f) {
    const table_view view = view_table(
        rb_modules_table(f->answers.document.modules), f->model,
        "unit information score p p_family p_permuted fdr n_samples n_features stability up down");
    view_print(&view, NULL, view.table.n_rows);
}

static void print_match(const findings *f) {
    const rb_match *match = &f->match;
    const rb_table found = rb_modules_table(f->answers.document.modules);
    printf("consensus score  %.6g\n", match->consensus_score);
    printf("recovery         %.6g\n", match->recovery);
    printf("relevance        %.6g\n", match->relevance);
    printf("%-12s %-12s %s\n", "true module", "found unit", "overlap");
    for (int64_t t = 0; t < match->n_truth; t++) {
        rb_value unit = {.shown = "-"};
        if (match->partner[t] >= 0)
            unit = rb_table_value(&found, match->partner[t], rb_table_find(&found, "unit"));
        printf("%-12lld %-12s %.4f\n", (long long)t, unit.shown, match->overlap[t]);
    }
}

/* The same as JSON, added to an object. */
static void add_match(json_t **to, const findings *f) {
    const rb_match *match = &f->match;
    json_t *overlaps = json_array(), *partners = json_array();
    for (int64_t t = 0; t < match->n_truth; t++) {
        rb_json_add(&overlaps, NULL, rb_json_number(match->overlap[t]));
        rb_json_add(&partners, NULL, json_integer(match->partner[t]));
    }
    rb_json_add(to, "consensus_score", rb_json_number(match->consensus_score));
    rb_json_add(to, "recovery", rb_json_number(match->recovery));
    rb_json_add(to, "relevance", rb_json_number(match->relevance));
    rb_json_add(to, "modules", json_integer(rb_modules_called(f->answers.document.modules)));
    rb_json_add(to, "true_modules", json_integer(match->n_truth));
    rb_json_add(to, "overlaps", overlaps);
    rb_json_add(to, "partners", partners);
}

/* ---- the command ---- */

static int write_modules(invocation *call, const findings *f, rb_modules_format format,
                         const char *target) {
    output out;
    int status = output_begin(&out, target, "txt");
    if (!status) {
        rb_error err = rb_modules_write(call->ctx, f->answers.document.modules, f->model, f->source,
                                        format, out.path);
        status = finish_output(call, &out, err);
    }
    int64_t count = rb_modules_called(f->answers.document.modules),
            rest = rb_modules_count(f->answers.document.modules) - count;
    char text[64] = "";
    if (rest) snprintf(text, sizeof text, ", and %lld spare or background", (long long)rest);
    if (!status) report("%lld modules%s in %s", (long long)count, text, output_shown(target));
    return status;
}

static rb_error measure_agreement(invocation *call, findings *f) {
    const char *truth_at = option_text(call, "truth");
    rb_modules *truth = NULL;
    rb_error err = truth_at ? rb_modules_read(call->ctx, truth_at, &truth) : RB_OK;
    if (truth) err = rb_modules_match(call->ctx, f->answers.document.modules, truth, &f->match);
    rb_modules_free(truth);
    return err;
}

static rb_error print_agreement(invocation *call, const findings *f) {
    bool truth = option_text(call, "truth");
    if (option_flag(call, "json")) {
        json_t *json =
            json_pack("{so}", "rule", rb_json_text(rb_modules_rule(f->answers.document.modules)));
        if (truth) add_match(&json, f);
        if (f->permuted) {
            rb_json_add(&json, "tested",
                        rb_json_text(rb_modules_tested(f->answers.document.modules)));
            rb_json_add(&json, "significance",
                        view_json(rb_modules_table(f->answers.document.modules), f->model,
                                  "module unit p p_family p_permuted fdr stability role"));
        }
        answers_add(&json, &f->answers);
        return json_put_from(call->ctx, stdout, json, f->model, f->source);
    }
    if (truth) print_match(f);
    answers_print(call, &f->answers);
    return RB_OK;
}

/* Writes the modules, and prints what was asked for. */
static int deliver(invocation *call, const findings *f) {
    const char *target = option_text(call, "output");
    rb_modules_format format;
    int status = STATUS_DONE;
    if (target) {
        find_format(call, target, &format);
        status = write_modules(call, f, format, target);
    }
    if (status) return status;
    if (option_text(call, "truth") || answers_wanted(call)) {
        if (f->permuted && !target && !option_flag(call, "json")) {
            print_modules(f);
            putchar('\n');
        }
        return report_failure(call->ctx, print_agreement(call, f));
    }
    if (option_flag(call, "json")) return write_modules(call, f, RB_MODULES_JSON, "-");
    if (!target) print_modules(f);
    return STATUS_DONE;
}

/* The tables of answers wait until the modules are written. */
static int deliver_all(invocation *call, const findings *f) {
    output files[ANSWER_FILES] = {0};
    if (!processes_lead()) return STATUS_DONE;
    int status = answers_begin(call, &f->answers, files);
    return status ? status : answers_end(files, deliver(call, f));
}

static int find(invocation *call, rb_model *model, rb_source *source) {
    findings f = {.model = model,
                  .source = source,
                  .match.size = sizeof f.match,
                  .permuted = !option_is(call, "permutations", "0")};
    rb_error err = answers_find(call, model, source, &f.answers);
    if (!err && !f.answers.document.complete) {
        report(
            "this part is complete; the modules are printed once all parts are in the checkpoint");
        answers_clear(&f.answers);
        return STATUS_DONE;
    }
    /* Before anything is written: a truth that cannot be read leaves all as it was. */
    err = err ? err : measure_agreement(call, &f);
    int status = err ? report_failure(call->ctx, err) : deliver_all(call, &f);
    status = status ? status : answers_status(call, &f.answers);
    rb_match_clear(&f.match);
    answers_clear(&f.answers);
    return status;
}

static int run(invocation *call) {
    const char *target = option_text(call, "output");
    rb_modules_format format;
    if (target && !output_is_stream(target) && !find_format(call, target, &format)) {
        return report_usage(
            "cannot write '%s': use the suffix .tsv, .json or .gmt, or give --format", target);
    }
    int status = answers_check(call);
    return status ? status : with_model_and_data(call, NULL, find);
}

const command modules_command = {
    .words = "modules",
    .summary = "list the samples and features that belong to each unit",
    .description =
        "A module (bicluster) is a set of samples and a set of features that belong to a unit, "
        "with weights and signs. Where codes have signs, the negative side of a unit can be a "
        "module of its own (3-). Modules are ranked by their score, the information content; with "
        "the rule test also that of their features. Background modules, which centring leaves, "
        "come last. Without -o a short table is printed.",
    .arguments = {MODEL_ARGUMENT, DATA_ARGUMENT},
    .own = {sizeof(rb_option), "Output", module_output_options},
    .own_after = 4,
    .groups = {rb_modules_group, rb_significance_group, answers_group, rb_sets_group, coding_group,
               rb_read_group, general_group},
    .examples = {{"A look", "modules model.h5 genes.tsv --transpose --best 10"},
                 {"Which cell type is each module, and which unit marks each type?",
                  "modules model.h5 cells.h5ad --labels obs:louvain"},
                 {"Keep only significant modules",
                  "modules model.h5 cells.h5ad --permutations 200 --significant 0.05"},
                 {"Which pathways are in each module?",
                  "modules model.h5 genes.tsv --transpose --gmt hallmark.gmt,reactome.gmt"},
                 {"Which units go with age, and how much of them is the batch?",
                  "modules model.h5 genes.tsv --covariates samples.tsv --covariate-groups batch"}},
    .reads = "truth labels gmt covariates blocks",
    .writes = "output gmt-output labels-output covariates-output checkpoint",
    .run = run,
    .together = true,
};
