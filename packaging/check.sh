#!/bin/sh
# Installs each of what `./run dist` made in an empty Debian, fits with it, removes it and says what is left there:
# sh packaging/check.sh FOLDER [PIECE...], pieces: deb wheel sdist r source. Needs root, for chroot, and the network that
# apt has. What is left over is a failure. RAREBIT_BASE is a folder where the empty Debian is kept for the next time.
set -eu
die() {
    echo "dist-check: $*" >&2
    exit 1
}
from=$(cd "$1" && pwd)
shift
all='deb wheel sdist r source'
# shellcheck disable=SC2086 # words
[ $# -gt 0 ] || set -- $all
[ "$(id -u)" = 0 ] || die "an empty Debian is made and entered as root: sudo ./run dist-check"
(cd "$from" && sha256sum --quiet -c SHA256SUMS) || die "$from is not as ./run dist made it"
work=$(mktemp -d)
base=${RAREBIT_BASE:-$work/base}
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 1' HUP INT TERM

# A Debian of this machine's release from where its apt has packages, without any package that is not essential.
make_base() {
    . /etc/os-release
    targets='$(REPO_URI) $(RELEASE) $(COMPONENT) $(ORIGIN)'
    apt-get indextargets --format "$targets" 'Identifier: Packages' |
        awk -v suite="$VERSION_CODENAME" '$NF ~ /^(Debian|Ubuntu)$/ && index($2, suite) == 1 { print $1, $2, $3 }' |
        sort -u >"$work/places"
    mirror=$(awk -v suite="$VERSION_CODENAME" '$2 == suite { print $1; exit }' "$work/places")
    [ "$mirror" ] || die "apt has no packages of $VERSION_CODENAME; apt-get update first"
    debootstrap --variant=minbase --include=ca-certificates "$VERSION_CODENAME" "$base" "$mirror"
    sed 's/^/deb /' "$work/places" >"$base/etc/apt/sources.list"
    cp -R /etc/apt/apt.conf.d/. "$base/etc/apt/apt.conf.d"
    cp /etc/resolv.conf "$base/etc"
    mkdir -p "$base/src/tree"
    root=$base
    inside 'apt-get -qq update'
}

# inside COMMANDS: in the root, with nothing of this machine's environment. What is mounted is gone with the commands.
inside() {
    # shellcheck disable=SC2016,SC2046 # the inner shell's; words
    unshare --mount sh -c 'mount --bind /proc "$0/proc"; mount --bind /dev "$0/dev"; exec "$@"' "$root" \
        env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive AUTOPKGTEST_TMP=/src/tmp JOBS="${JOBS:-1}" MAKEFLAGS="-j${JOBS:-1}" $(env | grep -iE '^(https?_proxy|no_proxy)=') \
        chroot "$root" sh -euc "cd /src/tree; $1" </dev/null
}

# What is there, but for logs, copies that Debian keeps of its lists, and the caches of apt, loader and fonts.
listing() {
    (cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./run -o -path ./tmp -o -path ./src \
        -o -path ./var/log -o -path ./var/cache/apt -o -path ./var/lib/apt -o -path ./var/cache/ldconfig \
        -o -path ./var/cache/fontconfig \) -prune \
        -o ! -name '*-old' ! -path './etc/*-' -printf '%y %P\n' | sort)
}

# use PIECE PACKAGES INSTALL RUN REMOVE: PACKAGES are of Debian, and there before.
use() {
    root=$work/root
    cp -a "$base" "$root"
    rmdir "$root/src/tree"
    mkdir -p "$root/src/tmp"
    tar -xf "$from"/rarebit-*.tar.gz -C "$root/src"
    mv "$root"/src/rarebit-* "$root/src/tree"
    cp -R "$from" "$root/src/dist"
    [ -z "$2" ] || inside "apt-get -qq install -y --no-install-recommends $2"
    inside "dpkg-query -W -f '\${Package}\n' >/src/packages"
    listing >"$work/before"
    inside "$3"
    inside "$4"
    inside "$5"
    listing | comm -13 "$work/before" - >"$work/left"
    rm -rf --one-file-system "$root"
}

tests=packaging/debian/tests

deb() {
    use deb 'cmake gcc libc6-dev make pkg-config' 'apt-get -qq install -y --no-install-recommends /src/dist/debian/*.deb' \
        "for test in demo c python r; do sh $tests/\$test; done" \
        "apt-get -qq purge -y \$(dpkg-query -W -f '\${Package}\n' | grep -vxFf /src/packages)"
}

# pip PACKAGES FILE
pip() {
    use pip "python3-venv python3-numpy${1:+ $1}" "
        python3 -m venv --system-site-packages /src/env
        find / -xdev -name __pycache__ -newer /src/env -prune -exec rm -rf {} +
        /src/env/bin/pip --quiet install --no-index --no-cache-dir /src/dist/python/$2" \
        "PYTHON=/src/env/bin/python sh $tests/python" '/src/env/bin/pip --quiet uninstall -y rarebit
        [ -z "$(find /src/env -name "*rarebit*")" ]'
}

wheel() { pip '' 'rarebit-*.whl'; }

sdist() { pip 'cmake make gcc libc6-dev pkg-config libopenblas-dev' 'rarebit-*.tar.gz'; }

r() {
    use r 'r-base-dev libopenblas-dev' 'R CMD INSTALL /src/dist/r/rarebit_*.tar.gz' "sh $tests/r" 'R CMD REMOVE rarebit'
}

# With the packages that `./run` would install for users.
source() {
    packages=$(awk '$1 == "command" || $1 == "library" { print $3 } / cmocka / { exit }' run | sort -u | xargs)
    use source "$packages" './run demo; cmake --install build' "sh $tests/demo" 'cmake --build build --target uninstall'
}

[ -d "$base/src/tree" ] || make_base >"$work/log" 2>&1 || { cat "$work/log" >&2; die "no empty Debian could be made"; }
failed=
for piece; do
    case " $all " in
        *" $piece "*) ;;
        *) die "there is no piece '$piece'; pieces: $all" ;;
    esac
    set +e
    (
        set -e
        "$piece"
    ) >"$work/log" 2>&1
    status=$?
    set -e
    if [ $status -ne 0 ]; then
        cat "$work/log" >&2
        die "$piece failed"
    fi
    echo "$piece: installed, used, removed; left over: $(grep -c . "$work/left") paths"
    sed 's/^/    /' "$work/left"
    [ ! -s "$work/left" ] || failed="$failed $piece"
done
[ -z "$failed" ] || die "something is left over by$failed"
