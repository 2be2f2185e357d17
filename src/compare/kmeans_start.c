/* Centres to start from (D. Arthur, S. Vassilvitskii, "k-means++: the advantages of careful
 * seeding", SODA 2007): the first is a sample at random, each next one a sample drawn with
 * probability proportional to its squared distance from the nearest centre so far.
 *
 * One pass over the data a centre: a sample draws an exponential number of mean 1 / d^2, and the
 * least of these wins, which it does with that probability. The draw of a sample depends on its
 * place alone, so that blocks and threads do not matter.
 */
#include "kmeans.h"

#include <math.h>

struct drawing {
    rb_context *ctx;
    kmeans_fit *fit;
    const rb_block *block;
    double half; /* of the last centre: kmeans_halves */
};

/* From the last centre, in the products of the block. */
static void measure(void *arg, int64_t task, int worker) {
    const struct drawing *d = arg;
    kmeans_fit *fit = d->fit;
    struct bands tasks = block_tasks(d->block->n_samples);
    int64_t first = rb_band_start(tasks, task), count = rb_band_size(tasks, task);
    rb_dense centre = rb_dense_part(fit->turned, 0, fit->turned.rows, fit->chosen - 1, 1);
    rb_dense products = rb_dense_part(fit->products, first, count, 0, 1);
    (void)worker;
    block_project(d->ctx, d->block, first, centre, products);
    for (int64_t i = 0; i < count; i++) {
        double *nearest = &fit->distances[d->block->own + first + i];
        double length = kmeans_length(d->ctx, d->block, first + i);
        double square = fmax(length + 2 * (d->half - rb_dense_get(products, i, 0)), 0);
        bool same = square <= 1e-6 * length;
        square = same ? 0 : square;
        *nearest = fit->chosen == 1 || square < *nearest ? square : *nearest;
    }
}

/* log(U) / w: the largest one is the least -log(U) / w. */
static double draw(const kmeans_fit *fit, int64_t sample, double weight) {
    rb_stream stream = {.seed = (uint64_t)fit->problem.fit->seed,
                        .purpose = RB_RANDOM_COMPARE,
                        .restart = (uint32_t)fit->problem.restart};
    int64_t index = fit->chosen * fit->problem.n_samples + sample;
    return log(fmax(rb_random_uniform(stream, (uint64_t)index), 1e-300)) / weight;
}

rb_error kmeans_start_block(rb_context *ctx, kmeans_fit *fit, const rb_block *block) {
    struct drawing d = {ctx, fit, block, 0};
    int64_t best = -1;
    if (fit->chosen > 0) {
        kmeans_halves(rb_dense_part(fit->turned, 0, fit->turned.rows, fit->chosen - 1, 1),
                      block->sparse ? block->shift : NULL, &d.half);
        rb_parallel(ctx, block_tasks(block->n_samples).count, measure, &d);
    }
    for (int64_t i = 0; i < block->n_samples; i++) {
        double weight = fit->chosen > 0 ? fit->distances[block->own + i] : 1;
        double value = weight > 0 ? draw(fit, block->first + i, weight) : -INFINITY;
        if (value > fit->winner) {
            fit->winner = value;
            fit->won = block->first + i;
            best = i;
        }
    }
    if (best >= 0) rb_block_rows(block, best, rb_dense_rows(fit->rows, 0, 1));
    return RB_OK;
}

/* Where every sample is a centre already, the next ones are like the first. */
void kmeans_start_end(kmeans_fit *fit) {
    rb_dense to = rb_dense_rows(fit->centres, fit->chosen, 1);
    rb_dense_copy(rb_dense_rows(fit->won < 0 ? fit->centres : fit->rows, 0, 1), to);
    fit->chosen++;
}
