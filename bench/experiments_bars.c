/* The bars experiments of Luecke and Eggert (2010): the paper's rate beside ours. */
#include "experiments.h"
#include "inside/counts.h"
#include "inside/trials.h"
#include "inside/truth.h"

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
    const char *temperature; /* as printed, and for all but mca, which finds its own */
    int64_t iterations, restarts, trials;
    double init_mean, init_sd;
    int64_t
        heights; /* of bars; from 2 on causes have the values 0 .. heights, and all is learned */
    int paper_successes, paper_trials; /* none: 0 of 0 */
    const char *where;                 /* in the paper */
    const char *claim;                 /* what it says instead of a count; NULL: nothing */
    const char *with;                  /* other options of the fit; NULL: none */
    bool poisson;                      /* samples are counts with the bars as means */
    bool is_claim;                     /* one of `claims` */
};

static const double third = 4.0 / 3;

static const struct experiment standard = {.noise = 2,
                                           .samples = 500,
                                           .size = 5,
                                           .width = 1,
                                           .units = 10,
                                           .probability = 0.2,
                                           .prior = 0.2,
                                           .iterations = 100,
                                           .restarts = 3,
                                           .trials = 200,
                                           .init_mean = 4};

/* What goes by the method. */
static void fill_method(struct experiment *e, const char *method) {
    bool mca = strcmp(method, "mca") == 0, linca = strcmp(method, "linca") == 0;
    e->method = method;
    e->style = mca ? "max" : linca ? "signed" : "linear";
    e->temperature = mca ? "13:1.05" : "13:1";
    e->restarts = mca ? 1 : 3;
    e->init_mean = linca ? 0 : 4;
    e->init_sd = linca ? 2 : third;
}

/* Those of the paper's tables of bars, and those with causes of several values. */
static int fill_tables(struct experiment *table) {
    static const struct {
        const char *name, *method;
        double noise;
        int successes, trials;
        const char *where;
    } rows[] = {
        {"nmf-noisy", "nmf-et", 2, 50, 50, "section 4.1.1"},
        {"nmf-noiseless", "nmf-et", 0, 46, 50, "section 4.1.1"},
        {"linca-noisy", "linca", 2, 50, 50, "section 4.3.1"},
        {"linca-noiseless", "linca", 0, 49, 50, "section 4.3.1"},
        {"mca-noisy", "mca", 2, 46, 50, "section 4.2.1"},
        {"mca-noiseless", "mca", 0, 41, 50, "section 4.2.1"},
        {"mca-2000", "mca", 2, 100, 100, "section 4.2.1"},
        {"overlap-400", "mca", 0, 21, 25, "section 4.2.1"},
        {"overlap-800", "mca", 0, 50, 50, "section 4.2.1"},
        {"nmf-values", "nmf-et", 2, 0, 0, "section 5.2"},
        {"linca-values", "linca", 2, 0, 0, "section 5.2"},
        {"mca-values", "mca", 2, 0, 0, "section 5.2"},
    };
    int count = (int)(sizeof rows / sizeof *rows);
    for (int i = 0; i < count; i++) {
        struct experiment *e = &table[i];
        *e = standard;
        fill_method(e, rows[i].method);
        e->name = rows[i].name;
        e->noise = rows[i].noise;
        e->paper_successes = rows[i].successes;
        e->paper_trials = rows[i].trials;
        e->where = rows[i].where;
        if (strcmp(e->name, "mca-2000") == 0) {
            e->samples = 2000;
            e->trials = 100;
        }
        if (strstr(e->name, "-values")) {
            e->heights = 3;
            e->iterations = strcmp(e->method, "mca") == 0 ? 100 : 200;
            e->trials = 100;
            e->restarts = 1;
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
            e->trials = 100;
        }
    }
    return count;
}

