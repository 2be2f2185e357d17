# Files that other programs write (numpy, h5py, anndata, scipy, pandas) hold for rarebit what they hold for
# these programs: random files with fixed seeds, every number and name compared. What is not installed is
# left out with a notice; without numpy there is nothing to do.
set -eu
for python in "${PYTHON:-/usr/bin/python3}" python3; do
    if "$python" -c 'import numpy' 2>/dev/null; then
        work=$(mktemp -d "${TMPDIR:-/tmp}/rarebit-test-XXXXXX")
        trap 'rm -rf "$work"' EXIT
        # Hundreds of runs, whose time goes into starting the tool: it need not start anew for the best BLAS.
        RAREBIT_BLAS_CORE='' OPENBLAS_NUM_THREADS=1 "$python" -B "$SOURCE/tests/differential/files.py" \
            "$RAREBIT" "$work"
        exit 0
    fi
done
echo "no python3 with numpy: files of other programs are not compared" >&2
exit 77
