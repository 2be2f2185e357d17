# Effects of covariates that a fit takes out are those that numpy finds, of dense, sparse and incomplete data.
set -eu
. "$SOURCE/tests/lib/skip.sh"
need_python numpy h5py scipy pandas anndata
work=$(mktemp -d "${TMPDIR:-/tmp}/rarebit-test-XXXXXX")
trap 'rm -rf "$work"' EXIT
OPENBLAS_NUM_THREADS=1 "$python" -B "$SOURCE/tests/differential/regress.py" "$RAREBIT" "$work"
