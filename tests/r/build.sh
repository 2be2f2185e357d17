# r/build.sh touches nothing in the folder it is given but what it makes: whatever is called rarebit there stays as it
# is. R CMD build itself is that of a stand-in, which needs neither R nor a compiler.
set -eu
work=$(mktemp -d "${TMPDIR:-/tmp}/rarebit-test-XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
cat >"$work/bin/R" <<'END'
#!/bin/sh
[ -z "${BROKEN:-}" ] || exit 1
tar -czf rarebit_9.8.7.tar.gz rarebit
END
chmod +x "$work/bin/R"
PATH=$work/bin:$PATH
cd "$work"

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# $1: a folder; it holds the names that follow and nothing else
holds() {
    there=$(cd "$1" && ls -A | sort | tr '\n' ' ')
    shift
    [ "$there" = "$* " ] || fail "there is '$there' instead of '$* '"
}

build() { sh "$SOURCE/r/build.sh" "$@" >log 2>&1; }

# A checkout of that name, as it lies in whose folder one works, and a tarball of before.
mkdir -p here/rarebit/.git
echo mine >here/rarebit/.git/HEAD
echo old >here/rarebit_9.8.7.tar.gz
BROKEN=yes build here && fail "R's failure is not told"
holds here rarebit rarebit_9.8.7.tar.gz
[ "$(cat here/rarebit_9.8.7.tar.gz)" = old ] || fail "the old tarball is gone without a new one"
build here || fail "$(cat log)"
holds here rarebit rarebit_9.8.7.tar.gz
[ "$(cat here/rarebit/.git/HEAD)" = mine ] || fail "the folder was written to"
holds here/rarebit .git
tar -tzf here/rarebit_9.8.7.tar.gz >content
grep -q '^rarebit/src/core/src/rfn/rfn.c$' content || fail "the tarball lacks the core"
grep -q '^rarebit/src/core/include/rarebit/stack.h$' content || fail "the tarball lacks the headers of nets"
if grep -E '^rarebit/src/core/(src/(io|plot|media|cl|nets/files)/|include/rarebit/(io|plot|denoise)\.h)' content; then
    fail "the tarball has what the core does without"
fi
if grep -E '/(check|chm)/' content; then
    fail "R CMD build leaves out folders of these names"
fi

# What stands in the way is not removed, be it a folder, a file or a link that leads nowhere.
refused() {
    build "$@" && fail "$* is taken"
    grep -q ' move it, or name another folder$' log || fail "$(cat log)"
}
refused --folder here
[ "$(cat here/rarebit/.git/HEAD)" = mine ] || fail "the folder was written to"
mkdir file link
echo mine >file/rarebit
ln -s nowhere link/rarebit
refused --folder file
refused --folder link
[ "$(cat file/rarebit)" = mine ] || fail "the file was written to"
[ "$(readlink link/rarebit)" = nowhere ] || fail "the link was removed"
holds file rarebit
holds link rarebit
mkdir -p taken/rarebit_9.8.7.tar.gz
refused taken
holds taken rarebit_9.8.7.tar.gz

build --folder new/one || fail "$(cat log)"
holds new/one rarebit
[ -f new/one/rarebit/DESCRIPTION ] || fail "the package lacks its DESCRIPTION"
