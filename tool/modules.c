/* rarebit modules: which samples and features belong to each unit. */
#include "answers.h"

#include <rarebit/significance.h>

#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* "auto" comes first; the others are rb_modules_format, one later. */
static const char *const suffixes[] = {".tsv", ".json", ".gmt"};

typedef struct module_output_options {
    const char *output;
    int format;
    bool json;
    const char *truth;
} module_output_options;

static const rb_option_group *module_output_group(void) {
    static const rb_option table[] = {
        {"output", 'o', RB_OPTION_TEXT, offsetof(module_output_options, output), NULL, 0, 0, NULL,
         "FILE", "write the modules: .tsv, .json or .gmt (gene sets); - is standard output"},
        {"format", 0, RB_OPTION_CHOICE, offsetof(module_output_options, format), "auto", 0, 0,
         "auto|tsv|json|gmt", "FORMAT", "format of the modules; auto goes by the suffix"},
        {"truth", 0, RB_OPTION_TEXT, offsetof(module_output_options, truth), NULL, 0, 0, NULL,
         "FILE", "compare with true modules, as 'simulate' writes them"},
        {"json", 0, RB_OPTION_FLAG, offsetof(module_output_options, json), "false", 0, 0, NULL,
         NULL,
         "print JSON: the results of --truth, --gmt, --labels and --covariates, or else the "
         "modules"},
        {0},
    };
    static const rb_option_group group = {sizeof(rb_option), "Output", table,
                                          sizeof(module_output_options)};
    return &group;
}

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

/* ---- tables on stdout ---- */

enum { SHOWN_FEATURES = 5, SHOWN_NAME = 24 };

/* As much of a name as a line at a terminal has room for; a file or a pipe gets all of it. */
static const char *fitting(const char *name, char *text, size_t size) {
    size_t length = strlen(name), kept = size - sizeof "...";
    if (length < size || !isatty(STDOUT_FILENO)) return name;
    while (kept > 0 && ((unsigned char)name[kept] & 0xC0) == 0x80)
        kept--; /* not inside a character */
    snprintf(text, size, "%.*s...", (int)kept, name);
    return text;
}

/* The heaviest features whose weights are above (or below) 0, to the file; without one only their
 * width. */
static int put_features(FILE *file, const rb_module *m, const rb_model *model, bool above) {
    int width = 0;
    for (int64_t i = 0, shown = 0; i < m->n_features && shown < SHOWN_FEATURES; i++) {
        if ((m->features[i].weight > 0) != above) continue;
        char number[32], shown_name[SHOWN_NAME];
        const char *name = rb_model_feature_name(model, m->features[i].index);
        if (!name) {
            snprintf(number, sizeof number, "%lld",
                     (long long)rb_model_feature_index(model, m->features[i].index));
            name = number;
        }
        name = fitting(name, shown_name, sizeof shown_name);
        if (file) fprintf(file, "%s%s", shown ? " " : "", name);
        width += (shown++ ? 1 : 0) + (int)strlen(name);
    }
    if (width == 0 && file) putc('-', file);
    return width ? width : 1;
}

/* "" where nothing was permuted. */
static const char *chances(const rb_modules *modules, int64_t rank, char *text, size_t size) {
    rb_significance s;
    *text = '\0';
    if (rb_modules_significance(modules, rank, &s))
        snprintf(text, size, " %8.4f %11.4f %8.4f", s.p, s.p_family, s.fdr);
    return text;
}

static void print_modules(const rb_modules *modules, const rb_model *model, bool permuted) {
    char text[64];
    int widest = (int)strlen("up: largest weights"), names = 6;
    for (int64_t rank = 0; rank < rb_modules_count(modules); rank++) {
        int width = put_features(NULL, rb_modules_get(modules, rank), model, true);
        int name = (int)strlen(name_of_unit(modules, rank).text);
        widest = width > widest ? width : widest;
        names = name > names ? name : names;
    }
    bool stable = rb_modules_count(modules) > 0 && rb_modules_get(modules, 0)->stability > 0;
    printf("%-*s %12s %9s%s %9s %9s ", names, "unit", "information", "score",
           permuted ? "        p family-wise      FDR" : "", "samples", "features");
    if (stable) printf("%9s ", "stability");
    printf(" %-*s  %s\n", widest, "up: largest weights", "down: below 0");
    for (int64_t rank = 0; rank < rb_modules_count(modules); rank++) {
        const rb_module *m = rb_modules_get(modules, rank);
        printf("%-*s %12.4g %9.4g%s %9lld %9lld ", names, name_of_unit(modules, rank).text,
               m->information, rb_modules_score(modules, rank),
               chances(modules, rank, text, sizeof text), (long long)m->n_samples,
               (long long)m->n_features);
        if (stable) printf("%9.2f ", m->stability);
        putchar(' ');
        int width = put_features(stdout, m, model, true);
        printf("%*s", widest - width + 2, "");
        put_features(stdout, m, model, false);
        putchar('\n');
    }
}

