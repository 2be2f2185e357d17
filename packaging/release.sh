#!/bin/sh
# The way to a release, one step after another: sh packaging/release.sh FOLDER. Ends at the first that is not done yet, and says
# what to do. What takes hours comes last. Nothing is published, tagged or changed: a person does that, by the last lines.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
to=$(cd "$1" && pwd)
cd "$here"
version=$(sed -n 's/^project(rarebit VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
open=

# item TEXT TODO COMMAND...: a fact of the tree.
item() {
    text=$1 todo=$2
    shift 2
    if said=$("$@" 2>&1); then
        echo "done   $text"
    else
        echo "TO DO  $text: $todo"
        [ -z "$said" ] || echo "$said" | tail -n 4 | sed 's/^/       /'
        open=yes
    fi
}
dated() { sed -n 's/^## //p' CHANGELOG.md | head -n 1 | grep -qE "^$version \([0-9]{4}-[0-9]{2}-[0-9]{2}\)$"; }
given() { grep -q "^$1=." packaging/identity; }
agree() { SOURCE=$here sh tests/lint/identity.sh; }
clean() { [ -z "$(git status --porcelain)" ]; }
untagged() { ! git rev-parse -q --verify "refs/tags/v$version"; }

item "version $version everywhere" "see tests/lint/identity.sh" agree
item "an address" "packaging/identity, email=" given email
item "a home page" "packaging/identity, homepage=" given homepage
item "licences" "reuse lint" reuse lint
item "the changes have a date" "CHANGELOG.md: ## $version (YYYY-MM-DD)" dated
item "a citation has a date" "CITATION.cff: date-released: YYYY-MM-DD" grep -q '^date-released: ' CITATION.cff
item "no tag v$version yet" "raise the version in CMakeLists.txt" untagged
item "all is committed" "git commit" clean
[ -z "$open" ] || exit 1

# step TEXT COMMAND...: what takes long.
step() {
    text=$1
    shift
    echo "now    $text" >&2
    "$@" >"$to/log" 2>&1 </dev/null || { tail -n 40 "$to/log" >&2; echo "TO DO  $text"; exit 1; }
    echo "done   $text"
}
step "the gate" env CI=true bash .ci/run
step "the nightly checks" ./run nightly
step "packages" ./run dist "$to/packages"
step "packages install" ./run dist-check "$to/packages"
cat <<END
Now a person: git tag -s v$version && git push origin v$version
Sign $to/packages/SHA256SUMS, publish the folder, and set the next version in CMakeLists.txt.
END
