/* The tables of a document: one row here for each column that is written anywhere. */
#include "modules.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

static rb_value text_value(const char *text) {
    return (rb_value){.kind = RB_VALUE_TEXT, .text = text};
}

static rb_value number_value(const rb_table_column *column, double number) {
    return (rb_value){.kind = column->kind, .number = number};
}

static const char *const roles[] = {"module", "other side", "spare", "background"};

/* A unit, to read as its module: "3", "3-" for its other side, "3 (background)". */
static rb_value unit_of(const rb_modules *modules, int64_t rank) {
    rb_value v = {.kind = RB_VALUE_INTEGER, .integer = modules->list[rank].unit};
    rb_unit_role role = modules->notes[rank].role;
    const char *side = role == RB_UNIT_OTHER_SIDE ? "-" : "";
    const char *before = role >= RB_UNIT_SPARE ? " (" : "",
               *after = role >= RB_UNIT_SPARE ? ")" : "";
    snprintf(v.shown, sizeof v.shown, "%lld%s%s%s%s", (long long)v.integer, side, before,
             role >= RB_UNIT_SPARE ? roles[role] : "", after);
    return v;
}

/* ---- modules ---- */

static rb_value module_unit(const rb_table *table, int64_t row, const rb_table_column *column) {
    (void)column;
    return unit_of(table->of, row);
}

/* Were they found, and not read or planted? */
static bool are_ranked(const rb_modules *modules) {
    return modules->rule || (modules->count > 0 && modules->notes[0].score > 0);
}

static rb_value module_score(const rb_table *table, int64_t row, const rb_table_column *column) {
    const rb_modules *modules = table->of;
    return number_value(column, are_ranked(modules) ? modules->notes[row].score : NAN);
}

static rb_value module_role(const rb_table *table, int64_t row, const rb_table_column *column) {
    const rb_modules *modules = table->of;
    (void)column;
    return are_ranked(modules) ? text_value(roles[modules->notes[row].role]) : (rb_value){0};
}

static rb_value module_stability(const rb_table *table, int64_t row,
                                 const rb_table_column *column) {
    const rb_module *list = table->rows;
    return number_value(column, list[0].stability > 0 ? list[row].stability : NAN);
}

static rb_value module_chance(const rb_table *table, int64_t row, const rb_table_column *column) {
    rb_significance s = {NAN, NAN, NAN, NAN};
    rb_modules_significance(table->of, row, &s);
    return number_value(column, *(const double *)(const void *)((const char *)&s + column->offset));
}

static rb_value module_members(const rb_table *table, int64_t row, const rb_table_column *column) {
    const rb_module *m = (const rb_module *)table->rows + row;
    return (rb_value){.kind = column->kind,
                      .members = m->features,
                      .integer = m->n_features,
                      .above = column->key[0] == 'u'};
}

static const rb_table_column module_columns[] = {
    {"module", "rank", NULL, "by score, from 0", RB_VALUE_INTEGER, .value = rb_row_number},
    {"unit", "unit", NULL, "the number of the unit in the model: the same in every file and plot",
     RB_VALUE_INTEGER, .value = module_unit},
    {"information", "information", "%.4g",
     "what the unit tells of its samples beyond the noise, in nats", RB_VALUE_NUMBER,
     offsetof(rb_module, information)},
    {"score", "score", "%.4g",
     "what modules are ranked by, in nats: the information, or with the rule test the smaller of "
     "that of samples and of features",
     RB_VALUE_NUMBER, .value = module_score, .optional = true},
    {"p", "p", "%.4f", "chance of such a unit in permuted or rotated data, for one unit",
     RB_VALUE_NUMBER, offsetof(rb_significance, p), module_chance, true},
    {"p_family", "family-wise", "%.4f",
     "chance of such a unit in permuted or rotated data, over all units", RB_VALUE_NUMBER,
     offsetof(rb_significance, p_family), module_chance, true},
    {"p_permuted", "permuted", "%.4f",
     "p_family in permuted data alone: do the features of the module go together?", RB_VALUE_NUMBER,
     offsetof(rb_significance, p_permuted), module_chance, true},
    {"fdr", "FDR", "%.4f", "false discovery rate at which the module counts as real",
     RB_VALUE_NUMBER, offsetof(rb_significance, fdr), module_chance, true},
    {"n_samples", "samples", NULL, "samples in which the unit is active, by the rule",
     RB_VALUE_INTEGER, offsetof(rb_module, n_samples)},
    {"n_features", "features", NULL, "features on which the unit acts, by the rule",
     RB_VALUE_INTEGER, offsetof(rb_module, n_features)},
    {"stability", "stability", "%.2f",
     "share of the models of the consensus that have this unit, each by how similar its unit is",
     RB_VALUE_NUMBER, .value = module_stability, .optional = true},
    {"role", "role", NULL, "module, the other side of a unit, spare or background", RB_VALUE_TEXT,
     .value = module_role, .optional = true},
    {"up", "up: largest weights", NULL, "features of largest positive weight", RB_VALUE_MEMBERS,
     .value = module_members},
    {"down", "down: below 0", NULL, "features of largest negative weight", RB_VALUE_MEMBERS,
     .value = module_members},
    {0},
};

