/* Times as users write them. */
#include "base.h"

#include <math.h>
#include <string.h>

bool rb_parse_seconds(const char *text, double *seconds, bool *has_unit) {
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}, {"d", 86400}};
    double number = 0;
    const char *end = rb_number_scan(text, text + strlen(text), &number);
    if (!end || !(number >= 0) || !isfinite(number)) {
        return false;
    }
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        if (strcmp(end, units[u].name) == 0) {
            *seconds = number * units[u].seconds;
            *has_unit = *end != '\0';
            return true;
        }
    }
    return false;
}
