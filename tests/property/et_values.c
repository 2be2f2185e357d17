/* Causes of several values against enumeration: candidates, evidences, every sum of the E-step and
 * the most probable states are those of the (V + 1)^H states one by one (1e-10), for every model,
 * selection, temperature, missing values and regions around the most probable state. */
#include "et_fixture.h"

enum { STATES = 1024, V_MAX = 3 };

/* A setting with its parameters, written out. */
struct world {
    const struct setting *c;
    et_fit *st;
    int v, states;
    bool max, poisson;
    double value[V_MAX + 1]; /* 0 first */
};

static int digit(const struct world *w, int s, int h) {
    while (h--)
        s /= w->v + 1;
    return s % (w->v + 1);
}

static double value_of(const struct world *w, int s, int h) {
    return w->value[digit(w, s, h)];
}

static double field(const struct world *w, int h, int d) {
    return rb_dense_get(w->st->parameters.fields, h, d);
}

static int size_of(const struct world *w, int s) {
    int size = 0;
    for (int h = 0; h < w->c->h; h++)
        size += digit(w, s, h) > 0;
    return size;
}

static int apart(const struct world *w, int s, int t) {
    int count = 0;
    for (int h = 0; h < w->c->h; h++)
        count += digit(w, s, h) != digit(w, t, h);
    return count;
}

static void superpose(const struct world *w, int s, double *wbar) {
    for (int d = 0; d < w->c->d; d++) {
        wbar[d] = 0;
        for (int h = 0; h < w->c->h; h++) {
            double x = value_of(w, s, h) * field(w, h, d);
            wbar[d] = w->max ? fmax(wbar[d], x) : wbar[d] + x;
        }
    }
}

/* log p(s, y), annealed. */
static double joint(const struct world *w, const double *y, int s) {
    const et_parameters *p = &w->st->parameters;
    double beta = engine_of(w->st)->beta, prior = 0, likelihood = 0, wbar[MAX_D];
    int count = w->c->count, h = w->c->h;
    superpose(w, s, wbar);
    for (int k = 0; k < h; k++) {
        int a = digit(w, s, k);
        double share = a ? p->shares[(a - 1) * h + k] : 1;
        prior += a ? log(share) : 0;
        if (!count) prior += a ? log(p->prior[k]) : log(1 - p->prior[k]);
    }
    if (count) prior += lgamma(count + 1) + lgamma(h - count + 1) - lgamma(h + 1);
    for (int d = 0; d < w->c->d; d++) {
        double rate = fmax(wbar[d], 1e-4);
        likelihood += isnan(y[d])  ? 0
                      : w->poisson ? beta * (y[d] * log(rate) - rate - lgamma(y[d] + 1))
                                   : -beta * pow(y[d] - wbar[d], 2) / (2 * p->sigma * p->sigma) -
                                         log(2 * M_PI * p->sigma * p->sigma / beta) / 2;
    }
    return likelihood + engine_of(w->st)->beta_prior * prior;
}

/* ---- candidates: by the best value ---- */

static double score(const struct world *w, const double *y, int h, int a) {
    double v = w->value[a], b = 0, square = 0, excess = 0;
    for (int d = 0; d < w->c->d; d++) {
        if (isnan(y[d])) continue;
        double x = v * field(w, h, d);
        b += x * y[d];
        square += x * x;
        excess += pow(fmax(0, x - y[d]), 2);
    }
    int power = 1;
    for (int k = 0; k < h; k++)
        power *= w->v + 1;
    if (square == 0) return -HUGE_VAL; /* nothing of it is there */
    switch (w->c->selection) {
    case RB_ET_SELECT_COSINE:
        return b / sqrt(square);
    case RB_ET_SELECT_PRODUCT:
        return b;
    case RB_ET_SELECT_BOUND:
        return -excess;
    default:
        return joint(w, y, a * power);
    }
}

