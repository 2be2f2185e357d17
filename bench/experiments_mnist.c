/* Digits (section 4.1.2 of the paper): NMF with binary causes against plain NMF of Lee and Seung,
 * by the mean squared error; and what other readings of the section make of it. */
#include "experiments.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 1000, UNITS = 12, TRIALS = 5, FEW_TRIALS = 2, PLAIN_ITERATIONS = 1000 };

static const char listed[] = "candidates=10 max-active=5 prior=0.3 sigma=0.73 mstep=multiplicative "
                             "temperature=20:1 cut-factor=1e9 iterations=400";
static const char plain_listed[] = "solver=multiplicative sweeps=1 iterations=1000";

/* Whose error, and of what. */
typedef enum error_kind {
    OF_MEANS,  /* fields times probabilities, the paper's formula */
    OF_STATES, /* fields of the most probable state */
    OF_USED,   /* fields times probabilities, over the samples in the last M-step alone */
    BOTH_USED, /* the same, and the error of plain NMF over these samples too */
    OF_PLAIN   /* loadings times codes */
} error_kind;

/* What is done otherwise than listed, and how. */
static const struct setting {
    const char *name;
    const char *causes, *plain; /* options besides those listed; instead of them */
    error_kind kind;
    int64_t first; /* image */
} settings[] = {
    {"as listed", "", "", OF_MEANS, 0},
    {"120 iterations", "iterations=120", "", OF_MEANS, 0},
    {"120 iterations from 13, cut", "iterations=120 temperature=13:1 cut-factor=0.9", "", OF_MEANS,
     0},
    {"the same, as printed", "iterations=120 temperature=13:1 cut-factor=0.9 as-printed=1", "",
     OF_MEANS, 0},
    {"M-step solves", "mstep=solve", "", OF_MEANS, 0},
    {"all states", "candidates=12 max-active=12", "", OF_MEANS, 0},
    {"sigma 0.5", "sigma=0.5", "", OF_MEANS, 0},
    {"sigma 0.6", "sigma=0.6", "", OF_MEANS, 0},
    {"sigma 0.8", "sigma=0.8", "", OF_MEANS, 0},
    {"sigma 0.9", "sigma=0.9", "", OF_MEANS, 0},
    {"sigma learned", "sigma=0", "", OF_MEANS, 0},
    {"pixels from 0 to 10", "sigma=0.073", "", OF_MEANS, 0},
    {"prior 0.2", "prior=0.2", "", OF_MEANS, 0},
    {"prior 0.4", "prior=0.4", "", OF_MEANS, 0},
    {"prior 0.5", "prior=0.5", "", OF_MEANS, 0},
    {"prior learned", "learn-prior=1", "", OF_MEANS, 0},
    {"prior learned for each cause", "prior-per-cause=1", "", OF_MEANS, 0},
    {"prior 0.4, sigma 0.8", "prior=0.4 sigma=0.8", "", OF_MEANS, 0},
    {"images 1001 to 2000", "", "", OF_MEANS, 1000},
    {"images 2001 to 3000", "", "", OF_MEANS, 2000},
    {"best of 5 fits", "restarts=5", "", OF_MEANS, 0},
    {"most probable states", "", "", OF_STATES, 0},
    {"cut, error of samples used", "cut-factor=0.9", "", OF_USED, 0},
    {"the same, of both", "cut-factor=0.9", "", BOTH_USED, 0},
    {"prior 0.4, sigma 0.8, of both", "prior=0.4 sigma=0.8 cut-factor=0.9", "", BOTH_USED, 0},
    {"plain NMF: 120 iterations", "", "solver=multiplicative sweeps=1 iterations=120", OF_MEANS, 0},
    {"plain NMF: 50 iterations", "", "solver=multiplicative sweeps=1 iterations=50", OF_MEANS, 0},
    {"plain NMF: by divergence", "", "loss=kullback-leibler iterations=1000", OF_MEANS, 0},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

static void list(void) {
    printf("mnist: section 4.1.2 of the paper, the mean squared error is less than 5 %% above that "
           "of plain NMF\n"
           "    %d images of --data, the first ones, values divided by the largest\n"
           "    fit nmf-et: units=%d %s\n"
           "    fit nmf: units=%d %s\n"
           "    %d trials\n",
           SAMPLES, UNITS, listed, UNITS, plain_listed, TRIALS);
}

static void list_settings(void) {
    printf("mnist-settings: mnist, done otherwise; %d trials each\n", FEW_TRIALS);
    for (int i = 1; i < SETTINGS; i++)
        printf("    %-32s %s%s%s\n", settings[i].name, settings[i].causes,
               settings[i].kind == OF_MEANS ? "" : "(another error) ", settings[i].plain);
}

/* ---- data ---- */

/* Some images of a matrix, from 0 to 1. */
struct images {
    const rb_matrix *matrix;
    double largest;
    int64_t first, count;
    bool in[SAMPLES]; /* which count for an error */
};

static float pixel(const struct images *images, int64_t sample, int64_t feature) {
    double value = rb_matrix_at(images->matrix, images->first + sample, feature);
    return (float)(value / images->largest);
}

static rb_error fill(void *user, int64_t first, int64_t count, void *rows) {
    const struct images *images = user;
    int64_t features = rb_matrix_features(images->matrix);
    for (int64_t e = 0; e < count * features; e++)
        ((float *)rows)[e] = pixel(images, first + e / features, e % features);
    return RB_OK;
}

static rb_error open_images(rb_context *ctx, struct images *images, rb_source **source) {
    int64_t rest = rb_matrix_samples(images->matrix) - images->first;
    int64_t features = rb_matrix_features(images->matrix);
    images->count = rest < SAMPLES ? rest : SAMPLES;
    images->largest = 0;
    for (int64_t e = 0; e < images->count * features; e++)
        images->largest =
            fmax(images->largest,
                 rb_matrix_at(images->matrix, images->first + e / features, e % features));
    images->largest = images->largest > 0 ? images->largest : 1;
    return rb_source_from_callback(ctx, RB_FLOAT32, images->count, features, fill, images, source);
}

/* ---- fits ---- */

static rb_error fit(rb_context *ctx, const char *method, const char *usual, const char *otherwise,
                    int64_t seed, rb_source *source, rb_model **model) {
    rb_options *options = NULL;
    rb_error err = experiments_options_new(ctx, method, NULL, &options);
    err = err ? err
              : rb_options_set_all(ctx, options, "units=%d seed=%lld %s", UNITS, (long long)seed,
                                   usual);
    err = err || !*otherwise ? err : rb_options_set_all(ctx, options, "%s", otherwise);
    err = err ? err : experiments_fit(ctx, options, source, model);
    rb_options_free(options);
    return err;
}

/* ---- errors ---- */

/* Of a model and the samples that it was fitted to. */
struct look {
    const struct images *images;
    const double *fields;           /* features x units */
    float *rows;                    /* samples x features, rebuilt */
    double *errors, *log_evidences; /* one per sample */
};

static void look_free(struct look *look) {
    free(look->rows);
    free(look->errors);
    free(look->log_evidences);
}

static bool look_new(const struct images *images, const rb_model *model, struct look *look) {
    size_t count = (size_t)images->count, features = (size_t)rb_matrix_features(images->matrix);
    *look = (struct look){.images = images,
                          .fields = rb_model_array(model, "loadings", NULL, NULL),
                          .rows = calloc(count * features, sizeof *look->rows),
                          .errors = calloc(count, sizeof *look->errors),
                          .log_evidences = calloc(count, sizeof *look->log_evidences)};
    return look->fields && look->rows && look->errors && look->log_evidences;
}

/* Rebuilds a sample of its most probable state. */
static rb_error on_state(void *user, const rb_state *state) {
    struct look *look = user;
    int64_t features = rb_matrix_features(look->images->matrix);
    look->log_evidences[state->sample] = state->log_evidence;
    for (int64_t d = 0; d < features; d++) {
        double sum = 0;
        for (int64_t c = 0; c < state->count; c++)
            sum += look->fields[d * UNITS + state->causes[c]];
        look->rows[state->sample * features + d] = (float)sum;
    }
    return RB_OK;
}

static void find_errors(struct look *look) {
    int64_t features = rb_matrix_features(look->images->matrix);
    for (int64_t i = 0; i < look->images->count; i++) {
        double sum = 0;
        for (int64_t d = 0; d < features; d++)
            sum += pow(look->rows[i * features + d] - pixel(look->images, i, d), 2);
        look->errors[i] = sum / (double)features;
    }
}

/* The samples of largest evidence, as many as the last M-step had. */
static void choose_used(const struct look *look, const rb_model *model, struct images *images) {
    double used = *rb_model_array(model, "used", NULL, NULL);
    for (int64_t i = 0; i < images->count; i++) {
        double rank = 0;
        for (int64_t c = 0; c < images->count; c++)
            rank += look->log_evidences[c] > look->log_evidences[i];
        images->in[i] = rank < used;
    }
}

static void choose_all(struct images *images) {
    for (int64_t i = 0; i < images->count; i++)
        images->in[i] = true;
}

static double mean_error(const struct look *look) {
    double sum = 0, count = 0;
    for (int64_t i = 0; i < look->images->count; i++) {
        sum += look->images->in[i] ? look->errors[i] : 0;
        count += look->images->in[i];
    }
    return sum / count;
}

static rb_error measure(rb_context *ctx, const rb_model *model, struct images *images,
                        rb_source *source, error_kind kind, double *error) {
    struct look look;
    bool there = look_new(images, model, &look), causes = kind != OF_PLAIN;
    rb_error err = there ? RB_OK : RB_ERROR_MEMORY;
    if (!err && causes) err = rb_states(ctx, model, source, on_state, &look);
    if (!err && kind != OF_STATES)
        err = rb_reconstruct_into(ctx, model, source, RB_FLOAT32, look.rows,
                                  rb_matrix_features(images->matrix), 1);
    if (!err) {
        find_errors(&look);
        if (kind == OF_USED || kind == BOTH_USED) choose_used(&look, model, images);
        *error = mean_error(&look);
    }
    look_free(&look);
    return err;
}

/* ---- comparisons ---- */

struct result {
    double causes, plain; /* mean squared errors */
};

static rb_error compare(rb_context *ctx, const experiment_options *bench, const struct setting *how,
                        int64_t seed, struct images *images, rb_source *source,
                        struct result *result) {
    char iterations[64] = "", shape[64];
    int side = (int)lround(sqrt((double)rb_source_features(source)));
    rb_model *model = NULL, *plain = NULL;
    snprintf(shape, sizeof shape, "%dx%d", side, side);
    if (bench->iterations)
        snprintf(iterations, sizeof iterations, "iterations=%lld", (long long)bench->iterations);
    rb_error err =
        fit(ctx, "nmf-et", listed, *how->causes ? how->causes : iterations, seed, source, &model);
    choose_all(images);
    err = err ? err : measure(ctx, model, images, source, how->kind, &result->causes);
    if (how->kind != BOTH_USED) choose_all(images);
    err = err ? err
              : fit(ctx, "nmf", *how->plain ? how->plain : plain_listed, "", seed, source, &plain);
    err = err ? err : measure(ctx, plain, images, source, OF_PLAIN, &result->plain);
    if (!err && seed == bench->seed) err = experiments_picture(ctx, bench, model, shape);
    rb_model_free(plain);
    rb_model_free(model);
    return err;
}

static void print_result(const char *name, struct result r) {
    printf("%-32s %.5f           %.5f     %+6.1f %%              %+6.1f %%\n", name, r.causes,
           r.plain, 100 * (r.causes / r.plain - 1), 100 * (sqrt(r.causes / r.plain) - 1));
    fflush(stdout);
}

/* The mean over seeds; each: and of each of them. */
static rb_error run_setting(rb_context *ctx, const experiment_options *bench,
                            const struct setting *how, int64_t trials, bool each,
                            struct images *images) {
    struct result sum = {0, 0};
    rb_source *source = NULL;
    images->first = how->first;
    rb_error err = open_images(ctx, images, &source);
    for (int64_t t = 0; !err && t < trials && !interrupted(); t++) {
        struct result r;
        char name[32];
        snprintf(name, sizeof name, "seed %lld", (long long)(bench->seed + t));
        err = compare(ctx, bench, how, bench->seed + t, images, source, &r);
        if (err) break;
        if (each) print_result(name, r);
        sum.causes += r.causes / (double)trials;
        sum.plain += r.plain / (double)trials;
    }
    if (!err && !interrupted()) print_result(each ? "mean" : how->name, sum);
    rb_source_free(source);
    return err;
}

static void print_head(int64_t images) {
    printf("mnist: mean squared errors of %lld images; the paper says less than 5 %% more\n"
           "%-32s binary causes     plain NMF   more, mean square    more, root of it\n",
           (long long)images, "");
}

/* All settings, or the first alone. */
static rb_error run_settings(rb_context *ctx, const experiment_options *bench, bool all,
                             struct images *images) {
    int64_t trials = bench->trials ? bench->trials : all ? FEW_TRIALS : TRIALS;
    int64_t there = rb_matrix_samples(images->matrix);
    rb_error err = RB_OK;
    print_head(there < SAMPLES ? there : SAMPLES);
    for (int i = 0; i < (all ? SETTINGS : 1) && !err && !interrupted(); i++)
        if (settings[i].first < there)
            err = run_setting(ctx, bench, &settings[i], trials, !all, images);
    return err;
}

static int run(rb_context *ctx, const experiment_options *bench, bool all) {
    if (!experiments_has_data(bench, "images of digits, such as train-images-idx3-ubyte.gz"))
        return STATUS_USAGE;
    rb_matrix *matrix = NULL;
    rb_error err = rb_read(ctx, bench->data, NULL, &matrix);
    struct images images = {.matrix = matrix};
    err = err ? err : run_settings(ctx, bench, all, &images);
    rb_matrix_free(matrix);
    return err ? report_failure(ctx, err) : STATUS_DONE;
}

int experiments_mnist(rb_context *ctx, const experiment_options *options) {
    if (!options->list) return run(ctx, options, false);
    list();
    return STATUS_DONE;
}

int experiments_mnist_settings(rb_context *ctx, const experiment_options *options) {
    if (!options->list) return run(ctx, options, true);
    list_settings();
    return STATUS_DONE;
}