/* What the paper says of bars besides. All states of all ten causes are an exact E-step. */
static int fill_claims(struct experiment *table) {
    static const char exact[] = "candidates=10 max-active=10 cut-factor=1e9",
                      optimal[] = "selection=exact", no_cut[] = "cut-factor=1e9",
                      all[] = "candidates=10", same[] = "the same";
    static const struct {
        const char *name, *method;
        double noise;
        int64_t samples, iterations, trials;
        int successes, of;
        const char *claim, *with, *where;
    } rows[] = {
        {"nmf-slow", "nmf-et", 0, 500, 200, 50, 50, 50, NULL, NULL, "section 4.1.1"},
        {"nmf-1000", "nmf-et", 0, 1000, 100, 50, 0, 0, "> 0.94", NULL, "section 4.1.1"},
        {"linca-slow", "linca", 0, 500, 200, 100, 100, 100, NULL, NULL, "section 4.3.1"},
        {"linca-1000", "linca", 0, 1000, 100, 100, 100, 100, NULL, NULL, "section 4.3.1"},
        {"mca-noiseless-2000", "mca", 0, 2000, 100, 50, 0, 0, "> 0.90", NULL, "section 4.2.1"},
        {"mca-10000", "mca", 0, 10000, 200, 20, 50, 50, NULL, NULL, "section 4.2.1"},
        {"mca-pixel-noise", "mca", 2, 1000, 100, 50, 0, 0, "near 1", NULL, "footnote 1"},
        {"nmf-optimal", "nmf-et", 2, 500, 100, 10, 0, 0, same, optimal, "section 5.3"},
        {"nmf-exact", "nmf-et", 2, 500, 100, 50, 0, 0, same, exact, "section 5.3"},
        {"linca-optimal", "linca", 2, 500, 100, 10, 0, 0, same, optimal, "section 5.3"},
        {"linca-exact", "linca", 2, 500, 100, 50, 0, 0, same, exact, "section 5.3"},
        {"mca-optimal", "mca", 2, 500, 100, 10, 0, 0, same, optimal, "section 5.3"},
        {"mca-exact", "mca", 2, 500, 100, 20, 0, 0, same, exact, "section 5.3"},
        {"nmf-no-cut", "nmf-et", 2, 500, 100, 50, 0, 0, NULL, no_cut, "section 3.1"},
        {"mca-no-cut", "mca", 2, 500, 100, 50, 0, 0, NULL, no_cut, "section 3.1"},
        {"nmf-no-preselection", "nmf-et", 2, 500, 100, 50, 0, 0, NULL, all, "section 5.2"},
        {"mca-no-preselection", "mca", 2, 500, 100, 50, 0, 0, NULL, all, "section 5.2"},
        {"nmf-poisson", "nmf-et", 0, 500, 100, 50, 0, 0, "high", NULL, "section 5.4"},
        {"mca-poisson", "mca", 0, 500, 100, 50, 0, 0, "high", NULL, "section 5.4"},
    };
    int count = (int)(sizeof rows / sizeof *rows);
    for (int i = 0; i < count; i++) {
        struct experiment *e = &table[i];
        *e = standard;
        fill_method(e, rows[i].method);
        e->name = rows[i].name;
        e->noise = rows[i].noise;
        e->samples = rows[i].samples;
        e->iterations = rows[i].iterations;
        e->trials = rows[i].trials;
        e->restarts = 1;
        e->paper_successes = rows[i].successes;
        e->paper_trials = rows[i].of;
        e->claim = rows[i].claim;
        e->with = rows[i].with;
        e->where = rows[i].where;
        e->poisson = strstr(e->name, "-poisson") != NULL;
        e->is_claim = true;
        if (strcmp(e->name, "nmf-slow") == 0) e->temperature = "15:1";
    }
    return count;
}

static const struct experiment *experiments(int *count) {
    static struct experiment table[40];
    *count = fill_tables(table);
    *count += fill_claims(table + *count);
    return table;
}

/* Is the experiment asked for: by its name, as one of the claims, or as one of the tables? */
static bool is_asked_for(const struct experiment *e, const experiment_options *options) {
    const char *name = options->experiment;
    if (!name) return options->list || !e->is_claim;
    return strcmp(name, e->name) == 0 || (e->is_claim && strcmp(name, "claims") == 0);
}