/* p(s_h not 0 | y) over all states. */
static double marginal(const struct world *w, const double *y, int h) {
    double all = 0, active = 0, shift = joint(w, y, 0);
    for (int s = 0; s < w->states; s++) {
        if (w->c->count && size_of(w, s) != w->c->count) continue;
        double q = exp(joint(w, y, s) - shift);
        all += q;
        active += digit(w, s, h) ? q : 0;
    }
    return active / all;
}

static void check_candidates(const struct world *w, const double *y, et_look look) {
    double best[MAX_H];
    int step = look.tree->items / look.tree->candidates, units = w->c->h;
    for (int h = 0; h < units; h++) {
        best[h] = -HUGE_VAL;
        if (w->c->selection == RB_ET_SELECT_EXACT)
            best[h] = marginal(w, y, h);
        else
            for (int a = 1; a <= w->v; a++)
                best[h] = fmax(best[h], score(w, y, h, a));
    }
    assert_int_equal(step, w->v);
    for (int k = 0; k < look.tree->candidates; k++) {
        int cause = look.candidates[k * step], before = 0;
        for (int h = 0; h < units; h++)
            before += best[h] > best[cause] + 1e-9 * fabs(best[cause]);
        assert_true(before < look.tree->candidates);
        for (int a = 0; a < step; a++)
            assert_int_equal(look.candidates[k * step + a], a * units + cause);
    }
}

/* ---- states ---- */

static bool looked_at(const struct world *w, et_look look, int s) {
    int outside = 0, size = size_of(w, s);
    for (int h = 0; h < w->c->h; h++) {
        bool listed = false;
        for (int k = 0; k < look.tree->items; k++)
            listed = listed || look.candidates[k] == h;
        outside += digit(w, s, h) && !listed;
    }
    if (w->c->count) return size == w->c->count && !outside;
    bool single = engine_of(w->st)->setup.singletons && size == 1;
    return single || (size <= look.tree->max_active && !outside);
}

struct expected {
    double evidence, active, residual;
    double items[MAX_H * V_MAX], mean[MAX_H], second[MAX_H * MAX_H];
    double products[MAX_H * V_MAX * MAX_D], weights[MAX_H * V_MAX * MAX_D];
    double squares[MAX_H * MAX_D], pairs[MAX_H * MAX_H * MAX_D];
};

static double responsibility(const struct world *w, int s, int h, int d) {
    double t = 1 / engine_of(w->st)->beta, rho = t > 1 ? fmin(t / (t - 1), 21) : 21, sum = 0;
    double own = value_of(w, s, h) * field(w, h, d);
    for (int j = 0; j < w->c->h; j++)
        sum += pow(value_of(w, s, j) * field(w, j, d) / own, rho);
    return pow(sum, 1 / rho - 1);
}

static void add_cause(const struct world *w, const double *y, int s, int h, double q,
                      const double *wbar, struct expected *e) {
    double v = value_of(w, s, h);
    int units = w->c->h, item = (digit(w, s, h) - 1) * units + h;
    e->items[item] += q;
    e->mean[h] += q * v;
    for (int j = 0; j < units; j++)
        e->second[h * units + j] += q * v * value_of(w, s, j);
    for (int d = 0; d < w->c->d; d++) {
        if (isnan(y[d])) continue;
        bool linear = !w->max && !w->poisson;
        double share = w->max       ? responsibility(w, s, h, d)
                       : w->poisson ? v * field(w, h, d) / fmax(wbar[d], 1e-4)
                                    : v;
        e->products[(linear ? h : item) * w->c->d + d] += q * share * y[d];
        e->weights[item * w->c->d + d] += q * (w->max ? share : 1);
        e->squares[h * w->c->d + d] += q * v * v;
        for (int j = 0; j < units; j++)
            e->pairs[(h * units + j) * w->c->d + d] += q * v * value_of(w, s, j);
    }
}

