/* A document of a model on data: what it says is what its parts say by themselves, and the samples
 * are encoded once for all of it. */
#include "context.h"

#include <rarebit/document.h>
#include <rarebit/significance.h>
#include <rarebit/view.h>

enum { N = 90, MOST = 120, UNITS = 4 };

static int64_t encoded, samples_read; /* so many samples */
static const rb_method *method;
static double values[N * MOST];
static int64_t features;

static rb_error count_encode(rb_context *context, void *own, const rb_block *block, void *codes) {
    encoded += block->n_samples;
    return method->encode(context, own, block, codes);
}

static rb_error give(void *user, int64_t first, int64_t count, void *rows) {
    (void)user;
    samples_read += count;
    memcpy(rows, values + first * features, (size_t)count * (size_t)features * sizeof *values);
    return RB_OK;
}

static rb_source *make(int64_t m) {
    rb_draws draws = {{5, RB_RANDOM_SIMULATE, 2}, 0};
    rb_source *source;
    features = m;
    for (int64_t i = 0; i < N; i++)
        for (int64_t k = 0; k < m; k++)
            values[i * m + k] = rb_draw_normal(&draws) + (i < 30 && k < 12 ? 3 : 0) -
                                (i % 3 == 0 && k % 4 == 0 ? 3 : 0);
    assert_ok(ctx, rb_source_from_callback(ctx, RB_FLOAT64, N, m, give, NULL, &source));
    return source;
}

/* A model whose method counts what it encodes. */
static rb_model *fit(rb_source *source, rb_method *counting) {
    rb_model *model = fixture_text_model(ctx, "pca", source, NULL, "units=4");
    method = model->method;
    *counting = *method;
    counting->encode = count_encode;
    model->method = counting;
    return model;
}

static rb_covariates *make_labels(void) {
    const char *groups[N];
    rb_covariates *labels;
    for (int64_t i = 0; i < N; i++)
        groups[i] = i < 30 ? "first" : i % 2 ? "odd" : "";
    assert_ok(ctx, rb_covariates_new(ctx, N, &labels));
    assert_ok(ctx, rb_covariates_add_groups(ctx, labels, "class", groups));
    return labels;
}

static rb_covariates *make_covariates(void) {
    double age[N];
    rb_covariates *table;
    for (int64_t i = 0; i < N; i++)
        age[i] = i % 7 ? (double)(i * 29 % 31) : NAN;
    assert_ok(ctx, rb_covariates_new(ctx, N, &table));
    assert_ok(ctx, rb_covariates_add_numbers(ctx, table, "age", age));
    return table;
}

/* What a document is made of. */
struct stage {
    rb_source *source;
    rb_method counting;
    rb_model *model;
    rb_covariates *labels, *covariates;
};

static void begin(struct stage *s, int64_t m) {
    s->source = make(m);
    s->model = fit(s->source, &s->counting);
    s->labels = make_labels();
    s->covariates = make_covariates();
}

static void end(struct stage *s) {
    rb_covariates_free(s->labels);
    rb_covariates_free(s->covariates);
    s->model->method = method;
    rb_model_free(s->model);
    rb_source_free(s->source);
}

static rb_document document_of(const struct stage *s) {
    return (rb_document){.size = sizeof(rb_document),
                         .model = s->model,
                         .source = s->source,
                         .labels = s->labels,
                         .covariates = s->covariates};
}

static void same_members(const rb_member *a, const rb_member *b, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        assert_int_equal(a[i].index, b[i].index);
        assert_true(a[i].weight == b[i].weight);
    }
}

static void same_modules(const rb_modules *a, const rb_modules *b) {
    assert_int_equal(rb_modules_count(a), rb_modules_count(b));
    assert_string_equal(rb_modules_rule(a), rb_modules_rule(b));
    for (int64_t r = 0; r < rb_modules_count(a); r++) {
        const rb_module *x = rb_modules_get(a, r), *y = rb_modules_get(b, r);
        assert_true(x->information == y->information);
        assert_true(rb_modules_score(a, r) == rb_modules_score(b, r));
        assert_int_equal(x->n_samples, y->n_samples);
        assert_int_equal(x->n_features, y->n_features);
        same_members(x->samples, y->samples, x->n_samples);
        same_members(x->features, y->features, x->n_features);
    }
}

