/* What modules and units stand for: reading, computing, and the files. */
#include "answers.h"

#include "answers_tables.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct answer_options {
    const char *gmt, *gmt_output, *labels, *labels_output, *covariates, *covariate_groups,
        *covariates_output;
} answer_options;

const rb_option_group *answers_group(void) {
    static const rb_option table[] = {
        {"gmt", 0, RB_OPTION_TEXT, offsetof(answer_options, gmt), NULL, 0, 0, NULL, "FILE,...",
         "say which sets of features (GMT files: pathways, targets) are enriched in each module"},
        {"gmt-output", 0, RB_OPTION_TEXT, offsetof(answer_options, gmt_output), NULL, 0, 0, NULL,
         "FILE", "write all tests of sets: .tsv or .json"},
        {"labels", 0, RB_OPTION_TEXT, offsetof(answer_options, labels), NULL, 0, 0, NULL, "LABELS",
         "say which class each module matches: a TSV of sample name and class, with a header, or "
         "of classes alone; FILE:COLUMN of a TSV or .h5ad; or obs:COLUMN of the data's own file"},
        {"labels-output", 0, RB_OPTION_TEXT, offsetof(answer_options, labels_output), NULL, 0, 0,
         NULL, "FILE", "write the AUC of every unit for every class: .tsv or .json"},
        {"covariates", 0, RB_OPTION_TEXT, offsetof(answer_options, covariates), NULL, 0, 0, NULL,
         "TABLE",
         "say what codes go with: a table of sample names and columns (age, batch), with a header; "
         "FILE:COLUMN,... of such a table or an .h5ad; or obs:COLUMN,... of the data's own file; "
         "what a model's "
         "--regress needs is found there too"},
        {"covariate-groups", 0, RB_OPTION_TEXT, offsetof(answer_options, covariate_groups), NULL, 0,
         0, NULL, "COLUMN,...", "columns of numbers that stand for groups, such as batch"},
        {"covariates-output", 0, RB_OPTION_TEXT, offsetof(answer_options, covariates_output), NULL,
         0, 0, NULL, "FILE", "write every unit with every covariate: .tsv or .json"},
        {0},
    };
    static const rb_option_group group = {sizeof(rb_option), "What modules stand for", table,
                                          sizeof(answer_options)};
    return &group;
}

unit_name name_of_unit(const rb_modules *modules, int64_t rank) {
    unit_name name;
    snprintf(name.text, sizeof name.text, "%lld%s%s",
             (long long)rb_modules_get(modules, rank)->unit,
             rb_modules_other_side(modules, rank) ? "-" : "",
             rb_modules_background(modules, rank) ? " (background)" : "");
    return name;
}

const char *class_of_module(const answers *a, int64_t rank, double *auc) {
    const rb_enrichment_row *row = &a->classes.rows[rank];
    const rb_module *m = rb_modules_get(a->modules, rank);
    bool negative = m->n_samples > 0 && m->samples[0].weight < 0;
    double best = NAN;
    for (int64_t g = 0; row->class_name && g < a->aucs.n_groups; g++)
        if (strcmp(rb_covariates_group(a->labels, 0, g), row->class_name) == 0)
            best = a->aucs.rows[g * a->aucs.n_units + m->unit].auc;
    best = negative ? 1 - best : best;
    bool bears = row->class_name && row->log10_p_value_adjusted <= log10(0.05) && best > 0.5;
    *auc = bears ? best : NAN;
    return bears ? row->class_name : NULL;
}

static const char *const file_options[ANSWER_FILES] = {"gmt-output", "labels-output",
                                                       "covariates-output"};

bool answers_wanted(const invocation *call) {
    return option_text(call, "gmt") || option_text(call, "labels") ||
           option_text(call, "covariates");
}

