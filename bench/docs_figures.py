"""Runs the commands of the tables of docs again and prints the cells that moved beyond their stated spread.

    ./run docs-figures [--all] [--list] [--missing] [PAGE...]     PAGE: prior, tables, ...; exit 1 when a cell moved

Every table of figures in docs has a comment above it, or --missing names it and exits with 1 (a test does). Worked
examples (docs/start/examples) have none: `./run examples` compares all of their figures. The comment is one of

    <!-- figures none: why no command here can make it again -->

    <!-- figures [long] [rows 1-8] [columns 2,3,4] [spread 2 %] [spread 0.1]
    commands for bash, in an empty folder
    -->

What the commands print is compared with the table, line by line with its rows, number by number with the numbers of
the columns (1 is the first one; all but the first where none are named; a cell of several numbers has them in order).
Rows that need files from elsewhere are left out by `rows`. A spread is a share of the figure in docs or an amount, the
larger of both where both are given; without one it is a unit of the last digit printed. `long` ones, of more than a
minute or so, run with --all alone. Commands find rarebit and the programs of bench by name, the sources as $SOURCE, and

    values MODEL DATA NAME...    prints metrics of `rarebit evaluate`, or means of arrays of the model (by h5py), in a
                                 line; 100*NAME: as percent
"""

import os
import re
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHELVES = ("measurements", "reference", "howto", "start")
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w])")
BESIDES_NUMBERS = re.compile(NUMBER.pattern + r"|\b(?:of|to|and|in|s|ms|us)\b|[-+*~<>/%(),:; ]")
VALUES = r"""
values() {
    rarebit evaluate "$1" "$2" --json -q >values.json
    "$PYTHON" - "$@" <<'END'
import json, sys
found = json.load(open("values.json"))
for name in sys.argv[3:]:
    factor, name = 100 if name.startswith("100*") else 1, name.removeprefix("100*")
    if name not in found:
        import h5py
        with h5py.File(sys.argv[1]) as file:
            found[name] = file["arrays"][name][()].mean()
    print(factor * found[name], end=" ")
print()
END
}
"""


def cells_of(row):
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def has_figures(rows):
    """Whether half of the rows have a cell of numbers alone, besides the first one."""
    def is_figure(cell):
        return NUMBER.search(cell) and not BESIDES_NUMBERS.sub("", cell)
    return 2 * sum(any(map(is_figure, cells_of(row)[1:])) for row in rows) >= len(rows)


class Table:
    """The rows below a comment of figures: [(first cell, [figures])]."""

    def __init__(self, page, line, head, script, rows):
        self.page, self.line, self.script = page, line, script
        self.long = "long" in head.split()
        columns = re.search(r"columns ([\d,]+)", head)
        columns = [int(k) for k in columns.group(1).split(",")] if columns else range(2, 99)
        self.share = max([0] + [float(x) / 100 for x in re.findall(r"spread ([\d.]+) %", head)])
        self.amount = max([0] + [float(x) for x in re.findall(r"spread ([\d.]+)(?! %)\b", head)])
        self.exact = "spread" not in head
        first, last = re.search(r"rows (\d+)-(\d+)", head + " rows 1-999").groups()
        self.rows = []
        for row in rows[int(first) - 1:int(last)]:
            cells = cells_of(row)
            figures = [x for k in columns if k <= len(cells) for x in NUMBER.findall(cells[k - 1])]
            self.rows.append((cells[0], figures))

    def allowed(self, figure):
        if not self.exact:
            return max(self.share * abs(float(figure)), self.amount)
        decimals = re.search(r"\.(\d+)", figure)
        power = float(figure.split("e")[1]) if "e" in figure else 0
        return 10 ** (power - len(decimals.group(1)) if decimals else power)

    def compare(self, printed):
        """Prints what moved; how many cells."""
        lines = [NUMBER.findall(line) for line in printed.splitlines() if NUMBER.search(line)]
        where, moved = f"docs/{self.page}.md:{self.line}", 0
        if len(lines) != len(self.rows):
            print(f"{where}: the table has {len(self.rows)} rows, its commands print {len(lines)}")
            return 1
        for (name, figures), found in zip(self.rows, lines):
            if len(figures) != len(found):
                print(f"{where}: {name}: {len(figures)} figures, the commands print {len(found)}: {' '.join(found)}")
                moved += 1
            for figure, new in zip(figures, found):
                if not abs(float(figure) - float(new)) <= self.allowed(figure) * 1.0001:
                    print(f"{where}: {name}: {figure} is now {new}")
                    moved += 1
        return moved


