/* Sources and matrices in bulk: what goes in by slices, callbacks and narrow starts comes out the
 * same, and a callback's error message stays. */
#include "fixture.h"

enum { N = 7, M = 5, STORED = 9 };

/* Row 2 is empty, row 6 ends with the last column. */
static const int64_t starts[N + 1] = {0, 2, 3, 3, 5, 6, 7, 9};
static const int32_t narrow[N + 1] = {0, 2, 3, 3, 5, 6, 7, 9};
static const int32_t columns[STORED] = {0, 3, 1, 2, 4, 0, 3, 1, 4};
static const float values[STORED] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

static rb_matrix *sparse_matrix(rb_context *ctx) {
    rb_matrix *matrix;
    assert_ok(ctx, rb_matrix_csr(ctx, RB_FLOAT32, N, M, starts, columns, values, &matrix));
    return matrix;
}

static rb_source *source_of(rb_context *ctx, const rb_matrix *matrix) {
    rb_source *source;
    assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
    return source;
}

static void expand(double out[N * M]) {
    memset(out, 0, N * M * sizeof *out);
    for (int i = 0; i < N; i++)
        for (int64_t e = starts[i]; e < starts[i + 1]; e++)
            out[i * M + columns[e]] = (double)values[e];
}

/* The same numbers by columns. */
static const int64_t column_starts[M + 1] = {0, 2, 4, 5, 7, 9};
static const int32_t rows_of[STORED] = {0, 4, 1, 6, 3, 0, 5, 3, 6};
static const float by_columns[STORED] = {1, 6, 3, 8, 4, 2, 7, 5, 9};

static rb_source *column_source(rb_context *ctx) {
    rb_source *source;
    assert_ok(ctx, rb_source_from_csc(ctx, RB_FLOAT32, N, M, column_starts, rows_of, by_columns,
                                      &source));
    return source;
}

/* ---- bulk access ---- */

static void a_matrix_gives_its_arrays(void **state) {
    rb_context *ctx = *state;
    rb_matrix *sparse = sparse_matrix(ctx), *dense;
    const int64_t *got_starts;
    const int32_t *got_columns;
    const void *got = NULL;
    int64_t row_stride = 11, column_stride = 12;
    double capacity[2 * 3 * 4] = {0};
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, 3, 4, capacity + 23, -4, -1, &dense));
    assert_int_equal(rb_matrix_values(sparse, &got, &row_stride, &column_stride),
                     RB_ERROR_ARGUMENT);
    assert_true(!got && row_stride == 11 && column_stride == 12);
    assert_ok(ctx, rb_matrix_values(dense, &got, &row_stride, &column_stride));
    assert_true(got == capacity + 23 && row_stride == -4 && column_stride == -1);
    assert_int_equal(rb_matrix_csr_values(dense, &got_starts, &got_columns, &got),
                     RB_ERROR_ARGUMENT);
    assert_ok(ctx, rb_matrix_csr_values(sparse, &got_starts, &got_columns, &got));
    assert_true(got_starts == starts && got_columns == columns && got == values);
    rb_matrix_free(sparse);
    rb_matrix_free(dense);
}

/* Into float64, feature by feature from the last one back, with a gap; what is between stays. */
static void a_source_is_read_into_any_strides(void **state) {
    rb_context *ctx = *state;
    rb_matrix *matrix = sparse_matrix(ctx);
    rb_source *source = source_of(ctx, matrix);
    double expected[N * M], got[2 * N * M];
    expand(expected);
    for (int i = 0; i < 2 * N * M; i++)
        got[i] = -1;
    assert_ok(ctx, rb_source_read_into(ctx, source, RB_FLOAT64, got + (M - 1) * 2 * N, 2, -2 * N));
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < M; k++) {
            assert_true(got[(M - 1 - k) * 2 * N + 2 * i] == expected[i * M + k]);
            assert_true(got[(M - 1 - k) * 2 * N + 2 * i + 1] == -1);
        }
    }
    rb_source_free(source);
    rb_matrix_free(matrix);
}