int answers_check(const invocation *call) {
    static const char *const needs[][2] = {
        {"gmt-output", "gmt"},
        {"gmt-min", "gmt"},
        {"gmt-max", "gmt"},
        {"labels-output", "labels"},
        {"covariate-groups", "covariates"},
        {"covariates-output", "covariates"},
    };
    int status = check_pairs(call, needs, sizeof needs / sizeof *needs);
    if (status) return status;
    const char *gmt = option_text(call, "gmt");
    if (gmt && !*gmt) {
        report_error("--gmt names no file; give one, or several with commas between them");
        return STATUS_USAGE;
    }
    for (int f = 0; f < ANSWER_FILES; f++) {
        const char *target = option_text(call, file_options[f]);
        if (target && !table_format_known(target)) {
            report_error("cannot write '%s': its suffix must say the format: .tsv or .json",
                         target);
            return STATUS_USAGE;
        }
    }
    return STATUS_DONE;
}

/* ---- sets ---- */

/* One file, or several with commas between. */
static rb_error read_sets(invocation *call, const char *paths, rb_feature_sets *sets) {
    rb_error err = RB_OK;
    if (access(paths, F_OK) == 0) return rb_feature_sets_read(call->ctx, paths, sets);
    for (const char *path = paths; path && !err;) {
        const char *end = strchr(path, ',');
        char *one = end ? strndup(path, (size_t)(end - path)) : strdup(path);
        err = one ? rb_feature_sets_read(call->ctx, one, sets)
                  : rb_context_fail(call->ctx, RB_ERROR_MEMORY, "out of memory");
        free(one);
        path = end ? end + 1 : NULL;
    }
    return err;
}

static rb_error test_sets(invocation *call, answers *a) {
    rb_error err = rb_feature_sets_new(call->ctx, &a->sets);
    err = err ? err : read_sets(call, option_text(call, "gmt"), a->sets);
    err = err ? err
              : rb_modules_test_sets(call->ctx, a->modules, a->model, a->sets, call->options,
                                     &a->set_tests);
    if (err) return err;
    const rb_set_tests *t = &a->set_tests;
    report(
        "%lld of %lld sets tested, against %lld features in use; left out are %lld with fewer of "
        "them than %lld, %lld with more than %lld",
        (long long)t->n_sets, (long long)rb_feature_sets_count(a->sets), (long long)t->n_features,
        (long long)t->n_small, (long long)option_integer(call, "gmt-min"), (long long)t->n_large,
        (long long)option_integer(call, "gmt-max"));
    return RB_OK;
}

/* ---- codes against classes and covariates ---- */

static rb_error compare_classes(invocation *call, const char *labels, rb_source *source,
                                answers *a) {
    rb_classes classes = {.size = sizeof classes};
    rb_error err = read_classes(call, labels, source, &classes);
    err = err ? err
              : rb_modules_enrichment(call->ctx, a->modules, NULL, source, &classes, &a->classes);
    err = err ? err : rb_covariates_new(call->ctx, rb_source_samples(source), &a->labels);
    err = err ? err : rb_covariates_add_classes(call->ctx, a->labels, "class", &classes);
    rb_classes_clear(&classes);
    return err;
}

static rb_error read_tables(invocation *call, rb_source *source, answers *a) {
    const char *labels = option_text(call, "labels"), *where = option_text(call, "covariates");
    const char *groups = option_text(call, "covariate-groups");
    const rb_annotations *table;
    rb_error err = labels ? compare_classes(call, labels, source, a) : RB_OK;
    if (err || !where) return err;
    err = read_sample_table(call, where, source, &table);
    return err ? err
               : rb_annotations_covariates(call->ctx, table, rb_annotations_columns(where), groups,
                                           source, &a->covariates);
}

static rb_error test_codes(invocation *call, const rb_matrix *codes, answers *a) {
    rb_error err = RB_OK;
    if (a->labels) err = rb_covariates_auc(call->ctx, a->labels, 0, codes, &a->aucs);
    if (!err && a->labels)
        err = rb_covariates_overlap(call->ctx, a->labels, 0, a->modules, &a->aucs);
    if (!err && a->covariates)
        err = rb_covariates_test(call->ctx, a->covariates, codes, &a->covariate_tests);
    return err;
}

