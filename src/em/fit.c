/* rb_fit: options, preprocessing, restarts. */
#include "em.h"

#include <rarebit/version.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The options as they will be used, in a copy that belongs to the run. */
static rb_error choose(rb_context *ctx, const rb_options *options, const rb_model *start,
                       rb_run *run) {
    *run = (rb_run){.method = options ? options->method : NULL, .start = start};
    if (!run->method) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the options belong to no method; give one to rb_options_new");
    }
    const char *const *but = start ? run->method->start_options : NULL;
    rb_error err = rb_options_ready(ctx, options, but, &run->chosen);
    bool named = rb_rows_find(run->method->options, "units") != NULL;
    int64_t units = start && start->method == run->method ? rb_model_units(start) : 0;
    if (!err && named && units > 0 && !rb_options_is_set(run->chosen, "units"))
        err = rb_options_set_integer(ctx, run->chosen, "units", units);
    if (!err) {
        run->options = run->chosen->parts[0].fields;
        run->problem.fit = rb_options_fields(run->chosen, &rb_fit_group);
    }
    return err;
}

static const rb_preprocess_options *preprocess_options(const rb_run *run) {
    return rb_options_fields(run->chosen, &rb_preprocess_group);
}

/* Products with sparse blocks take longer than with dense ones from 30 to 43 % on, depending on
 * units and method (docs/measurements/benchmarks.md); dense ones take less memory from 50 % on. */
static const double sparse_share = 0.4;

/* Are most values stored? Not known before the preprocessing is. */
static bool is_full(const rb_run *run, const rb_source *source) {
    double values = (double)source->n_samples * (double)source->n_features;
    return run->preprocess && (double)run->preprocess->n_stored > sparse_share * values;
}

/* Blocks without the effects of covariates are dense. */
static bool is_sparse(const rb_run *run, const rb_source *source) {
    const char *regress =
        run->preprocess ? run->preprocess->options.regress : preprocess_options(run)->regress;
    return source->sparse && !(regress && *regress);
}

/* Fills the problem and its shape. Also settles what options leave to the problem. */
static void describe(rb_context *ctx, rb_run *run, const rb_source *source, int64_t n_features) {
    const rb_method *method = run->method;
    const rb_fit_options *fit = run->problem.fit;
    int64_t n = source->n_samples, batch = fit->batch_size;
    bool sparse = is_sparse(run, source);
    run->problem = (rb_problem){.n_samples = n,
                                .own = n,
                                .n_features = n_features,
                                .type = (rb_type)fit->precision,
                                .decay = 1,
                                .sparse = sparse && !is_full(run, source),
                                .source_sparse = sparse,
                                .fit = fit,
                                .method = method,
                                .batch_samples = batch > 0 && batch < n ? batch : n};
    if (method->resolve) method->resolve(&run->problem, run->chosen->parts[0].fields);
    run->problem.engine = ctx->engine ? ctx->engine : method->engines ? method->engines[0] : NULL;
    run->problem.device = ctx->device;
    run->problem.block_samples = rb_method_block_samples(&run->problem, run->options);
}

/* Groups of samples, whole, go to the processes in order. */
static void share_out(rb_context *ctx, rb_run *run) {
    rb_problem *p = &run->problem;
    int64_t rank = rb_rank(ctx), ranks = rb_ranks(ctx);
    p->groups = rb_sums_groups(p, &run->shape, p->n_samples);
    p->first_group = rb_group_of(p->groups, rank, ranks);
    p->own_groups = rb_group_of(p->groups, rank + 1, ranks) - p->first_group;
    run->whole = run->shape;
    p->own = 0;
    run->none = rb_shape_of(p, run->options);
    p->first = rb_group_first(p, p->first_group);
    p->own = rb_group_first(p, p->first_group + p->own_groups) - p->first;
    run->shape = rb_shape_of(p, run->options);
}

/* ---- what is refused before a sample is read ---- */

