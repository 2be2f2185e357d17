/* OpenBLAS reads OPENBLAS_CORETYPE when it is loaded, so the choice takes a new start of the
 * program. Debian 12's knows no AMD processor after Zen 2 and runs at half their speed.
 *
 * It also starts a thread for each core, which waits for work at full speed for a tenth of a second
 * and gets none, for the library calls it from threads of its own. A thread that finds no 128 MB of
 * address space tries for ever in 0.3.21, and who ends it waits as long: the program starts anew
 * without. */
#include "blas_choice.h"
#include "own_path.h"

#include <rarebit/version.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#ifndef __APPLE__
__attribute__((weak)) int openblas_get_parallel(void);
__attribute__((weak)) int openblas_get_num_threads(void);
__attribute__((weak)) void openblas_set_num_threads(int threads);
__attribute__((weak)) int blas_thread_shutdown_(void);
#endif

const char *blas_kernels_refused(void) {
    const char *wanted = getenv("RAREBIT_BLAS_CORE");
    bool taken = !wanted || !*wanted || strcasecmp(rb_build_info(NULL, "blas_core"), wanted) == 0;
    return taken ? NULL : wanted;
}

static bool is_set_to(const char *name, const char *value) {
    const char *set = getenv(name);
    return set && strcmp(set, value) == 0;
}

/* Threads that the BLAS has started and that can be ended. */
static int idle_threads(void) {
#ifndef __APPLE__
    enum { THREADS = 1 }; /* neither one thread nor OpenMP's */
    if (openblas_get_parallel && openblas_get_parallel() == THREADS && blas_thread_shutdown_)
        return openblas_get_num_threads() - 1;
#endif
    return 0;
}

static void end_threads(void) {
#ifndef __APPLE__
    openblas_set_num_threads(1); /* or they would be started again */
    (void)blas_thread_shutdown_();
#endif
}

/* As much again as they have or want. */
static bool have_memory(int threads) {
    enum { A_THREAD = (1 << 27) + (1 << 13) };
    void *volatile capacity = malloc((size_t)threads * A_THREAD); /* is not touched */
    free(capacity);
    return capacity != NULL;
}

void choose_blas(char **argv) {
    const char *wanted = getenv("RAREBIT_BLAS_CORE");
    const char *core = wanted ? wanted : rb_build_info(NULL, "blas_advice");
    int idle = idle_threads();
    /* What this start has already set ends a second one here, whatever the BLAS made of it. */
    bool other = core[0] != '\0' && !is_set_to("OPENBLAS_CORETYPE", core);
    bool starved = idle > 0 && !have_memory(idle);
    bool without = starved && !is_set_to("OPENBLAS_NUM_THREADS", "1");
    char path[PATH_MAX];
    if ((other || without) && own_path(path, sizeof path) &&
        (!other || setenv("OPENBLAS_CORETYPE", core, 1) == 0) &&
        setenv("OPENBLAS_NUM_THREADS", "1", 1) == 0)
        execv(path, argv);
    /* Where that cannot be done the program runs on, only slower, or does not end. */
    if (idle > 0 && !starved) end_threads();
}
