/* The log of a fit: a line of JSON for each iteration. */
#ifndef TOOL_FIT_LOG_H
#define TOOL_FIT_LOG_H

#include "tool.h"

typedef struct fit_log {
    const char *path; /* NULL: none */
    bool goes_on;     /* lines of the iterations before the first one stay */
    FILE *file;
    bool failed;
} fit_log;

/* Once the data are known to be sound: an old log is not lost before. A status after a message. */
int fit_log_begin(fit_log *log);
void fit_log_iteration(fit_log *log, const rb_progress *progress);
int fit_log_end(fit_log *log);

#endif
