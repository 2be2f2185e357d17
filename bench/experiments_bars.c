/* The bars experiments of Luecke and Eggert (2010): the paper's rate beside ours. */
#include "experiments.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* One experiment: how data are made, how they are fitted, what the paper has. */
struct experiment {
    const char *name, *method;
    const char *style; /* of bars */
    double noise;
    int64_t samples, size, width, units;
    double probability, prior;
    const char *temperature;
    int64_t iterations, restarts, trials;
    double init_mean, init_sd;
    int paper_successes, paper_trials;
    const char *where; /* in the paper */
};

static const double third = 4.0 / 3;

static const struct experiment *experiments(int *count) {
    static struct experiment table[9];
    const struct experiment bars = {.noise = 2,
                                    .samples = 500,
                                    .size = 5,
                                    .width = 1,
                                    .units = 10,
                                    .probability = 0.2,
                                    .prior = 0.2,
                                    .temperature = "13:1",
                                    .iterations = 100,
                                    .restarts = 3,
                                    .trials = 200,
                                    .init_mean = 4,
                                    .init_sd = third};
    static const struct {
        const char *name, *method;
        const char *style;
        double noise;
        int successes, trials;
        const char *where;
    } rows[] = {
        {"nmf-noisy", "nmf-et", "linear", 2, 50, 50, "section 4.1.1"},
        {"nmf-noiseless", "nmf-et", "linear", 0, 46, 50, "section 4.1.1"},
        {"linca-noisy", "linca", "signed", 2, 50, 50, "section 4.3.1"},
        {"linca-noiseless", "linca", "signed", 0, 49, 50, "section 4.3.1"},
        {"mca-noisy", "mca", "max", 2, 46, 50, "section 4.2.1"},
        {"mca-noiseless", "mca", "max", 0, 41, 50, "section 4.2.1"},
        {"mca-2000", "mca", "max", 2, 100, 100, "section 4.2.1"},
        {"overlap-400", "mca", "max", 0, 21, 25, "section 4.2.1"},
        {"overlap-800", "mca", "max", 0, 50, 50, "section 4.2.1"},
    };
    *count = (int)(sizeof rows / sizeof *rows);
    for (int i = 0; i < *count; i++) {
        struct experiment *e = &table[i];
        *e = bars;
        e->name = rows[i].name;
        e->method = rows[i].method;
        e->style = rows[i].style;
        e->noise = rows[i].noise;
        e->paper_successes = rows[i].successes;
        e->paper_trials = rows[i].trials;
        e->where = rows[i].where;
        bool mca = strcmp(e->method, "mca") == 0;
        e->temperature = mca ? "13:1.05" : "13:1";
        e->restarts = mca ? 1 : 3;
        if (strcmp(e->method, "linca") == 0) {
            e->init_mean = 0;
            e->init_sd = 2;
        }
        if (strcmp(e->name, "mca-2000") == 0) {
            e->samples = 2000;
            e->restarts = 2;
        }
        if (strncmp(e->name, "overlap", 7) == 0) {
            e->samples = strcmp(e->name, "overlap-400") == 0 ? 400 : 800;
            e->size = 9;
            e->width = 2;
            e->units = 32;
            e->probability = 2.0 / 16;
            e->prior = 2.0 / 32;
            e->temperature = "23:1.05";
            e->iterations = 400;
            e->restarts = e->samples == 400 ? 2 : 1;
            e->trials = e->samples == 400 ? 200 : 50;
        }
    }
    return table;
}

/* ---- one trial ---- */

struct outcome {
    bool success;
    double error; /* mean absolute, of a success */
};

static rb_error new_options(rb_context *ctx, const struct experiment *e,
                            const experiment_options *bench, int64_t seed, rb_options **options) {
    static const char *const singletons[] = {"auto", "yes", "no"};
    rb_error err = experiments_options_new(ctx, e->method, NULL, options);
    if (!err) {
        err = rb_options_set_all(
            ctx, *options,
            "units=%lld candidates=5 max-active=3 prior=%.17g sigma=2 temperature=%s "
            "weight-noise=0.05 init-mean=%.17g init-sd=%.17g as-printed=%d singletons=%s "
            "iterations=%lld restarts=%lld seed=%lld",
            (long long)e->units, e->prior, e->temperature, e->init_mean, e->init_sd,
            bench->as_printed, singletons[bench->singletons], (long long)e->iterations,
            (long long)e->restarts, (long long)seed);
    }
    if (!err && bench->negative) err = rb_options_set(ctx, *options, "negative", "reflect");
    return err;
}

