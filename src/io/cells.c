/* Fields of a line of a text table (delimiters, and quotes as RFC 4180 has them), and what they
 * hold. */
#include "cells.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static char *skip_blanks(char *at, const char *end, char delimiter) {
    while (at < end && is_blank(*at) && (*at != delimiter || delimiter == ' '))
        at++;
    return at;
}

static bool ends_field(char c, char delimiter) {
    return c == delimiter || (delimiter == ' ' && c == '\t');
}

rb_fields rb_fields_of(char *line, int64_t length, char delimiter) {
    rb_fields fields = {line, line + length, delimiter, false, false};
    if (delimiter == ' ') {
        fields.next = skip_blanks(fields.next, fields.end, delimiter);
        while (fields.end > fields.next && is_blank(fields.end[-1]))
            fields.end--;
    }
    return fields;
}

/* Takes a quoted field that starts at `at`; returns where it ends, behind its closing quote. */
static char *take_quoted(char *at, rb_fields *fields, rb_text_field *field) {
    field->quoted = true;
    field->text = at;
    char *out = at;
    for (at++; at < fields->end; at++) {
        if (*at == '"') {
            if (at + 1 == fields->end || at[1] != '"') break;
            at++;
        }
        if (!fields->looking) *out = *at;
        out++;
    }
    field->length = out - field->text;
    if (at >= fields->end) {
        field->problem = "a quoted field does not end on its line";
        return fields->end;
    }
    return at + 1;
}

static char *take_plain(char *at, rb_fields *fields, rb_text_field *field) {
    field->text = at;
    if (fields->delimiter == ' ') {
        while (at < fields->end && !is_blank(*at))
            at++;
    } else if (fields->delimiter) {
        char *stop = memchr(at, fields->delimiter, (size_t)(fields->end - at));
        at = stop ? stop : fields->end;
    } else {
        at = fields->end;
    }
    char *last = at;
    while (last > field->text && is_blank(last[-1]))
        last--;
    field->length = last - field->text;
    return at;
}

bool rb_fields_next(rb_fields *fields, rb_text_field *field) {
    if (fields->done) return false;
    *field = (rb_text_field){0};
    char *at = skip_blanks(fields->next, fields->end, fields->delimiter);
    bool quoted = at < fields->end && *at == '"';
    at = quoted ? take_quoted(at, fields, field) : take_plain(at, fields, field);
    if (quoted && fields->delimiter != ' ') at = skip_blanks(at, fields->end, fields->delimiter);
    if (at >= fields->end) {
        fields->done = true;
        return true;
    }
    if (!ends_field(*at, fields->delimiter)) {
        field->problem = "there is text behind a closing quote";
        fields->done = true;
        return true;
    }
    fields->next = fields->delimiter == ' ' ? skip_blanks(at, fields->end, ' ') : at + 1;
    return true;
}

int64_t rb_fields_count(char *line, int64_t length, char delimiter) {
    rb_fields fields = rb_fields_of(line, length, delimiter);
    rb_text_field field;
    int64_t count = 0;
    for (fields.looking = true; rb_fields_next(&fields, &field);)
        count++;
    return count;
}

const char *rb_show(const char *text, int64_t length, char shown[RB_SHOWN]) {
    static const char more[] = "...";
    int64_t capacity = RB_SHOWN - (int64_t)sizeof more, used = 0;
    for (; used < length && used < capacity; used++) {
        unsigned char c = (unsigned char)text[used];
        shown[used] = c < 32 || c == 127 ? '?' : (char)c;
    }
    if (used < length) {
        /* Do not cut inside a character of several bytes. */
        while (used > 0 && ((unsigned char)text[used] & 0xC0) == 0x80)
            used--;
        memcpy(shown + used, more, sizeof more - 1);
        used += (int64_t)sizeof more - 1;
    }
    shown[used] = '\0';
    return shown;
}

bool rb_decimal_comma(const char *text, int64_t length) {
    const char *end = text + length, *comma = memchr(text, ',', (size_t)length);
    if (!comma || comma + 1 == end || comma[1] < '0' || comma[1] > '9') return false;
    for (const char *c = text; c < end; c++)
        if (c != comma && (*c == '\0' || !strchr("0123456789+-eE", *c))) return false;
    return true;
}

static int64_t digits_at(const char *text, const char *end) {
    const char *at = text;
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at - text;
}

bool rb_thousands(const char *text, int64_t length) {
    const char *end = text + length;
    text += length > 0 && (*text == '-' || *text == '+');
    int64_t first = digits_at(text, end);
    text += first;
    const char *groups = text;
    while (text < end && *text == ',' && digits_at(text + 1, end) == 3)
        text += 4;
    bool any = text > groups && first >= 1 && first <= 3;
    text += text < end && *text == '.';
    return any && text + digits_at(text, end) == end;
}

/* ---- cells ---- */

/* Is the text one of the words of "a,b", in any case of letters? */
static bool listed(const char *words, const char *text, int64_t length) {
    while (words && *words) {
        size_t span = strcspn(words, ",");
        if (span > 0 && (int64_t)span == length && strncasecmp(words, text, span) == 0) return true;
        words += span + (words[span] == ',');
    }
    return false;
}

rb_cell rb_cell_read(const char *words, const char *text, int64_t length, double *value) {
    const char *end = text + length;
    bool missing = listed(words, text, length);
    while (text < end && is_blank(*text))
        text++;
    while (text < end && is_blank(end[-1]))
        end--;
    if (!missing && rb_number_scan(text, end, value) == end)
        return isfinite(*value) ? RB_CELL_NUMBER : RB_CELL_INFINITE;
    *value = NAN;
    if (missing || text == end || listed("na,n/a,nan,+nan,-nan,null,?", text, end - text))
        return RB_CELL_MISSING;
    text += *text == '-' || *text == '+';
    return listed("inf,infinity", text, end - text) ? RB_CELL_INFINITE : RB_CELL_TEXT;
}

rb_error rb_cell_refuse(rb_context *ctx, const rb_lines *lines, int64_t column, rb_cell cell,
                        const char *text, int64_t length, const char *advice) {
    char shown[RB_SHOWN];
    rb_show(text, length, shown);
    return cell == RB_CELL_INFINITE
               ? rb_lines_fail(ctx, lines, RB_ERROR_DATA, column, "\"%s\" is infinite", shown)
               : rb_lines_fail(ctx, lines, RB_ERROR_FORMAT, column, "\"%s\" is not a number%s",
                               shown, advice);
}
