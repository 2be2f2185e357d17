/* What pictures say of units that are no modules: which are spare, and which background. */
#include "plot.h"

#include <stdio.h>
#include <string.h>

static const char *role_at(const rb_modules *modules, int64_t rank) {
    rb_table table = rb_modules_table(modules);
    return rb_table_value(&table, rank, rb_table_find(&table, "role")).text;
}

/* Of many the first ones that fit, and how many more there are. */
static void note_role(const rb_modules *modules, const char *role, char *note, size_t size) {
    enum { MORE = 24 };
    int64_t named = 0, left = 0;
    for (int64_t r = rb_modules_called(modules); r < rb_modules_count(modules); r++) {
        char unit[48];
        size_t used = strlen(note);
        if (strcmp(role_at(modules, r), role) != 0) continue;
        int length = snprintf(unit, sizeof unit, "%s%s%sunit %lld",
                              named  ? ", "
                              : used ? "; "
                                     : "",
                              named ? "" : role, named ? "" : ": ",
                              (long long)rb_modules_get(modules, r)->unit);
        bool fits = left == 0 && used + (size_t)length + MORE < size;
        if (fits) memcpy(note + used, unit, (size_t)length + 1);
        named += fits;
        left += !fits;
    }
    size_t used = strlen(note);
    if (left > 0 && named > 0)
        snprintf(note + used, size - used, " and %lld more", (long long)left);
    else if (left > 0 && used + MORE < size)
        snprintf(note + used, size - used, "%s%s: %lld units", used ? "; " : "", role,
                 (long long)left);
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
