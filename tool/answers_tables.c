/* How answers are shown: tables at the terminal, rows of files, JSON. */
#include "answers_tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows below this false discovery rate are shown at the terminal. */
#define SHOWN_FDR 0.05
enum { SHOWN_SETS = 3, SHOWN_UNITS = 5, SHOWN_FEATURES = 5, SHOWN_NAME = 48 };

/* A number for a column, "-" where there is none. */
typedef struct cell {
    char text[32];
} cell;

static cell number_cell(const char *format, double value) {
    cell c = {"-"};
    if (!isnan(value)) snprintf(c.text, sizeof c.text, format, value);
    return c;
}

/* A probability that may be too small for a number: "3e-420", of its decimal logarithm. */
static cell power_cell(double value, double log10_value) {
    cell c = number_cell("%.2g", value);
    if (log10_value < -300 && isfinite(log10_value)) {
        double whole = floor(log10_value);
        snprintf(c.text, sizeof c.text, "%.1fe%.0f", pow(10, log10_value - whole), whole);
    }
    return c;
}

static const char *const questions[] = {"up", "down", "rank"};

/* ---- sets ---- */

static void print_features(const rb_model *model, const rb_set_test *row) {
    for (int64_t i = 0; i < row->overlap && i < SHOWN_FEATURES; i++)
        printf("%s%s", i ? " " : "  ", rb_model_feature_name(model, row->features[i]));
    if (row->overlap > SHOWN_FEATURES) printf(" ...");
}

static void print_set_row(const answers *a, const rb_set_test *row, int width) {
    const char *name = rb_feature_sets_name(a->sets, row->set);
    cell p = power_cell(row->p_value, row->log10_p_value);
    cell fdr = power_cell(row->fdr, row->log10_fdr);
    cell overlap = number_cell("%.0f", row->features ? (double)row->overlap : NAN);
    cell fold = number_cell("%.1f", row->fold), auc = number_cell("%.3f", row->auc);
    printf("%-6s %-5s %6lld %8s %7s %6s %9s %9s  ", name_of_unit(a->modules, row->module).text,
           questions[row->question], (long long)row->set_size, overlap.text, fold.text, auc.text,
           p.text, fdr.text);
    if (row->features) {
        printf("%-*.*s", width, width, name);
        print_features(a->model, row);
    } else {
        printf("%.*s", width, name);
    }
    putchar('\n');
}

/* The first rows of a module and question below the rate; `shown` counts them, zeros at first. */
static bool is_shown(const rb_set_test *row, int shown[3]) {
    return row->fdr <= SHOWN_FDR && shown[row->question]++ < SHOWN_SETS;
}

/* Of the column with names of sets. */
static int width_of_names(const answers *a) {
    const rb_set_tests *t = &a->set_tests;
    int shown[3] = {0}, width = (int)strlen("set");
    for (int64_t r = 0; r < t->n_rows; r++) {
        if (r == 0 || t->rows[r].module != t->rows[r - 1].module) memset(shown, 0, sizeof shown);
        if (!is_shown(&t->rows[r], shown)) continue;
        int length = (int)strnlen(rb_feature_sets_name(a->sets, t->rows[r].set), SHOWN_NAME);
        width = length > width ? length : width;
    }
    return width;
}

void print_sets(const answers *a) {
    const rb_set_tests *t = &a->set_tests;
    int width = width_of_names(a);
    printf("%-6s %-5s %6s %8s %7s %6s %9s %9s  %-*s  %s\n", "unit", "side", "in set", "overlap",
           "fold", "AUC", "p", "FDR", width, "set", "features in both");
    for (int64_t m = 0, r = 0; m < rb_modules_count(a->modules); m++) {
        int shown[3] = {0};
        bool any = false;
        for (; r < t->n_rows && t->rows[r].module == m; r++) {
            if (!is_shown(&t->rows[r], shown)) continue;
            print_set_row(a, &t->rows[r], width);
            any = true;
        }
        if (!any) {
            printf("%-6s -     no set with a false discovery rate below %g\n",
                   name_of_unit(a->modules, m).text, SHOWN_FDR);
        }
    }
}

