/* Pictures: .png or .svg by the suffix of the path. */
#ifndef RAREBIT_PLOT_H
#define RAREBIT_PLOT_H

#include <rarebit/modules.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rb_plot_options {
    const char *shape; /* filters: "28x28" or "32x32x3", rows x columns x channels of a feature vector */
    int64_t width;     /* of the picture in pixels; the height follows */
    const char *title; /* NULL: a title that says what is shown */
    const char *labels; /* TSV of sample name and class: samples are grouped by class; NULL: none */
} rb_plot_options;

/* The option table of rb_plot_options. */
RB_API const rb_option *rb_plot_option_table(void);
RB_API void rb_plot_options_default(rb_plot_options *options);

/* Objective (and E-step objective where traced) over the iterations. */
RB_API rb_error rb_plot_history(rb_context *context, const rb_model *model,
                                const rb_plot_options *options, const char *path);
/* Codes as a heat map: samples x units. */
RB_API rb_error rb_plot_codes(rb_context *context, const rb_model *model, rb_source *source,
                              const rb_plot_options *options, const char *path);
/* Loadings as a grid of images, one a unit; options->shape is needed. */
RB_API rb_error rb_plot_filters(rb_context *context, const rb_model *model,
                                const rb_plot_options *options, const char *path);
/* The data as a heat map with samples and features ordered by module and the modules framed. */
RB_API rb_error rb_plot_modules(rb_context *context, const rb_model *model, rb_source *source,
                                const rb_modules *modules, const rb_plot_options *options,
                                const char *path);

#ifdef __cplusplus
}
#endif
#endif
