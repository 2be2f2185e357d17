/* Values of tables stand where their columns say, row by row. */
#include "fixture.h"

#include <rarebit/replication.h>
#include <rarebit/table.h>

typedef struct line {
    int64_t place;
    double share, p, log10_p;
} line;

static const rb_table_column columns[] = {
    {"place", "place", NULL, "", RB_VALUE_INTEGER, offsetof(line, place)},
    {"share", "share", NULL, "", RB_VALUE_SHARE, offsetof(line, share), .optional = true},
    {"p", "p", NULL, "", RB_VALUE_CHANCE, offsetof(line, p)},
    {0}};

static void values_stand_in_their_rows(void **state) {
    (void)state;
    const line lines[] = {{4, 0.5, 1e-3, -3}, {-1, NAN, 0, -400}, {0, 0, 1, 0}};
    const rb_table table = {"lines", columns, 3, lines, sizeof *lines, NULL};
    for (int64_t r = 0; r < 3; r++) {
        rb_value place = rb_table_value(&table, r, rb_table_find(&table, "place"));
        rb_value share = rb_table_value(&table, r, rb_table_find(&table, "share"));
        rb_value p = rb_table_value(&table, r, rb_table_find(&table, "p"));
        assert_int_equal(place.kind, r == 1 ? RB_VALUE_NONE : RB_VALUE_INTEGER);
        assert_int_equal(share.kind, r == 1 ? RB_VALUE_NONE : RB_VALUE_SHARE);
        assert_int_equal(place.integer, lines[r].place);
        assert_true(r == 1 || share.number == lines[r].share);
        assert_true(p.number == lines[r].p && p.log10 == lines[r].log10_p);
    }
    const rb_table late = {"lines", columns, 2, lines + 1, sizeof *lines, NULL};
    assert_null(rb_table_find(&late, "share")); /* the first row has none */
    assert_null(rb_table_find(&table, "q"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_stand_in_their_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
