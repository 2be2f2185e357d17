/* A model as bytes in memory: for programs that keep models in a form of their own.
 *
 * One function walks over a model and either writes or reads what it comes to, so that both agree:
 *     "RAREBIT" and a 0, version, checksum; method, precision, status; preprocessing with the names
 *     of features; arrays; attributes; history by columns.
 * Numbers are 64 bits, little-endian, floats as in IEEE 754; a text is its length and its bytes.
 * Bytes may come from anybody: a length is believed only as far as bytes are left, and what was
 * read is checked as a file is.
 */
#include "model.h"

#include <string.h>

/* Version 3 has a checksum and says whether there are effects of covariates; version 2 always has
 * them, version 1 never. */
enum { VERSION = 3, NAMES_MAX = 1000 };
/* Where the checksum of all other bytes stands. */
enum { SUM_AT = 16, SUM_END = 24 };

static const char magic[8] = "RAREBIT";

/* Bytes that are written (the first time only counted) or read. */
struct stream {
    rb_context *ctx;
    bool reads;
    int64_t version;
    unsigned char *bytes; /* NULL: only counted */
    size_t size, at;      /* size: of what is read */
    rb_error err;         /* the first; nothing is done after it */
};

static void check(struct stream *s, bool fine, const char *what) {
    if (!fine && !s->err)
        s->err = rb_fail(s->ctx, RB_ERROR_FORMAT, "the bytes of the model are damaged: %s", what);
}

/* Are so many words of 64 bits left to be read? */
static void check_left(struct stream *s, int64_t words) {
    check(s, !s->reads || words <= (int64_t)(s->size - s->at) / 8,
          "they have fewer values than they state");
}

/* The next so many bytes, or NULL: there are not so many, or they are only counted. */
static unsigned char *take(struct stream *s, size_t count) {
    check(s, !s->reads || s->size - s->at >= count, "they end too early");
    if (s->err) return NULL;
    s->at += count;
    return s->bytes ? s->bytes + s->at - count : NULL;
}

static void move_bytes(const struct stream *s, unsigned char *bytes, void *memory, size_t count) {
    if (bytes) memcpy(s->reads ? memory : bytes, s->reads ? bytes : memory, count);
}

/* Numbers of 64 bits: integers or floats. */
static void move_words(struct stream *s, int64_t count, void *words) {
    const uint16_t one = 1;
    bool little_endian = *(const unsigned char *)&one == 1;
    for (int64_t k = 0; k < count && !s->err; k++) {
        unsigned char *bytes = take(s, 8), *word = (unsigned char *)words + 8 * k;
        for (int i = 0; bytes && i < 8; i++)
            move_bytes(s, &bytes[i], &word[little_endian ? i : 7 - i], 1);
    }
}

/* A number between 0 and a bound. */
static void move_integer(struct stream *s, int64_t *value, int64_t max) {
    int64_t word = *value;
    move_words(s, 1, &word);
    check(s, !s->reads || (word >= 0 && word <= max), "a number is out of its range");
    *value = s->reads && !s->err ? word : *value;
}

/* A vector, which is made when it is read. */
static void *move_vector(struct stream *s, int64_t count, void *words) {
    if (s->reads) {
        check_left(s, count);
        words = s->err ? NULL : rb_alloc(s->ctx, count, 8);
        s->err = s->err || words ? s->err : RB_ERROR_MEMORY;
    }
    move_words(s, count, words);
    return words;
}

/* A text of the caller's; one that is read is made, or NULL. */
static void move_text(struct stream *s, char **text) {
    int64_t length = s->reads || !*text ? 0 : (int64_t)strlen(*text);
    move_integer(s, &length, INT64_MAX);
    unsigned char *bytes = take(s, s->err ? 0 : (size_t)length);
    if (s->reads) {
        *text = bytes ? rb_alloc(s->ctx, length + 1, 1) : NULL;
        s->err = s->err || *text ? s->err : RB_ERROR_MEMORY;
    }
    if (bytes && *text) {
        move_bytes(s, bytes, *text, (size_t)length);
        if (s->reads) (*text)[length] = '\0';
        check(s, strlen(*text) == (size_t)length, "a text contains a 0");
    }
}

