# The site of `./run site` in a browser: every page is in its navigation, every link resolves, nothing is fetched, search
# finds, pages fit a phone and have enough contrast.
set -eu
. "$SOURCE/tests/lib/skip.sh"
need command doxygen
need python mkdocs numpy
need file /usr/share/mkdocs/themes/material
. "$SOURCE/tests/page/lib/browser.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/rarebit-test-XXXXXX")
trap 'rm -rf "$work"' EXIT
/usr/bin/python3 -B "$SOURCE/site/site.py" "$BUILD" "$work" >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    exit 1
}
NODE_PATH=$modules/node_modules node "$SOURCE/tests/page/site.js" "$browser" "$work/site" \
    ${PAGE_PICTURES:+"$PAGE_PICTURES"}
