# Who answers for the packages stands in packaging/identity, and nowhere else in other words; what a person has to give before
# a release is named.
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
[ -z "$missing" ] || echo "a person has to give before a release, in packaging/identity:$missing"
