/* What rb_reconstruct gives of models of expectation truncation is <Wbar(s)>, against enumeration
 * of the states (1e-10): where fields add up, where the largest counts, and for a model of one's
 * own; all states or few, values missing or not. */
#include "fixture.h"

#include <rarebit/et.h>
#include <rarebit/method.h>

enum { N = 24, D = 7, H = 8 };

/* ---- models ---- */

/* All functions are given the model's own pointer. */
static int users;

static void either(void *user, int64_t n, const double *wbar, const double *field, double *out) {
    assert_ptr_equal(user, &users);
    for (int64_t d = 0; d < n; d++)
        out[d] = 1 - (1 - wbar[d]) * (1 - field[d]);
}

static double on_and_off(void *user, int64_t n, const double *y, const double *wbar, double sigma) {
    double sum = 0;
    assert_ptr_equal(user, &users);
    (void)sigma;
    for (int64_t d = 0; d < n; d++)
        sum += y[d] > 0 ? log(wbar[d]) : log1p(-wbar[d]);
    return sum;
}

static void switched(void *user, int64_t n, const double *y, const double *wbar,
                     const double *field, double q, rb_et_shares sums) {
    assert_ptr_equal(user, &users);
    for (int64_t d = 0; d < n; d++) {
        sums.up[d] += y[d] > 0 ? q * field[d] / wbar[d] : 0;
        sums.down[d] += q;
    }
}

static const rb_et_model noisy_or = {.size = sizeof(rb_et_model),
                                     .name = "noisy-or",
                                     .title = "noisy-OR",
                                     .code_name = "X_noisy_or",
                                     .min = 0.02,
                                     .max = 0.98,
                                     .empty = 0.02,
                                     .end_temperature = 1,
                                     .superpose = either,
                                     .log_likelihood = on_and_off,
                                     .share = switched,
                                     .user = &users};

enum kind { LINCA, NMF, NMF_POISSON, MCA, MCA_POISSON, NOISY_OR, KINDS };

static const char *const names[KINDS] = {"linca", "nmf-et", "nmf-et", "mca", "mca", "noisy-or"};

static bool is_poisson(enum kind kind) {
    return kind == NMF_POISSON || kind == MCA_POISSON;
}

static double superpose(enum kind kind, double wbar, double field) {
    return kind == NOISY_OR                     ? 1 - (1 - wbar) * (1 - field)
           : kind == MCA || kind == MCA_POISSON ? fmax(wbar, field)
                                                : wbar + field;
}

/* Two parts of three features each, on or off, and noise. */
static void draw_data(enum kind kind, int64_t n, double missing, double *y) {
    rb_draws draws = {{11, RB_RANDOM_SIMULATE, (uint32_t)kind}, 0};
    for (int64_t i = 0; i < n; i++) {
        bool parts[2] = {rb_draw_uniform(&draws) < 0.5, rb_draw_uniform(&draws) < 0.5};
        for (int d = 0; d < D; d++) {
            double value = d < 6 && parts[d / 3] ? 4 : 0.5;
            value += 0.7 * rb_draw_normal(&draws);
            value = is_poisson(kind) ? round(fabs(value)) : value;
            y[i * D + d] = kind == NOISY_OR ? value > 2 : value;
            if (rb_draw_uniform(&draws) < missing) y[i * D + d] = NAN;
        }
    }
}

/* ---- a fit in the middle, of the first N of n samples, and what it rebuilds of all ---- */

struct fitted {
    rb_context *ctx;
    rb_method own;
    enum kind kind;
    rb_et_options options;
    rb_source *source;
    rb_model *model;
};

