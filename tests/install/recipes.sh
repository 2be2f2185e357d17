# Recipes for other packagers: each is read by a program that knows its language, and checked by the linters that Debian has; options of CMake are there; Homebrew's names the
# libraries that ./run does; the checksum is that of the tarball.
set -eu
. "$SOURCE/tests/lib/skip.sh"
[ -n "${RAREBIT:-}" ] && git -C "$SOURCE" rev-parse -q --verify HEAD >/dev/null 2>&1 || skip "a release is made of a checkout of git, with the tool"
need command ruby nix-instantiate rubocop yamllint flake8
need_python yaml
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "FAILED: $*" >&2
    exit 1
}
sh "$SOURCE/packaging/dist.sh" "$BUILD" "$work/out" source recipes >"$work/log" 2>&1 || fail "$(cat "$work/log")"
cd "$work/out/recipes"
grep -n '@[A-Z0-9]*@' ./* && fail "a template is not filled"
sum=$(sha256sum ../rarebit-*.tar.gz | cut -d ' ' -f 1)
[ "$(grep -lF "$sum" ./* | wc -l)" = 4 ] || fail "a recipe names another tarball"
ruby -c rarebit.rb >/dev/null
HOME=$work rubocop --only Lint,Security rarebit.rb >"$work/log" 2>&1 || fail "$(cat "$work/log")"
yamllint -s -d '{extends: default, rules: {line-length: disable, document-start: disable}}' meta.yaml
flake8 --isolated --max-line-length 100 --extend-ignore F403,F405 package.py # names are Spack's, as in all of its packages
nix-instantiate --parse default.nix >/dev/null
"$python" -B -c "
import ast, yaml
ast.parse(open('package.py').read())
recipe = yaml.safe_load(open('meta.yaml'))
assert recipe['package']['name'] == 'rarebit' and recipe['requirements']['run_exports'], recipe"
options=$(grep -oh 'RAREBIT_[A-Z]*' ./* | sort -u)
[ "$options" ]
for option in $options; do
    grep -qE "^(option|set)\($option " "$SOURCE/CMakeLists.txt" || fail "CMake has no option $option"
done
for library in $(sed -n 's/^library [^ ]* *[^ ]* *[^ ]* *\([a-z0-9]*\)$/\1/p' "$SOURCE/run" | sed '/^cmocka$/,$d'); do
    grep -qE "(depends_on|uses_from_macos) \"$library\"" rarebit.rb || fail "rarebit.rb does not name $library"
done
