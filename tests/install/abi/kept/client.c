/* Gene modules of a table, with the library: fit TABLE [UNITS]
 *
 *   cc fit.c $(pkg-config --cflags --libs rarebit-io) -o fit
 */
#include <rarebit/io.h>
#include <rarebit/rarebit.h>

#include <stdio.h>
#include <stdlib.h>

/* Prints the genes of largest weight that go up (or down) in the samples of a module. */
static void print_genes(const rb_module *module, const rb_model *model, int up) {
    for (int64_t i = 0, shown = 0; i < module->n_features && shown < 6; i++) {
        rb_member gene = module->features[i];
        const char *name = rb_model_feature_name(model, gene.index);
        if ((gene.weight > 0) != up) continue;
        shown++;
        if (name)
            printf(" %s", name);
        else
            printf(" %lld", (long long)rb_model_feature_index(model, gene.index));
    }
}

static void print_modules(const rb_modules *modules, const rb_model *model) {
    for (int64_t rank = 0; rank < rb_modules_count(modules); rank++) {
        const rb_module *module = rb_modules_get(modules, rank);
        printf("unit %lld: %lld samples; up:", (long long)module->unit,
               (long long)module->n_samples);
        print_genes(module, model, 1);
        printf("; down:");
        print_genes(module, model, 0);
        printf("\n");
    }
}

static rb_error fit(rb_context *context, const char *path, int64_t units) {
    rb_source *source = NULL;
    rb_model *model = NULL;
    rb_modules *modules = NULL;

    rb_options *options = NULL;

    rb_error error = rb_options_new(context, "rfn", &options);
    if (!error) error = rb_options_set_integer(context, options, "units", units);
    if (!error) error = rb_open(context, path, NULL, &source);
    if (!error) error = rb_fit(context, options, source, NULL, &model);
    if (!error) error = rb_modules_find(context, model, source, NULL, &modules);
    if (!error) print_modules(modules, model);
    rb_options_free(options);
    rb_modules_free(modules);
    rb_model_free(model);
    rb_source_free(source);
    return error;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: fit TABLE [UNITS]\n");
        return 2;
    }
    char *end = NULL;
    long units = argc > 2 ? strtol(argv[2], &end, 10) : 10;
    if (end && (*end || end == argv[2])) {
        fprintf(stderr, "fit: UNITS is '%s', but must be a whole number\n", argv[2]);
        return 2;
    }
    rb_context *context;
    if (rb_context_new(&context)) return 1;
    rb_error error = fit(context, argv[1], units);
    if (error) fprintf(stderr, "fit: %s\n", rb_context_error(context));
    rb_context_free(context);
    return error ? 1 : 0;
}
