/* The RFN and RFNn rows of the paper's tables (Clevert et al. 2015, supplement), ours beside them.
 *
 * Sparseness must be within 2 points. Reconstruction and covariance error: the distance of our mean
 * from the interval [table, table + 1) (the published metrics look truncated) may be at most the
 * largest of 6 %, 1.5 units and 3 standard errors of our mean. Exit code 1 when a row misses.
 */
#include "tables.h"

#include "../tool/blas_choice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row {
    const char *dataset;
    int64_t units;
    bool rest; /* set II: the entries outside have sd 0.5 */
    int normalize;
    double sp, er, co; /* of the paper */
};

enum { RFN = 0, RFNN = 1 }; /* normalised, or not */
static const struct row rows[] = {
    {"D1", 50, false, RFN, 74, 58, 5},      {"D3", 50, false, RFN, 75, 456, 253},
    {"D7", 50, false, RFN, 75, 53, 4},      {"D1", 50, false, RFNN, 73, 85, 13},
    {"D3", 50, false, RFNN, 75, 531, 321},  {"D7", 50, false, RFNN, 73, 73, 10},
    {"D1", 100, false, RFN, 79, 23, 2},     {"D3", 100, false, RFN, 82, 120, 61},
    {"D7", 100, false, RFN, 80, 18, 1},     {"D1", 100, false, RFNN, 77, 61, 6},
    {"D3", 100, false, RFNN, 80, 326, 135}, {"D7", 100, false, RFNN, 78, 49, 4},
    {"D1", 50, true, RFN, 72, 74, 11},      {"D3", 50, true, RFN, 75, 462, 260},
    {"D7", 50, true, RFN, 73, 68, 9},       {"D1", 50, true, RFNN, 68, 122, 32},
    {"D3", 50, true, RFNN, 74, 537, 331},   {"D7", 50, true, RFNN, 71, 106, 23},
    {"D1", 100, true, RFN, 76, 34, 4},      {"D3", 100, true, RFN, 82, 124, 63},
    {"D7", 100, true, RFN, 77, 30, 3},      {"D1", 100, true, RFNN, 71, 110, 25},
    {"D3", 100, true, RFNN, 80, 331, 139},  {"D7", 100, true, RFNN, 74, 86, 14},
};

struct mean mean_of(const double *values, int count) {
    double sum = 0, squares = 0;
    for (int i = 0; i < count; i++)
        sum += values[i];
    for (int i = 0; i < count; i++)
        squares += (values[i] - sum / count) * (values[i] - sum / count);
    return (struct mean){sum / count, count > 1 ? sqrt(squares / (count - 1)) : 0};
}

void stop_on_error(rb_context *context, rb_error err) {
    if (err) {
        fprintf(stderr, "tables: %s\n", rb_context_error(context));
        exit(1);
    }
}

/* One instance of one row: data, fit, metrics. */
static rb_metrics *run_instance(rb_context *context, const struct row *row, int64_t seed) {
    rb_options *data =
        bench_options(context, NULL, rb_biclusters_group(), "dataset=%s rest-sd=%g seed=%lld",
                      row->dataset, row->rest ? 0.5 : 0.01, (long long)seed);
    rb_options *options =
        bench_options(context, "rfn", NULL,
                      "preset=paper units=%lld normalize=%s iterations=1000 "
                      "seed=%lld",
                      (long long)row->units, row->normalize ? "none" : "sd", (long long)seed);
    rb_matrix *matrix = NULL;
    rb_source *source = NULL;
    rb_model *model = NULL;
    rb_metrics *metrics;
    stop_on_error(context, rb_simulate_biclusters(context, data, &matrix, NULL));
    stop_on_error(context, rb_source_from_matrix(context, matrix, &source));
    stop_on_error(context, rb_fit(context, options, source, NULL, &model));
    stop_on_error(context, rb_evaluate(context, model, source, &metrics));
    rb_options_free(data);
    rb_options_free(options);
    rb_model_free(model);
    rb_source_free(source);
    rb_matrix_free(matrix);
    return metrics;
}

/* Is our mean close enough to a figure that may have been truncated? */
static bool near_table(struct mean ours, double table, int count) {
    double distance = fmax(fmax(table - ours.mean, ours.mean - (table + 1)), 0);
    double allowed = fmax(0.06 * table, fmax(1.5, 3 * ours.sd / sqrt(count)));
    return distance <= allowed;
}

static bool run_row(rb_context *context, const struct row *row, int instances) {
    double sp[MAX_INSTANCES], er[MAX_INSTANCES], co[MAX_INSTANCES];
    for (int i = 0; i < instances; i++) {
        rb_metrics *e = run_instance(context, row, i + 1);
        sp[i] = 100 * rb_metrics_get(e, "sparseness");
        er[i] = rb_metrics_get(e, "reconstruction_error");
        co[i] = rb_metrics_get(e, "covariance_error");
        rb_metrics_free(e);
    }
    struct mean s = mean_of(sp, instances), r = mean_of(er, instances), c = mean_of(co, instances);
    bool good = fabs(s.mean - row->sp) <= 2 && near_table(r, row->er, instances) &&
                near_table(c, row->co, instances);
    printf(
        "| %s | %3s | %4lld | %-4s | %5.1f | %7.1f (%.1f) | %7.1f (%.1f) | %3.0f | %3.0f | %3.0f | "
        "%s |\n",
        row->rest ? "II" : "I ", row->dataset, (long long)row->units,
        row->normalize == RFNN ? "RFNn" : "RFN", s.mean, r.mean, r.sd, c.mean, c.sd, row->sp,
        row->er, row->co, good ? "yes" : "NO");
    fflush(stdout);
    return good;
}

static int paper_tables(rb_context *context, int instances) {
    printf("rarebit %s, %d instances, 1000 iterations, eta 0.1; mean (sd), then the paper's\n\n",
           rb_version(), instances);
    printf("| set | data | units | method | SP | ER | CO | SP paper | ER | CO | within |\n");
    printf("|---|---|---|---|---|---|---|---|---|---|---|\n");
    int missed = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        missed += !run_row(context, &rows[i], instances);
    printf("\n%d of %zu rows within tolerance\n", (int)(sizeof rows / sizeof *rows) - missed,
           sizeof rows / sizeof *rows);
    return missed ? 1 : 0;
}

int main(int argc, char **argv) {
    choose_blas_kernels(argv);
    bool sparse = argc > 2 && strcmp(argv[1], "--preset") == 0 && strcmp(argv[2], "sparse") == 0;
    const char *count = argv[sparse ? 3 : 1];
    int instances = count ? atoi(count) : sparse ? 20 : 10;
    if (instances < 1 || instances > MAX_INSTANCES) {
        fprintf(stderr, "usage: tables [--preset sparse] [INSTANCES, 1 to %d]\n", MAX_INSTANCES);
        return 2;
    }
    rb_context *context;
    if (rb_context_new(&context)) {
        fprintf(stderr, "tables: out of memory\n");
        return 1;
    }
    int status = sparse ? sparse_tables(context, instances) : paper_tables(context, instances);
    rb_context_free(context);
    return status;
}
