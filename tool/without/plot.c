/* In place of the plot commands, and of librarebit-plot, where that is not built. */
#include "../tool.h"

/* Of no words: in no list. */
const command plot_codes_command, plot_filters_command, plot_unit_command, plot_samples_command,
    plot_modules_command, plot_fields_command, plot_quality_command, plot_evidence_command;
const command plot_history_command = {.library = "librarebit-plot (cairo)", .brings = "plot"};

const char *rb_plot_cairo(void) {
    return "";
}

rb_error rb_plot_check(rb_context *ctx, const char *path) {
    (void)path;
    return rb_context_fail(ctx, RB_ERROR_UNSUPPORTED,
                           "plots need librarebit-plot, but this rarebit was built without it");
}

rb_error rb_plot_selection(rb_context *ctx, const rb_selection *selection,
                           const rb_options *options, const char *path) {
    (void)selection;
    (void)options;
    return rb_plot_check(ctx, path);
}
