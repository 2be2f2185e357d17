# The libraries never exit, aborts, print, draw from the C library's random numbers or look into the
# environment: its objects do not refer to what would.
set -eu
forbidden='exit _exit _Exit quick_exit abort __assert_fail
printf vprintf __printf_chk __vprintf_chk puts putchar perror psignal stdout stderr
rand srand random srandom drand48 lrand48 srand48
getenv secure_getenv setenv putenv unsetenv'

libraries="$BUILD/librarebit.a $BUILD/librarebit-io.a $BUILD/librarebit-plot.a $BUILD/librarebit-nets.a
$BUILD/librarebit-media.a"
# shellcheck disable=SC2086 # words
used=$(nm -u $libraries | awk 'NF == 2 && $1 == "U" { print $2 }' | sort -u)
[ "$(echo "$used" | wc -l)" -gt 50 ] # nm understood the file
for symbol in $forbidden; do
    if echo "$used" | grep -qx "$symbol"; then
        echo "the library refers to $symbol:" >&2
        nm -A -u $libraries | grep -w "$symbol" >&2
        exit 1
    fi
done

# No global variable can change but the locks that guard HDF5 and the threads of the BLAS, which have
# global state of their own.
state=$(objdump -t $libraries |
    awk '/ O +[^ ]*/ && $0 ~ / (\.data|\.bss|\.tdata|\.tbss|\*COM\*)\t/ { print $NF }' |
    grep -vx -e hdf5_lock -e blas_guard || true)
if [ -n "$state" ]; then
    echo "the library has global variables:" $state >&2
    exit 1
fi
