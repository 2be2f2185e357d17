# rarebit.tl, rarebit.pl and the studies on the libraries of the build tree: they write into AnnData what the
# program writes, same keys and same bits; pictures; modules, select, consensus.
set -eu
. "$SOURCE/tests/python/lib/lib.sh"
need_python numpy scipy sklearn pandas anndata h5py matplotlib pytest
use_tree
# The program would start anew with another BLAS kernel than Python has loaded.
RAREBIT_BLAS_CORE=''
MPLCONFIGDIR=$work
export RAREBIT_BLAS_CORE MPLCONFIGDIR
"$python" -B -m pytest -q -p no:cacheprovider "$SOURCE/python/tests/test_scanpy.py" \
    "$SOURCE/python/tests/test_study.py" "$SOURCE/python/tests/test_plots.py"
