/* The loop: E-step as passes over the blocks, M-step, objective, history, stop.
 *
 * Generalized alternating minimization (Clevert et al. 2015, Alg. 1): each half step improves the
 * same objective. The loop knows no method: it fills nothing and reads nothing but the table.
 */
#include "em.h"

#include <float.h>
#include <math.h>

/* Consecutive samples: ours, or a batch. */
struct range {
    int64_t first, count;
};

static struct range own_samples(const rb_run *run) {
    return (struct range){run->problem.first, run->problem.own};
}

typedef rb_error (*block_fn)(rb_context *, void *, const rb_block *);

static rb_error add_below(rb_context *ctx, void *below, const rb_block *block) {
    return rb_below_add(ctx, below, block);
}

/* Hands the blocks first .. last - 1 of the samples to fn, in order. */
static rb_error each_block(rb_context *ctx, rb_run *run, struct range samples, int64_t first,
                           int64_t last, void *user, block_fn fn) {
    int64_t size = run->problem.block_samples;
    rb_error err = RB_OK;
    for (int64_t b = first; !err && b < last; b++) {
        int64_t left = samples.count - b * size;
        rb_block block = {0};
        err = rb_feed_read(ctx, run->feed, samples.first + b * size, left < size ? left : size,
                           &block);
        block.own = block.first - run->problem.first;
        err = err ? err : fn(ctx, user, &block);
    }
    return err;
}

static int64_t blocks_of(const rb_run *run, struct range samples) {
    return (samples.count + run->problem.block_samples - 1) / run->problem.block_samples;
}

/* A pass over the samples that adds up the sums of a kind, group by group. Whatever fails in a pass
 * comes together here. */
static rb_error add_up(rb_context *ctx, rb_run *run, struct range samples, void *state,
                       block_fn fn) {
    int64_t blocks = blocks_of(run, samples), groups = run->sums.groups;
    rb_error err = RB_OK;
    for (int64_t g = 0; !err && g < groups; g++) {
        err = each_block(ctx, run, samples, g * blocks / groups, (g + 1) * blocks / groups, state,
                         fn);
        err = err ? err : rb_sums_end_group(&run->sums);
    }
    if (!err) {
        rb_sums_end(&run->sums);
    }
    return err;
}

/* What the method must know of the data before the first iteration. What it cannot explain is said
 * once, not in each restart. */
static rb_error survey(rb_context *ctx, rb_run *run, void *state) {
    struct range all = own_samples(run);
    int64_t groups = rb_sums_groups(&run->sums, &run->problem, RB_PART_SURVEY, all.count);
    rb_error err = rb_sums_begin(&run->sums, RB_PART_SURVEY, groups, true, true);
    if (!err && run->method->survey) {
        err = add_up(ctx, run, all, state, run->method->survey);
    }
    if (!err && run->method->survey_end) {
        err = run->method->survey_end(ctx, state);
    }
    if (!err && run->method->non_negative && !run->below_told) {
        run->below_told = true;
        rb_below below = {0};
        err = each_block(ctx, run, all, 0, blocks_of(run, all), &below, add_below);
        if (!err) {
            rb_below_tell(ctx, &below, run->model->preprocess, run->source, run->method->name);
        }
    }
    return err;
}

/* fresh: of these samples alone, though sums run on over batches. */
static rb_error estep(rb_context *ctx, rb_run *run, struct range samples, bool fresh, void *state) {
    int64_t groups = rb_sums_groups(&run->sums, &run->problem, RB_PART_SUMS, samples.count);
    bool again = true;
    rb_error err = RB_OK;
    for (bool first = true; !err && again; first = false) {
        err = rb_sums_begin(&run->sums, RB_PART_SUMS, groups, first, fresh);
        if (!err && run->method->begin) {
            err = run->method->begin(ctx, state);
        }
        err = err ? err : add_up(ctx, run, samples, state, run->method->block);
        again = false;
        if (!err && run->method->end) {
            err = run->method->end(ctx, state, &again);
        }
    }
    return err;
}

