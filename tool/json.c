/* JSON, one line, written as it goes: what programs read from rarebit. */
#include "tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the UTF-8 character at s, or 0 when it is none. */
static int utf8_length(const unsigned char *s) {
    int length = s[0] < 0x80   ? 1
                 : s[0] < 0xC2 ? 0
                 : s[0] < 0xE0 ? 2
                 : s[0] < 0xF0 ? 3
                 : s[0] < 0xF5 ? 4
                               : 0;
    for (int i = 1; i < length; i++) {
        if ((s[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    bool overlong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
    bool surrogate = s[0] == 0xED && s[1] >= 0xA0;
    bool beyond = s[0] == 0xF4 && s[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : length;
}

static void put_text(FILE *file, const char *text) {
    putc('"', file);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        int length = utf8_length(s);
        if (*s == '"' || *s == '\\') {
            fprintf(file, "\\%c", *s);
        } else if (*s < 0x20) {
            fprintf(file, "\\u%04x", *s);
        } else if (length == 0) {
            fputs("\\ufffd", file); /* the sign for a character that cannot be read */
        } else {
            fwrite(s, 1, (size_t)length, file);
        }
        s += length ? length : 1;
    }
    putc('"', file);
}

/* Comma and key before a value. */
static void lead(json *j, const char *key) {
    if (j->follows) {
        fputs(", ", j->file);
    }
    if (key) {
        put_text(j->file, key);
        fputs(": ", j->file);
    }
    j->follows = true;
}

void emit_open(json *j, const char *key, char bracket) {
    lead(j, key);
    putc(bracket, j->file);
    j->follows = false;
}

void emit_close(json *j, char bracket) {
    putc(bracket, j->file);
    j->follows = true;
}

void emit_text(json *j, const char *key, const char *text) {
    lead(j, key);
    if (text) {
        put_text(j->file, text);
    } else {
        fputs("null", j->file);
    }
}

void emit_integer(json *j, const char *key, int64_t value) {
    lead(j, key);
    fprintf(j->file, "%lld", (long long)value);
}

void emit_number(json *j, const char *key, double value) {
    lead(j, key);
    if (!isfinite(value)) {
        fputs("null", j->file);
        return;
    }
    /* The shortest of the three that reads back to the same bits. */
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    fputs(text, j->file);
}

void emit_flag(json *j, const char *key, bool value) {
    lead(j, key);
    fputs(value ? "true" : "false", j->file);
}
