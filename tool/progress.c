/* Lines of progress: when, and in which words. */
#include "progress.h"

#include <math.h>
#include <stdio.h>

progress_clock progress_clock_of(bool terminal) {
    const double often = 0.1, seldom = 60;
    return (progress_clock){.interval = terminal ? often : seldom, .both_ends = terminal};
}

bool progress_due(progress_clock *clock, const rb_progress *p) {
    if (p->elapsed < clock->shown) { /* another fit */
        clock->shown = 0;
        clock->begun = false;
    }
    bool end = !clock->begun || p->iteration == p->iterations;
    bool due = p->elapsed - clock->shown >= clock->interval || (end && clock->both_ends);
    clock->begun = true;
    clock->shown = due ? p->elapsed : clock->shown;
    return due;
}

/* "3 s", "2 min 5 s", "1 h 12 min" */
static void duration(double seconds, char *buffer, size_t size) {
    long whole = seconds < 1e9 ? lround(seconds) : 1000000000L;
    if (whole < 60)
        snprintf(buffer, size, "%ld s", whole);
    else if (whole < 3600)
        snprintf(buffer, size, "%ld min %ld s", whole / 60, whole % 60);
    else
        snprintf(buffer, size, "%ld h %ld min", whole / 3600, whole % 3600 / 60);
}

void progress_text(const rb_progress *p, char *buffer, size_t size) {
    char left[64];
    duration(p->remaining, left, sizeof left);
    double rate = p->elapsed > 0 ? (double)p->iteration / p->elapsed : 0;
    int used = snprintf(buffer, size, "%s %lld of %lld", p->what, (long long)p->iteration,
                        (long long)p->iterations);
    if (!isnan(p->objective))
        used += snprintf(buffer + used, size - (size_t)used, "   objective %.6g", p->objective);
    snprintf(buffer + used, size - (size_t)used, "   %.3g a second   %s left", rate, left);
}
