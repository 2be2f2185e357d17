/* A context, and a picture that goes with the test: set_up and tear_down of tests that draw. */
#ifndef PLOT_TEST_H
#define PLOT_TEST_H

#include "../errors.h"
#include "../options.h"
#include "plot/plot.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static rb_context *ctx;
static char path[64];
static rb_plot_options options;

static int set_up(void **state) {
    (void)state;
    strcpy(path, "/tmp/rarebit-picture-XXXXXX.png");
    int file = mkstemps(path, 4);
    fixture_default(rb_plot_group(), &options);
    options.width = RB_PAGE_WIDTH;
    return file < 0 || close(file) || rb_context_create(&ctx);
}

static int tear_down(void **state) {
    (void)state;
    rb_context_free(ctx);
    unlink(path);
    return 0;
}

static void check(rb_error err) {
    if (err) fail_msg("%s", rb_context_error(ctx));
}

#endif
