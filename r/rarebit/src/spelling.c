/* The library names options between backquotes: `eta-psi`, `estep=newton`, `trace=true`. In R they
 * are eta_psi, estep = "newton" and trace = TRUE. */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

static const char option_letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";

/* The value of an option as R has it: a number, TRUE or FALSE, else a text. */
static void put_value(char *out, const char *value, int length) {
    char *end;
    if (strncmp(value, "true`", 5) == 0)
        strcat(out, "TRUE");
    else if (strncmp(value, "false`", 6) == 0)
        strcat(out, "FALSE");
    else if (strtod(value, &end), end == value + length)
        strncat(out, value, (size_t)length);
    else
        strcat(strncat(strcat(out, "\""), value, (size_t)length), "\"");
}

void spell(const char *message, char *out) {
    *out = '\0';
    while (*message) {
        size_t length = *message == '`' ? strspn(message + 1, option_letters) : 0;
        const char *rest = message + 1 + length, *end = length ? strchr(rest, '`') : NULL;
        char *name = out + strlen(out);
        if (!end || (end != rest && *rest != '=')) {
            strncat(out, message++, 1);
            continue;
        }
        strncat(out, message + 1, length);
        for (; *name; name++)
            if (*name == '-') *name = '_';
        if (end != rest) put_value(strcat(out, " = "), rest + 1, (int)(end - rest - 1));
        message = end + 1;
    }
}
