/* What a fit reads besides its data, and what its model records of the command line: so much that
 * 'rarebit rerun' needs nothing else. */
#include "tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *command_line(int argc, char **argv) {
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (!file) return NULL;
    fputs("rarebit", file);
    for (int i = 1; i < argc; i++) {
        putc(' ', file);
        put_word(file, argv[i]);
    }
    fclose(file);
    return text;
}

rb_error name_origin(const invocation *call, const rb_model *model, rb_source *source) {
    json_t *json = json_object();
    rb_error err = json_add_provenance(call->ctx, &json, model, source);
    json_t *origin = json_object_get(json, "provenance");
    if (!err && rb_options_get(call->options, "seed", NULL, 0) >= 0)
        rb_json_add(&origin, "seed", json_integer(option_integer(call, "seed")));
    char *text = err ? NULL : json_dumps(origin, JSON_COMPACT);
    err = err ? err : rb_context_set_provenance(call->ctx, text);
    free(text);
    json_decref(json);
    return err;
}

/* Where the data were and how they were read, as it was said. */
static rb_error record_reading(const invocation *call, rb_model *model, const fit_record *record) {
    rb_error err =
        record->data ? rb_model_set_attribute(call->ctx, model, "data_path", record->data) : RB_OK;
    if (!err && record->init) err = rb_model_set_attribute(call->ctx, model, "init", record->init);
    for (const rb_option *row = rb_read_group()->rows; !err && row->name; row++) {
        char name[64], value[1024];
        snprintf(name, sizeof name, READING_ATTRIBUTE "%s", row->name);
        const char *was = record->alike ? rb_model_attribute(record->alike, name) : NULL;
        if (option_was_given(call, row->name)) {
            rb_options_get(call->options, row->name, value, sizeof value);
            was = value;
        }
        if (was) err = rb_model_set_attribute(call->ctx, model, name, was);
    }
    return err;
}

rb_error save_fit(const invocation *call, rb_model *model, const fit_record *record,
                  const char *path) {
    const char *line = rb_context_command(call->ctx);
    rb_error err = line ? rb_model_set_attribute(call->ctx, model, "command_line", line) : RB_OK;
    err = err ? err : record_reading(call, model, record);
    return err ? err : rb_model_save(call->ctx, model, path);
}

void remove_checkpoint(const char *path, const rb_model *model) {
    rb_status status = rb_model_status(model);
    bool goes_on = status == RB_STATUS_STOPPED || status == RB_STATUS_TIME;
    if (path && !goes_on && unlink(path) && errno != ENOENT) {
        report_error("warning: the checkpoint '%s' is no longer needed, but cannot be removed: %s",
                     path, strerror(errno));
    }
}

rb_error read_fit_files(rb_context *ctx, rb_options *options, fit_files *files) {
    rb_option row;
    rb_error err = RB_OK;
    int count = 0;
    for (int64_t i = 0; !err && !rb_options_row(options, i, &row, sizeof row); i++) {
        bool values = row.kind == RB_OPTION_VALUES && count < MAX_FIT_FILES;
        const char *file = values ? rb_options_text(options, row.name) : NULL;
        if (file) {
            rb_matrix **next = &files->matrices[count++];
            err = rb_read(ctx, file, NULL, next);
            err = err ? err : rb_options_set_matrix(ctx, options, row.name, *next);
        }
    }
    return err;
}

void free_fit_files(fit_files *files) {
    for (int i = 0; i < MAX_FIT_FILES; i++)
        rb_matrix_free(files->matrices[i]);
}
