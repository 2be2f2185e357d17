# Every link of a document leads to a file of the tree, and to a heading of it.
set -eu
cd "$SOURCE"
. "$SOURCE/tests/lib/skip.sh"
need command python3
git ls-files -co --exclude-standard '*.md' 2>/dev/null | python3 -B tests/lint/links.py
