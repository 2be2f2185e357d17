/* What some BLAS have besides BLAS and LAPACK, found by name, since macOS links nothing that may be
 * missing. Compiled against stubs alone (tests/install/macos.sh), never tried on macOS. */
#ifndef BLAS_MACOS_H
#define BLAS_MACOS_H

#include <dlfcn.h>
#include <stdint.h>

static char *(*openblas_get_config)(void), *(*openblas_get_corename)(void);
static int (*openblas_get_num_threads)(void), (*omp_get_max_threads)(void);
static void (*openblas_set_num_threads)(int), (*omp_set_num_threads)(int);
static int64_t (*bli_thread_get_num_threads)(void);
static void (*bli_thread_set_num_threads)(int64_t);

/* When the library is loaded, which its BLAS is before. Elsewhere in the process there may be
 * another one: only what this library needs is asked. */
__attribute__((constructor)) static void look_up(void) {
    *(void **)&openblas_get_config = dlsym(RTLD_SELF, "openblas_get_config");
    *(void **)&openblas_get_corename = dlsym(RTLD_SELF, "openblas_get_corename");
    *(void **)&openblas_get_num_threads = dlsym(RTLD_SELF, "openblas_get_num_threads");
    *(void **)&openblas_set_num_threads = dlsym(RTLD_SELF, "openblas_set_num_threads");
    *(void **)&bli_thread_get_num_threads = dlsym(RTLD_SELF, "bli_thread_get_num_threads");
    *(void **)&bli_thread_set_num_threads = dlsym(RTLD_SELF, "bli_thread_set_num_threads");
    *(void **)&omp_get_max_threads = dlsym(RTLD_SELF, "omp_get_max_threads");
    *(void **)&omp_set_num_threads = dlsym(RTLD_SELF, "omp_set_num_threads");
}

#endif
