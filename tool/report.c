/* rarebit report: one HTML file that tells what a model found, to look at and to send. */
#include "page.h"

#include <rarebit/significance.h>

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const rb_option page_options[] = {
    {"output", 'o', RB_OPTION_TEXT, 0, NULL, 0, 0, NULL, "PAGE",
     "where to write the page, a single HTML file; - is standard output", RB_OPTION_COMMON},
    {"title", 0, RB_OPTION_TEXT, 0, NULL, 0, 0, NULL, "TITLE",
     "title of the page (default: names of model and data)", RB_OPTION_COMMON},
    {"select", 0, RB_OPTION_TEXT, 0, NULL, 0, 0, NULL, "TABLE",
     "show the curves of a table of 'select', with a row per number of units", RB_OPTION_COMMON},
    {0},
};

/* ---- messages on the way are part of the page ---- */

static bool has_text(const json_t *list, const char *text) {
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(json_string_value(json_array_get(list, i)), text) == 0) return true;
    return false;
}

static void keep_message(rb_log_level level, const char *message, void *user) {
    page *p = user;
    json_t **list = level == RB_LOG_WARNING ? &p->warnings : &p->notes, *text;
    char spelt[1200];
    report_log(level, message, NULL);
    snprintf(spelt, sizeof spelt, "%s", message);
    put_options(spelt);
    text = json_of_text(spelt);
    if (*list && text && !has_text(*list, json_string_value(text)))
        json_add(list, NULL, text);
    else
        json_decref(text);
}

/* ---- the document ---- */

static void add_origin(const page *p, json_t **to) {
    static const char *const names[] = {"compiler", "kernels", "blas", "blas_core"};
    json_t *build = json_object();
    char *line = command_line(p->call->argc, p->call->argv);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        json_add(&build, names[i], json_of_text(rb_build_info(p->call->ctx, names[i])));
    json_add(to, "version", json_of_text(rb_version()));
    json_add(to, "title", json_of_text(option_text(p->call, "title")));
    json_add(to, "command", json_of_text(line));
    json_add(to, "build", build);
    free(line);
}

/* Computes what the page tells. */
static rb_error compute(page *p) {
    rb_context *ctx = p->call->ctx;
    p->named[0] = calloc((size_t)rb_source_samples(p->source) + 1, sizeof(bool));
    p->named[1] = calloc((size_t)rb_model_features(p->model) + 1, sizeof(bool));
    if (!p->named[0] || !p->named[1]) return fail_memory(ctx);
    p->answers.document.with_codes = p->answers.document.with_metrics = true;
    rb_error err = answers_find(p->call, p->model, p->source, &p->answers);
    return err ? err : rb_describe(ctx, p->source, &p->data);
}

/* The document; NULL: an error. */
static json_t *document(page *p, rb_error *err) {
    json_t *json = json_object();
    *err = compute(p);
    if (!*err) *err = page_add_modules(p, &json);
    if (!*err && option_text(p->call, "select")) *err = page_add_select(p, &json);
    if (!*err) {
        page_add_codes(p, &json);
        add_origin(p, &json);
        page_add_data(p, &json);
        page_add_model(p, &json);
        page_add_fit(p, &json);
        page_add_answers(p, &json);
        page_add_names(p, &json);
        if (!json) *err = fail_memory(p->call->ctx);
    }
    if (*err) {
        json_decref(json);
        json = NULL;
    }
    return json;
}

/* ---- the file ---- */

/* Names are whatever somebody wrote: without "<" nothing in them can end the element that the
 * document stands in. In JSON it stands in texts alone. */
static int put_document(const char *text, size_t size, void *file) {
    for (size_t i = 0; i < size; i++)
        if (text[i] == '<')
            fputs("\\u003c", file);
        else
            putc(text[i], file);
    return ferror((FILE *)file) ? -1 : 0;
}

static rb_error put_page(rb_context *ctx, FILE *file, const void *of) {
    size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(7);
    fputs(page_head, file);
    bool whole = json_dump_callback(of, put_document, file, flags) == 0;
    fputs(page_tail, file);
    return whole || ferror(file) ? RB_OK : fail_memory(ctx);
}

static int write_page(const invocation *call, json_t *json) {
    output out;
    const char *target = option_text(call, "output");
    int status = output_fill(&out, call->ctx, target, "html", put_page, json);
    status = status ? status : output_end(&out, STATUS_DONE);
    if (!status && strcmp(target, "-") != 0) report("page in %s; open it in a browser", target);
    return status;
}

static int make_page(invocation *call, rb_model *model, rb_source *source) {
    page p = {.call = call,
              .model = model,
              .source = source,
              .warnings = json_array(),
              .notes = json_array(),
              .data.size = sizeof p.data};
    rb_error err;
    rb_context_on_log(call->ctx, keep_message, &p);
    json_t *json = document(&p, &err);
    rb_context_on_log(call->ctx, report_log, NULL);
    int status = err ? report_failure(call->ctx, err) : write_page(call, json);
    status = status ? status : answers_status(call, &p.answers);
    json_decref(json);
    json_decref(p.warnings);
    json_decref(p.notes);
    answers_clear(&p.answers);
    free(p.named[0]);
    free(p.named[1]);
    return status;
}

static int run(invocation *call) {
    int status = answers_check(call);
    return status ? status : with_model_and_data(call, NULL, make_page);
}

const command report_command = {
    .words = "report",
    .heading = "Use a model",
    .summary = "write an HTML report",
    .description = "The page describes the data, says whether the fit is healthy, and shows each "
                   "module. A module has its samples and features with weights, heat maps, and the "
                   "classes, feature sets and covariates it is associated with. The page needs no "
                   "network and no other file. Its tables can be searched, sorted and saved.",
    .arguments = {{"MODEL", "a model that 'rarebit fit' wrote", false},
                  {"DATA", "samples x features, in any format that fit reads", false}},
    .output = "PAGE",
    .own = {sizeof(rb_option), "Page", page_options},
    .groups = {rb_modules_group, rb_significance_group, answers_group, rb_sets_group, coding_group,
               rb_read_group, general_group},
    .without = "gmt-output labels-output covariates-output part",
    .examples = {{"A page to send", "report model.h5 genes.tsv -o report.html"},
                 {"With known classes",
                  "report model.h5 cells.h5ad --labels obs:louvain -o report.html"},
                 {"With gene sets, and what else is known of the samples",
                  "report model.h5 genes.tsv --gmt hallmark.gmt --covariates samples.tsv -o "
                  "report.html"}},
    .reads = "select labels gmt covariates blocks",
    .writes = "output checkpoint",
    .fixed = {"output", "a report is written as HTML", ".html"},
    .run = run,
};
