/* Sets of features in modules: overlaps against counting and the definition of their chance, a
 * planted set is found first, random ones are not, and p-values mean what they say. */
#include "../context.h"
#include "modules/modules.h"

typedef struct planted {
    rb_model *model;
    rb_modules *modules;
    rb_feature_sets *sets;
    char (*names)[8];
    int64_t n, units;
    double *loadings;
} planted;

/* A model of n features f0, f1, ..., whose loadings are 0; one module per unit, still empty. */
static planted plant(int64_t n, int64_t units) {
    planted p = {.n = n, .units = units, .names = calloc((size_t)n, sizeof *p.names)};
    const char **names = calloc((size_t)n, sizeof *names);
    rb_preprocess *preprocess = rb_alloc_zero(ctx, 1, sizeof *preprocess);
    assert_true(p.names && names && preprocess);
    rb_preprocess_options_default(&preprocess->options);
    preprocess->n_input = preprocess->n_features = n;
    for (int64_t k = 0; k < n; k++) {
        snprintf(p.names[k], sizeof *p.names, "f%d", (int)k);
        names[k] = p.names[k];
    }
    preprocess->names = rb_names_copy(ctx, names, n);
    assert_ok(ctx, rb_model_new(ctx, rb_find_method(ctx, "rfn"), RB_FLOAT32, preprocess, &p.model));
    p.loadings = rb_model_add_array(ctx, p.model, "loadings", n, units);
    memset(p.loadings, 0, (size_t)(n * units) * sizeof *p.loadings);
    assert_ok(ctx, rb_modules_new(ctx, units, &p.modules));
    for (int64_t u = 0; u < units; u++)
        p.modules->list[u].unit = u;
    assert_ok(ctx, rb_feature_sets_new(ctx, &p.sets));
    free(names);
    return p;
}

/* The features of a module: those whose loading is farther from 0 than a threshold. */
static void fill_module(planted *p, int64_t unit, double above) {
    rb_module *m = &p->modules->list[unit];
    m->features = rb_alloc(ctx, p->n, sizeof *m->features);
    for (int64_t k = 0; k < p->n; k++) {
        double l = p->loadings[k * p->units + unit];
        if (fabs(l) > above) m->features[m->n_features++] = (rb_member){k, l};
    }
    rb_members_sort(m->features, m->n_features);
}

/* Of the side with negative codes: what loads below 0 is up there. */
static void turn_over(rb_module *m) {
    m->samples = rb_alloc(ctx, 1, sizeof *m->samples);
    m->samples[m->n_samples++] = (rb_member){0, -1};
    for (int64_t d = 0; d < m->n_features; d++)
        m->features[d].weight *= -1;
}

static void add_set(planted *p, const char *name, const int64_t *members, int64_t count) {
    const char **names = calloc((size_t)count + 1, sizeof *names);
    for (int64_t i = 0; i < count; i++)
        names[i] = p->names[members[i]];
    assert_ok(ctx, rb_feature_sets_add(ctx, p->sets, name, names, count));
    free(names);
}

/* `count` different features. */
static void add_random_set(planted *p, const char *name, int64_t count, rb_draws *draws) {
    int64_t *all = calloc((size_t)p->n, sizeof *all);
    for (int64_t k = 0; k < p->n; k++)
        all[k] = k;
    for (int64_t i = 0; i < count; i++) {
        int64_t other = rb_draw_integer(draws, i, p->n - 1), kept = all[i];
        all[i] = all[other];
        all[other] = kept;
    }
    add_set(p, name, all, count);
    free(all);
}

static rb_set_tests run(planted *p) {
    rb_set_tests tests = {.size = sizeof tests};
    assert_ok(ctx, rb_modules_test_sets(ctx, p->modules, p->model, p->sets, NULL, &tests));
    return tests;
}

static void clear(planted *p) {
    rb_model_free(p->model);
    rb_modules_free(p->modules);
    rb_feature_sets_free(p->sets);
    free(p->names);
}

/* ---- counting ---- */

