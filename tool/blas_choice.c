/* OpenBLAS reads OPENBLAS_CORETYPE when it is loaded, so the choice takes a new start of the
 * program. Debian 12's knows no AMD processor after Zen 2 and runs at half their speed. */
#include "blas_choice.h"
#include "own_path.h"

#include <rarebit/version.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

const char *blas_kernels_refused(void) {
    const char *wanted = getenv("RAREBIT_BLAS_CORE");
    bool taken = !wanted || !*wanted || strcasecmp(rb_build_info(NULL, "blas_core"), wanted) == 0;
    return taken ? NULL : wanted;
}

void choose_blas_kernels(char **argv) {
    const char *wanted = getenv("RAREBIT_BLAS_CORE");
    const char *core = wanted ? wanted : rb_build_info(NULL, "blas_advice");
    const char *set = getenv("OPENBLAS_CORETYPE");
    /* What this start has already set ends a second one here, whatever the BLAS made of it. */
    if (core[0] == '\0' || (set && strcmp(set, core) == 0)) return;
    /* The library calls the BLAS from threads of its own: one that starts none is up sooner. */
    char path[PATH_MAX];
    if (own_path(path, sizeof path) && setenv("OPENBLAS_CORETYPE", core, 1) == 0 &&
        setenv("OPENBLAS_NUM_THREADS", "1", 1) == 0)
        execv(path, argv);
    /* Where that cannot be done the program runs on, only slower. */
}
