/* Models from other programs: codes in memory of the caller's, coders, models as bytes, callbacks
 * that stop, and a process that forks. */
#include "fixture.h"
#include <rarebit/deep.h>
#include <rarebit/io.h>

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 300, M = 6, UNITS = 3 };

struct fitted {
    rb_context *ctx;
    double *values;
    rb_matrix *matrix;
    rb_source *source;
    rb_model *model;
};

static rb_error fit(struct fitted *f, rb_type type, rb_model **model) {
    rb_rfn_options options = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
    rb_fit_options how = fixture_fit(10, type);
    return rb_fit(f->ctx, fixture_options(f->ctx, "rfn", &options, &how, NULL), f->source, NULL,
                  model);
}

static int setup(void **state) {
    struct fitted *f = calloc(1, sizeof *f);
    f->ctx = fixture_context();
    f->values = fixture_values(N, M, 2, 1);
    f->source = fixture_source(f->ctx, f->values, N, M, &f->matrix);
    assert_ok(f->ctx, fit(f, RB_FLOAT32, &f->model));
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fitted *f = *state;
    rb_model_free(f->model);
    rb_source_free(f->source);
    rb_matrix_free(f->matrix);
    free(f->values);
    rb_context_free(f->ctx);
    free(f);
    return 0;
}

/* ---- codes in the caller's memory ---- */

static void codes_go_into_any_strides(void **state) {
    struct fitted *f = *state;
    double *codes = fixture_codes(f->ctx, f->model, f->source);
    float narrow[N * UNITS];
    double turned[UNITS * N * 2];
    assert_ok(f->ctx, rb_encode_into(f->ctx, f->model, f->source, RB_FLOAT32, narrow, UNITS, 1));
    for (int i = 0; i < UNITS * N * 2; i++)
        turned[i] = -1;
    assert_ok(f->ctx, rb_encode_into(f->ctx, f->model, f->source, RB_FLOAT64, turned, 2, 2 * N));
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < UNITS; j++) {
            assert_true((double)narrow[i * UNITS + j] == codes[i * UNITS + j]);
            assert_true(turned[j * 2 * N + 2 * i] == codes[i * UNITS + j]);
            assert_true(turned[j * 2 * N + 2 * i + 1] == -1);
        }
    }
    free(codes);
}

static void rebuilt_samples_too(void **state) {
    struct fitted *f = *state;
    static double rows[N * M], backwards[N * M];
    struct fixture_rows to = {rows, M};
    assert_ok(f->ctx, rb_reconstruct(f->ctx, f->model, f->source, fixture_take, &to));
    assert_ok(f->ctx, rb_reconstruct_into(f->ctx, f->model, f->source, RB_FLOAT64,
                                          backwards + N * M - 1, -M, -1));
    for (int i = 0; i < N * M; i++)
        assert_true(backwards[N * M - 1 - i] == rows[i]);
}