/* ---- classes ---- */

static rb_value class_unit(const rb_table *table, int64_t row, const rb_table_column *column) {
    (void)column;
    return unit_of(((const rb_document *)table->of)->modules, row);
}

static rb_value class_name(const rb_table *table, int64_t row, const rb_table_column *column) {
    double auc;
    (void)column;
    return text_value(rb_document_class(table->of, row, &auc));
}

static rb_value class_auc(const rb_table *table, int64_t row, const rb_table_column *column) {
    double auc;
    rb_document_class(table->of, row, &auc);
    return number_value(column, auc);
}

/* Of the class that the module goes with, where it goes with one. */
static rb_value of_class(const rb_table *table, int64_t row, const rb_table_column *column) {
    double auc;
    rb_table_column plain = *column;
    plain.value = NULL;
    return rb_document_class(table->of, row, &auc) ? rb_table_value(table, row, &plain)
                                                   : (rb_value){0};
}

static const rb_table_column class_columns[] = {
    {"module", "rank", NULL, "from 0", RB_VALUE_INTEGER, offsetof(rb_enrichment_row, module)},
    {"unit", "unit", NULL, "the number of the unit in the model", RB_VALUE_INTEGER,
     .value = class_unit},
    {"class", "class", NULL,
     "the class that is most enriched; none where p is above 0.05, the AUC is not above 0.5, or "
     "less than a quarter of the module is of it",
     RB_VALUE_TEXT, .value = class_name},
    {"module_size", "samples", NULL, "samples of the module that have a class", RB_VALUE_INTEGER,
     offsetof(rb_enrichment_row, module_size)},
    {"class_size", "in class", NULL, "samples of the class", RB_VALUE_INTEGER,
     offsetof(rb_enrichment_row, class_size), of_class},
    {"overlap", "overlap", NULL, "samples in both", RB_VALUE_INTEGER,
     offsetof(rb_enrichment_row, overlap), of_class},
    {"precision", "precision", "%.3f", "overlap / samples of the module", RB_VALUE_NUMBER,
     offsetof(rb_enrichment_row, precision), of_class},
    {"recall", "recall", "%.3f", "overlap / samples of the class", RB_VALUE_NUMBER,
     offsetof(rb_enrichment_row, recall), of_class},
    {"f1", "F1", "%.3f", "harmonic mean of precision and recall", RB_VALUE_NUMBER,
     offsetof(rb_enrichment_row, f1), of_class},
    {"jaccard", "Jaccard", "%.3f", "overlap / samples in either", RB_VALUE_NUMBER,
     offsetof(rb_enrichment_row, jaccard), of_class},
    {"log10_p_value", "log10 p of one test", "%.1f", "chance of as large an overlap",
     RB_VALUE_NUMBER, offsetof(rb_enrichment_row, log10_p_value)},
    {"log10_p_value_adjusted", "log10 p", "%.1f", "corrected for all modules and classes",
     RB_VALUE_NUMBER, offsetof(rb_enrichment_row, log10_p_value_adjusted)},
    {"auc", "AUC", "%.4f", "how well the unit's codes separate the class from the others",
     RB_VALUE_NUMBER, .value = class_auc},
    {0},
};

/* ---- units and classes ---- */

static rb_value unit_class(const rb_table *table, int64_t row, const rb_table_column *column) {
    const rb_group_auc *rows = table->rows;
    const rb_document *d = table->of;
    (void)column;
    return text_value(rb_covariates_group(d->labels, 0, rows[row].group));
}

static const rb_table_column unit_class_columns[] = {
    {"unit", "unit", NULL, "", RB_VALUE_INTEGER, offsetof(rb_group_auc, unit)},
    {"class", "class", NULL, "", RB_VALUE_TEXT, .value = unit_class},
    {"class_size", "samples", NULL, "samples of the class", RB_VALUE_INTEGER,
     offsetof(rb_group_auc, group_size)},
    {"auc", "AUC", "%.4f",
     "probability that a sample of the class has a larger code than another one; below 0.5 the "
     "class has the smaller ones",
     RB_VALUE_NUMBER, offsetof(rb_group_auc, auc)},
    {"overlap", "overlap", NULL, "samples of the class in the module of the unit", RB_VALUE_INTEGER,
     offsetof(rb_group_auc, overlap)},
    {"p_value", "p", "%.2g", "Mann-Whitney test, two-sided", RB_VALUE_CHANCE,
     offsetof(rb_group_auc, p_value)},
    {"log10_p_value", "log10 p", "%.1f", "", RB_VALUE_NUMBER,
     offsetof(rb_group_auc, log10_p_value)},
    {"fdr", "FDR", "%.2g", "false discovery rate over all units and classes", RB_VALUE_CHANCE,
     offsetof(rb_group_auc, fdr)},
    {"log10_fdr", "log10 FDR", "%.1f", "", RB_VALUE_NUMBER, offsetof(rb_group_auc, log10_fdr)},
    {0},
};