/* P(X >= x) by the definition of the hypergeometric distribution. */
static double chance(int64_t n, int64_t marked, int64_t drawn, int64_t x) {
    double sum = 0;
    for (; x <= marked && x <= drawn; x++) {
        if (drawn - x > n - marked) continue;
        sum += exp(lgamma(marked + 1) - lgamma(x + 1) - lgamma(marked - x + 1) +
                   lgamma(n - marked + 1) - lgamma(drawn - x + 1) -
                   lgamma(n - marked - drawn + x + 1) - lgamma(n + 1) + lgamma(drawn + 1) +
                   lgamma(n - drawn + 1));
    }
    return sum;
}

static void check_overlap(const planted *p, const rb_set_test *row, const int64_t *set, int64_t k) {
    bool up = row->question == RB_SET_UP;
    int64_t size = 0, overlap = 0;
    for (int64_t f = 0; f < p->n; f++) {
        double l = p->loadings[f * p->units + row->unit];
        bool in_set = false, in_module = up ? l > 0.5 : l < -0.5;
        for (int64_t i = 0; i < k; i++)
            in_set = in_set || set[i] == f;
        size += in_module;
        overlap += in_module && in_set;
    }
    assert_int_equal(row->size, size);
    assert_int_equal(row->overlap, overlap);
    assert_int_equal(row->set_size, k);
    assert_close(row->p_value, chance(p->n, k, size, overlap), 1e-10);
    assert_close(row->log10_p_value, log10(row->p_value), 1e-12);
    assert_close(row->fold, (double)overlap * (double)p->n / (double)(k * size), 1e-12);
    double last = INFINITY;
    for (int64_t i = 0; i < overlap; i++) { /* the heaviest first */
        double l = p->loadings[row->features[i] * p->units + row->unit];
        assert_true((l > 0) == up && fabs(l) <= last);
        last = fabs(l);
    }
}

static void check_rank(const planted *p, const rb_set_test *row, const int64_t *set, int64_t k) {
    double won = 0, pairs = 0;
    for (int64_t i = 0; i < k; i++) {
        double in = p->loadings[set[i] * p->units + row->unit];
        for (int64_t f = 0; f < p->n; f++) {
            double l = p->loadings[f * p->units + row->unit];
            bool in_set = false;
            for (int64_t j = 0; j < k; j++)
                in_set = in_set || set[j] == f;
            if (in_set) continue;
            won += in > l ? 1 : in == l ? 0.5 : 0;
            pairs++;
        }
    }
    assert_close(row->auc, won / pairs, 1e-12);
    assert_null(row->features);
}

static void by_counting(void **state) {
    (void)state;
    const int64_t sets[2][7] = {{0, 1, 2, 3, 4, 5, 6}, {3, 9, 11, 20, 25, 30, 39}};
    planted p = plant(40, 2);
    rb_draws draws = {.stream = {.seed = 3}};
    for (int64_t e = 0; e < p.n * p.units; e++)
        p.loadings[e] = e % 3 ? rb_draw_normal(&draws) : 0;
    for (int64_t u = 0; u < p.units; u++)
        fill_module(&p, u, 0.5);
    add_set(&p, "first", sets[0], 7);
    add_set(&p, "second", sets[1], 7);
    rb_set_tests tests = run(&p);
    assert_int_equal(tests.n_sets, 2);
    assert_int_equal(tests.n_features, 40);
    assert_int_equal(tests.n_overlap_tests, 8); /* modules, signs, sets */
    assert_int_equal(tests.n_rank_tests, 4);
    assert_true(tests.n_rows > 8);
    for (int64_t r = 0; r < tests.n_rows; r++) {
        const rb_set_test *row = &tests.rows[r];
        if (row->question == RB_SET_RANK)
            check_rank(&p, row, sets[row->set], 7);
        else
            check_overlap(&p, row, sets[row->set], 7);
    }
    rb_set_tests_clear(&tests);
    clear(&p);
}

/* ---- a planted set, random sets ---- */

/* The largest loadings of unit 0 are a set, the smallest ones of unit 1 another; random sets are
 * found nowhere. */
