/* The report: one HTML file that tells what a model found, to look at and to send. What it tells is
 * gathered as one JSON document. */
#include "io.h"

#include <rarebit/json.h>
#include <rarebit/report.h>
#include <rarebit/view.h>

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct page {
    rb_context *ctx;
    const rb_report *report;
    const rb_document *document;
    const rb_model *model;
    rb_source *source;
    rb_description data;
    bool *named[2]; /* of samples and features: does the page need its name? */
} page;

enum { SAMPLES, FEATURES };

/* The page before and after the document, made from src/io/page/ (cmake/Page.cmake). */
extern const char page_head[], page_tail[];

/* ---- what is read off model, metrics and classes ---- */

/* What something was read from; NULL: it is called by its kind. */
static json_t *name_of(const char *name, const char *kind) {
    return rb_json_text(name ? name : kind);
}

static void add_data(const page *p, json_t **to) {
    const rb_description *d = &p->data;
    char checksum[16];
    snprintf(checksum, sizeof checksum, "%08lx", (unsigned long)d->checksum);
    rb_json_add(
        to, "data",
        json_pack("{so so ss sI sI sb sI sI so so so}", "file", name_of(p->report->data, "data"),
                  "format", rb_json_text(rb_source_format(p->source)), "checksum", checksum,
                  "samples", (json_int_t)d->samples, "features", (json_int_t)d->features, "sparse",
                  rb_source_sparse(p->source), "nonzeros", (json_int_t)d->nonzeros, "missing",
                  (json_int_t)d->missing, "minimum", rb_json_number(d->minimum), "maximum",
                  rb_json_number(d->maximum), "sum", rb_json_number(d->sum)));
}

static json_t *objectives(const rb_model *model) {
    json_t *list = json_array();
    double objective;
    for (int64_t t = 0; !rb_model_history(model, t, &objective, NULL, NULL); t++)
        rb_json_add(&list, NULL, rb_json_rounded(objective, 7));
    return list;
}

static void add_model(const page *p, json_t **to) {
    const rb_model *model = p->model;
    json_t *attributes = json_object();
    const char *name;
    for (int64_t i = 0; (name = rb_model_attribute_name(model, i)); i++)
        rb_json_add(&attributes, name, rb_json_text(rb_model_attribute(model, name)));
    rb_json_add(
        to, "model",
        json_pack(
            "{so so so sI sI sI ss so sI so}", "file", name_of(p->report->model, "model"), "title",
            rb_json_text(model->method->title), "method", rb_json_text(rb_model_method(model)),
            "features", (json_int_t)rb_model_features(model), "units",
            (json_int_t)rb_model_units(model), "iterations", (json_int_t)rb_model_iterations(model),
            "status", rb_status_name(rb_model_status(model)), "objective", objectives(model),
            "shrinks_from", (json_int_t)rb_model_shrinks_from(model), "attributes", attributes));
}

/* What the library looks at, and would warn of. */
static json_t *checks(const page *p) {
    bool codes =
        rb_metrics_get(p->document->metrics, "samples_checked") > 0; /* NaN: not looked at */
    json_t *list = json_array();
    if (codes) {
        rb_json_add(&list, NULL, json_string("samples without an active unit"));
        rb_json_add(&list, NULL, json_string("samples with nearly all units active"));
        rb_json_add(&list, NULL, json_string("units that are the same"));
    }
    if (codes && rb_model_iterations(p->model) > 0)
        rb_json_add(&list, NULL, json_string("an objective that ended below its best"));
    if (!codes) rb_json_add(&list, NULL, json_string("units that are all dead"));
    rb_json_add(&list, NULL, json_string("units that follow the level of the samples"));
    return list;
}

/* Each once. */
static json_t *texts(const char *const *list) {
    json_t *array = json_array();
    for (int64_t i = 0; list && list[i]; i++) {
        bool there = false;
        for (int64_t k = 0; k < i; k++)
            there = there || strcmp(list[k], list[i]) == 0;
        if (!there) rb_json_add(&array, NULL, rb_json_text(list[i]));
    }
    return array;
}

static void add_fit(const page *p, json_t **to) {
    json_t *metrics = json_array();
    const rb_metric_row *m;
    for (int64_t i = 0; (m = rb_metric_row_of(p->ctx, i)); i++) {
        double value = rb_metrics_get(p->document->metrics, m->name);
        if (value == value) { /* there is one */
            rb_json_add(&metrics, NULL,
                        json_pack("{ss ss? ss? so}", "name", m->name, "label", m->label, "meaning",
                                  m->meaning, "value", rb_json_rounded(value, 6)));
        }
    }
    rb_json_add(to, "metrics", metrics);
    rb_json_add(to, "checks", checks(p));
    rb_json_add(to, "warnings", texts(p->report->warnings));
    rb_json_add(to, "notes", texts(p->report->notes));
}

