# The R package, installed against the libraries of the build tree: its own tests, with the tool, a C
# program and Python beside it, whose bits and model files are to be R's.
set -eu
. "$SOURCE/tests/lib/skip.sh"
need command R
need r testthat Matrix SummarizedExperiment SingleCellExperiment DelayedArray BiocParallel generics
need_python numpy scipy sklearn
if nm -D "$BUILD/librarebit.so" | grep -qE '__(asan|tsan)_init'; then
    skip "R cannot load a library with a sanitizer"
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/rarebit-test-XXXXXX")
trap 'rm -rf "$work"' EXIT
unset R_LIBS R_LIBS_USER OPENBLAS_CORETYPE OPENBLAS_NUM_THREADS
sh "$SOURCE/r/build.sh" --folder "$work"
# The binding needs no other header than those that the tarball has, where the core in it is compiled.
(cd "$work/rarebit/src" && for file in *.c; do
    "$CC" -fsyntax-only -DRAREBIT_NETS -I"$(R RHOME)/include" -I/usr/share/R/include -Icore/include "$file" || exit 1
done)
mkdir "$work/library"
export RAREBIT_LIBRARY="$BUILD" RAREBIT_INCLUDE="$SOURCE/include"
(cd "$work" && R --vanilla CMD INSTALL --no-docs --no-test-load --library=library rarebit) \
    >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
"$CC" "$SOURCE/tests/r/fit.c" -I"$SOURCE/include" -L"$BUILD" -Wl,-rpath,"$BUILD" -lrarebit-io -lrarebit \
    -o "$work/fit"
. "$SOURCE/tests/lib/runpath.sh"
check_runpath "$BUILD" "$work"/library/rarebit/libs/*.so
export R_LIBS="$work/library" RAREBIT_C_FIT="$work/fit" NOT_CRAN=true
export PYTHONPATH="$SOURCE/python" RAREBIT_PYTHON="$python"
cd "$work/rarebit/tests/testthat"
Rscript --vanilla -e 'library(testthat); library(rarebit)
    tests <- as.data.frame(test_dir(".", reporter = "summary", stop_on_failure = TRUE))
    writeLines(sprintf("skipped: %s", tests$test[tests$skipped]))
    quit(status = any(tests$skipped) && Sys.getenv("CI") == "true")'
