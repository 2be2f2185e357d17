/* Features that are dropped: constant ones, and all but the first of equal ones; dense, sparse, and
 * after the steps that change values. */
#include "fixture.h"

#include "data/data.h"

enum { N = 6, M = 7 };

/* b is a, d is 5 throughout, e is c, f and g are 0. */
static const double table[N * M] = {1, 1, 2, 5, 2, 0, 0, 3, 3, 0, 5, 0, 0, 0, 2, 2, 7, 5, 7, 0, 0,
                                    9, 9, 0, 5, 0, 0, 0, 4, 4, 1, 5, 1, 0, 0, 6, 6, 0, 5, 0, 0, 0};

/* Which features are in use: "0 2 ". */
static void assert_kept(rb_context *ctx, rb_source *source, const rb_preprocess_options *o,
                        const char *kept) {
    rb_preprocess *p;
    char text[64] = "";
    assert_ok(ctx, rb_preprocess_fit(ctx, o, source, &p));
    assert_int_equal(p->n_input, M);
    for (int64_t j = 0; j < p->n_features; j++)
        snprintf(text + strlen(text), 8, "%d ", (int)(p->selected ? p->selected[j] : j));
    assert_string_equal(text, kept);
    rb_preprocess_free(p);
}

static void constant_and_equal(void **state) {
    rb_context *ctx = *state;
    rb_source *sources[] = {fixture_data(ctx, table, N, M), fixture_sparse_data(ctx, table, N, M)};
    for (int form = 0; form < 2; form++) {
        rb_preprocess_options o;
        rb_preprocess_options_default(&o);
        assert_kept(ctx, sources[form], &o, "0 1 2 3 4 5 6 ");
        o.drop = RB_DROP_CONSTANT;
        assert_kept(ctx, sources[form], &o, "0 1 2 4 ");
        o.drop = RB_DROP_DUPLICATES; /* constant ones are none */
        assert_kept(ctx, sources[form], &o, "0 2 3 5 6 ");
        o.drop = RB_DROP_BOTH;
        assert_kept(ctx, sources[form], &o, "0 2 ");
        o.drop = RB_DROP_BOTH_TURNED;
        o.log1p = true;
        assert_kept(ctx, sources[form], &o, "0 2 ");
        o.top_variance = 3;
        assert_kept(ctx, sources[form], &o, "0 2 ");
        o.top_variance = 1;
        assert_kept(ctx, sources[form], &o, "2 ");
        o.top_variance = 0;
        o.totals = 10; /* what was constant is no longer */
        assert_kept(ctx, sources[form], &o, "0 2 3 ");
        rb_source_free(sources[form]);
    }
}

/* A value that is missing makes a difference. */
static void missing_values(void **state) {
    rb_context *ctx = *state;
    double holes[N * M];
    memcpy(holes, table, sizeof table);
    holes[1] = holes[3] = NAN;
    for (int i = 0; i < N; i++)
        holes[i * M + 5] = NAN;
    rb_source *source = fixture_data(ctx, holes, N, M);
    rb_preprocess_options o;
    rb_preprocess_options_default(&o);
    o.missing = RB_MISSING_MEDIAN;
    o.drop = RB_DROP_BOTH;
    assert_kept(ctx, source, &o, "0 1 2 ");
    rb_source_free(source);
}

static void nothing_left(void **state) {
    rb_context *ctx = *state;
    static const double same[4] = {1, 2, 1, 2};
    rb_source *source = fixture_data(ctx, same, 2, 2);
    rb_preprocess_options o;
    rb_preprocess_options_default(&o);
    o.centre = RB_CENTRE_NONE;
    o.drop = RB_DROP_CONSTANT;
    rb_preprocess *p;
    assert_error(ctx, rb_preprocess_fit(ctx, &o, source, &p), RB_ERROR_DATA,
                 "leaves none of the 2 features");
    rb_source_free(source);
}

static void no_memory(void **state) {
    rb_context *ctx = *state;
    rb_source *source = fixture_data(ctx, table, N, M);
    rb_preprocess_options o;
    rb_preprocess_options_default(&o);
    o.drop = RB_DROP_BOTH;
    int n = 0;
    for (rb_error err = RB_ERROR_MEMORY; allow_allocations(ctx, n, err); n++) {
        rb_preprocess *p;
        err = rb_preprocess_fit(ctx, &o, source, &p);
        assert_true(!err || (err == RB_ERROR_MEMORY && !p));
        rb_preprocess_free(p);
    }
    assert_true(n > 8);
    rb_source_free(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constant_and_equal),
        cmocka_unit_test(missing_values),
        cmocka_unit_test(nothing_left),
        cmocka_unit_test(no_memory),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