/* Names by index, of those that the page shows; nothing where the data have none. */
static json_t *names(const page *p, int side) {
    json_t *object = json_object();
    int64_t count = side ? rb_model_features(p->model) : rb_source_samples(p->source);
    for (int64_t i = 0; i < count; i++) {
        char key[32];
        const char *name =
            side ? rb_model_feature_name(p->model, i) : rb_source_sample_name(p->source, i);
        if (!name || !p->named[side][i]) continue;
        snprintf(key, sizeof key, "%lld", (long long)i);
        rb_json_add(&object, key, rb_json_text(name));
    }
    return object;
}

/* The column in the data of features in use, where it is another number. */
static json_t *columns(const page *p) {
    json_t *object = json_object();
    for (int64_t k = 0; k < rb_model_features(p->model); k++) {
        char key[32];
        int64_t column = rb_model_feature_index(p->model, k);
        if (column == k || !p->named[1][k]) continue;
        snprintf(key, sizeof key, "%lld", (long long)k);
        rb_json_add(&object, key, json_integer(column));
    }
    return object;
}

static void add_names(const page *p, json_t **to) {
    rb_json_add(to, "names",
                json_pack("{so so so}", "samples", names(p, 0), "features", names(p, 1), "columns",
                          columns(p)));
}

/* ---- classes, sets of features, covariates, where asked for; what columns mean ---- */

/* Of the sets that were tested, those of a module and question that the page lists: the best, and
 * more of them while they are below this false discovery rate. */
#define SHOWN_FDR 0.05
static const char set_keys[] =
    "module unit set test set_size overlap fold auc log10_p_value log10_fdr";
enum { BEST_SETS = 10, MOST_SETS = 200, MOST_SHARED = 50 };

static json_t *part(const page *p, rb_document_part part, const char *keys) {
    const rb_table table = rb_document_table(p->document, part);
    return rb_json_table(&table, p->model, keys, 4);
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
                json_pack("{so sI so so so so so}", "file", name_of(p->report->labels, "labels"),
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
        json_t *row = rb_json_row(&table, r, p->model, set_keys, 4);
        rb_json_add(&row, "features", shared_features(p, test));
        rb_json_add(&rows, NULL, row);
    }
    rb_json_add(to, "sets",
                json_pack("{so sI sI so}", "file", name_of(p->report->sets, "sets"), "tested",
                          (json_int_t)t->n_sets, "background", (json_int_t)t->n_features, "rows",
                          rows));
}

/* ---- covariates ---- */