static rb_error fit_bars(rb_context *ctx, const rb_options *options, const rb_matrix *samples,
                         rb_matrix *fields, struct outcome *outcome) {
    rb_source *source = NULL, *truth = NULL;
    rb_model *model = NULL;
    rb_field_match match = {0};
    rb_error err = rb_source_from_matrix(ctx, samples, &source);
    if (!err) err = rb_source_from_matrix(ctx, fields, &truth);
    if (!err) err = rb_fit(ctx, options, source, NULL, &model);
    if (!err) err = rb_model_match_fields(ctx, model, truth, &match);
    if (!err) {
        outcome->success = match.causes_found == match.causes;
        outcome->error = match.mean_absolute_error;
    }
    rb_field_match_clear(&match);
    rb_model_free(model);
    rb_source_free(truth);
    rb_source_free(source);
    return err;
}

static rb_error run_trial(rb_context *ctx, const struct experiment *e,
                          const experiment_options *bench, int64_t trial, struct outcome *outcome) {
    rb_options *bars = NULL, *options = NULL;
    rb_matrix *samples, *fields;
    int64_t seed = bench->seed + trial;
    rb_error err = experiments_options_new(ctx, NULL, rb_bars_group(), &bars);
    if (!err) {
        err = rb_options_set_all(
            ctx, bars,
            "style=%s noise=%.17g samples=%lld size=%lld width=%lld probability=%.17g "
            "seed=%lld",
            e->style, e->noise, (long long)e->samples, (long long)e->size, (long long)e->width,
            e->probability, (long long)seed);
    }
    err = err ? err : new_options(ctx, e, bench, seed, &options);
    err = err ? err : rb_simulate_bars(ctx, bars, &samples, &fields, NULL);
    if (!err) {
        err = fit_bars(ctx, options, samples, fields, outcome);
        rb_matrix_free(samples);
        rb_matrix_free(fields);
    }
    rb_options_free(options);
    rb_options_free(bars);
    return err;
}

/* ---- trials in parallel: each thread takes every n-th ---- */

struct worker {
    const struct experiment *experiment;
    const experiment_options *options;
    int64_t first, step;
    struct outcome *outcomes;
    rb_error err;
    char message[1024];
    pthread_t thread;
};

static void *work(void *arg) {
    struct worker *w = arg;
    rb_context *ctx;
    w->err = rb_context_new(&ctx);
    if (w->err) {
        snprintf(w->message, sizeof w->message, "out of memory");
        return NULL;
    }
    w->err = rb_context_set_threads(ctx, 1);
    for (int64_t t = w->first; !w->err && !interrupted() && t < w->experiment->trials; t += w->step)
        w->err = run_trial(ctx, w->experiment, w->options, t, &w->outcomes[t]);
    snprintf(w->message, sizeof w->message, "%s", rb_context_error(ctx));
    rb_context_free(ctx);
    return NULL;
}

static int run_trials(const struct experiment *e, const experiment_options *options, int threads,
                      struct outcome *outcomes) {
    struct worker *workers = calloc((size_t)threads, sizeof *workers);
    int status = STATUS_DONE, started = 0;
    if (!workers) {
        report_error("out of memory");
        return STATUS_FAILED;
    }
    for (; started < threads; started++) {
        workers[started] = (struct worker){.experiment = e,
                                           .options = options,
                                           .first = started,
                                           .step = threads,
                                           .outcomes = outcomes};
        if (pthread_create(&workers[started].thread, NULL, work, &workers[started])) {
            report_error("a thread could not be started");
            status = STATUS_FAILED;
            break;
        }
    }
    for (int t = 0; t < started; t++) {
        pthread_join(workers[t].thread, NULL);
        if (workers[t].err && !status) {
            report_error("%s", workers[t].message);
            status = STATUS_FAILED;
        }
    }
    free(workers);
    return interrupted() ? STATUS_INTERRUPTED : status;
}

