/* Rows of option tables: defaults, text to value and back, checks, the words for legal ranges. */
#include "base.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const rb_option *rb_rows_find(const rb_option *table, const char *name) {
    for (const rb_option *row = table; row->name; row++) {
        if (strcmp(row->name, name) == 0) {
            return row;
        }
    }
    return NULL;
}

/* Index of `value` among "a|b|c", or -1. */
static int choice_index(const char *choices, const char *value) {
    size_t length = strlen(value);
    int index = 0;
    for (const char *word = choices; *word; index++) {
        size_t span = strcspn(word, "|");
        if (span == length && memcmp(word, value, length) == 0) {
            return index;
        }
        word += span + (word[span] == '|');
    }
    return -1;
}

/* Copies the index-th word of "a|b|c"; false when there is none. */
static bool choice_name(const char *choices, int index, char *buffer, size_t size) {
    const char *word = choices;
    while (index > 0 && *word) {
        word += strcspn(word, "|");
        word += *word == '|';
        index--;
    }
    if (index != 0 || !*word) {
        return false;
    }
    snprintf(buffer, size, "%.*s", (int)strcspn(word, "|"), word);
    return true;
}

/* A factor of a thousand by its letter; 1 for the end of the text, 0 for anything else. */
static double suffix_factor(const char *suffix) {
    if (*suffix && suffix[1]) {
        return 0;
    }
    switch (*suffix) {
    case '\0':
        return 1;
    case 'k':
    case 'K':
        return 1e3;
    case 'M':
        return 1e6;
    case 'G':
        return 1e9;
    default:
        return 0;
    }
}

static bool parse_integer(const char *text, int64_t *value) {
    char *end;
    errno = 0;
    long long whole = strtoll(text, &end, 10);
    double factor = suffix_factor(end);
    int64_t product;
    if (end == text || errno || factor == 0 ||
        __builtin_mul_overflow((int64_t)whole, (int64_t)factor, &product)) {
        return false;
    }
    *value = product;
    return true;
}

static bool parse_number(const char *text, double *value) {
    double number = 0;
    const char *end = rb_number_scan(text, text + strlen(text), &number);
    double factor = end ? suffix_factor(end) : 0;
    if (factor == 0 || !isfinite(number)) {
        return false;
    }
    *value = number * factor;
    return true;
}

static bool parse_flag(const char *text, bool *value) {
    *value = strcmp(text, "true") == 0 || strcmp(text, "yes") == 0 || strcmp(text, "1") == 0;
    return *value || strcmp(text, "false") == 0 || strcmp(text, "no") == 0 ||
           strcmp(text, "0") == 0;
}

static bool within(const rb_option *row, double value) {
    return value >= row->minimum && value <= row->maximum;
}

/* Is the value of the field legal? */
static bool in_range(const rb_option *row, const void *field) {
    char word[64];
    switch (row->kind) {
    case RB_OPTION_INTEGER:
        return (double)*(const int64_t *)field >= row->minimum &&
               (double)*(const int64_t *)field <= row->maximum;
    case RB_OPTION_NUMBER:
    case RB_OPTION_SECONDS:
        return within(row, *(const double *)field);
    case RB_OPTION_CHOICE:
        return *(const int *)field >= 0 &&
               choice_name(row->choices, *(const int *)field, word, sizeof word);
    case RB_OPTION_FLAG:
    case RB_OPTION_TEXT:
        return true;
    case RB_OPTION_VALUES: {
        const rb_values *values = field;
        return values->matrix || (!values->file && within(row, values->value));
    }
    }
    return false;
}

/* Reads text into a field; false when the text is no legal value. */
static bool assign(const rb_option *row, void *field, const char *text) {
    switch (row->kind) {
    case RB_OPTION_INTEGER: {
        int64_t value;
        if (!parse_integer(text, &value) || !in_range(row, &value)) {
            return false;
        }
        *(int64_t *)field = value;
        return true;
    }
    case RB_OPTION_NUMBER: {
        double value;
        if (!parse_number(text, &value) || !in_range(row, &value)) {
            return false;
        }
        *(double *)field = value;
        return true;
    }
    case RB_OPTION_SECONDS: {
        double value;
        bool has_unit;
        if (!rb_parse_seconds(text, &value, &has_unit) || !in_range(row, &value)) {
            return false;
        }
        *(double *)field = value;
        return true;
    }
    case RB_OPTION_CHOICE: {
        int index = choice_index(row->choices, text);
        if (index < 0) {
            return false;
        }
        *(int *)field = index;
        return true;
    }
    case RB_OPTION_FLAG: {
        bool value;
        if (!parse_flag(text, &value)) {
            return false;
        }
        *(bool *)field = value;
        return true;
    }
    case RB_OPTION_TEXT:
        *(const char **)field = text;
        return true;
    case RB_OPTION_VALUES: {
        rb_values values = {0};
        if (!parse_number(text, &values.value)) {
            values.file = text;
        }
        if (*text == '\0' || (!values.file && !in_range(row, &values))) {
            return false;
        }
        *(rb_values *)field = values;
        return true;
    }
    }
    return false;
}

