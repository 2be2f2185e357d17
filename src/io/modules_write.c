/* Modules to files: tables (TSV), JSON and gene sets (GMT); docs/howto/modules.md. */
#include "io.h"

#include <rarebit/json.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

/* What is written, and where the names come from. */
typedef struct listing {
    const rb_modules *modules;
    const rb_model *model;
    const rb_source *source;
    rb_modules_format format;
    rb_table table; /* a row for each module */
} listing;

/* What a module has besides its members, in TSV behind these. */
static const char *const first_keys[] = {"unit", "information", NULL};
static const char *const last_keys[] = {"stability", "p",     "p_family", "p_permuted",
                                        "fdr",       "score", "role",     NULL};

/* The two sides of a module. */
typedef enum side { SAMPLES, FEATURES } side;
static const char *const kinds[] = {"sample", "feature"};

/* What members are called; NULL: no name is known. Without a model the features are those of the
 * source. */
static const char *name_of(const listing *l, side which, int64_t member) {
    const rb_source *source = l->source;
    if (which == SAMPLES) {
        return source && member < rb_source_samples(source) ? rb_source_sample_name(source, member)
                                                            : NULL;
    }
    if (l->model) return rb_model_feature_name(l->model, member);
    return source && member < rb_source_features(source) ? rb_source_feature_name(source, member)
                                                         : NULL;
}

/* The row or column of a member in the data, from 0. */
static int64_t index_of(const listing *l, side which, int64_t member) {
    return which == SAMPLES ? member : rb_modules_column(l->modules, member);
}

/* ---- TSV and GMT ---- */

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

/* The values of a module under these keys, or the keys; each behind a tab. */
static void put_columns(FILE *file, const listing *l, int64_t rank, const char *const *keys) {
    for (const char *const *key = keys; *key; key++) {
        const rb_table_column *column = rb_table_find(&l->table, *key);
        if (!column) continue;
        rb_value v = {.kind = RB_VALUE_TEXT, .text = *key};
        if (rank >= 0) v = rb_table_value(&l->table, rank, column);
        putc('\t', file);
        if (v.kind == RB_VALUE_INTEGER)
            fprintf(file, "%lld", (long long)v.integer);
        else if (v.kind == RB_VALUE_NUMBER)
            put_number(file, 6, v.number);
        else
            fputs(v.kind == RB_VALUE_TEXT ? v.text : "NA", file);
    }
}

static void put_rows(FILE *file, const listing *l, int64_t rank, side which,
                     const rb_member *members, int64_t count) {
    for (int64_t d = 0; d < count; d++) {
        int64_t index = index_of(l, which, members[d].index);
        fprintf(file, "%lld", (long long)rank);
        put_columns(file, l, rank, first_keys);
        fprintf(file, "\t%s\t", kinds[which]);
        put_cell(file, name_of(l, which, members[d].index), index);
        fprintf(file, "\t%lld\t", (long long)index);
        put_number(file, 9, members[d].weight);
        put_columns(file, l, rank, last_keys);
        putc('\n', file);
    }
}

static void write_tsv(const listing *l, FILE *file) {
    fputs("module\tunit\tinformation\tkind\tname\tindex\tweight", file);
    put_columns(file, l, -1, last_keys);
    putc('\n', file);
    for (int64_t r = 0; r < l->modules->count; r++) {
        const rb_module *m = &l->modules->list[r];
        put_rows(file, l, r, SAMPLES, m->samples, m->n_samples);
        put_rows(file, l, r, FEATURES, m->features, m->n_features);
    }
}

/* Of which fit the sets are: the description is free text. */
static void put_origin(FILE *file, const rb_model *model) {
    const char *version = model ? rb_model_attribute(model, "program_version") : NULL;
    const char *seed = model ? rb_model_attribute(model, "seed") : NULL;
    const char *data = model ? rb_model_attribute(model, "data_checksum") : NULL;
    if (version && seed && data)
        fprintf(file, ", rarebit %s, seed %s, data %s", version, seed, data);
}

/* One gene set: the features of a module whose weights are above (or below) 0; none: no line.
 * Programs for gene sets know no signs, so that the two directions must not be mixed. */
