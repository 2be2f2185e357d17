/* rarebit simulate biclusters: data with planted modules. */
#include "results.h"

#include <stddef.h>
#include <string.h>

typedef struct truth_options {
    const char *truth;
} truth_options;

static const rb_option_group *truth_group(void) {
    static const rb_option table[] = {
        {"truth", 0, RB_OPTION_TEXT, offsetof(truth_options, truth), NULL, 0, 0, NULL, "FILE",
         "write the planted modules as JSON, counted from 0"},
        {0},
    };
    static const rb_option_group group = {sizeof(rb_option), "Truth", table, sizeof(truth_options),
                                          NULL};
    return &group;
}

static int write_truth(invocation *call, const rb_modules *truth, const char *path) {
    output out;
    int status = output_begin(&out, path, "json");
    if (status) {
        return status;
    }
    rb_error err = rb_modules_write(call->ctx, truth, NULL, NULL, RB_MODULES_JSON, out.path);
    if (err) {
        output_abandon(&out);
        return report_failure(call->ctx, err);
    }
    return output_end(&out);
}

static int check_output(const invocation *call, const char *option, const char *path) {
    return strcmp(option, "truth") == 0
               ? refuse_other_format("--truth", path, "modules are written as JSON", ".json")
               : check_matrix_output(call, option, path);
}

static int run(invocation *call) {
    const truth_options *truth_to = options_of(call, truth_group());
    const output_options *to = options_of(call, matrix_output_group());
    rb_matrix *matrix = NULL;
    rb_modules *truth = NULL;
    rb_error err = rb_simulate_biclusters(call->ctx, call->options, &matrix, &truth);
    if (err) {
        return report_failure(call->ctx, err);
    }
    int status = write_matrix(call, matrix);
    if (!status && truth_to->truth) {
        status = write_truth(call, truth, truth_to->truth);
    }
    if (!status) {
        report("%lld samples x %lld features with %lld modules in %s; seed %lld",
               (long long)rb_matrix_samples(matrix), (long long)rb_matrix_features(matrix),
               (long long)rb_modules_count(truth), to->output,
               (long long)option_integer(call, "seed"));
    }
    rb_modules_free(truth);
    rb_matrix_free(matrix);
    return status;
}

const command simulate_biclusters_command = {
    .words = "simulate biclusters",
    .heading = "Data",
    .summary = "make data with planted modules, and say which",
    .description = "The generators are those of the papers on rectified factor networks (data sets "
                   "D1 to D9) and on FABIA.",
    .output = "FILE",
    .groups = {rb_biclusters_group, matrix_output_group, truth_group, general_group},
    .examples = {{"A data set of the paper, with what was planted",
                  "simulate biclusters --dataset D1 --seed 1 -o X.npy --truth truth.json"},
                 {"How well it is found again",
                  "modules model.h5 X.npy --best 10 --truth truth.json --json"},
                 {"FABIA's generator", "simulate biclusters --generator fabia --seed 1 -o F.npy"}},
    .writes = "output truth",
    .check_output = check_output,
    .run = run,
};
