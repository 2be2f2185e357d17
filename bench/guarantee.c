/* Does the objective ever fall with a guaranteed E-step? Counts it over the data sets D1 to D9 of
 * Clevert et al. 2015, 50, 100 and 150 units (fewer than features, as many, more), four learning
 * rates, both feasible sets, dense and sparse data, float64 and float32.
 *
 * F after an iteration must not be below F after the one before by more than rounding: in float64
 * 1e-10 of it; in float32 1e-5 of the sum of C_kk / Psi_kk, the size of the terms that F is the
 * difference of. The first iteration has no codes to go on from. Exit code 1 when F fell or a fit
 * broke off.
 */
#include "../tool/blas_choice.h"

#include "options.h"

#include <rarebit/rarebit.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct estep {
    const char *name;
    const char *options;
};

static const struct estep esteps[] = {
    {"newton", "estep=newton"},   {"gradient", "estep=gradient"},
    {"cyclic", "estep=cyclic"},   {"annealed", "estep=annealed"},
    {"reduced", "estep=reduced"}, {"grg", "estep=grg"},
    {"rosen", "estep=rosen"},     {"haug-arora", "estep=haug-arora"},
    {"cascade", "estep=cascade"}, {"cascade, any decrease", "estep=cascade accept=any"},
};
static const int64_t units[] = {50, 100, 150};
static const double etas[] = {0.01, 0.1, 0.5, 1};

struct count {
    int fits, broken; /* broken: numbers became infinite, or a matrix singular */
    long long iterations, falls;
    double largest; /* fall, as a share of F */
};

static void stop_on_error(rb_context *context, rb_error err) {
    if (err) {
        fprintf(stderr, "guarantee: %s\n", rb_context_error(context));
        exit(1);
    }
}

enum { N = 100, M = 100 };

/* What a matrix of stored values looks at. */
struct stored {
    int64_t starts[N + 1];
    int32_t columns[N * M];
    double values[N * M];
};

/* The same data with small values 0, as rows of what is stored. */
static rb_matrix *make_sparse(rb_context *context, const rb_matrix *dense, struct stored *stored) {
    int64_t count = 0;
    rb_matrix *sparse = NULL;
    stored->starts[0] = 0;
    for (int64_t i = 0; i < N; i++) {
        for (int64_t k = 0; k < M; k++) {
            double x = rb_matrix_at(dense, i, k);
            if (fabs(x) > 0.4) {
                stored->columns[count] = (int32_t)k;
                stored->values[count++] = x;
            }
        }
        stored->starts[i + 1] = count;
    }
    stop_on_error(context, rb_matrix_csr(context, RB_FLOAT64, N, M, stored->starts, stored->columns,
                                         stored->values, &sparse));
    return sparse;
}

/* The sum of C_kk / Psi_kk: variances of the data over the noise variances of the model. */
static double size_of_terms(const rb_matrix *matrix, const rb_model *model) {
    const double *noise = rb_model_array(model, "noise", NULL, NULL);
    double sum = 0;
    for (int64_t k = 0; k < M; k++) {
        double mean = 0, square = 0;
        for (int64_t i = 0; i < N; i++) {
            double x = rb_matrix_at(matrix, i, k);
            mean += x / N;
            square += x * x / N;
        }
        sum += (square - mean * mean) / noise[k];
    }
    return sum;
}

/* Falls by more than a share of F and so much besides. */
static void count_falls(const rb_model *model, double relative, double absolute,
                        struct count *count) {
    double before = NAN, now;
    for (int64_t t = 1; t < rb_model_iterations(model); t++) {
        rb_model_history(model, t, &now, NULL, NULL);
        double fall = before - now;
        count->falls += fall > relative * fabs(before) + absolute;
        count->largest = fmax(count->largest, fall / fabs(before));
        before = now;
    }
    count->iterations += rb_model_iterations(model);
    count->fits++;
}

