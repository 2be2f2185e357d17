# What the tests of the Python package share. A test sources it and works in an empty folder of its own,
# $work, with the interpreter $python. SOURCE is the source tree, BUILD the folder of the libraries.
LC_ALL=C.UTF-8
PYTHONDONTWRITEBYTECODE=1
export LC_ALL PYTHONDONTWRITEBYTECODE
work=$(mktemp -d "${TMPDIR:-/tmp}/rarebit-test-XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

# need_python MODULE...: an interpreter that has these, or the test is left out; with CI=true it fails.
need_python() {
    for python in "${PYTHON:-/usr/bin/python3}" python3; do
        "$python" -c "import $(echo "$*" | sed 's/ /, /g')" 2>/dev/null && return
    done
    echo "no python3 with $*: the test is left out" >&2
    [ "${CI:-}" != true ] || exit 1
    exit 77
}

# The package as it lies in the source tree, on the libraries in the build folder.
use_tree() {
    PYTHONPATH=$SOURCE/python RAREBIT_LIBRARY=$BUILD
    OPENBLAS_NUM_THREADS=1 MPLBACKEND=agg
    export PYTHONPATH RAREBIT_LIBRARY OPENBLAS_NUM_THREADS MPLBACKEND
}
