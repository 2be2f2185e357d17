/* LD_PRELOAD: a clock for processes that have no processor and no network of their own. The
 * monotonic clock of the main thread shows the processor time that it has taken outside of MPI. An
 * exchange brings both partners to the later of their clocks, and adds SLOW_LATENCY seconds and its
 * bytes at SLOW_RATE bytes per second; a broadcast adds that for each doubling of the processes.
 * In each iteration, at the broadcast of the clock, the first process says what its own shows, and
 * how many messages and bytes it had so far: bench/processes.py. */
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { CLOCK_BYTES = 16, CLOCK_TAG = 1 };

static bool real = true; /* before MPI has begun, and within it */
static double added;     /* to the processor time */
static long messages, bytes;

static double processor(void) {
    struct timespec t;
    syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int clock_gettime(clockid_t clock, struct timespec *t) {
    bool alone = real && !getenv("OMPI_COMM_WORLD_SIZE");
    if (clock != CLOCK_MONOTONIC || getpid() != (pid_t)syscall(SYS_gettid) || (real && !alone))
        return (int)syscall(SYS_clock_gettime, clock, t);
    double now = processor() + added;
    *t = (struct timespec){(time_t)now, (long)(1e9 * (now - floor(now)))};
    return 0;
}

static double number_of(const char *name, double otherwise) {
    const char *text = getenv(name);
    return text ? atof(text) : otherwise;
}

/* After so many messages, one after the other, that began at `now`. */
static void go_on(double now, int times, int size) {
    messages += times;
    bytes += (long)times * size;
    now += times * (number_of("SLOW_LATENCY", 0) + size / number_of("SLOW_RATE", HUGE_VAL));
    added = now - processor();
    real = false;
}

int MPI_Sendrecv(const void *send, int count, MPI_Datatype type, int to, int tag, void *receive,
                 int space, MPI_Datatype kind, int from, int from_tag, MPI_Comm comm,
                 MPI_Status *status) {
    double own = processor() + added, other;
    real = true;
    PMPI_Sendrecv(&own, 1, MPI_DOUBLE, to, CLOCK_TAG, &other, 1, MPI_DOUBLE, from, CLOCK_TAG, comm,
                  MPI_STATUS_IGNORE);
    int err = PMPI_Sendrecv(send, count, type, to, tag, receive, space, kind, from, from_tag, comm,
                            status);
    go_on(fmax(own, other), 1, count);
    return err;
}

int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    int rank, ranks, times = 0;
    double own = processor() + added, first = own;
    real = true;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    while (1 << times < ranks)
        times++;
    PMPI_Bcast(&first, 1, MPI_DOUBLE, root, comm);
    int err = PMPI_Bcast(data, count, type, root, comm);
    go_on(fmax(own, first), times, count);
    if (rank == 0 && count == CLOCK_BYTES)
        fprintf(stderr, "%.9f %ld %ld\n", processor() + added, messages, bytes);
    return err;
}
