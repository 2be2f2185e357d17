/* Permutations: what must hold of every p-value, noise and planted modules, data and models that
 * are not theirs, journals and parts. */
#include "../fixture.h"
#include "study/study.h"

#include <rarebit/consensus.h>
#include <rarebit/io.h>
#include <rarebit/significance.h>
#include <rarebit/simulate.h>

#include <stdio.h>
#include <unistd.h>

enum { N = 60, M = 80, UNITS = 4 };

static rb_context *ctx;

/* A model of data, and its modules. */
typedef struct fitted {
    rb_source *source;
    rb_model *model;
    rb_modules *modules;
} fitted;

static void options_add(rb_options *options, const char *text) {
    assert_ok(ctx, rb_options_set_all(ctx, options, "%s", text));
}

static rb_options *significance(const char *text) {
    rb_options *options;
    assert_ok(ctx, rb_options_new(ctx, NULL, &options));
    assert_ok(ctx, rb_options_add(ctx, options, rb_significance_group()));
    options_add(options, text);
    return options;
}

static rb_error permute(fitted *f, const char *text, bool *complete) {
    rb_options *options = significance(text);
    rb_error err =
        rb_modules_permute(ctx, f->model, f->source, options, NULL, f->modules, complete);
    rb_options_free(options);
    return err;
}

static void find(fitted *f) {
    rb_modules_free(f->modules);
    assert_ok(ctx, rb_modules_find(ctx, f->model, f->source, NULL, &f->modules));
}

static fitted fit(rb_source *source, const char *text) {
    fitted f = {.source = source};
    f.model = fixture_text_model(ctx, "rfn", source, NULL, "%s", text);
    find(&f);
    return f;
}

static void clear(fitted *f) {
    rb_modules_free(f->modules);
    rb_model_free(f->model);
}

static rb_source *noise_of(uint64_t seed, int64_t features) {
    rb_draws draws = {.stream = {.seed = seed, .purpose = RB_RANDOM_SIMULATE}};
    rb_matrix *matrix;
    rb_source *source;
    assert_ok(ctx, rb_matrix_new_dense(ctx, RB_FLOAT32, N, features, &matrix));
    for (int64_t i = 0; i < N * features; i++)
        rb_put(RB_FLOAT32, (void *)matrix->values, i, rb_draw_normal(&draws));
    assert_ok(ctx, rb_source_own_matrix(ctx, matrix, &source));
    return source;
}

static rb_source *noise(uint64_t seed) {
    return noise_of(seed, M);
}

/* The values of such a source, to change them. */
static float *values_of(rb_source *source) {
    return (float *)(uintptr_t)rb_source_memory(source)->values;
}

/* Noise and three modules of 12 samples and 15 features each. */
static rb_source *planted_in(uint64_t seed, int64_t features, float strength) {
    rb_source *source = noise_of(seed, features);
    for (int64_t b = 0; b < 3; b++)
        for (int64_t i = 15 * b; i < 15 * b + 12; i++)
            for (int64_t k = 20 * b; k < 20 * b + 15; k++)
                values_of(source)[i * features + k] += k % 2 ? strength : -strength;
    return source;
}

static rb_source *planted(uint64_t seed) {
    return planted_in(seed, M, 4);
}

/* Features that are up in 8 samples, down in 8 others and neither in the rest: two modules, along
 * whose loadings the samples lie as far on one side as on the other. */
static rb_source *mirrored(uint64_t seed) {
    rb_source *source = noise(seed);
    for (int64_t i = 0; i < 16; i++)
        for (int64_t k = 0; k < 15; k++)
            values_of(source)[i * M + k] += (i < 8) == (k % 2) ? 2.5F : -2.5F;
    return source;
}

static const char paper[] = "preset=paper units=4 iterations=60";

static rb_significance get(const rb_modules *modules, int64_t rank) {
    rb_significance s = {NAN, NAN, NAN};
    assert_true(rb_modules_significance(modules, rank, &s));
    return s;
}

/* Chances are between 1 / (1 + B) and 1, and one unit at random is no more likely than any of
 * them. */
