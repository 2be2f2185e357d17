/* A test of cmocka that cannot run here, as tests/lib/skip.sh has it for scripts. */
#ifndef RAREBIT_TESTS_SKIP_H
#define RAREBIT_TESTS_SKIP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Skips the test; needs: packages of Debian, or "". Where CI=true the test fails. */
static inline void skip_without(const char *reason, const char *needs) {
    const char *ci = getenv("CI");
    printf("skipped: %s%s%s\n", reason, *needs ? "; needs: " : "", needs);
    if (ci && strcmp(ci, "true") == 0) fail_msg("where CI=true nothing may be skipped");
    skip();
}

#endif
