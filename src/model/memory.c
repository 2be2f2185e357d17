/* A model as bytes in memory: for programs that keep models in a form of their own.
 *
 * One function walks over a model and either writes or reads what it comes to, so that both agree:
 *     "RAREBIT" and a 0, version; method, precision, status; arrays; attributes; preprocessing with
 *     the names of features; history by columns.
 * Numbers are 64 bits, little-endian, floats as in IEEE 754; a text is its length and its bytes.
 * Bytes may come from anybody: a length is believed only as far as bytes are left, and what was
 * read is checked as a file is.
 */
#include "model.h"

#include <math.h>
#include <string.h>

enum { VERSION = 1, NAMES_MAX = 1000 };

static const char magic[8] = "RAREBIT";

/* Bytes that are written (the first time only counted) or read. */
struct stream {
    rb_context *ctx;
    bool reads;
    unsigned char *bytes; /* NULL: only counted */
    size_t size, at;      /* size: of what is read */
    rb_error err;         /* the first; nothing is done after it */
};

static void damaged(struct stream *s, const char *what) {
    if (!s->err) {
        s->err = rb_fail(s->ctx, RB_ERROR_FORMAT, "the bytes of the model are damaged: %s", what);
    }
}

static void check(struct stream *s, bool fine, const char *what) {
    if (!fine) {
        damaged(s, what);
    }
}

/* The next so many bytes, or NULL: there are not so many, or they are only counted. */
static unsigned char *take(struct stream *s, size_t count) {
    if (s->reads && !s->err && s->size - s->at < count) {
        damaged(s, "they end too early");
    }
    if (s->err) {
        return NULL;
    }
    s->at += count;
    return s->bytes ? s->bytes + s->at - count : NULL;
}

static void move_word(struct stream *s, uint64_t *word) {
    unsigned char *bytes = take(s, 8);
    if (!bytes) {
        return;
    }
    if (s->reads) {
        *word = 0;
    }
    for (int i = 0; i < 8; i++) {
        if (s->reads) {
            *word |= (uint64_t)bytes[i] << 8 * i;
        } else {
            bytes[i] = (unsigned char)(*word >> 8 * i);
        }
    }
}

/* A number between bounds, ends included. */
static void move_integer(struct stream *s, int64_t *value, int64_t min, int64_t max) {
    uint64_t word = s->reads ? 0 : (uint64_t)*value;
    move_word(s, &word);
    if (!s->reads || s->err) {
        return;
    }
    if ((int64_t)word < min || (int64_t)word > max) {
        damaged(s, "a number is out of its range");
    } else {
        *value = (int64_t)word;
    }
}

/* How many things follow of so many bytes at least. */
static void move_count(struct stream *s, int64_t *count, int64_t bytes) {
    move_integer(s, count, 0, INT64_MAX);
    check(s, !s->reads || s->err || *count <= (int64_t)(s->size - s->at) / bytes,
          "there are fewer values than they say");
}

static void move_values(struct stream *s, int64_t count, double *values) {
    for (int64_t i = 0; i < count && !s->err; i++) {
        uint64_t word;
        memcpy(&word, &values[i], sizeof word);
        move_word(s, &word);
        memcpy(&values[i], &word, sizeof word);
    }
}

/* A text of the caller's; one that is read is made, and NULL on failure. */
static void move_text(struct stream *s, char **text) {
    int64_t length = s->reads || !*text ? 0 : (int64_t)strlen(*text);
    *text = s->reads ? NULL : *text;
    move_count(s, &length, 1);
    unsigned char *bytes = take(s, s->err ? 0 : (size_t)length);
    if (!bytes || s->err) {
        return;
    }
    if (!s->reads) {
        memcpy(bytes, *text ? *text : "", (size_t)length);
        return;
    }
    if (memchr(bytes, 0, (size_t)length)) {
        damaged(s, "a text has a 0 in it");
        return;
    }
    *text = rb_alloc(s->ctx, length + 1, 1);
    if (!*text) {
        s->err = RB_ERROR_MEMORY;
        return;
    }
    memcpy(*text, bytes, (size_t)length);
    (*text)[length] = '\0';
}

/* One of some words, by its text. */
static void move_choice(struct stream *s, int *index, const char *const *words, int count) {
    char *text = s->reads ? NULL : (char *)words[*index]; /* only read */
    move_text(s, &text);
    if (s->reads && text) {
        *index = -1;
        for (int i = 0; i < count; i++) {
            *index = strcmp(words[i], text) == 0 ? i : *index;
        }
        check(s, *index >= 0, "a word is none of those that it may be");
    }
    if (s->reads) {
        rb_free(text);
    }
}

/* A vector of count finite values, which are made when they are read. */
static void move_vector(struct stream *s, int64_t count, double **values) {
    if (s->reads && !s->err) {
        check(s, count <= (int64_t)(s->size - s->at) / 8, "there are fewer values than they say");
        *values = s->err ? NULL : rb_alloc(s->ctx, count, sizeof **values);
        s->err = s->err || *values ? s->err : RB_ERROR_MEMORY;
    }
    if (!s->err) {
        move_values(s, count, *values);
    }
    for (int64_t k = 0; s->reads && !s->err && k < count; k++) {
        check(s, isfinite((*values)[k]), "a number of the preprocessing is not finite");
    }
}