/* The matrix of an option, whose name does not say whether it is the same; or NULL. */
static const rb_matrix *matrix_of(const rb_option *row, const void *options) {
    const void *field = (const char *)options + row->offset;
    return row->kind == RB_OPTION_VALUES ? ((const rb_values *)field)->matrix : NULL;
}

/* A method from outside may call its number of units as it likes. */
static rb_error check_units(rb_context *ctx, const rb_run *run) {
    const rb_method *method = run->method;
    int64_t units = rb_model_units(run->start);
    bool named = rb_rows_find(method->options, "units") != NULL;
    const double *values;
    if (named && units == 0)
        return rb_model_need_array(ctx, run->start, "loadings", -1, -1, &values);
    int64_t asked = method->units ? method->units(run->options) : units;
    if (asked == units) return RB_OK;
    return named ? rb_fail(ctx, RB_ERROR_ARGUMENT,
                           "`units` is %lld, but the model to start from has %lld units; leave it "
                           "out",
                           (long long)asked, (long long)units)
                 : rb_fail(ctx, RB_ERROR_ARGUMENT,
                           "the options ask for %lld units, but the model to start from has %lld; "
                           "ask for %lld",
                           (long long)asked, (long long)units, (long long)units);
}

/* A warm start takes its parameters from a model: what would be ignored is refused. */
static rb_error check_start(rb_context *ctx, const rb_run *run) {
    const rb_method *method = run->method, *before = run->start->method;
    if (before != method) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the model to start from is of method '%s', but the fit is of '%s'",
                       before->name, method->name);
    }
    if (!rb_method_takes_start(method)) {
        return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                       "the method '%s' cannot start from a model; leave the model out",
                       method->name);
    }
    rb_error err = check_units(ctx, run);
    if (err) return err;
    if (run->problem.fit->restarts > 1) {
        return rb_fail(
            ctx, RB_ERROR_ARGUMENT,
            "`restarts` is %lld, but all fits that start from a model are the same; leave it at 1",
            (long long)run->problem.fit->restarts);
    }
    for (const char *const *name = method->start_options; name && *name; name++) {
        const rb_option *row = rb_rows_find(method->options, *name);
        const char *old = rb_model_attribute(run->start, *name);
        char scratch[RB_ROW_TEXT];
        const char *value = rb_row_text(row, run->options, scratch);
        const char *usual = row->fallback ? row->fallback : "";
        bool same = old && strcmp(value, old) == 0 && !matrix_of(row, run->options);
        if (strcmp(value, usual) != 0 && !same) {
            return rb_fail(
                ctx, RB_ERROR_ARGUMENT,
                "`%s` is '%s', but a fit that starts from a model ignores it; leave it out", *name,
                value);
        }
    }
    return RB_OK;
}

rb_error rb_refuse_preprocess(rb_context *ctx, const char *option) {
    return rb_fail(ctx, RB_ERROR_ARGUMENT,
                   "`%s` cannot be given with a model to start from, whose preprocessing is taken; "
                   "leave it out",
                   option);
}

/* With a model to start from its preprocessing is taken: options that say something else would do
 * nothing, but that missing values can be left out. What a preset sets is no wish. */
static rb_error check_preprocess(rb_context *ctx, const rb_run *run, const rb_options *given) {
    for (const rb_option *row = rb_preprocess_group.rows; row->name; row++) {
        char scratch[RB_ROW_TEXT];
        const char *value = rb_row_text(row, preprocess_options(run), scratch);
        bool omits = strcmp(row->name, "missing") == 0 && rb_missing_stays(preprocess_options(run));
        const char *old = rb_model_attribute(run->start, row->name);
        bool word = row->word && strcmp(value, row->word) == 0;
        const char *taken = old ? old : row->fallback ? row->fallback : "";
        bool same = strcmp(value, taken) == 0 || strcmp(value, "auto") == 0 ||
                    (word && strcmp(taken, row->fallback) != 0);
        if (!same && !omits && rb_options_is_set(given, row->name))
            return rb_refuse_preprocess(ctx, row->name);
    }
    return RB_OK;
}