/* One of some words, by its text. */
static void move_choice(struct stream *s, int *index, const char *const *words, int count) {
    char *text = (char *)words[*index]; /* only read */
    move_text(s, &text);
    if (s->reads && text) {
        *index = rb_store_word(words, count, text);
        check(s, *index >= 0, "a word has an unknown value");
        rb_free(text);
    }
}

/* A name and its value; those that were read are freed by drop_pair. */
static void move_pair(struct stream *s, rb_attribute *pair) {
    move_text(s, &pair->name);
    move_text(s, &pair->value);
}

static void drop_pair(const struct stream *s, rb_attribute *pair) {
    if (s->reads) {
        rb_free(pair->name);
        rb_free(pair->value);
    }
}

/* ---- preprocessing ---- */

static void move_options(struct stream *s, rb_preprocess_options *options) {
    const rb_option *rows = rb_preprocess_group.rows;
    int64_t count = 0;
    while (rows[count].name && rows[count].kind != RB_OPTION_TEXT) /* which come last */
        count++;
    if (s->reads) rb_rows_default(rows, options);
    move_integer(s, &count, NAMES_MAX);
    for (int64_t i = 0; i < count && !s->err; i++) {
        char scratch[RB_ROW_TEXT];
        rb_attribute pair = {0};
        if (!s->reads) { /* both are only read */
            pair.name = (char *)rows[i].name;
            pair.value = (char *)rb_row_text(&rows[i], options, scratch);
        }
        move_pair(s, &pair);
        check(s, !s->reads || s->err || strcmp(pair.name, "regress") != 0,
              "the preprocessing names covariates twice");
        if (s->reads && !s->err && rb_rows_set(s->ctx, rows, options, pair.name, pair.value)) {
            rb_fail_prefix(s->ctx, "the bytes of the model are damaged: preprocessing: ");
            s->err = RB_ERROR_FORMAT;
        }
        drop_pair(s, &pair);
    }
}

/* So many texts, which are made when they are read. */
static void move_texts(struct stream *s, int64_t count, rb_names **names) {
    rb_name_list list = {0};
    for (int64_t k = 0; k < count && !s->err; k++) {
        char *name = s->reads ? NULL : (*names)->text[k];
        move_text(s, &name);
        if (s->reads && !s->err)
            s->err = rb_name_list_add(s->ctx, &list, name, (int64_t)strlen(name));
        if (s->reads) rb_free(name);
    }
    if (s->reads) s->err = rb_name_list_end(s->ctx, s->err, &list, names);
}

static void move_names(struct stream *s, rb_preprocess *p) {
    int64_t there = p->names != NULL;
    move_integer(s, &there, 1);
    if (there) move_texts(s, p->n_features, &p->names);
}

/* Name and levels, 0 of them of numbers. */
static void move_term(struct stream *s, rb_regress_term *term) {
    int64_t levels = term->levels ? term->levels->count : 0;
    move_text(s, &term->name);
    move_integer(s, &levels, INT64_MAX);
    check_left(s, levels);
    if (levels > 0 && !s->err) move_texts(s, levels, &term->levels);
}

static void move_regress(struct stream *s, rb_preprocess *p) {
    if (s->reads) p->regress = rb_alloc_zero(s->ctx, 1, sizeof *p->regress);
    rb_regress *r = p->regress;
    s->err = s->err || r ? s->err : RB_ERROR_MEMORY;
    if (s->err) return;
    move_integer(s, &r->n_terms, RB_COVARIATES_MAX);
    for (int64_t t = 0; t < r->n_terms && !s->err; t++)
        move_term(s, &r->terms[t]);
    if (s->reads && !s->err) s->err = rb_regress_complete(s->ctx, r);
    int64_t cells = 0;
    check(s, s->err || rb_multiply(p->n_features, r->n_columns, &cells), "there are too many");
    if (s->err) return;
    r->means = move_vector(s, r->n_columns, r->means);
    r->coefficients = move_vector(s, cells, r->coefficients);
    p->options.regress = r->text;
}