static void add_covariates(const page *p, json_t **to) {
    rb_json_add(to, "covariates",
                json_pack("{so so}", "file", name_of(p->report->covariates, "covariates"), "rows",
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

static void add_answers(const page *p, json_t **to) {
    add_columns(p, to);
    if (p->document->aucs.n_groups > 0) add_classes(p, to);
    if (p->document->sets) add_sets(p, to);
    if (p->document->covariates) add_covariates(p, to);
}

/* ---- the table of `rarebit select`, numbers as numbers, what is none as text ---- */

/* A cell: null where there is nothing, NA, or no number that is finite. */
static json_t *cell(const char *text) {
    char *end;
    double value = strtod(text, &end);
    if (!*text || strcmp(text, "NA") == 0 || (!*end && !isfinite(value))) return json_null();
    return *end ? rb_json_text(text) : rb_json_rounded(value, 6);
}

/* The cells of a line, which is cut at its tabs. */
static json_t *cells(char *line, json_t *(*make)(const char *text)) {
    json_t *list = json_array();
    line[strcspn(line, "\r\n")] = '\0';
    for (char *rest = line, *text; (text = strsep(&rest, "\t"));)
        rb_json_add(&list, NULL, make(text));
    return list;
}

static rb_error refuse(const page *p, const char *path, size_t row, const char *why) {
    return rb_fail(p->ctx, RB_ERROR_FORMAT, "%.300s, row %zu: %s", path, row, why);
}

static rb_error read_table(const page *p, const char *path, FILE *file, json_t *to[2]) {
    char *line = NULL;
    size_t size = 0, row = 0;
    rb_error err = RB_OK;
    while (!err && getline(&line, &size, file) >= 0) {
        json_t *list = cells(line, row ? cell : rb_json_text);
        const char *first = json_string_value(json_array_get(list, 0));
        if (row++ == 0) {
            bool units = first && strcmp(first, "units") == 0;
            err = units ? RB_OK : refuse(p, path, row, "the first column must be units");
            json_decref(to[0]);
            to[0] = list;
        } else if (json_array_size(list) != json_array_size(to[0])) {
            err = rb_fail(p->ctx, RB_ERROR_FORMAT,
                          "%.300s, row %zu: the row has %zu cells, but the header has %zu", path,
                          row, json_array_size(list), json_array_size(to[0]));
            json_decref(list);
        } else if (!json_is_number(json_array_get(list, 0))) {
            err = refuse(p, path, row, "the first cell is not a number of units");
            json_decref(list);
        } else {
            rb_json_add(&to[1], NULL, list);
        }
    }
    free(line);
    return err || row ? err : refuse(p, path, 1, "the table is empty");
}

/* Takes the column off that says of which data the table is; tables of others have none. */
static rb_error check_data(const page *p, const char *path, json_t *table[2]) {
    char expected[32];
    size_t column = 0;
    const char *name;
    while ((name = json_string_value(json_array_get(table[0], column))) &&
           strcmp(name, "data") != 0)
        column++;
    snprintf(expected, sizeof expected, "crc32 %08" PRIx32, p->data.checksum);
    for (size_t row = 0; name && row < json_array_size(table[1]); row++) {
        json_t *cells = json_array_get(table[1], row);
        const char *data = json_string_value(json_array_get(cells, column));
        if (!data || strcmp(data, expected) != 0) {
            return rb_fail(p->ctx, RB_ERROR_FORMAT,
                           "%.300s, row %zu: the table is of other data: %.40s, but these have %s",
                           path, row + 2, data ? data : "none", expected);
        }
        json_array_remove(cells, column);
    }
    if (name) json_array_remove(table[0], column);
    return RB_OK;
}

static rb_error add_select(const page *p, json_t **to) {
    const char *path = p->report->selection;
    json_t *table[] = {json_array(), json_array()}; /* names of columns, rows */
    FILE *file = fopen(path, "r");
    rb_error err = file ? read_table(p, path, file, table) : RB_OK;
    if (!file || ferror(file))
        err = rb_fail(p->ctx, RB_ERROR_FILE, "cannot read %.300s: %s", path, strerror(errno));
    if (file) fclose(file);
    err = err ? err : check_data(p, path, table);
    rb_json_add(
        to, "select",
        json_pack("{so so so}", "file", rb_json_text(path), "columns", table[0], "rows", table[1]));
    return err;
}

/* ---- modules with their heat maps, and codes, for which the samples are read ---- */

/* What a page shows of large data; the files that `modules` and `encode` write have all of it. */
enum { MOST_MEMBERS = 5000, MOST_CODES = 5000 };
static const rb_map_size map_size = {.members = 120, .others = 60, .features = 40};

static json_t *indices(const page *p, int side, const int64_t *list, int64_t count) {
    json_t *json = json_array();
    for (int64_t i = 0; i < count; i++) {
        p->named[side][list[i]] = true;
        rb_json_add(&json, NULL, json_integer(list[i]));
    }
    return json;
}

/* Row by row, in tenths of a standard deviation; null where a value is missing. */
static json_t *map_json(const page *p, const rb_module_map *m) {
    json_t *values = json_array();
    for (int64_t i = 0; i < m->n_features * m->n_samples; i++) {
        double z = m->values[i];
        rb_json_add(&values, NULL, isnan(z) ? json_null() : json_integer(lround(10 * z)));
    }
    return json_pack("{sI so so so}", "members", (json_int_t)m->n_members, "samples",
                     indices(p, SAMPLES, m->samples, m->n_samples), "features",
                     indices(p, FEATURES, m->features, m->n_features), "values", values);
}

/* The heaviest members and their weights. */
static void add_members(json_t **to, const page *p, int side, const rb_member *members,
                        int64_t count) {
    json_t *list = json_array(), *weights = json_array();
    for (int64_t i = 0; i < count && i < MOST_MEMBERS; i++) {
        p->named[side][members[i].index] = true;
        rb_json_add(&list, NULL, json_integer(members[i].index));
        rb_json_add(&weights, NULL, rb_json_rounded(members[i].weight, 4));
    }
    rb_json_add(to, side ? "features" : "samples", list);
    rb_json_add(to, side ? "feature_weights" : "sample_weights", weights);
}

static rb_error add_modules(page *p, json_t **to) {
    const rb_document *d = p->document;
    rb_module_map *maps = NULL;
    rb_error err = rb_module_maps(p->ctx, p->model, p->source, d->modules, &map_size, &maps);
    const rb_table table = rb_modules_table(d->modules);
    json_t *modules = rb_json_table(
        &table, p->model,
        "unit information score p p_family p_permuted fdr stability role n_samples n_features", 5);
    for (int64_t r = 0; !err && r < rb_modules_count(d->modules); r++) {
        const rb_module *m = rb_modules_get(d->modules, r);
        json_t *json =
            json_incref(json_array_get(modules, (size_t)r)); /* rb_json_add may release */
        add_members(&json, p, SAMPLES, m->samples, m->n_samples);
        add_members(&json, p, FEATURES, m->features, m->n_features);
        rb_json_add(&json, "map", map_json(p, &maps[r]));
        json_decref(json);
    }
    rb_json_add(to, "rule", rb_json_text(rb_modules_rule(d->modules)));
    rb_json_add(to, "tested", rb_json_text(rb_modules_tested(d->modules)));
    rb_json_add(to, "modules", modules);
    rb_module_maps_free(maps, rb_modules_count(d->modules));
    return err;
}

/* ---- codes ---- */

/* Of every unit, every so many samples. */
static void add_codes(const page *p, json_t **to) {
    const rb_matrix *codes = p->document->codes;
    int64_t n = rb_matrix_samples(codes), step = 1 + (n - 1) / MOST_CODES;
    json_t *units = json_array();
    for (int64_t u = 0; u < rb_matrix_features(codes); u++) {
        json_t *list = json_array();
        for (int64_t i = 0; i < n; i += step)
            rb_json_add(&list, NULL, rb_json_rounded(rb_matrix_at(codes, i, u), 3));
        rb_json_add(&units, NULL, list);
    }
    for (int64_t i = 0; i < n; i += step)
        p->named[SAMPLES][i] = true;
    rb_json_add(to, "codes", json_pack("{sI so}", "step", (json_int_t)step, "units", units));
}

/* ---- the document ---- */

static void add_origin(const page *p, json_t **to) {
    static const char *const names[] = {"compiler", "kernels", "blas", "blas_core"};
    json_t *build = json_object();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        rb_json_add(&build, names[i], rb_json_text(rb_build_info(p->ctx, names[i])));
    rb_json_add(to, "version", rb_json_text(rb_version()));
    rb_json_add(to, "title", rb_json_text(p->report->title));
    rb_json_add(to, "command", rb_json_text(rb_context_command(p->ctx)));
    rb_json_add(to, "build", build);
}

static rb_error too_large(rb_context *ctx) {
    return rb_fail(ctx, RB_ERROR_MEMORY, "the report does not fit into memory");
}

/* The document; NULL: an error. */
static json_t *gather(page *p, rb_error *err) {
    json_t *json = json_object();
    *err = rb_describe(p->ctx, p->source, &p->data);
    if (!*err) *err = add_modules(p, &json);
    if (!*err && p->report->selection) *err = add_select(p, &json);
    if (!*err) {
        add_codes(p, &json);
        add_origin(p, &json);
        add_data(p, &json);
        add_model(p, &json);
        add_fit(p, &json);
        add_answers(p, &json);
        add_names(p, &json);
        if (!json) *err = too_large(p->ctx);
    }
    if (*err) {
        json_decref(json);
        json = NULL;
    }
    return json;
}

/* ---- the file ---- */

/* Names are whatever somebody wrote: without "<" nothing in them can end the element that the
 * document stands in. In JSON it stands in texts alone. */
static int put_document(const char *text, size_t size, void *file) {
    for (size_t i = 0; i < size; i++)
        if (text[i] == '<')
            fputs("\\u003c", file);
        else
            putc(text[i], file);
    return ferror((FILE *)file) ? -1 : 0;
}

static rb_error put_page(rb_context *ctx, FILE *file, void *document) {
    size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(7);
    fputs(page_head, file);
    bool whole = json_dump_callback(document, put_document, file, flags) == 0;
    fputs(page_tail, file);
    return whole || ferror(file) ? RB_OK : too_large(ctx);
}

static rb_error check(rb_context *ctx, const rb_document *document, const rb_report *report) {
    if (report->size != sizeof *report)
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "the report is of another size: set its size");
    return document->codes && document->metrics && document->modules
               ? RB_OK
               : rb_fail(ctx, RB_ERROR_ARGUMENT,
                         "the document has no codes or no metrics: make it with both");
}

rb_error rb_report_write(rb_context *ctx, const rb_document *document, const rb_report *report,
                         const char *path) {
    page p = {.ctx = ctx,
              .report = report,
              .document = document,
              .model = document->model,
              .source = document->source,
              .data.size = sizeof p.data};
    rb_error err = check(ctx, document, report);
    if (err) return err;
    p.named[0] = rb_alloc_zero(ctx, rb_source_samples(p.source) + 1, sizeof(bool));
    p.named[1] = rb_alloc_zero(ctx, rb_model_features(p.model) + 1, sizeof(bool));
    json_t *json = p.named[0] && p.named[1] ? gather(&p, &err) : NULL;
    err = err || json ? err : RB_ERROR_MEMORY;
    err = err ? err : rb_output_file(ctx, path, put_page, json);
    json_decref(json);
    rb_free(p.named[0]);
    rb_free(p.named[1]);
    return err;
}