static rb_error check(rb_context *ctx, const rb_run *run, const rb_options *given) {
    const rb_model *start = run->start;
    const rb_preprocess_options *p = start ? &start->preprocess->options : preprocess_options(run);
    if (!rb_method_takes(run->method, p)) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "`missing` is '%s', but %s needs all values; choose mean or median",
                       p->missing == RB_MISSING_MODEL ? "model" : "omit", run->method->name);
    }
    rb_error err = start ? check_start(ctx, run) : RB_OK;
    return err || !start ? err : check_preprocess(ctx, run, given);
}

rb_error rb_options_check(rb_context *ctx, const rb_options *options, const rb_model *start) {
    rb_run run;
    rb_error err = choose(ctx, options, start, &run);
    err = err ? err : check(ctx, &run, options);
    rb_options_free(run.chosen);
    return err;
}

/* ---- what the model records ---- */

static rb_error record_number(rb_context *ctx, rb_model *model, const char *name, int64_t value,
                              bool is_checksum) {
    char text[32];
    snprintf(text, sizeof text, is_checksum ? "%08llx" : "%lld", (long long)value);
    return rb_model_set_attribute(ctx, model, name, text);
}

/* Which numbers a file held that an option names: the name alone does not say it. */
static rb_error record_values(rb_context *ctx, rb_model *model, const rb_run *run) {
    rb_error err = RB_OK;
    for (const rb_option *row = run->method->options; !err && row->name; row++) {
        const rb_matrix *matrix = matrix_of(row, run->options);
        if (matrix) {
            uint32_t checksum;
            char name[64];
            snprintf(name, sizeof name, "%s_checksum", row->name);
            err = rb_matrix_checksum(ctx, matrix, &checksum);
            err = err ? err : record_number(ctx, model, name, checksum, true);
        }
    }
    return err;
}

/* The options about the start are those of the model that was started from. */
static rb_error record_start(rb_context *ctx, rb_model *model, const rb_model *start) {
    rb_error err = RB_OK;
    const char *const *name = start ? model->method->start_options : NULL;
    for (; !err && name && *name; name++) {
        const char *value = rb_model_attribute(start, *name);
        err = value ? rb_model_set_attribute(ctx, model, *name, value) : RB_OK;
    }
    return err || !start
               ? err
               : record_number(ctx, model, "start_checksum", rb_model_checksum(start), true);
}

/* What else last digits depend on. */
static rb_error record_machine(rb_context *ctx, rb_model *model) {
    const rb_device *device = ctx->device;
    static const char *const parts[][2] = {
        {"kernels", "kernels"}, {"blas", "blas"}, {"blas_kernels", "blas_core"}};
    rb_error err = RB_OK;
    for (int i = 0; !err && i < 3; i++)
        err = rb_model_set_attribute(ctx, model, parts[i][0], rb_build_info(ctx, parts[i][1]));
    if (!err && device) err = rb_model_set_attribute(ctx, model, "device", device->name);
    return err;
}

