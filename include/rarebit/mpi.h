/* librarebit-mpi: several processes by MPI (rarebit/comm.h). It stands on no other library of
 * rarebit, and none of them links it. There is one for each MPI that was found where rarebit was
 * built, as librarebit-mpi-openmpi and librarebit-mpi-mpich; a program links, or loads, the one of
 * the MPI that it was started by.
 *
 *     rb_mpi_begin(&comm);
 *     rb_context_set_comm(context, &comm);
 *     ...
 *     rb_mpi_end();
 */
#pragma once

#include <rarebit/comm.h>

/* Starts MPI, unless it is running, and fills comm with all its processes. false: MPI cannot be
 * started, and has said why. */
RB_API bool rb_mpi_begin(rb_comm *comm);

/* Ends what rb_mpi_begin has started. All processes come here. */
RB_API void rb_mpi_end(void);

/* The same by one name, for who loads the library: rb_mpi_table(). */
typedef struct rb_mpi_functions {
    size_t size;
    bool (*begin)(rb_comm *comm);
    void (*end)(void);
} rb_mpi_functions;
RB_API const rb_mpi_functions *rb_mpi_table(void);
