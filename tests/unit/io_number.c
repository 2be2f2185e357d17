/* Text to numbers: always the float64 nearest to what is written, in every locale. */
#include "io/cells.h"
#include "io_test.h"

static void expect_number(const char *text) {
    double value = -7;
    const char *end = rb_number_scan(text, text + strlen(text), &value);
    double wanted = strtod(text, NULL);
    if (end != text + strlen(text) || memcmp(&value, &wanted, sizeof value) != 0)
        fail_msg("%s gives %.17g, not %.17g", text, value, wanted);
}

static void hard_cases_round_as_strtod(void **state) {
    (void)state;
    static const char *const texts[] = {"0",
                                        "-0",
                                        "0.0",
                                        "-0.000",
                                        "1",
                                        "+1",
                                        "007",
                                        ".5",
                                        "5.",
                                        "1e5",
                                        "1E+5",
                                        "1e-5",
                                        "1e22",
                                        "1e23",
                                        "1e-22",
                                        "1e-23",
                                        "9007199254740992",
                                        "9007199254740993",
                                        "9007199254740993.0",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "0.1",
                                        "0.30000000000000004",
                                        "179769313486231570000e289",
                                        "1.7976931348623159e308",
                                        "1e400",
                                        "-1e400",
                                        "1e-400",
                                        "4.9e-324",
                                        "2.4703282292062327e-324",
                                        "2.2250738585072011e-308",
                                        "1e99999999999999999999",
                                        "0e99999999999999999999",
                                        "0.000000000000000000000000000000000000001e39",
                                        "123456789012345678901234567890",
                                        "3.14159265358979323846264338327950288",
                                        "100000000000000000000000000000000000000000000000000"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        expect_number(texts[i]);
}

static void random_numbers_round_as_strtod(void **state) {
    (void)state;
    rb_draws draws = {{1, RB_RANDOM_SIMULATE, 0}, 0};
    for (int i = 0; i < 100000; i++) {
        char text[64];
        int digits = (int)rb_draw_integer(&draws, 1, 20);
        int power = (int)rb_draw_integer(&draws, -30, 30);
        snprintf(text, sizeof text, i % 2 ? "%.*g" : "%.*e", digits,
                 rb_draw_normal(&draws) * pow(10, power));
        expect_number(text);
    }
}

static void what_is_no_number_is_not_taken(void **state) {
    (void)state;
    static const char *const texts[] = {"", "-", "+", ".", "-.", "e5", "x", "--1", "inf", "nan"};
    double value;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_null(rb_number_scan(texts[i], texts[i] + strlen(texts[i]), &value));
    const char *text = "1e+x"; /* the number ends before its broken exponent */
    assert_ptr_equal(rb_number_scan(text, text + 4, &value), text + 1);
    text = "0x10";
    assert_ptr_equal(rb_number_scan(text, text + 4, &value), text + 1);
}

static void the_end_is_the_end(void **state) {
    (void)state;
    double value;
    const char *text = "12345e6";
    assert_ptr_equal(rb_number_scan(text, text + 3, &value), text + 3);
    assert_true(value == 123);
}

static void cells_are_told_apart(void **state) {
    (void)state;
    static const struct {
        const char *text;
        rb_cell cell;
    } cases[] = {{"1", RB_CELL_NUMBER},      {" 1.5\t", RB_CELL_NUMBER},  {"", RB_CELL_MISSING},
                 {"  ", RB_CELL_MISSING},    {"NA", RB_CELL_MISSING},     {"na", RB_CELL_MISSING},
                 {"NaN", RB_CELL_MISSING},   {"-nan", RB_CELL_MISSING},   {"null", RB_CELL_MISSING},
                 {"?", RB_CELL_MISSING},     {"N/A", RB_CELL_MISSING},    {"inf", RB_CELL_INFINITE},
                 {"-Inf", RB_CELL_INFINITE}, {"1e999", RB_CELL_INFINITE}, {"NAN1", RB_CELL_TEXT},
                 {"1,5", RB_CELL_TEXT},      {"1 2", RB_CELL_TEXT},       {"0x1", RB_CELL_TEXT},
                 {"one", RB_CELL_TEXT},      {"-", RB_CELL_TEXT},         {"1-", RB_CELL_TEXT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = -7;
        rb_cell cell = rb_cell_read(NULL, cases[i].text, (int64_t)strlen(cases[i].text), &value);
        if (cell != cases[i].cell || (cell == RB_CELL_MISSING && !isnan(value)))
            fail_msg("'%s' is taken for %d", cases[i].text, cell);
    }
}

static void long_texts_are_cut_between_characters(void **state) {
    (void)state;
    char shown[RB_SHOWN];
    assert_string_equal(rb_show("a\tb\x01", 4, shown), "a?b?");
    char text[201];
    for (int i = 0; i < 200; i += 2)
        memcpy(text + i, "\xC3\xA4", 2);
    text[200] = '\0';
    rb_show(text, 200, shown);
    size_t length = strlen(shown);
    assert_true(length > 40 && length < RB_SHOWN && (length - 3) % 2 == 0);
    assert_string_equal(shown + length - 3, "...");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hard_cases_round_as_strtod),
        cmocka_unit_test(random_numbers_round_as_strtod),
        cmocka_unit_test(what_is_no_number_is_not_taken),
        cmocka_unit_test(the_end_is_the_end),
        cmocka_unit_test(cells_are_told_apart),
        cmocka_unit_test(long_texts_are_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
