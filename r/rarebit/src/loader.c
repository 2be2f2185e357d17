/* What R loads: it loads the binding beside it, so that the BLAS of librarebit is its own.
 *
 * R's executable stands on a BLAS, whose functions are found before those of any library that is
 * loaded later: librarebit would compute with R's BLAS, other bits at another speed. RTLD_DEEPBIND
 * lets the binding, and what it stands on, look into its own libraries first; R's calls go where
 * they went before. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <R.h>
#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

#ifndef RTLD_DEEPBIND /* systems where each library names those that it takes functions from */
#define RTLD_DEEPBIND 0
#endif

/* The binding lies in the folder of this library. */
static void path_of_binding(char *path, size_t size) {
    Dl_info here;
    const char *slash = NULL;
    if (dladdr((void *)&path_of_binding, &here)) slash = strrchr(here.dli_fname, '/');
    int length = slash ? (int)(slash - here.dli_fname) : 1;
    int n = snprintf(path, size, "%.*s/binding.so", length, slash ? here.dli_fname : ".");
    if (n < 0 || (size_t)n >= size) Rf_error("the path of the package is too long");
}

/* The binding, and below it an OpenBLAS with the kernels that suit this processor: it reads
 * OPENBLAS_CORETYPE when it is loaded, here for a second time where it has taken slower ones. What
 * is set already stays, and so does an OpenBLAS that something else has loaded. */
static void *load(const char *path) {
    const char *(*info)(const void *, const char *) = NULL;
    char core[64] = "";
    int how = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
    void *binding = dlopen(path, how);
    if (binding) *(void **)&info = dlsym(binding, "rb_build_info");
    if (info && !getenv("OPENBLAS_CORETYPE"))
        snprintf(core, sizeof core, "%s", info(NULL, "blas_advice"));
    if (!*core) return binding;
    dlclose(binding);
    setenv("OPENBLAS_CORETYPE", core, 1);
    binding = dlopen(path, how);
    unsetenv("OPENBLAS_CORETYPE");
    return binding;
}

attribute_visible void R_init_rarebit(DllInfo *dll);

void R_init_rarebit(DllInfo *dll) {
    char path[4096];
    path_of_binding(path, sizeof path);
    void *binding = load(path);
    const R_CallMethodDef *calls = binding ? dlsym(binding, "binding_calls") : NULL;
    if (!calls) Rf_error("rarebit's library cannot be loaded: %s", dlerror());
    R_registerRoutines(dll, NULL, calls, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);
}
