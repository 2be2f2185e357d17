/* Guaranteed E-steps on random problems: O never rises, codes stay feasible, and where they end no
 * feasible neighbour is better; units one by one agree with the formula of their minimum. */
#include "fixture.h"

#include "quadratic.h"
#include "rfn/paper/paper.h"

enum { L = 7, N = 23 };

struct problem {
    double hessian[L * L], linear[L * N], codes[L * N], next[L * N];
    rfn_quadratic quadratic;
    rfn_search search; /* with the codes */
    rfn_cascade cascade;
    rfn_work work;
    double capacity[4][L * N], sigma[L * L];
};

/* Every E-step that goes on from codes, as the stages it has. */
enum { CYCLIC, ANNEALED, REDUCED, GRG, ROSEN, HAUG_ARORA, CASCADE, CASCADE_ANY, GRADIENT, ESTEPS };
static const struct {
    rb_rfn_stage first, last;
} spans[] = {[ANNEALED] = {RB_RFN_STAGE_NEWTON, RB_RFN_STAGE_BOTH},
             [REDUCED] = {RB_RFN_STAGE_REDUCED, RB_RFN_STAGE_REDUCED},
             [GRG] = {RB_RFN_STAGE_GRG, RB_RFN_STAGE_GRG},
             [ROSEN] = {RB_RFN_STAGE_ROSEN, RB_RFN_STAGE_ROSEN},
             [HAUG_ARORA] = {RB_RFN_STAGE_HAUG_ARORA, RB_RFN_STAGE_HAUG_ARORA},
             [CASCADE] = {RB_RFN_STAGE_NEWTON, RB_RFN_STAGE_GRADIENT},
             [CASCADE_ANY] = {RB_RFN_STAGE_NEWTON, RB_RFN_STAGE_GRADIENT}};

static rb_dense view(double *values, int64_t rows, int64_t cols) {
    return (rb_dense){values, rows, cols, cols, RB_FLOAT64};
}

/* P = I + G'G, Q and feasible codes at random; `shift` below 0 makes units die. */
static void make(rb_context *ctx, struct problem *p, uint64_t seed, bool normalized, double shift) {
    rb_draws draws = {{seed, RB_RANDOM_SIMULATE, 0}, 0};
    double g[L * L];
    for (int e = 0; e < L * L; e++)
        g[e] = rb_draw_normal(&draws);
    for (int j = 0; j < L; j++) {
        for (int k = 0; k < L; k++) {
            p->hessian[j * L + k] = j == k;
            for (int c = 0; c < L; c++)
                p->hessian[j * L + k] += g[c * L + j] * g[c * L + k];
        }
    }
    p->quadratic = (rfn_quadratic){view(p->hessian, L, L), view(p->linear, L, N), normalized, NULL};
    p->cascade = (rfn_cascade){0};
    p->search = (rfn_search){.problem = &p->quadratic,
                             .work = &p->work,
                             .sigma = view(p->sigma, L, L),
                             .codes = view(p->codes, L, N),
                             .next = view(p->next, L, N),
                             .gradient = view(p->capacity[0], L, N),
                             .direction = view(p->capacity[1], L, N),
                             .gradient_step = view(p->capacity[2], L, N)};
    assert_ok(ctx, rfn_work_new(ctx, RB_FLOAT64, L, N, NULL, &p->work));
    p->work.at_once = 2 + (int64_t)(seed % (L - 1));
    assert_ok(ctx, rfn_reduced_new(ctx, L, N, &p->search.reduced));
    assert_ok(ctx, rb_largest_eigenvalue(ctx, p->quadratic.hessian, &p->search.e_max));
    rb_spd *factor;
    assert_ok(ctx, rb_spd_new(ctx, RB_FLOAT64, L, &factor));
    assert_ok(ctx, rb_spd_factor(ctx, factor, p->quadratic.hessian));
    rb_spd_inverse(ctx, factor, p->search.sigma);
    rb_spd_free(factor);
    for (int j = 0; j < L; j++) {
        double row[N];
        for (int i = 0; i < N; i++) {
            row[i] = rb_draw_normal(&draws);
            p->linear[j * N + i] = 3 * rb_draw_normal(&draws) + (j == 0 ? 100 * shift : shift);
        }
        rfn_feasible(ctx, &p->work.slices, normalized, 0, view(row, 1, N), row, p->codes + j * N);
    }
}

