# The R package, installed against the libraries of the build tree: its own tests, with the tool, a C
# program and Python beside it, whose bits and model files are to be R's. Without R or the packages of R that the
# tests need it is left out with a notice; where CI=true they must be there.
set -eu
left_out() {
    echo "no $1: the R package is not tested" >&2
    [ "${CI:-}" != true ] || exit 1
    exit 77
}
command -v R >/dev/null 2>&1 || left_out R
for package in testthat Matrix SummarizedExperiment SingleCellExperiment; do
    Rscript --vanilla -e "quit(status = !nzchar(system.file(package = '$package')))" || left_out "$package for R"
done
if nm -D "$BUILD/librarebit.so" | grep -qE '__(asan|tsan)_init'; then
    echo "R cannot load a library with a sanitizer: the R package is not tested" >&2
    exit 77
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/rarebit-test-XXXXXX")
trap 'rm -rf "$work"' EXIT
unset R_LIBS R_LIBS_USER OPENBLAS_CORETYPE
sh "$SOURCE/r/build.sh" --folder "$work"
mkdir "$work/library"
export RAREBIT_LIBRARY="$BUILD" RAREBIT_INCLUDE="$SOURCE/include"
(cd "$work" && R --vanilla CMD INSTALL --no-docs --no-test-load --library=library rarebit) \
    >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
"$CC" "$SOURCE/tests/r/fit.c" -I"$SOURCE/include" -L"$BUILD" -Wl,-rpath,"$BUILD" -lrarebit-io -lrarebit \
    -o "$work/fit"
export R_LIBS="$work/library" RAREBIT_C_FIT="$work/fit" NOT_CRAN=true
python=${PYTHON:-/usr/bin/python3}
export PYTHONPATH="$SOURCE/python"
if "$python" -c 'import numpy, scipy, sklearn; import rarebit' 2>/dev/null; then
    export RAREBIT_PYTHON="$python"
elif [ "${CI:-}" = true ]; then
    echo "the Python package cannot be loaded beside that of R" >&2
    exit 1
fi
cd "$work/rarebit/tests/testthat"
Rscript --vanilla -e 'library(testthat); library(rarebit); test_dir(".", reporter = "summary", stop_on_failure = TRUE)'