/* Samples from codes are those that are rebuilt where codes say all. */
static void samples_come_from_codes(void **state) {
    struct fitted *f = *state;
    static const char *const methods[] = {"rfn", "linca", "pca", "nmf", "dae", "rbm", "kmeans"};
    static double rebuilt[N * M], decoded[N * M + 1];
    for (int i = 0; i < N * M; i++)
        f->values[i] = fabs(f->values[i]);
    for (size_t which = 0; which < sizeof methods / sizeof *methods; which++) {
        rb_options *options;
        rb_model *model;
        rb_matrix *codes;
        assert_ok(f->ctx, rb_options_new(f->ctx, methods[which], &options));
        assert_ok(f->ctx, rb_options_set_all(f->ctx, options,
                                             "units=3 iterations=3 log1p=true "
                                             "precision=float64"));
        assert_ok(f->ctx, rb_fit(f->ctx, options, f->source, NULL, &model));
        double *values = fixture_codes(f->ctx, model, f->source);
        assert_ok(f->ctx, rb_matrix_dense(f->ctx, RB_FLOAT64, N, UNITS, values, UNITS, 1, &codes));
        assert_ok(f->ctx, rb_reconstruct_into(f->ctx, model, f->source, RB_FLOAT64, rebuilt, M, 1));
        decoded[N * M] = -1;
        assert_ok(f->ctx, rb_decode_into(f->ctx, model, codes, RB_FLOAT64, decoded, M, 1));
        for (int i = 0; i < N * M; i++)
            assert_close(decoded[i], rebuilt[i], 1e-9);
        assert_true(decoded[N * M] == -1);
        assert_int_equal(rb_decode_into(f->ctx, model, f->matrix, RB_FLOAT64, decoded, M, 1),
                         RB_ERROR_DATA);
        values[4] = NAN;
        assert_int_equal(rb_decode_into(f->ctx, model, codes, RB_FLOAT64, decoded, M, 1),
                         RB_ERROR_NUMERIC);
        rb_matrix_free(codes);
        free(values);
        rb_model_free(model);
        rb_options_free(options);
    }
}

/* With features selected and totals scaled: samples have the total asked for. */
static void samples_from_codes_have_the_total(void **state) {
    struct fitted *f = *state;
    rb_options *options;
    rb_model *model;
    rb_matrix *codes;
    static double decoded[N * M];
    for (int i = 0; i < N * M; i++)
        f->values[i] = 1 + fabs(f->values[i]);
    assert_ok(f->ctx, rb_options_new(f->ctx, "pca", &options));
    assert_ok(f->ctx, rb_options_set_all(f->ctx, options, "units=6 totals=100"));
    assert_ok(f->ctx, rb_fit(f->ctx, options, f->source, NULL, &model));
    assert_int_equal(rb_model_inputs(model), M);
    double *values = fixture_codes(f->ctx, model, f->source);
    assert_ok(f->ctx, rb_matrix_dense(f->ctx, RB_FLOAT64, N, M, values, M, 1, &codes));
    assert_ok(f->ctx, rb_decode_into(f->ctx, model, codes, RB_FLOAT64, decoded, M, 1));
    for (int i = 0; i < N; i++) {
        double total = 0;
        for (int k = 0; k < M; k++)
            total += decoded[i * M + k];
        assert_close(total, 100, 1e-3);
    }
    rb_matrix_free(codes);
    free(values);
    rb_model_free(model);
    assert_ok(f->ctx, rb_options_set_all(f->ctx, options, "units=2 top-variance=4"));
    assert_ok(f->ctx, rb_fit(f->ctx, options, f->source, NULL, &model));
    assert_int_equal(rb_model_inputs(model), M);
    assert_int_equal(rb_model_features(model), 4);
    rb_model_free(model);
    rb_options_free(options);
}

/* ---- coders ---- */

static rb_matrix *view(rb_context *ctx, const double *values, int64_t count) {
    rb_matrix *matrix;
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, count, M, values, M, 1, &matrix));
    return matrix;
}

/* All at once the same bits; one by one to rounding, since products of one row are others. */
static void a_coder_encodes_as_rb_encode_does(void **state) {
    struct fitted *f = *state;
    rb_coder *coder;
    double *codes = fixture_codes(f->ctx, f->model, f->source);
    static double got[N * UNITS];
    assert_ok(f->ctx, rb_coder_open(f->ctx, f->model, &coder));
    for (int turn = 0; turn < 2; turn++) {
        memset(got, 0, sizeof got);
        assert_ok(f->ctx, rb_coder_encode(f->ctx, coder, f->matrix, RB_FLOAT64, got, UNITS, 1));
        assert_memory_equal(got, codes, sizeof got);
        for (int i = 0; i < N; i += 7) {
            double alone[UNITS];
            rb_matrix *row = view(f->ctx, f->values + i * M, 1);
            assert_ok(f->ctx, rb_coder_encode(f->ctx, coder, row, RB_FLOAT64, alone, UNITS, 1));
            rb_matrix_free(row);
            for (int j = 0; j < UNITS; j++)
                assert_close(alone[j], codes[i * UNITS + j], 1e-5);
        }
    }
    rb_coder_free(coder);
    free(codes);
}

