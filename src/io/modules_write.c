/* Modules to files: a table for spreadsheets (TSV), JSON, and gene sets (GMT); docs/modules.md. */
#include "io.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is written, and where the names come from. */
typedef struct listing {
    const rb_modules *modules;
    const rb_model *model;
    const rb_source *source;
    rb_modules_format format;
} listing;

static const char *sample_name(const listing *l, int64_t sample) {
    bool known = l->source && sample < rb_source_samples(l->source);
    return known ? rb_source_sample_name(l->source, sample) : NULL;
}

static const char *feature_name(const listing *l, int64_t feature) {
    if (l->model && feature < rb_model_features(l->model) &&
        rb_model_feature_name(l->model, feature)) {
        return rb_model_feature_name(l->model, feature);
    }
    /* Without a model the features are those of the source. */
    bool known = !l->model && l->source && feature < rb_source_features(l->source);
    return known ? rb_source_feature_name(l->source, feature) : NULL;
}

/* ---- TSV and GMT ---- */

/* What tables and JSON call a member: its row or column in the data, from 0. */
static int64_t sample_index(const listing *l, int64_t sample) {
    (void)l;
    return sample;
}

static int64_t feature_index(const listing *l, int64_t feature) {
    return rb_modules_column(l->modules, feature);
}

typedef struct member_side {
    const char *kind;
    const char *(*name)(const listing *, int64_t);
    int64_t (*index)(const listing *, int64_t);
} member_side;

static const member_side samples = {"sample", sample_name, sample_index};
static const member_side features = {"feature", feature_name, feature_index};

/* A name as one cell of a table: tabs and line ends become spaces. No name: the index. */
static void put_cell(FILE *file, const char *name, int64_t index) {
    if (!name) {
        fprintf(file, "%lld", (long long)index);
        return;
    }
    for (const char *c = name; *c; c++) {
        bool breaks = *c == '\t' || *c == '\n' || *c == '\r';
        putc(breaks ? ' ' : *c, file);
    }
}

static void put_number(FILE *file, int digits, double value) {
    char text[32];
    rb_print(text, sizeof text, "%.*g", digits, value);
    fputs(text, file);
}

static void put_rows(FILE *file, const listing *l, int64_t rank, const member_side *side,
                     const rb_member *members, int64_t count) {
    const rb_module *m = &l->modules->list[rank];
    for (int64_t d = 0; d < count; d++) {
        int64_t index = side->index(l, members[d].index);
        fprintf(file, "%lld\t%lld\t", (long long)rank, (long long)m->unit);
        put_number(file, 6, m->information);
        fprintf(file, "\t%s\t", side->kind);
        put_cell(file, side->name(l, members[d].index), index);
        fprintf(file, "\t%lld\t", (long long)index);
        put_number(file, 9, members[d].weight);
        putc('\n', file);
    }
}

static rb_error write_tsv(const listing *l, FILE *file) {
    fputs("module\tunit\tinformation\tkind\tname\tindex\tweight\n", file);
    for (int64_t r = 0; r < l->modules->count; r++) {
        const rb_module *m = &l->modules->list[r];
        put_rows(file, l, r, &samples, m->samples, m->n_samples);
        put_rows(file, l, r, &features, m->features, m->n_features);
    }
    return RB_OK;
}

/* One gene set: the features of a module whose weights are above (or below) 0; none: no line.
 * Programs for gene sets know no signs, so that the two directions must not be mixed. */
static void put_set(FILE *file, const listing *l, int64_t rank, const char *direction, bool above) {
    const rb_module *m = &l->modules->list[rank];
    bool started = false;
    for (int64_t d = 0; d < m->n_features; d++) {
        if ((m->features[d].weight > 0) != above) {
            continue;
        }
        if (!started) {
            fprintf(file, "unit%lld_%s\trank %lld, information ", (long long)m->unit, direction,
                    (long long)rank);
            put_number(file, 6, m->information);
            started = true;
        }
        putc('\t', file);
        put_cell(file, feature_name(l, m->features[d].index),
                 feature_index(l, m->features[d].index));
    }
    if (started) {
        putc('\n', file);
    }
}

