/* Selection from outside: a program names the candidates of a sample. When all are candidates
 * nothing changes, whatever it says; else the candidates are those that it names. And the states
 * around the most probable one, down to it alone. */
#include "et_fixture.h"

#include <rarebit/context.h>

#include <stddef.h>

static void reverse(void *user, int64_t n, const double *y, int64_t units, double *scores) {
    (void)user;
    (void)n;
    for (int64_t h = 0; h < units; h++)
        scores[h] = h % 3 == 0 ? NAN : y[0] - scores[h];
}

/* Names causes 1 and 3, and leaves the rest to the scores that it finds. */
static void name_two(void *user, int64_t n, const double *y, int64_t units, double *scores) {
    (void)user;
    (void)n;
    (void)y;
    (void)units;
    scores[1] = scores[3] = HUGE_VAL;
}

/* Says by the first value which cause is first; a value that is missing is NaN. */
static void first_there(void *user, int64_t n, const double *y, int64_t units, double *scores) {
    (void)user;
    for (int64_t h = 0; h < units; h++)
        scores[h] = 0;
    int64_t d = 0;
    while (d < n && isnan(y[d]))
        d++;
    scores[d % units] = 1;
}

static void make(const char *like, rb_et_model *model, rb_method *method,
                 void (*select)(void *, int64_t, const double *, int64_t, double *)) {
    *model = (rb_et_model){.size = sizeof *model,
                           .name = "chosen",
                           .title = "candidates by a function",
                           .code_name = "X_chosen",
                           .like = like,
                           .select = select};
    *method = (rb_method){.size = sizeof *method};
    assert_int_equal(rb_et_method(model, method), RB_OK);
}

static const char *const methods[] = {"linca", "nmf-et", "mca"};

static void same_arrays(const rb_model *a, const rb_model *b) {
    static const char *const arrays[] = {"loadings", "sigma", "prior", "dead", "log_likelihood"};
    for (int k = 0; k < 5; k++)
        fixture_same_array(a, b, arrays[k]);
}

static void draw(int n, int d, double *y) {
    rb_draws draws = {{3, RB_RANDOM_SIMULATE, 1}, 0};
    for (int i = 0; i < n * d; i++)
        y[i] = fabs(rb_draw_normal(&draws)) + (i % 3 == 0 ? 3 : 0);
}

static rb_model *fit(rb_context *ctx, const char *method, rb_source *source, const char *more) {
    return fixture_text_model(ctx, method, source, NULL,
                              "units=5 iterations=12 precision=float64 seed=4 %s", more);
}

/* Whole fits with all causes as candidates, by a function that turns everything round. */
static void naming_all_changes_nothing(void **state) {
    (void)state;
    enum { N = 40, D = 7 };
    double y[N * D];
    draw(N, D, y);
    for (int m = 0; m < 3; m++) {
        for (int values = 0; values < 2; values++) {
            const char *more =
                values ? "candidates=5 max-active=2 values=0,1,2" : "candidates=5 max-active=3";
            rb_context *ctx = fixture_context();
            rb_et_model model;
            rb_method method;
            make(methods[m], &model, &method, reverse);
            assert_ok(ctx, rb_context_add_method(ctx, &method));
            rb_source *source = fixture_data(ctx, y, N, D);
            rb_model *usual = fit(ctx, methods[m], source, more);
            rb_model *chosen = fit(ctx, "chosen", source, more);
            same_arrays(usual, chosen);
            rb_model_free(usual);
            rb_model_free(chosen);
            rb_source_free(source);
            rb_context_free(ctx);
        }
    }
}

/* In the middle of a fit, with the function put into its place. */
static void candidates_are_those_named(void **state) {
    rb_context *ctx = *state;
    for (int m = 0; m < MODELS; m++) {
        for (int missing = 0; missing < 2; missing++) {
            struct setting c = {.method = models[m].method,
                                .noise = models[m].noise,
                                .n = 12,
                                .d = 6,
                                .h = 7,
                                .candidates = missing ? 1 : 3,
                                .max_active = missing ? 1 : 2,
                                .temperature = 1.05,
                                .missing = missing ? 0.3 : 0,
                                .values = m % 2 ? "0,1,2" : NULL,
                                .seed = 8};
            struct fitted f;
            begin_setting(ctx, &c, &f);
            engine_of(f.state)->setup.model.own.select = missing ? first_there : name_two;
            run_estep(ctx, &f);
            for (int64_t i = 0; i + 1 < c.n; i++) {
                et_look look = et_look_at(engine_of(f.state), results_of(f.state), i);
                int step = look.tree->items / look.tree->candidates, named = 0, first = 0;
                while (first < c.d && isnan(f.y[i * c.d + first]))
                    first++;
                for (int k = 0; k < look.tree->items; k += step) {
                    named += look.candidates[k] == 1 || look.candidates[k] == 3;
                    if (missing) assert_int_equal(look.candidates[k], first % c.h);
                }
                if (!missing) assert_int_equal(named, 2);
            }
            end_setting(&f);
        }
    }
}

static void one_state_is_the_most_probable(void **state) {
    rb_context *ctx = *state;
    for (int m = 0; m < MODELS; m++) {
        struct setting c = {.method = models[m].method,
                            .noise = models[m].noise,
                            .n = 12,
                            .d = 6,
                            .h = 7,
                            .candidates = 4,
                            .max_active = 2,
                            .temperature = 1.05,
                            .singletons = 1,
                            .region = true,
                            .seed = 8};
        struct fitted f;
        begin_setting(ctx, &c, &f);
        run_estep(ctx, &f);
        for (int64_t i = 0; i < c.n; i++) {
            int64_t items[ET_MAX_ACTIVE];
            int64_t count = et_map_items(engine_of(f.state), results_of(f.state), i, items);
            double sum = 0;
            for (int64_t k = 0; k < count; k++)
                near(rb_dense_get(results_of(f.state)->mean, i, items[k]), 1, "active");
            for (int64_t h = 0; h < c.h; h++)
                sum += rb_dense_get(results_of(f.state)->mean, i, h);
            near(sum, (double)count, "all active");
        }
        end_setting(&f);
    }
}

/* A program of before knows neither like nor select. */
static void sizes_and_names(void **state) {
    (void)state;
    rb_et_model model;
    rb_method method;
    make("mca", &model, &method, NULL);
    model.like = "pca";
    assert_int_equal(rb_et_method(&model, &method), RB_ERROR_ARGUMENT);
    assert_int_equal(method.size, 0);
    model.size = offsetof(rb_et_model, like);
    method.size = sizeof method;
    assert_int_equal(rb_et_method(&model, &method), RB_OK);
    model.size = sizeof model + 8;
    assert_int_equal(rb_et_method(&model, &method), RB_ERROR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(naming_all_changes_nothing), cmocka_unit_test(candidates_are_those_named),
        cmocka_unit_test(one_state_is_the_most_probable), cmocka_unit_test(sizes_and_names)};
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
