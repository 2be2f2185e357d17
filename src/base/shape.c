/* Shapes and ranges as text: "28x28", "32x32x3", "0:10". */
#include "base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int rb_parse_shape(const char *text, int64_t *sizes, int max) {
    for (int count = 0; count < max; count++) {
        /* strtoll would take spaces and signs too. */
        if (*text < '0' || *text > '9') {
            return 0;
        }
        char *end;
        sizes[count] = strtoll(text, &end, 10);
        if (sizes[count] < 1 || sizes[count] > INT32_MAX) {
            return 0;
        }
        if (*end == '\0') {
            return count + 1;
        }
        if (*end != 'x') {
            return 0;
        }
        text = end + 1;
    }
    return 0;
}

bool rb_parse_range(const char *text, double *low, double *high) {
    const char *end = text + strlen(text);
    const char *colon = rb_number_scan(text, end, low);
    if (!colon || *colon != ':') {
        return false;
    }
    return rb_number_scan(colon + 1, end, high) == end && isfinite(*low) && isfinite(*high) &&
           *low < *high;
}
