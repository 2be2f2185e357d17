/* When a running fit says where it is, and in which words. */
#pragma once

#include <rarebit/rarebit.h>

/* At a terminal one line is rewritten; a file or a pipe gets a line now and then. */
typedef struct progress_clock {
    double interval; /* seconds between two lines, at least */
    bool both_ends;  /* the first and the last iteration too, whenever they are */
    double shown;    /* rb_progress.elapsed of the last line */
    bool begun;
} progress_clock;

progress_clock progress_clock_of(bool terminal);
/* Is a line due? Then the clock counts from here. */
bool progress_due(progress_clock *clock, const rb_progress *progress);
/* "iteration 7 of 200   objective 229.1   0.5 a second   6 min 26 s left" */
void progress_text(const rb_progress *progress, char *buffer, size_t size);
