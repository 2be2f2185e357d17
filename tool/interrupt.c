/* Ctrl-C: during a fit the first one asks and the second one ends; elsewhere the first one ends. */
#include "tool.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t gentle, seen;

static void on_signal(int number) {
    (void)number;
    if (!gentle || seen) {
        _exit(STATUS_INTERRUPTED);
    }
    seen = 1;
}

void interrupt_install(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

void interrupt_gently(void) {
    gentle = 1;
}

bool interrupted(void) {
    return seen != 0;
}
