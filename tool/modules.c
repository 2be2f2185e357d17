/* rarebit modules: which samples and features belong to each unit. */
#include "tool.h"

#include <stddef.h>
#include <string.h>

typedef enum format_choice { BY_SUFFIX = 0, AS_TSV, AS_JSON, AS_GMT } format_choice;

typedef struct module_output_options {
    const char *output;
    int format; /* format_choice */
    bool json;
    const char *truth;
    const char *labels;
} module_output_options;

static const rb_option_group *module_output_group(void) {
    static const rb_option table[] = {
        {"output", 'o', RB_OPTION_TEXT, offsetof(module_output_options, output), NULL, 0, 0, NULL,
         "FILE", "write the modules: .tsv, .json or .gmt (gene sets); - is standard output"},
        {"format", 0, RB_OPTION_CHOICE, offsetof(module_output_options, format), "auto", 0, 0,
         "auto|tsv|json|gmt", "FORMAT", "format of the modules; auto goes by the suffix"},
        {"truth", 0, RB_OPTION_TEXT, offsetof(module_output_options, truth), NULL, 0, 0, NULL,
         "FILE", "compare with true modules, as 'simulate' writes them"},
        {"labels", 0, RB_OPTION_TEXT, offsetof(module_output_options, labels), NULL, 0, 0, NULL,
         "LABELS",
         "say which class each module matches: a TSV of sample name and class, with a header, or "
         "of "
         "classes alone; cells.h5ad:COLUMN; or obs:COLUMN of the data's own file"},
        {"json", 0, RB_OPTION_FLAG, offsetof(module_output_options, json), "false", 0, 0, NULL,
         NULL, "print JSON: the agreement with --truth and --labels, or else the modules"},
        {0},
    };
    static const rb_option_group group = {sizeof(rb_option), "Output", table,
                                          sizeof(module_output_options), NULL};
    return &group;
}

/* With --format auto the suffix must say it. */
static int check_output(const invocation *call, const char *option, const char *path) {
    const module_output_options *options = options_of(call, module_output_group());
    (void)option;
    if (options->format != BY_SUFFIX || has_suffix(path, ".tsv") || has_suffix(path, ".json") ||
        has_suffix(path, ".gmt")) {
        return STATUS_DONE;
    }
    report_error("cannot write '%s': its suffix must say the format: .tsv, .json or .gmt; or "
                 "choose --format",
                 path);
    return STATUS_USAGE;
}

static rb_modules_format format_of(const module_output_options *options) {
    const char *path = options->output ? options->output : "";
    switch ((format_choice)options->format) {
    case AS_TSV:
        return RB_MODULES_TSV;
    case AS_JSON:
        return RB_MODULES_JSON;
    case AS_GMT:
        return RB_MODULES_GMT;
    case BY_SUFFIX:
        break;
    }
    return has_suffix(path, ".json")  ? RB_MODULES_JSON
           : has_suffix(path, ".gmt") ? RB_MODULES_GMT
                                      : RB_MODULES_TSV;
}

/* ---- tables on stdout ---- */

enum { SHOWN_FEATURES = 5 };

/* The heaviest features whose weights are above (or below) 0, to the file; without one only their
 * width. */
static int put_features(FILE *file, const rb_module *m, const rb_model *model, bool above) {
    int width = 0;
    for (int64_t i = 0, shown = 0; i < m->n_features && shown < SHOWN_FEATURES; i++) {
        if ((m->features[i].weight > 0) != above) {
            continue;
        }
        char number[32];
        const char *name = rb_model_feature_name(model, m->features[i].index);
        if (!name) {
            snprintf(number, sizeof number, "%lld",
                     (long long)rb_model_feature_index(model, m->features[i].index));
            name = number;
        }
        if (file) {
            fprintf(file, "%s%s", shown ? " " : "", name);
        }
        width += (shown++ ? 1 : 0) + (int)strlen(name);
    }
    if (width == 0 && file) {
        putc('-', file);
    }
    return width ? width : 1;
}

static void print_modules(const rb_modules *modules, const rb_model *model) {
    int widest = (int)strlen("up: largest weights");
    for (int64_t rank = 0; rank < rb_modules_count(modules); rank++) {
        int width = put_features(NULL, rb_modules_get(modules, rank), model, true);
        widest = width > widest ? width : widest;
    }
    printf("%-6s %12s %9s %9s  %-*s  %s\n", "unit", "information", "samples", "features", widest,
           "up: largest weights", "down: below 0");
    for (int64_t rank = 0; rank < rb_modules_count(modules); rank++) {
        const rb_module *m = rb_modules_get(modules, rank);
        printf("%-6lld %12.4g %9lld %9lld  ", (long long)m->unit, m->information,
               (long long)m->n_samples, (long long)m->n_features);
        int width = put_features(stdout, m, model, true);
        printf("%*s", widest - width + 2, "");
        put_features(stdout, m, model, false);
        putchar('\n');
    }
}

