"""Makes a wheel whole, so that it needs the C run-time alone.

    python3 packaging/wheel.py WHEEL FOLDER

What its libraries need besides comes inside, with the licences that Debian's packages have of it. Each has a name
of its own, so that another copy in the process (numpy's BLAS, say) is not taken for it. The tag names the newest
glibc of which a symbol is needed. Needs patchelf, objdump, ldd and dpkg.
"""

import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
import backend  # noqa: E402 (the folder comes first)

# What a manylinux wheel may expect of any system (PEP 599), as far as it occurs here.
SYSTEM = re.compile(r"(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util|gcc_s|stdc\+\+))\.so\.\d+")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needed(library):
    """Names of the libraries that it names itself."""
    return re.findall(r"NEEDED +(\S+)", output("objdump", "-p", str(library)))


def places(library):
    """Where the loader finds all that is needed, below it too."""
    return dict(re.findall(r"(\S+) => (/\S+)", output("ldd", str(library))))


def newest_glibc(libraries):
    """The newest version of glibc of which one of them needs a symbol, as (2, 34)."""
    told = "".join(output("objdump", "-T", str(library)) for library in libraries)
    return max((int(major), int(minor)) for major, minor in re.findall(r"GLIBC_(\d+)\.(\d+)", told))


def own_name(path):
    """libopenblas.so.0 as libopenblas-1a2b3c4d.so.0."""
    stem, suffix = path.name.split(".so", 1)
    return f"{stem}-{hashlib.sha256(path.read_bytes()).hexdigest()[:8]}.so{suffix}"


def copyright_of(path):
    """The package of Debian that a library is of, and its licences."""
    for name in (path, path.resolve()):
        for spelt in (str(name), str(name).removeprefix("/usr")):
            found = subprocess.run(["dpkg", "-S", spelt], capture_output=True, text=True, check=False)
            if found.returncode == 0:
                package = found.stdout.split(":")[0]
                return package, pathlib.Path("/usr/share/doc", package, "copyright").read_bytes()
    raise RuntimeError(f"{path} is of no package of Debian: nothing says under which licence it is")


def bundle(package):
    """Copies what the libraries in package/rarebit need to package/rarebit.libs; returns licences by package."""
    own = sorted((package / "rarebit").glob("*.so"))
    inside = {re.search(r"SONAME +(\S+)", output("objdump", "-p", str(library)))[1] for library in own}
    found = {}
    for library in own:
        found.update(places(library))
    found = {name: pathlib.Path(path) for name, path in sorted(found.items())
             if name not in inside and not SYSTEM.fullmatch(name)}
    names = {name: own_name(path) for name, path in found.items()}
    folder = package / "rarebit.libs"
    folder.mkdir()
    for name, path in found.items():
        shutil.copy(path, folder / names[name])
    for library in [*own, *(folder / name for name in names.values())]:
        changes = [["--replace-needed", name, names[name]] for name in needed(library) if name in names]
        if library not in own:
            changes.append(["--set-soname", library.name])
        changes.append(["--set-rpath", "$ORIGIN/../rarebit.libs" if library in own else "$ORIGIN"])
        for change in changes:  # patchelf 0.14 mixes them up when it is given several
            subprocess.run(["patchelf", *change, str(library)], check=True)
    return dict(copyright_of(path) for path in found.values())


def main(wheel, to):
    with tempfile.TemporaryDirectory() as work:
        package = pathlib.Path(work, "package")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(package)
        about = next(package.glob("*.dist-info"))
        for name, text in bundle(package).items():
            (about / "licenses").mkdir(exist_ok=True)
            (about / "licenses" / name).write_bytes(text)
        major, minor = newest_glibc(package.rglob("*.so*"))
        machine = pathlib.Path(wheel).stem.split("linux_")[1]
        tag = f"py3-none-manylinux_{major}_{minor}_{machine}"
        described = (about / "WHEEL").read_text("utf-8")
        (about / "WHEEL").write_text(re.sub("Tag: .*", f"Tag: {tag}", described), "utf-8")
        (about / "RECORD").unlink()
        name = about.name.removesuffix(".dist-info")
        path = pathlib.Path(to, f"{name}-{tag}.whl")
        made = backend.Wheel(path, f"{about.name}/RECORD")
        for file in backend.files(package):
            made.add(file.relative_to(package).as_posix(), file.read_bytes(), 0o755 if ".so" in file.name else 0o644)
        made.close()
    print(path.name)


if __name__ == "__main__":
    main(*sys.argv[1:])
