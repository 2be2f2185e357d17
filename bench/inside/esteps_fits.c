/* What the E-steps make of whole fits on the data sets of Clevert et al. 2015: sparseness, errors,
 * objective, recovery of the planted modules, time; and two pictures of it. */
#include "../options.h"
#include "curves.h"
#include "esteps.h"

#include <math.h>
#include <stdio.h>

enum { ITERATIONS = 1000, KINDS = 11, DRAWN = 7 };

static const struct kind {
    const char *name;
    const char *options;
} kinds[KINDS] = {
    {"newton", "preset=paper estep=newton"},
    {"preset sparse", "preset=sparse"},
    {"gradient", "preset=paper estep=gradient"},
    {"cyclic", "preset=paper estep=cyclic"},
    {"reduced", "preset=paper estep=reduced"},
    {"cascade", "preset=paper estep=cascade"},
    {"cascade, any", "preset=paper estep=cascade accept=any"},
    {"grg", "preset=paper estep=grg"},
    {"rosen", "preset=paper estep=rosen"},
    {"haug-arora", "preset=paper estep=haug-arora"},
    {"annealed", "preset=paper estep=annealed"},
};

struct result {
    double sparseness, reconstruction, covariance, objective, recovery, milliseconds;
};

/* How well the modules of a fit agree with the planted ones. */
static double recovery_of(rb_context *ctx, const rb_model *model, rb_source *source,
                          const rb_modules *truth) {
    rb_options *rule = bench_options(ctx, NULL, rb_modules_group(), "rule=fabia best=%lld",
                                     (long long)rb_modules_count(truth));
    rb_modules *found;
    rb_match match = {.size = sizeof match};
    bench_check(ctx, rb_modules_find(ctx, model, source, rule, &found));
    rb_options_free(rule);
    bench_check(ctx, rb_modules_match(ctx, found, truth, &match));
    double score = match.consensus_score;
    rb_match_clear(&match);
    rb_modules_free(found);
    return score;
}

static double median_milliseconds(const rb_model *model) {
    static bench_times times;
    times.count = 0;
    for (int64_t t = 0; t < rb_model_iterations(model); t++) {
        double seconds;
        rb_model_history(model, t, NULL, NULL, &seconds);
        bench_add(&times, seconds);
    }
    return 1e3 * bench_median(&times);
}

/* One fit; the objective after each iteration into `curve` if it is not NULL. */
static struct result run(rb_context *ctx, const struct kind *kind, const char *dataset,
                         int64_t units, int64_t seed, double *curve) {
    rb_options *data = bench_options(ctx, NULL, rb_biclusters_group(), "dataset=%s seed=%lld",
                                     dataset, (long long)seed);
    rb_options *options = bench_options(ctx, "rfn", NULL, "units=%lld seed=%lld %s",
                                        (long long)units, (long long)seed, kind->options);
    rb_matrix *matrix;
    rb_modules *truth;
    rb_source *source;
    rb_model *model;
    rb_metrics *e;
    bench_check(ctx, rb_simulate_biclusters(ctx, data, &matrix, &truth));
    bench_check(ctx, rb_source_from_matrix(ctx, matrix, &source));
    bench_check(ctx, rb_fit(ctx, options, source, NULL, &model));
    bench_check(ctx, rb_evaluate(ctx, model, source, &e));
    struct result result = {
        rb_metrics_get(e, "sparseness"),        rb_metrics_get(e, "reconstruction_error"),
        rb_metrics_get(e, "covariance_error"),  rb_metrics_get(e, "objective"),
        recovery_of(ctx, model, source, truth), median_milliseconds(model)};
    for (int64_t t = 0; curve && t < rb_model_iterations(model); t++)
        rb_model_history(model, t, &curve[t], NULL, NULL);
    rb_metrics_free(e);
    rb_options_free(options);
    rb_options_free(data);
    rb_model_free(model);
    rb_source_free(source);
    rb_modules_free(truth);
    rb_matrix_free(matrix);
    return result;
}

