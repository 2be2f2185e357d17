# Each table of figures in docs has its command above it, or the reason why it has none (bench/docs_figures.py).
set -eu
python3 -B "$SOURCE/bench/docs_figures.py" build --missing >&2
