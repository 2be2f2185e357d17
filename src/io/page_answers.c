/* Parts of the page's document: classes, sets of features, covariates; what columns mean. */
#include "page.h"

/* Of the sets that were tested, those of a module and question that the page lists: the best, and
 * more of them while they are below this false discovery rate. */
#define SHOWN_FDR 0.05
static const char set_keys[] =
    "module unit set test set_size overlap fold auc log10_p_value log10_fdr";
enum { BEST_SETS = 10, MOST_SETS = 200, MOST_SHARED = 50, DIGITS = 4 };

static json_t *part(const page *p, rb_document_part part, const char *keys) {
    const rb_table table = rb_document_table(p->document, part);
    return rb_json_table(&table, p->model, keys, DIGITS);
}

/* ---- classes ---- */

static void add_classes(const page *p, json_t **to) {
    const rb_document *d = p->document;
    const rb_covariates *labels = p->document->labels;
    json_t *names = json_array(), *places = json_array(), *of = json_object();
    json_t *units = part(p, RB_DOCUMENT_UNIT_CLASSES,
                         "unit class class_size auc overlap log10_p_value log10_fdr");
    for (int64_t g = 0; g < rb_covariates_groups(labels, 0); g++) {
        rb_json_add(&names, NULL, rb_json_text(rb_covariates_group(labels, 0, g)));
        rb_json_add(&places, NULL, json_integer(rb_covariates_group_place(labels, 0, g)));
    }
    for (int64_t i = 0; i < rb_source_samples(p->source); i++) {
        char key[32];
        int64_t group = rb_covariates_group_of(labels, 0, i);
        if (!p->named[0][i] || group < 0) continue;
        snprintf(key, sizeof key, "%lld", (long long)i);
        rb_json_add(&of, key, json_integer(group));
    }
    for (size_t r = 0; r < json_array_size(units); r++) {
        const rb_group_auc *row = &d->aucs.rows[r];
        json_t *json = json_incref(json_array_get(units, r)); /* rb_json_add may release it */
        rb_json_add(&json, "best", json_boolean(d->aucs.best[row->group] == row->unit));
        json_decref(json);
    }
    rb_json_add(to, "classes",
                json_pack("{so sI so so so so so}", "file", page_name(p->report->labels, "labels"),
                          "labelled", (json_int_t)d->classes.n_labelled, "names", names, "places",
                          places, "of", of, "modules",
                          part(p, RB_DOCUMENT_CLASSES,
                               "class class_size module_size overlap log10_p_value_adjusted"),
                          "units", units));
}

/* ---- sets of features ---- */

/* Does the page list a row? rank: of those of its module and question. */
static bool is_listed(const rb_set_test *test, int64_t rank) {
    return rank < BEST_SETS || (rank < MOST_SETS && test->fdr <= SHOWN_FDR);
}

static json_t *shared_features(const page *p, const rb_set_test *test) {
    json_t *features = json_array();
    for (int64_t i = 0; test->features && i < test->overlap && i < MOST_SHARED; i++) {
        p->named[1][test->features[i]] = true;
        rb_json_add(&features, NULL, json_integer(test->features[i]));
    }
    return features;
}

static void add_sets(const page *p, json_t **to) {
    const rb_set_tests *t = &p->document->set_tests;
    const rb_table table = rb_document_table(p->document, RB_DOCUMENT_SETS);
    json_t *rows = json_array();
    for (int64_t r = 0, rank = 0; r < t->n_rows; r++) {
        const rb_set_test *test = &t->rows[r], *before = r ? test - 1 : NULL;
        bool next = before && before->module == test->module && before->question == test->question;
        rank = next ? rank + 1 : 0;
        if (!is_listed(test, rank)) continue;
        json_t *row = rb_json_row(&table, r, p->model, set_keys, DIGITS);
        rb_json_add(&row, "features", shared_features(p, test));
        rb_json_add(&rows, NULL, row);
    }
    rb_json_add(to, "sets",
                json_pack("{so sI sI so}", "file", page_name(p->report->sets, "sets"), "tested",
                          (json_int_t)t->n_sets, "background", (json_int_t)t->n_features, "rows",
                          rows));
}

/* ---- covariates ---- */

static void add_covariates(const page *p, json_t **to) {
    rb_json_add(to, "covariates",
                json_pack("{so so}", "file", page_name(p->report->covariates, "covariates"), "rows",
                          part(p, RB_DOCUMENT_COVARIATES,
                               "covariate unit samples groups value explained log10_p_value "
                               "log10_fdr")));
}

/* ---- columns ---- */

/* The title and meaning of every column, by table and key. */
static void add_columns(const page *p, json_t **to) {
    json_t *tables = json_object();
    for (int part = RB_DOCUMENT_MODULES; part <= RB_DOCUMENT_COVARIATES; part++) {
        const rb_table table = rb_document_table(p->document, (rb_document_part)part);
        json_t *columns = json_object();
        for (const rb_table_column *c = table.columns; c->key; c++)
            rb_json_add(&columns, c->key, json_pack("[s, s]", c->title, c->meaning));
        rb_json_add(&tables, table.key, columns);
    }
    rb_json_add(to, "columns", tables);
}

void page_add_answers(const page *p, json_t **to) {
    add_columns(p, to);
    if (p->document->aucs.n_groups > 0) add_classes(p, to);
    if (p->document->sets) add_sets(p, to);
    if (p->document->covariates) add_covariates(p, to);
}