static void planted_set_is_first(bool turned) {
    enum { N = 1000, SET = 30 };
    planted p = plant(N, 3);
    rb_draws draws = {.stream = {.seed = 5}};
    int64_t up[SET], down[SET];
    char name[24];
    for (int64_t e = 0; e < p.n * p.units; e++)
        p.loadings[e] = 0.3 * rb_draw_normal(&draws);
    for (int64_t i = 0; i < SET; i++) {
        up[i] = 7 * i;
        down[i] = 11 * i + 3;
        p.loadings[up[i] * p.units] += 1;
        p.loadings[down[i] * p.units + 1] -= 1;
    }
    for (int64_t u = 0; u < p.units; u++)
        fill_module(&p, u, 0.6);
    if (turned) turn_over(&p.modules->list[1]);
    for (int s = 0; s < 300; s++) {
        if (s == 100) add_set(&p, "up", up, SET);
        if (s == 200) add_set(&p, "down", down, SET);
        snprintf(name, sizeof name, "random%d", s);
        add_random_set(&p, name, rb_draw_integer(&draws, 5, 100), &draws);
    }
    rb_set_tests tests = run(&p);
    int64_t found = 0;
    for (int64_t r = 0; r < tests.n_rows; r++) {
        const rb_set_test *row = &tests.rows[r], *before = r ? row - 1 : NULL;
        bool first = !before || before->module != row->module || before->question != row->question;
        const char *expected =
            row->unit == 0   ? row->question == RB_SET_DOWN ? "" : "up"
            : row->unit == 1 ? row->question == (turned ? RB_SET_DOWN : RB_SET_UP) ? "" : "down"
                             : "";
        bool right = strcmp(rb_feature_sets_name(p.sets, row->set), expected) == 0;
        if (first && *expected) {
            assert_true(right && row->fdr < 0.01);
            bool up_there = row->unit == 0 || turned;
            if (row->question == RB_SET_RANK) assert_true((row->auc > 0.5) == up_there);
            found++;
        }
        if (!right && row->fdr < 0.01)
            fail_msg("unit %d, %s: %g", (int)row->unit, rb_feature_sets_name(p.sets, row->set),
                     row->fdr);
    }
    assert_int_equal(found, 4);
    rb_set_tests_clear(&tests);
    clear(&p);
}

static void the_planted_set_is_first(void **state) {
    (void)state;
    planted_set_is_first(false);
    planted_set_is_first(true);
}

/* ---- what a p-value says ---- */

/* The share of p-values below a level, among `count` tests of a question. */
static double share_below(const rb_set_tests *tests, rb_set_question question, double level,
                          int64_t count) {
    int64_t below = 0;
    for (int64_t r = 0; r < tests->n_rows; r++)
        below += tests->rows[r].question == question && tests->rows[r].p_value <= level;
    return (double)below / (double)count;
}

/* Sets of random features, in units of their own. With loadings that are all different, p-values
 * of ranks are even: the share below each level lies in the binomial interval of 4 standard
 * deviations. Where few loadings are not 0, and of overlaps, they come in steps: at most that. */
static void p_values_are_calibrated(void **state) {
    (void)state;
    enum { N = 800, UNITS = 100, SETS = 40 };
    const double levels[] = {0.2, 0.05, 0.01, 0.001};
    for (int sparse = 0; sparse < 2; sparse++) {
        planted p = plant(N, UNITS);
        rb_draws draws = {.stream = {.seed = 7 + (uint64_t)sparse}};
        for (int64_t e = 0; e < p.n * p.units; e++) {
            double l = rb_draw_normal(&draws);
            p.loadings[e] = !sparse || rb_draw_uniform(&draws) < 0.04 ? l : 0;
        }
        for (int64_t u = 0; u < p.units; u++)
            fill_module(&p, u, sparse ? 0 : 1);
        for (int s = 0; s < SETS; s++)
            add_random_set(&p, "random", 5 + s * s / 8, &draws);
        rb_set_tests tests = run(&p);
        int64_t count = tests.n_rank_tests;
        assert_int_equal(count, UNITS * SETS);
        for (int l = 0; l < 4; l++) {
            double level = levels[l], sd = sqrt(level * (1 - level) / (double)count);
            double ranks = share_below(&tests, RB_SET_RANK, level, count);
            double up = share_below(&tests, RB_SET_UP, level, count);
            double down = share_below(&tests, RB_SET_DOWN, level, count);
            if (ranks > level + 4 * sd || (!sparse && ranks < level - 4 * sd))
                fail_msg("ranks, sparse %d: %g of p-values below %g", sparse, ranks, level);
            if (up > level + 4 * sd || down > level + 4 * sd)
                fail_msg("overlaps, sparse %d: %g, %g below %g", sparse, up, down, level);
        }
        rb_set_tests_clear(&tests);
        clear(&p);
    }
}