/* Records how the model was made. */
static rb_error record(rb_context *ctx, rb_model *model, const rb_run *run) {
    const rb_preprocess *p = model->preprocess;
    const rb_problem *problem = &run->problem;
    const void *const fields[] = {problem->fit, run->options, &p->options};
    const rb_option *rows;
    rb_error err = RB_OK;
    for (int t = 0; !err && (rows = rb_recorded_rows(run->method, t)) != NULL; t++)
        err = rb_model_record_options(ctx, model, rows, fields[t]);
    err = err ? err : record_values(ctx, model, run);
    err = err ? err : record_start(ctx, model, run->start);
    err = err ? err : record_number(ctx, model, "data_checksum", p->checksum, true);
    if (!err && p->regress) {
        uint32_t checksum = rb_regress_checksum(p->regress, run->source);
        err = record_number(ctx, model, "regress_checksum", checksum, true);
    }
    err = err ? err : record_number(ctx, model, "data_samples", problem->n_samples, false);
    err = err ? err
              : rb_model_set_attribute(ctx, model, "data_type",
                                       rb_store_precisions[run->source->type]);
    if (!err && run->shuffled && rb_ranks(ctx) > 1) /* each draws batches of its own */
        err = record_number(ctx, model, "processes", rb_ranks(ctx), false);
    err = err ? err : record_number(ctx, model, "best_restart", problem->restart, false);
    return err ? err : rb_model_set_attribute(ctx, model, "program_version", RB_VERSION);
}

/* ---- restarts ---- */

/* The model of a restart, which records how it is made. */
static rb_error new_model(rb_context *ctx, rb_run *run, int64_t restart) {
    rb_preprocess *copy = rb_preprocess_copy(ctx, run->preprocess);
    if (!copy) return RB_ERROR_MEMORY;
    run->problem.restart = restart;
    rb_error err = rb_model_new(ctx, run->method, run->problem.type, copy, &run->model);
    if (!err && (err = record(ctx, run->model, run)) != RB_OK) rb_model_free(run->model);
    return err;
}

/* Where a checkpoint that is there stands. */
static rb_error resume(rb_context *ctx, rb_run *run, int64_t *restart, rb_model **best) {
    *restart = 0;
    *best = NULL;
    if (!run->checkpoint.found) return RB_OK;
    rb_error err = new_model(ctx, run, 0); /* what the one in the file is compared with */
    if (!err) {
        err = rb_resume_restart(ctx, run, restart, best);
        rb_model_free(run->model);
    }
    return err;
}

static double last_objective(const rb_model *model) {
    return model->history[model->iterations - 1].objective;
}

/* Fits once; *best is the model of the largest objective so far. */
static rb_error fit_once(rb_context *ctx, rb_run *run, int64_t restart, rb_model **best,
                         bool *stopped) {
    rb_error err = rb_comm_agree(ctx, new_model(ctx, run, restart));
    if (err) return err;
    run->best = *best;
    err = rb_run_loop(ctx, run);
    *stopped = err == RB_ERROR_STOPPED;
    if (err) {
        rb_model_free(run->model);
        if (*stopped && *best) {
            (*best)->status = RB_STATUS_STOPPED;
            return RB_OK;
        }
        return err;
    }
    rb_model *made = run->model, *worse = made;
    rb_status status = made->status;
    *stopped = status == RB_STATUS_STOPPED || status == RB_STATUS_TIME;
    bool comparable = !*stopped || run->settles;
    if (!*best || (comparable && last_objective(made) > last_objective(*best))) {
        worse = *best;
        *best = made;
    }
    rb_model_free(worse);
    if (*stopped) (*best)->status = status;
    return RB_OK;
}

static rb_error restarts(rb_context *ctx, rb_run *run, rb_model **best) {
    bool stopped = false;
    int64_t first;
    *best = NULL;
    if (run->restart >= 0) return fit_once(ctx, run, run->restart, best, &stopped);
    rb_error err = resume(ctx, run, &first, best);
    for (int64_t r = first; !err && r < run->problem.fit->restarts && !stopped; r++)
        err = fit_once(ctx, run, r, best, &stopped);
    return err;
}

/* Says what is wrong with a fit that went to its end, to programs that listen: of several processes
 * the first says it, and each looks at its part. */
