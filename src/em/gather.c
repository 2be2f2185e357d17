/* Codes of all processes: brought together in the first one, for a checkpoint, and each process's
 * own taken out of the whole when a fit goes on. Whatever the number of processes, a checkpoint
 * holds what that of one process does. */
#include "em.h"

#include <string.h>

/* The array of that name as this process has it. */
static rb_walk find_own(const rb_run *run, const char *name) {
    rb_walk walk = {.part = run->method->parts};
    bool found = rb_walk_next(&walk, &run->shape, run->state);
    while (found && strcmp(walk.array.name, name) != 0)
        found = rb_walk_next(&walk, &run->shape, run->state);
    return walk;
}

/* Is that size of an array the number of samples? The same answer in all processes. */
static bool counts_samples(const rb_run *run, int dim) {
    return run->none.dims[dim] != run->whole.dims[dim];
}

bool rb_is_shared(const rb_run *run, const rb_kept *whole) {
    const rb_field *field = find_own(run, whole->name).field;
    return rb_ranks(run->sums.ctx) > 1 && field &&
           (counts_samples(run, field->rows) || counts_samples(run, field->columns));
}

/* Samples first .. of the whole array and as many that stand alone: from one to the other. */
static void copy_samples(const rb_run *run, const rb_kept *whole, int64_t first, int64_t count,
                         char *alone, bool out) {
    bool columns = counts_samples(run, find_own(run, whole->name).field->columns);
    int64_t rows = columns ? whole->rows : 1, all = columns ? whole->columns : 0;
    size_t size = rb_kept_size(whole->type), line = (size_t)(columns ? 1 : whole->columns) * size;
    size_t bytes = (size_t)count * line;
    for (int64_t row = 0; row < rows; row++) {
        char *there = (char *)whole->values + (size_t)(row * all + first) * line;
        char *here = alone + (size_t)row * bytes;
        memcpy(out ? here : there, out ? there : here, bytes);
    }
}

/* The samples of a process. */
static int64_t share_of(const rb_run *run, int rank, int ranks, int64_t *first) {
    const rb_problem *p = &run->problem;
    *first = rb_group_first(p, rb_group_of(p->groups, rank, ranks));
    return rb_group_first(p, rb_group_of(p->groups, rank + 1, ranks)) - *first;
}

rb_error rb_gather(rb_context *ctx, const rb_run *run, rb_kept *whole) {
    int ranks = rb_ranks(ctx), rank = rb_rank(ctx);
    int64_t cells = rb_kept_count(whole), samples = run->problem.n_samples, first;
    size_t size = rb_kept_size(whole->type), a_sample = (size_t)(cells / samples) * size;
    const void *own = whole->values;
    int64_t most = 0;
    for (int r = 0; r < ranks; r++) {
        int64_t count = share_of(run, r, ranks, &first);
        most = count > most ? count : most;
    }
    void *share = rb_alloc(ctx, rank == 0 ? most : 0, a_sample);
    whole->values = rb_alloc(ctx, rank == 0 ? cells : 0, size);
    rb_error err = rb_comm_agree(ctx, share && whole->values ? RB_OK : RB_ERROR_MEMORY);
    for (int r = 0; !err && r < ranks; r++) {
        int64_t count = share_of(run, r, ranks, &first);
        void *from = r > 0 && rank == 0 ? share : (void *)own;
        if (r > 0) rb_comm_bring(ctx, r, from, (size_t)count * a_sample);
        if (rank == 0) copy_samples(run, whole, first, count, from, false);
    }
    rb_free(share);
    return err;
}

void rb_take_own(const rb_run *run, const rb_kept *whole) {
    const rb_problem *p = &run->problem;
    if (p->own > 0)
        copy_samples(run, whole, p->first, p->own, find_own(run, whole->name).array.values, true);
}
