/* rarebit fit METHOD: any iterative method of the library, through its table. */
#include "tool.h"

#include <rarebit/method.h>

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h> /* getentropy, on macOS */
#include <unistd.h>

static const rb_option model_options[] = {
    {OUTPUT_OPTION, "MODEL", "where to write the model (HDF5)", RB_OPTION_COMMON},
    {TEXT_OPTION("init"), "MODEL", "start from this model, with its preprocessing and parameters"},
    {TEXT_OPTION("covariates"), "TABLE",
     "table of covariates for --regress, with a header and sample names, or .h5ad; without it "
     "they come from the data's own file"},
    {TEXT_OPTION("log-json"), "FILE",
     "write a JSON object per iteration: iteration, objective, estep_objective, seconds, and "
     "the metrics of the method"},
    {FLAG_OPTION("strict"),
     "fail when --tolerance, --patience or --parameter-tolerance is given and not met; the "
     "model is still written"},
    {FLAG_OPTION("consensus"),
     "keep the units that recur in many fits (--restarts, 20 unless given), each with its "
     "stability",
     RB_OPTION_COMMON},
    {FLAG_OPTION("details"),
     "also report figures for research: KKT residual, certificate, which E-steps were taken"},
    {FLAG_OPTION("profile"),
     "also report what each phase took: seconds, operations in products of matrices, bytes"},
    {FLAG_OPTION("json"), "print what --profile tells as JSON"},
    {0},
};

/* What a running fit tells. */
typedef struct watch {
    fit_log log;
    int64_t seed;
    bool seed_said;    /* once there is an iteration: a fit that is refused has used none */
    rb_source *source; /* of the fit */
} watch;

static void say_seed(watch *w) {
    if (!w->seed_said) report("seed %lld", (long long)w->seed);
    w->seed_said = true;
}

static rb_error on_progress(const rb_progress *p, void *user) {
    watch *w = user;
    say_seed(w);
    fit_log_iteration(&w->log, p);
    report_progress(p);
    return interrupted() ? RB_ERROR_INTERRUPTED : RB_OK;
}

/* ---- what is recorded ---- */

/* A seed that a person can copy. */
int64_t draw_seed(void) {
    uint32_t seed = 0;
    if (getentropy(&seed, sizeof seed)) seed = (uint32_t)(uintptr_t)&seed;
    return (int64_t)(seed & 0x7FFFFFFF);
}

/* ---- the fit ---- */

/* Every iteration walks over the data: what costs it time each time is said once. */
static void tell_unpacking(const invocation *call, const rb_source *source) {
    const double much = 1 << 26, bytes = (double)rb_source_unpacked(source);
    const char *dataset = option_text(call, "dataset"), *path = call->arguments[0];
    char size[32];
    if (bytes < much) return;
    size_text(bytes, size, sizeof size);
    bool sparse = rb_source_sparse(source), named = dataset && !sparse;
    report("%s is compressed: each pass over the data unpacks %s; for a long fit run first: %s "
           "%s%s%s %sunpacked.%s",
           path, size, sparse ? "h5repack -f NONE" : "rarebit convert", path,
           named ? " --dataset " : "", named ? dataset : "", sparse ? "" : "-o ",
           sparse ? "h5ad" : "h5");
}

static int64_t count_dead(const rb_model *model) {
    int64_t rows = 0, count = 0;
    const double *dead = rb_model_array(model, "dead", &rows, NULL);
    for (int64_t j = 0; dead && j < rows; j++)
        count += dead[j] != 0;
    return count;
}

/* An array of one value; NaN: there is none of that name. */
static double value_of(const rb_model *model, const char *name) {
    int64_t rows = 0, columns = 0;
    const double *array = rb_model_array(model, name, &rows, &columns);
    return array && rows == 1 && columns == 1 ? *array : NAN;
}

