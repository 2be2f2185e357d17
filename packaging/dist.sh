#!/bin/sh
# Makes what is published of the last commit: sh packaging/dist.sh BUILD FOLDER [STEP...], steps: source recipes sdist wheel r deb.
# BUILD is a folder that this commit is built in. The same commit gives the same bytes, in whatever folders: times are those
# of the commit, and no step needs a network. FOLDER is empty or not there yet.
set -eu
die() {
    echo "dist: $*" >&2
    exit 1
}
build=$(cd "$1" && pwd)
mkdir -p "$2"
to=$(cd "$2" && pwd)
shift 2
all='source recipes sdist wheel r deb'
[ $# -gt 0 ] || set -- $all
here=$(cd "$(dirname "$0")/.." && pwd)
cd "$here"
version=$(sed -n 's/^project(rarebit VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
name=rarebit-$version
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) || die "a release is made of a commit, but $here is no checkout of git"
export SOURCE_DATE_EPOCH LC_ALL=C.UTF-8 TZ=UTC
umask 022
unset CFLAGS CXXFLAGS CPPFLAGS LDFLAGS
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$work/out"

# identity WHAT: name, email, homepage or placeholder of who answers for the packages.
identity() {
    sed -n "s/^$1=//p" packaging/identity
}

# pack FOLDER ARCHIVE: as .tar.gz, the same bytes for the same files.
pack() {
    tar -C "$(dirname "$1")" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
        --mode=u+rw,go=rX --format=gnu -cf "$2.tar" "$(basename "$1")"
    gzip -9n "$2.tar"
    mv "$2.tar.gz" "$2"
}

# The committed tree, and its man pages and completion for whoever cannot run the tool.
tree() {
    git archive --prefix="$name/" HEAD | tar -x -C "$work"
    mkdir "$work/$name/manual"
    "$build/rarebit" generate "$work/$name/manual"
}

source() {
    pack "$work/$name" "$work/out/$name.tar.gz"
}

# For other packagers, with the checksum of the source tarball.
recipes() {
    [ -f "$work/out/$name.tar.gz" ] || die "recipes name the source tarball: dist FOLDER source recipes"
    cp -R "$work/$name/packaging/recipes" "$work/out/recipes"
    rm "$work/out/recipes/README.md"
    sum=$(sha256sum "$work/out/$name.tar.gz" | cut -d ' ' -f 1)
    home=$(identity homepage)
    home=${home:-https://example.org}
    sed -i "s|@SHA256@|$sum|; s|@URL@|$home/$name.tar.gz|; s|@HOMEPAGE@|$home|" "$work"/out/recipes/*
    fill "$work"/out/recipes/*
}

# Has files of its own beside it: the source distribution is called as the source tarball is.
backend() {
    cd "$work/$name/python"
    python3 -B -c "import backend; backend.$1('$2')"
}

sdist() {
    mkdir -p "$work/out/python"
    backend build_sdist "$work/out/python"
}

wheel() {
    mkdir -p "$work/wheel" "$work/out/python"
    backend build_wheel "$work/wheel"
    python3 -B "$work/$name/packaging/wheel.py" "$work"/wheel/*.whl "$work/out/python"
}

r() {
    RAREBIT_LIBRARY=$build RAREBIT_INCLUDE=$here/include sh "$work/$name/r/build.sh" "$work/out/r"
}

# fill FILE...: what the templates of packaging/debian leave open.
fill() {
    email=$(identity email)
    maintainer="$(identity name) <${email:-$(identity placeholder)}>"
    homepage=$(identity homepage)
    abi=$(readelf -d "$build/librarebit.so" | sed -n 's/.*SONAME.*librarebit\.so\.\([0-9.]*\).*/\1/p')
    sed -i -e "s|@MAINTAINER@|$maintainer|; s|@VERSION@|$version|; s|@ABI@|$abi|g" \
        -e "s|^Source: .*repository of the project|Source: ${homepage:-the repository of the project}|; s|^@HOMEPAGE@|${homepage:+Homepage: $homepage}|" \
        -e "s|@DATE@|$(date -u -R -d "@$SOURCE_DATE_EPOCH")|" "$@"
}

# licence NAME: the text on stdin as a paragraph of debian/copyright.
licence() {
    printf '\nLicense: %s\n' "$1"
    sed 's/^$/./; s/^/ /'
}

deb() {
    mkdir "$work/deb"
    pack "$work/$name" "$work/deb/rarebit_$version.orig.tar.gz"
    cp -R "$work/$name" "$work/deb/$name"
    cd "$work/deb/$name"
    cp -R packaging/debian debian
    {
        cat .reuse/dep5
        sed -n '/^Redistribution/,$p' LICENSE | licence BSD-3-Clause
        licence CC-BY-4.0 <LICENSES/CC-BY-4.0.txt
    } >debian/copyright
    fill debian/control debian/rules debian/changelog debian/copyright
    DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS:-nocheck noautodbgsym parallel=${JOBS:-$(getconf _NPROCESSORS_ONLN)}}" \
        dpkg-buildpackage -us -uc
    cd ..
    lintian --fail-on error,warning ./*.changes
    mkdir "$work/out/debian"
    mv ./*.deb ./*.dsc ./*.orig.tar.gz ./*.debian.tar.xz "$work/out/debian"
}

for step; do
    case " $all " in
        *" $step "*) ;;
        *) die "there is no step '$step'; steps: $all" ;;
    esac
done

[ -z "$(ls -A "$to")" ] || die "$to has files already; move them, or name another folder"
tree
for step; do
    echo "dist: $step" >&2
    set +e
    (
        set -e
        "$step"
    ) >"$work/log" 2>&1 </dev/null
    status=$?
    set -e
    [ $status -eq 0 ] || {
        cat "$work/log" >&2
        die "$step failed"
    }
done
(cd "$work/out" && find . -type f | sed 's|^\./||' | sort | xargs -d '\n' sha256sum >"$work/SHA256SUMS")
mv "$work/SHA256SUMS" "$work/out"
cp -R "$work/out/." "$to"
cat "$to/SHA256SUMS"
for what in email homepage; do
    [ "$(identity $what)" ] || echo "dist: packaging/identity has no $what: a person has to give it before a release" >&2
done