static void starts_of_32_bits_are_the_same(void **state) {
    rb_context *ctx = *state;
    static const int32_t falling[3] = {0, 2, 1}, late[2] = {1, 2};
    rb_matrix *matrix;
    double expected[N * M], got[N * M];
    const int64_t *wide;
    const int32_t *same_columns;
    const void *same_values;
    expand(expected);
    assert_ok(ctx, rb_matrix_csr32(ctx, RB_FLOAT32, N, M, narrow, columns, values, &matrix));
    assert_ok(ctx, rb_matrix_csr_values(matrix, &wide, &same_columns, &same_values));
    assert_memory_equal(wide, starts, sizeof starts);
    assert_true(same_columns == columns && same_values == values);
    rb_source *source = source_of(ctx, matrix);
    assert_ok(ctx, rb_source_read_into(ctx, source, RB_FLOAT64, got, M, 1));
    assert_memory_equal(got, expected, sizeof got);
    rb_source_free(source);
    rb_matrix_free(matrix);
    assert_int_equal(rb_matrix_csr32(ctx, RB_FLOAT32, 2, M, falling, columns, values, &matrix),
                     RB_ERROR_FORMAT);
    assert_null(matrix);
    assert_int_equal(rb_matrix_csr32(ctx, RB_FLOAT32, 1, M, late, columns, values, &matrix),
                     RB_ERROR_FORMAT);
    assert_int_equal(rb_matrix_csr32(ctx, RB_FLOAT32, -1, M, late, columns, values, &matrix),
                     RB_ERROR_ARGUMENT);
}

/* ---- slices ---- */

static void assert_slice(rb_context *ctx, rb_source *source, const double *expected, int64_t first,
                         int64_t count) {
    rb_source *slice;
    double got[N * M];
    assert_ok(ctx, rb_source_slice(ctx, source, first, count, &slice));
    assert_int_equal(rb_source_samples(slice), count);
    assert_int_equal(rb_source_features(slice), M);
    assert_ok(ctx, rb_source_read_into(ctx, slice, RB_FLOAT64, got, M, 1));
    assert_memory_equal(got, expected + first * M, (size_t)(count * M) * sizeof *got);
    for (int64_t i = 0; i < count && rb_source_sample_name(source, 0); i++) {
        assert_string_equal(rb_source_sample_name(slice, i),
                            rb_source_sample_name(source, first + i));
    }
    rb_source_free(slice);
}

static void a_slice_is_a_part(void **state) {
    rb_context *ctx = *state;
    static const char *const names[N] = {"a", "b", "c", "d", "e", "f", "g"};
    rb_matrix *matrix = sparse_matrix(ctx), *dense;
    double expected[N * M];
    expand(expected);
    assert_ok(ctx, rb_matrix_set_sample_names(ctx, matrix, names, N));
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, N, M, expected, M, 1, &dense));
    rb_source *sources[2] = {source_of(ctx, matrix), source_of(ctx, dense)};
    for (int s = 0; s < 2; s++) {
        for (int64_t first = 0; first <= N; first++)
            for (int64_t count = 0; first + count <= N; count++)
                assert_slice(ctx, sources[s], expected, first, count);
        rb_source_free(sources[s]);
    }
    rb_matrix_free(matrix);
    rb_matrix_free(dense);
}

/* ---- several as one ---- */

static void joined_are_the_whole(void **state) {
    rb_context *ctx = *state;
    static const char *const names[N] = {"a", "b", "c", "d", "e", "f", "g"};
    static const int64_t bounds[] = {0, 2, 2, 5, N};
    rb_matrix *matrix = sparse_matrix(ctx), *dense;
    double expected[N * M];
    expand(expected);
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, N, M, expected, M, 1, &dense));
    assert_ok(ctx, rb_matrix_set_sample_names(ctx, dense, names, N));
    rb_source *sources[2] = {source_of(ctx, matrix), source_of(ctx, dense)}, *joined;
    for (int s = 0; s < 2; s++) {
        rb_source **parts = rb_alloc(ctx, 4, sizeof *parts);
        for (int p = 0; p < 4; p++)
            assert_ok(ctx, rb_source_slice(ctx, sources[s], bounds[p], bounds[p + 1] - bounds[p],
                                           &parts[p]));
        assert_ok(ctx, rb_source_join(ctx, parts, 4, &joined));
        assert_int_equal(rb_source_samples(joined), N);
        assert_int_equal(rb_source_sample_name(joined, 0) != NULL, s);
        for (int64_t first = 0; first <= N; first++)
            for (int64_t count = 0; first + count <= N; count++)
                assert_slice(ctx, joined, expected, first, count);
        rb_source_free(joined);
    }
    rb_source **parts = rb_alloc(ctx, 2, sizeof *parts);
    parts[0] = sources[0];
    parts[1] = sources[1];
    sources[0]->path = rb_copy_text(ctx, "a.npy");
    sources[1]->path = rb_copy_text(ctx, "b.npy");
    assert_error(ctx, rb_source_join(ctx, parts, 2, &joined), RB_ERROR_DATA,
                 "is 'float32' in a.npy, but 'float64' in b.npy");
    assert_null(joined);
    rb_matrix_free(matrix);
    rb_matrix_free(dense);
}

