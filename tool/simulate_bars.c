/* rarebit simulate bars: the data of a bars test. */
#include "results.h"

#include <stddef.h>

typedef struct truth_options {
    const char *truth;
    const char *states;
} truth_options;

static const rb_option_group *truth_group(void) {
    static const rb_option table[] = {
        {"truth", 0, RB_OPTION_TEXT, offsetof(truth_options, truth), NULL, 0, 0, NULL, "FILE",
         "write each bar alone: bars x pixels, in any format that --output writes"},
        {"states", 0, RB_OPTION_TEXT, offsetof(truth_options, states), NULL, 0, 0, NULL, "FILE",
         "write which bars are in which sample: samples x bars, 0 or 1"},
        {0},
    };
    static const rb_option_group group = {sizeof(rb_option), "Truth", table, sizeof(truth_options),
                                          NULL};
    return &group;
}

static int write_all(invocation *call, const rb_matrix *samples, const rb_matrix *fields,
                     const rb_matrix *states) {
    const truth_options *truth = options_of(call, truth_group());
    int status = write_matrix(call, samples);
    if (!status && truth->truth) {
        status = write_matrix_to(call, fields, truth->truth);
    }
    if (!status && truth->states) {
        status = write_matrix_to(call, states, truth->states);
    }
    return status;
}

static int run(invocation *call) {
    const output_options *to = options_of(call, matrix_output_group());
    rb_matrix *samples, *fields, *states;
    rb_error err = rb_simulate_bars(call->ctx, call->options, &samples, &fields, &states);
    if (err) {
        return report_failure(call->ctx, err);
    }
    int status = write_all(call, samples, fields, states);
    if (!status) {
        report("%lld samples x %lld pixels with %lld bars in %s; seed %lld",
               (long long)rb_matrix_samples(samples), (long long)rb_matrix_features(samples),
               (long long)rb_matrix_samples(fields), to->output,
               (long long)option_integer(call, "seed"));
    }
    rb_matrix_free(samples);
    rb_matrix_free(fields);
    rb_matrix_free(states);
    return status;
}

const command simulate_bars_command = {
    .words = "simulate bars",
    .heading = "Data",
    .summary = "make pictures of crossing bars, and say which",
    .description =
        "The bars test: horizontal and vertical bars appear independently of each other, "
        "and a method is to find them. Samples are pictures of size x size pixels, row by row. The "
        "bars of --truth go from top to bottom, then from left to right. More samples go on "
        "where fewer end, and another --noise leaves the bars where they are.",
    .output = "FILE",
    .groups = {rb_bars_group, matrix_output_group, truth_group, general_group},
    .examples = {{"Bars that add up, with the bars themselves",
                  "simulate bars --style linear --samples 500 -o Y.npy --truth fields.npy"},
                 {"Wide bars that overlap, without noise",
                  "simulate bars --style max --size 9 --width 2 --probability 0.125 --noise 0 "
                  "--samples 400 -o Y.npy"},
                 {"What a method found, as pictures",
                  "plot filters model.h5 --shape 5x5 -o fields.png"}},
    .writes = "output truth states",
    .check_output = check_matrix_output,
    .run = run,
};
