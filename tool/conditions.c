/* Options of a fit that do nothing without another one. The library sees values, not whether they
 * were given, so that the tool refuses them. */
#include "tool.h"

#include <string.h>

/* `option` is heeded where the option `needs` has the value `value`; NULL: any value but 0 and
 * none. */
typedef struct condition {
    const char *option, *needs, *value;
} condition;

/* The value of an option of the command and, if it was given, whether another than its default. */
static bool value_of(const invocation *call, const char *name, char *value, size_t size) {
    for (int g = 0; call->command->groups[g].title; g++) {
        const rb_option *row = rb_options_find(call->command->groups[g].rows, name);
        if (row) {
            rb_options_get(row, call->options[g], value, size);
            bool other = !row->fallback || strcmp(value, row->fallback) != 0;
            return other && option_was_given(call, name);
        }
    }
    *value = '\0';
    return false;
}

int check_conditions(const invocation *call) {
    static const condition conditions[] = {
        {"checkpoint-every", "checkpoint", NULL},
        {"accept", "estep", "cascade"},
        {"dropout-place", "dropout", NULL},
        {"activation-slope", "activation", "leaky"},
    };
    for (size_t c = 0; c < sizeof conditions / sizeof *conditions; c++) {
        const condition *on = &conditions[c];
        char given[256], needed[256];
        if (!value_of(call, on->option, given, sizeof given)) {
            continue;
        }
        value_of(call, on->needs, needed, sizeof needed);
        bool heeded = on->value ? strcmp(needed, on->value) == 0
                                : *needed != '\0' && strcmp(needed, "0") != 0;
        if (!heeded) {
            report_error(
                "--%s is given, but does nothing without --%s%s%s; leave it out, or give both",
                on->option, on->needs, on->value ? " " : "", on->value ? on->value : "");
            return STATUS_USAGE;
        }
    }
    return STATUS_DONE;
}
