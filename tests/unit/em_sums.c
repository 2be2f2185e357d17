/* The sums of a pass: what they begin with, the tree over groups, decay over batches. */
#include "em/em.h"
#include "fixture.h"
#include "rfn/rfn.h"

enum { SIZE = 3, GROUPS = 8 };

struct sums {
    rb_dense products; /* of the fit's type */
    double *weights;
    double weight, gain;
    double min, max;
    int64_t count;
    bool seen[SIZE];
    double largest[SIZE];
    int64_t place[SIZE];
};

enum { DIM_SIZE = 1, DIM_NONE };

static const rb_field fields[] = {
    {"products", offsetof(struct sums, products), RB_FIELD_DENSE, RB_KEPT_WORKING, DIM_SIZE,
     DIM_SIZE, .runs_on = true},
    {"weights", offsetof(struct sums, weights), RB_FIELD_POINTER, RB_KEPT_FLOAT64, DIM_SIZE,
     RB_DIM_ONE},
    {"nothing", 0, RB_FIELD_POINTER, RB_KEPT_FLOAT64, DIM_NONE, DIM_SIZE},
    {"weight", offsetof(struct sums, weight), RB_FIELD_INLINE, RB_KEPT_FLOAT64, .runs_on = true},
    {"gain", offsetof(struct sums, gain), RB_FIELD_INLINE, RB_KEPT_FLOAT64, .sum = RB_SUM_GAIN},
    {"least", offsetof(struct sums, min), RB_FIELD_INLINE, RB_KEPT_FLOAT64, .sum = RB_SUM_MIN},
    {"most", offsetof(struct sums, max), RB_FIELD_INLINE, RB_KEPT_FLOAT64, .sum = RB_SUM_MAX},
    {"count", offsetof(struct sums, count), RB_FIELD_INLINE, RB_KEPT_INTEGER},
    {"seen", offsetof(struct sums, seen), RB_FIELD_INLINE, RB_KEPT_FLAG, DIM_SIZE, RB_DIM_ONE,
     .sum = RB_SUM_OR},
    {"largest", offsetof(struct sums, largest), RB_FIELD_INLINE, RB_KEPT_FLOAT64, DIM_SIZE,
     RB_DIM_ONE, .sum = RB_SUM_LARGEST},
    {"place", offsetof(struct sums, place), RB_FIELD_INLINE, RB_KEPT_INTEGER, DIM_SIZE, RB_DIM_ONE,
     .sum = RB_SUM_PLACE},
    {0},
};

static const rb_part parts[] = {{RB_PART_SUMS, fields, 0}, {0}};
static const rb_method method = {.name = "toy", .parts = parts};

struct fixture {
    rb_context *ctx;
    rb_shape shape;
    struct sums state;
    rb_sums sums;
};

static void set_up(struct fixture *f, rb_type type, bool batches) {
    *f = (struct fixture){.ctx = fixture_context(),
                          .shape = {type, batches, {[RB_DIM_ONE] = 1, [DIM_SIZE] = SIZE}}};
    assert_ok(f->ctx, rb_parts_new(f->ctx, parts, &f->shape, &f->state));
    f->sums = (rb_sums){
        .ctx = f->ctx, .method = &method, .shape = &f->shape, .state = &f->state, .decay = 0.5};
    f->state.gain = 1;
}

static void tear_down(struct fixture *f) {
    rb_sums_free(&f->sums);
    rb_parts_free(parts, &f->state);
    rb_context_free(f->ctx);
}

/* What group g gives: numbers whose sum depends on the order. */
static double of_group(int g, int64_t i) {
    return (1 + (double)i) / (3 + 7 * (double)g) * (g % 2 ? 1e4 : 1e-4);
}

static void add_group(struct fixture *f, int g) {
    struct sums *s = &f->state;
    for (int64_t i = 0; i < SIZE * SIZE; i++) {
        int64_t row = i / SIZE, col = i % SIZE;
        double before = rb_dense_get(s->products, row, col);
        rb_dense_set(s->products, row, col, before + s->gain * of_group(g, i));
    }
    s->weights[0] += of_group(g, 0);
    s->weight += s->gain;
    s->min = fmin(s->min, g);
    s->max = fmax(s->max, g);
    s->count++;
    s->seen[g % SIZE] = true;
}

static void add_groups(struct fixture *f, int first, int groups, bool fresh) {
    assert_ok(f->ctx, rb_sums_begin(&f->sums, RB_PART_SUMS, groups, true, fresh));
    for (int g = 0; g < groups; g++) {
        add_group(f, first + g);
        assert_ok(f->ctx, rb_sums_end_group(&f->sums));
    }
    assert_ok(f->ctx, rb_sums_close(&f->sums));
    rb_sums_end(&f->sums);
}

