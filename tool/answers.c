/* What modules and units stand for: reading, computing, and the files. */
#include "answers.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const rb_option_group *answers_group(void) {
    static const rb_option table[] = {
        {TEXT_OPTION("gmt"), "FILE,...",
         "say which sets of features (GMT files: pathways, targets) are enriched in each module",
         RB_OPTION_COMMON},
        {TEXT_OPTION("gmt-output"), "FILE", "write all tests of sets: .tsv or .json",
         .needs = "gmt"},
        {TEXT_OPTION("labels"), "LABELS",
         "say which class each module matches: a TSV of sample name and class, with a header, or "
         "of classes alone; FILE:COLUMN of a TSV or .h5ad; or obs:COLUMN of the data's own file",
         RB_OPTION_COMMON},
        {TEXT_OPTION("labels-output"), "FILE",
         "write the AUC of every unit for every class: .tsv or .json", .needs = "labels"},
        {TEXT_OPTION("covariates"), "TABLE",
         "say what codes go with: a table of sample names and columns (age, batch), with a header; "
         "FILE:COLUMN,... of such a table or an .h5ad; or obs:COLUMN,... of the data's own file; "
         "what a model's "
         "--regress needs is found there too",
         RB_OPTION_COMMON},
        {TEXT_OPTION("covariate-groups"), "COLUMN,...",
         "columns of numbers that stand for groups, such as batch", .needs = "covariates"},
        {TEXT_OPTION("covariates-output"), "FILE",
         "write every unit with every covariate: .tsv or .json", .needs = "covariates"},
        {TEXT_OPTION("blocks"), "LABELS",
         "permute whole blocks of samples that depend on each other (plates, families), all of one "
         "size; as --labels"},
        {0},
    };
    static const rb_option_group group = {sizeof(rb_option), "What modules stand for", table};
    return &group;
}

static const char *const file_options[ANSWER_FILES] = {"gmt-output", "labels-output",
                                                       "covariates-output"};

bool answers_wanted(const invocation *call) {
    return option_text(call, "gmt") || option_text(call, "labels") ||
           option_text(call, "covariates");
}

int answers_check(const invocation *call) {
    if (option_text(call, "blocks") && option_is(call, "permutations", "0"))
        return report_usage("--blocks does nothing without --permutations; give both, or neither");
    static const option_group sizes[] = {rb_sets_group, NULL};
    const char *gmt = option_text(call, "gmt");
    int status = check_needs(call, answers_group()->rows);
    if (!status && !gmt)
        status = refuse_options(call, sizes, "does nothing without --gmt; give both");
    if (status) return status;
    if (gmt && !*gmt)
        return report_usage("--gmt names no file; give one, or several with commas between them");
    for (int f = 0; f < ANSWER_FILES; f++) {
        const char *target = option_text(call, file_options[f]);
        rb_error err = target ? table_check(call->ctx, target) : RB_OK;
        if (err) return report_failure(call->ctx, err);
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
        err = one ? rb_feature_sets_read(call->ctx, one, sets) : fail_memory(call->ctx);
        free(one);
        path = end ? end + 1 : NULL;
    }
    return err;
}

static void tell_sets(const invocation *call, const answers *a) {
    const rb_set_tests *t = &a->document.set_tests;
    report(
        "%lld of %lld sets tested, against %lld features in use; left out are %lld with fewer of "
        "them than %lld, %lld with more than %lld",
        (long long)t->n_sets, (long long)rb_feature_sets_count(a->sets), (long long)t->n_features,
        (long long)t->n_small, (long long)option_integer(call, "gmt-min"), (long long)t->n_large,
        (long long)option_integer(call, "gmt-max"));
}

/* ---- the document ---- */

static rb_error read_table(invocation *call, const char *where, rb_source *source, answers *a) {
    const rb_annotations *table;
    rb_error err = read_sample_table(call, where, source, &table);
    return err ? err
               : rb_annotations_covariates(call->ctx, table, rb_annotations_columns(where),
                                           option_text(call, "covariate-groups"), source,
                                           &a->covariates);
}

/* Every file that is read besides model and data, once. */
static rb_error read_files(invocation *call, rb_source *source, answers *a) {
    const char *labels = option_text(call, "labels"), *where = option_text(call, "covariates");
    const char *gmt = option_text(call, "gmt");
    rb_error err = labels ? read_labels(call, labels, source, &a->labels) : RB_OK;
    const char *blocks = option_text(call, "blocks");
    if (!err && blocks) err = read_labels(call, blocks, source, &a->blocks);
    if (!err && where) err = read_table(call, where, source, a);
    if (err || !gmt) return err;
    err = rb_feature_sets_new(call->ctx, &a->sets);
    return err ? err : read_sets(call, gmt, a->sets);
}

