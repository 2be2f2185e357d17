/* Messages to the user, all on stderr: errors, remarks, and a line of progress at a terminal. */
#include "progress.h"
#include "tool.h"

#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

/* What the terminal shows: the tool is one program at one terminal. */
static bool quiet, silent;
static char last_error[2048]; /* when silent */
static volatile sig_atomic_t line_shown;

void put_plain(char *text) {
    for (unsigned char *c = (unsigned char *)text; *c; c++) {
        bool two = *c == 0xC2 && c[1] >= 0x80 && c[1] < 0xA0; /* controls of 8 bits, in UTF-8 */
        if (two) *c++ = ' ';
        if (two || *c < ' ' || *c == 0x7F) *c = ' ';
    }
}

/* The option that begins at a backquote: where it ends; NULL: there is none. */
static char *option_end(char *c, char **value) {
    *value = c + 1 + strspn(c + 1, "abcdefghijklmnopqrstuvwxyz0123456789-");
    char *end = *c == '`' && *value > c + 1 ? strchr(*value, '`') : NULL;
    return end == *value || **value == '=' ? end : NULL;
}

void put_options(char *text) {
    for (char *c = text; *c; c++) {
        char *value, *end = option_end(c, &value);
        if (!end) continue;
        bool flag = strncmp(value, "=true`", 6) == 0;
        memmove(c + 2, c + 1, (size_t)(end - c - 1));
        c[0] = c[1] = '-';
        if (flag)
            memmove(value + 1, end + 1, strlen(end));
        else if (value < end)
            value[1] = ' ';
    }
}

/* One line, whatever is in it (a file name may hold a line end). */
static void put_line(const char *prefix, const char *format, va_list list) {
    char text[2048];
    vsnprintf(text, sizeof text, format, list);
    put_options(text);
    put_plain(text);
    report_progress_end();
    if (!silent)
        fprintf(stderr, "%s%s\n", prefix, text);
    else if (*prefix && strncmp(text, "warning: ", 9) != 0)
        snprintf(last_error, sizeof last_error, "%s", text);
}

int report_error(const char *format, ...) {
    va_list list;
    va_start(list, format);
    put_line("rarebit: ", format, list);
    va_end(list);
    return STATUS_FAILED;
}

int report_usage(const char *format, ...) {
    va_list list;
    va_start(list, format);
    put_line("rarebit: ", format, list);
    va_end(list);
    return STATUS_USAGE;
}

rb_error fail(rb_context *ctx, rb_error error, const char *format, ...) {
    char text[1200];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return rb_context_fail(ctx, error, text);
}

rb_error fail_memory(rb_context *ctx) {
    return rb_context_fail(ctx, RB_ERROR_MEMORY, "out of memory");
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
    char text[1200];
    if (!error) return STATUS_DONE;
    snprintf(text, sizeof text, "%s", rb_context_error(ctx));
    if (is_explained(error)) return STATUS_FAILED;
    if (error == RB_ERROR_INTERRUPTED || error == RB_ERROR_STOPPED) {
        interrupt_tell();
        return interrupt_status();
    }
    report_error("%s", *text ? text : rb_error_name(error));
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

void report_silently(bool on) {
    silent = on;
}

const char *report_last(void) {
    return last_error;
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
    if (level == RB_LOG_WARNING)
        report_error("warning: %s", message);
    else
        report("%s", message);
}

void report_progress(const rb_progress *p) {
    static progress_clock clock;
    bool terminal = isatty(STDERR_FILENO);
    if (clock.interval == 0) clock = progress_clock_of(terminal);
    if (quiet || silent || !progress_due(&clock, p)) return;
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

void report_interrupted(const char *checkpoint, bool written, bool resumable) {
    if (silent) return;
    put_safely(line_shown ? "\r\033[K" : "");
    put_safely("rarebit: interrupted");
    put_safely(checkpoint ? "; the same command resumes from "
               : written  ? ""
                          : "; nothing was written");
    put_safely(checkpoint ? checkpoint
               : !written && resumable
                   ? ", and with --checkpoint FILE the same command would resume"
                   : "");
    put_safely("\n");
}