static void run_fit(rb_context *context, const rb_matrix *matrix, rb_source *source,
                    const rb_options *options, int precision, struct count *count) {
    rb_model *model = NULL;
    rb_error err = rb_fit(context, options, source, NULL, &model);
    if (err == RB_ERROR_NUMERIC) {
        count->fits++;
        count->broken++;
        return;
    }
    stop_on_error(context, err);
    count_falls(model, 1e-10, precision == RB_FLOAT64 ? 0 : 1e-5 * size_of_terms(matrix, model),
                count);
    rb_model_free(model);
}

/* One data set, in one form: all units and rates. */
static void run_source(rb_context *context, const rb_matrix *matrix, rb_source *source,
                       const struct estep *estep, const char *normalize, int64_t iterations,
                       int precision, struct count *count) {
    for (int u = 0; u < 3; u++) {
        for (int e = 0; e < 4; e++) {
            /* The last E-step is of no interest here. */
            rb_options *options = bench_options(
                context, "rfn", NULL,
                "preset=paper units=%lld eta=%.17g %s normalize=%s iterations=%lld precision=%s "
                "estep-tolerance=1",
                (long long)units[u], etas[e], estep->options, normalize, (long long)iterations,
                precision == RB_FLOAT64 ? "float64" : "float32");
            run_fit(context, matrix, source, options, precision, count);
            rb_options_free(options);
        }
    }
}

static bool run_row(rb_context *context, const struct estep *estep, const char *normalize,
                    bool sparse, int precision, int64_t iterations) {
    struct count count = {0};
    for (int d = 1; d <= 9; d++) {
        rb_options *data = bench_options(context, NULL, rb_biclusters_group(), "dataset=D%d", d);
        rb_matrix *matrix;
        rb_source *source;
        stop_on_error(context, rb_simulate_biclusters(context, data, &matrix, NULL));
        rb_options_free(data);
        if (sparse) {
            static struct stored stored;
            rb_matrix *dense = matrix;
            matrix = make_sparse(context, dense, &stored);
            rb_matrix_free(dense);
        }
        stop_on_error(context, rb_source_from_matrix(context, matrix, &source));
        run_source(context, matrix, source, estep, normalize, iterations, precision, &count);
        rb_source_free(source);
        rb_matrix_free(matrix);
    }
    printf("| %s | %s | %s | %s | %d | %d | %lld | %lld | %.1e |\n", estep->name, normalize,
           sparse ? "sparse" : "dense", precision == RB_FLOAT64 ? "float64" : "float32", count.fits,
           count.broken, count.iterations, count.falls, fmax(count.largest, 0));
    fflush(stdout);
    return (count.falls == 0 && count.broken == 0) || strcmp(estep->name, "newton") == 0;
}

int main(int argc, char **argv) {
    choose_blas(argv);
    int iterations = argc > 1 ? atoi(argv[1]) : 1000;
    const char *only = argc > 2 ? argv[2] : NULL;
    if (iterations < 2) {
        fprintf(stderr, "usage: guarantee [ITERATIONS, at least 2] [E-STEP]\n");
        return 2;
    }
    rb_context *context;
    if (rb_context_new(&context)) {
        fprintf(stderr, "guarantee: out of memory\n");
        return 1;
    }
    printf("rarebit %s\n\n| E-step | normalize | data | numbers | fits | broke off | iterations | "
           "falls of F | largest |\n|---|---|---|---|---|---|---|---|---|\n",
           rb_version());
    bool good = true;
    for (size_t e = 0; e < sizeof esteps / sizeof *esteps; e++) {
        for (int form = 0; form < 4 && (!only || strcmp(only, esteps[e].name) == 0); form++) {
            /* rms and none, dense, float64; then sparse in float64, and dense in float32 */
            const char *normalize = form == 1 ? "none" : "rms";
            good = run_row(context, &esteps[e], normalize, form == 2,
                           form == 3 ? RB_FLOAT32 : RB_FLOAT64, iterations) &&
                   good;
        }
    }
    rb_context_free(context);
    return good ? 0 : 1;
}
