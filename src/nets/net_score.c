/* How good a net is on labelled samples.
 *
 * Calibration: C. Guo, G. Pleiss, Y. Sun, K. Q. Weinberger, "On calibration of modern neural
 * networks", 2017, eq. (3), with 15 bins of equal width. */
#include "net.h"

#include <rarebit/fields.h>

#include <math.h>

enum { BINS = 15 };

struct scoring {
    const deep_labels *labels;
    deep_net net; /* without values: type and outputs alone */
    rb_net_scores *scores;
    double loss, squares;
    double confidence[BINS], right[BINS];
};

/* How sure the net is, and whether it is right. */
static void add_decision(struct scoring *s, double p, bool right) {
    int bin = p > 0 ? (int)ceil(p * BINS) - 1 : 0;
    bin = bin >= BINS ? BINS - 1 : bin;
    s->confidence[bin] += p;
    s->right[bin] += right;
}

static void add_class(struct scoring *s, rb_dense y, int64_t row, int64_t class_of) {
    int64_t largest = 0, n = y.cols;
    for (int64_t j = 1; j < n; j++)
        if (rb_dense_get(y, row, j) > rb_dense_get(y, row, largest)) largest = j;
    add_decision(s, rb_dense_get(y, row, largest), largest == class_of);
    s->scores->errors += largest != class_of;
    s->scores->confusion[class_of * n + largest]++;
}

/* A sample is an error if any of its answers is wrong. */
static void add_answers(struct scoring *s, rb_dense y, int64_t row, const double *values) {
    bool wrong = false;
    for (int64_t j = 0; j < y.cols; j++) {
        double p = rb_dense_get(y, row, j);
        bool right = (p > 0.5) == (values[j] > 0.5);
        add_decision(s, p > 0.5 ? p : 1 - p, right);
        wrong = wrong || !right;
    }
    s->scores->errors += wrong;
}

static rb_error add_rows(void *user, int64_t first, const rb_matrix *rows) {
    struct scoring *s = user;
    rb_dense y = {(void *)rows->values, rows->n_samples, rows->n_features, rows->row_stride,
                  rows->type};
    for (int64_t i = 0; i < y.rows; i++) {
        int64_t c = s->labels->class_of ? s->labels->class_of[first + i] : -1;
        const double *values = s->labels->values;
        if (s->labels->class_of && c < 0) continue;
        values = values ? values + (first + i) * y.cols : NULL;
        s->scores->samples++;
        s->loss += deep_net_sample_loss(&s->net, y, i, c, values);
        for (int64_t j = 0; j < y.cols; j++) {
            double d = rb_dense_get(y, i, j) - (values ? values[j] : j == c);
            s->squares += d * d;
        }
        if (c >= 0) add_class(s, y, i, c);
        if (s->net.outputs == DEEP_LOGISTIC) add_answers(s, y, i, values);
    }
    return RB_OK;
}

static void finish(struct scoring *s) {
    rb_net_scores *scores = s->scores;
    double n = (double)scores->samples, gap = 0;
    bool classes = s->net.outputs == DEEP_SOFTMAX;
    for (int b = 0; b < BINS; b++)
        gap += fabs(s->confidence[b] - s->right[b]);
    scores->error_rate = scores->low = scores->high = scores->calibration_error = NAN;
    scores->log_loss = s->net.outputs == DEEP_LINEAR ? NAN : s->loss / n;
    scores->mean_squared_error = s->squares / n / (classes ? 1 : (double)scores->n_outputs);
    if (s->net.outputs != DEEP_LINEAR) {
        scores->error_rate = (double)scores->errors / n;
        scores->calibration_error = gap / n / (classes ? 1 : (double)scores->n_outputs);
        rb_success_interval(scores->errors, scores->samples, &scores->low, &scores->high);
    }
}

void rb_net_scores_clear(rb_net_scores *scores) {
    if (!scores) return;
    rb_free(scores->confusion);
    *scores = (rb_net_scores){.size = sizeof *scores};
}

rb_error rb_net_score(rb_context *ctx, const rb_model *net, const rb_labelled *data,
                      rb_net_scores *scores) {
    const char *outputs = rb_net_outputs(net);
    deep_labels labels = {0};
    if (!scores) return rb_fail(ctx, RB_ERROR_ARGUMENT, "the scores are NULL");
    rb_error err = rb_size_check(ctx, "the scores", scores->size, sizeof *scores);
    err = err ? err : deep_labelled_check(ctx, "the samples", data);
    if (err) return err;
    *scores = (rb_net_scores){.size = sizeof *scores, .n_outputs = rb_model_units(net)};
    if (!outputs) {
        return rb_fail(
            ctx, RB_ERROR_ARGUMENT,
            "labels are compared with the outputs of a net, but the model is of method '%s'",
            rb_model_method(net));
    }
    int kind = rb_store_word(deep_outputs_names, 3, outputs);
    int64_t n = scores->n_outputs, cells;
    struct scoring s = {.labels = &labels,
                        .net = {.type = net->type, .outputs = (deep_outputs)kind},
                        .scores = scores};
    err = deep_labels_take(ctx, "the samples", s.net.outputs, n, rb_model_attribute(net, "classes"),
                           data, &labels);
    if (!err && kind == DEEP_SOFTMAX) {
        if (!rb_multiply(n, n, &cells)) cells = INT64_MAX;
        scores->confusion = rb_alloc_zero(ctx, cells, sizeof *scores->confusion);
        err = scores->confusion ? RB_OK : RB_ERROR_MEMORY;
    }
    err = err ? err : rb_encode(ctx, net, data->source, add_rows, &s);
    if (!err) finish(&s);
    deep_labels_free(&labels);
    if (err) rb_net_scores_clear(scores);
    return err;
}
