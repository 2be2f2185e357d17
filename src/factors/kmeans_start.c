/* Centres to start from: k-means++ (D. Arthur, S. Vassilvitskii, "k-means++: the advantages of
 * careful seeding", SODA 2007). The first centre is a sample at random; for each next one a few
 * samples are drawn, each with probability proportional to its squared distance from the nearest
 * centre so far, and the one that leaves the least sum of these is taken (the greedy form of their
 * section 5).
 *
 * One pass over the data a centre. Of weights w a sample draws an exponential number of mean 1 / w,
 * and the least of all wins, which it does with a probability proportional to w. The weights of the
 * next draws depend on which candidate will be taken: there is a winner for each, of the same
 * numbers. They depend on pass and sample alone, so that blocks and threads do not matter.
 */
#include "kmeans.h"

#include <math.h>

/* Samples so near to a centre are the same, but for rounding. */
static const double nothing = 1e-6;

struct drawing {
    rb_context *ctx;
    kmeans_fit *fit;
    const rb_block *block;
    rb_dense tried; /* features x the last centre, and candidates */
};

/* Of a sample of the block: the squared distance from what is tried, of which the product is there.
 */
static double distance(const struct drawing *d, int64_t i, int64_t column) {
    const kmeans_fit *fit = d->fit;
    double length = fit->lengths[d->block->own + i];
    double square = length + 2 * (fit->halves[column] - rb_dense_get(fit->products, i, column));
    return square > nothing * length ? square : 0;
}

static void project(void *arg, int64_t task, int worker) {
    const struct drawing *d = arg;
    kmeans_fit *fit = d->fit;
    struct bands tasks = block_tasks(d->block->n_samples);
    int64_t first = rb_band_start(tasks, task), count = rb_band_size(tasks, task);
    (void)worker;
    rb_block_project(d->ctx, d->block, first, d->tried,
                     rb_dense_part(fit->products, first, count, 0, d->tried.cols));
    for (int64_t i = first; i < first + count; i++) {
        double *nearest = &fit->distances[d->block->own + i], square = distance(d, i, 0);
        *nearest = fit->chosen == 1 || square < *nearest ? square : *nearest;
    }
}

/* What samples are measured against, in columns. */
static void measure_tried(struct drawing *d) {
    kmeans_fit *fit = d->fit;
    int64_t m = fit->centres.cols, count = fit->tried_count;
    d->tried = rb_dense_part(fit->tried, 0, m, 0, count + 1);
    rb_dense_transpose(rb_dense_rows(fit->centres, fit->chosen - 1, 1),
                       rb_dense_part(fit->tried, 0, m, 0, 1));
    rb_dense_transpose(rb_dense_rows(fit->candidates, 0, count),
                       rb_dense_part(fit->tried, 0, m, 1, count));
    kmeans_halves(d->tried, d->block->sparse ? d->block->shift : NULL, fit->halves);
    rb_parallel(d->ctx, block_tasks(d->block->n_samples).count, project, d);
}

/* The r-th number of a sample: log(U), so that the largest one over its weight wins. */
static double draw(const kmeans_fit *fit, int64_t sample, int64_t r, int64_t trials) {
    rb_stream stream = {.seed = (uint64_t)fit->base.problem.fit->seed,
                        .purpose = RB_RANDOM_COMPARE,
                        .restart = (uint32_t)fit->base.problem.restart};
    int64_t pass = 2 * fit->chosen + (fit->tried_count > 0);
    int64_t index = (pass * trials + r) * fit->base.problem.n_samples + sample;
    return log(fmax(rb_random_uniform(stream, (uint64_t)index), 1e-300));
}

/* Sample i of the block in all draws, where the weight is that with each candidate. */
static void enter(const struct drawing *d, int64_t i, int64_t alternatives, const double *weights) {
    kmeans_fit *fit = d->fit;
    int64_t trials = kmeans_trials(fit->options.units), sample = d->block->first + i;
    int64_t draws = fit->chosen == 0 ? 1 : trials;
    for (int64_t r = 0; r < draws; r++) {
        double number = draw(fit, sample, r, trials);
        for (int64_t a = 0; a < alternatives; a++) {
            int64_t pair = a * trials + r;
            if (weights[a] > 0 && number > fit->winners[pair] * weights[a]) {
                fit->winners[pair] = number / weights[a];
                fit->won[pair] = sample;
            }
        }
    }
}

enum { TRIALS_MAX = 32 };

/* The weights of a sample, and what they add to the potentials. */
static void weigh(const struct drawing *d, int64_t i, double *weights) {
    kmeans_fit *fit = d->fit;
    double nearest = fit->chosen > 0 ? fit->distances[d->block->own + i] : 1;
    weights[0] = nearest;
    for (int64_t a = 0; a < fit->tried_count; a++) {
        weights[a] = fmin(nearest, distance(d, i, a + 1));
        fit->potentials[a] += weights[a];
    }
}

rb_error kmeans_start_block(rb_context *ctx, kmeans_fit *fit, const rb_block *block) {
    struct drawing d = {.ctx = ctx, .fit = fit, .block = block};
    int64_t alternatives = fit->tried_count > 0 ? fit->tried_count : 1;
    int64_t trials = kmeans_trials(fit->options.units);
    if (fit->chosen > 0) measure_tried(&d);
    for (int64_t i = 0; i < block->n_samples; i++) {
        double weights[TRIALS_MAX];
        weigh(&d, i, weights);
        enter(&d, i, alternatives, weights);
    }
    for (int64_t pair = 0; pair < trials * trials; pair++) {
        int64_t i = fit->won[pair] - block->first;
        if (i >= 0 && i < block->n_samples)
            rb_block_rows(block, i, rb_dense_rows(fit->candidates, trials + pair, 1));
    }
    return RB_OK;
}

/* Where every sample is a centre already, the next ones are like the first. */
static void take(rb_context *ctx, const kmeans_fit *fit, int64_t pair, rb_dense to) {
    int64_t trials = kmeans_trials(fit->options.units);
    bool none = fit->won[pair] < 0;
    rb_dense row =
        none ? rb_dense_rows(fit->centres, 0, 1) : rb_dense_rows(fit->candidates, trials + pair, 1);
    if (!none) rb_comm_sample(ctx, &fit->base.problem, fit->won[pair], row);
    rb_dense_copy(row, to);
}

void kmeans_start_end(rb_context *ctx, kmeans_fit *fit) {
    int64_t trials = kmeans_trials(fit->options.units), best = 0;
    if (fit->chosen == 0) {
        take(ctx, fit, 0, rb_dense_rows(fit->centres, 0, 1));
        fit->chosen = 1;
        return;
    }
    if (fit->tried_count > 0) {
        for (int64_t a = 1; a < trials; a++)
            best = fit->potentials[a] < fit->potentials[best] ? a : best;
        rb_dense_copy(rb_dense_rows(fit->candidates, best, 1),
                      rb_dense_rows(fit->centres, fit->chosen, 1));
        fit->chosen++;
    }
    for (int64_t r = 0; r < trials; r++)
        take(ctx, fit, best * trials + r, rb_dense_rows(fit->candidates, r, 1));
    fit->tried_count = trials;
}