/* (n/2) O without its constant: 1/2 tr mu P mu' - tr mu Q' */
static double objective(const struct problem *p, const double *codes) {
    double sum = 0;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < L; j++) {
            double product = 0;
            for (int k = 0; k < L; k++)
                product += p->hessian[j * L + k] * codes[k * N + i];
            sum += codes[j * N + i] * (product / 2 - p->linear[j * N + i]);
        }
    }
    return sum;
}

static void assert_feasible(const double *codes, bool normalized) {
    for (int j = 0; j < L; j++) {
        double squares = 0;
        for (int i = 0; i < N; i++) {
            assert_true(codes[j * N + i] >= 0);
            squares += codes[j * N + i] * codes[j * N + i];
        }
        if (normalized) assert_close(squares / N, 1, 1e-12);
    }
}

static void done(struct problem *p) {
    rfn_work_free(&p->work);
    rfn_reduced_free(p->search.reduced);
}

static const double *codes_of(const struct problem *p) {
    return p->search.codes.data;
}

/* Returns the largest change of a code. */
static double step(rb_context *ctx, struct problem *p, int estep) {
    double before[L * N], change = 0;
    memcpy(before, codes_of(p), sizeof before);
    if (estep == CYCLIC) {
        rfn_cyclic(ctx, &p->quadratic, p->search.codes, 0, false, &p->work);
    } else if (estep == GRADIENT) {
        rfn_gradient(ctx, &p->quadratic, p->search.e_max, &p->search.codes, &p->search.next,
                     &p->work, &change);
    } else {
        rfn_cascade_step(ctx, &p->cascade, &p->search, spans[estep].first, spans[estep].last,
                         estep == CASCADE_ANY);
    }
    change = 0;
    for (int e = 0; e < L * N; e++)
        change = fmax(change, fabs(codes_of(p)[e] - before[e]));
    return change;
}

/* Units that are much alike, P = I + G'G, and samples of a cause that few of them have, Q = G'x. */
static void make_alike(rb_context *ctx, struct problem *p, uint64_t seed) {
    rb_draws draws = {{seed, RB_RANDOM_SIMULATE, 1}, 0};
    double common[L], g[L * L];
    make(ctx, p, seed, true, 0.5);
    for (int c = 0; c < L; c++)
        common[c] = 10 * rb_draw_normal(&draws);
    for (int e = 0; e < L * L; e++)
        g[e] = common[e / L] + 3 * rb_draw_normal(&draws);
    memset(p->linear, 0, sizeof p->linear);
    for (int i = 0; i < N; i++) {
        double cause = 10 * fmax(0, rb_draw_normal(&draws) - 1);
        for (int c = 0; c < L; c++) {
            double x = cause * common[c] + rb_draw_normal(&draws);
            for (int j = 0; j < L; j++)
                p->linear[j * N + i] += g[c * L + j] * x;
        }
    }
    for (int e = 0; e < L * L; e++) {
        p->hessian[e] = e / L == e % L;
        for (int c = 0; c < L; c++)
            p->hessian[e] += g[c * L + e / L] * g[c * L + e % L];
    }
}

/* Long steps in other orders, from codes that are far from rest. */
static void turns_never_raise(void **state) {
    rb_context *ctx = *state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct problem p;
        if (seed % 4 == 3)
            make_alike(ctx, &p, seed);
        else
            make(ctx, &p, seed, seed & 1, seed & 2 ? -1 : 0.5);
        double before = objective(&p, p.codes);
        for (int64_t turn = seed & 4 ? 0 : 1; turn < 30; turn++) {
            rfn_cyclic(ctx, &p.quadratic, p.search.codes, turn, false, &p.work);
            double after = objective(&p, p.codes);
            assert_true(after <= before + 1e-12 * fabs(before));
            assert_feasible(p.codes, p.quadratic.normalized);
            before = after;
        }
        done(&p);
    }
}