/* Names are matched anew, other shapes are seen, and an error leaves the coder as it was. */
static void a_coder_takes_any_matrix(void **state) {
    struct fitted *f = *state;
    static const char *const names[2][M] = {{"a", "b", "c", "d", "e", "f"},
                                            {"f", "e", "d", "c", "b", "a"}};
    rb_model *named;
    rb_coder *coder;
    double expected[UNITS], got[UNITS], turned[M];
    assert_ok(f->ctx, rb_matrix_set_feature_names(f->ctx, f->matrix, names[0], M));
    rb_source_free(f->source);
    assert_ok(f->ctx, rb_source_from_matrix(f->ctx, f->matrix, &f->source));
    assert_ok(f->ctx, fit(f, RB_FLOAT64, &named));
    assert_ok(f->ctx, rb_coder_open(f->ctx, named, &coder));
    for (int k = 0; k < M; k++)
        turned[k] = f->values[M - 1 - k];
    rb_matrix *row = view(f->ctx, f->values, 1), *back = view(f->ctx, turned, 1), *wide;
    assert_ok(f->ctx, rb_matrix_dense(f->ctx, RB_FLOAT64, 1, M + 1, f->values, M + 1, 1, &wide));
    assert_ok(f->ctx, rb_coder_encode(f->ctx, coder, row, RB_FLOAT64, expected, UNITS, 1));
    for (int turn = 0; turn < 2; turn++) {
        assert_ok(f->ctx, rb_matrix_set_feature_names(f->ctx, back, names[1], M));
        assert_ok(f->ctx, rb_coder_encode(f->ctx, coder, back, RB_FLOAT64, got, UNITS, 1));
        assert_memory_equal(got, expected, sizeof got);
        assert_ok(f->ctx, rb_matrix_set_feature_names(f->ctx, back, names[0], M));
        assert_ok(f->ctx, rb_coder_encode(f->ctx, coder, back, RB_FLOAT64, got, UNITS, 1));
        assert_memory_not_equal(got, expected, sizeof got);
        assert_int_equal(rb_coder_encode(f->ctx, coder, wide, RB_FLOAT64, got, UNITS, 1),
                         RB_ERROR_DATA);
        assert_ok(f->ctx, rb_coder_encode(f->ctx, coder, row, RB_FLOAT64, got, UNITS, 1));
        assert_memory_equal(got, expected, sizeof got);
        /* Another number of threads, another context: memory by the thread is made anew. */
        rb_context *other = fixture_context();
        assert_ok(other, rb_context_set_threads(other, 2 + turn));
        assert_ok(other, rb_coder_encode(other, coder, row, RB_FLOAT64, got, UNITS, 1));
        assert_memory_equal(got, expected, sizeof got);
        rb_context_free(other);
    }
    rb_matrix_free(row);
    rb_matrix_free(back);
    rb_matrix_free(wide);
    rb_coder_free(coder);
    rb_model_free(named);
}

static void coders_without_memory(void **state) {
    struct fitted *f = *state;
    double codes[UNITS];
    rb_matrix *row = view(f->ctx, f->values, 1);
    bool done = false;
    for (int64_t allowed = 0; !done; allowed++) {
        rb_coder *coder = NULL;
        f->ctx->allocations_left = allowed;
        rb_error err = rb_coder_open(f->ctx, f->model, &coder);
        assert_true(!err == (coder != NULL));
        err = err ? err : rb_coder_encode(f->ctx, coder, row, RB_FLOAT64, codes, UNITS, 1);
        f->ctx->allocations_left = -1;
        done = err == RB_OK;
        assert_true(done || err == RB_ERROR_MEMORY);
        if (coder) /* what failed once works once there is memory */
            assert_ok(f->ctx, rb_coder_encode(f->ctx, coder, row, RB_FLOAT64, codes, UNITS, 1));
        rb_coder_free(coder);
    }
    rb_matrix_free(row);
}

