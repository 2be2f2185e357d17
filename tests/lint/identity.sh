# Who answers for the packages stands in packaging/identity, and nowhere else in other words; what a person has to give before
# a release is named. The version is that of CMakeLists.txt wherever else a file has to have it.
set -eu
cd "$SOURCE"
identity() {
    sed -n "s/^$1=//p" packaging/identity
}
missing=
for what in name email homepage placeholder; do
    grep -q "^$what=" packaging/identity || { echo "packaging/identity has no line $what=" >&2; exit 1; }
    [ "$(identity $what)" ] || missing="$missing $what"
done
email=$(identity email)
person="person(\"$(identity name)\", role = c(\"aut\", \"cre\", \"cph\"), email = \"${email:-$(identity placeholder)}\")"
grep -qxF "Authors@R: $person" r/rarebit/DESCRIPTION || {
    echo "r/rarebit/DESCRIPTION has other authors than packaging/identity: Authors@R: $person" >&2
    exit 1
}
version=$(sed -n 's/^project(rarebit VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
has() {
    grep -qxE "$1" "$2" || { echo "$2 has another version than CMakeLists.txt, $version" >&2; exit 1; }
}
has "Version: $version" r/rarebit/DESCRIPTION
has "version: $version" CITATION.cff
has ".section\{Changes in version $version\}\{" r/rarebit/inst/NEWS.Rd
[ "$(sed -n 's/^## \([0-9.]*\).*/\1/p' CHANGELOG.md | head -n 1)" = "$version" ] || {
    echo "CHANGELOG.md does not begin with version $version" >&2
    exit 1
}
[ -z "$missing" ] || echo "a person has to give before a release, in packaging/identity:$missing"
