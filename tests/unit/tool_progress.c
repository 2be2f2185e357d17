/* The tool tells how far a fit is: at a terminal all the time, in a file once a minute. */
#include "fixture.h"
#include "tool/progress.h"

#include <string.h>

static rb_progress after(double elapsed, int64_t iteration) {
    return (rb_progress){.what = "iteration",
                         .iteration = iteration,
                         .iterations = 1000,
                         .objective = 229.125,
                         .elapsed = elapsed,
                         .remaining = elapsed / (double)iteration * (double)(1000 - iteration)};
}

/* Iterations of so many seconds until all are done: how many lines come? */
static int count_lines(progress_clock clock, double seconds) {
    int lines = 0;
    for (int64_t t = 1; t <= 1000; t++) {
        rb_progress p = after(seconds * (double)t, t);
        lines += progress_due(&clock, &p);
    }
    return lines;
}

static void test_file(void **state) {
    (void)state;
    assert_int_equal(count_lines(progress_clock_of(false), 0.05), 0); /* done in 50 s */
    assert_int_equal(count_lines(progress_clock_of(false), 0.5), 8);  /* 500 s */
    assert_int_equal(count_lines(progress_clock_of(false), 100), 1000);
    assert_int_equal(count_lines((progress_clock){.interval = 2}, 0.5), 250);
}

static void test_terminal(void **state) {
    (void)state;
    assert_int_equal(count_lines(progress_clock_of(true), 1e-9), 2); /* the first and the last */
    assert_int_equal(count_lines(progress_clock_of(true), 0.25), 1000);
}

/* The clock of a fit that is done does not keep the next one silent. */
static void test_next_fit(void **state) {
    (void)state;
    progress_clock file = progress_clock_of(false), terminal = progress_clock_of(true);
    rb_progress late = after(600, 900), early = after(1, 1), minute = after(61, 2);
    assert_true(progress_due(&file, &late));
    assert_false(progress_due(&file, &early));
    assert_true(progress_due(&file, &minute));
    assert_true(progress_due(&terminal, &late));
    assert_true(progress_due(&terminal, &early));
}

static void test_text(void **state) {
    (void)state;
    char text[256];
    rb_progress p = after(100, 50);
    progress_text(&p, text, sizeof text);
    assert_string_equal(
        text, "iteration 50 of 1000   objective 229.125   0.5 a second   31 min 40 s left");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_terminal),
        cmocka_unit_test(test_next_fit),
        cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