static void a_stop_ends_a_coder(void **state) {
    struct fitted *f = *state;
    rb_coder *coder;
    double codes[UNITS];
    rb_matrix *row = view(f->ctx, f->values, 1);
    assert_ok(f->ctx, rb_coder_open(f->ctx, f->model, &coder));
    rb_context_stop(f->ctx);
    assert_int_equal(rb_coder_encode(f->ctx, coder, row, RB_FLOAT64, codes, UNITS, 1),
                     RB_ERROR_STOPPED);
    rb_context_clear_stop(f->ctx);
    assert_ok(f->ctx, rb_coder_encode(f->ctx, coder, row, RB_FLOAT64, codes, UNITS, 1));
    rb_coder_free(coder);
    rb_matrix_free(row);
}

/* ---- models as bytes ---- */

static char *content_of(rb_context *ctx, const rb_model *model, long *size) {
    char path[] = "/tmp/rarebit-access-XXXXXX";
    close(mkstemp(path));
    assert_ok(ctx, rb_model_save(ctx, model, path));
    FILE *file = fopen(path, "rb");
    fseek(file, 0, SEEK_END);
    *size = ftell(file);
    rewind(file);
    char *content = malloc((size_t)*size);
    assert_int_equal(fread(content, 1, (size_t)*size, file), (size_t)*size);
    fclose(file);
    unlink(path);
    return content;
}

/* By bytes and back a model is the one that it was: it gives the same file and the same bytes. */
static void assert_round_trip(rb_context *ctx, const rb_model *model) {
    void *bytes, *again;
    size_t size, size_again;
    long file_size, file_size_again;
    rb_model *copy;
    assert_ok(ctx, rb_model_save_memory(ctx, model, &bytes, &size));
    assert_ok(ctx, rb_model_load_memory(ctx, bytes, size, &copy));
    assert_ok(ctx, rb_model_save_memory(ctx, copy, &again, &size_again));
    assert_int_equal(size, size_again);
    assert_memory_equal(bytes, again, size);
    char *file = content_of(ctx, model, &file_size);
    char *file_again = content_of(ctx, copy, &file_size_again);
    assert_int_equal(file_size, file_size_again);
    assert_memory_equal(file, file_again, (size_t)file_size);
    free(file);
    free(file_again);
    rb_free_memory(bytes);
    rb_free_memory(again);
    rb_model_free(copy);
}

static void models_go_through_memory(void **state) {
    struct fitted *f = *state;
    static const char *const names[M] = {"a",        "", "c", "a longer name, with a comma",
                                         "\xc3\xa4", "f"};
    assert_round_trip(f->ctx, f->model);
    rb_preprocess_options how;
    rb_preprocess_options_default(&how);
    how.missing = RB_MISSING_MEDIAN;
    how.top_variance = 4;
    how.scale = RB_SCALE_SD;
    f->values[5] = NAN;
    assert_ok(f->ctx, rb_matrix_set_feature_names(f->ctx, f->matrix, names, M));
    rb_source *source;
    assert_ok(f->ctx, rb_source_from_matrix(f->ctx, f->matrix, &source));
    rb_rfn_options options = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
    rb_fit_options fitting = fixture_fit(3, RB_FLOAT64);
    rb_model *model = fixture_model(f->ctx, "rfn", &options, &fitting, &how, source, NULL);
    assert_round_trip(f->ctx, model);
    rb_source_free(source);
    rb_model_free(model);
}

