/* Rows of option tables: defaults, text to value and back, checks, the words for legal ranges. */
#include "base.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool rb_among(const char *const *names, const char *name) {
    for (; names && *names; names++)
        if (strcmp(*names, name) == 0) return true;
    return false;
}

const rb_option *rb_rows_find(const rb_option *table, const char *name) {
    for (const rb_option *row = table; row->name; row++)
        if (strcmp(row->name, name) == 0) return row;
    return NULL;
}

/* The index-th word of "a|b|c" and its length; NULL when there is none. */
static const char *choice(const char *choices, int index, int *length) {
    for (const char *word = choices; *word; index--) {
        *length = (int)strcspn(word, "|");
        if (index == 0) return word;
        word += *length + (word[*length] == '|');
    }
    return NULL;
}

/* Index of `value` among "a|b|c", or -1. */
static int choice_index(const char *choices, const char *value) {
    const char *word;
    int length;
    for (int index = 0; (word = choice(choices, index, &length)); index++)
        if ((size_t)length == strlen(value) && strncmp(word, value, (size_t)length) == 0)
            return index;
    return -1;
}

/* A factor of a thousand by its letter; 1 for the end of the text, 0 for anything else. */
static double suffix_factor(const char *suffix) {
    static const char letters[] = "kKMG";
    static const double factors[] = {1e3, 1e3, 1e6, 1e9};
    const char *letter = *suffix ? strchr(letters, *suffix) : NULL;
    return !*suffix ? 1 : letter && !suffix[1] ? factors[letter - letters] : 0;
}

static bool parse_integer(const char *text, int64_t *value) {
    char *end;
    errno = 0;
    long long whole = strtoll(text, &end, 10);
    double factor = suffix_factor(end);
    int64_t product;
    if (end == text || errno || factor == 0 ||
        __builtin_mul_overflow((int64_t)whole, (int64_t)factor, &product))
        return false;
    *value = product;
    return true;
}

bool rb_parse_number(const char *text, double *value) {
    double number = 0;
    const char *end = rb_number_scan(text, text + strlen(text), &number);
    double factor = end ? suffix_factor(end) : 0;
    if (factor == 0 || !isfinite(number)) return false;
    *value = number * factor;
    return true;
}

static bool parse_flag(const char *text, bool *value) {
    *value = strcmp(text, "true") == 0 || strcmp(text, "yes") == 0 || strcmp(text, "1") == 0;
    return *value || strcmp(text, "false") == 0 || strcmp(text, "no") == 0 ||
           strcmp(text, "0") == 0;
}

/* A word in place of a number is infinite. */
static bool within(const rb_option *row, double value) {
    return (row->word && value == INFINITY) || (value >= row->minimum && value <= row->maximum);
}

/* A value of any kind, laid out as its field. */
typedef union any {
    int64_t integer;
    double number;
    int choice;
    bool flag;
    const char *text;
    rb_values values;
} any;

size_t rb_row_bytes(const rb_option *row) {
    static const size_t bytes[] = {sizeof(int64_t), sizeof(double),    sizeof(int),   sizeof(bool),
                                   sizeof(char *),  sizeof(rb_values), sizeof(double)};
    return (unsigned)row->kind < sizeof bytes / sizeof *bytes ? bytes[row->kind] : 0;
}

static any value_of(const rb_option *row, const void *fields) {
    any value;
    memcpy(&value, (const char *)fields + row->offset, rb_row_bytes(row));
    return value;
}

static bool in_range(const rb_option *row, const any *value) {
    int length;
    switch (row->kind) {
    case RB_OPTION_INTEGER:
        return within(row, (double)value->integer);
    case RB_OPTION_NUMBER:
    case RB_OPTION_SECONDS:
        return within(row, value->number);
    case RB_OPTION_CHOICE:
        return choice(row->choices, value->choice, &length) != NULL;
    case RB_OPTION_FLAG:
    case RB_OPTION_TEXT:
        return true;
    case RB_OPTION_VALUES:
        return value->values.matrix || (!value->values.file && within(row, value->values.value));
    }
    return false;
}

static bool parse(const rb_option *row, const char *text, any *value) {
    bool has_unit;
    switch (row->kind) {
    case RB_OPTION_INTEGER:
        return parse_integer(text, &value->integer);
    case RB_OPTION_NUMBER:
        value->number = INFINITY;
        return (row->word && strcmp(text, row->word) == 0) || rb_parse_number(text, &value->number);
    case RB_OPTION_SECONDS:
        return rb_parse_seconds(text, &value->number, &has_unit);
    case RB_OPTION_CHOICE:
        value->choice = choice_index(row->choices, text);
        return true;
    case RB_OPTION_FLAG:
        return parse_flag(text, &value->flag);
    case RB_OPTION_TEXT:
        value->text = text;
        return true;
    case RB_OPTION_VALUES:
        value->values = (rb_values){0};
        value->values.file = rb_parse_number(text, &value->values.value) ? NULL : text;
        return *text != '\0';
    }
    return false;
}

