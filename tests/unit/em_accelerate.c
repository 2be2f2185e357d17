/* Acceleration of a map that is known: x <- x + R (target - x) with rates from 0.01 to 0.5, which
 * raises F = -|x - target|^2 / 2 in each step; one coordinate is positive and moves in logarithms.
 */
#include "fixture.h"
#include "rfn/rfn.h"

enum { SIZE = 5 };

static const double target[SIZE] = {1, -2, 3, 0.5, 2};
static const double rates[SIZE] = {0.01, 0.03, 0.1, 0.2, 0.5};

/* What a step does from where no step led. */
enum { TAKES_ALL, LOWERS, FAILS };

/* What the test sees of the fit at hand. */
struct toy {
    double capacities[2][SIZE]; /* a step goes from one to the other */
    double *x;                  /* where the state is; the last one is positive */
    double *positive;           /* that one */
    double given[SIZE];         /* where the last good step led */
    int moved;                  /* one of the above */
    bool unsteady;              /* never steady */
    int64_t settled;            /* calls */
    double objective;
};

static struct toy toy;

static int64_t block_samples(const rb_problem *problem, const void *options) {
    (void)options;
    return problem->n_samples;
}

static void go_to(int capacity) {
    toy.x = toy.capacities[capacity];
    toy.positive = &toy.x[SIZE - 1];
}

static rb_error start(rb_context *ctx, const rb_problem *problem, const void *options,
                      const rb_model *from, void **state) {
    (void)ctx, (void)problem, (void)options, (void)from;
    go_to(0);
    for (int k = 0; k < SIZE; k++)
        toy.x[k] = k == SIZE - 1;
    memcpy(toy.given, toy.x, sizeof toy.given);
    toy.settled = 0;
    *state = &toy;
    return RB_OK;
}

static void finish(void *state) {
    (void)state;
}

static rb_error block(rb_context *ctx, void *state, const struct rb_block *samples) {
    (void)ctx, (void)state, (void)samples;
    return RB_OK;
}

static rb_error begin(rb_context *ctx, void *state) {
    (void)ctx, (void)state;
    return RB_OK;
}

static rb_error end(rb_context *ctx, void *state, bool *again) {
    (void)ctx, (void)state;
    *again = false;
    return RB_OK;
}

static rb_error mstep(rb_context *ctx, void *state) {
    (void)state;
    bool moved = toy.moved != TAKES_ALL && memcmp(toy.given, toy.x, sizeof toy.given) != 0;
    if (moved && toy.moved == FAILS) return rb_context_fail(ctx, RB_ERROR_NUMERIC, "too far");
    const double *from = toy.x;
    go_to(toy.x == toy.capacities[0]);
    toy.objective = moved ? -1000 : 0;
    for (int k = 0; k < SIZE; k++) {
        toy.x[k] = from[k] + rates[k] * (target[k] - from[k]);
        toy.objective -= (toy.x[k] - target[k]) * (toy.x[k] - target[k]) / 2;
    }
    if (!moved) memcpy(toy.given, toy.x, sizeof toy.given);
    return RB_OK;
}

static void objective(void *state, double *f, double *o) {
    (void)state;
    *f = toy.objective;
    *o = NAN;
}

enum { DIM_FREE = 1 };

static const rb_field fields[] = {
    {"x", offsetof(struct toy, x), RB_FIELD_POINTER, RB_KEPT_FLOAT64, DIM_FREE, RB_DIM_ONE,
     RB_KEPT_PARAMETER},
    {"positive", offsetof(struct toy, positive), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RB_DIM_ONE,
     RB_DIM_ONE, RB_KEPT_POSITIVE},
    {0},
};

static const rb_part parts[] = {{RB_PART_PARAMETERS, fields, 0}, {0}};

static void shape_of(const rb_problem *problem, const void *options, rb_shape *shape) {
    (void)problem, (void)options;
    shape->dims[DIM_FREE] = SIZE - 1;
}

static void project(rb_context *ctx, void *state) {
    (void)ctx, (void)state;
    assert_true(toy.x[SIZE - 1] > 0);
    toy.settled++;
}

static bool steady(const void *state) {
    (void)state;
    return !toy.unsteady;
}

static rb_error store(rb_context *ctx, void *state, rb_model *model) {
    (void)state;
    return rb_model_add_array(ctx, model, "loadings", SIZE, 1) ? RB_OK : RB_ERROR_MEMORY;
}