static void codes_of_a_copy_are_the_same(void **state) {
    struct fitted *f = *state;
    void *bytes;
    size_t size;
    rb_model *copy;
    assert_ok(f->ctx, rb_model_save_memory(f->ctx, f->model, &bytes, &size));
    char *odd = malloc(size + 1); /* at no address in particular */
    memcpy(odd + 1, bytes, size);
    assert_ok(f->ctx, rb_model_load_memory(f->ctx, odd + 1, size, &copy));
    free(odd);
    rb_free_memory(bytes);
    double *codes = fixture_codes(f->ctx, f->model, f->source);
    double *copied = fixture_codes(f->ctx, copy, f->source);
    assert_memory_equal(codes, copied, N * UNITS * sizeof *codes);
    assert_int_equal(rb_model_status(copy), rb_model_status(f->model));
    free(codes);
    free(copied);
    rb_model_free(copy);
}

/* Cut anywhere, or with more behind it, it is no model. */
static void bytes_are_checked(void **state) {
    struct fitted *f = *state;
    void *bytes;
    size_t size;
    rb_model *model;
    assert_ok(f->ctx, rb_model_save_memory(f->ctx, f->model, &bytes, &size));
    for (size_t left = 0; left < size; left++) {
        char *cut = malloc(left ? left : 1); /* so that a read beyond it is seen */
        memcpy(cut, bytes, left);
        assert_int_equal(rb_model_load_memory(f->ctx, cut, left, &model), RB_ERROR_FORMAT);
        assert_null(model);
        free(cut);
    }
    char *more = calloc(size + 1, 1);
    memcpy(more, bytes, size);
    assert_int_equal(rb_model_load_memory(f->ctx, more, size + 1, &model), RB_ERROR_FORMAT);
    more[0] = 'r';
    assert_error(f->ctx, rb_model_load_memory(f->ctx, more, size, &model), RB_ERROR_FORMAT,
                 "not a model");
    memcpy(more, bytes, size);
    more[8] = 4;
    assert_error(f->ctx, rb_model_load_memory(f->ctx, more, size, &model), RB_ERROR_FORMAT,
                 "newer");
    free(more);
    rb_free_memory(bytes);
}

/* Whatever becomes of a byte. */
static void no_damaged_byte_is_taken(void **state) {
    struct fitted *f = *state;
    static const int changes[] = {0x01, 0x02, 0x03, 0x80, 0xff};
    void *bytes;
    size_t size;
    rb_model *model;
    assert_ok(f->ctx, rb_model_save_memory(f->ctx, f->model, &bytes, &size));
    for (size_t at = 0; at < size; at++) {
        for (size_t c = 0; c < sizeof changes / sizeof *changes; c++) {
            ((unsigned char *)bytes)[at] ^= (unsigned char)changes[c];
            if (rb_model_load_memory(f->ctx, bytes, size, &model) != RB_ERROR_FORMAT)
                fail_msg("byte %zu changed by %d is taken", at, changes[c]);
            ((unsigned char *)bytes)[at] ^= (unsigned char)changes[c];
        }
    }
    ((unsigned char *)bytes)[size / 2] ^= 1;
    assert_int_equal(rb_model_load_memory(f->ctx, bytes, size, &model), RB_ERROR_FORMAT);
    assert_string_equal(rb_context_error(f->ctx),
                        "the bytes of the model are damaged: their checksum is wrong");
    rb_free_memory(bytes);
}

static void assert_refused(struct fitted *f, const char *why) {
    void *bytes;
    size_t size;
    rb_model *model;
    assert_ok(f->ctx, rb_model_save_memory(f->ctx, f->model, &bytes, &size));
    assert_error(f->ctx, rb_model_load_memory(f->ctx, bytes, size, &model), RB_ERROR_FORMAT,
                 "the bytes of the model are damaged: ");
    assert_null(model);
    assert_non_null(strstr(rb_context_error(f->ctx), why));
    rb_free_memory(bytes);
}