static rb_error write_gmt(const listing *l, FILE *file) {
    for (int64_t r = 0; r < l->modules->count; r++) {
        put_set(file, l, r, "up", true);
        put_set(file, l, r, "down", false);
    }
    return RB_OK;
}

/* ---- JSON ---- */

/* A name as a JSON text. JSON is UTF-8; in a name that is not, other bytes than ASCII become
 * '?'. */
static json_t *name_to_json(const char *name) {
    json_t *text = json_string(name);
    if (text) {
        return text;
    }
    char *ascii = strdup(name);
    for (char *c = ascii; c && *c; c++) {
        *c = (unsigned char)*c < 128 ? *c : '?';
    }
    text = ascii ? json_string(ascii) : NULL;
    free(ascii);
    return text;
}

/* The three arrays of one side of a module; false when memory is out. */
static bool add_members(json_t *object, const listing *l, const member_side *side,
                        const rb_member *members, int64_t count) {
    char key[32];
    json_t *indices = json_array(), *weights = json_array(), *names = json_array();
    int failed = 0;
    for (int64_t d = 0; d < count; d++) {
        const char *text = side->name(l, members[d].index);
        failed |= json_array_append_new(indices, json_integer(side->index(l, members[d].index)));
        failed |= json_array_append_new(weights, json_real(members[d].weight));
        failed |= text && json_array_append_new(names, name_to_json(text));
    }
    bool named = json_array_size(names) > 0;
    snprintf(key, sizeof key, "%ss", side->kind);
    failed |= json_object_set_new(object, key, indices);
    snprintf(key, sizeof key, "%s_weights", side->kind);
    failed |= json_object_set_new(object, key, weights);
    snprintf(key, sizeof key, "%s_names", side->kind);
    failed |= named && json_object_set(object, key, names);
    json_decref(names);
    return !failed;
}

/* One module as a line of JSON, to be freed; NULL when memory is out. */
static char *module_to_json(const listing *l, int64_t rank) {
    const rb_module *m = &l->modules->list[rank];
    json_t *object = json_object();
    bool fine = json_object_set_new(object, "unit", json_integer(m->unit)) == 0 &&
                json_object_set_new(object, "information", json_real(m->information)) == 0 &&
                add_members(object, l, &samples, m->samples, m->n_samples) &&
                add_members(object, l, &features, m->features, m->n_features);
    char *line = fine ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    return line;
}

static rb_error write_json(rb_context *ctx, const listing *l, FILE *file) {
    const char *rule = l->modules->rule; /* of plain words */
    if (rule) {
        fprintf(file, "{\"rule\":\"%s\",\"modules\":[", rule);
    } else {
        fputs("{\"modules\":[", file);
    }
    for (int64_t r = 0; r < l->modules->count; r++) {
        char *line = module_to_json(l, r);
        if (!line) {
            return rb_fail(ctx, RB_ERROR_MEMORY,
                           "the module of unit %lld does not fit into memory as JSON",
                           (long long)l->modules->list[r].unit);
        }
        fprintf(file, "%s\n%s", r ? "," : "", line);
        free(line);
    }
    fputs("\n]}\n", file);
    return RB_OK;
}

/* ---- the file ---- */

static rb_error fill(rb_context *ctx, FILE *file, void *arg) {
    const listing *l = arg;
    return l->format == RB_MODULES_JSON  ? write_json(ctx, l, file)
           : l->format == RB_MODULES_GMT ? write_gmt(l, file)
                                         : write_tsv(l, file);
}

rb_error rb_modules_write(rb_context *ctx, const rb_modules *modules, const rb_model *model,
                          const rb_source *source, rb_modules_format format, const char *path) {
    listing l = {modules, model, source, format};
    return rb_output_file(ctx, path, fill, &l);
}
