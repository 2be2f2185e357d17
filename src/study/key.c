/* Which study a journal is of: a text with a line for each thing that its results depend on. */
#include "study.h"

#include <rarebit/version.h>

#include <stdio.h>
#include <string.h>

/* What says nothing about a result. */
static bool says_nothing(const char *name) {
    static const char *const names[] = {"checkpoint", "part", "max-time", NULL};
    return rb_among(names, name);
}

static rb_error add_line(rb_context *ctx, rb_buffer *key, int64_t *used, const char *line) {
    int64_t size = (int64_t)strlen(line) + 1;
    if (rb_buffer_hold(ctx, key, 2 * (*used + size), 1)) return RB_ERROR_MEMORY;
    memcpy((char *)key->data + *used, line, (size_t)size);
    *used += size - 1;
    return RB_OK;
}

rb_error rb_study_key(rb_context *ctx, const char *study, const rb_options *options,
                      const rb_matrix *matrix, char **key) {
    char line[1024];
    rb_buffer text = {0};
    int64_t used = 0;
    uint32_t checksum = 0;
    rb_option row;
    rb_error err = rb_matrix_checksum(ctx, matrix, &checksum);
    snprintf(line, sizeof line, "%s %s\ndata %lld x %lld, checksum %08x\n", study, RB_VERSION,
             (long long)matrix->n_samples, (long long)matrix->n_features, checksum);
    err = err ? err : add_line(ctx, &text, &used, line);
    for (int64_t i = 0; !err && !rb_options_row(options, i, &row, sizeof row); i++) {
        char value[512];
        rb_options_get(options, row.name, value, sizeof value);
        snprintf(line, sizeof line, "%s=%s\n", row.name, value);
        if (!says_nothing(row.name)) err = add_line(ctx, &text, &used, line);
    }
    if (err) {
        rb_free(text.data);
        text.data = NULL;
    }
    *key = text.data;
    return err;
}