/* ---- one trial ---- */

struct outcome {
    bool success;
    int64_t found; /* causes */
    double error;  /* mean absolute, of the causes found */
    double
        values; /* share of all causes of all samples whose most probable value is the true one */
    /* Log-likelihood per sample less that of the truth, at the end and, of the first trials, after
     * each iteration; for a picture alone. */
    double likelihood, *likelihoods;
    int64_t iterations;
};

enum { TRACED = 10 }; /* trials: as many as the paper draws */

struct comparing {
    const rb_field_match *match;
    const rb_matrix *states;
    int64_t right;
};

static rb_error add_state(void *user, const rb_state *state) {
    struct comparing *c = user;
    for (int64_t cause = 0; cause < c->match->causes; cause++) {
        double value = 0;
        for (int64_t k = 0; k < state->count; k++)
            if (state->causes[k] == c->match->unit[cause]) value = state->values[k];
        c->right += value == rb_matrix_at(c->states, state->sample, cause);
    }
    return RB_OK;
}

static rb_error compare_states(rb_context *ctx, const rb_model *model, rb_source *source,
                               const rb_field_match *match, const rb_matrix *states,
                               double *share) {
    struct comparing c = {match, states, 0};
    rb_error err = rb_states(ctx, model, source, add_state, &c);
    double all = (double)(rb_matrix_samples(states) * match->causes);
    *share = (double)c.right / all;
    return err;
}

/* Values are learned with nothing given but how many bars there are. */
static rb_error new_valued_options(rb_context *ctx, const struct experiment *e,
                                   const experiment_options *bench, int64_t seed,
                                   rb_options **options) {
    (void)bench; /* which options do nothing here */
    rb_error err = experiments_options_new(ctx, e->method, NULL, options);
    return err ? err
               : rb_options_set_all(ctx, *options,
                                    "units=%lld values=0,1,2,3 learn-prior=true iterations=%lld "
                                    "restarts=%lld seed=%lld",
                                    (long long)e->units, (long long)e->iterations,
                                    (long long)e->restarts, (long long)seed);
}

static bool gives_temperature(const struct experiment *e, const experiment_options *bench) {
    return bench->as_printed || strcmp(e->method, "mca") != 0;
}

static rb_error new_options(rb_context *ctx, const struct experiment *e,
                            const experiment_options *bench, int64_t seed, rb_options **options) {
    static const char *const singletons[] = {"auto", "yes", "no"};
    rb_error err = experiments_options_new(ctx, e->method, NULL, options);
    if (!err) {
        err =
            rb_options_set_all(ctx, *options,
                               "units=%lld candidates=5 max-active=3 prior=%.17g weight-noise=0.05 "
                               "init-mean=%.17g init-sd=%.17g as-printed=%d singletons=%s "
                               "iterations=%lld restarts=%lld seed=%lld",
                               (long long)e->units, e->prior, e->init_mean, e->init_sd,
                               bench->as_printed, singletons[bench->singletons],
                               (long long)e->iterations, (long long)e->restarts, (long long)seed);
    }
    if (!err)
        err = e->poisson ? rb_options_set(ctx, *options, "noise", "poisson")
                         : rb_options_set(ctx, *options, "sigma", "2");
    if (!err && gives_temperature(e, bench))
        err = rb_options_set(ctx, *options, "temperature", e->temperature);
    if (!err && e->with) err = rb_options_set_all(ctx, *options, "%s", e->with);
    if (!err && bench->negative) err = rb_options_set(ctx, *options, "negative", "reflect");
    if (!err && bench->with) err = rb_options_set_all(ctx, *options, "%s", bench->with);
    return err;
}

/* Data and a fit. */
struct trial {
    float *counts; /* of Poisson samples */
    rb_matrix *samples, *fields, *states;
    rb_source *source, *truth;
    rb_model *model;
};

