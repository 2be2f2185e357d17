/* Which samples and features the heat maps of modules show, and their values by one view. */
#include "modules.h"
#include <rarebit/view.h>

enum { SAMPLES, FEATURES };

/* The values behind all maps: a view of every sample and feature that one of them shows. */
typedef struct atlas {
    int64_t total[2];  /* samples and features there are */
    int64_t *place[2]; /* of each its place in the view; -1: not there */
    int64_t *list[2];  /* the other way round */
    bool *member;      /* of the samples: in the module at hand? */
    rb_view view;
} atlas;

/* Samples outside of the module, evenly spread over the data. */
static void add_others(rb_module_map *m, const atlas *a, int64_t members, int64_t most) {
    int64_t others = a->total[SAMPLES] - members, wanted = rb_smaller(others, most);
    for (int64_t i = 0, seen = 0; i < a->total[SAMPLES]; i++) {
        if (a->member[i]) continue;
        if ((seen + 1) * wanted / others > seen * wanted / others) m->samples[m->n_samples++] = i;
        seen++;
    }
}

static void choose(rb_module_map *m, const atlas *a, const rb_module *module,
                   const rb_map_size *most) {
    int64_t features = rb_smaller(module->n_features, most->features);
    m->n_members = m->n_samples = rb_smaller(module->n_samples, most->members);
    for (int64_t i = 0; i < m->n_members; i++)
        m->samples[i] = module->samples[i].index;
    for (int64_t i = 0; i < features; i++)
        if (module->features[i].weight > 0)
            m->features[m->n_features++] = module->features[i].index;
    for (int64_t i = features - 1; i >= 0; i--)
        if (module->features[i].weight <= 0)
            m->features[m->n_features++] = module->features[i].index;
    for (int64_t i = 0; i < module->n_samples; i++)
        a->member[module->samples[i].index] = true;
    add_others(m, a, module->n_samples, most->others);
    for (int64_t i = 0; i < module->n_samples; i++)
        a->member[module->samples[i].index] = false;
}

static rb_error choose_all(rb_context *ctx, const rb_modules *modules, const rb_map_size *most,
                           atlas *a, rb_module_map *maps) {
    for (int64_t r = 0; r < modules->count; r++) {
        rb_module_map *m = &maps[r];
        m->samples = rb_alloc(ctx, most->members + most->others, sizeof *m->samples);
        m->features = rb_alloc(ctx, most->features, sizeof *m->features);
        if (!m->samples || !m->features) return RB_ERROR_MEMORY;
        choose(m, a, &modules->list[r], most);
        for (int64_t i = 0; i < m->n_samples; i++)
            a->place[SAMPLES][m->samples[i]] = 1;
        for (int64_t k = 0; k < m->n_features; k++)
            a->place[FEATURES][m->features[k]] = 1;
    }
    return RB_OK;
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

static rb_error copy_values(rb_context *ctx, const atlas *a, rb_module_map *m) {
    m->values = rb_alloc(ctx, m->n_features * m->n_samples, sizeof *m->values);
    for (int64_t k = 0; m->values && k < m->n_features; k++) {
        const float *row = a->view.values + a->place[FEATURES][m->features[k]] * a->view.n_samples;
        for (int64_t i = 0; i < m->n_samples; i++)
            m->values[k * m->n_samples + i] = row[a->place[SAMPLES][m->samples[i]]];
    }
    return m->values ? RB_OK : RB_ERROR_MEMORY;
}

rb_error rb_module_maps(rb_context *ctx, const rb_model *model, rb_source *source,
                        const rb_modules *modules, const rb_map_size *most, rb_module_map **out) {
    rb_scratch scratch = {.ctx = ctx};
    int64_t count = modules->count, cells = 0;
    atlas a = {.total = {rb_source_samples(source), rb_model_features(model)}};
    rb_module_map *maps = *out = rb_alloc_zero(ctx, count, sizeof *maps);
    a.member = rb_take(&scratch, a.total[SAMPLES], sizeof *a.member);
    for (int side = SAMPLES; side <= FEATURES; side++) {
        a.place[side] = rb_take(&scratch, a.total[side], sizeof *a.place[side]);
        a.list[side] = rb_take(&scratch, a.total[side], sizeof *a.list[side]);
    }
    rb_error err = scratch.err || maps ? scratch.err : RB_ERROR_MEMORY;
    err = err ? err : rb_modules_check_samples(ctx, modules, a.total[SAMPLES]);
    err = err ? err : choose_all(ctx, modules, most, &a, maps);
    if (!err) {
        a.view = (rb_view){.size = sizeof a.view, .samples = a.list[0], .features = a.list[1]};
        a.view.n_samples = give_places(a.place[SAMPLES], a.list[SAMPLES], a.total[SAMPLES]);
        a.view.n_features = give_places(a.place[FEATURES], a.list[FEATURES], a.total[FEATURES]);
        cells = a.view.n_samples * a.view.n_features;
        a.view.values = rb_take(&scratch, cells, sizeof *a.view.values);
        err = scratch.err ? scratch.err : rb_view_fill(ctx, model, source, &a.view);
    }
    for (int64_t r = 0; r < count && !err; r++)
        err = copy_values(ctx, &a, &maps[r]);
    (void)rb_scratch_end(&scratch);
    if (err) {
        rb_module_maps_free(maps, count);
        *out = NULL;
    }
    return err;
}

void rb_module_maps_free(rb_module_map *maps, int64_t count) {
    for (int64_t r = 0; maps && r < count; r++) {
        rb_free(maps[r].samples);
        rb_free(maps[r].features);
        rb_free(maps[r].values);
    }
    rb_free(maps);
}
