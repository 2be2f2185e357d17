/* The log of a fit: a line of JSON for each iteration. */
#ifndef TOOL_FIT_LOG_H
#define TOOL_FIT_LOG_H

#include "tool.h"

typedef struct fit_log {
    const char *path; /* NULL: none */
    bool goes_on;     /* lines of the iterations before the first one stay */
    FILE *file;
    bool begun; /* a line was written */
    bool old;   /* the file was there before, and is cut when the first line comes */
    bool made;  /* it was not, and goes again when no line comes */
    bool failed;
} fit_log;

/* Opens the file, so that one that cannot be written is told before the work; what is in it stays
 * until an iteration is done, for a fit that is refused has nothing to write. A status after a
 * message. */
int fit_log_begin(fit_log *log);
void fit_log_iteration(rb_context *ctx, fit_log *log, const rb_progress *progress);
int fit_log_end(fit_log *log);

#endif
