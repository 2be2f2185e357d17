/* rarebit report: one HTML file that tells what a model found, to look at and to send. */
#include "answers.h"

#include <rarebit/report.h>
#include <rarebit/significance.h>
#include <stdlib.h>
#include <string.h>

static const rb_option page_options[] = {
    {OUTPUT_OPTION, "PAGE", "where to write the page, a single HTML file; - is standard output",
     RB_OPTION_COMMON},
    {TEXT_OPTION("title"), "TITLE", "title of the page (default: names of model and data)",
     RB_OPTION_COMMON},
    {TEXT_OPTION("select"), "TABLE",
     "show the curves of a table of 'select', with a row per number of units", RB_OPTION_COMMON},
    {0},
};

/* ---- messages on the way are part of the page ---- */

typedef struct messages {
    char **texts; /* NULL at the end */
    int64_t count;
} messages;

typedef struct hearing {
    messages warnings, notes;
} hearing;

static void keep(messages *m, const char *text) {
    char **more = realloc(m->texts, ((size_t)m->count + 2) * sizeof *more);
    if (!more) return;
    m->texts = more;
    m->texts[m->count] = strdup(text);
    m->count += m->texts[m->count] != NULL;
    m->texts[m->count] = NULL;
}

static void keep_message(rb_log_level level, const char *message, void *user) {
    hearing *h = user;
    char spelt[1200];
    report_log(level, message, NULL);
    snprintf(spelt, sizeof spelt, "%s", message);
    put_options(spelt);
    keep(level == RB_LOG_WARNING ? &h->warnings : &h->notes, spelt);
}

static void forget(messages *m) {
    for (int64_t i = 0; i < m->count; i++)
        free(m->texts[i]);
    free(m->texts);
}

/* ---- the page ---- */

static rb_error write_page(const invocation *call, const rb_document *document, const hearing *h,
                           const char *path) {
    const rb_report report = {.size = sizeof report,
                              .title = option_text(call, "title"),
                              .model = call->arguments[0],
                              .data = call->arguments[1],
                              .labels = option_text(call, "labels"),
                              .sets = option_text(call, "gmt"),
                              .covariates = option_text(call, "covariates"),
                              .selection = option_text(call, "select"),
                              .warnings = (const char *const *)h->warnings.texts,
                              .notes = (const char *const *)h->notes.texts};
    return rb_report_write(call->ctx, document, &report, path);
}

static int make_page(invocation *call, rb_model *model, rb_source *source) {
    const char *target = option_text(call, "output");
    hearing h = {0};
    answers a = {0};
    output out;
    a.document.with_codes = a.document.with_metrics = true;
    rb_context_on_log(call->ctx, keep_message, &h);
    rb_error err = answers_find(call, model, source, &a);
    int status = err ? report_failure(call->ctx, err) : output_begin(&out, target, "html");
    if (!status && processes_lead()) err = write_page(call, &a.document, &h, out.path);
    if (!status) status = finish_output(call, &out, err);
    rb_context_on_log(call->ctx, report_log, NULL);
    if (!status && strcmp(target, "-") != 0) report("page in %s; open it in a browser", target);
    status = status ? status : answers_status(call, &a);
    answers_clear(&a);
    forget(&h.warnings);
    forget(&h.notes);
    return status;
}

static int run(invocation *call) {
    int status = answers_check(call);
    return status ? status : with_model_and_data(call, NULL, make_page);
}

const command report_command = {
    .words = "report",
    .summary = "write an HTML report",
    .description = "The page describes the data, says whether the fit is healthy, and shows each "
                   "module. A module has its samples and features with weights, heat maps, and the "
                   "classes, feature sets and covariates it is associated with. The page needs no "
                   "network and no other file. Its tables can be searched, sorted and saved.",
    .arguments = {MODEL_ARGUMENT, DATA_ARGUMENT},
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
    .together = true,
};