static json_t *set_row(const void *of, int64_t r) {
    const answers *a = of;
    const rb_set_test *row = &a->set_tests.rows[r];
    json_t *features = json_array();
    for (int64_t i = 0; row->features && i < row->overlap; i++)
        json_add(&features, NULL, json_of_text(rb_model_feature_name(a->model, row->features[i])));
    return json_pack(
        "{sI sI so ss sI sI so so so so so so so so so}", "module", (json_int_t)row->module, "unit",
        (json_int_t)row->unit, "set", json_of_text(rb_feature_sets_name(a->sets, row->set)), "test",
        questions[row->question], "set_size", (json_int_t)row->set_size, "size",
        (json_int_t)row->size, "overlap", row->features ? json_integer(row->overlap) : json_null(),
        "expected", json_of_number(row->expected), "fold", json_of_number(row->fold), "auc",
        json_of_number(row->auc), "p_value", json_of_number(row->p_value), "log10_p_value",
        json_of_number(row->log10_p_value), "fdr", json_of_number(row->fdr), "log10_fdr",
        json_of_number(row->log10_fdr), "features", features);
}

result_table table_of_sets(const answers *a) {
    return (result_table){"module unit set test set_size size overlap expected fold auc p_value "
                          "log10_p_value fdr log10_fdr features",
                          a->set_tests.n_rows, set_row, a};
}

void add_sets(json_t **to, const answers *a) {
    const rb_set_tests *t = &a->set_tests;
    const result_table table = table_of_sets(a);
    json_add(to, "feature_sets",
             json_pack("{sI sI sI sI sI sI so}", "features_in_use", (json_int_t)t->n_features,
                       "sets_tested", (json_int_t)t->n_sets, "sets_too_small",
                       (json_int_t)t->n_small, "sets_too_large", (json_int_t)t->n_large,
                       "overlap_tests", (json_int_t)t->n_overlap_tests, "rank_tests",
                       (json_int_t)t->n_rank_tests, "tests", table_json(&table)));
}

/* ---- classes ---- */

/* The row of a class's best unit, or of its first where it has none. */
static const rb_group_auc *best_row(const answers *a, int64_t group) {
    int64_t best = a->aucs.best[group];
    return &a->aucs.rows[group * a->aucs.n_units + (best < 0 ? 0 : best)];
}

static int by_enrichment(const void *a, const void *b) {
    const rb_enrichment_row *x = a, *y = b;
    double p = x->log10_p_value_adjusted, q = y->log10_p_value_adjusted;
    return p != q ? (p > q) - (p < q) : (x->module > y->module) - (x->module < y->module);
}

static void print_module_class(const answers *a, const rb_enrichment_row *row) {
    double told;
    const char *name = class_of_module(a, row->module, &told);
    cell overlap = number_cell("%.0f", name ? (double)row->overlap : NAN);
    cell precision = number_cell("%.3f", name ? row->precision : NAN);
    cell recall = number_cell("%.3f", name ? row->recall : NAN), auc = number_cell("%.4f", told);
    printf("%-6s %8lld %9s %9s %9s %8s %8.1f  %s\n", name_of_unit(a->modules, row->module).text,
           (long long)row->module_size, overlap.text, precision.text, recall.text, auc.text,
           row->log10_p_value_adjusted, name ? name : "-");
}

