/* OpenBLAS reads OPENBLAS_CORETYPE when it is loaded, so the choice takes a new start of the program.
 * Debian 12's knows no AMD processor after Zen 2 and runs at half their speed. */
#include "blas_choice.h"

#include <rarebit/version.h>

#include <stdlib.h>
#include <unistd.h>

void choose_blas_kernels(char **argv) {
    rb_build build;
    rb_build_info(NULL, &build);
    if (build.blas_advice[0] == '\0' || getenv("OPENBLAS_CORETYPE")) {
        return;
    }
    /* The variable that is set here ends the second start at the return above. The library calls the
     * BLAS from threads of its own: one that starts none is up sooner. */
    if (setenv("OPENBLAS_CORETYPE", build.blas_advice, 1) == 0 &&
        setenv("OPENBLAS_NUM_THREADS", "1", 1) == 0) {
        execv("/proc/self/exe", argv);
    }
    /* Where that cannot be done the program runs on, only slower. */
}
