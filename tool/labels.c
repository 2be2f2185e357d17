/* Labels of samples for nets, and how good a net is on them. */
#include "labels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static rb_error take_targets(rb_context *ctx, rb_source *source, const char *path,
                             labelled_data *out) {
    rb_error err = rb_read(ctx, path, NULL, &out->targets);
    if (err) return err;
    int64_t n = rb_matrix_samples(out->targets), k = rb_matrix_features(out->targets);
    if (n != rb_source_samples(source)) {
        return fail(
            ctx, RB_ERROR_DATA,
            "%.300s has targets for %lld samples, but the data have %lld; give a row for each "
            "sample",
            path, (long long)n, (long long)rb_source_samples(source));
    }
    out->values = calloc((size_t)n * (size_t)k + 1, sizeof *out->values);
    if (!out->values) return fail_memory(ctx);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < k; j++)
            out->values[i * k + j] = rb_matrix_at(out->targets, i, j);
    out->data.values = out->values;
    out->data.n_values = k;
    return RB_OK;
}

rb_error labelled_read(const invocation *call, rb_source *source, const char *labels,
                       const char *targets, labelled_data *out) {
    out->data = (rb_labelled){.size = sizeof out->data, .source = source};
    out->classes.size = sizeof out->classes;
    if (targets) return take_targets(call->ctx, source, targets, out);
    rb_error err = read_classes(call, labels, source, &out->classes);
    if (err) return err;
    out->data.n_classes = out->classes.n_classes;
    out->data.class_of = out->classes.class_of;
    out->data.names = out->classes.names;
    return RB_OK;
}

void labelled_clear(labelled_data *data) {
    if (data->classes.size) rb_classes_clear(&data->classes);
    rb_matrix_free(data->targets);
    free(data->values);
    *data = (labelled_data){0};
}

char *output_name(const rb_model *net, int64_t k) {
    int64_t length = rb_net_output_name(net, k, NULL, 0);
    char *name = malloc((size_t)(length < 0 ? 0 : length) + 1);
    if (name) rb_net_output_name(net, k, name, (size_t)length + 1);
    return name;
}

json_t *output_json(const rb_model *net, int64_t k) {
    char *name = output_name(net, k);
    json_t *json = name ? rb_json_text(name) : NULL;
    free(name);
    return json;
}

static rb_error print_json(const invocation *call, const rb_model *net, rb_source *source,
                           const rb_net_scores *s) {
    json_t *names = json_array(), *rows = json_array(), *json;
    for (int64_t a = 0; a < s->n_outputs; a++) {
        json_t *row = json_array();
        rb_json_add(&names, NULL, output_json(net, a));
        for (int64_t b = 0; s->confusion && b < s->n_outputs; b++)
            rb_json_add(&row, NULL, json_integer(s->confusion[a * s->n_outputs + b]));
        rb_json_add(&rows, NULL, row);
    }
    json = json_pack("{sI sI so so so so so so so so}", "samples", (json_int_t)s->samples, "errors",
                     (json_int_t)s->errors, "error_rate", rb_json_number(s->error_rate),
                     "error_rate_low", rb_json_number(s->low), "error_rate_high",
                     rb_json_number(s->high), "log_loss", rb_json_number(s->log_loss),
                     "calibration_error", rb_json_number(s->calibration_error),
                     "mean_squared_error", rb_json_number(s->mean_squared_error), "classes", names,
                     "confusion", s->confusion ? rows : json_null());
    if (!s->confusion) json_decref(rows);
    return json_put_from(call->ctx, stdout, json, net, source);
}

void print_figure(const char *label, double value, const char *meaning) {
    if (!isnan(value)) {
        printf("%-22s %12.*g%s%s\n", label, value == floor(value) ? 12 : 6, value,
               *meaning ? "   " : "", meaning);
    }
}

/* Cut to so many bytes. A net may come from anybody. */
static void print_name(const rb_model *net, int64_t k, int width, int most) {
    char *name = output_name(net, k);
    if (name) put_plain(name);
    printf("%*.*s", width, most, name ? name : "");
    free(name);
}

/* More classes than a terminal is wide are for JSON. */
static void print_confusion(const rb_model *net, const rb_net_scores *s) {
    enum { MOST = 16, WIDTH = 7 };
    int64_t n = s->n_outputs;
    if (!s->confusion || n > MOST) return;
    printf("\n%-*.*s", 2 * WIDTH, 2 * WIDTH - 1, "class");
    for (int64_t b = 0; b < n; b++) {
        putchar(' ');
        print_name(net, b, WIDTH, WIDTH);
    }
    puts("   (columns: classes that the net predicts)");
    for (int64_t a = 0; a < n; a++) {
        print_name(net, a, -2 * WIDTH, 2 * WIDTH - 1);
        for (int64_t b = 0; b < n; b++)
            printf(" %*lld", WIDTH, (long long)s->confusion[a * n + b]);
        putchar('\n');
    }
}

rb_error scores_print(const invocation *call, const rb_model *net, rb_source *source,
                      const rb_net_scores *s) {
    if (option_flag(call, "json")) return print_json(call, net, source, s);
    print_figure("samples", (double)s->samples, "with labels");
    if (!isnan(s->error_rate)) {
        printf("%-22s %11.2f%%   %lld of %lld; 95 %% interval %.2f%% to %.2f%%\n", "error rate",
               100 * s->error_rate, (long long)s->errors, (long long)s->samples, 100 * s->low,
               100 * s->high);
    }
    print_figure("log loss", s->log_loss, "mean negative log probability of the labels");
    print_figure("calibration error", s->calibration_error,
                 "mean difference between confidence and accuracy");
    print_figure(s->confusion ? "Brier score" : "mean squared error", s->mean_squared_error,
                 "smaller is better");
    print_confusion(net, s);
    return RB_OK;
}
