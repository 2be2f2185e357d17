/* cmocka, and tests of which each has the same set-up and tear-down. */
#ifndef EACH_H
#define EACH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

/* Runs tests, each between these two, unless it has a set-up of its own. */
static inline int run_each(const struct CMUnitTest *tests, size_t count, CMFixtureFunction enter,
                           CMFixtureFunction leave) {
    struct CMUnitTest *each = malloc(count * sizeof *each);
    memcpy(each, tests, count * sizeof *each);
    for (size_t i = 0; i < count; i++) {
        if (!each[i].setup_func) {
            each[i].setup_func = enter;
            each[i].teardown_func = leave;
        }
    }
    int failed = _cmocka_run_group_tests("tests", each, count, NULL, NULL);
    free(each);
    return failed;
}

#endif