/* Module by module, the most enriched first, then the other way round: for each class the unit. */
void print_classes(const answers *a) {
    size_t count = (size_t)a->classes.n_rows;
    rb_enrichment_row *rows = malloc(count * sizeof *rows + 1);
    printf("%-6s %8s %9s %9s %9s %8s %8s  %s\n", "unit", "samples", "overlap", "precision",
           "recall", "AUC", "log10 p", "class");
    if (rows && count) memcpy(rows, a->classes.rows, count * sizeof *rows);
    if (rows) qsort(rows, count, sizeof *rows, by_enrichment);
    for (size_t r = 0; rows && r < count; r++)
        print_module_class(a, &rows[r]);
    free(rows);
    printf("\n%-9s %8s %8s %9s %9s  %s\n", "best unit", "samples", "AUC", "overlap", "FDR",
           "class");
    for (int64_t g = 0; g < a->aucs.n_groups; g++) {
        const rb_group_auc *row = best_row(a, g);
        bool there = a->aucs.best[g] >= 0;
        cell unit = number_cell("%.0f", there ? (double)row->unit : NAN);
        cell auc = number_cell("%.4f", row->auc), fdr = power_cell(row->fdr, row->log10_fdr);
        cell overlap = number_cell("%.0f", row->overlap < 0 ? NAN : (double)row->overlap);
        printf("%-9s %8lld %8s %9s %9s  %s\n", unit.text, (long long)row->group_size, auc.text,
               overlap.text, fdr.text, rb_covariates_group(a->labels, 0, g));
    }
}

json_t *json_of_overlap(const rb_group_auc *row) {
    return row->overlap < 0 ? json_null() : json_integer(row->overlap);
}

static json_t *class_row(const void *of, int64_t r) {
    const answers *a = of;
    const rb_group_auc *row = &a->aucs.rows[r];
    return json_pack("{sI so sI so so so so so so}", "unit", (json_int_t)row->unit, "class",
                     json_of_text(rb_covariates_group(a->labels, 0, row->group)), "class_size",
                     (json_int_t)row->group_size, "auc", json_of_number(row->auc), "overlap",
                     json_of_overlap(row), "p_value", json_of_number(row->p_value), "log10_p_value",
                     json_of_number(row->log10_p_value), "fdr", json_of_number(row->fdr),
                     "log10_fdr", json_of_number(row->log10_fdr));
}

result_table table_of_classes(const answers *a) {
    return (result_table){"unit class class_size auc overlap p_value log10_p_value fdr log10_fdr",
                          a->aucs.n_groups * a->aucs.n_units, class_row, a};
}

/* A number of the class that a module goes with, where it goes with one. */
static json_t *of_class(const char *name, double value, bool whole) {
    return !name ? json_null() : whole ? json_integer((json_int_t)value) : json_of_number(value);
}

static json_t *module_row(const answers *a, const rb_enrichment_row *r) {
    double auc;
    const char *name = class_of_module(a, r->module, &auc);
    return json_pack("{sI sI so sI so so so so so so so so so}", "module", (json_int_t)r->module,
                     "unit", (json_int_t)rb_modules_get(a->modules, r->module)->unit, "class",
                     json_of_text(name), "module_size", (json_int_t)r->module_size, "class_size",
                     of_class(name, (double)r->class_size, true), "overlap",
                     of_class(name, (double)r->overlap, true), "precision",
                     of_class(name, r->precision, false), "recall",
                     of_class(name, r->recall, false), "f1", of_class(name, r->f1, false),
                     "jaccard", of_class(name, r->jaccard, false), "log10_p_value",
                     json_of_number(r->log10_p_value), "log10_p_value_adjusted",
                     json_of_number(r->log10_p_value_adjusted), "auc", json_of_number(auc));
}

void add_classes(json_t **to, const answers *a) {
    const result_table table = table_of_classes(a);
    json_t *rows = json_array(), *units = json_array();
    for (int64_t r = 0; r < a->classes.n_rows; r++)
        json_add(&rows, NULL, module_row(a, &a->classes.rows[r]));
    for (int64_t g = 0; g < a->aucs.n_groups; g++) {
        const rb_group_auc *row = best_row(a, g);
        bool there = a->aucs.best[g] >= 0;
        json_add(&units, NULL,
                 json_pack("{so sI sI so so}", "class",
                           json_of_text(rb_covariates_group(a->labels, 0, g)), "class_size",
                           (json_int_t)row->group_size, "unit",
                           there ? (json_int_t)row->unit : (json_int_t)-1, "auc",
                           json_of_number(row->auc), "overlap", json_of_overlap(row)));
    }
    json_add(to, "labelled_samples", json_integer(a->classes.n_labelled));
    json_add(to, "classes", rows);
    json_add(to, "best_units", units);
    json_add(to, "unit_classes", table_json(&table));
}