static void a_slice_of_a_slice(void **state) {
    rb_context *ctx = *state;
    rb_matrix *matrix = sparse_matrix(ctx);
    rb_source *source = source_of(ctx, matrix), *slice;
    double expected[N * M];
    expand(expected);
    assert_ok(ctx, rb_source_slice(ctx, source, 2, 5, &slice));
    assert_slice(ctx, slice, expected + 2 * M, 1, 3);
    rb_source_free(slice);
    static const int64_t wrong[][2] = {{-1, 2}, {0, N + 1},     {N, 1},
                                       {3, -1}, {INT64_MAX, 1}, {1, INT64_MAX}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(rb_source_slice(ctx, source, wrong[i][0], wrong[i][1], &slice),
                         RB_ERROR_ARGUMENT);
        assert_null(slice);
    }
    rb_source_free(source);
    rb_matrix_free(matrix);
}

/* ---- callbacks ---- */

struct giver {
    rb_context *ctx;
    rb_error fails;
    const char *says; /* into the context; NULL: nothing */
    int64_t first_start;
    int64_t starts[N + 1];
    const int32_t *columns;
};

static rb_error give_rows(void *user, int64_t first, int64_t count, void *rows) {
    struct giver *g = user;
    double expected[N * M];
    expand(expected);
    memcpy(rows, expected + first * M, (size_t)(count * M) * sizeof(double));
    return g->fails && g->says ? rb_context_fail(g->ctx, g->fails, g->says) : g->fails;
}

static rb_error give_sparse(void *user, int64_t first, int64_t count, const int64_t **out_starts,
                            const int32_t **out_columns, const void **out_values) {
    struct giver *g = user;
    for (int64_t i = 0; i <= count; i++)
        g->starts[i] = g->first_start + starts[first + i] - starts[first];
    *out_starts = g->starts;
    *out_columns = (g->columns ? g->columns : columns) + starts[first];
    *out_values = values + starts[first];
    return g->fails && g->says ? rb_context_fail(g->ctx, g->fails, g->says) : g->fails;
}

static rb_source *callback_source(struct giver *g, bool sparse) {
    rb_source *source;
    assert_ok(g->ctx,
              sparse
                  ? rb_source_from_csr_callback(g->ctx, RB_FLOAT32, N, M, give_sparse, g, &source)
                  : rb_source_from_callback(g->ctx, RB_FLOAT64, N, M, give_rows, g, &source));
    return source;
}

static void sparse_rows_from_a_callback(void **state) {
    struct giver g = {.ctx = *state};
    double expected[N * M], got[N * M];
    rb_source *source = callback_source(&g, true);
    expand(expected);
    assert_true(rb_source_sparse(source));
    assert_ok(g.ctx, rb_source_read_into(g.ctx, source, RB_FLOAT64, got, M, 1));
    assert_memory_equal(got, expected, sizeof got);
    assert_slice(g.ctx, source, expected, 3, 4);
    rb_source_free(source);
}

