/* Parts of the page's document that are read off model, metrics and classes. */
#include "page.h"

#include <stdlib.h>
#include <string.h>

void page_add_data(const page *p, json_t **to) {
    const rb_description *d = &p->data;
    char checksum[16];
    snprintf(checksum, sizeof checksum, "%08lx", (unsigned long)d->checksum);
    json_add(to, "data",
             json_pack("{so so ss sI sI sb sI sI so so so}", "file",
                       json_of_text(p->call->arguments[1]), "format",
                       json_of_text(rb_source_format(p->source)), "checksum", checksum, "samples",
                       (json_int_t)d->samples, "features", (json_int_t)d->features, "sparse",
                       rb_source_sparse(p->source), "nonzeros", (json_int_t)d->nonzeros, "missing",
                       (json_int_t)d->missing, "minimum", json_of_number(d->minimum), "maximum",
                       json_of_number(d->maximum), "sum", json_of_number(d->sum)));
}

static json_t *objectives(const rb_model *model) {
    json_t *list = json_array();
    double objective;
    for (int64_t t = 0; !rb_model_history(model, t, &objective, NULL, NULL); t++)
        json_add(&list, NULL, json_rounded(objective, 7));
    return list;
}

/* "rectified factor network" */
static const char *method_title(const page *p) {
    const rb_method *method;
    const char *name = rb_model_method(p->model);
    for (int i = 0; (method = rb_context_method(p->call->ctx, i)); i++)
        if (strcmp(method->name, name) == 0) return method->title;
    return name;
}

void page_add_model(const page *p, json_t **to) {
    const rb_model *model = p->model;
    json_t *attributes = json_object();
    const char *name;
    for (int64_t i = 0; (name = rb_model_attribute_name(model, i)); i++)
        json_add(&attributes, name, json_of_text(rb_model_attribute(model, name)));
    json_add(
        to, "model",
        json_pack(
            "{so so so sI sI sI ss so sI so}", "file", json_of_text(p->call->arguments[0]), "title",
            json_of_text(method_title(p)), "method", json_of_text(rb_model_method(model)),
            "features", (json_int_t)rb_model_features(model), "units",
            (json_int_t)rb_model_units(model), "iterations", (json_int_t)rb_model_iterations(model),
            "status", rb_status_name(rb_model_status(model)), "objective", objectives(model),
            "shrinks_from", (json_int_t)rb_model_shrinks_from(model), "attributes", attributes));
}

/* What the library looks at, and would warn of. */
static json_t *checks(const page *p) {
    bool codes =
        rb_metrics_get(p->answers.document.metrics, "samples_checked") > 0; /* NaN: not looked at */
    json_t *list = json_array();
    if (codes) {
        json_add(&list, NULL, json_string("samples without an active unit"));
        json_add(&list, NULL, json_string("samples with nearly all units active"));
        json_add(&list, NULL, json_string("units that are the same"));
    }
    if (codes && rb_model_iterations(p->model) > 0)
        json_add(&list, NULL, json_string("an objective that ended below its best"));
    if (!codes) json_add(&list, NULL, json_string("units that are all dead"));
    json_add(&list, NULL, json_string("units that follow the level of the samples"));
    return list;
}

void page_add_fit(const page *p, json_t **to) {
    json_t *metrics = json_array();
    const rb_metric_row *m;
    for (int64_t i = 0; (m = rb_metric_row_of(p->call->ctx, i)); i++) {
        double value = rb_metrics_get(p->answers.document.metrics, m->name);
        if (value == value) { /* there is one */
            json_add(&metrics, NULL,
                     json_pack("{ss ss? ss? so}", "name", m->name, "label", m->label, "meaning",
                               m->meaning, "value", json_rounded(value, 6)));
        }
    }
    json_add(to, "metrics", metrics);
    json_add(to, "checks", checks(p));
    json_add(to, "warnings", json_incref(p->warnings));
    json_add(to, "notes", json_incref(p->notes));
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
        json_add(&object, key, json_of_text(name));
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
        json_add(&object, key, json_integer(column));
    }
    return object;
}

void page_add_names(const page *p, json_t **to) {
    json_add(to, "names",
             json_pack("{so so so}", "samples", names(p, 0), "features", names(p, 1), "columns",
                       columns(p)));
}
