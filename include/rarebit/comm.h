/* Several processes that work together, each on its share of the samples or of many fits.
 *
 * Whoever starts the processes hands each of its contexts the means to reach the others;
 * librarebit-mpi does so by MPI. All processes then make the same calls with the same options and
 * the same data, and get the same results. rb_fit, rb_encode, rb_reconstruct, rb_impute,
 * rb_evaluate and what stands on them share the samples out; rb_select, rb_fit_consensus and
 * permutations share the fits out. Other calls do the whole work in every process. With 2, 4, 8 ...
 * processes a fit and its metrics have the same bits as with one, with other numbers the same but
 * for rounding; all else is the same bits. Fits in batches depend on the number of processes, and
 * those that squarem accelerates have the same result but for rounding.
 *
 * Not thread-safe: the functions are called by the thread that made the call of the library. */
#pragma once

#include <rarebit/context.h>

typedef struct rb_comm {
    size_t size;     /* sizeof(rb_comm), set by the caller; new fields come at the end */
    int rank, ranks; /* this process, from 0, and how many there are */
    int on_machine;  /* how many of them share the memory of this machine; 0: all */
    /* Sends bytes to a partner and receives as many from it, while it does the same. false: it
     * cannot be reached, and the call of the library fails. */
    bool (*exchange)(void *user, int partner, size_t bytes, const void *send, void *receive);
    /* The bytes of the process `root` come to all. */
    bool (*broadcast)(void *user, int root, size_t bytes, void *data);
    void *user;
    /* This process has failed, as the message tells, and begins to wait until the others see it,
     * which may take long; called again with NULL once they have. NULL: it only waits. */
    void (*failing)(void *user, const char *message);
} rb_comm;

/* Sets how the processes reach each other; the table is copied. NULL: there is one process, as at
 * first. RB_ERROR_ARGUMENT: the size is not that of this header, or there is no such rank;
 * RB_ERROR_MEMORY. */
RB_API rb_error rb_context_set_comm(rb_context *context, const rb_comm *comm);

/* All processes come together here, each with what became of its work. If that is RB_OK for all it
 * is returned; else every process gets the error and the message of the first one that failed,
 * which is named where others did not. With one process `error` is returned as it is. */
RB_API rb_error rb_comm_agree(rb_context *context, rb_error error);
