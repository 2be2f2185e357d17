/* Makes the BLAS use what the processor can do, and no threads of its own; shared by the tool and
 * the benchmarks. */
#pragma once

/* Starts the program anew, once, with OPENBLAS_CORETYPE set, if OpenBLAS does not know this
 * processor and picked slower kernels than it could, or if RAREBIT_BLAS_CORE names others. An
 * OPENBLAS_CORETYPE that suits the processor less is overruled: it is often set for a whole machine
 * by somebody else. Likewise if there is no memory for OpenBLAS's threads; else these end here. A
 * new start sets OPENBLAS_NUM_THREADS=1. First thing in main: nobody may be in the BLAS. */
void choose_blas(char **argv);

/* What RAREBIT_BLAS_CORE asks for and the BLAS did not take, having no such kernels; or NULL. */
const char *blas_kernels_refused(void);