static void what_must_hold(void **state) {
    (void)state;
    const char *const texts[] = {"permutations=19", "permutations=19 null=encode"};
    rb_source *source = planted(1);
    fitted f = fit(source, paper);
    assert_false(rb_modules_significance(f.modules, 0, &(rb_significance){0}));
    for (int t = 0; t < 2; t++) {
        assert_ok(ctx, permute(&f, texts[t], NULL));
        for (int64_t r = 0; r < rb_modules_count(f.modules); r++) {
            rb_significance s = get(f.modules, r);
            assert_true(s.p >= 0.05 && s.p <= s.p_family && s.p_family <= 1);
            assert_true(s.fdr >= s.p && s.fdr <= 1);
        }
    }
    assert_false(
        rb_modules_significance(f.modules, rb_modules_count(f.modules), &(rb_significance){0}));
    clear(&f);
    rb_source_free(source);
}

static void note_warning(rb_log_level level, const char *message, void *warned) {
    if (level == RB_LOG_WARNING && strstr(message, "smallest p-value"))
        *(int *)warned += strstr(message, " is 0.053,") ? 1 : 2; /* 1 / (1 + 18) */
}

/* Of fewer than 19, which cannot have p-values of 0.05. */
static void few_permutations_are_warned_of(void **state) {
    (void)state;
    rb_source *source = planted(1);
    fitted f = fit(source, "preset=paper units=4 iterations=2");
    for (int few = 0; few < 2; few++) {
        int warned = 0;
        rb_context_on_log(ctx, note_warning, &warned);
        assert_ok(ctx, permute(&f, few ? "permutations=18" : "permutations=19", NULL));
        assert_int_equal(warned, few);
    }
    rb_context_on_log(ctx, NULL, NULL);
    clear(&f);
    rb_source_free(source);
}

enum { MANY = 12, TIMES = 19 };
static const rb_blocks no_blocks = {0};

/* What modules are ranked by where the test suits, else information; -INFINITY: a dead unit. */
static void find_scores(const fitted *f, rb_source *source, double values[MANY]) {
    rb_options *options;
    rb_modules *modules;
    if (strcmp(f->modules->rule, "test") != 0) {
        assert_ok(ctx, rb_unit_information(ctx, f->model, source, values));
        for (int64_t u = 0; u < rb_model_units(f->model); u++)
            values[u] = values[u] > 0 ? values[u] : -INFINITY;
        return;
    }
    assert_ok(ctx, rb_options_new(ctx, NULL, &options));
    assert_ok(ctx, rb_options_add(ctx, options, rb_modules_group()));
    options_add(options, "rule=test");
    assert_ok(ctx, rb_modules_find(ctx, f->model, source, options, &modules));
    for (int64_t u = 0; u < rb_model_units(f->model); u++)
        values[u] = -INFINITY;
    for (int64_t r = 0; r < rb_modules_count(modules); r++) {
        double *value = &values[rb_modules_get(modules, r)->unit];
        *value = fmax(*value, modules->notes[r].score);
    }
    rb_modules_free(modules);
    rb_options_free(options);
}

/* The statistic of each unit in null data, or in the data: scores, or shapes. */
static void null_values(const fitted *f, const rb_matrix *matrix, int64_t permutation, bool rotate,
                        double values[MANY]) {
    rb_matrix *null;
    rb_source *source;
    rb_rotation *rotation;
    assert_ok(ctx, rb_rotation_new(ctx, matrix, &rotation));
    assert_ok(ctx, rotate
                       ? rb_study_rotate(ctx, rotation, 1, permutation, &null)
                       : rb_study_permute(ctx, matrix, matrix->n_features, 1, permutation, &null));
    assert_ok(ctx, rb_source_from_matrix(ctx, null, &source));
    if (rotate)
        assert_ok(ctx, rb_unit_shapes(ctx, f->model, null, &no_blocks, values));
    else
        find_scores(f, source, values);
    rb_source_free(source);
    rb_rotation_free(rotation);
    rb_matrix_free(null);
}