/* goes_on: from a checkpoint, whose iterations and their seconds count too. */
static void summarise(const invocation *call, const rb_model *model, bool goes_on) {
    bool details = option_flag(call, "details");
    rb_status status = rb_model_status(model);
    int64_t iterations = rb_model_iterations(model);
    double objective = NAN, seconds = 0, total = 0;
    for (int64_t t = 0; t < iterations; t++) {
        rb_model_history(model, t, &objective, NULL, &seconds);
        total += seconds;
    }
    bool ended = status != RB_STATUS_ITERATIONS;
    double likelihood = value_of(model, "log_likelihood");
    bool likely = isfinite(likelihood);
    const char *moves = rb_model_attribute(model, "estep_wins");
    report("%s: %lld iterations in %.3g s%s%s%s; %s %.6g", call->command->method->name,
           (long long)iterations, total, goes_on ? " over all runs" : "", ended ? ", " : "",
           ended ? rb_status_name(status) : "", likely ? "log likelihood" : "objective",
           likely ? likelihood : objective);
    report("%lld units of %lld features; %lld dead", (long long)rb_model_units(model),
           (long long)rb_model_features(model), (long long)count_dead(model));
    if (moves && details) report("E-steps by the step that was taken: %s", moves);
    const rb_method *method = rb_model_table(model);
    char line[256] = "";
    if (method->summary) method->summary(model, details, line, sizeof line);
    if (*line) report("%s", line);
}

/* The command that comes next, with the data read in the same way. */
static void suggest_next(const invocation *call, const rb_model *model, const char *target) {
    bool modules = rb_modules_possible(model);
    const char *covariates = option_text(call, "covariates");
    char *text = NULL;
    size_t size = 0;
    FILE *line = open_memstream(&text, &size);
    if (!line) return;
    fprintf(line, "%s ", modules ? "modules" : "encode");
    put_word(line, target);
    putc(' ', line);
    put_word(line, call->arguments[0]);
    put_reading(line, call);
    if (covariates) {
        fputs(" --covariates ", line);
        put_word(line, covariates);
    }
    fclose(line);
    report("model in %s; next: rarebit %s -o %s.tsv", target, text, modules ? "modules" : "codes");
    free(text);
}

/* Was a rule asked for that was not met? */
static int check_converged(const invocation *call, const rb_model *model) {
    bool tolerance = !option_is(call, "tolerance", "0"), strict = option_flag(call, "strict");
    bool patience = !option_is(call, "patience", "0");
    bool any = tolerance || patience || !option_is(call, "parameter-tolerance", "0");
    rb_status status = rb_model_status(model);
    if (!any || (status != RB_STATUS_ITERATIONS && status != RB_STATUS_TIME)) return STATUS_DONE;
    report_error("%sthe %s after %lld iterations; raise --%s", strict ? "" : "warning: ",
                 tolerance && !patience ? "objective still changed by more than the tolerance"
                                        : "fit had not converged",
                 (long long)rb_model_iterations(model),
                 status == RB_STATUS_TIME ? "max-time" : "iterations");
    return strict ? STATUS_FAILED : STATUS_DONE;
}

static rb_error load_start(const invocation *call, rb_model **start) {
    const char *init = option_text(call, "init");
    rb_error err = init ? rb_model_load(call->ctx, init, start) : RB_OK;
    if (!err && *start && leaves_missing(call)) err = rb_model_omit_missing(call->ctx, *start);
    return err;
}

/* Fits, and writes the model to out->path. */
static rb_error fit_source(const invocation *call, watch *w, const output *out,
                           const rb_model *start, rb_model **model) {
    watch_begin(call, on_progress, w);
    rb_error err = option_flag(call, "consensus")
                       ? rb_fit_consensus(call->ctx, call->options, w->source, model)
                       : rb_fit(call->ctx, call->options, w->source, start, model);
    processes_parted();
    watch_end(call);       /* what is left is to write the model */
    if (!err) say_seed(w); /* a fit that goes on may have been at its end */
    if (!processes_lead()) return err;
    fit_record record = {call->arguments[0], option_text(call, "init")};
    return err ? err : save_fit(call, *model, &record, out->path);
}