/* ---- names and sizes ---- */

static void names_and_sizes(void **state) {
    (void)state;
    const int64_t all[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const char *const twice[] = {"f1", "f2", "f2", "f3", "f4", "f1", "f5", "ABC"};
    planted p = plant(600, 1);
    rb_set_tests tests = {.size = sizeof tests};
    for (int64_t k = 0; k < p.n; k++)
        p.loadings[k] = (double)(k % 7);
    fill_module(&p, 0, 3);
    add_set(&p, "four", all, 4);
    assert_error(ctx, rb_modules_test_sets(ctx, p.modules, p.model, p.sets, NULL, &tests),
                 RB_ERROR_DATA, "1 have fewer than 5");
    assert_ok(ctx, rb_feature_sets_add(ctx, p.sets, "twice", twice, 8));
    tests = run(&p);
    assert_int_equal(tests.n_sets, 1);
    assert_int_equal(tests.n_small, 1);
    for (int64_t r = 0; r < tests.n_rows; r++)
        assert_int_equal(tests.rows[r].set_size, 5); /* each name once */
    rb_set_tests_clear(&tests);
    rb_feature_sets_free(p.sets);
    assert_ok(ctx, rb_feature_sets_new(ctx, &p.sets));
    assert_ok(ctx, rb_feature_sets_add(ctx, p.sets, "other", twice + 7, 1));
    assert_error(ctx, rb_modules_test_sets(ctx, p.modules, p.model, p.sets, NULL, &tests),
                 RB_ERROR_DATA, "the first feature is 'f0'");
    assert_non_null(strstr(rb_context_error(ctx), "'ABC'"));
    tests.size--;
    assert_int_equal(rb_modules_test_sets(ctx, p.modules, p.model, p.sets, NULL, &tests),
                     RB_ERROR_ARGUMENT);
    clear(&p);
}

/* A set is left out where one of its name and features was before, not of its name alone. */
static void only_repeated_sets_are_left_out(void **state) {
    (void)state;
    static const int64_t first[] = {0, 1, 2, 3, 4}, second[] = {4, 5, 6, 7, 8},
                         third[] = {4, 5, 6, 7, 9}, more[] = {10, 11, 12, 13, 14};
    planted p = plant(600, 1);
    for (int64_t k = 0; k < p.n; k++)
        p.loadings[k] = (double)(k % 7);
    fill_module(&p, 0, 3);
    add_set(&p, "other", first, 5);
    add_set(&p, "same", second, 5);
    add_set(&p, "more", more, 5);
    add_set(&p, "same", third, 5);
    add_set(&p, "same", second, 5);
    rb_set_tests tests = run(&p);
    assert_int_equal(tests.n_sets, 4);
    rb_set_tests_clear(&tests);
    clear(&p);
}

static void no_memory(void **state) {
    (void)state;
    const int64_t all[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    planted p = plant(50, 2);
    rb_error err = RB_ERROR_MEMORY;
    int64_t n = 0;
    for (int64_t e = 0; e < p.n * p.units; e++)
        p.loadings[e] = (double)(e * 37 % 101) - 50;
    fill_module(&p, 0, 3);
    fill_module(&p, 1, 3);
    add_set(&p, "a", all, 6);
    for (; allow_allocations(ctx, n, err); n++) {
        rb_set_tests tests = {.size = sizeof tests};
        err = rb_modules_test_sets(ctx, p.modules, p.model, p.sets, NULL, &tests);
        if (err) assert_null(tests.rows);
        rb_set_tests_clear(&tests);
    }
    assert_true(n > 10);
    clear(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_counting),
        cmocka_unit_test(the_planted_set_is_first),
        cmocka_unit_test(p_values_are_calibrated),
        cmocka_unit_test(names_and_sizes),
        cmocka_unit_test(only_repeated_sets_are_left_out),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
