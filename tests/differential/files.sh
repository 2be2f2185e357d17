# Files that other programs write (numpy, h5py, anndata, scipy, pandas) hold for rarebit what they hold for
# these programs: random files with fixed seeds, every number and name compared.
set -eu
. "$SOURCE/tests/lib/skip.sh"
need_python numpy h5py scipy pandas anndata
work=$(mktemp -d "${TMPDIR:-/tmp}/rarebit-test-XXXXXX")
trap 'rm -rf "$work"' EXIT
# Hundreds of runs, whose time goes into starting the tool: it need not start anew for the best BLAS.
RAREBIT_BLAS_CORE='' OPENBLAS_NUM_THREADS=1 "$python" -B "$SOURCE/tests/differential/files.py" \
    "$RAREBIT" "$work"