/* A fit that goes on from a checkpoint has its seed, and its log goes on too. */
static rb_error prepare_start(const invocation *call, watch *w) {
    const char *checkpoint = option_text(call, "checkpoint");
    rb_checkpoint_info info = {.size = sizeof info};
    rb_error err = RB_OK;
    if (checkpoint && !option_flag(call, "consensus"))
        err = rb_checkpoint_read(call->ctx, checkpoint, &w->log.goes_on, &info);
    if (!err && !option_was_given(call, "seed")) {
        int64_t drawn = w->log.goes_on ? info.seed : processes_seed();
        err = rb_options_set_integer(call->ctx, call->options, "seed", drawn);
    }
    if (!err && option_text(call, "log-json"))
        err = rb_options_set(call->ctx, call->options, "trace", "true");
    w->seed = option_integer(call, "seed");
    return err;
}

/* Reads, fits and writes the model to out->path. *model is NULL unless there is one. A status after
 * a message. */
static int fit(const invocation *call, watch *w, const output *out, rb_model **model) {
    rb_model *start = NULL;
    fit_files files = {0};
    *model = NULL;
    rb_error err = prepare_start(call, w);
    err = err ? err : load_start(call, &start);
    err = err ? err : read_fit_files(call->ctx, call->options, &files);
    err = err ? err : rb_options_check(call->ctx, call->options, start);
    err = err ? err : open_data(call, NULL, call->arguments[0], &w->source);
    const char *regress =
        start ? rb_model_attribute(start, "regress") : option_text(call, "regress");
    err = err ? err : read_covariates(call, regress, w->source);
    int status =
        err ? report_failure(call->ctx, err) : check_memory(call, w->source, rb_fit_memory);
    if (!status) {
        tell_unpacking(call, w->source);
        status = fit_log_begin(&w->log);
    }
    if (!status) {
        err = fit_source(call, w, out, start, model);
        status = report_failure(call->ctx, err);
    }
    free_fit_files(&files);
    rb_model_free(start);
    return status;
}

/* Fits of the same samples agree on what these have by chance, too. */
static void tell_spare(const invocation *call, const rb_model *model, rb_source *source) {
    rb_modules *modules = NULL;
    int64_t spare = rb_model_units(model);
    bool asked = processes_alone() && rb_model_status(model) != RB_STATUS_STOPPED;
    if (!asked || !rb_modules_possible(model)) return;
    rb_context_on_log(call->ctx, NULL, NULL); /* 'rarebit modules' says it again */
    rb_error err = rb_modules_find(call->ctx, model, source, NULL, &modules);
    rb_context_on_log(call->ctx, report_log, NULL);
    for (int64_t r = 0; !err && r < rb_modules_called(modules); r++)
        spare -= !rb_modules_other_side(modules, r);
    if (!err && spare > 0)
        report("%lld %s (spare or background)", (long long)spare,
               spare == 1 ? "unit is no module" : "units are no modules");
    rb_modules_free(modules);
}

/* What is said and checked once the model is written; what to do next comes last. */
static int finish(const invocation *call, const rb_model *model, const watch *w, const char *target,
                  int logged) {
    if (option_flag(call, "consensus")) {
        report_consensus(model, option_integer(call, "units"));
        tell_spare(call, model, w->source);
    } else {
        summarise(call, model, w->log.goes_on);
    }
    int status = interrupt_status();
    if (rb_model_status(model) == RB_STATUS_STOPPED && option_flag(call, "consensus")) {
        report_error("interrupted after %s fits; the consensus of these was written",
                     rb_model_attribute(model, "consensus_models"));
    } else if (rb_model_status(model) == RB_STATUS_STOPPED) {
        report_error("interrupted after %lld iterations; the model was written",
                     (long long)rb_model_iterations(model));
    } else {
        status = option_flag(call, "consensus") ? STATUS_DONE : check_converged(call, model);
    }
    if (strcmp(target, "-") != 0 && !logged) suggest_next(call, model, target);
    return status ? status : logged;
}

