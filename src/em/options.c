/* The option tables of a fit and of its checkpoints. */
#include <rarebit/fit.h>

#include <float.h>
#include <stddef.h>
#include <string.h>

static const rb_option table[] = {
    {"iterations", 0, RB_OPTION_INTEGER, offsetof(rb_fit_options, iterations), "200", 1, 1e15, NULL,
     "N", "stop after N iterations", RB_OPTION_COMMON},
    {"tolerance", 0, RB_OPTION_NUMBER, offsetof(rb_fit_options, tolerance), "0", 0, 1, NULL,
     "SHARE", "stop when the objective changes by less than this share of itself (0: never)"},
    {"patience", 0, RB_OPTION_INTEGER, offsetof(rb_fit_options, patience), "0", 0, 1e15, NULL, "N",
     "stop when for N iterations the objective was not above its best by more than --tolerance of "
     "itself (0: look at each change alone)"},
    {"parameter-tolerance", 0, RB_OPTION_NUMBER, offsetof(rb_fit_options, parameter_tolerance), "0",
     0, 1, NULL, "SHARE",
     "stop when the parameters change by less than this share of themselves (0: never)"},
    {"max-time", 0, RB_OPTION_SECONDS, offsetof(rb_fit_options, max_time), "0", 0, 1e15, NULL,
     "TIME", "stop after this time, such as 90s, 5m or 2h (0: never)"},
    {"seed", 0, RB_OPTION_INTEGER, offsetof(rb_fit_options, seed), "1", 0, 9e18, NULL, "N",
     "seed of every random number", RB_OPTION_COMMON},
    {"restarts", 0, RB_OPTION_INTEGER, offsetof(rb_fit_options, restarts), "1", 1, 1e6, NULL, "N",
     "fit this many times from different starts and keep the best objective", RB_OPTION_COMMON},
    {"precision", 0, RB_OPTION_CHOICE, offsetof(rb_fit_options, precision), "float32", 0, 0,
     "float32|float64", "TYPE", "numbers and products; objectives are float64 always"},
    {"batch-size", 0, RB_OPTION_INTEGER, offsetof(rb_fit_options, batch_size), "0", 0, 1e15, NULL,
     "N", "fit in batches: an M-step after every N samples, drawn anew in each iteration (0: all)"},
    {"keep-order", 0, RB_OPTION_FLAG, offsetof(rb_fit_options, keep_order), "false", 0, 0, NULL,
     NULL, "batches take the samples in the order of the data instead of shuffled",
     RB_OPTION_RESEARCH},
    {"trace", 0, RB_OPTION_FLAG, offsetof(rb_fit_options, trace), "false", 0, 0, NULL, NULL,
     "compute the E-step objective in every iteration", RB_OPTION_RESEARCH},
    {"accelerate", 0, RB_OPTION_CHOICE, offsetof(rb_fit_options, accelerate), "none", 0, 0,
     "none|squarem|nesterov", "HOW",
     "reach the same objective in far fewer iterations; needs iterations that never lower it "
     "(--estep cyclic) and is best with --eta 1"},
    {0},
};

const rb_option *rb_fit_option_table(void) {
    return table;
}

void rb_fit_options_default(rb_fit_options *options) {
    memset(options, 0, sizeof *options);
    rb_options_default(table, options);
}

static const rb_option checkpoint_table[] = {
    {"checkpoint", 0, RB_OPTION_TEXT, offsetof(rb_checkpoint_options, checkpoint), NULL, 0, 0, NULL,
     "FILE",
     "write down now and then what the fit needs to go on; if FILE is there already, go on from "
     "it, with the same result as if nothing had happened"},
    {"checkpoint-every", 0, RB_OPTION_TEXT, offsetof(rb_checkpoint_options, checkpoint_every),
     "60s", 0, 0, NULL, "N|TIME", "how often: after 100 iterations (100), or a time (60s, 5m, 1h)"},
    {0},
};

const rb_option *rb_checkpoint_option_table(void) {
    return checkpoint_table;
}

void rb_checkpoint_options_default(rb_checkpoint_options *options) {
    rb_options_default(checkpoint_table, options);
}