/* F over the iterations; toy.x is where it ends. */
static rb_model *run(int accelerate, int64_t iterations, double tolerance) {
    rb_context *ctx = fixture_context();
    double values[2 * SIZE] = {1}; /* data that nobody looks at */
    rb_source *source = fixture_data(ctx, values, 2, SIZE);
    rb_method method = rb_method_rfn; /* whose functions are not called unless they are here */
    method.name = method.title = "toy";
    method.takes_batches = method.missing = false;
    method.sparser = method.denser = NULL;
    method.start_options = NULL;
    method.resolve = NULL;
    method.last = NULL;
    method.may_stop = NULL;
    method.metric_names = NULL;
    method.metrics = NULL;
    method.centre = RB_CENTRE_NONE;
    method.block_samples = block_samples;
    method.start = start;
    method.finish = finish;
    method.survey = block;
    method.begin = begin;
    method.block = block;
    method.group_end = NULL;
    method.reads = NULL;
    method.adds = NULL;
    method.end = end;
    method.mstep = mstep;
    method.objective = objective;
    method.parts = parts;
    method.shape = shape_of;
    method.engines = NULL;
    method.survey_end = NULL;
    method.project = project;
    method.steady = steady;
    method.store = store;
    assert_ok(ctx, rb_context_add_method(ctx, &method));
    rb_fit_options fit = fixture_fit(iterations, RB_FLOAT64);
    fit.accelerate = accelerate;
    fit.tolerance = tolerance;
    rb_model *model = fixture_model(ctx, "toy", NULL, &fit, NULL, source, NULL);
    rb_source_free(source);
    rb_context_free(ctx);
    model->method = NULL;
    return model;
}

static double last(const rb_model *model) {
    return model->history[model->iterations - 1].objective;
}

static void assert_rises(const rb_model *model) {
    for (int64_t t = 1; t < model->iterations; t++)
        assert_true(model->history[t].objective >= model->history[t - 1].objective);
}

static void is_faster(void **state) {
    (void)state;
    toy = (struct toy){0};
    rb_model *plain = run(RB_ACCELERATE_NONE, 60, 0);
    assert_int_equal(toy.settled, 0);
    for (int kind = RB_ACCELERATE_SQUAREM; kind <= RB_ACCELERATE_NESTEROV; kind++) {
        rb_model *model = run(kind, 60, 0);
        assert_rises(model);
        assert_true(toy.settled > 0);
        assert_true(last(model) > 0.1 * last(plain)); /* both below 0 */
        rb_model_free(model);
    }
    rb_model_free(plain);
}

/* Where every extrapolation fails, or lowers F, the plain path is followed; iterations that were
 * thrown away repeat the objective before. */
static void safe_where_extrapolation_fails(void **state) {
    (void)state;
    toy = (struct toy){0};
    rb_model *plain = run(RB_ACCELERATE_NONE, 60, 0);
    for (int moved = LOWERS; moved <= FAILS; moved++) {
        for (int kind = RB_ACCELERATE_SQUAREM; kind <= RB_ACCELERATE_NESTEROV; kind++) {
            toy = (struct toy){.moved = moved};
            rb_model *model = run(kind, 60, 0);
            int64_t kept = 0;
            for (int64_t t = 0; t < 60; t++) {
                if (t == 0 || model->history[t].objective != model->history[t - 1].objective) {
                    assert_true(model->history[t].objective == plain->history[kept].objective);
                    kept++;
                }
            }
            assert_true(kept >= 30 && kept < 60);
            rb_model_free(model);
        }
    }
    rb_model_free(plain);
}

static void waits_for_a_steady_map(void **state) {
    (void)state;
    toy = (struct toy){.unsteady = true};
    rb_model *waiting = run(RB_ACCELERATE_NESTEROV, 30, 0);
    assert_int_equal(toy.settled, 0);
    rb_model *plain = run(RB_ACCELERATE_NONE, 30, 0);
    assert_true(last(waiting) == last(plain));
    rb_model_free(waiting);
    rb_model_free(plain);
}

/* An iteration that was thrown away changes nothing, but is no sign that the fit has settled. */
static void rejected_is_not_settled(void **state) {
    (void)state;
    toy = (struct toy){.moved = LOWERS};
    rb_model *model = run(RB_ACCELERATE_NESTEROV, 100, 1e-9);
    int64_t repeated = 0;
    for (int64_t t = 1; t < model->iterations; t++)
        repeated += model->history[t].objective == model->history[t - 1].objective;
    assert_true(repeated > 1);
    rb_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_faster),
        cmocka_unit_test(safe_where_extrapolation_fails),
        cmocka_unit_test(waits_for_a_steady_map),
        cmocka_unit_test(rejected_is_not_settled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