/* With 24 features the rule is fabia, with 120 test, which goes through the samples twice. */
static void samples_are_encoded_once(void **state) {
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        struct stage s;
        begin(&s, wide ? MOST : 24);
        rb_document d = document_of(&s);
        d.with_codes = true;
        encoded = samples_read = 0;
        assert_ok(ctx, rb_document_make(ctx, &d));
        assert_true(d.complete);
        assert_string_equal(rb_modules_rule(d.modules), wide ? "test" : "fabia");
        assert_int_equal(encoded, N);
        assert_int_equal(samples_read, wide ? 2 * N : N);
        assert_int_equal(rb_matrix_samples(d.codes), N);
        assert_int_equal(rb_matrix_features(d.codes), UNITS);
        rb_document_clear(&d);
        d.labels = d.covariates = NULL;
        d.with_codes = false;
        for (int only = 0; only < 2; only++) { /* the metrics take the codes of the same pass */
            d.with_metrics = true;
            d.only_metrics = only;
            encoded = 0;
            assert_ok(ctx, rb_document_make(ctx, &d));
            assert_int_equal(encoded, N);
            rb_document_clear(&d);
        }
        rb_document_clear(&d);
        encoded = 0;
        rb_modules *modules;
        assert_ok(ctx, rb_modules_find(ctx, s.model, s.source, NULL, &modules));
        assert_int_equal(encoded, N);
        rb_modules_free(modules);
        end(&s);
    }
}

static void parts_are_what_they_are_alone(void **state) {
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        struct stage s;
        begin(&s, wide ? MOST : 24);
        rb_document d = document_of(&s);
        d.with_codes = true;
        rb_modules *modules;
        assert_ok(ctx, rb_document_make(ctx, &d));
        assert_ok(ctx, rb_modules_find(ctx, s.model, s.source, NULL, &modules));
        same_modules(d.modules, modules);
        double *codes = fixture_codes(ctx, s.model, s.source);
        for (int64_t i = 0; i < N; i++)
            for (int64_t u = 0; u < UNITS; u++)
                assert_true(rb_matrix_at(d.codes, i, u) == codes[i * UNITS + u]);
        rb_group_aucs aucs = {.size = sizeof aucs};
        rb_covariate_tests tests = {.size = sizeof tests};
        assert_ok(ctx, rb_covariates_auc(ctx, s.labels, 0, d.codes, &aucs));
        assert_ok(ctx, rb_covariates_test(ctx, s.covariates, d.codes, &tests));
        assert_int_equal(d.aucs.n_groups, 2);
        for (int64_t r = 0; r < aucs.n_groups * aucs.n_units; r++)
            assert_true(d.aucs.rows[r].auc == aucs.rows[r].auc);
        for (int64_t r = 0; r < tests.n_rows; r++)
            assert_true(d.covariate_tests.rows[r].p_value == tests.rows[r].p_value);
        rb_group_aucs_clear(&aucs);
        rb_covariate_tests_clear(&tests);
        free(codes);
        rb_modules_free(modules);
        rb_document_clear(&d);
        end(&s);
    }
}

