/* JSON that programs read, one line each. */
#include "tool.h"

#include <stdlib.h>

rb_error json_add_provenance(rb_context *ctx, json_t **to, const rb_model *model,
                             rb_source *source) {
    char *text = NULL;
    rb_error err = rb_provenance(ctx, model, source, &text);
    if (!err) rb_json_add(to, "provenance", json_loads(text, 0, NULL));
    rb_free_memory(text);
    return err;
}

rb_error json_put_from(rb_context *ctx, FILE *file, json_t *json, const rb_model *model,
                       rb_source *source) {
    rb_error err = json_add_provenance(ctx, &json, model, source);
    if (!err) return json_put(ctx, file, json);
    json_decref(json);
    return err;
}

rb_error json_put(rb_context *ctx, FILE *file, json_t *json) {
    char *text = json ? json_dumps(json, 0) : NULL;
    json_decref(json);
    if (!text) return fail_memory(ctx);
    fprintf(file, "%s\n", text);
    free(text);
    return RB_OK;
}