/* ---- tables ---- */

static void print_settings(const struct experiment *e, const experiment_options *options) {
    static const char *const singletons[] = {"", " --singletons yes", " --singletons no"};
    printf("%s: %s of the paper, %d of %d trials found all bars\n", e->name, e->where,
           e->paper_successes, e->paper_trials);
    printf("    rarebit simulate bars --style %s --size %lld --width %lld --probability %.6g "
           "--noise %g --samples %lld\n",
           e->style, (long long)e->size, (long long)e->width, e->probability, e->noise,
           (long long)e->samples);
    printf("    rarebit fit %s -k %lld --candidates 5 --max-active 3 --prior %.6g --sigma 2 "
           "--temperature %s --weight-noise 0.05 --init-mean %.6g --init-sd %.6g --iterations %lld "
           "--restarts %lld%s%s%s\n",
           e->method, (long long)e->units, e->prior, e->temperature, e->init_mean, e->init_sd,
           (long long)e->iterations, (long long)e->restarts,
           options->as_printed ? " --as-printed" : "", singletons[options->singletons],
           options->negative ? " --negative reflect" : "");
    printf("    %lld trials\n", (long long)e->trials);
}

static void print_result(const struct experiment *e, const struct outcome *outcomes) {
    int64_t successes = 0;
    double error = 0, low, high;
    for (int64_t t = 0; t < e->trials; t++) {
        successes += outcomes[t].success;
        error += outcomes[t].success ? outcomes[t].error : 0;
    }
    rb_success_interval(successes, e->trials, &low, &high);
    printf("%-16s %4lld/%-4lld  %.3f [%.3f, %.3f]   %3d/%-3d  %.3f   %8.3f\n", e->name,
           (long long)successes, (long long)e->trials, (double)successes / (double)e->trials, low,
           high, e->paper_successes, e->paper_trials, (double)e->paper_successes / e->paper_trials,
           successes ? error / (double)successes : NAN);
    fflush(stdout);
}

static int run_experiment(struct experiment e, const experiment_options *options, int threads) {
    e.trials = options->trials ? options->trials : e.trials;
    e.restarts = options->restarts ? options->restarts : options->as_printed ? 1 : e.restarts;
    if (options->list) {
        print_settings(&e, options);
        return STATUS_DONE;
    }
    struct outcome *outcomes = calloc((size_t)e.trials, sizeof *outcomes);
    if (!outcomes) {
        report_error("out of memory");
        return STATUS_FAILED;
    }
    int status = run_trials(&e, options, threads, outcomes);
    if (!status) print_result(&e, outcomes);
    free(outcomes);
    return status;
}

bool experiments_bars_has(const char *name) {
    int count, found = 0;
    const struct experiment *table = experiments(&count);
    for (int i = 0; i < count; i++)
        found += !name || strcmp(name, table[i].name) == 0;
    return found > 0;
}

const char *experiments_bars_heed(const char *name) {
    int count;
    const struct experiment *table = experiments(&count);
    for (int i = 0; name && i < count; i++)
        if (strcmp(name, table[i].name) == 0 && strcmp(table[i].method, "linca") == 0)
            return "as-printed singletons trials restarts seed";
    return "as-printed singletons negative trials restarts seed";
}

int experiments_bars(rb_context *ctx, const experiment_options *options) {
    int count, status = STATUS_DONE, threads = rb_context_threads(ctx);
    const struct experiment *table = experiments(&count);
    if (!options->list) {
        printf("%-16s %9s  %-21s   %7s  %5s   %8s\n", "experiment", "all found",
               "rate, 95 % interval", "paper", "rate", "MAE");
    }
    for (int i = 0; i < count && !status; i++)
        if (!options->experiment || strcmp(options->experiment, table[i].name) == 0)
            status = run_experiment(table[i], options, threads);
    return status;
}
