/* Samples next to each other in the data, as a fit has them: do they depend on each other? */
#include "study.h"

#include <math.h>

typedef struct look {
    rb_context *ctx;
    rb_feed *feed;
    rb_dense rows; /* two samples */
    rb_error err;
} look;

/* 0 where values are missing. */
static double cosine(int64_t a, int64_t b, void *user) {
    look *l = user;
    double products[3] = {0};
    const int64_t samples[] = {a, b};
    for (int64_t i = 0; !l->err && i < 2; i++) {
        rb_block block;
        l->err = rb_feed_read(l->ctx, l->feed, samples[i], 1, &block);
        if (!l->err) rb_block_rows(&block, 0, rb_dense_rows(l->rows, i, 1));
    }
    for (int i = 0; !l->err && i < 3; i++)
        products[i] = rb_dot(l->ctx, l->rows.type, l->rows.cols, rb_dense_row(l->rows, i / 2),
                             rb_dense_row(l->rows, (i + 1) / 2));
    double norms = sqrt(products[0] * products[2]);
    return norms > 0 ? products[1] / norms : 0;
}

rb_error rb_neighbours_look(rb_context *ctx, const rb_preprocess *p, rb_source *source,
                            rb_neighbours *found) {
    int64_t n = source->n_samples;
    look l = {.ctx = ctx};
    *found = (rb_neighbours){0};
    if (n < 2) return RB_OK;
    l.err = rb_feed_new(ctx, p, source, RB_FLOAT64, &l.feed);
    if (!l.err) l.err = rb_dense_new(ctx, RB_FLOAT64, 2, p->n_features, &l.rows);
    if (!l.err) *found = rb_neighbours_of(n - 1, n, 1, cosine, &l);
    rb_dense_free(&l.rows);
    rb_feed_free(l.feed);
    return l.err;
}

rb_error rb_neighbours_warn(rb_context *ctx, const rb_preprocess *p, const rb_matrix *matrix) {
    char text[512];
    rb_neighbours found;
    rb_source source;
    rb_source_of_matrix(matrix, &source);
    rb_error err = rb_neighbours_look(ctx, p, &source, &found);
    if (err || !found.alike) return err;
    rb_neighbours_say(&found, text, sizeof text);
    rb_log(ctx, RB_LOG_WARNING, "%s", text);
    return RB_OK;
}