static struct result mean_of(rb_context *ctx, const struct kind *kind, const char *dataset,
                             int64_t units, int instances, double *curve) {
    struct result sum = {0};
    for (int i = 0; i < instances; i++) {
        struct result r = run(ctx, kind, dataset, units, i + 1, i == 0 ? curve : NULL);
        sum.sparseness += r.sparseness / instances;
        sum.reconstruction += r.reconstruction / instances;
        sum.covariance += r.covariance / instances;
        sum.objective += r.objective / instances;
        sum.recovery += r.recovery / instances;
        sum.milliseconds += r.milliseconds / instances;
    }
    return sum;
}

static void draw_objectives(const double curves[KINDS][ITERATIONS], const char *folder) {
    static double iterations[ITERATIONS];
    /* F with another prior, as the preset has it, is another objective. */
    static const int drawn[DRAWN] = {0, KINDS - 1, 2, 3, 4, 5, 6};
    bench_curve lines[DRAWN];
    double high = -INFINITY;
    for (int t = 0; t < ITERATIONS; t++)
        iterations[t] = t + 1;
    for (int c = 0; c < DRAWN; c++) {
        lines[c] =
            (bench_curve){kinds[drawn[c]].name, ITERATIONS, iterations, curves[drawn[c]], false};
        high = fmax(high, curves[drawn[c]][ITERATIONS - 1]);
    }
    char path[512];
    snprintf(path, sizeof path, "%s/estep-objective.png", folder);
    bench_draw(path, "Objective F by E-step, D1, 50 units",
               &(bench_axis){"iteration", 5, ITERATIONS, true},
               &(bench_axis){"objective", high - 30, high + 1, false}, lines, DRAWN);
}

/* Sparseness against reconstruction error, a point for each E-step. */
static void draw_errors(const struct result *results, const char *folder) {
    bench_curve points[KINDS];
    double low = INFINITY, high = 0;
    for (int k = 0; k < KINDS; k++) {
        points[k] = (bench_curve){kinds[k].name, 1, &results[k].reconstruction,
                                  &results[k].sparseness, true};
        low = fmin(low, results[k].reconstruction);
        high = fmax(high, results[k].reconstruction);
    }
    char path[512];
    snprintf(path, sizeof path, "%s/estep-sparseness.png", folder);
    bench_draw(path, "What sparseness costs: D1, 50 units",
               &(bench_axis){"reconstruction error", 0.95 * low, 1.03 * high, false},
               &(bench_axis){"sparseness: share of codes that are 0", 0.3, 0.9, false}, points,
               KINDS);
}

void esteps_compare_fits(rb_context *ctx, int instances, const char *folder) {
    static const struct {
        const char *dataset;
        int64_t units;
    } cases[] = {{"D1", 50}, {"D3", 50}, {"D1", 100}, {"D3", 100}};
    static double curves[KINDS][ITERATIONS];
    printf("\nFits: %d instances, %d iterations (preset sparse: 850), eta 0.1, rms; SP %%, ER, CO, "
           "F of converged codes; recovery: consensus score; time: of an iteration, median\n\n"
           "| data | units | E-step | SP | ER | CO | F | recovery | ms |\n"
           "|---|---|---|---|---|---|---|---|---|\n",
           instances, ITERATIONS);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct result results[KINDS];
        for (int k = 0; k < KINDS; k++) {
            struct result r = results[k] = mean_of(ctx, &kinds[k], cases[c].dataset, cases[c].units,
                                                   instances, c == 0 ? curves[k] : NULL);
            printf("| %s | %lld | %s | %.1f | %.1f | %.2f | %.1f | %.2f | %.2f |\n",
                   cases[c].dataset, (long long)cases[c].units, kinds[k].name, 100 * r.sparseness,
                   r.reconstruction, r.covariance, r.objective, r.recovery, r.milliseconds);
            fflush(stdout);
        }
        if (c == 0) {
            draw_objectives(curves, folder);
            draw_errors(results, folder);
        }
    }
}
