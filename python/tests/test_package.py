"""Finding the library, its functions, the stub, and doing without what need not be there."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rarebit
from rarebit import _library, _stub

SOURCE = Path(__file__).resolve().parents[2]


def run(code, **environment):
    done = subprocess.run([sys.executable, "-B", "-W", "ignore", "-c", code], capture_output=True,
                          text=True, env={**os.environ, **environment})
    return done.returncode, done.stdout + done.stderr


def test_the_stub_is_that_of_the_tables():
    stub = Path(_stub.__file__).with_name("_methods.pyi").read_text()
    assert stub == _stub.stub(), "python3 -m rarebit._stub > rarebit/_methods.pyi"


def declarations():
    """Of the public headers: name, result and how many arguments."""
    for header in (SOURCE / "include/rarebit").glob("*.h"):
        text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
        for result, name, arguments in re.findall(r"RB_API ([\w\s\*]*?)\s*(rb_\w+)\(([^;]*)\);",
                                                  text):
            arguments = arguments.rsplit(") RB_PRINTF", 1)[0].strip()
            count = 0 if arguments == "void" else arguments.count(",") + 1
            yield name, result.strip(), count


def test_functions_are_declared_as_the_headers_have_them():
    if not (SOURCE / "include/rarebit").is_dir():
        pytest.skip("the headers are not here")
    promised = {name: (result, count) for name, result, count in declarations()}
    results = {"rb_error": _library.c_int, "void": None, "int64_t": _library.c_int64,
               "double": _library.c_double, "const char *": _library.c_char_p}
    for name, (result, arguments) in {**_library.FUNCTIONS, **_library.IO_FUNCTIONS}.items():
        assert len(arguments) == promised[name][1], name
        if promised[name][0] in results:
            assert result is results[promised[name][0]], name


def test_every_public_function_and_class_has_an_example():
    dataclasses = {"Check", "Progress", "Report", "Selection", "Estimator", "Model", "Source"}
    for module in (rarebit, rarebit.pl, rarebit.simulate, rarebit.tl):
        for name in set(module.__all__) - dataclasses:
            found = getattr(module, name)
            if callable(found):
                assert ">>> " in (found.__doc__ or ""), f"{module.__name__}.{name}"


CORE = os.path.realpath(_library.path)


def test_building_needs_the_standard_library_alone():
    """And so no network, with any Python that pyproject.toml names."""
    tomllib = pytest.importorskip("tomllib")
    if not (SOURCE / "pyproject.toml").is_file():
        pytest.skip("the sources are not here")
    written = tomllib.loads((SOURCE / "pyproject.toml").read_text())
    assert written["build-system"]["requires"] == []
    code = ("import sys, json\n"
            "sys.modules['tomllib'] = sys.modules['tomli'] = None\n"
            "import backend\n"
            "print(json.dumps(backend.project()))")
    status, said = run(code, PYTHONPATH=str(SOURCE / "python"))
    assert status == 0, said
    assert json.loads(said) == written["project"]


def test_the_core_alone_tells_what_needs_files(tmp_path):
    shutil.copy(CORE, tmp_path / "librarebit.so")
    code = ("import numpy as np, pickle, rarebit\n"
            "m = rarebit.RFN(2, iterations=3).fit(np.random.rand(30, 4))\n"
            "assert pickle.loads(pickle.dumps(m)).n_iter_ == 3\n"
            "print(rarebit.build_info()['library'])\n"
            "m.save('m.h5')")
    for place in (tmp_path, tmp_path / "librarebit.so"):
        status, said = run(code, RAREBIT_LIBRARY=str(place))
        assert status == 1 and str(tmp_path / "librarebit.so") in said
        assert "files need librarebit-io" in said and "cmake --install" in said
    for fit in ("m.set_params(checkpoint='c').fit", "lambda X: rarebit.select(m, X, '2', "
                "checkpoint='c')"):
        status, said = run(code.replace("m.save('m.h5')", f"({fit})(np.random.rand(30, 4))"),
                           RAREBIT_LIBRARY=str(tmp_path))
        assert status == 1 and "files need librarebit-io" in said and "rb_io_use of" not in said


def test_no_library_is_an_import_error(tmp_path):
    for place in (tmp_path, tmp_path / "none.so"):
        status, said = run("import rarebit", RAREBIT_LIBRARY=str(place))
        assert status == 1 and "ImportError: librarebit cannot be loaded" in said
        assert "RAREBIT_LIBRARY" in said
    (tmp_path / "librarebit.so").write_text("no library")
    status, said = run("import rarebit", RAREBIT_LIBRARY=str(tmp_path))
    assert status == 1 and "ImportError: librarebit cannot be loaded" in said


def test_without_scikit_learn():
    code = ("import sys\n"
            "sys.modules['sklearn'] = sys.modules['sklearn.base'] = None\n"
            "sys.modules['scipy'] = sys.modules['pandas'] = None\n"
            "import numpy as np, pickle, rarebit\n"
            "X = np.random.RandomState(0).rand(30, 4)\n"
            "m = rarebit.RFN(2, iterations=3)\n"
            "try: m.transform(X)\n"
            "except AttributeError as e: assert 'not fitted' in str(e)\n"
            "assert m.fit_transform(X).shape == (30, 2)\n"
            "assert m.get_params()['iterations'] == 3 and m.set_params(eta=0.2).eta == 0.2\n"
            "assert repr(m) == 'RFN(eta=0.2, iterations=3, n_components=2)', repr(m)\n"
            "try: m.transform(X[:, 1:])\n"
            "except ValueError as e: assert '3 features' in str(e)\n"
            "pickle.loads(pickle.dumps(m)).inverse_transform(m.transform(X))\n")
    status, said = run(code)
    assert status == 0, said


def test_imports_are_quick_and_few():
    code = ("import sys, rarebit\n"
            "assert not {'numpy', 'scipy', 'sklearn'} & set(sys.modules)\n"
            "assert 'RFN' in dir(rarebit) and rarebit.RFN and rarebit.pl.codes\n"
            "assert not {'pandas', 'anndata', 'matplotlib', 'h5py'} & set(sys.modules)")
    status, said = run(code)
    assert status == 0, said


FAKE = """
#include <stdlib.h>
#include <string.h>
static int set;
__attribute__((constructor)) static void start(void) {
    const char *core = getenv("OPENBLAS_CORETYPE");
    set = core && strcmp(core, "SkylakeX") == 0;
}
const char *rb_build_info(const void *context, const char *name) {
    return !strcmp(name, "blas_advice") && !set ? "SkylakeX" : "";
}
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no compiler")
def test_slower_kernels_of_the_blas_are_left(tmp_path):
    (tmp_path / "fake.c").write_text(FAKE)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "fake.so", tmp_path / "fake.c"],
                   check=True)
    code = ("import os, ctypes\n"
            "from rarebit import _library\n"
            "before = os.environ.get('OPENBLAS_CORETYPE')\n"
            f"fake = _library._open('{tmp_path}/fake.so')\n"
            "assert os.environ.get('OPENBLAS_CORETYPE') == before\n"
            "fake.rb_build_info.restype = ctypes.c_char_p\n"
            "print(fake.rb_build_info(None, b'blas_advice').decode() or 'taken')")
    environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_CORETYPE"}
    for set_before, expected in (({}, "taken"), ({"OPENBLAS_CORETYPE": "Haswell"}, "SkylakeX")):
        done = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True,
                              env={**environment, **set_before})
        assert done.stdout.strip() == expected, done.stderr


def test_slower_kernels_of_the_blas_are_told():
    code = ("import numpy as np, rarebit\n"
            "info = rarebit.build_info()\n"
            "X = np.random.default_rng(0).random((50, 5), dtype='f')\n"
            "for _ in range(2): rarebit.PCA(2, verbose=2).fit(X)\n"
            "print(info['blas_core'] + ' ' + info['blas_advice'])")
    status, said = run(code, OPENBLAS_CORETYPE="Prescott")
    assert status == 0, said
    core, better = said.splitlines()[-1].split(" ")
    told = f"uses its {core} kernels, which are slower on this processor than those for {better}; set"
    assert said.count(told) == (2 if better else 0), said  # once a context, which is once a fit
    if "DYNAMIC_ARCH" in rarebit.build_info()["blas"] and rarebit.build_info()["kernels"] != "ref":
        assert core == "Prescott" and better


def test_build_info():
    info = rarebit.build_info()
    assert info["version"] == rarebit.library_version() == rarebit.__version__
    assert info["kernels"] in ("ref", "avx2", "avx512")