/* ---- preprocessing ---- */

static void move_options(struct stream *s, rb_preprocess_options *options) {
    const rb_option *table = rb_preprocess_group.rows;
    int64_t count = 0;
    for (const rb_option *row = table; row->name; row++) {
        count++;
    }
    move_integer(s, &count, 0, NAMES_MAX);
    if (s->reads) {
        rb_rows_default(table, options);
    }
    for (int64_t i = 0; i < count && !s->err; i++) {
        char scratch[RB_ROW_TEXT], *name = NULL, *value = NULL;
        if (!s->reads) {
            name = (char *)table[i].name; /* only read */
            value = (char *)rb_row_text(&table[i], options, scratch);
        }
        move_text(s, &name);
        move_text(s, &value);
        if (s->reads) {
            if (!s->err && rb_rows_set(s->ctx, table, options, name, value)) {
                rb_fail_prefix(s->ctx, "the bytes of the model are damaged: preprocessing: ");
                s->err = RB_ERROR_FORMAT;
            }
            rb_free(name);
            rb_free(value);
        }
    }
}

static void move_selected(struct stream *s, rb_preprocess *p) {
    int64_t there = p->selected != NULL;
    move_integer(s, &there, 0, 1);
    if (!there || s->err) {
        return;
    }
    if (s->reads) {
        check(s, p->n_features <= (int64_t)(s->size - s->at) / 8, "the selection is too short");
        p->selected = s->err ? NULL : rb_alloc(s->ctx, p->n_features, sizeof *p->selected);
        s->err = s->err || p->selected ? s->err : RB_ERROR_MEMORY;
    }
    for (int64_t k = 0; k < p->n_features && !s->err; k++) {
        move_integer(s, &p->selected[k], 0, INT64_MAX);
    }
}

static void move_names(struct stream *s, rb_preprocess *p) {
    int64_t there = p->names != NULL;
    rb_name_list list = {0};
    move_integer(s, &there, 0, 1);
    for (int64_t k = 0; there && k < p->n_features && !s->err; k++) {
        char *name = s->reads ? NULL : p->names->text[k];
        move_text(s, &name);
        if (s->reads && !s->err) {
            s->err = rb_name_list_add(s->ctx, &list, name, (int64_t)strlen(name));
        }
        if (s->reads) {
            rb_free(name);
        }
    }
    if (s->reads && there) {
        s->err = rb_name_list_end(s->ctx, s->err, &list, &p->names);
    }
}

static void move_preprocess(struct stream *s, rb_preprocess *p) {
    int64_t checksum = p->checksum, fills = p->fill != NULL;
    move_options(s, &p->options);
    move_integer(s, &p->n_input, 0, INT64_MAX);
    move_integer(s, &p->n_features, 0, s->reads ? p->n_input : INT64_MAX);
    move_integer(s, &p->n_filled, 0, INT64_MAX);
    move_integer(s, &checksum, 0, UINT32_MAX);
    p->checksum = s->reads ? (uint32_t)checksum : p->checksum;
    move_selected(s, p);
    move_vector(s, p->n_features, &p->centre);
    move_vector(s, p->n_features, &p->scale);
    move_integer(s, &fills, 0, 1);
    if (fills) {
        move_vector(s, p->n_features, &p->fill);
    }
    move_names(s, p);
}

/* ---- arrays, attributes, history ---- */

static void move_arrays(struct stream *s, rb_model *model) {
    int64_t count = model->n_arrays;
    move_integer(s, &count, 0, NAMES_MAX);
    for (int64_t i = 0; i < count && !s->err; i++) {
        rb_array array = {0};
        if (!s->reads) {
            array = model->arrays[i];
        }
        int64_t cells = 0;
        move_text(s, &array.name);
        move_count(s, &array.rows, 1);
        move_count(s, &array.columns, 1);
        if (s->reads && !s->err) {
            check(s,
                  rb_multiply(array.rows, array.columns, &cells) &&
                      cells <= (int64_t)(s->size - s->at) / 8,
                  "an array is larger than the rest of them");
            check(s,
                  strcmp(array.name, "loadings") != 0 ||
                      array.rows == model->preprocess->n_features,
                  "the loadings have not one row per feature");
            check(s, !rb_model_array(model, array.name, NULL, NULL), "an array is there twice");
        }
        if (s->reads && !s->err) {
            array.values = rb_model_add_array(s->ctx, model, array.name, array.rows, array.columns);
            s->err = array.values ? RB_OK : RB_ERROR_MEMORY;
        }
        move_values(s, s->err ? 0 : array.rows * array.columns, array.values);
        if (s->reads) {
            rb_free(array.name);
        }
    }
}

