/* rarebit info: what is in a file of data, or in a model. */
#include "tool.h"

#include <string.h>

/* ---- data ---- */

static const char *type_name(rb_type type) {
    return type == RB_FLOAT32 ? "float32" : "float64";
}

static rb_error print_data_json(rb_context *ctx, const rb_source *source, const rb_description *d,
                                const char *format, uint32_t checksum) {
    char text[16];
    snprintf(text, sizeof text, "%08lx", (unsigned long)checksum);
    bool sample_names = d->samples > 0 && rb_source_sample_name(source, 0);
    bool feature_names = d->features > 0 && rb_source_feature_name(source, 0);
    return json_put(ctx, stdout,
                    json_pack("{ss ss sI sI ss sb sI so so so so sI ss sb sb}", "kind", "data",
                              "format", format, "samples", (json_int_t)d->samples, "features",
                              (json_int_t)d->features, "type", type_name(rb_source_type(source)),
                              "sparse", rb_source_sparse(source), "nonzeros",
                              (json_int_t)d->nonzeros, "sum", rb_json_number(d->sum),
                              "sum_of_squares", rb_json_number(d->sum_of_squares), "min",
                              rb_json_number(d->minimum), "max", rb_json_number(d->maximum),
                              "missing", (json_int_t)d->missing, "checksum", text, "sample_names",
                              sample_names, "feature_names", feature_names));
}

/* "AAACCTG, AAACGGG, ..." */
static void print_names(const char *what, const rb_source *source, int64_t count,
                        const char *(*name_of)(const rb_source *source, int64_t index)) {
    enum { SHOWN = 3 };
    printf("%-15s", what);
    if (count == 0 || !name_of(source, 0)) {
        printf("none\n");
        return;
    }
    for (int64_t i = 0; i < count && i < SHOWN; i++)
        printf("%s%s", i ? ", " : "", name_of(source, i));
    printf("%s\n", count > SHOWN ? ", ..." : "");
}

static void print_data(const rb_source *source, const rb_description *d, const char *format,
                       uint32_t checksum) {
    printf("%-15sdata (%s)\n", "kind", format);
    printf("%-15s%lld\n", "samples", (long long)d->samples);
    printf("%-15s%lld\n", "features", (long long)d->features);
    printf("%-15s%s, %s\n", "type", type_name(rb_source_type(source)),
           rb_source_sparse(source) ? "sparse" : "dense");
    printf("%-15s%lld\n", "nonzeros", (long long)d->nonzeros);
    printf("%-15s%lld\n", "missing", (long long)d->missing);
    printf("%-15s%.10g\n", "sum", d->sum);
    printf("%-15s%.10g\n", "sum of squares", d->sum_of_squares);
    printf("%-15s%.10g to %.10g\n", "range", d->minimum, d->maximum);
    printf("%-15s%08lx\n", "checksum", (unsigned long)checksum);
    print_names("sample names", source, d->samples, rb_source_sample_name);
    print_names("feature names", source, d->features, rb_source_feature_name);
}

static rb_error describe_data(invocation *call, const char *format) {
    rb_source *source = NULL;
    rb_description description = {.size = sizeof description};
    rb_error err = rb_open(call->ctx, call->arguments[0], call->options, &source);
    uint32_t checksum = 0;
    err = err ? err : rb_describe(call->ctx, source, &description);
    err = err ? err : rb_source_checksum(call->ctx, source, &checksum);
    if (!err && option_flag(call, "json"))
        err = print_data_json(call->ctx, source, &description, format, checksum);
    else if (!err)
        print_data(source, &description, format, checksum);
    rb_source_free(source);
    return err;
}

/* ---- models ---- */

static double last_objective(const rb_model *model) {
    double objective = 0;
    rb_model_history(model, rb_model_iterations(model) - 1, &objective, NULL, NULL);
    return objective;
}

/* The shape of an array, and its only value; NULL when it has another number of them. */
static const double *describe_array(const rb_model *model, const char *name, int64_t shape[2]) {
    const double *values = rb_model_array(model, name, &shape[0], &shape[1]);
    return shape[0] == 1 && shape[1] == 1 ? values : NULL;
}

static void add_values(json_t **to, const rb_model *model, const char *name) {
    int64_t rows, columns;
    const double *values = rb_model_array(model, name, &rows, &columns);
    json_t *list = json_array();
    for (int64_t i = 0; i < rows * columns; i++)
        rb_json_add(&list, NULL, rb_json_number(values[i]));
    rb_json_add(to, name, list);
}

static rb_error print_model_json(rb_context *ctx, const rb_model *model) {
    json_t *arrays = json_object(), *values = json_object(), *attributes = json_object();
    const char *name;
    for (int64_t i = 0; (name = rb_model_array_name(model, i)); i++) {
        int64_t shape[2];
        const double *value = describe_array(model, name, shape);
        rb_json_add(&arrays, name, json_pack("[II]", (json_int_t)shape[0], (json_int_t)shape[1]));
        if (value) rb_json_add(&values, name, rb_json_number(*value));
    }
    for (int64_t i = 0; (name = rb_model_attribute_name(model, i)); i++)
        rb_json_add(&attributes, name, rb_json_text(rb_model_attribute(model, name)));
    json_t *json = json_pack(
        "{ss so sI sI sI ss}", "kind", "model", "method", rb_json_text(rb_model_method(model)),
        "features", (json_int_t)rb_model_features(model), "units",
        (json_int_t)rb_model_units(model), "iterations", (json_int_t)rb_model_iterations(model),
        "status", rb_status_name(rb_model_status(model)));
    if (rb_model_iterations(model) > 0)
        rb_json_add(&json, "objective", rb_json_number(last_objective(model)));
    if (rb_model_array(model, "stability", NULL, NULL)) add_values(&json, model, "stability");
    rb_json_add(&json, "arrays", arrays);
    rb_json_add(&json, "values", values);
    rb_json_add(&json, "attributes", attributes);
    return json_put(ctx, stdout, json);
}