/* What does nothing with a consensus, or nothing without one, is refused. */
static int check_consensus(const invocation *call) {
    static const char *const idle[] = {"init",    "log-json", "strict", "checkpoint-every",
                                       "profile", NULL};
    static const option_group groups[] = {rb_consensus_group, NULL};
    bool wanted = option_flag(call, "consensus");
    int status = wanted ? STATUS_DONE
                        : refuse_options(call, groups,
                                         "does nothing without --consensus; leave it out, or give "
                                         "both");
    if (status) return status;
    for (const char *const *name = idle; *name && wanted; name++) {
        if (option_was_given(call, *name)) {
            return report_usage("--%s cannot be used with --consensus; leave one of them out",
                                *name);
        }
    }
    if (wanted && option_text(call, "checkpoint") && !option_was_given(call, "seed")) {
        return report_usage(
            "--consensus with --checkpoint needs --seed, so that the command resumes with "
            "the same fits");
    }
    return STATUS_DONE;
}

static int begin_profile(const invocation *call) {
    bool profile = option_flag(call, "profile");
    if (!profile && option_flag(call, "json"))
        return report_usage("--json does nothing without --profile; leave it out, or give both");
    return report_failure(call->ctx, rb_context_profile(call->ctx, profile));
}

static int run(invocation *call) {
    const char *target = option_text(call, "output");
    output out;
    const char *log = processes_lead() ? option_text(call, "log-json") : NULL;
    watch w = {.log = {.ctx = call->ctx, .path = log}};
    rb_model *model;
    rb_device *device = NULL;
    int status = check_consensus(call);
    status = status ? status : begin_profile(call);
    status = status ? status : device_begin(call, &device);
    status = status ? status : output_begin(&out, target, "h5");
    if (status) {
        device_end(call, device);
        return status;
    }
    status = fit(call, &w, &out, &model);
    device_end(call, device);
    int logged = fit_log_end(&w.log);
    status = output_end(&out, status);
    if (!status && processes_lead()) {
        remove_checkpoint(option_text(call, "checkpoint"), model);
        int told = report_profile(call);
        status = finish(call, model, &w, target, logged);
        status = status ? status : told;
    }
    rb_source_free(w.source);
    rb_model_free(model);
    return status;
}

const command fit_command = {
    .words = "fit",
    .summary = "fit a model to data",
    .description =
        "Finds hidden units that explain the samples, and writes them as a model. Ctrl-C writes "
        "the model of the last complete iteration; a second Ctrl-C ends at once. With --checkpoint "
        "the same command resumes after an interruption or a crash. With --consensus many fits are "
        "made, and the units that recur become the model.",
    .arguments = {{"DATA",
                   "samples x features: .npy, CSV, TSV, HDF5, AnnData .h5ad, 10x, Matrix Market, "
                   "IDX, PGM or PNG; most also gzipped; several files are joined",
                   false}},
    .output = "MODEL",
    .own = {sizeof(rb_option), "Output", model_options},
    .own_after = 1,
    .groups = {rb_read_group, rb_consensus_group, device_group, general_group},
    .examples =
        {{"A table with a row per feature and a column per sample",
          "fit METHOD table.tsv --transpose -k 10 -o model.h5"},
         {"Counts of single cells: equal totals, log, the 2000 most variable genes",
          "fit METHOD cells.h5ad --totals median --log1p --top-variance 2000 -k 20 -o model.h5"},
         {"The same numbers again, with a log for programs",
          "fit METHOD X.npy -k 50 --iterations 1000 --seed 1 --log-json log.jsonl "
          "-o model.h5"},
         {"Units that recur in twenty fits",
          "fit METHOD X.npy -k 20 --consensus --seed 1 -o model.h5"}},
    .reads = "init prior-mean prior-covariance covariates",
    .writes = "output log-json checkpoint",
    .fixed = {"output", "a model is written as HDF5", ".h5"},
    .drawn = "seed",
    .run = run,
    .together = true,
};
