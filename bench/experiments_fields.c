/* Experiments whose result is a picture of the fields: MCA on patches of a photograph (section
 * 4.2.2 of the paper), LinCA on segments of speech (section 4.3.2). */
#include "experiments.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

struct field_experiment {
    const char *name, *method, *data, *where, *shape;
    int64_t units, candidates, max_active;
    double prior, sigma, weight_noise;
    const char *temperature;
    int64_t iterations;
    int64_t most; /* samples, evenly spread; 0: all */
    rb_error (*open)(rb_context *ctx, const experiment_options *options, rb_source **source);
};

static void list(const struct field_experiment *e) {
    char most[64] = "";
    if (e->most)
        snprintf(most, sizeof most, "    %lld of the samples, evenly spread\n", (long long)e->most);
    printf("%s: %s of the paper\n    rarebit %s\n%s"
           "    rarebit fit %s -k %lld --candidates %lld --max-active %lld --prior %g --sigma %g "
           "--temperature %s --weight-noise %g --iterations %lld\n",
           e->name, e->where, e->data, most, e->method, (long long)e->units,
           (long long)e->candidates, (long long)e->max_active, e->prior, e->sigma, e->temperature,
           e->weight_noise, (long long)e->iterations);
}

static rb_error new_options(rb_context *ctx, const struct field_experiment *e,
                            const experiment_options *bench, rb_options **options) {
    rb_error err = experiments_options_new(ctx, e->method, NULL, options);
    long long iterations = (long long)(bench->iterations ? bench->iterations : e->iterations);
    return err ? err
               : rb_options_set_all(ctx, *options,
                                    "units=%lld candidates=%lld max-active=%lld prior=%.17g "
                                    "sigma=%.17g temperature=%s weight-noise=%.17g "
                                    "iterations=%lld seed=%lld",
                                    (long long)e->units, (long long)e->candidates,
                                    (long long)e->max_active, e->prior, e->sigma, e->temperature,
                                    e->weight_noise, iterations, (long long)bench->seed);
}

static void print_result(const struct field_experiment *e, const rb_model *model,
                         const rb_metrics *v, double seconds) {
    printf("%s: %lld samples x %lld features, %lld causes, %lld iterations\n", e->name,
           (long long)rb_metrics_get(v, "samples"), (long long)rb_metrics_get(v, "features"),
           (long long)e->units, (long long)rb_model_iterations(model));
    printf("    an iteration              %.3g s, %.2f us per sample\n", seconds,
           1e6 * seconds / rb_metrics_get(v, "samples"));
    printf("    log likelihood per sample   %.4f\n", rb_metrics_get(v, "log_likelihood"));
    printf("    mean squared error        %.4f (variance explained %.4f)\n",
           rb_metrics_get(v, "mean_squared_error"), rb_metrics_get(v, "variance_explained"));
    printf("    causes used               %lld\n", (long long)rb_metrics_get(v, "causes_used"));
}

static rb_error fit_fields(rb_context *ctx, const struct field_experiment *e,
                           const experiment_options *options, rb_source *source) {
    rb_options *how = NULL;
    rb_model *model = NULL;
    rb_metrics *metrics = NULL;
    rb_error err = new_options(ctx, e, options, &how);
    err = err ? err : experiments_fit(ctx, how, source, &model);
    rb_options_free(how);
    if (!err) err = experiments_picture(ctx, options, model, e->shape);
    if (!err) err = rb_evaluate(ctx, model, source, &metrics);
    if (!err) print_result(e, model, metrics, experiments_median_seconds(model));
    rb_metrics_free(metrics);
    rb_model_free(model);
    return err;
}

/* Some of the samples, copied. */
struct chosen {
    float *rows;
    int64_t features;
};

static rb_error give_chosen(void *user, int64_t first, int64_t count, void *rows) {
    const struct chosen *c = user;
    memcpy(rows, c->rows + first * c->features, (size_t)(count * c->features) * sizeof *c->rows);
    return RB_OK;
}

/* `most` samples, evenly spread, instead of all. */
static rb_error choose(rb_context *ctx, int64_t most, rb_source **source, struct chosen *chosen) {
    int64_t all = rb_source_samples(*source), d = rb_source_features(*source);
    rb_error err = RB_OK;
    rb_source *part = NULL;
    if (most == 0 || all <= most) return RB_OK;
    *chosen = (struct chosen){calloc((size_t)(most * d), sizeof(float)), d};
    if (!chosen->rows) return RB_ERROR_MEMORY;
    for (int64_t i = 0; !err && i < most; i++) {
        err = rb_source_slice(ctx, *source, (int64_t)((double)i * (double)all / (double)most), 1,
                              &part);
        err = err ? err : rb_source_read_into(ctx, part, RB_FLOAT32, chosen->rows + i * d, d, 1);
        rb_source_free(part);
        part = NULL;
    }
    err = err ? err : rb_source_from_callback(ctx, RB_FLOAT32, most, d, give_chosen, chosen, &part);
    if (err) return err;
    rb_source_free(*source);
    *source = part;
    return RB_OK;
}

