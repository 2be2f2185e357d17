/* How the time of an iteration grows with the causes (appendix C of the paper, figure 13, which
 * counts operations; here the processor's time is measured): D 100, N 1000, MCA, all samples in
 * use. */
#include "experiments.h"
#include "inside/curves.h"

#include <math.h>

#include <time.h>

enum { SAMPLES = 1000, ITERATIONS = 6, MAX = 12, LINES = 10 };

/* One line of the figure: ET(H', gamma), and the numbers of causes. */
struct line {
    const char *name;
    int64_t candidates, share; /* H' = candidates, or H / share */
    int64_t max_active;        /* gamma; up to 0: so many less than H' */
    int64_t causes[MAX];       /* 0 ends them */
};

static const struct line lines[LINES] = {
    {"ET(5, 3)", 5, 0, 3, {10, 20, 50, 100, 200, 500, 1000, 2000, 5000}},
    {"ET(7, 5)", 7, 0, 5, {10, 20, 50, 100, 200, 500, 1000, 2000, 5000}},
    {"ET(9, 7)", 9, 0, 7, {10, 20, 50, 100, 200, 500, 1000, 2000, 5000}},
    {"ET(H, 1)", 0, 1, 1, {10, 20, 50, 100, 200, 500, 1000, 2000, 5000}},
    {"ET(H, 2)", 0, 1, 2, {10, 20, 50, 100, 200}},
    {"ET(H, 3)", 0, 1, 3, {10, 20, 50}},
    {"ET(H/10, 3)", 0, 10, 3, {30, 50, 100, 200, 500}},
    {"ET(H/10, 4)", 0, 10, 4, {40, 50, 100, 200, 300}},
    {"ET(H/10, H/10 - 2)", 0, 10, -2, {30, 50, 70, 90, 100, 110, 120, 130}},
    {"ET(H, H)", 0, 1, 0, {4, 6, 8, 10, 12}},
};

static void list(void) {
    printf("scaling: appendix C of the paper, figure 13, measured\n"
           "    rarebit simulate bars --style max --size 10 --noise 1 --probability 0.1 --samples "
           "%d\n"
           "    rarebit fit mca -k H --candidates H' --max-active gamma --prior 2/H --sigma 2 "
           "--temperature 1.05 --cut-factor 1e9 --iterations %d; processor time of the "
           "fastest iteration\n",
           SAMPLES, ITERATIONS);
}

static rb_error new_options(rb_context *ctx, const struct line *line, int64_t causes,
                            rb_options **options) {
    rb_error err = experiments_options_new(ctx, "mca", NULL, options);
    int64_t candidates = line->candidates ? line->candidates : causes / line->share;
    int64_t max_active = line->max_active > 0 ? line->max_active : candidates + line->max_active;
    return err ? err
               : rb_options_set_all(ctx, *options,
                                    "units=%lld candidates=%lld max-active=%lld prior=%.17g "
                                    "sigma=2 temperature=1.05 cut-factor=1e9 iterations=%d seed=1",
                                    (long long)causes, (long long)candidates, (long long)max_active,
                                    2 / (double)causes, ITERATIONS);
}

/* Seconds that the processor spent between one iteration's end and the next. */
struct watch {
    double before, min; /* before: of the last end; below 0: none yet */
};

static rb_error on_progress(const rb_progress *progress, void *user) {
    struct watch *watch = user;
    struct timespec now;
    (void)progress;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    double seconds = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec,
           spent = seconds - watch->before;
    if (watch->before >= 0 && (watch->min < 0 || spent < watch->min)) watch->min = spent;
    watch->before = seconds;
    return interrupted() ? RB_ERROR_INTERRUPTED : RB_OK;
}

/* The fastest iteration but the first. */
static rb_error measure(rb_context *ctx, const struct line *line, int64_t causes, rb_source *source,
                        double *seconds) {
    rb_options *how = NULL;
    rb_model *model = NULL;
    struct watch watch = {-1, -1};
    rb_error err = new_options(ctx, line, causes, &how);
    rb_context_on_progress(ctx, on_progress, &watch);
    err = err ? err : rb_fit(ctx, how, source, NULL, &model);
    rb_options_free(how);
    rb_context_on_progress(ctx, NULL, NULL);
    rb_model_free(model);
    *seconds = watch.min;
    return err;
}

/* The points of a line, printed as they come. */
static rb_error measure_line(rb_context *ctx, const struct line *line, rb_source *source, double *x,
                             double *y, int *count) {
    *count = 0;
    for (int i = 0; i < MAX && line->causes[i] && !interrupted(); i++) {
        double seconds = 0;
        rb_error err = measure(ctx, line, line->causes[i], source, &seconds);
        if (err) return err;
        x[i] = (double)line->causes[i];
        y[i] = 1e6 * seconds / SAMPLES;
        (*count)++;
        printf("%-18s  H %5lld   %10.2f us per sample and iteration\n", line->name,
               (long long)line->causes[i], y[i]);
        fflush(stdout);
    }
    return RB_OK;
}

/* The smallest and largest of all lines. */
static void cover(bench_axis *axis, const double *values, int count) {
    for (int i = 0; i < count; i++) {
        axis->low = fmin(axis->low, values[i] / 1.2);
        axis->high = fmax(axis->high, values[i] * 1.2);
    }
}

static rb_error measure_lines(rb_context *ctx, const experiment_options *options,
                              rb_source *source) {
    double x[LINES][MAX], y[LINES][MAX];
    bench_curve drawn[LINES];
    bench_axis across = {"number of causes H", INFINITY, 0, true};
    bench_axis up = {"processor time per sample and iteration, us", INFINITY, 0, true};
    rb_error err = RB_OK;
    for (int l = 0; l < LINES && !err; l++) {
        drawn[l] = (bench_curve){.name = lines[l].name, .x = x[l], .y = y[l]};
        err = measure_line(ctx, &lines[l], source, x[l], y[l], &drawn[l].count);
        cover(&across, x[l], drawn[l].count);
        cover(&up, y[l], drawn[l].count);
    }
    if (err || !options->picture) return err;
    bool drawn_well = bench_draw(options->picture, "Cost of an iteration as causes become more",
                                 &across, &up, drawn, LINES);
    return drawn_well ? RB_OK : RB_ERROR_FILE;
}

int experiments_scaling(rb_context *ctx, const experiment_options *options) {
    rb_options *bars = NULL;
    rb_matrix *samples = NULL, *fields = NULL;
    rb_source *source = NULL;
    if (options->list) {
        list();
        return STATUS_DONE;
    }
    rb_error err = experiments_options_new(ctx, NULL, rb_bars_group(), &bars);
    err = err ? err
              : rb_options_set_all(ctx, bars,
                                   "style=max size=10 noise=1 probability=0.1 samples=%d seed=%lld",
                                   SAMPLES, (long long)options->seed);
    err = err ? err : rb_simulate_bars(ctx, bars, &samples, &fields, NULL);
    rb_options_free(bars);
    if (!err) err = rb_source_from_matrix(ctx, samples, &source);
    if (!err) err = measure_lines(ctx, options, source);
    rb_source_free(source);
    rb_matrix_free(samples);
    rb_matrix_free(fields);
    return err ? report_failure(ctx, err) : STATUS_DONE;
}