/* Few numbers that a person wants to see. */
static void print_values(const rb_model *model, const char *name) {
    enum { SHOWN = 20 };
    int64_t rows, columns;
    const double *values = rb_model_array(model, name, &rows, &columns);
    putchar(':');
    for (int64_t i = 0; i < rows * columns && i < SHOWN; i++)
        printf(" %.3g", values[i]);
    if (rows * columns > SHOWN) printf(" ...");
}

/* A name and at least a space; names are of any length. */
static void print_name(const char *name) {
    printf("%-21s ", name);
}

static rb_error print_layers(rb_context *ctx, const rb_model *model) {
    rb_error err = RB_OK;
    for (int64_t k = 1; !err && k <= rb_stack_layers(model); k++) {
        rb_model *layer;
        err = rb_stack_layer(ctx, model, k, &layer);
        if (err) break;
        char name[32];
        snprintf(name, sizeof name, "layer %lld", (long long)k);
        print_name(name);
        printf("%s, %lld units of %lld features, %lld iterations", rb_model_method(layer),
               (long long)rb_model_units(layer), (long long)rb_model_features(layer),
               (long long)rb_model_iterations(layer));
        if (rb_model_iterations(layer) > 0) printf(", objective %.10g", last_objective(layer));
        putchar('\n');
        rb_model_free(layer);
    }
    return err;
}

static rb_error print_model(rb_context *ctx, const rb_model *model) {
    printf("%-22smodel of method %s\n", "kind", rb_model_method(model));
    printf("%-22s%lld\n", "features", (long long)rb_model_features(model));
    printf("%-22s%lld\n", "units", (long long)rb_model_units(model));
    rb_status status = rb_model_status(model);
    const char *asked = rb_model_attribute(model, "iterations"), *name;
    printf("%-22s%lld%s%s%s%s\n", "iterations", (long long)rb_model_iterations(model),
           asked ? " of " : "", asked ? asked : "", status == RB_STATUS_ITERATIONS ? "" : ", ",
           status == RB_STATUS_ITERATIONS ? "" : rb_status_name(status));
    if (rb_model_iterations(model) > 0) printf("%-22s%.10g\n", "objective", last_objective(model));
    rb_error err = print_layers(ctx, model);
    for (int64_t i = 0; !err && (name = rb_model_array_name(model, i)); i++) {
        int64_t shape[2];
        const double *value = describe_array(model, name, shape);
        print_name(name);
        printf("%lld x %lld", (long long)shape[0], (long long)shape[1]);
        if (value) printf(": %.10g", *value);
        if (strcmp(name, "stability") == 0) print_values(model, name);
        putchar('\n');
    }
    for (int64_t i = 0; !err && (name = rb_model_attribute_name(model, i)); i++) {
        if (strcmp(name, "units") == 0 || strcmp(name, "iterations") == 0) continue; /* above */
        print_name(name);
        printf("%s\n", rb_model_attribute(model, name));
    }
    return err;
}

static rb_error describe_model(invocation *call) {
    rb_model *model = NULL;
    rb_error err = rb_model_load(call->ctx, call->arguments[0], &model);
    if (!err && option_flag(call, "json"))
        err = print_model_json(call->ctx, model);
    else if (!err)
        err = print_model(call->ctx, model);
    rb_model_free(model);
    return err;
}

/* An HDF5 file may be either; one that is neither is told why, for both where the reasons differ.
 */
static int run(invocation *call) {
    const char *format = NULL;
    char as_model[1024] = "";
    rb_error err = rb_format_of(call->ctx, call->arguments[0], &format);
    if (err) return report_failure(call->ctx, err);
    if (strcmp(format, "hdf5") == 0 && !option_was_given(call, "dataset")) {
        if (!describe_model(call)) return STATUS_DONE;
        snprintf(as_model, sizeof as_model, "%s", rb_context_error(call->ctx));
    }
    err = describe_data(call, format);
    if (err && *as_model && strcmp(as_model, rb_context_error(call->ctx)) != 0)
        return report_error("%s; as data: %s", as_model, rb_context_error(call->ctx));
    return report_failure(call->ctx, err);
}

const command info_command = {
    .words = "info",
    .summary = "describe a data file or a model",
    .arguments = {{"FILE", "data in any format that fit reads, or a model", false}},
    .groups = {json_group, rb_read_group, general_group},
    .examples = {{"Is the table read as it is meant?", "info genes.tsv --transpose"},
                 {"How a model was made", "info model.h5"},
                 {"For a program", "info X.npy --json"}},
    .run = run,
};