static void never_rise(void **state) {
    rb_context *ctx = *state;
    for (uint64_t seed = 0; seed < 100 * ESTEPS; seed++) {
        bool normalized = seed / ESTEPS & 1;
        struct problem p;
        make(ctx, &p, seed / ESTEPS, normalized, seed / ESTEPS & 2 ? -1 : 0.5);
        double before = objective(&p, codes_of(&p));
        for (int t = 0; t < 20; t++) {
            step(ctx, &p, (int)(seed % ESTEPS));
            double now = objective(&p, codes_of(&p));
            assert_feasible(codes_of(&p), normalized);
            if (!(now <= before + 1e-12 * (1 + fabs(before)))) {
                fail_msg("E-step %d, problem %d, step %d: O rose from %.15g to %.15g",
                         (int)(seed % ESTEPS), (int)(seed / ESTEPS), t, before, now);
            }
            before = now;
        }
        done(&p);
    }
}

/* How much a candidate changes O, by the stages' own reckoning, is the difference of O. */
static void changes_are_differences(void **state) {
    rb_context *ctx = *state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct problem p;
        make(ctx, &p, seed, seed & 1, 0.5);
        bool (*const tries[])(rfn_search *) = {
            rfn_try_newton, rfn_anneal_gamma,   rfn_try_reduced, rfn_try_grg,
            rfn_try_rosen,  rfn_try_haug_arora, rfn_try_gradient};
        for (size_t t = 0; t < sizeof tries / sizeof *tries; t++) {
            rfn_search_begin(ctx, &p.search);
            tries[t](&p.search);
            double difference = objective(&p, p.search.next.data) - objective(&p, codes_of(&p));
            assert_close(p.search.change, difference, 1e-9 * (1 + fabs(difference)));
        }
        done(&p);
    }
}

/* The direction of Rosen's step: minus the gradient less its part across the sphere, and 0 where a
 * code at 0 would be pushed below. */
static void tangents_are_as_defined(void **state) {
    rb_context *ctx = *state;
    int small = 0, pushed = 0;
    for (uint64_t seed = 0; seed < 4; seed++) {
        struct problem p;
        make(ctx, &p, seed, seed & 1, 0.5);
        const double *codes = codes_of(&p), *direction = p.search.direction.data;
        rfn_search_begin(ctx, &p.search);
        rfn_try_rosen(&p.search);
        for (int j = 0; j < L; j++) {
            double gradient[N], across = 0;
            for (int i = 0; i < N; i++) {
                gradient[i] = -p.linear[j * N + i];
                for (int k = 0; k < L; k++)
                    gradient[i] += p.hessian[j * L + k] * codes[k * N + i];
                across += seed & 1 ? codes[j * N + i] * gradient[i] / N : 0;
            }
            for (int i = 0; i < N; i++) {
                double x = codes[j * N + i], move = across * x - gradient[i];
                assert_close(direction[j * N + i], x == 0 ? fmax(0, move) : move, 1e-10);
                small += x > 0 && x < 1 && move < 0;
                pushed += x == 0 && move < 0;
            }
        }
        done(&p);
    }
    assert_true(small > 20 && pushed > 20);
}

/* S9.5.1: the step of the first length beta^t that lowers O enough by eq. 199, by hand; the last is
 * one that always does. */
static void lengths_are_searched_for(void **state) {
    rb_context *ctx = *state;
    int shorter = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        const double beta = seed & 2 ? 0.5 : 0.1;
        double next[L * N], row[N], lambda = 1;
        struct problem p;
        make(ctx, &p, seed, seed & 1, 0.5);
        for (uint64_t t = 0; t < seed / 4; t++) /* near the minimum, too */
            step(ctx, &p, CYCLIC);
        const double *codes = codes_of(&p);
        for (bool good = false; !good; lambda *= beta) {
            double squares = 0;
            if (lambda * p.search.e_max <= 0.999) lambda = 0.999 / p.search.e_max;
            for (int j = 0; j < L; j++) {
                for (int i = 0; i < N; i++) {
                    row[i] = codes[j * N + i] + lambda * p.linear[j * N + i];
                    for (int k = 0; k < L; k++)
                        row[i] -= lambda * p.hessian[j * L + k] * codes[k * N + i];
                }
                rfn_feasible(ctx, &p.work.slices, seed & 1, 0, view(row, 1, N), row, next + j * N);
            }
            for (int x = 0; x < L * N; x++)
                squares += pow(next[x] - codes[x], 2);
            good = objective(&p, next) - objective(&p, codes) <= -1e-4 / lambda * squares ||
                   lambda * p.search.e_max <= 0.999;
            shorter += !good;
        }
        rfn_search_begin(ctx, &p.search);
        assert_true(rfn_search_gradient(&p.search, beta));
        for (int x = 0; x < L * N; x++)
            assert_close(((double *)p.search.next.data)[x], next[x], 1e-10);
        done(&p);
    }
    assert_true(shorter > 20);
}