/* The chance of each module by one null, among its living units. */
static void chances_by(const fitted *f, const rb_matrix *matrix, bool rotate, double *p) {
    double null[TIMES][MANY], data[MANY];
    for (int b = 0; b < TIMES; b++)
        null_values(f, matrix, b, rotate, null[b]);
    if (rotate)
        assert_ok(ctx, rb_unit_shapes(ctx, f->model, matrix, &no_blocks, data));
    else
        find_scores(f, f->source, data);
    for (int64_t r = 0; r < rb_modules_count(f->modules); r++) {
        double t = data[rb_modules_get(f->modules, r)->unit];
        p[r] = 1.0 / (1 + TIMES);
        for (int b = 0; b < TIMES; b++) {
            double alive = 0, larger = 0;
            for (int u = 0; u < MANY; u++) {
                alive += null[b][u] > -INFINITY;
                larger += null[b][u] >= t;
            }
            p[r] += (alive > 0 ? larger / alive : 0) / (1 + TIMES);
        }
    }
}

/* The larger of both chances, and Benjamini and Hochberg's over as many as live. */
static int64_t check_chances(rb_source *source) {
    fitted f = fit(source, "units=12");
    double p[MANY], rotated[MANY], fdr = 1;
    int64_t living = rb_modules_count(f.modules);
    assert_ok(ctx, permute(&f, "permutations=19 null=encode", NULL));
    chances_by(&f, rb_source_memory(source), false, p);
    chances_by(&f, rb_source_memory(source), true, rotated);
    for (int64_t r = 0; r < living; r++) {
        p[r] = fmax(p[r], rotated[r]);
        assert_close(get(f.modules, r).p, p[r], 1e-9);
    }
    rb_sort_numbers(p, living);
    for (int64_t r = living - 1; r >= 0; r--) {
        fdr = fmin(fdr, p[r] * (double)living / (double)(r + 1));
        for (int64_t of = 0; of < living; of++)
            if (fabs(get(f.modules, of).p - p[r]) < 1e-12)
                assert_true(get(f.modules, of).fdr <= fdr + 1e-9);
    }
    assert_close(get(f.modules, 0).fdr, fmax(get(f.modules, 0).fdr, fdr), 1e-9);
    clear(&f);
    rb_source_free(source);
    return living;
}

static void chances_are_of_living_units(void **state) {
    (void)state;
    assert_in_range(check_chances(planted(7)), 2, MANY - 3);
    /* Where just one unit of a null is as large, too. */
    assert_in_range(check_chances(noise(14)), 2, MANY);
}

/* Planted modules stay, and with them nothing of the noise; also where a unit may lie along one
 * sample alone, which is then as far from the others as can be. */
static void planted_modules_are_called(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        rb_source *source = seed < 3    ? planted(seed)
                            : seed == 3 ? planted_in(seed, 20 * M, 3)
                                        : mirrored(seed);
        fitted f = fit(source, "units=8");
        assert_ok(ctx, permute(&f, "permutations=19 significant=0.05", NULL));
        assert_in_range(rb_modules_count(f.modules), seed > 3 ? 2 : 3, seed > 3 ? 2 : 4);
        clear(&f);
        rb_source_free(source);
    }
}

/* Of 24 sets of noise about 1.2 have a call at 0.05, more than 5 with a chance of 0.001. ./run
 * significance does the same with 300. */
static void noise_is_not_called(void **state) {
    (void)state;
    int64_t calls = 0, modules = 0;
    for (uint64_t seed = 0; seed < 24; seed++) {
        rb_source *source = noise(100 + seed);
        fitted f = fit(source, "preset=paper units=4 iterations=20");
        modules += rb_modules_count(f.modules);
        assert_ok(ctx, permute(&f, "permutations=19 significant=0.05", NULL));
        calls += rb_modules_count(f.modules) > 0;
        clear(&f);
        rb_source_free(source);
    }
    assert_true(modules > 70); /* there was something to call */
    assert_in_range(calls, 0, 5);
}

/* By their rule: those left have what was asked for, and are the ones that had it before. */
static void only_significant_ones_stay(void **state) {
    (void)state;
    rb_source *source = planted(5);
    fitted f = fit(source, "preset=biclustering units=8 restarts=1 iterations=150");
    for (int by_fdr = 0; by_fdr < 2; by_fdr++) {
        int64_t expected = 0;
        find(&f);
        assert_ok(ctx, permute(&f, "permutations=19", NULL));
        for (int64_t r = 0; r < rb_modules_count(f.modules); r++) {
            rb_significance s = get(f.modules, r);
            expected += r < rb_modules_called(f.modules) && (by_fdr ? s.fdr : s.p_family) <= 0.1;
        }
        assert_in_range(expected, 1, 7);
        assert_ok(ctx, permute(&f,
                               by_fdr ? "permutations=19 significant=0.1 error-rate=fdr"
                                      : "permutations=19 significant=0.1",
                               NULL));
        assert_int_equal(rb_modules_count(f.modules), expected);
        assert_true(get(f.modules, expected - 1).p <= 0.1);
    }
    clear(&f);
    rb_source_free(source);
}

