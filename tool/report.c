/* Messages to the user, all on stderr: errors, remarks, and a line of progress at a terminal. */
#include "progress.h"
#include "tool.h"

#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

/* What the terminal shows: the tool is one program at one terminal. */
static bool quiet;
static const rb_option *options;
static volatile sig_atomic_t line_shown;

void put_plain(char *text) {
    for (unsigned char *c = (unsigned char *)text; *c; c++) {
        bool two = *c == 0xC2 && c[1] >= 0x80 && c[1] < 0xA0; /* controls of 8 bits, in UTF-8 */
        if (two) *c++ = ' ';
        if (two || *c < ' ' || *c == 0x7F) *c = ' ';
    }
}

/* One line, whatever is in it (a file name may hold a line end). */
static void put_line(const char *prefix, const char *format, va_list list) {
    char text[2048];
    vsnprintf(text, sizeof text, format, list);
    put_plain(text);
    report_progress_end();
    fprintf(stderr, "%s%s\n", prefix, text);
}

void report_error(const char *format, ...) {
    va_list list;
    va_start(list, format);
    put_line("rarebit: ", format, list);
    va_end(list);
}

void report_options(const rb_option *rows) {
    options = rows;
}

/* The option that the text begins with, on which one of the words follows; "": the end. */
static const rb_option *named_option(const char *text, const char *const *words) {
    for (const rb_option *row = options; row && row->name; row++) {
        size_t length = strlen(row->name);
        for (int w = 0; strncmp(text, row->name, length) == 0 && words[w]; w++) {
            const char *word = words[w], *rest = text + length;
            if (*word ? strncmp(rest, word, strlen(word)) == 0 : !*rest) return row;
        }
    }
    return NULL;
}

/* Does an option's name begin at c, as an option and not as a word? A name with a hyphen does, and
 * any before "=", at the beginning of some messages, and after some words. */
static bool names_option(const char *message, const char *c) {
    static const char *const begins[] = {" is '", " is given", " cannot be given", NULL};
    static const char *const ends[] = {" ", ",", ";", ":", ")", "", NULL};
    static const char *const given[] = {"=", NULL};
    static const char *const before[] = {"without ", "the option ",      "raise ",
                                         "leave ",   "another ",         "smaller ",
                                         "larger ",  "replace it with ", NULL};
    const rb_option *row = named_option(c, ends);
    bool is = named_option(c, given) || (row && strchr(row->name, '-')) ||
              (c == message && named_option(c, begins));
    if (c > message && c[-1] != ' ' && c[-1] != '(') return false;
    for (int b = 0; row && !is && before[b]; b++) {
        size_t length = strlen(before[b]);
        is = (size_t)(c - message) >= length && strncmp(c - length, before[b], length) == 0;
    }
    return is;
}

/* The library names options without dashes: "eta is '2', but ...", "does nothing without estep",
 * "take estep=newton", "the option dataset". What is printed is what can be typed. */
static void spell(const char *message, char *out, size_t size) {
    static const char *const given[] = {"=", NULL};
    size_t used = 0;
    bool quoted = false; /* what somebody wrote stays as it is */
    for (const char *c = message; *c && used + 3 < size; c++) {
        bool opens = c == message || c[-1] == ' ' || c[-1] == '(';
        if (*c == '\'') quoted = !quoted && opens;
        bool dashes = !quoted && names_option(message, c);
        const rb_option *row = dashes ? named_option(c, given) : NULL;
        if (dashes) {
            out[used++] = '-';
            out[used++] = '-';
        }
        if (row) {
            size_t length = strlen(row->name);
            bool flag = row->kind == RB_OPTION_FLAG && strncmp(c + length, "=true", 5) == 0;
            used += (size_t)snprintf(out + used, size - used, "%s%s", row->name, flag ? "" : " ");
            used = used < size ? used : size - 1;
            c += length + (flag ? 4 : 0);
        } else {
            out[used++] = *c;
        }
    }
    out[used] = '\0';
}

static const invocation *explained; /* NULL: none */

void report_explain(const invocation *call) {
    explained = call;
}

/* Is the reason that the arguments are not what the command takes? Then that is said. */
static bool is_explained(rb_error error) {
    const invocation *call = explained;
    bool may_be = error == RB_ERROR_FILE || error == RB_ERROR_FORMAT || error == RB_ERROR_DATA ||
                  error == RB_ERROR_ARGUMENT || error == RB_ERROR_UNSUPPORTED;
    explained = NULL; /* once */
    return call && may_be && check_kinds(call);
}

int report_failure(const rb_context *ctx, rb_error error) {
    char message[1024], text[1200];
    snprintf(message, sizeof message, "%s", rb_context_error(ctx));
    if (is_explained(error)) return STATUS_FAILED;
    if (error == RB_ERROR_INTERRUPTED || error == RB_ERROR_STOPPED) {
        interrupt_tell();
        return interrupt_status();
    }
    spell(*message ? message : rb_error_name(error), text, sizeof text);
    report_error("%s", text);
    return error == RB_ERROR_ARGUMENT ? STATUS_USAGE : STATUS_FAILED;
}

void report(const char *format, ...) {
    if (quiet) return;
    va_list list;
    va_start(list, format);
    put_line("", format, list);
    va_end(list);
}

void report_quietly(bool on) {
    quiet = on;
}

/* Was the message said before? Some steps of a command find the same again. */
static bool said_before(const char *message) {
    enum { KEPT = 64 };
    static uint64_t said[KEPT]; /* FNV-1a hashes of the last ones */
    static size_t count;
    uint64_t hash = 14695981039346656037u;
    for (const char *c = message; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    for (size_t i = 0; i < KEPT && i < count; i++)
        if (said[i] == hash) return true;
    said[count++ % KEPT] = hash;
    return false;
}

void report_log(rb_log_level level, const char *message, void *user) {
    (void)user;
    if (said_before(message)) return;
    char text[1200];
    spell(message, text, sizeof text);
    if (level == RB_LOG_WARNING)
        report_error("warning: %s", text);
    else
        report("%s", text);
}

void report_progress(const rb_progress *p) {
    static progress_clock clock;
    bool terminal = isatty(STDERR_FILENO);
    if (clock.interval == 0) clock = progress_clock_of(terminal);
    if (quiet || !progress_due(&clock, p)) return;
    char text[256];
    progress_text(p, text, sizeof text);
    if (terminal) {
        fprintf(stderr, "\r%s\033[K", text);
        line_shown = true;
    } else {
        fprintf(stderr, "%s\n", text);
    }
    fflush(stderr);
}

void report_progress_end(void) {
    if (line_shown) {
        fputs("\r\033[K", stderr);
        line_shown = false;
    }
}

/* write(2) is all that a signal handler may use. */
static void put_safely(const char *text) {
    (void)!write(STDERR_FILENO, text, strlen(text));
}

void report_interrupted(const char *checkpoint, bool written) {
    put_safely(line_shown ? "\r\033[K" : "");
    put_safely("rarebit: interrupted");
    put_safely(checkpoint ? "; the same command goes on from "
               : written  ? ""
                          : "; nothing was written");
    put_safely(checkpoint ? checkpoint : "");
    put_safely("\n");
}
