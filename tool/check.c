/* rarebit check: what a matrix seems to be, what is wrong with it, and the fit to begin with. */
#include "tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 96, INDENT = 17 };
enum { PROGRAM_BYTES = 20000000 }; /* the program and its libraries */

static const rb_option check_output_options[] = {
    {FLAG_OPTION("json"), "print JSON instead of sentences"},
    {FLAG_OPTION("strict"), "exit with 1 when there is a problem"},
    {0},
};

/* ---- the command line that fits ---- */

static void put_advice(FILE *file, const rb_advice *advice) {
    if (strcmp(advice->option, "units") == 0)
        fprintf(file, " -k %s", advice->value);
    else if (strcmp(advice->value, "true") == 0)
        fprintf(file, " --%s", advice->option);
    else
        fprintf(file, " --%s %s", advice->option, advice->value);
}

/* Free it; NULL: out of memory, or there is nothing that could be fitted. */
static char *command_of(const invocation *call, const rb_check *check) {
    const char *path = call->arguments[0], *base = strrchr(path, '/');
    char *text = NULL;
    size_t size = 0;
    FILE *file = rb_check_method(check) ? open_memstream(&text, &size) : NULL;
    if (!file) return NULL;
    fprintf(file, "rarebit fit %s ", rb_check_method(check));
    put_word(file, path);
    put_reading(file, call);
    const rb_advice *advice;
    for (int64_t i = 0; (advice = rb_check_advice(check, i)); i++)
        put_advice(file, advice);
    fprintf(file, " -o %s",
            strcmp(base ? base + 1 : path, "model.h5") == 0 ? "fit.h5" : "model.h5");
    fclose(file);
    return text;
}

/* ---- output ---- */

/* What was looked at: turned, when it lay across as it was read. */
typedef struct look {
    rb_source *source;
    rb_check *check;
    rb_check *before; /* of the data as they were read; NULL: they were not turned */
    char *command;
    rb_cost cost; /* size 0: not asked for */
} look;

/* The findings of a check; of one from before the data were turned, the orientation alone. */
static const rb_finding *finding_at(const look *l, int64_t i, bool *before) {
    const rb_finding *f;
    *before = l->before && i == 0;
    for (int64_t k = 0; *before && (f = rb_check_finding(l->before, k)); k++)
        if (strcmp(f->name, "orientation") == 0) return f;
    return rb_check_finding(l->check, l->before ? i - 1 : i);
}

static rb_error print_json(const invocation *call, const look *l) {
    static const char *const severities[] = {"fine", "note", "problem"};
    json_t *findings = json_array(), *options = json_array();
    const rb_finding *f;
    const rb_advice *a;
    bool before;
    for (int64_t i = 0; (f = finding_at(l, i, &before)); i++) {
        rb_json_add(&findings, NULL,
                    json_pack("{ss ss so so}", "name", f->name, "severity", severities[f->severity],
                              "value", rb_json_number(f->value), "sentence",
                              rb_json_text(f->sentence)));
    }
    for (int64_t i = 0; (a = rb_check_advice(l->check, i)); i++) {
        rb_json_add(&options, NULL,
                    json_pack("{ss ss so}", "option", a->option, "value", a->value, "reason",
                              rb_json_text(a->reason)));
    }
    json_t *json = json_pack(
        "{sI sI sI ss sb so so so so so}", "samples", (json_int_t)rb_source_samples(l->source),
        "features", (json_int_t)rb_source_features(l->source), "looked_at",
        (json_int_t)rb_check_samples(l->check), "kind", rb_check_kind(l->check), "transposed",
        l->before != NULL, "findings", findings, "method", rb_json_text(rb_check_method(l->check)),
        "method_reason", rb_json_text(rb_check_method_reason(l->check)), "options", options,
        "command", rb_json_text(l->command));
    if (l->cost.size) {
        rb_json_add(&json, "cost",
                    json_pack("{sf so sI}", "bytes", l->cost.bytes + PROGRAM_BYTES, "seconds",
                              rb_json_number(l->cost.seconds), "iterations",
                              (json_int_t)l->cost.iterations));
    }
    return json_put_from(call->ctx, stdout, json, NULL, l->source);
}

static void print_line(const char *head, const char *text) {
    printf("%-*s", INDENT, head);
    print_wrapped(stdout, text, INDENT, INDENT, WIDTH);
}

/* Starts with a capital, ends with a full stop unless it asks. */
static void print_sentence(const char *head, const char *sentence) {
    size_t length = strlen(sentence);
    char *text = malloc(length + 2);
    if (!text) return;
    memcpy(text, sentence, length + 1);
    if (text[0] >= 'a' && text[0] <= 'z') text[0] = (char)(text[0] - 'a' + 'A');
    if (length > 0 && text[length - 1] != '?') memcpy(text + length, ".", 2);
    put_options(text);
    print_line(head, text);
    free(text);
}

