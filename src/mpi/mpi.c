/* MPI: bytes to a partner and back, bytes to all. What is added, and in which order, is the
 * library's. An error ends all processes, as MPI has it. */
#include <rarebit/mpi.h>

#include <mpi.h>

static MPI_Comm world = MPI_COMM_NULL; /* of our own: no message meets one of the program */
static bool started;                   /* by us */

static bool exchange(void *user, int partner, size_t bytes, const void *send, void *receive) {
    (void)user;
    return MPI_Sendrecv(send, (int)bytes, MPI_BYTE, partner, 0, receive, (int)bytes, MPI_BYTE,
                        partner, 0, world, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

static bool broadcast(void *user, int root, size_t bytes, void *data) {
    (void)user;
    return MPI_Bcast(data, (int)bytes, MPI_BYTE, root, world) == MPI_SUCCESS;
}

bool rb_mpi_begin(rb_comm *comm) {
    int running = 0, level;
    MPI_Comm machine;
    *comm = (rb_comm){.size = sizeof *comm, .exchange = exchange, .broadcast = broadcast};
    MPI_Initialized(&running);
    started = !running;
    if (started && MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level)) return false;
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Comm_rank(world, &comm->rank);
    MPI_Comm_size(world, &comm->ranks);
    MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &comm->on_machine);
    MPI_Comm_free(&machine);
    return true;
}

void rb_mpi_end(void) {
    MPI_Comm_free(&world);
    if (started) MPI_Finalize();
}

const rb_mpi_functions *rb_mpi_table(void) {
    static const rb_mpi_functions functions = {sizeof functions, rb_mpi_begin, rb_mpi_end};
    return &functions;
}