static void begin(struct fitted *f, enum kind kind, const rb_et_options *options, int64_t n,
                  const double *y, int precision) {
    *f = (struct fitted){.ctx = fixture_context(), .kind = kind, .options = *options};
    f->options.noise = is_poisson(kind) ? RB_ET_POISSON : RB_ET_GAUSSIAN;
    f->options.sigma = is_poisson(kind) ? 0 : 0.9; /* several states count */
    f->own.size = sizeof f->own;
    assert_int_equal(rb_et_method(&noisy_or, &f->own), RB_OK);
    assert_ok(f->ctx, rb_context_add_method(f->ctx, &f->own));
    rb_source *first = fixture_data(f->ctx, y, N, D);
    rb_fit_options fit = fixture_fit(2, precision);
    fit.seed = 3;
    rb_preprocess_options preprocess;
    rb_preprocess_options_default(&preprocess);
    preprocess.missing = RB_MISSING_OMIT;
    f->model = fixture_model(f->ctx, names[kind], &f->options, &fit, &preprocess, first, NULL);
    rb_source_free(first);
    f->source = fixture_data(f->ctx, y, n, D);
}

static void end(struct fitted *f) {
    rb_model_free(f->model);
    rb_source_free(f->source);
    rb_context_free(f->ctx);
}

static void rebuild(struct fitted *f, double *rows) {
    struct fixture_rows to = {rows, D};
    assert_ok(f->ctx, rb_reconstruct(f->ctx, f->model, f->source, fixture_take, &to));
}

/* ---- enumeration ---- */

/* log p(s, y), less what does not depend on s; Wbar(s) into wbar. */
static double joint(const struct fitted *f, const double *y, int state, double wbar[D]) {
    const double *w = rb_model_array(f->model, "loadings", NULL, NULL);
    const double *prior = rb_model_array(f->model, "prior", NULL, NULL);
    const double *sigma = rb_model_array(f->model, "sigma", NULL, NULL);
    double sum = 0;
    for (int h = 0; h < H; h++)
        sum += state >> h & 1 ? log(prior[0] / (1 - prior[0])) : 0;
    for (int d = 0; d < D; d++) {
        wbar[d] = f->kind == NOISY_OR ? noisy_or.empty : 0;
        for (int h = 0; h < H; h++)
            wbar[d] = state >> h & 1 ? superpose(f->kind, wbar[d], w[d * H + h]) : wbar[d];
        double rate = fmax(wbar[d], 1e-4);
        sum += isnan(y[d])           ? 0
               : f->kind == NOISY_OR ? on_and_off(&users, 1, &y[d], &wbar[d], 0)
               : is_poisson(f->kind) ? y[d] * log(rate) - rate
                                     : -pow((y[d] - wbar[d]) / sigma[0], 2) / 2;
    }
    return sum;
}

static int size_of(int state) {
    int size = 0;
    for (int h = 0; h < H; h++)
        size += state >> h & 1;
    return size;
}

/* The causes that explain the sample best by themselves, as a state. */
static int choose(const double log_p[1 << H], int count) {
    int chosen = 0;
    for (int k = 0; k < count; k++) {
        int best = -1;
        for (int h = 0; h < H; h++) {
            bool better = best < 0 || log_p[1 << h] > log_p[1 << best];
            best = !(chosen >> h & 1) && better ? h : best;
        }
        chosen |= 1 << best;
    }
    return chosen;
}

static bool looked_at(const struct fitted *f, int state, int chosen, int max_active) {
    int size = size_of(state);
    if (f->options.count) return size == f->options.count && !(state & ~chosen);
    return size == 1 || (size <= max_active && !(state & ~chosen));
}

/* <Wbar(s)> over the states with at most so many causes among so many candidates, and the single
 * causes. Returns the most probable one. */
static int expect(const struct fitted *f, const double *y, int candidates, int max_active,
                  double row[D]) {
    static double log_p[1 << H], wbar[1 << H][D];
    int map = 0;
    double total = 0;
    for (int s = 0; s < 1 << H; s++)
        log_p[s] = joint(f, y, s, wbar[s]);
    int chosen = choose(log_p, candidates);
    for (int s = 0; s < 1 << H; s++) {
        log_p[s] = looked_at(f, s, chosen, max_active) ? log_p[s] : -HUGE_VAL;
        map = log_p[s] > log_p[map] ? s : map;
    }
    memset(row, 0, D * sizeof *row);
    for (int s = 0; s < 1 << H; s++) {
        double q = exp(log_p[s] - log_p[map]);
        total += q;
        for (int d = 0; d < D; d++)
            row[d] += q * wbar[s][d];
    }
    for (int d = 0; d < D; d++)
        row[d] /= total;
    return map;
}

