/* Parts of the page's document that are read off model, metrics and classes. */
#include "page.h"

#include <stdlib.h>
#include <string.h>

json_t *page_name(const char *name, const char *kind) {
    return rb_json_text(name ? name : kind);
}

void page_add_data(const page *p, json_t **to) {
    const rb_description *d = &p->data;
    char checksum[16];
    snprintf(checksum, sizeof checksum, "%08lx", (unsigned long)d->checksum);
    rb_json_add(
        to, "data",
        json_pack("{so so ss sI sI sb sI sI so so so}", "file", page_name(p->report->data, "data"),
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

/* "rectified factor network" */
static const char *method_title(const page *p) {
    const rb_method *method;
    const char *name = rb_model_method(p->model);
    for (int i = 0; (method = rb_context_method(p->ctx, i)); i++)
        if (strcmp(method->name, name) == 0) return method->title;
    return name;
}

void page_add_model(const page *p, json_t **to) {
    const rb_model *model = p->model;
    json_t *attributes = json_object();
    const char *name;
    for (int64_t i = 0; (name = rb_model_attribute_name(model, i)); i++)
        rb_json_add(&attributes, name, rb_json_text(rb_model_attribute(model, name)));
    rb_json_add(
        to, "model",
        json_pack(
            "{so so so sI sI sI ss so sI so}", "file", page_name(p->report->model, "model"),
            "title", rb_json_text(method_title(p)), "method", rb_json_text(rb_model_method(model)),
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

void page_add_fit(const page *p, json_t **to) {
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

void page_add_names(const page *p, json_t **to) {
    rb_json_add(to, "names",
                json_pack("{so so so}", "samples", names(p, 0), "features", names(p, 1), "columns",
                          columns(p)));
}