/* Without background, which comes last. */
static int64_t count_modules(const rb_modules *modules) {
    int64_t count = rb_modules_count(modules);
    while (count > 0 && rb_modules_background(modules, count - 1))
        count--;
    return count;
}

static void print_match(const rb_match *match, const rb_modules *found) {
    printf("consensus score  %.6g\n", match->consensus_score);
    printf("recovery         %.6g\n", match->recovery);
    printf("relevance        %.6g\n", match->relevance);
    printf("%-12s %-12s %s\n", "true module", "found unit", "overlap");
    for (int64_t t = 0; t < match->n_truth; t++) {
        unit_name unit = {"-"};
        if (match->partner[t] >= 0) unit = name_of_unit(found, match->partner[t]);
        printf("%-12lld %-12s %.4f\n", (long long)t, unit.text, match->overlap[t]);
    }
}

/* The same as JSON, added to an object. */
static void add_match(json_t **to, const rb_match *match, const rb_modules *found) {
    json_t *overlaps = json_array(), *partners = json_array();
    for (int64_t t = 0; t < match->n_truth; t++) {
        json_add(&overlaps, NULL, json_of_number(match->overlap[t]));
        json_add(&partners, NULL, json_integer(match->partner[t]));
    }
    json_add(to, "consensus_score", json_of_number(match->consensus_score));
    json_add(to, "recovery", json_of_number(match->recovery));
    json_add(to, "relevance", json_of_number(match->relevance));
    json_add(to, "modules", json_integer(count_modules(found)));
    json_add(to, "true_modules", json_integer(match->n_truth));
    json_add(to, "overlaps", overlaps);
    json_add(to, "partners", partners);
}

static void add_significance(json_t **to, const rb_modules *modules) {
    json_t *rows = json_array();
    for (int64_t rank = 0; rank < rb_modules_count(modules); rank++) {
        const rb_module *m = rb_modules_get(modules, rank);
        rb_significance s;
        if (!rb_modules_significance(modules, rank, &s)) continue;
        json_t *row = json_pack("{sI sI so so so}", "module", (json_int_t)rank, "unit",
                                (json_int_t)m->unit, "p", json_of_number(s.p), "p_family",
                                json_of_number(s.p_family), "fdr", json_of_number(s.fdr));
        if (m->stability > 0) json_add(&row, "stability", json_of_number(m->stability));
        if (rb_modules_other_side(modules, rank)) json_add(&row, "other_side", json_true());
        if (rb_modules_background(modules, rank)) json_add(&row, "background", json_true());
        json_add(&rows, NULL, row);
    }
    json_add(to, "significance", rows);
}

/* ---- the command ---- */

/* What modules are of, agree with, and stand for; what was not asked for stays empty. */
typedef struct findings {
    rb_model *model;
    rb_source *source;
    rb_modules *modules;
    bool permuted, complete; /* significance was asked for; all of its parts are there */
    rb_match match;
    answers answers;
} findings;

static int write_modules(invocation *call, const findings *f, rb_modules_format format,
                         const char *target) {
    output out;
    int status = output_begin(&out, target, "txt");
    if (!status) {
        rb_error err =
            rb_modules_write(call->ctx, f->modules, f->model, f->source, format, out.path);
        status = finish_output(call, &out, err);
    }
    int64_t count = count_modules(f->modules), rest = rb_modules_count(f->modules) - count;
    char text[64] = "";
    if (rest) snprintf(text, sizeof text, ", and %lld of background", (long long)rest);
    if (!status) report("%lld modules%s in %s", (long long)count, text, target);
    return status;
}

static rb_error measure_agreement(invocation *call, findings *f) {
    const char *truth_at = option_text(call, "truth");
    rb_modules *truth = NULL;
    rb_error err = truth_at ? rb_modules_read(call->ctx, truth_at, &truth) : RB_OK;
    if (truth) err = rb_modules_match(call->ctx, f->modules, truth, &f->match);
    rb_modules_free(truth);
    return err;
}