static void look_back(rb_context *ctx, const rb_model *model, rb_source *source) {
    rb_code_check check;
    bool ended = model->status != RB_STATUS_STOPPED && model->status != RB_STATUS_TIME;
    rb_phase before = rb_phase_begin(ctx, RB_PHASE_CHECK);
    double says = ctx->on_log && ended && rb_rank(ctx) == 0;
    rb_comm_max(ctx, 1, &says);
    if (says > 0 && !rb_model_check(ctx, model, source, &check) && rb_rank(ctx) == 0)
        rb_model_warn(ctx, model, &check);
    rb_phase_end(ctx, before);
}

/* Before a long fit rather than after it. */
static void remark_on_processes(rb_context *ctx, const rb_problem *p) {
    int64_t idle = rb_ranks(ctx) - p->groups;
    if (idle > 0 && rb_rank(ctx) == 0) {
        rb_log(ctx, RB_LOG_WARNING,
               "%lld of the %d processes %s nothing to do: the samples come in %lld group%s, and "
               "each process takes whole ones",
               (long long)idle, rb_ranks(ctx), idle == 1 ? "has" : "have", (long long)p->groups,
               p->groups == 1 ? "" : "s");
    }
}

static void remark_on_units(rb_context *ctx, const rb_run *run) {
    int64_t n = run->problem.n_samples, m = run->problem.n_features, min = rb_smaller(n, m);
    int64_t units = run->method->sparser ? rb_method_units(run->method, run->options) : 0;
    if (units > min) {
        rb_log(ctx, RB_LOG_INFO,
               "there are %lld units, more than the %lld %s: fewer could explain as much",
               (long long)units, (long long)min, n < m ? "samples" : "features");
    }
}

/* Passes in batches come in other orders; all others read the same blocks again and again. */
static rb_error cache_blocks(rb_context *ctx, rb_run *run) {
    double bytes = 0;
    rb_error err = rb_cache_size(ctx, rb_options_fields(run->chosen, &rb_memory_group), &bytes);
    if (!err && !run->shuffled) rb_feed_cache(ctx, run->feed, run->problem.block_samples, bytes);
    return err;
}

static rb_error add_sample(rb_context *ctx, rb_source *source, int64_t sample, double *sum) {
    rb_matrix view;
    uint32_t checksum = 0;
    rb_error err = rb_source_read(ctx, source, sample, 1, &view);
    err = err ? err : rb_matrix_checksum(ctx, &view, &checksum);
    *sum = checksum;
    return err;
}

/* Do all have the same data? Each process reads a part of them: the first and the last sample tell
 * for all of them. */
static rb_error check_same_data(rb_context *ctx, rb_source *source, rb_error err) {
    int64_t n = source->n_samples;
    double told[6] = {(double)n, (double)source->n_features, source->sparse, source->type};
    if (rb_ranks(ctx) == 1) return err;
    if (!err && n > 0) err = add_sample(ctx, source, 0, &told[4]);
    if (!err && n > 0) err = add_sample(ctx, source, n - 1, &told[5]);
    err = rb_comm_agree(ctx, err);
    return err ? err : rb_comm_same(ctx, 6, told, NULL);
}

/* Do all compute in the same way? Else what each decides by itself would not be the same. */
static rb_error check_alike(rb_context *ctx) {
    const char *texts[] = {rb_build_info(ctx, "kernels"), rb_build_info(ctx, "blas"),
                           rb_build_info(ctx, "blas_core")};
    uint32_t sum = 0;
    rb_crc32 crc;
    rb_crc32_prepare(&crc);
    for (int i = 0; i < 3; i++)
        sum = rb_crc32_add(&crc, sum, texts[i], strlen(texts[i]));
    const double machine = sum;
    return rb_comm_same(
        ctx, 1, &machine,
        "the processes compute with different kernels or BLAS, and would not give the same; use "
        "machines of one kind, or choose the same by RAREBIT_KERNEL and RAREBIT_BLAS_CORE");
}

