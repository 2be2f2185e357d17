/* Tables of results in files: TSV or JSON of the same rows. */
#include "tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool table_format_known(const char *target) {
    return output_is_stream(target) || has_suffix(target, ".tsv") || has_suffix(target, ".json");
}

json_t *table_json(const result_table *table) {
    json_t *rows = json_array();
    for (int64_t r = 0; r < table->rows; r++)
        json_add(&rows, NULL, table->row(table->of, r));
    return rows;
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
    fputs("{\"rows\": [", file);
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

int table_begin(invocation *call, output *out, const char *target, const result_table *table) {
    bool as_json = has_suffix(target, ".json");
    int status = output_begin_own(out, call->ctx, target, "tsv");
    if (status) return status;
    FILE *file = fopen(out->path, "w");
    bool whole = file && (as_json ? put_json(file, table, rb_context_provenance(call->ctx))
                                  : put_tsv(file, table));
    bool failed = !file || ferror(file);
    failed = (file && fclose(file) != 0) || failed;
    if (failed) {
        report_error("cannot write '%s': %s", target, strerror(errno ? errno : EIO));
        return output_end(out, STATUS_FAILED);
    }
    if (whole) return STATUS_DONE;
    report_error("out of memory");
    return output_end(out, STATUS_FAILED);
}
