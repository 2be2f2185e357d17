/* rarebit fit METHOD: any iterative method of the library, through its table. */
#include "fit_log.h"
#include "tool.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

typedef struct model_options {
    const char *output;
    const char *init;
    const char *log_json;
    bool strict;
} model_options;

static const rb_option *model_option_table(void) {
    static const rb_option table[] = {
        {"output", 'o', RB_OPTION_TEXT, offsetof(model_options, output), NULL, 0, 0, NULL, "MODEL",
         "where to write the model (HDF5)", RB_OPTION_COMMON},
        {"init", 0, RB_OPTION_TEXT, offsetof(model_options, init), NULL, 0, 0, NULL, "MODEL",
         "go on from this model: its preprocessing and parameters are taken"},
        {"log-json", 0, RB_OPTION_TEXT, offsetof(model_options, log_json), NULL, 0, 0, NULL, "FILE",
         "write a JSON object for each iteration: iteration, objective, estep_objective, "
         "seconds, and what else the method tells of it"},
        {"strict", 0, RB_OPTION_FLAG, offsetof(model_options, strict), "false", 0, 0, NULL, NULL,
         "fail when --tolerance, --patience or --parameter-tolerance is given and not met; the "
         "model is "
         "written all the same"},
        {0},
    };
    return table;
}

/* What a running fit tells. */
typedef struct watch {
    fit_log log;
    int64_t seed;
    bool seed_said; /* once there is an iteration: a fit that is refused has used none */
} watch;

static void say_seed(watch *w) {
    if (!w->seed_said) {
        report("seed %lld", (long long)w->seed);
    }
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
static int64_t draw_seed(void) {
    uint32_t seed = 0;
    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed) {
        seed = (uint32_t)(uintptr_t)&seed;
    }
    return (int64_t)(seed & 0x7FFFFFFF);
}

/* Does a shell read the word as it stands? */
static bool plain_word(const char *word) {
    const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
    return *word && strspn(word, plain) == strlen(word);
}

/* The command line, quoted so that a shell reads it back; free it. */
static char *command_line(int argc, char **argv) {
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (!file) {
        return NULL;
    }
    fputs("rarebit", file);
    for (int i = 1; i < argc; i++) {
        putc(' ', file);
        bool plain = plain_word(argv[i]);
        fputs(plain ? "" : "'", file);
        for (const char *c = argv[i]; *c; c++) {
            if (*c == '\'') {
                fputs("'\\''", file);
            } else {
                putc(*c, file);
            }
        }
        fputs(plain ? "" : "'", file);
    }
    fclose(file);
    return text;
}

/* ---- the fit ---- */

/* "11 MB", "1.2 GB" */
static void size_text(double bytes, char *buffer, size_t size) {
    static const char *const units[] = {"MB", "GB", "TB"};
    double value = bytes * 1e-6;
    int unit = 0;
    for (; unit < 2 && value >= 1000; unit++) {
        value *= 1e-3;
    }
    if (value > 1000) {
        snprintf(buffer, size, "more than 1000 TB");
    } else {
        snprintf(buffer, size, "%.*f %s", value < 10, value, units[unit]);
    }
}