/* The sum over groups first .. first + count - 1 as a tree, in float64. */
static double tree(rb_type type, int first, int count, int64_t i) {
    if (count == 1) {
        double x = of_group(first, i);
        return type == RB_FLOAT32 ? (double)(float)x : x;
    }
    return tree(type, first, count / 2, i) + tree(type, first + count / 2, count / 2, i);
}

static void test_groups_are_added_in_a_tree(void **state) {
    (void)state;
    for (int type = RB_FLOAT32; type <= RB_FLOAT64; type++) {
        struct fixture f;
        set_up(&f, (rb_type)type, false);
        for (int round = 0; round < 2; round++) { /* the second pass begins anew */
            add_groups(&f, 0, GROUPS, false);
            for (int64_t i = 0; i < SIZE * SIZE; i++) {
                double sum = tree((rb_type)type, 0, GROUPS, i);
                double rounded = type == RB_FLOAT32 ? (double)(float)sum : sum;
                assert_true(rb_dense_get(f.state.products, i / SIZE, i % SIZE) == rounded);
            }
            assert_true(f.state.weights[0] == tree(RB_FLOAT64, 0, GROUPS, 0));
            assert_true(f.state.weight == GROUPS && f.state.gain == 1);
            assert_true(f.state.min == 0 && f.state.max == GROUPS - 1);
            assert_int_equal(f.state.count, GROUPS);
            assert_true(f.state.seen[0] && f.state.seen[1] && f.state.seen[2]);
        }
        tear_down(&f);
    }
}

static void test_a_pass_begins_with_nothing(void **state) {
    (void)state;
    struct fixture f;
    set_up(&f, RB_FLOAT32, false);
    add_groups(&f, 0, 1, false);
    assert_ok(f.ctx, rb_sums_begin(&f.sums, RB_PART_SUMS, 1, true, false));
    assert_true(rb_dense_get(f.state.products, 1, 1) == 0 && f.state.weights[0] == 0);
    assert_true(f.state.min == INFINITY && f.state.max == -INFINITY);
    assert_true(f.state.count == 0 && !f.state.seen[0]);
    assert_true(f.state.largest[2] == -INFINITY && f.state.place[2] == -1);
    tear_down(&f);
}

/* After batch b: sum over earlier ones of 0.5^(b - a) times what they gave, up to the gain. */
static void test_sums_run_on_over_batches(void **state) {
    (void)state;
    for (int groups = 1; groups <= 2; groups++) {
        struct fixture f;
        set_up(&f, RB_FLOAT64, true);
        double sum = 0, weight = 0;
        for (int b = 0; b < 50; b++) {
            add_groups(&f, 0, groups, false);
            sum = sum / 2 + tree(RB_FLOAT64, 0, groups, 4);
            weight = weight / 2 + groups;
            assert_true(f.state.gain >= 1 && f.state.gain <= 1e6);
            double mean = rb_dense_get(f.state.products, 1, 1) / f.state.gain;
            assert_true(fabs(mean - sum) < 1e-12 * sum);
            assert_true(fabs(f.state.weight / f.state.gain - weight) < 1e-12 * weight);
            assert_true(f.state.weights[0] == tree(RB_FLOAT64, 0, groups, 0)); /* does not */
        }
        add_groups(&f, 0, groups, true); /* of these samples alone */
        assert_true(f.state.weight == groups && f.state.gain == 1);
        tear_down(&f);
    }
}

