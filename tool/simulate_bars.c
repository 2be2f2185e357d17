/* rarebit simulate bars: the data of a bars test. */
#include "tool.h"

static const rb_option truth_options[] = {
    {TEXT_OPTION("truth"), "FILE",
     "write each bar alone: bars x pixels, in any format that --output writes"},
    {TEXT_OPTION("states"), "FILE",
     "write which bars are in which sample: samples x bars, 0 or 1, or its height"},
    {0},
};

static int run(invocation *call) {
    static const char *const options[] = {"output", "truth", "states"};
    rb_matrix *made[3] = {0}; /* samples, bars, states */
    rb_error err = rb_simulate_bars(call->ctx, call->options, &made[0], &made[1], &made[2]);
    int status = report_failure(call->ctx, err);
    for (int i = 0; i < 3 && !status; i++) {
        const char *target = option_text(call, options[i]);
        status = target ? write_matrix(call, made[i], target) : STATUS_DONE;
    }
    if (!status) {
        report("%lld samples x %lld pixels with %lld bars in %s; seed %lld",
               (long long)rb_matrix_samples(made[0]), (long long)rb_matrix_features(made[0]),
               (long long)rb_matrix_samples(made[1]), output_shown(option_text(call, "output")),
               (long long)option_integer(call, "seed"));
    }
    for (int i = 0; i < 3; i++)
        rb_matrix_free(made[i]);
    return status;
}

const command simulate_bars_command = {
    .words = "simulate bars",
    .summary = "make images of crossing bars, with the truth",
    .description =
        "The bars test: horizontal and vertical bars appear independently of each other, "
        "and a method is to find them. Samples are images of size x size pixels, row by row. The "
        "bars of --truth go from top to bottom, then from left to right. With the same --seed, "
        "more samples begin with those of fewer, and another --noise moves no bar.",
    .output = "FILE",
    .own = {sizeof(rb_option), "Truth", truth_options},
    .own_after = 2,
    .groups = {rb_bars_group, matrix_output_group, general_group},
    .examples = {{"Bars that add up, with the bars themselves",
                  "simulate bars --style linear --samples 500 -o Y.npy --truth fields.npy"},
                 {"Wide bars that overlap, without noise",
                  "simulate bars --style max --size 9 --width 2 --probability 0.125 --noise 0 "
                  "--samples 400 -o Y.npy"},
                 {"What a method found, as pictures",
                  "plot filters model.h5 --shape 5x5 -o fields.png"}},
    .writes = "output truth states",
    .check_output = rb_writer_check,
    .run = run,
};
