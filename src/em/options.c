/* The option table of a fit. */
#include <rarebit/fit.h>

#include <float.h>
#include <stddef.h>

static const rb_option table[] = {
    {"iterations", 0, RB_OPTION_INTEGER, offsetof(rb_fit_options, iterations), "200", 1, 1e15, NULL,
     "N", "most iterations"},
    {"tolerance", 0, RB_OPTION_NUMBER, offsetof(rb_fit_options, tolerance), "0", 0, 1, NULL,
     "SHARE", "stop when the objective changes by less than this share of itself (0: never)"},
    {"seed", 0, RB_OPTION_INTEGER, offsetof(rb_fit_options, seed), "1", 0, 9e18, NULL, "N",
     "seed of every random number"},
    {"restarts", 0, RB_OPTION_INTEGER, offsetof(rb_fit_options, restarts), "1", 1, 1e6, NULL, "N",
     "fit this many times from different starts and keep the best objective"},
    {"precision", 0, RB_OPTION_CHOICE, offsetof(rb_fit_options, precision), "float32", 0, 0,
     "float32|float64", "TYPE", "numbers and products; objectives are float64 always"},
    {"trace", 0, RB_OPTION_FLAG, offsetof(rb_fit_options, trace), "false", 0, 0, NULL, NULL,
     "compute the E-step objective in every iteration"},
    {0},
};

const rb_option *rb_fit_option_table(void) {
    return table;
}

void rb_fit_options_default(rb_fit_options *options) {
    rb_options_default(table, options);
}
