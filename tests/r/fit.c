/* A fit of a C program, whose model file the R package reads: fit TABLE MODEL. */
#include <rarebit/io.h>
#include <rarebit/rarebit.h>

#include <stdio.h>

static rb_error fit(rb_context *context, const char *table, const char *path) {
    rb_options *options = NULL;
    rb_source *source = NULL;
    rb_model *model = NULL;
    rb_error error = rb_options_new(context, "rfn", &options);
    if (!error) error = rb_options_set_all(context, options, "units=5 seed=1 iterations=20");
    if (!error) error = rb_open(context, table, NULL, &source);
    if (!error) error = rb_fit(context, options, source, NULL, &model);
    if (!error) error = rb_model_save(context, model, path);
    rb_options_free(options);
    rb_model_free(model);
    rb_source_free(source);
    return error;
}

int main(int argc, char **argv) {
    rb_context *context;
    if (argc != 3 || rb_context_new(&context)) return 1;
    rb_error error = fit(context, argv[1], argv[2]);
    if (error) fprintf(stderr, "%s\n", rb_context_error(context));
    rb_context_free(context);
    return error != RB_OK;
}
