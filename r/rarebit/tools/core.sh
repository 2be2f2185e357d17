#!/bin/sh
# Sourced by configure: what compiles src/core, the core of the library and its nets, into the binding.
blas=openblas
command -v pkg-config >/dev/null 2>&1 && pkg-config --exists openblas || blas=
LIBRARIES=$([ -n "$blas" ] && pkg-config --libs openblas || echo "-lopenblas")
blas_flags=$([ -n "$blas" ] && pkg-config --cflags openblas || true)
FLAGS="-I. -Icore/include -Icore/src -D_GNU_SOURCE -DRAREBIT_NETS $blas_flags"
LIBRARIES="$LIBRARIES -lm -lpthread -Wl,-S"
isa=ref
case $(uname -m) in
    x86_64 | amd64) isa="ref avx2 avx512" ;;
esac

# Which sets of instructions other files name is settled by the processor as well.
for file in $(cd src && find core/src -name '*.c' | grep -vE '/isa/|_(ref|avx2|avx512)\.c$' | sort); do
    BINDING="$BINDING ${file%.c}.o"
done
for name in $isa; do
    BINDING="$BINDING core/src/kernels_isa_$name.o core/src/et_kernels_$name.o"
done

# Compilers without the pragmas take flags.
if $CC -dM -E -x c /dev/null | grep -q __clang__; then
    for name in kernels_isa et_kernels; do
        RULES="$RULES
core/src/${name}_avx2.o: core/src/${name}_avx2.c
	\$(CC) \$(ALL_CPPFLAGS) \$(ALL_CFLAGS) -O3 -fno-math-errno -mavx2 -mfma -c \$< -o \$@

core/src/${name}_avx512.o: core/src/${name}_avx512.c
	\$(CC) \$(ALL_CPPFLAGS) \$(ALL_CFLAGS) -O3 -fno-math-errno -mavx512f -mavx512dq -mavx512vl -mavx512bw -mfma -mprefer-vector-width=512 -c \$< -o \$@
"
    done
fi
