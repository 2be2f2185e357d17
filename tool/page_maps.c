/* Parts of the page's document that need the samples: modules with their heat maps, and codes. */
#include "page.h"

#include <rarebit/significance.h>

#include <math.h>
#include <stdlib.h>

/* What a page shows of large data; the files that `modules` and `encode` write have all of it. */
enum { MOST_MEMBERS = 5000, MOST_CODES = 5000 };
enum { MAP_MEMBERS = 120, MAP_OTHERS = 60, MAP_FEATURES = 40 };
enum { SAMPLES, FEATURES };

/* What the heat map of a module shows: features, positive weights first; its heaviest samples, then
 * others from all of the data. */
typedef struct map {
    int64_t samples[MAP_MEMBERS + MAP_OTHERS], features[MAP_FEATURES];
    int64_t n_members, n_samples, n_features;
} map;

/* The values behind all maps: a view of every sample and feature that one of them shows. */
typedef struct atlas {
    map *maps; /* one a module */
    int64_t count;
    int64_t *place[2]; /* of each sample and feature in the view; -1: not there */
    int64_t *list[2];  /* the other way round */
    rb_view view;
} atlas;

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Samples outside of the module, evenly spread over the data; stamp is true at members. */
static void add_others(map *m, int64_t n, int64_t members, const bool *stamp) {
    int64_t others = n - members, wanted = least(others, MAP_OTHERS);
    for (int64_t i = 0, seen = 0; i < n; i++) {
        if (stamp[i]) continue;
        if ((seen + 1) * wanted / others > seen * wanted / others) m->samples[m->n_samples++] = i;
        seen++;
    }
}

static void choose(map *m, const rb_module *module, int64_t n, bool *stamp) {
    int64_t features = least(module->n_features, MAP_FEATURES);
    m->n_members = m->n_samples = least(module->n_samples, MAP_MEMBERS);
    for (int64_t i = 0; i < m->n_members; i++)
        m->samples[i] = module->samples[i].index;
    for (int64_t i = 0; i < features; i++)
        if (module->features[i].weight > 0)
            m->features[m->n_features++] = module->features[i].index;
    for (int64_t i = features - 1; i >= 0; i--)
        if (module->features[i].weight <= 0)
            m->features[m->n_features++] = module->features[i].index;
    for (int64_t i = 0; i < module->n_samples; i++)
        stamp[module->samples[i].index] = true;
    add_others(m, n, module->n_samples, stamp);
    for (int64_t i = 0; i < module->n_samples; i++)
        stamp[module->samples[i].index] = false;
}

/* Gives all that maps show, ascending, a place in the view; how many these are. */
static int64_t give_places(int64_t *place, int64_t *list, int64_t total) {
    int64_t count = 0;
    for (int64_t i = 0; i < total; i++) {
        if (place[i]) list[count] = i;
        place[i] = place[i] ? count++ : -1;
    }
    return count;
}

static bool start_atlas(atlas *a, const page *p) {
    int64_t n = rb_source_samples(p->source), features = rb_model_features(p->model);
    a->count = rb_modules_count(p->modules);
    a->maps = calloc((size_t)a->count + 1, sizeof *a->maps);
    bool *stamp = calloc((size_t)n + 1, sizeof *stamp);
    bool fine = a->maps && stamp;
    for (int side = SAMPLES; side <= FEATURES; side++) {
        size_t total = (size_t)(side ? features : n) + 1;
        a->place[side] = calloc(total, sizeof *a->place[side]);
        a->list[side] = calloc(total, sizeof *a->list[side]);
        fine = fine && a->place[side] && a->list[side];
    }
    for (int64_t r = 0; fine && r < a->count; r++) {
        map *m = &a->maps[r];
        choose(m, rb_modules_get(p->modules, r), n, stamp);
        for (int64_t i = 0; i < m->n_samples; i++)
            a->place[SAMPLES][m->samples[i]] = 1;
        for (int64_t i = 0; i < m->n_samples; i++)
            p->named[SAMPLES][m->samples[i]] = true;
        for (int64_t k = 0; k < m->n_features; k++)
            a->place[FEATURES][m->features[k]] = 1;
    }
    free(stamp);
    if (!fine) return false;
    a->view = (rb_view){.size = sizeof a->view,
                        .samples = a->list[SAMPLES],
                        .features = a->list[FEATURES],
                        .n_samples = give_places(a->place[SAMPLES], a->list[SAMPLES], n),
                        .n_features = give_places(a->place[FEATURES], a->list[FEATURES], features)};
    a->view.values =
        calloc((size_t)(a->view.n_samples * a->view.n_features) + 1, sizeof *a->view.values);
    return a->view.values;
}

static void end_atlas(atlas *a) {
    for (int side = SAMPLES; side <= FEATURES; side++) {
        free(a->place[side]);
        free(a->list[side]);
    }
    free(a->maps);
    free(a->view.values);
}

static json_t *indices(const int64_t *list, int64_t count) {
    json_t *json = json_array();
    for (int64_t i = 0; i < count; i++)
        json_add(&json, NULL, json_integer(list[i]));
    return json;
}

