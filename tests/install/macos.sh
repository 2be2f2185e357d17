# What macOS has in a way of its own compiles against stubs of its headers, and finds the functions of the BLAS by name. No test
# ran on macOS. Functions that it lacks are not used elsewhere.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$SOURCE"
mkdir "$work/mach-o"
printf '#include <stdint.h>\nint _NSGetExecutablePath(char *path, uint32_t *size);\n' >"$work/mach-o/dyld.h"
echo '#include <locale.h>' >"$work/xlocale.h"
for file in $(grep -rl __APPLE__ src tool --include='*.c'); do
    object=$work/$(basename "$file" .c).o
    # shellcheck disable=SC2046 # words
    "$CC" -std=gnu11 -O1 -D_GNU_SOURCE -D__APPLE__ -DRTLD_SELF=RTLD_DEFAULT -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers -Wshadow -Werror \
        -Iinclude -Isrc -I"$work" $(pkg-config --cflags openblas) -c "$file" -o "$object"
done
for object in blas number own_path; do
    [ -f "$work/$object.o" ] || { echo "$object.c knows nothing of macOS any more" >&2; exit 1; }
done

cat >"$work/blas.c" <<'END'
#include "linalg/linalg.h"
void openblas_set_num_threads(int);
int openblas_get_num_threads(void);
int main(void) {
    openblas_set_num_threads(2);
    int of_thread = rb_blas_enter(), inside = openblas_get_num_threads();
    rb_blas_leave(of_thread);
    return inside != 1 || openblas_get_num_threads() != 2 || !rb_build_info(NULL, "blas_core")[0];
}
END
# shellcheck disable=SC2046 # words
"$CC" -std=gnu11 -D_GNU_SOURCE -Iinclude -Isrc $(pkg-config --cflags openblas) "$work/blas.c" "$work/blas.o" "$BUILD/librarebit.a" \
    $(pkg-config --libs openblas) -lm -lpthread -o "$work/blas"
"$work/blas"

if grep -rnE '\<(mempcpy|memrchr|getrandom|qsort_r|strchrnul|secure_getenv|pipe2|fdatasync|reallocarray)\(' \
    src tool --include='*.[ch]' >&2; then
    echo "macOS has no such function" >&2
    exit 1
fi
