# A shared library exports every function that its headers promise under the version RAREBIT_x.y. What
# else it exports is for the libraries above, which are of the same build: RAREBIT_PRIVATE_x.y.z. The
# core needs a BLAS and the C run-time only.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# $1: a library, $2: its headers
check() {
    file=$BUILD/lib$1.so
    for header in $2; do
        echo "$SOURCE/include/rarebit/$header.h"
    done | xargs cat | grep -v '^#' | tr '\n' ' ' | tr ';' '\n' |
        sed -n 's/.*RB_API [^(]*[ *]\(rb_[a-z0-9_]*\)(.*/\1/p' | sort >"$work/promised"
    nm -D --defined-only "$file" | awk '$2 != "A" { print $3 }' >"$work/all"
    sed -n 's/@@RAREBIT_[0-9.]*$//p' "$work/all" | sort >"$work/exported"
    if ! diff "$work/promised" "$work/exported" >"$work/diff"; then
        echo "lib$1: promised by the headers but not exported (<), exported but not promised (>):" >&2
        grep '^[<>]' "$work/diff" >&2
        exit 1
    fi
    if grep -vE '^rb_[a-z0-9_]*@@RAREBIT_(PRIVATE_)?[0-9.]*$' "$work/all" >&2; then
        echo "lib$1 exports these without a version" >&2
        exit 1
    fi
    readelf -d "$file" | grep -qE "SONAME.*\[lib$1\.so\.0\.[0-9]+\]" || {
        echo "lib$1: another soname than lib$1.so.0.x" >&2
        exit 1
    }
}

above=
core=
for library in io plot nets media cl mpi; do
    headers=$(sed -n "s/^set(RAREBIT_${library}_HEADERS \(.*\))/\1/p" "$SOURCE/cmake/Libraries.cmake")
    case $library in
        cl) files=$(cd "$BUILD" && ls librarebit-cl.so 2>/dev/null || true) ;;
        mpi) files=$(cd "$BUILD" && ls librarebit-mpi-*.so 2>/dev/null || true) ;;
        *) files=librarebit-$library.so ;;
    esac
    for file in $files; do
        name=${file#lib}
        check "${name%.so}" "$headers"
    done
    above="$above $headers"
done
for header in "$SOURCE"/include/rarebit/*.h; do
    name=$(basename "$header" .h)
    case " $above " in
        *" $name "*) ;;
        *) core="$core $name" ;;
    esac
done
check rarebit "$core"
[ "$(wc -l <"$work/promised")" -gt 50 ]

# What is loaded with the core: itself, the BLAS, what the BLAS brings along, the C run-time.
known='linux-vdso ld-linux libm libc libpthread libgcc_s'
blas='libopenblas libblas libcblas liblapack libblis libgfortran libquadmath libgomp'
ldd "$BUILD/librarebit.so" | sed 's/^[ \t]*//; s/ .*//; s|.*/||; s/[-.].*so.*//; s/\.so.*//' | sort -u |
    while read -r name; do
        case " $known $blas linux ld " in
            *" $name "*) ;;
            *) echo "librarebit needs $name, which is neither the C run-time nor a BLAS" >&2; exit 1 ;;
        esac
    done