static void same_chances(const rb_modules *a, const rb_modules *b) {
    assert_int_equal(rb_modules_count(a), rb_modules_count(b));
    for (int64_t r = 0; r < rb_modules_count(a); r++) {
        rb_significance x = get(a, r), y = get(b, r);
        assert_memory_equal(&x, &y, sizeof x);
    }
}

/* Threads, a journal and parts change nothing; another seed does. */
static void same_bits(void **state) {
    (void)state;
    char folder[] = "/tmp/rarebit-permute-XXXXXX", text[256], command[64];
    bool complete;
    rb_source *source = noise(3);
    assert_non_null(mkdtemp(folder));
    fitted one = fit(source, paper), other = {source, one.model, NULL};
    assert_ok(ctx, permute(&one, "permutations=9", NULL));
    assert_ok(ctx, rb_context_set_threads(ctx, 3));
    find(&other);
    assert_ok(ctx, permute(&other, "permutations=9", &complete));
    assert_true(complete);
    same_chances(one.modules, other.modules);
    find(&other);
    snprintf(text, sizeof text, "permutations=9 checkpoint=%s/j part=2/2", folder);
    assert_ok(ctx, permute(&other, text, &complete));
    assert_false(complete);
    assert_false(rb_modules_significance(other.modules, 0, &(rb_significance){0}));
    snprintf(text, sizeof text, "permutations=9 checkpoint=%s/j", folder);
    assert_ok(ctx, permute(&other, text, &complete));
    assert_true(complete);
    same_chances(one.modules, other.modules);
    snprintf(text, sizeof text, "permutations=9 checkpoint=%s/j seed=2", folder);
    assert_int_equal(permute(&other, text, &complete), RB_ERROR_ARGUMENT); /* another journal's */
    assert_ok(ctx, permute(&other, "permutations=9 seed=2", NULL));
    double difference = 0;
    for (int64_t r = 0; r < rb_modules_count(one.modules); r++)
        difference += fabs(get(one.modules, r).p - get(other.modules, r).p);
    assert_true(difference > 0);
    assert_ok(ctx, rb_context_set_threads(ctx, 1));
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    rb_modules_free(other.modules);
    clear(&one);
    rb_source_free(source);
}

/* Samples that are counts: totals and logarithms are taken before values are permuted; compressed
 * rows say the same. */
static void sparse_counts(void **state) {
    (void)state;
    rb_draws draws = {.stream = {.seed = 8, .purpose = RB_RANDOM_SIMULATE}};
    static int64_t starts[N + 1];
    static int32_t columns[N * M];
    static float values[N * M], dense[N * M];
    for (int64_t i = 0; i < N; i++) {
        starts[i + 1] = starts[i];
        double depth = i % 2 ? 1 : 6;
        for (int64_t k = 0; k < M; k++) {
            bool in = i < 20 && k < 20;
            double count = floor(depth * (in ? 5 : 0.5) * -log(1 - rb_draw_uniform(&draws)));
            if (count == 0) continue;
            dense[i * M + k] = (float)count;
            columns[starts[i + 1]] = (int32_t)k;
            values[starts[i + 1]++] = (float)count;
        }
    }
    double of_dense[2][5];
    for (int sparse = 0; sparse < 2; sparse++) {
        rb_matrix *matrix;
        rb_source *source;
        assert_ok(ctx, sparse
                           ? rb_matrix_csr(ctx, RB_FLOAT32, N, M, starts, columns, values, &matrix)
                           : rb_matrix_dense(ctx, RB_FLOAT32, N, M, dense, M, 1, &matrix));
        assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
        fitted f = fit(source,
                       "preset=paper units=5 iterations=100 totals=100 log1p=true top-variance=60");
        assert_ok(ctx, permute(&f, "permutations=19 significant=0.05", NULL));
        assert_in_range(rb_modules_count(f.modules), 1, 2); /* not all five */
        for (int encode = 0; encode < 2; encode++) {
            find(&f);
            assert_ok(
                ctx, permute(&f, encode ? "permutations=19 null=encode" : "permutations=19", NULL));
            assert_true(get(f.modules, 0).p_family == 0.05);
            for (int64_t r = 0; r < rb_modules_count(f.modules); r++) {
                double p = get(f.modules, r).p_family;
                if (sparse) assert_true(p == of_dense[encode][r]);
                of_dense[encode][r] = p;
            }
        }
        clear(&f);
        rb_source_free(source);
        rb_matrix_free(matrix);
    }
}