/* Samples whose most probable state is full are looked at again. */
static void expect_widened(const struct fitted *f, const double *y, double row[D]) {
    int candidates = f->options.exact ? H : (int)f->options.candidates;
    int max_active = f->options.exact ? H : (int)f->options.max_active;
    while (size_of(expect(f, y, candidates, max_active, row)) == max_active &&
           max_active < f->options.max_active_limit) {
        max_active++;
        candidates = candidates + 2 < H ? candidates + 2 : H;
    }
}

/* Figures are of the same rows. */
static void check_evaluation(struct fitted *f, const double *y, const double *rows) {
    rb_evaluation e;
    double squares = 0, values = 0;
    for (int i = 0; i < N * D; i++) {
        squares += isnan(y[i]) ? 0 : pow(y[i] - rows[i], 2);
        values += !isnan(y[i]);
    }
    assert_ok(f->ctx, fixture_evaluate(f->ctx, f->model, f->source, &e));
    assert_close(e.reconstruction_error, sqrt(squares), 1e-10);
    assert_close(e.mean_squared_error, squares / values, 1e-10);
}

static void rows_are_mean_superpositions(void **state) {
    (void)state;
    static const struct {
        bool exact;
        int candidates, max_active, limit, count;
    } ways[] = {{.exact = true},
                {.candidates = 4, .max_active = 2},
                {.candidates = 3, .max_active = 1, .limit = 3},
                {.candidates = 5, .count = 2}};
    int spread = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        for (int way = 0; way < 8; way++) {
            double y[N * D], rows[N * D], expected[D];
            struct fitted f;
            rb_et_options options;
            rb_et_options_default(&options);
            options.units = H;
            options.exact = ways[way / 2].exact;
            options.candidates = ways[way / 2].candidates;
            options.max_active_limit = ways[way / 2].limit;
            options.count = ways[way / 2].count;
            if (ways[way / 2].max_active) options.max_active = ways[way / 2].max_active;
            draw_data((enum kind)kind, N, way % 2 * 0.2, y);
            begin(&f, (enum kind)kind, &options, N, y, RB_FLOAT64);
            rebuild(&f, rows);
            double *codes = fixture_codes(f.ctx, f.model, f.source);
            for (int i = 0; i < N; i++) {
                expect_widened(&f, y + i * D, expected);
                for (int d = 0; d < D; d++) {
                    if (!(fabs(rows[i * D + d] - expected[d]) <= 1e-10)) {
                        fail_msg("%s, way %d, sample %d: %.15g, expected %.15g", names[kind], way,
                                 i, rows[i * D + d], expected[d]);
                    }
                }
                for (int h = 0; h < H; h++)
                    spread += codes[i * H + h] > 0.1 && codes[i * H + h] < 0.9;
            }
            check_evaluation(&f, y, rows);
            free(codes);
            end(&f);
        }
    }
    assert_true(spread > 500); /* it is not one state each */
}

/* ---- blocks and threads ---- */

enum { MANY = 150, CAUSES = 14 };

/* CAUSES: so many states that their memory is enough for 128 samples at a time. */
static void begin_many(struct fitted *f, enum kind kind, double *y, int precision, int causes) {
    rb_et_options options;
    rb_et_options_default(&options);
    options.units = options.candidates = causes;
    options.max_active = causes / 2;
    draw_data(kind, MANY, 0.1, y);
    begin(f, kind, &options, MANY, y, precision);
}

static void threads_change_no_bit(void **state) {
    (void)state;
    static double y[MANY * D], one[MANY * D], more[MANY * D];
    for (int precision = RB_FLOAT32; precision <= RB_FLOAT64; precision++) {
        struct fitted f;
        begin_many(&f, MCA, y, precision, CAUSES);
        for (int threads = 1; threads <= 3; threads++) {
            assert_ok(f.ctx, rb_context_set_threads(f.ctx, threads));
            rebuild(&f, threads == 1 ? one : more);
            assert_true(threads == 1 || memcmp(one, more, sizeof one) == 0);
        }
        end(&f);
    }
}

