/* Parts of the page's document: classes, sets of features, covariates. */
#include "page.h"

/* Of the sets that were tested, those of a module and question that the page lists: the best, and
 * more of them while they are below this false discovery rate. */
#define SHOWN_FDR 0.05
enum { BEST_SETS = 10, MOST_SETS = 200, MOST_SHARED = 50 };

/* Decimal logarithms of a p-value and its false discovery rate. */
static void add_chances(json_t **row, double log10_p, double log10_fdr) {
    json_add(row, "log10_p", page_number(log10_p, 4));
    json_add(row, "log10_fdr", page_number(log10_fdr, 4));
}

/* ---- classes ---- */

static json_t *module_class(const answers *a, int64_t rank) {
    double auc;
    const rb_enrichment_row *row = &a->classes.rows[rank];
    return json_pack("{so sI sI sI so}", "class", json_of_text(class_of_module(a, rank, &auc)),
                     "size", (json_int_t)row->class_size, "labelled", (json_int_t)row->module_size,
                     "overlap", (json_int_t)row->overlap, "log10_p",
                     page_number(row->log10_p_value_adjusted, 4));
}

static json_t *unit_class(const answers *a, int64_t r) {
    const rb_group_auc *row = &a->aucs.rows[r];
    json_t *json = json_pack("{so sI sI so so sb}", "class",
                             json_of_text(rb_covariates_group(a->labels, 0, row->group)), "size",
                             (json_int_t)row->group_size, "unit", (json_int_t)row->unit, "auc",
                             page_number(row->auc, 4), "overlap", json_of_overlap(row), "best",
                             a->aucs.best[row->group] == row->unit);
    add_chances(&json, row->log10_p_value, row->log10_fdr);
    return json;
}

static void add_classes(const page *p, json_t **to) {
    const rb_classes *c = &p->classes;
    const answers *a = &p->answers;
    json_t *texts = json_array(), *of = json_object(), *modules = json_array();
    json_t *units = json_array();
    for (int64_t i = 0; i < c->n_classes; i++)
        json_add(&texts, NULL, json_of_text(c->names[i]));
    for (int64_t i = 0; i < c->n_samples; i++) {
        char key[32];
        if (!p->named[0][i] || c->class_of[i] < 0) continue;
        snprintf(key, sizeof key, "%lld", (long long)i);
        json_add(&of, key, json_integer(c->class_of[i]));
    }
    for (int64_t r = 0; r < a->classes.n_rows; r++)
        json_add(&modules, NULL, module_class(a, r));
    for (int64_t r = 0; r < a->aucs.n_groups * a->aucs.n_units; r++)
        json_add(&units, NULL, unit_class(a, r));
    json_add(to, "classes",
             json_pack("{so sI so so so so}", "file", json_of_text(option_text(p->call, "labels")),
                       "labelled", (json_int_t)a->classes.n_labelled, "names", texts, "of", of,
                       "modules", modules, "units", units));
}

/* ---- sets of features ---- */

static json_t *set_row(const page *p, const rb_set_test *test) {
    static const char *const questions[] = {"up", "down", "rank"};
    json_t *features = json_array();
    for (int64_t i = 0; test->features && i < test->overlap && i < MOST_SHARED; i++) {
        p->named[1][test->features[i]] = true;
        json_add(&features, NULL, json_integer(test->features[i]));
    }
    json_t *row =
        json_pack("{sI sI so ss sI sI so so so}", "module", (json_int_t)test->module, "unit",
                  (json_int_t)test->unit, "set",
                  json_of_text(rb_feature_sets_name(p->answers.sets, test->set)), "question",
                  questions[test->question], "set_size", (json_int_t)test->set_size, "overlap",
                  (json_int_t)test->overlap, "fold", page_number(test->fold, 4), "auc",
                  page_number(test->auc, 4), "features", features);
    add_chances(&row, test->log10_p_value, test->log10_fdr);
    return row;
}

static void add_sets(const page *p, json_t **to) {
    const rb_set_tests *t = &p->answers.set_tests;
    json_t *rows = json_array();
    for (int64_t r = 0, rank = 0; r < t->n_rows; r++) {
        const rb_set_test *test = &t->rows[r], *before = r ? test - 1 : NULL;
        bool next = before && before->module == test->module && before->question == test->question;
        rank = next ? rank + 1 : 0;
        if (rank < BEST_SETS || (rank < MOST_SETS && test->fdr <= SHOWN_FDR))
            json_add(&rows, NULL, set_row(p, test));
    }
    json_add(to, "sets",
             json_pack("{so sI sI so}", "file", json_of_text(option_text(p->call, "gmt")), "tested",
                       (json_int_t)t->n_sets, "background", (json_int_t)t->n_features, "rows",
                       rows));
}

/* ---- covariates ---- */

static void add_covariates(const page *p, json_t **to) {
    const rb_covariate_tests *t = &p->answers.covariate_tests;
    json_t *rows = json_array();
    for (int64_t r = 0; r < t->n_rows; r++) {
        const rb_covariate_test *test = &t->rows[r];
        json_t *row = json_pack(
            "{so sI sI sI so so}", "covariate",
            json_of_text(rb_covariates_name(p->answers.covariates, test->covariate)), "unit",
            (json_int_t)test->unit, "samples", (json_int_t)test->samples, "groups",
            (json_int_t)test->groups, "statistic", page_number(test->statistic, 4), "explained",
            page_number(test->explained, 4));
        add_chances(&row, test->log10_p_value, test->log10_fdr);
        json_add(&rows, NULL, row);
    }
    json_add(to, "covariates",
             json_pack("{so so}", "file", json_of_text(option_text(p->call, "covariates")), "rows",
                       rows));
}

void page_add_answers(const page *p, json_t **to) {
    if (p->answers.labels) add_classes(p, to);
    if (p->answers.sets) add_sets(p, to);
    if (p->answers.covariates) add_covariates(p, to);
}