/* Every table has the rows of its part, and each value is of the kind of its column or none. */
static void tables_have_what_they_say(void **state) {
    (void)state;
    struct stage s;
    begin(&s, 30);
    rb_document d = document_of(&s);
    assert_ok(ctx, rb_document_make(ctx, &d));
    const int64_t modules = rb_modules_count(d.modules);
    const int64_t rows[] = {modules, modules, 2, 2 * UNITS, 0, UNITS};
    for (int part = 0; part < 6; part++) {
        const rb_table table = rb_document_table(&d, (rb_document_part)part);
        assert_int_equal(table.n_rows, rows[part]);
        for (const rb_table_column *c = table.columns; c->key; c++) {
            assert_non_null(c->title);
            assert_non_null(c->meaning);
            for (const rb_table_column *other = table.columns; other < c; other++)
                assert_string_not_equal(other->key, c->key);
            for (int64_t r = 0; r < table.n_rows; r++) {
                rb_value v = rb_table_value(&table, r, c);
                assert_true(v.kind == RB_VALUE_NONE || v.kind == c->kind);
            }
        }
        assert_null(rb_table_find(&table, "nothing"));
    }
    const rb_table first = rb_document_table(&d, RB_DOCUMENT_MODULES);
    assert_null(rb_table_find(&first, "p_family"));
    assert_true(rb_table_value(&first, 0, rb_table_find(&first, "information")).number ==
                rb_modules_get(d.modules, 0)->information);
    rb_document_clear(&d);
    end(&s);
}

/* Members first, then samples outside of the module; values are those of a view. */
static void maps_show_their_modules(void **state) {
    (void)state;
    const rb_map_size most = {.members = 7, .others = 5, .features = 6};
    struct stage s;
    begin(&s, 30);
    rb_modules *modules;
    rb_module_map *maps;
    assert_ok(ctx, rb_modules_find(ctx, s.model, s.source, NULL, &modules));
    samples_read = 0;
    assert_ok(ctx, rb_module_maps(ctx, s.model, s.source, modules, &most, &maps));
    assert_int_equal(samples_read, N); /* for all of them */
    for (int64_t r = 0; r < rb_modules_count(modules); r++) {
        const rb_module *m = rb_modules_get(modules, r);
        const rb_module_map *map = &maps[r];
        assert_int_equal(map->n_members, m->n_samples < 7 ? m->n_samples : 7);
        assert_int_equal(map->n_samples, map->n_members + 5);
        assert_int_equal(map->n_features, m->n_features < 6 ? m->n_features : 6);
        for (int64_t i = 0; i < map->n_samples; i++) {
            bool member = false;
            for (int64_t d = 0; d < m->n_samples; d++)
                member |= m->samples[d].index == map->samples[i];
            assert_int_equal(member, i < map->n_members);
            for (int64_t k = 0; k < map->n_features; k++) {
                float value;
                rb_view view = {sizeof view, &map->samples[i], &map->features[k], 1, 1, &value};
                assert_ok(ctx, rb_view_fill(ctx, s.model, s.source, &view));
                assert_true(map->values[k * map->n_samples + i] == value);
            }
        }
    }
    rb_module_maps_free(maps, rb_modules_count(modules));
    rb_modules_free(modules);
    end(&s);
}

static void no_memory(void **state) {
    (void)state;
    struct stage s;
    begin(&s, 30);
    const rb_map_size most = {.members = 3, .others = 2, .features = 2};
    rb_error err = RB_ERROR_MEMORY;
    for (int64_t n = 0; err; n++) {
        rb_document d = document_of(&s);
        d.with_codes = true;
        d.with_metrics = true;
        rb_module_map *maps;
        ctx->allocations_left = n;
        err = rb_document_make(ctx, &d);
        assert_true(err == RB_OK || d.modules == NULL);
        if (!err) {
            int64_t count = rb_modules_count(d.modules);
            err = rb_module_maps(ctx, s.model, s.source, d.modules, &most, &maps);
            if (!err) rb_module_maps_free(maps, count);
        }
        ctx->allocations_left = -1;
        assert_true(err == RB_OK || err == RB_ERROR_MEMORY);
        rb_document_clear(&d);
    }
    end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_encoded_once),
        cmocka_unit_test(parts_are_what_they_are_alone),
        cmocka_unit_test(tables_have_what_they_say),
        cmocka_unit_test(maps_show_their_modules),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