/* Samples that are rebuilt together, all of them or 128 at a time, are as they are alone. */
static void samples_do_not_meet(void **state) {
    (void)state;
    static double y[MANY * D], rows[MANY * D];
    for (int causes = 4; causes <= CAUSES; causes += CAUSES - 4) {
        struct fitted f;
        begin_many(&f, MCA, y, RB_FLOAT64, causes);
        rebuild(&f, rows);
        for (int i = 0; i < MANY; i += 23) {
            double alone[D];
            struct fixture_rows to = {alone, D};
            rb_source *source = fixture_data(f.ctx, y + i * D, 1, D);
            assert_ok(f.ctx, rb_reconstruct(f.ctx, f.model, source, fixture_take, &to));
            for (int d = 0; d < D; d++)
                assert_close(rows[i * D + d], alone[d], 1e-10);
            rb_source_free(source);
        }
        end(&f);
    }
}

/* Memory that is refused says so, and no row was given. */
static rb_error count_row(void *user, int64_t first, const rb_matrix *rows) {
    (void)first;
    *(int64_t *)user += rb_matrix_samples(rows);
    return RB_OK;
}

static void memory_may_be_refused(void **state) {
    (void)state;
    for (int kind = MCA; kind < KINDS; kind++) {
        double y[N * D];
        struct fitted f;
        rb_et_options options;
        rb_et_options_default(&options);
        options.units = H;
        draw_data((enum kind)kind, N, 0.2, y);
        begin(&f, (enum kind)kind, &options, N, y, RB_FLOAT64);
        rb_error err = RB_ERROR_MEMORY;
        int refusals = 0;
        for (; allow_allocations(f.ctx, refusals, err); refusals++) {
            int64_t taken = 0;
            err = rb_reconstruct(f.ctx, f.model, f.source, count_row, &taken);
            assert_int_equal(taken, err ? 0 : N);
        }
        assert_true(refusals > 20);
        end(&f);
    }
}

static void a_model_without_size_is_refused(void **state) {
    rb_et_model unsized = noisy_or;
    rb_method method = {.size = sizeof method};
    rb_context *ctx = *state;
    unsized.size = 0;
    assert_int_equal(rb_et_method(&unsized, &method), RB_ERROR_ARGUMENT);
    assert_int_equal(rb_context_add_method(ctx, &method), RB_ERROR_ARGUMENT);
}

/* A model of one's own gets a sigma of 1 unless one is given, and keeps what it is given. */
static void sigma_of_other_noise_is_one(void **state) {
    double y[N * D];
    rb_context *ctx = *state;
    rb_method own = {.size = sizeof own};
    draw_data(NOISY_OR, N, 0, y);
    assert_int_equal(rb_et_method(&noisy_or, &own), RB_OK);
    assert_ok(ctx, rb_context_add_method(ctx, &own));
    rb_source *source = fixture_data(ctx, y, N, D);
    for (int given = 0; given < 2; given++) {
        rb_et_options options;
        rb_fit_options fit = fixture_fit(3, RB_FLOAT64);
        rb_et_options_default(&options);
        options.units = 2;
        options.sigma = given ? 0.7 : 0;
        rb_model *model = fixture_model(ctx, "noisy-or", &options, &fit, NULL, source, NULL);
        assert_true(*rb_model_array(model, "sigma", NULL, NULL) == (given ? 0.7 : 1));
        rb_model_free(model);
    }
    rb_source_free(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_model_without_size_is_refused),
                                       cmocka_unit_test(sigma_of_other_noise_is_one),
                                       cmocka_unit_test(rows_are_mean_superpositions),
                                       cmocka_unit_test(threads_change_no_bit),
                                       cmocka_unit_test(samples_do_not_meet),
                                       cmocka_unit_test(memory_may_be_refused)};
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