static void note_gradients(rb_log_level level, const char *message, void *said) {
    (void)level;
    *(int64_t *)said += strstr(message, "need not be a group") != NULL;
}

/* Features that resemble their neighbours hold more information than permuted ones: none of them is
 * called, and before samples were rotated nearly every set had a call. */
static void correlated_features_are_not_called(void **state) {
    (void)state;
    int64_t calls = 0, informed = 0, gradients = 0, told = 0;
    for (uint64_t seed = 0; seed < 8; seed++) {
        rb_source *source = noise(200 + seed);
        float *values = values_of(source);
        for (int64_t i = 0; i < N * M; i++)
            values[i] = (float)(0.8 * values[i] + (i % M ? 0.6 * values[i - 1] : 0));
        fitted f = fit(source, "units=4");
        rb_context_on_log(ctx, note_gradients, &told);
        assert_ok(ctx, permute(&f, "permutations=19", NULL));
        rb_context_on_log(ctx, NULL, NULL);
        assert_non_null(strstr(rb_modules_tested(f.modules), "samples rotated"));
        for (int64_t r = 0, any = 0; r < rb_modules_count(f.modules) && !any; r++)
            calls += any = get(f.modules, r).p_family <= 0.05;
        bool gradient = false;
        for (int64_t r = 0; r < rb_modules_called(f.modules); r++)
            gradient |= get(f.modules, r).p_permuted <= 0.05 && get(f.modules, r).p_family > 0.05;
        gradients += gradient;
        double alone[MANY], largest = 0;
        find_scores(&f, source, alone);
        for (int b = 0; b < TIMES; b++) {
            double null[MANY] = {0};
            null_values(&f, rb_source_memory(source), b, false, null);
            for (int u = 0; u < 4; u++)
                largest = fmax(largest, null[u]);
        }
        informed += fmax(fmax(alone[0], alone[1]), fmax(alone[2], alone[3])) > largest;
        clear(&f);
        rb_source_free(source);
    }
    assert_in_range(gradients, 1, 8);
    assert_int_equal(told, gradients);
    assert_in_range(informed, 4, 8);
    assert_in_range(calls, 0, 2);
}

static void note_sparse(rb_log_level level, const char *message, void *said) {
    *(bool *)said |= level == RB_LOG_WARNING && strstr(message, "sparse and large");
}

/* Large sparse data stay sparse: features are permuted alone, which is said, and blocks refused. */
static void large_sparse_data_stay_sparse(void **state) {
    (void)state;
    enum { SAMPLES = 2002, FEATURES = 2002, EACH = 2 };
    static int64_t starts[SAMPLES + 1];
    static int32_t columns[EACH * SAMPLES];
    static float values[EACH * SAMPLES];
    rb_matrix *matrix, *folded = NULL;
    rb_source *source;
    for (int32_t i = 0; i < SAMPLES; i++) {
        columns[EACH * i] = i / 2;
        columns[EACH * i + 1] = FEATURES / 2 + i / 3;
        values[EACH * i] = values[EACH * i + 1] = (float)(1 + i % 5);
        starts[i + 1] = starts[i] + EACH;
    }
    assert_ok(ctx,
              rb_matrix_csr(ctx, RB_FLOAT32, SAMPLES, FEATURES, starts, columns, values, &matrix));
    assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
    fitted f = fit(source, "units=2 iterations=1");
    bool said = false;
    rb_context_on_log(ctx, note_sparse, &said);
    assert_ok(ctx, permute(&f, "permutations=1", NULL));
    rb_context_on_log(ctx, NULL, NULL);
    assert_true(said);
    assert_null(strstr(rb_modules_tested(f.modules), "rotated"));
    assert_int_equal(rb_blocks_fold(ctx, &(rb_blocks){0}, matrix, &folded), RB_ERROR_UNSUPPORTED);
    clear(&f);
    rb_source_free(source);
    rb_matrix_free(matrix);
}

