/* The loop: E-step as passes over the blocks, M-step, objective, history, stop.
 *
 * Generalized alternating minimization (Clevert et al. 2015, Alg. 1): each half step improves the
 * same objective. The loop knows no method: it fills nothing and reads nothing but the table.
 */
#include "em.h"

#include <float.h>
#include <math.h>

/* Consecutive samples, all or a batch, in groups of blocks: begin .. end - 1 are those of this
 * process. */
struct range {
    int64_t first, count;
    int64_t groups, begin, end;
};

static struct range all_samples(const rb_run *run) {
    const rb_problem *p = &run->problem;
    return (struct range){0, p->n_samples, p->groups, p->first_group,
                          p->first_group + p->own_groups};
}

/* What this process has of a batch, of so many: whole batches where it is the only one. */
static struct range batch_of(const rb_run *run, int64_t batch, int64_t batches) {
    const rb_problem *p = &run->problem;
    bool alone = p->own == p->n_samples;
    int64_t first = alone ? batch * p->batch_samples : p->own * batch / batches;
    int64_t end = alone ? first + p->batch_samples : p->own * (batch + 1) / batches;
    int64_t count = rb_smaller(end, p->own) - first;
    int64_t groups = rb_sums_groups(p, &run->shape, count);
    return (struct range){p->first + first, count, groups, 0, groups};
}

typedef rb_error (*block_fn)(rb_context *ctx, rb_run *run, const rb_block *block);

/* Hands the blocks of a group to fn, in order. */
static rb_error each_block(rb_context *ctx, rb_run *run, struct range samples, int64_t group,
                           block_fn fn) {
    int64_t size = run->problem.block_samples;
    int64_t first = rb_group_block(samples.count, size, samples.groups, group);
    int64_t last = rb_group_block(samples.count, size, samples.groups, group + 1);
    rb_error err = RB_OK;
    for (int64_t b = first; !err && b < last; b++) {
        int64_t at = samples.first + b * size, count = rb_smaller(samples.count - b * size, size);
        rb_block block = {.first = at, .n_samples = count, .n_features = run->problem.n_features};
        if (run->sums.kind == RB_PART_SURVEY || rb_method_reads(run->method, run->state))
            err = rb_feed_read(ctx, run->feed, at, count, &block);
        else
            err = rb_check_stop(ctx);
        block.own = block.first - run->problem.first;
        err = err ? err : fn(ctx, run, &block);
    }
    return err;
}

/* A pass over the samples that adds up the sums of a kind, group by group. Whatever fails in a pass
 * comes together here, also that of other processes. */
static rb_error add_up(rb_context *ctx, rb_run *run, struct range samples, block_fn fn) {
    rb_error err = RB_OK;
    for (int64_t g = samples.begin; !err && g < samples.end; g++) {
        err = each_block(ctx, run, samples, g, fn);
        if (!err && run->sums.kind == RB_PART_SUMS)
            err = rb_method_group_end(ctx, run->method, run->state);
        err = err ? err : rb_sums_end_group(&run->sums);
    }
    err = rb_comm_agree(ctx, err ? err : rb_sums_close(&run->sums));
    if (!err) rb_sums_end(&run->sums);
    return err;
}

static rb_error survey_block(rb_context *ctx, rb_run *run, const rb_block *block) {
    const rb_method *method = run->method;
    rb_error err = method->survey ? method->survey(ctx, run->state, block) : RB_OK;
    return err || !run->below ? err : rb_below_add(ctx, run->below, block);
}

/* Is all that is asked for known from the preprocessing? */
static rb_error is_known(rb_context *ctx, rb_run *run, bool *known) {
    *known = !run->method->survey && !run->below;
    if (*known || run->below || !rb_sums_are_squares(&run->sums)) return RB_OK;
    double *squares = rb_alloc(ctx, run->problem.n_features, sizeof *squares);
    *known = squares && rb_feed_squares(run->feed, squares);
    if (*known) rb_sums_fill_squares(&run->sums, squares);
    rb_free(squares);
    return squares ? RB_OK : RB_ERROR_MEMORY;
}

/* What the method must know of the data before the first iteration. What it cannot explain is said
 * once, not in each restart. */
static rb_error survey(rb_context *ctx, rb_run *run) {
    const rb_method *method = run->method;
    struct range all = all_samples(run);
    rb_below below = {0};
    bool known;
    run->below = method->non_negative && !run->below_told ? &below : NULL;
    rb_error err = rb_sums_begin(&run->sums, RB_PART_SURVEY, all.groups, true, true);
    err = err ? err : is_known(ctx, run, &known);
    if (!err && !known) err = add_up(ctx, run, all, survey_block);
    if (!err && run->below) rb_below_join(ctx, run->below);
    if (!err && method->survey_end) err = method->survey_end(ctx, run->state);
    if (!err && run->below) {
        run->below_told = true;
        rb_method_tell_below(ctx, method, &below, run->preprocess, run->source);
    }
    run->below = NULL;
    return err;
}

static rb_error estep_block(rb_context *ctx, rb_run *run, const rb_block *block) {
    return run->method->block(ctx, run->state, block);
}

