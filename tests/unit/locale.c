/* A program in a locale with decimal commas: every text that is read or written has points. */
#include "et/fit.h"
#include "fixture.h"
#include "skip.h"
#include <rarebit/io.h>

#include "modules/modules.h"
#include "plot/plot.h"

#include <locale.h>
#include <stdio.h>
#include <unistd.h>

enum { N = 20, M = 4 };

static char folder[] = "/tmp/rarebit-locale-XXXXXX";

/* Builds de_DE.UTF-8 where the system has none; false when that cannot be done either. */
static bool take_comma_locale(void) {
    if (setlocale(LC_ALL, "de_DE.UTF-8")) return true;
    char command[256];
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >%s/log 2>&1",
             folder, folder);
    if (system(command) == -1) return false;
    setenv("LOCPATH", folder, 1);
    return setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
}

static int setup(void **state) {
    (void)state;
    assert_non_null(mkdtemp(folder));
    if (!take_comma_locale()) return 0;
    char text[16];
    snprintf(text, sizeof text, "%.1f", 0.5);
    assert_string_equal(text, "0,5");
    return 0;
}

static int teardown(void **state) {
    (void)state;
    setlocale(LC_ALL, "C");
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static void need_comma(void) {
    if (*localeconv()->decimal_point != ',')
        skip_without("no locale with decimal commas", "locales");
}

static void options_have_points(void **state) {
    (void)state;
    need_comma();
    rb_context *ctx = fixture_context();
    rb_rfn_options o;
    char text[128];
    rb_rfn_options_default(&o);
    assert_true(o.eta == 0.5 && o.sparse_loadings == 1.5);
    const rb_option *rows = rfn_option_rows;
    assert_ok(ctx, rb_rows_set(ctx, rows, &o, "eta", "2.5e-1"));
    assert_true(o.eta == 0.25);
    assert_int_equal(rb_rows_set(ctx, rows, &o, "eta", "0,5"), RB_ERROR_ARGUMENT);
    assert_int_equal(rb_rows_set(ctx, rows, &o, "eta", "1.5"), RB_ERROR_ARGUMENT);
    o.eta = 0.1 + 0.2;
    fixture_row(rb_rows_find(rows, "eta"), &o, text, sizeof text);
    assert_string_equal(text, "0.30000000000000004");
    o.eta = 1.5;
    assert_error(ctx, rb_rows_check(ctx, rows, &o), RB_ERROR_ARGUMENT, "`eta` is '1.5'");
    rb_option half = {.name = "half", .kind = RB_OPTION_NUMBER, .minimum = 0.5, .maximum = 1.25};
    rb_options_range(&half, text, sizeof text);
    assert_string_equal(text, "a number of at least 0.5 and at most 1.25");
    rb_context_free(ctx);
}

static void words_inside_options_have_points(void **state) {
    (void)state;
    need_comma();
    rb_context *ctx = fixture_context();
    rb_rule rule;
    assert_ok(ctx, rb_rule_parse(ctx, "mass:0.75", &rule));
    assert_true(rule.share == 0.75);
    et_schedule schedule = {.end = 1};
    assert_ok(ctx, et_schedule_parse(ctx, "13.5:1.25", &schedule));
    assert_true(schedule.start == 13.5 && schedule.end == 1.25);
    double value;
    const char *text = "1.2345678901234567890123", *end = text + strlen(text);
    assert_ptr_equal(rb_number_scan(text, end, &value), end);
    assert_true(value == strtod("1,2345678901234567890123", NULL));
    rb_context_free(ctx);
}

static void sentences_and_pictures_have_points(void **state) {
    (void)state;
    need_comma();
    rb_context *ctx = fixture_context();
    char text[32];
    (void)rb_fail(ctx, RB_ERROR_DATA, "%.3g is too large", 1.5);
    rb_fail_prefix(ctx, "%.1f: ", 0.5);
    assert_string_equal(rb_context_error(ctx), "0.5: 1.5 is too large");
    rb_ticks ticks = rb_ticks_choose(0, 1, 6, false);
    rb_tick_text(&ticks, 1, text, sizeof text);
    assert_string_equal(text, "0.2");
    rb_context_free(ctx);
}

/* All of a file, up to the size of the buffer. */
static void slurp(const char *path, char *text, size_t size) {
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

/* What is written is the same bytes as in the "C" locale: a table, a model's options, modules. */
static void files_have_points(void **state) {
    (void)state;
    need_comma();
    rb_context *ctx = fixture_context();
    double *values = fixture_values(N, M, 2, 1);
    values[0] = 0.1 + 0.2;
    rb_source *source = fixture_data(ctx, values, N, M), *back;
    char path[64], text[4096];
    snprintf(path, sizeof path, "%s/x.tsv", folder);
    assert_ok(ctx, rb_write(ctx, source, path));
    assert_ok(ctx, rb_open(ctx, path, NULL, &back));
    double first;
    rb_matrix view;
    assert_ok(ctx, back->read(back, ctx, 0, 1, &view));
    first = rb_matrix_at(&view, 0, 0);
    assert_true(first == values[0]);
    rb_source_free(back);

    rb_rfn_options rfn = fixture_rfn(2, RB_RFN_NORMALIZE_RMS);
    rb_fit_options fit = fixture_fit(10, RB_FLOAT64);
    rb_model *model = fixture_model(ctx, "rfn", &rfn, &fit, NULL, source, NULL);
    assert_string_equal(rb_model_attribute(model, "eta"), "0.5");
    rb_modules *modules;
    rb_modules_options options;
    fixture_default(rb_modules_group(), &options);
    assert_ok(ctx, rb_modules_find(ctx, model, source, fixture_of(rb_modules_group(), &options),
                                   &modules));
    assert_true(rb_modules_count(modules) > 0);
    static const rb_modules_format formats[] = {RB_MODULES_TSV, RB_MODULES_GMT};
    for (int f = 0; f < 2; f++) {
        snprintf(path, sizeof path, "%s/modules", folder);
        assert_ok(ctx, rb_modules_write(ctx, modules, model, source, formats[f], path));
        slurp(path, text, sizeof text);
        const char *comma = strchr(text, ',');
        assert_true(strchr(text, '.') != NULL);
        /* The one comma of a gene set stands before a blank: "unit 0, information 1.5". */
        while (comma) {
            assert_true(comma[1] == ' ');
            comma = strchr(comma + 1, ',');
        }
    }
    rb_modules_free(modules);
    rb_model_free(model);
    rb_source_free(source);
    free(values);
    rb_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_have_points),
        cmocka_unit_test(words_inside_options_have_points),
        cmocka_unit_test(sentences_and_pictures_have_points),
        cmocka_unit_test(files_have_points),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