/* The step of the gradient E-step by its formula: 0.999 / e_max against the gradient, projected. */
static void gradient_steps_are_as_defined(void **state) {
    rb_context *ctx = *state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct problem p;
        make(ctx, &p, seed, seed & 1, 0.5);
        const double *codes = codes_of(&p), *next = p.search.next.data;
        rfn_search_begin(ctx, &p.search);
        rfn_try_gradient(&p.search);
        for (int j = 0; j < L; j++) {
            double row[N], projected[N];
            for (int i = 0; i < N; i++) {
                double gradient = -p.linear[j * N + i];
                for (int k = 0; k < L; k++)
                    gradient += p.hessian[j * L + k] * codes[k * N + i];
                row[i] = codes[j * N + i] - 0.999 / p.search.e_max * gradient;
            }
            rfn_feasible(ctx, &p.work.slices, seed & 1, 0, view(row, 1, N), row, projected);
            for (int i = 0; i < N; i++)
                assert_close(next[j * N + i], projected[i], 1e-10);
        }
        done(&p);
    }
}

enum { WIDE = 24, MOST = 40 };

/* Does a cascade factorise for samples of which each has so many free units? apart: each lacks
 * others; else all have the same. Other units are at 0 and pushed down; P is twice the identity. */
static bool factorises(rb_context *ctx, int samples, int free, bool apart) {
    double hessian[WIDE * WIDE] = {0}, sigma[WIDE * WIDE] = {0}, arrays[5][WIDE * MOST] = {{0}};
    rb_dense all[5];
    rfn_quadratic problem = {view(hessian, WIDE, WIDE), view(arrays[4], WIDE, samples), false,
                             NULL};
    rfn_work work;
    for (int a = 0; a < 5; a++)
        all[a] = view(arrays[a], WIDE, samples);
    for (int j = 0; j < WIDE; j++) {
        hessian[j * WIDE + j] = 2;
        sigma[j * WIDE + j] = 0.5;
        for (int i = 0; i < samples; i++) {
            bool is_free = (j + (apart ? i : 0)) % WIDE < free;
            arrays[0][j * samples + i] = is_free;
            arrays[4][j * samples + i] = is_free ? 0 : -1;
        }
    }
    rfn_search search = {.problem = &problem,
                         .work = &work,
                         .sigma = view(sigma, WIDE, WIDE),
                         .e_max = 2,
                         .codes = all[0],
                         .next = all[1],
                         .gradient = all[2],
                         .direction = all[3],
                         .spares = true};
    assert_ok(ctx, rfn_work_new(ctx, RB_FLOAT64, WIDE, samples, NULL, &work));
    assert_ok(ctx, rfn_reduced_new(ctx, WIDE, samples, &search.reduced));
    rfn_search_begin(ctx, &search);
    bool tried = rfn_try_reduced(&search);
    assert_true(!tried || search.change < 0);
    rfn_reduced_free(search.reduced);
    rfn_work_free(&work);
    return tried;
}

/* Only where it costs at most 4 n l^2: f^3 / 6 for each set of f free units, of which 32 samples
 * at most share one, and f^2 for each sample. */