/* Where it is stopped with some permutations done, the rest of the command is about these. */
static rb_error make_document(invocation *call, rb_document *d) {
    bool permutes = !option_is(call, "permutations", "0");
    if (permutes) {
        interrupt_resumable();
        watch_begin(call, NULL, NULL);
    }
    rb_error err = rb_document_make(call->ctx, d);
    if (permutes) watch_end(call);
    if (!err) rb_context_clear_stop(call->ctx);
    return err;
}

int answers_status(const invocation *call, const answers *a) {
    int64_t done = rb_modules_permutations(a->document.modules);
    return done < option_integer(call, "permutations") ? interrupt_status() : STATUS_DONE;
}

rb_error answers_find(invocation *call, const rb_model *model, rb_source *source, answers *a) {
    rb_document *d = &a->document;
    rb_error err = read_files(call, source, a);
    d->size = sizeof *d;
    d->model = model;
    d->source = source;
    d->options = call->options;
    d->sets = a->sets;
    d->labels = a->labels;
    d->covariates = a->covariates;
    d->blocks = a->blocks;
    err = err ? err : make_document(call, d);
    if (!err && d->complete && a->sets) tell_sets(call, a);
    for (int f = 0; f < ANSWER_FILES && !err; f++) {
        const char *target = option_text(call, file_options[f]);
        if (target && has_suffix(target, ".json")) return name_origin(call, model, source);
    }
    return err;
}

void answers_clear(answers *a) {
    rb_document_clear(&a->document);
    rb_feature_sets_free(a->sets);
    rb_covariates_free(a->labels);
    rb_covariates_free(a->blocks);
    rb_covariates_free(a->covariates);
}

/* ---- at the terminal ---- */

/* Rows below this false discovery rate are shown. */
#define SHOWN_FDR 0.05
enum { SHOWN_SETS = 3, SHOWN_UNITS = 5 };

static void print_part(const answers *a, rb_document_part part, const char *keys,
                       const int64_t *rows, int64_t count) {
    const table_view view =
        view_table(rb_document_table(&a->document, part), a->document.model, keys);
    view_print(&view, rows, count);
}

/* The first rows of each module and question below the rate; then the modules that have none. */
static void print_sets(const answers *a, int64_t *rows) {
    const rb_set_tests *t = &a->document.set_tests;
    const rb_table modules = rb_modules_table(a->document.modules);
    const rb_table_column *unit = rb_table_find(&modules, "unit");
    int64_t count = 0, r = 0, none = 0;
    for (int64_t m = 0; m < modules.n_rows; m++) {
        int shown[3] = {0};
        for (; r < t->n_rows && t->rows[r].module == m; r++)
            if (t->rows[r].fdr <= SHOWN_FDR && shown[t->rows[r].question]++ < SHOWN_SETS)
                rows[count++] = r;
    }
    print_part(a, RB_DOCUMENT_SETS, "unit test set_size overlap fold auc p_value fdr set features",
               rows, count);
    for (int64_t m = 0, at = 0; m < modules.n_rows; m++) {
        bool any = false;
        for (; at < count && t->rows[rows[at]].module == m; at++)
            any = true;
        if (any) continue;
        rb_value v = rb_table_value(&modules, m, unit);
        printf(none++ ? ", %s" : "no set with a false discovery rate of at most 0.05: %s", v.shown);
    }
    if (none) putchar('\n');
}

/* What is sorted: qsort knows no more than two rows, and systems differ in what qsort_r takes. */
static const rb_document *sorted;

static int by_enrichment(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    const rb_enrichment_row *rows = sorted->classes.rows;
    double p = rows[x].log10_p_value_adjusted, q = rows[y].log10_p_value_adjusted;
    return p != q ? (p > q) - (p < q) : (x > y) - (x < y);
}

/* Module by module, the most enriched first, then the other way round: for each class the unit. */
static void print_classes(const answers *a, int64_t *rows) {
    const rb_document *d = &a->document;
    int64_t count = d->classes.n_rows;
    for (int64_t r = 0; r < count; r++)
        rows[r] = r;
    sorted = d;
    qsort(rows, (size_t)count, sizeof *rows, by_enrichment);
    print_part(a, RB_DOCUMENT_CLASSES,
               "unit module_size overlap precision recall auc log10_p_value_adjusted class", rows,
               count);
    putchar('\n');
    print_part(a, RB_DOCUMENT_BEST_UNITS, "unit class_size auc overlap fdr class", NULL,
               d->aucs.n_groups);
}

static int by_p_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    const rb_covariate_test *rows = sorted->covariate_tests.rows;
    double p = rows[x].log10_p_value, q = rows[y].log10_p_value;
    bool no_p = isnan(p), no_q = isnan(q);
    int order = no_p || no_q ? no_p - no_q : (p > q) - (p < q);
    return order ? order : (x > y) - (x < y);
}