static void print_match(const rb_match *match, const rb_modules *found) {
    printf("consensus score  %.6g\n", match->consensus_score);
    printf("%-12s %-12s %s\n", "true module", "found unit", "overlap");
    for (int64_t t = 0; t < match->n_truth; t++) {
        if (match->partner[t] < 0) {
            printf("%-12lld %-12s %.4f\n", (long long)t, "-", match->overlap[t]);
        } else {
            const rb_module *m = rb_modules_get(found, match->partner[t]);
            printf("%-12lld %-12lld %.4f\n", (long long)t, (long long)m->unit, match->overlap[t]);
        }
    }
}

static void print_classes(const rb_enrichment *classes, const rb_modules *modules) {
    printf("%-6s %8s %9s %9s %9s %8s  %s\n", "unit", "samples", "in class", "precision", "recall",
           "log10 p", "class");
    for (int64_t r = 0; r < classes->n_rows; r++) {
        const rb_enrichment_row *row = &classes->rows[r];
        printf("%-6lld %8lld %9lld %9.3f %9.3f %8.1f  %s\n",
               (long long)rb_modules_get(modules, row->module)->unit, (long long)row->module_size,
               (long long)row->overlap, row->precision, row->recall, row->log10_p_value_adjusted,
               row->class_name ? row->class_name : "-");
    }
}

/* After the modules, the other way round: for each class the unit. */
static void print_best_units(const rb_enrichment *classes) {
    printf("\n%-9s %8s %8s %9s  %s\n", "best unit", "samples", "AUC", "overlap", "class");
    for (int64_t c = 0; c < classes->n_classes; c++) {
        const rb_class_unit *best = &classes->best_units[c];
        if (best->unit < 0) {
            printf("%-9s %8lld %8s %9s  %s\n", "-", (long long)best->class_size, "-", "-",
                   best->class_name);
        } else {
            printf("%-9lld %8lld %8.4f %9lld  %s\n", (long long)best->unit,
                   (long long)best->class_size, best->auc, (long long)best->overlap,
                   best->class_name);
        }
    }
}

/* The same as JSON, within an object. */
static void emit_match(json *j, const rb_match *match, const rb_modules *found) {
    emit_number(j, "consensus_score", match->consensus_score);
    emit_integer(j, "modules", rb_modules_count(found));
    emit_integer(j, "true_modules", match->n_truth);
    emit_open(j, "overlaps", '[');
    for (int64_t t = 0; t < match->n_truth; t++) {
        emit_number(j, NULL, match->overlap[t]);
    }
    emit_close(j, ']');
    emit_open(j, "partners", '[');
    for (int64_t t = 0; t < match->n_truth; t++) {
        emit_integer(j, NULL, match->partner[t]);
    }
    emit_close(j, ']');
}

static void emit_classes(json *j, const rb_enrichment *classes, const rb_modules *modules) {
    emit_integer(j, "labelled_samples", classes->n_labelled);
    emit_open(j, "classes", '[');
    for (int64_t r = 0; r < classes->n_rows; r++) {
        const rb_enrichment_row *row = &classes->rows[r];
        emit_open(j, NULL, '{');
        emit_integer(j, "module", row->module);
        emit_integer(j, "unit", rb_modules_get(modules, row->module)->unit);
        emit_text(j, "class", row->class_name);
        emit_integer(j, "module_size", row->module_size);
        emit_integer(j, "class_size", row->class_size);
        emit_integer(j, "overlap", row->overlap);
        emit_number(j, "precision", row->precision);
        emit_number(j, "recall", row->recall);
        emit_number(j, "f1", row->f1);
        emit_number(j, "jaccard", row->jaccard);
        emit_number(j, "log10_p_value", row->log10_p_value);
        emit_number(j, "log10_p_value_adjusted", row->log10_p_value_adjusted);
        emit_close(j, '}');
    }
    emit_close(j, ']');
}

static void emit_best_units(json *j, const rb_enrichment *classes) {
    emit_open(j, "best_units", '[');
    for (int64_t c = 0; c < classes->n_classes; c++) {
        const rb_class_unit *best = &classes->best_units[c];
        emit_open(j, NULL, '{');
        emit_text(j, "class", best->class_name);
        emit_integer(j, "class_size", best->class_size);
        emit_integer(j, "unit", best->unit);
        emit_number(j, "auc", best->auc);
        emit_integer(j, "overlap", best->overlap);
        emit_close(j, '}');
    }
    emit_close(j, ']');
}

/* ---- the command ---- */