static void cascades_spare_dear_factorisations(void **state) {
    rb_context *ctx = *state;
    int tried = 0, spared = 0;
    for (int samples = 1; samples <= MOST; samples += 13) {
        for (int free = 1; free < WIDE; free++) {
            for (int apart = 0; apart < 2; apart++) {
                double f = free, n = samples, sets = apart ? fmin(n, WIDE) : n > 32 ? 2 : 1;
                if (apart && n > 32) continue; /* where sets are cut depends on their order */
                bool cheap = sets * f * f * f / 6 + n * f * f <= 4 * n * WIDE * WIDE;
                assert_int_equal(factorises(ctx, samples, free, apart), cheap);
                tried += cheap;
                spared += !cheap;
            }
        }
    }
    assert_true(tried > 20 && spared > 2);
}

/* The rule of acceptance: a step of the cascade lowers O at least as much as a gradient step. */
static void cascade_beats_the_gradient_step(void **state) {
    rb_context *ctx = *state;
    int won_by_others = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct problem p;
        make(ctx, &p, seed, seed & 1, seed & 2 ? -1 : 0.5);
        for (int t = 0; t < 10; t++) {
            rfn_search_begin(ctx, &p.search);
            rfn_try_gradient(&p.search);
            double bar = p.search.change, before = objective(&p, codes_of(&p));
            won_by_others += rfn_cascade_step(ctx, &p.cascade, &p.search, RB_RFN_STAGE_NEWTON,
                                              RB_RFN_STAGE_GRADIENT, false) < RB_RFN_STAGE_GRADIENT;
            double change = objective(&p, codes_of(&p)) - before;
            assert_true(change <= fmin(bar, 0) + 1e-10 * (1 + fabs(before)));
        }
        done(&p);
    }
    assert_true(won_by_others > 100);
}

/* On the rectified set, which is convex, all but annealed end at the one minimum. Newton's steps
 * in the free units need few of them. */
static void ends_agree(void **state) {
    rb_context *ctx = *state;
    for (uint64_t seed = 0; seed < 4; seed++) {
        double best[L * N];
        for (int estep = 0; estep < ESTEPS; estep++) {
            struct problem p;
            make(ctx, &p, seed, false, 0.5);
            int max = estep == REDUCED ? 25 : 20000;
            for (int t = 0; t < max && step(ctx, &p, estep) > 0; t++) {
            }
            for (int e = 0; estep != ANNEALED && e < L * N; e++) {
                best[e] = estep == CYCLIC ? codes_of(&p)[e] : best[e];
                assert_close(codes_of(&p)[e], best[e], 1e-6);
            }
            done(&p);
        }
    }
}

/* On the rectified set the E-step is a quadratic program, one for each sample: where a general
 * solver ends, the cyclic E-step ends too. */
static void quadratic_solver_agrees(void **state) {
    rb_context *ctx = *state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct problem p;
        make(ctx, &p, seed, false, seed & 1 ? -1 : 0.5);
        for (int t = 0; t < 20000 && step(ctx, &p, CYCLIC) > 0; t++) {
        }
        for (int i = 0; i < N; i++) {
            double q[L], x[L];
            int iterations;
            for (int j = 0; j < L; j++)
                q[j] = p.linear[j * N + i];
            assert_true(quadratic_solve(L, p.hessian, q, 1e-14, x, &iterations));
            for (int j = 0; j < L; j++)
                assert_close(codes_of(&p)[j * N + i], x[j], 1e-6);
        }
        done(&p);
    }
}

enum { FEW = 3, ANGLES = 16 };

/* The code of one unit over three samples, in polar coordinates of the sphere's positive part. */
static void point(int a, int b, double *code) {
    double first = a * M_PI / 2 / ANGLES, second = b * M_PI / 2 / ANGLES;
    code[0] = sqrt(FEW) * cos(first);
    code[1] = sqrt(FEW) * sin(first) * cos(second);
    code[2] = sqrt(FEW) * sin(first) * sin(second);
}

/* 1/2 tr mu P mu' - tr mu Q' of two units and three samples. */
static double small_objective(const double p[4], const double q[2 * FEW], const double *a,
                              const double *b) {
    double sum = 0;
    for (int i = 0; i < FEW; i++) {
        sum += p[0] * a[i] * a[i] / 2 + p[1] * a[i] * b[i] + p[3] * b[i] * b[i] / 2 - q[i] * a[i] -
               q[FEW + i] * b[i];
    }
    return sum;
}