/* Tells the program where the fit stands: RB_ERROR_INTERRUPTED when it asks to stop. */
static rb_error report(rb_context *ctx, const rb_run *run, int64_t iteration, rb_history entry) {
    if (!ctx->on_progress) {
        return RB_OK;
    }
    const rb_fit_options *fit = run->problem.fit;
    int64_t done = run->problem.restart * fit->iterations + iteration;
    int64_t all = fit->restarts * fit->iterations;
    double elapsed = run->now - run->began;
    double remaining = elapsed / (double)(done - run->skipped) * (double)(all - done);
    if (fit->max_time > 0) {
        remaining = fmin(remaining, fmax(0, fit->max_time - elapsed));
    }
    rb_progress progress = {
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
               ? rb_fail(ctx, err, "the progress callback gave %s", rb_error_name(err))
               : err;
}

/* E-step and M-step on every batch; without batches there is one. */
static rb_error pass(rb_context *ctx, rb_run *run, void *state) {
    struct range all = own_samples(run);
    int64_t size = run->shape.batches ? run->problem.batch_samples : all.count;
    rb_error err = RB_OK;
    rb_batches_shuffle(run, run->model->iterations);
    for (int64_t done = 0; !err && done < all.count; done += size) {
        int64_t left = all.count - done;
        struct range batch = {all.first + done, left < size ? left : size};
        err = estep(ctx, run, batch, false, state);
        if (!err && run->method->mstep) {
            err = run->method->mstep(ctx, state);
        }
    }
    return err;
}

/* E-steps and M-steps of a pass; entry gets the objectives. */
static rb_error evaluate(rb_context *ctx, rb_run *run, void *state, rb_history *entry) {
    rb_error err = pass(ctx, run, state);
    if (err) {
        return err;
    }
    run->method->objective(state, &entry->objective, &entry->estep_objective);
    if (run->method->metrics) {
        run->method->metrics(state, entry->metrics);
    }
    if (!isfinite(entry->objective)) {
        return rb_fail(
            ctx, RB_ERROR_NUMERIC,
            "the objective became infinite or NaN; scale the data or take a smaller rate");
    }
    return RB_OK;
}

static rb_error iterate(rb_context *ctx, rb_run *run, void *state, rb_history *entry) {
    double began = rb_seconds();
    rb_stopping_before(run);
    rb_accelerate_before(ctx, run, state);
    rb_error err = evaluate(ctx, run, state, entry);
    err = rb_accelerate_after(ctx, run, state, err, entry);
    run->now = rb_seconds();
    entry->seconds = run->now - began;
    return err;
}

static rb_error iterations(rb_context *ctx, rb_run *run, void *state) {
    rb_model *model = run->model;
    rb_error stop = RB_OK;
    while (!stop && !rb_stopping_asks(run, state, &model->status)) {
        rb_history entry = {0};
        ctx->message[0] = '\0'; /* a method may fail without a message of its own */
        rb_error err = iterate(ctx, run, state, &entry);
        if (err) {
            if (!*rb_context_error(ctx)) {
                rb_fail(ctx, err, "the method '%s' failed without saying why", run->method->name);
            }
            rb_fail_prefix(ctx, "iteration %lld: ", (long long)model->iterations + 1);
            return err;
        }
        err = rb_model_add_history(ctx, model, entry);
        if (err) {
            return err;
        }
        rb_stopping_after(run, state, entry.objective);
        rb_snapshot_take(run, state);
        run->checkpoint.current = false;
        stop = report(ctx, run, model->iterations, entry);
        rb_checkpoint_after(ctx, run, state, stop != RB_OK);
    }
    if (model->status == RB_STATUS_TIME) {
        rb_checkpoint_after(ctx, run, state, true);
    }
    if (stop) {
        model->status = RB_STATUS_STOPPED;
    }
    return stop == RB_ERROR_INTERRUPTED ? RB_OK : stop;
}

static rb_kept number(const char *name, double min, double max, double *value) {
    return (rb_kept){name, RB_KEPT_OTHER, RB_KEPT_FLOAT64, 1, 1, 1, value, min, max};
}

static rb_kept counter(const char *name, int64_t *value) {
    return (rb_kept){name, RB_KEPT_OTHER, RB_KEPT_INTEGER, 1, 1, 1, value, 0, INT32_MAX};
}

rb_error rb_run_keep(rb_run *run, void *state, rb_kept_fn fn, void *user) {
    rb_accelerator *a = &run->accelerator;
    rb_stopping *s = &run->stopping;
    const rb_kept own[] = {
        counter("steps", &a->steps),
        number("longest_step", 1, DBL_MAX, &a->longest),
        {.name = "rejected",
         .type = RB_KEPT_FLAG,
         .rows = 1,
         .columns = 1,
         .stride = 1,
         .values = &a->rejected},
        number("best_objective", -INFINITY, DBL_MAX, &s->best),
        counter("idle_iterations", &s->idle),
        number("last_change", 0, INFINITY, &s->change),
    };
    rb_error err = rb_parts_keep(run->method, &run->shape, state, fn, user);
    if (!err) {
        err = rb_moving_keep(&a->moving, fn, user);
    }
    for (size_t i = 0; !err && i < sizeof own / sizeof *own; i++) {
        err = fn(user, &own[i]);
    }
    return err;
}

/* All that comes before the first iteration, or before the one that a checkpoint leads to. */
static rb_error prepare(rb_context *ctx, rb_run *run, void *state) {
    rb_batches_in_order(run);
    rb_error err = survey(ctx, run, state);
    if (!err) {
        err = rb_accelerate_begin(ctx, run, state);
    }
    if (!err) {
        err = rb_stopping_begin(ctx, run, state);
    }
    if (!err) {
        err = rb_snapshot_new(ctx, run, state);
    }
    if (!err) {
        err = rb_blas_need_memory(ctx, 0); /* once blocks and state have theirs */
    }
    if (!err) {
        err = rb_resume_state(ctx, run, state);
    }
    if (!err && run->model->iterations > 0) {
        rb_snapshot_take(run, state);
    }
    return err;
}

/* The codes of a fit are those of its final parameters. */
static rb_error last_estep(rb_context *ctx, rb_run *run, void *state) {
    if (run->method->last) {
        run->method->last(state);
    }
    rb_batches_in_order(run);
    return estep(ctx, run, own_samples(run), true, state);
}

/* Of a fit that was stopped in the middle of an iteration, or of the last E-step, the last
 * iteration that is whole remains; before the first one of a later restart the restarts before it.
 */
static rb_error go_back(rb_context *ctx, rb_run *run, void *state) {
    bool whole = run->model->iterations > 0 && rb_snapshot_go_back(run, state);
    bool unread = run->checkpoint.found; /* what is there knows more */
    if (!unread && (whole || run->best)) {
        rb_checkpoint_after(ctx, run, whole ? state : NULL, true);
    }
    run->model->status = RB_STATUS_STOPPED;
    return whole ? RB_OK
                 : rb_fail(ctx, RB_ERROR_STOPPED,
                           "stopped before the first iteration was complete: there is no model");
}

rb_error rb_run_loop(rb_context *ctx, rb_run *run) {
    const rb_method *method = run->method;
    void *state = NULL;
    rb_error err = rb_method_start(ctx, &run->problem, run->options, run->start, &state);
    if (err) {
        return err;
    }
    run->now = rb_seconds();
    run->sums = (rb_sums){.ctx = ctx,
                          .method = method,
                          .shape = &run->shape,
                          .state = state,
                          .decay = run->problem.decay};
    err = prepare(ctx, run, state);
    if (!err) {
        err = iterations(ctx, run, state);
    }
    if (!err) {
        err = last_estep(ctx, run, state);
    }
    if (err == RB_ERROR_STOPPED) {
        err = go_back(ctx, run, state);
    }
    rb_accelerate_end(run);
    rb_stopping_end(run);
    rb_snapshot_free(run);
    rb_sums_free(&run->sums);
    if (!err) {
        run->settles = !method->may_stop || method->may_stop(state);
        err = rb_method_store(ctx, &run->problem, run->options, state, run->model);
    }
    rb_method_finish(method, state);
    return err;
}
