/* Tables of results in files: TSV or JSON of the same rows. */
#include "tool.h"

#include <stdlib.h>
#include <string.h>

bool table_format_known(const char *target) {
    return output_is_stream(target) || has_suffix(target, ".tsv") || has_suffix(target, ".json");
}

rb_error table_check(rb_context *ctx, const char *path) {
    return table_format_known(path)
               ? RB_OK
               : fail(ctx, RB_ERROR_ARGUMENT,
                      "cannot write '%.300s': its suffix must be .tsv or .json", path);
}

/* Tabs and line ends inside a text become spaces. */
static void put_text(FILE *file, const char *text) {
    for (const char *c = text; *c; c++)
        putc(*c == '\t' || *c == '\n' || *c == '\r' ? ' ' : *c, file);
}

static void put_cell(FILE *file, const json_t *cell) {
    const json_t *entry;
    size_t i;
    if (json_is_integer(cell))
        fprintf(file, "%lld", (long long)json_integer_value(cell));
    else if (json_is_real(cell))
        fprintf(file, "%.9g", json_real_value(cell));
    else if (json_is_null(cell))
        fputs("NA", file);
    else if (json_is_string(cell))
        put_text(file, json_string_value(cell));
    json_array_foreach(cell, i, entry) {
        fputs(i ? ";" : "", file);
        put_text(file, json_string_value(entry));
    }
}

/* False when memory is out. */
static bool put_tsv(FILE *file, const result_table *table) {
    for (const char *c = table->columns; *c; c++)
        putc(*c == ' ' ? '\t' : *c, file);
    putc('\n', file);
    for (int64_t r = 0; r < table->rows; r++) {
        json_t *row = table->row(table->of, r), *cell;
        const char *key;
        bool first = true;
        if (!row) return false;
        json_object_foreach(row, key, cell) {
            if (!first) putc('\t', file);
            put_cell(file, cell);
            first = false;
        }
        putc('\n', file);
        json_decref(row);
    }
    return true;
}

static bool put_json(FILE *file, const result_table *table, const char *origin) {
    char *head = table->head ? json_dumps(table->head, 0) : NULL;
    if (table->head && !head) return false;
    fprintf(file, "{%.*s%s", head ? (int)strlen(head) - 2 : 0, head ? head + 1 : "",
            head ? ", " : "");
    fprintf(file, "\"%s\": [", table->key ? table->key : "rows");
    free(head);
    for (int64_t r = 0; r < table->rows; r++) {
        json_t *row = table->row(table->of, r);
        char *text = row ? json_dumps(row, 0) : NULL;
        json_decref(row);
        if (!text) return false;
        fprintf(file, "%s\n%s", r ? "," : "", text);
        free(text);
    }
    fprintf(file, "\n],\n\"provenance\": %s}\n", origin ? origin : "null");
    return true;
}

bool next_key(const char **keys, char key[32]) {
    int length = 0;
    *keys += strspn(*keys, " ");
    sscanf(*keys, "%31s%n", key, &length);
    *keys += length;
    return length > 0;
}

table_view view_table(rb_table table, const rb_model *model, const char *keys) {
    table_view v = {.table = table, .model = model};
    char key[32], *end = v.keys;
    for (const char *k = keys; k && next_key(&k, key);)
        if (rb_table_find(&table, key)) end += sprintf(end, "%s ", key);
    for (const rb_table_column *c = table.columns; !keys && c->key; c++)
        if (c->kind != RB_VALUE_MEMBERS && rb_table_find(&table, c->key))
            end += sprintf(end, "%s ", c->key);
    if (end > v.keys) end[-1] = '\0';
    return v;
}

static json_t *view_row(const void *of, int64_t row) {
    const table_view *view = of;
    return rb_json_row(&view->table, row, view->model, view->keys, 0);
}

result_table view_rows(const table_view *view) {
    return (result_table){view->keys, view->table.n_rows, view_row, view};
}

json_t *view_json(rb_table table, const rb_model *model, const char *keys) {
    return rb_json_table(&table, model, keys, 0);
}

struct filling {
    const result_table *table;
    bool as_json;
};

static rb_error put_table(rb_context *ctx, FILE *file, const void *of) {
    const struct filling *f = of;
    bool whole =
        f->as_json ? put_json(file, f->table, rb_context_provenance(ctx)) : put_tsv(file, f->table);
    return whole ? RB_OK : fail_memory(ctx);
}

int table_begin(invocation *call, output *out, const char *target, const result_table *table) {
    struct filling f = {table, has_suffix(target, ".json")};
    return output_fill(out, call->ctx, target, put_table, &f);
}

int table_write(invocation *call, const char *target, const result_table *table, const char *noun) {
    output out;
    int status = table_begin(call, &out, target, table);
    status = status ? status : output_end(&out, STATUS_DONE);
    if (!status) report("%lld %s in %s", (long long)table->rows, noun, output_shown(target));
    return status;
}

int table_deliver(invocation *call, const table_answer *a, rb_source *source) {
    const char *target = option_text(call, "output");
    const table_view all = view_table(a->table, NULL, NULL),
                     shown = view_table(a->table, NULL, a->shown);
    result_table rows = view_rows(&all);
    rows.key = a->key;
    rows.head = a->head;
    rb_error err = !a->head ? fail_memory(call->ctx) : RB_OK;
    if (!err && target && has_suffix(target, ".json")) err = name_origin(call, NULL, source);
    int status = err      ? report_failure(call->ctx, err)
                 : target ? table_write(call, target, &rows, a->noun)
                          : STATUS_DONE;
    if (!status && option_flag(call, "json")) {
        json_t *json = json_incref(a->head);
        rb_json_add(&json, rows.key, view_json(a->table, NULL, all.keys));
        err = json_put_from(call->ctx, stdout, json, NULL, source);
        status = report_failure(call->ctx, err);
    } else if (!status && !target) {
        view_print(&shown, NULL, rows.rows);
    }
    json_decref(a->head);
    return status;
}