/* Row by row, in tenths of a standard deviation; null where a value is missing. */
static json_t *map_values(const atlas *a, const map *m) {
    json_t *json = json_array();
    for (int64_t k = 0; k < m->n_features; k++) {
        const float *row = a->view.values + a->place[FEATURES][m->features[k]] * a->view.n_samples;
        for (int64_t i = 0; i < m->n_samples; i++) {
            double z = row[a->place[SAMPLES][m->samples[i]]];
            json_add(&json, NULL, isnan(z) ? json_null() : json_integer(lround(10 * z)));
        }
    }
    return json;
}

/* The heaviest members and their weights; `key` and `weights` are where they go. */
static void add_members(json_t **to, const page *p, int side, const rb_member *members,
                        int64_t count) {
    static const char *const keys[2][3] = {{"samples", "sample_weights", "n_samples"},
                                           {"features", "feature_weights", "n_features"}};
    json_t *list = json_array(), *weights = json_array();
    for (int64_t i = 0; i < least(count, MOST_MEMBERS); i++) {
        p->named[side][members[i].index] = true;
        json_add(&list, NULL, json_integer(members[i].index));
        json_add(&weights, NULL, page_number(members[i].weight, 4));
    }
    json_add(to, keys[side][0], list);
    json_add(to, keys[side][1], weights);
    json_add(to, keys[side][2], json_integer(count));
}

/* What the model itself says of a unit: how many of many fits have it. */
static void add_stability(json_t **to, const rb_model *model, int64_t unit) {
    int64_t units;
    const double *stability = rb_model_array(model, "stability", &units, NULL);
    if (stability && unit < units) json_add(to, "stability", page_number(stability[unit], 4));
}

/* What permuted data say of it, where some were asked for. */
static void add_significance(json_t **to, const rb_modules *modules, int64_t rank) {
    rb_significance s;
    if (!rb_modules_significance(modules, rank, &s)) return;
    json_add(to, "p", page_number(s.p, 4));
    json_add(to, "p_family", page_number(s.p_family, 4));
    json_add(to, "fdr", page_number(s.fdr, 4));
}

static json_t *module_json(const page *p, const atlas *a, int64_t rank) {
    const rb_module *module = rb_modules_get(p->modules, rank);
    const map *m = &a->maps[rank];
    json_t *json = json_object();
    json_add(&json, "unit", json_integer(module->unit));
    json_add(&json, "information", page_number(module->information, 5));
    add_stability(&json, p->model, module->unit);
    add_significance(&json, p->modules, rank);
    json_add(&json, "score", page_number(rb_modules_score(p->modules, rank), 5));
    if (rb_modules_other_side(p->modules, rank)) json_add(&json, "other_side", json_true());
    if (rb_modules_background(p->modules, rank)) json_add(&json, "background", json_true());
    add_members(&json, p, SAMPLES, module->samples, module->n_samples);
    add_members(&json, p, FEATURES, module->features, module->n_features);
    json_add(&json, "map",
             json_pack("{sI so so so}", "members", (json_int_t)m->n_members, "samples",
                       indices(m->samples, m->n_samples), "features",
                       indices(m->features, m->n_features), "values", map_values(a, m)));
    return json;
}

rb_error page_add_modules(page *p, json_t **to) {
    atlas a = {0};
    rb_error err = start_atlas(&a, p)
                       ? rb_view_fill(p->call->ctx, p->model, p->source, &a.view)
                       : rb_context_fail(p->call->ctx, RB_ERROR_MEMORY, "out of memory");
    json_t *modules = json_array();
    for (int64_t r = 0; !err && r < a.count; r++)
        json_add(&modules, NULL, module_json(p, &a, r));
    json_add(to, "rule", json_of_text(rb_modules_rule(p->modules)));
    json_add(to, "modules", modules);
    end_atlas(&a);
    return err;
}

/* ---- codes ---- */

typedef struct picking {
    page *page;
    json_t **units; /* a list of codes for each */
    int64_t step;   /* every so many samples */
} picking;

static rb_error pick(void *user, int64_t first, const rb_matrix *rows) {
    picking *k = user;
    for (int64_t i = 0; i < rb_matrix_samples(rows); i++) {
        if ((first + i) % k->step) continue;
        k->page->named[SAMPLES][first + i] = true;
        for (int64_t u = 0; u < rb_matrix_features(rows); u++)
            json_add(&k->units[u], NULL, page_number(rb_matrix_at(rows, i, u), 3));
    }
    return interrupted() ? RB_ERROR_INTERRUPTED : RB_OK;
}

rb_error page_add_codes(page *p, json_t **to) {
    int64_t n = rb_source_samples(p->source), units = rb_model_units(p->model);
    picking k = {p, calloc((size_t)units + 1, sizeof *k.units), 1 + (n - 1) / MOST_CODES};
    if (!k.units) return rb_context_fail(p->call->ctx, RB_ERROR_MEMORY, "out of memory");
    for (int64_t u = 0; u < units; u++)
        k.units[u] = json_array();
    rb_error err = rb_encode(p->call->ctx, p->model, p->source, pick, &k);
    json_t *list = json_array();
    for (int64_t u = 0; u < units; u++)
        json_add(&list, NULL, k.units[u]);
    json_add(to, "codes", json_pack("{sI so}", "step", (json_int_t)k.step, "units", list));
    free(k.units);
    return err;
}
