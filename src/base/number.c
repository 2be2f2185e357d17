/* Numbers from text and to text with a decimal point, whatever the locale of the program is. From
 * text: fast and exact where few digits allow it, else by strtod in the "C" locale. Times, shapes
 * and ranges are made of numbers: "90s", "28x28", "0:10". */
#include "base.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __APPLE__
#include <xlocale.h> /* newlocale, uselocale */
#endif

enum {
    MAX_DIGITS = 19,  /* as many always fit into 64 bits */
    EXACT_POWER = 22, /* 10^22 is the largest power of ten that float64 holds exactly */
    WIDE_POWER = 27,  /* and 10^27 that a mantissa of 64 bits does */
    LONGEST_NUMBER = 512
};

static const long double powers[WIDE_POWER + 1] = {1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,
                                                   1e7L,  1e8L,  1e9L,  1e10L, 1e11L, 1e12L, 1e13L,
                                                   1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L, 1e20L,
                                                   1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};

/* A number cut into its parts. */
struct decimal {
    const char *end;
    uint64_t digits; /* of the mantissa without its point; valid when `count` <= MAX_DIGITS */
    int64_t count;   /* digits from the first that is not 0 */
    int64_t power;   /* of ten that the digits are multiplied by */
    bool negative;
};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Digits from `at` on. A leading 0 does not count; after MAX_DIGITS they are counted only. */
static const char *take_digits(const char *at, const char *end, struct decimal *number) {
    const char *first;
    uint64_t digits = number->digits;
    int64_t count = number->count;
    while (count == 0 && at < end && *at == '0')
        at++;
    for (first = at; at < end && is_digit(*at); at++)
        if (at - first < MAX_DIGITS - count) digits = digits * 10 + (uint64_t)(*at - '0');
    number->digits = digits;
    number->count = count + (at - first);
    return at;
}

/* The exponent behind the mantissa, if there is one: "e-5". Huge ones are cut: they are 0 or
 * infinite. */
static const char *take_exponent(const char *at, const char *end, struct decimal *number) {
    if (at == end || (*at != 'e' && *at != 'E')) return at;
    const char *next = at + 1;
    bool negative = next < end && *next == '-';
    next += next < end && (*next == '-' || *next == '+');
    if (next == end || !is_digit(*next)) return at;
    int64_t exponent = 0;
    for (; next < end && is_digit(*next); next++)
        exponent = exponent < 100000 ? exponent * 10 + (*next - '0') : exponent;
    number->power += negative ? -exponent : exponent;
    return next;
}

/* Cuts a number; false when there is none. */
static bool cut(const char *text, const char *end, struct decimal *number) {
    *number = (struct decimal){0};
    const char *at = text;
    if (at < end && (*at == '-' || *at == '+')) {
        number->negative = *at == '-';
        at++;
    }
    const char *whole = at;
    at = take_digits(at, end, number);
    bool any = at > whole;
    if (at < end && *at == '.') {
        const char *fraction = at + 1;
        at = take_digits(fraction, end, number);
        any = any || at > fraction;
        number->power -= at - fraction;
    }
    number->end = any ? take_exponent(at, end, number) : at;
    return any;
}

/* strtod in the "C" locale; the text has the form of a number. */
static bool convert_slowly(const char *text, const char *end, double *value) {
    char copy[LONGEST_NUMBER];
    if (end - text >= LONGEST_NUMBER) return false;
    memcpy(copy, text, (size_t)(end - text));
    copy[end - text] = '\0';
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c) return false;
    *value = strtod_l(copy, NULL, c);
    freelocale(c);
    return true;
}

/* By one operation of two exact numbers with a mantissa of 64 bits, where the processor has it: the
 * nearest float64 then, unless its last 11 bits are those of a number halfway between two. */
static bool convert_wide(const struct decimal *number, double *value) {
    enum { REST = 0x7FF, HALFWAY = 0x400 };
    uint64_t mantissa;
    if (LDBL_MANT_DIG != 64 || number->count > MAX_DIGITS || number->power < -WIDE_POWER ||
        number->power > WIDE_POWER)
        return false;
    long double wide = (long double)number->digits;
    wide = number->power < 0 ? wide / powers[-number->power] : wide * powers[number->power];
    memcpy(&mantissa, &wide, sizeof mantissa);
    *value = number->negative ? -(double)wide : (double)wide;
    return (mantissa & REST) != HALFWAY;
}

const char *rb_number_scan(const char *text, const char *end, double *value) {
    struct decimal number;
    if (!cut(text, end, &number)) return NULL;
    /* Two exact numbers and one rounding give the nearest float64. */
    bool exact = number.count <= MAX_DIGITS && number.digits <= UINT64_C(1) << 53 &&
                 number.power >= -EXACT_POWER && number.power <= EXACT_POWER;
    if (!exact) {
        bool done = convert_wide(&number, value) || convert_slowly(text, number.end, value);
        return done ? number.end : NULL;
    }
    double magnitude = (double)number.digits, power = (double)powers[labs(number.power)];
    magnitude = number.power < 0 ? magnitude / power : magnitude * power;
    *value = number.negative ? -magnitude : magnitude;
    return number.end;
}

int rb_print_list(char *buffer, size_t size, const char *format, va_list list) {
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = uselocale(c); /* of this thread alone */
    int length = vsnprintf(buffer, size, format, list);
    uselocale(before);
    if (c) freelocale(c);
    return length;
}

int rb_print(char *buffer, size_t size, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int length = rb_print_list(buffer, size, format, list);
    va_end(list);
    return length;
}

int rb_print_shortest(char text[RB_SHORTEST], double value) {
    double back = NAN;
    if (fabs(value) < 1e6 && value == (double)(int)value && (value != 0 || !signbit(value)))
        return snprintf(text, RB_SHORTEST, "%d", (int)value);
    int length = rb_print(text, RB_SHORTEST, "%.15g", value);
    if (rb_number_scan(text, text + length, &back) && back == value) return length;
    return rb_print(text, RB_SHORTEST, "%.17g", value);
}

bool rb_parse_seconds(const char *text, double *seconds, bool *has_unit) {
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}, {"d", 86400}};
    double number = 0;
    const char *end = rb_number_scan(text, text + strlen(text), &number);
    if (!end || !(number >= 0) || !isfinite(number)) return false;
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        if (strcmp(end, units[u].name) == 0) {
            *seconds = number * units[u].seconds;
            *has_unit = *end != '\0';
            return true;
        }
    }
    return false;
}

int rb_parse_shape(const char *text, int64_t *sizes, int max) {
    for (int count = 0; count < max && is_digit(*text); count++) { /* no space, no sign */
        char *end;
        sizes[count] = strtoll(text, &end, 10);
        if (sizes[count] < 1 || sizes[count] > INT32_MAX || (*end && *end != 'x')) return 0;
        if (!*end) return count + 1;
        text = end + 1;
    }
    return 0;
}

bool rb_parse_range(const char *text, double *low, double *high) {
    const char *end = text + strlen(text);
    const char *colon = rb_number_scan(text, end, low);
    if (!colon || *colon != ':') return false;
    return rb_number_scan(colon + 1, end, high) == end && isfinite(*low) && isfinite(*high) &&
           *low < *high;
}