static void note_neighbours(rb_log_level level, const char *message, void *said) {
    bool there = level == RB_LOG_WARNING && strstr(message, "samples next to each other");
    *(bool *)said |= there && strstr(message, "`blocks=COLUMN`");
}

/* Noise, as a dense or a sparse matrix, to which each sample may add the one before. */
static rb_source *in_order(bool alike, bool sparse) {
    static int64_t starts[N + 1];
    static int32_t columns[N * M];
    static float values[N * M];
    rb_matrix *matrix;
    rb_source *source = noise(17);
    memcpy(values, values_of(source), sizeof values);
    for (int64_t i = 0; i < N * M; i++) {
        values[i] += alike && i >= M ? values[i - M] : 0;
        columns[i] = (int32_t)(i % M);
        starts[i / M + 1] = i + 1;
    }
    rb_source_free(source);
    assert_ok(ctx, sparse ? rb_matrix_csr(ctx, RB_FLOAT32, N, M, starts, columns, values, &matrix)
                          : rb_matrix_dense(ctx, RB_FLOAT32, N, M, values, M, 1, &matrix));
    assert_ok(ctx, rb_source_own_matrix(ctx, matrix, &source));
    return source;
}

/* Neighbours that are alike are said, and noise is not taken for them. */
static void neighbours_are_seen(void **state) {
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        bool alike = kind % 2;
        rb_source *source = in_order(alike, kind >= 2);
        fitted f = fit(source, "units=2 iterations=1");
        bool said = false;
        find(&f);
        rb_context_on_log(ctx, note_neighbours, &said);
        assert_ok(ctx, permute(&f, "permutations=1", NULL));
        rb_context_on_log(ctx, NULL, NULL);
        assert_int_equal(said, alike);
        clear(&f);
        rb_source_free(source);
    }
}

static rb_error stop_at_seven(const rb_progress *progress, void *user) {
    (void)user;
    return progress->iteration < 7 ? RB_OK : RB_ERROR_INTERRUPTED;
}

/* Permutations that are done when the program asks to stop count; where they are too few for what
 * is to be significant, all modules stay. */
static void stopped_early(void **state) {
    (void)state;
    rb_source *source = planted(1);
    fitted f = fit(source, "preset=paper units=4 iterations=20");
    rb_significance seven[16];
    int64_t count = rb_modules_count(f.modules);
    bool complete;
    assert_ok(ctx, permute(&f, "permutations=7", NULL));
    for (int64_t r = 0; r < count; r++)
        seven[r] = get(f.modules, r);
    rb_context_on_progress(ctx, stop_at_seven, NULL);
    assert_ok(ctx, rb_context_set_threads(ctx, 1));
    for (int significant = 0; significant < 2; significant++) {
        rb_context_clear_stop(ctx);
        find(&f);
        assert_ok(ctx,
                  permute(&f, significant ? "permutations=30 significant=0.05" : "permutations=30",
                          &complete));
        assert_true(complete);
        assert_int_equal(rb_modules_permutations(f.modules), 7);
        assert_int_equal(rb_modules_count(f.modules), count);
        for (int64_t r = 0; r < count; r++) {
            rb_significance s = get(f.modules, r);
            assert_memory_equal(&s, &seven[r], sizeof s);
        }
    }
    rb_context_on_progress(ctx, NULL, NULL);
    assert_int_equal(permute(&f, "permutations=7", NULL), RB_ERROR_STOPPED); /* it stays */
    rb_context_clear_stop(ctx);
    clear(&f);
    rb_source_free(source);
}

static void refused(fitted *f, const char *options, rb_error expected, const char *says) {
    assert_error(ctx, permute(f, options, NULL), expected, says);
    assert_false(rb_modules_significance(f->modules, 0, &(rb_significance){0}));
}

