/* LD_PRELOAD: MPI over a slow network. An exchange takes at least SLOW_LATENCY seconds and its bytes
 * at SLOW_RATE bytes per second; a broadcast that for each doubling of the processes. After each
 * iteration, which ends by a broadcast of the clock, the first process says how many of both it had:
 * bench/processes.py. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CLOCK_BYTES = 16 };

static long messages, bytes;

static double number_of(const char *name, double otherwise) {
    const char *text = getenv(name);
    return text ? atof(text) : otherwise;
}

static void wait_until(double end) {
    double left = end - PMPI_Wtime();
    struct timespec rest = {(time_t)left, (long)((left - (double)(time_t)left) * 1e9)};
    if (left > 0) nanosleep(&rest, NULL);
}

/* When messages of so many bytes, one after the other, would be there. */
static double arrival(int times, int size) {
    messages += times;
    bytes += (long)times * size;
    return PMPI_Wtime() +
           times * (number_of("SLOW_LATENCY", 0) + size / number_of("SLOW_RATE", 1e300));
}

int MPI_Sendrecv(const void *send, int count, MPI_Datatype type, int to, int tag, void *receive,
                 int space, MPI_Datatype kind, int from, int from_tag, MPI_Comm comm,
                 MPI_Status *status) {
    double end = arrival(1, count);
    int err = PMPI_Sendrecv(send, count, type, to, tag, receive, space, kind, from, from_tag, comm,
                            status);
    wait_until(end);
    return err;
}

int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    int rank, ranks, times = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    while (1 << times < ranks)
        times++;
    double end = arrival(times, count);
    int err = PMPI_Bcast(data, count, type, root, comm);
    wait_until(end);
    if (rank == 0 && count == CLOCK_BYTES) fprintf(stderr, "%ld %ld\n", messages, bytes);
    return err;
}
