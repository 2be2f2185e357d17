# Of one commit the source tarball and Python's source distribution are the same bytes twice, made in other folders. The
# tarball has what is committed and the man pages, which a build for another machine takes from it.
set -eu
. "$SOURCE/tests/lib/skip.sh"
need command python3
[ -n "${RAREBIT:-}" ] && git -C "$SOURCE" rev-parse -q --verify HEAD >/dev/null 2>&1 || skip "a release is made of a checkout of git, with the tool"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "FAILED: $*" >&2
    exit 1
}
dist() {
    sh "$SOURCE/packaging/dist.sh" "$BUILD" "$@" >"$work/log" 2>&1
}
dist "$work/one" source sdist || fail "$(cat "$work/log")"
sleep 1 # so that a time of now would be another
(umask 077 && TMPDIR=$work dist "$work/two" source sdist)
diff -r "$work/one" "$work/two" || fail "twice the same commit, but other bytes"
(cd "$work/one" && sha256sum --quiet -c SHA256SUMS)

# What is in the folder is not touched, whatever a list there says.
mkdir "$work/mine"
echo mine >"$work/file"
(cd "$work/mine" && sha256sum ../file >SHA256SUMS && ! dist "$work/mine" source && sha256sum --quiet -c SHA256SUMS) ||
    fail "a folder with files is taken: $(cat "$work/log")"
grep -q ' has files already; move them, or name another folder$' "$work/log" || fail "$(cat "$work/log")"

tar -xf "$work"/two/rarebit-*.tar.gz -C "$work"
cd "$work"/rarebit-*
git -C "$SOURCE" ls-tree -r --name-only -z HEAD | tr '\0' '\n' | sort >"$work/committed"
find . -type f ! -path './manual/*' | sed 's|^\./||' | sort | diff "$work/committed" - || fail "other files than those committed"

# For another machine, whose programs do not run here: man pages come from the tarball.
printf 'set(CMAKE_SYSTEM_NAME Linux)\nset(CMAKE_SYSTEM_PROCESSOR %s)\nset(CMAKE_C_COMPILER %s)\n' "$(uname -m)" "$CC" >"$work/other"
"$CMAKE" -S . -B "$work/build" -DCMAKE_TOOLCHAIN_FILE="$work/other" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
if grep -r ' generate ' "$work/build" --include=build.make --include=build.ninja; then
    fail "a build for another machine runs the tool"
fi
grep -qF "$PWD/manual/man/" "$work/build/cmake_install.cmake" || fail "man pages are not installed"
[ -s manual/man/rarebit-fit.1 ] && [ -s manual/completion/rarebit.bash ]
