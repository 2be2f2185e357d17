/* What the tests of nets share: samples of three classes, options, and the share of errors. */
#ifndef RB_TESTS_DEEP_TEST_H
#define RB_TESTS_DEEP_TEST_H

#include "fixture.h"

#include "base/base.h"
#include <rarebit/deep.h>
#include <rarebit/io.h>

enum { N = 240, VALID = 80, M = 8, CLASSES = 3 };

static rb_context *ctx;

/* Samples of three classes: the sign of a product of two features, or a large third one. */
struct data {
    double *values;
    int64_t class_of[N];
    rb_labelled labelled;
};

static inline void make(struct data *d, int64_t n, uint64_t seed) {
    rb_draws draws = {{seed, RB_RANDOM_SIMULATE, 0}, 0};
    *d = (struct data){.values = calloc((size_t)(n * M), sizeof(double))};
    for (int64_t i = 0; i < n; i++) {
        double *v = d->values + i * M;
        for (int k = 0; k < M; k++)
            v[k] = rb_draw_normal(&draws);
        d->class_of[i] = v[2] > 0.7 ? 2 : v[0] * v[1] > 0;
    }
    d->labelled = (rb_labelled){.size = sizeof d->labelled,
                                .source = fixture_data(ctx, d->values, n, M),
                                .n_classes = CLASSES,
                                .class_of = d->class_of};
}

static inline void drop(struct data *d) {
    rb_source_free(d->labelled.source);
    free(d->values);
}

static struct data train, valid;

static inline int set_up(void **state) {
    (void)state;
    ctx = fixture_context();
    make(&train, N, 1);
    make(&valid, VALID, 2);
    return 0;
}

static inline int tear_down(void **state) {
    (void)state;
    drop(&train);
    drop(&valid);
    rb_context_free(ctx);
    return 0;
}

static inline rb_options *options_of(const char *text) {
    rb_options *options;
    assert_ok(ctx, rb_finetune_options_new(ctx, &options));
    assert_ok(ctx, rb_options_set_all(ctx, options, "layers=16 batch-size=32 rate=0.05"));
    assert_ok(ctx, rb_options_set_all(ctx, options, "%s", text));
    return options;
}

static inline double score(const rb_model *net, const rb_labelled *data) {
    rb_net_scores s = {.size = sizeof s};
    assert_ok(ctx, rb_net_score(ctx, net, data, &s));
    double rate = s.error_rate;
    rb_net_scores_clear(&s);
    return rate;
}

#endif
