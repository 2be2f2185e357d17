/* Where results go: a file that the library makes appear by renaming, or, through a temporary file,
 * stdout and devices. */
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool output_is_stream(const char *target) {
    struct stat info;
    return strcmp(target, "-") == 0 || (stat(target, &info) == 0 && !S_ISREG(info.st_mode));
}

const char *output_shown(const char *target) {
    return strcmp(target, "-") == 0 ? "standard output" : target;
}

/* A folder of its own, and a path in it with the suffix. */
static int begin_temporary(output *out, const char *suffix) {
    const char *base = getenv("TMPDIR");
    if (asprintf(&out->folder, "%s/rarebit-XXXXXX", base && *base ? base : "/tmp") < 0) {
        out->folder = NULL;
    } else if (!mkdtemp(out->folder)) {
        report_error("cannot make a temporary folder '%s': %s", out->folder, strerror(errno));
        free(out->folder);
        out->folder = NULL;
        return STATUS_FAILED;
    } else if (asprintf(&out->temporary, "%s/output.%s", out->folder, suffix) < 0) {
        out->temporary = NULL;
    }
    if (!out->temporary) {
        report_error("out of memory");
        return output_end(out, STATUS_FAILED);
    }
    interrupt_temporary(out->folder, true);
    interrupt_temporary(out->temporary, true);
    out->path = out->temporary;
    return STATUS_DONE;
}

/* What is not text would make a terminal do anything. */
static bool is_text(const char *suffix) {
    static const char *const texts[] = {"tsv", "csv", "txt", "json", "html", NULL};
    const char *const *text = texts;
    while (*text && strcmp(*text, suffix) != 0)
        text++;
    return *text != NULL;
}

int output_begin(output *out, const char *target, const char *suffix) {
    *out = (output){.target = target, .path = target};
    if (strcmp(target, "-") == 0 && !is_text(suffix) && isatty(STDOUT_FILENO)) {
        return report_usage(
            "-o - would write binary data to the terminal; name a file, or redirect with >");
    }
    return output_is_stream(target) ? begin_temporary(out, suffix) : STATUS_DONE;
}

int output_begin_own(output *out, rb_context *ctx, const char *target, const char *suffix) {
    int status = output_begin(out, target, suffix);
    if (status || out->temporary) return status;
    out->ctx = ctx;
    rb_error err = rb_staged_begin(ctx, target, &out->staged);
    if (err) return report_failure(ctx, err);
    out->path = rb_staged_path(out->staged);
    return STATUS_DONE;
}

int output_fill(output *out, rb_context *ctx, const char *target, output_filler fill,
                const void *of) {
    int status = output_begin_own(out, ctx, target, "tsv");
    if (status) return status;
    errno = 0;
    FILE *file = fopen(out->path, "w");
    rb_error err = file ? fill(ctx, file, of) : RB_OK;
    bool failed = !file || ferror(file);
    failed = (file && fclose(file) != 0) || failed;
    if (!failed && !err) return STATUS_DONE;
    if (failed) report_error("cannot write '%s': %s", target, strerror(errno ? errno : EIO));
    return output_end(out, failed ? STATUS_FAILED : report_failure(ctx, err));
}

/* Copies all bytes; false when reading or writing failed. */
static bool copy_bytes(FILE *from, FILE *to) {
    char buffer[1 << 16];
    size_t count;
    while ((count = fread(buffer, 1, sizeof buffer, from)) > 0)
        if (fwrite(buffer, 1, count, to) != count) return false;
    return !ferror(from);
}

/* What went wrong on stdout is told once: where it was written, or when it is closed. */
static bool stdout_told;

static int stdout_failed(void) {
    if (!stdout_told) {
        report_error("cannot write to standard output%s%s", errno ? ": " : "",
                     errno ? strerror(errno) : "");
    }
    stdout_told = true;
    return STATUS_FAILED;
}

/* Opens a device or a pipe. A named pipe waits for its reader, until a signal ends that. */
static FILE *open_stream(const char *target) {
    struct stat info;
    bool waits = stat(target, &info) == 0 && S_ISFIFO(info.st_mode), told = false;
    int file = open(target, O_WRONLY | O_CLOEXEC | (waits ? O_NONBLOCK : O_TRUNC));
    while (file < 0 && waits && errno == ENXIO && !interrupted()) {
        if (!told) report("waiting for a program that reads %s", target);
        told = true;
        poll(NULL, 0, 50);
        file = open(target, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    }
    if (file >= 0 && waits) fcntl(file, F_SETFL, O_WRONLY);
    return file >= 0 ? fdopen(file, "wb") : NULL;
}

static int copy_temporary(const output *out) {
    bool to_stdout = strcmp(out->target, "-") == 0;
    FILE *from = fopen(out->temporary, "rb");
    FILE *to = to_stdout ? stdout : open_stream(out->target);
    if (to) interrupt_wrote();
    bool good = from && to && copy_bytes(from, to);
    if (from) fclose(from);
    if (to) good = (to_stdout ? fflush(to) : fclose(to)) == 0 && good;
    if (to_stdout && ferror(stdout)) return stdout_failed();
    if (!to && interrupted()) {
        interrupt_tell();
        return interrupt_status();
    }
    if (!good) report_error("cannot write '%s': %s", out->target, strerror(errno));
    return good ? STATUS_DONE : STATUS_FAILED;
}

static int commit(output *out) {
    rb_error err = rb_staged_commit(out->ctx, out->staged);
    out->staged = NULL;
    return report_failure(out->ctx, err);
}

int output_end(output *out, int status) {
    if (!status && processes_lead()) {
        status = out->temporary ? copy_temporary(out) : out->staged ? commit(out) : STATUS_DONE;
        interrupt_wrote();
    }
    if (out->temporary) {
        unlink(out->temporary);
        interrupt_temporary(out->temporary, false);
    }
    if (out->folder) {
        rmdir(out->folder);
        interrupt_temporary(out->folder, false);
    }
    rb_staged_abandon(out->staged);
    free(out->temporary);
    free(out->folder);
    *out = (output){0};
    return status;
}

int output_close_stdout(void) {
    errno = 0;
    bool failed = ferror(stdout) != 0;
    return fclose(stdout) != 0 || failed ? stdout_failed() : STATUS_DONE;
}