static int run(rb_context *ctx, const struct field_experiment *e, const experiment_options *options,
               const char *what) {
    rb_source *source = NULL;
    struct chosen chosen = {0};
    if (options->list) {
        list(e);
        return STATUS_DONE;
    }
    if (!experiments_has_data(options, what)) return STATUS_USAGE;
    rb_error err = e->open(ctx, options, &source);
    if (!err) err = choose(ctx, e->most, &source, &chosen);
    if (!err) err = fit_fields(ctx, e, options, source);
    rb_source_free(source);
    free(chosen.rows);
    return err ? report_failure(ctx, err) : STATUS_DONE;
}

/* ---- patches ---- */

static rb_error open_patches(rb_context *ctx, const experiment_options *options,
                             rb_source **source) {
    rb_options *patches = NULL;
    rb_error err = experiments_options_new(ctx, NULL, rb_patches_group(), &patches);
    err = err ? err
              : rb_options_set_all(ctx, patches, "scale=0:10 seed=%lld", (long long)options->seed);
    err = err ? err : rb_patches(ctx, &options->data, 1, patches, source);
    rb_options_free(patches);
    return err;
}

static int run_patches(rb_context *ctx, const experiment_options *options, const char *name,
                       int64_t units) {
    const struct field_experiment e = {
        .name = name,
        .method = "mca",
        .data = "patches DATA --size 10x10 --count 40000 --scale 0:10",
        .where = "section 4.2.2, figure 9",
        .shape = "10x10",
        .units = units,
        .candidates = 5,
        .max_active = 3,
        .prior = 2 / (double)units,
        .sigma = 1,
        .weight_noise = 0.01,
        .temperature = "0=4,0.05=4,0.4=1.05",
        .iterations = 800,
        .open = open_patches,
    };
    return run(ctx, &e, options, "a photograph, PNG or PGM");
}

int experiments_patches_50(rb_context *ctx, const experiment_options *options) {
    return run_patches(ctx, options, "patches-50", 50);
}

int experiments_patches_100(rb_context *ctx, const experiment_options *options) {
    return run_patches(ctx, options, "patches-100", 100);
}

/* ---- sound ---- */

static int visible(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

/* "folder/name", or a copy of the folder when there is no name. */
static char *join(const char *folder, const char *name) {
    size_t size = strlen(folder) + (name ? strlen(name) : 0) + 2;
    char *path = malloc(size);
    if (path) snprintf(path, size, "%s%s%s", folder, name ? "/" : "", name ? name : "");
    return path;
}

static void free_paths(char **paths, int count) {
    for (int i = 0; paths && i < count; i++)
        free(paths[i]);
    free(paths);
}

/* The files of a folder, by name, or the one file. NULL: out of memory. */
static char **list_recordings(const char *path, int *count) {
    struct dirent **entries = NULL;
    int found = scandir(path, &entries, visible, alphasort);
    bool complete = true;
    *count = found > 0 ? found : 1;
    char **paths = calloc((size_t)*count, sizeof *paths);
    for (int i = 0; paths && i < *count; i++) {
        paths[i] = join(path, found > 0 ? entries[i]->d_name : NULL);
        complete = complete && paths[i];
    }
    for (int i = 0; i < found; i++)
        free(entries[i]);
    free(entries);
    if (!complete) {
        free_paths(paths, *count);
        paths = NULL;
    }
    return paths;
}

static rb_error open_segments(rb_context *ctx, const experiment_options *options,
                              rb_source **source) {
    rb_options *segments = NULL;
    int count;
    char **paths = list_recordings(options->data, &count);
    if (!paths) return RB_ERROR_MEMORY;
    rb_error err = experiments_options_new(ctx, NULL, rb_segments_group(), &segments);
    err = err ? err : rb_options_set_all(ctx, segments, "length=200 peak=5 trim-silence=true");
    err = err ? err : rb_segments(ctx, (const char *const *)paths, count, segments, source);
    rb_options_free(segments);
    free_paths(paths, count);
    return err;
}

static int run_sound(rb_context *ctx, const experiment_options *options, const char *name,
                     int64_t units, int64_t most) {
    const struct field_experiment e = {
        .name = name,
        .method = "linca",
        .data = "segments DATA --length 200 --step 1 --peak 5 --trim-silence",
        .where = "section 4.3.2, figure 11",
        .shape = "200",
        .units = units,
        .candidates = 10,
        .max_active = 4,
        .prior = 2 / (double)units,
        .sigma = 0.5,
        .weight_noise = -1,
        .temperature = "0=5,0.05=5,0.4=1",
        .iterations = 400,
        .most = most,
        .open = open_segments,
    };
    return run(ctx, &e, options, "a recording of speech, or a folder of them");
}

int experiments_sound(rb_context *ctx, const experiment_options *options) {
    return run_sound(ctx, options, "sound", 200, 0);
}

int experiments_sound_400(rb_context *ctx, const experiment_options *options) {
    return run_sound(ctx, options, "sound-400", 400, 100000);
}