/* ---- covariates ---- */

static int by_p_value(const void *a, const void *b) {
    const rb_covariate_test *x = a, *y = b;
    bool no_x = isnan(x->p_value), no_y = isnan(y->p_value);
    if (no_x || no_y) return no_x - no_y;
    return (x->log10_p_value > y->log10_p_value) - (x->log10_p_value < y->log10_p_value);
}

static void print_covariate(const char *name, const rb_covariate_test *row) {
    cell statistic = number_cell("%.3f", row->statistic);
    cell p = power_cell(row->p_value, row->log10_p_value);
    cell fdr = power_cell(row->fdr, row->log10_fdr);
    cell explained = number_cell("%.1f", 100 * row->explained);
    cell adjusted = number_cell("%.1f", 100 * row->explained_adjusted);
    printf("%-20.20s %-4s %6lld %9s %9s %9s %9s %9s %8lld\n", name, row->groups ? "H" : "rho",
           (long long)row->unit, statistic.text, p.text, fdr.text, explained.text, adjusted.text,
           (long long)row->samples);
}

/* The units of each covariate with the smallest p-values. */
void print_covariates(const answers *a) {
    int64_t count = rb_covariates_count(a->covariates);
    int64_t units = rb_model_units(a->model);
    rb_covariate_test *rows = malloc((size_t)units * sizeof *rows);
    printf("%-20s %-4s %6s %9s %9s %9s %9s %9s %8s\n", "covariate", "", "unit", "statistic", "p",
           "FDR", "% of var", "adjusted", "samples");
    for (int64_t c = 0; rows && c < count; c++) {
        memcpy(rows, a->covariate_tests.rows + c * units, (size_t)units * sizeof *rows);
        qsort(rows, (size_t)units, sizeof *rows, by_p_value);
        for (int64_t u = 0; u < units && u < SHOWN_UNITS; u++)
            print_covariate(rb_covariates_name(a->covariates, c), &rows[u]);
    }
    free(rows);
}

static json_t *covariate_row(const void *of, int64_t r) {
    const answers *a = of;
    const rb_covariate_test *row = &a->covariate_tests.rows[r];
    return json_pack(
        "{sI so ss sI sI so so so so so so so}", "unit", (json_int_t)row->unit, "covariate",
        json_of_text(rb_covariates_name(a->covariates, row->covariate)), "statistic",
        row->groups > 0 || rb_covariates_groups(a->covariates, row->covariate) > 0
            ? "kruskal_wallis_h"
            : "spearman_rho",
        "samples", (json_int_t)row->samples, "groups", (json_int_t)row->groups, "value",
        json_of_number(row->statistic), "p_value", json_of_number(row->p_value), "log10_p_value",
        json_of_number(row->log10_p_value), "fdr", json_of_number(row->fdr), "log10_fdr",
        json_of_number(row->log10_fdr), "explained", json_of_number(row->explained),
        "explained_adjusted", json_of_number(row->explained_adjusted));
}

result_table table_of_covariates(const answers *a) {
    return (result_table){"unit covariate statistic samples groups value p_value log10_p_value fdr "
                          "log10_fdr explained explained_adjusted",
                          a->covariate_tests.n_rows, covariate_row, a};
}

void add_covariates(json_t **to, const answers *a) {
    const result_table table = table_of_covariates(a);
    json_t *columns = json_array();
    for (int64_t c = 0; c < rb_covariates_count(a->covariates); c++) {
        int64_t n_groups = rb_covariates_groups(a->covariates, c);
        json_t *groups = n_groups ? json_array() : json_null();
        for (int64_t g = 0; g < n_groups; g++)
            json_add(&groups, NULL, json_of_text(rb_covariates_group(a->covariates, c, g)));
        json_add(&columns, NULL,
                 json_pack("{so sI so}", "name", json_of_text(rb_covariates_name(a->covariates, c)),
                           "missing", (json_int_t)rb_covariates_missing(a->covariates, c), "groups",
                           groups));
    }
    json_add(to, "covariates", columns);
    json_add(to, "covariate_tests", table_json(&table));
}
