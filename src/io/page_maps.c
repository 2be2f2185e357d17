/* Parts of the page's document that need the samples: modules with their heat maps, and codes. */
#include "page.h"

#include <math.h>
#include <stdlib.h>

/* What a page shows of large data; the files that `modules` and `encode` write have all of it. */
enum { MOST_MEMBERS = 5000, MOST_CODES = 5000, DIGITS = 5 };
static const rb_map_size map_size = {.members = 120, .others = 60, .features = 40};
enum { SAMPLES, FEATURES };

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

rb_error page_add_modules(page *p, json_t **to) {
    const rb_document *d = p->document;
    rb_module_map *maps = NULL;
    rb_error err = rb_module_maps(p->ctx, p->model, p->source, d->modules, &map_size, &maps);
    const rb_table table = rb_modules_table(d->modules);
    json_t *modules = rb_json_table(
        &table, p->model,
        "unit information score p p_family p_permuted fdr stability role n_samples n_features",
        DIGITS);
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
void page_add_codes(const page *p, json_t **to) {
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
