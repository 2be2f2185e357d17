# Pages are read once by somebody who is busy: sentences of 15 words on average and none over 35, without code, tables and
# lists of sources. WAITING has pages that are longer still; none may be added.
set -eu
cd "$SOURCE"
. "$SOURCE/tests/lib/skip.sh"
need command python3
python3 -B tests/lint/words.py README.md docs/README.md docs/start/*.md docs/start/examples/*.md docs/howto/*.md docs/reference/*.md docs/measurements/*.md