void rb_rows_default(const rb_option *table, void *options) {
    for (const rb_option *row = table; row->name; row++) {
        void *field = (char *)options + row->offset;
        if (row->fallback) {
            assign(row, field, row->fallback);
        } else {
            *(const char **)field = NULL;
        }
    }
}

static rb_error refuse_value(rb_context *ctx, const rb_option *row, const char *value) {
    char range[256];
    rb_options_range(row, range, sizeof range);
    return rb_fail(ctx, RB_ERROR_ARGUMENT, "%s is '%s', but must be %s", row->name, value, range);
}

rb_error rb_rows_set(rb_context *ctx, const rb_option *table, void *options, const char *name,
                     const char *value) {
    const rb_option *row = rb_rows_find(table, name);
    if (!row) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "there is no option '%s'", name);
    }
    bool legal = assign(row, (char *)options + row->offset, value);
    return legal ? RB_OK : refuse_value(ctx, row, value);
}

/* The shortest of the two forms that reads back to the same bits. */
static void print_number(double value, char *buffer, size_t size) {
    double back = NAN;
    rb_print(buffer, size, "%.15g", value);
    if (!rb_number_scan(buffer, buffer + strlen(buffer), &back) || back != value) {
        rb_print(buffer, size, "%.17g", value);
    }
}

const char *rb_row_text(const rb_option *row, const void *fields, char *scratch) {
    const void *field = (const char *)fields + row->offset;
    scratch[0] = '\0';
    switch (row->kind) {
    case RB_OPTION_INTEGER:
        snprintf(scratch, RB_ROW_TEXT, "%lld", (long long)*(const int64_t *)field);
        break;
    case RB_OPTION_NUMBER:
    case RB_OPTION_SECONDS:
        print_number(*(const double *)field, scratch, RB_ROW_TEXT);
        break;
    case RB_OPTION_CHOICE:
        choice_name(row->choices, *(const int *)field, scratch, RB_ROW_TEXT);
        break;
    case RB_OPTION_FLAG:
        return *(const bool *)field ? "true" : "false";
    case RB_OPTION_TEXT: {
        const char *text = *(const char *const *)field;
        return text ? text : "";
    }
    case RB_OPTION_VALUES: {
        const rb_values *values = field;
        if (values->file || values->matrix) {
            return values->file ? values->file : "matrix";
        }
        print_number(values->value, scratch, RB_ROW_TEXT);
        break;
    }
    }
    return scratch;
}

rb_error rb_rows_check(rb_context *ctx, const rb_option *table, const void *options) {
    for (const rb_option *row = table; row->name; row++) {
        if (!in_range(row, (const char *)options + row->offset)) {
            char scratch[RB_ROW_TEXT];
            return refuse_value(ctx, row, rb_row_text(row, options, scratch));
        }
    }
    return RB_OK;
}

/* "rms, sd or none" */
static void list_choices(const char *choices, char *buffer, size_t size) {
    size_t used = 0;
    buffer[0] = '\0';
    for (const char *word = choices; *word && used < size;) {
        size_t span = strcspn(word, "|");
        bool last = word[span] == '\0';
        bool first = word == choices;
        const char *join = first ? "" : last ? " or " : ", ";
        used += (size_t)snprintf(buffer + used, size - used, "%s%.*s", join, (int)span, word);
        word += span + !last;
    }
}

void rb_options_range(const rb_option *row, char *buffer, size_t size) {
    const char *noun = row->kind == RB_OPTION_INTEGER ? "a whole number" : "a number";
    switch (row->kind) {
    case RB_OPTION_INTEGER:
    case RB_OPTION_NUMBER:
    case RB_OPTION_VALUES: {
        char low[64] = "", high[64] = "";
        if (row->minimum == DBL_MIN) {
            snprintf(low, sizeof low, " above 0");
        } else if (row->minimum > -DBL_MAX) {
            rb_print(low, sizeof low, " of at least %.15g", row->minimum);
        }
        if (row->maximum < (row->kind == RB_OPTION_INTEGER ? 9e18 : DBL_MAX)) {
            rb_print(high, sizeof high, "%s at most %.15g", low[0] ? " and" : " of", row->maximum);
        }
        const char *file = row->kind == RB_OPTION_VALUES ? ", or a file of numbers" : "";
        snprintf(buffer, size, "%s%s%s%s", noun, low, high, file);
        return;
    }
    case RB_OPTION_CHOICE:
        list_choices(row->choices, buffer, size);
        return;
    case RB_OPTION_FLAG:
        snprintf(buffer, size, "true or false");
        return;
    case RB_OPTION_SECONDS:
        snprintf(buffer, size, "a time, such as 90s, 5m or 2h");
        return;
    case RB_OPTION_TEXT:
        snprintf(buffer, size, "a text");
        return;
    }
}
