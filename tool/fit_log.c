/* The log of a fit. One that goes on from a checkpoint keeps the lines of the iterations that the
 * checkpoint knows; later ones come again. */
#include "tool.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int fit_log_begin(fit_log *log) {
    if (!log->path) return STATUS_DONE;
    struct stat info;
    bool to_stdout = strcmp(log->path, "-") == 0;
    bool there = !to_stdout && stat(log->path, &info) == 0;
    log->old = there && S_ISREG(info.st_mode);
    log->made = !to_stdout && !there;
    log->file = to_stdout ? stdout : fopen(log->path, log->old ? "r+" : there ? "w" : "wx");
    if (!log->file)
        return report_error("cannot write the log '%s': %s", log->path, strerror(errno));
    if (log->made) interrupt_temporary(log->path, true);
    return STATUS_DONE;
}

/* The layer of a stack that an iteration is of; 0: none. */
static long long layer_of(const rb_progress *p) {
    long long layer = 0;
    return p->what && sscanf(p->what, "layer %lld of", &layer) == 1 ? layer : 0;
}

/* Is a line of an iteration before this one? */
static bool is_before(const char *line, long long layer, int64_t iteration) {
    long long of = 0, number = 0;
    if (layer < 0) return false;
    bool whole = layer > 0
                     ? sscanf(line, "{\"layer\": %lld, \"iteration\": %lld", &of, &number) == 2
                     : sscanf(line, "{\"iteration\": %lld", &number) == 1;
    return whole && (of < layer || (of == layer && number < iteration));
}

/* Cuts the file before the line of an iteration, and before anything that is no line. */
static void cut_before(fit_log *log, long long layer, int64_t iteration) {
    char *line = NULL;
    size_t capacity = 0;
    long end = 0;
    bool stays = true;
    while (stays) {
        ssize_t length = getline(&line, &capacity, log->file);
        stays = length > 0 && line[length - 1] == '\n' && is_before(line, layer, iteration);
        end = stays ? ftell(log->file) : end;
    }
    free(line);
    log->failed = end < 0 || fseek(log->file, end, SEEK_SET) || ftruncate(fileno(log->file), end);
}

/* The first line is due: from here on the file stays. */
static void begin_lines(fit_log *log, const rb_progress *p) {
    log->begun = true;
    if (log->old) cut_before(log, log->goes_on ? layer_of(p) : -1, log->goes_on ? p->iteration : 0);
    if (log->made) interrupt_temporary(log->path, false);
    interrupt_wrote();
}

/* Whole lines, at once: who reads along sees no half of one. */
void fit_log_iteration(fit_log *log, const rb_progress *p) {
    if (!log->file || log->failed) return;
    if (!log->begun) begin_lines(log, p);
    json_t *layer = layer_of(p) ? json_integer(layer_of(p)) : NULL;
    json_t *json =
        json_pack("{so* sI so so so}", "layer", layer, "iteration", (json_int_t)p->iteration,
                  "objective", rb_json_number(p->objective), "estep_objective",
                  rb_json_number(p->estep_objective), "seconds", rb_json_number(p->seconds));
    for (int f = 0; p->metric_names && p->metric_names[f]; f++)
        if (isfinite(p->metrics[f]))
            rb_json_add(&json, p->metric_names[f], rb_json_number(p->metrics[f]));
    log->failed = json_put(log->ctx, log->file, json) || fflush(log->file) != 0;
}

int fit_log_end(fit_log *log) {
    if (!log->file) return STATUS_DONE;
    if (log->file != stdout) log->failed = fclose(log->file) != 0 || log->failed;
    log->file = NULL;
    if (log->made && !log->begun) {
        unlink(log->path);
        interrupt_temporary(log->path, false);
    }
    if (log->failed) return report_error("the log '%s' could not be written", log->path);
    return STATUS_DONE;
}

static rb_error show_progress(const rb_progress *p, void *user) {
    fit_log *log = user;
    if (log) fit_log_iteration(log, p);
    report_progress(p);
    return log && interrupted() ? RB_ERROR_INTERRUPTED : RB_OK;
}

void watch_begin(const invocation *call, rb_progress_fn on_progress, void *user) {
    interrupt_gently(call->ctx);
    rb_context_on_progress(call->ctx, on_progress ? on_progress : show_progress, user);
}

void watch_end(const invocation *call) {
    interrupt_gently(NULL);
    rb_context_on_progress(call->ctx, NULL, NULL);
    report_progress_end();
}