static void print_findings(const look *l) {
    static const char *const severities[] = {"fine", "worth knowing", "problem"};
    const rb_finding *f;
    bool before;
    for (int64_t i = 0; (f = finding_at(l, i, &before)); i++) {
        print_sentence(severities[f->severity], f->sentence);
        if (before) print_sentence("", "the other findings are of the transposed table");
    }
}

static void print_fit(const invocation *call, const look *l) {
    const rb_advice *a;
    if (!l->command) {
        printf("\nSolve the problems first; no fit is suggested before.\n");
        return;
    }
    printf("\nA fit to begin with:\n\n  %s\n\n", l->command);
    print_sentence(rb_check_method(l->check), rb_check_method_reason(l->check));
    if (l->before) {
        print_sentence(option_flag(call, "transpose") ? "--transpose" : "no --transpose",
                       "so that rows are samples");
    }
    for (int64_t i = 0; (a = rb_check_advice(l->check, i)); i++) {
        char head[64];
        snprintf(head, sizeof head, "%s%s", strcmp(a->option, "units") == 0 ? "-k" : "--",
                 strcmp(a->option, "units") == 0 ? "" : a->option);
        print_sentence(head, a->reason);
    }
}

static void print_cost(const look *l) {
    char text[256], memory[32], part[64] = "";
    size_text(l->cost.bytes + PROGRAM_BYTES, memory, sizeof memory);
    if (l->cost.tried_samples < rb_source_samples(l->source))
        snprintf(part, sizeof part, " on %lld samples", (long long)l->cost.tried_samples);
    double seconds = l->cost.seconds;
    const char *unit = seconds < 120 ? "s" : seconds < 7200 ? "minutes" : "hours";
    seconds /= seconds < 120 ? 1 : seconds < 7200 ? 60 : 3600;
    int used = snprintf(text, sizeof text, "about %s of memory, ", memory);
    if (isnan(seconds))
        snprintf(text + used, sizeof text - (size_t)used, "more than there is: take fewer units");
    else
        snprintf(text + used, sizeof text - (size_t)used,
                 "and %.2g %s for %lld iterations: some%s were timed, on the machine as busy as it "
                 "is now",
                 seconds, unit, (long long)l->cost.iterations, part);
    print_sentence("cost", text);
}

static bool has_problem(const look *l) {
    const rb_finding *f;
    bool before, found = false;
    for (int64_t i = 0; (f = finding_at(l, i, &before)); i++)
        found |= f->severity == RB_SEVERITY_PROBLEM && !before;
    return found;
}

/* ---- the command ---- */

static rb_error look_once(const invocation *call, look *l) {
    rb_error err = rb_open(call->ctx, call->arguments[0], call->options, &l->source);
    return err ? err : rb_check_run(call->ctx, l->source, call->options, &l->check);
}

/* The same data, turned. */
static rb_error look_again(const invocation *call, look *l) {
    const char *turned = option_flag(call, "transpose") ? "false" : "true";
    l->before = l->check;
    l->check = NULL;
    rb_source_free(l->source);
    l->source = NULL;
    rb_error err = rb_options_set(call->ctx, call->options, "transpose", turned);
    return err ? err : look_once(call, l);
}

static int run(invocation *call) {
    look l = {0};
    rb_error err = look_once(call, &l);
    if (!err && rb_check_across(l.check)) err = look_again(call, &l);
    if (!err) l.command = command_of(call, l.check);
    if (!err && l.command && option_integer(call, "units") > 0) {
        l.cost.size = sizeof l.cost;
        err = rb_check_cost(call->ctx, l.check, l.source, &l.cost);
    }
    if (!err && option_flag(call, "json")) {
        err = print_json(call, &l);
    } else if (!err) {
        printf("%s: %lld samples x %lld features%s\n\n", call->arguments[0],
               (long long)rb_source_samples(l.source), (long long)rb_source_features(l.source),
               l.before ? ", transposed" : "");
        print_findings(&l);
        print_fit(call, &l);
        if (l.cost.size) print_cost(&l);
    }
    int status = report_failure(call->ctx, err);
    if (!status && option_flag(call, "strict") && has_problem(&l)) status = STATUS_FAILED;
    free(l.command);
    rb_check_free(l.before);
    rb_check_free(l.check);
    rb_source_free(l.source);
    return status;
}

const command check_command = {
    .words = "check",
    .summary = "check a data set and suggest a fit",
    .description = "Checks a matrix before a fit: its kind of values (counts, logarithms, "
                   "z-scores, ...), whether rows are samples, and what would spoil a fit. It finds "
                   "missing values, equal or constant samples and features, outliers and batches. "
                   "It then suggests a fit, with reasons. A table whose rows are named like genes "
                   "is transposed. Of very large data only some samples are read.",
    .arguments = {DATA_ARGUMENT},
    .own = {sizeof(rb_option), "Output", check_output_options},
    .groups = {rb_check_group, rb_read_group, general_group},
    .examples = {{"A first look", "check genes.tsv"},
                 {"In a script that stops at a problem", "check cells.h5ad --strict"},
                 {"For a program", "check X.npy --json"}},
    .run = run,
};