static void move_preprocess(struct stream *s, rb_preprocess *p) {
    int64_t checksum = p->checksum, selects = p->selected != NULL, fills = p->fill != NULL;
    move_options(s, &p->options);
    move_integer(s, &p->n_input, INT64_MAX);
    move_integer(s, &p->n_features, INT64_MAX);
    move_integer(s, &p->n_filled, INT64_MAX);
    move_integer(s, &checksum, UINT32_MAX);
    p->checksum = (uint32_t)checksum;
    move_integer(s, &selects, 1);
    if (selects) p->selected = move_vector(s, p->n_features, p->selected);
    p->centre = move_vector(s, p->n_features, p->centre);
    p->scale = move_vector(s, p->n_features, p->scale);
    move_integer(s, &fills, 1);
    if (fills) p->fill = move_vector(s, p->n_features, p->fill);
    move_names(s, p);
    int64_t regresses = s->version == 2 || p->regress;
    if (s->version > 2) move_integer(s, &regresses, 1);
    if (regresses) move_regress(s, p);
}

/* ---- arrays, attributes, history ---- */

static void read_array(struct stream *s, rb_model *model, rb_array *array) {
    int64_t cells = 0;
    bool fits = rb_multiply(array->rows, array->columns, &cells);
    check_left(s, fits ? cells : INT64_MAX);
    check_left(s, array->rows);
    check_left(s, array->columns);
    check(s, s->err || !rb_model_array(model, array->name, NULL, NULL), "an array is there twice");
    if (!s->err) {
        array->values = rb_model_add_array(s->ctx, model, array->name, array->rows, array->columns);
        s->err = array->values ? RB_OK : RB_ERROR_MEMORY;
    }
    rb_free(array->name);
}

static void move_arrays(struct stream *s, rb_model *model) {
    int64_t count = model->n_arrays;
    move_integer(s, &count, NAMES_MAX);
    for (int64_t i = 0; i < count && !s->err; i++) {
        rb_array array = {0};
        if (!s->reads) array = model->arrays[i];
        move_text(s, &array.name);
        move_integer(s, &array.rows, INT64_MAX);
        move_integer(s, &array.columns, INT64_MAX);
        if (s->reads) read_array(s, model, &array);
        if (!s->err) move_words(s, array.rows * array.columns, array.values);
    }
}

static void move_attributes(struct stream *s, rb_model *model) {
    int64_t count = model->n_attributes;
    move_integer(s, &count, NAMES_MAX);
    for (int64_t i = 0; i < count && !s->err; i++) {
        rb_attribute pair = {0};
        if (!s->reads) pair = model->attributes[i];
        move_pair(s, &pair);
        if (s->reads && !s->err)
            s->err = rb_model_set_attribute(s->ctx, model, pair.name, pair.value);
        drop_pair(s, &pair);
    }
}

/* A column that the method does not know is passed over. */
static void move_column(struct stream *s, rb_model *model, int index) {
    rb_store_column column = {0};
    if (!s->reads) column = rb_store_column_of(model->method, index);
    char *name = (char *)column.name; /* only read */
    move_text(s, &name);
    if (s->reads && name) {
        int c = 0;
        do {
            column = rb_store_column_of(model->method, c++);
        } while (column.name && strcmp(column.name, name) != 0);
        rb_free(name);
    }
    for (int64_t t = 0; t < model->iterations && !s->err; t++) {
        double unknown;
        void *there = (char *)&model->history[t] + column.offset;
        move_words(s, 1, column.name ? there : &unknown);
    }
}

