# The commands of the README, those of the first steps and the C program of docs do what they say, run one after the
# other in an empty folder, and the demo prints what the README shows.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
ln -s "$SOURCE/examples" examples
mkdir bin
ln -s "$RAREBIT" bin/rarebit
PATH=$work/bin:$PATH

# The code blocks of a page of one kind: "sh", "c", or "" for output.
blocks() {
    awk -v kind="$1" '
        /^```/ { open = !open; wanted = open && $0 == "```" kind; next }
        wanted' "$SOURCE/$2"
}

{
    blocks sh README.md
    blocks sh docs/start/first-steps.md
} | grep -v -e '^\./run ' -e '^PATH=' >commands
[ "$(wc -l <commands)" -gt 10 ]
sh -eu commands >log 2>&1 || { cat log >&2; exit 1; }
for file in $(grep -o -e '-o [^ ]*' commands | cut -d ' ' -f 2); do
    [ -s "$file" ] || { echo "$file was not written" >&2; exit 1; }
done

rm model.h5
blocks c docs/howto/c.md >fit.c
"$CC" -std=c11 -Wall -Wextra -Werror -I"$SOURCE/include" fit.c -L"$BUILD" -lrarebit-io -lrarebit \
    -Wl,-rpath,"$BUILD" -o fit
./fit
[ -s model.h5 ]

sh examples/demo.sh demo >printed 2>/dev/null
blocks "" README.md >shown
[ "$(wc -l <shown)" -gt 10 ]
while IFS= read -r line; do
    grep -qxF -e "$line" printed || { echo "the demo no longer prints: $line" >&2; exit 1; }
done <shown