static double min_on_grid(const double p[4], const double q[2 * FEW]) {
    double min = INFINITY, a[FEW], b[FEW];
    for (int e = 0; e < (ANGLES + 1) * (ANGLES + 1); e++) {
        point(e / (ANGLES + 1), e % (ANGLES + 1), a);
        for (int f = 0; f < (ANGLES + 1) * (ANGLES + 1); f++) {
            point(f / (ANGLES + 1), f % (ANGLES + 1), b);
            min = fmin(min, small_objective(p, q, a, b));
        }
    }
    return min;
}

/* On the normalised set, which is not convex: with a certificate above 0 nothing on a grid over the
 * whole set is better than where the cyclic E-step ends. */
static void certificate_means_the_best(void **state) {
    rb_context *ctx = *state;
    rb_draws draws = {{1, RB_RANDOM_SIMULATE, 0}, 0};
    int certified = 0;
    for (int problem = 0; problem < 40; problem++) {
        double p[4] = {2, rb_draw_normal(&draws), 0, 2}, q[2 * FEW], codes[2 * FEW];
        p[1] = p[2] = fmax(-1.8, fmin(1.8, p[1]));
        for (int e = 0; e < 2 * FEW; e++) {
            q[e] = 2 * rb_draw_normal(&draws) + 1;
            codes[e] = 1;
        }
        rfn_quadratic small = {view(p, 2, 2), view(q, 2, FEW), true, NULL};
        rfn_work work;
        double residual, multipliers[2], smallest;
        assert_ok(ctx, rfn_work_new(ctx, RB_FLOAT64, 2, FEW, NULL, &work));
        for (int t = 0; t < 2000; t++)
            rfn_cyclic(ctx, &small, view(codes, 2, FEW), 0, false, &work);
        double reached = small_objective(p, q, codes, codes + FEW);
        rfn_optimality(ctx, &small, 4, view(codes, 2, FEW), &work, multipliers, &residual);
        rfn_work_free(&work);
        double min = min_on_grid(p, q);
        rfn_add_multipliers(small.hessian, multipliers, NULL, 1);
        assert_ok(ctx, rb_smallest_eigenvalue(ctx, small.hessian, &smallest));
        if (smallest > 0 && residual < 1e-8) {
            assert_true(reached <= min + 1e-9);
            certified++;
        }
    }
    assert_in_range(certified, 20, 40);
}

/* Sweeps of orders of their own, and of long steps, end at a stationary point, too. */
static void turns_come_to_rest(void **state) {
    rb_context *ctx = *state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct problem p;
        double change = 1, residual, multipliers[L];
        make(ctx, &p, seed, seed & 1, 0.5);
        for (int64_t turn = 1; change > 1e-12 && turn < 2000; turn++) {
            rfn_cyclic(ctx, &p.quadratic, p.search.codes, turn, true, &p.work);
            change = rfn_largest_change(ctx, p.search.codes, &p.work);
        }
        assert_feasible(codes_of(&p), seed & 1);
        rfn_optimality(ctx, &p.quadratic, p.search.e_max, p.search.codes, &p.work, multipliers,
                       &residual);
        assert_true(residual < 1e-10);
        done(&p);
    }
}

/* One sweep of cyclic by its formula, unit by unit with fresh residuals. */
static void cyclic_by_formula(rb_context *ctx, const struct problem *p, double *codes) {
    for (int j = 0; j < L; j++) {
        double target[N], next[N];
        if (rfn_is_dead(&p->quadratic, j)) continue;
        for (int i = 0; i < N; i++) {
            double rest = -p->linear[j * N + i];
            for (int k = 0; k < L; k++)
                rest += k == j ? 0 : p->hessian[j * L + k] * codes[k * N + i];
            target[i] = -rest / p->hessian[j * L + j];
        }
        rfn_feasible(ctx, &p->work.slices, p->quadratic.normalized, 0, view(target, 1, N), target,
                     next);
        memcpy(codes + j * N, next, sizeof next);
    }
}