/* By shape alone: none for few samples or one block, more for more, fewer where sums are large. */
static void test_groups_follow_from_the_shape(void **state) {
    (void)state;
    struct fixture f;
    set_up(&f, RB_FLOAT32, false);
    rb_problem problem = {.block_samples = 1000, .method = &method};
    const struct {
        int64_t samples, groups;
        bool sparse;
    } cases[] = {{100, 1, false},  {8191, 1, false},      {8192, 2, false},    {40000, 8, false},
                 {40000, 2, true}, {10000000, 64, false}, {10000000, 64, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        problem.sparse = cases[i].sparse;
        assert_int_equal(rb_sums_groups(&problem, &f.shape, cases[i].samples), cases[i].groups);
    }
    problem.block_samples = 1 << 20; /* groups are whole blocks */
    assert_int_equal(rb_sums_groups(&problem, &f.shape, 1 << 20), 1);
    f.shape.dims[DIM_SIZE] = 3000; /* 72 MB in float64 */
    problem.block_samples = 1000;
    assert_int_equal(rb_sums_groups(&problem, &f.shape, 10000000), 8);
    f.shape.dims[DIM_SIZE] = SIZE;
    tear_down(&f);
}

/* ---- the method is told of groups ---- */

enum { SAMPLES = 16384, BLOCK = 1024, TOLD_GROUPS = 4 };

/* Sums wait elsewhere, as on a device, until a group has ended. */
struct waiting {
    double sum, waits;
    int blocks, groups;
};

static int64_t blocks_of_1024(const rb_problem *problem, const void *options) {
    (void)problem, (void)options;
    return BLOCK;
}

static rb_error begin_waiting(rb_context *ctx, void *state) {
    (void)ctx;
    struct waiting *w = state;
    w->blocks = w->groups = 0;
    return RB_OK;
}

static rb_error block_waits(rb_context *ctx, void *state, const rb_block *block) {
    (void)ctx;
    struct waiting *w = state;
    w->blocks++;
    w->waits += (double)block->n_samples;
    return RB_OK;
}

static rb_error group_arrives(rb_context *ctx, void *state) {
    (void)ctx;
    struct waiting *w = state;
    assert_int_equal(w->blocks, SAMPLES / BLOCK / TOLD_GROUPS * ++w->groups);
    w->sum += w->waits;
    w->waits = 0;
    return RB_OK;
}

static rb_error all_have_arrived(rb_context *ctx, void *state, bool *again) {
    (void)ctx;
    const struct waiting *w = state;
    *again = false;
    assert_int_equal(w->groups, TOLD_GROUPS);
    assert_true(w->sum == SAMPLES && w->waits == 0);
    return RB_OK;
}

static rb_error no_mstep(rb_context *ctx, void *state) {
    (void)ctx, (void)state;
    return RB_OK;
}

static void zero(void *state, double *objective, double *estep_objective) {
    (void)state;
    *objective = *estep_objective = 0;
}

static rb_error no_codes(rb_context *ctx, void *coder, const rb_block *block, void *codes) {
    (void)ctx, (void)coder, (void)block, (void)codes;
    return RB_OK;
}

static void test_groups_are_told(void **state) {
    static const rb_field sum[] = {
        {"sum", offsetof(struct waiting, sum), RB_FIELD_INLINE, RB_KEPT_FLOAT64}, {0}};
    static const rb_part sum_alone[] = {{RB_PART_SUMS, sum, 0}, {0}};
    static const rb_option none[] = {{0}};
    static const rb_method waiting = {.size = sizeof waiting,
                                      .name = "waiting",
                                      .title = "a method whose sums wait",
                                      .code_name = "X_waiting",
                                      .options = none,
                                      .block_samples = blocks_of_1024,
                                      .parts = sum_alone,
                                      .state_size = sizeof(struct waiting),
                                      .begin = begin_waiting,
                                      .block = block_waits,
                                      .group_end = group_arrives,
                                      .end = all_have_arrived,
                                      .mstep = no_mstep,
                                      .objective = zero,
                                      .encode = no_codes};
    static double values[SAMPLES] = {1};
    rb_context *ctx = *state;
    rb_source *source = fixture_data(ctx, values, SAMPLES, 1);
    rb_options *options;
    rb_model *model;
    assert_ok(ctx, rb_context_add_method(ctx, &waiting));
    assert_ok(ctx, rb_options_new(ctx, "waiting", &options));
    assert_ok(ctx, rb_fit(ctx, options, source, NULL, &model));
    rb_model_free(model);
    rb_options_free(options);
    rb_source_free(source);
}

/* A table that was built with the first header ends before group_end: nothing of it is read. */
static void test_older_tables_are_accepted(void **state) {
    size_t size = offsetof(rb_method, group_end);
    rb_method table = rb_method_rfn, *older = malloc(size);
    table.size = size;
    table.name = "older";
    memcpy(older, &table, size);
    rb_context *ctx = *state;
    double *values = fixture_values(60, 8, 3, 1);
    rb_source *source = fixture_data(ctx, values, 60, 8);
    rb_options *options;
    rb_model *model;
    assert_ok(ctx, rb_context_add_method(ctx, older));
    assert_ok(ctx, rb_options_new(ctx, "older", &options));
    assert_ok(ctx, rb_options_set_all(ctx, options, "preset=paper units=3 iterations=5"));
    assert_ok(ctx, rb_fit(ctx, options, source, NULL, &model));
    assert_string_equal(rb_model_method(model), "older");
    free(fixture_codes(ctx, model, source));
    rb_model_free(model);
    rb_options_free(options);
    rb_source_free(source);
    free(values);
    free(older);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups_are_added_in_a_tree),
        cmocka_unit_test(test_a_pass_begins_with_nothing),
        cmocka_unit_test(test_sums_run_on_over_batches),
        cmocka_unit_test(test_groups_follow_from_the_shape),
        cmocka_unit_test(test_groups_are_told),
        cmocka_unit_test(test_older_tables_are_accepted),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
