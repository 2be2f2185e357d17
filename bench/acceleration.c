/* How many evaluations (an E-step and an M-step each) acceleration saves: ./run acceleration
 *
 * The target of each data set is the objective of 1000 plain iterations at eta 0.1, cyclic E-step,
 * 50 units. Printed is after how many evaluations the others reach it, and by how much they exceed
 * it after 1000. No objective may fall: exit code 1 when one does, beyond rounding.
 */
#include "../tool/blas_choice.h"
#include "bench.h"
#include "inside/curves.h"
#include "options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { DATA_SETS = 9, MAX_INSTANCES = 100, CURVES = 4, EVALUATIONS = 1000 };
enum { NEVER = EVALUATIONS + 1 };

/* What is compared, and the mean over all fits of F less that of the first one's end. */
typedef struct curve {
    const char *name;
    double eta;
    const char *accelerate;
    double mean[EVALUATIONS];
} curve;

static curve curves[CURVES] = {
    {.name = "plain, eta 0.1", .eta = 0.1, .accelerate = "none"},
    {.name = "plain, eta 1", .eta = 1, .accelerate = "none"},
    {.name = "squarem, eta 1", .eta = 1, .accelerate = "squarem"},
    {.name = "nesterov, eta 1", .eta = 1, .accelerate = "nesterov"},
};

/* Of all fits with one data set, or all. */
struct metrics {
    int count;
    double reached[CURVES][DATA_SETS * MAX_INSTANCES], gain[CURVES];
};

static double worst_fall;

static void fit(rb_context *ctx, rb_source *source, const curve *c, int64_t seed, double *f) {
    rb_options *options = bench_options(
        ctx, "rfn", NULL,
        "preset=paper units=50 eta=%.17g estep=cyclic iterations=%d precision=float64 seed=%lld "
        "accelerate=%s",
        c->eta, EVALUATIONS, (long long)seed, c->accelerate);
    rb_model *model;
    bench_check(ctx, rb_fit(ctx, options, source, NULL, &model));
    rb_options_free(options);
    for (int t = 0; t < EVALUATIONS; t++) {
        bench_check(ctx, rb_model_history(model, t, &f[t], NULL, NULL));
        if (t > 0) worst_fall = fmax(worst_fall, (f[t - 1] - f[t]) / fabs(f[t]));
    }
    rb_model_free(model);
}

static double evaluations_until(const double *f, double target) {
    for (int t = 0; t < EVALUATIONS; t++)
        if (f[t] >= target) return t + 1;
    return NEVER;
}

static void run_instance(rb_context *ctx, int dataset, int64_t seed, struct metrics *metrics) {
    static double f[EVALUATIONS];
    rb_options *data = bench_options(ctx, NULL, rb_biclusters_group(), "dataset=D%d seed=%lld",
                                     dataset + 1, (long long)seed);
    rb_matrix *matrix;
    rb_source *source;
    bench_check(ctx, rb_simulate_biclusters(ctx, data, &matrix, NULL));
    rb_options_free(data);
    bench_check(ctx, rb_source_from_matrix(ctx, matrix, &source));
    double target = 0;
    for (int c = 0; c < CURVES; c++) {
        fit(ctx, source, &curves[c], seed, f);
        target = c == 0 ? f[EVALUATIONS - 1] : target;
        metrics->reached[c][metrics->count] = evaluations_until(f, target);
        metrics->gain[c] += f[EVALUATIONS - 1] - target;
        for (int t = 0; t < EVALUATIONS; t++)
            curves[c].mean[t] += f[t] - target;
    }
    metrics->count++;
    rb_source_free(source);
    rb_matrix_free(matrix);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_row(const char *name, struct metrics *f) {
    printf("| %-4s |", name);
    for (int c = 1; c < CURVES; c++) {
        double *reached = f->reached[c];
        qsort(reached, (size_t)f->count, sizeof *reached, ascending);
        double median = (reached[(f->count - 1) / 2] + reached[f->count / 2]) / 2;
        printf(" %5.5g (%.0f-%.0f) %+.2f |", median, reached[0], reached[f->count - 1],
               f->gain[c] / f->count);
    }
    printf("\n");
    fflush(stdout);
}

static void add_metrics(struct metrics *all, const struct metrics *some) {
    for (int c = 0; c < CURVES; c++) {
        for (int i = 0; i < some->count; i++)
            all->reached[c][all->count + i] = some->reached[c][i];
        all->gain[c] += some->gain[c];
    }
    all->count += some->count;
}

static bool draw(const char *path) {
    static double evaluations[EVALUATIONS];
    bench_curve lines[CURVES];
    for (int t = 0; t < EVALUATIONS; t++)
        evaluations[t] = t + 1;
    for (int c = 0; c < CURVES; c++)
        lines[c] = (bench_curve){curves[c].name, EVALUATIONS, evaluations, curves[c].mean, false};
    return bench_draw(
        path, "F, less that of 1000 plain iterations at eta 0.1",
        &(bench_axis){"evaluations: an E-step and an M-step each", 5, EVALUATIONS, true},
        &(bench_axis){"nats per sample, mean", -4, 2, false}, lines, CURVES);
}

int main(int argc, char **argv) {
    choose_blas(argv);
    static struct metrics all, some;
    int instances = argc > 1 ? atoi(argv[1]) : 2;
    if (instances < 1 || instances > MAX_INSTANCES) {
        fprintf(stderr, "usage: acceleration [INSTANCES, 1 to %d [PICTURE.png]]\n", MAX_INSTANCES);
        return 2;
    }
    rb_context *ctx;
    if (rb_context_new(&ctx)) {
        fprintf(stderr, "acceleration: out of memory\n");
        return 1;
    }
    printf(
        "rarebit %s, %d instances a data set, 50 units, cyclic E-step; evaluations until F is "
        "that of 1000\nplain ones at eta 0.1: median (least-most), and mean of F less that after "
        "%d\n\n| data | plain, eta 1 | squarem, eta 1 | nesterov, eta 1 |\n| --- | --- | --- | "
        "--- |\n",
        rb_version(), instances, EVALUATIONS);
    for (int dataset = 0; dataset < DATA_SETS; dataset++) {
        char name[8];
        some = (struct metrics){0};
        for (int64_t seed = 1; seed <= instances; seed++)
            run_instance(ctx, dataset, seed, &some);
        add_metrics(&all, &some);
        snprintf(name, sizeof name, "D%d", dataset + 1);
        print_row(name, &some);
    }
    print_row("all", &all);
    printf("\nlargest fall of F in any iteration: %.2g of itself\n", worst_fall);
    rb_context_free(ctx);
    for (int c = 0; c < CURVES; c++)
        for (int t = 0; t < EVALUATIONS; t++)
            curves[c].mean[t] /= all.count;
    bool drawn = argc <= 2 || draw(argv[2]);
    return !drawn || worst_fall > 1e-10;
}