static void what_is_refused(void **state) {
    (void)state;
    rb_source *source = noise(3), *other = noise(4);
    fitted f = fit(source, paper);
    refused(&f, "null=encode", RB_ERROR_ARGUMENT, "does nothing without `permutations`");
    refused(&f, "significant=0.05", RB_ERROR_ARGUMENT, "does nothing without `permutations`");
    refused(&f, "permutations=9 error-rate=fdr", RB_ERROR_ARGUMENT, "without `significant`");
    refused(&f, "permutations=9 part=1/2", RB_ERROR_ARGUMENT, "without `checkpoint`");
    refused(&f, "permutations=9 significant=0.05", RB_ERROR_ARGUMENT, "`permutations=19` or more");
    assert_ok(ctx, permute(&f, "permutations=0", NULL));
    f.source = other;
    find(&f);
    refused(&f, "permutations=9", RB_ERROR_ARGUMENT, "give `null=encode`");
    assert_ok(ctx, permute(&f, "permutations=9 null=encode", NULL));
    f.source = source;
    find(&f);
    assert_ok(ctx, rb_model_set_attribute(ctx, f.model, "prior-mean_checksum", "1"));
    refused(&f, "permutations=9", RB_ERROR_UNSUPPORTED, "`prior-mean` from a file");
    clear(&f);
    rb_source_free(other);
    rb_source_free(source);
}

/* Any allocation fails: an error, nothing leaks, and the modules are as before. */
static void out_of_memory(void **state) {
    (void)state;
    rb_source *source = noise(3);
    fitted f = fit(source, "preset=paper units=2 iterations=1");
    rb_options *options = significance("permutations=2 significant=0.5");
    rb_error err = RB_ERROR_MEMORY;
    for (int64_t left = 0; allow_allocations(ctx, left, err); left++) {
        err = rb_modules_permute(ctx, f.model, f.source, options, NULL, f.modules, NULL);
        assert_true(left < 2000);
        assert_true(err == RB_OK || !f.modules->significance);
    }
    rb_options_free(options);
    clear(&f);
    rb_source_free(source);
}

static int set_up(void **state) {
    (void)state;
    ctx = fixture_context();
    return rb_context_set_threads(ctx, 1);
}

static int tear_down(void **state) {
    (void)state;
    rb_context_free(ctx);
    return 0;
}

/* Of a consensus of restarts every permutation is one too, also where none of its units is stable:
 * planted units are called. One of models that were there before cannot be made again. */
static void makes_a_consensus_again(void **state) {
    (void)state;
    rb_source *source = planted(4);
    rb_options *options;
    fitted f = {.source = source};
    assert_ok(ctx, rb_options_new(ctx, "rfn", &options));
    assert_ok(ctx, rb_options_add(ctx, options, rb_consensus_group()));
    options_add(options, "units=6 restarts=3 iterations=40 preset=biclustering refit=3");
    assert_ok(ctx, rb_fit_consensus(ctx, options, source, &f.model));
    find(&f);
    assert_true(rb_modules_count(f.modules) >= 3);
    assert_ok(ctx, permute(&f, "permutations=19", NULL));
    for (int64_t r = 0; r < rb_modules_count(f.modules); r++) {
        rb_significance s;
        assert_true(rb_modules_significance(f.modules, r, &s));
        assert_true(r >= 3 || s.p_family < 0.051);
        assert_true(s.p <= s.p_family + 1e-12 && s.p >= 0.05 - 1e-12);
    }
    rb_options_free(options);
    const rb_model *twice[] = {f.model, f.model};
    fitted merged = {.source = source};
    assert_ok(ctx, rb_consensus(ctx, twice, 2, NULL, NULL, &merged.model));
    find(&merged);
    assert_int_equal(permute(&merged, "permutations=19", NULL), RB_ERROR_UNSUPPORTED);
    clear(&merged);
    clear(&f);
    rb_source_free(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_a_consensus_again),
        cmocka_unit_test(what_must_hold),
        cmocka_unit_test(few_permutations_are_warned_of),
        cmocka_unit_test(chances_are_of_living_units),
        cmocka_unit_test(planted_modules_are_called),
        cmocka_unit_test(noise_is_not_called),
        cmocka_unit_test(correlated_features_are_not_called),
        cmocka_unit_test(neighbours_are_seen),
        cmocka_unit_test(stopped_early),
        cmocka_unit_test(only_significant_ones_stay),
        cmocka_unit_test(same_bits),
        cmocka_unit_test(sparse_counts),
        cmocka_unit_test(large_sparse_data_stay_sparse),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