static void free_trial(struct trial *t) {
    rb_model_free(t->model);
    rb_source_free(t->truth);
    rb_source_free(t->source);
    rb_matrix_free(t->states);
    rb_matrix_free(t->fields);
    rb_matrix_free(t->samples);
    free(t->counts);
}

static rb_error make_data(rb_context *ctx, const struct experiment *e, int64_t seed,
                          struct trial *t) {
    rb_options *bars = NULL;
    rb_error err = experiments_options_new(ctx, NULL, rb_bars_group(), &bars);
    if (!err) {
        err = rb_options_set_all(
            ctx, bars,
            "style=%s noise=%.17g samples=%lld size=%lld width=%lld probability=%.17g "
            "heights=%lld seed=%lld",
            e->style, e->noise, (long long)e->samples, (long long)e->size, (long long)e->width,
            e->probability, (long long)(e->heights ? e->heights : 1), (long long)seed);
    }
    err = err ? err : rb_simulate_bars(ctx, bars, &t->samples, &t->fields, &t->states);
    if (!err && e->poisson) err = counts_draw(ctx, seed, &t->samples, &t->counts);
    err = err ? err : rb_source_from_matrix(ctx, t->samples, &t->source);
    err = err ? err : rb_source_from_matrix(ctx, t->fields, &t->truth);
    rb_options_free(bars);
    return err;
}

/* Free it in any case. */
static rb_error make_trial(rb_context *ctx, const struct experiment *e,
                           const experiment_options *bench, int64_t trial, struct trial *t) {
    rb_options *options = NULL;
    int64_t seed = bench->seed + trial;
    *t = (struct trial){0};
    rb_error err = (e->heights ? new_valued_options : new_options)(ctx, e, bench, seed, &options);
    if (!err && bench->picture && trial < TRACED)
        err = rb_options_set(ctx, options, "trace", "true");
    err = err ? err : make_data(ctx, e, seed, t);
    err = err ? err : rb_fit(ctx, options, t->source, NULL, &t->model);
    rb_options_free(options);
    return err;
}

/* Of the fields and the prior that made the data, and sigma 2, which made those with noise. */
static rb_error true_likelihood(rb_context *ctx, const struct experiment *e,
                                const experiment_options *bench, const struct trial *t,
                                double *likelihood) {
    rb_options *options = NULL;
    rb_error err = new_options(ctx, e, bench, 1, &options);
    if (!err) {
        err = rb_options_set_all(
            ctx, options,
            "units=%lld prior=%.17g sigma=2 iterations=1 restarts=1 temperature=1.05:1.05",
            (long long)rb_matrix_samples(t->fields), e->probability);
    }
    err = err ? err : truth_log_likelihood(ctx, options, t->source, t->fields, likelihood);
    rb_options_free(options);
    return err;
}

/* The metric of an iteration is of the parameters that it began with; those after the last one are
 * in the model. */
static rb_error keep_likelihoods(rb_context *ctx, const struct experiment *e,
                                 const experiment_options *bench, const struct trial *t,
                                 struct outcome *outcome) {
    int64_t count = rb_model_iterations(t->model);
    const double *last = rb_model_array(t->model, "log_likelihood", NULL, NULL);
    bool traced = rb_model_array(t->model, "trace", NULL, NULL);
    double truth = 0;
    rb_error err = true_likelihood(ctx, e, bench, t, &truth);
    outcome->likelihood = (last ? *last : NAN) - truth;
    if (err || !traced) return err;
    outcome->likelihoods = calloc((size_t)count + 1, sizeof *outcome->likelihoods);
    if (!outcome->likelihoods) return RB_ERROR_MEMORY;
    outcome->iterations = count;
    for (int64_t i = 0; i + 1 < count; i++) {
        double value = NAN;
        (void)rb_model_metric(t->model, i + 1, "log_likelihood", &value);
        outcome->likelihoods[i] = value - truth;
    }
    outcome->likelihoods[count - 1] = outcome->likelihood;
    return RB_OK;
}

