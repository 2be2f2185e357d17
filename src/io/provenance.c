/* Where a result comes from, as JSON. */
#include "io.h"

#include <rarebit/version.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Adds a text; one that is NULL or no UTF-8 is left out. */
static void put(json_t *object, const char *name, const char *text) {
    json_t *value = text ? json_string(text) : NULL;
    if (value) json_object_set_new(object, name, value);
}

static json_t *of_model(const rb_model *model) {
    static const char *const names[] = {"program_version", "command_line", "seed", "data_path",
                                        "data_checksum"};
    json_t *object = json_object();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        put(object, names[i], rb_model_attribute(model, names[i]));
    return object;
}

rb_error rb_provenance(rb_context *ctx, const rb_model *model, rb_source *source, char **json) {
    uint32_t sum = 0;
    char checksum[16], *text = NULL;
    *json = NULL;
    rb_error err = source ? rb_source_checksum(ctx, source, &sum) : RB_OK;
    if (err) return err;
    snprintf(checksum, sizeof checksum, "%08lx", (unsigned long)sum);
    json_t *object = json_object();
    put(object, "program_version", RB_VERSION);
    put(object, "command_line", rb_context_command(ctx));
    put(object, "data_checksum", source ? checksum : NULL);
    if (model) json_object_set_new(object, "model", of_model(model));
    text = json_dumps(object, JSON_COMPACT);
    json_decref(object);
    *json = text ? rb_copy_text(ctx, text) : NULL;
    free(text);
    return *json ? RB_OK : rb_fail(ctx, RB_ERROR_MEMORY, "out of memory");
}
