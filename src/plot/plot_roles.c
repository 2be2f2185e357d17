/* What pictures say of units that are no modules: which are spare, and which background. */
#include "plot.h"

#include <stdio.h>
#include <string.h>

static const char *role_at(const rb_modules *modules, int64_t rank) {
    rb_table table = rb_modules_table(modules);
    return rb_table_value(&table, rank, rb_table_find(&table, "role")).text;
}

static void note_role(const rb_modules *modules, const char *role, char *note, size_t size) {
    int64_t count = 0;
    for (int64_t r = rb_modules_called(modules); r < rb_modules_count(modules); r++) {
        size_t used = strlen(note);
        char before[32] = ", ";
        if (strcmp(role_at(modules, r), role) != 0) continue;
        if (count++ == 0) snprintf(before, sizeof before, "%s%s: ", used ? "; " : "", role);
        snprintf(note + used, size - used, "%sunit %lld", before,
                 (long long)rb_modules_get(modules, r)->unit);
    }
}

void rb_note_roles(const rb_modules *modules, char *note, size_t size) {
    note_role(modules, "spare", note, size);
    note_role(modules, "background", note, size);
}

static void note_unit(const rb_modules *modules, int64_t unit, char *note, size_t size) {
    for (int64_t r = rb_modules_called(modules); r < rb_modules_count(modules); r++)
        if (rb_modules_get(modules, r)->unit == unit)
            snprintf(note, size, "%s", role_at(modules, r));
}

rb_error rb_find_roles(rb_context *ctx, const rb_model *model, rb_source *source, int64_t unit,
                       char *note, size_t size) {
    rb_modules *modules = NULL;
    *note = 0;
    if (!rb_modules_possible(model)) return RB_OK;
    rb_error err = rb_modules_find(ctx, model, source, NULL, &modules);
    if (!err && unit < 0) rb_note_roles(modules, note, size);
    if (!err && unit >= 0) note_unit(modules, unit, note, size);
    rb_modules_free(modules);
    return err == RB_ERROR_ARGUMENT || err == RB_ERROR_DATA ? RB_OK : err;
}