static rb_error print_agreement(invocation *call, const findings *f) {
    bool truth = option_text(call, "truth");
    if (option_flag(call, "json")) {
        json_t *json = json_pack("{so}", "rule", json_of_text(rb_modules_rule(f->modules)));
        if (truth) add_match(&json, &f->match, f->modules);
        if (f->permuted) add_significance(&json, f->modules);
        answers_add(&json, &f->answers);
        return json_put_from(call->ctx, stdout, json, f->model, f->source);
    }
    if (truth) print_match(&f->match, f->modules);
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
            print_modules(f->modules, f->model, true);
            putchar('\n');
        }
        rb_error err = print_agreement(call, f);
        return err ? report_failure(call->ctx, err) : STATUS_DONE;
    }
    if (option_flag(call, "json")) return write_modules(call, f, RB_MODULES_JSON, "-");
    if (!target) print_modules(f->modules, f->model, f->permuted);
    return STATUS_DONE;
}

/* The tables of answers wait until the modules are written. */
static int deliver_all(invocation *call, const findings *f) {
    output files[ANSWER_FILES] = {0};
    int status = answers_begin(call, &f->answers, files);
    return status ? status : answers_end(files, deliver(call, f));
}

static int find(invocation *call, rb_model *model, rb_source *source) {
    findings f = {.model = model,
                  .source = source,
                  .match.size = sizeof f.match,
                  .permuted = !option_is(call, "permutations", "0")};
    rb_error err = rb_modules_find(call->ctx, model, source, call->options, &f.modules);
    if (!err)
        err = rb_modules_permute(call->ctx, model, source, call->options, f.modules, &f.complete);
    if (!err && !f.complete) {
        report(
            "this part is complete; the modules are printed once all parts are in the checkpoint");
        rb_modules_free(f.modules);
        return STATUS_DONE;
    }
    f.answers.model = model;
    f.answers.modules = f.modules;
    /* Before anything is written: a truth that cannot be read leaves all as it was. */
    err = err ? err : measure_agreement(call, &f);
    err = err ? err : answers_find(call, source, &f.answers);
    int status = err ? report_failure(call->ctx, err) : deliver_all(call, &f);
    rb_match_clear(&f.match);
    answers_clear(&f.answers);
    rb_modules_free(f.modules);
    return status;
}

static int run(invocation *call) {
    const char *target = option_text(call, "output");
    rb_modules_format format;
    if (target && !output_is_stream(target) && !find_format(call, target, &format)) {
        report_error("cannot write '%s': use the suffix .tsv, .json or .gmt, or give --format",
                     target);
        return STATUS_USAGE;
    }
    int status = answers_check(call);
    return status ? status : with_model_and_data(call, NULL, find);
}

const command modules_command = {
    .words = "modules",
    .heading = "Use a model",
    .summary = "list the samples and features that belong to each unit",
    .description =
        "A module (bicluster) is a set of samples and a set of features that belong to a unit, "
        "with weights and signs. Where codes have signs, the negative side of a unit can be a "
        "module of its own (3-). Modules are ranked by their score, the information content; with "
        "the rule test also that of their features. Background modules, which centring leaves, "
        "come last. Without -o a short table is printed.",
    .arguments = {{"MODEL", "a model that 'rarebit fit' wrote", false},
                  {"DATA", "samples x features, in any format that fit reads", false}},
    .groups = {rb_modules_group, rb_significance_group, answers_group, rb_sets_group,
               module_output_group, coding_group, rb_read_group, general_group},
    .examples = {{"A look", "modules model.h5 genes.tsv --transpose --best 10"},
                 {"Which cell type is each module, and which unit marks each type?",
                  "modules model.h5 cells.h5ad --labels obs:louvain"},
                 {"Only what noise hardly makes",
                  "modules model.h5 cells.h5ad --permutations 200 --significant 0.05"},
                 {"Which pathways are in each module?",
                  "modules model.h5 genes.tsv --transpose --gmt hallmark.gmt,reactome.gmt"},
                 {"Which units go with age, and how much of them is the batch?",
                  "modules model.h5 genes.tsv --covariates samples.tsv --covariate-groups batch"}},
    .reads = "truth labels gmt covariates",
    .writes = "output gmt-output labels-output covariates-output checkpoint",
    .run = run,
};
