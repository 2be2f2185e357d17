/* OpenBLAS reads OPENBLAS_CORETYPE when it is loaded, so the choice takes a new start of the
 * program. Debian 12's knows no AMD processor after Zen 2 and runs at half their speed.
 *
 * It also starts a thread for each core, which waits for work at full speed for a tenth of a second
 * and gets none, for the library calls it from threads of its own. Where the address space is
 * limited such a thread may try for ever to get its 128 MB, and the program would not end. */
#include "blas_choice.h"
#include "own_path.h"

#include <rarebit/version.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef __APPLE__
__attribute__((weak)) int openblas_get_parallel(void);
__attribute__((weak)) void openblas_set_num_threads(int threads);
__attribute__((weak)) void blas_thread_shutdown_(void);
#endif

const char *blas_kernels_refused(void) {
    const char *wanted = getenv("RAREBIT_BLAS_CORE");
    bool taken = !wanted || !*wanted || strcasecmp(rb_build_info(NULL, "blas_core"), wanted) == 0;
    return taken ? NULL : wanted;
}

static bool is_limited(int resource) {
    struct rlimit limit;
    return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

static bool is_set_to(const char *name, const char *value) {
    const char *set = getenv(name);
    return set && strcmp(set, value) == 0;
}

static void end_blas_threads(void) {
#ifndef __APPLE__
    enum { OWN_THREADS = 1 };
    if (!openblas_get_parallel || !openblas_set_num_threads || !blas_thread_shutdown_) return;
    if (openblas_get_parallel() != OWN_THREADS) return;
    openblas_set_num_threads(1); /* or they would be started again */
    blas_thread_shutdown_();
#endif
}

void choose_blas(char **argv) {
    const char *wanted = getenv("RAREBIT_BLAS_CORE");
    const char *core = wanted ? wanted : rb_build_info(NULL, "blas_advice");
    /* What this start has already set ends a second one here, whatever the BLAS made of it. */
    bool other = core[0] != '\0' && !is_set_to("OPENBLAS_CORETYPE", core);
    bool stuck = (is_limited(RLIMIT_AS) || is_limited(RLIMIT_DATA)) &&
                 !is_set_to("OPENBLAS_NUM_THREADS", "1");
    char path[PATH_MAX];
    if ((other || stuck) && own_path(path, sizeof path) &&
        (!other || setenv("OPENBLAS_CORETYPE", core, 1) == 0) &&
        setenv("OPENBLAS_NUM_THREADS", "1", 1) == 0)
        execv(path, argv);
    /* Where that cannot be done the program runs on, only slower. */
    if (!stuck) end_blas_threads();
}
