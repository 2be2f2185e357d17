/* Messages to the user, all on stderr: errors, remarks, and a line of progress at a terminal. */
#include "tool.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

/* What the terminal shows: the tool is one program at one terminal. */
static bool quiet;
static volatile sig_atomic_t line_shown;
static double last_shown = -1;

/* One line, whatever is in it (a file name may hold a line end). */
static void put_line(const char *prefix, const char *format, va_list list) {
    char text[2048];
    vsnprintf(text, sizeof text, format, list);
    for (char *c = text; *c; c++) {
        if (*c == '\n' || *c == '\r') {
            *c = ' ';
        }
    }
    report_progress_end();
    fprintf(stderr, "%s%s\n", prefix, text);
}

void report_error(const char *format, ...) {
    va_list list;
    va_start(list, format);
    put_line("rarebit: ", format, list);
    va_end(list);
}

int report_failure(const rb_context *ctx, rb_error error) {
    const char *sentence = rb_context_error(ctx);
    if (error == RB_ERROR_INTERRUPTED || error == RB_ERROR_STOPPED) {
        report_error("interrupted; nothing was written");
        return STATUS_INTERRUPTED;
    }
    report_error("%s", *sentence ? sentence : rb_error_name(error));
    return error == RB_ERROR_ARGUMENT ? STATUS_USAGE : STATUS_FAILED;
}

void report(const char *format, ...) {
    if (quiet) {
        return;
    }
    va_list list;
    va_start(list, format);
    put_line("", format, list);
    va_end(list);
}

void report_quietly(bool on) {
    quiet = on;
}

void report_log(rb_log_level level, const char *sentence, void *user) {
    (void)user;
    if (level == RB_LOG_WARNING) {
        report_error("warning: %s", sentence);
    } else {
        report("%s", sentence);
    }
}

/* "3 s", "2 min 5 s", "1 h 12 min" */
static void duration(double seconds, char *buffer, size_t size) {
    long whole = seconds < 1e9 ? lround(seconds) : 1000000000L;
    if (whole < 60) {
        snprintf(buffer, size, "%ld s", whole);
    } else if (whole < 3600) {
        snprintf(buffer, size, "%ld min %ld s", whole / 60, whole % 60);
    } else {
        snprintf(buffer, size, "%ld h %ld min", whole / 3600, whole % 3600 / 60);
    }
}

void report_progress(const rb_progress *p) {
    bool due = last_shown < 0 || p->elapsed < last_shown || p->elapsed - last_shown >= 0.1 ||
               p->iteration == p->iterations;
    if (quiet || !due || !isatty(STDERR_FILENO)) {
        return;
    }
    char left[64];
    duration(p->remaining, left, sizeof left);
    double rate = p->elapsed > 0 ? (double)p->iteration / p->elapsed : 0;
    fprintf(stderr, "\riteration %lld of %lld   objective %.6g   %.3g a second   %s left\033[K",
            (long long)p->iteration, (long long)p->iterations, p->objective, rate, left);
    fflush(stderr);
    line_shown = true;
    last_shown = p->elapsed;
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

void report_interrupted(bool written) {
    put_safely(line_shown ? "\r\033[K" : "");
    put_safely("rarebit: interrupted");
    put_safely(written ? "\n" : "; nothing was written\n");
}