static void put_set(FILE *file, const listing *l, int64_t rank, const char *direction, bool above) {
    const rb_module *m = &l->modules->list[rank];
    bool started = false;
    for (int64_t d = 0; d < m->n_features; d++) {
        if ((m->features[d].weight > 0) != above) continue;
        if (!started) {
            fprintf(file, "unit%lld%s_%s\trank %lld, information ", (long long)m->unit,
                    l->modules->notes[rank].role == RB_UNIT_OTHER_SIDE ? "-" : "", direction,
                    (long long)rank);
            put_number(file, 6, m->information);
            put_origin(file, l->model);
            started = true;
        }
        putc('\t', file);
        put_cell(file, name_of(l, FEATURES, m->features[d].index),
                 index_of(l, FEATURES, m->features[d].index));
    }
    if (started) putc('\n', file);
}

static void write_gmt(const listing *l, FILE *file) {
    for (int64_t r = 0; r < rb_modules_called(l->modules); r++) {
        put_set(file, l, r, "up", true);
        put_set(file, l, r, "down", false);
    }
}

/* ---- JSON ---- */

/* The three arrays of one side of a module. */
static void add_members(json_t **to, const listing *l, side which, const rb_member *members,
                        int64_t count) {
    char key[32];
    json_t *indices = json_array(), *weights = json_array(), *names = json_array();
    for (int64_t d = 0; d < count; d++) {
        const char *text = name_of(l, which, members[d].index);
        rb_json_add(&indices, NULL, json_integer(index_of(l, which, members[d].index)));
        rb_json_add(&weights, NULL, json_real(members[d].weight));
        if (text) rb_json_add(&names, NULL, rb_json_text(text));
    }
    snprintf(key, sizeof key, "%ss", kinds[which]);
    rb_json_add(to, key, indices);
    snprintf(key, sizeof key, "%s_weights", kinds[which]);
    rb_json_add(to, key, weights);
    snprintf(key, sizeof key, "%s_names", kinds[which]);
    if (names && json_array_size(names) == 0)
        json_decref(names);
    else
        rb_json_add(to, key, names);
}

static void add_columns(json_t **to, const listing *l, int64_t rank, const char *const *keys) {
    for (const char *const *key = keys; *key; key++) {
        const rb_table_column *column = rb_table_find(&l->table, *key);
        rb_value v = {0};
        if (column) v = rb_table_value(&l->table, rank, column);
        if (v.kind == RB_VALUE_INTEGER)
            rb_json_add(to, *key, json_integer(v.integer));
        else if (v.kind == RB_VALUE_NUMBER)
            rb_json_add(to, *key, json_real(v.number));
        else if (v.kind == RB_VALUE_TEXT)
            rb_json_add(to, *key, rb_json_text(v.text));
    }
}

/* One module as a line of JSON, to be freed; NULL when memory is out. */
static char *module_to_json(const listing *l, int64_t rank) {
    const rb_module *m = &l->modules->list[rank];
    json_t *object = json_object();
    add_columns(&object, l, rank, first_keys);
    add_columns(&object, l, rank, last_keys);
    add_members(&object, l, SAMPLES, m->samples, m->n_samples);
    add_members(&object, l, FEATURES, m->features, m->n_features);
    char *line = object ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    return line;
}

static rb_error write_json(rb_context *ctx, const listing *l, FILE *file) {
    const char *rule = l->modules->rule; /* of plain words */
    fprintf(file, rule ? "{\"rule\":\"%s\"," : "{", rule);
    if (l->modules->nulls) fprintf(file, "\"tested\":\"%s\",", l->modules->nulls);
    fprintf(file, "\"modules\":[");
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
    char *made = NULL;
    rb_error err = l->model ? rb_provenance(ctx, l->model, NULL, &made) : RB_OK;
    const char *provenance = l->model ? made : rb_context_provenance(ctx);
    fputs("\n]", file);
    if (provenance) fprintf(file, ",\n\"provenance\":%s", provenance);
    fputs("}\n", file);
    rb_free(made);
    return err;
}

/* ---- the file ---- */

static rb_error fill(rb_context *ctx, FILE *file, void *arg) {
    const listing *l = arg;
    if (l->format == RB_MODULES_JSON) return write_json(ctx, l, file);
    (l->format == RB_MODULES_GMT ? write_gmt : write_tsv)(l, file);
    return RB_OK;
}

rb_error rb_modules_write(rb_context *ctx, const rb_modules *modules, const rb_model *model,
                          const rb_source *source, rb_modules_format format, const char *path) {
    listing l = {modules, model, source, format, rb_modules_table(modules)};
    return rb_output_file(ctx, path, fill, &l);
}