def read(page):
    """The tables with commands; how many are `none`; the lines of tables of figures that have no comment."""
    lines = open(f"{SOURCE}/docs/{page}.md", encoding="utf-8").read().split("\n")
    tables, head, script, none, without = [], None, "", 0, []
    k = 0
    while k < len(lines):
        if lines[k].startswith("<!-- figures"):
            end = next(e for e in range(k, len(lines)) if lines[e].endswith("-->"))
            head, script, k = lines[k], "\n".join(lines[k + 1:end]), end
        elif re.fullmatch(r"\|[ :|-]+\|", lines[k]):
            end = k + 1
            while end < len(lines) and lines[end].startswith("|"):
                end += 1
            rows = lines[k + 1:end]
            if head and head.startswith("<!-- figures none: "):
                none += 1
            elif head:
                tables.append(Table(page, k, head, script, rows))
            elif has_figures(rows):
                without.append(k)
            head, k = None, end - 1
        k += 1
    return tables, none, without


def run(table, tools):
    """What the commands of a table print; None after a message when they fail."""
    environment = dict(os.environ, SOURCE=SOURCE, PYTHON=sys.executable, PATH=os.pathsep.join([*tools, os.environ["PATH"]]))
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["bash", "-euc", VALUES + table.script], cwd=folder, env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        print(f"docs/{table.page}.md:{table.line}: its commands end with {done.returncode}: {done.stderr.strip()[-300:]}")
        return None
    return done.stdout


def pages_of_docs():
    return [f"{shelf}/{name[:-3]}" for shelf in SHELVES if os.path.isdir(f"{SOURCE}/docs/{shelf}")
            for name in sorted(os.listdir(f"{SOURCE}/docs/{shelf}")) if name.endswith(".md")]


def show(pages, options):
    """Lists what pages have; 1 if --missing is asked for and a table has no comment."""
    missing = 0
    for page in pages:
        tables, none, without = read(page)
        if "--list" in options and (tables or none or without):
            longs = sum(table.long for table in tables)
            print(f"{page}: {len(tables)} tables with their commands, {longs} of them long; {none} with a reason; "
                  f"{len(without)} without")
        for line in without if "--missing" in options else []:
            print(f"docs/{page}.md:{line}: a table of figures without a comment `<!-- figures ...`, with its command "
                  "or the reason why it has none (bench/docs_figures.py)")
            missing += 1
    return 1 if missing else 0


def main(build, words):
    options = {word for word in words if word.startswith("--")}
    known, asked = pages_of_docs(), set(words) - options
    pages = [page for page in known if not asked or page.split("/")[1] in asked]
    wrong = (options - {"--all", "--list", "--missing"}) | (asked - {page.split("/")[1] for page in known})
    if wrong:
        print(f"docs-figures: '{min(wrong)}' is neither --all, --list, --missing nor a page of docs", file=sys.stderr)
        return 2
    if options & {"--list", "--missing"}:
        return show(pages, options)
    tools = [os.path.abspath(build), os.path.abspath(f"{build}/bench")]
    moved = ran = cells = left = 0
    for table in (table for page in pages for table in read(page)[0]):
        if table.long and "--all" not in options:
            left += 1
            continue
        printed = run(table, tools)
        ran += 1
        cells += sum(len(figures) for _, figures in table.rows)
        moved += 1 if printed is None else table.compare(printed)
    print(f"{ran} tables, {cells} figures: {moved} moved" + (f"; {left} long tables left out (--all)" if left else ""))
    return 1 if moved else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