/* What a sample adds; returns its most probable state. */
static int enumerate(const struct world *w, const double *y, et_look look, struct expected *e) {
    double log_p[STATES], total = 0, wbar[MAX_D];
    int best = -1;
    for (int s = 0; s < w->states; s++) {
        log_p[s] = looked_at(w, look, s) ? joint(w, y, s) : -HUGE_VAL;
        best = log_p[s] > -HUGE_VAL && (best < 0 || log_p[s] > log_p[best]) ? s : best;
    }
    double high = log_p[best];
    for (int s = 0; s < w->states; s++) {
        if (w->c->region && apart(w, s, best) > w->c->reach) log_p[s] = -HUGE_VAL;
        total += exp(log_p[s] - high);
    }
    e->evidence = high + log(total);
    for (int s = 0; s < w->states; s++) {
        double q = exp(log_p[s] - high) / total;
        if (q == 0) continue;
        superpose(w, s, wbar);
        e->active += q * size_of(w, s);
        for (int d = 0; d < w->c->d; d++)
            e->residual += isnan(y[d]) ? 0 : q * pow(y[d] - wbar[d], 2);
        for (int h = 0; h < w->c->h; h++)
            if (digit(w, s, h)) add_cause(w, y, s, h, q, wbar, e);
    }
    return best;
}

static void check_map(const struct world *w, int64_t i, int best) {
    int64_t items[ET_MAX_ACTIVE];
    int64_t count = et_map_items(engine_of(w->st), results_of(w->st), i, items);
    assert_int_equal(count, size_of(w, best));
    for (int64_t k = 0; k < count; k++)
        assert_int_equal(items[k] / w->c->h + 1, digit(w, best, (int)(items[k] % w->c->h)));
}

/* ---- a setting ---- */

static void check_linear(const struct world *w, const struct expected *e) {
    const et_sums *sums = &w->st->sums;
    int units = w->c->h, pair = 0;
    for (int h = 0; h < units; h++) {
        for (int j = 0; j < units && !w->c->missing; j++)
            near(rb_dense_get(sums->second, h, j), e->second[h * units + j], "second moment");
        for (int d = 0; d < w->c->d; d++) {
            near(rb_dense_get(sums->products, h, d), e->products[h * w->c->d + d], "product");
            if (w->c->missing)
                near(rb_dense_get(sums->weights, h, d), e->squares[h * w->c->d + d], "square");
        }
    }
    for (int h = 0; h < units && sums->pairs.data; h++)
        for (int j = h + 1; j < units; j++, pair++)
            for (int d = 0; d < w->c->d; d++)
                near(rb_dense_get(sums->pairs, pair, d), e->pairs[(h * units + j) * w->c->d + d],
                     "pair");
}

/* States of probability below 1e-12 are left out. */
static void nearly(double got, double expected) {
    if (!(fabs(got - expected) <= 1e-8 * fmax(1, fabs(expected))))
        fail_msg("a sum over states is %.15g, expected %.15g", got, expected);
}