/* Whole, but what no fit leaves. */
static void parts_must_agree(void **state) {
    struct fitted *f = *state;
    rb_preprocess *p = f->model->preprocess;
    rb_preprocess sound = *p;
    int64_t falls[M] = {0, 1, 1, 3, 4, 5}, beyond[M] = {0, 1, 2, 3, 4, M};
    p->scale[2] = 0;
    assert_refused(f, "a scale of the preprocessing is not above 0");
    p->scale[2] = 1;
    p->centre[0] = NAN;
    assert_refused(f, "a centre of the preprocessing is not finite");
    p->centre[0] = 0;
    p->n_input = M - 1;
    assert_refused(f, "impossible");
    p->n_input = M + 1;
    assert_refused(f, "selection of features is missing");
    p->n_input = M;
    p->selected = falls;
    assert_refused(f, "ascend");
    p->selected = beyond;
    assert_refused(f, "ascend");
    p->selected = NULL;
    p->options.missing = RB_MISSING_MEAN;
    assert_refused(f, "fillings");
    p->fill = p->centre;
    p->options.missing = RB_MISSING_OMIT;
    assert_refused(f, "filled and left out");
    p->fill = NULL;
    *p = sound;
    rb_array *array = f->model->arrays;
    while (strcmp(array->name, "loadings") != 0)
        array++;
    array->rows--;
    assert_refused(f, "one row per feature");
    array->rows++;
}

static void bytes_without_memory(void **state) {
    struct fitted *f = *state;
    void *bytes;
    size_t size;
    rb_model *model;
    f->ctx->allocations_left = 0;
    assert_int_equal(rb_model_save_memory(f->ctx, f->model, &bytes, &size), RB_ERROR_MEMORY);
    f->ctx->allocations_left = -1;
    assert_null(bytes);
    assert_ok(f->ctx, rb_model_save_memory(f->ctx, f->model, &bytes, &size));
    rb_error err = RB_ERROR_MEMORY;
    for (int64_t allowed = 0; err; allowed++) {
        f->ctx->allocations_left = allowed;
        err = rb_model_load_memory(f->ctx, bytes, size, &model);
        f->ctx->allocations_left = -1;
        assert_true(!err || (err == RB_ERROR_MEMORY && !model));
    }
    rb_model_free(model);
    rb_free_memory(bytes);
}

/* ---- callbacks ---- */

struct stopper {
    rb_context *ctx;
    rb_error gives;
    const char *says;
};

static rb_error stop(struct stopper *s) {
    return s->says ? rb_context_fail(s->ctx, s->gives, s->says) : s->gives;
}

static rb_error stop_rows(void *user, int64_t first, const rb_matrix *rows) {
    (void)first;
    (void)rows;
    return stop(user);
}

static rb_error stop_fit(const rb_progress *progress, void *user) {
    return progress->iteration == 3 ? stop(user) : RB_OK;
}

static void rows_end_as_the_callback_says(void **state) {
    struct fitted *f = *state;
    struct stopper says = {f->ctx, RB_ERROR_FILE, "the disk is full"};
    struct stopper silent = {f->ctx, RB_ERROR_INTERRUPTED, NULL};
    assert_int_equal(rb_encode(f->ctx, f->model, f->source, stop_rows, &says), RB_ERROR_FILE);
    assert_string_equal(rb_context_error(f->ctx), "the disk is full");
    assert_error(f->ctx, rb_encode(f->ctx, f->model, f->source, stop_rows, &silent),
                 RB_ERROR_INTERRUPTED, "stopped taking rows");
}