static void move_history(struct stream *s, rb_model *model) {
    int64_t count = model->iterations, columns = 0;
    while (!s->reads && rb_store_column_of(model->method, (int)columns).name)
        columns++;
    move_integer(s, &columns, RB_STORE_COLUMNS + RB_METRICS_MAX);
    move_integer(s, &count, INT64_MAX / 64);
    check_left(s, count * (columns > 0 ? columns : 1));
    if (s->reads && !s->err) s->err = rb_model_empty_history(s->ctx, model, count);
    for (int c = 0; c < columns && !s->err; c++)
        move_column(s, model, c);
}

/* ---- the whole ---- */

/* Below 0, so that where damage makes an earlier version of this one it is no length of a text. */
int64_t rb_model_bytes_sum(const void *bytes, size_t size) {
    rb_crc32 crc;
    rb_crc32_prepare(&crc);
    uint32_t sum = rb_crc32_add(&crc, 0, bytes, SUM_AT);
    sum = rb_crc32_add(&crc, sum, (const unsigned char *)bytes + SUM_END, size - SUM_END);
    return -1 - (int64_t)sum;
}

static void move_sum(struct stream *s, int64_t sum) {
    move_words(s, 1, &sum);
    check(s, !s->reads || s->err || sum == rb_model_bytes_sum(s->bytes, s->size),
          "their checksum is wrong");
}

static void move_head(struct stream *s, char **method, int *type, int *status) {
    int64_t version = s->version;
    char begins[sizeof magic];
    memcpy(begins, magic, sizeof magic);
    move_bytes(s, take(s, sizeof magic), begins, sizeof magic);
    if (!s->err && memcmp(begins, magic, sizeof magic) != 0)
        s->err = rb_fail(s->ctx, RB_ERROR_FORMAT, "these bytes are not a model of rarebit");
    move_integer(s, &version, INT64_MAX);
    if (!s->err && version > VERSION) {
        s->err = rb_fail(s->ctx, RB_ERROR_FORMAT,
                         "the bytes of the model have version %lld, of a newer version of rarebit; "
                         "update rarebit",
                         (long long)version);
    }
    check(s, version > 0, "the version is 0");
    s->version = version;
    if (version > 2) move_sum(s, 0);
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
    struct stream s = {.ctx = ctx, .version = VERSION};
    write_model(&s, model);
    *bytes = rb_alloc(ctx, (int64_t)s.at, 1);
    if (!*bytes) return RB_ERROR_MEMORY;
    *size = s.at;
    s = (struct stream){.ctx = ctx, .version = VERSION, .bytes = *bytes};
    write_model(&s, model);
    s.at = SUM_AT;
    move_sum(&s, rb_model_bytes_sum(*bytes, *size));
    return RB_OK;
}

/* An empty model of a method that the context knows. */
static rb_error begin_model(struct stream *s, rb_model **model) {
    char *name = NULL;
    int type = 0, status = 0;
    move_head(s, &name, &type, &status);
    s->err = s->err ? s->err : rb_model_begin(s->ctx, name, type, status, model);
    rb_free(name);
    return s->err;
}

rb_error rb_model_load_memory(rb_context *ctx, const void *bytes, size_t size, rb_model **out) {
    /* Nothing is written to bytes that are read. */
    struct stream s = {.ctx = ctx, .reads = true, .bytes = (unsigned char *)bytes, .size = size};
    rb_model *model = NULL;
    *out = NULL;
    if (!begin_model(&s, &model)) {
        move_contents(&s, model);
        check(&s, s.at == s.size, "there are more than a model has");
        const char *flaw = s.err ? NULL : rb_model_flaw(model);
        check(&s, !flaw, flaw);
    }
    if (s.err) {
        rb_model_free(model);
        return s.err;
    }
    if (s.version < 3) rb_model_no_checksum(ctx, "");
    *out = model;
    return RB_OK;
}

void rb_free_memory(void *bytes) {
    rb_free(bytes);
}