/* The row of a class's best unit, or of its first where it has none. */
static rb_value best_unit(const rb_table *table, int64_t row, const rb_table_column *column) {
    const rb_document *d = table->of;
    const rb_table units = rb_document_table(d, RB_DOCUMENT_UNIT_CLASSES);
    int64_t best = d->aucs.best[row];
    bool unit = column->offset == offsetof(rb_group_auc, unit);
    if (unit && best < 0) return (rb_value){0};
    for (int64_t r = rb_modules_called(d->modules); unit && r < d->modules->count; r++)
        if (d->modules->list[r].unit == best) return unit_of(d->modules, r); /* with its role */
    return rb_table_value(&units, row * d->aucs.n_units + (best < 0 ? 0 : best),
                          rb_table_find(&units, column->key));
}

static const rb_table_column best_unit_columns[] = {
    {"class", "class", NULL, "", RB_VALUE_TEXT, SIZE_MAX, best_unit},
    {"class_size", "samples", NULL, "samples of the class", RB_VALUE_INTEGER, SIZE_MAX, best_unit},
    {"unit", "best unit", NULL, "the unit that marks the class best", RB_VALUE_INTEGER,
     offsetof(rb_group_auc, unit), best_unit},
    {"auc", "AUC", "%.4f", "", RB_VALUE_NUMBER, SIZE_MAX, best_unit},
    {"overlap", "overlap", NULL, "samples of the class in the module of the unit", RB_VALUE_INTEGER,
     SIZE_MAX, best_unit},
    {"fdr", "FDR", "%.2g", "", RB_VALUE_CHANCE, SIZE_MAX, best_unit},
    {0},
};

/* ---- sets of features ---- */

static rb_value set_name(const rb_table *table, int64_t row, const rb_table_column *column) {
    const rb_document *d = table->of;
    (void)column;
    return text_value(rb_feature_sets_name(d->sets, d->set_tests.rows[row].set));
}

static rb_value set_question(const rb_table *table, int64_t row, const rb_table_column *column) {
    static const char *const questions[] = {"up", "down", "rank"};
    (void)column;
    return text_value(questions[((const rb_set_test *)table->rows)[row].question]);
}

static rb_value set_unit(const rb_table *table, int64_t row, const rb_table_column *column) {
    (void)column;
    return unit_of(((const rb_document *)table->of)->modules,
                   ((const rb_set_test *)table->rows)[row].module);
}

static rb_value set_overlap(const rb_table *table, int64_t row, const rb_table_column *column) {
    const rb_set_test *test = (const rb_set_test *)table->rows + row;
    if (column->kind == RB_VALUE_INTEGER)
        return (rb_value){test->features ? RB_VALUE_INTEGER : RB_VALUE_NONE, test->overlap};
    return (rb_value){.kind = column->kind,
                      .features = test->features,
                      .integer = test->features ? test->overlap : 0};
}

static const rb_table_column set_columns[] = {
    {"module", "rank", NULL, "from 0", RB_VALUE_INTEGER, offsetof(rb_set_test, module)},
    {"unit", "unit", NULL, "the number of the unit in the model", RB_VALUE_INTEGER,
     .value = set_unit},
    {"set", "set", NULL, "", RB_VALUE_TEXT, .value = set_name},
    {"test", "side", NULL,
     "up: features of positive weight; down: of negative weight; rank: all in use, by loading",
     RB_VALUE_TEXT, .value = set_question},
    {"set_size", "in set", NULL, "features in use that are in the set", RB_VALUE_INTEGER,
     offsetof(rb_set_test, set_size)},
    {"size", "tested", NULL, "features of the module on that side, or all in use", RB_VALUE_INTEGER,
     offsetof(rb_set_test, size)},
    {"overlap", "overlap", NULL, "features of the set that are in the module", RB_VALUE_INTEGER,
     .value = set_overlap},
    {"expected", "expected", "%.1f", "overlap by chance", RB_VALUE_NUMBER,
     offsetof(rb_set_test, expected)},
    {"fold", "fold", "%.1f", "overlap / expected", RB_VALUE_NUMBER, offsetof(rb_set_test, fold)},
    {"auc", "AUC", "%.3f",
     "probability that a feature of the set has a larger loading than another one; 0.5 is chance",
     RB_VALUE_NUMBER, offsetof(rb_set_test, auc)},
    {"p_value", "p", "%.2g", "", RB_VALUE_CHANCE, offsetof(rb_set_test, p_value)},
    {"log10_p_value", "log10 p", "%.1f", "", RB_VALUE_NUMBER, offsetof(rb_set_test, log10_p_value)},
    {"fdr", "FDR", "%.2g", "false discovery rate over all sets and units", RB_VALUE_CHANCE,
     offsetof(rb_set_test, fdr)},
    {"log10_fdr", "log10 FDR", "%.1f", "", RB_VALUE_NUMBER, offsetof(rb_set_test, log10_fdr)},
    {"features", "features in both", NULL, "largest weight first", RB_VALUE_FEATURES,
     .value = set_overlap},
    {0},
};