/* RB_ERROR_INTERRUPTED leaves a model of three iterations; any other error none. */
static void fits_end_as_the_callback_says(void **state) {
    struct fitted *f = *state;
    rb_model *model;
    struct stopper enough = {f->ctx, RB_ERROR_INTERRUPTED, NULL};
    rb_context_on_progress(f->ctx, stop_fit, &enough);
    assert_ok(f->ctx, fit(f, RB_FLOAT64, &model));
    assert_int_equal(rb_model_status(model), RB_STATUS_STOPPED);
    assert_int_equal(rb_model_iterations(model), 3);
    rb_model_free(model);
    struct stopper says = {f->ctx, RB_ERROR_DATA, "the window was closed"};
    rb_context_on_progress(f->ctx, stop_fit, &says);
    assert_int_equal(fit(f, RB_FLOAT64, &model), RB_ERROR_DATA);
    assert_null(model);
    assert_string_equal(rb_context_error(f->ctx), "the window was closed");
    struct stopper silent = {f->ctx, RB_ERROR_FILE, NULL};
    rb_context_on_progress(f->ctx, stop_fit, &silent);
    assert_error(f->ctx, fit(f, RB_FLOAT64, &model), RB_ERROR_FILE, "RB_ERROR_FILE");
}

/* ---- threads and forks ---- */

static void add_index(void *user, int64_t index, int worker) {
    ((int64_t *)user)[index] += index + worker - worker;
}

static void tasks_run_once_each(void **state) {
    struct fitted *f = *state;
    int64_t sums[100] = {0};
    assert_ok(f->ctx, rb_context_set_threads(f->ctx, 3));
    rb_context_parallel(f->ctx, 100, add_index, sums);
    for (int i = 0; i < 100; i++)
        assert_int_equal(sums[i], i);
}

/* Fits, encodes, sets threads and frees, as the parent could: 0 when all bits are the parent's. */
static int work_in_child(struct fitted *f, const rb_model *expected, bool reset) {
    rb_model *model = NULL;
    alarm(60); /* a child that hangs ends */
    if (reset && rb_context_set_threads(f->ctx, 3)) return 1;
    if (fit(f, RB_FLOAT64, &model)) return 2;
    int differs =
        memcmp(rb_model_array(model, "loadings", NULL, NULL),
               rb_model_array(expected, "loadings", NULL, NULL), M * UNITS * sizeof(double));
    rb_model_free(model);
    rb_context_free(f->ctx);
    return differs ? 3 : 0;
}

static void a_forked_child_goes_on(void **state) {
    struct fitted *f = *state;
    rb_model *expected, *after;
    assert_ok(f->ctx, rb_context_set_threads(f->ctx, 2));
    assert_ok(f->ctx, fit(f, RB_FLOAT64, &expected));
    for (int i = 0; i < 10; i++) {
        int status = -1;
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) _exit(work_in_child(f, expected, i % 2));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    assert_ok(f->ctx, fit(f, RB_FLOAT64, &after)); /* and the parent too */
    rb_model_free(after);
    rb_model_free(expected);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_go_into_any_strides),
        cmocka_unit_test(rebuilt_samples_too),
        cmocka_unit_test(a_coder_encodes_as_rb_encode_does),
        cmocka_unit_test(a_coder_takes_any_matrix),
        cmocka_unit_test(coders_without_memory),
        cmocka_unit_test(a_stop_ends_a_coder),
        cmocka_unit_test(models_go_through_memory),
        cmocka_unit_test(codes_of_a_copy_are_the_same),
        cmocka_unit_test(bytes_are_checked),
        cmocka_unit_test(no_damaged_byte_is_taken),
        cmocka_unit_test(parts_must_agree),
        cmocka_unit_test(bytes_without_memory),
        cmocka_unit_test(rows_end_as_the_callback_says),
        cmocka_unit_test(fits_end_as_the_callback_says),
        cmocka_unit_test(tasks_run_once_each),
        cmocka_unit_test(a_forked_child_goes_on),
        cmocka_unit_test(samples_from_codes_have_the_total),
        cmocka_unit_test(samples_come_from_codes),
    };
    return run_each(tests, sizeof tests / sizeof *tests, setup, teardown);
}