/* fresh: of these samples alone, though sums run on over batches. */
static rb_error estep(rb_context *ctx, rb_run *run, struct range samples, bool fresh) {
    const rb_method *method = run->method;
    bool again = true;
    rb_error err = RB_OK;
    for (bool first = true; !err && again; first = false) {
        int64_t groups = rb_method_adds(method, run->state) ? samples.groups : 0;
        again = false;
        err = rb_sums_begin(&run->sums, RB_PART_SUMS, groups, first, fresh);
        if (!err && method->begin) err = method->begin(ctx, run->state);
        err = rb_comm_agree(ctx, err);
        err = err ? err : add_up(ctx, run, samples, estep_block);
        if (!err && method->end) err = rb_comm_agree(ctx, method->end(ctx, run->state, &again));
    }
    return err;
}

/* Tells the program where the fit stands: RB_ERROR_INTERRUPTED when it asks to stop. */
static rb_error report(rb_context *ctx, const rb_run *run, int64_t iteration, rb_history entry) {
    if (!ctx->on_progress) return RB_OK;
    const rb_fit_options *fit = run->problem.fit;
    int64_t done = run->problem.restart * fit->iterations + iteration;
    int64_t all = fit->restarts * fit->iterations;
    double elapsed = run->elapsed;
    double remaining = elapsed / (double)(done - run->skipped) * (double)(all - done);
    if (fit->max_time > 0) remaining = fmin(remaining, fmax(0, fit->max_time - elapsed));
    rb_progress progress = {
        .what = "iteration",
        .iteration = done,
        .iterations = all,
        .objective = entry.objective,
        .estep_objective = entry.estep_objective,
        .seconds = entry.seconds,
        .elapsed = elapsed,
        .remaining = remaining,
        .metric_names = run->method->metric_names,
        .metrics = entry.metrics,
    };
    int64_t failures = ctx->failures;
    rb_error err = ctx->on_progress(&progress, ctx->progress_user);
    return err && err != RB_ERROR_INTERRUPTED && ctx->failures == failures
               ? rb_fail(ctx, err, "the progress callback returned %s", rb_error_name(err))
               : err;
}

/* E-step and M-step on every batch; without batches there is one. */
static rb_error pass(rb_context *ctx, rb_run *run) {
    int64_t all = run->problem.n_samples, size = run->problem.batch_samples;
    int64_t batches = run->shape.batches ? (all + size - 1) / size : 1;
    rb_error err = RB_OK;
    rb_batches_shuffle(run, run->model->iterations);
    for (int64_t b = 0; !err && b < batches; b++) {
        struct range batch = run->shape.batches ? batch_of(run, b, batches) : all_samples(run);
        rb_phase before = rb_phase_begin(ctx, RB_PHASE_ESTEP);
        err = estep(ctx, run, batch, false);
        rb_phase_begin(ctx, RB_PHASE_MSTEP);
        if (!err && run->method->mstep) err = run->method->mstep(ctx, run->state);
        rb_phase_end(ctx, before);
    }
    return err;
}

/* E-steps and M-steps of a pass; entry gets the objectives. */
static rb_error evaluate(rb_context *ctx, rb_run *run, rb_history *entry) {
    rb_error err = pass(ctx, run);
    if (err) return err;
    run->method->objective(run->state, &entry->objective, &entry->estep_objective);
    if (run->method->metrics) run->method->metrics(run->state, entry->metrics);
    return isfinite(entry->objective) ? RB_OK
                                      : rb_fail(ctx, RB_ERROR_NUMERIC,
                                                "the objective became infinite or NaN; scale the "
                                                "data or take a smaller `rate`");
}

/* The clock of the first process counts. */
static void read_clock(rb_context *ctx, rb_run *run, double began, double *seconds) {
    double now = rb_seconds(), both[] = {now - run->began, now - began};
    rb_comm_broadcast(ctx, 0, both, sizeof both);
    run->elapsed = both[0];
    *seconds = both[1];
}

static rb_error iterate(rb_context *ctx, rb_run *run, rb_history *entry) {
    double began = rb_seconds();
    ctx->message[0] = '\0'; /* a method may fail without a message of its own */
    rb_moving_save(&run->stopping.parameters, 0);
    rb_accelerate_before(ctx, run);
    rb_error err = evaluate(ctx, run, entry);
    err = rb_comm_agree(ctx, rb_accelerate_after(ctx, run, err, entry));
    read_clock(ctx, run, began, &entry->seconds);
    if (err && !*rb_context_error(ctx))
        rb_fail(ctx, err, "the method '%s' failed without saying why", run->method->name);
    if (err) rb_fail_prefix(ctx, "iteration %lld: ", (long long)run->model->iterations + 1);
    return rb_comm_agree(ctx, err ? err : rb_model_add_history(ctx, run->model, *entry));
}

