"""Builds wheel and source distribution (PEP 517), with the standard library and CMake alone.

A wheel is one for a platform: the package, and in it the libraries, linked to those of this machine: core
and nets, and where HDF5, zlib and jansson are there, files and media. CMAKE_ARGS is handed to CMake:
CMAKE_ARGS="-DRAREBIT_BLAS=blis;lapack -DRAREBIT_IO=OFF" pip install . packaging/wheel.py makes it whole.
"""

import ast
import base64
import gzip
import hashlib
import io
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sysconfig
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARIES = {"librarebit": "core", "librarebit-nets": "nets", "librarebit-io": "io", "librarebit-media": "media"}
SUFFIXES = (".so", ".dylib")
# What is needed to build it again.
SOURCES = ("pyproject.toml", "CMakeLists.txt", "LICENSE", "README.md", "rarebit.pc.in", "cmake",
           "include", "src", "python")


def project():
    """The tables [project...] of pyproject.toml, whose values are written as Python's are but for
    {a = b}: tomllib is there from Python 3.11 on alone, and building needs no network."""
    found, table, entry = {}, None, ""
    for line in (ROOT / "pyproject.toml").read_text("utf-8").splitlines():
        if line.startswith("["):
            names = line.strip("[]").split(".")
            table = found if names[0] == "project" else None
            for name in names[1:]:
                table = table.setdefault(name, {}) if table is not None else None
        elif table is not None and line.strip() and not line.startswith("#"):
            entry += line.strip()
            if entry.count("[") > entry.count("]"):
                continue  # a list of several lines
            name, value = entry.split(" = ", 1)
            table[name] = ast.literal_eval(re.sub(r"(\w+) = ", r'"\1": ', value)
                                           if value.startswith("{") else value)
            entry = ""
    return found


def version():
    text = (ROOT / "CMakeLists.txt").read_text("utf-8")
    return re.search(r"project\(rarebit VERSION ([0-9.]+)", text).group(1)


def metadata():
    """The file METADATA of a wheel, PKG-INFO of a source distribution."""
    about = project()
    lines = ["Metadata-Version: 2.1", f"Name: {about['name']}", f"Version: {version()}",
             f"Summary: {about['description']}", f"License: {about['license']['text']}",
             f"Requires-Python: {about['requires-python']}"]
    lines += [f"Classifier: {name}" for name in about["classifiers"]]
    lines += [f"Requires-Dist: {need}" for need in about["dependencies"]]
    for extra, needs in about["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {need}; extra == "{extra}"' for need in needs]
    lines += ["Description-Content-Type: text/markdown", "",
              (ROOT / about["readme"]).read_text("utf-8")]
    return "\n".join(lines)


def files(folder):
    """What belongs into an archive, in an order that does not change."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path


def is_library(name):
    return name in [library + suffix for library in LIBRARIES for suffix in SUFFIXES]


def with_files(arguments):
    """Are the libraries for files asked for, and what they need there?"""
    return "-DRAREBIT_IO=OFF" not in arguments and shutil.which("pkg-config") is not None and \
        subprocess.run(["pkg-config", "--exists", "hdf5", "zlib", "jansson"], check=False).returncode == 0


def build_libraries(folder):
    """Without symbols of the debugger; returns their paths."""
    if shutil.which("cmake") is None:
        raise RuntimeError("building rarebit needs CMake and a C compiler: install cmake")
    arguments = shlex.split(os.environ.get("CMAKE_ARGS", ""))
    rooms = list(LIBRARIES.values())[:None if with_files(arguments) else 2]
    configure = ["cmake", "-S", str(ROOT), "-B", str(folder), "-DRAREBIT_IO=" + ("ON" if "io" in rooms else "OFF"),
                 "-DRAREBIT_TOOL=OFF", "-DRAREBIT_PLOT=OFF", "-DCMAKE_BUILD_TYPE=Release",
                 "-DCMAKE_SHARED_LINKER_FLAGS=-s", *arguments]
    jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count() or 1))
    subprocess.run(configure, check=True)
    subprocess.run(["cmake", "--build", str(folder), "--target", *(f"rarebit_{room}_shared" for room in rooms),
                    "--parallel", jobs], check=True)
    built = [path for path in sorted(folder.iterdir()) if is_library(path.name)]
    if len(built) != len(rooms):
        raise RuntimeError(f"CMake has not built librarebit's {', '.join(rooms)}")
    return built


class Wheel:
    """Files of a wheel, and the record of what is in it."""

    def __init__(self, path, record):
        self.archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.record = record
        self.rows = []

    def add(self, name, data, mode=0o644):
        entry = zipfile.ZipInfo(name)  # the date is always the same: so are the bytes
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.rows.append(f"{name},sha256={digest},{len(data)}")
        self.archive.writestr(entry, data)

    def close(self):
        self.rows.append(f"{self.record},,")
        self.archive.writestr(zipfile.ZipInfo(self.record), "\n".join(self.rows) + "\n")
        self.archive.close()


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """What pip asks before it builds: without this it would build twice."""
    folder = pathlib.Path(metadata_directory, f"rarebit-{version()}.dist-info")
    folder.mkdir()
    (folder / "METADATA").write_text(metadata(), "utf-8")
    return folder.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with tempfile.TemporaryDirectory(prefix="rarebit-wheel-") as folder:
        return pack_wheel(wheel_directory, build_libraries(pathlib.Path(folder)))


def pack_wheel(wheel_directory, libraries):
    """A wheel of libraries that are there."""
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    name, tag = f"rarebit-{version()}", f"py3-none-{platform}"
    wheel = Wheel(os.path.join(wheel_directory, f"{name}-{tag}.whl"), f"{name}.dist-info/RECORD")
    for path in files(ROOT / "python" / "rarebit"):
        if not is_library(path.name):
            wheel.add(path.relative_to(ROOT / "python").as_posix(), path.read_bytes())
    for library in libraries:
        wheel.add(f"rarebit/{library.name}", library.read_bytes(), 0o755)
    wheel.add(f"{name}.dist-info/METADATA", metadata().encode())
    wheel.add(f"{name}.dist-info/LICENSE", (ROOT / "LICENSE").read_bytes())
    about = f"Wheel-Version: 1.0\nGenerator: rarebit\nRoot-Is-Purelib: false\nTag: {tag}\n"
    wheel.add(f"{name}.dist-info/WHEEL", about.encode())
    wheel.close()
    return f"{name}-{tag}.whl"


def build_sdist(sdist_directory, config_settings=None):
    name = f"rarebit-{version()}"
    with open(os.path.join(sdist_directory, f"{name}.tar.gz"), "wb") as file, \
            gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        add_file(archive, f"{name}/PKG-INFO", metadata().encode())
        for part in SOURCES:
            path = ROOT / part
            for source in files(path) if path.is_dir() else [path]:
                if source.name not in LIBRARIES:
                    add_file(archive, f"{name}/{source.relative_to(ROOT).as_posix()}",
                             source.read_bytes(), 0o755 if os.access(source, os.X_OK) else 0o644)
    return f"{name}.tar.gz"


def add_file(archive, name, data, mode=0o644):
    """Into a tar: of nobody, at the time that SOURCE_DATE_EPOCH says."""
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(data), mode
    entry.mtime = int(os.environ.get("SOURCE_DATE_EPOCH", 315532800))  # 1980, as in the wheel
    archive.addfile(entry, io.BytesIO(data))
