/* Which study a journal is of: a text with a line for each thing that its results depend on. */
#include "study.h"

#include <rarebit/version.h>

#include <stdio.h>
#include <string.h>

struct key {
    rb_context *ctx;
    rb_buffer text;
    int64_t used;
    rb_error err;
};

static void add(struct key *key, const char *text) {
    int64_t size = (int64_t)strlen(text) + 1;
    if (!key->err) key->err = rb_buffer_hold(key->ctx, &key->text, 2 * (key->used + size), 1);
    if (key->err) return;
    memcpy((char *)key->text.data + key->used, text, (size_t)size);
    key->used += size - 1;
}

static void add_checksum(struct key *key, const rb_matrix *matrix) {
    char text[64];
    uint32_t checksum = 0;
    if (!key->err) key->err = rb_matrix_checksum(key->ctx, matrix, &checksum);
    snprintf(text, sizeof text, " %lld x %lld, checksum %08x", (long long)matrix->n_samples,
             (long long)matrix->n_features, checksum);
    add(key, text);
}

/* What says nothing about a result. */
static bool says_nothing(const char *name) {
    static const char *const names[] = {"checkpoint", "checkpoint-every", "part", NULL};
    return rb_among(names, name);
}

static void add_options(struct key *key, const rb_option_part *part) {
    for (const rb_option *row = part->group.rows; row->name; row++) {
        char scratch[RB_ROW_TEXT];
        const void *field = (const char *)part->fields + row->offset;
        const rb_matrix *matrix =
            row->kind == RB_OPTION_VALUES ? ((const rb_values *)field)->matrix : NULL;
        if (says_nothing(row->name)) continue;
        add(key, row->name);
        add(key, "=");
        add(key, rb_row_text(row, part->fields, scratch));
        if (matrix) add_checksum(key, matrix);
        add(key, "\n");
    }
}

static void add_covariates(struct key *key, const rb_source *source) {
    const rb_source_covariates *all = source->covariates;
    for (int64_t i = 0; all && i < all->count; i++) {
        const rb_source_covariate *c = &all->list[i];
        const rb_matrix values = {
            source->n_samples, 1, RB_FLOAT64, false, c->values + source->covariates_first, 1, 1};
        add(key, c->name);
        for (int64_t level = 0; c->levels && level < c->levels->count; level++) {
            add(key, level ? "," : ": ");
            add(key, c->levels->text[level]);
        }
        add_checksum(key, &values);
        add(key, "\n");
    }
}

rb_error rb_study_key(rb_context *ctx, const char *study, const rb_options *options,
                      const rb_option_group *group, const rb_source *source,
                      const rb_matrix *matrix, char **text) {
    struct key key = {.ctx = ctx};
    add(&key, study);
    add(&key, " " RB_VERSION " ");
    add(&key, options->method ? options->method->name : "");
    add(&key, "\ndata");
    add_checksum(&key, matrix);
    add(&key, "\n");
    add_covariates(&key, source);
    for (int p = 0; p < options->n_parts; p++) {
        const rb_option_part *part = &options->parts[p];
        const rb_option_group *of = part->key;
        if (p == 0 || of == &rb_fit_group || of == &rb_preprocess_group || of == group)
            add_options(&key, part);
    }
    if (key.err) rb_free(key.text.data);
    *text = key.err ? NULL : key.text.data;
    return key.err;
}