static void check(rb_context *ctx, const struct setting *c) {
    struct fitted f;
    struct expected *e = calloc(1, sizeof *e);
    begin_setting(ctx, c, &f);
    const et_values *values = &f.state->plan.setup.values;
    struct world w = {.c = c,
                      .st = f.state,
                      .v = values->count,
                      .max = f.state->plan.setup.model.summing == &et_sum_max,
                      .poisson = c->noise == RB_ET_POISSON};
    w.states = (int)(pow(w.v + 1, c->h) + 0.5);
    assert_true(w.states <= STATES);
    memcpy(w.value + 1, values->value, sizeof(double) * (size_t)w.v);
    run_estep(ctx, &f);
    double evidence = 0;
    for (int64_t i = 0; i < c->n; i++) {
        const double *y = f.y + i * c->d;
        et_look look = et_look_at(engine_of(f.state), results_of(f.state), i);
        double before[MAX_H];
        memcpy(before, e->mean, sizeof before);
        check_candidates(&w, y, look);
        check_map(&w, i, enumerate(&w, y, look, e));
        near(results_of(f.state)->evidence[i], e->evidence, "evidence");
        evidence += e->evidence;
        for (int h = 0; h < c->h; h++)
            near(rb_dense_get(results_of(f.state)->mean, i, h), e->mean[h] - before[h], "code");
    }
    const et_sums *sums = &f.state->sums;
    near(sums->evidence, evidence, "sum of evidence");
    near(sums->active, e->active, "active causes");
    if (!w.poisson) near(sums->residual, e->residual, "residual");
    for (int k = 0; k < c->h * w.v; k++)
        near(sums->causes[k], e->items[k], "item");
    if (!w.max && !w.poisson) {
        check_linear(&w, e);
    } else {
        for (int k = 0; k < c->h * w.v * c->d; k++) {
            nearly(((double *)sums->products.data)[k], e->products[k]);
            nearly(((double *)sums->weights.data)[k], e->weights[k]);
        }
    }
    end_setting(&f);
    free(e);
}

static const char *values_of(const char *method, int variant) {
    static const char *const lists[] = {"0,1,2", "0.5,0,3", "0,2,1,0.7"};
    static const char *const signs[] = {"-1,0,1", "0,1.5,-0.5", "2,0,1,-1"};
    return (strcmp(method, "linca") == 0 ? signs : lists)[variant % 3];
}

static void sums_are_those_of_all_states(void **state) {
    rb_context *ctx = *state;
    for (int m = 0; m < MODELS; m++) {
        for (int variant = 0; variant < 12; variant++) {
            bool three = variant % 3 == 2, linca = m == 0;
            struct setting c = {.method = models[m].method,
                                .noise = models[m].noise,
                                .n = 11,
                                .d = 5,
                                .h = variant % 4 == 0 ? 4
                                     : three          ? 5
                                                      : 6, /* with 4 sets are few */
                                .candidates = 3 + variant % 2,
                                .max_active = 2 + variant % 2,
                                .temperature = variant % 4 == 1 ? 4 : 1.05,
                                .anneal_prior = variant % 2,
                                .unequal = variant % 3 == 1,
                                .singletons = variant % 4 != 3,
                                .missing = variant % 5 == 4 ? 0.2 : 0,
                                .seed = (uint64_t)variant + 40,
                                .values = values_of(models[m].method, variant),
                                .region = variant >= 6 && variant < 9,
                                .reach = variant - 6,
                                .selection = variant % 6};
            if (linca && c.selection == RB_ET_SELECT_BOUND) c.selection = RB_ET_SELECT_AUTO;
            if (variant == 10) c.count = 2;
            if (variant == 11) c.limit = c.max_active + 1;
            check(ctx, &c);
        }
    }
}

/* With all candidates and causes the truncated posterior is the exact one. */
static void all_states_are_exact(void **state) {
    rb_context *ctx = *state;
    for (int m = 0; m < MODELS; m++) {
        struct setting c = {.method = models[m].method,
                            .noise = models[m].noise,
                            .n = 9,
                            .d = 6,
                            .h = 5,
                            .candidates = 5,
                            .max_active = 5,
                            .temperature = 1.05,
                            .singletons = 1,
                            .seed = 3,
                            .values = values_of(models[m].method, 2)};
        struct fitted f;
        et_compared compared[9];
        int64_t index[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
        check(ctx, &c);
        begin_setting(ctx, &c, &f);
        run_estep(ctx, &f);
        et_compare(ctx, engine_of(f.state), &f.block, results_of(f.state), 9, index, compared);
        for (int i = 0; i < 9; i++) {
            near(compared[i].truncation, 0, "truncation");
            near(compared[i].hits, compared[i].all, "hits");
        }
        end_setting(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_are_those_of_all_states),
                                       cmocka_unit_test(all_states_are_exact)};
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