/* ---- covariates ---- */

static rb_value covariate_name(const rb_table *table, int64_t row, const rb_table_column *column) {
    const rb_document *d = table->of;
    (void)column;
    return text_value(rb_covariates_name(d->covariates, d->covariate_tests.rows[row].covariate));
}

static rb_value covariate_statistic(const rb_table *table, int64_t row,
                                    const rb_table_column *column) {
    const rb_document *d = table->of;
    bool groups = rb_covariates_groups(d->covariates, d->covariate_tests.rows[row].covariate) > 0;
    rb_value v = text_value(groups ? "kruskal_wallis_h" : "spearman_rho");
    (void)column;
    snprintf(v.shown, sizeof v.shown, "%s", groups ? "H" : "rho");
    return v;
}

static const rb_table_column covariate_columns[] = {
    {"unit", "unit", NULL, "", RB_VALUE_INTEGER, offsetof(rb_covariate_test, unit)},
    {"covariate", "covariate", NULL, "", RB_VALUE_TEXT, .value = covariate_name},
    {"statistic", "", NULL, "Spearman's rho for numbers, Kruskal-Wallis H for groups",
     RB_VALUE_TEXT, .value = covariate_statistic},
    {"samples", "samples", NULL, "samples with a value", RB_VALUE_INTEGER,
     offsetof(rb_covariate_test, samples)},
    {"groups", "groups", NULL, "among them", RB_VALUE_INTEGER, offsetof(rb_covariate_test, groups)},
    {"value", "statistic", "%.3f", "", RB_VALUE_NUMBER, offsetof(rb_covariate_test, statistic)},
    {"p_value", "p", "%.2g", "", RB_VALUE_CHANCE, offsetof(rb_covariate_test, p_value)},
    {"log10_p_value", "log10 p", "%.1f", "", RB_VALUE_NUMBER,
     offsetof(rb_covariate_test, log10_p_value)},
    {"fdr", "FDR", "%.2g", "false discovery rate over all units and covariates", RB_VALUE_CHANCE,
     offsetof(rb_covariate_test, fdr)},
    {"log10_fdr", "log10 FDR", "%.1f", "", RB_VALUE_NUMBER, offsetof(rb_covariate_test, log10_fdr)},
    {"explained", "% of var", NULL, "share of the variance of the codes that is explained",
     RB_VALUE_SHARE, offsetof(rb_covariate_test, explained)},
    {"explained_adjusted", "adjusted", NULL, "the same, adjusted for chance", RB_VALUE_SHARE,
     offsetof(rb_covariate_test, explained_adjusted)},
    {0},
};

/* ---- all of them ---- */

rb_table rb_modules_table(const rb_modules *modules) {
    return (rb_table){"modules",
                      module_columns,
                      modules ? modules->count : 0,
                      modules ? modules->list : NULL,
                      sizeof(rb_module),
                      modules};
}

rb_table rb_document_table(const rb_document *d, rb_document_part part) {
    const rb_table tables[] = {
        rb_modules_table(d->modules),
        {"classes", class_columns, d->classes.n_rows, d->classes.rows, sizeof(rb_enrichment_row),
         d},
        {"best_units", best_unit_columns, d->aucs.n_groups, d->aucs.rows, sizeof(rb_group_auc), d},
        {"unit_classes", unit_class_columns, d->aucs.n_groups * d->aucs.n_units, d->aucs.rows,
         sizeof(rb_group_auc), d},
        {"feature_sets", set_columns, d->set_tests.n_rows, d->set_tests.rows, sizeof(rb_set_test),
         d},
        {"covariate_tests", covariate_columns, d->covariate_tests.n_rows, d->covariate_tests.rows,
         sizeof(rb_covariate_test), d},
    };
    return tables[part];
}
