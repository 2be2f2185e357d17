/* What pictures say of units that are no modules: which are spare, and which background. */
#include "plot.h"

#include <stdio.h>
#include <string.h>

static const char *role_at(const rb_modules *modules, int64_t rank) {
    rb_table table = rb_modules_table(modules);
    return rb_table_value(&table, rank, rb_table_find(&table, "role")).text;
}

/* Of many their number. */
static void note_role(const rb_modules *modules, const char *role, char *note, size_t size) {
    enum { FEW = 6 };
    size_t used = strlen(note);
    char units[32 * FEW] = "", *end = units;
    int64_t found = 0;
    for (int64_t r = rb_modules_called(modules); r < rb_modules_count(modules); r++)
        if (strcmp(role_at(modules, r), role) == 0 && found++ < FEW)
            end += snprintf(end, 32, "%sunit %lld", found > 1 ? ", " : "",
                            (long long)rb_modules_get(modules, r)->unit);
    if (found > FEW) snprintf(units, sizeof units, "%lld units", (long long)found);
    if (found > 0) snprintf(note + used, size - used, "%s%s: %s", used ? "; " : "", role, units);
}

void rb_note_roles(const rb_modules *modules, char *note, size_t size) {
    note_role(modules, "background", note, size);
    note_role(modules, "spare", note, size);
}

static void note_unit(const rb_modules *modules, int64_t unit, char *note, size_t size) {
    for (int64_t r = rb_modules_called(modules); r < rb_modules_count(modules); r++)
        if (rb_modules_get(modules, r)->unit == unit)
            snprintf(note, size, "%s", role_at(modules, r));
}

rb_error rb_find_roles(rb_context *ctx, const rb_model *model, rb_source *source, int64_t unit,
                       char *note, size_t size) {
    rb_modules *modules = NULL;
    rb_context *quiet = NULL;
    *note = 0;
    if (!rb_modules_possible(model)) return RB_OK;
    rb_error err = rb_context_child(ctx, &quiet);
    if (err) return err;
    err = rb_modules_find(quiet, model, source, NULL, &modules);
    if (!err && unit < 0) rb_note_roles(modules, note, size);
    if (!err && unit >= 0) note_unit(modules, unit, note, size);
    bool none = err == RB_ERROR_ARGUMENT || err == RB_ERROR_DATA; /* there are no modules */
    if (err && !none) rb_fail(ctx, err, "%s", rb_context_error(quiet));
    rb_modules_free(modules);
    rb_context_free(quiet);
    return none ? RB_OK : err;
}