/* The same model bit by bit as of a sparse matrix in memory. */
static void a_fit_of_sparse_callbacks(void **state) {
    struct giver g = {.ctx = *state};
    rb_matrix *matrix = sparse_matrix(g.ctx);
    rb_source *sources[2] = {source_of(g.ctx, matrix), callback_source(&g, true)};
    rb_rfn_options options = fixture_rfn(2, RB_RFN_NORMALIZE_RMS);
    rb_fit_options fit = fixture_fit(5, RB_FLOAT64);
    rb_model *models[2];
    for (int s = 0; s < 2; s++)
        models[s] = fixture_model(g.ctx, "rfn", &options, &fit, NULL, sources[s], NULL);
    assert_memory_equal(rb_model_array(models[0], "loadings", NULL, NULL),
                        rb_model_array(models[1], "loadings", NULL, NULL), M * 2 * sizeof(double));
    for (int s = 0; s < 2; s++) {
        rb_model_free(models[s]);
        rb_source_free(sources[s]);
    }
    rb_matrix_free(matrix);
}

static void wrong_rows_of_a_callback_are_refused(void **state) {
    static const int32_t beyond[STORED] = {0, M, 1, 2, 4, 0, 3, 1, 4};
    struct giver late = {.ctx = *state, .first_start = 1};
    struct giver wide = {.ctx = *state, .columns = beyond};
    struct giver *const wrong[] = {&late, &wide};
    double got[N * M];
    for (int i = 0; i < 2; i++) {
        rb_source *source = callback_source(wrong[i], true);
        assert_int_equal(rb_source_read_into(*state, source, RB_FLOAT64, got, M, 1),
                         RB_ERROR_FORMAT);
        assert_non_null(strstr(rb_context_error(*state), "samples 0 to 6 (counted from 0): "));
        rb_source_free(source);
    }
}

/* Its own error, with its own message, or with ours where it says nothing, through a whole fit. */
static void a_callback_s_message_stays(void **state) {
    struct giver g = {.ctx = *state, .fails = RB_ERROR_DATA, .says = "the tape broke"};
    rb_rfn_options options = fixture_rfn(2, RB_RFN_NORMALIZE_RMS);
    rb_fit_options fit = fixture_fit(5, RB_FLOAT64);
    for (int sparse = 0; sparse < 2; sparse++) {
        rb_source *source = callback_source(&g, sparse);
        g.says = "the tape broke";
        fixture_refused(g.ctx, "rfn", &options, &fit, NULL, source, NULL, RB_ERROR_DATA,
                        "the tape broke");
        g.says = NULL;
        fixture_refused(g.ctx, "rfn", &options, &fit, NULL, source, NULL, RB_ERROR_DATA,
                        "the data source returned RB_ERROR_DATA");
        rb_source_free(source);
    }
}

/* ---- compressed columns ---- */

static void assert_rows(rb_context *ctx, rb_source *source, int64_t first, int64_t count) {
    rb_matrix *matrix = sparse_matrix(ctx);
    rb_matrix part = rb_matrix_part(matrix, first, count), view;
    assert_ok(ctx, rb_source_read(ctx, source, first, count, &view));
    assert_true(view.sparse && view.n_samples == count && view.n_features == M);
    assert_int_equal(view.starts[0], 0);
    for (int64_t i = 0; i <= count; i++)
        assert_int_equal(view.starts[i], part.starts[i] - part.starts[0]);
    for (int64_t e = 0; e < view.starts[count]; e++) {
        assert_int_equal(view.columns[e], part.columns[e]);
        assert_true(rb_get(RB_FLOAT32, view.values, e) == rb_get(RB_FLOAT32, part.values, e));
    }
    rb_matrix_free(matrix);
}

/* Blocks in order, again, backwards, and slices are the compressed rows of the same numbers. */
static void columns_are_read_as_rows(void **state) {
    rb_context *ctx = *state;
    rb_source *source = column_source(ctx);
    for (int64_t size = 1; size <= N; size++)
        for (int64_t first = 0; first < N; first += size)
            assert_rows(ctx, source, first, N - first < size ? N - first : size);
    for (int64_t first = N - 2; first >= 0; first--)
        assert_rows(ctx, source, first, 2);
    uint32_t of_columns, of_rows;
    rb_matrix *matrix = sparse_matrix(ctx);
    rb_source *plain = source_of(ctx, matrix);
    assert_ok(ctx, rb_source_checksum(ctx, source, &of_columns));
    assert_ok(ctx, rb_source_checksum(ctx, plain, &of_rows));
    assert_int_equal(of_columns, of_rows);
    rb_source_free(plain);
    rb_source_free(source);
    rb_matrix_free(matrix);
}