/* Encodes the samples once for both. */
static rb_error with_codes(invocation *call, rb_source *source, answers *a) {
    int64_t n = rb_source_samples(source), units = rb_model_units(a->model);
    rb_type type = rb_model_type(a->model);
    rb_matrix *codes = NULL;
    void *values = calloc((size_t)n + 1, (size_t)units * (type == RB_FLOAT32 ? 4 : 8));
    if (!values) return rb_context_fail(call->ctx, RB_ERROR_MEMORY, "out of memory for the codes");
    rb_error err = rb_encode_into(call->ctx, a->model, source, type, values, units, 1);
    err = err ? err : rb_matrix_dense(call->ctx, type, n, units, values, units, 1, &codes);
    err = err ? err : test_codes(call, codes, a);
    rb_matrix_free(codes);
    free(values);
    return err;
}

rb_error answers_find(invocation *call, rb_source *source, answers *a) {
    a->set_tests.size = sizeof a->set_tests;
    a->classes.size = sizeof a->classes;
    a->aucs.size = sizeof a->aucs;
    a->covariate_tests.size = sizeof a->covariate_tests;
    rb_error err = read_tables(call, source, a);
    if (!err && option_text(call, "gmt")) err = test_sets(call, a);
    if (!err && (a->labels || a->covariates)) err = with_codes(call, source, a);
    for (int f = 0; f < ANSWER_FILES && !err; f++) {
        const char *target = option_text(call, file_options[f]);
        if (target && has_suffix(target, ".json")) return name_origin(call, a->model, source);
    }
    return err;
}

void answers_clear(answers *a) {
    rb_feature_sets_free(a->sets);
    rb_set_tests_clear(&a->set_tests);
    rb_covariates_free(a->labels);
    rb_enrichment_clear(&a->classes);
    rb_group_aucs_clear(&a->aucs);
    rb_covariates_free(a->covariates);
    rb_covariate_tests_clear(&a->covariate_tests);
}

/* ---- where they go ---- */

void answers_print(const invocation *call, const answers *a) {
    bool first = true;
    if (a->sets && !option_text(call, "gmt-output")) {
        print_sets(a);
        first = false;
    }
    if (a->labels && !option_text(call, "labels-output")) {
        if (!first) putchar('\n');
        print_classes(a);
        first = false;
    }
    if (a->covariates && !option_text(call, "covariates-output")) {
        if (!first) putchar('\n');
        print_covariates(a);
    }
}

void answers_add(json_t **to, const answers *a) {
    if (a->labels) add_classes(to, a);
    if (a->sets) add_sets(to, a);
    if (a->covariates) add_covariates(to, a);
}

int answers_begin(invocation *call, const answers *a, output files[ANSWER_FILES]) {
    const result_table tables[ANSWER_FILES] = {table_of_sets(a), table_of_classes(a),
                                               table_of_covariates(a)};
    int status = STATUS_DONE;
    for (int f = 0; f < ANSWER_FILES && !status; f++) {
        const char *target = option_text(call, file_options[f]);
        if (target) status = table_begin(call, &files[f], target, &tables[f]);
        if (target && !status) report("%lld rows in %s", (long long)tables[f].rows, target);
    }
    return status ? answers_end(files, status) : STATUS_DONE;
}

int answers_end(output files[ANSWER_FILES], int status) {
    bool pipe = false; /* copying to one may take for ever: signals wait for renames alone */
    for (int f = 0; f < ANSWER_FILES; f++)
        pipe = pipe || files[f].temporary;
    if (!pipe) interrupt_hold();
    for (int f = 0; f < ANSWER_FILES; f++)
        if (files[f].target) status = output_end(&files[f], status);
    if (!pipe) interrupt_release();
    return status;
}