static rb_error iterations(rb_context *ctx, rb_run *run) {
    rb_model *model = run->model;
    rb_error stop = RB_OK;
    while (!stop && !rb_stopping_asks(run, &model->status)) {
        rb_history entry = {0};
        rb_error err = iterate(ctx, run, &entry);
        if (err) return err;
        rb_stopping_after(run, entry.objective);
        rb_snapshot_take(run);
        run->checkpoint.current = false;
        stop = rb_comm_agree(ctx, report(ctx, run, model->iterations, entry));
        rb_checkpoint_after(ctx, run, stop != RB_OK);
    }
    if (model->status == RB_STATUS_TIME) rb_checkpoint_after(ctx, run, true);
    if (stop) model->status = RB_STATUS_STOPPED;
    if (stop == RB_ERROR_INTERRUPTED) ctx->agreed = RB_OK;
    return stop == RB_ERROR_INTERRUPTED ? RB_OK : stop;
}

rb_error rb_run_keep(rb_run *run, bool whole, rb_kept_fn fn, void *user) {
    rb_accelerator *a = &run->accelerator;
    rb_stopping *s = &run->stopping;
    const rb_kept own[] = {
        {"steps", 0, RB_KEPT_INTEGER, 1, 1, &a->steps, 0, INT32_MAX},
        {"longest_step", 0, RB_KEPT_FLOAT64, 1, 1, &a->longest, 1, DBL_MAX},
        {"rejected", 0, RB_KEPT_FLAG, 1, 1, &a->rejected, 0, 1},
        {"best_objective", 0, RB_KEPT_FLOAT64, 1, 1, &s->best, -INFINITY, DBL_MAX},
        {"idle_iterations", 0, RB_KEPT_INTEGER, 1, 1, &s->idle, 0, INT32_MAX},
        {"last_change", 0, RB_KEPT_FLOAT64, 1, 1, &s->change, 0, INFINITY},
    };
    const rb_shape *shape = whole ? &run->whole : &run->shape;
    rb_error err = rb_parts_keep(run->method, shape, run->state, fn, user);
    err = err ? err : rb_moving_keep(&a->moving, fn, user);
    for (size_t i = 0; !err && i < sizeof own / sizeof *own; i++)
        err = fn(user, &own[i]);
    return err;
}

/* All that comes before the first iteration, or before the one that a checkpoint leads to. */
static rb_error prepare(rb_context *ctx, rb_run *run) {
    rb_batches_in_order(run);
    rb_error err = survey(ctx, run);
    err = err ? err : rb_accelerate_begin(ctx, run);
    err = err ? err : rb_stopping_begin(ctx, run);
    err = err ? err : rb_snapshot_new(ctx, run);
    err = err ? err : rb_blas_need_memory(ctx, 0); /* once blocks and state have theirs */
    err = err ? err : rb_resume_state(ctx, run);
    if (!err && run->model->iterations > 0) rb_snapshot_take(run);
    return err;
}

/* The codes of a fit are those of its final parameters. */
static rb_error last_estep(rb_context *ctx, rb_run *run) {
    if (run->method->last) run->method->last(run->state);
    rb_batches_in_order(run);
    rb_phase before = rb_phase_begin(ctx, RB_PHASE_LAST);
    rb_error err = estep(ctx, run, all_samples(run), true);
    rb_phase_end(ctx, before);
    return err;
}

/* Of a fit that was stopped in the middle of an iteration, or of the last E-step, the last
 * iteration that is whole remains; before the first one of a later restart the restarts before it.
 */
static rb_error go_back(rb_context *ctx, rb_run *run) {
    ctx->agreed = RB_OK; /* and dealt with */
    bool whole = run->model->iterations > 0 && rb_snapshot_go_back(run);
    bool unread = run->checkpoint.found; /* what is there knows more */
    if (!unread && (whole || run->best)) rb_checkpoint_after(ctx, run, true);
    run->model->status = RB_STATUS_STOPPED;
    return whole ? RB_OK
                 : rb_fail(ctx, RB_ERROR_STOPPED,
                           "stopped before the first iteration was complete; there is no model");
}

rb_error rb_run_loop(rb_context *ctx, rb_run *run) {
    const rb_method *method = run->method;
    run->state = NULL;
    rb_error err = rb_method_start(ctx, &run->problem, run->options, run->start, &run->state);
    err = rb_comm_agree(ctx, err);
    if (err) return err;
    run->elapsed = rb_seconds() - run->began;
    run->sums = (rb_sums){.ctx = ctx,
                          .method = method,
                          .shape = &run->shape,
                          .state = run->state,
                          .decay = run->problem.decay};
    err = rb_comm_agree(ctx, prepare(ctx, run));
    err = err ? err : iterations(ctx, run);
    err = err ? err : last_estep(ctx, run);
    if (err == RB_ERROR_STOPPED) err = go_back(ctx, run);
    rb_moving_free(&run->accelerator.moving);
    rb_moving_free(&run->stopping.parameters);
    rb_snapshot_free(run);
    rb_sums_free(&run->sums);
    if (!err) {
        run->settles = rb_may_stop(run);
        rb_phase before = rb_phase_begin(ctx, RB_PHASE_STORING);
        err = rb_comm_agree(
            ctx, rb_method_store(ctx, &run->problem, run->options, run->state, run->model));
        rb_phase_end(ctx, before);
    }
    rb_method_finish(method, run->state);
    return err;
}
