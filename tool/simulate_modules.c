/* rarebit simulate biclusters, simulate cells: data with planted modules. */
#include "tool.h"

static const rb_option truth_options[] = {
    {TEXT_OPTION("truth"), "FILE", "write the planted modules as JSON, counted from 0"},
    {0},
};

static int write_truth(invocation *call, const rb_modules *truth, const char *target) {
    output out;
    int status = output_begin(&out, target, "json");
    return status ? status
                  : finish_output(
                        call, &out,
                        rb_modules_write(call->ctx, truth, NULL, NULL, RB_MODULES_JSON, out.path));
}

typedef rb_error (*simulator)(rb_context *ctx, const rb_options *options, rb_matrix **matrix,
                              rb_modules **truth);

static int simulate(invocation *call, simulator make) {
    const char *target = option_text(call, "output"), *truth_to = option_text(call, "truth");
    rb_matrix *matrix = NULL;
    rb_modules *truth = NULL;
    rb_error err = make(call->ctx, call->options, &matrix, &truth);
    int status = err ? report_failure(call->ctx, err) : write_matrix(call, matrix, target);
    if (!status && truth_to) status = write_truth(call, truth, truth_to);
    if (!status) {
        report("%lld samples x %lld features with %lld modules in %s; seed %lld",
               (long long)rb_matrix_samples(matrix), (long long)rb_matrix_features(matrix),
               (long long)rb_modules_count(truth), output_shown(target),
               (long long)option_integer(call, "seed"));
    }
    rb_modules_free(truth);
    rb_matrix_free(matrix);
    return status;
}

static int run_biclusters(invocation *call) {
    return simulate(call, rb_simulate_biclusters);
}

static int run_cells(invocation *call) {
    return simulate(call, rb_simulate_cells);
}

const command simulate_biclusters_command = {
    .words = "simulate biclusters",
    .summary = "make data with planted modules, with the truth",
    .description = "The generators are those of the papers on rectified factor networks (data sets "
                   "D1 to D9) and on FABIA. Patterns of biclustering comparisons are there too: "
                   "constant, shift and scale without overlap, plaid with overlap.",
    .output = "FILE",
    .own = {sizeof(rb_option), "Truth", truth_options},
    .own_after = 2,
    .groups = {rb_biclusters_group, matrix_output_group, general_group},
    .examples = {{"A data set of the paper, with what was planted",
                  "simulate biclusters --dataset D1 --seed 1 -o X.npy --truth truth.json"},
                 {"How well it is found again",
                  "modules model.h5 X.npy --best 10 --truth truth.json --json"},
                 {"FABIA's generator", "simulate biclusters --generator fabia --seed 1 -o F.npy"}},
    .writes = "output truth",
    .fixed = {"truth", "modules are written as JSON", ".json"},
    .check_output = rb_writer_check,
    .run = run_biclusters,
};

const command simulate_cells_command = {
    .words = "simulate cells",
    .summary = "make counts of single cells of several types, with the truth",
    .description = "Counts of single-cell sequencing by the model of Splat (Zappia, Phipson, "
                   "Oshlack 2017). A module of --truth is a cell type: its cells, and the genes it "
                   "expresses more than the others.",
    .output = "FILE",
    .own = {sizeof(rb_option), "Truth", truth_options},
    .own_after = 2,
    .groups = {rb_cells_group, matrix_output_group, general_group},
    .examples = {{"A type of one cell in a thousand",
                  "simulate cells --types 0.6,0.399,0.001 --seed 1 -o cells.h5ad --truth "
                  "truth.json"},
                 {"Units for them", "fit rfn cells.h5ad --totals median --log1p -k 5 -o model.h5"}},
    .writes = "output truth",
    .fixed = {"truth", "modules are written as JSON", ".json"},
    .check_output = rb_writer_check,
    .run = run_cells,
};
