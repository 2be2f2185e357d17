/* A source without constant samples and those that are equal to an earlier one: dense, sparse, in
 * blocks of any size, with names and covariates. */
#include "fixture.h"

#include "data/data.h"

enum { N = 9, M = 3, KEPT = 5 };

/* 2 is 0, 4 is constant, 6 is 1, 7 is 0 again. */
static const double table[N * M] = {1, 0, 2, 3, 0, 4, 1, 0, 2, 0, 5, 0, 7, 7,
                                    7, 0, 0, 1, 3, 0, 4, 1, 0, 2, 6, 0, 0};
static const int64_t left[KEPT] = {0, 1, 3, 5, 8};

static void bind(rb_context *ctx, rb_source *source) {
    static const char *const names[N] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
    static const char *const groups[N] = {"x", "y", "x", "z", "x", "y", "y", "x", "x"};
    static const double ages[N] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    assert_ok(ctx, rb_source_set_sample_names(ctx, source, names, N));
    assert_ok(ctx, rb_source_set_groups(ctx, source, "group", groups, N));
    assert_ok(ctx, rb_source_set_numbers(ctx, source, "age", ages, N));
}

static void assert_left(rb_context *ctx, rb_source *thin) {
    double values[KEPT * M];
    assert_int_equal(thin->n_samples, KEPT);
    for (int64_t size = 1; size <= KEPT; size++) {
        memset(values, 0, sizeof values);
        const rb_target to = {RB_FLOAT64, values, M, 1};
        for (int64_t first = 0; first < KEPT; first += size) {
            rb_matrix view;
            int64_t count = KEPT - first < size ? KEPT - first : size;
            assert_ok(ctx, rb_source_read(ctx, thin, first, count, &view));
            rb_matrix_copy(&view, first, &to);
        }
        for (int i = 0; i < KEPT; i++)
            assert_memory_equal(values + i * M, table + left[i] * M, M * sizeof *values);
    }
    const rb_source_covariate *group = &thin->covariates->list[0],
                              *age = &thin->covariates->list[1];
    for (int i = 0; i < KEPT; i++) {
        assert_int_equal(*rb_source_sample_name(thin, i), 'a' + left[i]);
        assert_true(age->values[i] == (double)left[i]);
        assert_int_equal(*group->levels->text[(int)group->values[i]], "xyxzxyyxx"[left[i]]);
    }
}

static void samples_are_left_out(void **state) {
    rb_context *ctx = *state;
    rb_source *sources[] = {fixture_data(ctx, table, N, M), fixture_sparse_data(ctx, table, N, M)},
              *owned;
    for (int form = 0; form < 2; form++) {
        rb_source *thin = sources[form];
        bind(ctx, thin);
        assert_ok(ctx, rb_source_thin(ctx, "none", false, &thin, &owned));
        assert_ptr_equal(thin, sources[form]);
        assert_null(owned);
        assert_ok(ctx, rb_source_thin(ctx, "constant", false, &thin, &owned));
        assert_int_equal(owned->n_samples, N - 1);
        rb_source_free(owned);
        thin = sources[form];
        assert_ok(ctx, rb_source_thin(ctx, "duplicates,constant", false, &thin, &owned));
        assert_ptr_equal(thin, owned);
        assert_left(ctx, thin);
        rb_source_free(owned);
        rb_source_free(sources[form]);
    }
}

static void some_must_be_left(void **state) {
    static const double ones[] = {1, 1, 2, 2};
    rb_context *ctx = *state;
    rb_source *source = fixture_data(ctx, ones, 2, 2), *owned;
    assert_error(ctx, rb_source_thin(ctx, "constant", false, &source, &owned), RB_ERROR_DATA,
                 "leaves none of the 2 samples");
    assert_null(owned);
    rb_source_free(source);
}

static void out_of_memory(void **state) {
    rb_context *ctx = *state;
    rb_source *source = fixture_data(ctx, table, N, M), *owned;
    rb_error err = RB_ERROR_MEMORY;
    bind(ctx, source);
    for (int64_t after = 0; allow_allocations(ctx, after, err); after++) {
        rb_source *thin = source;
        err = rb_source_thin(ctx, "duplicates", false, &thin, &owned);
        assert_true(err ? err == RB_ERROR_MEMORY && !owned : owned != NULL);
    }
    rb_source_free(owned);
    rb_source_free(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_left_out),
        cmocka_unit_test(some_must_be_left),
        cmocka_unit_test(out_of_memory),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