static double machine_memory(void) {
    return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

/* Says what a large fit will need, and refuses what the machine does not have; data that are read
 * block by block count in full. A status after a message. */
static int check_memory(const invocation *call, const rb_source *source) {
    const rb_method *method = call->command->method;
    int64_t bytes = 0;
    rb_error err = rb_fit_memory(call->ctx, method->name, options_of(call, method->options),
                                 options_of(call, rb_fit_option_table()), source, &bytes);
    double value = rb_source_type(source) == RB_FLOAT32 ? sizeof(float) : sizeof(double);
    double data = (double)rb_source_samples(source) * (double)rb_source_features(source) * value;
    if (rb_source_sparse(source)) {
        data = 0; /* as little as the file says */
    }
    char needed[32], given[32], there[32];
    size_text((double)bytes, needed, sizeof needed);
    size_text(data, given, sizeof given);
    size_text(machine_memory(), there, sizeof there);
    if (err) {
        return report_failure(call->ctx, err);
    }
    if ((double)bytes > machine_memory()) {
        report_error("the fit would need %s of memory, and this machine has %s; ask for fewer "
                     "--units",
                     needed, there);
        return STATUS_FAILED;
    }
    if ((double)bytes + data > 1e9) {
        report("about %s of memory will be needed, besides %s of data", needed, given);
    }
    return STATUS_DONE;
}

/* Every iteration walks over the data: what costs it time each time is said once. */
static void tell_unpacking(const invocation *call, const rb_source *source) {
    const double much = 1 << 26;
    const rb_read_options *reading = options_of(call, rb_read_option_table());
    const char *path = call->arguments[0];
    double bytes = (double)rb_source_unpacked(source);
    char size[32];
    size_text(bytes, size, sizeof size);
    if (bytes < much) {
        return;
    }
    if (rb_source_sparse(source)) {
        report(
            "%s is compressed: each pass over the data unpacks %s; if the fit takes long, first: "
            "h5repack -f NONE %s unpacked.h5ad",
            path, size, path);
    } else {
        report(
            "%s is compressed: each pass over the data unpacks %s; if the fit takes long, first: "
            "rarebit convert %s%s%s -o unpacked.h5",
            path, size, path, reading->dataset ? " --dataset " : "",
            reading->dataset ? reading->dataset : "");
    }
}

static int64_t count_dead(const rb_model *model) {
    int64_t rows = 0, count = 0;
    const double *dead = rb_model_array(model, "dead", &rows, NULL);
    for (int64_t j = 0; dead && j < rows; j++) {
        count += dead[j] != 0;
    }
    return count;
}

/* What a model with binary causes has learned of noise and prior. */
static void summarise_causes(const rb_model *model) {
    int64_t last = rb_model_iterations(model) - 1;
    double sigma = NAN, prior;
    const char *count = rb_model_attribute(model, "count");
    char noise[64] = "";
    if (rb_model_figure(model, last, "prior", &prior) != RB_OK) {
        return;
    }
    if (rb_model_figure(model, last, "sigma", &sigma) == RB_OK && isfinite(sigma)) {
        snprintf(noise, sizeof noise, "sigma %.3g, ", sigma);
    }
    if (count && strcmp(count, "0") != 0) {
        report("%sexactly %s causes a sample", noise, count);
    } else {
        report("%sprior %.3g (%.3g causes a sample)", noise, prior,
               prior * (double)rb_model_units(model));
    }
}

/* goes_on: from a checkpoint, whose iterations and their seconds count too. */
static void summarise(const rb_model *model, const char *method_name, bool goes_on) {
    rb_status status = rb_model_status(model);
    int64_t iterations = rb_model_iterations(model);
    double objective = NAN, total = 0;
    for (int64_t t = 0; t < iterations; t++) {
        double estep, seconds;
        if (rb_model_history(model, t, &objective, &estep, &seconds) == RB_OK) {
            total += seconds;
        }
    }
    bool ended = status != RB_STATUS_ITERATIONS;
    const double *likelihood = rb_model_array(model, "log_likelihood", NULL, NULL);
    report("%s: %lld iterations in %.3g s%s%s%s; %s %.6g", method_name, (long long)iterations,
           total, goes_on ? " over all runs" : "", ended ? ", " : "",
           ended ? rb_status_name(status) : "", likelihood ? "log likelihood" : "objective",
           likelihood ? *likelihood : objective);
    report("%lld units of %lld features; %lld dead", (long long)rb_model_units(model),
           (long long)rb_model_features(model), (long long)count_dead(model));
    summarise_causes(model);
    if (rb_model_attribute(model, "estep_wins")) {
        report("E-steps by what moved the codes: %s", rb_model_attribute(model, "estep_wins"));
    }
    const double *residual = rb_model_array(model, "kkt_residual", NULL, NULL);
    const double *certificate = rb_model_array(model, "certificate", NULL, NULL);
    if (residual && certificate) {
        report("KKT residual %.3g, certificate %.3g", *residual, *certificate);
    }
}

/* The command that comes next, with the data read in the same way. */
static void suggest_next(const invocation *call, const rb_model *model, const char *target) {
    const rb_read_options *reading = options_of(call, rb_read_option_table());
    char options[512] = "";
    size_t used = 0;
    for (const rb_option *row = rb_read_option_table(); row->name && used < sizeof options; row++) {
        if (option_was_given(call, row->name)) {
            char value[256];
            rb_options_get(row, reading, value, sizeof value);
            bool flag = row->kind == RB_OPTION_FLAG;
            bool off = flag && strcmp(value, "false") == 0;
            used +=
                (size_t)snprintf(options + used, sizeof options - used, " --%s%s%s%s",
                                 off ? "no-" : "", row->name, flag ? "" : " ", flag ? "" : value);
        }
    }
    bool modules = rb_modules_possible(model);
    const char *next = modules ? "modules" : "encode";
    const char *result = modules ? "modules" : "codes";
    report("model in %s; next: rarebit %s %s %s%s -o %s.tsv", target, next, target,
           call->arguments[0], options, result);
}

static rb_error save(const invocation *call, rb_model *model, const char *path) {
    char *line = command_line(call->argc, call->argv);
    rb_error err = line ? rb_model_set_attribute(call->ctx, model, "command_line", line) : RB_OK;
    free(line);
    return err ? err : rb_model_save(call->ctx, model, path);
}

/* Was a rule asked for that was not met? */
static int check_converged(const invocation *call, const rb_model *model) {
    const rb_fit_options *fit = options_of(call, rb_fit_option_table());
    const model_options *options = options_of(call, model_option_table());
    bool any = fit->tolerance > 0 || fit->patience > 0 || fit->parameter_tolerance > 0;
    rb_status status = rb_model_status(model);
    if (!any || (status != RB_STATUS_ITERATIONS && status != RB_STATUS_TIME)) {
        return STATUS_DONE;
    }
    const char *prefix = options->strict ? "" : "warning: ";
    long long iterations = (long long)rb_model_iterations(model);
    bool more_time = status == RB_STATUS_TIME;
    if (fit->tolerance > 0 && fit->patience == 0) {
        report_error("%sthe objective still changed by more than the tolerance after %lld "
                     "iterations; raise --%s",
                     prefix, iterations, more_time ? "max-time" : "iterations");
    } else {
        report_error("%sthe fit had not settled after %lld iterations; raise --%s", prefix,
                     iterations, more_time ? "max-time" : "iterations");
    }
    return options->strict ? STATUS_FAILED : STATUS_DONE;
}

static rb_error load_start(const invocation *call, rb_model **start) {
    const model_options *options = options_of(call, model_option_table());
    const rb_preprocess_options *preprocess = options_of(call, rb_preprocess_option_table());
    rb_error err = options->init ? rb_model_load(call->ctx, options->init, start) : RB_OK;
    if (!err && *start && preprocess->missing == RB_MISSING_OMIT) {
        err = rb_model_omit_missing(call->ctx, *start);
    }
    return err;
}

static rb_values *values_of(const rb_option *row, void *options) {
    return (rb_values *)((char *)options + row->offset);
}

/* Reads the files that options name in place of a number. */
static rb_error read_values(const invocation *call) {
    const rb_option *table = call->command->method->options;
    rb_error err = RB_OK;
    for (const rb_option *row = table; !err && row->name; row++) {
        rb_values *values =
            row->kind == RB_OPTION_VALUES ? values_of(row, options_of(call, table)) : NULL;
        if (values && values->file) {
            rb_matrix *matrix = NULL;
            err = rb_read(call->ctx, values->file, NULL, &matrix);
            values->matrix = matrix;
        }
    }
    return err;
}

static void free_values(const invocation *call) {
    const rb_option *table = call->command->method->options;
    for (const rb_option *row = table; row->name; row++) {
        if (row->kind == RB_OPTION_VALUES) {
            rb_values *values = values_of(row, options_of(call, table));
            rb_matrix_free((rb_matrix *)values->matrix);
            values->matrix = NULL;
        }
    }
}

/* Fits, and writes the model to out->path. */
static rb_error fit_source(const invocation *call, watch *w, const output *out, rb_source *source,
                           const rb_model *start, rb_model **model) {
    const rb_method *method = call->command->method;
    interrupt_gently(call->ctx);
    rb_context_on_progress(call->ctx, on_progress, w);
    rb_error err = rb_fit(call->ctx, method->name, options_of(call, method->options),
                          options_of(call, rb_fit_option_table()),
                          options_of(call, rb_preprocess_option_table()), source, start, model);
    interrupt_gently(NULL); /* what is left is to write the model */
    rb_context_on_progress(call->ctx, NULL, NULL);
    report_progress_end();
    if (!err) {
        say_seed(w); /* a fit that goes on may have been at its end */
    }
    return err ? err : save(call, *model, out->path);
}

/* Is the option about the start of a fit, which --init brings? */
static bool comes_with_init(const invocation *call, const char *name) {
    const model_options *options = options_of(call, model_option_table());
    const char *const *start = call->command->method->start_options;
    for (; options->init && start && *start; start++) {
        if (strcmp(*start, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Options that are not given take the value that they have in `from`. */
static rb_error take_others(const invocation *call, const rb_option *table, const void *from) {
    char value[64];
    rb_error err = RB_OK;
    for (const rb_option *row = table; !err && row->name; row++) {
        if (!option_was_given(call, row->name) && !comes_with_init(call, row->name)) {
            rb_options_get(row, from, value, sizeof value);
            err = rb_options_set(call->ctx, table, options_of(call, table), row->name, value);
        }
    }
    return err;
}

static rb_error apply_preset(const invocation *call) {
    rb_rfn_options *rfn = options_of(call, rb_rfn_option_table());
    if (rfn && rfn->target_sparseness > 0 && !option_was_given(call, "preset")) {
        rfn->preset = RB_RFN_PRESET_SPARSE;
    }
    if (!rfn || rfn->preset == RB_RFN_PRESET_NONE) {
        return RB_OK;
    }
    rb_rfn_options preset;
    rb_fit_options fit;
    rb_rfn_options_default(&preset);
    rb_fit_options_default(&fit);
    rb_rfn_use_preset((rb_rfn_preset)rfn->preset, &preset, &fit);
    if (((const model_options *)options_of(call, model_option_table()))->init) {
        report("of the preset, psi-init, weight-init and prior are those of the model that is gone "
               "on from");
    }
    rb_error err = take_others(call, rb_rfn_option_table(), &preset);
    return err ? err : take_others(call, rb_fit_option_table(), &fit);
}

static const rb_checkpoint_options *checkpoint_of(const invocation *call) {
    return options_of(call, rb_checkpoint_option_table());
}

/* A fit that goes on from a checkpoint has its seed, and its log goes on too. */
static rb_error prepare_start(const invocation *call, watch *w) {
    rb_fit_options *options = options_of(call, rb_fit_option_table());
    rb_checkpoint_info info = {0};
    rb_error err = RB_OK;
    if (checkpoint_of(call)->checkpoint) {
        err =
            rb_checkpoint_read(call->ctx, checkpoint_of(call)->checkpoint, &w->log.goes_on, &info);
    }
    if (!option_was_given(call, "seed")) {
        options->seed = w->log.goes_on ? info.seed : draw_seed();
    }
    options->checkpoint = checkpoint_of(call);
    options->trace = options->trace || w->log.path;
    w->seed = options->seed;
    return err;
}

/* Reads, fits and writes the model to out->path. *model is NULL unless there is one. A status after
 * a message. */
static int fit(const invocation *call, watch *w, const output *out, rb_model **model) {
    rb_source *source = NULL;
    rb_model *start = NULL;
    *model = NULL;
    rb_error err = apply_preset(call);
    if (!err && check_conditions(call)) {
        return STATUS_USAGE;
    }
    if (!err) {
        err = prepare_start(call, w);
    }
    if (!err) {
        err = load_start(call, &start);
    }
    if (!err) {
        err = read_values(call);
    }
    if (!err) {
        err = open_data(call, NULL, call->arguments[0], &source);
    }
    int status = err ? report_failure(call->ctx, err) : check_memory(call, source);
    if (!status) {
        tell_unpacking(call, source);
        status = fit_log_begin(&w->log);
    }
    if (!status) {
        err = fit_source(call, w, out, source, start, model);
        status = err ? report_failure(call->ctx, err) : STATUS_DONE;
    }
    free_values(call);
    rb_source_free(source);
    rb_model_free(start);
    return status;
}

/* What is said and checked once the model is written; what to do next comes last. */
static int finish(const invocation *call, const rb_model *model, bool goes_on, const char *target) {
    int status = STATUS_INTERRUPTED;
    summarise(model, call->command->method->name, goes_on);
    if (rb_model_status(model) == RB_STATUS_STOPPED) {
        report_error("interrupted after %lld iterations; the model was written",
                     (long long)rb_model_iterations(model));
    } else {
        status = check_converged(call, model);
    }
    if (strcmp(target, "-") != 0) {
        suggest_next(call, model, target);
    }
    return status;
}

/* What a checkpoint was for is done once the model is there; a fit that was interrupted, or had no
 * more time, may go on. */
static void remove_checkpoint(const invocation *call, const rb_model *model) {
    const char *path = checkpoint_of(call)->checkpoint;
    rb_status status = rb_model_status(model);
    bool goes_on = status == RB_STATUS_STOPPED || status == RB_STATUS_TIME;
    if (path && !goes_on && unlink(path) && errno != ENOENT) {
        report_error("warning: the checkpoint '%s' is no longer needed, but cannot be removed: %s",
                     path, strerror(errno));
    }
}

/* With --init the preprocessing is that of the model: its options would do nothing, but that
 * missing values can be left out. */
static int check_init(const invocation *call) {
    const model_options *options = options_of(call, model_option_table());
    const rb_preprocess_options *preprocess = options_of(call, rb_preprocess_option_table());
    bool omits = preprocess->missing == RB_MISSING_OMIT;
    for (const rb_option *row = rb_preprocess_option_table(); options->init && row->name; row++) {
        bool heeded = omits && row->offset == offsetof(rb_preprocess_options, missing);
        if (!heeded && option_was_given(call, row->name)) {
            report_error("--%s cannot be given with --init: the preprocessing of the model is "
                         "taken; leave it out",
                         row->name);
            return STATUS_USAGE;
        }
    }
    return STATUS_DONE;
}

static int check_output(const invocation *call, const char *option, const char *path) {
    (void)call;
    return strcmp(option, "output") == 0
               ? refuse_other_format("-o", path, "a model is written as HDF5", ".h5")
               : STATUS_DONE;
}

static int run(invocation *call) {
    const model_options *options = options_of(call, model_option_table());
    output out;
    watch w = {.log = {.path = options->log_json}};
    rb_model *model;
    if (check_init(call)) {
        return STATUS_USAGE;
    }
    int status = output_begin(&out, options->output, "h5");
    if (status) {
        return status;
    }
    status = fit(call, &w, &out, &model);
    int logged = STATUS_DONE;
    if (status) {
        fit_log_end(&w.log);
        output_abandon(&out);
    } else {
        logged = fit_log_end(&w.log);
        status = output_end(&out);
        if (!status) {
            remove_checkpoint(call, model);
        }
        status = status ? status : finish(call, model, w.log.goes_on, options->output);
    }
    rb_model_free(model);
    return status ? status : logged;
}

const command fit_command = {
    .words = "fit",
    .heading = "Fit",
    .summary = "fit a",
    .description =
        "Finds hidden units that explain the samples and writes them as a model. Ctrl-C "
        "stops within "
        "a block of samples and writes what was found up to the last iteration that is complete; a "
        "second one ends at once. With "
        "--checkpoint the same command goes on after either, after a crash or a loss of "
        "power; the file is removed when the fit is done.",
    .arguments = {{"DATA",
                   "samples x features: .npy, CSV or TSV, HDF5, AnnData .h5ad, 10x, Matrix "
                   "Market, IDX, PGM or PNG, most of them also gzipped",
                   false}},
    .output = "MODEL",
    .groups = {{"Method", NULL, 0, NULL},
               {"Fit", rb_fit_option_table, sizeof(rb_fit_options), NULL},
               {"Checkpoints", rb_checkpoint_option_table, sizeof(rb_checkpoint_options), NULL},
               {"Preprocessing", rb_preprocess_option_table, sizeof(rb_preprocess_options), NULL},
               {"Reading", rb_read_option_table, sizeof(rb_read_options), NULL},
               {"Output", model_option_table, sizeof(model_options), NULL},
               {"General", general_option_table, sizeof(general_options), NULL}},
    .examples =
        {{"Ten units from a table with a row for each feature and a column for each sample",
          "fit METHOD table.tsv --transpose -k 10 -o model.h5"},
         {"Counts of single cells: equal totals, log, the 2000 most variable genes",
          "fit METHOD cells.h5ad --totals 10k --log1p --top-variance 2000 -k 20 -o model.h5"},
         {"The same numbers again, with a log for a program to read",
          "fit METHOD X.npy -k 50 --iterations 1000 --seed 1 --log-json log.jsonl "
          "-o model.h5"}},
    .reads = "init prior-mean prior-covariance",
    .writes = "output log-json checkpoint",
    .check_output = check_output,
    .drawn = "seed",
    .run = run,
};
