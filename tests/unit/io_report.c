/* Reports: a page that appears whole, with what it is told and each message once; what it refuses;
 * JSON of any bytes. */
#include "io_test.h"

#include <rarebit/fit.h>
#include <rarebit/report.h>
#include <rarebit/simulate.h>

#include <jansson.h>

static int enter_with_methods(void **state) {
    int failed = enter(state);
    rb_context_free(ctx);
    return failed || rb_context_new(&ctx);
}

static void ok(rb_error err) {
    if (err) fail_msg("%s", rb_context_error(ctx));
}

/* A document of planted modules. */
static void make(rb_matrix **matrix, rb_source **source, rb_model **model, rb_document *d) {
    rb_options *options;
    ok(rb_options_new(ctx, "rfn", &options));
    ok(rb_options_set_all(ctx, options, "units=3 iterations=5 seed=1"));
    ok(rb_simulate_biclusters(ctx, NULL, matrix, NULL));
    ok(rb_source_from_matrix(ctx, *matrix, source));
    ok(rb_fit(ctx, options, *source, NULL, model));
    rb_options_free(options);
    d->model = *model;
    d->source = *source;
    ok(rb_document_make(ctx, d));
}

static char *read_page(const char *path) {
    static char text[1 << 22];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static int count(const char *text, const char *what) {
    int n = 0;
    for (const char *at = text; (at = strstr(at, what)); at++)
        n++;
    return n;
}

static void a_page_has_what_it_is_told(void **state) {
    (void)state;
    static const char *const warnings[] = {"a < b", "twice", "twice", NULL};
    rb_matrix *matrix;
    rb_source *source;
    rb_model *model;
    rb_document d = {.size = sizeof d, .with_codes = true, .with_metrics = true};
    rb_report r = {.size = sizeof r, .title = "Planted", .data = "x.npy", .warnings = warnings};
    make(&matrix, &source, &model, &d);
    ok(rb_report_write(ctx, &d, &r, "page.html"));
    const char *page = read_page("page.html");
    assert_int_equal(strncmp(page, "<!doctype html>", 15), 0);
    assert_int_equal(count(page, "\"title\":\"Planted\""), 1);
    assert_int_equal(count(page, "\"file\":\"x.npy\""), 1);
    assert_int_equal(count(page, "\"file\":\"model\""), 1); /* it has no name */
    assert_int_equal(count(page, "\"warnings\":[\"a \\u003c b\",\"twice\"]"), 1);
    r.size--;
    assert_int_equal(rb_report_write(ctx, &d, &r, "other.html"), RB_ERROR_ARGUMENT);
    r.size++;
    r.selection = "none.tsv";
    assert_int_equal(rb_report_write(ctx, &d, &r, "other.html"), RB_ERROR_FILE);
    r.selection = NULL;
    rb_document_clear(&d);
    d.with_codes = false;
    ok(rb_document_make(ctx, &d));
    assert_error(ctx, rb_report_write(ctx, &d, &r, "other.html"), RB_ERROR_ARGUMENT, "no codes");
    unlink("page.html");
    assert_int_equal(files_here(), 0);
    rb_document_clear(&d);
    rb_model_free(model);
    rb_source_free(source);
    rb_matrix_free(matrix);
}

static void texts_are_utf_8_and_numbers_finite(void **state) {
    (void)state;
    json_t *list = json_array();
    rb_json_add(&list, NULL, rb_json_text("a\xffz"));
    rb_json_add(&list, NULL, rb_json_text(NULL));
    rb_json_add(&list, NULL, rb_json_number(NAN));
    rb_json_add(&list, NULL, rb_json_number(3));
    rb_json_add(&list, NULL, rb_json_rounded(1.0 / 3, 2));
    char *text = json_dumps(list, JSON_COMPACT);
    assert_string_equal(text, "[\"a\xef\xbf\xbdz\",null,null,3,0.33000000000000002]");
    free(text);
    rb_json_add(&list, NULL, NULL); /* what cannot be added frees what it is added to */
    assert_null(list);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_page_has_what_it_is_told, enter_with_methods, leave),
        cmocka_unit_test_setup_teardown(texts_are_utf_8_and_numbers_finite, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
