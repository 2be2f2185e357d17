/* rarebit info: what is in a file of data, or in a model. */
#include "tool.h"

#include <string.h>

/* ---- data ---- */

static const char *type_name(rb_type type) {
    return type == RB_FLOAT32 ? "float32" : "float64";
}

static void print_data_json(const rb_source *source, const rb_description *d, const char *format) {
    json j = {.file = stdout};
    emit_open(&j, NULL, '{');
    emit_text(&j, "kind", "data");
    emit_text(&j, "format", format);
    emit_integer(&j, "samples", d->samples);
    emit_integer(&j, "features", d->features);
    emit_text(&j, "type", type_name(rb_source_type(source)));
    emit_flag(&j, "sparse", rb_source_sparse(source));
    emit_integer(&j, "nonzeros", d->nonzeros);
    emit_number(&j, "sum", d->sum);
    emit_number(&j, "sum_of_squares", d->sum_of_squares);
    emit_number(&j, "min", d->minimum);
    emit_number(&j, "max", d->maximum);
    emit_integer(&j, "missing", d->missing);
    emit_flag(&j, "sample_names", d->samples > 0 && rb_source_sample_name(source, 0));
    emit_flag(&j, "feature_names", d->features > 0 && rb_source_feature_name(source, 0));
    emit_close(&j, '}');
    putchar('\n');
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
    for (int64_t i = 0; i < count && i < SHOWN; i++) {
        printf("%s%s", i ? ", " : "", name_of(source, i));
    }
    printf("%s\n", count > SHOWN ? ", ..." : "");
}

static void print_data(const rb_source *source, const rb_description *d, const char *format) {
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
    print_names("sample names", source, d->samples, rb_source_sample_name);
    print_names("feature names", source, d->features, rb_source_feature_name);
}

static rb_error describe_data(invocation *call, const char *format, bool as_json) {
    rb_source *source = NULL;
    rb_description description = {.size = sizeof description};
    rb_error err = rb_open(call->ctx, call->arguments[0], call->options, &source);
    if (!err) {
        err = rb_describe(call->ctx, source, &description);
    }
    if (!err && as_json) {
        print_data_json(source, &description, format);
    } else if (!err) {
        print_data(source, &description, format);
    }
    rb_source_free(source);
    return err;
}

/* ---- models ---- */

static double last_objective(const rb_model *model) {
    double objective = 0, estep, seconds;
    int64_t iterations = rb_model_iterations(model);
    if (iterations == 0 ||
        rb_model_history(model, iterations - 1, &objective, &estep, &seconds) != RB_OK) {
        return 0;
    }
    return objective;
}

/* The value of an array of 1 x 1; NULL: it is another one. */
static const double *only_value(const rb_model *model, const char *name) {
    int64_t rows = 0, columns = 0;
    const double *values = rb_model_array(model, name, &rows, &columns);
    return rows == 1 && columns == 1 ? values : NULL;
}

static void print_model_json(const rb_model *model) {
    json j = {.file = stdout};
    emit_open(&j, NULL, '{');
    emit_text(&j, "kind", "model");
    emit_text(&j, "method", rb_model_method(model));
    emit_integer(&j, "features", rb_model_features(model));
    emit_integer(&j, "units", rb_model_units(model));
    emit_integer(&j, "iterations", rb_model_iterations(model));
    emit_text(&j, "status", rb_status_name(rb_model_status(model)));
    if (rb_model_iterations(model) > 0) {
        emit_number(&j, "objective", last_objective(model));
    }
    emit_open(&j, "arrays", '{');
    const char *name;
    for (int64_t i = 0; (name = rb_model_array_name(model, i)); i++) {
        int64_t rows = 0, columns = 0;
        rb_model_array(model, name, &rows, &columns);
        emit_open(&j, name, '[');
        emit_integer(&j, NULL, rows);
        emit_integer(&j, NULL, columns);
        emit_close(&j, ']');
    }
    emit_close(&j, '}');
    emit_open(&j, "values", '{');
    for (int64_t i = 0; (name = rb_model_array_name(model, i)); i++) {
        const double *value = only_value(model, name);
        if (value) {
            emit_number(&j, name, *value);
        }
    }
    emit_close(&j, '}');
    emit_open(&j, "attributes", '{');
    for (int64_t i = 0; (name = rb_model_attribute_name(model, i)); i++) {
        emit_text(&j, name, rb_model_attribute(model, name));
    }
    emit_close(&j, '}');
    emit_close(&j, '}');
    putchar('\n');
}

