# The source distribution has what its wheel is made of, and nothing that is not in the repository; pip
# makes a wheel of it without a network; what is installed from that fits; the core inside needs a BLAS and
# the run-time alone, and is small.
set -eu
. "$SOURCE/tests/python/lib/lib.sh"
. "$SOURCE/tests/lib/runpath.sh"
need_python pip ensurepip numpy
export TMPDIR="$work" CCACHE_BASEDIR="$work" CCACHE_NOHASHDIR=1 # where ccache compiles
export CMAKE_BUILD_PARALLEL_LEVEL=2 CMAKE_ARGS="-DCMAKE_C_FLAGS_RELEASE=-O0 -DRAREBIT_IO=OFF" # compiled in half the time, for one fit

(cd "$SOURCE/python" && "$python" -B -c "import backend; backend.build_sdist('$work')")
tar -xf rarebit-*.tar.gz
sources=$(echo rarebit-*/)
(cd "$sources" && find . -type f ! -name PKG-INFO | sed 's,^\./,,' | sort) >packed
[ "$(wc -l <packed)" -gt 300 ]
if [ -e "$SOURCE/.git" ] && git -C "$SOURCE" ls-files -co --exclude-standard >tracked 2>/dev/null; then
    sort tracked | comm -13 - packed >strange
    [ ! -s strange ] || { echo "not in the repository, but packed: $(cat strange)" >&2; exit 1; }
fi

"$python" -m venv --system-site-packages env
env/bin/pip --disable-pip-version-check --quiet wheel --no-index --no-deps --no-cache-dir \
    -w . "./$sources" >log 2>&1 || { cat log >&2; exit 1; }
wheel=$(echo rarebit-*.whl)
case $wheel in
    rarebit-*-py3-none-linux_*.whl | rarebit-*-py3-none-macosx_*.whl) ;;
    *) echo "the wheel is called $wheel" >&2; exit 1 ;;
esac
size=$(wc -c <"$wheel")
[ "$size" -lt 1500000 ] || { echo "the wheel has $size bytes" >&2; exit 1; }

env/bin/pip --disable-pip-version-check --quiet install --no-index "./$wheel"
rm -r "$sources"
unset RAREBIT_LIBRARY PYTHONPATH
cat >use.py <<'CODE'
import importlib.metadata, sys
import numpy as np
import rarebit
from rarebit import _library
assert "env" in rarebit.__file__ and "env" in str(_library.path), (rarebit.__file__, _library.path)
assert importlib.metadata.version("rarebit") == rarebit.library_version()
X = np.random.default_rng(0).gamma(1.0, size=(60, 12))
rfn = rarebit.RFN(3, random_state=1)
codes = rfn.fit_transform(X)
assert codes.shape == (60, 3) and np.isfinite(codes).all() and (codes >= 0).all()
try:
    rarebit.export(rfn, "rfn.npz")
except NotImplementedError as refused:
    assert "files need librarebit-io" in str(refused)
else:
    raise AssertionError("a wheel writes files")
print(_library.path)
CODE
library=$(env/bin/python -B use.py)
readelf -d "$library" | grep NEEDED >needed
if grep -vE '\[(lib(openblas|blas|cblas|lapack|blis)[^]]*|libm|libc|libpthread|ld-linux[^]]*)\.so' needed; then
    echo "the core of the wheel needs more than a BLAS and the C run-time" >&2
    exit 1
fi
check_runpath '$ORIGIN' "$library"

# An installed library in place of the one inside.
RAREBIT_LIBRARY=$BUILD env/bin/python -B -c "
from rarebit import _library
assert str(_library.path).startswith('$BUILD'), _library.path"
echo "$wheel: $size bytes"