/* What several processes do not do together. */
static rb_error check_processes(rb_context *ctx, const rb_run *run) {
    const rb_problem *p = &run->problem;
    const rb_checkpoint_options *kept = rb_options_fields(run->chosen, &rb_checkpoint_group);
    const rb_conflict conflicts[] = {
        {run->shape.batches && p->batch_samples < rb_ranks(ctx),
         "a batch must have a sample for each process; choose a larger `batch-size`"},
        {p->fit->accelerate != RB_ACCELERATE_NONE && kept->checkpoint,
         "several processes do not keep what acceleration remembers; leave out `accelerate` or "
         "`checkpoint`, or fit in one process"},
        {p->device, "several processes cannot share a device; leave it out, or fit in one process"},
        {0}};
    if (rb_ranks(ctx) == 1) return RB_OK;
    rb_error err = check_alike(ctx);
    err = err ? err : rb_check_conflicts(ctx, conflicts);
    return err ? err : rb_method_check_processes(ctx, p, run->options);
}

/* ---- a fit ---- */

/* Copies of small data cost less than shifts in products. What batches have added up goes on with
 * and without a device, which has no shift. */
static bool leaves_values(const rb_problem *problem) {
    enum { MANY = 1 << 20 };
    bool many = (double)problem->n_samples * (double)problem->n_features >= MANY;
    bool batches = problem->batch_samples < problem->n_samples;
    return problem->shifts && !problem->device && !batches && many;
}

static rb_error fit_source(rb_context *ctx, rb_run *run, rb_model **model) {
    const rb_preprocess *p = run->preprocess;
    rb_source *source = run->source;
    describe(ctx, run, source, p->n_features);
    run->began = rb_seconds();
    run->problem.missing = rb_missing_stays(&p->options) && p->n_filled > 0;
    run->shape = rb_shape_of(&run->problem, run->options);
    share_out(ctx, run);
    rb_error err = rb_method_check_device(ctx, run->method);
    err = err ? err : check_processes(ctx, run);
    err = err ? err : rb_batches_begin(ctx, run, source);
    rb_source *read = run->shuffled ? run->shuffled : source;
    err = err ? err : rb_feed_new(ctx, p, read, run->problem.type, &run->feed);
    if (!err && !run->problem.sparse) rb_feed_fill(run->feed);
    err = err ? err : cache_blocks(ctx, run);
    if (!err && !run->start) { /* the preprocessing was fitted to the source */
        rb_feed_trust(run->feed);
        if (leaves_values(&run->problem)) rb_feed_leave(run->feed);
    }
    if (!err) run->problem.shift = rb_feed_shift(run->feed);
    if (!err && run->restart < 0)
        err = rb_checkpoint_begin(ctx, rb_options_fields(run->chosen, &rb_checkpoint_group), run);
    if (!err) {
        remark_on_processes(ctx, &run->problem);
        remark_on_units(ctx, run);
        err = restarts(ctx, run, model);
        if (!err) rb_options_warn_idle(ctx, run->chosen);
    }
    err = rb_comm_agree(ctx, err ? err : record_machine(ctx, *model));
    rb_checkpoint_end(run);
    rb_feed_free(run->feed);
    rb_source_free(run->shuffled);
    if (!err && run->settles) /* codes of a fit that has hardly begun would only say that */
        look_back(ctx, *model, source);
    return err;
}

/* The preprocessing of the model to start from, for the data at hand. */
static rb_error take_preprocess(rb_context *ctx, const rb_run *run, rb_preprocess **taken) {
    const rb_model *start = run->start;
    rb_source *source = run->source;
    if (source->n_samples == 0)
        return rb_fail(ctx, RB_ERROR_DATA, "there is nothing to fit: no samples");
    double totals = start->preprocess->options.totals;
    if (isinf(preprocess_options(run)->totals) && totals > 0)
        rb_log(ctx, RB_LOG_INFO, "totals: %.10g, as the model has it", totals);
    *taken = rb_preprocess_copy(ctx, start->preprocess);
    rb_error err = rb_comm_agree(ctx, *taken ? RB_OK : RB_ERROR_MEMORY);
    return err ? err : rb_preprocess_renew(ctx, *taken, source, true);
}