static void print_model(const rb_model *model) {
    printf("%-22smodel of method %s\n", "kind", rb_model_method(model));
    printf("%-22s%lld\n", "features", (long long)rb_model_features(model));
    printf("%-22s%lld\n", "units", (long long)rb_model_units(model));
    rb_status status = rb_model_status(model);
    const char *asked = rb_model_attribute(model, "iterations");
    printf("%-22s%lld%s%s%s%s\n", "iterations", (long long)rb_model_iterations(model),
           asked ? " of " : "", asked ? asked : "", status == RB_STATUS_ITERATIONS ? "" : ", ",
           status == RB_STATUS_ITERATIONS ? "" : rb_status_name(status));
    if (rb_model_iterations(model) > 0) {
        printf("%-22s%.10g\n", "objective", last_objective(model));
    }
    const char *name;
    for (int64_t i = 0; (name = rb_model_array_name(model, i)); i++) {
        int64_t rows = 0, columns = 0;
        rb_model_array(model, name, &rows, &columns);
        printf("%-22s%lld x %lld", name, (long long)rows, (long long)columns);
        const double *value = only_value(model, name);
        if (value) {
            printf(": %.10g", *value);
        }
        putchar('\n');
    }
    for (int64_t i = 0; (name = rb_model_attribute_name(model, i)); i++) {
        if (strcmp(name, "units") != 0 && strcmp(name, "iterations") != 0) { /* shown above */
            printf("%-22s%s\n", name, rb_model_attribute(model, name));
        }
    }
}

static rb_error describe_model(invocation *call, bool as_json) {
    rb_model *model = NULL;
    rb_error err = rb_model_load(call->ctx, call->arguments[0], &model);
    if (!err && as_json) {
        print_model_json(model);
    } else if (!err) {
        print_model(model);
    }
    rb_model_free(model);
    return err;
}

/* An HDF5 file may be either; one that is neither is told why, for both where the reasons differ.
 */
static int run(invocation *call) {
    const json_options *options = options_of(call, json_group());
    const char *format = NULL;
    char as_model[1024] = "";

    rb_error err = rb_format_of(call->ctx, call->arguments[0], &format);
    if (err) {
        return report_failure(call->ctx, err);
    }
    if (strcmp(format, "hdf5") == 0 && !option_was_given(call, "dataset")) {
        if (!describe_model(call, options->json)) {
            return STATUS_DONE;
        }
        snprintf(as_model, sizeof as_model, "%s", rb_context_error(call->ctx));
    }
    err = describe_data(call, format, options->json);
    if (err && *as_model && strcmp(as_model, rb_context_error(call->ctx)) != 0) {
        report_error("%s; as data: %s", as_model, rb_context_error(call->ctx));
        return STATUS_FAILED;
    }
    return err ? report_failure(call->ctx, err) : STATUS_DONE;
}

const command info_command = {
    .words = "info",
    .heading = "Data",
    .summary = "say what is in a file of data or in a model",
    .arguments = {{"FILE", "data in any format that fit reads, or a model", false}},
    .groups = {json_group, rb_read_group, general_group},
    .examples = {{"Is the table read as it is meant?", "info genes.tsv --transpose"},
                 {"How a model was made", "info model.h5"},
                 {"For a program", "info X.npy --json"}},
    .run = run,
};
