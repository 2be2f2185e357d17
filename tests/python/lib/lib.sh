# What the tests of the Python package share. A test sources it and works in an empty folder of its own,
# $work, with the interpreter $python. SOURCE is the source tree, BUILD the folder of the libraries.
. "$SOURCE/tests/lib/skip.sh"
LC_ALL=C.UTF-8
PYTHONDONTWRITEBYTECODE=1
export LC_ALL PYTHONDONTWRITEBYTECODE
work=$(mktemp -d "${TMPDIR:-/tmp}/rarebit-test-XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

# The package as it lies in the source tree, on the libraries in the build folder.
use_tree() {
    PYTHONPATH=$SOURCE/python RAREBIT_LIBRARY=$BUILD
    OPENBLAS_NUM_THREADS=1 MPLBACKEND=agg
    export PYTHONPATH RAREBIT_LIBRARY OPENBLAS_NUM_THREADS MPLBACKEND
}
