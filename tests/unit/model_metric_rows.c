/* What people are told of metrics: each once, and a method from outside brings its own. */
#include "fixture.h"

#include <rarebit/method.h>

static const rb_metric_row *find(const rb_context *ctx, const char *name, int *times) {
    const rb_metric_row *row, *found = NULL;
    *times = 0;
    for (int64_t i = 0; (row = rb_metric_row_of(ctx, i)); i++) {
        if (strcmp(row->name, name) != 0) continue;
        found = row;
        ++*times;
    }
    return found;
}

static void each_is_told_of_once(void **state) {
    rb_context *ctx = *state;
    const rb_metric_row *row;
    int times;
    for (int64_t i = 0; (row = rb_metric_row_of(ctx, i)); i++) {
        assert_ptr_equal(find(ctx, row->name, &times), row);
        assert_int_equal(times, 1);
    }
    assert_true(find(ctx, "kkt_residual", &times)->detail);
    assert_string_equal(find(ctx, "quality", &times)->label, "quality");
    assert_null(find(ctx, "none", &times));
}

static void a_method_brings_its_own(void **state) {
    static const rb_metric_row rows[] = {{"own_figure", "own figure", "of its own", false}, {0}};
    rb_context *ctx = *state;
    rb_method own = *rb_context_method(ctx, 0);
    int times;
    assert_null(find(ctx, "own_figure", &times));
    own.name = "own";
    own.metric_rows = rows;
    assert_ok(ctx, rb_context_add_method(ctx, &own));
    assert_string_equal(find(ctx, "own_figure", &times)->label, "own figure");
    own.size = offsetof(rb_method, metric_rows); /* of an earlier version */
    assert_null(find(ctx, "own_figure", &times));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_told_of_once),
        cmocka_unit_test(a_method_brings_its_own),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
