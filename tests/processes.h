/* Several processes of one test, by fork, each a socket from every other: as librarebit-mpi gives a
 * context the means to reach them, without MPI. */
#ifndef PROCESSES_H
#define PROCESSES_H

#include <rarebit/comm.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_PROCESSES = 8 };

typedef struct processes {
    int rank, ranks;
    int socket_of[MOST_PROCESSES]; /* to that process */
} processes;

static inline bool send_all(int file, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t done = write(file, bytes, count);
        if (done <= 0) return false;
        bytes += done;
        count -= (size_t)done;
    }
    return true;
}

static inline bool receive_all(int file, char *bytes, size_t count) {
    while (count > 0) {
        ssize_t done = read(file, bytes, count);
        if (done <= 0) return false;
        bytes += done;
        count -= (size_t)done;
    }
    return true;
}

/* The one of lower rank sends first. */
static inline bool processes_exchange(void *user, int partner, size_t bytes, const void *send,
                                      void *receive) {
    const processes *p = user;
    int file = p->socket_of[partner];
    return p->rank < partner ? send_all(file, send, bytes) && receive_all(file, receive, bytes)
                             : receive_all(file, receive, bytes) && send_all(file, send, bytes);
}

static inline bool processes_broadcast(void *user, int root, size_t bytes, void *data) {
    const processes *p = user;
    bool done = true;
    if (p->rank != root) return receive_all(p->socket_of[root], data, bytes);
    for (int r = 0; r < p->ranks; r++)
        done = done && (r == root || send_all(p->socket_of[r], data, bytes));
    return done;
}

static inline rb_comm processes_comm(processes *p) {
    return (rb_comm){.size = sizeof(rb_comm),
                     .rank = p->rank,
                     .ranks = p->ranks,
                     .exchange = processes_exchange,
                     .broadcast = processes_broadcast,
                     .user = p};
}

/* What a process does: its result goes into `result`, of so many bytes, shared with the test.
 * Returns 0 if all went well. */
typedef int (*process_fn)(processes *p, void *user, char *result);

/* Runs so many of them. Results lie one after the other; free them by munmap. NULL: one of them
 * failed, and said so. */
static inline char *processes_run(int ranks, process_fn fn, void *user, size_t bytes) {
    int pairs[MOST_PROCESSES][MOST_PROCESSES] = {{0}};
    char *results = mmap(NULL, (size_t)ranks * bytes, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t children[MOST_PROCESSES];
    bool good = results != MAP_FAILED;
    for (int a = 0; a < ranks; a++) {
        for (int b = 0; b < a; b++) {
            int ends[2];
            if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) abort();
            pairs[a][b] = ends[0];
            pairs[b][a] = ends[1];
        }
    }
    for (int r = 0; r < ranks; r++) {
        children[r] = fork();
        if (children[r] == 0) {
            processes p = {.rank = r, .ranks = ranks};
            signal(SIGSEGV, SIG_DFL); /* not that of the test's own process */
            signal(SIGPIPE, SIG_IGN); /* who is gone is told by write() */
            memcpy(p.socket_of, pairs[r], sizeof p.socket_of);
            for (int a = 0; a < ranks; a++) /* so that one that ends is missed */
                for (int b = 0; b < ranks; b++)
                    if (a != r && a != b) close(pairs[a][b]);
            _exit(fn(&p, user, results + (size_t)r * bytes));
        }
    }
    for (int a = 0; a < ranks; a++)
        for (int b = 0; b < ranks; b++)
            if (a != b) close(pairs[a][b]);
    for (int r = 0; r < ranks; r++) {
        int status = 0;
        waitpid(children[r], &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            fprintf(stderr, "process %d ended with status %d\n", r, status);
        good = good && status == 0;
    }
    if (!good) munmap(results, (size_t)ranks * bytes);
    return good ? results : NULL;
}

#endif
