/* Samples as a model expects them: the mean <Wbar(s)> of the superposition over the truncated
 * posterior, the estimate of least squared error. Where fields add up that is what the posterior
 * means of the causes rebuild; elsewhere, as where the largest field counts, it takes the
 * states. */
#include "coder.h"

struct expecting {
    const et_engine *engine;
    const et_results *results;
    rb_dense rows;
};

/* A sample while its states are walked. */
struct mean {
    const et_engine *engine;
    et_look look;
    double *vectors; /* (gamma + 1) x D: superpositions on the way to a state */
    double *row;     /* D: the mean */
};

static void add(int64_t n, double q, const double *wbar, double *row) {
    for (int64_t d = 0; d < n; d++) {
        row[d] += q * wbar[d];
    }
}

/* Adds q Wbar(s) of the states of two causes or more below s. */
static void add_states(const struct mean *m, int64_t s) {
    const et_setup *setup = &m->engine->setup;
    const et_tree *tree = m->look.tree;
    int64_t n = setup->n_features;
    const double *wbar = m->vectors + tree->size[s] * n;
    double *out = m->vectors + (tree->size[s] + 1) * n;
    for (int k = tree->last[s] + 1; k < tree->candidates; k++) {
        int64_t child = tree->child[s] + k;
        const double *field = rb_dense_row(m->engine->parameters.fields, m->look.candidates[k]);
        double q = tree->size[child] > 1 ? m->look.states[child] : 0;
        if (q > 0 || child < tree->inner) {
            setup->model->superpose(setup->model->user, n, wbar, field, out);
        }
        if (q > 0) {
            add(n, q, out, m->row);
        }
        if (child < tree->inner) {
            add_states(m, child);
        }
    }
}

/* The mean over the state of no cause, the causes alone, whether candidates or not, and the
 * rest. */
static void expect_sample(const struct mean *m, rb_type type, const void *single) {
    const et_setup *setup = &m->engine->setup;
    int64_t n = setup->n_features;
    for (int64_t d = 0; d < n; d++) {
        m->vectors[d] = setup->model->empty;
        m->row[d] = m->look.states[0] * setup->model->empty;
    }
    for (int64_t h = 0; h < setup->units; h++) {
        double q = et_get(type, single, h);
        if (q > 0) {
            const double *field = rb_dense_row(m->engine->parameters.fields, h);
            setup->model->superpose(setup->model->user, n, m->vectors, field, m->vectors + n);
            add(n, q, m->vectors + n, m->row);
        }
    }
    add_states(m, 0);
}

static void expect_task(void *arg, int64_t task, int worker) {
    const struct expecting *e = arg;
    et_scratch *scratch = &e->engine->scratch[worker];
    rb_dense single = e->results->single;
    int64_t first = task * ET_TASK_SAMPLES, left = e->rows.rows - first;
    int64_t count = left < ET_TASK_SAMPLES ? left : ET_TASK_SAMPLES;
    rb_dense rows = rb_dense_rows(scratch->y, 0, count);
    for (int64_t i = 0; i < count; i++) {
        struct mean m = {e->engine, et_look_at(e->engine, e->results, first + i), scratch->vectors,
                         rb_dense_row(rows, i)};
        expect_sample(&m, single.type, rb_dense_row(single, first + i));
    }
    rb_dense_copy(rows, rb_dense_rows(e->rows, first, count));
}

void et_expect(rb_context *ctx, et_coder *c, rb_dense rows) {
    if (!c->results.states) {
        et_decode(ctx, c, rows.rows, c->results.mean.data, rows.data);
        return;
    }
    struct expecting e = {c->engine, &c->results, rows};
    rb_parallel(ctx, (rows.rows + ET_TASK_SAMPLES - 1) / ET_TASK_SAMPLES, expect_task, &e);
}

rb_error et_rebuild(rb_context *ctx, void *coder, const rb_block *block, void *rows) {
    et_coder *c = coder;
    const et_setup *setup = &c->engine->setup;
    int64_t n = block->n_samples, d = setup->n_features;
    rb_dense to = {rows, n, d, d, setup->type};
    rb_error err = et_coder_keep_states(ctx, c);
    int64_t room = c->results.room;
    for (int64_t first = 0; !err && first < n; first += room) {
        int64_t count = n - first < room ? n - first : room;
        rb_block part = rb_block_part(block, first, count);
        err = et_code(ctx, c, &part);
        if (!err) {
            et_expect(ctx, c, rb_dense_rows(to, first, count));
        }
    }
    return err;
}
