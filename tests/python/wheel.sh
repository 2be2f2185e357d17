# A whole wheel: files, images and sounds are inside with all that they need but the C run-time, under names of its own; its tag is
# the newest glibc of which a symbol is needed. Its BLAS and numpy's compute side by side, each with threads.
set -eu
. "$SOURCE/tests/python/lib/lib.sh"
need_python pip ensurepip numpy
need command patchelf dpkg-buildpackage
! nm -D "$BUILD/librarebit.so" | grep -qE '__(asan|tsan)_init' || skip "a sanitizer is no part of a wheel"
export TMPDIR="$work"
"$python" -B - <<'CODE'
import os, pathlib, sys
sys.path.insert(0, os.environ["SOURCE"] + "/python")
import backend
built = pathlib.Path(os.environ["BUILD"])
backend.pack_wheel(".", [built / (name + ".so") for name in backend.LIBRARIES])
CODE
mkdir whole
"$python" -B "$SOURCE/packaging/wheel.py" rarebit-*-linux_*.whl whole
"$python" -m venv --system-site-packages env
env/bin/pip --disable-pip-version-check --quiet install --no-index whole/*.whl
unset RAREBIT_LIBRARY PYTHONPATH
cat >use.py <<'CODE'
import importlib.metadata, pathlib, re, subprocess, sys, threading
import numpy as np
import rarebit
from rarebit import _library

assert "env" in str(_library.path), _library.path
X = np.random.default_rng(0).gamma(1.0, size=(3000, 200))
square = X.T @ X


def fit():
    return rarebit.RFN(20, random_state=1, iterations=30, n_jobs=2).fit_transform(X)


alone, done = fit(), []
threads = [threading.Thread(target=lambda: done.append(fit())) for _ in range(2)]
for thread in threads:
    thread.start()
while any(thread.is_alive() for thread in threads):
    assert (X.T @ X == square).all()
assert len(done) == 2 and all((codes == alone).all() for codes in done)

rarebit.RFN(3, random_state=1).fit(X).save("m.h5")
assert (rarebit.load("m.h5").transform(X) >= 0).all()
assert rarebit.patches(X, "4x4", 10).shape == (10, 16)
try:
    rarebit.segments("m.h5", "10")
except Exception as refused:
    assert "without" not in str(refused), refused

here = pathlib.Path(rarebit.__file__).parent
mapped = {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
ours = [path for path in mapped if re.search("hdf5|jansson|sndfile|liblzf|libpng", path)]
assert ours and all("rarebit.libs" in path for path in ours), ours
assert any("rarebit.libs/libopenblas-" in path for path in mapped), mapped

# The tag, by another way than the one that made it: versions that the loader asks libc for.
versions = [subprocess.run(["readelf", "-V", path], capture_output=True, text=True).stdout
            for path in [*here.glob("*.so"), *here.parent.glob("rarebit.libs/*")]]
newest = max((int(a), int(b)) for told in versions for a, b in re.findall(r"Name: GLIBC_(\d+)\.(\d+)", told))
tags = [v for k, v in importlib.metadata.distribution("rarebit").metadata.items() if k == "Tag"] or \
    re.findall("Tag: (.*)", importlib.metadata.distribution("rarebit").read_text("WHEEL"))
assert tags[0].startswith("py3-none-manylinux_%d_%d_" % newest), (tags, newest)
assert len(list(here.parent.glob("rarebit-*.dist-info/licenses/*"))) > 5
CODE
env/bin/python -B use.py
# Each library loads, whichever comes first.
for first in "DAE(3)" "NetClassifier(epochs=1)" "patches(__import__('numpy').eye(20), '4x4', 10)" "load('m.h5')"; do
    env/bin/python -B -c "import rarebit; rarebit.$first"
done
# What is inside needs nothing of the system but the C run-time and what Python itself has.
for library in env/lib/python*/site-packages/rarebit.libs/* env/lib/python*/site-packages/rarebit/*.so; do
    objdump -p "$library" | sed -n 's/^ *NEEDED *//p'
done | sort -u | grep -vE '^(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util|gcc_s|stdc\+\+))\.so\.|-[0-9a-f]{8}\.so|^librarebit' && {
    echo "the wheel needs these of the system" >&2
    exit 1
}
ls -l whole