/* Reads text into a field; false when the text is no legal value. */
static bool assign(const rb_option *row, void *fields, const char *text) {
    any value;
    if (!parse(row, text, &value)) return false;
    bool to_read = row->kind == RB_OPTION_VALUES && value.values.file;
    if (!to_read && !in_range(row, &value)) return false;
    memcpy((char *)fields + row->offset, &value, rb_row_bytes(row));
    return true;
}

void rb_row_default(const rb_option *row, void *fields) {
    if (row->fallback)
        assign(row, fields, row->fallback);
    else
        *(const char **)((char *)fields + row->offset) = NULL;
}

void rb_rows_default(const rb_option *table, void *fields) {
    for (const rb_option *row = table; row->name; row++)
        rb_row_default(row, fields);
}

static rb_error refuse_value(rb_context *ctx, const rb_option *row, const char *value) {
    char range[256];
    rb_options_range(row, range, sizeof range);
    return rb_fail(ctx, RB_ERROR_ARGUMENT, "`%s` is '%s', but must be %s", row->name, value, range);
}

rb_error rb_rows_set(rb_context *ctx, const rb_option *table, void *fields, const char *name,
                     const char *value) {
    const rb_option *row = rb_rows_find(table, name);
    if (!row) return rb_fail(ctx, RB_ERROR_ARGUMENT, "there is no option '%s'", name);
    return assign(row, fields, value) ? RB_OK : refuse_value(ctx, row, value);
}

const char *rb_row_text(const rb_option *row, const void *fields, char *scratch) {
    any value = value_of(row, fields);
    const char *word;
    int length;
    scratch[0] = '\0';
    switch (row->kind) {
    case RB_OPTION_INTEGER:
        snprintf(scratch, RB_ROW_TEXT, "%lld", (long long)value.integer);
        break;
    case RB_OPTION_NUMBER:
        if (row->word && value.number == INFINITY) return row->word;
        rb_print_shortest(scratch, value.number);
        break;
    case RB_OPTION_SECONDS:
        rb_print_shortest(scratch, value.number);
        break;
    case RB_OPTION_CHOICE:
        word = choice(row->choices, value.choice, &length);
        snprintf(scratch, RB_ROW_TEXT, "%.*s", word ? length : 0, word ? word : "");
        break;
    case RB_OPTION_FLAG:
        return value.flag ? "true" : "false";
    case RB_OPTION_TEXT:
        return value.text ? value.text : "";
    case RB_OPTION_VALUES:
        if (value.values.file || value.values.matrix)
            return value.values.file ? value.values.file : "matrix";
        rb_print_shortest(scratch, value.values.value);
        break;
    }
    return scratch;
}

rb_error rb_rows_check(rb_context *ctx, const rb_option *table, const void *fields) {
    for (const rb_option *row = table; row->name; row++) {
        any value = value_of(row, fields);
        if (!in_range(row, &value)) {
            char scratch[RB_ROW_TEXT];
            return refuse_value(ctx, row, rb_row_text(row, fields, scratch));
        }
    }
    return RB_OK;
}

/* "rms, sd or none" */
static void list_choices(const char *choices, char *buffer, size_t size) {
    const char *word, *join = "";
    int length, next;
    size_t used = 0;
    buffer[0] = '\0';
    for (int i = 0; used < size && (word = choice(choices, i, &length)); i++) {
        used += (size_t)snprintf(buffer + used, size - used, "%s%.*s", join, length, word);
        join = choice(choices, i + 2, &next) ? ", " : " or ";
    }
}

/* "a number above 0 and at most 1" */
static void describe_numbers(const rb_option *row, char *buffer, size_t size) {
    bool whole = row->kind == RB_OPTION_INTEGER;
    char low[64] = "", high[64] = "";
    if (row->minimum == DBL_MIN)
        snprintf(low, sizeof low, " above 0");
    else if (row->minimum > -DBL_MAX)
        rb_print(low, sizeof low, " of at least %.15g", row->minimum);
    if (row->maximum < (whole ? 9e18 : DBL_MAX))
        rb_print(high, sizeof high, "%s at most %.15g", low[0] ? " and" : " of", row->maximum);
    snprintf(buffer, size, "%s%s%s%s%s", whole ? "a whole number" : "a number", low, high,
             row->kind == RB_OPTION_VALUES ? ", or a file of numbers"
             : row->word                   ? ", or "
                                           : "",
             row->word ? row->word : "");
}

void rb_options_range(const rb_option *row, char *buffer, size_t size) {
    const char *words = row->kind == RB_OPTION_FLAG      ? "true or false"
                        : row->kind == RB_OPTION_TEXT    ? "a text"
                        : row->kind == RB_OPTION_SECONDS ? "a time, such as 90s, 5m or 2h"
                                                         : NULL;
    if (row->kind == RB_OPTION_CHOICE)
        list_choices(row->choices, buffer, size);
    else if (words)
        snprintf(buffer, size, "%s", words);
    else
        describe_numbers(row, buffer, size);
}
