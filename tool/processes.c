/* Several processes: a tool that mpirun or srun has started many times works with the others, by
 * the librarebit-mpi of that MPI. The first process talks and writes; the others are silent. */
#include "tool.h"

#include <rarebit/mpi.h>

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const rb_mpi_functions *mpi; /* NULL: one process */
static rb_comm comm;
static int64_t seed; /* drawn by the first one */
static bool parted;  /* all came to the end of the fit */
static bool said;    /* why this one failed */
static int ending = STATUS_FAILED;

static int number_of(const char *variable) {
    const char *text = getenv(variable);
    return text ? atoi(text) : 0;
}

/* How a launcher tells of itself: its processes, which one this is, and the MPI that they need. */
static const struct launcher {
    const char *ranks, *rank, *only_with, *mpi;
} launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", NULL, "openmpi"},
    {"PMI_SIZE", "PMI_RANK", NULL, "mpich"},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "PMIX_RANK", "openmpi"},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "PMI_FD", "mpich"},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", NULL, NULL},
};

static const struct launcher *launcher_of(void) {
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const struct launcher *l = &launchers[i];
        if (number_of(l->ranks) > 1 && (!l->only_with || getenv(l->only_with))) return l;
    }
    return NULL;
}

/* What is wrong with processes that cannot reach each other: the first says it. */
static int refuse(const struct launcher *l) {
    report_silently(number_of(l->rank) > 0);
    if (l->mpi) {
        report_error("%d processes were started, which need librarebit-mpi-%s, and that is not "
                     "beside this rarebit; start one, or build rarebit where that MPI is",
                     number_of(l->ranks), l->mpi);
    } else {
        report_error("srun started %d processes that cannot reach each other; give it --mpi=pmix "
                     "or --mpi=pmi2, or -n 1",
                     number_of(l->ranks));
    }
    return STATUS_FAILED;
}

/* The launcher is of another MPI than the library: each process would be alone. */
static int refuse_other(const struct launcher *l) {
    mpi->end();
    mpi = NULL;
    report_silently(number_of(l->rank) > 0);
    report_error("%d processes were started, but the MPI of librarebit-mpi-%s knows of %d; start "
                 "them by that MPI",
                 number_of(l->ranks), l->mpi, comm.ranks);
    comm = (rb_comm){0};
    return STATUS_FAILED;
}

/* The others may have much to do before they see it. When this one ends, MPI ends them; where
 * several fail, the first of them ends all, and the others have no time to say it again. */
static void failing(void *user, const char *message) {
    enum { PATIENCE = 4, TURNS = 4 };
    char line[1200] = "";
    (void)user;
    if (message && !said)
        snprintf(line, sizeof line, "rarebit: process %d: %s", comm.rank, message);
    interrupt_later(message ? (unsigned)(PATIENCE + comm.rank % TURNS) : 0, line, ending);
}

int processes_begin(rb_context *ctx) {
    const struct launcher *l = launcher_of();
    char name[64];
    if (!l) return STATUS_DONE;
    snprintf(name, sizeof name, "librarebit-mpi-%s", l->mpi ? l->mpi : "");
    mpi = l->mpi ? table_beside(name, "rb_mpi_table") : NULL;
    if (!mpi || mpi->size != sizeof *mpi || !mpi->begin(&comm)) {
        mpi = NULL;
        return refuse(l);
    }
    if (comm.ranks != number_of(l->ranks)) return refuse_other(l);
    report_silently(comm.rank > 0);
    comm.failing = failing;
    seed = draw_seed();
    comm.broadcast(comm.user, 0, sizeof seed, &seed);
    rb_error err = rb_context_set_comm(ctx, &comm);
    return err ? report_failure(ctx, err) : STATUS_DONE;
}

bool processes_lead(void) {
    return comm.rank == 0;
}

bool processes_alone(void) {
    return !mpi;
}

int processes_threads(void) {
    int share = (int)sysconf(_SC_NPROCESSORS_ONLN) / (mpi ? comm.on_machine : 1);
    cpu_set_t bound;
    int own = sched_getaffinity(0, sizeof bound, &bound) ? share : CPU_COUNT(&bound);
    if (!mpi) return 0;
    return share < 1 || own < 1 ? 1 : own < share ? own : share;
}

int64_t processes_seed(void) {
    return mpi ? seed : draw_seed();
}

int processes_check(const invocation *call) {
    if (!mpi || call->command->together) return STATUS_DONE;
    report_error("'%s' works in one process; start it without %s", call->command->words,
                 number_of("SLURM_STEP_NUM_TASKS") ? "srun" : "mpirun");
    return STATUS_USAGE;
}

void processes_parted(void) {
    parted = true;
}

int processes_end(rb_context *ctx, int status) {
    if (!mpi) return status;
    rb_error err = !status                  ? RB_OK
                   : status == STATUS_USAGE ? RB_ERROR_ARGUMENT
                   : interrupted()          ? RB_ERROR_INTERRUPTED
                                            : RB_ERROR_FILE;
    if (status) ending = status;
    said = processes_lead();
    if (err && !said) rb_context_fail(ctx, err, report_last());
    if (!parted && (err = rb_comm_agree(ctx, err)) != RB_OK && !status)
        status = report_failure(ctx, err);
    (void)rb_context_set_comm(ctx, NULL);
    if (status) report_silently(true); /* MPI may end this one now for the other's status */
    mpi->end();
    return status;
}
