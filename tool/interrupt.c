/* Signals that end the program: Ctrl-C, the end of the terminal, a reader that is gone. What is
 * half written is removed. During a fit the first one stops it and the second one ends all. */
#include "tool.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { MAX_TEMPORARIES = 8, LONGEST_PATH = 4096 + 256 };

static volatile sig_atomic_t gentle, seen, written, resumable;
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "signal handlers use it");
static rb_context *volatile running; /* what the first signal stops; NULL: nothing runs */

/* What is to be removed. A handler has no argument, so it is kept here. */
static struct temporary {
    volatile sig_atomic_t there;
    char path[LONGEST_PATH];
} temporaries[MAX_TEMPORARIES];

/* The checkpoint, and what is said of it; "": none. */
static char kept[LONGEST_PATH], kept_shown[LONGEST_PATH];

/* Who goes on: the program as ever, the program while signals wait, or the handler that ends it.
 * Signals reach any thread, so that blocking them in one would not do. */
enum { FREE, HELD, ENDING };
static atomic_int state;
static volatile sig_atomic_t waiting; /* a signal that came while they were held */

static char last_words[2048]; /* of interrupt_later */
static volatile sig_atomic_t last_status;

/* Only what a signal handler may call. */
static void remove_temporaries(void) {
    for (int t = 0; t < MAX_TEMPORARIES; t++)
        if (temporaries[t].there) unlink(temporaries[t].path);
    for (int t = 0; t < MAX_TEMPORARIES; t++) /* folders, which are empty by now */
        if (temporaries[t].there) rmdir(temporaries[t].path);
}

void interrupt_tell(void) {
    report_interrupted(*kept && access(kept, F_OK) == 0 ? kept_shown : NULL, written,
                       resumable && !*kept);
}

static void end(int number) {
    remove_temporaries();
    if (number == SIGPIPE) _exit(128 + SIGPIPE); /* whoever closed the pipe knows */
    if (number == SIGALRM) {
        (void)!write(STDERR_FILENO, last_words, strlen(last_words));
        _exit(last_status);
    }
    interrupt_tell();
    _exit(128 + number);
}

static void on_signal(int number) {
    int before = FREE;
    if (gentle && !seen && number != SIGPIPE && number != SIGALRM) {
        rb_context *ctx = running;
        seen = number;
        if (ctx) rb_context_stop(ctx);
        return;
    }
    waiting = number;
    if (atomic_compare_exchange_strong(&state, &before, ENDING)) end(number);
}

void interrupt_hold(void) {
    int before = FREE;
    while (!atomic_compare_exchange_strong(&state, &before, HELD))
        pause(); /* the program ends */
}

void interrupt_release(void) {
    atomic_store(&state, FREE);
    if (waiting) on_signal((int)waiting);
}

void interrupt_install(void) {
    struct sigaction action, old;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigfillset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGPIPE, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    if (sigaction(SIGHUP, NULL, &old) == 0 && old.sa_handler != SIG_IGN) /* nohup */
        sigaction(SIGHUP, &action, NULL);
    /* A file that grows beyond the limit is an error of writing like any other. */
    action.sa_handler = SIG_IGN;
    sigaction(SIGXFSZ, &action, NULL);
}

void interrupt_gently(rb_context *ctx) {
    running = ctx;
    gentle = 1;
}

void interrupt_later(unsigned seconds, const char *text, int status) {
    alarm(0);
    last_status = status;
    snprintf(last_words, sizeof last_words - 1, "%s", text);
    put_options(last_words);
    put_plain(last_words);
    if (*text) memcpy(last_words + strlen(last_words), "\n", 2);
    alarm(seconds);
}

bool interrupted(void) {
    return seen != 0;
}

int interrupt_status(void) {
    return 128 + (seen ? (int)seen : SIGINT);
}

void interrupt_keeps(const char *checkpoint) {
    snprintf(kept, sizeof kept, "%s", checkpoint ? checkpoint : "");
    memcpy(kept_shown, kept, sizeof kept);
    put_plain(kept_shown);
}

void interrupt_resumable(void) {
    resumable = 1;
}

void interrupt_wrote(void) {
    written = 1;
}

void interrupt_temporary(const char *path, bool there) {
    for (int t = 0; t < MAX_TEMPORARIES; t++) {
        struct temporary *slot = &temporaries[t];
        if (there && !slot->there && strlen(path) < sizeof slot->path) {
            memcpy(slot->path, path, strlen(path) + 1);
            slot->there = 1;
            return;
        }
        if (!there && slot->there && strcmp(slot->path, path) == 0) {
            slot->there = 0;
            return;
        }
    }
}
