/* What a cell of a text table holds. */
#include "cells.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static bool among(const char *const *words, const char *text, int64_t length) {
    for (; *words; words++) {
        if ((int64_t)strlen(*words) == length && strncasecmp(*words, text, (size_t)length) == 0) {
            return true;
        }
    }
    return false;
}

/* Is the text one of the words of "a,b"? */
static bool listed(const char *words, const char *text, int64_t length) {
    while (words && *words) {
        size_t span = strcspn(words, ",");
        if (span > 0 && (int64_t)span == length && strncasecmp(words, text, span) == 0) {
            return true;
        }
        words += span + (words[span] == ',');
    }
    return false;
}

rb_cell rb_cell_read_with(const char *words, const char *text, int64_t length, double *value) {
    if (listed(words, text, length)) {
        *value = NAN;
        return RB_CELL_MISSING;
    }
    return rb_cell_read(text, length, value);
}

rb_cell rb_cell_read(const char *text, int64_t length, double *value) {
    static const char *const missing[] = {"",     "na",   "n/a", "nan", "+nan",
                                          "-nan", "null", "?",   NULL};
    static const char *const infinite[] = {"inf", "infinity", NULL};
    const char *end = text + length;
    while (text < end && (*text == ' ' || *text == '\t')) {
        text++;
    }
    while (text < end && (end[-1] == ' ' || end[-1] == '\t')) {
        end--;
    }
    if (rb_number_scan(text, end, value) == end) {
        return isfinite(*value) ? RB_CELL_NUMBER : RB_CELL_INFINITE;
    }
    *value = NAN;
    if (among(missing, text, end - text)) {
        return RB_CELL_MISSING;
    }
    text += *text == '-' || *text == '+';
    return among(infinite, text, end - text) ? RB_CELL_INFINITE : RB_CELL_TEXT;
}