static void move_attributes(struct stream *s, rb_model *model) {
    int64_t count = model->n_attributes;
    move_integer(s, &count, 0, NAMES_MAX);
    for (int64_t i = 0; i < count && !s->err; i++) {
        rb_attribute attribute = {0};
        if (!s->reads) {
            attribute = model->attributes[i];
        }
        move_text(s, &attribute.name);
        move_text(s, &attribute.value);
        if (s->reads) {
            if (!s->err) {
                s->err = rb_model_set_attribute(s->ctx, model, attribute.name, attribute.value);
            }
            rb_free(attribute.name);
            rb_free(attribute.value);
        }
    }
}

/* The column of that name, or of that index: -1 where the method has none. */
static int find_column(const rb_model *model, const char *name) {
    int c = 0;
    for (; rb_store_column_of(model->method, c).name; c++) {
        if (strcmp(rb_store_column_of(model->method, c).name, name) == 0) {
            return c;
        }
    }
    return -1;
}

/* A column that the method does not know is passed over. */
static void move_column(struct stream *s, rb_model *model, int column) {
    char *name = s->reads ? NULL : (char *)rb_store_column_of(model->method, column).name;
    move_text(s, &name);
    if (s->reads) {
        column = s->err ? -1 : find_column(model, name);
        rb_free(name);
    }
    for (int64_t t = 0; t < model->iterations && !s->err; t++) {
        double unknown;
        size_t offset = column < 0 ? 0 : rb_store_column_of(model->method, column).offset;
        move_values(
            s, 1, column < 0 ? &unknown : (double *)(void *)((char *)&model->history[t] + offset));
    }
}

static void move_history(struct stream *s, rb_model *model) {
    int64_t count = model->iterations, columns = 0;
    while (!s->reads && rb_store_column_of(model->method, (int)columns).name) {
        columns++;
    }
    move_integer(s, &columns, 0, RB_STORE_COLUMNS + RB_METRICS_MAX);
    move_count(s, &count, 8 * (columns > 0 ? columns : 1));
    if (s->reads && !s->err) {
        s->err = rb_model_empty_history(s->ctx, model, count);
    }
    for (int c = 0; c < columns && !s->err; c++) {
        move_column(s, model, c);
    }
}

/* ---- the whole ---- */

static void move_head(struct stream *s, char **method, int *type, int *status) {
    int64_t version = VERSION;
    unsigned char *bytes = take(s, sizeof magic);
    if (s->reads && !s->err && memcmp(bytes, magic, sizeof magic) != 0) {
        s->err = rb_fail(s->ctx, RB_ERROR_FORMAT, "these bytes are no model of rarebit");
    } else if (!s->reads && bytes) {
        memcpy(bytes, magic, sizeof magic);
    }
    move_integer(s, &version, 1, INT64_MAX);
    if (!s->err && version > VERSION) {
        s->err = rb_fail(s->ctx, RB_ERROR_FORMAT,
                         "the bytes of the model have version %lld, made by a newer version of "
                         "rarebit; update rarebit",
                         (long long)version);
    }
    move_text(s, method);
    move_choice(s, type, rb_store_precisions, 2);
    move_choice(s, status, rb_store_statuses, RB_STORE_STATUSES);
}

static void move_contents(struct stream *s, rb_model *model) {
    move_preprocess(s, model->preprocess);
    move_arrays(s, model);
    move_attributes(s, model);
    move_history(s, model);
}

static void write_model(struct stream *s, const rb_model *model) {
    char *method = (char *)model->method->name; /* only read, as all of the model */
    int type = (int)model->type, status = (int)model->status;
    move_head(s, &method, &type, &status);
    move_contents(s, (rb_model *)model);
}

rb_error rb_model_save_memory(rb_context *ctx, const rb_model *model, void **bytes, size_t *size) {
    struct stream s = {.ctx = ctx};
    write_model(&s, model);
    *bytes = NULL;
    void *memory = rb_alloc(ctx, (int64_t)s.at, 1);
    if (!memory) {
        return RB_ERROR_MEMORY;
    }
    s = (struct stream){.ctx = ctx, .bytes = memory};
    write_model(&s, model);
    *bytes = memory;
    *size = s.at;
    return RB_OK;
}

/* An empty model of a method that the context knows. */
static rb_error begin_model(struct stream *s, rb_model **model) {
    char *name = NULL;
    int type = 0, status = 0;
    move_head(s, &name, &type, &status);
    if (!s->err) {
        s->err = rb_model_begin(s->ctx, name, type, status, model);
    }
    rb_free(name);
    return s->err;
}

rb_error rb_model_load_memory(rb_context *ctx, const void *bytes, size_t size, rb_model **out) {
    /* Nothing is written to bytes that are read. */
    struct stream s = {.ctx = ctx, .reads = true, .bytes = (unsigned char *)bytes, .size = size};
    rb_model *model = NULL;
    *out = NULL;
    rb_error err = begin_model(&s, &model);
    if (!err) {
        move_contents(&s, model);
        check(&s, s.err || s.at == s.size, "there are more than a model has");
        const char *flaw = s.err ? NULL : rb_model_preprocess_flaw(model);
        check(&s, !flaw, flaw);
        err = s.err;
    }
    if (err) {
        rb_model_free(model);
        return err;
    }
    *out = model;
    return RB_OK;
}

void rb_free_memory(void *bytes) {
    rb_free(bytes);
}