static void wrong_columns_are_refused(void **state) {
    rb_context *ctx = *state;
    rb_source *source;
    const int64_t falls[M + 1] = {0, 2, 1, 5, 7, 9};
    const int32_t twice[STORED] = {0, 0, 1, 6, 3, 0, 5, 3, 6};
    const int32_t beyond[STORED] = {0, N, 1, 6, 3, 0, 5, 3, 6};
    assert_int_equal(rb_source_from_csc(ctx, RB_FLOAT32, N, M, falls, rows_of, values, &source),
                     RB_ERROR_FORMAT);
    assert_int_equal(
        rb_source_from_csc(ctx, RB_FLOAT32, N, M, column_starts, twice, values, &source),
        RB_ERROR_FORMAT);
    assert_error(ctx,
                 rb_source_from_csc(ctx, RB_FLOAT32, N, M, column_starts, beyond, values, &source),
                 RB_ERROR_FORMAT, "rows and columns exchanged");
    assert_int_equal(
        rb_source_from_csc(ctx, RB_FLOAT32, -1, M, column_starts, rows_of, values, &source),
        RB_ERROR_ARGUMENT);
    assert_null(source);
}

static void columns_without_memory(void **state) {
    rb_context *ctx = *state;
    rb_error err = RB_ERROR_MEMORY;
    for (int64_t allowed = 0; err; allowed++) {
        rb_source *source = NULL;
        rb_matrix view;
        ctx->allocations_left = allowed;
        err =
            rb_source_from_csc(ctx, RB_FLOAT32, N, M, column_starts, rows_of, by_columns, &source);
        err = err ? err : rb_source_read(ctx, source, 0, N, &view);
        ctx->allocations_left = -1;
        assert_true(!err || err == RB_ERROR_MEMORY);
        if (source) assert_rows(ctx, source, 1, 4); /* a source that failed once goes on */
        rb_source_free(source);
    }
}

/* ---- names ---- */

static void a_source_has_names_of_its_own(void **state) {
    rb_context *ctx = *state;
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g"};
    rb_source *source = column_source(ctx), *slice;
    assert_null(rb_source_feature_name(source, 0));
    assert_int_equal(rb_source_set_feature_names(ctx, source, names, N), RB_ERROR_ARGUMENT);
    assert_null(rb_source_feature_name(source, 0));
    assert_ok(ctx, rb_source_set_feature_names(ctx, source, names, M));
    assert_ok(ctx, rb_source_set_sample_names(ctx, source, names, N));
    assert_ok(ctx, rb_source_slice(ctx, source, 2, 3, &slice));
    assert_string_equal(rb_source_feature_name(slice, 4), "e");
    assert_string_equal(rb_source_sample_name(slice, 0), "c");
    rb_source_free(slice);
    assert_ok(ctx, rb_source_set_feature_names(ctx, source, NULL, M));
    assert_null(rb_source_feature_name(source, 0));
    assert_string_equal(rb_source_sample_name(source, 6), "g");
    rb_source_free(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_matrix_gives_its_arrays),
        cmocka_unit_test(a_source_is_read_into_any_strides),
        cmocka_unit_test(starts_of_32_bits_are_the_same),
        cmocka_unit_test(a_slice_is_a_part),
        cmocka_unit_test(joined_are_the_whole),
        cmocka_unit_test(a_slice_of_a_slice),
        cmocka_unit_test(sparse_rows_from_a_callback),
        cmocka_unit_test(a_fit_of_sparse_callbacks),
        cmocka_unit_test(wrong_rows_of_a_callback_are_refused),
        cmocka_unit_test(a_callback_s_message_stays),
        cmocka_unit_test(columns_are_read_as_rows),
        cmocka_unit_test(wrong_columns_are_refused),
        cmocka_unit_test(columns_without_memory),
        cmocka_unit_test(a_source_has_names_of_its_own),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
