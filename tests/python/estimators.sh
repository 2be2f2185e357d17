# The Python package on the libraries of the build tree: estimators, sources, Ctrl-C, model files, the same bits as
# the program; its types.
set -eu
. "$SOURCE/tests/python/lib/lib.sh"
need_python numpy scipy sklearn pandas anndata h5py pytest
use_tree
# The program would start anew with another BLAS kernel than Python has loaded.
RAREBIT_BLAS_CORE=''
OMP_NUM_THREADS=1
export RAREBIT_BLAS_CORE OMP_NUM_THREADS
"$python" -B -m pytest -q -p no:cacheprovider -W error::pytest.PytestUnraisableExceptionWarning \
    --ignore "$SOURCE/python/tests/test_scanpy.py" --ignore "$SOURCE/python/tests/test_study.py" \
    --ignore "$SOURCE/python/tests/test_plots.py" "$SOURCE/python/tests" # these three are run by scanpy.sh
if have python mypy; then
    cd "$SOURCE/python"
    "$python" -B -m mypy --config-file mypy.ini --cache-dir "$work/mypy" rarebit
    MYPYPATH=$SOURCE/python "$python" -B -m mypy --warn-unused-ignores --ignore-missing-imports --cache-dir "$work/mypy" \
        "$SOURCE/python/tests/typed.py"
fi