static rb_error judge(rb_context *ctx, const struct trial *t, struct outcome *outcome) {
    rb_field_match match = {0};
    rb_error err = rb_model_match_fields(ctx, t->model, t->truth, &match);
    if (!err) {
        outcome->found = match.causes_found;
        outcome->success = match.causes_found == match.causes;
        outcome->error = match.mean_absolute_error;
        err = compare_states(ctx, t->model, t->source, &match, t->states, &outcome->values);
    }
    rb_field_match_clear(&match);
    return err;
}

static rb_error run_trial(rb_context *ctx, const struct experiment *e,
                          const experiment_options *bench, int64_t trial, struct outcome *outcome) {
    struct trial t;
    rb_error err = make_trial(ctx, e, bench, trial, &t);
    err = err ? err : judge(ctx, &t, outcome);
    if (!err && bench->picture) err = keep_likelihoods(ctx, e, bench, &t, outcome);
    free_trial(&t);
    return err;
}

/* ---- the picture: all trials, and the first one closer ---- */

static rb_error draw_trials(rb_context *ctx, const struct experiment *e,
                            const experiment_options *bench, const struct outcome *outcomes) {
    struct trial first;
    bench_trial *trials = calloc((size_t)e->trials, sizeof *trials);
    if (!trials) return RB_ERROR_MEMORY;
    for (int64_t t = 0; t < e->trials; t++) {
        const struct outcome *o = &outcomes[t];
        trials[t] = (bench_trial){o->success, o->likelihood, o->iterations, o->likelihoods};
    }
    rb_error err = make_trial(ctx, e, bench, 0, &first);
    const bench_example example = {first.model, first.source, first.states};
    err = err ? err
              : bench_draw_trials(ctx, trials, e->trials, "log-likelihood per sample, truth 0",
                                  &example, 900, bench->picture);
    free_trial(&first);
    free(trials);
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

static void print_valued_settings(const struct experiment *e) {
    printf("%s: causes of more values than two (%s); the paper has no figures\n", e->name,
           e->where);
    printf("    rarebit simulate bars --style %s --heights %lld --samples %lld\n", e->style,
           (long long)e->heights, (long long)e->samples);
    printf("    rarebit fit %s -k %lld --values 0,1,2,3 --learn-prior --iterations %lld "
           "--restarts %lld\n",
           e->method, (long long)e->units, (long long)e->iterations, (long long)e->restarts);
    printf("    %lld trials\n", (long long)e->trials);
}

static void print_settings(const struct experiment *e, const experiment_options *options) {
    static const char *const singletons[] = {"", " --singletons yes", " --singletons no"};
    if (e->heights) {
        print_valued_settings(e);
        return;
    }
    printf("%s: %s of the paper", e->name, e->where);
    if (e->paper_trials > 0)
        printf(", %d of %d trials found all bars", e->paper_successes, e->paper_trials);
    else if (e->claim)
        printf(", %s", e->claim);
    putchar('\n');
    printf("    rarebit simulate bars --style %s --size %lld --width %lld --probability %.6g "
           "--noise %g --samples %lld%s\n",
           e->style, (long long)e->size, (long long)e->width, e->probability, e->noise,
           (long long)e->samples, e->poisson ? "; counts with these means" : "");
    printf("    rarebit fit %s -k %lld --candidates 5 --max-active 3 --prior %.6g%s"
           "%s%s --weight-noise 0.05 --init-mean %.6g --init-sd %.6g --iterations %lld "
           "--restarts %lld%s%s%s%s%s%s%s\n",
           e->method, (long long)e->units, e->prior, e->poisson ? " --noise poisson" : " --sigma 2",
           gives_temperature(e, options) ? " --temperature " : "",
           gives_temperature(e, options) ? e->temperature : "", e->init_mean, e->init_sd,
           (long long)e->iterations, (long long)e->restarts,
           options->as_printed ? " --as-printed" : "", singletons[options->singletons],
           options->negative ? " --negative reflect" : "", e->with ? " with " : "",
           e->with ? e->with : "", options->with ? " with " : "",
           options->with ? options->with : "");
    printf("    %lld trials\n", (long long)e->trials);
}

static void print_result(const struct experiment *e, const struct outcome *outcomes) {
    int64_t successes = 0, found = 0;
    double error = 0, largest = 0, values = 0, low, high;
    char paper[32] = "      -      -";
    for (int64_t t = 0; t < e->trials; t++) {
        const struct outcome *outcome = &outcomes[t];
        found += outcome->found;
        if (!outcome->success) continue;
        successes++;
        error += outcome->error;
        values += outcome->values;
        largest = fmax(largest, outcome->error);
    }
    rb_success_interval(successes, e->trials, &low, &high);
    if (e->paper_trials > 0) {
        snprintf(paper, sizeof paper, "%3d/%-3d  %.3f", e->paper_successes, e->paper_trials,
                 (double)e->paper_successes / e->paper_trials);
    } else if (e->claim) {
        snprintf(paper, sizeof paper, "%14s", e->claim);
    }
    double n = (double)successes; /* 0: means are NaN */
    printf("%-19s %4lld/%-4lld  %.3f [%.3f, %.3f]   %s   %5.2f   %8.3f %8.3f  %6.4f\n", e->name,
           (long long)successes, (long long)e->trials, n / (double)e->trials, low, high, paper,
           (double)found / (double)e->trials, error / n, successes ? largest : NAN, values / n);
    fflush(stdout);
}

/* With a picture, its second panel in numbers. */
static void print_likelihoods(const struct experiment *e, const struct outcome *outcomes) {
    double sum[2] = {0}, count[2] = {0};
    for (int64_t t = 0; t < e->trials; t++) {
        sum[outcomes[t].success] += outcomes[t].likelihood;
        count[outcomes[t].success]++;
    }
    printf("    log-likelihood per sample, less that of the true parameters");
    for (int found = 1; found >= 0; found--)
        if (count[found] > 0)
            printf("   %s: %.3f", found ? "all found" : "not all", sum[found] / count[found]);
    putchar('\n');
}

static int run_experiment(rb_context *ctx, struct experiment e, const experiment_options *options) {
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
    int status = run_trials(&e, options, rb_context_threads(ctx), outcomes);
    rb_error err = RB_OK;
    if (!status && options->picture) err = draw_trials(ctx, &e, options, outcomes);
    if (err) status = report_failure(ctx, err);
    if (!status) print_result(&e, outcomes);
    if (!status && options->picture) print_likelihoods(&e, outcomes);
    for (int64_t t = 0; t < e.trials; t++)
        free(outcomes[t].likelihoods);
    free(outcomes);
    return status;
}

bool experiments_bars_has(const char *name) {
    int count, found = 0;
    const struct experiment *table = experiments(&count);
    for (int i = 0; i < count; i++)
        found += !name || strcmp(name, table[i].name) == 0;
    return found > 0 || strcmp(name, "claims") == 0;
}

const char *experiments_bars_heed(const char *name) {
    int count;
    const struct experiment *table = experiments(&count);
    if (name && strstr(name, "-values")) return "trials restarts seed";
    if (name && (strcmp(name, "claims") == 0 || strstr(name, "-poisson")))
        return "as-printed singletons negative with trials restarts seed";
    for (int i = 0; name && i < count; i++)
        if (strcmp(name, table[i].name) == 0 && strcmp(table[i].method, "linca") == 0)
            return "picture as-printed singletons with trials restarts seed";
    return name ? "picture as-printed singletons negative with trials restarts seed"
                : "as-printed singletons negative with trials restarts seed";
}

int experiments_bars(rb_context *ctx, const experiment_options *options) {
    int count, status = STATUS_DONE;
    const struct experiment *table = experiments(&count);
    if (!options->list) {
        printf("%-19s %9s  %-21s   %7s  %5s   %5s   %8s %8s  %6s\n", "experiment", "all found",
               "rate, 95 % interval", "paper", "rate", "found", "MAE", "largest", "states");
    }
    for (int i = 0; i < count && !status; i++)
        if (is_asked_for(&table[i], options)) status = run_experiment(ctx, table[i], options);
    return status;
}
