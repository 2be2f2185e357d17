/* A fit of dae or rbm whose blocks a test calls by itself. */
#ifndef NETS_FIXTURE_H
#define NETS_FIXTURE_H

#include "fixture.h"

#include "nets/one_layer.h"

/* The options of a method as they are without any being set, for `units` of them. */
static inline net_options net_fixture_options(const rb_method *method, int64_t units) {
    net_options options = {0};
    rb_rows_default(method->options, &options);
    options.units = units;
    return options;
}

struct net_fixture {
    rb_fit_options fit_options;
    net_options options;
    rb_problem problem;
    net_fit *fit;
    rb_block block;
};

/* n x m values of float64 as one block, which is all of the data. */
static inline void net_fixture_begin(rb_context *ctx, const rb_method *method, net_options options,
                                     int64_t n, int64_t m, double *values, struct net_fixture *f) {
    void *state = NULL;
    *f = (struct net_fixture){.options = options};
    rb_fit_options_default(&f->fit_options);
    f->problem = (rb_problem){.n_samples = n,
                              .own = n,
                              .n_features = m,
                              .type = RB_FLOAT64,
                              .block_samples = n,
                              .batch_samples = n,
                              .fit = &f->fit_options,
                              .decay = 1,
                              .method = method};
    f->block = (rb_block){.n_samples = n, .n_features = m, .dense = {values, n, m, m, RB_FLOAT64}};
    assert_ok(ctx, rb_method_start(ctx, &f->problem, &f->options, NULL, &state));
    f->fit = state;
}

static inline void net_fixture_end(struct net_fixture *f) {
    rb_method_finish(f->problem.method, f->fit);
}

/* The sums of the block, anew. */
static inline void net_fixture_sums(rb_context *ctx, struct net_fixture *f) {
    net_sums *sums = &f->fit->sums;
    rb_dense all[] = {sums->gradients.loadings, sums->gradients.weights,
                      sums->gradients.hidden_bias, sums->gradients.visible_bias};
    for (int i = 0; i < 4; i++)
        if (all[i].data) rb_dense_zero(all[i]);
    sums->error = 0;
    sums->samples = 0;
    assert_ok(ctx, f->problem.method->block(ctx, f->fit, &f->block));
}

/* Numbers around 0 for a matrix. */
static inline void net_fixture_draw(rb_dense a, double sd, uint64_t seed) {
    rb_draws draws = {{seed, RB_RANDOM_SIMULATE, 0}, 0};
    for (int64_t i = 0; i < a.rows; i++)
        for (int64_t j = 0; j < a.cols; j++)
            rb_dense_set(a, i, j, sd * rb_draw_normal(&draws));
}

#endif