/* The units of each covariate with the smallest p-values. */
static void print_covariates(const answers *a, int64_t *rows) {
    const rb_document *d = &a->document;
    int64_t units = rb_model_units(d->model), shown = units < SHOWN_UNITS ? units : SHOWN_UNITS;
    int64_t covariates = rb_covariates_count(a->covariates);
    for (int64_t r = 0; r < covariates * units; r++)
        rows[r] = r;
    sorted = d;
    for (int64_t c = 0; c < covariates; c++) {
        qsort(rows + c * units, (size_t)units, sizeof *rows, by_p_value);
        memmove(rows + c * shown, rows + c * units, (size_t)shown * sizeof *rows);
    }
    print_part(a, RB_DOCUMENT_COVARIATES,
               "covariate statistic unit value p_value fdr explained explained_adjusted samples",
               rows, covariates * shown);
}

void answers_print(const invocation *call, const answers *a) {
    const rb_document *d = &a->document;
    void (*const print[ANSWER_FILES])(const answers *, int64_t *) = {print_sets, print_classes,
                                                                     print_covariates};
    const bool there[ANSWER_FILES] = {a->sets, d->aucs.n_groups > 0, a->covariates};
    const int64_t most[ANSWER_FILES] = {d->set_tests.n_rows, d->classes.n_rows,
                                        d->covariate_tests.n_rows};
    for (int f = 0, printed = 0; f < ANSWER_FILES; f++) {
        if (!there[f] || option_text(call, file_options[f])) continue;
        int64_t *rows = calloc((size_t)most[f] + 1, sizeof *rows);
        if (printed++) putchar('\n');
        if (rows) print[f](a, rows);
        free(rows);
    }
}

/* ---- JSON and files ---- */

static const rb_document_part file_parts[ANSWER_FILES] = {
    RB_DOCUMENT_SETS, RB_DOCUMENT_UNIT_CLASSES, RB_DOCUMENT_COVARIATES};

static json_t *part_json(const answers *a, rb_document_part part) {
    return view_json(rb_document_table(&a->document, part), a->document.model, NULL);
}

static void add_classes(json_t **to, const answers *a) {
    rb_json_add(to, "labelled_samples", json_integer(a->document.classes.n_labelled));
    rb_json_add(to, "classes", part_json(a, RB_DOCUMENT_CLASSES));
    rb_json_add(to, "best_units", part_json(a, RB_DOCUMENT_BEST_UNITS));
    rb_json_add(to, "unit_classes", part_json(a, RB_DOCUMENT_UNIT_CLASSES));
}

static void add_sets(json_t **to, const answers *a) {
    const rb_set_tests *t = &a->document.set_tests;
    rb_json_add(to, "feature_sets",
                json_pack("{sI sI sI sI sI sI so}", "features_in_use", (json_int_t)t->n_features,
                          "sets_tested", (json_int_t)t->n_sets, "sets_too_small",
                          (json_int_t)t->n_small, "sets_too_large", (json_int_t)t->n_large,
                          "overlap_tests", (json_int_t)t->n_overlap_tests, "rank_tests",
                          (json_int_t)t->n_rank_tests, "tests", part_json(a, RB_DOCUMENT_SETS)));
}

static void add_covariates(json_t **to, const answers *a) {
    json_t *columns = json_array();
    for (int64_t c = 0; c < rb_covariates_count(a->covariates); c++) {
        int64_t n_groups = rb_covariates_groups(a->covariates, c);
        json_t *groups = n_groups ? json_array() : json_null();
        for (int64_t g = 0; g < n_groups; g++)
            rb_json_add(&groups, NULL, rb_json_text(rb_covariates_group(a->covariates, c, g)));
        rb_json_add(&columns, NULL,
                    json_pack("{so sI so}", "name",
                              rb_json_text(rb_covariates_name(a->covariates, c)), "missing",
                              (json_int_t)rb_covariates_missing(a->covariates, c), "groups",
                              groups));
    }
    rb_json_add(to, "covariates", columns);
    rb_json_add(to, "covariate_tests", part_json(a, RB_DOCUMENT_COVARIATES));
}

void answers_add(json_t **to, const answers *a) {
    if (a->labels) add_classes(to, a);
    if (a->sets) add_sets(to, a);
    if (a->covariates) add_covariates(to, a);
}

int answers_begin(invocation *call, const answers *a, output files[ANSWER_FILES]) {
    int status = STATUS_DONE;
    for (int f = 0; f < ANSWER_FILES && !status; f++) {
        const char *target = option_text(call, file_options[f]);
        if (!target) continue;
        const table_view view =
            view_table(rb_document_table(&a->document, file_parts[f]), a->document.model, NULL);
        const result_table rows = view_rows(&view);
        status = table_begin(call, &files[f], target, &rows);
        if (!status) report("%lld rows in %s", (long long)rows.rows, output_shown(target));
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