static void cyclic_minimises_unit_by_unit(void **state) {
    rb_context *ctx = *state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct problem p;
        make(ctx, &p, seed, seed & 1, seed & 2 ? -1 : 0.5);
        double expected[L * N];
        memcpy(expected, p.codes, sizeof expected);
        cyclic_by_formula(ctx, &p, expected);
        step(ctx, &p, CYCLIC);
        for (int e = 0; e < L * N; e++)
            assert_close(p.codes[e], expected[e], 1e-10);
        done(&p);
    }
}

/* Dead units take no part in a sweep, whichever they are: none, some or all. */
static void dead_units_are_left_out(void **state) {
    rb_context *ctx = *state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct problem p;
        bool dead[L];
        double expected[L * N];
        make(ctx, &p, seed, seed & 1, 0.5);
        for (int j = 0; j < L; j++)
            dead[j] = seed % 5 == 4 || rb_random_word(seed, 0, j) % 5 < seed % 5;
        p.quadratic.dead = dead;
        memcpy(expected, codes_of(&p), sizeof expected);
        for (int j = 0; j < L; j++)
            for (int i = 0; dead[j] && i < N; i++)
                expected[j * N + i] = 0;
        for (int sweep = 0; sweep < 3; sweep++) {
            cyclic_by_formula(ctx, &p, expected);
            rfn_cyclic(ctx, &p.quadratic, p.search.codes, 0, false, &p.work);
        }
        for (int e = 0; e < L * N; e++)
            assert_close(codes_of(&p)[e], expected[e], 1e-10);
        done(&p);
    }
}

/* Where the E-steps end, the multipliers separate the samples: each, solved alone on the rectified
 * set with P + diag tau from zero, has the same codes; and the KKT residual says how far they had
 * to go. */
static void multipliers_separate_samples(void **state) {
    rb_context *ctx = *state;
    int definite = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct problem p;
        double residual, multipliers[L], smallest;
        make(ctx, &p, seed, seed & 1, 1);
        rfn_optimality(ctx, &p.quadratic, p.search.e_max, p.search.codes, &p.work, multipliers,
                       &residual);
        assert_true(residual > 1e-3);
        for (int t = 0; t < 20000 && step(ctx, &p, seed & 2 ? CYCLIC : GRADIENT) > 0; t++) {
        }
        rfn_optimality(ctx, &p.quadratic, p.search.e_max, p.search.codes, &p.work, multipliers,
                       &residual);
        assert_true(residual < 1e-10);
        rfn_add_multipliers(p.quadratic.hessian, multipliers, NULL, 1);
        assert_ok(ctx, rb_smallest_eigenvalue(ctx, p.quadratic.hessian, &smallest));
        if (smallest > 0.05) {
            struct problem alone = p;
            alone.quadratic.normalized = false;
            alone.quadratic.hessian = view(alone.hessian, L, L);
            alone.search.codes = view(alone.codes, L, N);
            memset(alone.codes, 0, sizeof alone.codes);
            for (int t = 0; t < 20000 && step(ctx, &alone, CYCLIC) > 0; t++) {
            }
            for (int e = 0; e < L * N; e++)
                assert_close(alone.codes[e], codes_of(&p)[e], 1e-6);
            definite++;
        }
        done(&p);
    }
    assert_true(definite > 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_rise),
        cmocka_unit_test(turns_never_raise),
        cmocka_unit_test(changes_are_differences),
        cmocka_unit_test(tangents_are_as_defined),
        cmocka_unit_test(gradient_steps_are_as_defined),
        cmocka_unit_test(cascades_spare_dear_factorisations),
        cmocka_unit_test(lengths_are_searched_for),
        cmocka_unit_test(cascade_beats_the_gradient_step),
        cmocka_unit_test(ends_agree),
        cmocka_unit_test(quadratic_solver_agrees),
        cmocka_unit_test(certificate_means_the_best),
        cmocka_unit_test(turns_come_to_rest),
        cmocka_unit_test(cyclic_minimises_unit_by_unit),
        cmocka_unit_test(dead_units_are_left_out),
        cmocka_unit_test(multipliers_separate_samples),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