static rb_preprocess_options wanted_preprocess(const rb_run *run) {
    rb_preprocess_options wanted = *preprocess_options(run);
    if (wanted.centre == RB_CENTRE_AUTO) wanted.centre = run->method->centre;
    return wanted;
}

static rb_error fit_preprocess(rb_context *ctx, const rb_run *run, rb_preprocess **fitted) {
    rb_preprocess_options wanted = wanted_preprocess(run);
    return rb_preprocess_fit_together(ctx, &wanted, run->source, fitted);
}

rb_error rb_fit_thin(rb_context *ctx, const rb_options *options, bool together, rb_source **source,
                     rb_source **owned) {
    char which[64];
    bool there = rb_options_get(options, "drop-samples", which, sizeof which) >= 0;
    return rb_source_thin(ctx, there ? which : NULL, together, source, owned);
}

/* restart: the only one that is made; below 0: all. */
static rb_error fit(rb_context *ctx, const rb_options *options, rb_source *source,
                    const rb_model *start, int64_t restart, rb_model **model) {
    rb_run run;
    rb_preprocess *fitted = NULL;
    rb_source *kept = NULL;
    *model = NULL;
    ctx->agreed = RB_OK;
    rb_error err = choose(ctx, options, start, &run);
    err = err ? err : check(ctx, &run, options);
    err = check_same_data(ctx, source, err);
    err = err ? err : rb_fit_thin(ctx, run.chosen, true, &source, &kept);
    err = rb_comm_agree(ctx, err);
    if (!err && restart < 0) err = rb_source_tell_same(ctx, source, true);
    err = rb_comm_agree(ctx, err);
    run.source = source;
    run.restart = restart;
    rb_phase before = rb_phase_begin(ctx, RB_PHASE_PREPROCESSING);
    if (!err)
        err = start ? take_preprocess(ctx, &run, &fitted) : fit_preprocess(ctx, &run, &fitted);
    rb_phase_end(ctx, before);
    run.preprocess = fitted;
    err = rb_comm_agree(ctx, err);
    err = err ? err : fit_source(ctx, &run, model);
    rb_preprocess_free(fitted);
    rb_source_free(kept);
    rb_options_free(run.chosen);
    bool stopped = err == RB_ERROR_MEMORY && rb_ranks(ctx) == 1 && rb_asked_to_stop(ctx);
    err = rb_comm_agree(ctx, stopped ? rb_check_stop(ctx) : err);
    ctx->agreed = RB_OK;
    if (err) {
        rb_model_free(*model);
        *model = NULL;
    }
    return err;
}

rb_error rb_fit(rb_context *ctx, const rb_options *options, rb_source *source,
                const rb_model *start, rb_model **model) {
    return fit(ctx, options, source, start, -1, model);
}

rb_error rb_fit_restart(rb_context *ctx, const rb_options *options, rb_source *source,
                        int64_t restart, rb_model **model) {
    return fit(ctx, options, source, NULL, restart, model);
}

rb_error rb_fit_memory(rb_context *ctx, const rb_options *options, const rb_source *source,
                       int64_t *bytes) {
    rb_run run;
    *bytes = 0;
    rb_error err = choose(ctx, options, NULL, &run);
    if (!err) {
        describe(ctx, &run, source, source->n_features);
        rb_preprocess_options wanted = wanted_preprocess(&run);
        run.problem.missing = rb_missing_stays(&wanted);
        run.shape = rb_shape_of(&run.problem, run.options);
        share_out(ctx, &run);
        int64_t before = rb_preprocess_memory(&wanted, source->n_samples, source->n_features);
        *bytes = rb_method_memory(&run.problem, run.options);
        *bytes = before > *bytes ? before : *bytes;
    }
    rb_options_free(run.chosen);
    return err;
}