static int write_modules(invocation *call, const rb_modules *modules, const rb_model *model,
                         const rb_source *source, rb_modules_format format, const char *target) {
    output out;
    int status = output_begin(&out, target, "txt");
    if (status) {
        return status;
    }
    rb_error err = rb_modules_write(call->ctx, modules, model, source, format, out.path);
    if (err) {
        output_abandon(&out);
        return report_failure(call->ctx, err);
    }
    status = output_end(&out);
    if (!status) {
        report("%lld modules in %s", (long long)rb_modules_count(modules), target);
    }
    return status;
}

/* What modules agree with; parts that were not asked for stay empty. */
struct agreement {
    rb_match match;
    rb_enrichment classes;
};

static rb_error measure_agreement(invocation *call, const rb_modules *modules,
                                  const rb_model *model, rb_source *source,
                                  struct agreement *agreement) {
    const module_output_options *options = options_of(call, module_output_group());
    rb_modules *truth = NULL;
    rb_error err = RB_OK;
    if (options->truth) {
        err = rb_modules_read(call->ctx, options->truth, &truth);
        if (!err) {
            err = rb_modules_match(call->ctx, modules, truth, &agreement->match);
        }
    }
    if (!err && options->labels) {
        err = rb_modules_enrichment(call->ctx, modules, model, source, options->labels,
                                    &agreement->classes);
    }
    rb_modules_free(truth);
    return err;
}

static void print_agreement(const module_output_options *options, const rb_modules *modules,
                            const struct agreement *agreement) {
    json j = {.file = stdout};
    if (options->json) {
        emit_open(&j, NULL, '{');
        emit_text(&j, "rule", rb_modules_rule(modules));
    }
    if (options->truth && options->json) {
        emit_match(&j, &agreement->match, modules);
    } else if (options->truth) {
        print_match(&agreement->match, modules);
    }
    if (options->labels && options->json) {
        emit_classes(&j, &agreement->classes, modules);
        emit_best_units(&j, &agreement->classes);
    } else if (options->labels) {
        print_classes(&agreement->classes, modules);
        print_best_units(&agreement->classes);
    }
    if (options->json) {
        emit_close(&j, '}');
        putchar('\n');
    }
}

/* Writes and prints what was asked for. */
static int deliver(invocation *call, const rb_modules *modules, const rb_model *model,
                   const rb_source *source, const struct agreement *agreement) {
    const module_output_options *options = options_of(call, module_output_group());
    int status = STATUS_DONE;
    if (options->output) {
        status = write_modules(call, modules, model, source, format_of(options), options->output);
    }
    if (status) {
        return status;
    }
    if (options->truth || options->labels) {
        print_agreement(options, modules, agreement);
    } else if (options->json) {
        return write_modules(call, modules, model, source, RB_MODULES_JSON, "-");
    } else if (!options->output) {
        print_modules(modules, model);
    }
    return STATUS_DONE;
}

static int run(invocation *call) {
    rb_model *model = NULL;
    rb_source *source = NULL;
    rb_modules *modules = NULL;
    struct agreement agreement = {.match.size = sizeof agreement.match,
                                  .classes.size = sizeof agreement.classes};
    rb_error err = load_model(call, &model);
    if (!err) {
        err = open_data(call, model, call->arguments[1], &source);
    }
    if (!err) {
        err = rb_modules_find(call->ctx, model, source, call->options, &modules);
    }
    if (!err) { /* before anything is written: a truth that cannot be read leaves all as it was */
        err = measure_agreement(call, modules, model, source, &agreement);
    }
    int status =
        err ? report_failure(call->ctx, err) : deliver(call, modules, model, source, &agreement);
    rb_match_clear(&agreement.match);
    rb_enrichment_clear(&agreement.classes);
    rb_modules_free(modules);
    rb_source_free(source);
    rb_model_free(model);
    return status;
}

const command modules_command = {
    .words = "modules",
    .heading = "Use a model",
    .summary = "list the samples and features that belong to each unit",
    .description =
        "A module (bicluster) is a set of samples and a set of features that a unit ties together, "
        "with weights and signs; modules are ranked by their information content. Without -o a "
        "short table is printed.",
    .arguments = {{"MODEL", "a model that 'rarebit fit' wrote", false},
                  {"DATA", "samples x features, in any format that fit reads", false}},
    .groups = {rb_modules_group, module_output_group, coding_group, rb_read_group, general_group},
    .examples = {{"A look", "modules model.h5 genes.tsv --transpose --best 10"},
                 {"Gene sets for an enrichment tool", "modules model.h5 cells.h5ad -o modules.gmt"},
                 {"Which cell type is each module, and which unit marks each type?",
                  "modules model.h5 cells.h5ad --labels obs:louvain"},
                 {"Agreement with what was planted",
                  "modules model.h5 X.npy --best 10 --truth truth.json --json"}},
    .reads = "truth labels",
    .check_output = check_output,
    .run = run,
};
